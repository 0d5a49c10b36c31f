//! Rules that end a run early: a breach that lasts, watched on the stream of intervals.
//!
//! An interval is about a second, so a breach is located to the second. Only the measured window
//! counts. A second in which no request ended has neither latencies nor errors, and leaves a breach
//! as it was.

use std::fmt;

use model::units::{SECOND, exact_duration, show_duration};
use model::{Abort, Interval, Nanos, Phase, Tally};

use super::{Bound, Limit, Metric, Statistic};
use crate::blocks::Time;
use crate::figures::{part, rate};

/// A breach, and how long it must last. `Display` writes it as [`super::parse::parse_abort`] reads
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AbortRule {
    /// What may not last.
    pub breach: Bound,
    /// How long it may not.
    pub held_ns: Nanos,
}

impl fmt::Display for AbortRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.breach, exact_duration(self.held_ns))
    }
}

/// Several rules watched over one run.
#[derive(Debug, Clone, Default)]
pub struct AbortWatch {
    rules: Vec<(AbortRule, Option<Nanos>)>,
}

impl AbortWatch {
    /// Watches `rules`.
    pub fn new(rules: impl IntoIterator<Item = AbortRule>) -> Self {
        Self { rules: rules.into_iter().map(|rule| (rule, None)).collect() }
    }

    /// Takes the next interval; why the run must end now, if it must.
    pub fn see(&mut self, interval: &Interval) -> Option<Abort> {
        if interval.phase != Phase::Window {
            return None;
        }
        self.rules.iter_mut().find_map(|(rule, since)| {
            let value = figure(rule.breach.metric, rule.breach.limit, interval)?;
            if !rule.breach.relation.holds(value, rule.breach.limit.value()) {
                *since = None;
                return None;
            }
            let begun_ns = *since.get_or_insert(interval.start_ns);
            let lasted_ns = interval.end_ns.saturating_sub(begun_ns);
            (lasted_ns >= rule.held_ns).then(|| rule.abort(interval.end_ns, lasted_ns, value))
        })
    }
}

impl AbortRule {
    fn abort(&self, at_ns: Nanos, lasted_ns: Nanos, value: f64) -> Abort {
        let seen = match self.breach.limit {
            Limit::Time(_) => show_duration(value as Nanos),
            Limit::Percent(_) => part(value),
            Limit::PerS(_) => format!("{}/s", rate(value)),
            Limit::Count(_) => format!("{value:.0}"),
        };
        Abort {
            rule: self.to_string(),
            rate_not_reached: self.breach.metric == Metric::Achieved,
            at_ns,
            text: format!(
                "{} held for {}; last value {seen}",
                self.breach,
                show_duration(lasted_ns)
            ),
        }
    }
}

/// A figure of one interval, in the unit of its limit; none where the interval does not have it.
fn figure(metric: Metric, limit: Limit, interval: &Interval) -> Option<f64> {
    let tally = &interval.tally;
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    match metric {
        Metric::Latency(time, statistic) => latency(time, statistic, tally),
        Metric::Success => share(tally.succeeded, tally.attempts()).map(|by_attempts| {
            tally.presence.succeeding().map_or(by_attempts, |by_time| by_attempts.min(by_time))
        }),
        Metric::Available => {
            tally.presence.available().or_else(|| share(tally.requests(), tally.attempts()))
        }
        Metric::Errors(class) => {
            let failed = match class {
                Some(class) => tally.errors.of(class),
                None => tally.attempts() - tally.succeeded,
            };
            match limit {
                Limit::Count(_) => Some(failed as f64),
                _ => share(failed, tally.attempts()),
            }
        }
        Metric::Qps => {
            let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
            (length_ns > 0).then(|| tally.responses_done as f64 * SECOND as f64 / length_ns as f64)
        }
        // The later steps of sessions are due when they are sent.
        Metric::Achieved => share(tally.sent.saturating_sub(tally.sent_inside), interval.due),
        // Users are counted when the run is over.
        Metric::Served => None,
    }
}

