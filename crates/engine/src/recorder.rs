//! Counts the outcome of each attempt of a worker, by interval.
//!
//! Decides which interval and which phase an outcome belongs to. The collector merges the tallies;
//! `model` computes the figures.

mod entry;
mod sessions;
mod slice;
mod times;

use model::interval::{Gauge, Phase, Tally, WorkerUse};
use model::units::{MILLISECOND, SECOND};
use model::{ErrorClass, Mix, Nanos};
use wire::ResponseHead;

use crate::attempt_log::{AttemptLog, LogEntry, endpoint_number, flow_of};
use crate::gaps::Pauses;
use crate::presence::Watch;
use crate::response_kinds::{LOCATION, ResponseKinds, TYPE, words};
use crate::spent::Spent;

use slice::Slices;
use times::AlikeTimes;

pub(crate) use entry::{Attempt, InFlight, WholeResponse};
pub use entry::{IntervalBuffers, WorkerInterval};

/// Length of a throughput sample: wrk takes its `Req/Sec` samples at this step.
const STEP: Nanos = 100 * MILLISECOND;
/// How long the last requests of an open loop that ends by count may take to leave.
const LEAVES_WITHIN: Nanos = 10 * MILLISECOND;

/// A worker's counts of the interval that is open.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) tally: Box<Tally>,
    attempts: AttemptLog,
    /// Whether attempts are logged: for a mix of endpoints.
    logs_attempts: bool,
    /// The flow that each endpoint is a step of; empty without flows.
    flow_of: Vec<Option<u32>>,
    pub(crate) kinds: ResponseKinds,
    pub(crate) open: Gauge,
    /// Requests handed over and without a response, over time.
    in_flight: Gauge,
    /// The parts of the interval, in a short run.
    slices: Slices,
    /// Requests made and not ended, whether they were handed over or not.
    pub(crate) under_way: u32,
    /// Whole responses of the batch under way, of attempts that count.
    came: u32,
    /// The longest time that one of them took.
    longest: Nanos,
    /// Responses whose times are not in the tally yet.
    alike: AlikeTimes,
    /// Whether the server is there.
    pub(crate) watch: Watch,
    /// Requests in flight that were due inside the window.
    measured: u64,
    /// Arrivals taken up and not served at the last call of the source: for [`Recorder::abandoned`].
    pub(crate) waiting: u64,
    /// Open loop: due, taken and sent differ, so that all distributions are kept. In a closed loop
    /// response is service, and the collector copies it.
    open_loop: bool,
    window_start: Nanos,
    window_end: Nanos,
    /// What leaves from here on leaves later than it should; never, where a window ends by time.
    all_sent: Nanos,
    phase: Phase,
    index: u32,
    start: Nanos,
    boundary: Nanos,
    due: u64,
    responses: u64,
    spent_at_start: Spent,
    pauses: Pauses,
    steps: Vec<u32>,
    next_step: Nanos,
    responses_at_step: u64,
}

impl Recorder {
    pub(crate) fn new(open_loop: bool, warmup: Nanos, window_end: Nanos) -> Self {
        let phase = if warmup > 0 { Phase::Warmup } else { Phase::Window };
        let mut recorder = Self {
            tally: Box::new(Tally::with_room(open_loop)),
            attempts: AttemptLog::default(),
            logs_attempts: false,
            flow_of: Vec::new(),
            kinds: ResponseKinds::default(),
            open: Gauge::default(),
            in_flight: Gauge::default(),
            slices: Slices::of_run(window_end),
            under_way: 0,
            came: 0,
            longest: 0,
            alike: AlikeTimes::default(),
            watch: Watch::of_window(warmup, window_end),
            measured: 0,
            waiting: 0,
            open_loop,
            window_start: warmup,
            window_end,
            all_sent: Nanos::MAX,
            phase,
            index: 0,
            start: 0,
            boundary: 0,
            due: 0,
            responses: 0,
            spent_at_start: Spent::default(),
            pauses: Pauses::default(),
            steps: Vec::with_capacity(16),
            next_step: STEP,
            responses_at_step: 0,
        };
        recorder.bound(recorder.boundary_after(0));
        recorder
    }

    /// Responses are counted by kind for each endpoint of `mix`; attempts are logged if it has
    /// endpoints or flows.
    pub(crate) fn counting_by_endpoint(mut self, mix: &Mix) -> Self {
        self.kinds = ResponseKinds::of(mix);
        if !mix.is_empty() {
            (self.logs_attempts, self.attempts, self.flow_of) =
                (true, AttemptLog::with_room(), flow_of(mix));
        }
        self
    }

