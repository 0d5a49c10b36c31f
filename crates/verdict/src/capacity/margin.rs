//! A margin with its metric. The margin is stored and shown under the metric's name; the judge needs the metric itself,
//! which would otherwise have to be parsed from the name.

use model::capacity::Margin;

use crate::objective::{Goal, Metric, Objective, Subject};

/// A margin beside the metric that it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricMargin {
    /// As it is kept.
    pub margin: Margin,
    /// What it is of.
    pub of: Of,
    /// It is unclear because too few attempts were made to bound it, and far inside its limit.
    pub too_few: bool,
    /// The step is judged without it: it is untried, which is left to the hold.
    pub left_open: bool,
}

/// What a margin is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// A figure of the whole load.
    Load(Metric),
    /// A figure of one endpoint.
    Endpoint(Metric),
    /// The server's trend.
    Course,
    /// The guard on the pace: what was due is sent, and gets its responses, as fast as it comes in.
    Pace,
    /// The guard on what comes: responses like those of the lower levels.
    Usual,
}

impl Of {
    /// What an objective's margins are of.
    pub(super) fn objective(objective: &Objective) -> Self {
        match (objective.goal, &objective.subject) {
            (Goal::Bound(bound), Subject::Load) => Self::Load(bound.metric),
            (Goal::Bound(bound), Subject::Endpoint(_) | Subject::Busiest(_)) => {
                Self::Endpoint(bound.metric)
            }
            (Goal::Stable | Goal::Valid, _) => Self::Course,
        }
    }

    /// The figure, where it is one.
    pub(super) fn metric(self) -> Option<Metric> {
        match self {
            Self::Load(metric) | Self::Endpoint(metric) => Some(metric),
            Self::Course | Self::Pace | Self::Usual => None,
        }
    }
}
