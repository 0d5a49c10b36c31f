//! A large file read from its beginning on, a window at a time, by all workers together.
//!
//! A worker that needs rows takes the next window: it reads it, cuts it where its last row ends, and
//! moves the cursor there, while others wait for it; that happens once in many hundred rows. The
//! window's rows are the worker's own, in a buffer that it keeps. The kernel is asked to read ahead of
//! a window.

use super::bad_row::uneven;
use super::cursor::{Cursor, Place, RowRange};
use super::drawn::Cells;
use super::file::CsvFile;
use super::split::{Splitter, is_plain, lines};
use crate::source::WorkerPlace;

/// Bytes of a window at most.
pub(crate) const WINDOW: usize = 64 << 10;
/// Bytes of a window at least: towards the file's end windows get shorter, so that no worker runs out
/// while others hold many rows.
const LEAST: usize = 4 << 10;
/// Each time that this many bytes have been read, the kernel is asked to read as many again.
const AHEAD: u64 = 4 << 20;

/// The rows of a file in the order in which they lie there.
#[derive(Debug)]
pub(crate) struct Stream {
    csv: CsvFile,
    unique: bool,
    window: usize,
    pub(super) cursor: Cursor,
}

/// A window, in a worker's hands.
#[derive(Debug)]
pub(crate) struct Window {
    range: RowRange,
    bytes: Vec<u8>,
    /// Bytes and rows of it that are used.
    used: (usize, u64),
    plain: bool,
    splitter: Splitter,
    pub(super) has_taken: bool,
}

impl Stream {
    pub(crate) fn new(csv: CsvFile, unique: bool, window: usize) -> Self {
        let cursor = Cursor::at(csv.start);
        Self { csv, unique, window, cursor }
    }

    /// The same, with no row used.
    pub(super) fn rewound(&self) -> Self {
        Self::new(self.csv.clone(), self.unique, self.window)
    }

    pub(super) const fn csv(&self) -> &CsvFile {
        &self.csv
    }

    /// Whether no row comes twice.
    pub(super) const fn is_unique(&self) -> bool {
        self.unique
    }

    /// A window for a worker that has none yet.
    pub(super) fn window(&self) -> Window {
        Window {
            range: RowRange::default(),
            bytes: Vec::with_capacity(self.window),
            used: (0, 0),
            plain: true,
            splitter: Splitter::new(self.csv.separator),
            has_taken: false,
        }
    }

    /// Appends the cells of the next row. Whether there was one.
    ///
    /// # Errors
    /// When the file cannot be read or has changed, or the row is not one of this file.
    #[inline]
    pub(super) fn next(
        &self,
        worker_place: WorkerPlace,
        window: &mut Window,
        cells: &mut Cells,
    ) -> Result<bool, String> {
        loop {
            let Window { bytes, used, plain, splitter, .. } = window;
            if let Some((taken, count)) = splitter.row(&bytes[used.0..], *plain, cells) {
                if count != self.csv.columns.len() {
                    return Err(self.uneven(window, count));
                }
                *used = (used.0 + taken, used.1 + 1);
                return Ok(true);
            }
            if !self.refill(worker_place, window)? {
                return Ok(false);
            }
        }
    }

    /// Takes the next window. Whether there was one.
    fn refill(&self, worker_place: WorkerPlace, window: &mut Window) -> Result<bool, String> {
        let Window { range, bytes, used, splitter, .. } = window;
        let size = self.csv.file.size();
        window.has_taken = true;
        // Whatever fails below, the old window is used up.
        (range.from, *used) = (range.to, (0, 0));
        bytes.clear();
        let fresh;
        (*range, fresh) = self.cursor.take(worker_place.worker, |next| {
            let over = next.at >= size && !self.unique;
            if over && next.row == 0 {
                return Err(format!("{} has no rows", self.csv.name));
            }
            let from = if over { self.csv.start } else { next };
            let left = size - from.at.min(size);
            let share = left / (16 * u64::from(worker_place.workers.max(1)));
            let wanted = usize::try_from(share).unwrap_or(usize::MAX);
            let wanted = wanted.clamp(LEAST.min(self.window), self.window);
            Ok(RowRange { from, to: self.csv.read(from, wanted, splitter, bytes)? })
        })?;
        if !fresh {
            bytes.resize((range.to.at - range.from.at) as usize, 0);
            self.csv.read_exactly(range.from, bytes)?;
        }
        let range = *range;
        window.plain = is_plain(&window.bytes);
        if range.from.at / AHEAD != range.to.at / AHEAD {
            self.csv.file.expect(range.to.at, AHEAD);
        }
        self.csv.check_text(range.from, &window.bytes, &mut window.splitter)?;
        Ok(!range.is_empty())
    }

    #[cold]
    fn uneven(&self, window: &Window, count: usize) -> String {
        let Window { range, bytes, used, .. } = window;
        let blank = bytes[used.0..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let line = range.from.line + lines(&bytes[..used.0 + blank]) + 1;
        let row = range.from.row + used.1 + 1;
        self.csv.bad(line, &uneven(row, count, self.csv.columns.len()))
    }
}

impl Window {
    /// The unused part of the window.
    pub(super) fn rest(&self) -> RowRange {
        let (bytes, rows) = self.used;
        let Place { at, row, line } = self.range.from;
        let line = line + lines(&self.bytes[..bytes]);
        RowRange { from: Place { at: at + bytes as u64, row: row + rows, line }, to: self.range.to }
    }
}
