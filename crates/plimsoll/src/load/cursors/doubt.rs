//! Rows that a killed run may have used: told in a sentence, and in a file row by row.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use traffic::{KeptRanges, RowRange};

use crate::failure::Failure;

/// The file's name in a result folder.
pub const NAME: &str = "maybe-used.csv";
/// Periods named in a sentence.
const NAMED: usize = 6;

/// What is known of a pool that is gone on with.
#[derive(Debug)]
pub struct Doubt<'a> {
    pool: &'a str,
    /// Rows that were taken, and are neither left nor in doubt.
    used: u64,
    /// Periods of rows that may have been used, in order.
    lots: Vec<RowRange>,
}

impl<'a> Doubt<'a> {
    /// What kept lots say of a pool.
    pub fn of(pool: &'a str, lots: &KeptRanges) -> Self {
        let mut doubtful = lots.doubtful.clone();
        doubtful.sort_by_key(|lot| lot.from);
        let taken = lots.next.map_or(0, |next| next.row);
        let used = taken.saturating_sub(rows(&doubtful) + rows(&lots.left));
        Self { pool, used, lots: doubtful }
    }

    /// In a sentence.
    pub fn tell(&self, dir: &Path) -> String {
        let Self { pool, used, lots } = self;
        let doubtful = rows(lots);
        if doubtful == 0 {
            return format!("pool `{pool}`: {used} rows are used up, and no other was in use");
        }
        let named: Vec<String> = lots.iter().take(NAMED).map(stretch).collect();
        let more = lots.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more ranges") } else { String::new() };
        format!(
            "pool `{pool}`: {used} rows are used up; {doubtful} more were in use when the run ended and \
             may have been used: rows {}{more}. They are left out, and listed in {}",
            named.join(", "),
            dir.join(NAME).display()
        )
    }
}

fn rows(lots: &[RowRange]) -> u64 {
    lots.iter().map(|lot| lot.to.row.saturating_sub(lot.from.row)).sum()
}

/// Rows are counted from 1.
fn stretch(lot: &RowRange) -> String {
    format!("{} to {}", lot.from.row + 1, lot.to.row)
}

/// Adds the doubtful rows to the folder's list of them.
///
/// # Errors
/// When it cannot be written.
pub fn note(dir: &Path, doubts: &[Doubt<'_>]) -> Result<(), Failure> {
    if doubts.iter().all(|doubt| doubt.lots.is_empty()) {
        return Ok(());
    }
    let path = dir.join(NAME);
    let mut text = String::new();
    if fs::metadata(&path).map_or(0, |about| about.len()) == 0 {
        text.push_str("pool,first_row,last_row\n");
    }
    for Doubt { pool, lots, .. } in doubts {
        let pool = pool.replace('"', "\"\"");
        let lines = lots.iter().map(|lot| (lot.from.row + 1, lot.to.row));
        text.extend(lines.map(|(first, last)| format!("\"{pool}\",{first},{last}\n")));
    }
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let file =
        File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::CannotRun(format!("cannot write {}: {error}", path.display())))
}
