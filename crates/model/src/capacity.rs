//! A stored search for capacity: `plimsoll.capacity/1`. It holds what each step ran and how it was judged, so that a
//! search that was killed continues from what it had learnt.
//!
//! `verdict` decides which step comes next and what the steps amount to; the outcome that others read is the
//! [`LoadLine`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Program;
use crate::finding::Finding;
use crate::loadline::LoadLine;
use crate::plan::Arriving;
use crate::schedule::Arrivals;
use crate::sweep::LevelKind;
use crate::units::Nanos;
use crate::validity::{Reason, Verdict};

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.capacity/1";

/// A search for capacity: its settings, its steps in the order they were run, its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacitySearch {
    /// `plimsoll.capacity/1`.
    pub schema: String,
    /// The program that measured.
    pub plimsoll: Program,
    /// What was searched.
    pub url: String,
    /// When the first step started, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, secrets masked.
    pub command: Vec<String>,
    /// How the search was set up.
    pub settings: Settings,
    /// The objectives that a level must hold, as written.
    pub objectives: Vec<String>,
    /// The users of the load, if they are known: the capacity is given in users too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_of_load: Option<UsersOfLoad>,
    /// Arrivals per second that the workload file asks for, where it says rates: what the capacity is set against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted_per_s: Option<f64>,
    /// Every step run so far.
    pub steps: Vec<SearchStep>,
    /// The outcome, in a sentence; absent while the search goes on.
    pub outcome: Option<String>,
    /// What ended it early that is in none of the steps: at which step, and how the server went away or its responses changed,
    /// or why the step could not be run or come to its end. Absent where nothing did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The load line found, as in `capacity.json`; absent while there is none.
    pub load_line: Option<LoadLine>,
    /// What limits it, most likely first: as `explain` says of the lowest level that broke an objective.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limited_by: Vec<Finding>,
}

/// How a search is set up. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// What is searched for: a rate, or a concurrency.
    pub kind: LevelKind,
    /// What a rate counts.
    #[serde(default)]
    pub arriving: Arriving,
    /// How arrivals are spaced; absent in a closed loop, and in searches of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Connections at most.
    pub connections: u32,
    /// No level above this one is run, where the user drew the line; above 0.
    pub most: Option<f64>,
    /// Width of the interval over its middle that is narrow enough, above 0.
    pub precision: f64,
    /// Measured window of a step.
    pub step_ns: Nanos,
    /// Measured window of the confirming hold.
    pub hold_ns: Nanos,
    /// Attempts that it takes to bound the percentiles that are asked for; 0 where none is.
    #[serde(default)]
    pub hold_attempts: u64,
    /// Load before each window that is not counted.
    pub warmup_ns: Nanos,
    /// Time without load between steps.
    pub rest_ns: Nanos,
    /// The whole search is over by then.
    pub budget_ns: Nanos,
}

/// How many daily users make how much load in their busiest hour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsersOfLoad {
    /// Daily users.
    pub daily_users: u64,
    /// Arrivals per second that they make.
    pub rate_per_s: f64,
}

impl UsersOfLoad {
    /// The users who would make this rate, if load grows as users do.
    pub fn at(&self, rate_per_s: f64) -> u64 {
        (self.daily_users as f64 * rate_per_s / self.rate_per_s).round() as u64
    }
}

/// What a step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// One connection with long pauses: how the server answers at rest, and whether it has come back
    /// to that. Counts as no step of the search.
    Idle,
    /// A closed loop for a moment: about how much the server carries at most.
    Probe,
    /// A level approached from idle.
    Search,
    /// The long run that confirms a level.
    Hold,
    /// A level far above the one that held: an overload.
    Overload,
    /// A level run immediately after an overload.
    Return,
    /// A closed loop that keeps the server busy with a bounded queue, as a client or gateway that limits requests in flight does.
    Saturated,
}

