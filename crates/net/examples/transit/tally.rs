//! What is counted, and what is left out because a core did not run.

use crate::disturbed::{Gap, Watched};
use crate::exchange::{Ended, Sample};

/// Time is left out in windows of this length: those that a gap touches, and as much time again after it, in which what piled
/// up is worked off: at half of what the core can do, that takes as long as the gap.
const WINDOW_NS: u64 = 1_000_000;
/// A second counts if at most this share of its windows is left out.
const MOST_LEFT_OUT: f64 = 0.5;

/// What is counted.
pub struct Tally {
    /// Of the requests that were not disturbed, sorted.
    kept: Vec<u64>,
    /// Of all, sorted.
    all: Vec<u64>,
    /// How long after its due time each counted request was written, sorted.
    late: Vec<u64>,
    /// p99 of each second that counts.
    seconds: Vec<u64>,
    /// Of the same seconds, p99 of how late the thread on the other core woke in what was not left out.
    seconds_core_late: Vec<u64>,
    seconds_left_out: usize,
    windows: Windows,
}

/// The windows of a run.
struct Windows {
    began: u64,
    left_out: Vec<bool>,
}

impl Windows {
    fn of(ended: &Ended, gaps: impl Iterator<Item = Gap>) -> Self {
        let count = ended.seconds * 1_000_000_000 / WINDOW_NS;
        let mut windows = Self { began: ended.began, left_out: vec![false; count as usize] };
        for gap in gaps.filter(|gap| gap.to >= ended.began) {
            let first = windows.index(gap.from);
            let last = windows.index(gap.to + gap.ns()) + 1;
            for window in windows.left_out.iter_mut().take(last + 1).skip(first) {
                *window = true;
            }
        }
        windows
    }

    fn index(&self, at: u64) -> usize {
        (at.saturating_sub(self.began) / WINDOW_NS) as usize
    }

    /// Whether no window was left out between the instants of a request.
    fn keep(&self, sample: &Sample) -> bool {
        let touched = self.index(sample.due)..=self.index(sample.ended);
        touched.into_iter().all(|window| self.left_out.get(window) != Some(&true))
    }

    fn share_left_out(&self, windows: &[bool]) -> f64 {
        windows.iter().filter(|left_out| **left_out).count() as f64 / windows.len() as f64
    }
}

impl Tally {
    /// Counts.
    pub fn of(ended: &Ended, other: &Watched) -> Self {
        let gaps = ended.gaps.iter().chain(&other.gaps).copied();
        let windows = Windows::of(ended, gaps);
        let keep: Vec<Sample> =
            ended.samples.iter().filter(|sample| windows.keep(sample)).copied().collect();
        let (mut seconds, mut seconds_core_late) = (Vec::new(), Vec::new());
        let each = windows.left_out.chunks((1_000_000_000 / WINDOW_NS) as usize);
        for (second, of_second) in each.enumerate() {
            let from = ended.began + second as u64 * 1_000_000_000;
            let within = keep.iter().filter(|one| (from..from + 1_000_000_000).contains(&one.due));
            let between = sorted(within.map(Sample::between_ns));
            if windows.share_left_out(of_second) <= MOST_LEFT_OUT && !between.is_empty() {
                seconds.push(quantile(&between, 0.99));
                let wakes = other.wakes.iter().filter(|wake| {
                    let counts = (from..from + 1_000_000_000).contains(&wake.due);
                    counts && windows.left_out.get(windows.index(wake.due)) != Some(&true)
                });
                seconds_core_late.push(quantile(&sorted(wakes.map(|wake| wake.late_ns)), 0.99));
            }
        }
        Self {
            kept: sorted(keep.iter().map(Sample::between_ns)),
            all: sorted(ended.samples.iter().map(Sample::between_ns)),
            late: sorted(keep.iter().map(|one| one.sent.saturating_sub(one.due))),
            seconds_left_out: ended.seconds as usize - seconds.len(),
            seconds,
            seconds_core_late,
            windows,
        }
    }

    /// The result.
    pub fn json(&self, ended: &Ended, other: &Watched, steal_ms: &[u64]) -> String {
        let wakes = sorted(other.wakes.iter().map(|wake| wake.late_ns));
        let longest = |gaps: &[Gap]| gaps.iter().map(|gap| gap.ns()).max().unwrap_or(0);
        format!(
            "{{\"requests\": {}, \"kept\": {}, \"failed\": {}, \"starved\": {}, \"left_out\": {:.4}, \"between_ns\": {}, \
             \"with_left_out_ns\": {}, \"late_ns\": {}, \"seconds_p99_ns\": {:?}, \
             \"seconds_core_late_p99_ns\": {:?}, \"seconds_left_out\": {}, \"measurer_gaps\": {}, \"measurer_longest_gap_ns\": {}, \"core_gaps\": {}, \"core_longest_gap_ns\": {}, \
             \"core_wakes_late_ns\": {}, \"steal_ms\": {:?}}}",
            self.all.len(),
            self.kept.len(),
            ended.failed,
            ended.starved,
            self.windows.share_left_out(&self.windows.left_out),
            quantiles(&self.kept),
            quantiles(&self.all),
            quantiles(&self.late),
            self.seconds,
            self.seconds_core_late,
            self.seconds_left_out,
            ended.gaps.len(),
            longest(&ended.gaps),
            other.gaps.len(),
            longest(&other.gaps),
            quantiles(&wakes),
            steal_ms,
        )
    }
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// The smallest value that this share of the values does not exceed; 0 of none.
fn quantile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0)
}

