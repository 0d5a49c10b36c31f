//! A server that becomes a different one within a window or between two, which levels of a sweep must not have.

use model::Run;
use model::units::{MICROSECOND, Nanos, show_duration};

use super::{BEYOND_NOISE, FEWEST, FEWEST_APART, Level, Settled, inside, window};
use crate::gone::gone;

/// How many times as long, or as short, latencies of another server are.
pub(crate) const TURNED: f64 = 3.0;
/// The same of a level that is measured again, and the responses that tell what latency it settled at. Its two runs had a
/// machine that may have been busier in one of them.
pub(crate) const CHANGED: f64 = 2.0;
const FEWEST_SETTLED: f64 = 5.0;
/// How far apart they are at least: waking an idle processor takes up to about as long, and how idle they are differs.
pub(crate) const CHANGED_NS: f64 = 100.0 * MICROSECOND as f64;
/// How much a latency on either side may waver, and how many parts may be on the wrong one.
const FLAT: f64 = 0.25;
const MOST_STRAYS: usize = 1;
/// The share of the window that each side lasts for, the responses of each user in it, and those of all.
const LASTING: f64 = 0.1;
const ROUNDS: f64 = 2.0;
const FEWEST_TURNED: f64 = 10.0;

/// The window in parts that had responses, seconds or parts of them: a server that takes longer than a part answers nothing
/// in most.
fn answered_parts(run: &Run) -> Vec<Level> {
    let seconds = window(run);
    let parts: Vec<Level> = if seconds.len() < FEWEST {
        inside(run).into_iter().map(Level::of_slice).collect()
    } else {
        seconds.iter().map(Level::of_point).collect()
    };
    parts.into_iter().filter(|part| part.p50_ns > 0.0).collect()
}

/// Whether the server became another one within the window: it had one latency before some instant, and a far longer or
/// shorter one from then on, with next to nothing between. A queue that grows has all that is between, and what all users
/// wait for once is a stall.
pub(crate) fn turned(run: &Run) -> Option<Turn> {
    let plan = &run.plan;
    if !is_constant(run) || gone(run).is_some() {
        return None;
    }
    let parts = answered_parts(run);
    let each = if plan.rate_per_s.is_none() { f64::from(plan.connections) } else { 0.0 };
    let enough = (ROUNDS * each).max(FEWEST_TURNED);
    let splits = FEWEST_APART..(parts.len() + 1).saturating_sub(FEWEST_APART);
    let found = splits.filter_map(|at| Turn::at(&parts, at, enough));
    let clearest = found.min_by(|a, b| a.0.cmp(&b.0).then(b.1.times().total_cmp(&a.1.times())));
    clearest.map(|(_, turn)| Turn { at_ns: turn.at_ns.saturating_sub(plan.warmup_ns), ..turn })
}

/// Whether all parts of the window have the same load, of the same requests.
pub(crate) fn is_constant(run: &Run) -> bool {
    run.plan.stages.is_empty() && run.plan.recorded.is_none() && run.flows.is_empty()
}

/// The median response times of two runs of one level, once settled, and whether they are too far apart to be of one server;
/// none where either run tells too little.
pub(crate) fn between(before: &Run, since: &Run) -> Option<([Nanos; 2], bool)> {
    let (before, since) = (settled(before)?, settled(since)?);
    let times = (before.level / since.level).max(since.level / before.level);
    let beyond = 1.0 + BEYOND_NOISE * before.noise.max(since.noise);
    let far = (before.level - since.level).abs() >= CHANGED_NS;
    Some(([before.level as Nanos, since.level as Nanos], far && times >= CHANGED.max(beyond)))
}

/// The latency of the window's second half: what a first level begins with may be warm-up.
fn settled(run: &Run) -> Option<Settled> {
    if !is_constant(run) || gone(run).is_some() {
        return None;
    }
    let parts = answered_parts(run);
    let later = &parts[parts.len() / 2..];
    let enough = later.len() >= FEWEST_APART && responses(later) >= FEWEST_SETTLED;
    enough.then(|| latency(later))
}

fn latency(parts: &[Level]) -> Settled {
    Settled::of(&parts.iter().map(|part| part.p50_ns).collect::<Vec<_>>())
}

fn responses(parts: &[Level]) -> f64 {
    parts.iter().map(Level::responses).sum()
}

/// From one level of latency to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Turn {
    /// When, since the window's start.
    pub(crate) at_ns: Nanos,
    /// The median response time before.
    pub(crate) before_ns: Nanos,
    /// And since.
    pub(crate) since_ns: Nanos,
}

impl Turn {
    /// The turn between these parts, and how many of them are on the wrong side; none where either side is not one level of
    /// `enough` responses.
    fn at(parts: &[Level], at: usize, enough: f64) -> Option<(usize, Self)> {
        let (first, last, at_ns) = (parts.first()?, parts.last()?, parts[at - 1].end_ns());
        let sides = [&parts[..at], &parts[at..]];
        let [before, since] = sides.map(latency);
        let turn = Self { at_ns, before_ns: before.level as Nanos, since_ns: since.level as Nanos };
        let between = (before.level * since.level).sqrt();
        let strays = |side: &[Level], level: f64| {
            side.iter().filter(|part| (part.p50_ns < between) != (level < between)).count()
        };
        let strays = strays(sides[0], before.level) + strays(sides[1], since.level);
        let lasts = [at_ns.saturating_sub(first.start_ns), last.end_ns().saturating_sub(at_ns)];
        let least_ns = LASTING * last.end_ns().saturating_sub(first.start_ns) as f64;
        let found = turn.times() >= TURNED
            && strays <= MOST_STRAYS
            && before.noise.max(since.noise) <= FLAT
            && lasts.iter().all(|&ns| ns as f64 >= least_ns)
            && sides.iter().all(|side| responses(side) >= enough);
        found.then_some((strays, turn))
    }

    /// How many times as long, or as short, responses take.
    fn times(&self) -> f64 {
        let [before, since] = [self.before_ns, self.since_ns].map(|ns| ns.max(1) as f64);
        (before / since).max(since / before)
    }

    /// `the median response time turned from 21.2ms to 402ms 900ms into the window, and stayed so`.
    pub(crate) fn words(&self) -> String {
        let [before, since, at] = [self.before_ns, self.since_ns, self.at_ns].map(show_duration);
        format!(
            "the median response time turned from {before} to {since} {at} into the window, and stayed so"
        )
    }
}
