//! `plimsoll run`: one load.

use std::path::Path;

use model::Run;

use crate::args::{Format, RunArgs};
use crate::environment;
use crate::execute::{execute, stop_on_signal};
use crate::failure::{Failure, usage};
use crate::live::Live;
use crate::output;
use crate::resolve::{DEFAULT_DURATION, Prepared, Shape};

/// Runs the command; the exit code.
///
/// # Errors
/// When the load could not be made.
pub fn run(args: &RunArgs) -> Result<u8, Failure> {
    refuse_contradictions(args)?;
    let prepared = Prepared::new(&args.url, &args.load)?;
    let stop = stop_on_signal()?;
    let (launch, notices) = prepared.level(shape(args), false, &stop)?;
    for notice in prepared.notices.iter().chain(&notices) {
        eprintln!("plimsoll: {notice}");
    }
    if let Some(dir) = &args.out {
        output::make_folder(dir)?;
    }
    let mut live = Live::new(args.quiet, args.rate.is_some());
    let environment = environment::read(prepared.files);
    let run = execute(&launch, environment, args.out.as_deref(), &mut live)?;
    deliver(&run, args.format, args.latency, args.out.as_deref())
}

/// Prints a run, writes its files, and says how the command ends.
///
/// # Errors
/// Never because of a file that cannot be written: the result is printed all the same.
pub fn deliver(
    run: &Run,
    format: Format,
    latency: bool,
    out: Option<&Path>,
) -> Result<u8, Failure> {
    output::print_run(run, format, latency);
    let written = out.is_none_or(|dir| output::write_run(dir, run));
    let code = verdict::exit_code(run);
    Ok(if written || code != 0 { code } else { 1 })
}

fn shape(args: &RunArgs) -> Shape {
    let duration_ns = match (args.duration, args.requests) {
        (None, None) => Some(DEFAULT_DURATION),
        (duration, _) => duration,
    };
    Shape {
        connections: args.connections,
        rate_per_s: args.rate,
        duration_ns,
        requests: args.requests,
    }
}

fn refuse_contradictions(args: &RunArgs) -> Result<(), Failure> {
    if args.rate.is_some() && (args.load.pace.is_some() || args.load.think.is_some()) {
        return usage("--pace and --think belong to a closed loop: leave -R out, or them");
    }
    if args.rate.is_none() && args.load.arrivals.is_some() {
        return usage("--arrivals belongs to an open loop: give its rate with -R");
    }
    Ok(())
}
