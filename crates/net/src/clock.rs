//! The clocks, and what the calling thread has spent. Reading the monotonic clock and the wall clock needs no syscall where
//! the kernel offers the vDSO.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Monotonic time in nanoseconds.
#[inline]
pub fn now() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// Processor time of the calling thread in nanoseconds.
pub fn thread_cpu() -> u64 {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

thread_local! {
    /// `/proc/thread-self/schedstat`: of the thread that opened it. To open it takes ten times as long as to read it.
    static SCHEDSTAT: Option<File> = File::open("/proc/thread-self/schedstat").ok();
}

/// Time in nanoseconds that the calling thread was ready to run and waited for a processor; 0 where the
/// kernel does not report it. Where its file cannot be opened at the thread's first call, later calls give 0 as well, so
/// that the time does not jump.
/// Reads a file, which takes a microsecond or more: call it rarely.
pub fn thread_queued() -> u64 {
    schedstat(1)
}

/// A field of `/proc/thread-self/schedstat`: time on the processor, time waited for it, times it was given one.
fn schedstat(field: usize) -> u64 {
    let mut text = [0; 128];
    let read = SCHEDSTAT.with(|file| file.as_ref()?.read_at(&mut text, 0).ok()).unwrap_or(0);
    let text = std::str::from_utf8(&text[..read]).unwrap_or("");
    text.split_whitespace().nth(field).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// How often the calling thread has waited for a page of its memory that had to be read from a disk (major
/// page faults).
pub fn thread_page_ins() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one `rusage` at the pointer; all zeros is one too, should it refuse.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    usage.ru_majflt.unsigned_abs()
}

/// Processor time of the whole process in nanoseconds.
pub fn process_cpu() -> u64 {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

/// Monotonic time in nanoseconds that goes on while the machine sleeps.
pub fn boot() -> u64 {
    nanos(clock_gettime(ClockId::Boottime))
}

/// The wall clock in nanoseconds since 1970.
pub fn wall() -> u64 {
    nanos(clock_gettime(ClockId::Realtime))
}

#[inline]
fn nanos(at: Timespec) -> u64 {
    at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64
}

/// A length of time for the kernel.
pub(crate) fn timespec(nanos: u64) -> (i64, i64) {
    ((nanos / 1_000_000_000) as i64, (nanos % 1_000_000_000) as i64)
}

/// Lets this thread's sleeps end when they should, not up to 50 us later.
pub(crate) fn sharpen_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes an integer and touches nothing but the thread's own setting.
    // A refusal leaves the default, which costs precision alone.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_goes_forward() {
        let (a, b) = (super::now(), super::now());
        assert!(b >= a && a > 0);
        let thread = super::thread_cpu();
        assert!(super::process_cpu() >= thread);
    }

    #[test]
    fn each_reading_is_of_its_thread_and_of_its_time() {
        let (turns, before) = (super::schedstat(2), super::schedstat(0));
        if turns == 0 {
            println!("not told here");
            return;
        }
        let until = super::thread_cpu() + 100_000_000;
        while super::thread_cpu() < until {}
        let after = super::schedstat(0);
        assert!(after - before >= 50_000_000, "{before} {after}");
        // It has just begun.
        let other = std::thread::spawn(|| super::schedstat(0)).join().expect("a thread");
        assert!(other < 50_000_000, "{other}");
    }
}
