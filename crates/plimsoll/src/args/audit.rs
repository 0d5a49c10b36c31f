//! Flags of `plimsoll audit`.

use std::path::PathBuf;

use clap::Args;
use model::units::parse_count;

use super::TableFormat;

/// `plimsoll audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Reads the .dat of wrktest.sh; text of wrk, wrk2, ab, hey and oha; JSON of \
k6 (--summary-export or handleSummary), vegeta (report -type=json) and oha; CSV of hey, of \
Locust (NAME_stats.csv), and of any tool with columns such as connections,qps,mean_ms; JTL of JMeter (CSV with \
its header line, or XML); run.json and sweep.json, also by their folder. Formats are recognised by \
their content.\nExit codes: 0 nothing impossible; 1 a file could not be read; 2 usage; 98 a row is \
impossible."
)]
pub struct AuditArgs {
    /// Results of any tool, - for standard input; several of the same target and concurrency are set side by side
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Connections, where the file of a closed loop does not state them (hey, oha). Such a file does not name
    /// its target either: it is set beside the other files if they name one target
    #[arg(short, long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true)]
    pub connections: Option<u64>,
    /// Treat all files as measured on the same target, also those that do not name it
    #[arg(long)]
    pub same_target: bool,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: TableFormat,
}
