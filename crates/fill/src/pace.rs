//! How many rows a transaction gets: as many as take about a second, so that Ctrl-C takes effect and progress is shown.
//!
//! A transaction has a fixed cost, and a cost for each row. Where the fixed cost is high (a trigger for each statement, a
//! scan of a large table), small transactions would waste most of the time; then a transaction may take twice its fixed
//! cost.

use std::time::Duration;

/// How long a transaction is to take.
const WANTED: f64 = 1.0;
/// No time is taken for shorter than this, in seconds.
const SHORTEST: f64 = 1e-6;
/// What a transaction that took no longer than one of fewer rows leads to: so many times its rows at most.
const LARGEST_STEP: f64 = 16.0;

/// The size of transactions of a step.
#[derive(Debug)]
pub struct Pace {
    most: u64,
    next: u64,
    /// The shortest transaction so far, in seconds: what one costs by itself is no more.
    shortest: f64,
}

impl Pace {
    /// For transactions of at most so many rows; the first has one row.
    pub fn new(most: u64) -> Self {
        Self { most: most.max(1), next: 1, shortest: f64::INFINITY }
    }

    /// Rows of the next transaction.
    pub fn rows(&self) -> u64 {
        self.next
    }

    /// Learns that a transaction of so many rows took so long.
    pub fn took(&mut self, rows: u64, time: Duration) {
        let (rows, seconds) = (rows.max(1) as f64, time.as_secs_f64().max(SHORTEST));
        let fit = if self.shortest.is_finite() {
            self.shortest = self.shortest.min(seconds);
            let alone = self.shortest;
            let each = (seconds - alone).max(seconds / LARGEST_STEP) / rows;
            (WANTED.max(2.0 * alone) - alone) / each
        } else {
            // As if all of the time was that of its rows.
            self.shortest = seconds;
            rows * WANTED.max(2.0 * seconds) / seconds
        };
        self.next = (fit as u64).clamp(1, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of a transaction of so many rows, and the sizes and the time that all of a step takes with it.
    fn pass(cost: impl Fn(u64) -> f64, all: u64, most: u64) -> (Vec<u64>, f64) {
        let mut pace = Pace::new(most);
        let (mut sizes, mut done, mut time) = (Vec::new(), 0, 0.0);
        while done < all {
            let rows = pace.rows().min(all - done);
            sizes.push(rows);
            time += cost(rows);
            done += rows;
            pace.took(rows, Duration::from_secs_f64(cost(rows)));
        }
        (sizes, time)
    }

    #[test]
    fn fast_rows_soon_come_in_full_batches() {
        let (sizes, _) = pass(|rows| 0.002 + rows as f64 * 1e-5, 1_000_000, 50_000);
        assert_eq!(sizes[0], 1);
        assert!(sizes.iter().filter(|rows| **rows < 50_000).count() <= 4, "{sizes:?}");
    }

    #[test]
    fn slow_rows_come_a_second_at_a_time() {
        for each in [0.005, 0.1, 0.7] {
            let cost = |rows| rows as f64 * each;
            let (sizes, _) = pass(cost, 1000, 50_000);
            assert!(sizes.iter().all(|rows| cost(*rows) <= 2.0), "{sizes:?}");
        }
    }

    #[test]
    fn what_each_transaction_costs_by_itself_is_not_paid_for_every_row() {
        for alone in [0.5, 2.0, 5.0] {
            let cost = |rows| alone + rows as f64 * 1e-5;
            let (_, time) = pass(cost, 500_000, 50_000);
            let best = 10.0 * cost(50_000);
            assert!(time < 3.0 * best, "{time} s instead of {best} s");
        }
    }

    #[test]
    fn one_slow_transaction_is_forgotten() {
        let mut pace = Pace::new(50_000);
        pace.took(1, Duration::from_millis(2));
        pace.took(pace.rows(), Duration::from_secs(20));
        assert!(pace.rows() < 100);
        for _ in 0..4 {
            let rows = pace.rows();
            pace.took(rows, Duration::from_secs_f64(0.002 + rows as f64 * 1e-5));
        }
        assert_eq!(pace.rows(), 50_000);
    }
}
