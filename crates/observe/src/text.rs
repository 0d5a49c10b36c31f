//! Files of `/proc` and `/sys`, read within bounds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
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
    rest_of(&File::open(path)?)
}

/// What a file holds from where it is read next.
fn rest_of(file: &File) -> io::Result<String> {
    // Most of these files fit, and are read by one call then, beside the one that finds the end.
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// Files of the kernel that are read again and again: they stay open, as to open one takes about as long as to read it.
#[derive(Debug, Default)]
pub(crate) struct KeptOpen(BTreeMap<String, File>);

impl KeptOpen {
    /// As [`read`]: what the file holds now.
    pub(crate) fn read(&mut self, path: &str) -> io::Result<String> {
        if let Some(mut file) = self.0.get(path) {
            if let Ok(text) = file.rewind().and_then(|()| rest_of(file)) {
                return Ok(text);
            }
            // One that cannot be read twice is opened each time.
            self.0.remove(path);
        }
        let file = File::open(path)?;
        let text = rest_of(&file)?;
        self.0.insert(path.to_owned(), file);
        Ok(text)
    }
}

/// As [`read`]; nothing where it cannot be read.
pub(crate) fn read_or_empty(path: impl AsRef<Path>) -> String {
    read(path).unwrap_or_default()
}

/// A file that holds one number.
pub(crate) fn number<T: std::str::FromStr>(path: impl AsRef<Path>) -> Option<T> {
    read(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_stays_open_is_read_from_its_beginning_each_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file").to_str().expect("text").to_owned();
        let (mut kept, write) = (KeptOpen::default(), |path: &str, text: &str| {
            std::fs::write(path, text).expect("a file");
        });
        assert_eq!(kept.read(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        for text in ["one", "another", ""] {
            write(&path, text);
            assert_eq!(kept.read(&path).expect("it is there"), text);
        }
        write(&path, "kept");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(kept.read(&path).expect("it is open"), "kept");
        // Of the kernel's own, which makes each reading anew.
        for _ in 0..3 {
            assert!(kept.read("/proc/stat").expect("Linux has it").starts_with("cpu"));
        }
    }
}
