//! Books that lie open while a source is asked that may never return.
//!
//! A hook of a script that never returns keeps its worker's thread for good, and with it what the
//! worker has counted since its last page. So a worker lays its books on its desk before it calls such a
//! source, and takes them up again afterwards; when the run ends without the worker, the collector takes
//! them from there. Nobody ever waits at a desk: the worker and the collector meet there only once it is
//! decided that the worker will not come back.

use std::sync::Mutex;
use std::thread;

use model::Nanos;

use crate::ledger::{Ledger, Page};

/// See the module.
#[derive(Debug, Default)]
pub struct Desk(Mutex<Lying>);

/// What lies there.
#[derive(Debug, Default)]
struct Lying {
    /// The worker's books while it is away, empty ones otherwise; none where no source needs it.
    books: Option<Box<Ledger>>,
    away: bool,
}

impl Desk {
    /// Prepares it for a worker whose source may never return: `empty` is what the worker writes on
    /// while its own books lie here.
    pub(crate) fn prepare(&self, empty: Box<Ledger>) {
        if let Ok(mut lying) = self.0.try_lock() {
            lying.books = Some(empty);
        }
    }

    /// Lays the worker's books down. What it holds meanwhile is empty.
    #[inline]
    pub(crate) fn lay_down(&self, held: &mut Box<Ledger>) {
        self.exchange(held, true);
    }

    /// Takes the worker's books up again. If they have been taken away, the run has ended without this
    /// worker: its thread goes no further.
    #[inline]
    pub(crate) fn take_up(&self, held: &mut Box<Ledger>) {
        self.exchange(held, false);
    }

    #[inline]
    fn exchange(&self, held: &mut Box<Ledger>, away: bool) {
        if let Ok(mut lying) = self.0.try_lock()
            && let Some(books) = &mut lying.books
        {
            std::mem::swap(books, held);
            lying.away = away;
            return;
        }
        loop {
            thread::park();
        }
    }

    /// The pages of a worker that will not come back, if its books lie here: its window ends at `end`,
    /// and what it had under way stays unfinished.
    pub(crate) fn clear(&self, end: Nanos, now: Nanos) -> Vec<Page> {
        let Ok(mut lying) = self.0.try_lock() else { return Vec::new() };
        let books = lying.books.take().filter(|_| lying.away);
        books.map(|books| books.abandoned(end, now)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use model::units::{MILLISECOND, SECOND};

    use super::*;
    use crate::ledger::Flight;
    use crate::spent::Spent;

    fn books() -> Box<Ledger> {
        let mut ledger = Ledger::new(false, 0, 60 * SECOND);
        ledger.start(Spent::default());
        Box::new(ledger)
    }

    #[test]
    fn what_a_worker_counted_before_it_was_stuck_is_kept() {
        let desk = Desk::default();
        desk.prepare(Box::new(Ledger::new(false, 0, SECOND)));
        let mut held = books();
        held.tally.succeeded = 7;
        let flight = Flight { due: MILLISECOND, sent: MILLISECOND, ..Flight::default() };
        held.launched(flight);
        held.launched(flight);
        desk.lay_down(&mut held);
        assert_eq!(held.tally.succeeded, 0);
        desk.take_up(&mut held);
        assert_eq!(held.tally.succeeded, 7);
        held.landed(flight, 2 * MILLISECOND);
        desk.lay_down(&mut held);
        let pages = desk.clear(1500 * MILLISECOND, 2700 * MILLISECOND);
        let ends: Vec<Nanos> = pages.iter().map(|page| page.end_ns / MILLISECOND).collect();
        assert_eq!(ends, [1000, 1500, 2500, 2700], "seconds, the window's end, seconds, now");
        let sums = pages.iter().map(|page| &page.sheet.tally);
        let sums =
            sums.fold((0, 0), |sum, tally| (sum.0 + tally.succeeded, sum.1 + tally.unfinished));
        assert_eq!(sums, (7, 1));
    }

    #[test]
    fn books_in_hand_are_nobody_elses() {
        let desk = Desk::default();
        assert!(desk.clear(SECOND, SECOND).is_empty(), "none was prepared");
        desk.prepare(books());
        let mut held = books();
        desk.lay_down(&mut held);
        desk.take_up(&mut held);
        assert!(desk.clear(SECOND, SECOND).is_empty(), "the worker has them");
    }
}
