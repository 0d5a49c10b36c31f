//! Rows out of CSV, JSON lines and inline values. Errors name their row and line.

use std::borrow::Borrow;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use model::workload::Literal;

use super::bad_row::{BadRow, column_names, never_closed, uneven};
use super::file::RowFile;
use super::split::{MOST_COLUMNS, lines, open_quote};
use super::table::Table;

/// Bytes of a file of JSON lines at most: 1 GiB. They are held in memory, and their cells beside them.
const MOST_JSON: u64 = 1 << 30;

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Reads rows of RFC 4180. Without `columns` the first row names them.
pub(crate) fn read_csv(
    bytes: &[u8],
    separator: u8,
    columns: Option<&[String]>,
) -> Result<Table, BadRow> {
    let text = without_mark(bytes);
    // The reader takes all that follows for one value.
    if let Some(open) = open_quote(text, separator) {
        return Err(never_closed(text, open, 0, "never closed"));
    }
    let mut reader = ReaderBuilder::new().has_headers(false).delimiter(separator).from_reader(text);
    let mut record = ByteRecord::new();
    let mut table = columns.map(|columns| named(columns.to_vec(), 1)).transpose()?;
    let mut row = 0u64;
    while reader.read_byte_record(&mut record).map_err(|error| ragged(&error))? {
        let line = record.position().map_or(0, csv::Position::line);
        let Some(table) = &mut table else {
            let names = record.iter().map(|name| str::from_utf8(name).map(str::to_owned));
            let names = names.collect::<Result<_, _>>();
            let names = names.map_err(|_| BadRow::at(line, "a column's name is not UTF-8"))?;
            table = Some(named(names, line)?);
            continue;
        };
        row += 1;
        if record.len() != table.columns.len() {
            return Err(unequal(line, row, record.len(), table.columns.len()));
        }
        for (cell, name) in record.iter().zip(0..) {
            if str::from_utf8(cell).is_err() {
                let column = &table.columns[name];
                return Err(BadRow::at(line, format!("row {row}: `{column}` is not UTF-8")));
            }
            table.add(Some((cell, false))).map_err(BadRow::whole)?;
        }
    }
    table.ok_or_else(|| BadRow::whole("has no header row with column names"))
}

fn named(columns: Vec<String>, line: u64) -> Result<Table, BadRow> {
    column_names(columns, line).map(Table::new)
}

fn unequal(line: u64, row: u64, has: usize, wanted: usize) -> BadRow {
    BadRow::at(line, uneven(row, has, wanted))
}

fn ragged(error: &csv::Error) -> BadRow {
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let row = pos.as_ref().map_or(0, csv::Position::record);
            unequal(line, row, *len as usize, *expected_len as usize)
        }
        _ => BadRow::whole(error.to_string()),
    }
}

/// The bytes of a file of JSON lines.
pub(crate) fn json_bytes(file: &dyn RowFile) -> Result<Vec<u8>, BadRow> {
    if file.size() > MOST_JSON {
        return Err(BadRow::whole(format!(
            "has {} bytes, and JSON lines are held in memory, {MOST_JSON} bytes (1 GiB) at most: make \
             it CSV, which is read a piece at a time whatever its size, or use a part of it",
            file.size()
        )));
    }
    let mut bytes = vec![0; file.size() as usize];
    file.read(0, &mut bytes).map_err(BadRow::whole)?;
    Ok(bytes)
}

/// Reads a JSON value on each line.
pub(crate) fn read_json_lines(bytes: &[u8]) -> Result<Table, BadRow> {
    let text = str::from_utf8(without_mark(bytes)).map_err(|error| {
        let before = &bytes[..error.valid_up_to().min(bytes.len())];
        BadRow::at(1 + lines(before), "is not UTF-8")
    })?;
    // Twice, a line at a time: values take several times the memory of their text.
    read_rows(|| {
        let filled = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
        filled.map(|(line, text)| json_value(line, text))
    })
}

fn json_value(line: u64, text: &str) -> Result<Literal, BadRow> {
    serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
        BadRow::at(line, format!("is not JSON: {what} (column {})", error.column()))
    })
}

/// Reads values: single ones, whose column is `value`, or objects of columns.
pub(crate) fn read_values(values: &[Literal]) -> Result<Table, BadRow> {
    read_rows(|| values.iter().map(Ok))
}

/// Reads rows that can be gone over twice: for their columns, and for their cells.
fn read_rows<L, I>(rows: impl Fn() -> I) -> Result<Table, BadRow>
where
    L: Borrow<Literal>,
    I: Iterator<Item = Result<L, BadRow>>,
{
    let Some(columns) = columns_of(rows())? else {
        let mut table = Table::new(vec!["value".to_owned()]);
        for value in rows() {
            add(&mut table, Some(value?.borrow()))?;
        }
        return Ok(table);
    };
    let mut table = Table::new(columns.clone());
    for value in rows() {
        let value = value?;
        for column in &columns {
            add(&mut table, value.borrow().member(column))?;
        }
    }
    Ok(table)
}

/// The columns of objects; none where no row is one.
fn columns_of<L: Borrow<Literal>>(
    rows: impl Iterator<Item = Result<L, BadRow>>,
) -> Result<Option<Vec<String>>, BadRow> {
    let (mut columns, mut objects, mut single) = (Vec::<String>::new(), false, None);
    for (row, value) in (1..).zip(rows) {
        let value = value?;
        let Literal::Object(members) = value.borrow() else {
            single = single.or(Some(row));
            continue;
        };
        objects = true;
        for (name, _) in members {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
            if columns.len() > MOST_COLUMNS {
                return Err(BadRow::whole(format!("has more than {MOST_COLUMNS} columns")));
            }
        }
    }
    match single {
        Some(row) if objects => {
            Err(BadRow::whole(format!("row {row} is not an object, but others are")))
        }
        _ => Ok(objects.then_some(columns)),
    }
}

fn add(table: &mut Table, value: Option<&Literal>) -> Result<(), BadRow> {
    let json = !matches!(value, Some(Literal::Text(_)));
    let plain = value.map(Literal::plain);
    table.add(plain.as_ref().map(|text| (text.as_bytes(), json))).map_err(BadRow::whole)
}
