//! The thread of the log: pages to lines, lines to the file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Entry, LogFormat, PageQueue};
use crate::lines;
use crate::policy::Current;

/// How often pages are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// Between two attempts to open a file that could not be written.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the reader of a pipe is waited for at the end, for all that is left.
const LAST: Duration = Duration::from_secs(5);

/// Writes the log of a gateway.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    format: LogFormat,
    queue: Arc<PageQueue>,
    reopen: AtomicBool,
    /// The last line that went to a pipe was cut short, and is to be ended.
    cut: AtomicBool,
    error: Mutex<Option<String>>,
    /// As it was opened first, until lines are written.
    first: Mutex<Option<File>>,
}

impl Writer {
    /// Of a queue, to a file that is appended to. It is opened here to see that it can be, and stays open: the reader of a pipe
    /// would take its end for that of the log.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn new(path: &Path, format: LogFormat, queue: Arc<PageQueue>) -> io::Result<Self> {
        let mut file = open(path)?;
        lines::end_last(&mut file, path);
        let (reopen, cut) = (AtomicBool::new(false), AtomicBool::new(false));
        let (error, first) = (Mutex::default(), Mutex::new(Some(file)));
        Ok(Self { path: path.to_owned(), format, queue, reopen, cut, error, first })
    }

    /// The queue that pages come from.
    pub fn queue(&self) -> &Arc<PageQueue> {
        &self.queue
    }

    /// Opens the file anew before the next line: after it was renamed.
    pub fn reopen(&self) {
        self.reopen.store(true, Ordering::SeqCst);
    }

    /// Why the file cannot be written, if it cannot.
    pub fn error(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes until it is told to stop, and then what is left, as far as the reader of a pipe takes it in time. `current` has the
    /// names of routes.
    pub fn run(&self, current: &Current, stop: &AtomicBool) {
        let mut file = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut tried: Option<Instant> = None;
        let mut until: Option<Instant> = None;
        loop {
            let last = stop.load(Ordering::SeqCst);
            if self.reopen.swap(false, Ordering::SeqCst) {
                // What was open is closed only then, for the reader of a pipe.
                (file, tried) = (self.opened(file.as_ref()), Some(Instant::now()));
            }
            if file.is_none() && tried.is_none_or(|at| at.elapsed() >= AGAIN) {
                tried = Some(Instant::now());
                file = self.opened(None);
            }
            for page in self.queue.take_full() {
                if until.is_none() && stop.load(Ordering::SeqCst) {
                    until = Some(Instant::now() + LAST);
                }
                self.write(&page, &mut file, current, patience(until));
                self.queue.give_back(page);
            }
            if last {
                return;
            }
            thread::sleep(LOOK);
        }
    }

    /// Writes the lines of a page. Those that find no room count as failed.
    fn write(&self, page: &[u8], file: &mut Option<File>, current: &Current, patience: Duration) {
        let (policy, _) = current.get();
        let wall_ns = (net::clock::wall() as i64).wrapping_sub(net::clock::now() as i64);
        let (mut text, mut count, mut rest) = (Vec::with_capacity(2 * page.len()), 0, page);
        while let Some(entry) = Entry::read(&mut rest) {
            count += 1;
            self.format.write(&mut text, &entry, wall_ns, policy.route_name(entry.route));
        }
        let written = self.append(file, text, patience);
        self.queue.written.fetch_add(written, Ordering::Relaxed);
        self.queue.failed.fetch_add(count - written, Ordering::Relaxed);
    }

    /// Appends lines, where the file is open; how many were written. A pipe that is full stays open: its reader would take that
    /// for the end of the log.
    fn append(&self, file: &mut Option<File>, mut text: Vec<u8>, patience: Duration) -> u64 {
        let Some(open) = file else { return 0 };
        let cut = self.cut.load(Ordering::Relaxed);
        if cut {
            text.insert(0, b'\n');
        }
        let appended = lines::append(open, &text, patience);
        let ends = text[..appended.whole].iter().filter(|byte| **byte == b'\n').count();
        let still_cut = cut && appended.whole == 0;
        self.cut.store(appended.cut || still_cut, Ordering::Relaxed);
        let is_full = |error: &io::Error| error.kind() == io::ErrorKind::TimedOut;
        let stays_open = appended.result.as_ref().err().is_none_or(is_full);
        self.noted(appended.result);
        if !stays_open {
            *file = None;
        }
        ends.saturating_sub(usize::from(cut)) as u64
    }

    /// Opens the file, `before` being open still. A full disk lets it be opened: only a line that was written shows that lines can
    /// be again.
    fn opened(&self, before: Option<&File>) -> Option<File> {
        match open(&self.path) {
            Ok(mut file) => {
                lines::end_last(&mut file, &self.path);
                // Its reader is in the middle of a line that was cut there.
                let is_same_pipe = before.is_some_and(|before| lines::are_one_pipe(before, &file));
                self.cut.fetch_and(is_same_pipe, Ordering::Relaxed);
                Some(file)
            }
            Err(error) => {
                self.noted(Err(error));
                None
            }
        }
    }

    /// Keeps the reason of a failure for people, or forgets the one before; whether it went well.
    fn noted(&self, result: io::Result<()>) -> bool {
        let well = result.is_ok();
        let why = result.err().map(|error| format!("{}: {error}", self.path.display()));
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = why;
        well
    }
}

