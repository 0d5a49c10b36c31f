//! wrk's scripts: from `-s` to the sources of a run, the watch over hooks, and `done`.
//!
//! Connects the crate `script`, which owns the hooks and their order, with the engine, which decides when requests
//! leave. A hook that does not return can only be ended with the process: the watchdog ends the run without
//! the worker that is stuck, and the command saves its results and ends.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use model::units::parse_duration;
use model::{Phase, Run};
use script::{Printed, Script, Scripted, Session, Site, Stats, Summary, SummaryErrors, Watchdog};
use traffic::{Halt, Source, Supply, WorkerPlace};

use crate::args::LoadArgs;
use crate::failure::{Failure, usage};
use crate::load::address::Destination;

/// Longest that a run may take to end once a hook is stuck; then the process ends without a result.
const SAVE_WITHIN: Duration = Duration::from_secs(15);

/// The error for arguments that no script takes.
pub const SCRIPT_MISSING: &str = "arguments after -- are for a script: name it with -s";

/// That a script cannot be read. Who makes curl silent so has given none.
pub fn unreadable(path: &Path, why: &io::Error) -> Failure {
    let path = path.display().to_string();
    // As ab has its time-out.
    let meant = match parse_duration(&path) {
        Ok(_) => format!("the time-out is -T {path}"),
        Err(_) => "-q prints nothing while running".to_owned(),
    };
    Failure::CannotRun(format!("-s {path}: {why}; a script of wrk's is read there, and {meant}"))
}

/// A script on its way through the commands.
#[derive(Debug)]
pub struct ScriptRun {
    script: Script,
    session: RefCell<Option<Session>>,
    watch: Arc<Watch>,
    /// There until it is dropped.
    watchdog: Option<Watchdog>,
}

/// What the watchdog does, by where the command is.
#[derive(Debug, Default)]
struct Watch {
    /// While workers call hooks: how the run is made to end.
    driving: Mutex<Option<Driving>>,
    /// Whether a hook of a worker did not return.
    bitten: AtomicBool,
}

#[derive(Debug, Clone)]
struct Driving {
    stuck: Arc<OnceLock<Halt>>,
    stop: Arc<AtomicBool>,
}

/// What a level needs of its script.
pub struct Begun {
    pub sources: Arc<dyn Supply>,
    /// Where each worker connects to.
    pub destinations: Arc<[Option<SocketAddr>]>,
    /// Requests that leave together at most.
    pub burst: u16,
    /// Whether the script's requests ask for `Connection: close`.
    pub closes: bool,
    /// Set when a hook does not return.
    pub stuck: Arc<OnceLock<Halt>>,
}

impl Begun {
    /// What a level needs that has no script.
    pub fn without_script(sources: Arc<dyn Supply>) -> Self {
        Self {
            sources,
            destinations: Arc::default(),
            burst: 1,
            closes: false,
            stuck: Arc::default(),
        }
    }
}

impl ScriptRun {
    /// Reads the script that the flags name, if they name one.
    ///
    /// # Errors
    /// When it cannot be read, or arguments are given without one.
    pub fn of(
        url: &str,
        args: &LoadArgs,
        destination: &Destination,
        parts: SiteParts,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.script else {
            if args.script_args.is_empty() {
                return Ok(None);
            }
            return usage(SCRIPT_MISSING);
        };
        let SiteParts { method, mut headers, body } = parts;
        if args.no_keepalive {
            headers.push(("Connection".into(), "close".into()));
        }
        let site = Site {
            scheme: if destination.tls { "https" } else { "http" }.into(),
            host: destination.host.clone(),
            port: destination.url.port(),
            path: destination.target.clone(),
            method,
            headers,
            body,
            url: url.to_owned(),
            args: args.script_args.clone(),
        };
        if let Err(why) = std::fs::metadata(path) {
            return Err(unreadable(path, &why));
        }
        let script = Script::read(path, site, Printed::ToStdout);
        let script = script.map_err(|error| Failure::Usage(error.to_string()))?;
        let watch = Arc::new(Watch::default());
        let bites = watch.clone();
        let watchdog =
            Watchdog::start(move |overrun| bites.bite(&overrun.to_string())).map_err(|error| {
                Failure::CannotRun(format!("cannot start the watchdog thread: {error}"))
            })?;
        Ok(Some(Self { script, session: RefCell::new(None), watch, watchdog: Some(watchdog) }))
    }

