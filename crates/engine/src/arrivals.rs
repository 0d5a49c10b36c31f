//! Open-loop arrivals of one worker: taken up when due, and assigned in order to free connections.

use std::collections::VecDeque;

use model::{Draw, Nanos, Share};

/// Arrivals taken up and not yet served. Due times are not stored: a second cursor over the same
/// schedule yields them again, so that memory grows with wake-ups, not with arrivals.
#[derive(Debug)]
pub(crate) struct Arrivals {
    arriving: Share,
    serving: Share,
    /// (when taken up, how many), oldest first.
    batches: VecDeque<(Nanos, u32)>,
    waiting: u64,
}

/// An arrival about to be served. Instants are nanoseconds since the run's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) due: Nanos,
    pub(crate) taken: Nanos,
    /// Its position in the schedule.
    pub(crate) draw: Draw,
}

impl Arrivals {
    pub(crate) fn new(share: Share) -> Self {
        Self { arriving: share.clone(), serving: share, batches: VecDeque::new(), waiting: 0 }
    }

    /// Takes up at `now` everything due at `until`, and calls `taken_up` with each due time.
    pub(crate) fn take_up(&mut self, until: Nanos, now: Nanos, mut taken_up: impl FnMut(Nanos)) {
        let mut count = 0;
        while let Some(due) = self.arriving.peek().filter(|&due| due <= until) {
            self.arriving.next();
            taken_up(due);
            count += 1;
        }
        if count > 0 {
            self.batches.push_back((now, count));
            self.waiting += u64::from(count);
        }
    }

    /// Serves the schedule's next arrival before it is due, if none is waiting. Returns whether there
    /// was one.
    pub(crate) fn bring_forward(&mut self) -> bool {
        debug_assert!(self.waiting == 0, "those that wait come first");
        let there = self.arriving.next().is_some();
        if there {
            self.serving.next();
        }
        there
    }

    /// When the next arrival is due that was not taken up yet.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.arriving.peek()
    }

    /// Arrivals taken up and not served.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Due time of the arrival to be served next.
    pub(crate) fn oldest_due(&self) -> Option<Nanos> {
        if self.waiting > 0 { self.serving.peek() } else { None }
    }

    /// The arrival that has waited longest.
    pub(crate) fn serve(&mut self) -> Option<Arrival> {
        let (taken, left) = self.batches.front_mut()?;
        let draw = self.serving.peek_draw();
        let arrival = Arrival { due: self.serving.next()?, taken: *taken, draw };
        *left -= 1;
        self.waiting -= 1;
        if *left == 0 {
            self.batches.pop_front();
        }
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use model::{Arrivals as Spacing, Schedule};

    use super::*;

    #[test]
    fn served_in_order_with_the_instant_they_were_taken_up() {
        let schedule = Schedule {
            rate_per_s: 1e9 / 10.0,
            arrivals: Spacing::Uniform,
            lanes: 8,
            seed: 0,
            ramp_ns: 0,
            end_ns: 50,
            shape: None,
        };
        let mut arrivals = Arrivals::new(schedule.share(0, 1));
        let mut late = Vec::new();
        arrivals.take_up(15, 15, |due| late.push(15 - due));
        assert_eq!((late.as_slice(), arrivals.waiting()), ([15, 5].as_slice(), 2));
        let first = Arrival { due: 0, taken: 15, draw: Draw { lane: 0, k: 0 } };
        assert_eq!(arrivals.serve(), Some(first));
        arrivals.take_up(99, 99, |_| {});
        assert_eq!(arrivals.oldest_due(), Some(10));
        let rest: Vec<_> =
            std::iter::from_fn(|| arrivals.serve()).map(|a| (a.due, a.taken)).collect();
        assert_eq!(rest, [(10, 15), (20, 99), (30, 99), (40, 99)]);
        assert_eq!(
            (arrivals.next_due(), arrivals.waiting(), arrivals.oldest_due()),
            (None, 0, None)
        );
    }
}
