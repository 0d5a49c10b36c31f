//! What a JVM of HotSpot counts of itself: how often a thread found a monitor (`synchronized`) taken by another one.
//!
//! Reads the file that it keeps for `jstat` and `jcmd PID PerfCounter.print` (`hsperfdata`, on unless
//! `-XX:-UsePerfData`), which the JVM maps into its memory: it does not notice who reads it. Locks of
//! `java.util.concurrent` are not counted there.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::text::read_or_empty;

/// Times that a thread had to wait to enter a monitor.
const CONTENDED: &str = "sun.rt._sync_ContendedLockAttempts";
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Bytes of the file that are looked through for the counter: it is 32 KiB by default.
const MOST_BYTES: usize = 1 << 20;
/// Files of the folder for temporary files that are looked at.
const MOST_FILES: usize = 10_000;

/// A counter of one JVM.
#[derive(Debug)]
pub struct Jvm {
    file: File,
    at: u64,
    little_endian: bool,
}

impl Jvm {
    /// That of a process; none where it is no JVM, or one that counts nothing.
    ///
    /// # Errors
    /// When its file may not be read.
    pub fn of(pid: u32) -> io::Result<Option<Self>> {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let program = fs::read_link(process.join("exe")).unwrap_or_default();
        if program.file_name().is_none_or(|name| name != "java") {
            return Ok(None);
        }
        let Some(path) = file_of(&process) else { return Ok(None) };
        let file = File::open(path)?;
        let mut bytes = vec![0; MOST_BYTES.min(file.metadata()?.len() as usize)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(find(&bytes).map(|(at, little_endian)| Self { file, at, little_endian }))
    }

    /// How often a thread found a monitor taken since the JVM began; none where it cannot be read any more.
    pub fn contended(&self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, self.at).ok()?;
        Some(if self.little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }
}

/// The file of a process: as it sees its folders, by the number that it has for itself, which is another one outside of
/// its container.
fn file_of(process: &Path) -> Option<PathBuf> {
    let status = read_or_empty(process.join("status"));
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    let own = numbers.split_whitespace().last()?;
    let folders = fs::read_dir(process.join("root/tmp")).ok()?;
    let of_users = folders.flatten().take(MOST_FILES).filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with("hsperfdata_"))
    });
    of_users.map(|entry| entry.path().join(own)).find(|path| path.is_file())
}

/// Where the counter lies, and whether numbers are little-endian. The file begins with a magic number, the byte order and
/// where the entries begin (24) and how many there are (28); an entry with its length, where its name begins, a dimension
/// (0 for one number), its type (`J` for 64 bits) and, at 16, where its value is.
fn find(bytes: &[u8]) -> Option<(u64, bool)> {
    let little_endian = match (bytes.get(..4)? == MAGIC, bytes.get(4)?) {
        (true, 0) => false,
        (true, 1) => true,
        _ => return None,
    };
    let number = |at: usize| {
        let four = *bytes.get(at..)?.first_chunk()?;
        let n = if little_endian { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) };
        usize::try_from(n).ok().filter(|&n| n <= MOST_BYTES)
    };
    let mut at = number(24)?;
    for _ in 0..number(28)? {
        let (length, name, dimension, value) =
            (number(at)?, number(at + 4)?, number(at + 8)?, number(at + 16)?);
        let is_it = bytes
            .get(at + name..)?
            .strip_prefix(CONTENDED.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&0));
        if is_it && dimension == 0 && bytes.get(at + 12) == Some(&b'J') {
            let value = at + value;
            return (value + 8 <= bytes.len()).then_some((value as u64, little_endian));
        }
        if length == 0 {
            return None;
        }
        at += length;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file with these counters, in this order of bytes.
    fn file(counters: &[(&str, u64)], little_endian: bool) -> Vec<u8> {
        let four = |n: usize| {
            if little_endian { (n as u32).to_le_bytes() } else { (n as u32).to_be_bytes() }
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend([u8::from(little_endian), 2, 0, 1]);
        bytes.resize(24, 0);
        bytes.extend(four(32));
        bytes.extend(four(counters.len()));
        for (name, value) in counters {
            let value_at = (20 + name.len() + 1).next_multiple_of(8);
            let start = bytes.len();
            bytes.extend([four(value_at + 8), four(20), four(0)].concat());
            bytes.extend([b'J', 0, 4, 2]);
            bytes.extend(four(value_at));
            bytes.extend(name.as_bytes());
            bytes.resize(start + value_at, 0);
            bytes.extend(if little_endian { value.to_le_bytes() } else { value.to_be_bytes() });
        }
        bytes
    }

    #[test]
    fn the_counter_is_found_in_both_orders_of_bytes() {
        let counters = [("sun.rt._sync_Parks", 5), (CONTENDED, 68), ("sun.rt.safepoints", 7)];
        for little_endian in [false, true] {
            let bytes = file(&counters, little_endian);
            let (at, order) = find(&bytes).expect("it is there");
            let value = *bytes[at as usize..].first_chunk().expect("eight bytes");
            let value = if order { u64::from_le_bytes(value) } else { u64::from_be_bytes(value) };
            assert_eq!((value, order), (68, little_endian));
            assert_eq!(find(&bytes[..bytes.len() - 52]), None, "cut off");
        }
        assert_eq!(find(&file(&[("sun.rt._sync_ContendedLockAttemptsOf", 1)], true)), None);
        assert_eq!(find(b"\x7fELF and more of it, which is no file of a JVM"), None);
    }

    #[test]
    fn this_process_is_no_jvm() {
        assert!(Jvm::of(std::process::id()).expect("nothing is read").is_none());
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(at in 0_usize..200, n: u32, cut in 0_usize..300) {
            let mut bytes = file(&[("sun.rt._sync_Parks", 5), (CONTENDED, 68)], true);
            let at = at.min(bytes.len() - 4);
            bytes[at..at + 4].copy_from_slice(&n.to_le_bytes());
            bytes.truncate(cut);
            let _ = find(&bytes);
        }
    }
}
