//! Where the rows of a large file lie, so that any of them is found by its number or by its weight.
//!
//! Owns what an index holds, making one in a single pass over the file, and looking rows up. Does not
//! own where it is stored: it comes in through `Inputs`. An index has an entry for each block of rows:
//! the byte that the block begins at and, for weights, the sum of those before it. It is read as needed
//! and never held whole.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use model::random::mixed;

use super::cursor::{Damaged, Place};
use super::drawn::Cells;
use super::file::{CsvFile, RowFile};
use super::split::{Splitter, is_plain, lines};

/// Bytes that are read at once to make an index.
const PIECE: usize = 1 << 20;
/// How far ahead of what is read the disk is asked for more.
const AHEAD: u64 = 8 << 20;
/// Rows of a block at most.
const MOST_OF_A_BLOCK: u64 = 64;
/// Bytes that a block of usual rows has about.
const BLOCK: u64 = 4096;
/// One in this many entries has its sum of weights held in memory.
const EVERY: usize = 256;

/// The header of an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexHead {
    /// Rows of the file.
    pub rows: u64,
    /// Rows of a block; the last one may have fewer.
    pub block: u64,
    /// The sum of all weights, if rows have weights.
    pub weight: Option<f64>,
    /// Checksum of the entries.
    pub sum: u64,
}

impl IndexHead {
    /// Bytes of an entry.
    const fn entry(&self) -> usize {
        if self.weight.is_some() { 16 } else { 8 }
    }

    /// Blocks; one more entry says where the last one ends.
    const fn blocks(&self) -> u64 {
        self.rows.div_ceil(self.block)
    }

    /// Bytes of the entries.
    pub const fn bytes(&self) -> u64 {
        self.blocks().saturating_add(1).saturating_mul(self.entry() as u64)
    }
}

/// What a pool wants to be indexed.
#[derive(Debug)]
pub struct Indexing<'a> {
    csv: &'a CsvFile,
    /// The column that holds the weights, if rows have some.
    weight: Option<usize>,
}

impl<'a> Indexing<'a> {
    pub(crate) const fn of(csv: &'a CsvFile, weight: Option<usize>) -> Self {
        Self { csv, weight }
    }

    /// What the index depends on, beside the file's bytes.
    pub fn key(&self) -> String {
        let Self { csv: CsvFile { separator, start, columns, .. }, weight } = self;
        let weight = weight.map_or("none".to_owned(), |column| column.to_string());
        format!("{separator} {} {} {weight}", start.at, columns.len())
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.csv.file.size()
    }

    /// Reads the file and hands entries to `out`; `done` is called with the number of bytes read, and
    /// may stop the pass.
    ///
    /// # Errors
    /// The error in the file, with row and line, or an error of `out` or `done`.
    pub fn build(
        &self,
        out: &mut dyn FnMut(&[u8]) -> Result<(), String>,
        done: &mut dyn FnMut(u64) -> Result<(), String>,
    ) -> Result<IndexHead, String> {
        let Self { csv, weight } = self;
        let (mut splitter, mut piece) = (Splitter::new(csv.separator), Vec::new());
        let mut at = csv.start;
        let mut pass: Option<Pass<'_>> = None;
        loop {
            let next = csv.read(at, PIECE, &mut splitter, &mut piece)?;
            if next.at == at.at {
                break;
            }
            csv.check_text(at, &piece, &mut splitter)?;
            let usual = piece.len() as u64 / (next.row - at.row).max(1);
            let pass = pass.get_or_insert_with(|| Pass::new(csv, *weight, usual));
            pass.piece(at, &piece, &mut splitter)?;
            at = next;
            csv.file.expect(at.at + AHEAD, PIECE as u64);
            out(&pass.entries)?;
            pass.entries.clear();
            done(at.at)?;
        }
        let Some(mut pass) = pass.filter(|pass| pass.row > 0) else {
            return Err(format!("{} has no rows", csv.name));
        };
        if weight.is_some() && !(pass.total > 0.0 && pass.total.is_finite()) {
            return Err(format!("{}: the weights sum to zero", csv.name));
        }
        pass.entry(at.at);
        out(&pass.entries)?;
        let Pass { row, block, total, sum, .. } = pass;
        Ok(IndexHead { rows: row, block, weight: weight.map(|_| total), sum })
    }
}

