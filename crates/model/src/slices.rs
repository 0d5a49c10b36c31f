//! A short run in parts of its seconds: a run of 5 s has five points in its timeline, too few to see
//! anything in. Charts draw these instead.
//!
//! Not here: the points, second by second, that every run has ([`crate::timeline`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::{Interval, Phase, SLICED_AT_MOST, SliceTally};
use crate::percentile::PointPercentiles;
use crate::units::{Nanos, SECOND};

/// Slices that a run keeps at most; of more, neighbours are joined.
const MOST_SLICES: usize = 60;
/// Slices held until then: more than a run has, whatever a journal says.
const MOST_HELD: usize = 500;

/// A part of a second. The last one is the drain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// Start, since the run's start.
    pub start_ns: Nanos,
    /// Length.
    pub duration_ns: Nanos,
    /// `warmup`, `window` or `drain`.
    pub phase: String,
    /// Arrivals due per second by the schedule; 0 in a closed loop.
    pub offered_per_s: f64,
    /// Responses done per second.
    pub requests_per_s: f64,
    /// Failed attempts, unsent ones included.
    pub failed: u64,
    /// Percentiles of response time of the attempts that ended here, to 3 %.
    #[serde(flatten)]
    pub percentiles: PointPercentiles,
    /// Highest.
    pub max_ns: Nanos,
    /// Requests unanswered, mean.
    pub in_flight_mean: f64,
    /// Response times by range, ascending: the range's longest in nanoseconds, and how many. It is at most
    /// 6 % above the range's shortest.
    pub response_counts: Vec<(Nanos, u64)>,
}

impl Slice {
    fn of(phase: Phase, tally: &SliceTally) -> Self {
        let duration_ns = tally.end_ns.saturating_sub(tally.start_ns);
        let per_s = |n: u64| n as f64 * SECOND as f64 / duration_ns.max(1) as f64;
        Self {
            start_ns: tally.start_ns,
            duration_ns,
            phase: phase.name().to_owned(),
            offered_per_s: per_s(tally.due),
            requests_per_s: per_s(tally.responses_done),
            failed: tally.failed,
            percentiles: PointPercentiles::of(|share| tally.at_quantile(share)),
            max_ns: tally.max_ns,
            in_flight_mean: tally.in_flight.mean(duration_ns),
            response_counts: tally.counts.clone(),
        }
    }
}

/// Collects the slices of a run until it turns out to be none of the short ones.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    sums: Vec<(Phase, SliceTally)>,
    /// An interval without slices came before the drain.
    long: bool,
}

impl Slices {
    pub(crate) fn add(&mut self, interval: &Interval) {
        if self.long {
            return;
        }
        // Phases follow one another, whatever a journal says: those that alternate would never fold.
        let phase = self.sums.last().map_or(interval.phase, |(last, _)| interval.phase.max(*last));
        let short = !interval.slices.is_empty()
            && interval.end_ns <= SLICED_AT_MOST
            && self.sums.len() < MOST_HELD;
        match self.sums.last_mut() {
            Some((Phase::Drain, drain)) => drain.append(&SliceTally::whole(interval)),
            _ if phase == Phase::Drain => self.sums.push((phase, SliceTally::whole(interval))),
            _ if short => {
                self.sums.extend(interval.slices.iter().map(|slice| (phase, slice.clone())));
            }
            _ => *self = Self { long: true, ..Self::default() },
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Slice> {
        while self.sums.len() > MOST_SLICES {
            self.fold_pairs();
        }
        self.sums.iter().map(|(phase, sum)| Slice::of(*phase, sum)).collect()
    }

    fn fold_pairs(&mut self) {
        let mut folded: Vec<(Phase, SliceTally)> = Vec::with_capacity(self.sums.len());
        let mut open_pair = false;
        for (phase, sum) in self.sums.drain(..) {
            match folded.last_mut() {
                Some((of, last)) if open_pair && *of == phase => {
                    last.append(&sum);
                    open_pair = false;
                }
                _ => {
                    folded.push((phase, sum));
                    open_pair = true;
                }
            }
        }
        self.sums = folded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Tally;
    use crate::units::MILLISECOND;

    const LENGTH: Nanos = 100 * MILLISECOND;

    /// A second with `parts` slices of a tenth each, with a response each.
    fn interval(index: u32, phase: Phase, parts: u32) -> Interval {
        let mut tally = Tally { responses_done: 1, succeeded: 1, ..Tally::default() };
        tally.response.record(5 * MILLISECOND);
        let start_ns = u64::from(index) * SECOND;
        let slice = |part: u32| {
            let start_ns = start_ns + u64::from(part) * LENGTH;
            SliceTally {
                start_ns,
                end_ns: start_ns + LENGTH,
                responses_done: 1,
                counts: vec![(5 * MILLISECOND, 1)],
                max_ns: 5 * MILLISECOND,
                ..SliceTally::default()
            }
        };
        let slices = (0..parts).map(slice).collect();
        Interval { slices, tally, ..Interval::new(index, phase, start_ns, start_ns + SECOND) }
    }

    fn slices_of(intervals: &[Interval]) -> Vec<Slice> {
        let mut slices = Slices::default();
        intervals.iter().for_each(|interval| slices.add(interval));
        slices.finish()
    }

    #[test]
    fn a_short_run_is_all_in_its_slices() {
        let slices = slices_of(&[
            interval(0, Phase::Warmup, 10),
            interval(1, Phase::Window, 10),
            interval(2, Phase::Drain, 0),
            interval(3, Phase::Drain, 0),
        ]);
        assert_eq!(slices.len(), 21);
        assert_eq!((slices[0].phase.as_str(), slices[10].phase.as_str()), ("warmup", "window"));
        let drain = &slices[20];
        assert_eq!((drain.start_ns, drain.duration_ns), (2 * SECOND, 2 * SECOND));
        assert_eq!(drain.response_counts.iter().map(|(_, n)| n).sum::<u64>(), 2);
        assert_eq!((slices[3].requests_per_s, slices[3].max_ns), (10.0, 5 * MILLISECOND));
    }

    #[test]
    fn a_long_run_has_none() {
        let mut intervals: Vec<_> = (0..5).map(|i| interval(i, Phase::Window, 10)).collect();
        assert_eq!(slices_of(&intervals).len(), 50);
        intervals.push(interval(5, Phase::Window, 0));
        intervals.push(interval(6, Phase::Window, 10));
        intervals.push(interval(7, Phase::Drain, 0));
        assert!(slices_of(&intervals).is_empty());
    }

    #[test]
    fn many_slices_are_joined_and_lose_nothing() {
        let intervals: Vec<_> = (0..11).map(|i| interval(i, Phase::Window, 10)).collect();
        let slices = slices_of(&intervals);
        assert_eq!((slices.len(), slices[0].duration_ns), (55, 2 * LENGTH));
        let responses: u64 = slices.iter().flat_map(|s| &s.response_counts).map(|(_, n)| n).sum();
        assert_eq!(responses, 110);
        let phases = [Phase::Window, Phase::Warmup].into_iter().cycle().take(20);
        let alternating: Vec<_> = phases.map(|phase| interval(0, phase, 10)).collect();
        assert_eq!(slices_of(&alternating).len(), 50, "no journal keeps it from an end");
        let longer: Vec<_> = (0..20).map(|i| interval(i, Phase::Window, 10)).collect();
        assert!(slices_of(&longer).is_empty(), "its seconds are points enough");
    }
}
