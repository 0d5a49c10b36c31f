//! Pages of requests between workers and the log's thread, in bounded memory.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Entry;
use crate::locks::try_lock;

/// Bytes of a page.
const PAGE_BYTES: usize = 64 * 1024;
/// Pages of each worker: 4 MiB, which are some ten thousand requests.
const PAGES: usize = 64;
/// A page with at least so many bytes goes to the queue at the end of a batch: one that becomes full during a batch has to be
/// exchanged at once.
const NEARLY_FULL: usize = PAGE_BYTES / 8 * 7;
/// How long a request may wait in a page that does not fill up.
const HAND_OVER_NS: u64 = 100_000_000;

/// What became of the requests that the log was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Written to the file.
    pub written: u64,
    /// Left out since no page was empty.
    pub dropped: u64,
    /// Lost since the file could not be written.
    pub failed: u64,
}

/// Full and empty pages, and counts.
#[derive(Debug)]
pub struct PageQueue {
    pages: Mutex<Pages>,
    /// Of all clients, in thousandths of a thousandth.
    sample_ppm: u64,
    pub(super) written: AtomicU64,
    pub(super) failed: AtomicU64,
    dropped: AtomicU64,
}

#[derive(Debug, Default)]
struct Pages {
    full: Vec<Vec<u8>>,
    empty: Vec<Vec<u8>>,
}

