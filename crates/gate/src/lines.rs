//! Files of lines that are appended to, by several processes maybe: a line that was cut short spoils no other.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// What is wrong with a pipe without a reader, or with one that is busy with other things.
const UNREAD: &str = "nobody reads from this pipe";
/// How long the reader of a pipe may take for what is appended at once.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks whether there is room in a pipe.
const LOOK: Duration = Duration::from_millis(5);
/// A pipe takes so many bytes whole or not at all (`PIPE_BUF` in pipe(7)).
pub(crate) const PIPE_BYTES: usize = 4096;

/// Opens a file to be appended to, and makes it where there is none, with this mode. A pipe without a reader is an error, and
/// writing to a full one is too: the system would wait for a reader without an end.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open(path: &Path, mode: u32) -> io::Result<File> {
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(mode).custom_flags(at_once);
    // A socket cannot be opened either, and the system says the same of it.
    options.open(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::NXIO) if is_pipe(path) => io::Error::other(UNREAD),
        _ => error,
    })
}

/// Whether there is a pipe at a path.
pub(crate) fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

/// Whether two open files are the same pipe.
pub(crate) fn are_one_pipe(one: &File, other: &File) -> bool {
    let pipe = |file: &File| {
        let about = file.metadata().ok().filter(|about| about.file_type().is_fifo());
        about.map(|about| (about.dev(), about.ino()))
    };
    pipe(one).is_some_and(|one| pipe(other) == Some(one))
}

/// What came of lines that were appended.
#[derive(Debug)]
pub(crate) struct Appended {
    /// Bytes of the lines that were written whole.
    pub(crate) whole: usize,
    /// Some of the next one was written too: to a pipe, of which nothing can be taken back.
    pub(crate) cut: bool,
    /// Why there are no more.
    pub(crate) result: io::Result<()>,
}

/// Appends lines, as many as there is room for. The reader of a pipe is waited for this long; where the process is killed
/// meanwhile, only a line of more than [`PIPE_BYTES`] can be cut short.
pub(crate) fn append(file: &mut File, lines: &[u8], patience: Duration) -> Appended {
    let is_file = file.metadata().is_ok_and(|about| about.is_file());
    let at_once = if is_file { usize::MAX } else { PIPE_BYTES };
    let (written, result) = write_most(file, lines, at_once, patience);
    let whole = whole_lines(&lines[..written]);
    let cut = whole < written && !take_back(file, written - whole);
    Appended { whole, cut, result }
}

/// Writes as many whole lines at a time as are in so many bytes, or one that is longer. Bytes that were written, and why not all
/// were: [`io::ErrorKind::TimedOut`] where the reader of a pipe did not take them in this time.
pub(crate) fn write_most(
    out: &mut impl Write,
    bytes: &[u8],
    at_once: usize,
    patience: Duration,
) -> (usize, io::Result<()>) {
    let until = Instant::now() + patience;
    let mut written = 0;
    while written < bytes.len() {
        match out.write(first_lines(&bytes[written..], at_once)) {
            Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if Instant::now() > until {
                    return (written, Err(io::Error::new(io::ErrorKind::TimedOut, UNREAD)));
                }
                thread::sleep(LOOK);
            }
            Err(error) => return (written, Err(error)),
        }
    }
    (written, Ok(()))
}

/// As many whole lines as are in so many bytes; one that is longer, or the rest of it.
fn first_lines(bytes: &[u8], at_once: usize) -> &[u8] {
    if bytes.len() <= at_once {
        return bytes;
    }
    let (within, beyond) = bytes.split_at(at_once);
    let end = match whole_lines(within) {
        0 => {
            let end = beyond.iter().position(|byte| *byte == b'\n');
            end.map_or(bytes.len(), |end| at_once + end + 1)
        }
        whole => whole,
    };
    &bytes[..end]
}

/// Bytes up to the end of the last whole line.
pub(crate) fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// Shortens a file by the bytes that were written to it last; whether it could be. Where it could not, `end_last` ends the line.
fn take_back(file: &File, bytes: usize) -> bool {
    let about = file.metadata().ok().filter(|about| about.is_file());
    about.is_some_and(|about| file.set_len(about.len().saturating_sub(bytes as u64)).is_ok())
}

