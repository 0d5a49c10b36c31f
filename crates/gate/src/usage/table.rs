//! A table of fixed size: counts of one worker by key and route.

use super::buckets::{BUCKETS, bucket_of};
use crate::policy::{NONE, Outcome, PROBLEMS, Problem};

/// Rows: keys and routes of one worker in one second.
const ROWS: usize = 1024;
/// Places of the index: a power of two, twice the rows.
const PLACES: usize = 2 * ROWS;
/// Different statuses that a row keeps apart.
const STATUSES: usize = 8;

/// Counts of one key on one route.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub key: u32,
    pub route: u32,
    pub forwarded: u32,
    pub upstream_failed: u32,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub latency_sum_ns: u64,
    /// What requests that got as far as the ceiling cost, in thousandths of a mean request; refused ones included.
    pub asked_milli: u64,
    /// Statuses in the order they came, with their counts.
    pub statuses: [(u16, u32); STATUSES],
    /// Of further statuses.
    pub other_statuses: u32,
    pub refused: [u32; PROBLEMS.len()],
    pub latency: [u32; BUCKETS],
}

impl Row {
    fn of(key: u32, route: u32) -> Self {
        Self {
            key,
            route,
            forwarded: 0,
            upstream_failed: 0,
            bytes_in: 0,
            bytes_out: 0,
            latency_sum_ns: 0,
            asked_milli: 0,
            statuses: [(0, 0); STATUSES],
            other_statuses: 0,
            refused: [0; PROBLEMS.len()],
            latency: [0; BUCKETS],
        }
    }

    fn count_status(&mut self, status: u16) {
        for (own, n) in &mut self.statuses {
            if *own == status || *n == 0 {
                (*own, *n) = (status, *n + 1);
                return;
            }
        }
        self.other_statuses += 1;
    }

    /// Requests in it, refused ones included.
    pub fn requests(&self) -> u64 {
        u64::from(self.forwarded) + self.refused.iter().map(|&n| u64::from(n)).sum::<u64>()
    }
}

/// The rows of one worker. Memory is allocated once: a row is written over when it is used again.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
    used: usize,
    /// Requests in these rows.
    counted: u64,
    /// Row plus one, or 0.
    places: Box<[u16; PLACES]>,
    /// Requests that found no row.
    pub dropped: u64,
}

impl Table {
    pub fn new() -> Self {
        Self {
            rows: vec![Row::of(0, 0); ROWS],
            used: 0,
            counted: 0,
            places: Box::new([0; PLACES]),
            dropped: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.used == 0 && self.dropped == 0
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows[..self.used]
    }

    /// Requests counted, those that found no row included. Looks at no row: workers ask, and they have other things in their
    /// caches.
    pub fn requests(&self) -> u64 {
        self.counted + self.dropped
    }

    pub fn clear(&mut self) {
        self.used = 0;
        self.counted = 0;
        self.dropped = 0;
        self.places.fill(0);
    }

    /// Counts a request that was forwarded; whether there was room.
    pub fn count(&mut self, key: u32, route: u32, cost_milli: u32, outcome: &Outcome) -> bool {
        let Some(row) = self.row(key, route) else { return false };
        row.forwarded += 1;
        row.upstream_failed += u32::from(outcome.upstream_failed);
        row.bytes_in += outcome.bytes_in;
        row.bytes_out += outcome.bytes_out;
        row.latency_sum_ns += outcome.latency_ns;
        row.asked_milli += u64::from(cost_milli);
        row.latency[bucket_of(outcome.latency_ns)] += 1;
        row.count_status(outcome.status);
        self.counted += 1;
        true
    }

    /// Counts a refusal; whether there was room.
    pub fn refuse(&mut self, key: u32, route: u32, problem: Problem, cost_milli: u32) -> bool {
        self.refuse_with(problem.status(), key, route, problem, cost_milli)
    }

    /// Counts a request that was answered with this status before it had a key or a route; whether there was room.
    pub fn invalid(&mut self, status: u16) -> bool {
        self.refuse_with(status, NONE, NONE, Problem::Invalid, 0)
    }

    fn refuse_with(
        &mut self,
        status: u16,
        key: u32,
        route: u32,
        problem: Problem,
        cost_milli: u32,
    ) -> bool {
        let Some(row) = self.row(key, route) else { return false };
        row.asked_milli += u64::from(cost_milli);
        row.refused[problem as usize] += 1;
        row.count_status(status);
        self.counted += 1;
        true
    }

    fn row(&mut self, key: u32, route: u32) -> Option<&mut Row> {
        // Fibonacci hashing: slots and routes are small dense numbers.
        let mixed = (u64::from(key) << 32 | u64::from(route)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = (mixed >> 48) as usize;
        for step in 0..PLACES {
            let place = (first + step) % PLACES;
            let at = match self.places[place] {
                0 if self.used == ROWS => return None,
                0 => {
                    self.rows[self.used] = Row::of(key, route);
                    self.used += 1;
                    self.places[place] = self.used as u16;
                    self.used - 1
                }
                found => usize::from(found) - 1,
            };
            if (self.rows[at].key, self.rows[at].route) == (key, route) {
                return Some(&mut self.rows[at]);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_again_and_full_is_full() {
        let mut table = Table::new();
        for round in 1..=3u64 {
            for key in 0..ROWS as u32 {
                assert!(table.refuse(key * 7, key % 3, Problem::RateLimited, 0));
            }
            let requests: u64 = table.rows().iter().map(Row::requests).sum();
            assert_eq!((requests, table.requests()), (round * ROWS as u64, requests));
            assert!(!table.refuse(1_000_000, 0, Problem::RateLimited, 0));
        }
        assert_eq!(table.rows().len(), ROWS);
        table.clear();
        assert!(table.is_empty() && table.requests() == 0);
        assert!(table.refuse(1_000_000, 0, Problem::RateLimited, 0));
        assert_eq!(table.rows()[0].requests(), 1);
    }

    #[test]
    fn many_statuses_are_counted_together() {
        let mut table = Table::new();
        for status in 200..212 {
            let outcome = Outcome {
                status,
                bytes_in: 1,
                bytes_out: 2,
                latency_ns: 3,
                upstream_ns: 3,
                waited_ns: 0,
                upstream_failed: false,
            };
            table.count(1, 1, 1000, &outcome);
        }
        let row = &table.rows()[0];
        assert_eq!((row.statuses[7], row.other_statuses), ((207, 1), 4));
        assert_eq!((row.forwarded, row.bytes_out), (12, 24));
    }
}