    /// All requests are due before `end`.
    pub(crate) fn all_due(mut self, end: Option<Nanos>) -> Self {
        self.all_sent = end.map_or(Nanos::MAX, |end| end.saturating_add(LEAVES_WITHIN));
        self
    }

    #[inline]
    fn log(&mut self, entry: LogEntry) {
        if self.logs_attempts {
            self.attempts.add(entry);
        }
    }

    /// When the recorder must be called next: the end of an interval, of its slice or of a sample.
    pub(crate) fn next(&self) -> Nanos {
        self.slices.end().min(self.next_step)
    }

    /// When the interval that is open ends.
    pub(crate) fn boundary(&self) -> Nanos {
        self.boundary
    }

    /// Whether an interval or a slice other than the window's last is over and not yet closed: what happens
    /// at `now` belongs to the next one. The window's last also counts what leaves late.
    #[inline]
    pub(crate) fn behind(&self, now: Nanos) -> bool {
        now >= self.slices.end() && self.slices.end() != self.window_end
    }

    /// Whether an attempt due then is one of the measured window.
    #[inline]
    pub(crate) fn measures(&self, due: Nanos) -> bool {
        due >= self.window_start
    }

    /// No request may be sent from here on.
    pub(crate) fn end_window(&mut self, at: Nanos) {
        self.window_end = self.window_end.min(at);
        self.watch.end_window(at);
        self.bound(self.boundary.min(self.window_end.max(self.slices.start())));
    }

    pub(crate) fn window_end(&self) -> Nanos {
        self.window_end
    }

    /// Whether an attempt due then counts in the interval that is open now.
    #[inline]
    pub(crate) fn counts(&self, due: Nanos) -> bool {
        due >= self.window_start || self.phase == Phase::Warmup
    }

    /// An arrival was taken up at `now`.
    #[inline]
    pub(crate) fn taken_up(&mut self, due: Nanos, now: Nanos) {
        self.due += 1;
        if self.counts(due) {
            self.tally.late.record(now.saturating_sub(due));
        }
    }

    /// A request was made.
    #[inline]
    pub(crate) fn launched(&mut self, flight: InFlight) {
        self.under_way += 1;
        self.tally.sent += 1;
        self.tally.sent_after += u64::from(flight.sent >= self.all_sent);
        self.measured += u64::from(self.measures(flight.due));
    }

    /// Adds `requests` that were handed to the kernel at `at`.
    pub(crate) fn handed_over(&mut self, requests: i32, at: Nanos) {
        self.in_flight.step(at, requests);
    }

    /// The responses counted since the last call came in one batch, of which the oldest may have waited
    /// for this long, but none for longer than it took.
    #[inline]
    pub(crate) fn observed(&mut self, waited: Nanos) {
        let came = std::mem::take(&mut self.came);
        let waited = waited.min(std::mem::take(&mut self.longest));
        self.tally.observed_late.record_n(waited, came);
    }

    /// A request has ended, whatever its outcome.
    #[inline]
    pub(crate) fn landed(&mut self, flight: InFlight, now: Nanos) {
        self.under_way = self.under_way.saturating_sub(1);
        if flight.handed {
            self.in_flight.step(now, -1);
        }
        self.measured -= u64::from(self.measures(flight.due));
    }

    /// Whether what happens at `now` happens inside the phase that is open.
    #[inline]
    fn in_phase(&self, now: Nanos) -> bool {
        self.phase != Phase::Drain && now < self.window_end
    }

    /// A whole response.
    #[inline]
    pub(crate) fn completed(&mut self, flight: InFlight, response: WholeResponse, now: Nanos) {
        let WholeResponse { first, status, failure, check } = response;
        self.responses += 1;
        let done = self.in_phase(now);
        self.tally.responses_done += u64::from(done);
        let endpoint = endpoint_number(flight.endpoint);
        if !self.counts(flight.due) {
            if done {
                self.log(LogEntry::Done { endpoint });
            }
            return;
        }
        match failure {
            None => self.tally.succeeded += 1,
            Some(class) => self.tally.errors.add(class, 1),
        }
        self.came += 1;
        self.responded(flight, first, now, status);
        let (response, service) = (self.response(flight, now), now.saturating_sub(flight.sent));
        self.longest = self.longest.max(service);
        self.log(LogEntry::Responded { endpoint, status, failure, check, response, service, done });
    }

