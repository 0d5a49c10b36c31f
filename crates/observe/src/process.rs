//! The processes of a server: processor time by thread, files against their limit, context switches, memory.
//!
//! Figures are sums over all processes of the source. Counters go on growing when a process ends: what is added up is
//! what each process used since it was seen first, or since it began, where that was later than the watching.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::sample::MOST_ASKED_THREADS;
use model::units::SECOND;
use model::{Nanos, Sample};
use net::clock;

use crate::awaited::Awaited;
use crate::cgroup::{Cgroups, QuotaCost};
use crate::host::{self, ELSEWHERE, quota, why};
use crate::jvm::Jvm;
use crate::proc::TICK_NS;
use crate::proc::processes::{self, Stat};
use crate::text::{read, read_or_empty};

/// Processes that are watched of one source.
const MOST_PROCESSES: usize = 64;
/// Threads that are looked at, of all of them together.
const MOST_THREADS: usize = 512;
/// Files that are counted one by one; where a process has more, they are counted each tenth sample only.
const MANY_FILES: u64 = 2_000;
/// Samples between two searches for processes by name, and between two counts of many files.
const SELDOM: u64 = 10;

/// What threads may be held up by in the kernel, and its functions that wait for it (`/proc/PID/task/TID/wchan`).
const HELD_UP: [(&str, &[&str]); 2] = [
    // The reader of a full pipe does not read it.
    ("writing to a pipe", &["pipe_write", "anon_pipe_write"]),
    (
        "locking a file",
        &["locks_lock_inode_wait", "flock_lock_inode_wait", "fcntl_setlk", "do_lock_file_wait"],
    ),
];

/// Times a second that a thread must give its processor up to be counted as one that wakes again and again.
const WAKES_PER_S: u64 = 50;

/// What is reported of the threads of all processes together.
const OF_THREADS: [&str; 5] = [
    "process.thread_share",
    "process.waking_threads",
    "process.queued_ns",
    "process.voluntary_switches",
    "process.involuntary_switches",
];

/// Which processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those with these numbers.
    Pids(Vec<u32>),
    /// Those of this name: of the process, or of its program's file.
    Name(String),
}

/// Reads the processes of one source.
#[derive(Debug)]
pub struct Processes {
    which: Which,
    known: BTreeMap<u32, Known>,
    threads: BTreeMap<u32, Thread>,
    sums: Sums,
    read_at_ns: Nanos,
    /// When the watching began, in ticks since the machine's start.
    begun: Option<u64>,
    samples: u64,
    /// The process whose quotas are looked at, and what they cost.
    held: (Option<u32>, QuotaCost),
    awaited: Awaited,
}

/// A process as it was at the last sample.
#[derive(Debug, Default)]
struct Known {
    stat: Stat,
    io: Option<(u64, u64)>,
    files: Option<u64>,
    files_limit: Option<u64>,
    jvm: Option<Jvm>,
    /// Times that its threads found a monitor taken, where it is a JVM.
    contended: Option<u64>,
}

/// A thread as it was at the last sample.
#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    cpu_ns: Nanos,
    queued_ns: Nanos,
    /// How often it was given a processor.
    turns: u64,
    voluntary: u64,
    involuntary: u64,
}

/// Counters over all processes that there were.
#[derive(Debug, Default)]
struct Sums {
    user_ns: Nanos,
    system_ns: Nanos,
    read_bytes: u64,
    written_bytes: u64,
    contended: u64,
    of_threads: SumsOfThreads,
}

/// The same over all threads.
#[derive(Debug, Clone, Copy, Default)]
struct SumsOfThreads {
    queued_ns: Nanos,
    voluntary: u64,
    involuntary: u64,
}

impl Processes {
    /// Those that `which` names, from now on.
    pub fn new(which: Which) -> Self {
        Self {
            which,
            known: BTreeMap::new(),
            threads: BTreeMap::new(),
            sums: Sums::default(),
            read_at_ns: 0,
            begun: None,
            samples: 0,
            held: (None, QuotaCost::default()),
            awaited: Awaited::default(),
        }
    }

