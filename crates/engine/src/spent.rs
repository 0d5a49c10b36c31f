//! What a worker's thread has spent of the machine.

use model::Nanos;

/// What a thread has spent since it began, and the clock when this was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// The clock, from any instant on.
    pub wall_ns: Nanos,
    /// Processor time.
    pub cpu_ns: Nanos,
    /// Time spent ready to run and waiting for a processor.
    pub queued_ns: Nanos,
}
