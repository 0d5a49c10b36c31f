//! Carrying out one plan: the engine's intervals go to the journal, the live line and the run.

use std::path::Path;
use std::sync::atomic::Ordering;

use engine::{Launch, Progress};
use model::{Environment, Run, RunBuilder, RunHead};
use verdict::objective::AbortWatch;

use crate::clock::now_rfc3339;
use crate::failure::Failure;
use crate::load::script_run::Steps;
use crate::machine::calibrations;
use crate::machine::watch::Watch;
use crate::results::journal::Journal;
use crate::secrets::{self, Echoes};
use crate::terminal::live::Live;
use crate::terminal::signals::stopped;

/// Where a run is written to as it comes, and what it will be judged by.
#[derive(Debug)]
pub struct JournalIn<'a> {
    /// The result folder.
    pub dir: &'a Path,
    /// As `--slo` takes them.
    pub objectives: Vec<String>,
}

/// Runs a plan to its end and judges the result, which is neither stored nor shown: where a redirect leads
/// stays whole in it.
///
/// # Errors
/// When workers could not start or their net failed.
pub fn execute(launch: &Launch, environment: Environment, live: &mut Live) -> Result<Run, Failure> {
    let (watch, mut steps) = (AbortWatch::default(), Steps::default());
    carry_out(launch, environment, None, live, watch, &mut steps, None)
}

/// As [`execute`], with secrets masked in all that is kept of answers; the run ends early when one of the
/// rules in `abort_on` strikes, and what `done` of a script is told of the workers' throughput is kept in
/// `steps`.
///
/// # Errors
/// As [`execute`].
pub fn execute_sampled(
    launch: &Launch,
    environment: Environment,
    journal: Option<JournalIn<'_>>,
    live: &mut Live,
    abort_on: AbortWatch,
    steps: &mut Steps,
) -> Result<Run, Failure> {
    let echoes = Some(Echoes::of_this_process());
    carry_out(launch, environment, journal, live, abort_on, steps, echoes)
}

fn carry_out(
    launch: &Launch,
    environment: Environment,
    journal: Option<JournalIn<'_>>,
    live: &mut Live,
    mut abort_on: AbortWatch,
    steps: &mut Steps,
    echoes: Option<Echoes>,
) -> Result<Run, Failure> {
    let head = RunHead {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: now_rfc3339(),
        command: secrets::command(),
        environment,
        plan: (*launch.plan).clone(),
    };
    let mut journal = journal.map(|held| Journal::create(held.dir, &head, &held.objectives));
    let mut builder = RunBuilder::new(head);
    let mut aborted = None;
    let planned = launch.plan.connections;
    let mut watch = Watch::start(&launch.plan);
    let observe = |progress: Progress<'_>| {
        let interval = match progress {
            Progress::Opening(open) => {
                watch.restart();
                return live.opening(open, planned);
            }
            Progress::Interval(interval) => interval,
        };
        interval.machine = Some(watch.interval());
        if let Some(echoes) = &echoes {
            echoes.mask_answers(&mut interval.tally);
        }
        if let Some(journal) = &mut journal {
            journal.append(interval);
        }
        live.show(interval);
        steps.add(interval);
        builder.add(interval);
        // Whoever ends the run first has ended it.
        if !stopped(&launch.stop)
            && let Some(abort) = abort_on.see(interval)
        {
            launch.stop.store(true, Ordering::Relaxed);
            aborted = Some(abort);
        }
    };
    let outcome = engine::launch(launch, observe);
    live.end();
    let outcome = outcome.map_err(|error| Failure::CannotRun(error.to_string()))?;
    let mut run = verdict::conclude(builder, outcome.stopped);
    run.aborted = aborted;
    let halted = outcome.halted.map(|halt| halt.to_string());
    run.halted = halted.map(|why| echoes.as_ref().map_or(why.clone(), |echoes| echoes.mask(&why)));
    calibrations::compare(&mut run);
    run.validity = verdict::judge(&run);
    Ok(run)
}
