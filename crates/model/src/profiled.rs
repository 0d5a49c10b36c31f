//! What a profile says: whose code the cost is, what each function costs, in all and per request, what removing
//! functions would bring, and how two profiles differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of a profile's schema.
pub const SCHEMA: &str = "plimsoll.profile/1";
/// The name and version of a prediction's schema.
pub const WHATIF_SCHEMA: &str = "plimsoll.whatif/1";
/// The name and version of the schema of two profiles compared.
pub const DIFF_SCHEMA: &str = "plimsoll.profilediff/1";
/// The name and version of the schema of what is kept with the profiles of a run.
pub const WINDOW_SCHEMA: &str = "plimsoll.profiledwindow/1";

/// Whose code a function is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// The service's own.
    Own,
    /// A web framework's, router and middlewares included.
    Framework,
    /// Another dependency's.
    Dependency,
    /// The language's standard library, HTTP server included.
    StandardLibrary,
    /// The language's runtime: garbage collection, scheduler, system calls, and what has no symbol.
    Runtime,
}

impl Owner {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Own, Self::Framework, Self::Dependency, Self::StandardLibrary, Self::Runtime];

    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own code",
            Self::Framework => "framework",
            Self::Dependency => "dependency",
            Self::StandardLibrary => "standard library",
            Self::Runtime => "runtime",
        }
    }
}

/// A kind of value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueKind {
    /// What is counted, such as `cpu`.
    pub kind: String,
    /// In what unit, such as `nanoseconds`.
    pub unit: String,
}

impl ValueKind {
    /// Nanoseconds of one; nothing where it is no time.
    pub fn nanoseconds(&self) -> Option<f64> {
        Some(match self.unit.as_str() {
            "nanoseconds" | "nanosecond" | "ns" => 1.0,
            "microseconds" | "microsecond" | "us" => 1e3,
            "milliseconds" | "millisecond" | "ms" => 1e6,
            "seconds" | "second" | "s" => 1e9,
            _ => return None,
        })
    }

    /// Whether it is time of a processor at work. Time that threads waited for locks, or that went by, is time too.
    pub fn is_processor_time(&self) -> bool {
        self.nanoseconds().is_some()
            && matches!(self.kind.as_str(), "cpu" | "cpu-clock" | "task-clock")
    }
}

/// A profile, summed up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profiled {
    /// `plimsoll.profile/1`.
    pub schema: String,
    /// Where it is from: a file, a URL, a folder.
    pub source: String,
    /// The values summed up here.
    pub value: ValueKind,
    /// All kinds of values that the profile has.
    pub values: Vec<ValueKind>,
    /// Stacks in the profile; several samples with the same stack are one.
    pub stacks: u64,
    /// Times that the profiler looked, where the profile says; the values of its first kind, if that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// The sum over all stacks.
    pub total: i64,
    /// How long the profile took, in nanoseconds; absent where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// Requests completed while it was taken; absent for a profile without a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<f64>,
    /// Bytes allocated while it was taken, if that was profiled too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<i64>,
    /// The part of [`Self::total`] that collecting garbage in the background took. It is charged to those who allocate.
    pub collecting: i64,
    /// How that part was divided: `bytes` by a profile of allocations, `time` by the time that allocating took, `none`
    /// where neither is known.
    pub collecting_by: String,
    /// The total by owner of the code.
    pub owners: Vec<OwnerShare>,
    /// The layers of handlers that a request passes, outermost first; empty where none were recognised.
    pub layers: Vec<Layer>,
    /// Functions, those with the largest cumulative values first.
    pub functions: Vec<FunctionCost>,
    /// Functions that were too small to be listed.
    pub dropped: u64,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Profiled {
    /// A value in microseconds per request; nothing where it is no time, or requests are not known.
    pub fn us_per_request(&self, value: i64) -> Option<f64> {
        let requests = self.requests.filter(|requests| *requests > 0.0)?;
        Some(value as f64 * self.value.nanoseconds()? / 1000.0 / requests)
    }
}

/// What one owner's code takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnerShare {
    /// Whose.
    pub owner: Owner,
    /// Samples that were taken in it.
    pub flat: i64,
    /// Samples with any of it in their stacks: itself and all that it calls.
    pub cum: i64,
    /// Samples that it caused: as [`Self::flat`], but the runtime's work is charged to who called for it, and the
    /// collection of garbage to who allocated.
    pub caused: i64,
    /// [`Self::caused`] of the total, 0..=1.
    pub share: f64,
}

/// One function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCost {
    /// Its name.
    pub name: String,
    /// Its source file; empty where unknown.
    pub file: String,
    /// Whose it is.
    pub owner: Owner,
    /// Value of samples that were taken in it.
    pub flat: i64,
    /// Value of samples with it in their stacks.
    pub cum: i64,
    /// As [`Self::flat`], with what the runtime did for it.
    pub caused: i64,
    /// Garbage collected in the background because of what it and its callees allocated.
    pub collecting: i64,
    /// Cumulative share of the total, 0..=1, [`Self::collecting`] included.
    pub share: f64,
    /// Processor time per request, itself, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flat_us_per_request: Option<f64>,
    /// Processor time per request with its callees and the garbage collected because of them, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cum_us_per_request: Option<f64>,
    /// Bytes that it allocated itself, per request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_request: Option<f64>,
    /// Bytes that it and its callees allocated, per request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cum_bytes_per_request: Option<f64>,
}

