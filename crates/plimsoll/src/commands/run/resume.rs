//! Another run that continues with the pools of an earlier one, which was interrupted, killed, or is over.

use std::path::Path;

use super::{Folder, carry_out};
use crate::args::RunArgs;
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::results;
use crate::results::folder::unused;
use crate::results::lock::Lock;
use crate::results::output::make_folder;
use measure::journal;

/// Makes a run with the pools of the one in `dir`: by the flags given, or by its own command where only
/// the folder was named. Its results go to a new folder inside `dir`.
///
/// # Errors
/// When the folder knows of no pools, or workload or rows are not what they were.
pub fn resume(dir: &Path, given: &RunArgs) -> Result<u8, Failure> {
    let args = match &given.url {
        Some(_) => given.clone(),
        None => own_args(dir, given)?,
    };
    let input = LoadInput::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
    let has_unique =
        input.workload().is_some_and(|(_, ready)| ready.compiled.pools().unique().next().is_some());
    if !has_unique {
        return usage(format!(
            "--resume continues pools of order `unique`, and {} has none: start a new run",
            input.text
        ));
    }
    carry_out(&args, input, |input| {
        // Where there is no folder, the error about its missing file comes below.
        let mut locks: Vec<Lock> = Vec::new();
        if dir.is_dir() {
            locks.push(Lock::of_folder(dir)?);
        }
        cursors::go_on(dir, input)?;
        let own = unused(dir, "resumed");
        make_folder(&own)?;
        locks.push(Lock::of_folder(&own)?);
        eprintln!("plimsoll: results go to {}", own.display());
        Ok(Folder { made: Some(own), _locks: locks })
    })
}

/// The flags that the run was started with.
fn own_args(dir: &Path, given: &RunArgs) -> Result<RunArgs, Failure> {
    let head = journal::head(&dir.join(journal::NAME)).map_err(|failure| {
        Failure::CannotRun(format!(
            "--resume {}: {failure}; give the workload file and all flags again",
            dir.display()
        ))
    })?;
    let args = results::resume::own_args(dir, &head.command, given)?;
    Ok(RunArgs { out: None, resume: Some(dir.to_owned()), ..args })
}
