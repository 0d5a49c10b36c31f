//! Files that are complete or absent: written under a temporary name and renamed, so that a kill or a full disk never
//! leaves half a file in place of a whole one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Its owner.
    Owner,
    /// Whom the umask allows.
    Usual,
}

impl Readers {
    const fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Usual => 0o666,
        }
    }
}

/// Makes a file of this name: what lies there goes, and a link is never followed.
///
/// # Errors
/// When it cannot be made, or another process has just made it.
pub fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().write(true).create_new(true).mode(readers.mode()).open(path),
    }
}

/// Writes a whole file of results or leaves the old one.
///
/// # Errors
/// When the disk is full or the folder not writable; no part of the new file is left.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_file_for(Readers::Owner, path, bytes)
}

/// As [`write_file`], for these readers.
///
/// # Errors
/// As [`write_file`].
pub fn write_file_for(readers: Readers, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}.partial", process::id()));
    let written = create_new(&partial, readers)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        // The failure reported is the write's.
        let _ = fs::remove_file(&partial);
    }
    written
}
