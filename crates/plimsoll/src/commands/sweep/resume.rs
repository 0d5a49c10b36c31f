//! Continues a sweep that was interrupted or killed.

use std::path::Path;

use model::quote::counted;
use model::{LevelKind, Sweep};
use verdict::{Step, gone_for_good};

use super::{carry_out, levels, runner};
use crate::args::SweepArgs;
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::load::objectives::Objectives;
use crate::load::shape::IdleWorkers;
use crate::results::input;
use crate::results::input::SWEEP_JSON;
use crate::results::lock::Lock;
use crate::results::resume::{own_args, same_load, same_url};
use crate::results::sweep_files::SweepFiles;
use crate::terminal::live::Live;

/// Goes on with the sweep in `dir`: by the flags given, or by its own command where only the folder
/// was named.
///
/// # Errors
/// When the folder holds no sweep, or what the flags ask for is another one.
pub fn resume(dir: &Path, given: &SweepArgs) -> Result<u8, Failure> {
    let lock = if dir.is_dir() { Some(Lock::of_folder(dir)?) } else { None };
    let mut sweep = load(dir)?;
    let args = match &given.url {
        Some(_) => given.clone(),
        None => own_args(dir, &sweep.command, given)?,
    };
    let url = args.url.clone().unwrap_or_default();
    same_url(dir, "a sweep", &sweep.url, &url)?;
    if levels::kind(&args) != sweep.kind {
        return usage(format!(
            "{} is over {}: {}",
            dir.display(),
            plural(sweep.kind),
            hint(&sweep)
        ));
    }
    if let Some(name) = args.name.as_ref().filter(|name| **name != sweep.name) {
        return usage(format!("{} is the sweep `{}`, not `{name}`", dir.display(), sweep.name));
    }
    // A level that was cut short is run again, and one that the server left in the middle, when it is back.
    sweep.levels.retain(|held| !held.run.interrupted && gone_for_good(&held.run).is_none());
    sweep.objective_mean_ns = args.objective;
    sweep.ended = None;
    let ladder = levels::ladder(&args)?;
    let input = LoadInput::of(&url, &args.load)?;
    let objectives = Objectives::of(&args.objectives)?.or_written(&input)?;
    sweep.levels.iter_mut().for_each(|held| objectives.judge(&mut held.run));
    objectives.for_levels()?;
    let runner = runner(input, &args, &ladder, objectives, false)?;
    if let (Some(held), Step::Run(level)) = (sweep.levels.first(), ladder.next()) {
        let (launch, _) =
            runner.prepared.level(runner.shape(level), IdleWorkers::LeftOut, &runner.stop)?;
        same_load(dir, "levels", &held.run.plan, &launch.plan)?;
    }
    let files = match lock {
        Some(lock) => SweepFiles::of_locked(dir, &sweep.name, lock)?,
        None => SweepFiles::of_sweep(dir, &sweep.name)?,
    };
    let levels = counted(sweep.levels.len() as u64, "level");
    Live::new(args.quiet).say(&format!("plimsoll: keeping {levels} of {}", dir.display()));
    cursors::go_on(dir, &runner.prepared.input)?;
    carry_out(&runner, ladder, sweep, &files, None)
}

fn load(dir: &Path) -> Result<Sweep, Failure> {
    let path = dir.join(SWEEP_JSON);
    let bytes = input::read_result(&path).map_err(|error| {
        Failure::CannotRun(format!(
            "--resume {}: cannot read {}: {error}; name a folder that `sweep` wrote to",
            dir.display(),
            path.display()
        ))
    })?;
    import::load_sweep(&bytes)
        .map_err(|error| Failure::CannotRun(format!("{}: {error}", path.display())))
}

fn plural(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Concurrency => "concurrencies",
        LevelKind::Rate => "rates",
    }
}

fn hint(sweep: &Sweep) -> &'static str {
    match sweep.kind {
        LevelKind::Concurrency => "continue it with --levels",
        LevelKind::Rate => "continue it with --rates",
    }
}
