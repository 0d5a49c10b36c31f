//! Parts of an interval: what the charts of a short run are drawn from.
//!
//! Response times of a slice are counted in ranges, 16 to a doubling, beside the exact longest: enough for
//! a chart, and cheap enough to be done for every response.

use serde::{Deserialize, Serialize};

use super::{GaugeSum, Interval};
use crate::units::{MILLISECOND, Nanos, SECOND};

/// Lengths that slices have, ascending.
const LENGTHS: [Nanos; 3] = [100 * MILLISECOND, 250 * MILLISECOND, 500 * MILLISECOND];
/// Slices of a run at most, where its length is known before.
const MOST: u64 = 24;
/// A run that ends by a number of requests may be short, which nobody knows before: it has slices up to
/// here.
pub const SLICED_AT_MOST: Nanos = 12 * SECOND;

/// How long the slices of a run are that is planned to end at `end`, or at no known time; `None` for one
/// long enough to be drawn from its seconds.
pub fn slice_length(end: Option<Nanos>) -> Option<Nanos> {
    match end {
        None => Some(LENGTHS[0]),
        Some(end) => LENGTHS.into_iter().find(|length| end.div_ceil(*length) <= MOST),
    }
}

/// Ranges to a doubling of latency, as a power of two.
const STEP_BITS: u32 = 4;
const STEPS: usize = 1 << STEP_BITS;
/// The longest latency with a range of its own: more than an hour.
const LONGEST: Nanos = (1 << LONGEST_BITS) - 1;
const LONGEST_BITS: u32 = 42;
const RANGES: usize = (LONGEST_BITS - STEP_BITS) as usize * STEPS;

#[inline]
fn range_of(nanos: Nanos) -> usize {
    let nanos = nanos.clamp(STEPS as Nanos, LONGEST);
    let beyond = nanos.ilog2() - STEP_BITS;
    beyond as usize * STEPS + ((nanos >> beyond) as usize - STEPS)
}

/// The shortest and the longest latency of a range.
const fn ends_of(range: usize) -> (Nanos, Nanos) {
    let (beyond, step) = (range / STEPS, (range % STEPS + STEPS) as Nanos);
    (step << beyond, ((step + 1) << beyond) - 1)
}

/// Counts the latencies of a slice while it is open.
#[derive(Debug, Clone)]
pub struct RangeCounts {
    counts: Box<[u32; RANGES]>,
    max_ns: Nanos,
}

impl Default for RangeCounts {
    fn default() -> Self {
        Self { counts: Box::new([0; RANGES]), max_ns: 0 }
    }
}

impl RangeCounts {
    /// Counts the same latency `n` times. Allocates nothing.
    #[inline]
    pub fn record_n(&mut self, nanos: Nanos, n: u32) {
        if n == 0 {
            return;
        }
        let count = &mut self.counts[range_of(nanos)];
        *count = count.saturating_add(n);
        self.max_ns = self.max_ns.max(nanos);
    }

    /// What was counted since the last call: the ranges that hold something, and the longest.
    pub fn take(&mut self) -> (Vec<(Nanos, u64)>, Nanos) {
        let held = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        let counts = held.map(|(range, n)| (ends_of(range).1, u64::from(*n))).collect();
        self.counts.fill(0);
        (counts, std::mem::take(&mut self.max_ns))
    }
}

/// A part of an interval over all workers. Instants are nanoseconds since the run's start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SliceTally {
    /// Start, inclusive.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    /// Attempts that were due by the schedule; 0 in a closed loop.
    pub due: u64,
    /// Whole responses that arrived, whenever they were due.
    pub responses_done: u64,
    /// Failed attempts, unsent ones included.
    pub failed: u64,
    /// Response times of the attempts that ended here, by range: (longest of the range, how many),
    /// ascending.
    pub counts: Vec<(Nanos, u64)>,
    /// The longest of them, exactly.
    pub max_ns: Nanos,
    /// Requests unanswered.
    pub in_flight: GaugeSum,
}

impl SliceTally {
    /// A whole interval as one slice.
    pub fn whole(interval: &Interval) -> Self {
        let tally = &interval.tally;
        let mut counts = Vec::new();
        let ranges = tally.response.recorded().map(|(ns, n)| (ends_of(range_of(ns)).1, n));
        add(&mut counts, ranges);
        Self {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            due: interval.due,
            responses_done: tally.responses_done,
            failed: tally.attempts().saturating_sub(tally.succeeded),
            counts,
            max_ns: tally.response.max(),
            in_flight: tally.in_flight,
        }
    }

