//! Files that were named on the command line, read whole and within bounds.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use measure::journal;

/// A run's file in its folder.
pub const RUN_JSON: &str = "run.json";
/// A sweep's file in its folder.
pub const SWEEP_JSON: &str = "sweep.json";
/// Bytes of one file at most: a sweep of a thousand levels takes less.
const LARGEST: u64 = 256 << 20;

/// Reads a file.
///
/// # Errors
/// A sentence without the file's name, when it cannot be read or is too large.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    read_at_most(path, LARGEST)
}

/// Reads a stream to its end.
///
/// # Errors
/// As [`read`].
pub fn read_all(from: impl Read) -> Result<Vec<u8>, String> {
    read_stream(from, LARGEST)
}

/// Reads a file of a result folder, or of Plimsoll's own folders, of `most` bytes at most. It may come from
/// elsewhere: what is not a regular file (a pipe that nobody writes to, a device) is not read.
///
/// # Errors
/// As [`read`].
pub fn read_plain(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("no regular file".to_owned());
    }
    read_at_most(path, most)
}

/// As [`read_plain`], of as many bytes as a result may have.
///
/// # Errors
/// As [`read`].
pub fn read_result(path: &Path) -> Result<Vec<u8>, String> {
    read_plain(path, LARGEST)
}

/// Reads the result in `file` that the path `given` stands for: what was named itself may be a pipe, what is in a folder that
/// was named is read as by [`read_result`].
///
/// # Errors
/// As [`read`].
pub fn read_found(given: &Path, file: &Path) -> Result<Vec<u8>, String> {
    if given == file { read(file) } else { read_result(file) }
}

/// Reads a file of `most` bytes at most. The bound holds for what has no length beforehand too, such as a
/// pipe or a device.
///
/// # Errors
/// As [`read`].
pub fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    if length > most { Err(too_large(most)) } else { read_stream(file, most) }
}

fn read_stream(from: impl Read, most: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

fn too_large(most: u64) -> String {
    let limit = match most >> 20 {
        0 => format!("{most} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    };
    format!("more than {limit}, the limit for files of its kind")
}

/// The result file in a folder; a path that is no folder is returned as it is. Of a run that did not come to its end,
/// it is the file that it would have written.
pub fn in_folder(path: &Path) -> Option<PathBuf> {
    if !path.is_dir() {
        return Some(path.to_owned());
    }
    let [sweep, run] = [SWEEP_JSON, RUN_JSON].map(|name| path.join(name));
    let begun = path.join(journal::NAME).is_file();
    let held = [(sweep.exists(), &sweep), (run.exists() || begun, &run)];
    held.into_iter().find(|(is_there, _)| *is_there).map(|(_, file)| file.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_all_the_same() {
        let endless = read_at_most(Path::new("/dev/zero"), 4096);
        assert_eq!(
            endless,
            Err("more than 4096 bytes, the limit for files of its kind".to_owned())
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"12345").unwrap();
        assert_eq!(read_at_most(file.path(), 5), Ok(b"12345".to_vec()));
        assert!(read_at_most(file.path(), 4).is_err());
    }
}
