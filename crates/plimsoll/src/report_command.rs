//! `plimsoll report DIR`: the results of a folder, made anew from what it holds.

use std::fs;

use crate::args::ReportArgs;
use crate::failure::{Failure, cannot_run};
use crate::journal;
use crate::run;

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no results.
pub fn report(args: &ReportArgs) -> Result<u8, Failure> {
    let dir = &args.dir;
    let journal = dir.join(journal::NAME);
    let finished = dir.join("run.json");
    let run = if let Ok(bytes) = fs::read(&finished) {
        import::load_run(&bytes)
            .map_err(|error| Failure::CannotRun(format!("{}: {error}", finished.display())))?
    } else if journal.exists() {
        journal::replay(&journal)?
    } else {
        return cannot_run(format!(
            "{} holds neither run.json nor {}: is it a folder that `run --out` wrote to?",
            dir.display(),
            journal::NAME
        ));
    };
    run::deliver(&run, args.format, false, Some(dir))
}
