//! `plimsoll watch`: sources without a load, as a live table or as JSON lines.
//!
//! Owns the interval and the end. `observe` reads the sources, `report` renders the table.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use model::Sample;
use model::quote::is_obeyed;
use model::units::MILLISECOND;
use observe::{Reading, Source, Watcher};
use report::watch::Table;

use crate::args::WatchArgs;
use crate::failure::{Failure, usage};
use crate::results::output;
use crate::terminal::screen::{self, Block};
use crate::terminal::signals::{stop_on_signal, stopped};

/// How long to wait for a sample before Ctrl-C is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs the command; the exit code.
///
/// # Errors
/// When a source is written wrongly.
pub fn watch(args: &WatchArgs) -> Result<u8, Failure> {
    if args.every < 50 * MILLISECOND {
        return usage("--every must be 50ms or more");
    }
    let local = ["local".to_owned()];
    let written: &[String] = if args.sources.is_empty() { &local } else { &args.sources };
    let sources = Source::parse_all(written).or_else(|why| usage(format!("watch: {why}")))?;
    let stop = stop_on_signal()?;
    let end = args.length.map(|length| Instant::now() + Duration::from_nanos(length));
    let watcher = Watcher::start(&sources, Duration::from_nanos(args.every));
    let mut shown: Box<dyn Shown> = match (args.stdio, screen::is_read_live()) {
        (true, _) => Box::new(Lines),
        (false, true) => Box::new(Live { block: Block::default(), table: Table::default() }),
        (false, false) => Box::new(Plain { table: Table::default() }),
    };
    let (mut read, mut failed) = (BTreeSet::new(), BTreeSet::new());
    let over = || stopped(&stop) || end.is_some_and(|end| Instant::now() >= end);
    while !over() {
        let Some(reading) = watcher.next(LOOK_EVERY) else { continue };
        let of_whom = if reading.sample.error.is_none() { &mut read } else { &mut failed };
        of_whom.insert(reading.sample.source.clone());
        match shown.show(reading) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(0),
            Err(error) => {
                eprintln!("plimsoll: cannot write to standard output: {error}");
                return Ok(1);
            }
        }
    }
    // Who reads the table or the lines sees why.
    Ok(u8::from(failed.difference(&read).next().is_some()))
}

/// Where samples go.
trait Shown {
    /// Shows one.
    fn show(&mut self, reading: Reading) -> io::Result<()>;
}

/// JSON lines.
struct Lines;

impl Shown for Lines {
    fn show(&mut self, reading: Reading) -> io::Result<()> {
        let line = serde_json::to_string(&reading.sample).expect("plain data becomes JSON");
        let escaped = if line.contains(is_obeyed) { flat(&reading.sample) } else { line };
        screen::print(&(escaped + "\n"))
    }
}

/// A sample in one line, with what a terminal would obey escaped.
fn flat(sample: &Sample) -> String {
    output::json(sample).lines().map(str::trim).collect()
}

/// A table that is drawn again in place.
struct Live {
    block: Block,
    table: Table,
}

impl Shown for Live {
    fn show(&mut self, reading: Reading) -> io::Result<()> {
        self.table.add(&reading.sample, reading.at_ns);
        self.block.draw(&self.table.lines(self.block.columns()));
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // The last table stays.
        self.block.clear();
        output::print(&(self.table.lines(output::style().columns) + "\n"));
    }
}

/// A line for each sample.
struct Plain {
    table: Table,
}

impl Shown for Plain {
    fn show(&mut self, reading: Reading) -> io::Result<()> {
        self.table.add(&reading.sample, reading.at_ns);
        match self.table.line(&reading.sample.source) {
            Some(line) => screen::print(&(line + "\n")),
            None => Ok(()),
        }
    }
}
