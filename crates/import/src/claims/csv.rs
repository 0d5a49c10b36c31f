//! CSVs whose header says what their columns are: tables of levels ([`levels`]), Locust's statistics ([`locust`]), and
//! hey's samples ([`samples`]).
//!
//! Owns telling them apart by their header. JTL, which is CSV too, has its own marks.

mod levels;
mod locust;
mod samples;

use model::{Claim, Claims, Tool};

use super::MOST_ROWS;
use super::records::Records;
use crate::BadFile;

/// Columns at most.
const MOST_COLUMNS: usize = 200;

/// What a header says that a CSV is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A row for each level.
    Table,
    /// `NAME_stats.csv` of Locust.
    Locust,
    /// `hey -o csv`: a row for each response.
    HeySamples,
}

/// The kind that a first line is the header of.
pub(super) fn kind(first: &str) -> Option<Kind> {
    let cells: Vec<&str> = cells(first).collect();
    let has = |name: &str| cells.contains(&name);
    let is_any = |names: &[&str]| cells.iter().any(|cell| names.contains(&folded(cell).as_str()));
    match () {
        () if has("response-time") && has("status-code") && has("offset") => Some(Kind::HeySamples),
        () if has("Average Response Time") && has("Request Count") => Some(Kind::Locust),
        () if is_any(&levels::QPS)
            && cells.iter().any(|cell| levels::mean_unit(cell).is_some()) =>
        {
            Some(Kind::Table)
        }
        () => None,
    }
}

/// The cells of a header, as far as names need no quotes.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    let between = char::from(separator(line.as_bytes()));
    line.trim().split(between).map(|cell| cell.trim().trim_matches('"'))
}

fn separator(bytes: &[u8]) -> u8 {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    [b';', b'\t'].into_iter().find(|byte| line.contains(byte)).unwrap_or(b',')
}

/// A name without case, blanks and what stands between words.
fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Reads a CSV of this kind.
///
/// # Errors
/// On a line whose figures are invalid, or where there is none.
pub(super) fn claims(bytes: &[u8], kind: Kind) -> Result<Claims, BadFile> {
    let mut records = Records::new(bytes, separator(bytes));
    let header = Header::of(&records.header()?)?;
    let mut rows = Vec::new();
    match kind {
        Kind::HeySamples => {
            let mut samples = samples::Samples::new(&header);
            records.each(|line, record| samples.add(line, record))?;
            return samples.claims();
        }
        Kind::Locust => {
            let locust = locust::Locust::new(&header);
            records.each(|line, record| push(&mut rows, line, locust.row(line, record)?))?;
        }
        Kind::Table => {
            let levels = levels::Levels::new(&header);
            records.each(|line, record| push(&mut rows, line, Some(levels.row(line, record)?)))?;
        }
    }
    if rows.is_empty() {
        return Err(BadFile::whole("a table without any row"));
    }
    let tool = if kind == Kind::Locust { Tool::Locust } else { Tool::Csv };
    Ok(Claims::new(tool, rows))
}

fn push(rows: &mut Vec<Claim>, line: usize, row: Option<Claim>) -> Result<(), BadFile> {
    if rows.len() >= MOST_ROWS {
        return Err(BadFile::at(line, format!("more than {MOST_ROWS} rows")));
    }
    rows.extend(row);
    Ok(())
}

/// The names of the columns.
struct Header {
    names: Vec<String>,
    /// As [`folded`].
    folded: Vec<String>,
}

impl Header {
    fn of(record: &::csv::StringRecord) -> Result<Self, BadFile> {
        if record.len() > MOST_COLUMNS {
            return Err(BadFile::at(1, format!("more than {MOST_COLUMNS} columns")));
        }
        let names: Vec<String> = record.iter().map(|name| name.trim().to_owned()).collect();
        Ok(Self { folded: names.iter().map(|name| folded(name)).collect(), names })
    }

    /// The place of the column that is called by the first of these names that any is called by.
    fn place(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|known| self.folded.iter().position(|name| name == known))
    }
}

/// The cell at a place; none where it is empty.
fn cell(record: &::csv::StringRecord, place: Option<usize>) -> Option<&str> {
    record.get(place?).map(str::trim).filter(|cell| !cell.is_empty())
}

#[cfg(test)]
mod tests;
