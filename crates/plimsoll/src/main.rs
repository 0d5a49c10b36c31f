//! `plimsoll`: arguments, wiring, exit codes, signals. What is measured, judged and drawn lives in
//! the crates below; the commands here bring them together.

mod address;
mod args;
mod environment;
mod execute;
mod failure;
mod generate;
mod journal;
mod live;
mod output;
mod report_command;
mod resolve;
mod run;
mod secrets;
mod sweep;
mod target_command;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = Cli::parse();
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
        Command::Target(args) => target_command::target(args),
        Command::Report(args) => report_command::report(args),
        Command::Generate(args) => generate::generate(args),
        Command::Sweep(args) => sweep::sweep(args),
        Command::Diff(_) | Command::Wrktest(_) => unreachable!(),
    }
}
