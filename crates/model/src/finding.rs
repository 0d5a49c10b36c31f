//! What limits a run: findings with their evidence, `plimsoll.findings/1`. The rules that find them are `verdict`'s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Program;
use crate::units::Nanos;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.findings/1";

/// How sure a finding is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The figures fit, and other causes fit as well.
    #[default]
    Low,
    /// The figures fit, and the obvious other causes do not.
    Medium,
    /// The kernel or the server counted the event itself.
    High,
}

impl Confidence {
    /// As printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What limits a run, most likely first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// `plimsoll.findings/1`.
    pub schema: String,
    /// The program that looked.
    pub plimsoll: Program,
    /// The run's start, RFC 3339 in UTC.
    pub started_at: String,
    /// What was found, most likely first; never empty: at least `none` or `unknown`.
    pub findings: Vec<Finding>,
    /// What each dip of the run came with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dips: Vec<DipChanges>,
    /// What could not be judged, for lack of figures.
    pub abstained: Vec<Abstained>,
}

/// One cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What was found: `server.cpu`.
    pub code: String,
    /// Its place, from 1.
    pub rank: u32,
    /// How sure it is.
    pub confidence: Confidence,
    /// The source or machine that it is about.
    #[serde(rename = "where")]
    pub place: String,
    /// What exactly it is about there, by its name: a table, or a statement without its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What a colleague would say.
    pub sentence: String,
    /// Figures for it.
    pub evidence_for: Vec<String>,
    /// Figures against it.
    pub evidence_against: Vec<String>,
    /// What to type, and what it risks.
    pub fix: String,
    /// What would confirm or refute it.
    pub experiment: String,
    /// What the experiment said, where it was carried out (`explain --confirm`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmation>,
}

/// What an experiment said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// In a word.
    pub outcome: Confirmed,
    /// With the figures, or why it was not carried out.
    pub sentence: String,
}

/// The outcome of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confirmed {
    /// The change did what it does where the finding is true.
    Confirmed,
    /// It did not.
    Refuted,
    /// The figures do not tell, or it could not be carried out.
    #[default]
    Undecided,
}

/// A rule that could not judge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Abstained {
    /// Of what.
    pub code: String,
    /// What it lacks, and how to give it that.
    pub missing: String,
}

/// What else changed in a dip.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DipChanges {
    /// Start of the dip, since the run's start.
    pub start_ns: Nanos,
    /// Its length.
    pub duration_ns: Nanos,
    /// What was different in those seconds, most changed first.
    pub changed: Vec<String>,
}
