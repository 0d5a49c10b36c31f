//! The interface of shared limits to decisions: which limits have something to report. Never waits.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::policy::QuotaOf;

/// The most keys, routes and so on in the queue to the thread. If it is full, the thread visits all of them instead.
const WAITING: usize = 1 << 16;
/// After this time without an answer the server counts as silent.
const SILENT_NS: u64 = 1_000_000_000;

/// The place of the load line among those of [`QuotaOf::place`].
pub(super) const LINE: u32 = u32::MAX;

/// Shared by the workers that decide and the thread that talks to the server.
#[derive(Debug)]
pub struct Meter {
    on: AtomicBool,
    answered_ns: AtomicU64,
    /// How many gateways share limits, by the latest answer of the server; 0 before the first.
    gateways: AtomicU32,
    /// What was let through under the load line and not reported yet, in thousandths of a mean request.
    pub(super) line_milli: AtomicU64,
    /// Whether the queue was full when something was let through.
    pub(super) missed: AtomicBool,
    sender: SyncSender<u32>,
    receiver: Mutex<Option<Receiver<u32>>>,
}

impl Default for Meter {
    fn default() -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        Self {
            on: AtomicBool::new(false),
            answered_ns: AtomicU64::new(0),
            gateways: AtomicU32::new(0),
            line_milli: AtomicU64::new(0),
            missed: AtomicBool::new(false),
            sender,
            receiver: Mutex::new(Some(receiver)),
        }
    }
}

impl Meter {
    /// Whether limits are shared.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Whether the server has answered lately.
    pub fn is_fresh(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.answered_ns.load(Ordering::Relaxed)) <= SILENT_NS
    }

    /// A request under a quota or a key was let through. `unreported` counts those that are not reported yet.
    pub(crate) fn took(&self, of: QuotaOf, unreported: &AtomicU32) {
        if unreported.fetch_add(1, Ordering::Relaxed) == 0 {
            self.enqueue(of.place());
        }
    }

    /// A request was let through under the load line.
    pub(crate) fn took_of_line(&self, cost_milli: u32) {
        if self.line_milli.fetch_add(u64::from(cost_milli), Ordering::Relaxed) == 0 {
            self.enqueue(LINE);
        }
    }

    fn enqueue(&self, place: u32) {
        if self.sender.try_send(place).is_err() {
            self.missed.store(true, Ordering::Relaxed);
        }
    }

    /// How many gateways share limits, this one included, by the latest answer of the server; 0 before the first.
    pub fn gateways(&self) -> u32 {
        self.gateways.load(Ordering::Relaxed)
    }

    /// The server has answered, and counts this many gateways.
    pub(super) fn answered(&self, gateways: u32, now_ns: u64) {
        self.gateways.store(gateways, Ordering::Relaxed);
        self.answered_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Switches sharing on, and returns the queue of places that have something to report. `None` the second time.
    pub(super) fn switch_on(&self) -> Option<Receiver<u32>> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        self.on.store(true, Ordering::Relaxed);
        Some(receiver)
    }
}
