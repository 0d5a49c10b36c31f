//! What happened: one serialisable [`Run`], `plimsoll.run/1`, that every later command reads.
//! [`RunBuilder`] makes it from intervals, whether they come from the engine or from a journal.

mod figures;
mod pace;
mod steps;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, AnswerTally};
use crate::blocks::{Block, BlockSums};
use crate::course::{Course, Dip};
use crate::endpoint::{EndpointRun, FlowRun, MixSums};
use crate::environment::Environment;
use crate::histogram::Latencies;
use crate::interval::{GaugeSum, Interval, Phase, Tally};
use crate::kinds::{AnswerChange, AnswerKind, Kinds};
use crate::machine::MachineSum;
use crate::objective::{Abort, Judgement};
use crate::percentile::Summary;
use crate::plan::Plan;
use crate::presence::{Presence, PresenceSums, PresenceTally};
use crate::timeline::{Point, Timeline};
use crate::units::{Nanos, SECOND};
use crate::users::{UserTally, Users};
use crate::validity::Validity;

pub use figures::{Concurrency, Generator, Rates, Totals, WorkerShare};
pub use pace::SessionPace;
pub use steps::StepSummary;

use steps::WorkerSum;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.run/1";

/// One run and everything known about it. Times are integers in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// `plimsoll.run/1`.
    pub schema: String,
    /// The program that measured.
    pub plimsoll: Program,
    /// When the run started, RFC 3339 in UTC.
    pub started_at: String,
    /// The command line, secrets masked.
    pub command: Vec<String>,
    /// The generator's machine.
    pub environment: Environment,
    /// What was to be sent.
    pub plan: Plan,
    /// Whether the window was ended early.
    pub interrupted: bool,
    /// Counts over the measured window.
    pub totals: Totals,
    /// What the counts come to per second.
    pub rates: Rates,
    /// Connections and requests at once.
    pub concurrency: Concurrency,
    /// How the users, that is the connections, were served; absent where that was not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Users>,
    /// done - due: what a user who arrived on time waited. Attempts that timed out or were dropped
    /// unsent count with the time they had waited.
    pub response_ns: Summary,
    /// done - sent: what server and network took.
    pub service_ns: Summary,
    /// taken - due: what the generator itself added.
    pub late_ns: Summary,
    /// For how long each answer may have waited in its socket until the generator looked, at most: a part of
    /// its service time that need not be the server's. Empty in runs measured before it was kept.
    #[serde(default)]
    pub observed_late_ns: Summary,
    /// sent - taken: no connection was free, or the generator was still making the request.
    pub wait_ns: Summary,
    /// first byte - sent.
    pub first_byte_ns: Summary,
    /// TCP connection set-up, from the start of the run on.
    pub connect_ns: Summary,
    /// TLS handshakes, from the start of the run on.
    pub tls_ns: Summary,
    /// The commonest answer.
    pub answer: Option<Answer>,
    /// The kinds of answers that succeeded, at most 64: of each endpoint first what came first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_kinds: Vec<AnswerKind>,
    /// Where answers changed for good, or are two things at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_changes: Vec<AnswerChange>,
    /// Where the first redirect led, when one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<String>,
    /// What generating the load cost.
    pub generator: Generator,
    /// Stretches in which the server left its own course, in order.
    #[serde(default)]
    pub dips: Vec<Dip>,
    /// Second by second.
    pub timeline: Vec<Point>,
    /// The measured window in at most 64 stretches of equal length, to tell how far the figures can
    /// be off; empty in runs measured before blocks were kept.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Whether the server was there over the window; absent in runs measured before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
    /// Each kind of request, in the plan's order; empty for a load of one request. Of more than 1,000
    /// the last is `(others)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<EndpointRun>,
    /// Each kind of session, in the plan's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowRun>,
    /// HdrHistogram V2 compressed, base64, by name: `response`, `service`, `late`,
    /// `observed_late`, `wait`, `first_byte`, `connect`, `tls`; those without samples are absent.
    pub histograms: BTreeMap<String, String>,
    /// Whether the figures may be believed.
    pub validity: Validity,
    /// What became of the objectives that the run was judged by, in their order.
    #[serde(default)]
    pub objectives: Vec<Judgement>,
    /// The rule that ended the run early, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aborted: Option<Abort>,
    /// Why what was to be sent came to an end before the run did: a script's error, a pool that ran
    /// out. The figures are those of the run so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<String>,
}

