//! `plimsoll sweep`: one load after another, and the curve they make.
//!
//! Owns the command: which levels, which target, where the files go, what is printed at the end.
//! [`crate::runs::execute`] makes a level's run, `verdict` chooses levels and interprets the curve, `report`
//! renders tables and charts. Data flows from [`mod@runner`] (levels one after another, also for
//! [`crate::commands::wrktest`]) into [`SweepFiles`] after every level.

pub mod levels;
mod resume;
pub mod runner;

use std::path::PathBuf;

use model::sweep::Level;
use model::units::SECOND;
use model::{Curve, LevelKind, Nanos, Sweep};
use verdict::exit::COULD_NOT_RUN;
use verdict::{Ladder, Step, gone_for_good};

use crate::args::SweepArgs;
use crate::built_in_api::BuiltIn;
use crate::failure::Failure;
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::load::objectives::{Objectives, watch};
use crate::load::settings::DEFAULT_DURATION;
use crate::load::shape::{IdleWorkers, threads};
use crate::profiles::stored::ProfileInto;
use crate::results::claim::{Kind, claim_free};
use crate::results::consent;
use crate::results::folder::{name_of_file, name_of_url, of_sweep, remove_if_empty};
use crate::results::output;
use crate::results::sweep_files::{self, SweepFiles};
use crate::runs::prepare;
use crate::secrets;
use crate::terminal::signals::stop_on_signal;
use measure::clock::now_rfc3339;
use report::text::paragraph;

use runner::SweepRunner;

/// Window of a level of the built-in API.
const BUILT_IN_DURATION: u64 = 2 * SECOND;
/// Connections of an open loop at most, by default.
const MOST_CONNECTIONS: u64 = 1000;
/// Rest between levels, by default.
const REST: u64 = SECOND;
/// Name of a sweep of the built-in API.
const BUILT_IN_NAME: &str = "built-in-api";

/// Runs the command; the exit code.
///
/// # Errors
/// When no level could be run.
pub fn sweep(args: &SweepArgs) -> Result<u8, Failure> {
    match &args.resume {
        Some(dir) => resume::resume(dir, args),
        None => start(args),
    }
}

fn start(args: &SweepArgs) -> Result<u8, Failure> {
    let ladder = levels::ladder(args)?;
    let objectives = Objectives::of(&args.objectives)?;
    let built_in = if args.url.is_none() { Some(BuiltIn::start()?) } else { None };
    let url = args.url.as_deref().or(built_in.as_ref().map(BuiltIn::url)).unwrap_or_default();
    let input = LoadInput::of(url, &args.load)?;
    let objectives = objectives.or_written(&input)?;
    objectives.for_levels()?;
    let runner = runner(input, args, &ladder, objectives, built_in.is_some())?;
    let is_file = runner.prepared.input.workload().is_some();
    let name = match (&args.name, &args.url) {
        (Some(name), _) => name.clone(),
        (None, Some(file)) if is_file => name_of_file(file),
        (None, Some(url)) => name_of_url(url),
        (None, None) => BUILT_IN_NAME.to_owned(),
    };
    let sweep = empty(&name, url, levels::kind(args), args.objective);
    let folder = folder(args, &name)?;
    let files = SweepFiles::of_sweep(&folder, &name)?;
    consent::keep(&folder, runner.prepared.input.files(&args.load));
    if cursors::begin(&folder, &runner.prepared.input)? {
        files.write_json(&sweep);
    }
    let ended = carry_out(&runner, ladder, sweep, &files, built_in.as_ref());
    drop(files);
    if args.out.is_none() {
        remove_if_empty(&folder);
    }
    ended
}

