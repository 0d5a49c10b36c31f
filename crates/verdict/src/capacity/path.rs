//! Which step of a search comes next, given those that were run.

use model::capacity::{Judged, Outcome, Purpose, Settings, Step};
use model::units::{MILLISECOND, SECOND};
use model::{LevelKind, Nanos};

use super::estimate::{Estimate, Prior};
use super::step::{affords, from_idle, level, level_below};
use super::{Ending, Fed, Next, Search, onward, reverse, saturated};

/// Connections of the probes, as far as they are allowed: from the second on,
const PROBES: [f64; 4] = [8.0, 64.0, 512.0, 4096.0];
/// unless as many would wait for more steps than this if they were served one by one.
const PROBE_WAITS: f64 = 2.0;
/// A mean of this many times that at rest shows a queue: more connections would bring no more QPS.
const PROBE_QUEUED: f64 = 3.0;
/// The lowest rate that is tried, as a share of the probes' peak,
const FLOOR: f64 = 0.001;
/// and the lowest rate of all, per second.
const LEAST_RATE: f64 = 0.1;
/// Before anything is tried half of the belief is above this share of the peak.
const FIRST: f64 = 0.8;
/// The capacity is first looked for below this multiple of the peak,
const TOP: f64 = 1.25;
/// and then below this multiple of the highest level that held.
const BEYOND: f64 = 2.0;
/// While nothing broke, half of the belief is above this multiple of the highest level that held.
const ONWARD: f64 = 1.4;
/// Levels tried before a hold, and between two holds, at most.
const MOST_SEARCHES: usize = 9;
/// Shares of the belief that lie below a hold: the lower the more holds failed,
const BELOW_HOLD: [f64; 3] = [0.2, 0.1, 0.04];
/// and a hold is at most at this share of the one that failed before it: a long run shows what a short
/// step could not, and near the capacity even a long one may stay unclear.
const STEP_BACK: [f64; 4] = [0.85, 0.7, 0.55, 0.45];
/// Holds that may fail at most: one, and one for each step back.
const MOST_HOLDS: usize = 1 + STEP_BACK.len();
/// Holds that the search leaves time for once a level held.
const HOLDS_IN_RESERVE: usize = 3;
/// Levels tried at the ends of the interval at most.
const MOST_EDGES: usize = 2;
/// Width of the interval above the precision asked for, as a share of it, that is left as it is.
const EDGE: f64 = 0.3;
/// Looks at a server that does not come to rest, each after twice the time of the one before.
const MOST_LOOKS: u32 = 5;
/// A server is at rest when its mean is not above this multiple of the least mean at rest,
const CALM: f64 = 3.0;
/// or only this much above it.
const CALM_NS: f64 = MILLISECOND as f64;
/// Longest look at the idle server.
const LOOK: Nanos = SECOND;
/// Successes in a hundred that a server at rest must have.
const CALM_SUCCESS: f64 = 0.5;

/// What is thought possible before the first level is tried.
pub(super) fn prior(search: &Search) -> Prior {
    let held = search.highest_held().unwrap_or(0.0);
    let ceiling = search.ceiling();
    if search.settings.kind == LevelKind::Concurrency {
        // Between two whole numbers the capacity is the lower one.
        let top = ceiling.unwrap_or(f64::from(search.settings.connections)) + 0.5;
        return Prior { floor: 0.7, middle: 32.0_f64.min(top / 2.0).max(1.0), top };
    }
    let peak = peak(search);
    let top = (TOP * peak).max(if held > 0.9 * peak { BEYOND * held } else { 0.0 });
    let top = ceiling.map_or(top, |ceiling| top.min(ceiling));
    let floor = (FLOOR * peak).max(LEAST_RATE).min(top / 4.0);
    // What holds nearly as much as the peak shows that the peak was none.
    let beyond = lowest_broke(search).is_none() && held > 0.9 * peak;
    let onward = if beyond { ONWARD * held } else { 0.0 };
    // A ceiling may lie far below the peak: half of the belief stays well under it.
    Prior { floor, middle: (FIRST * peak).max(onward).min(0.7 * top).max(floor), top }
}