impl Run {
    /// A histogram of the run by name.
    ///
    /// # Errors
    /// A sentence, when the stored text is damaged.
    pub fn histogram(&self, name: &str) -> Result<Latencies<u64>, String> {
        match self.histograms.get(name) {
            Some(text) => {
                Latencies::from_base64(text).map_err(|e| format!("histogram {name}: {e}"))
            }
            None => Ok(Latencies::new()),
        }
    }
}

/// The program that made a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Its version.
    pub version: String,
}

/// What is known of a run before its first interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    /// The program's version.
    pub version: String,
    /// See [`Run::started_at`].
    pub started_at: String,
    /// See [`Run::command`].
    pub command: Vec<String>,
    /// See [`Run::environment`].
    pub environment: Environment,
    /// See [`Run::plan`].
    pub plan: Plan,
}

/// Makes a [`Run`] of intervals in their order. Memory is bounded: histograms of fixed size and at
/// most 7,200 points of timeline and 64 blocks.
#[derive(Debug)]
pub struct RunBuilder {
    head: RunHead,
    sums: Sums,
    timeline: Timeline,
    course: Course,
    kinds: Kinds,
    blocks: BlockSums,
    presence: PresenceSums,
    mix: MixSums,
}

#[derive(Debug, Default)]
struct Sums {
    totals: Totals,
    window_bytes_read: u64,
    sent: u64,
    answers_done: u64,
    open: GaugeSum,
    in_flight: GaugeSum,
    response: Latencies<u64>,
    service: Latencies<u64>,
    late: Latencies<u64>,
    observed_late: Latencies<u64>,
    wait: Latencies<u64>,
    first_byte: Latencies<u64>,
    connect: Latencies<u64>,
    tls: Latencies<u64>,
    answers: AnswerTally,
    users: UserTally,
    location: Option<String>,
    workers: Vec<WorkerSum>,
    machine: MachineSum,
}

impl RunBuilder {
    /// A run without intervals yet.
    pub fn new(head: RunHead) -> Self {
        Self {
            mix: MixSums::of(&head.plan.mix),
            course: Course::empty(&head.plan.mix),
            kinds: Kinds::default(),
            head,
            sums: Sums::default(),
            timeline: Timeline::default(),
            blocks: BlockSums::default(),
            presence: PresenceSums::default(),
        }
    }

    /// Adds the next interval.
    pub fn add(&mut self, interval: &Interval) {
        self.timeline.add(interval);
        self.blocks.add(interval);
        self.presence.add(interval);
        self.kinds.add(interval);
        self.sums.add_connections(&interval.tally);
        if interval.phase != Phase::Warmup {
            self.sums.add_attempts(&interval.tally);
            self.mix.add(interval);
        }
        if interval.phase == Phase::Window {
            self.sums.add_window(interval);
            self.course.add(interval);
        }
    }

    /// The window second by second, finer than the timeline of a long run.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// The answers by kind over the window.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The run so far. Its dips are not looked for and its validity is [`Validity::not_judged`]
    /// until `verdict` has concluded it.
    pub fn finish(self, interrupted: bool) -> Run {
        let Self { head, sums, timeline, course: _, kinds, blocks, presence, mix } = self;
        let RunHead { version, started_at, command, environment, plan } = head;
        let environment_cpus = environment.cpus_allowed;
        let totals = &sums.totals;
        let (endpoints, flows) = mix.finish(&plan.mix, totals.attempts, totals.duration_ns);
        Run {
            schema: SCHEMA.to_owned(),
            plimsoll: Program { version },
            started_at,
            command,
            environment,
            interrupted,
            rates: sums.rates(plan.rate_per_s.is_some(), presence.sums()),
            concurrency: sums.concurrency(plan.connections),
            users: sums.users.finish(),
            response_ns: sums.response.summary(),
            service_ns: sums.service.summary(),
            late_ns: sums.late.summary(),
            observed_late_ns: sums.observed_late.summary(),
            wait_ns: sums.wait.summary(),
            first_byte_ns: sums.first_byte.summary(),
            connect_ns: sums.connect.summary(),
            tls_ns: sums.tls.summary(),
            answer: sums.answers.commonest(),
            answer_kinds: kinds.listed(),
            answer_changes: Vec::new(),
            generator: sums.generator(environment_cpus),
            dips: Vec::new(),
            histograms: sums.histograms(),
            timeline: timeline.finish(),
            blocks: blocks.finish(),
            presence: Some(presence.finish()),
            endpoints,
            flows,
            redirected_to: sums.location,
            totals: sums.totals,
            plan,
            validity: Validity::not_judged(),
            objectives: Vec::new(),
            aborted: None,
            halted: None,
        }
    }
}

