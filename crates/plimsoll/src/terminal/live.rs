//! The live line on standard error: rewritten in place on a terminal, a line a second elsewhere.

use model::Interval;

use crate::terminal::screen;

/// Prints the live line.
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
        let mode = match (quiet, screen::is_watched()) {
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
        self.show_line(&report::live::line(interval, interval.end_ns, self.open_loop));
    }

    /// Shows how many connections stand before the run starts.
    pub fn opening(&mut self, open: u32, planned: u32) {
        self.show_line(&report::live::opening(open, planned));
    }

    /// Shows a line of how far something is.
    pub fn show_line(&self, line: &str) {
        match self.mode {
            Mode::Quiet => {}
            Mode::Plain => eprintln!("{}{line}", self.prefix),
            Mode::Terminal => screen::tell_anew(&format!("{}{line}", self.prefix)),
        }
    }

    /// Clears the line for what comes next.
    pub fn end(&mut self) {
        if self.mode == Mode::Terminal {
            screen::tell_anew("");
        }
    }

    /// Says something that is no interval.
    pub fn say(&self, text: &str) {
        if self.mode != Mode::Quiet {
            eprintln!("{text}");
        }
    }
}
