//! What one stretch of a run brought, about a second long. A worker fills a [`Tally`] and swaps it
//! for an empty one; the collector merges the workers' tallies into an [`Interval`]. The live line,
//! the journal, abort rules and the timeline all read the stream of intervals.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::answer::AnswerTally;
use crate::endpoint::{EndpointTally, FlowTally, merge_by};
use crate::histogram::Latencies;
use crate::kinds::{self, KindTally};
use crate::machine::MachineUse;
use crate::outcome::{ErrorClass, ErrorCounts};
use crate::presence::PresenceTally;
use crate::units::Nanos;
use crate::users::UserTally;

/// The part of a run that an interval belongs to. Interval boundaries fall on phase boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Sent, not counted.
    Warmup,
    /// Measured.
    Window,
    /// After the window: nothing is sent, attempts of the window are awaited.
    Drain,
}

/// Counts and latencies of the attempts that ended in an interval. In the window and the drain only
/// attempts that were due inside the window are counted, but for `answers_done`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Requests handed to the kernel.
    pub sent: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts dropped before sending.
    pub unsent: u64,
    /// Attempts still open when the run ended.
    pub unfinished: u64,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Whole answers that arrived inside this interval's phase, whenever they were due: throughput.
    pub answers_done: u64,
    /// Answers by status.
    pub statuses: StatusCounts,
    /// Bytes received, TLS records included.
    pub bytes_read: u64,
    /// Bytes sent, TLS records included.
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
    /// For how long each whole answer may have waited for the worker, at most.
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
    /// Connections open.
    pub open: GaugeSum,
    /// Requests unanswered.
    pub in_flight: GaugeSum,
    /// What was answered.
    pub answers: AnswerTally,
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
    /// Answers that succeeded, by kind.
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
    /// Attempts that ended here, whatever became of them.
    pub fn attempts(&self) -> u64 {
        let unanswered = self.unsent.saturating_add(self.unfinished);
        self.succeeded.saturating_add(unanswered).saturating_add(self.errors.total())
    }

    /// Whole answers, whatever their status or content.
    pub fn requests(&self) -> u64 {
        let failed = self.errors.of(ErrorClass::Status);
        let failed = failed.saturating_add(self.errors.of(ErrorClass::Check));
        self.succeeded.saturating_add(failed)
    }

    /// Adds everything another worker, or a later interval, counted. Sums stop at their highest: a
    /// journal may claim any number.
    pub fn merge(&mut self, other: &Self) {
        self.sent = self.sent.saturating_add(other.sent);
        self.succeeded = self.succeeded.saturating_add(other.succeeded);
        self.unsent = self.unsent.saturating_add(other.unsent);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.errors.merge(&other.errors);
        self.answers_done = self.answers_done.saturating_add(other.answers_done);
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
        self.open.merge(&other.open);
        self.in_flight.merge(&other.in_flight);
        self.answers.merge(&other.answers);
        for (name, n) in &other.limits {
            let sum = self.limits.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*n);
        }
        for (class, sample) in &other.samples {
            self.samples.entry(class.clone()).or_insert_with(|| sample.clone());
        }
        self.presence.merge(&other.presence);
        merge_by(&mut self.endpoints, &other.endpoints, |one| one.endpoint, EndpointTally::merge);
        merge_by(&mut self.flows, &other.flows, |one| one.flow, FlowTally::merge);
        kinds::merge(&mut self.kinds, &other.kinds);
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

/// Answers by status, 100 to 999.
#[derive(Clone, PartialEq, Eq)]
pub struct StatusCounts(Box<[u32; 1000]>);

impl Default for StatusCounts {
    fn default() -> Self {
        Self(Box::new([0; 1000]))
    }
}

impl fmt::Debug for StatusCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.seen()).finish()
    }
}

impl StatusCounts {
    /// Counts one answer. A status outside 100..=999 counts as 999; the parser lets none through.
    #[inline]
    pub fn record(&mut self, status: u16) {
        self.0[usize::from(status).min(999)] += 1;
    }

    /// Adds another set of counts.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0.iter()) {
            *ours = ours.saturating_add(*theirs);
        }
    }

    /// Statuses that were seen, ascending, with their counts.
    pub fn seen(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let counts = self.0.iter().enumerate().filter(|(_, n)| **n > 0);
        counts.map(|(status, &n)| (status as u16, u64::from(n)))
    }
}

impl Serialize for StatusCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.seen())
    }
}

impl<'de> Deserialize<'de> for StatusCounts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (status, n) in BTreeMap::<u16, u32>::deserialize(deserializer)? {
            let sum = &mut counts.0[usize::from(status).min(999)];
            *sum = sum.saturating_add(n);
        }
        Ok(counts)
    }
}

