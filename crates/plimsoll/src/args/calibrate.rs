//! Flags of `plimsoll calibrate`.

use clap::Args;
use model::Nanos;
use model::units::parse_duration;

use super::{IoArg, TextOrJson};

/// `plimsoll calibrate`.
#[derive(Debug, Args)]
#[command(after_help = "The result is kept under $XDG_STATE_HOME/plimsoll/calibration (or \
~/.local/state), by machine and kernel interface. Later runs of small plain requests report what share of \
it they used. Leave the machine idle while it measures.\nExit codes: 0 done; 1 could not be measured or kept; 2 usage; 130 \
interrupted, and nothing is kept.")]
pub struct CalibrateArgs {
    /// Length of each measurement; there are up to a dozen
    #[arg(short, long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true, default_value = "2s")]
    pub duration: Nanos,
    /// Kernel interface: io_uring where allowed, else epoll
    #[arg(long, value_enum, default_value = "auto")]
    pub io: IoArg,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: TextOrJson,
    /// Print nothing while measuring
    #[arg(short, long)]
    pub quiet: bool,
}
