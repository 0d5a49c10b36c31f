//! What became of the objectives that a run was judged by: the words and figures. The grammar of
//! objectives and the rules that decide them are `verdict`'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Whether an objective was met.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Ruling {
    /// Met: the whole interval of confidence is on the right side of the limit.
    Pass,
    /// Missed: the whole interval is on the wrong side of the limit.
    Fail,
    /// The run does not tell.
    Inconclusive,
}

impl Ruling {
    /// As printed everywhere: `PASS`, `FAIL`, `INCONCLUSIVE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Inconclusive => "INCONCLUSIVE",
        }
    }
}

/// What the figures of a [`Judgement`] are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A share, 0..=1.
    Ratio,
    /// Requests per second.
    PerS,
    /// Attempts.
    Count,
}

/// One objective judged on one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The objective as `--slo` takes it: `p99<500ms`.
    pub objective: String,
    /// The preset that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Its place in the preset's order, from 1; several may share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Whether it was met.
    pub ruling: Ruling,
    /// What `limit`, `value`, `margin`, `low` and `high` are in; absent for `stable`.
    pub unit: Option<Unit>,
    /// The limit.
    pub limit: Option<f64>,
    /// What was measured; absent when nothing was.
    pub value: Option<f64>,
    /// How far the value is on the right side of the limit; negative on the wrong side.
    pub margin: Option<f64>,
    /// Lower end of the value's interval of confidence; absent where there is none.
    pub low: Option<f64>,
    /// Upper end; absent where nothing bounds it.
    pub high: Option<f64>,
    /// How often such an interval holds the true figure, 0..1; absent without an interval.
    pub confidence: Option<f64>,
    /// How many times over it was met, by the less favourable end of the interval; at least 1, and
    /// absent where times mean nothing.
    pub times_over: Option<f64>,
    /// How much longer a run must be to decide it, as far as this one shows.
    pub longer_ns: Option<Nanos>,
    /// The ruling's reason, one or more sentences.
    pub reason: String,
}

impl Judgement {
    /// A judgement without figures: undecided.
    pub fn undecided(objective: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            objective: objective.into(),
            preset: None,
            priority: None,
            ruling: Ruling::Inconclusive,
            unit: None,
            limit: None,
            value: None,
            margin: None,
            low: None,
            high: None,
            confidence: None,
            times_over: None,
            longer_ns: None,
            reason: reason.into(),
        }
    }
}

/// Why a run was ended early by a rule of its user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Abort {
    /// The rule as `--abort-on` takes it: `p99>2s for 10s`.
    pub rule: String,
    /// Whether the rule is about the rate asked for, which the generator did not reach, and not
    /// about the server.
    pub rate_not_reached: bool,
    /// When it struck, since the run's start.
    pub at_ns: Nanos,
    /// What was seen, in a sentence.
    pub text: String,
}
