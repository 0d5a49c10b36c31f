//! Files of rows that are too large for memory: read a piece at a time.

use std::fmt;
use std::sync::Arc;

use super::bad_row::{BadRow, column_names, never_closed};
use super::cursor::Place;
use super::drawn::Cells;
use super::split::{MOST_COLUMNS, Splitter, lines, open_quote};

/// Bytes of a row at most, in a file that is not read into memory: 1 MiB.
pub(crate) const LONGEST_ROW: usize = 1 << 20;

/// A file that is read where and when its bytes are needed. Nothing is read past the size that it had
/// when it was opened, and a file that changes is an error wherever that is noticed.
pub trait RowFile: fmt::Debug + Send + Sync {
    /// Its length in bytes when it was opened.
    fn size(&self) -> u64;

    /// Fills `into` from an offset on; all of it lies within the size.
    ///
    /// # Errors
    /// In words that follow its name: `has changed ...`, when it cannot be read, or is not what it was
    /// when it was opened.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), String>;

    /// From now on single rows are read, in random order.
    fn scatter(&self) {}

    /// These bytes will be read soon.
    fn expect(&self, offset: u64, bytes: u64) {
        let _ = (offset, bytes);
    }
}

/// A pool's file, in memory or not, as its opener decides by size.
#[derive(Debug)]
pub enum PoolFile {
    /// Its bytes.
    Small(Vec<u8>),
    /// Too large for memory.
    Large(Arc<dyn RowFile>),
}

/// A large file of RFC 4180.
#[derive(Debug, Clone)]
pub(crate) struct CsvFile {
    /// As the workload calls it.
    pub(crate) name: String,
    pub(crate) file: Arc<dyn RowFile>,
    pub(crate) separator: u8,
    pub(crate) columns: Vec<String>,
    /// Before the first row of values.
    pub(crate) start: Place,
}

impl CsvFile {
    /// Looks at the file's beginning. Without `columns` the first row names them.
    pub(crate) fn open(
        name: &str,
        file: Arc<dyn RowFile>,
        separator: u8,
        columns: Option<&[String]>,
    ) -> Result<Self, BadRow> {
        let name = name.to_owned();
        let mark = mark(&*file).map_err(BadRow::whole)?;
        let mut start = Place { at: mark, row: 0, line: 0 };
        if let Some(columns) = columns {
            let columns = column_names(columns.to_vec(), 1)?;
            return Ok(Self { name, file, separator, columns, start });
        }
        let mut splitter = Splitter::new(separator);
        let mut piece = Vec::new();
        let bytes = first_row(&*file, mark, separator, &mut splitter, &mut piece)?;
        piece.truncate(bytes);
        let mut cells = Cells::default();
        let Some((_, count)) = splitter.row(&piece, false, &mut cells) else {
            return Err(BadRow::whole("has no header row with column names"));
        };
        start.at += bytes as u64;
        start.line = lines(&piece);
        if count > cells.len() {
            return Err(BadRow::at(1, format!("has more than {} columns", MOST_COLUMNS)));
        }
        let names = (0..count).map(|at| str::from_utf8(cells.cell(at)).map(str::to_owned));
        let names = names.collect::<Result<_, _>>();
        let names = names.map_err(|_| BadRow::at(1, "a column's name is not UTF-8"))?;
        Ok(Self { columns: column_names(names, 1)?, name, file, separator, start })
    }

    /// Whether a line ends before this byte (csv ends rows at CR too), or the rows begin or end there.
    pub(crate) fn begins_a_line(&self, at: u64) -> bool {
        let mut before = [0];
        at == self.start.at
            || at == self.file.size()
            || at > 0
                && self.file.read(at - 1, &mut before).is_ok()
                && matches!(before[0], b'\r' | b'\n')
    }

