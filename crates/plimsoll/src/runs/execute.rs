//! Runs one plan for a command: intervals go to the journal and the live line, secrets are masked in stored samples of
//! responses, and the run is compared with its machine's calibration.

use std::path::Path;

use engine::Launch;
use measure::beside::{self, Beside};
use measure::journal::{self, Journal};
use measure::{Observer, clock};
use model::{Abort, Environment, Interval, Nanos, Plan, Run, RunHead};
use observe::Source;
use verdict::objective::AbortWatch;

use crate::calibrations;
use crate::failure::Failure;
use crate::load::script_run::Steps;
use crate::profiles::taker::Taker;
use crate::secrets::{self, Echoes};
use crate::terminal::live::Live;

/// Where a run is written to as it comes, and what it will be judged by.
#[derive(Debug)]
pub struct JournalIn<'a> {
    /// The result folder.
    pub dir: &'a Path,
    /// As `--slo` takes them.
    pub objectives: Vec<String>,
}

/// What a command adds to a run of a plan.
#[derive(Debug, Default)]
pub struct Extras<'a> {
    /// Where the run is written to as it comes.
    pub journal: Option<JournalIn<'a>>,
    /// What ends it early.
    pub abort_on: AbortWatch,
    /// What is watched beside it, apart from this machine.
    pub sources: &'a [Source],
    /// What takes a profile of the server meanwhile.
    pub taker: Option<&'a mut Taker>,
    /// See [`RunHead::served_before`].
    pub served_before: bool,
}

/// Runs a plan to its end and judges the result, which is neither stored nor shown: where a redirect leads
/// stays whole in it.
///
/// # Errors
/// When workers could not start or their net failed.
pub fn execute(launch: &Launch, environment: Environment, live: &mut Live) -> Result<Run, Failure> {
    let mut steps = Steps::default();
    carry_out(launch, environment, Extras::default(), live, (&mut steps, None))
}

/// As [`execute`], with secrets masked in all that is kept of responses; the run ends early when one of the
/// rules in `extras` strikes, its machine and sources are watched, and the workers' throughput, for a script's `done`,
/// is kept in `steps`.
///
/// # Errors
/// As [`execute`].
pub fn execute_sampled(
    launch: &Launch,
    environment: Environment,
    extras: Extras<'_>,
    live: &mut Live,
    steps: &mut Steps,
) -> Result<Run, Failure> {
    let echoes = Some(Echoes::of_this_process());
    carry_out(launch, environment, extras, live, (steps, echoes))
}

fn carry_out<'a>(
    launch: &Launch,
    environment: Environment,
    extras: Extras<'a>,
    live: &'a mut Live,
    (steps, echoes): (&'a mut Steps, Option<Echoes>),
) -> Result<Run, Failure> {
    let Extras { journal, abort_on, sources, mut taker, served_before } = extras;
    if let Some(taker) = &mut taker {
        taker.server_at(&launch.plan.addresses);
    }
    let folder = journal.as_ref().map(|journal| journal.dir);
    // A single request that finds something out is not watched.
    let watched = echoes.is_some().then_some(Watched { sources, folder, plan: &launch.plan });
    let mut command =
        Command { journal: None, live, abort_on, steps, echoes, taker, watched, beside: None };
    let head = RunHead {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: clock::now_rfc3339(),
        command: secrets::command(),
        environment,
        plan: (*launch.plan).clone(),
        served_before,
    };
    if let Some(JournalIn { dir, objectives }) = journal {
        let made = Journal::create(dir, &head, &objectives);
        command.journal =
            made.map_err(|error| without_journal(dir, &error)).ok().map(|made| (made, dir));
    }
    command.live.begin(total_ns(&launch.plan));
    let run = measure::run(launch, head, &mut command);
    command.live.end();
    run.map_err(|error| Failure::CannotRun(error.to_string()))
}

/// Warm-up and window together, where they have an end by time.
fn total_ns(plan: &Plan) -> Option<Nanos> {
    Some(plan.warmup_ns.saturating_add(plan.duration_ns?))
}

fn without_journal(dir: &Path, error: &std::io::Error) {
    let path = dir.join(journal::NAME);
    eprintln!("plimsoll: cannot write {}: {error}; the run goes on without it", path.display());
}

fn without_samples(dir: &Path, error: &std::io::Error) {
    let path = dir.join(beside::NAME);
    eprintln!(
        "plimsoll: cannot write {}: {error}; the run goes on without its samples, which are summed up in the result",
        path.display()
    );
}

/// What a command does with a run as it comes.
struct Command<'a> {
    /// With its folder; none after the first failure.
    journal: Option<(Journal, &'a Path)>,
    live: &'a mut Live,
    abort_on: AbortWatch,
    steps: &'a mut Steps,
    echoes: Option<Echoes>,
    taker: Option<&'a mut Taker>,
    watched: Option<Watched<'a>>,
    beside: Option<Beside>,
}

/// What is watched beside a run, before it starts.
struct Watched<'a> {
    sources: &'a [Source],
    folder: Option<&'a Path>,
    plan: &'a Plan,
}

impl Command<'_> {
    /// Says that samples are not written, or no longer, when that has just come about.
    fn tell_of_samples(&mut self) {
        let dir = self.watched.as_ref().and_then(|watched| watched.folder);
        if let (Some(dir), Some(beside)) = (dir, &mut self.beside)
            && let Some(error) = beside.failure()
        {
            without_samples(dir, &error);
        }
    }
}

impl Observer for Command<'_> {
    fn starting(&mut self, server: &[u32]) {
        if let Some(Watched { sources, folder, plan }) = &self.watched {
            self.beside = Some(Beside::start(sources, server, plan, *folder));
        }
    }

    fn opening(&mut self, open: u32, planned: u32) {
        self.live.opening(open, planned);
    }

    fn interval(&mut self, interval: &mut Interval) {
        if let Some(echoes) = &self.echoes {
            echoes.mask_responses(&mut interval.tally);
        }
        if let Some((journal, dir)) = &mut self.journal
            && let Err(error) = journal.append(interval)
        {
            without_journal(dir, &error);
            self.journal = None;
        }
        if let Some(taker) = &mut self.taker {
            taker.interval(interval);
        }
        self.live.show(interval);
        self.steps.add(interval);
        if let Some(beside) = &mut self.beside {
            beside.interval(interval);
        }
        self.tell_of_samples();
    }

    fn ends(&mut self, interval: &Interval) -> Option<Abort> {
        self.abort_on.see(interval)
    }

    fn concluded(&mut self, run: &mut Run) {
        if let (Some(echoes), Some(why)) = (&self.echoes, &mut run.halted) {
            *why = echoes.mask(why);
        }
        if let Some((journal, dir)) = &mut self.journal
            && let Err(error) = journal.end(run)
        {
            without_journal(dir, &error);
        }
        calibrations::compare(run);
        self.beside.iter_mut().for_each(Beside::end);
        self.tell_of_samples();
        run.observed = self.beside.take().map(Beside::finish);
    }
}
