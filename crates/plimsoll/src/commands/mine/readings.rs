//! The two readings of a log, on all processors.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mine::{Filter, Format, Outcome, Reader, Survey, Surveyed, Tally, Wanted, outcome};
use model::quote::{counted, grouped, quote};
use model::units::SECOND;

use super::blocks::{Block, Blocks, Log};
use crate::args::MineArgs;
use crate::failure::{Failure, cannot_run};
use crate::terminal::screen;
use crate::terminal::signals::{stop_on_signal, stopped};

/// Threads that read lines at most.
const MOST_THREADS: usize = 8;
/// Bytes that a log has at most: requests of one instant keep their order by the places of their lines.
const BYTES_OF_A_LOG: u64 = 1 << 44;
/// How often progress is shown.
const SHOWN_EVERY: Duration = Duration::from_millis(200);

/// Reads the logs and makes the result.
///
/// # Errors
/// When a log cannot be read, too many lines are bad, there is nothing to learn from, or Ctrl-C was pressed.
pub fn read(args: &MineArgs, logs: &[Log], wanted: &Wanted) -> Result<Outcome, Failure> {
    let stop = stop_on_signal()?;
    let filter = Filter {
        include: args.include.clone(),
        exclude: args.exclude.clone(),
        bots: args.with_bots,
        static_files: args.with_static,
    };
    let quiet = args.quiet;
    let survey = each_line(
        logs,
        &stop,
        Progress::new("reading lines", logs, quiet),
        || Survey::new(&filter).with_templates(&args.template),
        |survey, block, reader| survey.read(block.text(), order(block), reader),
        |survey, others| others.into_iter().for_each(|other| survey.absorb(other)),
    )?;
    check(&survey, args, logs)?;
    let names = || wanted.files.join(", ");
    let window_s = (args.window / SECOND) as i64;
    let surveyed: Surveyed =
        survey.finish(window_s).or_else(|why| cannot_run(format!("{}: {why}", names())))?;
    let tally = each_line(
        logs,
        &stop,
        Progress::new("counting requests", logs, quiet),
        || Tally::new(&surveyed, &filter, &args.keep_secrets, args.trace.is_some()),
        |tally, block, reader| tally.read(block.text(), order(block), reader),
        |tally, others| tally.absorb(others, &on_all_processors),
    )?;
    let outcome = outcome(&surveyed, tally, wanted, &on_all_processors).or_else(cannot_run)?;
    if stopped(&stop) { interrupted() } else { Ok(outcome) }
}

/// The place of a block's first line among all lines of the logs.
fn order(block: &Block) -> u64 {
    (block.log as u64).saturating_mul(BYTES_OF_A_LOG).saturating_add(block.at)
}

/// Half a log has another peak and other users than all of it: it makes no workload.
fn interrupted<T>() -> Result<T, Failure> {
    let words = "interrupted before all lines were read and counted: nothing was written";
    Err(Failure::Interrupted(words.to_owned()))
}

/// Refuses logs of which too much cannot be read.
fn check(survey: &Survey, args: &MineArgs, logs: &[Log]) -> Result<(), Failure> {
    let (lines, bad) = survey.lines();
    let most = args.max_bad;
    if bad as f64 <= most * lines as f64 {
        return Ok(());
    }
    let mut words = format!(
        "{} of {} lines cannot be read, more than --max-bad {}% allows:",
        grouped(bad),
        grouped(lines),
        most * 100.0
    );
    for (kind, count, sample) in survey.bad() {
        let sample = mine::masked_line(sample);
        let lines = counted(count, "line");
        words += &format!("\n  {lines}: {}: {}", kind.words(), quote(&sample));
    }
    let remedy = remedy(survey, args, logs);
    cannot_run(format!("{words}\n{remedy}"))
}

