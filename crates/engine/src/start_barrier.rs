//! The instants that the workers of a run agree on: the start that all count from, set once the last
//! of them has opened its connections, so that opening is not part of what is measured; and the end
//! of a window that is cut short, with the reason where a source has one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use model::Nanos;
use traffic::Halt;

/// Time between the last worker being ready and the run's start, or between the first noticing that the run is to end and its
/// window's end: by then the others have seen it that have something to do.
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
    /// When a window ends that is cut short.
    end_ns: AtomicU64,
    /// Why a source ended the run: the first that did.
    halt: OnceLock<Halt>,
}

impl StartBarrier {
    /// A barrier that waits for `workers`.
    pub fn new(workers: u32) -> Self {
        Self {
            ready: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            open: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            start_ns: AtomicU64::new(UNSET),
            end_ns: AtomicU64::new(UNSET),
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

    /// A worker has noticed, at `now` after the start, that the window is to end early. Returns when it ends for all of them: soon
    /// after the first has noticed. One that has nothing to do notices later, and has counted nothing since: it looks before
    /// it handles what has come.
    pub fn noticed(&self, now: Nanos) -> Nanos {
        // A source that has halted sends nothing meanwhile.
        let lead_ns = if self.ready.len() == 1 { 1 } else { LEAD_NS };
        self.end(now.saturating_add(lead_ns))
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
    fn a_window_ends_soon_after_the_first_worker_has_noticed() {
        let barrier = StartBarrier::new(2);
        assert_eq!(barrier.noticed(700), 700 + LEAD_NS);
        assert_eq!(barrier.noticed(NOTICE_STOP), 700 + LEAD_NS, "it had nothing to do");
        assert_eq!(barrier.end(5), 700 + LEAD_NS);
        assert_eq!(StartBarrier::new(1).noticed(100), 101);
    }
}
