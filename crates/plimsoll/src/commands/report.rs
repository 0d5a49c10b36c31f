//! `plimsoll report [DIR]`: rebuilds the report of a result folder from its contents, judged by other objectives if some
//! are given. Without a folder, that of the last command that stored results, even if it was killed.

use std::path::{Path, PathBuf};

use model::{Run, Verdict};
use verdict::exit::INTERRUPTED;
use verdict::{KnownResponses, mark_changed, mark_turned};

use crate::args::{CapacityFormat, Format, ObjectiveArgs, ReportArgs};
use crate::commands::capacity::{self, CAPACITY_JSON, SEARCH_JSON};
use crate::commands::compare::{self, COMPARE_JSON};
use crate::commands::sweep;
use crate::failure::{Failure, usage};
use crate::load::objectives::Objectives;
use crate::results::deliver::deliver;
use crate::results::folder::{RUN_FILES, named};
use crate::results::input;
use crate::results::input::SWEEP_JSON;
use crate::results::lock::Lock;
use crate::results::output;
use crate::results::stored_run;
use crate::results::sweep_files::SweepFiles;
use measure::journal::Replayed;

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no results.
pub fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let objectives = Objectives::of(&args.objectives)?;
    let dir = &match &args.dir {
        Some(file) if file.is_file() => folder_of(file)?,
        Some(dir) => named(dir),
        None => stored_run::last_result("report")?,
    };
    let is_comparison = dir.join(COMPARE_JSON).exists();
    if args.anyway && !is_comparison {
        return usage(format!("--anyway judges comparisons, and {} holds none", dir.display()));
    }
    if dir.join(SWEEP_JSON).exists() {
        refuse_details(args, SWEEP_JSON)?;
        return report_sweep(dir, args.print.format, &objectives);
    }
    if dir.join(SEARCH_JSON).exists() {
        return capacity::report(dir, format_of(args, SEARCH_JSON)?);
    }
    if is_comparison {
        let as_json = format_of(args, COMPARE_JSON)? == CapacityFormat::Json;
        return compare::report(dir, as_json, args.anyway);
    }
    let Replayed { mut run, objectives: kept, .. } = stored_run::of_folder(dir)?;
    let objectives = objectives.or_kept(&kept);
    judge_again(&mut run, &dir.display().to_string());
    objectives.judge(&mut run);
    let lock = locked(dir);
    let out = lock.as_ref().map(|_| dir.as_path());
    let code = deliver(&run, &args.print, out, |_| false)?;
    let reported = objectives.report(&run);
    Ok(if (lock.is_some() && reported) || code != 0 { code } else { 1 })
}

/// The files that stand for the folder they are in, besides those of a run.
const OF_OTHERS: [&str; 4] = [SWEEP_JSON, SEARCH_JSON, CAPACITY_JSON, COMPARE_JSON];

/// The folder that a file of its result stands for. What else lies there may be another result, and is not what would be
/// printed.
fn folder_of(file: &Path) -> Result<PathBuf, Failure> {
    let name = file.file_name().unwrap_or_default();
    if !RUN_FILES.iter().chain(&OF_OTHERS).any(|known| name == *known) {
        return usage(format!(
            "{} is not a file that a folder's result is read from: name the folder of a result, or the run.json, sweep.json, \
             search.json or compare.json in it",
            file.display()
        ));
    }
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
    Ok(dir.unwrap_or(Path::new(".")).to_owned())
}

/// How a search or a comparison is to be printed, which have no objectives to be judged by anew.
fn format_of(args: &ReportArgs, file: &str) -> Result<CapacityFormat, Failure> {
    let ObjectiveArgs { slo, junit, annotations } = &args.objectives;
    if !slo.is_empty() {
        return usage(format!(
            "--slo: {file} is not judged anew; measure again with the other objectives"
        ));
    }
    if junit.is_some() || annotations.is_some() {
        return usage(format!(
            "--junit and --annotations report the objectives of runs and sweeps: {file} has none of them"
        ));
    }
    refuse_details(args, file)?;
    match args.print.format {
        Format::Text => Ok(CapacityFormat::Text),
        Format::Json => Ok(CapacityFormat::Json),
        Format::Wrk => usage(format!("{file} has no wrk block: use --format text or json")),
    }
}

/// Only a run has the figures that these flags print.
fn refuse_details(args: &ReportArgs, file: &str) -> Result<(), Failure> {
    match args.print.details || args.print.latency {
        true => usage(format!(
            "--details and --latency print the figures of a run: leave them out for {file}"
        )),
        false => Ok(()),
    }
}

/// A lock on the folder. Where another command writes to it, a warning says so, and the report is printed only.
pub fn locked(dir: &Path) -> Option<Lock> {
    Lock::of_folder(dir)
        .map_err(|failure| eprintln!("plimsoll: {failure}; this report is printed only"))
        .ok()
}

/// Judges a stored run by the rules of this version, and says so where that changes the verdict.
fn judge_again(run: &mut Run, what: &str) {
    let judged = verdict::judge(run);
    let stored = std::mem::replace(&mut run.validity, judged);
    tell_if_other(stored.verdict, run, what);
}

fn tell_if_other(stored: Verdict, run: &Run, what: &str) {
    if stored != run.validity.verdict {
        eprintln!(
            "plimsoll: {what}: this version's rules judge it {}; the stored verdict was {}",
            run.validity.verdict.name(),
            stored.name()
        );
    }
}

fn report_sweep(dir: &Path, format: Format, objectives: &Objectives) -> Result<u8, Failure> {
    let path = dir.join(SWEEP_JSON);
    let bytes = input::read_result(&path)
        .map_err(|error| Failure::CannotRun(format!("cannot read {}: {error}", path.display())))?;
    let mut sweep =
        import::load_sweep(&bytes).map_err(|error| stored_run::unreadable(&path, &error))?;
    let stored: Vec<Verdict> = sweep.levels.iter().map(|held| held.run.validity.verdict).collect();
    let mut seen = KnownResponses::default();
    for (nth, held) in sweep.levels.iter_mut().enumerate() {
        held.run.validity = verdict::judge(&held.run);
        seen.changed(&mut held.run);
        mark_turned(&mut held.run, nth == 0);
    }
    mark_changed(&mut sweep);
    for (held, stored) in sweep.levels.iter_mut().zip(stored) {
        tell_if_other(stored, &held.run, &verdict::figures::level_of(sweep.kind, held.level));
        objectives.judge(&mut held.run);
    }
    objectives.for_sweep(&sweep)?;
    let lock = locked(dir);
    let files = lock.map(|lock| SweepFiles::of_locked(dir, &sweep.name, lock)).transpose()?;
    let printed = match format {
        Format::Text => sweep::conclude(&sweep),
        Format::Json => output::print(&(output::json(&sweep) + "\n")),
        Format::Wrk => return usage("a sweep has no wrk block: use --format text or json"),
    };
    let written = files.is_some_and(|files| files.write(&sweep));
    let reported = objectives.report_sweep(&sweep);
    if sweep.ended.is_none() {
        let resume = output::typed(&["plimsoll", "sweep", "--resume"], dir);
        eprintln!("plimsoll: this sweep did not come to its end: {resume} goes on with it");
        return Ok(INTERRUPTED);
    }
    let code = verdict::exit_code_of_sweep(&sweep);
    Ok(if (printed && written && reported) || code != 0 { code } else { 1 })
}
