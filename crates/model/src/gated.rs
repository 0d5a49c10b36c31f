//! What a gateway served, and its keys, as they are printed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// The schema of usage: its name and version.
pub const USAGE_SCHEMA: &str = "plimsoll.gateusage/1";
/// The schema of lists of keys.
pub const KEYS_SCHEMA: &str = "plimsoll.gatekeys/1";

/// What was served in a period.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateUsage {
    /// `plimsoll.gateusage/1`.
    pub schema: String,
    /// From then on, in seconds since the epoch.
    pub from_s: i64,
    /// Until then.
    pub to_s: i64,
    /// By key and route, those with the most requests first.
    pub rows: Vec<GateUsageRow>,
}

/// What one key did on one route.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateUsageRow {
    /// The key's number; 0 for requests without a valid key.
    pub key: u64,
    /// Whose key it is.
    pub owner: String,
    /// The route's name; `-` where none took the request.
    pub route: String,
    /// Requests that were forwarded.
    pub forwarded: u64,
    /// Requests that were refused, by why; `invalid`: malformed, slow or a loop, and so of no key and no route.
    pub refused: BTreeMap<String, u64>,
    /// Responses by status, refusals included; 0 where the client left first, 65535 for statuses beyond eight a second.
    pub statuses: BTreeMap<u16, u64>,
    /// Forwarded requests that no upstream answered.
    pub upstream_failed: u64,
    /// Bytes of requests.
    pub bytes_in: u64,
    /// Bytes of responses.
    pub bytes_out: u64,
    /// Latency of forwarded requests, from admission to the last byte: mean.
    pub mean_ns: Nanos,
    /// Median, interpolated within a bucket of a histogram: at most 12.5 % off the truth.
    pub p50_ns: Nanos,
    /// 99th percentile, likewise.
    pub p99_ns: Nanos,
}

/// The keys of a store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateKeys {
    /// `plimsoll.gatekeys/1`.
    pub schema: String,
    /// The keys, oldest first.
    pub keys: Vec<GateKey>,
}

/// A key, without the key itself: that was shown once, and is kept nowhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateKey {
    /// Its number.
    pub key: u64,
    /// Whose it is.
    pub owner: String,
    /// Its tier; empty for the first one.
    pub tier: String,
    /// Routes it is for; empty for all.
    pub routes: Vec<String>,
    /// Its own rate, instead of its tier's.
    pub rate_per_s: Option<f64>,
    /// Its own burst.
    pub burst: Option<f64>,
    /// Its own number of requests in flight.
    pub concurrency: Option<u32>,
    /// Its own quota of a day.
    pub per_day: Option<u64>,
    /// Its own quota of a month.
    pub per_month: Option<u64>,
    /// Its own longest body.
    #[serde(default)]
    pub body_bytes: Option<u64>,
    /// When it was made, in seconds since the epoch.
    pub created_s: i64,
    /// From when on it is not valid; 0: it has no end.
    pub expires_s: i64,
    /// When it was revoked, if it was.
    pub revoked_s: Option<i64>,
}
