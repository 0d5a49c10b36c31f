//! `plimsoll`: arguments, exit codes, signals, and commands that connect the other crates. Does not own measurement, judgement
//! or rendering, which are in those crates.

// First, for its macros.
#[macro_use]
mod terminal;

mod args;
mod built_in_api;
mod calibrations;
mod commands;
mod failure;
mod fetch;
mod load;
mod profiles;
mod results;
mod runs;
mod secrets;
mod user_folder;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::familiar::{in_one_line, instead_of_a_value, instead_of_help};
use args::{Cli, Command};
use commands::{
    audit, calibrate, capacity, compare, diff, explain, fill, gate, generate, import, init, mine,
    plan, profile, report, run, sweep, target, tune, watch, wrk, wrktest,
};
use failure::Failure;

/// The name of a link says what is meant: `wrk` and `wrktest.sh` take those programs' own command
/// lines.
fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let cli = match line.first().and_then(|name| Path::new(name).file_name()?.to_str()) {
        Some("wrk") => return ExitCode::from(wrk::wrk(line)),
        Some("wrktest.sh") => {
            let named = ["plimsoll", "wrktest"].map(OsStr::new).map(OsString::from);
            Cli::try_parse_from(named.into_iter().chain(line.iter().skip(1).cloned()))
        }
        _ => Cli::try_parse_from(&line),
    };
    let cli = match cli {
        Ok(cli) => match instead_of_a_value(&line) {
            Some(advice) => {
                eprintln!("plimsoll: {advice}");
                return ExitCode::from(2);
            }
            None => cli,
        },
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            results::output::print(&error.to_string());
            return ExitCode::SUCCESS;
        }
        Err(error) if error.use_stderr() => {
            eprintln!("plimsoll: {}", in_one_line(&error, &line));
            return ExitCode::from(2);
        }
        // Help or version was asked for, or a word that begins likewise.
        Err(asked) => match instead_of_help(&line) {
            Some(advice) => {
                eprintln!("plimsoll: {advice}");
                return ExitCode::from(2);
            }
            None => asked.exit(),
        },
    };
    match dispatch(&cli.command) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("plimsoll: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn dispatch(command: &Command) -> Result<u8, Failure> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Calibrate(args) => calibrate::calibrate(args),
        Command::Target(args) => target::target(args),
        Command::Report(args) => report::report(args),
        Command::Generate(args) => generate::generate(args),
        Command::Sweep(args) => sweep::sweep(args),
        Command::Compare(args) => compare::compare(args),
        Command::Plan(args) => plan::plan(args),
        Command::Capacity(args) => capacity::capacity(args),
        Command::Init(args) => init::init(args),
        Command::Import(args) => import::import(args),
        Command::Mine(args) => mine::mine(args),
        Command::Gate(args) => gate::gate(args),
        Command::Fill(args) => fill::fill(args),
        Command::Profile(args) => profile::profile(args),
        Command::Tune(args) => tune::tune(args),
        Command::Diff(args) => diff::diff(args),
        Command::Audit(args) => audit::audit(args),
        Command::Watch(args) => watch::watch(args),
        Command::Explain(args) => explain::explain(args),
        Command::Wrktest(args) => wrktest::wrktest(args),
    }
}
