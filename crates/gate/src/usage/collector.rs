//! Merges what workers hand over, keeps what pages and `/metrics` show, and gives batches to the sinks.
//!
//! Two threads of the caller: one calls [`Collector::collect`] some times a second and never waits for a sink; one
//! runs [`Reporter::run`], which writes a batch at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SendError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::by_key::ByKey;
use super::local::Hub;
use super::sum::Sum;
use crate::policy::{NONE, PROBLEMS};

/// Keys and routes that are kept apart, in a batch and since the start. Further ones are dropped from batches, and
/// counted together since the start.
const ROWS_MOST: usize = 20_000;
const DAY_S: i64 = 86_400;
/// Seconds that pages show.
const SECONDS_KEPT: usize = 300;
/// Stands for all keys beyond [`ROWS_MOST`].
const OTHER_KEYS: u64 = u64::MAX;

/// What one key did on one route: the number of the key, 0 for none, and of the route.
pub type By = (u64, u32);

/// Counts of a stretch of time, to be reported.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// When it was put together, in seconds since the epoch.
    pub at_s: i64,
    /// The counts, by key and name of the route.
    pub rows: Vec<(u64, String, Sum)>,
}

impl Batch {
    /// Requests in it.
    pub fn requests(&self) -> u64 {
        self.rows.iter().map(|(_, _, sum)| sum.requests()).sum()
    }
}

/// Counts on their way to the reporter, who makes a batch of them: its thread gives way to requests, the collector's does not.
#[derive(Debug)]
struct Merged {
    at_s: i64,
    sums: HashMap<By, Sum>,
    requests: u64,
    /// Names of the routes, by number.
    routes: BTreeMap<u32, String>,
}

impl Merged {
    /// In order, and with names.
    fn into_batch(self) -> Batch {
        let mut sums: Vec<(By, Sum)> = self.sums.into_iter().collect();
        sums.sort_unstable_by_key(|(by, _)| *by);
        let name = |route: &u32| self.routes.get(route).cloned().unwrap_or_default();
        let rows = sums.into_iter().map(|((key, route), sum)| (key, name(&route), sum));
        Batch { at_s: self.at_s, rows: rows.collect() }
    }
}

/// Where batches go.
pub trait Sink: Send {
    /// Writes a batch, whole or not at all.
    ///
    /// # Errors
    /// In words; the batch is then tried again.
    fn write(&mut self, batch: &Batch) -> Result<(), String>;
}

/// Where all requests are: served = reported + pending + dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// Requests that workers counted.
    pub served: u64,
    /// Of those, written by the sink.
    pub reported: u64,
    /// Still in memory.
    pub pending: u64,
    /// Lost, because memory is bounded.
    pub dropped: u64,
}

/// One second of all requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Second {
    /// Its end, in seconds since the epoch.
    pub at_s: i64,
    /// Requests forwarded.
    pub forwarded: u64,
    /// Refusals, in the order of [`PROBLEMS`].
    pub refused: [u64; PROBLEMS.len()],
    /// Answers of 500 and more.
    pub failed: u64,
    /// Median latency of forwarded requests, 0 without any.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
}

/// What pages and `/metrics` show.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Counts since the start, by key and route.
    pub since_start: BTreeMap<By, Sum>,
    /// Counts since the start, by key.
    pub by_key: ByKey,
    /// The last seconds, oldest first.
    pub seconds: VecDeque<Second>,
    /// Where all requests are: exact, whatever is counted and reported meanwhile.
    pub account: Account,
    /// Why the last batch could not be written, if it could not.
    pub sink_error: Option<String>,
}

#[derive(Debug, Default)]
struct Shared {
    snapshot: Mutex<Snapshot>,
    reported: AtomicU64,
    /// Requests that were handed on to the reporter, those that it has reported included.
    handed_on: AtomicU64,
    error: Mutex<Option<String>>,
    /// Nobody collects any more.
    closed: AtomicBool,
    hub: Arc<Hub>,
    /// Requests merged and not handed on.
    merged: AtomicU64,
    dropped: AtomicU64,
}

