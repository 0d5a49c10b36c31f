//! `plimsoll report [DIR]`: the results of a folder, rebuilt from what it holds, and judged by
//! other objectives where some are given; without a folder those of the last command that kept any, also where it
//! was killed.

use std::path::{Path, PathBuf};

use import::ResultError;
use model::Run;
use verdict::Seen;

use crate::args::{CapacityFormat, Format, ReportArgs};
use crate::commands::capacity::{self, SEARCH_JSON};
use crate::commands::compare::{self, COMPARE_JSON};
use crate::commands::sweep;
use crate::failure::{Failure, cannot_run, usage};
use crate::load::objectives::Objectives;
use crate::results::deliver::deliver;
use crate::results::folder::{LAST_RUN, PARENT, newest};
use crate::results::input;
use crate::results::input::SWEEP_JSON;
use crate::results::lock::Lock;
use crate::results::output;
use crate::results::sweep_files::SweepFiles;
use measure::beside;
use measure::journal::{self, Replayed};

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no results.
pub fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let objectives = Objectives::of(&args.objectives)?;
    let dir = &match &args.dir {
        // A file of the folder stands for it.
        Some(file) if file.is_file() => file.parent().map_or_else(PathBuf::new, Path::to_owned),
        Some(dir) => dir.clone(),
        None => last_result()?,
    };
    if dir.join(SWEEP_JSON).exists() {
        return report_sweep(dir, args.print.format, &objectives);
    }
    for (file, report) in [
        (SEARCH_JSON, capacity::report as fn(&Path, CapacityFormat) -> Result<u8, Failure>),
        (COMPARE_JSON, |dir, format| compare::report(dir, format == CapacityFormat::Json)),
    ] {
        if dir.join(file).exists() {
            return report(dir, format_of(args, file)?);
        }
    }
    let Replayed { mut run, objectives: kept, .. } = of_folder(dir)?;
    let objectives = objectives.or_kept(&kept);
    judge_anew(&mut run, &dir.display().to_string());
    objectives.judge(&mut run);
    let lock = locked(dir);
    let out = lock.as_ref().map(|_| dir.as_path());
    let code = deliver(&run, &args.print, out, |_| false)?;
    let reported = objectives.report(&run);
    Ok(if (lock.is_some() && reported) || code != 0 { code } else { 1 })
}

/// The folder of the last result; said where it is not that of the last `run`.
fn last_result() -> Result<PathBuf, Failure> {
    let root = Path::new(PARENT);
    let Some(dir) = newest(root) else {
        return cannot_run(nothing_yet());
    };
    if dir != Path::new(LAST_RUN) {
        eprintln!("plimsoll: the last result is {}", dir.display());
    }
    Ok(dir)
}

/// How a search or a comparison is to be printed, which have no objectives to be judged by anew.
fn format_of(args: &ReportArgs, file: &str) -> Result<CapacityFormat, Failure> {
    if !args.objectives.slo.is_empty() {
        return usage(format!(
            "--slo: {file} is not judged anew; measure again with the other objectives"
        ));
    }
    match args.print.format {
        Format::Text => Ok(CapacityFormat::Text),
        Format::Json => Ok(CapacityFormat::Json),
        Format::Wrk => usage(format!("{file} has no wrk block: use --format text or json")),
    }
}

/// A lock on the folder. Where another command writes to it, a warning says so, and the report is printed only.
pub fn locked(dir: &Path) -> Option<Lock> {
    Lock::of_folder(dir)
        .map_err(|failure| eprintln!("plimsoll: {failure}; this report is printed only"))
        .ok()
}

/// Judges a stored run by the rules of this version, and says so where that changes the verdict.
fn judge_anew(run: &mut Run, what: &str) {
    let anew = verdict::judge(run);
    let stored = std::mem::replace(&mut run.validity, anew);
    if stored.verdict != run.validity.verdict {
        eprintln!(
            "plimsoll: {what}: this version's rules judge it {}; the stored verdict was {}",
            run.validity.verdict.name(),
            stored.verdict.name()
        );
    }
}

/// That there is no result in the folder where one would be.
fn nothing_yet() -> String {
    format!(
        "{PARENT} holds no result here: name the folder of one, as in `plimsoll report DIR`, or measure first, as in \
         `plimsoll run URL`"
    )
}

