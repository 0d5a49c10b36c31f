//! The command line as written: one table of flags, from which help, man pages, completions and the
//! reference are generated. [`crate::load`] turns flags into plans.

mod audit;
mod calibrate;
mod capacity;
mod compare;
pub mod familiar;
mod fill;
mod gate;
mod import;
mod init;
mod load;
mod mine;
mod objectives;
mod observe;
mod place;
mod plan;
mod profile;
mod tune;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use model::units::{parse_count, parse_duration, parse_rate};
use model::{Arrivals, Nanos};

pub use self::observe::{ExplainArgs, ObserveArgs, WatchArgs};
pub use audit::AuditArgs;
pub use calibrate::CalibrateArgs;
pub use capacity::{CapacityArgs, CapacityFormat};
pub use compare::{CompareArgs, CompareFormat, DEFAULT_MARGIN};
pub use fill::{FillArgs, ReplacedArg};
pub use gate::{
    AddKeyArgs, ExportArgs, ExportProxy, GateArgs, GateCommand, GateFormat, KeysCommand,
    ListKeysArgs, UsageArgs,
};
pub use import::ImportArgs;
pub use init::InitArgs;
pub use load::{IoArg, LoadArgs, ShapeArgs, TlsArgs, TlsVersion};
pub use mine::{MineArgs, MineFormat};
pub use objectives::{AbortArgs, Annotations, ObjectiveArgs};
pub use plan::PlanArgs;
pub use profile::{
    GranularityArg, ProfileArgs, ProfileCommand, ProfileDiffArgs, TakeArgs, ValueArgs, WhatIfArgs,
};
pub use tune::{TuneArgs, TuneBeginArgs, TuneCommand, TuneTryArgs};

/// Finds how much load an HTTP API carries, and whether that number can be believed.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    disable_version_flag = true,
    propagate_version = true,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = "Start with `plimsoll sweep`: without a URL it measures a built-in API of \
known capacity.\nExit codes: 0 done; 1 could not run, or a file that is named cannot be read; 2 the command line, or the contents of a \
workload file, are wrong; 98 the result cannot be relied on: INVALID, or a \
LOWER_BOUND of a fixed rate (-R) or of a generator that was held up, or an objective is undecided; 99 objectives missed; \
130 interrupted, partial result saved.\nA LOWER_BOUND of a closed loop (-c) is 0, as its QPS is \"at least\"; in CI add `--slo valid`, \
which makes it 98.")]
pub struct Cli {
    /// Print the version
    #[arg(short = 'v', long, visible_short_alias = 'V', global = true, display_order = 998, action = clap::ArgAction::Version)]
    version: Option<bool>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive one load at a URL and report the result
    Run(Box<RunArgs>),
    /// Run one load after another and draw the curve: QPS and latency over concurrency or rate
    Sweep(Box<SweepArgs>),
    /// Print what a run would do, where each value comes from, and the first requests; send nothing
    Plan(Box<PlanArgs>),
    /// Find the highest rate that meets the objectives, and what limits it
    Capacity(Box<CapacityArgs>),
    /// Write a commented workload file to start from: many endpoints, parameters, sessions
    Init(InitArgs),
    /// Make a workload file of curl commands, vegeta targets, a HAR, OpenAPI or Postman file
    Import(ImportArgs),
    /// Make a workload file of access logs: the busiest hour, its endpoints, for as many users as you want
    Mine(Box<MineArgs>),
    /// Stand in front of an API: ask for keys, hold limits and the measured load line, count usage
    Gate(Box<GateArgs>),
    /// Fill a database with rows that look right, as many as asked for, and remove them again
    Fill(Box<FillArgs>),
    /// Show what a server spends its time on, whose code that is, and predict what a change would bring
    Profile(Box<ProfileArgs>),
    /// Keep the story of a tuning: what each change was predicted to bring, and brought
    Tune(Box<TuneArgs>),
    /// Compare results: ratios level by level, best against best, charts
    Diff(DiffArgs),
    /// Check results of any load tool: which figures are impossible or doubtful, and why
    Audit(AuditArgs),
    /// Judge one server against another, or against an earlier run: SAME, FASTER, SLOWER, CANNOT_TELL
    Compare(Box<CompareArgs>),
    /// The command line of wrktest.sh: `wrktest URL`, `wrktest diff A B`
    Wrktest(Box<WrktestArgs>),
    /// Watch this machine, processes, commands and pages of figures: a live table, or samples as JSON lines
    Watch(WatchArgs),
    /// Say what limits a run: ranked findings with their evidence, the fix, and an experiment
    Explain(ExplainArgs),
    /// Print the results of a run, sweep, search or comparison again, also after it was killed
    Report(ReportArgs),
    /// Measure the highest load that this machine can generate, so that runs can report the share they used
    Calibrate(CalibrateArgs),
    /// Start the built-in API server: baseline, queues of known capacity, faults on demand
    Target(TargetArgs),
    /// Write the reference, man pages, completions and JSON Schemas into a folder
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// `plimsoll run`.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(
    after_help = "Exit codes: 0 done; 98 the result cannot be relied on (INVALID, or LOWER_BOUND with -R or of a generator that \
was held up), or an objective is undecided; 99 an objective was missed; 1, 2 and 130: see `plimsoll --help`.\nLOWER_BOUND \
without -R is 0; in CI add `--slo valid`, which makes it 98."
)]
pub struct RunArgs {
    /// URL to load, such as http://127.0.0.1:8080/healthz, or a workload file
    #[arg(value_name = "URL|FILE", required_unless_present = "resume")]
    pub url: Option<String>,
    /// How much, how long
    #[command(flatten)]
    pub shape: ShapeArgs,
    /// What is sent and how
    #[command(flatten)]
    pub load: LoadArgs,
    /// What to print on standard output
    #[command(flatten)]
    pub print: PrintArgs,
    /// Folder for run.json, latency.hgrm, timeline.csv and report.html [default: plimsoll-out/last; the run that was
    /// there moves to plimsoll-out/previous. With --format json, none]
    #[arg(long, value_name = "DIR", value_parser = place::folder(), help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Start another run that continues the `unique` pools of the run in this folder, so that no row
    /// is used twice. Its results go to a folder inside this one
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// What is watched beside it
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// Print nothing while running
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// What it is judged by
    #[command(flatten)]
    pub objectives: ObjectiveArgs,
    /// What is profiled meanwhile
    #[command(flatten)]
    pub take: TakeArgs,
    /// What ends it early
    #[command(flatten)]
    pub abort: AbortArgs,
}

