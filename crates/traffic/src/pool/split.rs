//! Bytes of CSV into rows, piece by piece: where each row ends, and its cells.
//!
//! The pieces begin where a row does, so that whether a quote is open there is known. Without a quote
//! in them, rows end at line ends and searching for those is enough; the rest is left to `csv-core`,
//! the state machine of the reader that whole files go through. The tests check that both give the same
//! rows.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr_iter, memchr2_iter, memchr3_iter};

use super::drawn::Cells;

/// Columns of a pool at most.
pub(crate) const MOST_COLUMNS: usize = 1_000;

/// Takes rows off bytes that begin where a row does.
#[derive(Debug)]
pub(crate) struct Splitter {
    separator: u8,
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// The whole rows at the start of a piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes up to the end of the last whole row.
    pub(crate) bytes: usize,
    /// Whole rows.
    pub(crate) rows: u64,
}

/// Whether a piece holds no quote, so that every line end ends a row.
pub(crate) fn is_plain(piece: &[u8]) -> bool {
    memchr(b'"', piece).is_none()
}

/// Line ends in a piece.
pub(crate) fn lines(piece: &[u8]) -> u64 {
    memchr_iter(b'\n', piece).count() as u64
}

/// The byte of the quote that is still open as a piece ends. The piece begins where a row does.
pub(crate) fn open_quote(piece: &[u8], separator: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = memchr(b'"', &piece[at..]) {
        let open = at + next;
        let begins =
            open == 0 || matches!(piece[open - 1], b'\n' | b'\r') || piece[open - 1] == separator;
        // Elsewhere in a value a quote is an ordinary character.
        let behind = if begins { behind_quoted(piece, open + 1) } else { Some(open + 1) };
        let Some(behind) = behind else { return Some(open) };
        at = behind;
    }
    None
}

/// Behind the quote that closes what was opened just before a byte.
fn behind_quoted(piece: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr(b'"', &piece[at..])? + 1;
        // Two quotes are one that belongs to the value.
        if piece.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

impl Splitter {
    pub(crate) fn new(separator: u8) -> Self {
        let mut reader = ReaderBuilder::new().delimiter(separator).build();
        begin(&mut reader);
        Self { separator, reader, text: vec![0; 1024], ends: vec![0; 64] }
    }

    /// Finds the last row that ends inside of a piece. `whole` says that nothing follows the piece, so
    /// that its end ends a row.
    pub(crate) fn cut(&mut self, piece: &[u8], whole: bool) -> Cut {
        let mut cut = Cut::default();
        if is_plain(piece) {
            for end in memchr2_iter(b'\n', b'\r', piece) {
                cut.rows += u64::from(end > cut.bytes);
                cut.bytes = end + 1;
            }
            if whole && cut.bytes < piece.len() {
                cut = Cut { bytes: piece.len(), rows: cut.rows + 1 };
            }
            return cut;
        }
        while let Some((bytes, _)) = self.pass(&piece[cut.bytes..], whole) {
            cut.bytes += bytes;
            cut.rows += 1;
        }
        if whole { Cut { bytes: piece.len(), ..cut } } else { cut }
    }

    /// Skips rows. Returns how many bytes this many rows take at the start of a piece, or fewer if it
    /// has no more. The piece ends where a row does.
    pub(crate) fn skip(&mut self, piece: &[u8], rows: u64) -> usize {
        let mut at = 0;
        if rows == 0 {
            return 0;
        }
        let mut left = rows;
        if is_plain(piece) {
            for end in memchr2_iter(b'\n', b'\r', piece) {
                left -= u64::from(end > at);
                at = end + 1;
                if left == 0 {
                    return behind(piece, at);
                }
            }
            return piece.len();
        }
        while left > 0 {
            let Some((bytes, _)) = self.pass(&piece[at..], true) else { return piece.len() };
            at += bytes;
            left -= 1;
        }
        at
    }

    /// Appends the cells of the first row of a piece that ends where a row does; the bytes up to its
    /// end, and how many cells it has. `None` when there is no row. `plain` is the result of [`is_plain`] for
    /// the piece or for one around it. A row of more than [`MOST_COLUMNS`] cells is cut.
    #[inline]
    pub(crate) fn row(
        &mut self,
        piece: &[u8],
        plain: bool,
        cells: &mut Cells,
    ) -> Option<(usize, usize)> {
        if plain {
            return self.plain_row(piece, cells);
        }
        let (bytes, count) = self.pass(piece, true)?;
        let mut start = 0;
        for &end in &self.ends[..count.min(MOST_COLUMNS)] {
            cells.push(&self.text[start..end]);
            start = end;
        }
        Some((bytes, count))
    }

    /// As [`row`](Self::row), without the cells.
    pub(crate) fn measure(&mut self, piece: &[u8], plain: bool) -> Option<(usize, usize)> {
        if !plain {
            return self.pass(piece, true);
        }
        let start = piece.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
        let mut count = 1;
        for end in memchr3_iter(self.separator, b'\n', b'\r', &piece[start..]) {
            if piece[start + end] != self.separator {
                return Some((behind(piece, start + end + 1), count));
            }
            count += 1;
        }
        Some((piece.len(), count))
    }

    fn plain_row(&self, piece: &[u8], cells: &mut Cells) -> Option<(usize, usize)> {
        let start = piece.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
        let (mut at, mut count) = (start, 0);
        let mut push = |cell: &[u8]| {
            if count < MOST_COLUMNS {
                cells.push(cell);
            }
            count += 1;
        };
        for end in memchr3_iter(self.separator, b'\n', b'\r', &piece[start..]) {
            let end = start + end;
            push(&piece[at..end]);
            at = end + 1;
            if piece[end] != self.separator {
                return Some((behind(piece, at), count));
            }
        }
        push(&piece[at..]);
        Some((piece.len(), count))
    }

    /// Runs the state machine over one row, whose cells it leaves in `text` and `ends`. Returns the
    /// number of bytes and cells. `None` when the piece holds no whole row.
    fn pass(&mut self, piece: &[u8], whole: bool) -> Option<(usize, usize)> {
        let Self { reader, text, ends, .. } = self;
        let (mut taken, mut written, mut count) = (0, 0, 0);
        loop {
            if written == text.len() {
                text.resize(2 * text.len(), 0);
            }
            if count == ends.len() {
                ends.resize(2 * ends.len(), 0);
            }
            let input = &piece[taken..];
            if input.is_empty() && !whole {
                begin(reader);
                return None;
            }
            let (result, read, put, more) =
                reader.read_record(input, &mut text[written..], &mut ends[count..]);
            (taken, written, count) = (taken + read, written + put, count + more);
            match result {
                ReadRecordResult::Record => return Some((behind(piece, taken), count)),
                ReadRecordResult::End => return None,
                ReadRecordResult::InputEmpty
                | ReadRecordResult::OutputFull
                | ReadRecordResult::OutputEndsFull => {}
            }
        }
    }
}

/// Puts the state machine before its first row, past the place of a byte order mark: a mark counts only
/// at a file's beginning, where the caller removes it.
fn begin(reader: &mut Reader) {
    reader.reset();
    reader.read_record(&[], &mut [], &mut []);
}

/// Where the end of a row ends that was found at `at`: CR and LF are one.
fn behind(piece: &[u8], at: usize) -> usize {
    at + usize::from(piece[..at].ends_with(b"\r") && piece[at..].starts_with(b"\n"))
}
