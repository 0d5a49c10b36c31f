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
}
