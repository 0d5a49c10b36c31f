//! `plimsoll run`: one load.
//!
//! Owns the command: from flags to output, files, and the exit code. [`crate::runs::execute`] makes the run; [`mod@resume`]
//! continues the pools of an earlier run.

mod resume;

use std::path::{Path, PathBuf};

use crate::args::{Format, RunArgs};
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::load::objectives::{Objectives, watch};
use crate::load::script_run::{ScriptRun, Steps};
use crate::load::shape::{IdleWorkers, many_threads, threads};
use crate::load::tls;
use crate::profiles::endpoint::Endpoint;
use crate::profiles::stored;
use crate::profiles::taker::Taker;
use crate::results::claim::{Kind, claim};
use crate::results::consent;
use crate::results::deliver::deliver;
use crate::results::folder;
use crate::results::lock::Lock;
use crate::results::output;
use crate::runs::execute::{Extras, JournalIn, execute_sampled};
use crate::runs::prepare;
use crate::terminal::live::Live;
use crate::terminal::signals::stop_on_signal;
use measure::machine;
use model::{Nanos, Run};

/// Runs the command; the exit code.
///
/// # Errors
/// When the load could not be made.
pub fn run(args: &RunArgs) -> Result<u8, Failure> {
    match &args.resume {
        Some(dir) => resume::resume(dir, args),
        None => {
            if args.take.profile.is_some() && args.out.is_none() && is_printed_only(args) {
                return usage(
                    "--profile keeps a profile with the result: give --out DIR beside --format json",
                );
            }
            let input = LoadInput::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
            carry_out(args, input, |input| match &args.out {
                Some(dir) => named_folder(dir, input, args),
                None if is_printed_only(args) => Ok(Folder::default()),
                None => Ok(folder_of_last_run(input, args)),
            })
        }
    }
}

/// Whether a run that is given no folder has none: what is printed has everything.
fn is_printed_only(args: &RunArgs) -> bool {
    args.print.format == Format::Json
}

/// Where a run's files go.
#[derive(Default)]
struct Folder {
    /// None where results are only printed.
    made: Option<PathBuf>,
    /// Of it, and of the folder that it is in where that is the result's too.
    _locks: Vec<Lock>,
}

/// The folder that `--out` names.
fn named_folder(dir: &Path, input: &LoadInput, args: &RunArgs) -> Result<Folder, Failure> {
    output::make_folder(dir)?;
    let lock = Lock::of_folder(dir)?;
    cursors::allow(dir, input)?;
    let profiles = args.take.profile.as_ref().map(|_| stored::FOLDER.to_owned());
    if let Some(moved) = claim(dir, Kind::Run, profiles.as_slice())? {
        eprintln!("plimsoll: {moved}");
    }
    cursors::begin(dir, input)?;
    consent::keep(dir, input.files(&args.load));
    Ok(Folder { made: Some(dir.to_owned()), _locks: vec![lock] })
}

/// The folder in which a run is kept until the next but one.
fn folder_of_last_run(input: &LoadInput, args: &RunArgs) -> Folder {
    match folder::of_last_run() {
        Ok((dir, lock)) => {
            consent::keep(&dir, input.files(&args.load));
            Folder { made: Some(dir), _locks: vec![lock] }
        }
        Err(why) => {
            eprintln!("plimsoll: {why}; the result is printed only");
            Folder::default()
        }
    }
}

/// Makes the run; `folder` is asked for once the load is known to be one.
fn carry_out(
    args: &RunArgs,
    input: LoadInput,
    folder: impl FnOnce(&LoadInput) -> Result<Folder, Failure>,
) -> Result<u8, Failure> {
    let shape = input.shape(&args.shape)?.shape();
    input.settings.check(shape)?;
    shape.check()?;
    let workers = threads(args.load.threads, shape.connections, IdleWorkers::Refused)?;
    shape.check_arrivals(workers)?;
    let sources = args.observe.sources(input.sources())?;
    let objectives = Objectives::of(&args.objectives)?.or_written(&input)?;
    let watch = watch(&args.abort, shape.rate_per_s.is_some())?;
    let mut taker = taker(args, shape.duration_ns)?;
    let mut prepared = prepare(input, &args.load, args.quiet)?;
    prepared.follows_profile = true;
    prepared.print_for_people(args.print.format != Format::Json);
    let stop = stop_on_signal()?;
    let (launch, notices) = prepared.level(shape, IdleWorkers::Refused, &stop)?;
    let may_be_time = args.shape.duration.is_none() && prepared.input.workload().is_none();
    let of_threads = may_be_time.then(|| many_threads(args.load.threads)).flatten();
    for notice in prepared.notices.iter().chain(&notices).chain(&of_threads) {
        eprintln!("plimsoll: {notice}");
    }
    let folder = folder(&prepared.input)?;
    let mut live = Live::new(args.quiet).with_open_loop(shape.rate_per_s.is_some());
    let environment = machine::environment(prepared.files);
    let mut steps = Steps::default();
    let made = folder.made.as_deref();
    let journal = made.map(|dir| JournalIn { dir, objectives: objectives.names() });
    let extras = Extras {
        journal,
        abort_on: watch,
        sources: &sources,
        taker: taker.as_mut(),
        ..Extras::default()
    };
    let run = execute_sampled(&launch, environment, extras, &mut live, &mut steps);
    let mut run = run?;
    objectives.judge(&mut run);
    prepared.script.iter().for_each(ScriptRun::flush);
    let profiled = taker.is_none_or(|taker| keep_profile(taker, &run, made));
    let code = deliver(&run, &args.print, made, tls::is_used_at)?;
    let reported = objectives.report(&run);
    if let Some(script) = &prepared.script {
        script.end(&run, &steps)?;
    }
    Ok(if (!reported || !profiled) && code == 0 { 1 } else { code })
}

/// What takes the profile that `--profile` asks for.
fn taker(args: &RunArgs, duration_ns: Option<Nanos>) -> Result<Option<Taker>, Failure> {
    let Some(url) = &args.take.profile else { return Ok(None) };
    let endpoint = Endpoint::parse(url, &args.take.profile_header)?;
    Taker::new(endpoint, duration_ns).map(Some)
}

/// Keeps a run's profiles with it, and says so; whether there are any.
fn keep_profile(taker: Taker, run: &Run, made: Option<&Path>) -> bool {
    let kept = taker.finish(run).and_then(|taken| {
        taken.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
        let Some(dir) = made else { return Ok(()) };
        stored::write(dir, &taken)?;
        stored::write_page(dir).map(drop)
    });
    match (&kept, made) {
        (Err(failure), _) => eprintln!("plimsoll: {failure}"),
        (Ok(()), Some(dir)) => {
            let profile = output::typed(&["plimsoll", "profile"], dir);
            eprintln!("plimsoll: profiled; see it: {profile}");
        }
        (Ok(()), None) => eprintln!("plimsoll: the profile was not kept: give --out DIR"),
    }
    kept.is_ok()
}
