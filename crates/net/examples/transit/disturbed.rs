//! When the host, or another process, took the time: what is read then is no figure of what stands between.
//!
//! The measuring thread spins or knows how long it sleeps, so that it knows when it did not run. On the other core a real-time
//! thread wakes four times a millisecond for some microseconds: it comes before everything that runs there, so if it is
//! late, the core itself did not run, or what stands between was in a system call that nothing can interrupt. Of that the
//! kernel keeps account: the processor time of a process does not go on while the host has taken the core. So a core has
//! not run for as long as the thread was late and what stands between did not run meanwhile.
//!
//! Not all that the host takes is found: of the other core up to [`LATE_NS`] and the time between two wakes at once, of this
//! one up to [`GAP_NS`]. How late the wakes of each second were is told beside its latency.

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};

use rustix::thread::{ClockId, CpuSet, Timespec, clock_nanosleep_absolute, sched_setaffinity};

use crate::socket::{self, ProcessClock};

/// How late the thread on the other core may wake, but for the time of what stands between.
const LATE_NS: u64 = 200_000;
/// Its priority: above that of what stands between, which comes before all other processes.
const BEFORE_ALL: i32 = 2;
/// How often it wakes.
const EVERY_NS: u64 = 250_000;
/// How long this thread may take for one round of its loop.
pub const GAP_NS: u64 = 200_000;

/// A time in which a core did not run, from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub from: u64,
    pub to: u64,
}

impl Gap {
    pub fn ns(self) -> u64 {
        self.to - self.from
    }
}

/// The thread on the other core.
pub struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Watched>,
}

/// What it saw.
pub struct Watched {
    pub gaps: Vec<Gap>,
    pub wakes: Vec<Wake>,
}

/// A wake of the thread on the other core: when it was due, and how late it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    pub due: u64,
    pub late_ns: u64,
}

impl Watch {
    /// Begins to watch a core, and how long what stands between runs.
    ///
    /// # Errors
    /// Without the right to a real-time priority, or without that core.
    pub fn start(core: usize, between: ProcessClock) -> Result<Self, Box<dyn Error>> {
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, begun) = channel();
        let until = Arc::clone(&stop);
        let thread = thread::Builder::new().name("watch".into()).spawn(move || {
            ready.send(take(core)).expect("it is waited for");
            watch(&until, between)
        })?;
        wait(&begun)?;
        Ok(Self { stop, thread })
    }

    /// Stops watching.
    pub fn end(self) -> Watched {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("it does not panic")
    }
}

fn wait(begun: &Receiver<Result<(), String>>) -> Result<(), Box<dyn Error>> {
    Ok(begun.recv()??)
}

/// Moves this thread to a core, before all others there.
fn take(core: usize) -> Result<(), String> {
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores).map_err(|error| format!("core {core}: {error}"))?;
    socket::real_time(BEFORE_ALL).map_err(|error| format!("a real-time priority: {error}"))
}

fn watch(stop: &AtomicBool, between: ProcessClock) -> Watched {
    let mut watched = Watched { gaps: Vec::new(), wakes: Vec::new() };
    // It is not known to have run since.
    let mut ran = socket::now();
    let mut between_ran = between.ns();
    let mut due = ran + EVERY_NS;
    while !stop.load(Ordering::Relaxed) {
        let until = Timespec {
            tv_sec: (due / 1_000_000_000) as i64,
            tv_nsec: (due % 1_000_000_000) as i64,
        };
        // Interrupted, it only wakes early.
        clock_nanosleep_absolute(ClockId::Realtime, &until).ok();
        let now = socket::now();
        let late_ns = now.saturating_sub(due);
        watched.wakes.push(Wake { due, late_ns });
        let since = std::mem::replace(&mut between_ran, between.ns());
        if late_ns.saturating_sub(between_ran.saturating_sub(since)) > LATE_NS {
            watched.gaps.push(Gap { from: ran, to: now });
        }
        ran = now;
        due = now.max(due) + EVERY_NS;
    }
    watched
}

/// What the host has taken of each core so far, in milliseconds, in steps of ten.
pub fn steal_ms() -> Result<Vec<u64>, Box<dyn Error>> {
    let text = fs::read_to_string("/proc/stat")?;
    let cores = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
    let steal = cores.map(|line| {
        let ticks = line.split_whitespace().nth(8).unwrap_or_default();
        Ok(ticks.parse::<u64>()? * 10)
    });
    steal.collect()
}
