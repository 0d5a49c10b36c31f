//! Runs a load against a server in virtual time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use engine::{Collector, FirstResponses, Job, RecorderSlot, StartBarrier, Worker, WorkerInterval};
use model::units::{MICROSECOND, SECOND};
use model::{Arrivals, Interval, Io, Nanos, Plan, Run, RunBuilder};
use net::{ConnId, Event, Handler, Net as _, Next, Route};
use testkit::sim::{Actor, Conditions, Delay, HostLimits, SimNet, World, run};
use traffic::{Always, Halt, Supply, WorkerPlace};

/// One way through the network of [`Load::conditions`].
pub const WAY: Nanos = 50 * MICROSECOND;
/// From the start of connecting until the connection stands.
pub const HANDSHAKE: Nanos = 2 * WAY;

/// A server on its host.
pub type Served = (SimNet, Box<dyn Handler<SimNet>>);

/// A load to be driven, in its own world.
#[derive(Debug, Clone)]
pub struct Load {
    pub plan: Plan,
    /// The one request, where nothing else makes any.
    pub request: Vec<u8>,
    pub sources: Option<Arc<dyn Supply>>,
    pub seed: u64,
    pub conditions: Conditions,
    pub limits: HostLimits,
    /// When Ctrl-C is pressed, after the world's beginning.
    pub stop_at: Option<Nanos>,
    /// Work that the workers' hosts do, in nanoseconds so far.
    pub work_ns: Arc<AtomicU64>,
}

/// A closed loop of `connections` users for a second.
pub fn closed(connections: u32) -> Load {
    Load {
        plan: plan(connections),
        request: b"GET / HTTP/1.1\r\nHost: sim\r\n\r\n".to_vec(),
        sources: None,
        seed: 1,
        conditions: Conditions {
            delay: Delay::Fixed(WAY),
            handshake: Delay::Fixed(WAY),
            ..Conditions::default()
        },
        limits: HostLimits::default(),
        stop_at: None,
        work_ns: Arc::default(),
    }
}

/// An open loop at a rate over at most `connections` connections for a second.
pub fn open(rate_per_s: f64, connections: u32) -> Load {
    let mut load = closed(connections);
    load.plan.rate_per_s = Some(rate_per_s);
    load.plan.arrivals = Some(Arrivals::Uniform);
    load
}

impl Load {
    /// With changes to its plan.
    pub fn with(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(&mut self.plan);
        self
    }

    /// With its own source of requests.
    pub fn sending(self, sources: impl Supply + 'static) -> Self {
        Self { sources: Some(Arc::new(sources)), ..self }
    }

    fn source(&self, worker: u32) -> Box<dyn traffic::Source> {
        let worker_place = WorkerPlace { worker, workers: self.plan.threads };
        match &self.sources {
            Some(sources) => sources.source(worker_place),
            None => Always::new(self.request.clone(), false).source(worker_place),
        }
    }
}

pub fn address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 80))
}

/// Intervals kept of a load beside the run they make: each has histograms of its own.
const KEPT: usize = 256;
/// How often intervals are collected.
const COLLECT_EVERY: Nanos = 10 * SECOND;
/// Longest that a load may take beyond its window, in virtual time.
const PATIENCE: Nanos = 7200 * SECOND;

/// The result of a load.
#[derive(Debug)]
pub struct Outcome {
    pub run: Run,
    /// The first [`KEPT`].
    pub intervals: Vec<Interval>,
    /// When the last worker was done, after the world's beginning.
    pub took: Nanos,
    /// Why a source ended the run.
    pub halted: Option<Halt>,
    /// When bytes came to the workers, after the world's beginning, in order for each worker.
    pub received: Vec<Nanos>,
    /// Bytes that the workers let the network skip.
    pub skipped: u64,
}

impl Outcome {
    /// Requests handed to the kernel in all phases.
    pub fn sent(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.tally.sent).sum()
    }
}

/// Drives a load at the server that `serve` puts into the world.
pub fn drive(load: &Load, serve: impl FnOnce(&World) -> Vec<Served>) -> Outcome {
    let world = World::under(load.seed, load.conditions);
    let begin = world.now();
    let mut servers = serve(&world);
    let stop = Arc::new(AtomicBool::new(false));
    let Crew { mut workers, collector, inbox, barrier } = crew(load, &world, &stop);
    let mut finger = (world.host(), Finger { press_at: load.stop_at.map(|at| begin + at), stop });
    let mut clerk = (world.host(), Clerk::new(collector, inbox, &load.plan));
    let mut actors: Vec<Actor<'_>> =
        servers.iter_mut().map(|(net, handler)| Actor { net, handler: handler.as_mut() }).collect();
    for (net, worker) in &mut workers {
        actors.push(Actor { net, handler: worker });
    }
    actors.push(Actor { net: &mut finger.0, handler: &mut finger.1 });
    actors.push(Actor { net: &mut clerk.0, handler: &mut clerk.1 });
    let planned = load.plan.warmup_ns + load.plan.duration_ns.unwrap_or(0);
    run(&world, begin + planned + PATIENCE, &mut actors);
    drop(actors);
    let took = workers.iter().map(|(_, timed)| timed.done_at).max().unwrap_or(0) - begin;
    let skipped = workers.iter().map(|(_, timed)| timed.skipped).sum();
    let received = workers.into_iter().flat_map(|(_, timed)| timed.received);
    let received = received.map(|at| at - begin).collect();
    let mut clerk = clerk.1;
    clerk.collect();
    assert!(clerk.collector.finished(), "seed {}: a worker never finished", load.seed);
    let run = verdict::conclude(clerk.builder, load.stop_at.is_some());
    let halted = barrier.halted().cloned();
    Outcome { run, intervals: clerk.intervals, took, halted, received, skipped }
}