/// The run in a folder, or in a file.
///
/// # Errors
/// When there is none.
pub fn run_of(path: &Path) -> Result<Run, Failure> {
    if path == Path::new(LAST_RUN) && !path.exists() {
        return cannot_run(nothing_yet());
    }
    if path.is_dir() || !path.exists() {
        return of_folder(path).map(|replayed| replayed.run);
    }
    let bytes = input::read_result(path).map_err(|why| unreadable(path, &why))?;
    import::load_run(&bytes).map_err(|error| unreadable(path, &error))
}

/// The run in a folder, whole or as far as its journal goes, and the objectives kept beside it.
fn of_folder(dir: &Path) -> Result<Replayed, Failure> {
    let (finished, journal) = (dir.join("run.json"), dir.join(journal::NAME));
    if finished.exists() {
        let bytes = input::read_result(&finished).map_err(|why| unreadable(&finished, &why))?;
        match import::load_run(&bytes) {
            Ok(run) if is_of_another_run(&journal, &run) => {
                let (name, from) = (finished.display(), journal::NAME);
                eprintln!("plimsoll: {name} is of an earlier run than {from}, whose run is shown");
                replayed(&journal)
            }
            Ok(run) => Ok(Replayed { run, objectives: Vec::new(), damage: None }),
            Err(error @ ResultError::CutShort { .. }) => {
                let made = replayed(&journal);
                if made.is_ok() {
                    let (name, from) = (finished.display(), journal::NAME);
                    eprintln!("plimsoll: {name} was truncated: rebuilt from {from}");
                }
                made.map_err(|_| unreadable(&finished, &error))
            }
            Err(error) => Err(unreadable(&finished, &error)),
        }
    } else if journal.exists() {
        replayed(&journal)
    } else {
        cannot_run(format!(
            "{} holds neither run.json, {} nor {SWEEP_JSON}: is it a folder that `run`, `sweep`, `capacity` or \
             `compare` wrote to?",
            dir.display(),
            journal::NAME
        ))
    }
}

/// Whether the folder was used again by a run that was killed: its journal is of a later run then.
fn is_of_another_run(journal: &Path, run: &Run) -> bool {
    journal::head(journal).is_ok_and(|head| head.started_at > run.started_at)
}

/// The run that a journal holds; damage is reported.
fn replayed(path: &Path) -> Result<Replayed, Failure> {
    let mut made = journal::replay(path).map_err(|error| Failure::CannotRun(error.to_string()))?;
    if let Some(damage) = &made.damage {
        let path = path.display();
        eprintln!("plimsoll: {path} is damaged ({damage}): the data before the damage is used");
    }
    let run = &mut made.run;
    let from_ns = run.plan.warmup_ns;
    let window = (from_ns, from_ns.saturating_add(run.totals.duration_ns));
    run.observed = path.parent().and_then(|folder| beside::replay(folder, window));
    Ok(made)
}

fn report_sweep(dir: &Path, format: Format, objectives: &Objectives) -> Result<u8, Failure> {
    let path = dir.join(SWEEP_JSON);
    let bytes = input::read_result(&path)
        .map_err(|error| Failure::CannotRun(format!("cannot read {}: {error}", path.display())))?;
    let mut sweep = import::load_sweep(&bytes).map_err(|error| unreadable(&path, &error))?;
    let mut seen = Seen::default();
    for held in &mut sweep.levels {
        let what = verdict::figures::level_of(sweep.kind, held.level);
        judge_anew(&mut held.run, &what);
        seen.changed(&mut held.run);
        objectives.judge(&mut held.run);
    }
    let lock = locked(dir);
    let files = lock.map(|lock| SweepFiles::of_locked(dir, &sweep.name, lock)).transpose()?;
    match format {
        Format::Text => sweep::conclude(&sweep),
        Format::Json => drop(output::print(&(output::json(&sweep) + "\n"))),
        Format::Wrk => return usage("a sweep has no wrk block: use --format text or json"),
    }
    let written = files.is_some_and(|files| files.write(&sweep));
    if sweep.ended.is_none() {
        eprintln!(
            "plimsoll: this sweep did not come to its end: plimsoll sweep --resume {} goes on with it",
            dir.display()
        );
    }
    let reported = objectives.report_sweep(&sweep);
    let code = verdict::exit_code_of_sweep(&sweep);
    Ok(if (written && reported) || code != 0 { code } else { 1 })
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::CannotRun(format!("{}: {error}", path.display()))
}
