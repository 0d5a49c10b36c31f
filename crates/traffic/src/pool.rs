//! Pools: rows from which placeholders take their values.
//!
//! Owns rows, wherever they lie: in memory ([`Table`]), in a file that is read by windows ([`Stream`]),
//! or in one with an index ([`Indexed`]); which row comes next ([`Numbers`]), and that no two workers
//! get the same one ([`Cursor`]). Does not own files: what they hold comes in through `Inputs`. Rows go
//! to `play` as [`Drawn`].

mod bad_row;
mod cursor;
mod drawn;
mod file;
mod index;
mod numbers;
mod read;
mod split;
mod table;
mod window;

use std::sync::Arc;

pub(crate) use bad_row::BadRow;
pub use cursor::{Damaged, KeptRanges, Place, RECORD_BYTES, RangeStore, RowRange};
pub(crate) use drawn::Drawn;
pub(crate) use file::{CsvFile, LONGEST_ROW};
pub use file::{PoolFile, RowFile};
pub use index::{IndexHead, Indexing, RowIndex};
pub(crate) use index::{Indexed, weight_of};
pub(crate) use numbers::{Numbers, RowRequest};
pub(crate) use read::{json_bytes, read_csv, read_json_lines, read_values};
pub(crate) use table::Table;
pub(crate) use window::{Stream, WINDOW};

use crate::source::Halt;
use cursor::Cursor;
use index::Block;
use window::Window;

/// A pool. Shared by all workers.
#[derive(Debug)]
pub(crate) struct Pool {
    name: String,
    stock: Stock,
}

#[derive(Debug)]
enum Stock {
    Table(Arc<Table>, Numbers),
    Stream(Stream),
    Indexed(Arc<Indexed>, Numbers),
}

/// The part of a pool that a worker has taken and not yet used.
#[derive(Debug)]
pub(crate) enum Taker {
    Number(numbers::Taker),
    Window(Box<Window>),
    Block(numbers::Taker, Box<Block>),
}

impl Pool {
    /// Of rows in memory.
    pub(crate) fn of_table(name: &str, table: Table, numbers: Numbers) -> Self {
        Self { name: name.to_owned(), stock: Stock::Table(Arc::new(table), numbers) }
    }

    /// Of rows that are read by windows.
    pub(crate) fn of_stream(name: &str, stream: Stream) -> Self {
        Self { name: name.to_owned(), stock: Stock::Stream(stream) }
    }

    /// Of rows that are found by an index.
    pub(crate) fn of_indexed(name: &str, indexed: Indexed, numbers: Numbers) -> Self {
        Self { name: name.to_owned(), stock: Stock::Indexed(Arc::new(indexed), numbers) }
    }

    /// The same pool with no row used, and without saved ranges.
    pub(crate) fn rewound(&self) -> Self {
        let stock = match &self.stock {
            Stock::Table(table, numbers) => Stock::Table(Arc::clone(table), numbers.rewound()),
            Stock::Stream(stream) => Stock::Stream(stream.rewound()),
            Stock::Indexed(indexed, numbers) => {
                Stock::Indexed(Arc::clone(indexed), numbers.rewound())
            }
        };
        Self { name: self.name.clone(), stock }
    }