/// The state of the pass over a file.
struct Pass<'a> {
    csv: &'a CsvFile,
    weight: Option<usize>,
    block: u64,
    row: u64,
    total: f64,
    sum: u64,
    entries: Vec<u8>,
    cells: Cells,
}

impl<'a> Pass<'a> {
    fn new(csv: &'a CsvFile, weight: Option<usize>, usual_row: u64) -> Self {
        let block = (BLOCK / usual_row.max(1)).clamp(1, MOST_OF_A_BLOCK);
        let (entries, cells) = (Vec::new(), Cells::default());
        Self { csv, weight, block, row: 0, total: 0.0, sum: 0, entries, cells }
    }

    fn entry(&mut self, at: u64) {
        let words = [at, self.total.to_bits()];
        for word in &words[..if self.weight.is_some() { 2 } else { 1 }] {
            self.sum = mixed(self.sum ^ word);
            self.entries.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Goes over whole rows.
    fn piece(&mut self, from: Place, piece: &[u8], splitter: &mut Splitter) -> Result<(), String> {
        let plain = is_plain(piece);
        let mut at = 0;
        loop {
            let row = match self.weight {
                None => splitter.measure(&piece[at..], plain),
                Some(_) => {
                    self.cells.clear();
                    splitter.row(&piece[at..], plain, &mut self.cells)
                }
            };
            let Some((bytes, count)) = row else { return Ok(()) };
            if self.row.is_multiple_of(self.block) {
                self.entry(from.at + at as u64);
            }
            let wrong = if count == self.csv.columns.len() {
                self.weigh().err()
            } else {
                Some(super::bad_row::uneven(self.row + 1, count, self.csv.columns.len()))
            };
            if let Some(what) = wrong {
                let blank = piece[at..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
                let line = from.line + lines(&piece[..at + blank.count()]) + 1;
                return Err(self.csv.bad(line, &what));
            }
            self.row += 1;
            at += bytes;
        }
    }

    /// Adds the weight of the row whose cells were read.
    fn weigh(&mut self) -> Result<(), String> {
        let Some(column) = self.weight else { return Ok(()) };
        let cell = self.cells.cell(column);
        let weight = weight_of(cell).ok_or_else(|| {
            let text = String::from_utf8_lossy(cell);
            format!("row {}: {} is not a weight", self.row + 1, model::quote::quote(&text))
        })?;
        self.total += weight;
        Ok(())
    }
}

/// A weight, if it is one.
pub(crate) fn weight_of(cell: &[u8]) -> Option<f64> {
    let weight = str::from_utf8(cell).ok()?.trim().parse::<f64>().ok()?;
    (weight.is_finite() && weight >= 0.0).then_some(weight)
}

/// An index that is there: its head, and a file of its entries.
#[derive(Debug, Clone)]
pub struct RowIndex {
    head: IndexHead,
    entries: Arc<dyn RowFile>,
    /// Sums of weights before every [`EVERY`]-th block.
    sums: Arc<[f64]>,
}

impl RowIndex {
    /// Reads an index once and checks its sum.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn open(head: IndexHead, entries: Arc<dyn RowFile>) -> Result<Self, Damaged> {
        let some = head.rows > 0 && head.block > 0;
        let right = some && entries.size() == head.bytes();
        let words = head.entry() / 8;
        let (mut sum, mut sums) = (0, Vec::new());
        let mut piece = vec![0; EVERY * head.entry()];
        let mut at = 0;
        let bytes = entries.size();
        while right && at < bytes {
            let length = (bytes - at).min(piece.len() as u64) as usize;
            let piece = &mut piece[..length];
            entries.read(at, piece).map_err(|_| Damaged)?;
            sum = (0..length / 8).fold(sum, |sum, at| mixed(sum ^ word(piece, at)));
            if words == 2 {
                sums.push(f64::from_bits(word(piece, 1)));
            }
            at += length as u64;
        }
        let right = right && sum == head.sum;
        right.then(|| Self { head, entries, sums: sums.into() }).ok_or(Damaged)
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[8 * at..8 * at + 8].try_into();
    u64::from_le_bytes(bytes.expect("eight bytes"))
}

/// A file whose rows are found by an index. Shared by all workers.
#[derive(Debug, Clone)]
pub(crate) struct Indexed {
    pub(super) csv: CsvFile,
    index: RowIndex,
    weight: Option<usize>,
}

/// The last block that a worker read.
#[derive(Debug)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    entries: Vec<u8>,
    splitter: Splitter,
    cells: Cells,
}

impl Indexed {
    pub(crate) fn new(csv: CsvFile, index: RowIndex, weight: Option<usize>) -> Self {
        csv.file.scatter();
        Self { csv, index, weight }
    }

    pub(crate) const fn rows(&self) -> u64 {
        self.index.head.rows
    }

    pub(super) fn block(&self) -> Block {
        let (bytes, entries, cells) = (Vec::new(), Vec::new(), Cells::default());
        Block { bytes, entries, splitter: Splitter::new(self.csv.separator), cells }
    }

    /// Appends the cells of a row.
    ///
    /// # Errors
    /// When the file cannot be read or has changed.
    pub(super) fn row(&self, row: u64, held: &mut Block, out: &mut Cells) -> Result<(), String> {
        let of = self.index.head.block;
        self.read_block(row / of, held)?;
        let Block { bytes, splitter, .. } = held;
        let skipped = splitter.skip(bytes, row % of);
        self.take(&bytes[skipped..], splitter, out)
    }

    /// Appends the cells of the row that a number drawn evenly from all 64-bit ones chooses by weight.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    pub(super) fn weighted(
        &self,
        number: u64,
        held: &mut Block,
        out: &mut Cells,
    ) -> Result<(), String> {
        let total = self.index.head.weight.unwrap_or(0.0);
        let wanted = (number as f64 / 2f64.powi(64) * total).min(total.next_down());
        self.read_block(self.find(wanted, held)?, held)?;
        let mut sum = f64::from_bits(word(&held.entries, 1));
        let (column, columns) = (self.weight.unwrap_or(0), self.csv.columns.len());
        let (mut at, plain) = (0, is_plain(&held.bytes));
        loop {
            held.cells.clear();
            let row = held.splitter.row(&held.bytes[at..], plain, &mut held.cells);
            let Some((bytes, _)) = row.filter(|(_, count)| *count == columns) else {
                return Err(self.changed());
            };
            // The same sums in the same order as when the index was made, so that rounding is the same.
            sum += weight_of(held.cells.cell(column)).ok_or_else(|| self.changed())?;
            if sum > wanted {
                (0..columns).for_each(|cell| out.push(held.cells.cell(cell)));
                return Ok(());
            }
            at += bytes;
        }
    }

    /// The block in which the sum of weights goes beyond `wanted`.
    fn find(&self, wanted: f64, held: &mut Block) -> Result<u64, String> {
        let RowIndex { head, sums, .. } = &self.index;
        let part = sums.partition_point(|sum| *sum <= wanted).saturating_sub(1);
        let first = part * EVERY;
        let count = (head.blocks() as usize - first).min(EVERY);
        self.entries(first as u64, count, held)?;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if f64::from_bits(word(&held.entries, 2 * middle + 1)) <= wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok((first + low.saturating_sub(1)) as u64)
    }

    fn entries(&self, first: u64, count: usize, held: &mut Block) -> Result<(), String> {
        let RowIndex { head, entries, .. } = &self.index;
        held.entries.resize(count * head.entry(), 0);
        let read = entries.read(first * head.entry() as u64, &mut held.entries);
        read.map_err(|what| format!("the index of {} {what}", self.csv.name))
    }

    fn read_block(&self, block: u64, held: &mut Block) -> Result<(), String> {
        self.entries(block, 2, held)?;
        let words = self.index.head.entry() / 8;
        let (from, to) = (word(&held.entries, 0), word(&held.entries, words));
        held.bytes.resize(to.saturating_sub(from) as usize, 0);
        self.csv.read_exactly(Place { at: from, row: 0, line: 0 }, &mut held.bytes)
    }

    fn take(&self, bytes: &[u8], splitter: &mut Splitter, out: &mut Cells) -> Result<(), String> {
        match splitter.row(bytes, is_plain(bytes), out) {
            Some((_, count)) if count == self.csv.columns.len() => Ok(()),
            _ => Err(self.changed()),
        }
    }

    fn changed(&self) -> String {
        format!("{} is not what its index was made of", self.csv.name)
    }
}
