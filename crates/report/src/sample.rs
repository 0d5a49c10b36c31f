//! Runs and sweeps of made-up, fixed numbers, made by `RunBuilder` like real ones, for tests and gallery.

use std::collections::BTreeMap;

use model::capacity::{
    self, CapacitySearch, Judged, Margin, Outcome, Purpose, SearchStep, Settings, Step, Unit,
};
use model::environment::Environment;
use model::environment::Program;
use model::histogram::Latencies;
use model::interval::{GaugeSum, Interval, Phase, Tally, WorkerUse};
use model::objective::{Abort, Judgement, Ruling};
use model::outcome::ErrorClass;
use model::plan::{Arriving, Io, Plan};
use model::run::{Run, RunBuilder, RunHead};
use model::schedule::Arrivals;
use model::success::StatusRanges;
use model::sweep::{Level, LevelKind, Sweep};
use model::units::SECOND;
use model::validity::{Reason, ReasonCode, Validity, Verdict};
use verdict::capacity::{Asked, Ending, Reading, Search, load_line, words};

fn environment() -> Environment {
    let sysctls = [("net.core.somaxconn", "4096"), ("net.ipv4.ip_local_port_range", "32768 60999")];
    Environment {
        kernel: "Linux 6.1.0-13-amd64 x86_64".into(),
        cpu_model: "AMD EPYC 7B13".into(),
        cpus: 8,
        cpus_allowed: 2,
        memory_bytes: 24 << 30,
        open_files: 20_000,
        open_files_hard: 20_000,
        sysctls: sysctls.map(|(k, v)| (k.into(), v.into())).into(),
    }
}

fn plan(connections: u32, rate_per_s: Option<f64>, seconds: u64) -> Plan {
    Plan {
        url: "http://127.0.0.1:8080/healthz".into(),
        method: "GET".into(),
        headers: vec![("Authorization".into(), "***".into())],
        body_bytes: 0,
        connections,
        threads: 2,
        rate_per_s,
        arrivals: rate_per_s.map(|_| Arrivals::Poisson),
        lanes: 4096,
        seed: 7,
        duration_ns: Some(seconds * SECOND),
        requests: None,
        warmup_ns: 2 * SECOND,
        ramp_ns: 0,
        timeout_ns: 30 * SECOND,
        pace_ns: None,
        think_ns: None,
        keepalive: true,
        pipeline: 1,
        max_inflight: connections,
        io: Io::Uring,
        spin: false,
        granularity_ns: 50_000,
        addresses: vec!["127.0.0.1:8080".into()],
        sources: Vec::new(),
        tls: None,
        success: StatusRanges::default(),
        mix: model::Mix::default(),
        stages: Vec::new(),
        expect_body: None,
        recorded: None,
    }
}

fn head(plan: Plan) -> RunHead {
    let command = ["plimsoll", "run", "-c", "200", "-H", "Authorization: ***", &plan.url];
    RunHead {
        version: "0.1.0".into(),
        started_at: "2026-11-21T08:30:00Z".into(),
        command: command.map(String::from).into(),
        environment: environment(),
        plan,
    }
}

/// Numbers that look random and never change: a multiplicative generator, shares in 0..1.
struct Draws(u64);

