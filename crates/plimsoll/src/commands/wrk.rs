//! Called through a link named `wrk`: wrk's command line, defaults and exit codes, and nothing but
//! its block on standard output, so that a script written for wrk runs unchanged.
//!
//! What has no place in a block (warnings, validity) goes to standard error. A lack of files or ports is not
//! an error at the start: connections that cannot be opened are counted as connect errors, as wrk does.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use model::Nanos;
use model::units::{parse_count, parse_duration};
use verdict::objective::AbortWatch;

use crate::args::{LoadArgs, TlsArgs};
use crate::failure::{Failure, usage};
use crate::load::prepared::Shortage;
use crate::load::script_run::{ScriptRun, Steps};
use crate::load::shape::{IdleWorkers, Shape};
use crate::results::output;
use crate::runs::execute::{Extras, execute_sampled};
use crate::runs::prepare_url;
use crate::terminal::live::Live;
use crate::terminal::screen;
use crate::terminal::signals::stop_on_signal;
use measure::machine;

/// wrk's exit code for whatever kept it from running.
const FAILED: u8 = 1;

const VERSION: &str =
    concat!("the command line of wrk 4, provided by plimsoll ", env!("CARGO_PKG_VERSION"));

const USAGE: &str = "\
Usage: wrk <options> <url>
  Options:
    -c, --connections <N>  Connections to keep open (10)
    -d, --duration    <T>  Duration of test (10s)
    -t, --threads     <N>  Number of threads to use (2)

    -s, --script      <S>  Load Lua script file
    -H, --header      <H>  Add header to request
    -L, --latency          Print latency statistics
    -T, --timeout     <T>  Socket/request timeout (2s)
    -v, --version          Print version details

  Numeric arguments may include a SI unit (1k, 1M, 1G)
  Time arguments may include a time unit (2s, 2m, 2h)
  This is plimsoll called by the name of wrk; `plimsoll --help` describes the rest.
";

/// wrk's own flags.
#[derive(Debug, Parser)]
#[command(disable_help_flag = true, disable_version_flag = true, infer_long_args = true)]
#[command(args_override_self = true)]
struct WrkArgs {
    #[arg(short, long, value_parser = parse_count, default_value = "10")]
    connections: u64,
    #[arg(short, long, value_parser = parse_duration, default_value = "10s")]
    duration: Nanos,
    #[arg(short, long, value_parser = parse_count, default_value = "2")]
    threads: u64,
    #[arg(short, long)]
    script: Option<PathBuf>,
    #[arg(short = 'H', long)]
    header: Vec<String>,
    #[arg(short = 'L', long)]
    latency: bool,
    #[arg(short = 'T', long, value_parser = parse_duration, default_value = "2s")]
    timeout: Nanos,
    #[arg(short, long)]
    version: bool,
    url: Option<String>,
    #[arg(last = true)]
    script_args: Vec<String>,
}

/// Runs as wrk; the exit code.
pub fn wrk(line: impl IntoIterator<Item = OsString>) -> u8 {
    let args = match WrkArgs::try_parse_from(line) {
        Ok(args) => args,
        Err(error) => {
            // The first line says what is wrong; clap's own usage would not be wrk's.
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            eprintln!("wrk: {}", first.trim_start_matches("error: "));
            output::print(USAGE);
            return FAILED;
        }
    };
    if args.version {
        output::print(&format!("{VERSION}\n"));
    }
    let Some(url) = &args.url else {
        output::print(USAGE);
        return FAILED;
    };
    match run(url, &args) {
        Ok(true) => 0,
        // Said already.
        Ok(false) => FAILED,
        Err(failure) => {
            eprintln!("wrk: {failure}");
            FAILED
        }
    }
}

/// Makes the run and prints its block; whether that could be printed.
fn run(url: &str, args: &WrkArgs) -> Result<bool, Failure> {
    if !url.contains("://") {
        return usage(format!("invalid URL: {url}"));
    }
    if args.connections < args.threads {
        return usage("number of connections must be >= threads");
    }
    let mut prepared = prepare_url(url, &load(args), true)?;
    prepared.shortage = Shortage::Counted;
    let stop = stop_on_signal()?;
    let shape = Shape {
        connections: args.connections,
        rate_per_s: None,
        duration_ns: Some(args.duration),
        requests: None,
    };
    let (launch, notices) = prepared.level(shape, IdleWorkers::Refused, &stop)?;
    prepared.notices.iter().chain(&notices).for_each(|notice| eprintln!("wrk: {notice}"));
    let environment = machine::environment(prepared.files);
    let (mut live, mut steps) = (Live::quiet(), Steps::default());
    let watch = AbortWatch::default();
    let extras = Extras { abort_on: watch, ..Extras::default() };
    let run = execute_sampled(&launch, environment, extras, &mut live, &mut steps)?;
    prepared.script.iter().for_each(ScriptRun::flush);
    let printed = output::print(&report::wrk::block(&run, args.latency));
    let style = screen::style_of_stderr();
    screen::print_styled_to_stderr(&report::text::validity(&run, style), style);
    if let Some(why) = &run.halted {
        eprintln!("wrk: {why}; the result covers the run so far");
    }
    prepared.script.as_ref().map_or(Ok(()), |script| script.end(&run, &steps))?;
    Ok(printed)
}

/// wrk checks no certificate.
fn load(args: &WrkArgs) -> LoadArgs {
    let plain = LoadArgs::without_flags();
    LoadArgs {
        threads: Some(args.threads),
        timeout: Some(args.timeout),
        headers: args.header.clone(),
        script: args.script.clone(),
        script_args: args.script_args.clone(),
        tls: TlsArgs { insecure: true, ..plain.tls },
        ..plain
    }
}
