//! Flags of `plimsoll tune`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::Nanos;
use model::units::{parse_count, parse_duration};

use super::TextOrJson;

/// `plimsoll tune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Keeps the story of a tuning in a folder: every run, what was predicted before a change, what the change brought.
  plimsoll tune begin http://127.0.0.1:8080/healthz --baseline http://127.0.0.1:6667/healthz --profile http://127.0.0.1:8080
  plimsoll tune predict middleware.logger
  plimsoll tune try 'logger off' http://127.0.0.1:8081/healthz
  plimsoll tune show
Exit codes: 0 done; 1 could not be measured; 2 usage; 98 nothing could be predicted; 130 interrupted, and the story is as \
before.")]
pub struct TuneArgs {
    /// What to do
    #[command(subcommand)]
    pub command: TuneCommand,
    /// The notebook's folder
    #[arg(long, value_name = "DIR", default_value = "plimsoll-out/tune", global = true)]
    pub notebook: PathBuf,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", global = true)]
    pub format: TextOrJson,
    /// Print nothing while running
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// Subcommands of `plimsoll tune`.
#[derive(Debug, Subcommand)]
pub enum TuneCommand {
    /// Measure the API before any change, and its baseline
    Begin(Box<TuneBeginArgs>),
    /// Write down what doing without some functions would bring, before the change
    Predict {
        /// Functions to do without, as for `plimsoll profile whatif`
        #[arg(value_name = "FUNCTION", required = true)]
        functions: Vec<String>,
        /// Processors that the server may use [default: found out, for a server on this machine]
        #[arg(long, value_name = "N")]
        processors: Option<f64>,
    },
    /// Measure a changed server against the one before, and keep the change if it is faster
    Try(Box<TuneTryArgs>),
    /// Print the story, and write its page
    Show,
}

/// `plimsoll tune begin`.
#[derive(Debug, Args)]
pub struct TuneBeginArgs {
    /// The API
    pub url: String,
    /// A server that does the same with nothing around it
    #[arg(long, value_name = "URL")]
    pub baseline: Option<String>,
    /// Where the API gives profiles, which predictions need: one more run, which no comparison counts
    #[arg(long, value_name = "URL")]
    pub profile: Option<String>,
    /// Objective that every run is judged by, as for `run`. May be repeated
    #[arg(long, value_name = "OBJECTIVE")]
    pub slo: Vec<String>,
    /// Connections
    #[arg(short, long, value_name = "N", value_parser = parse_count, default_value = "64")]
    pub connections: u64,
    /// The generator's threads [default: one per allowed processor]
    #[arg(short, long, value_name = "N", value_parser = parse_count)]
    pub threads: Option<u64>,
    /// Never let the generator sleep: for a server on this machine, which otherwise pays for waking it
    #[arg(long)]
    pub spin: bool,
    /// Measured window of each run, 4s or more
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, default_value = "10s")]
    pub duration: Nanos,
    /// Warm-up before it
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "2s")]
    pub warmup: Nanos,
}

/// `plimsoll tune try`.
#[derive(Debug, Args)]
pub struct TuneTryArgs {
    /// What was changed, such as 'logger off'
    pub name: String,
    /// The changed server
    pub url: String,
    /// Where it gives profiles, for the next prediction: one more run, which no comparison counts
    #[arg(long, value_name = "URL")]
    pub profile: Option<String>,
    /// The server before again, for a URL with credentials: the notebook does not keep these
    #[arg(long, value_name = "URL")]
    pub before: Option<String>,
    /// The baseline again, for a URL with credentials
    #[arg(long, value_name = "URL")]
    pub baseline: Option<String>,
    /// Rounds, 3 or more: runs of this server, in turns with the one before where that still runs at another address
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "3")]
    pub rounds: u64,
    /// Keep the change whatever it brings
    #[arg(long, conflicts_with = "discard")]
    pub keep: bool,
    /// Discard the change whatever it brings
    #[arg(long)]
    pub discard: bool,
}
