//! What a user wants sent, as written: a workload file, in YAML or JSON, before anything is resolved.
//!
//! Owns the types, their meaning and their JSON Schema. Does not own reading a file with its
//! positions (`import`) nor what templates mean (`traffic`, which makes of it what the engine
//! sends). Text may hold placeholders, `${...}`; here they are only text.

mod body;
mod load;
mod pool;
pub mod template;
mod value;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::success::StatusRanges;

pub use body::{Body, Part};
pub use load::{Level, LoadSpec, Stage};
pub use pool::{FileFormat, Order, Pool};
pub use value::{Count, Fields, Literal, Rate, Time};

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.workload/1";

/// A workload: the target, the requests, their mix, and how much load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The JSON Schema that editors check the file with.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What the load is called in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The server, such as `https://api.example.com`. If it has a path, that is put before the path
    /// of every request.
    pub target: String,
    /// Header fields of every request; a request's own field replaces the one of that name.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub headers: Fields,
    /// TLS settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsSpec>,
    /// Time-out of an attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Time>,
    /// Statuses that count as success, such as `200-299,304`; 200 to 399 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<StatusRanges>,
    /// How much load, how long.
    #[serde(default)]
    pub load: LoadSpec,
    /// The daily users that the load stands for: `capacity` says how many more the server carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_users: Option<Count>,
    /// Where parameters take their values from, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<String, Pool>,
    /// Named templates, evaluated at most once per request: `${name}` has the same value everywhere
    /// in the request.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Single requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<Endpoint>,
    /// Sessions of several requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Objectives for the whole load, such as `p99<500ms` or `success>=99%`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<String>,
    /// What is watched beside the load, as `--observe` takes it: `db=postgres://app@db1/shop`. Commands (`exec:`) only the
    /// command line may name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observe: Vec<String>,
}

/// TLS settings of a workload. File names are relative to the workload file's folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TlsSpec {
    /// Leave the server's certificate unchecked.
    #[serde(skip_serializing_if = "is_false")]
    pub insecure: bool,
    /// Certificates to trust instead of the system's, in PEM form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacert: Option<String>,
    /// Client certificate chain in PEM form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert: Option<String>,
    /// Its key in PEM form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Server name to send (SNI) and check instead of the target's host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sni: Option<String>,
    /// Let connections resume earlier TLS sessions, where the server offers it.
    #[serde(skip_serializing_if = "is_false")]
    pub resume: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One kind of request, sent on its own. Of `weight`, `rate` and `concurrency` a workload uses one,
/// the same for all its endpoints and flows; weight 1 where none is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Its name in results; `GET /users/{user.id}`, from method and path, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The HTTP method; GET, or POST with a body, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Path below the target, such as `/users/${user.id}`. It may carry a query. The value of
    /// a placeholder is escaped so that it stays in its place.
    pub path: String,
    /// Query parameters, appended to the path's own, escaped.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub query: Fields,
    /// Header fields.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub headers: Fields,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Statuses that count as success, instead of the workload's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<StatusRanges>,
    /// Conditions on a response to count as success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Share of the mix, relative to the others' weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Open loop: arrivals of this endpoint alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Closed loop: users that send only this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Count>,
    /// Fixed interval between the sends of each of those users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Time>,
    /// Whether it changes anything on the server: `--reads-only` leaves it out then. By the method
    /// (GET, HEAD, OPTIONS and TRACE change nothing) unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// Objectives for this endpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<String>,
    /// How fast it answers today, as the access log says. Nothing is judged by it: reports print it beside what is
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<Today>,
}

/// Response times of an endpoint in production; `plimsoll mine` takes them of the whole log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Today {
    /// Half of the responses took no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<Time>,
    /// 99 of 100 responses took no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<Time>,
}

/// A session: steps that one user takes in order, with cookies and extracted values of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in results; its steps are named `flow/step`.
    pub name: String,
    /// The steps. A failed one ends the session.
    pub steps: Vec<Step>,
    /// As `weight` of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Partly open loop: sessions that arrive per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// As `concurrency` of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Count>,
    /// Fixed interval between the starts of one user's sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Time>,
}

/// One step of a flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name in results; from method and path unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As `method` of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// As `path` of an endpoint.
    pub path: String,
    /// As `query` of an endpoint.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub query: Fields,
    /// As `headers` of an endpoint.
    #[serde(default, skip_serializing_if = "Fields::is_empty")]
    pub headers: Fields,
    /// As `body` of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// As `success` of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<StatusRanges>,
    /// As `checks` of an endpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Values taken from the response, by the name that later steps use: `${name}`. One that is not
    /// found fails the step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extract: BTreeMap<String, Extractor>,
    /// The step is taken only if this holds, and skipped otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Think time after the response, before the next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Time>,
    /// As `writes` of an endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// Objectives for this step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<String>,
}

/// Where a value is found in a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Extractor {
    /// At a JSON pointer (RFC 6901) into the body, such as `/items/0/id`.
    Json(String),
    /// In a header field, the first of that name.
    Header(String),
    /// What the first group of a regular expression matches in the body, or all it matches when it
    /// has no group.
    Regex(String),
    /// In a cookie that the response sets.
    Cookie(String),
}

/// Conditions on a response. Text may have placeholders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    /// One of these statuses.
    Status(StatusRanges),
    /// A value in a JSON body.
    Json {
        /// Its place, a JSON pointer (RFC 6901).
        pointer: String,
        /// The required value; without it the field only has to exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        equals: Option<Literal>,
    },
    /// A header field.
    Header {
        /// Its name.
        name: String,
        /// The required value; without it the member only has to exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        equals: Option<String>,
    },
    /// Text that the body contains.
    Contains(String),
    /// A regular expression that matches somewhere in the body.
    Regex(String),
}

/// When a step is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// An earlier step extracted a value of this name that is not empty.
    Has(String),
    /// None did.
    Lacks(String),
    /// Two templates come to the same text.
    Equal([String; 2]),
    /// With this probability, 0 to 1.
    Chance(f64),
}

#[cfg(test)]
mod tests;
