//! Which files a workload may read: those in and below its own folder, and below folders that the command
//! line allows.
//!
//! Owns that judgement and the bound on what is read. A workload comes from elsewhere more often than a
//! command line does, and what it reads it sends. Links are followed before a file's place is judged.
//! Files that flags name were chosen by the user and are not checked here.

use std::cell::Cell;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, cannot_run, usage};
use crate::results::input;

/// Bytes of all files of a workload together at most: 1 GiB.
const MOST_BYTES: u64 = 1 << 30;
/// Bytes read into memory at most. A workload is compiled twice, as it is sent and with secrets masked, and either holds
/// its files.
const MOST_READ: u64 = 2 * MOST_BYTES;

/// The folders whose files a workload may read.
#[derive(Debug)]
pub struct AllowedFiles {
    /// What names count from.
    folder: PathBuf,
    /// Folders without links.
    roots: Vec<PathBuf>,
}

impl AllowedFiles {
    /// For the workload in a file; `more` are the folders that the command line allows.
    ///
    /// # Errors
    /// When one of them is not a folder, or there is none of that name.
    pub fn of(workload: &Path, more: &[PathBuf]) -> Result<Self, Failure> {
        let parent = workload.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).to_owned();
        let mut roots = Vec::new();
        for root in std::iter::once(&folder).chain(more) {
            let by = if *root == folder { "" } else { "--allow-files " };
            match fs::canonicalize(root) {
                Ok(place) if place.is_dir() => roots.push(place),
                Ok(_) => return usage(format!("{by}{}: not a folder", root.display())),
                Err(error) => return cannot_run(format!("{by}{}: {error}", root.display())),
            }
        }
        Ok(Self { folder, roots })
    }

    /// Where the file lies that the workload calls so, without links.
    ///
    /// # Errors
    /// A sentence without the file's name, when the file does not exist, it may not be read, or it is no regular
    /// file: a pipe that nobody writes to would hold the command up for ever.
    pub fn place(&self, name: &str) -> Result<PathBuf, String> {
        let place = fs::canonicalize(self.folder.join(name)).map_err(|error| error.to_string())?;
        if self.roots.iter().any(|root| place.starts_with(root)) {
            return if place.is_file() { Ok(place) } else { Err("no regular file".to_owned()) };
        }
        let folder = place.parent().unwrap_or(Path::new("/")).display().to_string();
        Err(format!(
            "is outside the workload's folder and is not read: put it there, or allow its folder \
             with --allow-files {}",
            model::quote::plain(&folder, 200)
        ))
    }

    /// Whether there is no file where the workload could read one: its folder is allowed.
    pub fn is_missing(&self, name: &str) -> bool {
        let path = self.folder.join(name);
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
        let allowed =
            folder.is_some_and(|folder| self.roots.iter().any(|root| folder.starts_with(root)));
        allowed && fs::symlink_metadata(&path).is_err_and(|why| why.kind() == ErrorKind::NotFound)
    }

    /// The file's bytes; those of all files count in `read`.
    ///
    /// # Errors
    /// As [`Self::place`], and when it cannot be read or too much is.
    pub fn read(&self, name: &str, read: &Cell<u64>) -> Result<Vec<u8>, String> {
        let most = (MOST_READ - read.get()).min(MOST_BYTES);
        let bytes = input::read_at_most(&self.place(name)?, most)?;
        read.set(read.get() + bytes.len() as u64);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_files_below_the_folders_are_read() {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        for folder in ["w/deep", "shared", "w2"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["w/a", "w/deep/b", "shared/c", "w2/d"] {
            fs::write(at(file), file).unwrap();
        }
        symlink(at("shared/c"), at("w/out")).unwrap();
        symlink(at("shared"), at("w/way")).unwrap();
        symlink(at("w/a"), at("w/deep/in")).unwrap();
        let workload = at("w/x.yaml");
        let none = AllowedFiles::of(&workload, &[]).unwrap();
        for name in ["a", "deep/b", "deep/../a", "deep/in", "../w/a", at("w/a").to_str().unwrap()] {
            assert!(none.place(name).is_ok(), "{name}");
        }
        let outside = ["../shared/c", "out", "way/c", "/etc/passwd", "../w2/d"];
        for name in outside {
            let why = none.place(name).unwrap_err();
            assert!(why.contains("--allow-files /"), "{name}: {why}");
        }
        assert!(none.place("nothing").unwrap_err().contains("No such file"));
        let missing = ["nothing", "deep/nothing", "a", "../nothing", "no/folder", "out"];
        let missing: Vec<&str> = missing.into_iter().filter(|name| none.is_missing(name)).collect();
        assert_eq!(missing, ["nothing", "deep/nothing"]);
        let fifo = at("w/fifo");
        testkit::pipes::make(&fifo);
        for name in ["fifo", "deep"] {
            assert_eq!(none.place(name).unwrap_err(), "no regular file", "{name}");
        }
        let shared = AllowedFiles::of(&workload, &[at("shared")]).unwrap();
        for name in ["out", "way/c", "../shared/c", "a"] {
            assert!(shared.place(name).is_ok(), "{name}");
        }
        assert!(shared.place("../w2/d").is_err());
        for folder in ["w/a", "nothing"] {
            assert!(AllowedFiles::of(&workload, &[at(folder)]).is_err(), "{folder}");
        }
    }

    #[test]
    fn files_are_bounded_together() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), [b'x'; 100]).unwrap();
        let allowed = AllowedFiles::of(&folder.path().join("w.yaml"), &[]).unwrap();
        let read = Cell::new(MOST_READ - 150);
        assert_eq!(allowed.read("a", &read).unwrap().len(), 100);
        assert!(allowed.read("a", &read).unwrap_err().contains("more than 50 bytes"));
        // A program that sends the most that is allowed, and the same with secrets masked.
        let read = Cell::new(MOST_BYTES - 100);
        allowed.read("a", &read).unwrap();
        read.set(read.get() + MOST_BYTES - 100);
        assert_eq!(allowed.read("a", &read).unwrap().len(), 100);
    }
}
