//! Limits of the operating system on a process: open files, local ports, processors.

use std::fs;
use std::io;

use rustix::process::{
    Resource, Rlimit, getpriority_process, getrlimit, setpriority_process, setrlimit,
};
use rustix::thread::UnshareFlags;

/// Files a thread keeps back for everything but connections.
const RESERVED_FILES: u64 = 64;

/// Open files allowed to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimit {
    /// In force now.
    pub soft: u64,
    /// The most that the soft limit can be raised to.
    pub hard: u64,
}

impl FileLimit {
    /// Connections that one file table has room for.
    pub fn connections_per_table(&self) -> u64 {
        self.soft.saturating_sub(RESERVED_FILES)
    }
}

/// Raises the soft limit on open files to the hard one and returns both.
pub fn raise_file_limit() -> FileLimit {
    let limit = getrlimit(Resource::Nofile);
    let hard = limit.maximum;
    if limit.current != hard {
        // A refusal leaves the soft limit; what is read back is what is in force.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard });
    }
    let limit = getrlimit(Resource::Nofile);
    FileLimit { soft: limit.current.unwrap_or(u64::MAX), hard: limit.maximum.unwrap_or(u64::MAX) }
}

/// Files that the system may open yet, over all processes: `file-max` less what is open. Absent where that cannot be read.
pub fn open_files_left() -> Option<u64> {
    let text = fs::read_to_string("/proc/sys/fs/file-nr").ok()?;
    let mut fields = text.split_whitespace().map_while(|field| field.parse::<u64>().ok());
    let (open, _free, most) = (fields.next()?, fields.next()?, fields.next()?);
    Some(most.saturating_sub(open))
}

/// Gives the calling thread its own file table, and with it its own file limit. Files open
/// now stay open in both tables.
///
/// # Errors
/// When the kernel refuses (it does under some sandboxes).
pub fn unshare_files() -> io::Result<()> {
    // SAFETY: only the thread's file table is split off; descriptors keep their numbers and meaning,
    // and every descriptor made from here on is used by this thread alone.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES)? };
    Ok(())
}

/// The range that the kernel takes local ports from: `ip_local_port_range`, inclusive.
pub fn local_ports() -> (u16, u16) {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut fields = text.split_whitespace().map_while(|field| field.parse().ok());
    (fields.next().unwrap_or(32768), fields.next().unwrap_or(60999))
}

/// Processors that the calling thread may run on, ascending.
pub fn allowed_cpus() -> Vec<usize> {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
        Err(_) => vec![0],
    }
}

/// How nice a thread is that gives way.
const NICE: i32 = 10;

/// Has the calling thread give way to others where several want a processor: it is as nice as `nice -n 10` makes processes. So
/// are threads that it starts from now on.
pub fn give_way() {
    // On Linux this is the priority of the calling thread alone.
    if getpriority_process(None).is_ok_and(|nice| nice < NICE) {
        // Nobody is refused to be nicer.
        let _ = setpriority_process(None, NICE);
    }
}

/// Lets the calling thread, and threads and processes it starts from now on, run on `cpus` only.
///
/// # Errors
/// When the kernel refuses, say because none of them exists.
pub fn set_allowed_cpus(cpus: &[usize]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    cpus.iter().for_each(|&cpu| set.set(cpu));
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_gives_way_leaves_the_others_as_they_are() {
        let own = || getpriority_process(None).expect("its priority");
        let before = own();
        let after = std::thread::spawn(move || {
            give_way();
            own()
        });
        assert_eq!(after.join().expect("it ends"), before.max(NICE));
        assert_eq!(own(), before);
    }
}
