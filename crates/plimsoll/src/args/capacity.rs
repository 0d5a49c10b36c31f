//! The flags of `plimsoll capacity`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use model::Nanos;
use model::units::{parse_count, parse_duration, parse_rate};

use super::{LoadArgs, ObserveArgs, TakeArgs};

/// `plimsoll capacity`.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(
    after_help = "A level holds when it meets every objective of --slo, when 99 % of the requests that \
were due were answered, and when 99 % of the attempts succeed (unless an objective says otherwise).\nEvery level is \
approached from idle: its window follows a rest and a warm-up of a tenth of a step, or of the warm-up or \
the ramp that flags or the workload file ask for, where that is longer.\nArrivals are random (poisson) unless \
--arrivals or the workload file says otherwise: users do not arrive evenly, and a server carries evenly spaced arrivals at rates where random \
ones queue.\nExit codes: 0 confirmed; 98 not confirmed; 99 the objectives are never met, or the \
capacity is below a qps that was asked for; 1, 2 and 130: see `plimsoll --help`."
)]
pub struct CapacityArgs {
    /// URL or workload file to load; without one the built-in API is started and searched
    #[arg(value_name = "URL|FILE")]
    pub url: Option<String>,
    /// Search for the highest concurrency in a closed loop, instead of the highest rate
    #[arg(long)]
    pub closed: bool,
    /// Time limit of the whole search: no step is begun that would not fit, but waiting for a step's last
    /// responses may take up to --timeout longer [default: 5m; 1m without a URL]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub budget: Option<Nanos>,
    /// Measured window of a step; lengthened where fewer than two arrivals would be due [default: a
    /// thirtieth of the budget, at least 1s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub step: Option<Nanos>,
    /// Measured window of the confirming hold [default: a fifth of the budget, or longer if a percentile
    /// needs more responses]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub hold: Option<Nanos>,
    /// Rest between steps [default: a tenth of a step]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub rest: Option<Nanos>,
    /// Width of the interval at which the search stops, in per cent of the capacity
    #[arg(long, value_name = "PERCENT", value_parser = super::parse_percent, allow_hyphen_values = true, default_value = "5%")]
    pub precision: f64,
    /// Highest level to try: a rate, or a concurrency with --closed
    #[arg(long, value_name = "LEVEL", value_parser = parse_rate, allow_hyphen_values = true)]
    pub max: Option<f64>,
    /// Objective that a level must meet, as for `run`: 'p99<500ms', 'success>=99%', 'max<2s',
    /// 'errors.timeout<0.1%', stable, or a preset. May be repeated. A 'qps>=1000' applies to the
    /// capacity found: exit 99 if missed, 98 if undecided [default: 'mean<=500ms' and
    /// 'success>=99%']
    #[arg(long, value_name = "OBJECTIVE")]
    pub slo: Vec<String>,
    /// Daily users the workload stands for, so that the capacity is printed in daily users too, if the file does not say
    /// so itself (daily_users, which `mine` writes)
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub dau_now: Option<u64>,
    /// Maximum number of connections
    #[arg(short, long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, default_value = "1000")]
    pub connections: u64,
    /// What is sent and how
    #[command(flatten)]
    pub load: LoadArgs,
    /// What is profiled meanwhile: every step whose window is 4 s or longer, into DIR/profiled
    #[command(flatten)]
    pub take: TakeArgs,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    pub format: CapacityFormat,
    /// Folder for the results [default: plimsoll-out/capacity/DATE-TIME]
    #[arg(long, value_name = "DIR", value_parser = super::place::folder(), help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Continue the search in this folder, keeping its steps; --budget may be raised
    #[arg(long, value_name = "DIR", help_heading = "Output", conflicts_with = "out")]
    pub resume: Option<PathBuf>,
    /// What is watched beside it
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// Print nothing while searching
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// What a search prints at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CapacityFormat {
    /// The capacity, why it is not more, and the steps
    Text,
    /// The search as JSON (plimsoll.capacity/1)
    Json,
}