fn quantiles(sorted: &[u64]) -> String {
    let of = |share| quantile(sorted, share);
    format!(
        "{{\"p50\": {}, \"p90\": {}, \"p99\": {}, \"p999\": {}, \"max\": {}}}",
        of(0.5),
        of(0.9),
        of(0.99),
        of(0.999),
        of(1.0)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Wake;

    const SECOND: u64 = 1_000_000_000;
    const BEGAN: u64 = 7 * SECOND;

    /// A request each millisecond, kept for as long as `between` says.
    fn run(gaps: Vec<Gap>, between: impl Fn(u64) -> u64) -> Ended {
        let sample = |ms: u64| {
            let due = BEGAN + ms * 1_000_000;
            let between = between(ms);
            let arrived = due + 1000 + between / 2;
            let answered = arrived + 5000;
            Sample { due, sent: due + 1000, arrived, answered, ended: answered + between / 2 }
        };
        let samples = (0..4000).map(sample).collect();
        Ended { samples, began: BEGAN, seconds: 4, gaps, ..Ended::default() }
    }

    fn other(gaps: Vec<Gap>) -> Watched {
        Watched { gaps, wakes: Vec::new() }
    }

    fn gap(from_ms: u64, to_ms: u64) -> Gap {
        Gap { from: BEGAN + from_ms * 1_000_000, to: BEGAN + to_ms * 1_000_000 }
    }

    #[test]
    fn what_stands_between_is_charged_with_its_own_time_alone() {
        let tally = Tally::of(&run(Vec::new(), |ms| ms * 1000), &other(Vec::new()));
        assert_eq!(quantile(&tally.kept, 0.5), 1_999_000, "not the 5 us of the server");
        assert_eq!(quantile(&tally.late, 1.0), 1000);
        assert_eq!((tally.seconds.len(), tally.seconds_left_out), (4, 0));
    }

    #[test]
    fn what_a_gap_touches_is_left_out_and_counted() {
        // The gap touches 13 windows; as many milliseconds are left out after it, and the window that this ends in.
        let slow = |ms| if (1015..1038).contains(&ms) { 5_000_000 } else { 10_000 };
        for (ours, theirs) in [(vec![gap(1012, 1024)], vec![]), (vec![], vec![gap(1012, 1024)])] {
            let tally = Tally::of(&run(ours, slow), &other(theirs));
            assert_eq!(tally.windows.left_out.iter().filter(|out| **out).count(), 26);
            assert_eq!(tally.kept.len(), 4000 - 26);
            assert_eq!(quantile(&tally.kept, 1.0), 10_000);
            assert_eq!(quantile(&tally.all, 1.0), 5_000_000, "told all the same");
        }
    }

    #[test]
    fn slowness_without_a_gap_counts() {
        let slow = |ms| if (2000..2100).contains(&ms) { 8_000_000 } else { 10_000 };
        let tally = Tally::of(&run(Vec::new(), slow), &other(vec![gap(500, 501)]));
        assert_eq!(tally.seconds, [10_000, 10_000, 8_000_000, 10_000]);
        assert_eq!(quantile(&tally.kept, 0.99), 8_000_000);
    }

    #[test]
    fn how_late_the_other_core_was_is_told_by_second() {
        let late = |ms: u64| if (1000..2000).contains(&ms) { 300_000 } else { 20_000 };
        let wake = |ms| Wake { due: BEGAN + ms * 1_000_000, late_ns: late(ms) };
        let mut other = other(vec![gap(3000, 3010)]);
        other.wakes = (0..4000).map(wake).collect();
        // What is left out anyway does not count.
        other.wakes[3001..3013].iter_mut().for_each(|wake| wake.late_ns = 10_000_000);
        let tally = Tally::of(&run(Vec::new(), |_| 10_000), &other);
        assert_eq!(tally.seconds_core_late, [20_000, 300_000, 20_000, 20_000]);
    }

    #[test]
    fn a_second_that_hardly_ran_does_not_count() {
        let tally = Tally::of(&run(vec![gap(1000, 1600)], |_| 10_000), &other(Vec::new()));
        assert_eq!((tally.seconds.len(), tally.seconds_left_out), (3, 1));
    }
}