fn lowest_broke(search: &Search) -> Option<f64> {
    let broke = search.speaking().filter(|fed| fed.judged.outcome == Outcome::Broke);
    broke.map(|fed| fed.step.level).min_by(f64::total_cmp)
}

/// The most successes a second that a step at rest or a probe saw.
fn peak(search: &Search) -> f64 {
    let seen = search.of(Purpose::Idle).chain(search.of(Purpose::Probe));
    seen.map(carried).fold(LEAST_RATE, f64::max)
}

/// Successes a second of a closed loop. Of a slow server's, most come after the window; where less than half of the users had a
/// response in it, Little's law says how many their times allow.
fn carried(fed: &Fed) -> f64 {
    let Judged { requests_per_s, succeeded_per_s, mean_ns, .. } = &fed.judged;
    let second = SECOND as f64;
    let in_window = requests_per_s * fed.step.window_ns as f64 / second;
    let most = match in_window < fed.step.level / 2.0 && *mean_ns > 0.0 {
        true => fed.step.level * second / mean_ns,
        false => *requests_per_s,
    };
    succeeded_per_s.min(most)
}

/// See [`Search::next`].
pub(super) fn next(search: &Search) -> Next {
    if let Some(step) = reverse::descent(search).filter(|step| affords(search, &[*step])) {
        return Next::Run(step);
    }
    match settle(search) {
        Settled::Not(step) => return Next::Run(step),
        Settled::Never(ending) => return Next::Done(ending),
        Settled::Yes => {}
    }
    if let Some(step) = probe(search) {
        let within = affords(search, &[step]);
        return if within { Next::Run(step) } else { Next::Done(Ending::OutOfBudget) };
    }
    let estimate = search.estimate();
    let Some(held) = confirmed(search) else { return find(search, &estimate) };
    if outgrown(search, held, &estimate) {
        return find(search, &estimate);
    }
    match upward(search, held, &estimate) {
        Onward::Run(step) => Next::Run(step),
        Onward::NoTime => finish(search, held, &estimate, Ending::OutOfBudget),
        Onward::Nothing => finish(search, held, &estimate, Ending::Found),
    }
}

/// The last hold that held.
fn confirmed(search: &Search) -> Option<&Fed> {
    search.of(Purpose::Hold).rfind(|fed| fed.judged.outcome == Outcome::Held)
}

/// Whether the server is at rest.
enum Settled {
    Yes,
    Not(Step),
    Never(Ending),
}

/// Every level is approached from idle: after a step that may have hurt the server this waits until
/// a single connection finds it as it was at the start.
fn settle(search: &Search) -> Settled {
    let looks: Vec<&Fed> =
        search.fed.iter().rev().take_while(|fed| fed.step.purpose == Purpose::Idle).collect();
    if search.fails_at_rest() {
        return Settled::Never(Ending::NeverMet);
    }
    let hurt =
        search.fed.iter().rfind(|fed| fed.step.purpose != Purpose::Idle).is_none_or(may_hurt);
    if !hurt || looks.first().is_some_and(|fed| calm(search, fed)) {
        return Settled::Yes;
    }
    let nth = looks.len() as u32;
    let step = idle_step(search, nth);
    if nth < MOST_LOOKS && affords(search, &[step]) {
        return Settled::Not(step);
    }
    let answered = looks.iter().any(|fed| fed.judged.succeeded_per_s > 0.0);
    let ever = search.idle_mean_ns().is_some();
    match (answered, ever) {
        // It is back; whether it is slower, the next levels show.
        (true, _) => Settled::Yes,
        (false, true) if nth > 0 || silent(search) => Settled::Never(Ending::Died),
        (false, true) => Settled::Never(Ending::OutOfBudget),
        (false, false) => Settled::Never(Ending::NeverMet),
    }
}

