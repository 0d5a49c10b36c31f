//! The counts and latencies of an interval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::endpoint::{EndpointTally, FlowTally, add_counts, merge_by};
use super::gauge::GaugeSum;
use super::kind::{self, KindTally};
use super::presence::PresenceTally;
use super::statuses::StatusCounts;
use crate::histogram::Latencies;
use crate::outcome::{ErrorClass, ErrorCounts};
use crate::response::ResponseTally;
use crate::users::UserTally;

/// Counts and latencies of the attempts that ended in an interval. In the window and the drain only
/// attempts that were due inside the window are counted, but for `responses_done`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Requests handed to the kernel.
    pub sent: u64,
    /// Of these, requests of an open loop that ends by count which left when all of them had been due for a while.
    #[serde(default)]
    pub sent_after: u64,
    /// Of all handed to the kernel, later steps of sessions, which are no arrivals.
    #[serde(default)]
    pub sent_inside: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts dropped before sending.
    pub unsent: u64,
    /// Attempts still open when the run ended.
    pub unfinished: u64,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Whole responses that arrived inside this interval's phase, whenever they were due: throughput.
    #[serde(rename = "answers_done")]
    pub responses_done: u64,
    /// Responses by status.
    pub statuses: StatusCounts,
    /// Bytes received, TLS records included.
    pub bytes_read: u64,
    /// Bytes handed over to be sent, TLS records included.
    pub bytes_written: u64,
    /// Connections opened.
    pub connects: u64,
    /// Connections the server closed although keep-alive was asked.
    pub server_closes: u64,
    /// done - due.
    pub response: Latencies,
    /// done - sent.
    pub service: Latencies,
    /// taken - due.
    pub late: Latencies,
    /// For how long each whole response may have waited for the worker, at most.
    #[serde(default)]
    pub observed_late: Latencies,
    /// sent - taken.
    pub wait: Latencies,
    /// first - sent.
    pub first_byte: Latencies,
    /// From the start of connecting until the TCP connection stood.
    pub connect: Latencies,
    /// The TLS handshake.
    pub tls: Latencies,
    /// Of the handshakes, those that went on with the session of an earlier connection.
    #[serde(default)]
    pub tls_resumed: u64,
    /// Connections that failed since server and settings do not fit together, so that trying again changes nothing:
    /// another scheme or protocol, no TLS version in common, a certificate that is not accepted.
    #[serde(default)]
    pub mismatches: u64,
    /// Connections on which a response came that no request was waiting for.
    #[serde(default)]
    pub surplus_responses: u64,
    /// Connections on which other bytes came that no request was waiting for.
    #[serde(default)]
    pub unsolicited: u64,
    /// Responses that failed a check because their bodies could not be looked into here.
    #[serde(default)]
    pub unchecked: u64,
    /// Requests that failed without a response as the connection, idle for long before, ended just then.
    #[serde(default)]
    pub idle_cuts: u64,
    /// Responses whose bodies ended with their connection, as nothing said how long they are.
    #[serde(default)]
    pub until_close: u64,
    /// Connections open.
    pub open: GaugeSum,
    /// Requests unanswered.
    pub in_flight: GaugeSum,
    /// Responses, sampled.
    #[serde(rename = "answers")]
    pub responses: ResponseTally,
    /// Local resources that ran out, by errno name (`EMFILE`, `EADDRNOTAVAIL`).
    pub limits: BTreeMap<String, u64>,
    /// The first failure of each class in words, as a sample.
    pub samples: BTreeMap<String, String>,
    /// Whether the server was there.
    #[serde(default)]
    pub presence: PresenceTally,
    /// Endpoints that had attempts, in the order of their indexes; empty for a load of one request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointTally>,
    /// Flows that had sessions, likewise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowTally>,
    /// Responses that succeeded, by kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindTally>,
    /// Where the first redirect led.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How the users were served over the whole run; with a worker's last interval only.
    #[serde(default, skip_serializing_if = "UserTally::is_empty")]
    pub users: UserTally,
}

impl Tally {
    /// An empty one in which requests and responses are counted without allocating; `open_loop`: also how late they are and
    /// how long they wait. Opening connections may allocate.
    pub fn with_room(open_loop: bool) -> Self {
        let mut tally = Self::default();
        for latencies in [&mut tally.service, &mut tally.first_byte, &mut tally.observed_late] {
            *latencies = Latencies::new();
        }
        if open_loop {
            for latencies in [&mut tally.response, &mut tally.late, &mut tally.wait] {
                *latencies = Latencies::new();
            }
        }
        tally
    }

    /// Attempts that ended here, whatever became of them.
    pub fn attempts(&self) -> u64 {
        let unanswered = self.unsent.saturating_add(self.unfinished);
        self.succeeded.saturating_add(unanswered).saturating_add(self.errors.total())
    }

