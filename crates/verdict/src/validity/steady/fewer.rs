//! Throughput that falls for good in a window with few responses.

use model::Run;
use model::Verdict;
use model::slices::Slice;
use model::units::{Nanos, SECOND};

use super::turn::is_constant;
use super::{Departure, WARMS_NS, inside, into_window};
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
    let slices = inside(run);
    let enough = EACH_THIRD.max(ROUNDS * f64::from(plan.connections));
    let splits = (1..slices.len()).filter_map(|at| Some((at, Sides::of(&slices, at, enough)?)));
    let (at, sides) = splits.max_by(|a, b| a.1.likelihood().total_cmp(&b.1.likelihood()))?;
    let evidence = format!(
        "QPS became worse {} into the window and stayed so to its end: {} before, {} since",
        into_window(run, slices[at].start_ns),
        rate(sides.before.per_s()),
        rate(sides.since.per_s())
    );
    Some(Departure { finding: (Verdict::Valid, evidence), slower: true })
}

/// What came before an instant and since it.
#[derive(Debug, Clone, Copy)]
struct Sides {
    before: Came,
    since: Came,
}

impl Sides {
    /// None where the one side is not that far above the other throughout, or a third of either has less than `enough`.
    fn of(slices: &[&Slice], at: usize, enough: f64) -> Option<Self> {
        let [before, since] = [thirds(&slices[..at], enough)?, thirds(&slices[at..], enough)?];
        let per_s = |thirds: [Came; 3]| thirds.map(|third| third.per_s());
        let least = per_s(before).into_iter().fold(f64::INFINITY, f64::min);
        let most = per_s(since).into_iter().fold(0.0, f64::max);
        let sides = Self { before: Came::of(&slices[..at]), since: Came::of(&slices[at..]) };
        (least >= TIMES_FEWER * most).then_some(sides)
    }

    /// The logarithm of how likely the counts are at the rates of either side, but for what is the same at each instant: the
    /// instant of the change has the most.
    fn likelihood(&self) -> f64 {
        [self.before, self.since].iter().map(|side| side.responses * side.per_s().ln()).sum()
    }
}

/// Responses, and the time in which they came.
#[derive(Debug, Clone, Copy)]
struct Came {
    responses: f64,
    time_ns: Nanos,
}

impl Came {
    fn of(slices: &[&Slice]) -> Self {
        let seconds = |slice: &&Slice| slice.duration_ns as f64 / SECOND as f64;
        let responses = slices.iter().map(|slice| slice.requests_per_s * seconds(slice)).sum();
        let time_ns = slices.iter().map(|slice| slice.duration_ns).fold(0, Nanos::saturating_add);
        Self { responses, time_ns }
    }

    fn per_s(self) -> f64 {
        self.responses * SECOND as f64 / self.time_ns.max(1) as f64
    }
}

/// A side in thirds; none where one is too short or has too few responses.
fn thirds(slices: &[&Slice], responses: f64) -> Option<[Came; 3]> {
    let third = slices.len() / 3;
    let thirds = [&slices[..third], &slices[third..2 * third], &slices[2 * third..]].map(Came::of);
    let enough = |came: &Came| came.time_ns >= WARMS_NS && came.responses >= responses;
    thirds.iter().all(enough).then_some(thirds)
}