impl Shared {
    fn account(&self) -> Account {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let (served, held) = self.hub.served_and_held();
        // Read once: a batch that is reported meanwhile is either with the reporter or reported.
        let reported = load(&self.reported);
        let with_reporter = load(&self.handed_on).saturating_sub(reported);
        let pending = load(&self.merged) + with_reporter + held;
        Account { served, reported, pending, dropped: load(&self.dropped) }
    }
}

/// Merges and hands on.
#[derive(Debug)]
pub struct Collector {
    shared: Arc<Shared>,
    pending: HashMap<By, Sum>,
    /// Requests in it.
    pending_requests: u64,
    /// What the slot of each key asked for in the last collection, in thousandths of a mean request.
    asked_milli: HashMap<u32, u64>,
    /// Since the last second that pages show.
    second: Sum,
    second_s: i64,
    dropped: u64,
    batches: SyncSender<Merged>,
    every_s: i64,
    next_s: i64,
}

/// Writes batches to a sink.
#[derive(Debug)]
pub struct Reporter {
    batches: Receiver<Merged>,
    shared: Arc<Shared>,
}

impl Collector {
    /// Reports every `every_s` seconds what workers hand over to this hub.
    pub fn new(hub: Arc<Hub>, every_s: u32) -> (Self, Reporter) {
        // One batch waits while another is written.
        let (batches, received) = sync_channel(1);
        let shared = Arc::new(Shared { hub, ..Shared::default() });
        let reporter = Reporter { batches: received, shared: Arc::clone(&shared) };
        let collector = Self {
            shared,
            pending: HashMap::new(),
            pending_requests: 0,
            asked_milli: HashMap::new(),
            second: Sum::default(),
            second_s: 0,
            dropped: 0,
            batches,
            every_s: i64::from(every_s.max(1)),
            next_s: 0,
        };
        (collector, reporter)
    }

    /// Takes in what was handed over, and hands on a batch where it is time. `key_id` gives the number of a key by its
    /// slot, `route_name` the name of a route by its number.
    pub fn collect(
        &mut self,
        unix_s: i64,
        key_id: impl Fn(u32) -> u64,
        route_name: impl Fn(u32) -> String,
    ) {
        if unix_s.div_euclid(DAY_S) != self.second_s.div_euclid(DAY_S) {
            // Quotas are of days: what came on the last one is reported of it.
            self.hand_on(self.second_s, &route_name, try_send);
        }
        self.asked_milli.clear();
        let mut snapshot = lock(&self.shared.snapshot);
        self.shared.hub.each_full(|table| {
            self.dropped += table.dropped;
            for row in table.rows() {
                self.second.add(row);
                if row.key != NONE && row.asked_milli > 0 {
                    *self.asked_milli.entry(row.key).or_default() += row.asked_milli;
                }
                let by = (key_id(row.key), row.route);
                let full = self.pending.len() >= ROWS_MOST && !self.pending.contains_key(&by);
                if full {
                    self.dropped += row.requests();
                } else {
                    self.pending.entry(by).or_default().add(row);
                    self.pending_requests += row.requests();
                }
                snapshot.by_key.add(by.0, row);
                let known = &mut snapshot.since_start;
                let by = if known.len() < ROWS_MOST || known.contains_key(&by) {
                    by
                } else {
                    (OTHER_KEYS, row.route)
                };
                known.entry(by).or_default().add(row);
            }
        });
        if unix_s != self.second_s {
            self.second_s = unix_s;
            note_second(&mut snapshot.seconds, unix_s, &std::mem::take(&mut self.second));
        }
        drop(snapshot);
        // A clock that was put back would have it wait for longer than that.
        if !(1..=self.every_s).contains(&(self.next_s - unix_s)) {
            self.next_s = unix_s + self.every_s;
            // Where the sink is slow, what is merged goes on being merged.
            self.hand_on(unix_s, route_name, try_send);
        }
        self.settle();
    }

    /// Hands on what there is, whatever the time: before the end. Waits for a sink that is slow; one that fails from now on
    /// is not tried again.
    pub fn flush(&mut self, unix_s: i64, route_name: impl Fn(u32) -> String) {
        self.shared.closed.store(true, Ordering::Release);
        self.hand_on(unix_s, route_name, |batches, merged| {
            batches.send(merged).map_err(|SendError(merged)| merged)
        });
        self.settle();
    }

