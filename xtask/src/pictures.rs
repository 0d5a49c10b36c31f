//! `cargo xtask pictures`: the picture in README, which is a chart that the program writes.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use pico_args::Arguments;

use crate::repo;

pub const HELP: &str = "\
Runs `plimsoll sweep` against the built-in API (half a minute, on a machine with little else to do) and keeps its chart of
QPS and mean as docs/images/sweep.png. What the sweep prints is what README quotes below the picture.

Usage: cargo xtask pictures [--program FILE]

Options:
      --program FILE  the plimsoll to run [default: a release build of this checkout]
  -h, --help          print this";

const PICTURE: &str = "docs/images/sweep.png";
const CHART: &str = "built-in-api_qps_ttlb.png";

pub fn main(mut arguments: Arguments) -> Result<()> {
    let program: Option<PathBuf> = arguments.opt_value_from_str("--program")?;
    crate::no_names(arguments)?;
    let program = match program {
        Some(program) => fs::canonicalize(&program).context(program.display().to_string())?,
        None => repo::build(&["--release", "--workspace", "--bin", "plimsoll"])?,
    };
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("sweep");
    repo::run(repo::command(program).args(["sweep", "--quiet", "--out"]).arg(&out))?;
    fs::copy(out.join(CHART), repo::root().join(PICTURE)).context(PICTURE)?;
    println!("{PICTURE} is written: quote in README what the sweep printed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readme_shows_it() {
        let readme = fs::read_to_string(repo::root().join("README.md")).unwrap();
        assert!(readme.contains(&format!("]({PICTURE})")));
    }
}
