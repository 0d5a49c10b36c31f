//! Starting workers on threads and collecting what they hand over.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use model::{Interval, Plan};
use net::{Io, Options, Route, clock, limits};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use traffic::{Halt, Supply};

use crate::collect::Collector;
use crate::first_responses::FirstResponses;
use crate::problem::Advice;
use crate::recorder::{IntervalBuffers, WorkerInterval};
use crate::recorder_slot::RecorderSlot;
use crate::spent::Spent;
use crate::start_barrier::StartBarrier;
use crate::worker::{Job, Worker, share_of};

/// Everything a run needs beside its plan.
#[derive(Debug, Clone)]
pub struct Launch {
    /// What is to be done.
    pub plan: Arc<Plan>,
    /// Makes the source of requests of each worker.
    pub sources: Arc<dyn Supply>,
    /// Where to connect and from where, used in turn. At least one.
    pub routes: Arc<[Route]>,
    /// Where single workers connect to instead, in the workers' order; none where it is empty.
    pub destinations: Arc<[Option<SocketAddr>]>,
    /// TLS to use, with the server's name.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// What to do about a failure, in terms of the command's own flags.
    pub advice: Advice,
    /// The first responses of the endpoints, with which others are compared if the plan says so; those of runs
    /// before this one, where they share it.
    pub first_responses: Arc<FirstResponses>,
    /// The kernel interface.
    pub io: Io,
    /// Whether every worker needs its own file table.
    pub own_files: bool,
    /// Raised to end the window early.
    pub stop: Arc<AtomicBool>,
    /// Set, beside `stop`, when a worker's source will never return: the run ends without that worker,
    /// its counts are recovered from its slot, and its thread is left running until the process exits.
    pub stuck: Arc<OnceLock<Halt>>,
}

/// Time that the other workers have to end when one is stuck: a second of drain, and some.
const ABANDON_AFTER: Duration = Duration::from_millis(1500);
/// How often the collecting thread checks for a stuck worker, and before that for the start.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const AWAIT_START: Duration = Duration::from_millis(2);
/// How often the number of open connections is reported before the start.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// What is reported while a run goes on.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The workers' threads run, each with a file table of its own: what is opened from now on, none of them holds open. A
    /// pipe that one of them holds has no end, whoever else closes it.
    Launched,
    /// Before the start: the number of open connections.
    Opening(u32),
    /// The run starts now, or did a moment ago: opening connections is over.
    Started,
    /// An interval is over.
    Interval(&'a mut Interval),
}

/// The result of a run apart from its intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the window was ended early.
    pub stopped: bool,
    /// Why a source ended it, if one did.
    pub halted: Option<Halt>,
}

/// Why a run could not be started or did not end.
#[derive(Debug)]
pub enum LaunchError {
    /// A thread could not be started.
    Thread(io::Error),
    /// A worker's net failed.
    Net(io::Error),
    /// A worker panicked: a bug.
    Bug,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => write!(f, "a worker thread could not be started: {error}"),
            Self::Net(error) => write!(f, "the kernel's I/O interface failed: {error}"),
            Self::Bug => f.write_str("a worker stopped unexpectedly; this is a bug in plimsoll"),
        }
    }
}

impl std::error::Error for LaunchError {}

/// Runs a plan to its end on new threads; `observe` is called with every interval in order, on
/// the calling thread; before the first when the workers' threads run, once a second while connections are being opened,
/// and when the run starts. It may add what it knows of the machine to an interval.
///
/// # Errors
/// When workers could not be started or their net failed. Intervals observed so far stand.
pub fn launch(
    launch: &Launch,
    mut observe: impl FnMut(Progress<'_>),
) -> Result<Outcome, LaunchError> {
    let workers = launch.plan.threads.max(1);
    let (intervals, inbox) = channel();
    let barrier = Arc::new(StartBarrier::new(workers));
    let own_tables = Arc::new(Barrier::new(workers as usize + 1));
    let recorder_slots: Vec<Arc<RecorderSlot>> = (0..workers).map(|_| Arc::default()).collect();
    let mut spares = Vec::new();
    let mut threads = Vec::new();
    for worker in 0..workers {
        let (spare, returned) = channel();
        spares.push(spare);
        let place = traffic::WorkerPlace { worker, workers };
        let recorder_slot = recorder_slots[worker as usize].clone();
        let worker_thread = WorkerThread {
            launch: launch.clone(),
            place,
            barrier: barrier.clone(),
            own_tables: own_tables.clone(),
            recorder_slot,
        };
        let intervals = intervals.clone();
        let thread = thread::Builder::new().name(format!("worker-{worker}"));
        // Threads already started wait at the barrier forever; the process is about to end.
        threads.push(
            thread
                .spawn(move || worker_thread.work(intervals, returned))
                .map_err(LaunchError::Thread)?,
        );
    }
    drop(intervals);
    own_tables.wait();
    observe(Progress::Launched);
    let collector = Collector::new(&launch.plan, spares);
    CollectLoop { inbox, barrier: &barrier, stuck: &launch.stuck, recorder_slots }
        .collect(collector, &mut observe);
    let stuck = launch.stuck.get();
    for thread in threads.into_iter().filter(|thread| stuck.is_none() || thread.is_finished()) {
        join(thread)?;
    }
    let halted = barrier.halted().or(stuck).cloned();
    Ok(Outcome { stopped: launch.stop.load(Ordering::Relaxed), halted })
}

/// The state of the collecting thread.
struct CollectLoop<'a> {
    inbox: Receiver<(u32, Option<WorkerInterval>)>,
    barrier: &'a StartBarrier,
    stuck: &'a OnceLock<Halt>,
    recorder_slots: Vec<Arc<RecorderSlot>>,
}

