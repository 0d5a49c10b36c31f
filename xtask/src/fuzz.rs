//! Runs every fuzz target for a while.
//!
//! A target's seeds lie in fuzz/seeds/NAME and are kept; what a run finds goes to fuzz/corpus and fuzz/artifacts,
//! which are not.

use std::fs;

use anyhow::{Context, Result, bail};
use pico_args::Arguments;

use crate::repo;

pub const HELP: &str = "\
Runs every fuzz target for a while, with cargo-fuzz on nightly Rust.

Usage: cargo xtask fuzz [OPTIONS] [NAME...]

Arguments:
  [NAME...]  targets in fuzz/fuzz_targets; without names, all

Options:
      --seconds <N>  how long each target runs [default: 30]
  -h, --help         print this";

/// Targets with Lua states: LuaJIT packs pointers into tagged values, in which the leak detector does not see them.
const LUA: [&str; 1] = ["script_hooks"];

const INSTALL: &str = "\
fuzzing needs nightly Rust and cargo-fuzz; run this, then try again:
  rustup toolchain install nightly
  cargo install cargo-fuzz --locked";

pub fn main(mut arguments: Arguments) -> Result<()> {
    let seconds: u32 = arguments.opt_value_from_str("--seconds")?.unwrap_or(30);
    let wanted = crate::names(arguments)?;
    let targets = targets()?;
    let picked = crate::pick(&targets, &wanted, String::as_str)?;
    if repo::output(repo::command("rustup").args(["run", "nightly", "cargo", "fuzz", "--version"]))
        .is_err()
    {
        bail!(INSTALL);
    }
    // cargo-fuzz has no `--locked` of its own.
    let mut metadata = repo::cargo("metadata");
    repo::output(metadata.args(["--format-version", "1"]))?;
    let mut failed = Vec::new();
    for name in picked {
        println!("\n== {name}, {seconds} s");
        if let Err(error) = run(name, seconds) {
            println!("{name}: {error:#}");
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

/// The targets' names: one source file each.
fn targets() -> Result<Vec<String>> {
    let folder = repo::root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

fn run(name: &str, seconds: u32) -> Result<()> {
    let corpus = format!("fuzz/corpus/{name}");
    let seeds = format!("fuzz/seeds/{name}");
    fs::create_dir_all(repo::root().join(&corpus))?;
    let mut command = repo::command("rustup");
    let part = name.split('_').next().unwrap_or(name);
    command.args(["run", "nightly", "cargo", "fuzz", "run"]);
    // The workspace's releases are optimised at link time, which loses symbols of instrumented code.
    command.env("CARGO_PROFILE_RELEASE_LTO", "false");
    command.args(["--no-default-features", "--features", part, name, &corpus]);
    if repo::root().join(&seeds).is_dir() {
        command.arg(&seeds);
    }
    command.args(["--", &format!("-max_total_time={seconds}")]);
    if LUA.contains(&name) {
        command.arg("-detect_leaks=0");
    }
    repo::run(&mut command)
}
