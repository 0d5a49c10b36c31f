//! Logs as blocks of whole lines, from files that may be compressed and from standard input.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use flate2::read::MultiGzDecoder;
use mine::Format;

use super::zstd;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 20;
/// Bytes that are looked at to find the format.
const START: usize = 256 << 10;
/// Bytes that are looked through for a line that is not too long.
const MOST_START: usize = 64 << 20;
/// Bytes by which two logs are found to be the same.
const ALIKE: usize = 64 << 10;

/// A log.
#[derive(Debug)]
pub struct Log {
    name: String,
    file: File,
    path: Option<PathBuf>,
    format: Option<Format>,
    /// What is to be said of how it is read.
    note: Option<String>,
    /// Comments before the first line, which may name columns.
    header: Vec<u8>,
    bytes: u64,
    /// Device and number of the file.
    file_id: (u64, u64),
    /// The hash of its first lines, if it has any.
    start: Option<u64>,
    packing: Packing,
}

/// How a log is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
}

/// Whole lines of a log.
#[derive(Debug)]
pub struct Block {
    /// Which of the logs.
    pub log: usize,
    /// Its lines; the beginning of one that is too long to be kept.
    pub text: Vec<u8>,
    /// Its place in the log.
    pub number: u64,
    /// Whether it is a line that is too long.
    pub too_long: bool,
}

/// Buffers of blocks that were read: to fill them again is cheaper than to have new ones.
#[derive(Debug, Default)]
pub struct Spares(Mutex<Vec<Vec<u8>>>);

impl Spares {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Puts the buffer of a block there that is no longer needed.
    pub fn put(&self, block: Block) {
        let mut buffer = block.text;
        buffer.clear();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
    }
}

impl Log {
    /// Opens a log. Standard input, which can be read once only, is copied into a temporary file.
    ///
    /// # Errors
    /// When it cannot be read, in words.
    pub fn open(path: &Path) -> Result<Self, String> {
        let words = |error: io::Error| error.to_string();
        let (name, file, path) = if path == Path::new("-") {
            let mut file = tempfile::tempfile().map_err(words)?;
            io::copy(&mut io::stdin().lock(), &mut file).map_err(words)?;
            ("standard input".to_owned(), file, None)
        } else {
            let file = File::open(path).map_err(words)?;
            if !file.metadata().map_err(words)?.is_file() {
                return Err("is no file; a pipe is read as `-`".to_owned());
            }
            (path.display().to_string(), file, Some(path.to_owned()))
        };
        let metadata = file.metadata().map_err(words)?;
        Ok(Self {
            name,
            file,
            path,
            format: None,
            note: None,
            header: Vec::new(),
            bytes: metadata.len(),
            file_id: (metadata.dev(), metadata.ino()),
            start: None,
            packing: Packing::None,
        })
    }

    /// The format of its first lines, out of these if there are any; none where it is empty.
    ///
    /// # Errors
    /// When it cannot be read or has no format that is known, in words.
    pub fn find_format(&mut self, of: &[Format]) -> Result<(), String> {
        self.look_at_packing().map_err(|error| error.to_string())?;
        let text = self.text().map_err(|error| error.to_string())?;
        let start = beginning(text).map_err(|error| error.to_string())?;
        let lines = start.split_inclusive(|byte| *byte == b'\n');
        let is_blank = |line: &[u8]| line.starts_with(b"#") || line.trim_ascii().is_empty();
        if lines.clone().all(is_blank) {
            return Ok(());
        }
        self.header = lines.take_while(|line| line.starts_with(b"#")).flatten().copied().collect();
        let mut hasher = DefaultHasher::new();
        start[..start.len().min(ALIKE)].hash(&mut hasher);
        self.start = Some(hasher.finish());
        let format = match of {
            [] => Format::detect(&start)?,
            [format] => format.clone(),
            several => Format::best(several, &start)?,
        };
        self.note = format.note(&start);
        self.format = Some(format);
        Ok(())
    }

    /// Whether it has no lines, once its format was looked for.
    pub fn is_empty(&self) -> bool {
        self.format.is_none()
    }

    /// Whether this is the same file as another.
    pub fn is(&self, other: &Self) -> bool {
        self.path.is_some() && self.file_id == other.file_id
    }

    /// Whether it begins with the same lines as another.
    pub fn is_like(&self, other: &Self) -> bool {
        self.start.is_some() && self.start == other.start
    }

