//! The processor time of a worker's thread.

use model::Nanos;

/// A thread's processor time since it began, and the clock when it was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The clock, from any instant on.
    pub wall_ns: Nanos,
    /// Processor time.
    pub cpu_ns: Nanos,
    /// Time spent ready to run and waiting for a processor.
    pub queued_ns: Nanos,
    /// How often the thread waited for a page of its memory that had to be read from a disk.
    pub page_ins: u64,
}