/// A level that rises and falls, integrated over time: connections open, requests in flight. Never
/// past the instant that [`Gauge::until`] named: what happens later, while the stretch has not been
/// taken yet, moves the level but adds no time to it.
#[derive(Debug, Clone, Copy)]
pub struct Gauge {
    value: u32,
    max: u32,
    since_ns: Nanos,
    until_ns: Nanos,
    /// Level x time since the last [`Gauge::take`]: 64 bits hold a million for five hours.
    area_ns: u64,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { value: 0, max: 0, since_ns: 0, until_ns: Nanos::MAX, area_ns: 0 }
    }
}

impl Gauge {
    /// Moves the level by `by` at `now_ns`.
    #[inline]
    pub fn step(&mut self, now_ns: Nanos, by: i32) {
        self.settle(now_ns);
        self.value = self.value.saturating_add_signed(by);
        self.max = self.max.max(self.value);
    }

    /// The level now.
    #[inline]
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// The stretch being integrated ends at `until_ns`.
    pub fn until(&mut self, until_ns: Nanos) {
        self.until_ns = until_ns;
    }

    /// Hands over what was integrated up to `now_ns` and starts afresh at the same level.
    pub fn take(&mut self, now_ns: Nanos) -> GaugeSum {
        self.settle(now_ns);
        let sum = GaugeSum { area_ns: u128::from(self.area_ns), max: self.max };
        (self.area_ns, self.max) = (0, self.value);
        sum
    }

    #[inline]
    fn settle(&mut self, now_ns: Nanos) {
        let now_ns = now_ns.min(self.until_ns);
        let elapsed = now_ns.saturating_sub(self.since_ns);
        self.area_ns += u64::from(self.value) * elapsed;
        self.since_ns = self.since_ns.max(now_ns);
    }
}

/// A gauge over a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaugeSum {
    /// Level x time, in nanoseconds.
    pub area_ns: u128,
    /// Highest level. Merged over workers it is the sum of their highest levels, which they need
    /// not have reached at the same instant: an upper bound.
    pub max: u32,
}

impl GaugeSum {
    /// Adds another worker's gauge over the same time.
    pub fn merge(&mut self, other: &Self) {
        self.area_ns = self.area_ns.saturating_add(other.area_ns);
        self.max = self.max.saturating_add(other.max);
    }

    /// Appends a later stretch of the same gauge.
    pub fn append(&mut self, later: &Self) {
        self.area_ns = self.area_ns.saturating_add(later.area_ns);
        self.max = self.max.max(later.max);
    }

    /// The mean level over `elapsed_ns`.
    pub fn mean(&self, elapsed_ns: Nanos) -> f64 {
        if elapsed_ns == 0 { 0.0 } else { self.area_ns as f64 / elapsed_ns as f64 }
    }
}

/// What an interval cost one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerUse {
    /// Processor time of the worker's thread.
    pub cpu_ns: Nanos,
    /// Time that the thread was ready to run and waited for a processor; 0 where the kernel does not
    /// tell.
    pub queued_ns: Nanos,
    /// Time in which that was spent: the interval's, but for as much as the worker was late to begin or to close it.
    pub wall_ns: Nanos,
    /// Time in which the thread neither waited in the kernel for events nor ran nor waited for a
    /// processor: it was stopped, its machine was paused, or its memory had to be read back. Least
    /// that it can have been.
    pub paused_ns: Nanos,
    /// The longest such gap that lay in the interval, whole.
    pub paused_max_ns: Nanos,
    /// How many there were.
    pub pauses: u32,
    /// Answers the worker took in.
    pub answers: u64,
    /// Throughput in answers per second over steps of 100 ms, as wrk samples its `Req/Sec`.
    pub steps: Vec<u32>,
}

/// One stretch of the run over all workers. Instants are nanoseconds since the run's start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Counts from 0 without gaps.
    pub index: u32,
    /// The part of the run.
    pub phase: Phase,
    /// Start, inclusive.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    /// Attempts that were due in the stretch by the schedule; 0 in a closed loop.
    pub due: u64,
    /// What was counted.
    pub tally: Tally,
    /// Each worker's cost, in the workers' order.
    pub workers: Vec<WorkerUse>,
    /// What went on beside the workers on the generator's machine, where somebody looked.
    #[serde(default)]
    pub machine: Option<MachineUse>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_integrates_level_over_time() {
        let mut gauge = Gauge::default();
        gauge.step(10, 1);
        gauge.step(20, 1);
        gauge.step(40, -1);
        let sum = gauge.take(50);
        assert_eq!(sum, GaugeSum { area_ns: 10 + 40 + 10, max: 2 });
        assert_eq!(gauge.take(60), GaugeSum { area_ns: 10, max: 1 });
    }

    #[test]
    fn what_comes_after_a_stretch_adds_no_time_to_it() {
        let mut gauge = Gauge::default();
        gauge.until(100);
        gauge.step(0, 4);
        gauge.step(150, -1);
        assert_eq!(gauge.take(100), GaugeSum { area_ns: 400, max: 4 });
        gauge.until(200);
        assert_eq!(gauge.take(200), GaugeSum { area_ns: 300, max: 3 });
    }

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
