//! docs/reference: pages, man pages, completions and schemas that the program writes about itself.
//!
//! Owns no text: `plimsoll generate FOLDER` writes it all from the flag table and the types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result, bail};
use pico_args::Arguments;

use crate::repo;

pub const HELP: &str = "\
Writes docs/reference from the program's own flag table and types.

Usage: cargo xtask docs [--check]

Options:
      --check  write nothing; fail, naming the files, if docs/reference is not what would be written
  -h, --help   print this";

const FOLDER: &str = "docs/reference";

pub fn main(mut arguments: Arguments) -> Result<()> {
    let check_only = arguments.contains("--check");
    crate::no_names(arguments)?;
    if check_only { check() } else { write() }
}

fn write() -> Result<()> {
    let folder = repo::root().join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    generate(&folder)
}

/// Fails if docs/reference differs from what the program would write now.
pub fn check() -> Result<()> {
    let fresh = tempfile::tempdir()?;
    generate(fresh.path())?;
    let differences = differences(&tree(fresh.path())?, &tree(&repo::root().join(FOLDER))?);
    if differences.is_empty() {
        return Ok(());
    }
    for difference in &differences {
        println!("{difference}");
    }
    bail!("{FOLDER} is not what the program would write: run `cargo xtask docs` and commit");
}

fn generate(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    // Built as the tests have it: without a test beside it, or as `--package plimsoll`, the libraries below it would be
    // built once more, with the features that the program alone asks for.
    let built = ["--quiet", "--workspace", "--bin", "plimsoll", "--test", "cli"];
    let program = repo::build(&built)?;
    repo::run(repo::command(program).arg("generate").arg(folder))?;
    let wrote = !tree(folder)?.is_empty();
    if wrote { Ok(()) } else { bail!("`plimsoll generate` wrote nothing") }
}

/// Every file under a folder by its path inside it; empty if there is no such folder.
fn tree(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = match fs::read_dir(&next) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && next == folder => break,
            Err(error) => return Err(error).context(next.display().to_string()),
        };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

fn differences<C: PartialEq>(
    fresh: &BTreeMap<PathBuf, C>,
    kept: &BTreeMap<PathBuf, C>,
) -> Vec<String> {
    let stale = fresh.iter().filter_map(|(path, content)| match kept.get(path) {
        None => Some(format!("missing: {FOLDER}/{}", path.display())),
        Some(found) if found != content => Some(format!("stale: {FOLDER}/{}", path.display())),
        Some(_) => None,
    });
    let unknown = kept.keys().filter(|path| !fresh.contains_key(*path));
    stale
        .chain(unknown.map(|path| format!("no longer written: {FOLDER}/{}", path.display())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &'static str)]) -> BTreeMap<PathBuf, &'static str> {
        entries.iter().map(|(path, text)| (PathBuf::from(path), *text)).collect()
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let fresh = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let kept = files(&[("a", "1"), ("b", "old"), ("d", "4")]);
        assert_eq!(
            differences(&fresh, &kept),
            [
                "stale: docs/reference/b",
                "missing: docs/reference/c",
                "no longer written: docs/reference/d",
            ]
        );
        assert!(differences(&fresh, &fresh).is_empty());
    }

    #[test]
    fn a_tree_is_read_with_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("man")).unwrap();
        fs::write(folder.path().join("man/x.1"), "x").unwrap();
        fs::write(folder.path().join("cli.md"), "y").unwrap();
        let found = tree(folder.path()).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), [Path::new("cli.md"), Path::new("man/x.1")]);
        assert!(tree(&folder.path().join("none")).unwrap().is_empty());
    }
}
