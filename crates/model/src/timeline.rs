//! A run second by second, in bounded memory: past 7,200 points, pairs are folded into one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::SparseLatencies;
use crate::interval::{GaugeSum, Interval, Phase};
use crate::outcome::ErrorCounts;
use crate::percentile::PointPercentiles;
use crate::units::{Nanos, SECOND};

/// Points kept at most.
pub const MOST_POINTS: usize = 7200;

/// Buckets of response times kept at most, all points together: 256 MiB. A run of which each second fills
/// thousands of buckets is folded sooner.
const MOST_BUCKETS: usize = 16 << 20;

/// One period of a run, a second long unless the run was long.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Start, since the run's start.
    pub start_ns: Nanos,
    /// Length.
    pub duration_ns: Nanos,
    /// `warmup`, `window` or `drain`.
    pub phase: String,
    /// Arrivals due per second by the schedule; 0 in a closed loop.
    pub offered_per_s: f64,
    /// Requests handed to the kernel per second.
    pub achieved_per_s: f64,
    /// Responses done per second.
    pub requests_per_s: f64,
    /// Failed attempts, unsent ones included.
    pub failed: u64,
    /// Percentiles of response time of the attempts that ended here.
    #[serde(flatten)]
    pub percentiles: PointPercentiles,
    /// Highest.
    pub max_ns: Nanos,
    /// 99th percentile of how late the generator was.
    pub late_p99_ns: Nanos,
    /// Connections open, mean.
    pub open_mean: f64,
    /// Requests unanswered, mean.
    pub in_flight_mean: f64,
    /// Processor time of the generator's workers / elapsed, over all workers.
    pub busy_ratio: f64,
    /// Failures by class.
    pub errors: ErrorCounts,
}

/// Collects intervals as points.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    sums: Vec<PointSum>,
    /// Intervals that make one point: a power of two; 0 before the first folding.
    fold: u32,
    /// Intervals already in the last point.
    pending: u32,
    /// Buckets of all points.
    buckets: usize,
}

/// A point before its percentiles are read: response times stay a sparse histogram.
#[derive(Debug, Clone)]
struct PointSum {
    phase: Phase,
    start_ns: Nanos,
    end_ns: Nanos,
    due: u64,
    sent: u64,
    responses: u64,
    failed: u64,
    errors: ErrorCounts,
    response: SparseLatencies,
    late_p99_ns: Nanos,
    open: GaugeSum,
    in_flight: GaugeSum,
    cpu_ns: Nanos,
    wall_ns: Nanos,
}

impl Timeline {
    pub(crate) fn add(&mut self, interval: &Interval) {
        let mut sum = PointSum::of(interval);
        // Phases follow one another, whatever a journal says: those that alternate would never fold.
        sum.phase = self.sums.last().map_or(sum.phase, |l| l.phase.max(sum.phase));
        self.pending += 1;
        match self.sums.last_mut() {
            Some(last) if self.pending <= self.fold && last.phase == sum.phase => {
                let before = last.response.buckets().len();
                last.append(&sum);
                self.buckets += last.response.buckets().len() - before;
            }
            _ => {
                self.buckets += sum.response.buckets().len();
                self.sums.push(sum);
                self.pending = 1;
            }
        }
        if self.sums.len() > MOST_POINTS || self.buckets > MOST_BUCKETS {
            self.fold_pairs();
        }
    }

    fn fold_pairs(&mut self) {
        let mut folded: Vec<PointSum> = Vec::with_capacity(MOST_POINTS);
        let mut open_pair = false;
        for sum in self.sums.drain(..) {
            match folded.last_mut() {
                Some(last) if open_pair && last.phase == sum.phase => {
                    last.append(&sum);
                    open_pair = false;
                }
                _ => {
                    folded.push(sum);
                    open_pair = true;
                }
            }
        }
        self.buckets = folded.iter().map(|sum| sum.response.buckets().len()).sum();
        self.sums = folded;
        self.fold = self.fold.max(1) * 2;
        self.pending = self.fold;
    }

    pub(crate) fn finish(self) -> Vec<Point> {
        self.sums.iter().map(PointSum::point).collect()
    }
}

impl PointSum {
    fn of(interval: &Interval) -> Self {
        let tally = &interval.tally;
        Self {
            phase: interval.phase,
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            due: interval.due,
            sent: tally.sent,
            responses: tally.responses_done,
            failed: tally.attempts().saturating_sub(tally.succeeded),
            errors: tally.errors,
            response: SparseLatencies::of(&tally.response),
            late_p99_ns: tally.late.at_quantile(0.99),
            open: tally.open,
            in_flight: tally.in_flight,
            cpu_ns: interval.workers.iter().map(|w| w.cpu_ns).fold(0, Nanos::saturating_add),
            wall_ns: interval.workers.iter().map(|w| w.wall_ns).fold(0, Nanos::saturating_add),
        }
    }

