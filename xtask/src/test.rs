//! Everything that CI checks, as steps that do not hide one another.

use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Result, bail, ensure};
use pico_args::Arguments;

use crate::golang::Go;
use crate::needs::{
    self, AB, CHROMIUM, CLIPPY, GO, HAPROXY, MARIADB, MEMCACHED, NGINX, Need, OPENSSL, POSTGRES,
    REDIS, RUSTFMT, SYSSTAT, WRK,
};
use crate::{docs, interrupt, licences, repo, tidy};

/// If set, no test may be skipped because a program is missing (`testkit::needs`).
pub const ALL: &str = "PLIMSOLL_TEST_ALL";
/// How many tests of a program run at once, as libtest reads it.
const THREADS: &str = "RUST_TEST_THREADS";
/// Most tests wait for programs that they started, so that more of them than processors take less time.
const TESTS_PER_PROCESSOR: usize = 3;

/// One check: fails with what to correct.
struct Step {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: fn(Installed) -> Result<()>,
}

/// Whether the programs that the steps need were installed first: then no test may be skipped.
type Installed = bool;

/// Cheap ones first: what a reader can correct at once is reported at once.
const STEPS: &[Step] = &[
    step("fmt", "Rust is formatted", &[RUSTFMT], fmt),
    step("tidy", "style rules (`cargo xtask tidy`)", &[], |_| tidy::check()),
    step("licences", "dependencies: from crates.io, under permissive licences", &[], |_| {
        licences::check()
    }),
    step("clippy", "no warning from clippy; the fuzz targets compile", &[CLIPPY], clippy),
    step(
        "test",
        "all Rust tests, against real servers, databases and browsers too",
        &[
            NGINX, WRK, AB, OPENSSL, CHROMIUM, GO, POSTGRES, MARIADB, HAPROXY, REDIS, MEMCACHED,
            SYSSTAT,
        ],
        test,
    ),
    step("docs", "docs/reference is up to date", &[], |_| docs::check()),
    step("doc", "the crates' documentation builds", &[], doc),
    step("build", "the program compiles without what only tests need", &[], build),
    step("go-fmt", "casestudy: formatted", &[GO], go_fmt),
    step("go-vet", "casestudy: no warning", &[GO], |_| go(&["vet", "./..."])),
    step("go-test", "casestudy: tests", &[GO], |_| go(&["test", "./..."])),
];

const fn step(
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: fn(Installed) -> Result<()>,
) -> Step {
    Step { name, about, needs, run }
}

pub fn main(mut arguments: Arguments) -> Result<()> {
    let installed = !arguments.contains("--no-install");
    let steps = crate::pick(STEPS, &crate::names(arguments)?, |step| step.name)?;
    println!("will run: {}", steps.iter().map(|step| step.name).collect::<Vec<_>>().join(", "));
    let needs: Vec<Need> = steps.iter().flat_map(|step| step.needs).copied().collect();
    if installed {
        needs::install(needs)?;
    }

    let mut outcomes = Vec::new();
    for step in steps {
        outcomes.push(run(step, installed));
        interrupt::check()?;
    }
    summarise(&outcomes)
}

impl Step {
    /// A missing program without which the step can do nothing.
    fn missing(&self, installed: Installed) -> Option<&'static str> {
        let left_out = !installed && self.name != "test";
        let commands = self.needs.iter().filter_map(|need| match *need {
            Need::Program { command, .. } => Some(command),
            Need::Component { .. } => None,
        });
        commands.filter(|_| left_out).find(|command| repo::program(command).is_none())
    }
}

pub fn help() -> String {
    let steps: Vec<String> =
        STEPS.iter().map(|step| format!("  {:8} {}\n", step.name, step.about)).collect();
    format!(
        "Installs what is missing (Debian packages, rustup components), then runs every step, also after a failure.

Usage: cargo xtask test [OPTIONS] [STEP...]

Steps (without names, all in this order):
{}
Options:
      --no-install  install nothing; tests are left out whose programs are missing, and each says so
  -h, --help        print this

No test is tried twice. `cargo xtask noise` runs those that use real sockets again and
again on a machine kept busy; long measurements are in `cargo xtask truth`.

Exits 0 only if every step passed.",
        steps.concat()
    )
}

