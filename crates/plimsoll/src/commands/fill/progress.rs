//! How far a fill is: rate and time left, on standard error; and that Ctrl-C ends it, in the midst of a statement too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fill::{Canceller, Progress};
use model::quote::grouped;
use report::live::rough;

use crate::terminal::live::Live;
use crate::terminal::signals;

/// How often a line is drawn on a terminal; elsewhere a tenth as often.
const EVERY: Duration = Duration::from_millis(500);
/// The rate is that of this much time.
const RECENT: Duration = Duration::from_secs(10);
/// Below this no rate is shown.
const SHORTEST: Duration = Duration::from_secs(1);
/// A statement may go on for this long after Ctrl-C.
const GRACE: Duration = Duration::from_millis(500);
/// How often Ctrl-C is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Draws progress, and sees Ctrl-C.
pub struct Meter {
    live: Live,
    stop: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
    started: Instant,
    recent: Recent,
    last: Option<Instant>,
    quiet: bool,
}

impl Meter {
    /// For work that begins now, whose statements `cancel` ends.
    pub fn new(quiet: bool, stop: Arc<AtomicBool>, cancel: Canceller) -> Self {
        let mut live = Live::new(quiet);
        live.begin(None);
        let over = Arc::<AtomicBool>::default();
        end_statements(stop.clone(), over.clone(), cancel);
        let recent = Recent::default();
        Self { live, stop, over, started: Instant::now(), recent, last: None, quiet }
    }

    /// Shows how far it is; whether it is to go on.
    pub fn show(&mut self, progress: &Progress<'_>) -> bool {
        let now = Instant::now();
        self.recent.add(progress, now);
        let watched = crate::terminal::screen::is_watched();
        let every = if watched { EVERY } else { EVERY * 10 };
        let due = self.last.is_none_or(|last| last.elapsed() >= every);
        if due && !self.quiet {
            self.last = Some(now);
            self.live.show_line(&self.recent.line(progress));
        }
        !self.stopped()
    }

    /// Whether Ctrl-C was pressed: what failed since may have failed by that.
    pub fn stopped(&self) -> bool {
        signals::stopped(&self.stop)
    }

    /// Clears the line; from now on no statement is ended.
    pub fn end(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        self.live.end();
    }

    /// How long it took.
    pub fn time(&self) -> String {
        rough(self.started.elapsed().as_nanos() as u64)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
    }
}

/// Ends statements that go on after Ctrl-C, until the work is over.
fn end_statements(stop: Arc<AtomicBool>, over: Arc<AtomicBool>, cancel: Canceller) {
    thread::spawn(move || {
        while !over.load(Ordering::SeqCst) {
            if !signals::stopped(&stop) {
                thread::sleep(LOOK_EVERY);
                continue;
            }
            thread::sleep(GRACE);
            if !over.load(Ordering::SeqCst) {
                cancel();
            }
        }
    });
}

/// What was done of the table at hand of late. Tables differ in what a row costs: no time is told for others.
#[derive(Default)]
struct Recent {
    table: String,
    done: VecDeque<(Instant, u64)>,
}

impl Recent {
    fn add(&mut self, progress: &Progress<'_>, now: Instant) {
        let table = progress.table.to_string();
        if table != self.table || self.done.back().is_some_and(|(_, done)| progress.done < *done) {
            self.done.clear();
            self.table = table;
        }
        self.done.push_back((now, progress.done));
        while self.done.get(1).is_some_and(|(at, _)| now.duration_since(*at) >= RECENT) {
            self.done.pop_front();
        }
    }

    /// Rows a second, where enough was seen.
    fn rate(&self) -> Option<f64> {
        let (&(from, before), &(to, done)) = (self.done.front()?, self.done.back()?);
        let time = to.duration_since(from);
        (time >= SHORTEST && done > before).then(|| (done - before) as f64 / time.as_secs_f64())
    }

    fn line(&self, progress: &Progress<'_>) -> String {
        let Progress { table, done, of, all_done, all } = progress;
        let percent = 100.0 * *all_done as f64 / (*all).max(1) as f64;
        let left = self.rate().map(|rate| {
            let time = rough(((of - done) as f64 / rate * 1e9) as u64);
            let others = if all - all_done > of - done { " for this table" } else { "" };
            format!(", {} rows/s, {time} left{others}", verdict::figures::rate(rate))
        });
        let left = left.unwrap_or_default();
        let (done, of) = (grouped(*done), grouped(*of));
        format!("{table}: {done} of {of} rows; {percent:.0} % of all{left}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tables: 100,000 rows of the first in a second, then 200 rows a second of the other, of which there are 60,000.
    #[test]
    fn the_time_left_is_that_of_the_table_at_hand() {
        let engine = tempfile::NamedTempFile::new().expect("a file");
        let address = format!("sqlite:{}", engine.path().display());
        let environment = fill::Environment { variable: &|_| None, home: None };
        let address = fill::Address::parse(&address, environment).expect("a file");
        let mut database = fill::connect(&address).expect("a database");
        for name in ["posts", "users"] {
            database.execute(&format!("CREATE TABLE {name} (id INTEGER)")).expect("a table");
        }
        let schema = database.schema().expect("a schema");
        let [posts, users] = &schema.tables[..] else { panic!("two tables") };
        let (start, mut recent) = (Instant::now(), Recent::default());
        let mut see = |seconds: f64, table: &fill::Table, done: u64, of: u64, before: u64| {
            let all_done = before + done;
            let progress = Progress { table: &table.name, done, of, all_done, all: 160_000 };
            recent.add(&progress, start + Duration::from_secs_f64(seconds));
            recent.line(&progress)
        };
        see(0.0, posts, 0, 100_000, 0);
        let first = see(1.0, posts, 50_000, 100_000, 0);
        assert!(first.ends_with("50,000 rows/s, 1s left for this table"), "{first}");
        let unknown = see(2.0, users, 0, 60_000, 100_000);
        assert!(unknown.ends_with("users: 0 of 60,000 rows; 62 % of all"), "{unknown}");
        for second in 1..100_u32 {
            see(2.0 + f64::from(second), users, 200 * u64::from(second), 60_000, 100_000);
        }
        let slow = see(102.0, users, 20_000, 60_000, 100_000);
        assert!(slow.ends_with("200 rows/s, 3m20s left"), "{slow}");
        // It became faster: what was long ago counts no more.
        let faster = see(112.0, users, 40_000, 60_000, 100_000);
        assert!(faster.ends_with("2,000 rows/s, 10s left"), "{faster}");
    }
}
