//! Files of `/proc` and `/sys`, read within bounds.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a file that are looked at: enough for `/proc/stat` of 1,024 processors.
const MOST_BYTES: u64 = 1024 * 1024;
/// What most files take at most.
const USUAL_BYTES: usize = 8 * 1024;

/// What a file holds, as far as it is looked at.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    // Most of these files fit, and are read by one call then, beside the one that finds the end.
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// As [`read`]; nothing where it cannot be read.
pub(crate) fn read_or_empty(path: impl AsRef<Path>) -> String {
    read(path).unwrap_or_default()
}

/// A file that holds one number.
pub(crate) fn number<T: std::str::FromStr>(path: impl AsRef<Path>) -> Option<T> {
    read(path).ok()?.trim().parse().ok()
}