impl Draws {
    fn share(&mut self) -> f64 {
        const STEP: (u64, u64) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
        self.0 = self.0.wrapping_mul(STEP.0).wrapping_add(STEP.1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Latencies as queues have them: a floor, an exponential body, now and then a far longer one.
fn fill(latencies: &mut Latencies, draws: &mut Draws, n: u64, mean_ns: f64) {
    const DRAWN: u64 = 400;
    for i in 0..DRAWN.min(n) {
        let rare = if draws.share() < 0.004 { 9.0 } else { 1.0 };
        let nanos = mean_ns * (0.25 - 0.75 * (1.0 - draws.share()).ln()) * rare;
        let weight = n / DRAWN.min(n) + u64::from(i < n % DRAWN.min(n));
        latencies.record_n(nanos as u64, weight as u32);
    }
}

/// What the seconds of a run are made of.
struct Shape {
    plan: Plan,
    per_s: u64,
    mean_ns: f64,
    /// A second in which the server stalls, if any.
    stall_at: Option<u32>,
    /// Attempts of each class that fail over the run.
    errors: Vec<(ErrorClass, u64, &'static str)>,
}

impl Shape {
    fn run(&self) -> Run {
        let mut builder = RunBuilder::new(head(self.plan.clone()));
        let mut draws = Draws(42);
        let window = self.plan.duration_ns.unwrap_or(SECOND) / SECOND;
        let warmup = self.plan.warmup_ns / SECOND;
        for index in 0..(warmup + window) as u32 {
            let phase = if u64::from(index) < warmup { Phase::Warmup } else { Phase::Window };
            builder.add(&self.second(index, phase, &mut draws));
        }
        builder.finish(false)
    }

    fn second(&self, index: u32, phase: Phase, draws: &mut Draws) -> Interval {
        let stalled = self.stall_at.is_some_and(|at| (at..at + 2).contains(&index));
        let wobble = 0.97 + 0.06 * draws.share();
        let scale = if stalled { 0.45 } else { 1.0 };
        let done = (self.per_s as f64 * wobble * scale) as u64;
        let mut tally = self.tally(done, stalled, draws);
        if index == self.stall_at.unwrap_or(2) + 1 {
            self.fail(&mut tally);
        }
        let start_ns = u64::from(index) * SECOND;
        Interval {
            index,
            phase,
            start_ns,
            end_ns: start_ns + SECOND,
            due: self.plan.rate_per_s.map_or(0, |rate| rate as u64),
            tally,
            workers: (0..self.plan.threads).map(|w| worker(done / 2, w, draws)).collect(),
            machine: None,
        }
    }

    fn tally(&self, done: u64, stalled: bool, draws: &mut Draws) -> Tally {
        let mut tally =
            Tally { sent: done, succeeded: done, answers_done: done, ..Tally::default() };
        fill(&mut tally.service, draws, done, self.mean_ns);
        fill(&mut tally.first_byte, draws, done, self.mean_ns * 0.9);
        if self.plan.rate_per_s.is_some() {
            let waiting = if stalled { 60.0 } else { 1.2 };
            fill(&mut tally.response, draws, done, self.mean_ns * waiting);
            fill(&mut tally.late, draws, done, 38_000.0);
            fill(&mut tally.wait, draws, done, self.mean_ns * waiting / 10.0);
        } else {
            tally.response = tally.service.clone();
        }
        (0..done).for_each(|_| tally.statuses.record(200));
        tally.answers.record(200, 15, [0x5a; 32]);
        tally.bytes_read = done * 189;
        tally.bytes_written = done * 74;
        tally.connects = if draws.share() < 0.2 { 3 } else { 0 };
        fill(&mut tally.connect, draws, tally.connects, 210_000.0);
        let in_flight = (done as f64 * self.mean_ns / 1e9).min(f64::from(self.plan.connections));
        let area = |level: f64| (level * SECOND as f64) as u128;
        tally.open = GaugeSum {
            area_ns: area(f64::from(self.plan.connections)),
            max: self.plan.connections,
        };
        tally.in_flight = GaugeSum {
            area_ns: area(in_flight),
            max: self.plan.connections.min((in_flight * 1.9) as u32 + 1),
        };
        tally
    }

    fn fail(&self, tally: &mut Tally) {
        for &(class, n, sample) in &self.errors {
            tally.errors.add(class, n);
            tally.samples.insert(class.name().into(), sample.into());
            if class == ErrorClass::Status {
                (0..n).for_each(|_| tally.statuses.record(503));
            }
        }
    }
}

fn worker(answers: u64, index: u32, draws: &mut Draws) -> WorkerUse {
    let busy = 0.58 + 0.05 * f64::from(index) + 0.04 * draws.share();
    let steps = (0..10).map(|_| (answers as f64 * (0.92 + 0.16 * draws.share())) as u32).collect();
    let cpu_ns = (busy * SECOND as f64) as u64;
    WorkerUse { cpu_ns, wall_ns: SECOND, answers, steps, ..WorkerUse::default() }
}

fn reason(code: ReasonCode, consequence: Verdict, text: &str) -> Reason {
    Reason { code, consequence, text: text.into() }
}

/// A closed loop of two endpoints and a flow; one endpoint sometimes fails.
pub fn mixed() -> Run {
    let mut run = closed_loop();
    let endpoint = |name: &str, part: f64, failed: u64| model::EndpointRun {
        name: name.into(),
        attempts: 100_000,
        succeeded: 100_000 - failed,
        errors: model::ErrorCounts { status: failed, ..Default::default() },
        share_asked: Some(part),
        share: Some(part),
        response_ns: run.response_ns,
        sample: (failed > 0).then(|| "the server answered 503: {\"error\":\"busy\"}".to_owned()),
        ..Default::default()
    };
    run.endpoints = vec![endpoint("GET /items/{id}", 0.6, 0), endpoint("POST /orders", 0.4, 7)];
    run.flows = vec![model::FlowRun {
        name: "checkout".into(),
        started: 1200,
        failed: 7,
        failed_at: [("POST /orders".to_owned(), 7)].into(),
        session_ns: run.response_ns,
        ..Default::default()
    }];
    run
}

/// A closed loop with a few failures; VALID with a note.
pub fn closed_loop() -> Run {
    let shape = Shape {
        plan: plan(100, None, 30),
        per_s: 48_000,
        mean_ns: 2_000_000.0,
        stall_at: None,
        errors: vec![
            (ErrorClass::Timeout, 64, "no whole answer within 30s"),
            (ErrorClass::Read, 5, "connection reset by peer after 0 bytes"),
        ],
    };
    let mut run = shape.run();
    run.validity = Validity::of(vec![reason(
        ReasonCode::SharedCores,
        Verdict::Valid,
        "Generator and server may have shared the same 2 cores; a server of its own may carry more.",
    )]);
    run
}

/// An open loop whose server stalls for two seconds, and whose generator fell behind; INVALID.
pub fn open_loop() -> Run {
    let shape = Shape {
        plan: plan(200, Some(20_000.0), 60),
        per_s: 20_200,
        mean_ns: 680_000.0,
        stall_at: Some(31),
        errors: vec![
            (ErrorClass::Status, 90, "503 Service Unavailable"),
            (ErrorClass::Connect, 12, "127.0.0.1:8080: connection refused"),
        ],
    };
    let mut run = shape.run();
    run.validity = Validity::of(vec![
        reason(
            ReasonCode::AchievedBelowOffered,
            Verdict::Invalid,
            "The generator sent 19,842/s of the 20,000/s that the schedule asked for (99.2 %, wanted \
             99.9 %). Lower the rate, add workers (-t), or move the generator to a machine of its own.",
        ),
        reason(
            ReasonCode::LateSends,
            Verdict::LowerBound,
            "Requests left up to 350us late at p99, against a p99 of 4.1ms.",
        ),
    ]);
    run
}

/// A run in which nothing was answered, fed with hostile text.
pub fn hostile() -> Run {
    let mut plan = plan(1, None, 1);
    plan.url = "http://h/\"><script>alert(1)</script>\u{1b}[31m".into();
    plan.warmup_ns = 0;
    plan.headers = vec![("X-</script>".into(), "<img src=http://evil/>".into())];
    let mut head = head(plan);
    head.command = vec!["plimsoll".into(), "</script><script>alert(2)//".into(), "it's".into()];
    head.environment.cpu_model = "<b>cpu</b>".into();
    let mut tally = Tally { samples: BTreeMap::new(), ..Tally::default() };
    tally.errors.add(ErrorClass::Protocol, 3);
    tally.samples.insert("protocol".into(), "<svg/onload=alert(3)>\u{1b}[2J".into());
    let mut builder = RunBuilder::new(head);
    builder.add(&Interval {
        index: 0,
        phase: Phase::Window,
        start_ns: 0,
        end_ns: SECOND,
        due: 0,
        tally,
        workers: Vec::new(),
        machine: None,
    });
    builder.finish(true)
}

/// A sweep of `levels`: capacity `capacity_per_s`, latency by Little's law, failures at the far end.
pub fn sweep(name: &str, capacity_per_s: f64, levels: &[u32]) -> Sweep {
    let level = |&connections: &u32| {
        let c = f64::from(connections);
        let knee = 80.0;
        let per_s = capacity_per_s * c / (c + knee) / (1.0 + c / 90_000.0);
        let mean_ns = c / per_s * 1e9 * 0.98;
        let failing = if connections >= 10_000 { u64::from(connections) / 40 } else { 0 };
        let shape = Shape {
            plan: Plan { warmup_ns: 0, ..plan(connections, None, 5) },
            per_s: per_s as u64,
            mean_ns,
            stall_at: Some(2),
            errors: vec![(ErrorClass::Timeout, failing, "no whole answer within 30s")],
        };
        let mut run = Shape { stall_at: None, ..shape }.run();
        run.validity = Validity::of(match connections {
            20_000.. => vec![reason(
                ReasonCode::WorkersSaturated,
                Verdict::LowerBound,
                "Both workers were busy 98 % of the time: the server carries at least this.",
            )],
            _ => Vec::new(),
        });
        Level { level: c, run }
    };
    Sweep {
        schema: model::sweep::SCHEMA.into(),
        plimsoll: Program { version: "0.1.0".into() },
        name: name.into(),
        url: "http://127.0.0.1:8080/healthz".into(),
        started_at: "2026-11-21T08:30:00Z".into(),
        command: vec!["plimsoll".into(), "sweep".into(), "http://127.0.0.1:8080/healthz".into()],
        kind: LevelKind::Concurrency,
        objective_mean_ns: SECOND / 2,
        ended: Some("QPS grew by less than 3 % over three doublings".into()),
        levels: levels.iter().map(level).collect(),
    }
}

/// A search that found 12,400/s, limited by p99, of a server that collapses; and what to read of it.
pub fn search() -> (CapacitySearch, Reading) {
    use Outcome::{Broke, Held, Unclear};
    let steps = [
        (Purpose::Probe, 64.0, Held, 9.0),
        (Purpose::Search, 11_200.0, Held, 210.0),
        (Purpose::Search, 14_000.0, Broke, 4_200.0),
        (Purpose::Search, 12_600.0, Unclear, 498.0),
        (Purpose::Hold, 12_400.0, Held, 460.0),
        (Purpose::Search, 12_800.0, Broke, 640.0),
        (Purpose::Overload, 19_000.0, Broke, 9_000.0),
        (Purpose::Return, 12_400.0, Broke, 7_000.0),
        (Purpose::Return, 9_920.0, Broke, 6_000.0),
        (Purpose::Return, 6_200.0, Held, 90.0),
    ];
    let mut record = empty_search();
    for (nth, (purpose, level, outcome, p99_ms)) in (1..).zip(steps) {
        let step = Step {
            purpose,
            level,
            rest_ns: SECOND,
            warmup_ns: SECOND,
            window_ns: if purpose == Purpose::Hold { 60 * SECOND } else { 10 * SECOND },
        };
        let judged = judged(level, outcome, p99_ms);
        let file = format!("steps/{nth:02}-{}-{level}.json", purpose.name());
        record.steps.push(SearchStep { step, judged, took_ns: 12 * SECOND, file });
    }
    let search = Search::of_record(&record);
    let reading = words::read(&search, Some(Ending::Found));
    record.outcome = Some(reading.outcome.clone());
    let answer = search.answer();
    record.load_line = answer.map(|at| load_line(&record, &Asked::default(), &at, &open_loop()));
    (record, reading)
}

fn empty_search() -> CapacitySearch {
    let url = "http://127.0.0.1:8080/healthz";
    CapacitySearch {
        schema: capacity::SCHEMA.into(),
        plimsoll: Program { version: "0.1.0".into() },
        url: url.into(),
        started_at: "2026-11-21T08:30:00Z".into(),
        command: ["plimsoll", "capacity", url].map(String::from).into(),
        settings: Settings {
            kind: LevelKind::Rate,
            arriving: Arriving::Requests,
            arrivals: Some(Arrivals::Uniform),
            connections: 1000,
            most: None,
            precision: 0.05,
            step_ns: 10 * SECOND,
            hold_ns: 60 * SECOND,
            warmup_ns: SECOND,
            rest_ns: SECOND,
            budget_ns: 300 * SECOND,
        },
        objectives: ["p99<500ms", "success>=99%"].map(String::from).into(),
        steps: Vec::new(),
        outcome: None,
        load_line: None,
    }
}

fn judged(level: f64, outcome: Outcome, p99_ms: f64) -> Judged {
    let p99 = Margin {
        objective: "p99<500ms".into(),
        value: p99_ms * 1e6,
        limit: 500e6,
        unit: Unit::Nanoseconds,
        outcome,
        why: (outcome == Outcome::Unclear).then(|| "interval 471ms to 530ms".into()),
    };
    let success = Margin {
        objective: "success>=99%".into(),
        value: 0.999,
        limit: 0.99,
        unit: Unit::Ratio,
        outcome: Outcome::Held,
        why: None,
    };
    Judged {
        outcome,
        margins: vec![p99, success],
        requests_per_s: level.min(13_000.0),
        succeeded_per_s: level.min(13_000.0),
        mean_ns: p99_ms * 2.5e5,
        note: None,
    }
}

/// A judgement of p99, in milliseconds.
fn judgement(objective: &str, ruling: Ruling, ms: [f64; 3], limit_ms: f64, why: &str) -> Judgement {
    let [low, value, high] = ms.map(|ms| ms * 1e6);
    Judgement {
        objective: objective.into(),
        preset: None,
        priority: None,
        ruling,
        unit: Some(model::objective::Unit::Ns),
        limit: Some(limit_ms * 1e6),
        value: Some(value),
        margin: Some(limit_ms * 1e6 - value),
        low: Some(low),
        high: Some(high),
        confidence: Some(0.95),
        times_over: None,
        longer_ns: None,
        reason: why.into(),
    }
}

/// A closed loop judged by objectives of every ruling.
pub fn judged_run() -> Run {
    let blank = judgement("stable", Ruling::Inconclusive, [0.0; 3], 0.0, "Nothing is known.");
    let stable = Judgement {
        unit: None,
        limit: None,
        value: None,
        margin: None,
        low: None,
        high: None,
        confidence: None,
        ..blank
    };
    let objectives = vec![
        judgement(
            "p99<500ms",
            Ruling::Pass,
            [9.1, 9.4, 9.9],
            500.0,
            "Met 51 times over: tuning for this can stop.",
        ),
        judgement("mean<1ms", Ruling::Fail, [1.9, 2.0, 2.1], 1.0, "1.00ms beyond the limit."),
        judgement(
            "p99.9<20ms",
            Ruling::Inconclusive,
            [17.0, 19.0, 22.0],
            20.0,
            "The limit is inside the interval; about 240s more would decide it (-d 270s).",
        ),
        stable,
    ];
    Run { objectives, ..closed_loop() }
}

/// A run that its user's rule ended.
pub fn aborted() -> Run {
    let abort = Abort {
        rule: "p99>2s for 10s".into(),
        rate_not_reached: false,
        at_ns: 20 * SECOND,
        text: "p99>2s held for 10.0s, at last with 3.10s".into(),
    };
    Run { interrupted: true, aborted: Some(abort), ..closed_loop() }
}