    /// The head of a response: the name of its media type, and the target of the first redirect.
    #[inline]
    pub(crate) fn look_at(&mut self, head: &ResponseHead<'_>) {
        if !self.kinds.just_named(head.media_type) || (300..400).contains(&head.status) {
            self.look_closely(head);
        }
    }

    #[cold]
    fn look_closely(&mut self, head: &ResponseHead<'_>) {
        let text = |name, most| head.headers.get(name).map(|value| words(value, most));
        self.kinds.names(head.media_type, || text("content-type", TYPE));
        if (300..400).contains(&head.status) && self.tally.location.is_none() {
            self.tally.location = text("location", LOCATION);
        }
    }

    /// done - due, which in a closed loop is done - sent.
    #[inline]
    fn response(&self, flight: InFlight, done: Nanos) -> Nanos {
        done.saturating_sub(if self.open_loop { flight.due } else { flight.sent })
    }

    /// An attempt that had no whole response in time: it counts as waited for at least `timeout`, also
    /// where it was sent behind another on its connection and can have no response any more.
    pub(crate) fn timed_out(&mut self, flight: InFlight, timeout: Nanos, now: Nanos) {
        if self.counts(flight.due) {
            let done = now.max(flight.sent.saturating_add(timeout));
            self.tally.errors.add(ErrorClass::Timeout, 1);
            self.waited(flight, done);
            let (response, service) =
                (self.response(flight, done), done.saturating_sub(flight.sent));
            let endpoint = endpoint_number(flight.endpoint);
            self.log(LogEntry::TimedOut { endpoint, response, service });
        }
    }

    /// An attempt failed without a response. `sample` says how, for the first of its class.
    pub(crate) fn failed(
        &mut self,
        attempt: Attempt,
        class: ErrorClass,
        sample: impl FnOnce() -> String,
    ) {
        if self.counts(attempt.due) {
            self.tally.errors.add(class, 1);
            self.log(LogEntry::Failed { endpoint: endpoint_number(attempt.endpoint), class });
        }
        self.keep_sample(class, sample);
    }

    /// Keeps a description of the first failure of a class.
    pub(crate) fn keep_sample(&mut self, class: ErrorClass, sample: impl FnOnce() -> String) {
        if !self.tally.samples.contains_key(class.name()) {
            self.tally.samples.insert(class.name().to_owned(), sample());
        }
    }

    /// Keeps the first failed response of an endpoint.
    pub(crate) fn sample(&mut self, endpoint: u32, words: String) {
        self.attempts.sample(endpoint_number(endpoint), words);
    }

    /// An arrival was dropped: it had waited too long, or the window ended first.
    pub(crate) fn unsent(&mut self, attempt: Attempt, waited: Option<Nanos>) {
        if self.counts(attempt.due) {
            self.tally.unsent += 1;
            if let Some(waited) = waited {
                self.tally.response.record(waited);
                self.slices.record_n(waited, 1);
            }
            self.log(LogEntry::Unsent { endpoint: endpoint_number(attempt.endpoint), waited });
        }
    }

    /// An attempt was still open when the run ended.
    pub(crate) fn unfinished(&mut self, flight: InFlight) {
        if self.counts(flight.due) {
            self.tally.unfinished += 1;
            self.log(LogEntry::Unfinished { endpoint: endpoint_number(flight.endpoint) });
        }
    }

    /// Samples throughput if a step has passed.
    pub(crate) fn step(&mut self, now: Nanos) {
        if now < self.next_step {
            return;
        }
        let elapsed = now.saturating_sub(self.next_step - STEP).max(1);
        let responses = self.responses.wrapping_sub(self.responses_at_step);
        let per_s = u128::from(responses) * u128::from(SECOND) / u128::from(elapsed);
        self.steps.push(per_s.min(u128::from(u32::MAX)) as u32);
        self.responses_at_step = self.responses;
        self.next_step = now + STEP;
    }

    /// The worker was not running from `from` to `to`.
    pub(crate) fn paused(&mut self, (from, to): (Nanos, Nanos)) {
        self.pauses.add(from.max(self.start), to);
    }

    /// Closes slices that are over, and the interval if its end has come; then opens the next with `fresh`.
    pub(crate) fn advance(
        &mut self,
        now: Nanos,
        spent: impl FnOnce() -> Spent,
        fresh: impl FnOnce() -> IntervalBuffers,
    ) -> Option<WorkerInterval> {
        while now >= self.slices.end() && self.slices.end() < self.boundary {
            self.close_slice(self.slices.end());
            self.bound(self.boundary);
        }
        (now >= self.boundary).then(|| self.close_at(self.boundary, now, spent(), fresh()))
    }

