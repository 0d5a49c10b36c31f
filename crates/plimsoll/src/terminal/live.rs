//! The progress of a run, on standard error: a few lines redrawn in place on a terminal, one line per second elsewhere. For
//! other work, such as a request before a run, a message if it takes long.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use model::interval::Interval;
use model::units::Nanos;
use report::live::{Progress, rough};
use unicode_width::UnicodeWidthStr;

use crate::terminal::screen::{self, Block};

/// Shows how a run goes.
#[derive(Debug)]
pub struct Live {
    mode: Mode,
    open_loop: bool,
    prefix: String,
    /// Connections that stood when a line said so last.
    opened: Option<u32>,
}

#[derive(Debug)]
enum Mode {
    Quiet,
    Plain,
    Terminal(Box<(Block, Progress)>),
}

/// How long nothing need be said.
const LONG: Duration = Duration::from_secs(1);

/// Does some work, and says `what` is waited for once that takes long.
pub fn waiting<T>(quiet: bool, what: &str, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (working, over) = mpsc::channel::<()>();
        scope.spawn(move || {
            if !quiet && over.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                screen::tell(&format!("plimsoll: {what}"));
            }
        });
        let done = work();
        drop(working);
        done
    })
}

impl Live {
    /// For standard error as it is; says nothing if `quiet`. Of runs in a closed loop, until [`Self::with_open_loop`].
    pub fn new(quiet: bool) -> Self {
        let mode = match (quiet, screen::is_watched()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Terminal(Box::default()),
            (false, false) => Mode::Plain,
        };
        Self { mode, open_loop: false, prefix: String::new(), opened: None }
    }

    /// The same, of runs in an open loop or not.
    #[must_use]
    pub fn with_open_loop(self, open_loop: bool) -> Self {
        Self { open_loop, ..self }
    }

    /// Says nothing.
    pub fn quiet() -> Self {
        Self::new(true)
    }

    /// What each line begins with: the level of a sweep.
    pub fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Begins another run, which is to last this long.
    pub fn begin(&mut self, total_ns: Option<Nanos>) {
        if let Mode::Terminal(drawn) = &mut self.mode {
            drawn.1 = Progress::new(self.prefix.clone(), total_ns);
        }
    }

    /// Shows an interval, if it is worth a line.
    pub fn show(&mut self, interval: &Interval) {
        if !report::live::is_worth_a_line(interval) {
            return;
        }
        match &mut self.mode {
            Mode::Quiet => {}
            Mode::Plain => {
                let columns = screen::columns_of_lines().saturating_sub(self.prefix.width());
                let line = report::live::line(interval, interval.end_ns, self.open_loop, columns);
                screen::tell(&format!("{}{line}", self.prefix));
            }
            Mode::Terminal(drawn) => {
                let (block, progress) = &mut **drawn;
                progress.add(interval);
                block.draw(&progress.lines(block.columns()));
            }
        }
    }

    /// Shows how many connections stand before the run starts; a line that says the same again is left out.
    pub fn opening(&mut self, open: u32, planned: u32) {
        if self.opened.replace(open) == Some(open) && matches!(self.mode, Mode::Plain) {
            return;
        }
        self.show_line(&report::live::opening(open, planned));
    }

    /// Shows a line of how far something is.
    pub fn show_line(&self, line: &str) {
        match &self.mode {
            Mode::Quiet => {}
            Mode::Plain => eprintln!("{}{line}", self.prefix),
            Mode::Terminal(drawn) => drawn.0.draw(&format!("{}{line}", self.prefix)),
        }
    }

    /// Clears the lines for what comes next.
    pub fn end(&mut self) {
        if let Mode::Terminal(drawn) = &self.mode {
            drawn.0.clear();
        }
    }

    /// Says how long `what` will take.
    pub fn announce(&self, what: &str, total_ns: Nanos) {
        let time = i64::try_from(total_ns).unwrap_or(i64::MAX);
        let end = jiff::Zoned::now().checked_add(jiff::SignedDuration::from_nanos(time));
        let until = end
            .map_or_else(|_| String::new(), |end| format!(", until {}", end.strftime("%H:%M:%S")));
        self.say(&format!("{what}: {}{until}", rough(total_ns)));
    }

    /// Says something that is no interval.
    pub fn say(&self, text: &str) {
        if !matches!(self.mode, Mode::Quiet) {
            screen::tell(text);
        }
    }
}
