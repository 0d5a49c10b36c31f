//! Rows out of CSV, JSON lines and inline values. Whatever is wrong is told with its row and line.

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use model::workload::Literal;

use super::{MOST_COLUMNS, Table};

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

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Reads rows of RFC 4180. Without `columns` the first row names them.
pub(crate) fn read_csv(
    bytes: &[u8],
    separator: u8,
    columns: Option<&[String]>,
) -> Result<Table, BadRow> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator)
        .from_reader(without_mark(bytes));
    let mut record = ByteRecord::new();
    let mut table = columns.map(|columns| named(columns.to_vec(), 1)).transpose()?;
    let mut row = 0u64;
    while reader.read_byte_record(&mut record).map_err(|error| ragged(&error))? {
        let line = record.position().map_or(0, csv::Position::line);
        let Some(table) = &mut table else {
            let names = record.iter().map(|name| str::from_utf8(name).map(str::to_owned));
            let names = names.collect::<Result<_, _>>();
            let names = names.map_err(|_| BadRow::at(line, "a column's name is no UTF-8"))?;
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
                return Err(BadRow::at(line, format!("row {row}: `{column}` is no UTF-8")));
            }
            table.add(Some((cell, false))).map_err(BadRow::whole)?;
        }
    }
    table.ok_or_else(|| BadRow::whole("has no row that names its columns"))
}

fn named(columns: Vec<String>, line: u64) -> Result<Table, BadRow> {
    column_names(columns, line).map(Table::new)
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

fn unequal(line: u64, row: u64, has: usize, wanted: usize) -> BadRow {
    BadRow::at(line, uneven(row, has, wanted))
}

/// What is wrong with a row, from 1, that has more or fewer values than there are columns.
pub(super) fn uneven(row: u64, has: usize, wanted: usize) -> String {
    let values = if has == 1 { "value" } else { "values" };
    format!("row {row} has {has} {values}, the columns are {wanted}")
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

/// Reads a JSON value on each line.
pub(crate) fn read_json_lines(bytes: &[u8]) -> Result<Table, BadRow> {
    let text = str::from_utf8(without_mark(bytes)).map_err(|error| {
        let before = &bytes[..error.valid_up_to().min(bytes.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
        BadRow::at(line, "is no UTF-8")
    })?;
    let mut values = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim().is_empty() {
            continue;
        }
        let value: Literal = serde_json::from_str(text).map_err(|error| {
            let what = error.to_string();
            let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
            BadRow::at(line, format!("is no JSON: {what} (column {})", error.column()))
        })?;
        values.push(value);
    }
    read_values(&values)
}

/// Reads values: single ones, whose column is `value`, or objects of columns.
pub(crate) fn read_values(values: &[Literal]) -> Result<Table, BadRow> {
    let objects = values.iter().filter(|value| matches!(value, Literal::Object(_))).count();
    if objects == 0 {
        let mut table = Table::new(vec!["value".to_owned()]);
        for value in values {
            add(&mut table, Some(value))?;
        }
        return Ok(table);
    }
    if let Some(at) = values.iter().position(|value| !matches!(value, Literal::Object(_))) {
        return Err(BadRow::whole(format!("row {} is no object, others are", at + 1)));
    }
    let mut columns: Vec<String> = Vec::new();
    for value in values {
        let Literal::Object(members) = value else { continue };
        for (name, _) in members {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        if columns.len() > MOST_COLUMNS {
            return Err(BadRow::whole(format!("has more than {MOST_COLUMNS} columns")));
        }
    }
    let mut table = Table::new(columns.clone());
    for value in values {
        for column in &columns {
            add(&mut table, value.member(column))?;
        }
    }
    Ok(table)
}

fn add(table: &mut Table, value: Option<&Literal>) -> Result<(), BadRow> {
    let json = !matches!(value, Some(Literal::Text(_)));
    let plain = value.map(Literal::plain);
    table.add(plain.as_ref().map(|text| (text.as_bytes(), json))).map_err(BadRow::whole)
}
