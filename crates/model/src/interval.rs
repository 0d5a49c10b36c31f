//! What one period of a run brought, about a second long. A worker fills a [`Tally`] and swaps it
//! for an empty one; the collector merges the workers' tallies into an [`Interval`]. The live line,
//! the journal, abort rules and the timeline all read the stream of intervals.

mod endpoint;
mod gauge;
mod kind;
mod presence;
mod slice;
mod statuses;
mod tally;

use serde::{Deserialize, Serialize};

use crate::machine::MachineUse;
use crate::units::Nanos;

pub use endpoint::{
    EndpointTally, FlowTally, MOST_ENDPOINTS, OTHERS, SAMPLE_BYTES, tallies_needed,
};
pub(crate) use endpoint::{add_count, add_counts};
pub use gauge::{Gauge, GaugeSum};
pub use kind::{BEGINNING, KindTally, Look, NO_BODY, begins, length_class, wording};
pub use kind::{Counted, MOST_KINDS, MOST_WORDINGS, place};
pub use presence::PresenceTally;
pub(crate) use presence::{SLOT_BITS, SLOTS};
pub use slice::{RangeCounts, SLICED_AT_MOST, SliceTally, slice_length};
pub use statuses::StatusCounts;
pub use tally::Tally;

/// The part of a run that an interval belongs to. Interval boundaries fall on phase boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Sent, not counted.
    Warmup,
    /// Measured.
    Window,
    /// After the window: nothing is sent, attempts of the window are awaited.
    Drain,
}

impl Phase {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Window => "window",
            Self::Drain => "drain",
        }
    }
}

/// One period of the run over all workers. Instants are nanoseconds since the run's start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Counts from 0 without gaps.
    pub index: u32,
    /// The part of the run.
    pub phase: Phase,
    /// Start, inclusive.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    /// Attempts that were due in the period by the schedule; 0 in a closed loop.
    pub due: u64,
    /// Its parts, in a short run; empty in others and in the drain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<SliceTally>,
    /// What was counted.
    pub tally: Tally,
    /// Each worker's cost, in the workers' order.
    pub workers: Vec<WorkerUse>,
    /// What the generator's machine did besides running the workers; absent if it was not watched.
    #[serde(default)]
    pub machine: Option<MachineUse>,
}

impl Interval {
    /// A period in which nothing was counted.
    pub fn new(index: u32, phase: Phase, start_ns: Nanos, end_ns: Nanos) -> Self {
        let (tally, machine) = (Tally::default(), None);
        let (slices, workers) = (Vec::new(), Vec::new());
        Self { index, phase, start_ns, end_ns, due: 0, slices, tally, workers, machine }
    }
}

/// What an interval cost one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerUse {
    /// Processor time of the worker's thread.
    pub cpu_ns: Nanos,
    /// Time that the thread was ready to run and waited for a processor; 0 where the kernel does not
    /// report it.
    pub queued_ns: Nanos,
    /// Time in which that was spent: the interval's, but for as much as the worker was late to begin or to close it.
    pub wall_ns: Nanos,
    /// Time in which the thread neither waited in the kernel for events nor ran nor waited for a
    /// processor: it was stopped, its machine was paused, or its memory had to be read back. Least
    /// that it can have been.
    pub paused_ns: Nanos,
    /// The longest such gap that lay in the interval, whole.
    pub paused_max_ns: Nanos,
    /// How many there were.
    pub pauses: u32,
    /// How often the thread waited for a page of its memory that had to be read from a disk.
    pub page_ins: u64,
    /// Responses the worker took in.
    #[serde(rename = "answers")]
    pub responses: u64,
    /// Throughput in responses per second over steps of 100 ms, as wrk samples its `Req/Sec`.
    pub steps: Vec<u32>,
}
