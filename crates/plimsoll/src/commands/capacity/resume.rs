//! Continues a search that was interrupted, was killed, or ran out of time.

use std::path::Path;

use model::capacity::{CapacitySearch, Settings};
use model::quote::counted;
use verdict::capacity::{Next, Search};

use super::files::{Files, SEARCH_JSON};
use super::runner::{SearchRunner, in_step};
use super::{arrivals, carry_out, runner, settings};
use crate::args::CapacityArgs;
use crate::failure::{Failure, usage};
use crate::load::cursors;
use crate::load::input::LoadInput;
use crate::load::shape::IdleWorkers;
use crate::results::input;
use crate::results::lock::Lock;
use crate::results::resume::{own_args, same_load, same_url};
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
    same_url(dir, "a search", &record.url, &url)?;
    let wanted = settings(&args, false)?;
    if (wanted.kind, wanted.connections) != (record.settings.kind, record.settings.connections) {
        return usage(format!(
            "{} was searched over {} with {}: give the same --closed and -c",
            dir.display(),
            record.settings.kind.name(),
            counted(record.settings.connections.into(), "connection")
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
    if given.url.is_some() {
        same_settings(dir, &args, &wanted, &input, &record.settings)?;
    }
    if given.budget.is_some() {
        record.settings.budget_ns = wanted.budget_ns;
    }
    (record.outcome, record.ended) = (None, None);
    // A later version may know better what the load consists of.
    record.users_of_load = super::users_of_load(&args, &input)?;
    record.wanted_per_s = super::wanted(&args, &input);
    // Searches of before they kept it have requests there.
    record.settings.arriving = input.arriving();
    Search::look_again(&mut record.steps);
    let runner = runner(input, &args, record.settings, asked)?;
    let files = match lock {
        Some(lock) => Files::of_locked(dir, lock)?,
        None => Files::new(dir)?,
    };
    same_load_as_before(dir, &runner, &record, &files)?;
    let steps = counted(record.steps.len() as u64, "step");
    let live = Live::new(args.quiet);
    live.say(&format!("plimsoll: keeping {steps} of {}", dir.display()));
    if let Next::Done(_) = Search::of_record(&record).next() {
        live.say("plimsoll: it had come to its end: no step is to be run");
    }
    cursors::go_on(dir, &runner.prepared.input)?;
    carry_out(&runner, record, &files, args.format, None)
}

/// That the flags which were given again ask for the search that was begun. Lengths that follow from the budget may be
/// left out.
fn same_settings(
    dir: &Path,
    args: &CapacityArgs,
    wanted: &Settings,
    input: &LoadInput,
    was: &Settings,
) -> Result<(), Failure> {
    let warmup_ns = super::warmup(was.step_ns, input);
    let same = [
        ("--max", wanted.most == was.most),
        ("--precision", wanted.precision == was.precision),
        ("--step", args.step.is_none_or(|step| step == was.step_ns)),
        ("--hold", args.hold.is_none_or(|hold| hold == was.hold_ns)),
        ("--rest", args.rest.is_none_or(|rest| rest == was.rest_ns)),
        ("--warmup and --ramp", warmup_ns == was.warmup_ns),
    ];
    match same.iter().find(|(_, same)| !same) {
        None => Ok(()),
        Some((flag, _)) => usage(format!(
            "{} was searched with another {flag}: give the same, or begin anew in another folder",
            dir.display()
        )),
    }
}

/// That the steps to come send what those before sent: a level rather than a look at the server at rest tells.
fn same_load_as_before(
    dir: &Path,
    runner: &SearchRunner,
    record: &CapacitySearch,
    files: &Files,
) -> Result<(), Failure> {
    let steps = record.steps.iter();
    let held = steps.filter_map(|held| Some((held.step, files.read_run(held)?)));
    let Some((step, run)) = held.max_by_key(|(step, _)| !step.purpose.is_closed_loop()) else {
        return Ok(());
    };
    let (launch, _) =
        runner.prepared.level(runner.shape(&step), IdleWorkers::LeftOut, &runner.stop)?;
    same_load(dir, "steps", &run.plan, &in_step(launch, &step).plan)
}

/// The search in a folder.
///
/// # Errors
/// When there is none that can be read.
pub fn load(dir: &Path) -> Result<CapacitySearch, Failure> {
    let path = dir.join(SEARCH_JSON);
    let bytes = input::read_result(&path).map_err(|error| {
        Failure::CannotRun(format!(
            "cannot read {}: {error}; name a folder that `capacity` wrote to",
            path.display()
        ))
    })?;
    import::load_search(&bytes)
        .map_err(|error| Failure::CannotRun(format!("{}: {error}", path.display())))
}