    /// Puts what they did into `sample`; `now_ns` is the monotonic clock.
    ///
    /// # Errors
    /// When there are none.
    pub fn read(&mut self, now_ns: Nanos, sample: &mut Sample) -> Result<(), String> {
        self.begun.get_or_insert_with(|| clock::boot() / TICK_NS);
        let pids = self.pids();
        let mut seen = BTreeMap::new();
        for pid in pids {
            let folder = PathBuf::from(format!("/proc/{pid}"));
            let Some(stat) = processes::stat(&read_or_empty(folder.join("stat"))) else { continue };
            let before = self.known.remove(&pid).filter(|known| known.stat.started == stat.started);
            seen.insert(pid, self.process(&folder, stat, before, sample));
        }
        self.known = seen;
        if self.known.is_empty() {
            return Err(match &self.which {
                Which::Pids(pids) => format!("no process {pids:?} is running"),
                Which::Name(name) => format!("no process named {name} is running"),
            });
        }
        if let Err(why) = self.look_at_threads(now_ns, sample) {
            OF_THREADS.iter().for_each(|name| sample.miss(name, why));
            // The next share of a core is not to be of two intervals.
            self.threads.clear();
        }
        self.look_at_what_holds_up(sample);
        match self.elsewhere() {
            // The kernel lists the connections of this process's network.
            Some(_) => sample.miss("process.awaits", ELSEWHERE),
            None => self.awaited.read(self.known.keys().copied(), sample),
        }
        self.read_at_ns = now_ns;
        self.samples += 1;
        self.tell(sample);
        Ok(())
    }

    /// One of them that has a network of its own, as in a container.
    pub fn elsewhere(&self) -> Option<u32> {
        host::elsewhere(self.known.keys().copied())
    }

    fn pids(&self) -> Vec<u32> {
        match &self.which {
            Which::Pids(pids) => pids.iter().copied().take(MOST_PROCESSES).collect(),
            // Looking through all processes costs milliseconds: between two searches only those are added that the
            // known ones have begun, as PostgreSQL does for each connection.
            Which::Name(name) if !self.known.is_empty() && !self.samples.is_multiple_of(SELDOM) => {
                let mut pids: Vec<u32> = self.known.keys().copied().collect();
                let begun = pids.iter().flat_map(|&pid| children(pid));
                let new: Vec<u32> = begun
                    .filter(|pid| !self.known.contains_key(pid))
                    .filter(|&pid| is_named(pid, name))
                    .collect();
                pids.extend(new);
                pids.truncate(MOST_PROCESSES);
                pids
            }
            Which::Name(name) => named(name),
        }
    }

    fn process(
        &mut self,
        folder: &Path,
        stat: Stat,
        before: Option<Known>,
        sample: &mut Sample,
    ) -> Known {
        let status = processes::status(&read_or_empty(folder.join("status")));
        let io = match read(folder.join("io")) {
            Ok(text) => processes::io(&text),
            Err(error) => {
                sample.miss("process.read_bytes", why("/proc/PID/io", &error));
                None
            }
        };
        if let Some(cpus) = status.cpus_allowed {
            let most = sample.gauges.get("process.cpus_allowed").copied().unwrap_or(0.0);
            sample.gauge("process.cpus_allowed", most.max(cpus.into()));
        }
        let seldom = self.samples.is_multiple_of(SELDOM);
        let mut before = before;
        let known_jvm = before.as_mut().and_then(|known| known.jvm.take());
        let look = before.is_none() || seldom;
        let jvm = known_jvm.or_else(|| look.then(|| jvm(folder, sample)).flatten());
        let mut known = Known {
            io,
            files: before.as_ref().and_then(|known| known.files),
            files_limit: before.as_ref().and_then(|known| known.files_limit),
            contended: jvm.as_ref().and_then(Jvm::contended),
            jvm,
            stat,
        };
        if seldom || known.files.is_none_or(|files| files < MANY_FILES) {
            match files(folder) {
                Ok(files) => known.files = Some(files),
                Err(error) => sample.miss("process.files", why("/proc/PID/fd", &error)),
            }
        }
        if seldom {
            known.files_limit = processes::files_limit(&read_or_empty(folder.join("limits")));
        }
        let is_new = self.begun.is_some_and(|begun| known.stat.started > begun);
        let nothing = || Known { io: Some((0, 0)), contended: Some(0), ..Known::default() };
        let Some(before) = before.or_else(|| is_new.then(nothing)) else { return known };
        let sums = &mut self.sums;
        grown(&mut sums.user_ns, before.stat.user_ns, known.stat.user_ns);
        grown(&mut sums.system_ns, before.stat.system_ns, known.stat.system_ns);
        if let Some((before, now)) = before.io.zip(known.io) {
            grown(&mut sums.read_bytes, before.0, now.0);
            grown(&mut sums.written_bytes, before.1, now.1);
        }
        if let Some((before, now)) = before.contended.zip(known.contended) {
            grown(&mut sums.contended, before, now);
        }
        known
    }