impl CollectLoop<'_> {
    fn collect(self, mut collector: Collector, observe: &mut impl FnMut(Progress<'_>)) {
        let mut last_at = Instant::now();
        let (mut started, mut stuck_at) = (false, None);
        loop {
            match self.inbox.recv_timeout(if started { LOOK_EVERY } else { AWAIT_START }) {
                Ok((worker, part)) => collector.take(worker, part),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some(open) = self.barrier.opening().filter(|_| last_at.elapsed() >= TELL_EVERY) {
                last_at = Instant::now();
                observe(Progress::Opening(open));
            }
            if !started && self.barrier.start().is_some() {
                started = true;
                observe(Progress::Started);
            }
            if self.stuck.get().is_some() {
                let (since, at) = *stuck_at.get_or_insert_with(|| (Instant::now(), clock::now()));
                if since.elapsed() >= ABANDON_AFTER {
                    self.abandon_workers(at, &mut collector);
                }
            }
            while let Some(mut interval) = collector.next_interval() {
                observe(Progress::Interval(&mut interval));
            }
            if stuck_at.is_some() && collector.finished() {
                return;
            }
        }
    }

    /// Ends the run without the workers that are not done. Their counts are recovered from their slots;
    /// their window ends with the others', or at `stuck_at` if there are no others.
    fn abandon_workers(&self, stuck_at: u64, collector: &mut Collector) {
        let Some(start) = self.barrier.start() else { return collector.abandon_workers() };
        let end = self.barrier.end(stuck_at.saturating_sub(start));
        let now = clock::now().saturating_sub(start);
        for (worker, recorder_slot) in (0..).zip(&self.recorder_slots) {
            if !collector.done(worker) {
                let intervals = recorder_slot.recover(end, now);
                intervals.into_iter().for_each(|part| collector.take(worker, Some(part)));
            }
        }
        collector.abandon_workers();
    }
}

fn join(thread: JoinHandle<io::Result<()>>) -> Result<(), LaunchError> {
    thread.join().map_err(|_| LaunchError::Bug)?.map_err(LaunchError::Net)
}

/// One worker's thread.
struct WorkerThread {
    launch: Launch,
    place: traffic::WorkerPlace,
    barrier: Arc<StartBarrier>,
    /// Where the threads meet once each has a file table of its own.
    own_tables: Arc<Barrier>,
    recorder_slot: Arc<RecorderSlot>,
}

impl WorkerThread {
    fn work(
        self,
        intervals: Sender<(u32, Option<WorkerInterval>)>,
        spares: Receiver<IntervalBuffers>,
    ) -> io::Result<()> {
        // Done even where one table has room for all: the kernel counts each use of a file of a shared table.
        let files = limits::unshare_files();
        self.own_tables.wait();
        let plan = self.launch.plan.clone();
        let traffic::WorkerPlace { worker, workers } = self.place;
        let connections = share_of(u64::from(plan.connections), worker, workers);
        let done = Done { worker, intervals: intervals.clone(), barrier: self.barrier.clone() };
        if self.launch.own_files {
            files?;
        }
        let routes = self.routes();
        let mut worker = Worker::new(Job {
            worker,
            workers,
            source: self.launch.sources.source(self.place),
            routes,
            tls: self.launch.tls,
            advice: self.launch.advice,
            first_responses: self.launch.first_responses,
            barrier: self.barrier,
            recorder_slot: self.recorder_slot,
            stop: self.launch.stop,
            spent: spent as fn() -> Spent,
            intervals,
            spares,
            plan: plan.clone(),
        });
        let options = Options {
            connections: connections as usize,
            long_lived: plan.keepalive,
            listener: None,
        };
        let result = net::run(self.launch.io, options, &mut worker);
        drop(done);
        result
    }

    /// The routes of this worker.
    fn routes(&self) -> Arc<[Route]> {
        let Launch { routes, destinations, .. } = &self.launch;
        match destinations.get(self.place.worker as usize) {
            Some(&Some(to)) => {
                routes.iter().map(|route| Route { to: to.into(), ..*route }).collect()
            }
            _ => routes.clone(),
        }
    }
}

fn spent() -> Spent {
    Spent {
        wall_ns: clock::now(),
        cpu_ns: clock::thread_cpu(),
        queued_ns: clock::thread_queued(),
        page_ins: clock::thread_page_ins(),
    }
}

/// Reports to the collector that a worker is done, however it ended, so that the others do not wait for
/// it.
struct Done {
    worker: u32,
    intervals: Sender<(u32, Option<WorkerInterval>)>,
    barrier: Arc<StartBarrier>,
}

impl Drop for Done {
    fn drop(&mut self) {
        self.barrier.ready(self.worker, clock::now());
        // The collector may be gone when the whole run is being given up.
        let _ = self.intervals.send((self.worker, None));
    }
}