/// A handler that requests pass, apart from the handlers that it calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// The handler's function.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// Whether it calls the next handler.
    pub calls_next: bool,
    /// What it adds: samples in it but not in a handler that it calls.
    pub added: i64,
    /// Garbage collected because of what it allocated itself.
    pub collecting: i64,
    /// Both, of the total, 0..=1.
    pub share: f64,
    /// Both, per request, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub us_per_request: Option<f64>,
    /// Bytes that it allocated itself, per request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_request: Option<f64>,
}

/// A profile's stacks as a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flame {
    /// The sum over all stacks.
    pub total: i64,
    /// The tree's nodes from left to right, callers before those they call.
    pub frames: Vec<FlameFrame>,
}

/// A function in a stack that begins as others do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameFrame {
    /// The function.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// Callers below it.
    pub depth: u32,
    /// Where it begins, in the profile's values.
    pub start: i64,
    /// Its value.
    pub value: i64,
    /// What became of it, where two profiles are compared.
    pub change: Option<FrameChange>,
}

/// A frame before and after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameChange {
    /// Picoseconds of the processor per request, before.
    pub before: i64,
    /// After.
    pub after: i64,
    /// Whether the difference is larger than the interval of 95 % of counting samples.
    pub sure: bool,
}

/// What is kept with the profiles that were taken in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledWindow {
    /// `plimsoll.profiledwindow/1`.
    pub schema: String,
    /// Where the profiles came from, secrets masked.
    pub url: String,
    /// The profiles' files beside this one, by their kind: `cpu`, `allocs` ...
    pub files: Vec<ProfileFile>,
    /// When the processor's profile began, in nanoseconds since the run's start.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Responses done in between.
    pub requests: f64,
    /// Processors that the server may use, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<f64>,
    /// How that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub processors_from: String,
    /// Processors that the server's processes used meanwhile, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_processors: Option<f64>,
}

/// A profile in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileFile {
    /// What it is a profile of: `cpu`, `allocs`, `mutex`, `block`, `goroutine`.
    pub of: String,
    /// The file's name.
    pub file: String,
}

/// What removing functions would bring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhatIf {
    /// `plimsoll.whatif/1`.
    pub schema: String,
    /// The run's folder.
    pub source: String,
    /// What was asked for.
    pub asked: Vec<String>,
    /// The functions that are removed by it.
    pub removed: Vec<String>,
    /// Whether handlers that they call stay.
    pub callees_stay: bool,
    /// Why nothing is predicted; absent where something is.
    pub refused: Option<String>,
    /// The run's requests per second.
    pub qps_now: f64,
    /// Requests per second without the functions, if the processor stays the limit.
    pub qps_predicted: Option<f64>,
    /// The low end of the interval of 95 %.
    pub qps_low: Option<f64>,
    /// The high end.
    pub qps_high: Option<f64>,
    /// The share of the processor time per request that goes, 0..=1.
    pub share: f64,
    /// The part of it that is garbage collected in the background.
    pub share_collecting: f64,
    /// The part of it that writes headers of responses that would no longer be set.
    #[serde(default)]
    pub share_headers: f64,
    /// By how much the processor time that remains is expected to shrink as well, 0..=1.
    #[serde(default)]
    pub rest_cheaper: f64,
    /// Processor time per request now, in microseconds.
    pub cpu_us_now: f64,
    /// Processor time per request without the functions.
    pub cpu_us_predicted: f64,
    /// Samples of the profile.
    pub samples: u64,
    /// Samples that go.
    pub samples_removed: u64,
    /// Processors that the server kept busy while it was profiled.
    pub busy: f64,
    /// Processors that it may use, where that is known.
    pub processors: Option<f64>,
    /// What limits next, as far as the profile tells.
    pub next: Option<String>,
    /// What the changed server did, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
}

/// What the changed server did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Where it was.
    pub url: String,
    /// Its requests per second.
    pub qps: f64,
    /// Whether that is inside the predicted interval.
    pub inside: bool,
    /// (predicted - measured) / measured.
    pub error: f64,
    /// The verdict on that run.
    pub verdict: crate::validity::Verdict,
}

/// Two profiles compared, per completed request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileDiff {
    /// `plimsoll.profilediff/1`.
    pub schema: String,
    /// The first profile.
    pub before: String,
    /// The second.
    pub after: String,
    /// The unit of all values below: microseconds per request.
    pub unit: String,
    /// The first profile's sum.
    pub total_before: f64,
    /// The second's.
    pub total_after: f64,
    /// Functions, those that saved or added most by themselves first.
    pub functions: Vec<FunctionChange>,
}

/// A function in two profiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionChange {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub owner: Owner,
    /// Itself, before.
    pub flat_before: f64,
    /// Itself, after.
    pub flat_after: f64,
    /// With its callees, before.
    pub cum_before: f64,
    /// With its callees, after.
    pub cum_after: f64,
    /// After - before, with callees.
    pub change: f64,
    /// The low end of its interval of 95 %.
    pub low: f64,
    /// The high end.
    pub high: f64,
}
