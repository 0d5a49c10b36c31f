//! Rules about the trend of the window: warm-up inside it, a level that never settled, dips, and stalls at even distances.

pub(super) mod apart;
pub(super) mod fewer;
pub(super) mod stalls;
pub(super) mod turn;

use model::seconds::MOST_SECONDS;
use model::slices::Slice;
use model::timeline::Point;
use model::units::{Nanos, SECOND, show_duration};
use model::{Dip, Run, Verdict};

use self::apart::apart;
use self::fewer::fewer;
use self::stalls::stalls;
use super::Finding;
use crate::dips::words as dip_in_words;
use crate::figures::{often, percent, rate};
use crate::gone::{gone, started_late};
use statistics::order::median;

/// Seconds of the timeline, or parts of them, below which nothing is judged.
pub(super) const FEWEST: usize = 10;
/// The longest window of which each second is kept, and a second that its last interval may be longer.
const LONGEST_NS: Nanos = (MOST_SECONDS as Nanos + 1) * SECOND;
/// How far off the settled level the beginning must lie.
const WARMING: f64 = 0.10;
/// The same for the median response time, as a factor.
const WARMING_SLOWER: f64 = 1.5;
/// And how many times the settled half's own noise.
const BEYOND_NOISE: f64 = 4.0;
/// Loss of QPS by warm-up from which on the figure understates the server.
pub(super) const UNDERSTATED: f64 = 0.05;
/// Movement from the first third to the last.
pub(super) const MOVED: f64 = 1.2;
/// Points that a level must hold for, before and after it became worse for good.
const FEWEST_APART: usize = 3;
/// The shortest window that is looked at, and the shortest beginning that is warm-up.
pub(crate) const SHORTEST_NS: Nanos = 2 * SECOND;
const WARMS_NS: Nanos = SECOND / 2;
/// Responses of a part of a second from which on they tell of its level.
const ENOUGH_EACH: f64 = 30.0;
/// Responses of a second, on average, below which some seconds have none by chance.
const SELDOM: f64 = 3.0;
/// Share of the load that was not there yet, on average over the window, that is worth a word.
pub(super) const MISSING: f64 = 0.01;
/// The share of the responses that had come, and that of the window that was spent on the others, where its end was awaited.
pub(super) const MOST_CAME: f64 = 0.9;
pub(super) const WAITED: f64 = 0.3;
/// Share of its trend that throughput may lose in a dip without the objective `stable` failing.
const WOBBLE: f64 = 0.10;

/// Whether a run kept its trend.
#[derive(Debug, Clone, PartialEq)]
pub enum Stability {
    /// No dips, no warm-up inside the window, no drift.
    Stable,
    /// Why not, in words.
    Unstable(String),
    /// The window has too few points.
    TooShort,
    /// Too few responses came to tell a level.
    TooFew,
    /// It lasted longer than its seconds are kept for: dips were looked for in those alone.
    TooLong,
}

/// What the objective `stable` judges by: neither dips nor a level that had not settled. A dip of
/// less than a tenth of the throughput and without more latency does not count.
pub fn stability(run: &Run) -> Stability {
    let counts = |dip: &&Dip| {
        dip.p50_ns.is_some()
            || dip.p99_ns.is_some()
            || dip.throughput.is_none_or(|throughput| 1.0 - throughput.ratio() >= WOBBLE)
    };
    let found = run.dips.iter().filter(counts).count();
    match (found, not_steady(run)) {
        (0, None) if window(run).len() < FEWEST => Stability::TooShort,
        (0, None) if levels(run).is_none() => Stability::TooFew,
        (0, None) if run.totals.duration_ns > LONGEST_NS => Stability::TooLong,
        (0, None) => Stability::Stable,
        (0, Some((_, evidence))) => Stability::Unstable(evidence),
        (n, _) => {
            let often = often(n as f64);
            Stability::Unstable(format!("the server departed from its trend {often}"))
        }
    }
}

pub(super) fn dips(run: &Run) -> Option<Finding> {
    let stalled = stalls(run).map(|stalls| {
        let words = stalls.words();
        format!(
            "{words}: something that runs as often may hold the server up, such as a collection of garbage, a cron job, a \
             checkpoint"
        )
    });
    let notes: Vec<String> =
        stalled.or_else(|| stalls::unserved(run)).into_iter().chain(departed(run)).collect();
    (!notes.is_empty()).then(|| (Verdict::Valid, notes.join("; ")))
}

