//! Which row comes next, in pools whose rows have numbers.

use std::sync::Arc;

use model::Draw;
use model::random::{Draws, Permutation};
use model::workload::Order;

use super::cursor::{Cursor, Place, RowRange};
use crate::draw::{self, Choice, Purpose};
use crate::source::WorkerPlace;

/// The most rows in a range.
const LONGEST_RANGE: u64 = 64;

/// An order of rows. Shared by all workers.
#[derive(Debug)]
pub(crate) struct Numbers {
    rows: u64,
    order: Ordered,
    /// Rows taken so far, for the orders that count.
    pub(super) cursor: Cursor,
}

#[derive(Debug, Clone)]
enum Ordered {
    Random,
    Weighted(Arc<Choice>),
    /// By weights that the index has.
    Elsewhere,
    Sequential,
    Shuffled(Permutation),
    Unique,
}

/// A request for a row: the pool, the place in the schedule, and the worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowRequest {
    pub(crate) pool: u16,
    pub(crate) seed: u64,
    pub(crate) place: Draw,
    pub(crate) worker_place: WorkerPlace,
}

impl RowRequest {
    pub(super) fn draw(self) -> Draws {
        draw::stream(self.seed, self.place, Purpose::Row(self.pool))
    }
}

impl Numbers {
    /// `weights` is for the order `weighted`; without them, [`next`](Self::next) leaves the choice to the
    /// caller.
    pub(crate) fn new(rows: u64, order: Order, weights: Option<Choice>, seed: u64) -> Self {
        let order = match (order, weights) {
            (Order::Weighted, Some(choice)) => Ordered::Weighted(Arc::new(choice)),
            (Order::Weighted, None) => Ordered::Elsewhere,
            (Order::Random, _) => Ordered::Random,
            (Order::Sequential, _) => Ordered::Sequential,
            (Order::Shuffled, _) => Ordered::Shuffled(Permutation::new(rows.max(1), seed)),
            (Order::Unique, _) => Ordered::Unique,
        };
        Self { rows, order, cursor: Cursor::default() }
    }

    /// The same, with no row used.
    pub(super) fn rewound(&self) -> Self {
        Self { rows: self.rows, order: self.order.clone(), cursor: Cursor::default() }
    }

    /// The number of rows.
    pub(super) const fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether no row comes twice.
    pub(super) const fn is_unique(&self) -> bool {
        matches!(self.order, Ordered::Unique)
    }

    /// The row for a place in the schedule: drawn by the place alone for random orders, the next one
    /// for ordered pools. `None` when all rows of a `unique` pool are used, and where the index has the
    /// weights.
    ///
    /// # Errors
    /// When a range cannot be saved.
    #[inline]
    pub(crate) fn next(
        &self,
        request: RowRequest,
        taker: &mut Taker,
    ) -> Result<Option<u64>, String> {
        Ok(Some(match &self.order {
            Ordered::Random => request.draw().below(self.rows),
            Ordered::Weighted(choice) => choice.pick(request.draw().bits()) as u64,
            Ordered::Elsewhere => return Ok(None),
            Ordered::Sequential => self.count(request.worker_place, taker, u64::MAX)? % self.rows,
            Ordered::Shuffled(order) => {
                order.at(self.count(request.worker_place, taker, u64::MAX)? % self.rows)
            }
            Ordered::Unique => {
                let row = self.count(request.worker_place, taker, self.rows)?;
                return Ok((row < self.rows).then_some(row));
            }
        }))
    }

    /// The next number below `bound`; `bound` itself when there is none.
    #[inline]
    fn count(
        &self,
        worker_place: WorkerPlace,
        taker: &mut Taker,
        bound: u64,
    ) -> Result<u64, String> {
        if taker.range.is_empty() {
            let size = self.rows / (16 * u64::from(worker_place.workers.max(1)));
            let size = size.clamp(1, LONGEST_RANGE);
            taker.has_taken = true;
            (taker.range, _) = self.cursor.take(worker_place.worker, |next| {
                let to = next.at.saturating_add(size).min(bound);
                Ok(RowRange { from: next, to: Place { at: to, row: to, line: 0 } })
            })?;
            if taker.range.is_empty() {
                return Ok(bound);
            }
        }
        let row = taker.range.from.at;
        taker.range.from = Place { at: row + 1, row: row + 1, line: 0 };
        Ok(row)
    }
}

/// What a worker was given of a pool and has not used.
#[derive(Debug, Default)]
pub(crate) struct Taker {
    pub(super) range: RowRange,
    /// Whether it has ever been given anything.
    pub(super) has_taken: bool,
}