/// How a run is printed.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct PrintArgs {
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    pub format: Format,
    /// Print everything that was measured: wrk's block, all distributions, the spectrum, the generator
    #[arg(long, help_heading = "Output")]
    pub details: bool,
    /// Print wrk's latency distribution in wrk's block; with text, implies --details
    #[arg(short = 'L', long, help_heading = "Output")]
    pub latency: bool,
}

/// What to print on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The verdict and the main figures; with --details everything
    Text,
    /// wrk's block alone, for programs that parse it
    Wrk,
    /// The result as JSON, in its own schema: a run is plimsoll.run/1
    Json,
}

/// Default name of a job, as in wrktest.sh.
pub const DEFAULT_NAME: &str = "apiserver";

/// `plimsoll sweep`.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(
    after_help = "Exit codes: 0 done; 98 no level is valid, one is not comparable with the others (the server went \
away or changed, or the generator was held up), or it is undecided whether one meets the objectives; 99 no \
level meets them, or --abort-on ended the sweep (98 where the rule is on `achieved`); 1, 2 and 130: see `plimsoll --help`."
)]
pub struct SweepArgs {
    /// URL or workload file to load; without one the built-in API is started and swept
    #[arg(value_name = "URL|FILE")]
    pub url: Option<String>,
    /// Levels of concurrency: `auto` (doubling, finer around the best, stops by itself), `classic`
    /// (wrktest.sh's list), or a list such as 200,500,1000
    #[arg(long, value_name = "LEVELS", default_value = "auto", conflicts_with = "rates")]
    pub levels: String,
    /// Open-loop sweep over these arrival rates, such as 1k,2k,5k
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_rate, allow_hyphen_values = true)]
    pub rates: Vec<f64>,
    /// Maximum number of connections in an open-loop sweep [default: 1000]
    #[arg(short, long, value_name = "N", value_parser = parse_most_connections, allow_hyphen_values = true)]
    pub connections: Option<u64>,
    /// Measured window of each level [default: 10s; 2s without a URL]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Rest between levels [default: 1s; none without a URL]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub rest: Option<Nanos>,
    /// Highest level that `auto` and `classic` go to [default: 50000]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub max_level: Option<u64>,
    /// `auto`: stop once fewer than this share of attempts succeed [default: 90%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true)]
    pub stop_below: Option<f64>,
    /// Limit on the mean response time; the report names the best level within it
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, default_value = "500ms")]
    pub objective: Nanos,
    /// What is sent and how
    #[command(flatten)]
    pub load: LoadArgs,
    /// Name of the result files
    /// [default: host, port and path of the URL, or the workload file's name]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub name: Option<String>,
    /// Folder for the results [default: plimsoll-out/NAME/DATE-TIME]
    #[arg(long, value_name = "DIR", value_parser = place::folder(), help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Continue the sweep in this folder, keeping its levels
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// What is watched beside it
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// Print nothing while running
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// What each level is judged by; the report names the highest level that meets them all
    #[command(flatten)]
    pub objectives: ObjectiveArgs,
    /// What is profiled meanwhile: every level whose window is 4 s or longer, into DIR/profiled
    #[command(flatten)]
    pub take: TakeArgs,
    /// What ends a level, and the sweep with it
    #[command(flatten)]
    pub abort: AbortArgs,
}

