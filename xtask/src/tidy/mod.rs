//! The style rules that a program can check, each with its reason.
//!
//! Reads every file that git tracks or would track; changes none. It repeats nothing that rustfmt and
//! clippy check.

mod arrows;
mod mask;
mod paths;
mod rust;

use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::repo;

pub const HELP: &str = "\
Checks the style rules that a program can check.

Usage: cargo xtask tidy

Rules:
  unsafe          only in crates/net and where Lua states are made, each block argued for: two places to audit
  arrows          a crate depends only on those that docs/ARCHITECTURE.md allows it, so that boundaries stay real
  pure            pure crates carry the clippy.toml that bans clocks, files and sockets
  long file       at most 500 lines besides tests: it holds one subject
  module comment  every module opens with what it owns (`//!`)
  printing        only crates/plimsoll/src/terminal/screen.rs writes to stdout and stderr: it escapes control bytes
  machine path    no tracked file names a folder of somebody's machine
  merge conflict  no tracked file holds what a merge could not decide
  large seed      a fuzz seed is at most 4 KiB: small seeds mutate fast

Long functions, `allow` attributes and unfinished code are clippy's to find (`Cargo.toml`, `clippy.toml`).

Options:
  -h, --help  print this";

/// A rule broken somewhere.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    rule: &'static str,
    /// `path` or `path:line`.
    place: String,
    what: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.rule, self.what)
    }
}

/// Prints every complaint; fails if there is one.
pub fn check() -> Result<()> {
    let files = files()?;
    let mut complaints = arrows::check()?;
    for path in &files {
        let Ok(bytes) = std::fs::read(repo::root().join(path)) else {
            continue; // removed but still tracked, or a link to a folder
        };
        complaints.extend(paths::check_seed(path, bytes.len()));
        let Ok(text) = String::from_utf8(bytes) else { continue };
        complaints.extend(paths::check(path, &text));
        if path.extension().is_some_and(|extension| extension == "rs") {
            complaints.extend(rust::check(path, &text));
        }
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => {
            println!("{} files are tidy", files.len());
            Ok(())
        }
        count => bail!("{count} style rules broken; `cargo xtask tidy --help` gives the reasons"),
    }
}

/// Tracked files, and new ones that are not ignored, by their path inside the repository.
fn files() -> Result<Vec<PathBuf>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = repo::output(repo::command("git").args(arguments))?;
    Ok(listed.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}
