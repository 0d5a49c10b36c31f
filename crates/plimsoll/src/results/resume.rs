//! The flags with which a command is resumed when only the folder of an earlier one was named.
//!
//! Owns how they are found, for every command that can be resumed; commands implement [`Resumable`]. [`consent`] decides
//! whether a folder's own command may be run.

use std::path::Path;

use clap::Parser;
use model::Plan;

use crate::args::{CapacityArgs, Cli, Command, RunArgs, SweepArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::results::consent;
use crate::secrets;

/// A command that can go on with what it began.
pub trait Resumable: PartialEq + Sized {
    /// The command's name.
    const COMMAND: &'static str;
    /// What it makes.
    const MAKES: &'static str;
    /// What is loaded: the URL, or the workload file.
    const TARGET: &'static str;
    /// The flags that may be given beside `--resume DIR`.
    const FREE: &'static str;

    /// These flags, if the command line is one of this command.
    fn of(command: Command) -> Option<Self>;

    /// Whether a target was named.
    fn has_target(&self) -> bool;

    /// The same with the free flags of `given`.
    fn with_free(self, given: &Self) -> Self;
}

/// The flags that the command in `dir` was started with, by the command line `stored` there, with the free ones of
/// `given`.
///
/// # Errors
/// When other flags were given as well, when the stored command may not be carried out, and when it says too little.
pub fn own_args<A: Resumable>(dir: &Path, stored: &[String], given: &A) -> Result<A, Failure> {
    let (makes, target, free) = (A::MAKES, A::TARGET, A::FREE);
    let alone = ["plimsoll", A::COMMAND, "--resume", &dir.to_string_lossy()].map(str::to_owned);
    if parse(&alone).map(|alone: A| alone.with_free(given)).as_ref() != Some(given) {
        return usage(format!(
            "--resume DIR repeats the flags of the {makes} and accepts only {free} beside it; to \
             change others, give {target} and all flags"
        ));
    }
    if stored.iter().any(|arg| arg.contains("***")) {
        return usage(format!(
            "the {makes}'s command held a secret, which is not stored: give {target} and all flags again"
        ));
    }
    match parse::<A>(&consent::command(dir, stored)?) {
        Some(args) if args.has_target() => Ok(args.with_free(given)),
        Some(_) => cannot_run(format!(
            "{} is a {makes} of the built-in API, which ended with it: start a new one",
            dir.display()
        )),
        None => usage(format!(
            "how this {makes} was started cannot be determined: give {target} and all flags again"
        )),
    }
}

/// Makes sure that a folder's result, `a sweep` for example, is of the URL with which it is to go on. The secrets in `held`
/// are masked.
///
/// # Errors
/// When that is another one.
pub fn same_url(dir: &Path, what: &str, held: &str, new: &str) -> Result<(), Failure> {
    let new = secrets::mask_url(new);
    if new == held {
        return Ok(());
    }
    usage(format!("{} is {what} of {held}, not of {new}", dir.display()))
}

/// Makes sure that the runs of `made` in a folder (`levels`, `steps`), one of which has this plan, were of the load that
/// goes on: what they come to is read from all of them.
///
/// # Errors
/// When that is another load.
pub fn same_load(dir: &Path, made: &str, held: &Plan, new: &Plan) -> Result<(), Failure> {
    let other = held.differences(new);
    if other.is_empty() {
        return Ok(());
    }
    usage(format!(
        "the {made} in {} were run with another {}: give the same flags, or begin anew in another folder",
        dir.display(),
        other.join(", ")
    ))
}

/// The flags that the command which made `dir` was started with, to make the same again for `asked`.
///
/// # Errors
/// When the stored command may not be carried out, or says too little.
pub fn begun<A: Resumable>(dir: &Path, stored: &[String], asked: &str) -> Result<A, Failure> {
    if stored.iter().any(|arg| arg.contains("***")) {
        return usage(format!(
            "{asked} {}: the {}'s command held a secret, which is not stored: carry out the experiment by hand",
            dir.display(),
            A::MAKES
        ));
    }
    agreed(dir, stored, asked)
}

/// As [`begun`], also where secrets of the command are masked: for what needs none of them.
///
/// # Errors
/// As [`begun`].
pub fn agreed<A: Resumable>(dir: &Path, stored: &[String], asked: &str) -> Result<A, Failure> {
    let asked = format!("{asked} {}", dir.display());
    let otherwise = "give it again, and explain what it makes";
    match parse::<A>(&consent::command_for(dir, stored, &asked, otherwise)?) {
        Some(args) if args.has_target() => Ok(args),
        _ => cannot_run(format!("{asked}: how this folder was made cannot be determined")),
    }
}

fn parse<A: Resumable>(command: &[String]) -> Option<A> {
    A::of(Cli::try_parse_from(command).ok()?.command)
}

impl Resumable for RunArgs {
    const COMMAND: &'static str = "run";
    const MAKES: &'static str = "run";
    const TARGET: &'static str = "the workload file";
    const FREE: &'static str = "--format, --details, -L and --quiet";

    fn of(command: Command) -> Option<Self> {
        if let Command::Run(args) = command { Some(*args) } else { None }
    }

    fn has_target(&self) -> bool {
        self.url.is_some()
    }

    fn with_free(self, given: &Self) -> Self {
        let quiet = self.quiet || given.quiet;
        Self { quiet, print: given.print.clone(), ..self }
    }
}

impl Resumable for SweepArgs {
    const COMMAND: &'static str = "sweep";
    const MAKES: &'static str = "sweep";
    const TARGET: &'static str = "the URL";
    const FREE: &'static str = "--quiet";

    fn of(command: Command) -> Option<Self> {
        if let Command::Sweep(args) = command { Some(*args) } else { None }
    }

    fn has_target(&self) -> bool {
        self.url.is_some()
    }

    fn with_free(self, given: &Self) -> Self {
        Self { quiet: self.quiet || given.quiet, ..self }
    }
}

impl Resumable for CapacityArgs {
    const COMMAND: &'static str = "capacity";
    const MAKES: &'static str = "search";
    const TARGET: &'static str = "the URL";
    const FREE: &'static str = "--budget, --format and --quiet";

    fn of(command: Command) -> Option<Self> {
        if let Command::Capacity(args) = command { Some(*args) } else { None }
    }

    fn has_target(&self) -> bool {
        self.url.is_some()
    }

    fn with_free(self, given: &Self) -> Self {
        let (quiet, budget) = (self.quiet || given.quiet, given.budget.or(self.budget));
        Self { quiet, budget, format: given.format, ..self }
    }
}