/// The step that looks at the idle server after this many of them: each waits twice as long as the one before.
fn idle_step(search: &Search, nth: u32) -> Step {
    let window_ns = (search.settings.step_ns / 4).min(LOOK);
    let rest_ns = if search.fed.is_empty() {
        0
    } else {
        search.settings.rest_ns.max(window_ns / 2).saturating_mul(1 << nth)
    };
    Step { purpose: Purpose::Idle, level: 1.0, rest_ns, warmup_ns: 0, window_ns }
}

/// Whether the last step had no response at all.
fn silent(search: &Search) -> bool {
    search.fed.last().is_some_and(|fed| fed.judged.requests_per_s == 0.0)
}

fn may_hurt(fed: &Fed) -> bool {
    match fed.step.purpose {
        Purpose::Idle => false,
        Purpose::Probe | Purpose::Overload => true,
        Purpose::Search | Purpose::Hold | Purpose::Return | Purpose::Saturated => {
            fed.judged.outcome != Outcome::Held
        }
    }
}

fn calm(search: &Search, look: &Fed) -> bool {
    let Some(least) = search.idle_mean_ns() else { return false };
    let Fed { judged, .. } = look;
    let failing = search.levels().next().is_none() && judged.failing().is_some();
    let succeeds = !failing && judged.succeeded_per_s > CALM_SUCCESS * judged.requests_per_s;
    succeeds && (judged.mean_ns <= CALM * least || judged.mean_ns <= least + CALM_NS)
}

/// The next probe, while there is one to be made.
fn probe(search: &Search) -> Option<Step> {
    if search.settings.kind == LevelKind::Concurrency || search.levels().next().is_some() {
        return None;
    }
    let most = f64::from(search.settings.connections);
    let level = match search.of(Purpose::Probe).next_back() {
        None => first_probe(search),
        Some(last) => {
            let idle = search.idle_mean_ns().unwrap_or(0.0);
            let queued = last.judged.mean_ns >= PROBE_QUEUED * idle;
            let done = queued || last.step.level >= most || last.judged.succeeded_per_s == 0.0;
            PROBES.into_iter().find(|&level| level > last.step.level && !done)?
        }
    };
    let window_ns = (search.settings.step_ns / 4).max(SECOND / 2);
    Some(Step {
        purpose: Purpose::Probe,
        level: level.min(most),
        rest_ns: search.settings.rest_ns,
        warmup_ns: 0,
        window_ns,
    })
}

/// What a slow server is sent at once is waited for: by few.
fn first_probe(search: &Search) -> f64 {
    let [few, usual, ..] = PROBES;
    let wait_ns = usual * search.idle_mean_ns().unwrap_or(0.0);
    if wait_ns > PROBE_WAITS * search.settings.step_ns as f64 { few } else { usual }
}

/// Before a level is confirmed: the next level of the search, or the hold.
fn find(search: &Search, estimate: &Estimate) -> Next {
    let prior = search.prior();
    let lowest = search.speaking().filter(|fed| fed.step.level <= 2.0 * prior.floor.max(0.5));
    let broke = lowest.filter(|fed| fed.judged.outcome == Outcome::Broke).count();
    if search.highest_held().is_none() && broke >= 2 {
        return Next::Done(Ending::NeverMet);
    }
    let tried = searched_since_hold(search);
    let hold = hold(search, estimate);
    let core = (estimate.quantile(0.2), estimate.quantile(0.8));
    let bounded = lowest_broke(search).is_some() || search.ceiling().is_some();
    let enough = bounded && (tried >= MOST_SEARCHES || narrow(search, core));
    let middle = level(search, estimate.quantile(0.5));
    let middle = match search.highest_held() {
        None if middle < 2.0 * prior.floor => level(search, prior.floor),
        _ => middle,
    };
    let step = from_idle(search, Purpose::Search, middle, search.settings.step_ns);
    let known = search.highest_held().is_some();
    // While nothing has held there is nothing to confirm: what is left of the budget goes into looking.
    let fits =
        affords(search, &reserving(search, step, hold)) || !known && affords(search, &[step]);
    if !(enough && known) && fits {
        return Next::Run(step);
    }
    if known && failed_holds(search).count() >= MOST_HOLDS {
        return Next::Done(Ending::Unconfirmed);
    }
    let hold = shortened(search, lengthened(search, hold)).filter(|_| known);
    hold.map_or(Next::Done(Ending::OutOfBudget), Next::Run)
}