impl Purpose {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Probe => "probe",
            Self::Search => "search",
            Self::Hold => "hold",
            Self::Overload => "overload",
            Self::Return => "return",
            Self::Saturated => "saturated",
        }
    }

    /// Whether its level is a number of connections whatever is searched for.
    pub const fn is_closed_loop(self) -> bool {
        matches!(self, Self::Idle | Self::Probe | Self::Saturated)
    }

    /// What its level counts in a search for `kind`.
    pub const fn counts(self, kind: LevelKind) -> LevelKind {
        if self.is_closed_loop() { LevelKind::Concurrency } else { kind }
    }
}

/// A step of a search: what to run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What for.
    pub purpose: Purpose,
    /// Connections for `idle`, `probe` and `saturated`, and in a search for concurrency; else arrivals per
    /// second.
    pub level: f64,
    /// Time without load before it.
    pub rest_ns: Nanos,
    /// Warm-up: load before the window, not counted.
    pub warmup_ns: Nanos,
    /// The measured window.
    pub window_ns: Nanos,
}

/// A step that was run, with its judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStep {
    /// What was run.
    pub step: Step,
    /// What it came to.
    pub judged: Judged,
    /// Time it took in all, rest and drain included.
    pub took_ns: Nanos,
    /// The file of its run, in the folder of the search.
    pub file: String,
}

/// Whether the objectives held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every objective held.
    Held,
    /// At least one did not.
    Broke,
    /// The run cannot tell.
    Unclear,
    /// The generator or its machine was the limit: nothing is known of the server.
    Generator,
}

impl Outcome {
    /// As reports print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broke => "broke",
            Self::Unclear => "cannot tell",
            Self::Generator => "generator's limit",
        }
    }
}

/// What a run came to under the objectives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// Over all objectives.
    pub outcome: Outcome,
    /// Each objective with its value, guards included. Where the run broke, the one that broke most
    /// comes first.
    pub margins: Vec<Margin>,
    /// Requests completed per second.
    pub requests_per_s: f64,
    /// Successes per second.
    pub succeeded_per_s: f64,
    /// Mean response time.
    pub mean_ns: f64,
    /// 99th percentile of response times; 0 in searches of before it was kept.
    #[serde(default)]
    pub p99_ns: Nanos,
    /// A remark, such as how the generator was the limit.
    pub note: Option<String>,
    /// Why the run is not VALID; empty where it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// It broke while other programs took the processors that server and generator share: it counts only if it
    /// breaks again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disturbed: bool,
    /// Nothing is unclear but what had too few attempts to be proved, far inside its limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_few: bool,
}

impl Judged {
    /// Why the run is INVALID, if it is: the first such reason.
    pub fn invalid(&self) -> Option<&Reason> {
        self.reasons.iter().find(|reason| reason.consequence == Verdict::Invalid)
    }

    /// The share of successes, or of failures, that broke its limit, if one did.
    pub fn failing(&self) -> Option<&Margin> {
        let share = |name: &str| name.starts_with("success") || name.starts_with("errors");
        self.margins
            .iter()
            .find(|margin| margin.outcome == Outcome::Broke && share(&margin.objective))
    }

    /// The margin of an objective by its name.
    pub fn margin(&self, objective: &str) -> Option<&Margin> {
        self.margins.iter().find(|margin| margin.objective == objective)
    }
}

/// The unit of a value under an objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// 0..=1.
    Ratio,
    /// A number without a unit.
    Count,
}

/// One objective on one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Margin {
    /// As written, such as `p99<500ms`.
    pub objective: String,
    /// What was measured.
    pub value: f64,
    /// What is allowed.
    pub limit: f64,
    /// The unit of both.
    pub unit: Unit,
    /// Whether it held.
    pub outcome: Outcome,
    /// Why it is not known, where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// It is of an endpoint of which no request was due: nothing was measured, and `value` is 0.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untried: bool,
}