fn departed(run: &Run) -> Option<String> {
    let longest = run.dips.iter().max_by_key(|dip| dip.duration_ns)?;
    let off: u64 = run.dips.iter().map(|dip| dip.duration_ns).fold(0, u64::saturating_add);
    Some(format!(
        "the server departed from its trend {}, for {} of {}; longest: {}",
        often(run.dips.len() as f64),
        show_duration(off),
        show_duration(run.totals.duration_ns),
        dip_in_words(longest)
    ))
}

/// A window that is not of one level.
#[derive(Debug, Clone, PartialEq)]
struct Departure {
    finding: Finding,
    /// Whether the server became slower; else it became faster, as in a warm-up.
    slower: bool,
}

/// Whether the server became slower within the window: a longer warm-up does not help.
pub(super) fn slowed_down(run: &Run) -> bool {
    departure(run).is_some_and(|departure| departure.slower)
}

pub(super) fn not_steady(run: &Run) -> Option<Finding> {
    departure(run).map(|departure| departure.finding)
}

fn departure(run: &Run) -> Option<Departure> {
    let closed = run.plan.rate_per_s.is_none();
    // With another load, another throughput and latency are what was asked for.
    if !run.plan.stages.is_empty() || run.plan.recorded.is_some() {
        return None;
    }
    let found = levels(run).and_then(|levels| {
        let qps: Vec<f64> = levels.iter().map(|level| level.per_s).collect();
        let p50: Vec<f64> = levels.iter().map(|level| level.p50_ns).collect();
        let qps = closed.then_some(&qps);
        warming(run, &levels, qps, &p50)
            .or_else(|| never_settled(qps, &p50))
            .or_else(|| worsened(run, &levels, qps, &p50))
    });
    let found = found.or_else(|| apart(run)).or_else(|| fewer(run));
    match (starting(run), found) {
        // Which says also how much more the server carries once it is warm.
        (None, found) | (_, found @ Some(Departure { finding: (Verdict::LowerBound, _), .. })) => {
            found
        }
        (Some(evidence), Some(Departure { finding: (_, worse), slower: true })) => {
            Some(Departure {
                finding: (Verdict::LowerBound, format!("{evidence}; {worse}")),
                slower: true,
            })
        }
        (Some(evidence), _) => {
            let bound = if closed {
                "true QPS is no lower, and true latencies are no higher"
            } else {
                "latencies are also of arrivals that waited for it"
            };
            let finding = (Verdict::LowerBound, format!("{evidence}: {bound}"));
            Some(Departure { finding, slower: false })
        }
    }
}

/// That a server was still starting when the window began, in words.
fn starting(run: &Run) -> Option<String> {
    let silence = started_late(run)?;
    Some(format!(
        "no response came in the first {} of the window, and the server answered from then on, as one that was still starting",
        show_duration(silence.to_ns.saturating_sub(run.plan.warmup_ns))
    ))
}

/// As [`not_steady`], or the load was not: what was measured is not what the server does with all of it.
pub(super) fn not_settled(run: &Run) -> Option<Finding> {
    not_steady(run).or_else(|| growing(run)).or_else(|| straggling(run))
}

/// The load grew inside the window.
fn growing(run: &Run) -> Option<Finding> {
    let (plan, window_ns) = (&run.plan, run.totals.duration_ns as f64);
    let inside_ns = plan.ramp_ns.saturating_sub(plan.warmup_ns);
    let missing =
        (inside_ns as f64).powi(2) / (2.0 * plan.ramp_ns.max(1) as f64 * window_ns.max(1.0));
    (plan.ramp_ns > 0 && missing >= MISSING).then(|| {
        let evidence = format!(
            "the load grew over the first {} of the window (--ramp), so that {} of it was there on average: QPS and \
             latencies are of that",
            show_duration(inside_ns),
            percent((1.0 - missing).max(0.0))
        );
        (Verdict::Valid, evidence)
    })
}

