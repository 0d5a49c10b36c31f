//! One process: `/proc/PID/{stat,status,io,limits,schedstat}`.

use model::Nanos;

use super::TICK_NS;

/// The figures of `/proc/PID/stat`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stat {
    /// Its name, at most 15 bytes.
    pub name: String,
    /// Processor time in user mode.
    pub user_ns: Nanos,
    /// Processor time in the kernel.
    pub system_ns: Nanos,
    /// Threads.
    pub threads: u64,
    /// When it was started, in ticks since the machine's start: with the number, its identity.
    pub started: u64,
    /// Resident memory in pages.
    pub resident_pages: u64,
}

/// `/proc/PID/stat`. The name may hold anything, blanks and brackets included.
pub fn stat(text: &str) -> Option<Stat> {
    let (before, fields) = text.rsplit_once(") ")?;
    let name = before.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The first of them is the third of proc(5).
    let at = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        name,
        user_ns: at(14)?.saturating_mul(TICK_NS),
        system_ns: at(15)?.saturating_mul(TICK_NS),
        threads: at(20)?,
        started: at(22)?,
        resident_pages: at(24).unwrap_or(0),
    })
}

/// Context switches and the number of processors allowed, from `/proc/PID/status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// Times that it gave its processor up, to wait.
    pub voluntary: u64,
    /// Times that its processor was taken from it.
    pub involuntary: u64,
    /// Processors that it may use.
    pub cpus_allowed: Option<u32>,
}

/// `/proc/PID/status`: of the main thread alone.
pub fn status(text: &str) -> Status {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let number = |name: &str| field(name).and_then(|value| value.parse().ok()).unwrap_or(0);
    Status {
        voluntary: number("voluntary_ctxt_switches:"),
        involuntary: number("nonvoluntary_ctxt_switches:"),
        cpus_allowed: field("Cpus_allowed_list:").and_then(super::processors::cpus_in),
    }
}

/// Bytes read from and written to disks, from `/proc/PID/io`.
pub fn io(text: &str) -> Option<(u64, u64)> {
    let field = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)).and_then(|v| v.trim().parse().ok())
    };
    Some((field("read_bytes:")?, field("write_bytes:")?))
}

/// The soft limit of open files, from `/proc/PID/limits`; none for `unlimited`.
pub fn files_limit(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Of `/proc/PID/task/TID/schedstat`: time on a processor, time spent ready to run without one, and how often it was given
/// one.
pub fn schedstat(text: &str) -> Option<[u64; 3]> {
    let mut fields = text.split_whitespace().map_while(|field| field.parse().ok());
    Some([fields.next()?, fields.next()?, fields.next()?])
}