fn latency(time: Time, statistic: Statistic, tally: &Tally) -> Option<f64> {
    let latencies = match time {
        Time::Response => &tally.response,
        Time::Service => &tally.service,
    };
    let nanos = match statistic {
        Statistic::Mean => latencies.mean(),
        Statistic::Percentile(percentile) => latencies.at_quantile(percentile.share()),
        Statistic::Max => latencies.max(),
    };
    (latencies.count() > 0).then_some(nanos as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::parse::parse_abort;

    /// A second of the window: requests due, sent, with a response in `ms`, and failed by status.
    fn second(index: u32, due: u64, sent: u64, answered: u64, ms: u64, failed: u64) -> Interval {
        let mut tally = Tally {
            sent,
            succeeded: answered - failed,
            responses_done: answered,
            ..Tally::default()
        };
        tally.errors.add(model::ErrorClass::Status, failed);
        tally.response.record_n(ms * 1_000_000, answered as u32);
        let start_ns = u64::from(index) * SECOND;
        Interval { due, tally, ..Interval::new(index, Phase::Window, start_ns, start_ns + SECOND) }
    }

    /// The second, from 1, in which a rule ends a run of these seconds.
    fn ends_in(rule: &str, seconds: &[Interval]) -> Option<usize> {
        let mut watch = AbortWatch::new([parse_abort(rule).unwrap()]);
        seconds.iter().position(|second| watch.see(second).is_some()).map(|at| at + 1)
    }

    fn seconds(shapes: &[(u64, u64, u64, u64, u64)]) -> Vec<Interval> {
        let number = |(index, &(due, sent, answered, ms, failed)): (usize, &(_, _, _, _, _))| {
            second(index as u32, due, sent, answered, ms, failed)
        };
        shapes.iter().enumerate().map(number).collect()
    }

    #[test]
    fn a_breach_must_last() {
        let (well, slow) = ((0, 100, 100, 10, 0), (0, 100, 100, 900, 0));
        let intervals = seconds(&[well, slow, slow, well, slow, slow, slow, well]);
        assert_eq!(ends_in("p99>500ms for 3s", &intervals), Some(7));
        assert_eq!(ends_in("p99>500ms for 1s", &intervals), Some(2));
        assert_eq!(ends_in("p99>500ms for 4s", &intervals), None);
        assert_eq!(ends_in("mean>1s for 1s", &intervals), None);
        assert_eq!(ends_in("max>=500ms for 2500ms", &intervals), Some(7));
    }

    #[test]
    fn a_second_in_which_nothing_ended_changes_nothing() {
        let (slow, silent) = ((0, 100, 100, 900, 0), (0, 0, 0, 0, 0));
        let intervals = seconds(&[slow, silent, slow]);
        assert_eq!(ends_in("p99>500ms for 3s", &intervals), Some(3));
        assert_eq!(ends_in("errors>1% for 1s", &intervals), None);
        assert_eq!(ends_in("qps<50 for 1s", &intervals), Some(2));
    }

    #[test]
    fn rates_and_errors() {
        let intervals = seconds(&[(100, 100, 100, 1, 0), (100, 80, 80, 1, 8), (100, 80, 80, 1, 8)]);
        assert_eq!(ends_in("achieved<95% for 2s", &intervals), Some(3));
        assert_eq!(ends_in("errors>=10% for 2s", &intervals), Some(3));
        assert_eq!(ends_in("errors.status>=8 for 2s", &intervals), Some(3));
        assert_eq!(ends_in("errors.timeout>0 for 1s", &intervals), None);
        assert_eq!(ends_in("success<100% for 1s", &intervals), Some(2));
    }

    #[test]
    fn a_rate_of_sessions_is_reached_by_those_that_begin() {
        // A hundred sessions of four steps are due, and half of them begin.
        let mut intervals = seconds(&[(100, 200, 200, 1, 0); 3]);
        assert_eq!(ends_in("achieved<95% for 2s", &intervals), None);
        intervals.iter_mut().for_each(|second| second.tally.sent_inside = 150);
        assert_eq!(ends_in("achieved<95% for 2s", &intervals), Some(2));
    }

    #[test]
    fn a_closed_loop_has_no_rate_to_reach() {
        let intervals = seconds(&[(0, 5, 5, 1, 0); 3]);
        assert_eq!(ends_in("achieved<95% for 1s", &intervals), None);
    }

    #[test]
    fn only_the_window_counts() {
        let mut warm_up = second(0, 0, 100, 100, 900, 0);
        warm_up.phase = Phase::Warmup;
        assert_eq!(ends_in("p99>500ms for 1s", &[warm_up]), None);
    }

    #[test]
    fn what_was_seen_is_reported() {
        let mut watch = AbortWatch::new([
            parse_abort("p99>2s for 1s").unwrap(),
            parse_abort("achieved<95% for 1s").unwrap(),
        ]);
        let abort = watch.see(&second(0, 100, 80, 80, 5, 0)).unwrap();
        assert_eq!(abort.rule, "achieved<95% for 1s");
        assert!(abort.rate_not_reached);
        assert_eq!(abort.at_ns, SECOND);
        assert_eq!(abort.text, "achieved<95% held for 1.00s; last value 80.00 %");
    }
}
