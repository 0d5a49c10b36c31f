//! How much load, as written. Flags on the command line take precedence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value::{Count, Rate, Time};
use crate::schedule::Arrivals;

/// How much load, and for how long. With `rate` the loop is open; without it users wait for their
/// responses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LoadSpec {
    /// Users of a closed loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Count>,
    /// Arrivals per second of an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Connections of an open loop at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Count>,
    /// How arrivals of an open loop are spaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// A recorded trace of arrivals: a file with one timestamp per line, in seconds or RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The measured window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Time>,
    /// Requests to send in the window at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Count>,
    /// Time before the window, sent but not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Time>,
    /// Over this time the load grows linearly from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Time>,
    /// Fixed interval between the sends of one closed-loop user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Time>,
    /// Wait of a closed-loop user after a response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Time>,
    /// The profile of the load, one stage after another, instead of `duration` and `ramp`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Seed of every draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A height of load: arrivals per second (`45/s`, `0.5/s`) in an open loop, users in a closed one.
pub type Level = Rate;

/// A period of a load's profile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Stage {
    /// Linearly from the end of the stage before (or from 0).
    Ramp {
        /// To this.
        to: Level,
        /// Over this time.
        over: Time,
    },
    /// The same all along.
    Hold {
        /// This.
        at: Level,
        /// For this long.
        r#for: Time,
    },
    /// In steps, up or down.
    Step {
        /// The first step.
        from: Level,
        /// The last step.
        to: Level,
        /// Number of steps, 2 or more.
        steps: u32,
        /// How long each lasts.
        each: Time,
    },
    /// Up at once, and after this time back to the level of the stage before.
    Spike {
        /// To this.
        to: Level,
        /// For this long.
        r#for: Time,
    },
    /// A sine wave around a mean, starting upwards.
    Sine {
        /// The mean.
        mean: Level,
        /// Height of the peak above the mean; at most the mean.
        amplitude: Level,
        /// From peak to peak.
        period: Time,
        /// For this long.
        r#for: Time,
    },
}
