//! A worker's counts, and where it hands them over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::table::Table;
use crate::locks::try_lock;
use crate::policy::{Outcome, Problem};

/// How often counts are handed over.
const HAND_OVER_NS: u64 = 100_000_000;
/// Tables that may wait for the collector, of each worker.
const WAITING: usize = 2;

/// Where workers hand over their tables, and what all of them counted.
#[derive(Debug, Default)]
pub struct Hub {
    queue: Mutex<Tables>,
    /// Of each worker.
    counts: Mutex<Vec<Arc<Counts>>>,
}

/// What one worker counted. Written by it alone.
#[derive(Debug, Default)]
struct Counts {
    /// Requests so far.
    served: AtomicU64,
    /// Those of them that were handed over. Changed while the queue is locked.
    handed: AtomicU64,
}

#[derive(Debug, Default)]
struct Tables {
    full: Vec<Table>,
    empty: Vec<Table>,
}

impl Hub {
    /// Requests that workers counted so far, whatever became of the counts.
    pub fn served(&self) -> u64 {
        self.sum(|own| own.served.load(Ordering::Relaxed))
    }

    /// As [`Self::served`], and how many of these are still with the workers or wait to be taken: both of one instant.
    pub(super) fn served_and_held(&self) -> (u64, u64) {
        // Nothing is handed over meanwhile. What a worker counts meanwhile is in both, or in neither.
        let queue = self.queue();
        let waiting: u64 = queue.full.iter().map(|table| table.requests()).sum();
        let handed = self.sum(|own| own.handed.load(Ordering::Relaxed));
        let served = self.served();
        (served, served.saturating_sub(handed) + waiting)
    }

    fn sum(&self, figure: impl Fn(&Counts) -> u64) -> u64 {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|own| figure(own)).sum()
    }

    /// Takes what was handed over, and gives the tables back empty. The lock is held for as long as one table is moved, and the
    /// room for full ones stays: no worker has to ask for memory.
    pub(super) fn each_full(&self, mut each: impl FnMut(&Table)) {
        let oldest = || {
            let mut queue = self.queue();
            (!queue.full.is_empty()).then(|| queue.full.remove(0))
        };
        while let Some(mut table) = oldest() {
            each(&table);
            table.clear();
            self.queue().empty.push(table);
        }
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Tables> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counts of one worker since it last handed them over. Counting allocates and locks nothing.
#[derive(Debug)]
pub struct Local {
    hub: Arc<Hub>,
    table: Table,
    counts: Arc<Counts>,
    next_ns: u64,
}

impl Local {
    /// A worker's, for this hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        let counts = Arc::new(Counts::default());
        let tables: Vec<Table> = (0..WAITING).map(|_| Table::new()).collect();
        let mut queue = hub.queue();
        queue.empty.extend(tables);
        // One more at a worker's end.
        let all = queue.empty.len() + queue.full.len() + WAITING + 1;
        queue.empty.reserve(all);
        queue.full.reserve(all);
        drop(queue);
        hub.counts.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&counts));
        Self { hub, table: Table::new(), counts, next_ns: 0 }
    }

    /// Hands over where a tenth of a second has passed. To be called once a batch of events, and while a worker waits at least
    /// once a second. Waits for nobody: where somebody else moves tables at this moment, the next batch of events tries again.
    pub fn tick(&mut self, now_ns: u64) {
        if now_ns < self.next_ns {
            return;
        }
        let Some(mut queue) = try_lock(&self.hub.queue) else { return };
        swap(&mut queue, &mut self.table, &self.counts);
        self.next_ns = now_ns.saturating_add(HAND_OVER_NS);
    }

    /// Hands over now, where there is something and an empty table to take instead. To be called before a worker
    /// ends.
    pub fn hand_over(&mut self) {
        swap(&mut self.hub.queue(), &mut self.table, &self.counts);
    }

    /// Hands over now, also where no empty table is left to take instead: at a worker's end.
    pub fn hand_over_all(&mut self) {
        self.hand_over();
        if !self.table.is_empty() {
            let table = std::mem::replace(&mut self.table, Table::new());
            let mut queue = self.hub.queue();
            self.counts.handed.fetch_add(table.requests(), Ordering::Relaxed);
            queue.full.push(table);
        }
    }

    /// Counts a request that was forwarded.
    pub(crate) fn count(&mut self, key: u32, route: u32, cost_milli: u32, outcome: &Outcome) {
        self.add(|table| table.count(key, route, cost_milli, outcome));
    }

    /// Counts a refusal. `cost_milli`: what the request would have cost, where that was found out.
    pub(crate) fn refuse(&mut self, key: u32, route: u32, problem: Problem, cost_milli: u32) {
        self.add(|table| table.refuse(key, route, problem, cost_milli));
    }

    /// Counts a request that was answered with this status before it was decided about.
    pub(crate) fn invalid(&mut self, status: u16) {
        self.add(|table| table.invalid(status));
    }

    fn add(&mut self, count: impl Fn(&mut Table) -> bool) {
        // The only writer.
        let served = &self.counts.served;
        served.store(served.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if count(&mut self.table) {
            return;
        }
        self.hand_over();
        if !count(&mut self.table) {
            self.table.dropped += 1;
        }
    }
}

/// Hands a table over, where there is something in it and an empty one to take instead.
fn swap(queue: &mut Tables, table: &mut Table, counts: &Counts) {
    if !table.is_empty()
        && let Some(empty) = queue.empty.pop()
    {
        counts.handed.fetch_add(table.requests(), Ordering::Relaxed);
        queue.full.push(std::mem::replace(table, empty));
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.hand_over_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP_NS: u64 = HAND_OVER_NS;

    #[test]
    fn handing_over_asks_for_no_memory() {
        let hub = Arc::new(Hub::default());
        let mut local = Local::new(Arc::clone(&hub));
        for round in 1..=5 {
            local.refuse(1, 0, Problem::RateLimited, 0);
            let asked = allocation_counter::measure(|| local.tick(round * STEP_NS));
            assert_eq!(asked.count_total, 0, "{round}");
            let mut taken = 0;
            hub.each_full(|table| taken += table.requests());
            assert_eq!(taken, 1);
        }
    }

    #[test]
    fn a_worker_waits_for_nobody_who_moves_tables() {
        let hub = Arc::new(Hub::default());
        let mut local = Local::new(Arc::clone(&hub));
        local.refuse(1, 0, Problem::RateLimited, 0);
        let moving = hub.queue();
        local.tick(STEP_NS);
        assert!(moving.full.is_empty());
        drop(moving);
        local.tick(STEP_NS + 1);
        assert_eq!(hub.queue().full.len(), 1, "at the next batch of events");
    }
}
