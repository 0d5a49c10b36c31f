//! The live line on standard error: rewritten in place on a terminal, a line a second elsewhere.

use std::io::{self, IsTerminal, Write};

use model::Interval;

/// See the module.
#[derive(Debug)]
pub struct Live {
    mode: Mode,
    open_loop: bool,
    prefix: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Quiet,
    Plain,
    Terminal,
}

impl Live {
    /// For standard error as it is.
    pub fn new(quiet: bool, open_loop: bool) -> Self {
        let mode = match (quiet, io::stderr().is_terminal()) {
            (true, _) => Mode::Quiet,
            (false, true) => Mode::Terminal,
            (false, false) => Mode::Plain,
        };
        Self { mode, open_loop, prefix: String::new() }
    }

    /// What each line begins with: the level of a sweep.
    pub fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
    }

    /// Shows an interval.
    pub fn show(&mut self, interval: &Interval) {
        self.write(&report::live::line(interval, interval.end_ns, self.open_loop));
    }

    /// Shows how many connections stand before the run starts.
    pub fn opening(&mut self, open: u32, planned: u32) {
        self.write(&report::live::opening(open, planned));
    }

    /// Shows how far something else is.
    pub fn tell(&mut self, line: &str) {
        self.write(line);
    }

    fn write(&self, line: &str) {
        if self.mode == Mode::Quiet {
            return;
        }
        let mut err = io::stderr().lock();
        // A terminal that is gone is no reason to end a measurement.
        let _ = match self.mode {
            Mode::Terminal => {
                write!(err, "\r\x1b[2K{}{line}", self.prefix).and_then(|()| err.flush())
            }
            _ => writeln!(err, "{}{line}", self.prefix),
        };
    }

    /// Clears the line for what comes next.
    pub fn end(&mut self) {
        if self.mode == Mode::Terminal {
            eprint!("\r\x1b[2K");
        }
    }

    /// Says something that is no interval.
    pub fn say(&self, text: &str) {
        if self.mode != Mode::Quiet {
            eprintln!("{text}");
        }
    }
}