    /// Runs everything of the script that comes before the load.
    ///
    /// # Errors
    /// What the script did wrong.
    pub fn begin(
        &self,
        workers: u32,
        addresses: &[SocketAddr],
        stop: &Arc<AtomicBool>,
    ) -> Result<Begun, Failure> {
        self.watch.set(None);
        let watchdog = self.watchdog.as_ref().expect("there until it is dropped");
        let begun = self.script.begin(workers, addresses, watchdog);
        let (session, sources) = begun.map_err(|error| Failure::CannotRun(error.to_string()))?;
        let usual = addresses.first().copied();
        let destinations = session.addresses().into_iter().map(|chosen| chosen.or(usual)).collect();
        let burst = sources.first().map_or(1, |source| source.burst());
        let closes = sources.first().is_some_and(Scripted::asks_to_close);
        *self.session.borrow_mut() = Some(session);
        let driving = Driving { stuck: Arc::default(), stop: stop.clone() };
        let stuck = driving.stuck.clone();
        self.watch.set(Some(driving));
        let places = sources.into_iter().map(|source| Mutex::new(Some(source))).collect();
        Ok(Begun { sources: Arc::new(Places(places)), destinations, burst, closes, stuck })
    }

    /// Ends a run of the script: calls `done` with its results, if the script defines it and did not end
    /// the run itself. What it prints comes after what was printed before.
    ///
    /// # Errors
    /// What the script did wrong in `done`.
    pub fn end(&self, run: &Run, steps: &Steps) -> Result<(), Failure> {
        self.watch.set(None);
        if run.halted.is_some() {
            return Ok(());
        }
        let session = self.session.borrow_mut().take();
        let Some(session) = session.filter(Session::has_done) else { return Ok(()) };
        let service = run.histogram("service").unwrap_or_default();
        let us = |nanos: u64| nanos / 1000;
        let latency = Stats::of(service.recorded().map(|(nanos, n)| (us(nanos), n)))
            .with_extremes(us(run.service_ns.min), us(run.service_ns.max));
        let done = session.done(&summary(run), latency, Stats::of(steps.0.iter().copied()));
        session.flush();
        done.map_err(|error| Failure::CannotRun(error.to_string()))
    }

    /// What the script prints goes to standard error: standard output belongs to a machine.
    pub fn print_to_stderr(&mut self) {
        self.script.print_to(Printed::ToStderr);
    }

    /// Writes out what the script has printed, so that it comes before what is printed next.
    pub fn flush(&self) {
        if let Some(session) = &*self.session.borrow() {
            session.flush();
        }
    }
}

/// After a hook that did not return, a worker is still inside Lua: its state cannot be closed, and the
/// watch waits for the process to end.
impl Drop for ScriptRun {
    fn drop(&mut self) {
        if self.watch.bitten.load(Ordering::Relaxed) {
            mem::forget(self.session.take());
            mem::forget(self.watchdog.take());
        }
    }
}

/// What of the flags the table `wrk` is filled with.
#[derive(Debug, Clone)]
pub struct SiteParts {
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

/// What `requests` of `done` is computed from: each worker's throughput every tenth of a second of the window.
#[derive(Debug, Default)]
pub struct Steps(Vec<(u64, u64)>);

/// Samples kept at most: two hours of eight workers.
const MOST_STEPS: usize = 600_000;

impl Steps {
    /// Adds an interval's.
    pub fn add(&mut self, interval: &model::Interval) {
        if interval.phase == Phase::Window && self.0.len() < MOST_STEPS {
            let steps = interval.workers.iter().flat_map(|worker| &worker.steps);
            self.0.extend(steps.map(|&per_s| (u64::from(per_s), 1)));
        }
    }
}

fn summary(run: &Run) -> Summary {
    let counts = report::wrk::Counts::of(run);
    Summary {
        duration_us: run.rate_over_ns() / 1000,
        requests: counts.requests,
        bytes: counts.bytes,
        errors: SummaryErrors {
            connect: counts.connect,
            read: counts.read,
            write: counts.write,
            status: counts.status,
            timeout: counts.timeout,
        },
    }
}

impl Watch {
    fn set(&self, driving: Option<Driving>) {
        *self.driving.lock().unwrap_or_else(PoisonError::into_inner) = driving;
    }

    /// A hook has not returned. While workers drive load, the run ends without the one that is stuck,
    /// and the command saves it; elsewhere it is the command itself that is stuck.
    fn bite(&self, why: &str) {
        let driving = self.driving.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Driving { stuck, stop }) = driving {
            self.bitten.store(true, Ordering::Relaxed);
            // Nobody else sets it.
            let _ = stuck.set(Halt(why.into()));
            stop.store(true, Ordering::Relaxed);
            thread::sleep(SAVE_WITHIN);
        }
        eprintln!("plimsoll: {why}");
        process::exit(1);
    }
}

/// Sources that were made before the workers.
#[derive(Debug)]
struct Places(Vec<Mutex<Option<Scripted>>>);

impl Supply for Places {
    fn source(&self, worker_place: WorkerPlace) -> Box<dyn Source> {
        let place = &self.0[worker_place.worker as usize];
        let source = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::new(source.expect("each worker takes its source once"))
    }
}