/// What to do where too many lines cannot be read.
fn remedy(survey: &Survey, args: &MineArgs, logs: &[Log]) -> String {
    let format_of = |log: &Log| log.format().map_or("", Format::name).to_owned();
    if args.log_format.is_none()
        && args.field.is_empty()
        && let Some((order, other)) = survey.other_format()
        && let Some(log) = logs.get((order / BYTES_OF_A_LOG) as usize)
    {
        return format!(
            "{} holds lines of two formats, {} and {}: split it into a file for each, and name both files",
            log.name(),
            format_of(log),
            other.name()
        );
    }
    let remedy = match &args.log_format {
        _ if logs.iter().any(|log| format_of(log).contains("JSON")) => {
            "name the members that hold it with --field, such as --field at=MEMBER --field path=MEMBER"
        }
        Some(_) => "the format that --log-format gives is not that of these lines",
        None => "name the format with --log-format",
    };
    remedy.to_owned()
}

/// Has all lines read by as many threads as there are processors; each has a state of its own, and all states are
/// put together.
fn each_line<S: Send>(
    logs: &[Log],
    stop: &AtomicBool,
    progress: Progress,
    new: impl Fn() -> S + Sync,
    read: impl Fn(&mut S, &Block, &mut Reader) + Sync,
    absorb: impl Fn(&mut S, Vec<S>),
) -> Result<S, Failure> {
    // Columns may be named anew in the middle of a log.
    let in_order = logs.iter().any(|log| !log.header().is_empty());
    let threads = if in_order { 1 } else { processors() };
    let blocks = Blocks::of(logs);
    let work = || work(logs, (&blocks, stop), &progress, &new, &read);
    let (mut all, others) = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (own, others.collect::<Vec<S>>())
    });
    progress.end();
    if stopped(stop) {
        return interrupted();
    }
    blocks.end().or_else(cannot_run)?;
    absorb(&mut all, others);
    Ok(all)
}

/// Processors to use.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

/// Carries a task out for every number below a count.
fn on_all_processors(count: usize, task: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            task(at);
        }
    };
    thread::scope(|scope| {
        for _ in 1..processors().min(count) {
            scope.spawn(work);
        }
        work();
    });
}

fn work<S>(
    logs: &[Log],
    (blocks, stop): (&Blocks<'_>, &AtomicBool),
    progress: &Progress,
    new: &impl Fn() -> S,
    read: &impl Fn(&mut S, &Block, &mut Reader),
) -> S {
    let mut state = new();
    let mut reader: Option<(usize, Reader)> = None;
    let mut memory = Vec::new();
    while !stopped(stop)
        && let Some(block) = blocks.take(memory)
    {
        if reader.as_ref().is_none_or(|(log, _)| *log != block.log) {
            reader = logs[block.log].format().map(|format| (block.log, format.reader()));
        }
        if let Some((_, reader)) = &mut reader {
            read(&mut state, &block, reader);
        }
        progress.add(block.text().len());
        memory = block.into_memory();
    }
    state
}

/// What is shown on a terminal while logs are read.
struct Progress {
    what: &'static str,
    bytes: AtomicU64,
    total: u64,
    began: Instant,
    screen: Option<Mutex<(screen::Block, Instant)>>,
}

impl Progress {
    fn new(what: &'static str, logs: &[Log], quiet: bool) -> Self {
        let now = Instant::now();
        let shown = !quiet && screen::is_watched();
        Self {
            what,
            bytes: AtomicU64::new(0),
            total: logs.iter().map(Log::bytes).sum(),
            began: now,
            screen: shown.then(|| Mutex::new((screen::Block::default(), now))),
        }
    }

    fn add(&self, bytes: usize) {
        let read = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        let Some(screen) = &self.screen else { return };
        let Ok(mut screen) = screen.try_lock() else { return };
        if screen.1.elapsed() < SHOWN_EVERY {
            return;
        }
        screen.1 = Instant::now();
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let per_s = mib(read) / self.began.elapsed().as_secs_f64().max(0.001);
        let of = match read <= self.total {
            true => format!(" of {:.0}", mib(self.total)),
            // More than the file has: it is compressed.
            false => String::new(),
        };
        screen.0.draw(&format!("{}: {:.0}{of} MiB, {per_s:.0} MiB/s", self.what, mib(read)));
    }

    fn end(&self) {
        if let Some(screen) = &self.screen {
            screen.lock().unwrap_or_else(PoisonError::into_inner).0.clear();
        }
    }
}
