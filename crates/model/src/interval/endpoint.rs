//! What single endpoints and flows brought in an interval.
//!
//! Latencies are kept as the buckets that hold something: a thousand endpoints with a histogram of all
//! buckets each would take a gigabyte. Not here: their sums over a run ([`crate::endpoint`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::SparseLatencies;
use crate::outcome::ErrorCounts;

/// Endpoints counted separately; those after them count together, as [`OTHERS`].
pub const MOST_ENDPOINTS: usize = 1000;
/// The name of the endpoints that count together.
pub const OTHERS: &str = "(others)";
/// Bytes of a failed response that are kept.
pub const SAMPLE_BYTES: usize = 4096;

/// How many tallies `endpoints` endpoints need: those that count together share one.
pub const fn tallies_needed(endpoints: usize) -> usize {
    if endpoints > MOST_ENDPOINTS { MOST_ENDPOINTS + 1 } else { endpoints }
}

/// What one endpoint's attempts came to in an interval, as [`crate::Tally`] says of all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointTally {
    /// Index into the plan's endpoints.
    pub endpoint: u32,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts dropped before sending.
    pub unsent: u64,
    /// Attempts still open when the run ended.
    pub unfinished: u64,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Whole responses that arrived inside the interval's phase.
    #[serde(rename = "answers_done")]
    pub responses_done: u64,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Responses that failed a check, by its index.
    pub failed_checks: BTreeMap<u16, u64>,
    /// done - due.
    pub response: SparseLatencies,
    /// done - sent.
    pub service: SparseLatencies,
    /// The first response that failed, in words and as much of its body as is kept.
    pub sample: Option<String>,
}

impl EndpointTally {
    /// Attempts that ended here, whatever became of them.
    pub fn attempts(&self) -> u64 {
        let unanswered = self.unsent.saturating_add(self.unfinished);
        self.succeeded.saturating_add(unanswered).saturating_add(self.errors.total())
    }

    /// Adds what was counted elsewhere or later.
    pub fn merge(&mut self, other: &Self) {
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
        self.unsent = self.unsent.saturating_add(other.unsent);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.errors.merge(&other.errors);
        self.responses_done = self.responses_done.saturating_add(other.responses_done);
        add_counts(&mut self.statuses, &other.statuses);
        add_counts(&mut self.failed_checks, &other.failed_checks);
        self.response.append(&other.response);
        self.service.append(&other.service);
        if self.sample.is_none() {
            self.sample.clone_from(&other.sample);
        }
    }
}

/// What one flow's sessions came to in an interval: those that began in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowTally {
    /// Index into the plan's flows.
    pub flow: u32,
    /// Sessions that began.
    pub started: u64,
    /// Sessions that ended whole.
    pub completed: u64,
    /// Those of them that ended inside the interval's phase, whenever they began: throughput.
    pub completed_done: u64,
    /// Sessions that failed, by the step that they failed at.
    pub failed_at: BTreeMap<u16, u64>,
    /// Requests sent by the sessions that ended, whole or failed.
    pub requests: u64,
    /// From when a session was due to its end, of those that ended whole.
    pub times: SparseLatencies,
}

impl FlowTally {
    /// Adds what was counted elsewhere or later.
    pub fn merge(&mut self, other: &Self) {
        self.started = self.started.saturating_add(other.started);
        self.completed = self.completed.saturating_add(other.completed);
        self.completed_done = self.completed_done.saturating_add(other.completed_done);
        add_counts(&mut self.failed_at, &other.failed_at);
        self.requests = self.requests.saturating_add(other.requests);
        self.times.append(&other.times);
    }
}

/// Adds to the count of a key, which stops at its highest.
pub(crate) fn add_count<K: Ord>(into: &mut BTreeMap<K, u64>, key: K, n: u64) {
    let sum = into.entry(key).or_default();
    *sum = sum.saturating_add(n);
}

/// Adds every count of `from`.
pub(crate) fn add_counts<K: Ord + Clone>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    from.iter().for_each(|(key, &n)| add_count(into, key.clone(), n));
}

/// Adds the tallies of `from` to those of the same index in `into`; both are in the order of indexes.
pub(crate) fn merge_by<T: Clone>(
    into: &mut Vec<T>,
    from: &[T],
    index: impl Fn(&T) -> u32,
    merge: impl Fn(&mut T, &T),
) {
    for one in from {
        match into.binary_search_by_key(&index(one), &index) {
            Ok(at) => merge(&mut into[at], one),
            Err(at) => into.insert(at, one.clone()),
        }
    }
}
