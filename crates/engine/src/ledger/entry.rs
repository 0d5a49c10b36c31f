//! What a worker's books are made of: requests under way, responses, and the pages handed over.

use model::interval::{Phase, Tally, WorkerUse};
use model::{ErrorClass, Nanos};
use traffic::{Part, Wants};

use crate::notes::Notes;

/// A request under way: its instants in nanoseconds since the run's start, and what it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) due: Nanos,
    pub(crate) taken: Nanos,
    pub(crate) sent: Nanos,
    pub(crate) endpoint: u32,
    pub(crate) head: bool,
    pub(crate) wants: Wants,
    /// The net has handed it to the kernel, at `sent`; before, that is when it was made.
    pub(crate) handed: bool,
}

impl Flight {
    /// A request that was just made.
    #[inline]
    pub(crate) fn of(part: &Part, due: Nanos, taken: Nanos, now: Nanos) -> Self {
        let Part { endpoint, head, wants, .. } = *part;
        Self { due, taken, sent: now, endpoint, head, wants, handed: false }
    }

    /// Whether what was taken in at `at` cannot be its answer: it had not left by then.
    #[inline]
    pub(crate) fn left_after(&self, at: Nanos) -> bool {
        !self.handed || self.sent > at
    }

    pub(crate) fn attempt(self) -> Attempt {
        Attempt { due: self.due, endpoint: self.endpoint }
    }
}

/// An attempt that never became a request under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) due: Nanos,
    pub(crate) endpoint: u32,
}

/// What a whole answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    /// When its first byte came.
    pub(crate) first: Nanos,
    pub(crate) status: u16,
    /// How it failed, if it did.
    pub(crate) failure: Option<ErrorClass>,
    /// The check that it failed.
    pub(crate) check: Option<u16>,
}

/// One worker's interval, on its way to the collector.
#[derive(Debug)]
pub struct Page {
    pub(crate) index: u32,
    pub(crate) phase: Phase,
    pub(crate) start_ns: Nanos,
    pub(crate) end_ns: Nanos,
    pub(crate) due: u64,
    pub(crate) sheet: Sheet,
    pub(crate) used: WorkerUse,
}

/// What an interval's books are written on.
#[derive(Debug, Default)]
pub struct Sheet {
    pub(crate) tally: Box<Tally>,
    pub(crate) notes: Notes,
}

impl Sheet {
    /// Empties it; its memory stays.
    pub(crate) fn clear(&mut self) {
        self.tally.clear();
        self.notes.clear();
    }
}