/// `plimsoll diff`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 99 a result is SLOWER than the first one at some level; 98 none is, \
but some level is CANNOT_TELL, or its judgement withheld; 0 otherwise. A .dat is never judged. 1 and 2: see `plimsoll \
--help`."
)]
pub struct DiffArgs {
    /// .dat files, sweep.json, run.json or result folders, the old one first: the others are measured against it.
    /// Without any: the latest two sweeps of the same target, or the last two runs without --out
    pub files: Vec<PathBuf>,
    /// Changes up to this share count as no change when runs are judged
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true, default_value = "2%")]
    pub margin: f64,
    /// Judge even where environments, responses or loads differ, or a run is not VALID; if one is
    /// INVALID, the exit code is 98 unless it is slower
    #[arg(long)]
    pub anyway: bool,
    /// Folder for charts and report [default: the second file's folder]
    #[arg(long, value_name = "DIR", value_parser = place::folder())]
    pub out: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: TableFormat,
}

/// How a table is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Aligned columns
    Text,
    /// Comma-separated values
    Csv,
    /// JSON
    Json,
}

/// How a result other than a table of levels is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    /// Aligned columns
    Text,
    /// JSON
    Json,
}

/// `plimsoll wrktest`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    after_help = "Exit codes: those of `plimsoll sweep`; of `diff` 0 done and 1 a file cannot be read or written."
)]
pub struct WrktestArgs {
    /// `diff A B`
    #[command(subcommand)]
    pub command: Option<WrktestCommand>,
    /// URL to load
    #[arg(required = true)]
    pub url: Option<String>,
    /// Name of the job and of its files
    #[arg(short, value_name = "NAME", default_value = DEFAULT_NAME)]
    pub name: String,
    /// Folder for the results
    #[arg(short, value_name = "DIR", default_value = "_output/wrk")]
    pub dir: PathBuf,
    /// Levels of concurrency instead of the script's
    #[arg(long, value_name = "LIST", env = "WRKTEST_LEVELS", value_delimiter = ',', value_parser = parse_count, allow_hyphen_values = true)]
    pub levels: Vec<u64>,
    /// Length of each level instead of the script's
    #[arg(long, value_name = "TIME", env = "WRKTEST_DURATION", value_parser = parse_duration, allow_hyphen_values = true, default_value = "300s")]
    pub duration: Nanos,
    /// Time-out instead of the script's
    #[arg(long, value_name = "TIME", env = "WRKTEST_TIMEOUT", value_parser = parse_duration, allow_hyphen_values = true, default_value = "30s")]
    pub timeout: Nanos,
}

/// `plimsoll wrktest diff`.
#[derive(Debug, Subcommand)]
pub enum WrktestCommand {
    /// Join two data files on concurrency and draw them together
    Diff {
        /// Data file that is measured against the other
        a: PathBuf,
        /// Data file that it is measured against
        b: PathBuf,
    },
}

/// `plimsoll report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: those of the command that measured; 130 where it did not come to its end; 1 also where the folder's \
files could not be written, as while another command writes to it; 2: see `plimsoll --help`."
)]
pub struct ReportArgs {
    /// A folder that `run`, `sweep`, `capacity` or `compare` wrote to, or the result in it [default: the last one in
    /// plimsoll-out]
    pub dir: Option<PathBuf>,
    /// How to print it
    #[command(flatten)]
    pub print: PrintArgs,
    /// Judge a comparison even where environments, responses or loads differ, or a run is not VALID; if one is
    /// INVALID, the exit code is 98 unless it is slower
    #[arg(long)]
    pub anyway: bool,
    /// Objectives to judge it by, instead of those of the run
    #[command(flatten)]
    pub objectives: ObjectiveArgs,
}

