//! What each worker spent over a run, and the samples of its throughput.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WorkerShare;
use crate::interval::WorkerUse;
use crate::units::Nanos;

/// Samples of throughput in responses per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepSummary {
    /// Samples.
    pub count: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub stdev: f64,
    /// Highest.
    pub max: f64,
    /// Share of samples within a standard deviation of the mean, 0..=1.
    pub within_stdev: f64,
}

impl StepSummary {
    fn of(samples: &[u32]) -> Self {
        if samples.is_empty() {
            return Self::default();
        }
        let n = samples.len() as f64;
        let mean = samples.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = samples.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        let stdev = variance.sqrt();
        let within = samples.iter().filter(|&&x| (f64::from(x) - mean).abs() <= stdev).count();
        Self {
            count: samples.len() as u64,
            mean,
            stdev,
            max: samples.iter().copied().max().map_or(0.0, f64::from),
            within_stdev: within as f64 / n,
        }
    }
}

/// One worker's sums over the window.
#[derive(Debug, Clone, Default)]
pub(super) struct WorkerSum {
    cpu_ns: Nanos,
    queued_ns: Nanos,
    wall_ns: Nanos,
    paused_ns: Nanos,
    paused_max_ns: Nanos,
    pauses: u64,
    page_ins: u64,
    responses: u64,
    steps: Vec<u32>,
}

/// Throughput samples kept per worker: two hours of them; later ones are left out.
const MOST_STEPS: usize = 72_000;

impl WorkerSum {
    /// Adds an interval.
    pub(super) fn add(&mut self, used: &WorkerUse) {
        self.cpu_ns = self.cpu_ns.saturating_add(used.cpu_ns);
        self.queued_ns = self.queued_ns.saturating_add(used.queued_ns);
        self.wall_ns = self.wall_ns.saturating_add(used.wall_ns);
        self.paused_ns = self.paused_ns.saturating_add(used.paused_ns);
        self.paused_max_ns = self.paused_max_ns.max(used.paused_max_ns);
        self.pauses = self.pauses.saturating_add(u64::from(used.pauses));
        self.page_ins = self.page_ins.saturating_add(used.page_ins);
        self.responses = self.responses.saturating_add(used.responses);
        self.add_steps(&used.steps);
    }

    /// Adds the gaps of the drain: they are no part of the window, and may have held up its last responses.
    pub(super) fn add_drain(&mut self, used: &WorkerUse) {
        self.paused_max_ns = self.paused_max_ns.max(used.paused_max_ns);
        self.pauses = self.pauses.saturating_add(u64::from(used.pauses));
    }

    /// Processor time.
    pub(super) const fn cpu_ns(&self) -> Nanos {
        self.cpu_ns
    }

    fn add_steps(&mut self, steps: &[u32]) {
        let room = MOST_STEPS.saturating_sub(self.steps.len());
        self.steps.extend(steps.iter().take(room));
    }

    /// What its core was used for in a window of this length. The kernel counts a wait when it ends, so that some of it may lie
    /// before a short window. Gaps are cut off at its edges, and one that began before it delays the reading with which
    /// its wall time begins.
    pub(super) fn share(&self, window_ns: Nanos) -> WorkerShare {
        let share = |nanos: Nanos, of: Nanos| match of {
            0 => 0.0,
            of => (nanos as f64 / of as f64).min(1.0),
        };
        let ratio = |nanos: Nanos| share(nanos, self.wall_ns);
        WorkerShare {
            busy_ratio: ratio(self.cpu_ns),
            queued_ratio: ratio(self.queued_ns),
            paused_ratio: share(self.paused_ns, window_ns),
            paused_max_ns: self.paused_max_ns,
            pauses: self.pauses,
            page_ins: self.page_ins,
            responses: self.responses,
            req_per_s: StepSummary::of(&self.steps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_share_of_a_short_window_is_above_it() {
        let used = WorkerUse {
            cpu_ns: 300,
            queued_ns: 20_000_000,
            wall_ns: 1_000,
            ..WorkerUse::default()
        };
        let mut sum = WorkerSum::default();
        assert_eq!(sum.share(1_000).queued_ratio, 0.0);
        sum.add(&used);
        let share = sum.share(1_000);
        assert_eq!((share.busy_ratio, share.queued_ratio), (0.3, 1.0));
    }

    #[test]
    fn a_gap_in_the_drain_takes_nothing_of_the_window() {
        let gap = WorkerUse { paused_ns: 80, paused_max_ns: 80, pauses: 1, ..WorkerUse::default() };
        let mut sum = WorkerSum::default();
        sum.add(&WorkerUse { wall_ns: 1_000, paused_ns: 50, paused_max_ns: 50, ..gap.clone() });
        sum.add_drain(&gap);
        let share = sum.share(1_000);
        assert_eq!((share.paused_ratio, share.paused_max_ns, share.pauses), (0.05, 80, 2));
    }

    /// The worker is seen again 400 ns into a window of 1,000 ns, and reads its clocks only then.
    #[test]
    fn a_gap_over_the_windows_beginning_takes_what_it_took_of_the_window() {
        let mut sum = WorkerSum::default();
        sum.add(&WorkerUse { wall_ns: 600, paused_ns: 400, cpu_ns: 300, ..WorkerUse::default() });
        let share = sum.share(1_000);
        assert_eq!((share.paused_ratio, share.busy_ratio), (0.4, 0.5));
        sum.paused_ns = 2_000;
        assert_eq!((sum.share(1_000).paused_ratio, sum.share(0).paused_ratio), (1.0, 0.0));
    }
}