    fn append(&mut self, later: &Self) {
        self.end_ns = later.end_ns;
        self.due = self.due.saturating_add(later.due);
        self.sent = self.sent.saturating_add(later.sent);
        self.responses = self.responses.saturating_add(later.responses);
        self.failed = self.failed.saturating_add(later.failed);
        self.errors.merge(&later.errors);
        self.response.append(&later.response);
        self.late_p99_ns = self.late_p99_ns.max(later.late_p99_ns);
        self.open.append(&later.open);
        self.in_flight.append(&later.in_flight);
        self.cpu_ns = self.cpu_ns.saturating_add(later.cpu_ns);
        self.wall_ns = self.wall_ns.saturating_add(later.wall_ns);
    }

    fn point(&self) -> Point {
        let duration_ns = self.end_ns.saturating_sub(self.start_ns);
        let per_s = |n: u64| {
            if duration_ns > 0 { n as f64 * SECOND as f64 / duration_ns as f64 } else { 0.0 }
        };
        Point {
            start_ns: self.start_ns,
            duration_ns,
            phase: self.phase.name().to_owned(),
            offered_per_s: per_s(self.due),
            achieved_per_s: per_s(self.sent),
            requests_per_s: per_s(self.responses),
            failed: self.failed,
            percentiles: PointPercentiles::of(|share| self.response.at_quantile(share)),
            max_ns: self.response.max(),
            late_p99_ns: self.late_p99_ns,
            open_mean: self.open.mean(duration_ns),
            in_flight_mean: self.in_flight.mean(duration_ns),
            // Where no time passed, no processor time did.
            busy_ratio: self.cpu_ns as f64 / self.wall_ns.max(1) as f64,
            errors: self.errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Tally;

    fn interval(index: u32, phase: Phase) -> Interval {
        let mut tally = Tally { responses_done: 10, ..Tally::default() };
        tally.response.record_n(u64::from(index % 100 + 1) * 1_000_000, 10);
        let start_ns = u64::from(index) * SECOND;
        Interval { due: 7, tally, ..Interval::new(index, phase, start_ns, start_ns + SECOND) }
    }

    #[test]
    fn long_runs_fold_without_losing_responses() {
        let mut timeline = Timeline::default();
        let seconds = 4 * MOST_POINTS as u32 + 123;
        for index in 0..seconds {
            let phase = if index < 61 { Phase::Warmup } else { Phase::Window };
            timeline.add(&interval(index, phase));
        }
        let points = timeline.finish();
        assert!(points.len() <= MOST_POINTS, "{}", points.len());
        let responses: f64 =
            points.iter().map(|p| p.requests_per_s * p.duration_ns as f64 / SECOND as f64).sum();
        assert_eq!(responses.round() as u32, 10 * seconds);
        for pair in points.windows(2) {
            assert_eq!(pair[0].start_ns + pair[0].duration_ns, pair[1].start_ns);
        }
        assert_eq!(points.iter().filter(|p| p.phase == "warmup").count(), 8);
        let highest = points.iter().map(|p| p.max_ns).max();
        assert_eq!(highest, Some(100_000_000));
    }

    /// What a hostile journal may hold: phases that alternate, and a histogram of all buckets in every
    /// line, which takes 100 bytes there and half a megabyte here.
    #[test]
    fn whatever_the_intervals_memory_is_bounded() {
        let mut alternating = Timeline::default();
        for index in 0..2 * MOST_POINTS as u32 {
            let phase = if index % 2 == 0 { Phase::Window } else { Phase::Warmup };
            alternating.add(&interval(index, phase));
        }
        assert!(alternating.sums.len() <= MOST_POINTS);
        let mut full = interval(0, Phase::Window);
        (0..27_000).for_each(|at| full.tally.response.record(100 + at * at * at * 180));
        let each = full.tally.response.recorded().count();
        let mut dense = Timeline::default();
        for index in 0..(2 * MOST_BUCKETS / each) as u32 {
            full.index = index;
            dense.add(&full);
        }
        let held: usize = dense.sums.iter().map(|sum| sum.response.buckets().len()).sum();
        assert_eq!(held, dense.buckets);
        assert!(held <= MOST_BUCKETS, "{held}");
    }

    #[test]
    fn short_runs_keep_every_second() {
        let mut timeline = Timeline::default();
        (0..5).for_each(|index| timeline.add(&interval(index, Phase::Window)));
        let points = timeline.finish();
        assert_eq!(points.len(), 5);
        assert_eq!((points[2].requests_per_s, points[2].offered_per_s), (10.0, 7.0));
        assert!((points[2].percentiles.p50_ns as f64 / 3e6 - 1.0).abs() < 1e-3);
    }
}
