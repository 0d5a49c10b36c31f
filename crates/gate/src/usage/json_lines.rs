//! Batches as JSON lines: one object for each key and route, appended to a file or a pipe.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::buckets::longest_ns;
use super::collector::{Batch, Sink};
use super::sum::Sum;
use crate::lines;
use crate::policy::PROBLEMS;

/// How long another process may write to the file.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks whether it still does.
const LOOK: Duration = Duration::from_millis(5);

/// A file of JSON lines. It is opened for each batch, so that it may be moved away at any time; a pipe stays open, since its
/// reader would take the end of a batch for the end of all.
#[derive(Debug)]
pub struct JsonLines {
    path: PathBuf,
    pipe: Option<File>,
    /// Bytes of the batch in hand that the reader of the pipe has taken: nothing of them can be taken back.
    taken: usize,
    /// How long a full pipe is waited for.
    patience: Duration,
}

impl JsonLines {
    /// Appends to a file, which is made where there is none.
    ///
    /// # Errors
    /// When it cannot be opened, or is a pipe that nobody reads from.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open(path)?;
        let pipe = (!file.metadata()?.is_file()).then_some(file);
        Ok(Self { path: path.to_owned(), pipe, taken: 0, patience: lines::PATIENCE })
    }

    /// Appends a batch whole or not at all.
    fn append(&self, mut file: File, text: &[u8]) -> io::Result<()> {
        lock(&file)?;
        lines::end_last(&mut file, &self.path);
        let before = file.metadata()?.len();
        file.write_all(text).inspect_err(|_| {
            // What was written of it is taken back, so that trying again counts nothing twice.
            let _ = file.set_len(before);
        })
    }

    /// Writes what the reader of a pipe has not yet taken of a batch. Where it takes no more for long, the next attempt goes on
    /// there.
    fn pass_on(&mut self, mut pipe: File, text: &[u8]) -> io::Result<()> {
        // Held until the batch is written whole, so that no line of another gateway comes within one of it.
        if let Err(error) = lock(&pipe) {
            self.pipe = Some(pipe);
            return Err(error);
        }
        let rest = text.get(self.taken..).unwrap_or_default();
        let (more, result) = lines::write_most(&mut pipe, rest, lines::PIPE_BYTES, self.patience);
        self.taken += more;
        match &result {
            Ok(()) => {
                self.taken = 0;
                // File systems without locks have none to end.
                let _ = pipe.unlock();
                self.pipe = Some(pipe);
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => self.pipe = Some(pipe),
            // The reader is gone: another one begins with a whole line.
            Err(_) => {
                let taken = text.get(..self.taken).unwrap_or_default();
                self.taken = lines::whole_lines(taken);
            }
        }
        result
    }
}

fn open(path: &Path) -> io::Result<File> {
    lines::open(path, 0o600)
}

/// Keeps other gateways from writing to the file until it is closed. File systems without locks have none.
fn lock(file: &File) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if Instant::now() > until {
            return Err(io::Error::other("another process writes to the file for long"));
        }
        thread::sleep(LOOK);
    }
    Ok(())
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
    /// Forwarded requests by the longest latency of their bucket: percentiles of several lines come from their sum.
    latency_up_to_ns: BTreeMap<u64, u64>,
    statuses: &'a BTreeMap<u16, u64>,
    refused: BTreeMap<&'static str, u64>,
}

/// Refusals by their names, without those that did not happen.
pub(super) fn refusals(sum: &Sum) -> BTreeMap<&'static str, u64> {
    let named = PROBLEMS.iter().zip(sum.refused).filter(|(_, n)| *n > 0);
    named.map(|(problem, n)| (problem.code(), n)).collect()
}

/// A batch as JSON lines.
pub(super) fn objects(batch: &Batch) -> Result<Vec<u8>, String> {
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
            p50_ns: sum.latency.interpolated(0.5),
            p99_ns: sum.latency.interpolated(0.99),
            latency_up_to_ns: sum.latency.filled().map(|(at, n)| (longest_ns(at), n)).collect(),
            statuses: &sum.statuses,
            refused: refusals(sum),
        };
        serde_json::to_writer(&mut text, &line).map_err(|error| error.to_string())?;
        text.push(b'\n');
    }
    Ok(text)
}