/// Opens a file to be appended to, and makes it where there is none. It holds addresses of clients: only its owner
/// and group may read it.
fn open(path: &Path) -> io::Result<File> {
    lines::open(path, 0o640)
}

/// How long the reader of a pipe is waited for, where all is to be written by an instant.
fn patience(until: Option<Instant>) -> Duration {
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    left.map_or(lines::PATIENCE, |left| left.min(lines::PATIENCE))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use tempfile::TempDir;
    use testkit::pipes;

    use super::*;

    /// The reader of a named pipe, and a writer of lines to it.
    fn pipe(folder: &TempDir) -> (File, Writer) {
        let path = folder.path().join("pipe");
        pipes::make(&path);
        let reader = pipes::reader(&path);
        let queue = Arc::new(PageQueue::new(1.0));
        let writer = Writer::new(&path, LogFormat::default(), queue).expect("it is read");
        (reader, writer)
    }

    /// A full disk lets files be opened: that is no sign that lines can be written again.
    #[test]
    fn a_full_disk_is_reported_until_a_line_is_written() {
        let full = Path::new("/dev/full");
        let writer = Writer::new(full, LogFormat::default(), Arc::new(PageQueue::new(1.0)))
            .expect("it opens");
        let mut file = writer.opened(None);
        let write = |file: &mut Option<File>, bytes: &[u8]| {
            writer.noted(file.as_mut().expect("a file").write_all(bytes))
        };
        assert!(!write(&mut file, b"a line\n"));
        assert!(writer.error().is_some_and(|why| why.starts_with("/dev/full: ")));
        file = writer.opened(None);
        assert!(file.is_some() && writer.error().is_some(), "it was opened and not written");
        let folder = tempfile::tempdir().expect("a folder");
        file = open(&folder.path().join("log")).ok();
        assert!(write(&mut file, b"a line\n") && writer.error().is_none());
    }

    /// It was closed, and the reader, who was only busy, ended. Where the gateway was killed then, the first line of the next one
    /// was appended to a part of a line.
    #[test]
    fn a_full_pipe_stays_open_and_has_whole_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut reader, writer) = pipe(&folder);
        let mut file = writer.opened(None);
        // More than a pipe holds, in lines that fill no page of it.
        let line = [b"a".repeat(996), b"\n".to_vec()].concat();
        let written = writer.append(&mut file, line.repeat(2_000), Duration::ZERO);
        assert!(written < 2_000 && file.is_some() && writer.error().is_some());
        let mut came = Vec::new();
        let drain = |reader: &mut File, came: &mut Vec<u8>| {
            reader.read_to_end(came).map_err(|error| error.kind())
        };
        assert_eq!(drain(&mut reader, &mut came), Err(io::ErrorKind::WouldBlock), "it is open");
        assert!(came.ends_with(b"\n"));
        assert_eq!(writer.append(&mut file, b"b\n".to_vec(), Duration::ZERO), 1);
        assert_eq!(drain(&mut reader, &mut came), Err(io::ErrorKind::WouldBlock));
        assert!(came.ends_with(b"\nb\n") && !came.ends_with(b"\n\nb\n"));
        let whole = came.split(|byte| *byte == b'\n').filter(|came| came.len() == 996).count();
        assert_eq!((whole as u64, writer.error()), (written, None));
    }

    /// As SIGHUP does: the next line was appended to the one that was cut.
    #[test]
    fn a_pipe_that_is_opened_again_after_a_cut_line_begins_with_a_new_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut reader, writer) = pipe(&folder);
        let mut file = writer.opened(None);
        // One line that is longer than the pipe.
        let line = [vec![b'a'; 1 << 21], b"\n".to_vec()].concat();
        assert_eq!(writer.append(&mut file, line, Duration::ZERO), 0);
        file = writer.opened(file.as_ref());
        let mut came = Vec::new();
        let drained = reader.read_to_end(&mut came).map_err(|error| error.kind());
        assert_eq!(drained, Err(io::ErrorKind::WouldBlock), "it is open");
        assert_eq!(writer.append(&mut file, b"b\n".to_vec(), Duration::ZERO), 1);
        came.clear();
        let drained = reader.read_to_end(&mut came).map_err(|error| error.kind());
        assert_eq!((drained, came.as_slice()), (Err(io::ErrorKind::WouldBlock), &b"\nb\n"[..]));
        // Another pipe begins with no empty line.
        writer.cut.store(true, Ordering::Relaxed);
        assert!(writer.opened(None).is_some() && !writer.cut.load(Ordering::Relaxed));
    }

    /// It was closed again, and the reader, for whom that is the end, was gone when lines came.
    #[test]
    fn a_pipe_is_open_from_the_start_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut reader, writer) = pipe(&folder);
        let came = reader.read(&mut [0]).map_err(|error| error.kind());
        assert_eq!(came, Err(io::ErrorKind::WouldBlock));
        assert!(writer.error().is_none());
    }
}