struct Outcome {
    name: &'static str,
    took: Duration,
    result: Result<Done>,
}

/// The outcome of a step that did not fail.
enum Done {
    Whole,
    LeftOut,
}

fn run(step: &Step, installed: Installed) -> Outcome {
    println!("\n== {}: {}", step.name, step.about);
    let started = Instant::now();
    let result = match step.missing(installed) {
        Some(program) => {
            println!("-- {} left out: {program} is not installed", step.name);
            return Outcome { name: step.name, took: Duration::ZERO, result: Ok(Done::LeftOut) };
        }
        None => (step.run)(installed).map(|()| Done::Whole),
    };
    let took = started.elapsed();
    match &result {
        Ok(_) => println!("-- {} passed in {:.1} s", step.name, took.as_secs_f64()),
        Err(error) => println!("-- {} failed in {:.1} s: {error:#}", step.name, took.as_secs_f64()),
    }
    Outcome { name: step.name, took, result }
}

fn summarise(outcomes: &[Outcome]) -> Result<()> {
    println!("\n== summary");
    for outcome in outcomes {
        let word = match outcome.result {
            Ok(Done::Whole) => "passed",
            Ok(Done::LeftOut) => "LEFT OUT",
            Err(_) => "FAILED",
        };
        println!("{:8} {word:8} {:7.1} s", outcome.name, outcome.took.as_secs_f64());
    }
    let total: Duration = outcomes.iter().map(|outcome| outcome.took).sum();
    println!("{:8}          {:7.1} s", "total", total.as_secs_f64());
    let failed: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.result.is_err())
        .map(|outcome| outcome.name)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    bail!("{} of {} steps failed: {}", failed.len(), outcomes.len(), failed.join(", "))
}

fn fmt(_: Installed) -> Result<()> {
    repo::run(repo::cargo("fmt").args(["--all", "--check"]))
}

fn clippy(_: Installed) -> Result<()> {
    let arguments = ["--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
    repo::run(repo::cargo("clippy").args(arguments))
}

fn test(installed: Installed) -> Result<()> {
    let mut cargo = repo::cargo("test");
    if installed {
        cargo.env(ALL, "1");
    }
    if installed || repo::program("go").is_some() {
        Go::find()?.first_on_path(&mut cargo)?;
    }
    if env::var_os(THREADS).is_none() {
        let processors = thread::available_parallelism()?.get();
        cargo.env(THREADS, (TESTS_PER_PROCESSOR * processors).to_string());
    }
    repo::run(cargo.args(["--workspace", "--no-fail-fast"]))
}

fn doc(_: Installed) -> Result<()> {
    let arguments = ["--workspace", "--no-deps", "--keep-going"];
    repo::run(repo::cargo("doc").args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

/// The tests have built all of it, with the features that dependencies of tests turn on. Optimizing it once more would take
/// ten minutes of the slower machines and tell nothing else.
fn build(_: Installed) -> Result<()> {
    repo::run(repo::cargo("check").args(["--package", "plimsoll"]))
}

fn go_fmt(_: Installed) -> Result<()> {
    let unformatted = repo::output(Go::find()?.command("gofmt").args(["-l", "."]))?;
    ensure!(unformatted.is_empty(), "gofmt would change:\n{unformatted}");
    Ok(())
}

fn go(arguments: &[&str]) -> Result<()> {
    repo::run(Go::find()?.command("go").args(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_step() {
        let help = help();
        for step in STEPS {
            assert!(help.contains(&format!("\n  {} ", step.name)), "{} is missing", step.name);
        }
    }

    #[test]
    fn a_failed_step_fails_the_whole_and_is_named() {
        let outcome = |name, result| Outcome { name, took: Duration::ZERO, result };
        assert!(summarise(&[outcome("a", Ok(Done::Whole))]).is_ok());
        let failed =
            summarise(&[outcome("a", Ok(Done::Whole)), outcome("b", Err(anyhow::anyhow!("no")))]);
        assert_eq!(failed.unwrap_err().to_string(), "1 of 2 steps failed: b");
    }
}
