//! Files of lines that are appended to, by several processes maybe: a line that was cut short spoils no other.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file to be appended to, and makes it where there is none, with this mode.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(mode).open(path)
}

/// Ends the last line of a file at a path, where a full disk or a killed process has cut it short.
pub(crate) fn end_last(file: &mut File, path: &Path) {
    if ends_within_a_line(file, path) {
        // Where the disk is full still, so is it for what follows.
        let _ = file.write_all(b"\n");
    }
}

/// What cannot be read, or is no regular file, does not.
fn ends_within_a_line(file: &File, path: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    let mut last = [b'\n'];
    if about.is_file()
        && about.len() > 0
        && let Ok(readable) = File::open(path)
    {
        let _ = readable.read_at(&mut last, about.len() - 1);
    }
    last != [b'\n']
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_line_that_was_cut_short_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        for (before, after) in [("", "x\n"), ("a\n", "a\nx\n"), ("a\nb", "a\nb\nx\n")] {
            fs::write(&path, before).unwrap();
            let mut file = open(&path, 0o600).unwrap();
            end_last(&mut file, &path);
            file.write_all(b"x\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
    }
}
