//! Rows that a killed run may have used: reported in a sentence, and listed in a file by ranges.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use traffic::{KeptRanges, RowRange};

use crate::failure::Failure;

/// The file's name in a result folder.
pub const NAME: &str = "maybe-used.csv";
/// Ranges named in a sentence.
const NAMED: usize = 6;

/// What is known of a pool that a resumed run continues.
#[derive(Debug)]
pub struct Doubt<'a> {
    pool: &'a str,
    /// Rows that were taken, and are neither left nor in doubt.
    used: u64,
    /// Ranges of rows that may have been used, in order.
    ranges: Vec<RowRange>,
}

impl<'a> Doubt<'a> {
    /// What kept ranges say about a pool.
    pub fn of(pool: &'a str, ranges: &KeptRanges) -> Self {
        let mut doubtful = ranges.doubtful.clone();
        doubtful.sort_by_key(|range| range.from);
        let taken = ranges.next.map_or(0, |next| next.row);
        let used = taken.saturating_sub(rows(&doubtful) + rows(&ranges.left));
        Self { pool, used, ranges: doubtful }
    }

    /// In a sentence.
    pub fn sentence(&self, dir: &Path) -> String {
        let Self { pool, used, ranges } = self;
        let doubtful = rows(ranges);
        if doubtful == 0 {
            return format!("pool `{pool}`: {used} rows are used up, and no other was in use");
        }
        let named: Vec<String> = ranges.iter().take(NAMED).map(shown).collect();
        let more = ranges.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more ranges") } else { String::new() };
        format!(
            "pool `{pool}`: {used} rows are used up; {doubtful} more were in use when the run ended and \
             may have been used: rows {}{more}. They are left out, and listed in {}",
            named.join(", "),
            dir.join(NAME).display()
        )
    }
}

fn rows(ranges: &[RowRange]) -> u64 {
    ranges.iter().map(|range| range.to.row.saturating_sub(range.from.row)).sum()
}

/// Rows are counted from 1.
fn shown(range: &RowRange) -> String {
    format!("{} to {}", range.from.row + 1, range.to.row)
}

/// Adds the doubtful rows to the folder's list of them.
///
/// # Errors
/// When it cannot be written.
pub fn note(dir: &Path, doubts: &[Doubt<'_>]) -> Result<(), Failure> {
    if doubts.iter().all(|doubt| doubt.ranges.is_empty()) {
        return Ok(());
    }
    let path = dir.join(NAME);
    let mut text = String::new();
    if fs::metadata(&path).map_or(0, |about| about.len()) == 0 {
        text.push_str("pool,first_row,last_row\n");
    }
    for Doubt { pool, ranges, .. } in doubts {
        let pool = pool.replace('"', "\"\"");
        let lines = ranges.iter().map(|range| (range.from.row + 1, range.to.row));
        text.extend(lines.map(|(first, last)| format!("\"{pool}\",{first},{last}\n")));
    }
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let file =
        File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::CannotRun(format!("cannot write {}: {error}", path.display())))
}
