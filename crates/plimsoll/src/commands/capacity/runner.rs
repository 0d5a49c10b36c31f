//! The steps of a search one after another: rest, run, judge, store, print.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::Launch;
use model::capacity::{CapacitySearch, Judged, Outcome, Purpose, SearchStep, Settings, Step};
use model::units::MILLISECOND;
use model::{LevelKind, Nanos, Run};
use observe::Source;
use verdict::capacity::judge::judge;
use verdict::capacity::{Ending, Next, Search, SearchObjectives, words};
use verdict::objective::Endpoint;
use verdict::{KnownResponses, gone_for_good};

use super::files::Files;
use crate::args::TakeArgs;
use crate::failure::{Failure, usage};
use crate::load::prepared::Prepared;
use crate::load::shape::Shape;
use crate::profiles::stored::ProfileInto;
use crate::runs::series::Series;
use crate::terminal::live::Live;

/// Step between the sends of the one connection that looks at the idle server.
const IDLE_PACE: Nanos = 50 * MILLISECOND;

/// What all steps have in common.
#[derive(Debug)]
pub struct SearchRunner {
    /// Where to, and what is sent.
    pub prepared: Prepared,
    /// How the search is set up.
    pub settings: Settings,
    /// What a level must hold.
    pub asked: SearchObjectives,
    /// What is watched beside each step, apart from this machine.
    pub sources: Vec<Source>,
    /// Raised by Ctrl-C.
    pub stop: Arc<AtomicBool>,
    /// Says nothing while running.
    pub quiet: bool,
    /// What is profiled meanwhile.
    pub take: TakeArgs,
}

/// How the steps came to their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By Ctrl-C; what was measured is saved.
    Interrupted,
    /// By what was to be sent: a script's error, a pool that ran out. The steps before are saved, and
    /// the run that it happened in.
    Halted,
    /// By themselves.
    Over(Ending),
}

impl SearchRunner {
    /// Runs the steps that follow those of `record`, into it, and writes it after each.
    ///
    /// # Errors
    /// When not even the first step could be run, or an objective can never be judged.
    pub fn run(&self, record: &mut CapacitySearch, files: &Files) -> Result<End, Failure> {
        let mut search = Search::of_record(record);
        let live = Live::new(self.quiet).with_open_loop(self.settings.kind == LevelKind::Rate);
        let mut series = Series::new(live, self.stop.clone());
        series.profiles = ProfileInto::of(&self.take, files.dir())?;
        series.sources.clone_from(&self.sources);
        let left_ns = self.settings.budget_ns.saturating_sub(search.spent_ns());
        if matches!(search.next(), Next::Run(_)) {
            series
                .live
                .announce("search, at most (but for waiting for the last responses)", left_ns);
        }
        let mut seen = KnownResponses::default();
        for mut run in record.steps.iter().filter_map(|step| files.read_run(step)) {
            seen.changed(&mut run);
        }
        loop {
            let step = match search.next() {
                Next::Run(step) => step,
                Next::Done(ending) => return Ok(End::Over(ending)),
            };
            let began = Instant::now();
            if !series.rest(step.rest_ns) {
                return Ok(End::Interrupted);
            }
            let nth = record.steps.len() + 1;
            let at = name(self.settings.kind, &step);
            let prefix = format!("[{at}] ");
            let adjust = |launch| in_step(launch, &step);
            let mut run = match series.run(prefix, &self.prepared, self.nth(nth, &step), adjust) {
                Ok(run) => run,
                Err(failure) if record.steps.is_empty() => return Err(failure),
                Err(failure) => {
                    eprintln!("plimsoll: {failure}");
                    record.ended = Some(format!("{at} could not be run: {failure}"));
                    return Ok(End::Over(Ending::Stuck));
                }
            };
            if let Some(why) = &run.halted {
                record.ended = Some(format!("{at} ended early: {why}"));
                files.write_run(nth, &step, &run);
                return Ok(End::Halted);
            }
            if run.interrupted {
                return Ok(End::Interrupted);
            }
            if let Some((why, ending)) = trouble(&mut run, &mut seen) {
                let why = format!("{at}: {why}");
                eprintln!("plimsoll: {why}");
                // Not a step of the search: --resume runs it again, when the server is back.
                if ending == Ending::Died || !may_be_by_load(record, &step) {
                    files.write_run(nth, &step, &run);
                    record.ended = Some(why);
                    return Ok(End::Over(ending));
                }
            }
            let endpoints = Endpoint::all_of(&run).unwrap_or_default();
            if step.purpose != Purpose::Idle
                && let Some(why) = self.asked.unanswerable(&run, &endpoints)
            {
                return usage(format!("--slo {why}"));
            }
            let margins = self.asked.margins(&run, &endpoints, step.purpose);
            let judged = judge(&run, margins, search.idle_mean_ns());
            let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            search.feed(step, judged.clone(), took_ns);
            series.live.say(&line(nth, self.settings.kind, &step, &judged));
            let file = files.write_run(nth, &step, &run);
            record.steps.push(SearchStep { step, judged, took_ns, file });
            files.write_record(record);
        }
    }