/// A step with the holds that time is kept for behind it: so near the edge the first may well fail, and
/// the second.
fn reserving(search: &Search, step: Step, hold: Step) -> Vec<Step> {
    let tried = search.of(Purpose::Hold).count();
    let known = search.highest_held().is_some();
    let kept = if known { HOLDS_IN_RESERVE.saturating_sub(tried).max(1) } else { 1 };
    let mut steps = vec![hold; kept];
    steps.push(step);
    steps
}

/// Whether a confirmed level may be left behind.
enum Onward {
    /// By this step.
    Run(Step),
    /// It may, and there is no time for that.
    NoTime,
    /// It is where the search ends, as far as is known.
    Nothing,
}

/// The next level above a confirmed one above which nothing is known: of a short budget, the hold takes its time before a
/// level broke.
fn upward(search: &Search, held: &Fed, estimate: &Estimate) -> Onward {
    let middle = level(search, estimate.quantile(0.5));
    let wanted = middle > held.step.level && is_open_above(search, held.step.level);
    let holds = search.of(Purpose::Hold).count();
    if !wanted || searched_since_hold(search) >= MOST_SEARCHES || holds >= MOST_HOLDS {
        return Onward::Nothing;
    }
    let step = from_idle(search, Purpose::Search, middle, search.settings.step_ns);
    let hold = from_idle(search, Purpose::Hold, middle, search.settings.hold_ns);
    if affords(search, &[step, hold]) { Onward::Run(step) } else { Onward::NoTime }
}

/// Whether nothing is known above a level: none broke, and it is not about the highest that is allowed.
fn is_open_above(search: &Search, level: f64) -> bool {
    let broke = |fed: &Fed| fed.judged.outcome == Outcome::Broke && fed.step.level > level;
    !search.speaking().any(broke) && onward::reached(search).is_none()
}

/// Levels tried since the last hold.
fn searched_since_hold(search: &Search) -> usize {
    let since = search.fed.iter().rev().take_while(|fed| fed.step.purpose != Purpose::Hold);
    since.filter(|fed| fed.step.purpose == Purpose::Search).count()
}

/// The hold to be tried: a step back from the one that failed before it.
fn hold(search: &Search, estimate: &Estimate) -> Step {
    if let Some(longer) = longer(search).filter(|longer| affords(search, &[*longer])) {
        return longer;
    }
    let counted = search.of(Purpose::Hold).filter(|fed| !search.is_doubtful(fed)).count();
    let share = BELOW_HOLD[counted.min(BELOW_HOLD.len() - 1)];
    let wanted = estimate.quantile(share);
    // A level that held is as good as one that lies a hair above it.
    let near = search.speaking().filter(|fed| fed.judged.outcome == Outcome::Held);
    let near = near.map(|fed| fed.step.level).filter(|held| (held / wanted - 1.0).abs() < 0.005);
    let wanted = near.max_by(f64::total_cmp).unwrap_or_else(|| level_below(search, wanted));
    // A generator that was late does not show that the level is too high.
    let shown = failed_holds(search).filter(|fed| !fed.is_late()).count();
    let back = STEP_BACK[shown.clamp(1, STEP_BACK.len()) - 1];
    let lowest = failed_holds(search).map(|fed| fed.step.level).reduce(f64::min);
    let most = lowest.map_or(wanted, |lowest| level_below(search, back * lowest));
    from_idle(search, Purpose::Hold, wanted.min(most), search.settings.hold_ns)
}

/// Holds that did not hold, but for those that other programs may have broken.
fn failed_holds(search: &Search) -> impl Iterator<Item = &Fed> {
    let failed = |fed: &&Fed| fed.judged.outcome != Outcome::Held && !search.is_doubtful(fed);
    search.of(Purpose::Hold).filter(failed)
}