/// A window that ends by count waited for its last attempts, of a server that was there.
fn straggling(run: &Run) -> Option<Finding> {
    if gone(run).is_some() {
        return None;
    }
    let window_ns = run.totals.duration_ns;
    let points: Vec<&Point> = run.timeline.iter().filter(|point| point.phase == "window").collect();
    let of = |point: &Point| point.requests_per_s * point.duration_ns as f64;
    let all: f64 = points.iter().map(|point| of(point)).sum();
    let mut so_far = 0.0;
    let most = points.iter().find(|point| {
        so_far += of(point);
        so_far >= MOST_CAME * all
    })?;
    let since_ns =
        most.start_ns.saturating_add(most.duration_ns).saturating_sub(points[0].start_ns);
    let waited_ns = window_ns.saturating_sub(since_ns);
    let counted = run.plan.requests.is_some() && !run.interrupted;
    (counted && waited_ns >= SECOND && waited_ns as f64 >= WAITED * window_ns as f64).then(|| {
        let evidence = format!(
            "{} of the responses had come within the first {} of the window, which lasted for {} until the last attempt had ended \
             (-n): QPS is over all of it",
            percent(MOST_CAME),
            show_duration(since_ns),
            show_duration(window_ns)
        );
        (Verdict::Valid, evidence)
    })
}

/// A part of the window.
#[derive(Debug, Clone, Copy)]
struct Level {
    start_ns: Nanos,
    duration_ns: Nanos,
    per_s: f64,
    p50_ns: f64,
}

impl Level {
    fn of_point(point: &Point) -> Self {
        Self {
            start_ns: point.start_ns,
            duration_ns: point.duration_ns,
            per_s: point.requests_per_s,
            p50_ns: point.percentiles.p50_ns as f64,
        }
    }

    fn of_slice(slice: &Slice) -> Self {
        Self {
            start_ns: slice.start_ns,
            duration_ns: slice.duration_ns,
            per_s: slice.requests_per_s,
            p50_ns: slice.percentiles.p50_ns as f64,
        }
    }

    /// Parts that follow one another as one. Medians of them are as good as one of all, as a trend goes.
    fn joined(parts: &[Self]) -> Self {
        let duration_ns = parts.iter().map(|part| part.duration_ns).fold(0, Nanos::saturating_add);
        let responses: f64 = parts.iter().map(Self::responses).sum();
        let medians = parts.iter().map(|part| part.p50_ns);
        Self {
            start_ns: parts[0].start_ns,
            duration_ns,
            per_s: responses * SECOND as f64 / duration_ns.max(1) as f64,
            p50_ns: median(medians.filter(|p50| *p50 > 0.0).collect()),
        }
    }

    fn responses(&self) -> f64 {
        self.per_s * self.duration_ns as f64 / SECOND as f64
    }

    fn end_ns(&self) -> Nanos {
        self.start_ns.saturating_add(self.duration_ns)
    }
}

/// The window in parts that tell of its level each: seconds, or, where they are few, parts of them. None where there are
/// too few of either, or too little came in them.
fn levels(run: &Run) -> Option<Vec<Level>> {
    let seconds = window(run);
    if seconds.len() < FEWEST {
        return in_slices(run);
    }
    let seconds: Vec<Level> = seconds.iter().map(Level::of_point).collect();
    let each = seconds.iter().map(Level::responses).sum::<f64>() / seconds.len() as f64;
    // Medians of seconds of which most are empty would be 0, and a level that never changes.
    together(&seconds, if each < SELDOM { SELDOM / each } else { 1.0 })
}

/// So many parts at a time as one; none where that leaves too few.
fn together(parts: &[Level], so_many: f64) -> Option<Vec<Level>> {
    let so_many = so_many.ceil().max(1.0);
    if so_many > parts.len() as f64 {
        return None;
    }
    let levels: Vec<Level> = parts.chunks_exact(so_many as usize).map(Level::joined).collect();
    (levels.len() >= FEWEST).then_some(levels)
}

/// A window of few seconds in parts of them, as many as have enough responses each to tell of a level; none where
/// there are too few.
fn in_slices(run: &Run) -> Option<Vec<Level>> {
    let slices: Vec<Level> = inside(run).into_iter().map(Level::of_slice).collect();
    let longest_ns = slices.iter().map(|slice| slice.duration_ns).max()?;
    let whole = |slice: &Level| slice.duration_ns >= longest_ns / 2;
    let slices: Vec<Level> = slices.into_iter().filter(whole).collect();
    let (first, last) = (slices.first()?, slices.last()?);
    let length_ns = last.end_ns().saturating_sub(first.start_ns);
    if length_ns < SHORTEST_NS {
        return None;
    }
    // Where nothing comes any more from some instant on, that is what is to be told, and not that little came.
    let came = slices.iter().rposition(|slice| slice.per_s > 0.0)? + 1;
    let usual = median(slices[..came].iter().map(Level::responses).collect());
    together(&slices, ENOUGH_EACH / usual.max(f64::MIN_POSITIVE))
}

