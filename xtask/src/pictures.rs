//! `cargo xtask pictures`: the picture in README, taken of a page that the program writes.
//!
//! Owns what is measured for it and how much of the page is seen. Draws nothing: the page is the program's, the
//! picture is the browser's.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use pico_args::Arguments;

use crate::needs::{self, CHROMIUM};
use crate::repo;

pub const HELP: &str = "\
Runs `plimsoll sweep` against the built-in API (half a minute, on a machine with little else to do) and writes a picture
of the page that it makes to docs/images/sweep.png. What the sweep prints is what README quotes below the picture.

Usage: cargo xtask pictures [--program FILE]

Options:
      --program FILE  the plimsoll to run [default: a release build of this checkout]
  -h, --help          print this";

const PICTURE: &str = "docs/images/sweep.png";
/// How much of the page is seen, in its own pixels: the verdict, the summary and the table.
const SIZE: (u32, u32) = (1000, 1000);
/// A picture with fewer bytes shows an empty page: one with words took 378,080.
const LEAST_BYTES: usize = 100_000;

pub fn main(mut arguments: Arguments) -> Result<()> {
    let program: Option<PathBuf> = arguments.opt_value_from_str("--program")?;
    crate::no_names(arguments)?;
    needs::install(vec![CHROMIUM])?;
    let program = match program {
        Some(program) => fs::canonicalize(&program).context(program.display().to_string())?,
        None => repo::build(&["--release", "--workspace", "--bin", "plimsoll"])?,
    };
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("sweep");
    repo::run(repo::command(program).args(["sweep", "--quiet", "--out"]).arg(&out))?;
    let picture = folder.path().join("sweep.png");
    photograph(&out.join("report.html"), &picture, &folder.path().join("profile"))?;
    fs::copy(&picture, repo::root().join(PICTURE)).context(PICTURE)?;
    println!("{PICTURE} is written: quote in README what the sweep printed");
    Ok(())
}

/// The top of a page as the browser shows it, in two of the picture's pixels for one of the page's.
fn photograph(page: &Path, picture: &Path, profile: &Path) -> Result<()> {
    let mut chromium = repo::command(repo::require("chromium")?);
    chromium
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--hide-scrollbars"])
        .arg("--force-device-scale-factor=2")
        .arg(format!("--window-size={},{}", SIZE.0, SIZE.1))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()));
    repo::output(&mut chromium)?;
    let bytes = fs::read(picture).context("the browser wrote no picture")?;
    let expected = (2 * SIZE.0, 2 * SIZE.1);
    ensure!(
        size_of(&bytes) == Some(expected),
        "the browser's picture is not of {expected:?} pixels"
    );
    ensure!(bytes.len() >= LEAST_BYTES, "the browser's picture is empty");
    Ok(())
}

/// Width and height that a PNG's first chunk names (PNG specification, 11.2.1).
fn size_of(png: &[u8]) -> Option<(u32, u32)> {
    let rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")?;
    let number = |at: usize| Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
    Some((number(0)?, number(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_in_the_repository_is_one_of_this_command() {
        let bytes = fs::read(repo::root().join(PICTURE)).unwrap();
        assert_eq!(size_of(&bytes), Some((2 * SIZE.0, 2 * SIZE.1)));
        assert!(bytes.len() >= LEAST_BYTES);
        assert_eq!(size_of(b"\x89PNG\r\n"), None);
        assert_eq!(size_of(b"<html>"), None);
    }

    #[test]
    fn readme_shows_it() {
        let readme = fs::read_to_string(repo::root().join("README.md")).unwrap();
        assert!(readme.contains(&format!("]({PICTURE})")));
    }
}
