//! The state of a server thread apart from its connections, and the state that all threads share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::Nanos;

use crate::certificate::Identity;
use crate::counters::{Counts, Served};
use crate::options::{Options, Stall, StartError};
use crate::queue::Queues;
use crate::response::UsualResponse;
use crate::timers::Timers;

/// The state that the threads of a server share. All of it is read-only, except for the queues.
#[derive(Debug)]
pub struct Shared {
    pub(crate) usual: UsualResponse,
    pub(crate) queues: Queues,
    pub(crate) counts: Box<[Counts]>,
    pub(crate) identity: Option<Identity>,
    pub(crate) stall: Option<Stall>,
    pub(crate) responses_per_connection: u64,
    pub(crate) seed: u64,
    pub(crate) start_ns: Nanos,
    pub(crate) stop: AtomicBool,
}

impl Shared {
    /// For `threads` threads that start together at `start_ns` of the net's clock.
    ///
    /// # Errors
    /// When an option is out of range or the certificate cannot be made or read.
    pub fn new(options: &Options, threads: usize, start_ns: Nanos) -> Result<Self, StartError> {
        if threads == 0 {
            return Err(StartError::Option("--threads must be at least 1"));
        }
        if options.requests_per_connection == Some(0) {
            return Err(StartError::Option("--requests-per-connection must be at least 1"));
        }
        if options.stall.is_some_and(|stall| stall.for_ns == 0 || stall.for_ns >= stall.every_ns) {
            return Err(StartError::Option("--stall-for must be above 0 and below --stall-every"));
        }
        Ok(Self {
            usual: UsualResponse::new(),
            queues: Queues::default(),
            counts: (0..threads).map(|_| Counts::default()).collect(),
            identity: options.tls.as_ref().map(Identity::new).transpose()?,
            stall: options.stall,
            responses_per_connection: options.responses_per_connection(),
            seed: options.seed,
            start_ns,
            stop: AtomicBool::new(false),
        })
    }

    /// What has been served up to `now` of the net's clock.
    pub fn served(&self, now: Nanos, io: net::Io) -> Served {
        Served::of(&self.counts, now.saturating_sub(self.start_ns), io)
    }
}

/// All of a worker but its connections.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) shared: Arc<Shared>,
    pub(crate) thread: usize,
    pub(crate) timers: Timers,
    /// Responses on their way to the net; empty between events.
    pub(crate) out: Vec<u8>,
    /// The same in TLS records.
    pub(crate) records: Vec<u8>,
    /// Input out of TLS records; empty between events.
    pub(crate) plain: Vec<u8>,
    /// Connections that have had their turn and need another.
    pub(crate) again: Vec<u32>,
}

impl Context {
    /// Of the thread numbered `thread`.
    pub(crate) fn new(shared: Arc<Shared>, thread: usize) -> Self {
        Self {
            shared,
            thread,
            timers: Timers::default(),
            out: Vec::new(),
            records: Vec::new(),
            plain: Vec::new(),
            again: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn counts(&self) -> &Counts {
        &self.shared.counts[self.thread]
    }
}

/// Whether a connection still exists after an event or an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnStatus {
    Open,
    Gone,
}
