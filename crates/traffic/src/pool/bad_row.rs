//! Errors in rows, with row and line.

use memchr::memrchr;

use super::split::{MOST_COLUMNS, lines};

/// Why rows could not be read, and on which line of the file, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadRow {
    pub(crate) line: Option<u64>,
    pub(crate) what: String,
}

impl BadRow {
    pub(super) fn whole(what: impl Into<String>) -> Self {
        Self { line: None, what: what.into() }
    }

    pub(super) fn at(line: u64, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }
}

/// Names of columns as they are used, if they can be.
pub(super) fn column_names(columns: Vec<String>, line: u64) -> Result<Vec<String>, BadRow> {
    if columns.len() > MOST_COLUMNS {
        return Err(BadRow::at(line, format!("has more than {MOST_COLUMNS} columns")));
    }
    let columns: Vec<String> = columns.iter().map(|name| name.trim().to_owned()).collect();
    for (at, name) in columns.iter().enumerate() {
        if name.is_empty() {
            return Err(BadRow::at(line, format!("column {} has no name", at + 1)));
        }
        if columns[..at].contains(name) {
            return Err(BadRow::at(line, format!("two columns are named `{name}`")));
        }
    }
    Ok(columns)
}

/// The error for a quote that was opened at a byte of a piece; `before` lines precede the piece.
pub(super) fn never_closed(piece: &[u8], open: usize, before: u64, how: &str) -> BadRow {
    let start = memrchr(b'\n', &piece[..open]).map_or(0, |end| end + 1);
    let line = before + lines(&piece[..start]) + 1;
    let first_of_a_character = |byte: &&u8| **byte & 0xc0 != 0x80;
    let column = piece[start..open].iter().filter(first_of_a_character).count() + 1;
    let what = format!(
        "a quote opened in line {line}, column {column} is {how}: close it; one that belongs to the \
         value is written twice, inside quotes"
    );
    BadRow::at(line, what)
}

/// The error for a row, from 1, that has more or fewer values than there are columns.
pub(super) fn uneven(row: u64, has: usize, wanted: usize) -> String {
    let values = if has == 1 { "value" } else { "values" };
    format!("row {row} has {has} {values}, the columns are {wanted}")
}
