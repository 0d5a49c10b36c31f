//! Files of pools' rows on disk.
//!
//! Owns which of them are read into memory, and noticing that one has changed. How rows are cut out of
//! them is `traffic`'s. A large file is read and never mapped: a mapped file that shrinks ends the process.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::Advice;
use traffic::{PoolFile, RowFile};

use crate::results::input;

/// Files up to this many bytes are read into memory: 64 MiB.
const SMALL: u64 = 64 << 20;

/// Opens a pool's file.
///
/// # Errors
/// A sentence without the file's name, when it cannot be read.
pub fn open(path: &Path) -> Result<PoolFile, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let about = file.metadata().map_err(|error| error.to_string())?;
    // What has no length beforehand, such as a pipe, can be read once only.
    if !about.is_file() || about.len() <= SMALL {
        return input::read(path).map(PoolFile::Small);
    }
    Ok(PoolFile::Large(Arc::new(OnDisk { file, was: Stamp::of(&about) })))
}

/// What shows that a file was written to since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// When it was last written to, nanoseconds since 1970.
    pub modified_ns: i64,
}

impl Stamp {
    /// A file's.
    pub fn of(about: &Metadata) -> Self {
        let modified_ns =
            about.mtime().saturating_mul(1_000_000_000).saturating_add(about.mtime_nsec());
        Self { size: about.len(), modified_ns }
    }
}

#[derive(Debug)]
struct OnDisk {
    file: File,
    was: Stamp,
}

impl OnDisk {
    fn check(&self) -> Result<(), String> {
        let about = self.file.metadata().map_err(|error| format!("cannot be read: {error}"))?;
        let now = Stamp::of(&about);
        if now == self.was {
            return Ok(());
        }
        let (was, now) = (self.was.size, now.size);
        Err(if was == now {
            "changed while the run was reading it".to_owned()
        } else {
            format!("changed while the run was reading it: it had {was} bytes and has {now} now")
        })
    }
}

impl RowFile for OnDisk {
    fn size(&self) -> u64 {
        self.was.size
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let read = self.file.read_exact_at(into, offset);
        // Afterwards: a writer changes the time before it writes the first byte.
        self.check()?;
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => "ends before its length".to_owned(),
            _ => format!("cannot be read: {error}"),
        })
    }

    fn scatter(&self) {
        // Without it the kernel reads many times more than is asked for.
        let _ = rustix::fs::fadvise(&self.file, 0, None, Advice::Random);
    }

    fn expect(&self, offset: u64, bytes: u64) {
        // Without it the same bytes come, later.
        let bytes = std::num::NonZeroU64::new(bytes);
        let _ = rustix::fs::fadvise(&self.file, offset, bytes, Advice::WillNeed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_is_written_to_is_an_error_and_no_crash() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[b'x'; 10_000]).unwrap();
        let opened = File::open(file.path()).unwrap();
        let was = Stamp::of(&opened.metadata().unwrap());
        let on_disk = OnDisk { file: opened, was };
        let mut bytes = [0; 100];
        assert_eq!(on_disk.read(9_900, &mut bytes), Ok(()));
        on_disk.expect(0, 4096);
        file.as_file().set_len(5_000).unwrap();
        let what = on_disk.read(9_900, &mut bytes).unwrap_err();
        assert!(what.contains("had 10000 bytes and has 5000 now"), "{what}");
        assert!(on_disk.read(0, &mut bytes).is_err());
    }
}
