//! Flags of `plimsoll profile`, and of commands that take profiles while they measure.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use model::units::parse_count;

use super::TextOrJson;

/// `plimsoll profile`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Reads pprof (gzip or not; Go, Rust, Python, Node), Node's .cpuprofile, collapsed stacks and the text of `perf script`. A URL is that of a \
server, of its /debug/pprof, or of one profile. A folder is that of a run that was given --profile.
Without --top, --tree or --peek it says whose code the time is: the service's own, a framework's, a dependency's, the \
standard library's or the runtime's. What the runtime does is charged to who called for it, garbage collected in the \
background to those who allocate.
Examples:
  plimsoll profile http://127.0.0.1:8080
  plimsoll run http://127.0.0.1:8080/users --profile http://127.0.0.1:8080 && plimsoll profile plimsoll-out/last
  plimsoll profile cpu.pprof --top --cum --nodecount 20
  plimsoll profile whatif plimsoll-out/last middleware.Logger
Exit codes: 0 done; 1 the profile cannot be read or fetched; 2 usage; 98 nothing could be predicted.")]
pub struct ProfileArgs {
    /// Compare, or predict
    #[command(subcommand)]
    pub command: Option<ProfileCommand>,
    /// A profile, a server that gives one, or the folder of a run that took one
    #[arg(value_name = "FILE|URL|DIR", required = true)]
    pub source: Option<String>,
    /// Print what `go tool pprof -top` prints
    #[arg(long, help_heading = "Listing")]
    pub top: bool,
    /// Order by cumulative value
    #[arg(long, help_heading = "Listing")]
    pub cum: bool,
    /// Print every function with its callers and callees, as `go tool pprof -tree` does
    #[arg(long, conflicts_with = "top", help_heading = "Listing")]
    pub tree: bool,
    /// Print the functions that match with their callers and callees, as `go tool pprof -peek` does
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["top", "tree"], help_heading = "Listing")]
    pub peek: Option<String>,
    /// Rows at most [default: all with --top, 80 with --tree]
    #[arg(short, long, value_name = "N", value_parser = parse_count, help_heading = "Listing")]
    pub nodecount: Option<u64>,
    /// What is one row
    #[arg(long, value_enum, default_value = "function", help_heading = "Listing")]
    pub granularity: GranularityArg,
    /// Which values
    #[command(flatten)]
    pub values: ValueArgs,
    /// Seconds to profile for, where it is fetched
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "10", help_heading = "Reading")]
    pub seconds: u64,
    /// Header field to send with the request for the profile, such as 'Authorization: Bearer ...'. May be repeated
    #[arg(short = 'H', long, value_name = "FIELD", help_heading = "Reading")]
    pub profile_header: Vec<String>,
    /// Write a page with a flame graph into this file
    #[arg(long, value_name = "FILE", value_parser = super::place::file(), conflicts_with_all = ["top", "tree", "peek"], help_heading = "Output")]
    pub page: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", conflicts_with_all = ["top", "tree", "peek"], help_heading = "Output")]
    pub format: TextOrJson,
}

/// Which samples, which frames, and whose they are.
#[derive(Debug, Args)]
pub struct ValueArgs {
    /// The kind of values, by name or number [default: the profile's own default]
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub sample_index: Option<String>,
    /// Only samples with a frame that matches
    #[arg(long, value_name = "PATTERN", help_heading = "Reading")]
    pub focus: Option<String>,
    /// No samples with a frame that matches
    #[arg(long, value_name = "PATTERN", help_heading = "Reading")]
    pub ignore: Option<String>,
    /// Leave out frames that match
    #[arg(long, value_name = "PATTERN", help_heading = "Reading")]
    pub hide: Option<String>,
    /// Leave out frames that do not match
    #[arg(long, value_name = "PATTERN", help_heading = "Reading")]
    pub show: Option<String>,
    /// Beginning of names, or of files, that are the service's own. May be repeated
    #[arg(long, value_name = "PREFIX", help_heading = "Reading")]
    pub own: Vec<String>,
}

/// What is one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GranularityArg {
    /// A function
    Function,
    /// A line of a function
    Line,
    /// A source file
    File,
}

/// Subcommands of `plimsoll profile`.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Predict the rate without some functions, from a run that took a profile
    Whatif(Box<WhatIfArgs>),
    /// Compare two profiles per completed request
    Diff(ProfileDiffArgs),
}

/// `plimsoll profile whatif`.
#[derive(Debug, Args)]
#[command(after_help = "\
QPS / ((1 - f) (1 - g)), where f is the functions' share of the processor time, with their share of the garbage collected \
in the background and of the headers written later, and g is by how much the rest gets cheaper too: 0.6 f, 4 us of a \
request at most, a rule from measured removals. Handlers that a removed middleware calls stay: what they cost is not its own. Nothing is predicted where \
the processor was not the server's limit, or the profile is too thin.
Exit codes: 0 predicted; 98 refused; 1 and 2: see `plimsoll --help`.")]
pub struct WhatIfArgs {
    /// Folder of a run that was given --profile
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Functions to do without: a whole name, or its end, such as middleware.Logger
    #[arg(value_name = "FUNCTION", required = true)]
    pub functions: Vec<String>,
    /// Function that stays, with what it calls, although one that goes calls it. May be repeated
    #[arg(long, value_name = "FUNCTION")]
    pub keep: Vec<String>,
    /// Processors that the server may use [default: found out, for a server on this machine]
    #[arg(long, value_name = "N", value_parser = parse_processors)]
    pub processors: Option<f64>,
    /// Beginning of names, or of files, that are the service's own. May be repeated
    #[arg(long, value_name = "PREFIX")]
    pub own: Vec<String>,
    /// Measure the changed server at this URL, as the run was measured, and print the measured rate beside the predicted
    #[arg(long, value_name = "URL")]
    pub verify: Option<String>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: TextOrJson,
}

/// `plimsoll profile diff`.
#[derive(Debug, Args)]
pub struct ProfileDiffArgs {
    /// Folder of the first run
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// Folder of the second run
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Beginning of names, or of files, that are the service's own. May be repeated
    #[arg(long, value_name = "PREFIX")]
    pub own: Vec<String>,
    /// Write a page with a flame graph of both into this file: red costs more now, blue costs less
    #[arg(long, value_name = "FILE", value_parser = super::place::file())]
    pub page: Option<PathBuf>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: TextOrJson,
}

/// Taking a profile while measuring.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct TakeArgs {
    /// Take a profile of the server inside the measured window, from its /debug/pprof at this URL, and keep it with the
    /// result: `plimsoll profile DIR` shows what each request costs
    #[arg(long, value_name = "URL", help_heading = "Profile")]
    pub profile: Option<String>,
    /// Header field to send with the request for the profile. May be repeated
    #[arg(long, value_name = "FIELD", requires = "profile", help_heading = "Profile")]
    pub profile_header: Vec<String>,
}

/// Reads a number of processors.
fn parse_processors(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(processors) if processors > 0.0 && processors.is_finite() => Ok(processors),
        _ => Err(format!("`{text}` is not a number above 0")),
    }
}
