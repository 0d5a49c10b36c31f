//! `plimsoll report DIR`: the results of a folder, made anew from what it holds.

use std::fs;
use std::path::Path;

use model::Run;

use crate::args::{Format, ReportArgs};
use crate::failure::{Failure, cannot_run, usage};
use crate::journal;
use crate::output;
use crate::run;
use crate::sweep;
use crate::sweep::files::{Files, SWEEP_JSON};

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no results.
pub fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let dir = &args.dir;
    if dir.join(SWEEP_JSON).exists() {
        return report_sweep(dir, args.format);
    }
    run::deliver(&of_folder(dir)?, args.format, false, Some(dir))
}

/// The run in a folder: whole, or as far as its journal goes.
fn of_folder(dir: &Path) -> Result<Run, Failure> {
    let (finished, journal) = (dir.join("run.json"), dir.join(journal::NAME));
    if let Ok(bytes) = fs::read(&finished) {
        import::load_run(&bytes).map_err(|error| unreadable(&finished, &error))
    } else if journal.exists() {
        journal::replay(&journal)
    } else {
        cannot_run(format!(
            "{} holds neither run.json, {} nor {SWEEP_JSON}: is it a folder that `run --out` or \
             `sweep` wrote to?",
            dir.display(),
            journal::NAME
        ))
    }
}

fn report_sweep(dir: &Path, format: Format) -> Result<u8, Failure> {
    let path = dir.join(SWEEP_JSON);
    let bytes = fs::read(&path)
        .map_err(|error| Failure::CannotRun(format!("cannot read {}: {error}", path.display())))?;
    let sweep = import::load_sweep(&bytes).map_err(|error| unreadable(&path, &error))?;
    let files = Files::of_sweep(dir, &sweep.name)?;
    match format {
        Format::Text => sweep::conclude(&sweep),
        Format::Json => drop(output::print(&(output::json(&sweep) + "\n"))),
        Format::Wrk => return usage("a sweep has no wrk block: use --format text or json"),
    }
    let written = files.write(&sweep);
    let code = verdict::exit_code_of_sweep(&sweep);
    Ok(if written || code != 0 { code } else { 1 })
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::CannotRun(format!("{}: {error}", path.display()))
}