/// An instant of the run as one of its window, in words: a load that grows may leave out the window's beginning.
fn into_window(run: &Run, at_ns: Nanos) -> String {
    show_duration(at_ns.saturating_sub(run.plan.warmup_ns))
}

/// Slices of the window, without the time that load takes to grow.
pub(super) fn inside(run: &Run) -> Vec<&Slice> {
    let inside = |slice: &&Slice| slice.phase == "window" && slice.start_ns >= run.plan.ramp_ns;
    run.slices.iter().filter(inside).collect()
}

/// Points of the window, without a stub at its end and without the time that load takes to grow.
fn window(run: &Run) -> &[Point] {
    let first = run
        .timeline
        .iter()
        .position(|point| point.phase == "window" && point.start_ns >= run.plan.ramp_ns);
    let inside = first.map_or(&[][..], |first| &run.timeline[first..]);
    let len = inside.iter().take_while(|point| point.phase == "window").count();
    // A long run's timeline folds its points, all but the last to one length.
    match &inside[..len] {
        [before @ .., last]
            if before.iter().any(|point| last.duration_ns < point.duration_ns / 2) =>
        {
            before
        }
        [last] if last.duration_ns < SECOND / 2 => &[],
        all => all,
    }
}

/// The run begins worse than its second half went on, and than a quarter of it: a server that pauses again and again does so
/// at the beginning too.
fn warming(run: &Run, points: &[Level], qps: Option<&Vec<f64>>, p50: &[f64]) -> Option<Departure> {
    let half = points.len() / 2;
    let slow = qps.map_or(0, |qps| {
        let settled = Settled::of(&qps[half..]);
        let low = settled.level * (1.0 - WARMING.max(BEYOND_NOISE * settled.noise));
        let low = low.min(quarters(&qps[half..]).0 * (1.0 - WARMING));
        leading(&qps[..half], |value| value < low)
    });
    let late = {
        let settled = Settled::of(&p50[half..]);
        let high = settled.level * (WARMING_SLOWER.max(1.0 + BEYOND_NOISE * settled.noise));
        let high = high.max(quarters(&p50[half..]).1 * (1.0 + WARMING));
        leading(&p50[..half], |value| value > high && settled.level > 0.0)
    };
    let warm = slow.max(late);
    let length = points[..warm].last()?.end_ns().saturating_sub(points[0].start_ns);
    if length < WARMS_NS {
        return None;
    }
    let after = Settled::of(&p50[half..]).level as u64;
    let before = median(p50[..warm].to_vec()) as u64;
    let (length, after) = (show_duration(length), show_duration(after));
    let there = match before {
        0 => format!("hardly a response came there, and p50 was {after} later"),
        before => format!("p50 {} there and {after} later", show_duration(before)),
    };
    let mut evidence = format!("the first {length} of the window were warm-up: {there}");
    let mut consequence = Verdict::Valid;
    if qps.is_some() && slow > 0 {
        // With the dips in it, which the rate of the whole window has too.
        let warmed = Level::joined(&points[half..]).per_s;
        evidence += &format!("; once warm, the server answered {}/s", rate(warmed));
        if run.rates.requests_per_s < (1.0 - UNDERSTATED) * warmed {
            let more = percent(warmed / run.rates.requests_per_s.max(f64::MIN_POSITIVE) - 1.0);
            evidence += &format!(", {more} more than the whole window shows");
            consequence = Verdict::LowerBound;
        }
    }
    Some(Departure { finding: (consequence, evidence), slower: false })
}

