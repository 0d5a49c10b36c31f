//! Logs as blocks of whole lines, from files that may be compressed and from standard input.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mine::Format;

use super::ranges::Ranges;
use super::{gzip, zstd};

/// Bytes of a block, about: a part of a processor's second cache.
const BLOCK: usize = 256 << 10;
/// Bytes that are looked at to find the format.
const START: u64 = 256 << 10;
/// Bytes that are looked through for the first request.
const MOST_START: u64 = 64 << 20;
/// Bytes of a packed file that are read at once.
const PACKED: usize = 32 << 10;
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
    pub(super) memory: Vec<u8>,
    /// Where in the memory its lines are.
    pub(super) text: Range<usize>,
    /// Where in the log its first line begins, in bytes.
    pub at: u64,
}

impl Block {
    /// Its lines; of one that is too long to be kept, the beginning with one byte more than a line may have.
    pub fn text(&self) -> &[u8] {
        &self.memory[self.text.clone()]
    }

    /// What the next block may be read into.
    pub fn into_memory(self) -> Vec<u8> {
        self.memory
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
                return Err("is not a file; a pipe is read as `-`".to_owned());
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
        let start = beginning(text).map_err(|error| self.unread(&error))?;
        let start = start.strip_prefix(mine::BYTE_ORDER_MARK).unwrap_or(start.as_slice());
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
            [] => Format::detect(start)?,
            [format] => format.clone(),
            several => Format::best(several, start)?,
        };
        self.note = format.note(start);
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
        const UTF_16: (&str, &str) = ("text in UTF-16", "iconv -f UTF-16 -t UTF-8");
        const OTHERS: [(&[u8], &str, &str); 5] = [
            (b"PK\x03\x04", "a zip archive", "unzip -p"),
            (b"BZh", "compressed by bzip2", "bzip2 -dc"),
            (b"\xfd7zXZ\0", "compressed by xz", "xz -dc"),
            (b"\xff\xfe", UTF_16.0, UTF_16.1),
            (b"\xfe\xff", UTF_16.0, UTF_16.1),
        ];
        let mut magic = [0; 6];
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let length = read_full(&mut file, &mut magic)?;
        let magic = &magic[..length];
        for (start, what, command) in OTHERS {
            if magic.starts_with(start) {
                return Err(io::Error::other(format!(
                    "is {what}, which is not read (plain, .gz and .zst are): \
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

    /// Why it cannot be read, and what to do where a part of it can.
    fn unread(&self, error: &io::Error) -> String {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let command = match (self.packing, error.kind()) {
            (Packing::Gzip, InvalidData | InvalidInput | UnexpectedEof) => "zcat",
            (Packing::Zstd, InvalidData) => "zstdcat",
            _ => return error.to_string(),
        };
        format!(
            "{error}: it is damaged, or not all of it is there; for what is whole, {command} FILE | plimsoll mine -"
        )
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
            Packing::Gzip => {
                Box::new(gzip::Members::new(io::BufReader::with_capacity(PACKED, file)))
            }
            Packing::Zstd => {
                Box::new(zstd::Frames::new(io::BufReader::with_capacity(PACKED, file)))
            }
            Packing::None => Box::new(file),
        })
    }
}

/// The beginning of a log: its first comments, and its text from the first line on that is neither blank nor a comment.
/// Lines that are too long are left out before it; nothing where there are none but blank ones.
fn beginning(text: impl Read) -> io::Result<Vec<u8>> {
    let mut text = io::BufReader::with_capacity(PACKED, text.take(MOST_START));
    let (mut start, mut line) = (Vec::new(), Vec::new());
    let mut too_long = false;
    loop {
        line.clear();
        text.by_ref().take(mine::LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        let own = line.strip_prefix(mine::BYTE_ORDER_MARK).unwrap_or(&line);
        if line.len() > mine::LONGEST_LINE && !line.ends_with(b"\n") {
            text.skip_until(b'\n')?;
            too_long = true;
        } else if own.starts_with(b"#") {
            start.extend_from_slice(&line);
        } else if !own.trim_ascii().is_empty() {
            start.extend_from_slice(&line);
            text.take(START).read_to_end(&mut start)?;
            return Ok(start);
        }
    }
    let what = if too_long {
        "no line that is shorter than 64 KiB"
    } else {
        "only blank lines and comments"
    };
    match text.get_ref().limit() == 0 {
        true => Err(io::Error::other(format!("has {what} in its first 64 MiB"))),
        false if too_long => Err(io::Error::other(format!("has {what}"))),
        false => Ok(start),
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

/// All lines of some logs, for several threads that take them block by block. Who takes a block reads and unpacks it too:
/// so it is still in the cache of the processor that reads its lines, and no thread waits for another to read.
#[derive(Debug)]
pub struct Blocks<'a> {
    logs: Vec<Source<'a>>,
    /// Which log cannot be read on.
    wrong: Mutex<Option<String>>,
}

/// Where the blocks of a log come from.
#[derive(Debug)]
enum Source<'a> {
    /// Any place of it can be read.
    Plain(&'a Log, Ranges<'a>),
    /// One place after the other: it is compressed.
    Packed(&'a Log, Mutex<Reading<'a>>),
}

impl<'a> Blocks<'a> {
    /// Nothing taken yet.
    pub fn of(logs: &'a [Log]) -> Self {
        let source = |(at, log): (usize, &'a Log)| match log.packing {
            Packing::None => Source::Plain(log, Ranges::new(at, (&log.file, log.bytes), BLOCK)),
            _ => Source::Packed(log, Mutex::new(Reading::new(at, log))),
        };
        Self { logs: logs.iter().enumerate().map(source).collect(), wrong: Mutex::default() }
    }

    /// The next block, in the memory of an earlier one; none at the end, and once a log cannot be read on. The logs come in
    /// order, but that which another thread is about to unpack is left to it while there are others.
    pub fn take(&self, mut memory: Vec<u8>) -> Option<Block> {
        for may_wait in [false, true] {
            for source in &self.logs {
                let (log, next) = match source {
                    Source::Plain(log, ranges) => (log, ranges.next(memory)),
                    Source::Packed(log, reading) => {
                        let mut reading = match (reading.try_lock(), may_wait) {
                            (Ok(reading), _) => reading,
                            (Err(_), false) => continue,
                            (Err(_), true) => locked(reading),
                        };
                        (log, reading.next(memory))
                    }
                };
                match next {
                    Ok(Ok(block)) => return locked(&self.wrong).is_none().then_some(block),
                    Ok(Err(unused)) => memory = unused,
                    Err(error) => {
                        let words = format!("{}: {}", log.name(), log.unread(&error));
                        locked(&self.wrong).get_or_insert(words);
                        return None;
                    }
                }
            }
        }
        None
    }

    /// After the last block.
    ///
    /// # Errors
    /// Which log could not be read on, in words.
    pub fn end(self) -> Result<(), String> {
        let wrong = self.wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
        wrong.map_or(Ok(()), Err)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far a log is read.
struct Reading<'a> {
    at: usize,
    log: &'a Log,
    source: Option<Box<dyn Read + Send>>,
    /// The beginning of a line, whose end was not read yet.
    rest: Vec<u8>,
    /// Bytes read so far.
    read: u64,
    /// Within a line whose beginning was handed over as too long.
    skipping: bool,
    ended: bool,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("log", self.log).field("read", &self.read).finish()
    }
}

impl<'a> Reading<'a> {
    fn new(at: usize, log: &'a Log) -> Self {
        let rest = Vec::new();
        Self { at, log, source: None, rest, read: 0, skipping: false, ended: false }
    }

    /// The next block in this memory; the memory back at the log's end.
    fn next(&mut self, mut memory: Vec<u8>) -> io::Result<Result<Block, Vec<u8>>> {
        while !self.ended {
            let before = self.rest.len();
            if memory.len() < before + BLOCK {
                memory.resize(before + BLOCK, 0);
            }
            memory[..before].copy_from_slice(&self.rest);
            self.rest.clear();
            let source = match &mut self.source {
                Some(source) => source,
                none => none.insert(self.log.text()?),
            };
            let read = read_full(source, &mut memory[before..before + BLOCK])?;
            if read == 0 {
                (self.ended, self.source) = (true, None);
            }
            let from = self.read - before as u64;
            self.read += read as u64;
            let text = self.cut(&memory[..before + read]);
            if !text.is_empty() {
                let (log, at) = (self.at, from + text.start as u64);
                return Ok(Ok(Block { log, memory, text, at }));
            }
        }
        Ok(Err(memory))
    }

    /// Where in this text whole lines are, or the beginning of one that is too long; what is behind them is kept.
    fn cut(&mut self, text: &[u8]) -> Range<usize> {
        let mut from = 0;
        if self.skipping {
            let end = text.iter().position(|byte| *byte == b'\n');
            from = end.map_or(text.len(), |end| end + 1);
            self.skipping = end.is_none();
        }
        match text[from..].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => {
                let end = from + end + 1;
                self.rest.extend_from_slice(&text[end..]);
                from..end
            }
            None if text.len() - from > mine::LONGEST_LINE => {
                self.skipping = true;
                from..from + mine::LONGEST_LINE + 1
            }
            None if self.ended => from..text.len(),
            None => {
                self.rest.extend_from_slice(&text[from..]);
                0..0
            }
        }
    }
}