    /// Reads whole rows from a place on: as many as end within `bytes`, or the first one if that is
    /// longer, into `piece`. Returns the number of rows and bytes; none at the end of the file.
    pub(crate) fn read(
        &self,
        from: Place,
        bytes: usize,
        splitter: &mut Splitter,
        piece: &mut Vec<u8>,
    ) -> Result<Place, String> {
        let left = self.file.size().saturating_sub(from.at);
        let mut wanted = bytes;
        loop {
            let whole = left <= wanted as u64;
            piece.resize(wanted.min(left as usize), 0);
            self.read_exactly(from, piece)?;
            if whole && let Some(open) = open_quote(piece, self.separator) {
                return Err(self.never_closed(from, piece, open, "never closed"));
            }
            let cut = splitter.cut(piece, whole);
            if cut.bytes > 0 || piece.is_empty() {
                piece.truncate(cut.bytes);
                let at = from.at + cut.bytes as u64;
                let line = from.line + lines(piece);
                return Ok(Place { at, row: from.row + cut.rows, line });
            }
            if wanted >= LONGEST_ROW {
                return Err(self.too_long(from, piece));
            }
            wanted = (2 * wanted).min(LONGEST_ROW);
        }
    }

    /// Reads the bytes from a place on that `piece` has room for.
    pub(crate) fn read_exactly(&self, from: Place, piece: &mut [u8]) -> Result<(), String> {
        self.file.read(from.at, piece).map_err(|what| format!("{} {what}", self.name))
    }

    /// Checks that a piece of whole rows is UTF-8. Then so is each cell, because separators are ASCII.
    pub(crate) fn check_text(
        &self,
        from: Place,
        piece: &[u8],
        splitter: &mut Splitter,
    ) -> Result<(), String> {
        let Err(error) = str::from_utf8(piece) else { return Ok(()) };
        let bad = error.valid_up_to();
        let (mut at, mut row) = (0, from.row + 1);
        let mut cells = Cells::default();
        while let Some((bytes, _)) = splitter.row(&piece[at..], false, &mut cells) {
            if at + bytes > bad {
                break;
            }
            (at, row) = (at + bytes, row + 1);
            cells.clear();
        }
        Err(self.bad(from.line + lines(&piece[..bad]) + 1, &format!("row {row} is not UTF-8")))
    }

    fn too_long(&self, from: Place, piece: &[u8]) -> String {
        if let Some(open) = open_quote(piece, self.separator) {
            return self.never_closed(from, piece, open, "not closed within 1 MiB");
        }
        let what = format!("row {} is longer than 1 MiB (from byte {} on)", from.row + 1, from.at);
        self.bad(from.line + 1, &what)
    }

    fn never_closed(&self, from: Place, piece: &[u8], open: usize, how: &str) -> String {
        let BadRow { line, what } = never_closed(piece, open, from.line, how);
        self.bad(line.unwrap_or(from.line + 1), &what)
    }

    /// An error on a line, from 1.
    pub(crate) fn bad(&self, line: u64, what: &str) -> String {
        format!("{}:{line}: {what}", self.name)
    }
}

/// Bytes of the byte order mark that some programs write.
fn mark(file: &dyn RowFile) -> Result<u64, String> {
    let mut first = [0; 3];
    if file.size() >= 3 {
        file.read(0, &mut first)?;
    }
    Ok(if first == *b"\xef\xbb\xbf" { 3 } else { 0 })
}

/// The bytes from an offset to the end of the first row behind it.
fn first_row(
    file: &dyn RowFile,
    offset: u64,
    separator: u8,
    splitter: &mut Splitter,
    piece: &mut Vec<u8>,
) -> Result<usize, BadRow> {
    let left = file.size() - offset;
    let mut wanted = 4096;
    loop {
        let whole = left <= wanted as u64;
        piece.resize(wanted.min(left as usize), 0);
        file.read(offset, piece).map_err(BadRow::whole)?;
        let cut = splitter.cut(piece, whole);
        let end = splitter.skip(&piece[..cut.bytes], 1);
        let too_long = cut.rows == 0 && wanted >= LONGEST_ROW;
        let how = if whole { "never closed" } else { "not closed within 1 MiB" };
        // A quote that is open in a later row is reported when that row is read.
        let open = open_quote(piece, separator).filter(|open| too_long || *open < end);
        if let Some(open) = open.filter(|_| whole || too_long) {
            return Err(never_closed(piece, open, 0, how));
        }
        if cut.rows > 0 || whole {
            return Ok(end);
        }
        if too_long {
            return Err(BadRow::at(1, "the first row is longer than 1 MiB"));
        }
        wanted *= 2;
    }
}