impl PageQueue {
    /// For the requests of this share of all clients, 0..=1. A client's are all logged or none, so that sessions are
    /// whole.
    pub fn new(sample: f64) -> Self {
        Self {
            pages: Mutex::default(),
            sample_ppm: (sample.clamp(0.0, 1.0) * 1e6).round() as u64,
            written: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    /// Whether requests of this address are logged.
    pub fn takes(&self, address: IpAddr) -> bool {
        if self.sample_ppm >= 1_000_000 {
            return true;
        }
        let mut hasher = DefaultHasher::new();
        address.hash(&mut hasher);
        hasher.finish() % 1_000_000 < self.sample_ppm
    }

    /// What was counted so far.
    pub fn counts(&self) -> LogCounts {
        LogCounts {
            written: self.written.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// Takes the pages that are full, oldest first. Leaves as much room for others: no worker has to ask for memory.
    pub(super) fn take_full(&self) -> Vec<Vec<u8>> {
        let room = match &self.pages().full {
            full if full.is_empty() => return Vec::new(),
            full => full.capacity(),
        };
        let empty = Vec::with_capacity(room);
        std::mem::replace(&mut self.pages().full, empty)
    }

    /// Gives a page back that was read.
    pub(super) fn give_back(&self, mut page: Vec<u8>) {
        page.clear();
        self.pages().empty.push(page);
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a worker writes requests with. Allocates nothing once it is made, and holds a lock only while two pages change
/// places. It waits for that lock only where a page becomes full during a batch of events.
#[derive(Debug)]
pub struct PageWriter {
    queue: Arc<PageQueue>,
    page: Vec<u8>,
    next_ns: u64,
}

impl PageWriter {
    /// A worker's.
    pub fn new(queue: Arc<PageQueue>) -> Self {
        let page = || Vec::with_capacity(PAGE_BYTES);
        let mut pages = queue.pages();
        pages.empty.extend((1..PAGES).map(|_| page()));
        let all = pages.empty.len() + pages.full.len() + PAGES;
        pages.empty.reserve(all);
        pages.full.reserve(all);
        drop(pages);
        Self { queue, page: page(), next_ns: 0 }
    }

    /// Whether requests of this address are logged.
    pub(crate) fn takes(&self, address: IpAddr) -> bool {
        self.queue.takes(address)
    }

    /// Notes a request that has ended.
    pub(crate) fn write(&mut self, entry: &Entry<'_>) {
        if self.page.len() + entry.bytes() > PAGE_BYTES && !self.hand_over() {
            self.queue.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        entry.write(&mut self.page);
    }

    /// Hands over where something has waited long enough, or little room is left. To be called once a batch of events. Waits for
    /// nobody: where somebody else moves pages at this moment, the next batch of events tries again.
    pub(crate) fn tick(&mut self, now_ns: u64) {
        if now_ns < self.next_ns && self.page.len() < NEARLY_FULL {
            return;
        }
        if !self.page.is_empty() {
            let Some(mut pages) = try_lock(&self.queue.pages) else { return };
            swap(&mut pages, &mut self.page);
        }
        self.next_ns = now_ns.saturating_add(HAND_OVER_NS);
    }

    fn hand_over(&mut self) -> bool {
        swap(&mut self.queue.pages(), &mut self.page)
    }
}

/// Puts a page into the queue, if there is an empty one to go on with.
fn swap(pages: &mut Pages, page: &mut Vec<u8>) -> bool {
    let Some(empty) = pages.empty.pop() else { return false };
    pages.full.push(std::mem::replace(page, empty));
    true
}

impl Drop for PageWriter {
    fn drop(&mut self) {
        if !self.page.is_empty() {
            self.queue.pages().full.push(std::mem::take(&mut self.page));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: u64) -> Entry<'static> {
        Entry {
            at_ns: 1,
            took_ns: 2,
            bytes_in: 3,
            bytes_out: 4,
            head_out: 2,
            key,
            address: "192.0.2.1".parse().unwrap(),
            status: 200,
            version_minor: 1,
            route: 7,
            texts: [b"GET", b"/a/long/path", b"h", b"", b"agent"],
        }
    }

    #[test]
    fn a_batch_does_not_wait_for_who_moves_pages() {
        let queue = Arc::new(PageQueue::new(1.0));
        let mut writer = PageWriter::new(Arc::clone(&queue));
        writer.write(&entry(1));
        let moving = queue.pages();
        writer.tick(HAND_OVER_NS);
        assert!(moving.full.is_empty());
        drop(moving);
        writer.tick(HAND_OVER_NS + 1);
        assert_eq!(queue.take_full().len(), 1, "the next batch hands it over");
        while writer.page.len() < NEARLY_FULL {
            writer.tick(HAND_OVER_NS + 2);
            assert!(queue.take_full().is_empty(), "it is not due, and has room");
            writer.write(&entry(2));
        }
        writer.tick(HAND_OVER_NS + 2);
        assert_eq!(queue.take_full().len(), 1, "little room is left");
    }

    /// A thread that never takes a page: what finds no room is counted, and the rest is there in order.
    #[test]
    fn what_finds_no_room_is_dropped_and_counted() {
        let queue = Arc::new(PageQueue::new(1.0));
        let mut writer = PageWriter::new(Arc::clone(&queue));
        let requests = 100_000;
        (0..requests).for_each(|key| writer.write(&entry(key)));
        drop(writer);
        let pages = queue.take_full();
        assert!(pages.len() <= PAGES && pages.iter().all(|page| page.len() <= PAGE_BYTES));
        let mut keys = Vec::new();
        for page in &pages {
            let mut page = page.as_slice();
            keys.extend(std::iter::from_fn(|| Entry::read(&mut page)).map(|entry| entry.key));
        }
        let dropped = queue.counts().dropped;
        assert!(dropped > 0);
        assert_eq!(keys, (0..requests - dropped).collect::<Vec<_>>());
    }

    #[test]
    fn a_share_of_clients_is_logged_whole() {
        let (all, some, none) = (PageQueue::new(1.0), PageQueue::new(0.1), PageQueue::new(0.0));
        let addresses = (0..20_000u32).map(|n| IpAddr::from(n.to_be_bytes()));
        let taken = addresses.clone().filter(|&address| some.takes(address)).count();
        assert!((1_800..=2_200).contains(&taken), "{taken}");
        assert!(addresses.clone().all(|address| all.takes(address) && !none.takes(address)));
        assert!(addresses.clone().all(|address| some.takes(address) == some.takes(address)));
    }
}
