//! What an access log says: the peak, the endpoints with their parameters, users and sessions, and the arithmetic
//! from there to a load.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::percentile::Summary;
use crate::units::Nanos;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.mine/1";

/// A log, mined.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mined {
    /// `plimsoll.mine/1`.
    pub schema: String,
    /// The files, as named on the command line.
    pub files: Vec<String>,
    /// How their lines were read.
    pub format: String,
    /// Lines, bad ones included; empty lines and comments are not counted.
    pub lines: u64,
    /// Lines that are no request in this format.
    pub bad_lines: u64,
    /// The bad lines by what is wrong with them, with the beginning of the first of each kind.
    pub bad: Vec<BadLines>,
    /// The first request, RFC 3339 in the log's zone.
    pub first_at: String,
    /// The last request.
    pub last_at: String,
    /// All requests: people's, bots', and of static files.
    pub requests: u64,
    /// Bytes of all responses.
    pub bytes: u64,
    /// All requests by the status of their response.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests of programs that are no users, by what their `User-Agent` says.
    pub bots: u64,
    /// Whether no line has a `User-Agent`: then bots cannot be told apart, and are counted as users.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_agents: bool,
    /// Requests of static files, bots' excluded.
    pub static_files: u64,
    /// Requests that `--include` and `--exclude` left out.
    pub left_out: u64,
    /// Requests of the API: what the rest is about.
    pub counted: u64,
    /// Those of them that change nothing, by their method.
    pub reads: u64,
    /// The others.
    pub writes: u64,
    /// Different users of the API, by address and `User-Agent`, or by the user field of the log.
    pub users: u64,
    /// The standard error of that, as a share; 0 where the count is exact.
    pub users_error: f64,
    /// Users of the busiest day.
    pub daily_users: u64,
    /// Sessions: requests of one user with no pause of more than [`Self::session_gap_ns`].
    pub sessions: u64,
    /// What sessions are like.
    pub session: SessionFigures,
    /// The pause that ends a session.
    pub session_gap_ns: Nanos,
    /// The busiest window.
    pub peak: Peak,
    /// Requests over the whole log: beginning of each part in seconds since the epoch, and requests in it.
    pub curve: Vec<(i64, u64)>,
    /// Length of a part of the curve, in seconds.
    pub curve_step_s: i64,
    /// Requests by the hour of the day, in the log's zone.
    pub by_hour: Vec<u64>,
    /// The endpoints of the API, those with the most requests in the peak first.
    pub endpoints: Vec<MinedEndpoint>,
    /// Requests in the peak of endpoints that are not in the workload.
    pub beyond_top: u64,
    /// The share of the peak's requests that the workload's endpoints cover.
    pub covered: f64,
    /// The paths with the most requests, as written, queries left away, static files and bots included.
    pub top_paths: Vec<PathCount>,
    /// From the peak to the load, step by step.
    pub arithmetic: Vec<ArithmeticStep>,
    /// Ways through the site that together send what the log has of each endpoint, where `--sessions` asked for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<MinedFlow>,
    /// What is to be known about these figures.
    pub notes: Vec<String>,
}

/// Bad lines of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BadLines {
    /// What is wrong, in words.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// The beginning of one of them, credentials masked.
    pub sample: String,
}

/// What the sessions of a log are like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionFigures {
    /// Mean requests of a session.
    pub requests: f64,
    /// The pauses between requests of a session, in nanoseconds.
    pub think_ns: Summary,
    /// The share of users whose requests these figures are from; 1 where they are from all.
    pub sampled: f64,
    /// The most sessions open at a time in the peak, as far as the sample says.
    pub most_open: u64,
}

/// The busiest window of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// Its beginning, RFC 3339 in the log's zone.
    pub from: String,
    /// Its end.
    pub to: String,
    /// Its beginning in seconds since the epoch.
    pub from_s: i64,
    /// Its length in seconds.
    pub seconds: i64,
    /// Requests of the API in it.
    pub requests: u64,
    /// Requests per second over it.
    pub rate_per_s: f64,
    /// Requests of its busiest second over the mean of its seconds.
    pub burst_factor: f64,
}

/// An endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MinedEndpoint {
    /// The method.
    pub method: String,
    /// The path with its parameters in braces.
    pub path: String,
    /// Requests in the whole log.
    pub count: u64,
    /// Requests in the peak.
    pub peak: u64,
    /// Share of the peak's requests.
    pub share: f64,
    /// Requests per second in the peak.
    pub rate_per_s: f64,
    /// Requests by status, in the whole log.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests in the peak that failed, by status: 400 and above.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<u16, u64>,
    /// Bytes of its responses.
    pub bytes: u64,
    /// Its parameters, of the path and of the query.
    pub parameters: Vec<Parameter>,
    /// How long the server took, where the log says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Summary>,
    /// The log writes times as multiples of this, in nanoseconds: a latency of 0 is one below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_step_ns: Option<Nanos>,
    /// Requests that followed it, as written.
    pub examples: Vec<String>,
    /// Its name in the workload; absent where it is not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_name: Option<String>,
    /// Requests per second that the workload sends of it; absent where it is not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_per_s: Option<f64>,
}

/// A parameter of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Where it is: `path` or `query`.
    pub place: String,
    /// What its values are: `id`, `uuid`, `date`, `name` ...
    pub kind: String,
    /// Different values.
    pub distinct: u64,
    /// The share of requests that have the commonest tenth of the values: 0.1 where all come equally often.
    pub skew: f64,
    /// Some values, the commonest first; empty where they are credentials.
    pub examples: Vec<String>,
}

/// A path with its requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathCount {
    /// Method and path.
    pub request: String,
    /// Requests.
    pub count: u64,
}

/// A step of arithmetic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArithmeticStep {
    /// What is computed.
    pub step: String,
    /// The figure.
    pub value: f64,
    /// What this assumes.
    pub assumption: String,
}

/// A way through the site.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MinedFlow {
    /// Its endpoints, in order.
    pub steps: Vec<String>,
    /// The share of the workload's sessions that take it.
    pub share: f64,
    /// Sessions per second that take it.
    #[serde(default)]
    pub rate_per_s: f64,
}
