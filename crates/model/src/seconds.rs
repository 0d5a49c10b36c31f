//! The measured window second by second, small enough to keep for a day and a half: what dips are
//! looked for in. A long run's timeline folds its points; these keep single intervals.
//!
//! Owns the figures, of the whole and of its endpoints (`cells`), and the words for a dip. Finding dips
//! is `verdict`'s.

mod cells;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::Interval;
use crate::plan::Mix;
use crate::units::Nanos;

pub use cells::{Cell, Cells};

/// Intervals kept: 36 hours of seconds, 6 MiB. Later ones are left out.
pub const MOST_SECONDS: usize = 131_072;

/// One interval of the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Second {
    /// Start, since the run's start.
    pub start_ns: Nanos,
    /// Length.
    pub duration_ns: Nanos,
    /// Arrivals due by the schedule; 0 in a closed loop.
    pub due: u32,
    /// Responses done.
    pub responses: u32,
    /// Failed attempts, unsent ones included.
    pub failed: u32,
    /// Median response time of the attempts that ended here; 0 without any.
    pub p50_ns: Nanos,
    /// 99th percentile of them; 0 without any.
    pub p99_ns: Nanos,
}

/// The measured window, a second each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seconds {
    seconds: Vec<Second>,
    endpoints: Cells,
}

impl Seconds {
    /// Those that are known already, in order.
    pub fn of(seconds: Vec<Second>) -> Self {
        Self { seconds, endpoints: Cells::default() }
    }

    /// None yet, of a load.
    pub(crate) fn empty(mix: &Mix) -> Self {
        Self { seconds: Vec::new(), endpoints: Cells::of(mix) }
    }

    /// Its seconds in order.
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// What its endpoints did.
    pub fn endpoints(&self) -> &Cells {
        &self.endpoints
    }

    /// Appends an interval of the window.
    pub(crate) fn add(&mut self, interval: &Interval) {
        if self.seconds.len() >= MOST_SECONDS {
            return;
        }
        let tally = &interval.tally;
        self.endpoints.add(&tally.endpoints);
        let count = |n: u64| n.min(u64::from(u32::MAX)) as u32;
        let answered = tally.response.count() > 0;
        let quantile = |q: f64| if answered { tally.response.at_quantile(q) } else { 0 };
        self.seconds.push(Second {
            start_ns: interval.start_ns,
            duration_ns: interval.end_ns.saturating_sub(interval.start_ns),
            due: count(interval.due),
            responses: count(tally.responses_done),
            failed: count(tally.attempts().saturating_sub(tally.succeeded)),
            p50_ns: quantile(0.50),
            p99_ns: quantile(0.99),
        });
    }
}

/// A period in which the server departed from its trend: a result, not invalidity.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Dip {
    /// Start, since the run's start.
    pub start_ns: Nanos,
    /// Length.
    pub duration_ns: Nanos,
    /// Responses per second, where they fell.
    pub throughput: Option<Departure>,
    /// Median response time in nanoseconds, where it rose.
    pub p50_ns: Option<Departure>,
    /// 99th percentile of response time in nanoseconds, where it rose.
    pub p99_ns: Option<Departure>,
    /// Failed attempts that ended inside it.
    pub failed: u64,
    /// From its deepest second until the server was back on its trend; absent when it was not by
    /// the window's end.
    pub recovery_ns: Option<Nanos>,
    /// Endpoints that it hit, in the order of the plan, where a run has more than one: their response
    /// times rose, they failed, or they answered nothing.
    pub endpoints: Vec<String>,
}

/// How far a figure went from its own trend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Departure {
    /// Where the figure would have been: its trend around the period.
    #[serde(rename = "course")]
    pub trend: f64,
    /// Where it was: its median inside the period.
    pub typical: f64,
    /// The farthest it went.
    pub worst: f64,
}

impl Departure {
    /// What the figure was of its trend: 0.4 when 60 % were lost, 5 when it rose fivefold.
    pub fn ratio(&self) -> f64 {
        if self.trend > 0.0 { self.typical / self.trend } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{Phase, Tally};
    use crate::units::SECOND;

    #[test]
    fn seconds_are_kept_as_they_come_and_their_number_is_bounded() {
        let mut tally = Tally { responses_done: 7, unsent: 2, ..Tally::default() };
        tally.response.record_n(3_000_000, 9);
        let interval =
            Interval { due: 9, tally, ..Interval::new(0, Phase::Window, SECOND, 2 * SECOND) };
        let mut course = Seconds::default();
        course.add(&interval);
        let second = course.seconds()[0];
        assert_eq!((second.due, second.responses, second.failed), (9, 7, 2));
        assert!((second.p50_ns as f64 / 3e6 - 1.0).abs() < 1e-3);
        (0..MOST_SECONDS + 10).for_each(|_| course.add(&interval));
        assert_eq!(course.seconds().len(), MOST_SECONDS);
    }

    #[test]
    fn a_departure_is_read_against_its_trend() {
        let halved = Departure { trend: 200.0, typical: 100.0, worst: 10.0 };
        assert_eq!(halved.ratio(), 0.5);
        assert_eq!(Departure::default().ratio(), 1.0);
    }
}
