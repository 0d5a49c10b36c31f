//! nginx's error log: how many lines of the kinds that report a limit were written since the watching began.
//!
//! The file is followed as `tail -F` does: from its end on, through rotation and truncation.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use model::Sample;

use crate::host::why_no_file;

/// Bytes read for one sample, some 8,000 lines, in a few milliseconds; what was written beyond that is passed over, and
/// said so.
const MOST_BYTES: u64 = 2 << 20;
/// Behind the date and the time, the level of most lines of a log that is kept for developers. None of them is of a kind
/// that counts.
const DEBUG: (usize, &[u8]) = ("2026/11/23 10:00:00 ".len(), b"[debug]");

/// What lines say, and what they are counted as. The first that fits counts.
const KINDS: &[(&str, &str)] = &[
    ("worker_connections are not enough", "worker_connections"),
    ("Too many open files", "open files"),
    ("could not be resolved", "name not resolved"),
    ("upstream timed out", "upstream timed out"),
    ("no live upstreams", "no live upstreams"),
    ("limiting requests", "limit_req"),
    // Only at level warn or lower, unless limit_req_log_level says otherwise.
    ("delaying request", "limit_req delays"),
    ("limiting connections", "limit_conn"),
    ("Cannot assign requested address", "ports to the upstream"),
    ("Connection refused) while connecting to upstream", "upstream refused"),
    ("upstream prematurely closed connection", "upstream closed"),
    ("Connection reset by peer) while reading response header from upstream", "upstream closed"),
    ("is buffered to a temporary file", "temporary file"),
];

/// Follows one file.
#[derive(Debug)]
pub struct ErrorLog {
    path: PathBuf,
    open: Option<(File, u64)>,
    /// Whether the file was looked at before: one that comes later is read from its start.
    looked: bool,
    counts: BTreeMap<&'static str, u64>,
    /// The beginning of a line whose end has not come yet.
    rest: Vec<u8>,
}

impl ErrorLog {
    /// The file of this path, from now on.
    pub fn new(path: &Path) -> Self {
        let counts = KINDS.iter().map(|(_, kind)| (*kind, 0)).collect();
        Self { path: path.to_owned(), open: None, looked: false, counts, rest: Vec::new() }
    }

    /// Puts the counts into `sample`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&mut self, sample: &mut Sample) -> Result<(), String> {
        if let Err(error) = self.follow(sample) {
            return Err(why_no_file(&self.path.display().to_string(), &error));
        }
        for (kind, n) in &self.counts {
            sample.count(format!("nginx.log{{{kind}}}"), *n);
        }
        Ok(())
    }

    fn follow(&mut self, sample: &mut Sample) -> std::io::Result<()> {
        let looked = std::mem::replace(&mut self.looked, true);
        let now = std::fs::metadata(&self.path).map(|about| about.ino());
        // What was still written to a file that was moved away is read to its end first.
        self.read_new(sample)?;
        let moved = match (&self.open, &now) {
            (Some((_, inode)), Ok(now)) => inode != now,
            (None, _) => true,
            (Some(_), Err(_)) => false,
        };
        if moved {
            let mut file = File::open(&self.path)?;
            let inode = file.metadata()?.ino();
            if !looked {
                file.seek(SeekFrom::End(0))?;
            }
            self.open = Some((file, inode));
            self.rest.clear();
            self.read_new(sample)?;
        }
        Ok(())
    }

    fn read_new(&mut self, sample: &mut Sample) -> std::io::Result<()> {
        let Some((file, _)) = &mut self.open else { return Ok(()) };
        let (length, at) = (file.metadata()?.len(), file.stream_position()?);
        if length < at {
            // Emptied in place.
            file.seek(SeekFrom::Start(0))?;
            self.rest.clear();
        } else if length - at > MOST_BYTES {
            file.seek(SeekFrom::Start(length - MOST_BYTES))?;
            self.rest.clear();
            let passed = length - at - MOST_BYTES;
            sample.miss("nginx.log", format!("{passed} bytes of the error log were passed over"));
        }
        file.take(MOST_BYTES).read_to_end(&mut self.rest)?;
        let end = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        count(&self.rest[..end], &mut self.counts);
        self.rest.drain(..end);
        // A line without an end is none of nginx's.
        if self.rest.len() > 64 * 1024 {
            self.rest.clear();
        }
        Ok(())
    }
}