    /// Sees how it is compressed, and says how to read it where that is in a way that is not known here.
    fn look_at_packing(&mut self) -> io::Result<()> {
        const ARCHIVES: [(&[u8], &str, &str); 3] = [
            (b"PK\x03\x04", "a zip archive", "unzip -p"),
            (b"BZh", "compressed by bzip2", "bzip2 -dc"),
            (b"\xfd7zXZ\0", "compressed by xz", "xz -dc"),
        ];
        let mut magic = [0; 6];
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let length = read_full(&mut file, &mut magic)?;
        let magic = &magic[..length];
        for (start, what, command) in ARCHIVES {
            if magic.starts_with(start) {
                return Err(io::Error::other(format!(
                    "is {what}, which is not read (.gz and .zst are): \
                     {command} FILE | plimsoll mine -"
                )));
            }
        }
        self.packing = match magic {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            start if zstd::is_meant_by(start) => Packing::Zstd,
            _ => Packing::None,
        };
        Ok(())
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its lines are written, once that is known.
    pub fn format(&self) -> Option<&Format> {
        self.format.as_ref()
    }

    /// What is to be said of how it is read, once its format was looked for.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Comments before the first line.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Its size as it lies on the disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is compressed: to unpack it takes about as long as to read its lines.
    pub fn is_packed(&self) -> bool {
        self.packing != Packing::None
    }

    /// Its text from the beginning.
    fn text(&self) -> io::Result<Box<dyn Read + Send>> {
        let mut file = match &self.path {
            Some(path) => File::open(path)?,
            None => self.file.try_clone()?,
        };
        file.seek(SeekFrom::Start(0))?;
        // A log is read twice, and may grow meanwhile: both times as long as it was at first.
        let file = file.take(self.bytes);
        Ok(match self.packing {
            Packing::Gzip => Box::new(MultiGzDecoder::new(io::BufReader::new(file))),
            Packing::Zstd => Box::new(zstd::Frames::new(io::BufReader::new(file))),
            Packing::None => Box::new(file),
        })
    }
}

/// The beginning of a log, without lines before it that are too long.
fn beginning(mut text: impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    let mut looked_at = 0;
    let mut skipping = false;
    loop {
        let mut more = Vec::new();
        text.by_ref().take(START as u64).read_to_end(&mut more)?;
        let ended = more.is_empty() || looked_at > MOST_START;
        looked_at += more.len();
        if skipping {
            let end = more.iter().position(|byte| *byte == b'\n');
            more.drain(..end.map_or(more.len(), |end| end + 1));
            skipping = end.is_none();
        }
        start.append(&mut more);
        let first = start.iter().position(|byte| *byte == b'\n');
        if first.unwrap_or(start.len()) > mine::LONGEST_LINE {
            start.drain(..first.map_or(start.len(), |end| end + 1));
            skipping = first.is_none();
        }
        if start.contains(&b'\n') || ended && !start.is_empty() {
            return Ok(start);
        }
        if ended {
            let words = "has no line that is shorter than 64 KiB";
            return if looked_at == 0 { Ok(start) } else { Err(io::Error::other(words)) };
        }
    }
}

/// Reads until the buffer is full or the end.
fn read_full(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match from.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Hands over all lines of the logs, block by block, until `give` does not want any more. Several threads read one log
/// each, where there are several: a compressed one is unpacked by one thread alone.
///
/// # Errors
/// Which log cannot be read on, in words.
pub fn each(
    logs: &[Log],
    threads: usize,
    spares: &Spares,
    give: impl Fn(Block) -> bool + Sync,
) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let read = || {
        while let Some((at, log)) = take(logs, &next) {
            let wrong = |error: io::Error| format!("{}: {error}", log.name());
            let wanted = log.each_block(at, spares, &give).map_err(wrong);
            if !matches!(wanted, Ok(true)) {
                // Others end with the logs that they have begun.
                next.store(logs.len(), Ordering::Relaxed);
                return wanted.map(drop);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(logs.len())).map(|_| scope.spawn(read)).collect();
        others.into_iter().fold(read(), |all, other| {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            all.and(other)
        })
    })
}

/// The next log that nobody has begun.
fn take<'a>(logs: &'a [Log], next: &AtomicUsize) -> Option<(usize, &'a Log)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, logs.get(at)?))
}

impl Log {
    /// Hands over its lines; whether `give` wanted all of them.
    fn each_block(
        &self,
        at: usize,
        spares: &Spares,
        give: impl Fn(Block) -> bool,
    ) -> io::Result<bool> {
        let mut source = self.text()?;
        let mut number = 0;
        let mut rest = Vec::new();
        // Within a line whose beginning was handed over as too long.
        let mut skipping = false;
        loop {
            let mut block = std::mem::replace(&mut rest, spares.take());
            let before = block.len();
            block.reserve(BLOCK);
            source.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
            let ended = block.len() == before;
            if skipping {
                let end = block.iter().position(|byte| *byte == b'\n');
                block.drain(..end.map_or(block.len(), |end| end + 1));
                skipping = end.is_none();
            }
            let end = block.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            let (text, too_long) = match end {
                Some(end) => {
                    rest.extend_from_slice(&block[end..]);
                    block.truncate(end);
                    (block, false)
                }
                None if block.len() > mine::LONGEST_LINE => {
                    skipping = true;
                    block.truncate(mine::LONGEST_LINE);
                    (block, true)
                }
                None if ended => (block, false),
                None => {
                    rest = block;
                    continue;
                }
            };
            if !text.is_empty() {
                number += 1;
                if !give(Block { log: at, text, number, too_long }) {
                    return Ok(false);
                }
            }
            if ended && rest.is_empty() {
                return Ok(true);
            }
        }
    }
}
