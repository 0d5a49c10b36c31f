//! Batches as JSON lines: one object for each key and route, appended to a file.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use super::collector::{Batch, Sink};
use super::sum::Sum;
use crate::policy::PROBLEMS;

/// A file of JSON lines.
#[derive(Debug)]
pub struct JsonLines {
    file: File,
}

impl JsonLines {
    /// Appends to a file, which is made where there is none.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { file })
    }
}

#[derive(Serialize)]
struct Line<'a> {
    at_s: i64,
    key: u64,
    route: &'a str,
    forwarded: u64,
    upstream_failed: u64,
    bytes_in: u64,
    bytes_out: u64,
    latency_sum_ns: u64,
    p50_ns: u64,
    p99_ns: u64,
    statuses: &'a BTreeMap<u16, u64>,
    refused: BTreeMap<&'static str, u64>,
}

/// Refusals by their names, without those that did not happen.
pub(super) fn refusals(sum: &Sum) -> BTreeMap<&'static str, u64> {
    let named = PROBLEMS.iter().zip(sum.refused).filter(|(_, n)| *n > 0);
    named.map(|(problem, n)| (problem.code(), n)).collect()
}

/// A batch as JSON lines.
pub(super) fn lines(batch: &Batch) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    for (key, route, sum) in &batch.rows {
        let line = Line {
            at_s: batch.at_s,
            key: *key,
            route,
            forwarded: sum.forwarded,
            upstream_failed: sum.upstream_failed,
            bytes_in: sum.bytes_in,
            bytes_out: sum.bytes_out,
            latency_sum_ns: sum.latency_sum_ns,
            p50_ns: sum.latency.at_quantile(0.5),
            p99_ns: sum.latency.at_quantile(0.99),
            statuses: &sum.statuses,
            refused: refusals(sum),
        };
        serde_json::to_writer(&mut text, &line).map_err(|error| error.to_string())?;
        text.push(b'\n');
    }
    Ok(text)
}

impl Sink for JsonLines {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        let text = lines(batch)?;
        let before = self.file.metadata().map_err(|error| error.to_string())?.len();
        self.file.write_all(&text).map_err(|error| {
            // What was written of it is taken back, so that trying again counts nothing twice.
            let _ = self.file.set_len(before);
            error.to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Problem;

    #[test]
    fn a_line_for_each_key_and_route() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.jsonl");
        let mut sum = Sum { forwarded: 3, bytes_out: 9, ..Sum::default() };
        sum.refused[Problem::RateLimited as usize] = 2;
        sum.statuses.insert(200, 3);
        let rows = vec![(1, "a".to_owned(), sum.clone()), (2, "b".to_owned(), sum)];
        JsonLines::open(&path).unwrap().write(&Batch { at_s: 5, rows }).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["statuses"]["200"], 3);
        assert_eq!(lines[1]["refused"], serde_json::json!({"rate_limited": 2}));
    }

    /// Who tells it says that usage cannot be written.
    #[test]
    fn a_full_disk_is_the_systems_reason_alone() {
        let rows = vec![(1, "a".to_owned(), Sum::default())];
        let mut sink = JsonLines::open(Path::new("/dev/full")).unwrap();
        let said = sink.write(&Batch { at_s: 5, rows }).unwrap_err();
        assert_eq!(said, io::Error::from_raw_os_error(28).to_string());
    }
}