/// The load and its pace, from the flags; `ladder` are the levels to go.
fn runner(
    input: LoadInput,
    args: &SweepArgs,
    ladder: &Ladder,
    objectives: Objectives,
    built_in: bool,
) -> Result<SweepRunner, Failure> {
    let (duration, rest) = if built_in { (BUILT_IN_DURATION, 0) } else { (DEFAULT_DURATION, REST) };
    let connections = args.connections.unwrap_or(MOST_CONNECTIONS);
    let duration_ns = args.duration.unwrap_or(duration);
    let shape = |level| runner::shape(levels::kind(args), level, connections, duration_ns);
    if let Step::Run(level) = ladder.next() {
        shape(level).check()?;
        input.settings.check_level(shape(level))?;
    }
    let workers = threads(args.load.threads, connections, IdleWorkers::LeftOut)?;
    args.rates.iter().try_for_each(|&rate| shape(rate).check_arrivals(workers))?;
    ProfileInto::check(&args.take, duration_ns, "-d 10s")?;
    let prepared = prepare(input, &args.load, args.quiet)?;
    let sources = args.observe.sources(prepared.input.sources())?;
    prepared.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
    Ok(SweepRunner {
        prepared,
        kind: levels::kind(args),
        connections,
        duration_ns,
        rest_ns: args.rest.unwrap_or(rest),
        stop: stop_on_signal()?,
        quiet: args.quiet,
        objectives,
        abort_on: watch(&args.abort, levels::kind(args) == LevelKind::Rate)?,
        take: args.take.clone(),
        sources,
    })
}

/// A sweep before its first level.
pub fn empty(name: &str, url: &str, kind: LevelKind, objective_mean_ns: Nanos) -> Sweep {
    Sweep {
        schema: model::sweep::SCHEMA.to_owned(),
        plimsoll: model::environment::Program { version: env!("CARGO_PKG_VERSION").to_owned() },
        name: name.to_owned(),
        url: secrets::mask_url(url),
        started_at: now_rfc3339(),
        command: secrets::command(),
        kind,
        objective_mean_ns,
        ended: None,
        levels: Vec::new(),
        again: None,
    }
}

/// Runs the levels, prints what they came to, and says how the command ends.
fn carry_out(
    runner: &SweepRunner,
    ladder: Ladder,
    mut sweep: Sweep,
    files: &SweepFiles,
    built_in: Option<&BuiltIn>,
) -> Result<u8, Failure> {
    let end = runner.run(ladder, &mut sweep, files)?;
    let mut printed = conclude(&sweep);
    if let Some(built_in) = built_in {
        printed &= output::print(&built_in.compare(&sweep));
    }
    // Without a level nothing was written.
    if !sweep.levels.is_empty() {
        let written = end.is_written() && files.report().exists();
        printed &= output::print(&output::report_line(&files.report(), written));
        let left = |held: &Level| gone_for_good(&held.run).is_some();
        let is_open = end == runner::End::Interrupted || sweep.levels.iter().any(left);
        // The built-in API ended with this command.
        if is_open && built_in.is_none() {
            let resume = output::typed(&["plimsoll", "sweep", "--resume"], files.dir());
            printed &= output::print(&format!("to go on: {resume}\n"));
        }
    }
    let reported = runner.objectives.report_sweep(&sweep);
    let code = end.exit_code(&sweep);
    Ok(if printed && reported || code != 0 { code } else { COULD_NOT_RUN })
}

/// The table, the two levels named, the sentence, and why there is no further level; whether they could be printed.
pub fn conclude(sweep: &Sweep) -> bool {
    let Ok(curve) = Curve::from_sweep(sweep) else { return true };
    let reading = verdict::curve::read(&curve, sweep.objective_mean_ns);
    let style = output::style();
    let mut text = report::table::sweep(&curve, &reading, sweep.objective_mean_ns, style);
    if let Some(holding) = verdict::objective::levels::holding(sweep) {
        text += &format!("\n{}", report::text::objectives::sweep(sweep, &holding, style));
    }
    if let Some(refused) = verdict::refused(sweep) {
        text += &format!("\n{}", paragraph(&format!("{refused}."), "", style));
    }
    if let Some(ended) = &sweep.ended {
        let words = format!("The sweep ended here: {ended}.");
        text += &format!("\n{}", paragraph(&words, "", style));
    }
    output::print(&text)
}

/// The folder asked for, or a new one under `plimsoll-out`.
fn folder(args: &SweepArgs, name: &str) -> Result<PathBuf, Failure> {
    match &args.out {
        Some(dir) => {
            claim_free(dir, Kind::Sweep, &sweep_files::names(name))?;
            Ok(dir.clone())
        }
        None => Ok(of_sweep(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_sweep_says_so_whatever_it_has() {
        let sweep = empty("api", "http://127.0.0.1/", LevelKind::Concurrency, 1);
        assert_eq!(runner::End::Interrupted.exit_code(&sweep), 130);
        assert_eq!(runner::End::Complete { written: false }.exit_code(&sweep), 98);
    }
}