    /// The share of a core that the busiest thread used since the last sample; the time that all spent waiting for a
    /// core, and how often they gave one up, each from the sample that saw it first. The kernel keeps none of these for a
    /// process as a whole.
    fn look_at_threads(&mut self, now_ns: Nanos, sample: &mut Sample) -> Result<(), &'static str> {
        let (mut threads, mut busiest_ns, mut waking) = (BTreeMap::new(), None::<Nanos>, 0_u32);
        let mut sums = self.sums.of_threads;
        let elapsed_ns = now_ns.saturating_sub(self.read_at_ns);
        for pid in self.known.keys() {
            let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for task in tasks.flatten() {
                if threads.len() >= MOST_THREADS {
                    return Err("more than 512 threads");
                }
                let Some(tid) = task.file_name().to_str().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                let text = read_or_empty(task.path().join("schedstat"));
                let Some([cpu_ns, queued_ns, turns]) = processes::schedstat(&text) else {
                    if read_or_empty(task.path().join("stat")).is_empty() {
                        // It ended meanwhile.
                        continue;
                    }
                    return Err("the kernel has no schedstat");
                };
                let before = self.threads.get(&tid).copied();
                let mut thread = Thread { cpu_ns, queued_ns, turns, ..before.unwrap_or_default() };
                // A thread that did not run since was not switched either.
                if before.is_none_or(|before| before.turns != turns) {
                    let status = processes::status(&read_or_empty(task.path().join("status")));
                    (thread.voluntary, thread.involuntary) = (status.voluntary, status.involuntary);
                }
                if let Some(before) = before {
                    busiest_ns = busiest_ns.max(Some(cpu_ns.saturating_sub(before.cpu_ns)));
                    grown(&mut sums.queued_ns, before.queued_ns, queued_ns);
                    grown(&mut sums.voluntary, before.voluntary, thread.voluntary);
                    grown(&mut sums.involuntary, before.involuntary, thread.involuntary);
                    let wakes = thread.voluntary.saturating_sub(before.voluntary);
                    let least = elapsed_ns.saturating_mul(WAKES_PER_S) / SECOND;
                    waking += u32::from(wakes >= least.max(1));
                }
                threads.insert(tid, thread);
            }
        }
        // Where none was seen before, nothing is known of them.
        if let Some(busiest_ns) = busiest_ns.filter(|_| self.read_at_ns > 0 && elapsed_ns > 0) {
            sample.gauge("process.thread_share", busiest_ns as f64 / elapsed_ns as f64);
            sample.gauge("process.waking_threads", waking.into());
        }
        self.threads = threads;
        self.sums.of_threads = sums;
        sample.count("process.queued_ns", sums.queued_ns);
        sample.count("process.voluntary_switches", sums.voluntary);
        sample.count("process.involuntary_switches", sums.involuntary);
        Ok(())
    }

    /// How many threads are held up by what, of those that are asked.
    fn look_at_what_holds_up(&self, sample: &mut Sample) {
        // What a thread waits in reads as nothing where it may not be looked at; this link may not be read then.
        let refused = self.known.keys().find_map(|pid| {
            let link = fs::read_link(format!("/proc/{pid}/exe"));
            link.err().filter(|error| error.kind() == io::ErrorKind::PermissionDenied)
        });
        if let Some(error) = refused {
            return sample.miss("process.held_up", why("/proc/PID/wchan", &error));
        }
        let mut held_up = [0_u32; HELD_UP.len()];
        let tasks =
            self.known.keys().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok());
        for task in tasks.flatten().flatten().take(MOST_ASKED_THREADS) {
            let waits_in = read_or_empty(task.path().join("wchan"));
            // A compiler adds what it made of a function: `.constprop.0`.
            let function = waits_in.split('.').next().unwrap_or_default();
            for (n, (_, functions)) in held_up.iter_mut().zip(HELD_UP) {
                *n += u32::from(functions.contains(&function));
            }
        }
        for (n, (what, _)) in held_up.into_iter().zip(HELD_UP) {
            sample.gauge(format!("process.held_up{{{what}}}"), n.into());
        }
    }

    fn tell(&mut self, sample: &mut Sample) {
        let sums = &self.sums;
        sample.count("process.cpu_ns", sums.user_ns.saturating_add(sums.system_ns));
        sample.count("process.user_ns", sums.user_ns);
        sample.count("process.system_ns", sums.system_ns);
        // What some may not be asked for is not known of all, and is not zero.
        if self.known.values().all(|known| known.io.is_some()) {
            sample.count("process.read_bytes", sums.read_bytes);
            sample.count("process.written_bytes", sums.written_bytes);
        }
        if self.known.values().any(|known| known.contended.is_some()) {
            sample.count("process.monitors_contended", sums.contended);
        }
        let page = rustix::param::page_size() as f64;
        let over = |of: fn(&Known) -> u64| self.known.values().map(of).sum::<u64>() as f64;
        sample.gauge("process.count", self.known.len() as f64);
        sample.gauge("process.threads", over(|known| known.stat.threads));
        sample.gauge("process.resident_bytes", over(|known| known.stat.resident_pages) * page);
        // Of the process that is nearest to its limit.
        let share = |known: &&Known| {
            let limit = known.files_limit.filter(|&limit| limit > 0)?;
            Some(known.files? as f64 / limit as f64)
        };
        let nearest =
            self.known.values().filter(|known| share(known).is_some()).max_by(|a, b| {
                share(a).partial_cmp(&share(b)).unwrap_or(std::cmp::Ordering::Equal)
            });
        if let Some((files, limit)) = nearest.and_then(|known| known.files.zip(known.files_limit)) {
            sample.gauge("process.files", files as f64);
            sample.gauge("process.files_max", limit as f64);
        }
        let first = self.known.keys().next().copied();
        if self.held.0 != first {
            self.held.1.follow(first.map(Cgroups::of).unwrap_or_default());
            self.held.0 = first;
        }
        quota(&mut self.held.1, sample);
    }
}