impl Sums {
    fn add_connections(&mut self, tally: &Tally) {
        self.totals.connects = self.totals.connects.saturating_add(tally.connects);
        self.totals.server_closes = self.totals.server_closes.saturating_add(tally.server_closes);
        self.users.merge(&tally.users);
        if self.location.is_none() {
            self.location.clone_from(&tally.location);
        }
        self.connect.merge(&tally.connect);
        self.tls.merge(&tally.tls);
        if tally.tls.count() > 0 {
            let sum = self.totals.tls_resumed.get_or_insert_default();
            *sum = sum.saturating_add(tally.tls_resumed);
        }
        for (name, n) in &tally.limits {
            let sum = self.totals.limits.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*n);
        }
        for (class, sample) in &tally.samples {
            self.totals.error_samples.entry(class.clone()).or_insert_with(|| sample.clone());
        }
    }

    fn add_attempts(&mut self, tally: &Tally) {
        let totals = &mut self.totals;
        totals.attempts = totals.attempts.saturating_add(tally.attempts());
        totals.requests = totals.requests.saturating_add(tally.requests());
        totals.succeeded = totals.succeeded.saturating_add(tally.succeeded);
        totals.unsent = totals.unsent.saturating_add(tally.unsent);
        totals.unfinished = totals.unfinished.saturating_add(tally.unfinished);
        totals.errors.merge(&tally.errors);
        totals.bytes_read = totals.bytes_read.saturating_add(tally.bytes_read);
        totals.bytes_written = totals.bytes_written.saturating_add(tally.bytes_written);
        for (status, n) in tally.statuses.seen() {
            let sum = totals.statuses.entry(status).or_default();
            *sum = sum.saturating_add(n);
        }
        self.response.merge(&tally.response);
        self.service.merge(&tally.service);
        self.late.merge(&tally.late);
        self.observed_late.merge(&tally.observed_late);
        self.wait.merge(&tally.wait);
        self.first_byte.merge(&tally.first_byte);
        self.answers.merge(&tally.answers);
    }

    fn add_window(&mut self, interval: &Interval) {
        let tally = &interval.tally;
        let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
        self.totals.duration_ns = self.totals.duration_ns.saturating_add(length_ns);
        self.window_bytes_read = self.window_bytes_read.saturating_add(tally.bytes_read);
        self.sent = self.sent.saturating_add(tally.sent);
        self.answers_done = self.answers_done.saturating_add(tally.answers_done);
        self.open.append(&tally.open);
        self.in_flight.append(&tally.in_flight);
        if let Some(machine) = &interval.machine {
            self.machine.add(machine);
        }
        if self.workers.len() < interval.workers.len() {
            self.workers.resize_with(interval.workers.len(), WorkerSum::default);
        }
        for (sum, used) in self.workers.iter_mut().zip(&interval.workers) {
            sum.add(used);
        }
    }

    fn per_second(&self, count: u64) -> f64 {
        let seconds = self.totals.duration_ns as f64 / SECOND as f64;
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    fn rates(&self, open_loop: bool, presence: &PresenceTally) -> Rates {
        let (attempts, totals) = (self.totals.attempts, &self.totals);
        let of_attempts = |n: u64| (attempts > 0).then(|| n as f64 / attempts as f64);
        let by_attempts = of_attempts(totals.succeeded);
        let success_ratio = match (by_attempts, presence.succeeding()) {
            (Some(by_attempts), Some(by_time)) => Some(by_attempts.min(by_time)),
            (by_attempts, _) => by_attempts,
        };
        let answered = if open_loop { of_attempts(totals.requests) } else { None };
        Rates {
            requests_per_s: self.per_second(self.answers_done),
            offered_per_s: self.per_second(attempts),
            achieved_per_s: self.per_second(self.sent),
            success_ratio,
            attempts_success_ratio: by_attempts.filter(|_| success_ratio != by_attempts),
            available_ratio: answered.or_else(|| presence.available()),
            bytes_read_per_s: self.per_second(self.window_bytes_read),
        }
    }

    fn concurrency(&self, planned: u32) -> Concurrency {
        Concurrency {
            planned,
            open_mean: self.open.mean(self.totals.duration_ns),
            open_max: self.open.max,
            in_flight_mean: self.in_flight.mean(self.totals.duration_ns),
            in_flight_max: self.in_flight.max,
        }
    }

    fn generator(&self, cpus: u32) -> Generator {
        let cpu_ns = self.workers.iter().map(WorkerSum::cpu_ns).fold(0, Nanos::saturating_add);
        let workers = self.workers.iter().map(WorkerSum::share).collect();
        let cpu_ns_per_request =
            if self.answers_done > 0 { cpu_ns as f64 / self.answers_done as f64 } else { 0.0 };
        let machine = self.machine.finish(cpus);
        Generator { cpu_ns, cpu_ns_per_request, workers, machine, ceiling: None }
    }

    fn histograms(&self) -> BTreeMap<String, String> {
        let named = [
            ("response", &self.response),
            ("service", &self.service),
            ("late", &self.late),
            ("observed_late", &self.observed_late),
            ("wait", &self.wait),
            ("first_byte", &self.first_byte),
            ("connect", &self.connect),
            ("tls", &self.tls),
        ];
        let held = named.into_iter().filter(|(_, latencies)| latencies.count() > 0);
        held.map(|(name, latencies)| (name.to_owned(), latencies.to_base64())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::WorkerUse;
    use crate::machine::MachineUse;
    use crate::outcome::ErrorClass;
    use crate::plan::{Io, StatusRanges};

    pub(crate) fn head() -> RunHead {
        RunHead {
            version: "0".into(),
            started_at: "2026-01-01T00:00:00Z".into(),
            command: vec!["plimsoll".into()],
            environment: Environment::default(),
            plan: Plan {
                url: "http://127.0.0.1/".into(),
                method: "GET".into(),
                headers: Vec::new(),
                body_bytes: 0,
                connections: 2,
                threads: 1,
                rate_per_s: None,
                arrivals: None,
                lanes: 4096,
                seed: 1,
                duration_ns: Some(2 * SECOND),
                requests: None,
                warmup_ns: SECOND,
                ramp_ns: 0,
                timeout_ns: 30 * SECOND,
                pace_ns: None,
                think_ns: None,
                keepalive: true,
                pipeline: 1,
                max_inflight: 2,
                io: Io::Simulation,
                spin: false,
                granularity_ns: 0,
                addresses: Vec::new(),
                sources: Vec::new(),
                tls: None,
                success: StatusRanges::default(),
                mix: crate::plan::Mix::default(),
                stages: Vec::new(),
                expect_body: None,
                recorded: None,
            },
        }
    }

    fn interval(index: u32, phase: Phase, answers: u64) -> Interval {
        let mut tally =
            Tally { sent: answers, succeeded: answers, answers_done: answers, ..Tally::default() };
        tally.response.record_n(1_000_000, answers as u32);
        tally.open = GaugeSum { area_ns: 2 * u128::from(SECOND), max: 2 };
        let start_ns = u64::from(index) * SECOND;
        let workers = vec![WorkerUse {
            cpu_ns: SECOND / 2,
            queued_ns: SECOND / 4,
            paused_ns: SECOND / 10,
            paused_max_ns: SECOND / 20,
            pauses: 3,
            wall_ns: SECOND,
            answers,
            steps: vec![90, 110],
        }];
        Interval {
            index,
            phase,
            start_ns,
            end_ns: start_ns + SECOND,
            due: 0,
            tally,
            workers,
            machine: None,
        }
    }

    #[test]
    fn only_the_window_is_counted() {
        let mut builder = RunBuilder::new(head());
        builder.add(&interval(0, Phase::Warmup, 500));
        builder.add(&interval(1, Phase::Window, 100));
        builder.add(&interval(2, Phase::Window, 300));
        let mut drained = interval(3, Phase::Drain, 1);
        drained.tally.answers_done = 0;
        builder.add(&drained);
        let run = builder.finish(false);
        assert_eq!((run.totals.attempts, run.totals.requests), (401, 401));
        assert_eq!(run.rates.requests_per_s, 200.0);
        assert_eq!(run.totals.duration_ns, 2 * SECOND);
        assert_eq!(run.concurrency.open_mean, 2.0);
        assert_eq!(run.concurrency.open_max, 2);
        assert_eq!(run.generator.workers[0].busy_ratio, 0.5);
        assert_eq!(run.generator.workers[0].queued_ratio, 0.25);
        let held = &run.generator.workers[0];
        assert_eq!((held.paused_ratio, held.paused_max_ns, held.pauses), (0.1, SECOND / 20, 6));
        assert_eq!(run.generator.cpu_ns_per_request, 2_500_000.0);
        let steps = run.generator.workers[0].req_per_s;
        assert_eq!((steps.count, steps.mean, steps.stdev, steps.max), (4, 100.0, 10.0, 110.0));
        assert_eq!(run.timeline.len(), 4);
        assert_eq!(run.histogram("response").unwrap().count(), 401);
        let read: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
        assert_eq!(read, run);
    }

    #[test]
    fn a_run_from_before_blocks_is_readable() {
        let mut builder = RunBuilder::new(head());
        builder.add(&interval(0, Phase::Window, 100));
        let mut value = serde_json::to_value(builder.finish(false)).unwrap();
        assert_eq!(value["blocks"].as_array().unwrap().len(), 1);
        value.as_object_mut().unwrap().remove("blocks");
        let read: Run = serde_json::from_value(value).unwrap();
        assert_eq!(read.blocks, []);
    }

    #[test]
    fn blocks_whose_answers_had_another_name_are_readable() {
        let mut builder = RunBuilder::new(head());
        builder.add(&interval(0, Phase::Window, 100));
        let run = builder.finish(false);
        let mut value = serde_json::to_value(&run).unwrap();
        let block = value["blocks"][0].as_object_mut().unwrap();
        let done = block.remove("answers_done").unwrap();
        block.insert("requests".into(), done);
        let read: Run = serde_json::from_value(value).unwrap();
        assert_eq!((&read, read.blocks[0].answers_done), (&run, 100));
    }

    #[test]
    fn sums_of_whatever_a_file_claims_stop_at_their_highest() {
        const MOST: u64 = u64::MAX;
        let mut tally = Tally {
            sent: MOST,
            succeeded: MOST,
            unsent: MOST,
            unfinished: MOST,
            answers_done: MOST,
            bytes_read: MOST,
            bytes_written: MOST,
            connects: MOST,
            server_closes: MOST,
            open: GaugeSum { area_ns: u128::MAX, max: u32::MAX },
            in_flight: GaugeSum { area_ns: u128::MAX, max: u32::MAX },
            ..Tally::default()
        };
        ErrorClass::ALL.into_iter().for_each(|class| tally.errors.add(class, MOST));
        tally.limits.insert("EMFILE".to_owned(), MOST);
        tally.response.record_many(MOST, MOST);
        tally.service.record_many(7, MOST);
        let hash = [0_u8; 32];
        let kind = serde_json::json!([200, 1, hash, MOST]);
        let answers = serde_json::json!({ "kinds": [kind], "others": MOST });
        tally.answers = serde_json::from_value(answers).unwrap();
        let used = WorkerUse {
            cpu_ns: MOST,
            queued_ns: MOST,
            paused_ns: MOST,
            paused_max_ns: MOST,
            pauses: u32::MAX,
            wall_ns: MOST,
            answers: MOST,
            steps: vec![u32::MAX],
        };
        let machine = MachineUse {
            elapsed_ns: MOST,
            busy_ns: MOST,
            own_ns: MOST,
            server_ns: Some(MOST),
            steal_ns: MOST,
            slept_ns: MOST,
            throttled_ns: MOST,
            throttled: MOST,
            stepped_ns: i64::MIN,
            ..MachineUse::default()
        };
        let mut builder = RunBuilder::new(head());
        for (index, start_ns, end_ns) in [(0, 0, MOST), (1, MOST, 0), (2, 1, MOST)] {
            builder.add(&Interval {
                index,
                phase: Phase::Window,
                start_ns,
                end_ns,
                due: MOST,
                tally: tally.clone(),
                workers: vec![used.clone(), used.clone()],
                machine: Some(machine),
            });
        }
        let run = builder.finish(false);
        assert_eq!((run.totals.attempts, run.totals.duration_ns), (MOST, MOST));
        assert_eq!((run.totals.errors.dns, run.totals.limits["EMFILE"]), (MOST, MOST));
        assert_eq!(run.generator.cpu_ns, MOST);
        assert_eq!(run.response_ns.max, MOST);
    }
}
