//! Another run that goes on with the pools of an earlier one, which was interrupted, killed, or is over.

use std::path::Path;

use clap::Parser;

use super::{Folder, carry_out};
use crate::args::{Cli, Command, RunArgs};
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::results::consent;
use crate::results::folder::unused;
use crate::results::journal;
use crate::results::lock::Lock;
use crate::results::output::make_folder;

/// Makes a run with the pools of the one in `dir`: by the flags given, or by its own command where only
/// the folder was named. Its results go to a folder of its own inside of `dir`.
///
/// # Errors
/// When the folder knows of no pools, or workload or rows are not what they were.
pub fn resume(dir: &Path, given: &RunArgs) -> Result<u8, Failure> {
    let args = match &given.url {
        Some(_) => given.clone(),
        None => own_args(dir, given)?,
    };
    let input = LoadInput::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
    let has_unique =
        input.workload().is_some_and(|(_, ready)| ready.compiled.pools().unique().next().is_some());
    if !has_unique {
        return usage(format!(
            "--resume goes on with pools of order `unique`, and {} has none: run it anew",
            input.text
        ));
    }
    carry_out(&args, input, |input| {
        // Where there is no folder, what is missing in it is told below.
        let lock = dir.is_dir().then(|| Lock::of_folder(dir)).transpose()?;
        cursors::go_on(dir, input)?;
        let own = unused(dir, "resumed");
        make_folder(&own)?;
        eprintln!("plimsoll: results go to {}", own.display());
        Ok(Folder { asked: true, made: Some(own), _lock: lock })
    })
}

/// The flags that the run was started with.
fn own_args(dir: &Path, given: &RunArgs) -> Result<RunArgs, Failure> {
    let plain = ["plimsoll", "run", "--resume", &dir.to_string_lossy()].map(str::to_owned);
    let plain = parse(&plain).map(|plain| RunArgs {
        quiet: given.quiet,
        format: given.format,
        latency: given.latency,
        ..plain
    });
    if plain.as_ref() != Some(given) {
        return usage(
            "--resume DIR goes on as the run was started, but for --format, -L and --quiet; to give \
             other flags, give the workload file and all flags",
        );
    }
    let path = dir.join(journal::NAME);
    let again = "give the workload file and all flags again";
    let command = journal::command(&path).map_err(|failure| {
        Failure::Usage(format!("--resume {}: {failure}; {again}", dir.display()))
    })?;
    if command.iter().any(|arg| arg.contains("***")) {
        return usage(format!("the run's command held a secret, which is not stored: {again}"));
    }
    match parse(&consent::command(dir, &command)?) {
        Some(args) if args.url.is_some() => Ok(RunArgs {
            out: None,
            resume: Some(dir.to_owned()),
            quiet: given.quiet || args.quiet,
            format: given.format,
            latency: given.latency,
            ..args
        }),
        _ => usage(format!("how this run was started cannot be told: {again}")),
    }
}

fn parse(command: &[String]) -> Option<RunArgs> {
    match Cli::try_parse_from(command).ok()?.command {
        Command::Run(args) => Some(*args),
        _ => None,
    }
}
