//! Third-party programs that tests need. Where one is missing the test is skipped and says so; where
//! every test must run, that is a failure.

use std::io::Write as _;
use std::path::PathBuf;
use std::{env, io, thread};

/// If set, no test may be skipped. `cargo xtask test` sets it.
pub const ALL: &str = "PLIMSOLL_TEST_ALL";

/// Whether a program is there. If not, prints to standard error (past the capture of a test's output)
/// which test is skipped; the test then has to return.
///
/// # Panics
/// Where the program is missing and [`ALL`] is set.
pub fn has(program: &str) -> bool {
    let found = path(program).is_some();
    if !found {
        let thread = thread::current();
        let test = thread.name().unwrap_or("a test");
        assert!(env::var_os(ALL).is_none(), "{program} is not installed, and {ALL} is set");
        let _ = writeln!(io::stderr(), "left out: {test} needs {program}, which is not installed");
    }
    found
}

/// Finds a program: some lie in folders that are not on every user's path.
pub fn path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
        .chain(postgres_folders())
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Where Debian keeps each version of PostgreSQL; the newest first.
fn postgres_folders() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_not_found() {
        assert!(path("sh").is_some());
        assert_eq!(path("no-program-has-this-name"), None);
    }
}
