//! Going on with a search that was interrupted, killed, or out of its time.

use std::path::Path;

use model::capacity::CapacitySearch;
use verdict::capacity::Search;

use super::files::{Files, SEARCH_JSON};
use super::{arrivals, carry_out, runner, settings};
use crate::args::CapacityArgs;
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::results::input;
use crate::results::lock::Lock;
use crate::results::resume::own_args;
use crate::secrets;
use crate::terminal::live::Live;

/// Goes on with the search in `dir`: by the flags given, or by its own command where only the folder
/// was named. A budget given counts from the search's beginning.
///
/// # Errors
/// When the folder holds no search, or what the flags ask for is another one.
pub fn resume(dir: &Path, given: &CapacityArgs) -> Result<u8, Failure> {
    let lock = if dir.is_dir() { Some(Lock::of_folder(dir)?) } else { None };
    let mut record = load(dir)?;
    let args = match &given.url {
        Some(_) => given.clone(),
        None => own_args(dir, &record.command, given)?,
    };
    let url = args.url.clone().unwrap_or_default();
    if secrets::mask_url(&url) != record.url {
        return usage(format!(
            "{} is a search of {}, not of {}",
            dir.display(),
            record.url,
            secrets::mask_url(&url)
        ));
    }
    let wanted = settings(&args, false)?;
    if (wanted.kind, wanted.connections) != (record.settings.kind, record.settings.connections) {
        return usage(format!(
            "{} was searched over {} with {} connections: give the same --closed and -c",
            dir.display(),
            record.settings.kind.name(),
            record.settings.connections
        ));
    }
    let mut input = LoadInput::of(&url, &args.load)?;
    // Searches recorded before the spacing was kept sent evenly by default.
    let was = record.settings.arrivals;
    let now = arrivals(&mut input, wanted.kind, was.unwrap_or_default());
    if was.is_some_and(|was| now != Some(was)) {
        return usage(format!(
            "{} was searched with {} arrivals: give the same --arrivals",
            dir.display(),
            was.unwrap_or_default().name()
        ));
    }
    record.settings.arrivals = now;
    let asked = super::asked(&args, &input, &record.settings)?;
    if asked.names() != record.objectives {
        return usage(format!(
            "{} was searched for {}: give the same --slo",
            dir.display(),
            record.objectives.join(", ")
        ));
    }
    if given.budget.is_some() {
        record.settings.budget_ns = wanted.budget_ns;
    }
    record.outcome = None;
    // Searches of before they kept it have requests there.
    record.settings.arriving = input.arriving();
    Search::look_again(&mut record.steps);
    let runner = runner(input, &args, record.settings, asked)?;
    let files = match lock {
        Some(lock) => Files::of_locked(dir, lock)?,
        None => Files::new(dir)?,
    };
    let kept = format!("plimsoll: keeping {} steps of {}", record.steps.len(), dir.display());
    Live::new(args.quiet, false).say(&kept);
    cursors::go_on(dir, &runner.prepared.input)?;
    carry_out(&runner, record, &files, args.format, None)
}

/// The search in a folder.
///
/// # Errors
/// When there is none that can be read.
pub fn load(dir: &Path) -> Result<CapacitySearch, Failure> {
    let path = dir.join(SEARCH_JSON);
    let bytes = input::read_result(&path).map_err(|error| {
        Failure::Usage(format!(
            "cannot read {}: {error}; name a folder that `capacity` wrote to",
            path.display()
        ))
    })?;
    import::load_search(&bytes)
        .map_err(|error| Failure::CannotRun(format!("{}: {error}", path.display())))
}