    /// What the slot of each key asked of the ceiling in the last collection, in thousandths of a mean request.
    pub fn asked_milli(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.asked_milli.iter().map(|(slot, milli)| (*slot, *milli))
    }

    /// What pages and `/metrics` show.
    pub fn reader(&self) -> Reader {
        Reader(Arc::clone(&self.shared))
    }

    /// Gives what is merged to the reporter, as it lies; `send` gives back what it does not take.
    fn hand_on(
        &mut self,
        at_s: i64,
        route_name: impl Fn(u32) -> String,
        send: impl FnOnce(&SyncSender<Merged>, Merged) -> Result<(), Merged>,
    ) {
        if self.pending.is_empty() {
            return;
        }
        let routes: BTreeSet<u32> = self.pending.keys().map(|(_, route)| *route).collect();
        // About as many will be merged until the next time.
        let room = HashMap::with_capacity(self.pending.len());
        let merged = Merged {
            at_s,
            sums: std::mem::replace(&mut self.pending, room),
            requests: std::mem::take(&mut self.pending_requests),
            routes: routes.into_iter().map(|route| (route, route_name(route))).collect(),
        };
        let requests = merged.requests;
        self.shared.handed_on.fetch_add(requests, Ordering::Relaxed);
        if let Err(merged) = send(&self.batches, merged) {
            self.shared.handed_on.fetch_sub(requests, Ordering::Relaxed);
            (self.pending, self.pending_requests) = (merged.sums, requests);
        }
    }

    fn settle(&self) {
        self.shared.merged.store(self.pending_requests, Ordering::Relaxed);
        self.shared.dropped.store(self.dropped, Ordering::Relaxed);
        let mut snapshot = lock(&self.shared.snapshot);
        snapshot.account = self.shared.account();
        snapshot.sink_error = lock(&self.shared.error).clone();
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
    }
}

impl Reporter {
    /// Writes batches until the collector is gone. A batch that could not be written is tried again after `pause`,
    /// until it is, or until the collector is gone.
    pub fn run(self, sink: &mut dyn Sink, pause: impl Fn()) {
        while let Ok(merged) = self.batches.recv() {
            let batch = merged.into_batch();
            while let Err(why) = sink.write(&batch) {
                *lock(&self.shared.error) = Some(why);
                // Without a collector nobody waits for a better time.
                if self.shared.closed.load(Ordering::Acquire) {
                    return;
                }
                pause();
            }
            *lock(&self.shared.error) = None;
            self.shared.reported.fetch_add(batch.requests(), Ordering::Relaxed);
        }
    }
}

/// Reads what a collector has put together.
#[derive(Debug, Clone)]
pub struct Reader(Arc<Shared>);

impl Reader {
    /// Looks at it. The collector waits meanwhile, workers do not.
    pub fn read<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> T {
        look(&lock(&self.0.snapshot))
    }

    /// Where all requests are now. Exact while nothing is collected; else a request that moves meanwhile may be counted in two
    /// places or in none, which no [`Snapshot::account`] has.
    pub fn account(&self) -> Account {
        self.0.account()
    }

    /// Why the last batch could not be written, if it could not.
    pub fn sink_error(&self) -> Option<String> {
        lock(&self.0.error).clone()
    }
}

/// Hands on where the reporter has room.
fn try_send(batches: &SyncSender<Merged>, merged: Merged) -> Result<(), Merged> {
    batches.try_send(merged).map_err(|error| match error {
        TrySendError::Full(merged) | TrySendError::Disconnected(merged) => merged,
    })
}

fn note_second(seconds: &mut VecDeque<Second>, at_s: i64, sum: &Sum) {
    let failed = sum.statuses.iter().filter(|(status, _)| (500..600).contains(*status));
    seconds.push_back(Second {
        at_s,
        forwarded: sum.forwarded,
        refused: sum.refused,
        failed: failed.map(|(_, n)| n).sum(),
        p50_ns: sum.latency.interpolated(0.5),
        p99_ns: sum.latency.interpolated(0.99),
    });
    while seconds.len() > SECONDS_KEPT {
        seconds.pop_front();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
