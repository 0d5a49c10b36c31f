//! Throughput that falls for good in a window with few responses.

use model::Run;
use model::Verdict;

use super::turn::is_constant;
use super::{Departure, Level, WARMS_NS, inside, into_window};
use crate::figures::rate;

/// How many times as many responses come before an instant as since it.
pub(crate) const TIMES_FEWER: f64 = 2.0;
/// Responses in each third of either side, and of each user in it: those of all may come at once.
const EACH_THIRD: f64 = 10.0;
const ROUNDS: f64 = 2.0;

/// A closed loop that has half as many responses, or fewer, since some instant: each third of the time before it had twice
/// as many as any third of the time since. Where only some of the requests became slower, the times of most are as before.
pub(super) fn fewer(run: &Run) -> Option<Departure> {
    let plan = &run.plan;
    if plan.rate_per_s.is_some() || plan.requests.is_some() || !is_constant(run) {
        return None;
    }
    let parts: Vec<Level> = inside(run).into_iter().map(Level::of_slice).collect();
    let enough = EACH_THIRD.max(ROUNDS * f64::from(plan.connections));
    let splits = (1..parts.len()).filter_map(|at| Sides::of(&parts, at, enough));
    let sides = splits.max_by(|a, b| a.likelihood().total_cmp(&b.likelihood()))?;
    let evidence = format!(
        "QPS became worse {} into the window and stayed so to its end: {} before, {} since",
        into_window(run, sides.since.start_ns),
        rate(sides.before.per_s),
        rate(sides.since.per_s)
    );
    Some(Departure { finding: (Verdict::Valid, evidence), slower: true })
}

/// What came before an instant and since it.
#[derive(Debug, Clone, Copy)]
struct Sides {
    before: Level,
    since: Level,
}

impl Sides {
    /// None where the one side is not that far above the other throughout, or a third of either has less than `enough`.
    fn of(parts: &[Level], at: usize, enough: f64) -> Option<Self> {
        let [before, since] = [thirds(&parts[..at], enough)?, thirds(&parts[at..], enough)?];
        let least = before.iter().map(|third| third.per_s).fold(f64::INFINITY, f64::min);
        let most = since.iter().map(|third| third.per_s).fold(0.0, f64::max);
        let sides = Self { before: Level::joined(&before), since: Level::joined(&since) };
        (least >= TIMES_FEWER * most).then_some(sides)
    }

    /// The logarithm of how likely the counts are at the rates of either side, but for what is the same at each instant: the
    /// instant of the change has the most.
    fn likelihood(&self) -> f64 {
        [self.before, self.since].iter().map(|side| side.responses() * side.per_s.ln()).sum()
    }
}

/// A side in thirds; none where one is too short or has too few responses.
fn thirds(parts: &[Level], responses: f64) -> Option<[Level; 3]> {
    let third = parts.len() / 3;
    if third == 0 {
        return None;
    }
    let thirds =
        [&parts[..third], &parts[third..2 * third], &parts[2 * third..]].map(Level::joined);
    let enough = |part: &Level| part.duration_ns >= WARMS_NS && part.responses() >= responses;
    thirds.iter().all(enough).then_some(thirds)
}