    /// Adds another worker's slice of the same time.
    pub fn merge(&mut self, other: &Self) {
        self.end_ns = self.end_ns.max(other.end_ns);
        self.add(other);
        self.in_flight.merge(&other.in_flight);
    }

    /// Appends a later slice.
    pub fn append(&mut self, later: &Self) {
        self.end_ns = later.end_ns;
        self.add(later);
        self.in_flight.append(&later.in_flight);
    }

    fn add(&mut self, other: &Self) {
        self.due = self.due.saturating_add(other.due);
        self.responses_done = self.responses_done.saturating_add(other.responses_done);
        self.failed = self.failed.saturating_add(other.failed);
        self.max_ns = self.max_ns.max(other.max_ns);
        add(&mut self.counts, other.counts.iter().copied());
    }

    /// The latency that this share (0..=1) of them does not exceed, to 3 %; 0 when empty.
    pub fn at_quantile(&self, quantile: f64) -> Nanos {
        let all = self.counts.iter().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        let rank = ((quantile * all as f64).ceil() as u64).max(1);
        let mut seen = 0_u64;
        let reaches = |&&(_, n): &&(Nanos, u64)| {
            seen = seen.saturating_add(n);
            seen >= rank
        };
        self.counts.iter().find(reaches).map_or(0, |&(nanos, _)| {
            let (shortest, longest) = ends_of(range_of(nanos));
            shortest.midpoint(longest).min(self.max_ns)
        })
    }
}

/// Adds counts by range to others.
fn add(into: &mut Vec<(Nanos, u64)>, from: impl Iterator<Item = (Nanos, u64)>) {
    into.extend(from);
    into.sort_unstable_by_key(|(nanos, _)| *nanos);
    into.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(later.1);
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_have_some_dozen_slices_and_long_ones_none() {
        for (end, length_ms) in [
            (SECOND, Some(100)),
            (2 * SECOND, Some(100)),
            (5 * SECOND, Some(250)),
            (10 * SECOND, Some(500)),
            (12 * SECOND, Some(500)),
            (12 * SECOND + 1, None),
            (60 * SECOND, None),
        ] {
            let length = length_ms.map(|ms: u64| ms * MILLISECOND);
            assert_eq!(slice_length(Some(end)), length, "{end}");
        }
        assert_eq!(slice_length(None), Some(100 * MILLISECOND));
    }

    #[test]
    fn ranges_follow_one_another_and_hold_what_is_in_them() {
        let mut next = STEPS as Nanos;
        for range in 0..RANGES {
            let (shortest, longest) = ends_of(range);
            assert_eq!(shortest, next);
            assert_eq!((range_of(shortest), range_of(longest)), (range, range));
            assert!(longest as f64 <= shortest as f64 * 1.0625, "{shortest} to {longest}");
            next = longest + 1;
        }
        assert_eq!(next, LONGEST + 1);
        assert_eq!((range_of(0), range_of(Nanos::MAX)), (0, RANGES - 1));
    }

    #[test]
    fn percentiles_are_right_to_three_per_cent() {
        let mut counts = RangeCounts::default();
        (1..=1000).for_each(|n| counts.record_n(n * 10_000, 1));
        let (counts, max_ns) = counts.take();
        let slice = SliceTally { counts, max_ns, ..SliceTally::default() };
        for (quantile, nanos) in [(0.5, 5e6), (0.99, 9.9e6), (0.001, 1e4), (1.0, 1e7)] {
            let found = slice.at_quantile(quantile) as f64;
            assert!((found / nanos - 1.0).abs() < 0.033, "{quantile}: {found}");
        }
        assert_eq!((slice.max_ns, SliceTally::default().at_quantile(0.5)), (10_000_000, 0));
    }

    #[test]
    fn slices_lose_nothing_when_they_are_added_up() {
        let mut open = RangeCounts::default();
        open.record_n(5_000, 1);
        open.record_n(90_000, 1);
        let (counts, max_ns) = open.take();
        let one = SliceTally { end_ns: 10, failed: 1, counts, max_ns, ..SliceTally::default() };
        let mut sum = one.clone();
        sum.merge(&one);
        sum.append(&SliceTally { end_ns: 20, ..one });
        assert_eq!((sum.end_ns, sum.failed, sum.max_ns), (20, 3, 90_000));
        assert_eq!(sum.counts.iter().map(|(_, n)| n).collect::<Vec<_>>(), [&3, &3]);
        assert_eq!(open.take(), (Vec::new(), 0), "it was emptied");
    }
}
