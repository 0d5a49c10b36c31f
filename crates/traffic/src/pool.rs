//! Pools: rows of values that placeholders take their values from.
//!
//! Owns tables in memory ([`Table`]), reading them out of CSV and JSON lines, and which row comes next
//! ([`Rows`]). Does not own files: their bytes come in through `Inputs`.

mod read;

use std::sync::atomic::{AtomicU64, Ordering};

use model::Draw;
use model::workload::Order;

use crate::draw::{Choice, Draws, Permutation, Purpose};

pub(crate) use read::{BadRow, read_csv, read_json_lines, read_values};

/// Columns of a pool at most.
pub(crate) const MOST_COLUMNS: usize = 1_000;

/// Rows of cells, in one buffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    columns: Vec<String>,
    bytes: Vec<u8>,
    /// Where each cell ends, row after row; the highest bit says that it is a JSON value other than
    /// text.
    ends: Vec<u32>,
    /// For each column the first row, from 1, that lacks it.
    lacking: Vec<Option<u64>>,
}

const JSON: u32 = 1 << 31;

impl Table {
    fn new(columns: Vec<String>) -> Self {
        Self { lacking: vec![None; columns.len()], columns, ..Self::default() }
    }

    /// Names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.ends.len().checked_div(self.columns.len()).unwrap_or(0) as u64
    }

    /// The first row, from 1, that has no value in a column.
    pub(crate) fn lacks(&self, column: u16) -> Option<u64> {
        self.lacking[usize::from(column)]
    }

    /// A cell's bytes, and whether they are a JSON value other than text.
    #[inline]
    pub(crate) fn cell(&self, row: u64, column: u16) -> (&[u8], bool) {
        let at = row as usize * self.columns.len() + usize::from(column);
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] & !JSON);
        let end = self.ends[at];
        (&self.bytes[start as usize..(end & !JSON) as usize], end & JSON != 0)
    }

    /// Adds a cell behind the last; `None` for one that the row lacks.
    ///
    /// # Errors
    /// When the table has grown beyond 2 GiB.
    fn add(&mut self, cell: Option<(&[u8], bool)>) -> Result<(), String> {
        let (bytes, json) = cell.unwrap_or_default();
        self.bytes.extend_from_slice(bytes);
        let end = u32::try_from(self.bytes.len()).ok().filter(|end| end & JSON == 0);
        let Some(end) = end else { return Err("the pool is larger than 2 GiB".into()) };
        self.ends.push(end | if json { JSON } else { 0 });
        if cell.is_none() {
            let at = self.ends.len() - 1;
            let row = (at / self.columns.len()) as u64 + 1;
            self.lacking[at % self.columns.len()].get_or_insert(row);
        }
        Ok(())
    }
}

/// Which row of a pool comes next. Shared by all workers.
#[derive(Debug)]
pub(crate) struct Rows {
    name: String,
    rows: u64,
    order: Ordered,
    /// Rows given to workers so far, for the orders that count. Workers take them in lots, so that they
    /// seldom meet here.
    given: AtomicU64,
}

#[derive(Debug, Clone)]
enum Ordered {
    Random,
    Weighted(Choice),
    Sequential,
    Shuffled(Permutation),
    Unique,
}

/// Rows that a worker was given and has not used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lot {
    next: u64,
    end: u64,
}

/// All rows of a pool have been used once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunOut(pub(crate) String);

impl Rows {
    /// `weights` is for the order `weighted`.
    pub(crate) fn new(
        name: &str,
        rows: u64,
        order: Order,
        weights: Option<Choice>,
        seed: u64,
    ) -> Self {
        let order = match (order, weights) {
            (Order::Weighted, Some(choice)) => Ordered::Weighted(choice),
            (Order::Weighted | Order::Random, _) => Ordered::Random,
            (Order::Sequential, _) => Ordered::Sequential,
            (Order::Shuffled, _) => Ordered::Shuffled(Permutation::new(rows.max(1), seed)),
            (Order::Unique, _) => Ordered::Unique,
        };
        Self { name: name.to_owned(), rows, order, given: AtomicU64::new(0) }
    }

    /// The same, with no row used.
    pub(crate) fn rewound(&self) -> Self {
        let Self { name, rows, order, .. } = self;
        Self { name: name.clone(), rows: *rows, order: order.clone(), given: AtomicU64::new(0) }
    }

    /// The row for a place in the schedule: by that alone for orders that draw, the next one for those
    /// that count.
    ///
    /// # Errors
    /// When no row may come twice and all have come.
    #[inline]
    pub(crate) fn next(
        &self,
        pool: u16,
        seed: u64,
        place: Draw,
        workers: u32,
        lot: &mut Lot,
    ) -> Result<u64, RunOut> {
        let draws = || Draws::of(seed, place, Purpose::Row(pool));
        match &self.order {
            Ordered::Random => Ok(draws().below(self.rows)),
            Ordered::Weighted(choice) => Ok(choice.pick(draws().next()) as u64),
            Ordered::Sequential => Ok(self.count(workers, lot) % self.rows),
            Ordered::Shuffled(order) => Ok(order.at(self.count(workers, lot) % self.rows)),
            Ordered::Unique => match self.count(workers, lot) {
                row if row < self.rows => Ok(row),
                _ => Err(self.run_out()),
            },
        }
    }

    fn count(&self, workers: u32, lot: &mut Lot) -> u64 {
        if lot.next == lot.end {
            let size = (self.rows / (16 * u64::from(workers.max(1)))).clamp(1, 64);
            lot.next = self.given.fetch_add(size, Ordering::Relaxed);
            lot.end = lot.next + size;
        }
        lot.next += 1;
        lot.next - 1
    }

    fn run_out(&self) -> RunOut {
        let Self { name, rows, .. } = self;
        RunOut(format!(
            "pool `{name}` has run out: all {rows} rows have been used once, and its order is \
             `unique`; give it more rows, or the order `shuffled` to begin again"
        ))
    }
}

#[cfg(test)]
mod tests;