/// The workers, and the channel of their intervals.
struct Crew {
    workers: Vec<(SimNet, Timed)>,
    collector: Collector,
    inbox: Receiver<(u32, Option<WorkerInterval>)>,
    barrier: Arc<StartBarrier>,
}

fn crew(load: &Load, world: &World, stop: &Arc<AtomicBool>) -> Crew {
    let count = load.plan.threads;
    let barrier = Arc::new(StartBarrier::new(count));
    let first_responses = Arc::<FirstResponses>::default();
    let (intervals, inbox) = channel();
    let mut spares = Vec::new();
    let mut workers = Vec::new();
    for worker in 0..count {
        let (spare, returned) = channel();
        spares.push(spare);
        let job = Job {
            first_responses: first_responses.clone(),
            barrier: barrier.clone(),
            stop: stop.clone(),
            intervals: intervals.clone(),
            spares: returned,
            ..job(load, worker)
        };
        let timed =
            Timed { worker: Worker::new(job), done_at: 0, received: Vec::new(), skipped: 0 };
        let mut net = world.limited_host(load.limits);
        net.batch();
        net.set_work_time(load.work_ns.clone());
        workers.push((net, timed));
    }
    let collector = Collector::new(&load.plan, spares);
    Crew { workers, collector, inbox, barrier }
}

/// What a worker is to do, with nothing shared yet.
fn job(load: &Load, worker: u32) -> Job {
    Job {
        plan: Arc::new(load.plan.clone()),
        worker,
        workers: load.plan.threads,
        source: load.source(worker),
        routes: vec![Route { to: address().into(), from: None }].into(),
        tls: None,
        advice: |_| "a problem",
        first_responses: Arc::default(),
        barrier: Arc::new(StartBarrier::new(load.plan.threads)),
        recorder_slot: Arc::new(RecorderSlot::default()),
        stop: Arc::new(AtomicBool::new(false)),
        spent: engine::Spent::default,
        intervals: channel().0,
        spares: channel().1,
    }
}

/// The only worker of a load, for any net.
pub fn lone_worker(load: &Load) -> Worker {
    Worker::new(job(load, 0))
}

/// A worker, when it was done, when it received bytes, and how many it skipped.
struct Timed {
    worker: Worker,
    done_at: u64,
    received: Vec<u64>,
    skipped: u64,
}

impl Handler<SimNet> for Timed {
    fn accepted(&mut self, net: &mut SimNet, conn: ConnId) -> Option<u32> {
        self.worker.accepted(net, conn)
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        match event {
            Event::Received(_) => self.received.push(net.now()),
            Event::Skipped(bytes) => self.skipped += bytes,
            _ => {}
        }
        self.worker.event(net, token, event);
    }

    fn tick(&mut self, net: &mut SimNet) -> Next {
        let next = self.worker.tick(net);
        if next == Next::Finished {
            self.done_at = net.now();
        }
        next
    }
}

/// Collects the workers' intervals as they come, so that hours of them need not be kept.
struct Clerk {
    collector: Collector,
    inbox: Receiver<(u32, Option<WorkerInterval>)>,
    builder: RunBuilder,
    intervals: Vec<Interval>,
    next_at: u64,
}

impl Clerk {
    fn new(
        collector: Collector,
        inbox: Receiver<(u32, Option<WorkerInterval>)>,
        plan: &Plan,
    ) -> Self {
        let builder = RunBuilder::new(fixture::head(plan.clone()));
        Self { collector, inbox, builder, intervals: Vec::new(), next_at: 0 }
    }

    fn collect(&mut self) {
        for (worker, part) in self.inbox.try_iter() {
            self.collector.take(worker, part);
            while let Some(interval) = self.collector.next_interval() {
                self.builder.add(&interval);
                if self.intervals.len() < KEPT {
                    self.intervals.push(interval);
                }
            }
        }
    }
}

impl Handler<SimNet> for Clerk {
    fn accepted(&mut self, _: &mut SimNet, _: ConnId) -> Option<u32> {
        None
    }

    fn event(&mut self, _: &mut SimNet, _: u32, _: Event<'_>) {}

    fn tick(&mut self, net: &mut SimNet) -> Next {
        if net.now() >= self.next_at {
            self.next_at = net.now() + COLLECT_EVERY;
            self.collect();
        }
        if self.collector.finished() { Next::Finished } else { Next::Wait(self.next_at) }
    }
}

/// Presses Ctrl-C.
struct Finger {
    press_at: Option<u64>,
    stop: Arc<AtomicBool>,
}

impl Handler<SimNet> for Finger {
    fn accepted(&mut self, _: &mut SimNet, _: ConnId) -> Option<u32> {
        None
    }

    fn event(&mut self, _: &mut SimNet, _: u32, _: Event<'_>) {}

    fn tick(&mut self, net: &mut SimNet) -> Next {
        match self.press_at {
            Some(at) if net.now() < at => Next::Wait(at),
            Some(_) => {
                self.stop.store(true, Ordering::Relaxed);
                Next::Finished
            }
            None => Next::Finished,
        }
    }
}

fn plan(connections: u32) -> Plan {
    Plan {
        url: "http://sim/".into(),
        connections,
        threads: 1,
        duration_ns: Some(SECOND),
        max_inflight: u32::MAX,
        io: Io::Simulation,
        ..fixture::plan()
    }
}
