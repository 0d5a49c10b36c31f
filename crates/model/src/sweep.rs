//! Runs over levels: `plimsoll.sweep/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Program;
use crate::run::Run;
use crate::units::Nanos;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.sweep/1";

/// What the levels of a sweep are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LevelKind {
    /// Connections in a closed loop.
    #[default]
    Concurrency,
    /// Arrivals per second in an open loop.
    Rate,
}

impl LevelKind {
    /// As headings print it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Concurrency => "concurrency",
            Self::Rate => "rate",
        }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Connections, or arrivals per second.
    pub level: f64,
    /// What happened there.
    pub run: Run,
}

/// A sweep: levels ascending by `level`, each at most once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// `plimsoll.sweep/1`.
    pub schema: String,
    /// The program that measured.
    pub plimsoll: Program,
    /// The name its files carry.
    pub name: String,
    /// What was swept.
    pub url: String,
    /// When the first level started, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, secrets masked.
    pub command: Vec<String>,
    /// What the levels are.
    pub kind: LevelKind,
    /// The response-time objective on the mean, for the second of the two levels named.
    pub objective_mean_ns: Nanos,
    /// Why no further level was run; absent while the sweep goes on.
    pub ended: Option<String>,
    /// The levels run so far.
    pub levels: Vec<Level>,
    /// The first usable level, measured again at the end: whether the server is still the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Level>,
}

impl Sweep {
    /// Puts a level in its place, replacing an earlier run of the same level.
    pub fn insert(&mut self, level: Level) {
        match self.levels.binary_search_by(|held| held.level.total_cmp(&level.level)) {
            Ok(at) => self.levels[at] = level,
            Err(at) => self.levels.insert(at, level),
        }
    }
}