    /// Whole responses, whatever their status or content.
    pub fn requests(&self) -> u64 {
        let failed = self.errors.of(ErrorClass::Status);
        let failed = failed.saturating_add(self.errors.of(ErrorClass::Check));
        self.succeeded.saturating_add(failed)
    }

    /// Adds everything another worker, or a later interval, counted. Sums stop at their highest: a
    /// journal may claim any number.
    pub fn merge(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.sent_after = self.sent_after.saturating_add(other.sent_after);
        self.sent_inside = self.sent_inside.saturating_add(other.sent_inside);
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
        self.unsent = self.unsent.saturating_add(other.unsent);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.errors.merge(&other.errors);
        self.responses_done = self.responses_done.saturating_add(other.responses_done);
        self.statuses.merge(&other.statuses);
        self.bytes_read = self.bytes_read.saturating_add(other.bytes_read);
        self.bytes_written = self.bytes_written.saturating_add(other.bytes_written);
        self.connects = self.connects.saturating_add(other.connects);
        self.server_closes = self.server_closes.saturating_add(other.server_closes);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.late.merge(&other.late);
        self.observed_late.merge(&other.observed_late);
        self.wait.merge(&other.wait);
        self.first_byte.merge(&other.first_byte);
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.tls_resumed = self.tls_resumed.saturating_add(other.tls_resumed);
        self.mismatches = self.mismatches.saturating_add(other.mismatches);
        self.surplus_responses = self.surplus_responses.saturating_add(other.surplus_responses);
        self.unsolicited = self.unsolicited.saturating_add(other.unsolicited);
        self.unchecked = self.unchecked.saturating_add(other.unchecked);
        self.idle_cuts = self.idle_cuts.saturating_add(other.idle_cuts);
        self.until_close = self.until_close.saturating_add(other.until_close);
        self.open.merge(&other.open);
        self.in_flight.merge(&other.in_flight);
        self.responses.merge(&other.responses);
        add_counts(&mut self.limits, &other.limits);
        for (class, sample) in &other.samples {
            self.samples.entry(class.clone()).or_insert_with(|| sample.clone());
        }
        self.presence.merge(&other.presence);
        merge_by(&mut self.endpoints, &other.endpoints, |one| one.endpoint, EndpointTally::merge);
        merge_by(&mut self.flows, &other.flows, |one| one.flow, FlowTally::merge);
        kind::merge(&mut self.kinds, &other.kinds);
        if self.location.is_none() {
            self.location.clone_from(&other.location);
        }
        self.users.merge(&other.users);
    }

    /// Adds what one endpoint brought.
    pub fn add_endpoint(&mut self, tally: &EndpointTally) {
        let one = std::slice::from_ref(tally);
        merge_by(&mut self.endpoints, one, |one| one.endpoint, EndpointTally::merge);
    }

    /// Adds what one flow brought.
    pub fn add_flow(&mut self, tally: &FlowTally) {
        merge_by(&mut self.flows, std::slice::from_ref(tally), |one| one.flow, FlowTally::merge);
    }

    /// Empties it for reuse; histograms keep their memory.
    pub fn clear(&mut self) {
        let mut empty = Self {
            response: std::mem::take(&mut self.response),
            service: std::mem::take(&mut self.service),
            late: std::mem::take(&mut self.late),
            observed_late: std::mem::take(&mut self.observed_late),
            wait: std::mem::take(&mut self.wait),
            first_byte: std::mem::take(&mut self.first_byte),
            connect: std::mem::take(&mut self.connect),
            tls: std::mem::take(&mut self.tls),
            ..Self::default()
        };
        for latencies in [
            &mut empty.response,
            &mut empty.service,
            &mut empty.late,
            &mut empty.observed_late,
            &mut empty.wait,
            &mut empty.first_byte,
            &mut empty.connect,
            &mut empty.tls,
        ] {
            latencies.clear();
        }
        *self = empty;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_conserved_by_merging_and_clearing() {
        let mut a = Tally { succeeded: 3, unsent: 4, ..Tally::default() };
        a.errors.add(ErrorClass::Status, 2);
        a.errors.add(ErrorClass::Timeout, 1);
        a.statuses.record(200);
        a.response.record(1000);
        let mut b = a.clone();
        b.merge(&a);
        assert_eq!((a.attempts(), a.requests()), (10, 5));
        assert_eq!((b.attempts(), b.requests()), (20, 10));
        assert_eq!(b.statuses.seen().collect::<Vec<_>>(), [(200, 2)]);
        b.clear();
        assert_eq!(b, Tally::default());
    }

    #[test]
    fn a_tally_survives_the_journal() {
        let mut tally = Tally { sent: 9, ..Tally::default() };
        tally.statuses.record(503);
        tally.late.record(77);
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }
}