    /// As the workload calls it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        match &self.stock {
            Stock::Table(table, _) => table.columns(),
            Stock::Stream(stream) => &stream.csv().columns,
            Stock::Indexed(indexed, _) => &indexed.csv.columns,
        }
    }

    /// The first row, from 1, that has no value in a column.
    pub(crate) fn lacks(&self, column: u16) -> Option<u64> {
        match &self.stock {
            Stock::Table(table, _) => table.lacks(column),
            Stock::Stream(_) | Stock::Indexed(..) => None,
        }
    }

    /// Its cursor, if it is `unique`; and whether places count bytes.
    pub(crate) fn unique(&self) -> Option<(&Cursor, bool)> {
        match &self.stock {
            Stock::Table(_, numbers) => numbers.is_unique().then_some((&numbers.cursor, false)),
            Stock::Stream(stream) => stream.is_unique().then_some((&stream.cursor, true)),
            Stock::Indexed(..) => None,
        }
    }

    /// Whether saved ranges are possible for this pool.
    pub(crate) fn fits(&self, ranges: &KeptRanges) -> bool {
        match &self.stock {
            Stock::Table(_, numbers) => ranges.fit(0, numbers.rows(), u64::MAX),
            Stock::Stream(stream) => {
                let csv = stream.csv();
                let begins =
                    ranges.next.into_iter().chain(ranges.left.iter().map(|range| range.from));
                ranges.fit(csv.start.at, csv.file.size(), LONGEST_ROW as u64)
                    && begins.into_iter().all(|place| csv.begins_a_line(place.at))
            }
            Stock::Indexed(..) => false,
        }
    }

    /// The initial state of a worker.
    pub(crate) fn taker(&self) -> Taker {
        match &self.stock {
            Stock::Table(..) => Taker::Number(numbers::Taker::default()),
            Stock::Stream(stream) => Taker::Window(Box::new(stream.window())),
            Stock::Indexed(indexed, _) => {
                Taker::Block(numbers::Taker::default(), Box::new(indexed.block()))
            }
        }
    }

    /// Draws a row.
    ///
    /// # Errors
    /// When all rows of a `unique` pool are used, or the file cannot be read.
    #[inline]
    pub(crate) fn draw(
        &self,
        request: RowRequest,
        taker: &mut Taker,
        drawn: &mut Drawn,
    ) -> Result<(), Halt> {
        let at = &mut drawn.at[usize::from(request.pool)];
        let found = match (&self.stock, taker) {
            (Stock::Table(_, numbers), Taker::Number(taker)) => {
                numbers.next(request, taker).map(|row| row.map(|row| *at = row).is_some())
            }
            (Stock::Stream(stream), Taker::Window(window)) => {
                *at = drawn.cells.len() as u64;
                stream.next(request.worker_place, window, &mut drawn.cells)
            }
            (Stock::Indexed(indexed, numbers), Taker::Block(taker, block)) => {
                *at = drawn.cells.len() as u64;
                match numbers.next(request, taker) {
                    Ok(Some(row)) => indexed.row(row, block, &mut drawn.cells).map(|()| true),
                    Ok(None) => indexed
                        .weighted(request.draw().bits(), block, &mut drawn.cells)
                        .map(|()| true),
                    Err(what) => Err(what),
                }
            }
            _ => unreachable!("a taker is its pool's"),
        };
        match found {
            Ok(true) => Ok(()),
            Ok(false) => Err(Halt(self.run_out().into())),
            Err(what) => Err(Halt(format!("pool `{}`: {what}", self.name).into())),
        }
    }

    /// A cell of the row that was drawn, and whether it is a JSON value other than text.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, drawn: &'a Drawn, pool: u16, column: u16) -> (&'a [u8], bool) {
        let at = drawn.at[usize::from(pool)];
        match &self.stock {
            Stock::Table(table, _) => table.cell(at, column),
            Stock::Stream(_) | Stock::Indexed(..) => {
                (drawn.cells.cell(at as usize + usize::from(column)), false)
            }
        }
    }

    /// Takes back what a worker has not used.
    pub(crate) fn give_back(&self, worker_place: crate::source::WorkerPlace, taker: &Taker) {
        let (cursor, range, has_taken) = match (&self.stock, taker) {
            (Stock::Table(_, numbers), Taker::Number(taker))
            | (Stock::Indexed(_, numbers), Taker::Block(taker, _)) => {
                (&numbers.cursor, taker.range, taker.has_taken)
            }
            (Stock::Stream(stream), Taker::Window(window)) => {
                (&stream.cursor, window.rest(), window.has_taken)
            }
            _ => unreachable!("a taker is its pool's"),
        };
        if has_taken {
            // Rows whose record cannot be saved count as used, or as possibly used: never as unused.
            let _ = cursor.give_back(worker_place.worker, range);
        }
    }

    fn run_out(&self) -> String {
        let name = &self.name;
        let rows = match &self.stock {
            Stock::Table(_, numbers) => format!("all {} rows", numbers.rows()),
            Stock::Stream(stream) => format!("all rows of {}", stream.csv().name),
            Stock::Indexed(indexed, _) => format!("all rows of {}", indexed.csv.name),
        };
        format!(
            "pool `{name}` has run out: {rows} have been given out once, and its order is `unique`; \
             give it more rows, or the order `shuffled` to begin again"
        )
    }
}

#[cfg(test)]
mod tests;
