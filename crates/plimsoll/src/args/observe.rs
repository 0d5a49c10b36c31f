//! Flags of what is watched: `--observe`, `plimsoll watch`, `plimsoll explain`.

use std::path::PathBuf;

use clap::Args;
use model::Nanos;
use model::units::parse_duration;
use observe::Source;

use super::TextOrJson;
use crate::failure::{Failure, usage};

/// What is watched beside a load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ObserveArgs {
    /// Watch this beside the load, besides this machine and a server on it: [ROLE[/NAME]=]SOURCE with ROLE app, proxy,
    /// db, cache or any, and SOURCE local, local:pid=PID, local:name=NAME, exec:COMMAND (prints samples, such as
    /// 'ssh app1 plimsoll watch --stdio'), nginx:URL[,log=FILE] (stub_status, error log), prometheus:URL,
    /// postgres://USER@HOST/DATABASE, mysql://USER@HOST, mongodb://HOST, redis://HOST or memcached://HOST. May
    /// be repeated
    #[arg(long, value_name = "SOURCE", help_heading = "Watching")]
    pub observe: Vec<String>,
}

impl ObserveArgs {
    /// The sources named, behind those of the load's own file.
    ///
    /// # Errors
    /// When one is written wrongly.
    pub fn sources(&self, of_file: &[String]) -> Result<Vec<Source>, Failure> {
        let all: Vec<String> = of_file.iter().chain(&self.observe).cloned().collect();
        Source::parse_all(&all).or_else(|why| usage(format!("--observe: {why}")))
    }
}

/// `plimsoll watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a source this machine is watched. What cannot be read (for lack of a permission, or because the machine does \
not have it) is named, and the rest is read.
Examples:
  plimsoll watch
  plimsoll watch local:name=nginx
  plimsoll watch proxy=nginx:http://127.0.0.1/stub_status,log=error.log
  plimsoll watch db=postgres://app@127.0.0.1/shop cache=redis://127.0.0.1
  plimsoll watch app=exec:'ssh app1 plimsoll watch --stdio'
  ssh app1 plimsoll watch --stdio --for 60s > app1.jsonl
Exit codes: 0 done; 1 nothing could be read of a source, or standard output could not be written to; 2 usage.")]
pub struct WatchArgs {
    /// What to watch, as --observe takes it
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// Print samples as JSON lines (plimsoll.sample/1), for another Plimsoll to read
    #[arg(long)]
    pub stdio: bool,
    /// Time between two samples, 50ms or more
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub every: Nanos,
    /// How long to watch [default: until Ctrl-C, or until standard output is closed]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub length: Option<Nanos>,
}

/// `plimsoll explain`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Every finding has a code, which docs/reference/findings.md explains. `none` means that nothing was at its limit, \
`unknown` that something was, and which figures are needed to find out what. --confirm runs only what your own records \
say that this folder was made by.
Exit codes: 0 explained; 1 the folder holds no run, or a run could not be made; 2 usage; 130 interrupted.")]
pub struct ExplainArgs {
    /// A folder that `run` wrote to, or its run.json; `last` and `previous` are the last two runs without --out
    #[arg(default_value = crate::results::folder::LAST_RUN)]
    pub dir: PathBuf,
    /// Carry out what confirms or refutes each of the first three findings: the run again, as it was and with a change
    /// (keep-alive, half or twice the load, a second source address ...), which loads the server for 10s at most each
    /// time; EXPLAIN of its statements in the database watched; a profile of the server
    #[arg(long)]
    pub confirm: bool,
    /// With --confirm: the database that a finding is about, as `run --observe` takes it. Needed where the run's own
    /// --observe does not tell it whole (passwords are not stored), or its folder was made elsewhere
    #[arg(long, value_name = "SOURCE", requires = "confirm")]
    pub observe: Vec<String>,
    /// With --confirm: where the server gives its profiles (/debug/pprof), for findings that a profile confirms
    /// [default: the run's own --profile]
    #[arg(long, value_name = "URL", requires = "confirm")]
    pub profile: Option<String>,
    /// Header field to send with the request for the profile. May be repeated
    #[arg(long, value_name = "FIELD", requires = "profile")]
    pub profile_header: Vec<String>,
    /// What to print on standard output
    #[arg(long, value_enum, default_value = "text")]
    pub format: TextOrJson,
}