/// A figure that moves the same way from third to third, by more than it wavers.
fn never_settled(qps: Option<&Vec<f64>>, p50: &[f64]) -> Option<Departure> {
    let moved = |values: &[f64]| {
        let third = values.len() / 3;
        let thirds = [&values[..third], &values[third..2 * third], &values[2 * third..]];
        let [a, b, c] = thirds.map(Settled::of);
        let same_way =
            (a.level < b.level && b.level < c.level) || (a.level > b.level && b.level > c.level);
        let far = (c.level / a.level).max(a.level / c.level);
        let noise = a.noise.max(b.noise).max(c.noise);
        (same_way && far.is_finite() && far >= MOVED.max(1.0 + BEYOND_NOISE * noise))
            .then_some((a.level, c.level))
    };
    let never_settled = |what: &str, from: String, to: String, slower: bool| {
        let evidence = format!(
            "{what} never settled: {from} in the first third of the window, {to} in the last"
        );
        Some(Departure { finding: (Verdict::Valid, evidence), slower })
    };
    if let Some((from, to)) = qps.and_then(|qps| moved(qps)) {
        return never_settled("QPS", rate(from), rate(to), to < from);
    }
    let (from, to) = moved(p50)?;
    let shown = |ns: f64| show_duration(ns as u64);
    never_settled("the median response time", shown(from), shown(to), to > from)
}

/// The level became worse at some instant, and stayed so to the end.
fn worsened(run: &Run, points: &[Level], qps: Option<&Vec<f64>>, p50: &[f64]) -> Option<Departure> {
    let split = |values: &[f64], at: usize| {
        let [before, since] = [&values[..at], &values[at..]].map(Settled::of);
        let beyond = 1.0 + BEYOND_NOISE * before.noise.max(since.noise);
        (before.level, since.level, beyond)
    };
    let splits = || FEWEST_APART..(points.len() + 1).saturating_sub(FEWEST_APART);
    let words = |what: &str, at: usize, from: String, to: String| {
        let evidence = format!(
            "{what} became worse {} into the window and stayed so to its end: {from} before, {to} since",
            into_window(run, points[at].start_ns)
        );
        Some(Departure { finding: (Verdict::Valid, evidence), slower: true })
    };
    let slower = splits().map(|at| (at, split(p50, at))).filter(|(_, (before, since, beyond))| {
        *before > 0.0 && since / before >= WARMING_SLOWER.max(*beyond)
    });
    // Levels of parts that hold some of both are as far apart: at the instant itself the parts are most even.
    let off = |values: &[f64], at: usize| off_level(&values[..at]) + off_level(&values[at..]);
    if let Some((at, (before, since, _))) =
        slower.min_by(|a, b| off(p50, a.0).total_cmp(&off(p50, b.0)))
    {
        let [before, since] = [before, since].map(|ns| show_duration(ns as u64));
        return words("the median response time", at, before, since);
    }
    let qps = qps?;
    // Where more than half of the parts are empty though some are not, responses come in bursts.
    let ends = |at: usize| qps[at..].iter().all(|per_s| *per_s == 0.0);
    let fewer = splits().map(|at| (at, split(qps, at))).filter(|(at, (before, since, beyond))| {
        (*since > 0.0 || ends(*at)) && before / since >= MOVED.max(*beyond)
    });
    let (at, (before, since, _)) = fewer.min_by(|a, b| off(qps, a.0).total_cmp(&off(qps, b.0)))?;
    words("QPS", at, rate(before), rate(since))
}

/// A level and its noise relative to it.
#[derive(Debug, Clone, Copy)]
struct Settled {
    level: f64,
    noise: f64,
}

impl Settled {
    fn of(values: &[f64]) -> Self {
        let level = median(values.to_vec());
        let off = median(values.iter().map(|value| (value - level).abs()).collect());
        Self { level, noise: if level > 0.0 { 1.4826 * off / level } else { 0.0 } }
    }
}

/// What a quarter of the values are not above, and what a quarter are not below; 0 without any.
fn quarters(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = sorted.len() / 4;
    let [low, high] = [sorted.get(rank), sorted.iter().nth_back(rank)];
    (low.copied().unwrap_or(0.0), high.copied().unwrap_or(0.0))
}

/// How far values are off their level, all together.
fn off_level(values: &[f64]) -> f64 {
    let level = median(values.to_vec());
    values.iter().map(|value| (value - level).abs()).sum()
}

/// How many points from the first on are so.
fn leading(values: &[f64], so: impl Fn(f64) -> bool) -> usize {
    values.iter().take_while(|value| so(**value)).count()
}