/// What a process counts of its locks, where it is a JVM.
fn jvm(folder: &Path, sample: &mut Sample) -> Option<Jvm> {
    let pid = folder.file_name()?.to_str()?.parse().ok()?;
    Jvm::of(pid).unwrap_or_else(|error| {
        sample.miss("process.monitors_contended", why("hsperfdata", &error));
        None
    })
}

/// Adds what a counter grew by; nothing where it began anew.
fn grown(sum: &mut u64, before: u64, now: u64) {
    *sum = sum.saturating_add(now.saturating_sub(before));
}

/// Open files of a process. Newer kernels give the number without a list.
fn files(folder: &Path) -> io::Result<u64> {
    let folder = folder.join("fd");
    let count = fs::metadata(&folder)?.len();
    if count > 0 {
        return Ok(count);
    }
    Ok(fs::read_dir(folder)?.count() as u64)
}

/// Processes that a process began; none where the kernel does not list them (`CONFIG_PROC_CHILDREN`).
fn children(pid: u32) -> Vec<u32> {
    let numbers = read_or_empty(format!("/proc/{pid}/task/{pid}/children"));
    numbers.split_whitespace().filter_map(|child| child.parse().ok()).take(MOST_PROCESSES).collect()
}

/// Processes of this name, the lowest number first.
fn named(name: &str) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = std::process::id();
    let mut pids: Vec<u32> =
        pids.filter(|&pid| pid != own).filter(|&pid| is_named(pid, name)).collect();
    pids.sort_unstable();
    pids.truncate(MOST_PROCESSES);
    pids
}

fn is_named(pid: u32, name: &str) -> bool {
    let comm = read_or_empty(format!("/proc/{pid}/comm"));
    comm.trim() == name
        || fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|path| is_program(&path, name))
}

/// Whether a program's file is of this name, as the kernel tells it: of one that was written anew since, as deleted.
fn is_program(path: &Path, name: &str) -> bool {
    let file = path.file_name().map(|file| file.to_string_lossy()).unwrap_or_default();
    file == name || file.strip_suffix(" (deleted)") == Some(name)
}

#[cfg(test)]
mod tests;
