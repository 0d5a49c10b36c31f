//! What a recorder counts, and what it hands over: requests in flight, responses, intervals.

use model::interval::{Phase, SliceTally, Tally, WorkerUse};
use model::{ErrorClass, Nanos};
use traffic::{Part, Wants};

use crate::attempt_log::AttemptLog;

/// A request under way: its instants in nanoseconds since the run's start, and what it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    pub(crate) due: Nanos,
    pub(crate) taken: Nanos,
    pub(crate) sent: Nanos,
    pub(crate) endpoint: u32,
    pub(crate) head: bool,
    /// It is the last request of its connection, as it asks for `Connection: close`.
    pub(crate) closes: bool,
    pub(crate) wants: Wants,
    /// The net has handed it to the kernel, at `sent`. Until then `sent` is when it was made.
    pub(crate) handed: bool,
}

impl InFlight {
    /// A request that was just made.
    #[inline]
    pub(crate) fn of(part: &Part, due: Nanos, taken: Nanos, now: Nanos) -> Self {
        let Part { endpoint, head, closes, wants, .. } = *part;
        Self { due, taken, sent: now, endpoint, head, closes, wants, handed: false }
    }

    /// Whether bytes received at `at` cannot be its response, because it had not left by then.
    #[inline]
    pub(crate) fn left_after(&self, at: Nanos) -> bool {
        !self.handed || self.sent > at
    }

    pub(crate) fn attempt(self) -> Attempt {
        Attempt { due: self.due, endpoint: self.endpoint }
    }
}

/// An attempt for which no request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) due: Nanos,
    pub(crate) endpoint: u32,
}

/// A whole response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WholeResponse {
    /// When its first byte came.
    pub(crate) first: Nanos,
    pub(crate) status: u16,
    /// Why it failed, if it did.
    pub(crate) failure: Option<ErrorClass>,
    /// The check that it failed.
    pub(crate) check: Option<u16>,
}

/// One worker's interval, on its way to the collector.
#[derive(Debug)]
pub struct WorkerInterval {
    pub(crate) index: u32,
    pub(crate) phase: Phase,
    pub(crate) start_ns: Nanos,
    pub(crate) end_ns: Nanos,
    pub(crate) due: u64,
    /// Its parts, in a short run.
    pub(crate) slices: Vec<SliceTally>,
    pub(crate) buffers: IntervalBuffers,
    pub(crate) used: WorkerUse,
}

/// Memory that an interval is counted in: handed over full, and given back empty.
#[derive(Debug, Default)]
pub struct IntervalBuffers {
    pub(crate) tally: Box<Tally>,
    pub(crate) attempts: AttemptLog,
}

impl IntervalBuffers {
    /// Empty ones, with room for the times of requests and responses.
    pub(crate) fn with_room(open_loop: bool) -> Self {
        Self { tally: Box::new(Tally::with_room(open_loop)), attempts: AttemptLog::default() }
    }

    /// Empties it; its memory stays.
    pub(crate) fn clear(&mut self) {
        self.tally.clear();
        self.attempts.clear();
    }
}
