//! Run time as an x axis: steps and labels as on a clock.

use super::axis::{Axis, Tick};
use super::number::{si, si_digits, significant};
use super::scale::Scale;

/// The longest time axis in minutes and seconds.
const IN_MINUTES: f64 = 3.0 * 3600.0;
/// The longest one in hours and minutes.
const IN_HOURS: f64 = 1e7;

impl Axis {
    /// Run time from `from` to `to` seconds, and the words for its unit.
    pub(super) fn seconds(from: f64, to: f64) -> (Axis, &'static str) {
        let scale = Scale::linear(from, to);
        let Scale::Linear { lo, hi } = scale else {
            return (Axis::of(scale, Vec::new(), (0.0, 0.0)), "");
        };
        let step = clock_step((hi - lo) / 9.0);
        let first = (lo / step - 1e-9).ceil() as i64;
        let last = (hi / step + 1e-9).floor() as i64;
        let (format, words): (fn(f64) -> String, _) = match hi.abs().max(lo.abs()) {
            m if m <= 180.0 => (|s| significant(s, 6), "seconds since the start"),
            m if m <= IN_MINUTES => (minutes_seconds, "minutes:seconds since the start"),
            m if m <= IN_HOURS => (hours_minutes, "hours:minutes since the start"),
            _ => (|s| si_digits(s, 4), "seconds since the start"),
        };
        let ticks = (first..=last.min(first + 40))
            .map(|i| i as f64 * step)
            .map(|at| Tick { at, label: format(at), rank: 0 })
            .collect();
        (Axis::of(scale, ticks, (0.0, 0.0)), words)
    }
}

/// The next step of at least `seconds` that a clock face would use.
fn clock_step(seconds: f64) -> f64 {
    const STEPS: [f64; 16] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0,
        14_400.0, 43_200.0,
    ];
    if seconds < 0.5 {
        let decade = 10f64.powf(seconds.max(1e-18).log10().floor());
        return [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|m| m * decade)
            .find(|s| *s >= seconds)
            .unwrap_or(1.0);
    }
    STEPS.iter().copied().find(|s| *s >= seconds * 0.999).unwrap_or_else(|| {
        let days = (seconds / 86_400.0).max(1.0);
        86_400.0 * 10f64.powf(days.log10().ceil())
    })
}

/// A moment in words, in the notation of a time axis that ends at `end_s`; with its seconds, where that has hours and minutes.
pub(super) fn moment(at_s: f64, end_s: f64) -> String {
    match at_s {
        180.0..=IN_HOURS if end_s <= IN_MINUTES => minutes_seconds(at_s),
        180.0..=IN_HOURS => {
            let s = at_s.round();
            format!("{}:{:02}:{:02}", (s / 3600.0).floor(), (s / 60.0) as u64 % 60, s as u64 % 60)
        }
        _ => format!("{}s", si(at_s)),
    }
}

/// `102:30` for 6,150 seconds.
fn minutes_seconds(s: f64) -> String {
    let s = s.round();
    format!("{}:{:02}", (s / 60.0).floor(), s.rem_euclid(60.0) as u32)
}

fn hours_minutes(s: f64) -> String {
    let minutes = (s / 60.0).round();
    format!("{}:{:02}", (minutes / 60.0).floor(), minutes.rem_euclid(60.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_time_reads_like_a_clock() {
        let labels = |from, to| {
            let (axis, words) = Axis::seconds(from, to);
            (axis.ticks.into_iter().map(|t| t.label).collect::<Vec<_>>(), words)
        };
        assert_eq!(labels(0.0, 10.0).0[..3], ["0", "2", "4"]);
        let (long, words) = labels(0.0, 600.0);
        assert_eq!(long[..3], ["0:00", "2:00", "4:00"]);
        assert_eq!(words, "minutes:seconds since the start");
        assert_eq!(labels(0.0, 7.0 * 3600.0 * 2.0).0[1], "2:00");
        assert_eq!([59.4, 239.6].map(minutes_seconds), ["0:59", "4:00"]);
        for (at, end, words) in [
            (59.0, 1e6, "59s"),
            (6150.0, 10_800.0, "102:30"),
            (6150.0, 10_801.0, "1:42:30"),
            (12_030.0, 20_000.0, "3:20:30"),
        ] {
            assert_eq!(moment(at, end), words);
        }
        assert!(labels(0.0, 1e12).0.len() < 45);
        assert!(labels(0.0, 1e-6).0.len() > 3);
    }
}