    /// Which run of the load the `nth` step is, and its shape. A level that is tried again meets other arrivals: it should
    /// hold whichever come.
    fn nth(&self, nth: usize, step: &Step) -> (u64, Shape) {
        (nth.saturating_sub(1) as u64, self.shape(step))
    }

    /// The shape of a step.
    pub fn shape(&self, step: &Step) -> Shape {
        let closed = self.settings.kind == LevelKind::Concurrency || step.purpose.is_closed_loop();
        let (connections, rate_per_s) = if closed {
            (step.level as u64, None)
        } else {
            (u64::from(self.settings.connections), Some(step.level))
        };
        Shape { connections, rate_per_s, duration_ns: Some(step.window_ns), requests: None }
    }
}

/// What is wrong with the server in a run, and how that ends the search: it is gone for good, or responds otherwise than
/// before.
fn trouble(run: &mut Run, seen: &mut KnownResponses) -> Option<(String, Ending)> {
    match gone_for_good(run) {
        Some(gone) if run.totals.errors.connect > 0 => Some((gone.sentence(run), Ending::Died)),
        _ => Some((seen.changed(run)?, Ending::Changed)),
    }
}

/// Whether responses other than before may be how the server fails under this much load; not at rest, nor where as much
/// was carried before.
fn may_be_by_load(record: &CapacitySearch, step: &Step) -> bool {
    let levels = record.steps.iter().filter(|earlier| !earlier.step.purpose.is_closed_loop());
    let mut held = levels.filter(|earlier| earlier.judged.outcome == Outcome::Held);
    match step.purpose {
        Purpose::Idle => false,
        Purpose::Probe | Purpose::Saturated | Purpose::Overload => true,
        Purpose::Search | Purpose::Hold | Purpose::Return => {
            held.all(|earlier| earlier.step.level < step.level)
        }
    }
}

/// A launch with the warm-up, and for a look at the idle server the pauses, of a step.
pub fn in_step(launch: Launch, step: &Step) -> Launch {
    let mut plan = (*launch.plan).clone();
    plan.warmup_ns = step.warmup_ns;
    plan.ramp_ns = plan.ramp_ns.min(step.warmup_ns);
    if step.purpose == Purpose::Idle {
        (plan.pace_ns, plan.think_ns) = (Some(IDLE_PACE), None);
    }
    Launch { plan: Arc::new(plan), ..launch }
}

/// `search 12,400/s`.
fn name(kind: LevelKind, step: &Step) -> String {
    match step.purpose {
        Purpose::Idle => "idle".to_owned(),
        purpose => {
            format!("{} {}", purpose.name(), words::level_of(purpose.counts(kind), step.level))
        }
    }
}

/// A step in one line: what it was, what it came to, by which objective.
fn line(nth: usize, kind: LevelKind, step: &Step, judged: &Judged) -> String {
    let mut line = format!("{nth:>3}  {:<24}", name(kind, step));
    if matches!(step.purpose, Purpose::Idle | Purpose::Probe) {
        let mean = model::units::show_duration(judged.mean_ns as Nanos);
        let per_s = verdict::figures::rate(judged.requests_per_s);
        return line + &format!("{per_s}/s, mean {mean}") + &failures(judged);
    }
    line += &format!("{:<18}", judged.outcome.name());
    if judged.invalid().is_some() {
        return line + &words::by(judged);
    }
    // Those that broke come first, and those that are untried last.
    let shown =
        judged.margins.iter().enumerate().filter(|(nth, margin)| *nth < 3 || margin.untried);
    line + &shown.map(|(_, margin)| words::measured(margin)).collect::<Vec<_>>().join(", ")
}

/// How many attempts succeeded, where not all did.
fn failures(judged: &Judged) -> String {
    let success = judged.margins.iter().find(|margin| margin.objective.starts_with("success"));
    match success.filter(|margin| margin.value < 1.0) {
        Some(margin) => format!(", success {}", words::value(margin.unit, margin.value)),
        None => String::new(),
    }
}
