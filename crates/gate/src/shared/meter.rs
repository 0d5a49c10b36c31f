//! What decisions ask of shared limits, and tell them. Never waits.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::policy::QuotaOf;

/// Keys, routes and the like that may wait to be noticed. Where one finds no room, all are looked at.
const WAITING: usize = 1 << 16;
/// The server counts as silent after so long without an answer.
const SILENT_NS: u64 = 1_000_000_000;

/// Stands for the load line among what is told of, see [`QuotaOf::place`].
pub(super) const LINE: u32 = u32::MAX;

/// Between decisions and the thread that talks to the server.
#[derive(Debug)]
pub struct Meter {
    on: AtomicBool,
    answered_ns: AtomicU64,
    /// Gateways that share, as the server counted them last; 0 before.
    gateways: AtomicU32,
    /// What was let through of the load line and not told, in thousandths of a mean request.
    pub(super) line_milli: AtomicU64,
    /// Whether something was let through and found no room to be noticed.
    pub(super) missed: AtomicBool,
    tell: SyncSender<u32>,
    heard: Mutex<Option<Receiver<u32>>>,
}

impl Default for Meter {
    fn default() -> Self {
        let (tell, heard) = sync_channel(WAITING);
        Self {
            on: AtomicBool::new(false),
            answered_ns: AtomicU64::new(0),
            gateways: AtomicU32::new(0),
            line_milli: AtomicU64::new(0),
            missed: AtomicBool::new(false),
            tell,
            heard: Mutex::new(Some(heard)),
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

    /// A request of a key, a route or all together was let through; `untold` counts them.
    pub(crate) fn took(&self, of: QuotaOf, untold: &AtomicU32) {
        if untold.fetch_add(1, Ordering::Relaxed) == 0 {
            self.notice(of.place());
        }
    }

    /// A request was let through by the load line.
    pub(crate) fn took_of_line(&self, cost_milli: u32) {
        if self.line_milli.fetch_add(u64::from(cost_milli), Ordering::Relaxed) == 0 {
            self.notice(LINE);
        }
    }

    fn notice(&self, place: u32) {
        if self.tell.try_send(place).is_err() {
            self.missed.store(true, Ordering::Relaxed);
        }
    }

    /// Gateways that share limits, this one included, as the server counted them last; 0 before it did.
    pub fn gateways(&self) -> u32 {
        self.gateways.load(Ordering::Relaxed)
    }

    /// The server has answered, and counted so many gateways.
    pub(super) fn answered(&self, gateways: u32, now_ns: u64) {
        self.gateways.store(gateways, Ordering::Relaxed);
        self.answered_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Switches sharing on; what is told comes out here. `None` the second time.
    pub(super) fn switch_on(&self) -> Option<Receiver<u32>> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        self.on.store(true, Ordering::Relaxed);
        Some(heard)
    }
}
