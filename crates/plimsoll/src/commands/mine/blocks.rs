//! Logs as blocks of whole lines, from files that may be compressed and from standard input.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use mine::Format;
use ruzstd::decoding::StreamingDecoder;

/// Bytes of a block, about.
const BLOCK: usize = 1 << 20;
/// Bytes that are looked at to find the format.
const START: usize = 256 << 10;

/// A log.
#[derive(Debug)]
pub struct Log {
    name: String,
    file: File,
    path: Option<PathBuf>,
    format: Option<Format>,
    /// Comments before the first line, which may name columns.
    header: Vec<u8>,
    bytes: u64,
}

/// Whole lines of a log.
#[derive(Debug)]
pub struct Block {
    /// Which of the logs.
    pub log: usize,
    /// Its lines; the beginning of one that is too long to be kept.
    pub text: Vec<u8>,
    /// Its place among all blocks.
    pub number: u64,
    /// Whether it is a line that is too long.
    pub too_long: bool,
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
        let bytes = file.metadata().map_err(words)?.len();
        Ok(Self { name, file, path, format: None, header: Vec::new(), bytes })
    }

    /// The format of its first lines, out of these if there are any.
    ///
    /// # Errors
    /// When it cannot be read or has no format that is known, in words.
    pub fn find_format(&mut self, of: &[Format]) -> Result<(), String> {
        let mut start = Vec::new();
        self.refuse_archive().map_err(|error| error.to_string())?;
        let text = self.text().map_err(|error| error.to_string())?;
        text.take(START as u64).read_to_end(&mut start).map_err(|error| error.to_string())?;
        let comments = start.split_inclusive(|byte| *byte == b'\n');
        self.header =
            comments.take_while(|line| line.starts_with(b"#")).flatten().copied().collect();
        self.format = Some(match of {
            [] => Format::detect(&start)?,
            [format] => format.clone(),
            several => Format::best(several, &start)?,
        });
        Ok(())
    }

    /// Says how to read a file whose compression is not known here.
    fn refuse_archive(&self) -> io::Result<()> {
        const ARCHIVES: [(&[u8], &str, &str); 3] = [
            (b"PK\x03\x04", "a zip archive", "unzip -p"),
            (b"BZh", "compressed by bzip2", "bzip2 -dc"),
            (b"\xfd7zXZ\0", "compressed by xz", "xz -dc"),
        ];
        let mut magic = [0; 6];
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        let length = read_full(&mut file, &mut magic)?;
        for (start, what, command) in ARCHIVES {
            if magic[..length].starts_with(start) {
                return Err(io::Error::other(format!(
                    "is {what}, which is not read (.gz and .zst are): \
                     {command} FILE | plimsoll mine -"
                )));
            }
        }
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
        let mut magic = [0; 4];
        let length = read_full(&mut file, &mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        // A log is read twice, and may grow meanwhile: both times as long as it was at first.
        let file = file.take(self.bytes);
        let compressed = |error: &dyn std::fmt::Display| {
            io::Error::other(format!("its compression is damaged: {error}"))
        };
        Ok(match &magic[..length] {
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(io::BufReader::new(file))),
            [0x28, 0xb5, 0x2f, 0xfd] => Box::new(
                StreamingDecoder::new(io::BufReader::new(file))
                    .map_err(|error| compressed(&error))?,
            ),
            _ => Box::new(file),
        })
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

/// Hands over all lines of the logs, block by block, until `give` does not want any more.
///
/// # Errors
/// Which log cannot be read on, in words.
pub fn each(logs: &[Log], mut give: impl FnMut(Block) -> bool) -> Result<(), String> {
    let mut number = 0;
    for (at, log) in logs.iter().enumerate() {
        let wrong = |error: io::Error| format!("{}: {error}", log.name());
        let mut text = log.text().map_err(wrong)?;
        let mut rest = Vec::new();
        // Within a line whose beginning was handed over as too long.
        let mut skipping = false;
        loop {
            let mut block = std::mem::take(&mut rest);
            let from = block.len();
            block.resize(from + BLOCK, 0);
            let length = read_full(&mut text, &mut block[from..]).map_err(wrong)?;
            block.truncate(from + length);
            let ended = length == 0;
            if skipping {
                let end = block.iter().position(|byte| *byte == b'\n');
                block.drain(..end.map_or(block.len(), |end| end + 1));
                skipping = end.is_none();
            }
            let end = block.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            let (text, too_long) = match end {
                Some(end) => {
                    rest = block.split_off(end);
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
                    return Ok(());
                }
            }
            if ended && rest.is_empty() {
                break;
            }
        }
    }
    Ok(())
}