/// Ends the last line of a file at a path, where a full disk or a killed process has cut it short.
pub(crate) fn end_last(file: &mut File, path: &Path) {
    if ends_within_a_line(file, path) {
        // Where the disk is full still, so is it for what follows.
        let _ = file.write_all(b"\n");
    }
}

/// What cannot be read, or is no regular file, does not.
fn ends_within_a_line(file: &File, path: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    let mut last = [b'\n'];
    if about.is_file()
        && about.len() > 0
        && let Ok(readable) = File::open(path)
    {
        let _ = readable.read_at(&mut last, about.len() - 1);
    }
    last != [b'\n']
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use testkit::pipes;

    use super::*;

    /// A disk with room for so many bytes.
    struct Room(usize);

    impl Write for Room {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // In pieces, as a kernel may.
            let takes = bytes.len().min(self.0).min(3);
            self.0 -= takes;
            if takes == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(takes) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn of_lines_that_find_no_room_the_whole_ones_are_known() {
        let lines = b"one\ntwo\nthree\n";
        for (room, whole) in [(0, 0), (3, 0), (4, 4), (9, 8), (13, 8), (14, 14), (99, 14)] {
            let (written, result) = write_most(&mut Room(room), lines, 6, PATIENCE);
            assert_eq!((written, result.is_ok()), (room.min(14), room >= 14), "{room}");
            assert_eq!(whole_lines(&lines[..written]), whole, "{room}");
        }
    }

    #[test]
    fn whole_lines_are_written_at_once() {
        for (bytes, first) in [
            ("", ""),
            ("a\nb\n", "a\nb\n"),
            ("a\nb\nc\n", "a\nb\n"),
            ("a\nbcd\ne\n", "a\n"),
            ("abcdef\ng\n", "abcdef\n"),
            ("abcdef", "abcdef"),
            ("abc\nd\n", "abc\n"),
            ("abcd\ne\n", "abcd\n"),
        ] {
            assert_eq!(first_lines(bytes.as_bytes(), 4), first.as_bytes(), "{bytes:?}");
        }
    }

    #[test]
    fn what_was_written_of_a_line_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        fs::write(&path, "one\ntw").unwrap();
        let mut file = open(&path, 0o600).unwrap();
        assert!(take_back(&file, 2));
        let Appended { whole, cut, result } = append(&mut file, b"three\n", PATIENCE);
        assert_eq!((whole, cut, result.is_ok()), (6, false, true));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\nthree\n");
        let mut full = open(Path::new("/dev/full"), 0o600).unwrap();
        let Appended { whole, result, .. } = append(&mut full, b"x\n", PATIENCE);
        assert_eq!((whole, result.is_err()), (0, true));
    }

    /// A start waited for a reader, and heeded no signal.
    #[test]
    fn a_pipe_that_nobody_reads_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipes::make(&path);
        assert_eq!(open(&path, 0o600).unwrap_err().to_string(), UNREAD);
        let socket = folder.path().join("socket");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_ne!(open(&socket, 0o600).unwrap_err().to_string(), UNREAD);
        let mut reader = pipes::reader(&path);
        let mut file = open(&path, 0o600).unwrap();
        file.write_all(b"x\n").unwrap();
        drop(file);
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "x\n");
        // The reader takes nothing: more than the pipe holds is given up.
        let mut file = open(&path, 0o600).unwrap();
        let lines = "a line\n".repeat(1 << 20);
        let Appended { whole, result, .. } = append(&mut file, lines.as_bytes(), LOOK);
        assert!(whole > 0 && whole < lines.len(), "{whole}");
        assert_eq!(result.unwrap_err().to_string(), UNREAD);
    }

    #[test]
    fn a_line_that_was_cut_short_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for (before, after) in [("", "x\n"), ("a\n", "a\nx\n"), ("a\nb", "a\nb\nx\n")] {
            fs::write(&path, before).unwrap();
            let mut file = open(&path, 0o600).unwrap();
            end_last(&mut file, &path);
            file.write_all(b"x\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
    }
}
