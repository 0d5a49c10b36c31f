//! What the workers of a gateway share, and what they count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use super::certificates::Identity;
use super::connection_caps::Caps;
use super::refusal::Fault;
use crate::access::PageQueue;
use crate::health::Health;
use crate::policy::Current;

/// The same for all workers.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) current: Arc<Current>,
    pub(super) health: Arc<Health>,
    pub(super) log: Option<Arc<PageQueue>>,
    pub(super) busy_poll_ns: u64,
    pub(super) caps: Caps,
    pub(super) stop: AtomicU8,
    pub(super) counts: Vec<Counts>,
}

/// A worker's place: which listener it serves.
#[derive(Debug, Clone, Default)]
pub(super) struct Entrance {
    pub(super) identity: Option<Identity>,
    /// A PROXY protocol header comes first.
    pub(super) proxy: bool,
}

/// [`Shared::stop`]: serve.
pub(super) const RUN: u8 = 0;
/// [`Shared::stop`]: finish what is in flight.
pub(super) const DRAIN: u8 = 1;
/// [`Shared::stop`]: end at once.
pub(super) const END: u8 = 2;

/// The counts of one worker, written by it alone.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Counts {
    pub(super) accepted: AtomicU64,
    pub(super) let_in: AtomicU64,
    pub(super) closed: AtomicU64,
    pub(super) capped: AtomicU64,
    pub(super) not_accepted: AtomicU64,
    pub(super) headerless: AtomicU64,
    pub(super) requests: AtomicU64,
    pub(super) faults: [AtomicU64; FAULT_STATUSES.len()],
    pub(super) retries: AtomicU64,
    pub(super) connects: AtomicU64,
    pub(super) tunnels: AtomicU64,
    pub(super) aborted: AtomicU64,
    pub(super) cut: AtomicU64,
}

/// Statuses of the gateway's own responses to requests that are malformed, slow, or failed by an upstream.
pub const FAULT_STATUSES: [u16; 11] = [400, 405, 408, 413, 417, 431, 502, 503, 504, 505, 508];

/// What the data path has counted over all workers since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathCounts {
    /// Connections accepted.
    pub accepted: u64,
    /// Those of them that may make requests: not capped, and begun with the header of the PROXY protocol where one is asked for.
    pub let_in: u64,
    /// Connections that stand.
    pub open: u64,
    /// Connections closed at once, for their address or the worker had as many as it may.
    pub capped: u64,
    /// Connections that could not be accepted, for want of files or watches of epoll.
    pub not_accepted: u64,
    /// Connections that were reset, since what they began with is no header of the PROXY protocol.
    pub headerless: u64,
    /// Heads of requests that were read whole.
    pub requests: u64,
    /// Requests answered with a [`Fault`], upstream failures included.
    pub faults: u64,
    /// The same by the status of the response, in the order of [`FAULT_STATUSES`].
    pub faults_by: [u64; FAULT_STATUSES.len()],
    /// Requests sent again.
    pub retries: u64,
    /// Connections opened to upstreams.
    pub connects: u64,
    /// Changes of protocol.
    pub tunnels: u64,
    /// Responses cut off, since the upstream failed in the middle or the client did not take them.
    pub aborted: u64,
    /// Requests that were in flight when the gateway ended, and were cut off by that.
    pub cut: u64,
}

/// Adds one to a count that has a single writer.
#[inline]
pub(super) fn count(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

impl Shared {
    pub(super) fn counts(&self) -> PathCounts {
        let sum = |of: fn(&Counts) -> &AtomicU64| {
            self.counts.iter().map(|counts| of(counts).load(Relaxed)).sum()
        };
        let faults_by: [u64; FAULT_STATUSES.len()] = std::array::from_fn(|at| {
            self.counts.iter().map(|counts| counts.faults[at].load(Relaxed)).sum::<u64>()
        });
        let closed: u64 = sum(|counts| &counts.closed);
        let accepted: u64 = sum(|counts| &counts.accepted);
        PathCounts {
            accepted,
            let_in: sum(|counts| &counts.let_in),
            open: accepted.saturating_sub(closed),
            capped: sum(|counts| &counts.capped),
            not_accepted: sum(|counts| &counts.not_accepted),
            headerless: sum(|counts| &counts.headerless),
            requests: sum(|counts| &counts.requests),
            faults: faults_by.iter().sum(),
            faults_by,
            retries: sum(|counts| &counts.retries),
            connects: sum(|counts| &counts.connects),
            tunnels: sum(|counts| &counts.tunnels),
            aborted: sum(|counts| &counts.aborted),
            cut: sum(|counts| &counts.cut),
        }
    }
}

impl Counts {
    pub(super) fn fault(&self, fault: Fault) {
        if let Some(at) = FAULT_STATUSES.iter().position(|status| *status == fault.status()) {
            count(&self.faults[at]);
        }
    }
}

/// Looks at what a data path counts, from wherever.
#[derive(Debug, Clone)]
pub struct PathReader(pub(super) Arc<Shared>);

impl PathReader {
    /// What was counted so far.
    pub fn counts(&self) -> PathCounts {
        self.0.counts()
    }
}
