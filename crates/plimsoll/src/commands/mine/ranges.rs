//! Logs that are not compressed as blocks of whole lines, which several threads read at once.
//!
//! A file is cut into ranges of equal length. The block of a range has the lines that begin within it, wherever they end: so
//! each range can be read without knowing anything of the others, and no thread waits for another.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use mine::LONGEST_LINE;

use super::blocks::Block;

/// Bytes behind a range that are read with it. Most lines end within them.
const BEHIND: usize = 4 << 10;

/// The ranges of a file.
#[derive(Debug)]
pub struct Ranges<'a> {
    /// Which of the logs.
    log: usize,
    file: &'a File,
    /// Bytes of the file that are read, whatever was added since.
    bytes: u64,
    /// Bytes of a range.
    length: usize,
    next: AtomicU64,
}

impl<'a> Ranges<'a> {
    /// The ranges of this length of this many bytes of a file.
    pub fn new(log: usize, (file, bytes): (&'a File, u64), length: usize) -> Self {
        Self { log, file, bytes, length, next: AtomicU64::new(0) }
    }

    /// The lines of the next range that has some, in this memory; the memory back at the file's end.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next(&self, mut memory: Vec<u8>) -> io::Result<Result<Block, Vec<u8>>> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let start = number.saturating_mul(self.length as u64);
            if start >= self.bytes {
                return Ok(Err(memory));
            }
            let text = self.lines(start, &mut memory)?;
            if !text.is_empty() {
                let at = start.saturating_sub(1) + text.start as u64;
                return Ok(Ok(Block { log: self.log, memory, text, at }));
            }
        }
    }

    /// Reads the lines that begin in the range from `start` on. Returns where in the memory they are.
    fn lines(&self, start: u64, memory: &mut Vec<u8>) -> io::Result<Range<usize>> {
        // A line begins where the byte before ends one.
        let at = start.saturating_sub(1);
        let range = self.length + usize::from(start > 0);
        let mut length = self.read(at, memory, 0, range + BEHIND)?;
        let range = range.min(length);
        let from = match start {
            0 => 0,
            _ => newline(&memory[..range]).map_or(range, |end| end + 1),
        };
        if from >= range {
            return Ok(0..0);
        }
        let before = memory[from..range].iter().rposition(|byte| *byte == b'\n');
        let last = match before.map_or(from, |end| from + end + 1) {
            end if end == range => return Ok(from..range),
            last => last,
        };
        let mut looked_at = range;
        loop {
            if let Some(end) = newline(&memory[looked_at..length]) {
                return Ok(from..looked_at + end + 1);
            }
            if length - last > LONGEST_LINE {
                return Ok(from..last + LONGEST_LINE + 1);
            }
            looked_at = length;
            length = self.read(at, memory, length, length + LONGEST_LINE)?;
            if length == looked_at {
                return Ok(from..length);
            }
        }
    }

    /// Reads from this place of the file into the memory, of which `from` bytes are there, until there are `to` or the file
    /// ends. Returns how many there are.
    fn read(&self, at: u64, memory: &mut Vec<u8>, from: usize, to: usize) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.saturating_sub(at)).unwrap_or(usize::MAX);
        let (mut length, to) = (from, to.min(left));
        if memory.len() < to {
            memory.resize(to, 0);
        }
        while length < to {
            match self.file.read_at(&mut memory[length..to], at + length as u64) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(length)
    }
}

fn newline(text: &[u8]) -> Option<usize> {
    text.iter().position(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    /// The lines of a file as its ranges give them.
    fn lines(text: &[u8], bytes: u64, length: usize) -> Vec<Vec<u8>> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text).expect("it is written");
        let ranges = Ranges::new(0, (&file, bytes), length);
        let (mut lines, mut memory) = (Vec::new(), Vec::new());
        while let Ok(block) = ranges.next(memory).expect("it is read") {
            assert!(!block.text().is_empty());
            lines.extend(block.text().split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
            memory = block.into_memory();
        }
        lines
    }

    /// The lines of a text.
    fn wanted(text: &[u8]) -> Vec<Vec<u8>> {
        text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// As much of lines as is sure to be given.
    fn beginnings(lines: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let cut = |mut line: Vec<u8>| {
            line.truncate(LONGEST_LINE + 1);
            line
        };
        lines.into_iter().map(cut).collect()
    }

    #[test]
    fn long_lines_and_a_file_that_shrank_are_read_as_far_as_they_go() {
        let longest = |more: usize| [vec![b'a'; LONGEST_LINE + more], b"\n".to_vec()].concat();
        for more in [0, 1, 2, 5_000, 300_000] {
            let text = [b"first\n".to_vec(), longest(more), b"last".to_vec()].concat();
            let bytes = text.len() as u64;
            for length in [1, 6, 7, 4_096, 100_000] {
                let found = beginnings(lines(&text, bytes, length));
                assert!(found == beginnings(wanted(&text)), "{more} more, {length}");
            }
        }
        assert_eq!(lines(b"one\ntw", 100, 4), [b"one\n".to_vec(), b"tw".to_vec()]);
        assert_eq!(lines(b"one\ntwo\n", 6, 2), [b"one\n".to_vec(), b"tw".to_vec()]);
    }

    proptest! {
        #[test]
        fn every_line_is_given_once_and_in_order(
            text in "[ab\n]{0,60}", length in 1_usize..20,
        ) {
            let text = text.as_bytes();
            prop_assert_eq!(lines(text, text.len() as u64, length), wanted(text));
        }
    }
}