/// After a hold that had too few attempts to prove anything: one of twice its length at the same level.
fn longer(search: &Search) -> Option<Step> {
    let last = search.levels().next_back()?;
    let too_few = last.step.purpose == Purpose::Hold && last.judged.too_few;
    too_few.then(|| Step { window_ns: last.step.window_ns.saturating_mul(2), ..last.step })
}

/// A hold as long as it takes for enough attempts, if there is time for that.
fn lengthened(search: &Search, hold: Step) -> Step {
    let Settings { kind, hold_attempts, .. } = search.settings;
    if kind == LevelKind::Concurrency {
        return hold;
    }
    let wanted_ns = (hold_attempts as f64 / hold.level * SECOND as f64) as Nanos;
    let longer = Step { window_ns: hold.window_ns.max(wanted_ns), ..hold };
    if affords(search, &[longer]) { longer } else { hold }
}

/// A hold that still fits the budget: half of the one asked for or more, and not shorter than a step of the search.
fn shortened(search: &Search, hold: Step) -> Option<Step> {
    if affords(search, &[hold]) {
        return Some(hold);
    }
    let left = search.settings.budget_ns.saturating_sub(search.spent_ns());
    let window_ns = left.saturating_sub(hold.rest_ns).saturating_sub(hold.warmup_ns);
    let least = search.settings.step_ns.max(search.settings.hold_ns / 2);
    (window_ns >= least.min(search.settings.hold_ns))
        .then_some(Step { window_ns: window_ns.min(hold.window_ns), ..hold })
}

/// Whether what is believed by now has left a confirmed level behind.
fn outgrown(search: &Search, held: &Fed, estimate: &Estimate) -> bool {
    let holds = search.of(Purpose::Hold).count();
    let (low, _) = estimate.interval();
    holds < MOST_HOLDS && low > held.step.level * (1.0 + search.settings.precision)
}

/// After a level is confirmed: the edges of the interval, then from above, then saturated, and the end.
fn finish(search: &Search, held: &Fed, estimate: &Estimate, ending: Ending) -> Next {
    let edges = searched_since_hold(search);
    let reverse = reverse::next(search, held);
    if reverse.is_some_and(|step| step.purpose == Purpose::Overload) && edges < MOST_EDGES {
        let edge = edge(search, held, estimate);
        let wanted: Vec<Step> = edge.into_iter().chain(reverse).collect();
        if let Some(edge) = edge.filter(|_| affords(search, &wanted)) {
            return Next::Run(edge);
        }
    }
    if let Some(step) = reverse.filter(|step| affords(search, &[*step, *step])) {
        return Next::Run(step);
    }
    // Whether the server survived it is looked at too.
    let saturated = saturated::next(search, held)
        .filter(|step| affords(search, &[*step, idle_step(search, 0)]));
    saturated.map_or(Next::Done(ending), Next::Run)
}

/// The end of the interval that lies too far from a confirmed level, to be tried again. An
/// interval somewhat wider than asked for is not worth another step.
fn edge(search: &Search, held: &Fed, estimate: &Estimate) -> Option<Step> {
    let (low, high) = estimate.interval();
    let ceiling = search.ceiling().unwrap_or(f64::INFINITY);
    let (below, above) = (held.step.level / low, high / held.step.level);
    if narrow(search, (low, high / (1.0 + EDGE * search.settings.precision))) {
        return None;
    }
    let wanted = if above >= below {
        level(search, estimate.quantile(0.9).max(held.step.level * 1.005)).min(ceiling)
    } else {
        level_below(search, held.step.level)
    };
    let limited = |fed: &Fed| fed.judged.outcome == Outcome::Generator && fed.step.level <= wanted;
    (wanted < ceiling && !search.speaking().any(limited))
        .then(|| from_idle(search, Purpose::Search, wanted, search.settings.step_ns))
}

/// Whether an interval is as narrow as was asked for.
fn narrow(search: &Search, (low, high): (f64, f64)) -> bool {
    let whole = search.settings.kind == LevelKind::Concurrency;
    let allowed = search.settings.precision * (low + high) / 2.0;
    high - low <= if whole { allowed.max(1.2) } else { allowed }
}
