//! JTL as CSV. The header line names the columns, which may come in any order.

use model::Claims;

use super::{NO_RESPONSE, Sample, Sum, TRANSACTION};
use crate::BadFile;
use crate::claims::records::Records;
use model::quote::quote;

/// Where the columns that matter are.
#[derive(Debug)]
struct Columns {
    began: usize,
    elapsed: usize,
    success: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    thread: Option<usize>,
    threads: Option<usize>,
    url: Option<usize>,
}

/// Sums up a JTL in CSV.
///
/// # Errors
/// On a header without the times, and on a line whose figures are invalid.
pub(in crate::claims) fn from_csv(bytes: &[u8]) -> Result<Claims, BadFile> {
    let mut records = Records::new(bytes, delimiter(bytes));
    let columns = columns(&records.byte_header()?)?;
    let mut sum = Sum::default();
    records.each_of_bytes(|line, record| {
        let field = |at: Option<usize>| {
            let bytes = at.and_then(|at| record.get(at)).unwrap_or_default();
            std::str::from_utf8(bytes).unwrap_or_default()
        };
        if field(columns.message).starts_with(TRANSACTION) {
            sum.transactions += 1;
            return Ok(());
        }
        let sample = Sample {
            began_ms: whole(line, "timeStamp", field(Some(columns.began)))?,
            elapsed_ms: whole(line, "elapsed", field(Some(columns.elapsed)))?,
            unanswered: field(columns.code).starts_with(NO_RESPONSE),
            succeeded: columns.success.map(|at| field(Some(at)) == "true"),
            thread: field(columns.thread),
            threads: match columns.threads {
                Some(at) => whole(line, "allThreads", field(Some(at)))?,
                None => 0,
            },
            url: field(columns.url),
        };
        sum.add(sample).map_err(|what| BadFile::at(line, what))
    })?;
    sum.claims()
}

/// What stands behind the first column's name.
fn delimiter(bytes: &[u8]) -> u8 {
    let after = bytes.iter().find(|byte| !byte.is_ascii_alphanumeric() && **byte != b'"');
    *after.filter(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')).unwrap_or(&b',')
}

fn columns(header: &csv::ByteRecord) -> Result<Columns, BadFile> {
    let named = |name: &str| header.iter().position(|field| field.trim_ascii() == name.as_bytes());
    let needed = |name: &str| {
        let missing = || BadFile::at(1, format!("a JTL without the column `{name}`"));
        named(name).ok_or_else(missing)
    };
    Ok(Columns {
        began: needed("timeStamp")?,
        elapsed: needed("elapsed")?,
        success: named("success"),
        code: named("responseCode"),
        message: named("responseMessage"),
        thread: named("threadName"),
        threads: named("allThreads"),
        url: named("URL"),
    })
}

fn whole(line: usize, column: &str, word: &str) -> Result<u64, BadFile> {
    word.parse().map_err(|_| {
        let cut = if word.is_empty() { " (is the line cut short?)" } else { "" };
        let what = format!("{column}: {} is not a whole number of ms{cut}", quote(word));
        BadFile::at(line, what)
    })
}
