//! A run's counts, rates and what its generator spent, as `run.json` holds them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StepSummary;
use crate::calibration::Ceiling;
use crate::machine::Machine;
use crate::outcome::ErrorCounts;
use crate::units::Nanos;

/// Counts of the attempts that were due in the measured window:
/// `attempts = succeeded + unsent + unfinished + errors`, `requests` = whole responses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Requests due in the window, whatever became of them.
    pub attempts: u64,
    /// Whole responses to these attempts, in the window or the drain.
    pub requests: u64,
    /// Responses that count as success.
    pub succeeded: u64,
    /// Dropped before sending.
    pub unsent: u64,
    /// Still open when the run ended.
    pub unfinished: u64,
    /// Length of the measured window as it was.
    pub duration_ns: Nanos,
    /// Bytes received in the window and the drain.
    pub bytes_read: u64,
    /// Bytes handed over to be sent in the window. Of requests that the server did not read to their end, some may not have left.
    pub bytes_written: u64,
    /// Connections opened, from the start of the run on.
    pub connects: u64,
    /// TLS handshakes that went on with the session of an earlier connection, from the start of the run
    /// on; the others of `tls_ns` were full. Absent in runs measured before it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_resumed: Option<u64>,
    /// Connections that failed since server and settings do not fit together, so that trying again changes nothing:
    /// another scheme or protocol, no TLS version in common, a certificate that is not accepted; absent where there were
    /// none.
    #[serde(default, alias = "other_scheme", skip_serializing_if = "Option::is_none")]
    pub mismatches: Option<u64>,
    /// Connections on which a response came that no request was waiting for, from the start of the run until shortly
    /// after its last response; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surplus_responses: Option<u64>,
    /// Connections on which other bytes came that no request was waiting for, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsolicited: Option<u64>,
    /// Responses that failed a check because their bodies could not be looked into here: too long, or coded in a way that
    /// is not decoded. Among the failures of class `check`; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<u64>,
    /// Requests that failed without a response as their connection, idle for a second or more before, ended within 0.1 s:
    /// a server's time-out for idle connections may do that. Among the failures of class `read` and `write`; absent
    /// where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cuts: Option<u64>,
    /// Responses in the window and the drain whose bodies ended with their connection, as nothing said how long they are: one
    /// that was cut short counts as a whole one. Absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_close: Option<u64>,
    /// Connections that the server closed although keep-alive was asked.
    pub server_closes: u64,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by class.
    pub errors: ErrorCounts,
    /// A sample of each class's failures, in words.
    pub error_samples: BTreeMap<String, String>,
    /// Local resources that ran out, by errno name.
    pub limits: BTreeMap<String, u64>,
}

/// Rates over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// Responses done inside the window / window. The window of a run that ends by count lasts until the last response.
    pub requests_per_s: f64,
    /// Attempts due in the window / window; of an open loop that ends by count / the time in which they were due.
    pub offered_per_s: f64,
    /// Requests handed to the kernel inside the window / window; of an open loop that ends by count, those handed over by
    /// when all had been due, / that time.
    pub achieved_per_s: f64,
    /// Successes / attempts, 0..=1; absent without attempts. Of an interrupted run without those that were still open when it
    /// ended: it did not wait for them. In a closed loop time counts as well: it is
    /// at most the share of the users' time that was spent neither without the server nor on responses that
    /// failed, since users that back off make few attempts.
    pub success_ratio: Option<f64>,
    /// Successes / attempts in a closed loop, where time counted and made `success_ratio` less than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_success_ratio: Option<f64>,
    /// The share of the load for which the server was there, 0..=1: in a closed loop of the users' time,
    /// in an open loop of the arrivals (those that were answered, whatever the response). Absent without
    /// attempts, and in a closed loop measured before time was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_ratio: Option<f64>,
    /// Bytes received inside the window / window.
    pub bytes_read_per_s: f64,
}

/// How much was at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Concurrency {
    /// Connections planned.
    pub planned: u32,
    /// Connections open, mean over the window.
    pub open_mean: f64,
    /// Connections open at most.
    pub open_max: u32,
    /// Requests unanswered, mean over the window.
    pub in_flight_mean: f64,
    /// Requests unanswered at most.
    pub in_flight_max: u32,
}

/// What the generator spent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// Processor time of all workers in the window.
    pub cpu_ns: Nanos,
    /// Processor time per response done in the window.
    pub cpu_ns_per_request: f64,
    /// Each worker's share of its core.
    pub workers: Vec<WorkerShare>,
    /// What its machine did beside it; absent where nobody looked.
    #[serde(default)]
    pub machine: Option<Machine>,
    /// This generator's own ceiling, where `plimsoll calibrate` has measured it.
    #[serde(default)]
    pub ceiling: Option<Ceiling>,
}

/// One worker over the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerShare {
    /// Processor time / elapsed time, 0..=1.
    pub busy_ratio: f64,
    /// Time spent ready to run and waiting for a processor / elapsed time, 0..=1; 0 where the kernel
    /// does not tell.
    #[serde(default)]
    pub queued_ratio: f64,
    /// Time in which the worker neither waited for events nor ran nor waited for a processor / elapsed
    /// time, 0..=1: it was stopped, its machine was paused, or its memory had to be read back.
    #[serde(default)]
    pub paused_ratio: f64,
    /// The longest such gap, of window and drain.
    #[serde(default)]
    pub paused_max_ns: Nanos,
    /// How many there were in both.
    #[serde(default)]
    pub pauses: u64,
    /// How often the worker waited for a page of its memory that had to be read from a disk (major page faults).
    #[serde(default)]
    pub page_ins: u64,
    /// Responses taken in.
    #[serde(rename = "answers")]
    pub responses: u64,
    /// Throughput samples of 100 ms each, as wrk's `Req/Sec` line shows.
    pub req_per_s: StepSummary,
}
