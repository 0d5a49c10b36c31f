//! Objectives: what a run is judged by, as people write them and as they are decided.
//!
//! - here: the types, and how they are written. Parsing what was written gives the same back.
//! - `parse`: text to objectives; errors point at the column.
//! - [`preset`]: named sets.
//! - [`judge()`]: objectives against a run's [`figures`]; what its validity leaves open is `doubt`'s.
//! - [`levels`]: the highest level of a sweep that holds its objectives.
//! - [`words`]: rulings in words.
//! - [`abort`]: rules that end a run early, on the stream of intervals.
//!
//! Not here: how rulings are shown (`report`), and whether a run may be believed at all
//! ([`crate::validity`]).

pub mod abort;
mod doubt;
pub mod figures;
mod judge;
pub mod levels;
pub mod parse;
pub mod preset;
pub mod words;

use std::fmt;

use model::units::exact_duration;
use model::{ErrorClass, Nanos};

pub use abort::{AbortRule, AbortWatch};
pub use figures::{Endpoint, Figures};
pub(crate) use judge::attempts_for_percentile;
pub use judge::{LEAST_FOR_STABILITY, judge};
pub use parse::{ObjectiveError, parse};
pub use preset::Preset;

use crate::blocks::Time;

/// One objective. `Display` writes it as [`parse()`] reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// What it is asked of.
    pub subject: Subject,
    /// What is asked.
    pub goal: Goal,
    /// The preset it came with, and its place in that preset's order, from 1.
    pub preset: Option<(Preset, u32)>,
}

/// What an objective is asked of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The load as a whole.
    Load,
    /// One endpoint: `GET /users/{id}`.
    Endpoint(String),
    /// Each of the endpoints with the most attempts, this many.
    Busiest(u32),
}

/// What an objective asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// No dip: throughput and latency keep their trend.
    Stable,
    /// The result is the server's: its verdict is `VALID`.
    Valid,
    /// A figure on one side of a limit.
    Bound(Bound),
}

/// A figure on one side of a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The figure.
    pub metric: Metric,
    /// Which side.
    pub relation: Relation,
    /// The limit, in the metric's unit.
    pub limit: Limit,
}

/// A figure that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// A latency.
    Latency(Time, Statistic),
    /// Successes / attempts; in a closed loop by time as well.
    Success,
    /// The share of users' time, in an open loop of arrivals, for which the server was there.
    Available,
    /// Attempts that did not succeed, or those of one class, of all attempts.
    Errors(Option<ErrorClass>),
    /// Users (connections) that had a response / users that wanted one.
    Served,
    /// Responses per second.
    Qps,
    /// Rate sent / rate wanted; for abort rules alone.
    Achieved,
}

/// What is read from a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The mean.
    Mean,
    /// A percentile.
    Percentile(Percentile),
    /// The longest.
    Max,
}

/// A percentile between 0 and 100, to four decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentile(u32);

/// Which side of a limit is the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// A limit as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// A time.
    Time(Nanos),
    /// Per cent, 0..=100.
    Percent(f64),
    /// Per second.
    PerS(f64),
    /// Attempts.
    Count(u64),
}

impl Percentile {
    /// In ten thousandths of a per cent, above 0 and below a million; none outside.
    pub fn new(ten_thousandths: u32) -> Option<Self> {
        (1..1_000_000).contains(&ten_thousandths).then_some(Self(ten_thousandths))
    }

    /// As a share, between 0 and 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 1e6
    }
}

impl Metric {
    /// Whether less is better.
    pub const fn lower_is_better(self) -> bool {
        matches!(self, Self::Latency(..) | Self::Errors(_))
    }
}

impl Relation {
    /// Whether a value is on the right side of a limit in the same unit.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Below => value < limit,
            Self::AtMost => value <= limit,
            Self::Above => value > limit,
            Self::AtLeast => value >= limit,
        }
    }

    /// Whether the right side is below the limit.
    pub const fn is_upper(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }

    /// As written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl Limit {
    /// As a number in the unit that results have: nanoseconds, ratio, per second, count.
    pub fn value(self) -> f64 {
        match self {
            Self::Time(nanos) => nanos as f64,
            Self::Percent(percent) => percent / 100.0,
            Self::PerS(per_s) => per_s,
            Self::Count(count) => count as f64,
        }
    }

    /// The unit of [`Self::value`].
    pub const fn unit(self) -> model::objective::Unit {
        use model::objective::Unit;
        match self {
            Self::Time(_) => Unit::Ns,
            Self::Percent(_) => Unit::Ratio,
            Self::PerS(_) => Unit::PerS,
            Self::Count(_) => Unit::Count,
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Subject::Load => {}
            Subject::Endpoint(name) => write!(f, "{name}: ")?,
            Subject::Busiest(count) => write!(f, "top{count}: ")?,
        }
        self.goal.fmt(f)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stable => f.write_str("stable"),
            Self::Valid => f.write_str("valid"),
            Self::Bound(bound) => bound.fmt(f),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.metric, self.relation.sign(), self.limit)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency(Time::Response, statistic) => statistic.fmt(f),
            Self::Latency(Time::Service, statistic) => write!(f, "service.{statistic}"),
            Self::Success => f.write_str("success"),
            Self::Available => f.write_str("available"),
            Self::Errors(None) => f.write_str("errors"),
            Self::Errors(Some(class)) => write!(f, "errors.{}", class.name()),
            Self::Served => f.write_str("served"),
            Self::Qps => f.write_str("qps"),
            Self::Achieved => f.write_str("achieved"),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::Percentile(percentile) => percentile.fmt(f),
            Self::Max => f.write_str("max"),
        }
    }
}

impl fmt::Display for Percentile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        let decimals = format!("{rest:04}");
        match decimals.trim_end_matches('0') {
            // As it must be written: one digit alone is mostly meant otherwise.
            "" if whole < 10 => write!(f, "p{whole}.0"),
            "" => write!(f, "p{whole}"),
            decimals => write!(f, "p{whole}.{decimals}"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(nanos) => f.write_str(&exact_duration(*nanos)),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::PerS(per_s) => write!(f, "{per_s}"),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}