    /// Closes the interval at `end`, even before its planned end.
    pub(crate) fn close(
        &mut self,
        end: Nanos,
        spent: Spent,
        fresh: IntervalBuffers,
    ) -> WorkerInterval {
        self.close_at(end, end, spent, fresh)
    }

    /// Closes the interval at `end`, seen at `now`.
    fn close_at(
        &mut self,
        end: Nanos,
        now: Nanos,
        spent: Spent,
        fresh: IntervalBuffers,
    ) -> WorkerInterval {
        self.close_slice(end);
        let mut tally = std::mem::replace(&mut self.tally, fresh.tally);
        let attempts = std::mem::replace(&mut self.attempts, fresh.attempts);
        self.kinds.hand_over(&mut tally.kinds);
        tally.open = self.open.take(end);
        let (slices, in_flight) = self.slices.take();
        tally.in_flight = in_flight;
        let pauses = self.pauses.take(end);
        tally.presence = self.watch.take(end, now);
        let used = WorkerUse {
            cpu_ns: spent.cpu_ns.saturating_sub(self.spent_at_start.cpu_ns),
            queued_ns: spent.queued_ns.saturating_sub(self.spent_at_start.queued_ns),
            wall_ns: spent.wall_ns.saturating_sub(self.spent_at_start.wall_ns),
            paused_ns: pauses.sum_ns,
            paused_max_ns: pauses.max_ns,
            pauses: pauses.count,
            page_ins: spent.page_ins.saturating_sub(self.spent_at_start.page_ins),
            responses: std::mem::take(&mut self.responses),
            steps: std::mem::take(&mut self.steps),
        };
        let part = WorkerInterval {
            index: self.index,
            phase: self.phase,
            start_ns: self.start,
            end_ns: end,
            due: std::mem::take(&mut self.due),
            slices,
            buffers: IntervalBuffers { tally, attempts },
            used,
        };
        // The count starts again at 0 in the middle of a sample, so its start becomes negative (it wraps).
        self.responses_at_step = self.responses_at_step.wrapping_sub(part.used.responses);
        self.index += 1;
        (self.start, self.spent_at_start) = (end, spent);
        let before = self.phase;
        self.phase = match end {
            end if end < self.window_start => Phase::Warmup,
            end if end < self.window_end => Phase::Window,
            _ => Phase::Drain,
        };
        if (before, self.phase) == (Phase::Warmup, Phase::Window) {
            self.kinds.restart();
        }
        self.bound(self.boundary_after(end));
        part
    }

    /// Closes the intervals of a worker that stopped before `now`: its window ends at `end`, and
    /// requests in flight and waiting arrivals stay so. The processor time of its thread is not known.
    pub(crate) fn abandoned(mut self, end: Nanos, now: Nanos) -> Vec<WorkerInterval> {
        self.end_window(end);
        let mut intervals = Vec::new();
        while let Some(part) = self.advance(now, Spent::default, IntervalBuffers::default) {
            intervals.push(part);
        }
        self.tally.unfinished += self.measured;
        self.tally.unsent += self.waiting;
        intervals.push(self.close(now, Spent::default(), IntervalBuffers::default()));
        intervals
    }

    /// The open interval ends at `boundary`, its slice no later, and with them the gauges' integrals: the
    /// window's last interval also counts requests that leave after it.
    fn bound(&mut self, boundary: Nanos) {
        self.boundary = boundary;
        self.slices.bound(boundary, self.phase);
        self.open.until(boundary);
        self.in_flight.until(self.slices.end());
    }

    /// Intervals are a second long and end where a phase does.
    fn boundary_after(&self, start: Nanos) -> Nanos {
        let phase_end = match self.phase {
            Phase::Warmup => self.window_start,
            Phase::Window => self.window_end,
            Phase::Drain => Nanos::MAX,
        };
        (start + SECOND).min(phase_end)
    }

    /// The run starts: gauges begin at their level, processor time counts from `spent`, and the bytes
    /// of earlier TLS handshakes do not count.
    pub(crate) fn start(&mut self, spent: Spent) {
        (self.tally.bytes_read, self.tally.bytes_written) = (0, 0);
        self.spent_at_start = spent;
        let open = self.open.value();
        self.open = Gauge::default();
        self.open.until(self.boundary);
        self.open.step(0, open as i32);
        // Handshakes have moved it on to instants that counted from when opening began.
        self.in_flight = Gauge::default();
        self.in_flight.until(self.slices.end());
    }
}

#[cfg(test)]
mod tests;