impl Sink for JsonLines {
    /// Of a pipe, whole or up to the bytes that its reader has taken: of a batch that stays unfinished, some lines have then been
    /// read.
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        let text = objects(batch)?;
        let mut append = || {
            let file = self.pipe.take().map_or_else(|| open(&self.path), Ok)?;
            match file.metadata()?.is_file() {
                true => {
                    // Where it was a pipe before, what its reader took is in none of this file.
                    self.taken = 0;
                    self.append(file, &text)
                }
                false => self.pass_on(file, &text),
            }
        };
        append().map_err(|error: io::Error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use rustix::io::Errno;
    use testkit::pipes;

    use super::*;
    use crate::policy::Problem;
    use crate::usage::bucket_of;

    #[test]
    fn a_line_for_each_key_and_route() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.jsonl");
        let mut sum = Sum { forwarded: 3, bytes_out: 9, ..Sum::default() };
        sum.refused[Problem::RateLimited as usize] = 2;
        sum.statuses.insert(200, 3);
        sum.latency.0[bucket_of(5_000)] = 2;
        sum.latency.0[bucket_of(9_000_000)] = 1;
        let rows = vec![(1, "a".to_owned(), sum.clone()), (2, "b".to_owned(), sum)];
        JsonLines::open(&path).unwrap().write(&Batch { at_s: 5, rows }).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0]["statuses"]["200"], 3);
        assert_eq!(
            lines[0]["latency_up_to_ns"],
            serde_json::json!({"5119": 2, "9437183": 1}),
            "percentiles of two lines cannot be added"
        );
        assert_eq!(lines[1]["refused"], serde_json::json!({"rate_limited": 2}));
    }

    /// Two gateways append to one file, of which one writes a batch in pieces; and the file is moved away.
    #[test]
    fn who_writes_to_the_file_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.jsonl");
        let batch = || Batch { at_s: 5, rows: vec![(1, "a".to_owned(), Sum::default())] };
        let mut sink = JsonLines::open(&path).unwrap();
        let mut other = open(&path).unwrap();
        lock(&other).unwrap();
        other.write_all(b"{\"half\"").unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| sink.write(&batch()));
            thread::sleep(10 * LOOK);
            other.write_all(b":0}\n").unwrap();
            drop(other);
            waiting.join().unwrap().unwrap();
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let well = text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
        assert!(well && text.lines().count() == 2, "{text}");
        std::fs::rename(&path, folder.path().join("moved")).unwrap();
        sink.write(&batch()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }

    /// Who tells it says that usage cannot be written.
    #[test]
    fn a_full_disk_is_the_systems_reason_alone() {
        let rows = vec![(1, "a".to_owned(), Sum::default())];
        let mut sink = JsonLines::open(Path::new("/dev/full")).unwrap();
        let said = sink.write(&Batch { at_s: 5, rows }).unwrap_err();
        assert_eq!(said, io::Error::from(Errno::NOSPC).to_string());
    }

    /// The end of the gateway waited for the reader of a full pipe, and a batch closed the pipe behind it.
    #[test]
    fn a_pipe_whose_reader_stands_still_is_given_up_and_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipes::make(&path);
        let mut reader = pipes::reader(&path);
        let mut sink = JsonLines::open(&path).unwrap();
        let kind = |read: io::Result<usize>| read.map_err(|error| error.kind());
        let is_open = Err(io::ErrorKind::WouldBlock);
        assert_eq!(kind(reader.read(&mut [0])), is_open, "from the start on");
        sink.patience = LOOK;
        let rows = (1..3_000).map(|key| (key, "a".to_owned(), Sum::default()));
        let batch = Batch { at_s: 5, rows: rows.collect() };
        assert!(sink.write(&batch).is_err(), "it is more than the pipe holds");
        let mut came = Vec::new();
        // The reader goes on: all lines come, each once.
        let written = thread::scope(|scope| {
            let writing = scope.spawn(|| (0..10_000).any(|_| sink.write(&batch).is_ok()));
            let whole = objects(&batch).unwrap().len();
            let mut piece = vec![0; 1 << 16];
            while came.len() < whole {
                let is_over = writing.is_finished();
                match reader.read(&mut piece) {
                    Ok(0) | Err(_) if is_over => break,
                    Ok(bytes) => came.extend_from_slice(&piece[..bytes]),
                    Err(_) => thread::sleep(LOOK),
                }
            }
            writing.join().unwrap()
        });
        assert!(written && came == objects(&batch).unwrap());
        assert_eq!(kind(reader.read(&mut [0])), is_open, "it stays open");
        // Another reader begins with a whole line.
        assert!(sink.write(&batch).is_err());
        drop(reader);
        assert!(sink.write(&batch).is_err());
        let mut reader = pipes::reader(&path);
        assert!(sink.write(&batch).is_err() && sink.taken > 0);
        let mut first = [0; 8];
        reader.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"{\"at_s\":");
        // A file takes the place of the pipe: what comes to it next is whole again.
        drop(reader);
        assert!(sink.write(&batch).is_err() && sink.taken > 0);
        std::fs::remove_file(&path).unwrap();
        sink.write(&batch).unwrap();
        assert_eq!(sink.taken, 0);
    }
}
