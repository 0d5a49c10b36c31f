//! Whether this process as a whole did not run: stopped by a signal, frozen with its cgroup, or paused with its machine.
//!
//! A worker that waits for events notices a stop only if it lasts longer than the wait. A thread that only sleeps for a
//! known time notices every stop: the time that it overslept without waiting for a processor is time in which it could
//! not run. It costs a wake-up each beat, some 0.1 % to 0.5 % of a processor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use model::Nanos;
use model::units::MILLISECOND;
use net::clock;

/// How long the thread sleeps at a time.
const BEAT: Nanos = 10 * MILLISECOND;
/// What it may oversleep without having been stopped.
const LEAST: Nanos = 5 * MILLISECOND;
/// The file in which the kernel reports how long a thread waited.
const WAITS: &str = "/proc/self/schedstat";
/// Beats after which is read how long the thread has waited for a processor, at the latest: what it waited since the
/// last reading is taken off what it overslept.
const READ_EVERY: u32 = 4;

/// Beats until it is dropped.
#[derive(Debug)]
pub(super) struct Pulse {
    beating: Arc<Beating>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Beating {
    ended: AtomicBool,
    noted: Mutex<Noted>,
}

/// Noted and taken as a whole, so that no stop is split between two takings.
#[derive(Debug, Default)]
struct Noted {
    /// When they were asked for last.
    taken_ns: Nanos,
    stops: Stops,
}

/// Times in which the process stood still, since it was asked last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stops {
    pub(super) sum_ns: Nanos,
    /// Of a stop that lasted from before then, the time until then.
    pub(super) before_ns: Nanos,
    pub(super) count: u64,
    pub(super) longest_ns: Nanos,
}

impl Pulse {
    /// Begins. Without a thread nothing is known, nor where the kernel does not tell how long one waited for a processor.
    pub(super) fn start() -> Self {
        let beating = Arc::new(Beating::default());
        let own = Arc::clone(&beating);
        let has_waits = std::fs::metadata(WAITS).is_ok();
        let begin = |beats: thread::Builder| beats.spawn(move || beat(&own)).ok();
        let thread =
            has_waits.then(|| thread::Builder::new().name("pulse".to_owned())).and_then(begin);
        Self { beating, thread }
    }

    /// What came since the last call.
    pub(super) fn take(&self) -> Stops {
        let mut noted = self.beating.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.taken_ns = clock::now();
        std::mem::take(&mut noted.stops)
    }
}

impl Noted {
    /// A stop of this length ended at `now_ns`.
    fn add(&mut self, now_ns: Nanos, stopped_ns: Nanos) {
        let before_ns = before(self.taken_ns, now_ns, stopped_ns);
        self.stops.before_ns += before_ns;
        self.stops.sum_ns += stopped_ns - before_ns;
        self.stops.count += 1;
        self.stops.longest_ns = self.stops.longest_ns.max(stopped_ns);
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.beating.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It ends at once.
            let _ = thread.join();
        }
    }
}

fn beat(to: &Beating) {
    let (mut queued_ns, mut unread) = (clock::thread_queued(), 0);
    loop {
        let due_ns = clock::now().saturating_add(BEAT);
        thread::park_timeout(Duration::from_nanos(BEAT));
        if to.ended.load(Ordering::Relaxed) {
            return;
        }
        let now_ns = clock::now();
        let late_ns = now_ns.saturating_sub(due_ns);
        unread += 1;
        if late_ns < LEAST && unread < READ_EVERY {
            continue;
        }
        let read_ns = std::mem::replace(&mut queued_ns, clock::thread_queued());
        unread = 0;
        if let Some(stopped_ns) = stopped(late_ns, queued_ns.saturating_sub(read_ns)) {
            to.noted.lock().unwrap_or_else(PoisonError::into_inner).add(now_ns, stopped_ns);
        }
    }
}

/// How long the process stood still, if it did, where a thread woke so late and waited so long for a processor.
fn stopped(late_ns: Nanos, queued_ns: Nanos) -> Option<Nanos> {
    Some(late_ns.saturating_sub(queued_ns)).filter(|stopped_ns| *stopped_ns >= LEAST)
}

/// How much of a stop of this length that ended at `now_ns` lies before an instant.
fn before(instant_ns: Nanos, now_ns: Nanos, stopped_ns: Nanos) -> Nanos {
    instant_ns.saturating_sub(now_ns.saturating_sub(stopped_ns)).min(stopped_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_processor_was_not_stopped() {
        assert_eq!(stopped(40 * MILLISECOND, MILLISECOND), Some(39 * MILLISECOND));
        assert_eq!(stopped(40 * MILLISECOND, 38 * MILLISECOND), None);
        assert_eq!(stopped(MILLISECOND, 0), None);
    }

    #[test]
    fn stops_are_noted_with_what_of_them_lies_before_the_last_taking() {
        let mut noted = Noted { taken_ns: 100, ..Noted::default() };
        noted.add(90, 20);
        noted.add(110, 40);
        noted.add(200, 30);
        let stops = Stops { sum_ns: 40, before_ns: 50, count: 3, longest_ns: 40 };
        assert_eq!(noted.stops, stops);
    }

    #[test]
    fn a_stop_may_lie_before_an_instant_in_part() {
        for (instant, part) in [(0, 0), (60, 0), (75, 15), (100, 40), (110, 40)] {
            assert_eq!(before(instant, 100, 40), part, "{instant}");
        }
    }
}
