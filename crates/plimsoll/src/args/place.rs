//! Files and folders for results, checked while the flags are read, so that nothing is measured that could not be stored.
//!
//! Nothing is created here: the commands do that when they begin.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use rustix::fs::{Access, access};

/// Reads a folder that can be written to, or made.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|dir| match fault_of_folder(&dir) {
        None => Ok(dir),
        Some(fault) => Err(fault),
    })
}

/// Reads a file that can be written or written over, in a folder that is there.
pub fn file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|file| match fault_of_file(&file) {
        None => Ok(file),
        Some(fault) => Err(fault),
    })
}

/// Why nothing can be written to a folder.
fn fault_of_folder(dir: &Path) -> Option<String> {
    // As k6 takes it.
    let text = dir.to_string_lossy();
    if let Some((what, _)) = text.split_once('=').filter(|(what, _)| ["json", "csv"].contains(what))
    {
        return Some(format!("give a folder, which holds all results, {what} among them"));
    }
    for known in dir.ancestors() {
        // A relative path begins in the working folder.
        let known = if known.as_os_str().is_empty() { Path::new(".") } else { known };
        match fs::metadata(known) {
            Ok(about) if about.is_dir() => return read_only(known),
            Ok(_) if known == dir => {
                return Some(
                    "there is a file of that name: name a folder, or a new one".to_owned(),
                );
            }
            Ok(_) => return Some(no_folder(known)),
            Err(error) if is_missing(error.kind()) => {}
            Err(error) => return Some(format!("{}: {error}", known.display())),
        }
    }
    None
}

/// Why a file cannot be written.
fn fault_of_file(file: &Path) -> Option<String> {
    match fs::metadata(file) {
        Ok(about) if about.is_dir() => {
            return Some("there is a folder of that name: name a file".to_owned());
        }
        // It would be replaced by a file, and not written to.
        Ok(about) if !about.is_file() => return Some("it is not a regular file".to_owned()),
        _ => {}
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    match parent {
        Some(parent) if !parent.exists() => {
            Some(format!("make the folder {} first", parent.display()))
        }
        Some(parent) if !parent.is_dir() => Some(no_folder(parent)),
        parent => read_only(parent.unwrap_or(Path::new("."))),
    }
}

fn no_folder(file: &Path) -> String {
    format!("{} is a file, not a folder", file.display())
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn read_only(dir: &Path) -> Option<String> {
    let refused = access(dir, Access::WRITE_OK | Access::EXEC_OK).err()?;
    Some(format!("{} cannot be written to: {refused}", dir.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_found_before_it_is_tried() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("file"), "").unwrap();
        let of_folder = |name: &str| fault_of_folder(&at(name)).unwrap_or_default();
        for name in ["folder", "folder/new", "new", "new/and/deeper"] {
            assert_eq!(of_folder(name), "", "{name}");
        }
        assert!(of_folder("file").contains("there is a file of that name"));
        assert!(fault_of_folder(Path::new("json=out.json")).unwrap().starts_with("give a folder"));
        for name in ["file/new", "file/new/deeper"] {
            assert!(of_folder(name).ends_with("file is a file, not a folder"), "{name}");
        }
        let of_file = |name: &str| fault_of_file(&at(name)).unwrap_or_default();
        for name in ["file", "new", "folder/new"] {
            assert_eq!(of_file(name), "", "{name}");
        }
        assert!(of_file("folder").contains("there is a folder of that name"));
        assert!(of_file("new/file").starts_with("make the folder"));
        assert_eq!(fault_of_file(Path::new("/dev/null")).unwrap(), "it is not a regular file");
        assert!(of_file("file/new").ends_with("is a file, not a folder"));
        assert_eq!(fault_of_folder(Path::new("relative")), fault_of_file(Path::new("relative")));
    }
}
