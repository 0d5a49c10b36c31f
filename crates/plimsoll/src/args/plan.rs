//! Flags of `plimsoll plan`.

use clap::Args;
use model::units::parse_count;

use super::{LoadArgs, ShapeArgs, TextOrJson};

/// `plimsoll plan`.
#[derive(Debug, Args)]
#[command(
    after_help = "Takes the flags of `plimsoll run` that say what is sent, and shows the plan that they and the workload file \
make. Secrets are shown as ***. Nothing is sent and no connection is made.\nExit codes: 0 the plan \
is valid; 1 it could not be printed, or a file that is named cannot be read; 2 something in the flags or the file is wrong."
)]
pub struct PlanArgs {
    /// URL or workload file
    #[arg(value_name = "URL|FILE")]
    pub url: String,
    /// Number of requests to show, as they would be sent
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, default_value = "10")]
    pub samples: u64,
    /// How much, how long
    #[command(flatten)]
    pub shape: ShapeArgs,
    /// What is sent and how
    #[command(flatten)]
    pub load: LoadArgs,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text", help_heading = "Output")]
    pub format: TextOrJson,
}
