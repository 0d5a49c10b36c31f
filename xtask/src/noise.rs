//! `cargo xtask noise`: the tests that use real sockets, again and again, beside processes that take
//! half of every processor in turn. Tests that depend on timing fail here.
//!
//! Owns the rounds and the noise. No test is tried twice.

use std::env;
use std::os::unix::process::parent_id;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use pico_args::Arguments;

use crate::golang::Go;
use crate::{interrupt, needs, repo, test};

/// Test programs that use real sockets.
const PROGRAMS: [&str; 12] = [
    "run",
    "beside",
    "cli",
    "gallery",
    "integration",
    "memory",
    "hooks",
    "loopback",
    "browser",
    "path",
    "strict",
    "whole",
];
/// How long each processor in turn is taken.
const TURN: Duration = Duration::from_millis(100);
/// The option that starts one processor's noise, from within.
const LOAD: &str = "--load";

pub const HELP: &str = "Runs the tests that use real sockets, beside noise that takes half of every processor by turns.

Usage: cargo xtask noise [OPTIONS]

Options:
      --rounds <N>  how often all of them are run [default: 10]
      --quiet       without the noise
  -h, --help        print this

Needs `taskset`. Exits 0 only if nothing failed in any round; nothing is tried twice.";

pub fn main(mut arguments: Arguments) -> Result<()> {
    if let Some(nth) = arguments.opt_value_from_str::<_, u128>(LOAD)? {
        return load(nth, processors());
    }
    let rounds: u32 = arguments.opt_value_from_str("--rounds")?.unwrap_or(10);
    let quiet = arguments.contains("--quiet");
    crate::names(arguments)?;
    needs::install(vec![
        needs::NGINX,
        needs::WRK,
        needs::AB,
        needs::OPENSSL,
        needs::CHROMIUM,
        needs::GO,
    ])?;
    repo::run(cargo()?.arg("--no-run"))?;
    let noise = if quiet { None } else { Some(Noise::start()?) };
    let mut failed = Vec::new();
    for round in 1..=rounds {
        println!("\n== round {round} of {rounds}");
        if let Err(error) = repo::run(&mut cargo()?) {
            println!("-- round {round} failed: {error:#}");
            failed.push(round.to_string());
        }
        interrupt::check()?;
    }
    drop(noise);
    println!("\n{} of {rounds} rounds passed", rounds as usize - failed.len());
    ensure!(failed.is_empty(), "rounds with failures: {}", failed.join(", "));
    Ok(())
}

fn cargo() -> Result<Command> {
    let mut cargo = repo::cargo("test");
    cargo.env(test::ALL, "1");
    Go::find()?.first_on_path(&mut cargo)?;
    cargo.args(["--workspace", "--no-fail-fast"]);
    cargo.args(PROGRAMS.iter().flat_map(|program| ["--test", program]));
    Ok(cargo)
}

fn processors() -> u128 {
    thread::available_parallelism().map_or(1, |count| count.get() as u128)
}

/// A process for each processor, bound to it, that takes it in its turn. With one processor it takes
/// every other turn.
struct Noise(Vec<Child>);

impl Noise {
    fn start() -> Result<Self> {
        let own = env::current_exe().context("the path of this program")?;
        let load = |nth: u128| {
            let mut command = Command::new("taskset");
            command.args(["-c", &nth.to_string()]).arg(&own);
            command.args(["noise", LOAD, &nth.to_string()]).stdin(Stdio::null());
            command.spawn().context("`taskset` could not be started")
        };
        Ok(Self((0..processors()).map(load).collect::<Result<_>>()?))
    }
}

impl Drop for Noise {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // It may have ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Takes this processor in its turns, until the parent process is gone.
fn load(nth: u128, processors: u128) -> Result<()> {
    let (turns, parent) = (processors.max(2), parent_id());
    while parent_id() == parent && !interrupt::received() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let own = (now.as_millis() / TURN.as_millis()) % turns == nth;
        if !own {
            thread::sleep(Duration::from_millis(1));
        }
    }
    Ok(())
}