/// `plimsoll target`.
#[derive(Debug, Args)]
#[command(
    after_help = "Paths: /healthz, /, /stub_status, /bytes/{length}, /status/{code}, /delay/{duration}, /cpu/{duration}, /echo, \
/queue?servers=1&mean=1ms&dist=exp|det&seed=1, POST /login, /items?page=1, /items/{id}, /fault/{kind} (a wrong kind lists \
them). A queue carries servers / mean requests per second.\nBounds: the head of a request must arrive within 30 s, its body within 5 minutes. A connection is \
closed after 5 minutes in which no request began and no part of a response was sent or read \
(waiting for a /delay or /queue response does not count). /cpu takes 1s at most, /delay 1h, /echo \
1 MiB, /bytes 10 GiB. Each thread takes 1,048,576 connections at most and closes further ones at \
once. This server is for measurements, not for the internet.\nExit codes: 0 ended as asked; 1 the address or a file cannot \
be used; 2 usage."
)]
pub struct TargetArgs {
    /// Address to listen on; port 0 takes a free one and prints it
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: String,
    /// Threads, each with a listener of its own [default: one per processor, or more where
    /// their file tables would not hold 60,000 connections]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub threads: Option<u64>,
    /// Speak TLS, with a self-signed certificate unless --cert and --key are given
    #[arg(long)]
    pub tls: bool,
    /// Certificate chain in PEM form
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Its key in PEM form
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Pause the whole server this often
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "stall_for")]
    pub stall_every: Option<Nanos>,
    /// Length of each pause
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, requires = "stall_every")]
    pub stall_for: Option<Nanos>,
    /// Close a connection after this many responses
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub requests_per_connection: Option<u64>,
    /// Close every connection after its response
    #[arg(long)]
    pub close: bool,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value = "1", value_parser = load::parse_seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Kernel interface
    #[arg(long, value_enum, default_value = "auto")]
    pub io: IoArg,
    /// End when standard input does: with the process that holds its other end
    #[arg(long, hide = true)]
    pub until_input_ends: bool,
}

/// `plimsoll generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Folder to write into
    pub dir: PathBuf,
}

/// Reads the most connections of an open loop.
fn parse_most_connections(text: &str) -> Result<u64, String> {
    parse_count(text).map_err(|error| {
        let list = text.contains([',', '-']);
        let hint = if list { "; levels of concurrency are given by --levels 1,8,64" } else { "" };
        format!("{error}{hint}")
    })
}

/// Reads `90`, `90%` or `0.9%` as a ratio.
fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(format!("`{text}` is not a percentage from 0 to 100")),
    }
}

/// Reads `uniform` or `poisson`.
fn parse_arrivals(text: &str) -> Result<Arrivals, String> {
    match text {
        "uniform" => Ok(Arrivals::Uniform),
        "poisson" => Ok(Arrivals::Poisson),
        _ => Err(format!("`{text}` is not a kind of arrivals: use uniform or poisson")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    #[test]
    fn help_says_one_default_of_each_flag() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_default_value_set()) {
                let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
                let says = help.unwrap_or_default().contains("[default");
                let defaults = arg.get_default_values();
                let (name, command) = (arg.get_id(), command.get_name());
                assert!(!says || defaults.is_empty(), "{command}: two defaults of {name}");
                let empty = defaults.iter().any(|default| default.is_empty());
                assert!(!empty, "{command}: the default of {name} is empty");
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn help_fits_a_terminal_of_sixty_columns() {
        let mut cli = Cli::command();
        cli.build();
        let mut commands = vec![cli];
        while let Some(command) = commands.pop() {
            let help = command.clone().term_width(60).render_long_help().to_string();
            for line in help.lines() {
                assert!(line.chars().count() <= 60, "{}: {line}", command.get_name());
            }
            let shown = command
                .get_subcommands()
                .filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
            commands.extend(shown.cloned());
        }
    }

    #[test]
    fn every_command_prints_its_version() {
        for command in Cli::command().get_subcommands() {
            for flag in ["-v", "-V", "--version"] {
                let parsed = Cli::try_parse_from(["plimsoll", command.get_name(), flag]);
                let kind = parsed.err().map(|error| error.kind());
                assert_eq!(kind, Some(ErrorKind::DisplayVersion), "{} {flag}", command.get_name());
            }
        }
    }
}
