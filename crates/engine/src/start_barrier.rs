//! The instants that the workers of a run agree on: the start that all count from, set once the last
//! of them has opened its connections, so that opening is not part of what is measured; and the end
//! of a window that is cut short, with the reason where a source has one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use model::Nanos;
use traffic::Halt;

/// Time between the last worker being ready, or noticing that the run is to end, and the run's start or its window's end: by then
/// the others have seen it.
const LEAD_NS: u64 = 2_000_000;
/// The longest that a worker goes without checking for a stop.
pub(crate) const NOTICE_STOP: Nanos = 50_000_000;
/// No instant yet.
const UNSET: u64 = u64::MAX;

/// The instants that all workers of a run share.
#[derive(Debug)]
pub struct StartBarrier {
    ready: Vec<AtomicBool>,
    /// Connections that each worker has opened before the start, for the live line.
    open: Vec<AtomicU32>,
    start_ns: AtomicU64,
    /// Which workers have noticed that the window is to end early, and when it does.
    noticed: Vec<AtomicBool>,
    end_ns: AtomicU64,
    /// Why a source ended the run: the first that did.
    halt: OnceLock<Halt>,
}

impl StartBarrier {
    /// A barrier that waits for `workers`.
    pub fn new(workers: u32) -> Self {
        let flags = || (0..workers).map(|_| AtomicBool::new(false)).collect();
        let open = (0..workers).map(|_| AtomicU32::new(0)).collect();
        let unset = || AtomicU64::new(UNSET);
        Self {
            ready: flags(),
            open,
            start_ns: unset(),
            noticed: flags(),
            end_ns: unset(),
            halt: OnceLock::new(),
        }
    }

    /// A source ends the run; the first reason stays.
    pub fn halt(&self, halt: Halt) {
        // A second source mostly gives the same reason.
        let _ = self.halt.set(halt);
    }

    /// Why a source ended the run, if one did.
    pub fn halted(&self) -> Option<&Halt> {
        self.halt.get()
    }

    /// Worker `worker` has `connections` open.
    pub fn opened(&self, worker: u32, connections: u32) {
        self.open[worker as usize].store(connections, Ordering::Relaxed);
    }

    /// Connections open before the start; `None` once that is set.
    pub fn opening(&self) -> Option<u32> {
        let open = self.open.iter().map(|open| open.load(Ordering::Relaxed)).sum();
        self.start().is_none().then_some(open)
    }

    /// Worker `worker` is ready, or never will be. The last one sets the start by its clock.
    pub fn ready(&self, worker: u32, now: u64) {
        self.ready[worker as usize].store(true, Ordering::SeqCst);
        if self.ready.iter().all(|ready| ready.load(Ordering::SeqCst)) {
            // Two workers may both find that all are ready; the first of them sets the start.
            let _ = self.start_ns.compare_exchange(
                UNSET,
                now + LEAD_NS,
                Ordering::SeqCst,
                Ordering::SeqCst,
            );
        }
    }

    /// The run's start on the nets' clock, once it is known.
    pub fn start(&self) -> Option<u64> {
        Some(self.start_ns.load(Ordering::Acquire)).filter(|&at| at != UNSET)
    }

    /// Worker `worker` has noticed, at `now` after the start, that the window is to end early. Returns when it ends, as far as is
    /// known: as soon as the last worker has noticed. If each ended its window at once, their intervals would differ. So all
    /// ask again, every millisecond, until then.
    pub fn noticed(&self, worker: u32, now: Nanos) -> Nanos {
        let order = Ordering::SeqCst;
        if !self.noticed[worker as usize].swap(true, order) {
            let all = self.noticed.iter().all(|noticed| noticed.load(order));
            let within = match self.noticed.len() {
                // A source that has halted sends nothing meanwhile.
                1 => 1,
                _ if all => LEAD_NS,
                // By then all have noticed that are not stuck.
                _ => NOTICE_STOP,
            };
            self.end_ns.fetch_min(now.saturating_add(within), order);
        }
        self.end_ns.load(order)
    }

    /// Ends the window early, `wanted` nanoseconds after the start, unless another worker has ended it
    /// already. Returns when it ends for all of them.
    pub fn end(&self, wanted: Nanos) -> Nanos {
        let order = Ordering::SeqCst;
        match self.end_ns.compare_exchange(UNSET, wanted, order, order) {
            Ok(_) => wanted,
            Err(agreed) => agreed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_worker_sets_the_start() {
        let barrier = StartBarrier::new(2);
        barrier.ready(0, 100);
        barrier.ready(0, 200);
        barrier.opened(0, 7);
        barrier.opened(1, 5);
        assert_eq!((barrier.start(), barrier.opening()), (None, Some(12)));
        barrier.ready(1, 300);
        barrier.ready(0, 400);
        assert_eq!((barrier.start(), barrier.opening()), (Some(300 + LEAD_NS), None));
    }

    #[test]
    fn a_window_ends_when_the_last_worker_has_noticed() {
        let barrier = StartBarrier::new(2);
        assert_eq!(barrier.noticed(0, 100), 100 + NOTICE_STOP);
        assert_eq!(barrier.noticed(0, 300), 100 + NOTICE_STOP, "the other one may be stuck");
        assert_eq!(barrier.noticed(1, 700), 700 + LEAD_NS);
        assert_eq!(barrier.noticed(0, 900), 700 + LEAD_NS);
        assert_eq!(barrier.end(5), 700 + LEAD_NS);
        let late = StartBarrier::new(2);
        late.noticed(0, 0);
        assert_eq!(late.noticed(1, NOTICE_STOP - 1), NOTICE_STOP, "no later than was agreed");
        assert_eq!(StartBarrier::new(1).noticed(0, 100), 101);
    }
}