/// Counts the lines of each kind.
pub fn count(text: &[u8], counts: &mut BTreeMap<&'static str, u64>) {
    let mut rest = text;
    loop {
        let all = rest;
        let Ok(length @ 1..) = rest.skip_until(b'\n') else { return };
        let line = &all[..length];
        if line.get(DEBUG.0..).is_some_and(|rest| rest.starts_with(DEBUG.1)) {
            continue;
        }
        let line = String::from_utf8_lossy(line);
        if let Some((_, kind)) = KINDS.iter().find(|(words, _)| line.contains(words)) {
            *counts.entry(kind).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    const FULL: &str = "2026/11/23 10:00:00 [alert] 7#7: 1024 worker_connections are not enough\n";
    const LATE: &str = "2026/11/23 10:00:00 [error] 7#7: *1 upstream timed out (110: Connection timed out) while \
        reading response header from upstream, client: 127.0.0.1\n";

    #[test]
    fn a_log_is_followed_through_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        fs::write(&path, FULL.repeat(3)).unwrap();
        let mut log = ErrorLog::new(&path);
        let counts = |log: &mut ErrorLog| {
            let mut sample = Sample::new(0);
            log.read(&mut sample).unwrap();
            let of = |kind: &str| sample.counters[&format!("nginx.log{{{kind}}}")];
            (of("worker_connections"), of("upstream timed out"))
        };
        assert_eq!(counts(&mut log), (0, 0), "what was there before is not counted");
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        write!(file, "{FULL}{}", &LATE[..20]).unwrap();
        assert_eq!(counts(&mut log), (1, 0));
        write!(file, "{}", &LATE[20..]).unwrap();
        assert_eq!(counts(&mut log), (1, 1));
        // Moved away, written to once more, and made anew.
        fs::rename(&path, folder.path().join("error.log.1")).unwrap();
        assert_eq!(counts(&mut log), (1, 1));
        write!(file, "{FULL}").unwrap();
        fs::write(&path, LATE).unwrap();
        assert_eq!(counts(&mut log), (2, 2));
        // Emptied in place.
        fs::write(&path, "").unwrap();
        assert_eq!(counts(&mut log), (2, 2));
        fs::write(&path, FULL).unwrap();
        assert_eq!(counts(&mut log), (3, 2));
    }

    #[test]
    fn what_is_said_to_developers_is_passed_over() {
        let debug =
            "2026/11/23 10:00:00 [debug] 7#7: *1 http upstream header: \"upstream timed out\"\n";
        let mut counts = BTreeMap::new();
        let text = [debug, LATE, debug, FULL].map(str::as_bytes).join(&b"\xff\n"[..]);
        count(&[&text[..], &b"no line"[..]].concat(), &mut counts);
        assert_eq!(counts, [("upstream timed out", 1), ("worker_connections", 1)].into());
    }

    #[test]
    fn requests_that_wait_for_their_turn_are_counted() {
        let said =
            "2026/11/23 10:00:00 [warn] 7#7: *1 delaying request, excess: 1.000, by zone \"all\"\n";
        let mut counts = BTreeMap::new();
        count(said.repeat(2).as_bytes(), &mut counts);
        assert_eq!(counts, [("limit_req delays", 2)].into());
    }

    #[test]
    fn a_log_that_is_not_there_is_an_error_until_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("error.log");
        let mut log = ErrorLog::new(&path);
        assert!(log.read(&mut Sample::new(0)).unwrap_err().contains("does not exist"));
        fs::write(&path, FULL).unwrap();
        let mut sample = Sample::new(0);
        log.read(&mut sample).unwrap();
        assert_eq!(sample.counters["nginx.log{worker_connections}"], 1);
    }
}
