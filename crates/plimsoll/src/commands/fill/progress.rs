//! How far a fill is: rate and time left, on standard error.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use fill::Progress;

use crate::terminal::live::{Live, rough};
use crate::terminal::signals;

/// How often a line is drawn on a terminal; elsewhere a tenth as often.
const EVERY: Duration = Duration::from_millis(500);

/// Draws progress, and sees Ctrl-C.
pub struct Meter {
    live: Live,
    stop: Arc<AtomicBool>,
    started: Instant,
    before: u64,
    last: Option<Instant>,
    quiet: bool,
}

impl Meter {
    /// For work of which `before` rows are done already.
    pub fn new(quiet: bool, before: u64, stop: Arc<AtomicBool>) -> Self {
        let mut live = Live::new(quiet, false);
        live.begin(None);
        Self { live, stop, started: Instant::now(), before, last: None, quiet }
    }

    /// Shows how far it is; whether it is to go on.
    pub fn show(&mut self, progress: &Progress<'_>) -> bool {
        let watched = crate::terminal::screen::is_watched();
        let every = if watched { EVERY } else { EVERY * 10 };
        let due = self.last.is_none_or(|last| last.elapsed() >= every);
        if due && !self.quiet {
            self.last = Some(Instant::now());
            self.live.show_line(&self.line(progress));
        }
        !signals::stopped(&self.stop)
    }

    fn line(&self, progress: &Progress<'_>) -> String {
        let Progress { table, done, of, all_done, all } = progress;
        let percent = 100.0 * *all_done as f64 / (*all).max(1) as f64;
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = all_done.saturating_sub(self.before) as f64 / seconds.max(1e-9);
        let left = (all - all_done) as f64 / rate;
        let left = match left.is_finite() && rate > 0.0 && *all_done > self.before {
            true => format!(", {rate:.0} rows/s, {} left", rough((left * 1e9) as u64)),
            false => String::new(),
        };
        format!("{table}: {done} of {of} rows; {percent:.0} % of all{left}")
    }

    /// Clears the line.
    pub fn end(&mut self) {
        self.live.end();
    }

    /// How long it took.
    pub fn time(&self) -> String {
        rough(self.started.elapsed().as_nanos() as u64)
    }
}
