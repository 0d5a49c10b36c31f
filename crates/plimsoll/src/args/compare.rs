//! Flags of `plimsoll compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use model::Nanos;
use model::units::{parse_count, parse_duration, parse_rate};

use super::{LoadArgs, parse_percent};

/// Default margin, as a share.
pub const DEFAULT_MARGIN: f64 = 0.02;

/// `plimsoll compare`.
#[derive(Debug, Args)]
#[command(
    override_usage = "plimsoll compare [OPTIONS] <URL|FILE>... [-- ARGS]",
    after_help = "The order alternates from round to round (old new, new old, ...), so that drift on the \
machine affects both alike.\nExit codes: 0 SAME or FASTER; 98 CANNOT_TELL, or judgement withheld; 99 SLOWER; \
1, 2 and 130: see `plimsoll --help`."
)]
pub struct CompareArgs {
    /// URL of the old server, which is the reference, then URL of the new one, which is judged, or workload
    /// files; with --baseline only the new one
    #[arg(required = true, num_args = 1..=2, value_name = "URL|FILE")]
    pub urls: Vec<String>,
    /// Judge against this earlier run (run.json or its folder), with its connections, rate and
    /// window unless flags say otherwise
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Rounds: each is one run of every URL
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, default_value = "6")]
    pub rounds: u64,
    /// Changes up to this share count as no change
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, allow_hyphen_values = true, default_value = "2%")]
    pub margin: f64,
    /// Judge even where environments, responses or loads differ, or a run is not VALID; if one is
    /// INVALID, the exit code is 98 unless it is slower
    #[arg(long)]
    pub anyway: bool,
    /// Connections: users in a closed loop, the most at once in an open loop [default: 10; 1000 with a rate]
    #[arg(short, long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub connections: Option<u64>,
    /// Measured window of each run [default: 10s]
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Open loop: this many arrivals per second, such as 1000 or 20k
    #[arg(short = 'R', long, value_name = "RATE", value_parser = parse_rate, allow_hyphen_values = true)]
    pub rate: Option<f64>,
    /// Rest between runs
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, default_value = "1s")]
    pub rest: Nanos,
    /// What is sent and how
    #[command(flatten)]
    pub load: LoadArgs,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    pub format: CompareFormat,
    /// Folder for every run, compare.json, effects.csv, the picture and report.html
    /// [default: plimsoll-out/compare/DATE-TIME]
    #[arg(long, value_name = "DIR", value_parser = super::place::folder(), help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Print nothing while running
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// How the comparison is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Table and judgement
    Text,
    /// JSON (plimsoll.compare/1)
    Json,
}
