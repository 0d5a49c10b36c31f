//! `cargo xtask casestudy`: the case study played from a slow server to one near its baseline, and written down.
//!
//! Owns where its page goes. What is done is told by `story` among the tests of the command line.

use anyhow::{Result, ensure};
use pico_args::Arguments;

use crate::golang::Go;
use crate::needs::{self, POSTGRES};
use crate::repo;

pub const HELP: &str = "\
Plays the case study unattended (twenty-five minutes, on a machine with little else to do) and writes docs/casestudy.html
and docs/casestudy.json: an API server before and after, with its baseline; what was predicted and measured for each
change; what an ORM, connections without keep-alive and numbers of workers cost.

Usage: cargo xtask casestudy

Options:
  -h, --help  print this

Fails if the server after it is not surely 3 times as fast as before, or not surely at 75 % of the baseline: the whole
intervals must be.";

pub fn main(arguments: Arguments) -> Result<()> {
    let names = crate::names(arguments)?;
    ensure!(names.is_empty(), "no arguments are taken, not `{}`", names.join(" "));
    needs::install(vec![POSTGRES])?;
    let program = repo::build(&["--release", "--workspace", "--bin", "plimsoll"])?;
    let mut cargo = repo::cargo("test");
    cargo.args([
        "--workspace",
        "--test",
        "cli",
        "story::the_whole_story",
        "--",
        "--ignored",
        "--nocapture",
    ]);
    cargo
        .env("PLIMSOLL_STORY_PROGRAM", program)
        .env("PLIMSOLL_STORY_OUT", repo::root().join("docs"));
    Go::find()?.first_on_path(&mut cargo)?;
    repo::run(&mut cargo)
}
