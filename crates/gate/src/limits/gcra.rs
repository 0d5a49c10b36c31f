//! A rate with a burst: the generic cell rate algorithm (ITU-T I.371, its virtual scheduling form).
//!
//! One instant is stored: when the next request would be due if all came at an even pace. A request may be early by as
//! much as the burst allows.

use std::sync::atomic::{AtomicU64, Ordering};

const SECOND_NS: f64 = 1e9;
/// Cost of a mean request.
const MEAN_MILLI: f64 = 1000.0;
/// Thirty years: longer than any wait, and two of them still add up to a valid instant.
const LONGEST_NS: f64 = 1e18;

/// A rate with a burst.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Requests of mean cost per second, above 0.
    pub per_s: f64,
    /// Requests that may come at once after a pause, 1 or more.
    pub burst: f64,
}

impl Rate {
    /// A rate whose burst is what it lets through in a second, at least 1.
    pub fn per_second(per_s: f64) -> Self {
        Self { per_s, burst: per_s.ceil().max(1.0) }
    }

    /// Time that a request of this cost takes up, rounded up: never a higher rate than asked for.
    pub fn increment_ns(&self, cost_milli: u32) -> u64 {
        let nanos = f64::from(cost_milli) / MEAN_MILLI * SECOND_NS / self.per_s;
        nanos.ceil().min(LONGEST_NS) as u64
    }

    /// How far ahead of an even pace requests may be, their own time included: `burst` mean requests.
    pub fn ahead_ns(&self) -> u64 {
        (self.burst * SECOND_NS / self.per_s).ceil().min(LONGEST_NS) as u64
    }
}

/// How much of a rate is used up.
#[derive(Debug, Default)]
pub struct Gcra {
    /// When the next request would be due at an even pace, on the clock of the data path.
    due_ns: AtomicU64,
}

impl Gcra {
    /// Takes the time of a request of this cost.
    ///
    /// # Errors
    /// How long until there is room, in nanoseconds; nothing is taken then. A cost above the whole burst fits when
    /// nothing is ahead.
    pub fn take(&self, rate: &Rate, cost_milli: u32, now_ns: u64) -> Result<(), u64> {
        self.take_within(rate.increment_ns(cost_milli), rate.ahead_ns(), now_ns)
    }

    /// As [`Self::take`], with numbers computed before.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_within(&self, increment_ns: u64, ahead_ns: u64, now_ns: u64) -> Result<(), u64> {
        let most = now_ns.saturating_add(ahead_ns.max(increment_ns));
        let mut due = self.due_ns.load(Ordering::Relaxed);
        loop {
            let next = due.max(now_ns).saturating_add(increment_ns);
            if next > most {
                return Err(next - most);
            }
            match self.due_ns.compare_exchange_weak(due, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Ok(()),
                Err(found) => due = found,
            }
        }
    }

    /// Counts a request even if there is no room, up to `most_ns` ahead; the excess is dropped.
    pub fn count(&self, increment_ns: u64, most_ns: u64, now_ns: u64) {
        // The function always gives a number.
        let _ = self.due_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |due| {
            let next = due.max(now_ns).saturating_add(increment_ns);
            Some(next.min(now_ns.saturating_add(most_ns)))
        });
    }

    /// Gives back what a request took that another limit refused later. The part for the time since it was taken
    /// (`since_ns`) is not given back: at an even pace it would be used up, and other requests have come in its place.
    pub fn give_back(&self, increment_ns: u64, since_ns: u64) {
        let left_ns = increment_ns.saturating_sub(since_ns);
        // An instant in the past has no effect anyway.
        let _ = self.due_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |due| {
            Some(due.saturating_sub(left_ns))
        });
    }

    /// Takes account of requests elsewhere: `due_ns` is when the next request is due after all of them.
    pub fn raise(&self, due_ns: u64) {
        self.due_ns.fetch_max(due_ns, Ordering::Relaxed);
    }

    /// Drops what is further ahead than the whole burst of a rate that has just come into force: under the former, lower rate
    /// it kept requests waiting.
    pub fn change_to(&self, ahead_ns: u64, now_ns: u64) {
        self.due_ns.fetch_min(now_ns.saturating_add(ahead_ns), Ordering::Relaxed);
    }

    /// How far ahead of an even pace requests are, in nanoseconds.
    pub fn ahead_ns(&self, now_ns: u64) -> u64 {
        self.due_ns.load(Ordering::Relaxed).saturating_sub(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_burst_then_the_rate() {
        let rate = Rate { per_s: 10.0, burst: 3.0 };
        let gcra = Gcra::default();
        let start = 5 * SECOND;
        for _ in 0..3 {
            assert_eq!(gcra.take(&rate, 1000, start), Ok(()));
        }
        assert_eq!(gcra.take(&rate, 1000, start), Err(SECOND / 10));
        assert_eq!(gcra.take(&rate, 1000, start + SECOND / 10), Ok(()));
        assert_eq!(gcra.take(&rate, 1000, start + SECOND / 10), Err(SECOND / 10));
        let again = [(); 4].map(|()| gcra.take(&rate, 1000, start + SECOND).is_ok());
        assert_eq!(again, [true, true, true, false]);
    }

    #[test]
    fn a_dear_request_takes_more_and_fits_after_a_pause() {
        let rate = Rate { per_s: 10.0, burst: 2.0 };
        let gcra = Gcra::default();
        // Five times the mean is above the burst; it fits alone, and then the pause is as long.
        assert_eq!(gcra.take(&rate, 5000, SECOND), Ok(()));
        assert_eq!(gcra.take(&rate, 1000, SECOND), Err(4 * SECOND / 10));
    }

    /// One request in more years than an instant can hold: it is one, and not all.
    #[test]
    fn the_lowest_rates_and_the_highest_are_rates() {
        for per_s in [1e-11, 1e-20, f64::MIN_POSITIVE] {
            let (rate, gcra) = (Rate { per_s, burst: 1.0 }, Gcra::default());
            assert_eq!(gcra.take(&rate, 1000, SECOND), Ok(()), "{per_s}");
            assert!(gcra.take(&rate, 1000, 1000 * SECOND).is_err(), "{per_s}");
        }
        let (rate, gcra) = (Rate { per_s: 1e9, burst: 2.0 }, Gcra::default());
        let taken = (0..5).filter(|_| gcra.take(&rate, 1000, SECOND).is_ok()).count();
        assert_eq!(taken, 2);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let rate = Rate { per_s: 1.0, burst: 1.0 };
        let gcra = Gcra::default();
        gcra.take(&rate, 1000, SECOND).unwrap();
        gcra.give_back(rate.increment_ns(1000), 0);
        assert_eq!(gcra.take(&rate, 1000, SECOND), Ok(()));
    }

    /// Three came in the place of one that was refused when its slow body had come: a fourth would be above the burst.
    #[test]
    fn what_others_have_taken_since_is_not_given_back() {
        let rate = Rate { per_s: 1.0, burst: 3.0 };
        let gcra = Gcra::default();
        gcra.take(&rate, 1000, SECOND).unwrap();
        for _ in 0..3 {
            gcra.take(&rate, 1000, 6 * SECOND).unwrap();
        }
        gcra.give_back(rate.increment_ns(1000), 5 * SECOND);
        assert_eq!(gcra.take(&rate, 1000, 6 * SECOND), Err(SECOND));
    }

    #[test]
    fn a_rate_that_was_raised_keeps_nobody_waiting_for_the_lower_one() {
        let (low, high) = (Rate { per_s: 0.001, burst: 1.0 }, Rate { per_s: 10.0, burst: 2.0 });
        let gcra = Gcra::default();
        gcra.take(&low, 1000, SECOND).unwrap();
        gcra.change_to(high.ahead_ns(), SECOND);
        assert_eq!(gcra.take(&high, 1000, SECOND), Err(SECOND / 10));
        assert_eq!(gcra.take(&high, 1000, SECOND + SECOND / 10), Ok(()));
        gcra.change_to(low.ahead_ns(), SECOND);
        assert_eq!(gcra.ahead_ns(SECOND), 3 * SECOND / 10);
    }

    #[test]
    fn what_is_counted_is_remembered_up_to_a_bound() {
        let gcra = Gcra::default();
        for _ in 0..10 {
            gcra.count(SECOND / 10, SECOND / 2, SECOND);
        }
        assert_eq!(gcra.ahead_ns(SECOND), SECOND / 2);
        assert_eq!(gcra.ahead_ns(SECOND + SECOND / 4), SECOND / 4);
        gcra.count(SECOND / 10, SECOND / 2, 3 * SECOND);
        assert_eq!(gcra.ahead_ns(3 * SECOND), SECOND / 10);
    }

    proptest! {
        /// In any window, at most burst + rate x window requests pass (the algorithm's promise), and where requests
        /// always wait, at least rate x window - 1.
        #[test]
        fn never_more_than_the_burst_and_the_rate(
            per_s in 0.5f64..100_000.0,
            burst in 1.0f64..1000.0,
            gaps in prop::collection::vec(0u64..50_000_000, 1..400),
        ) {
            let rate = Rate { per_s, burst };
            let gcra = Gcra::default();
            let mut now = SECOND;
            let mut passed = Vec::new();
            for gap in gaps {
                now += gap;
                if gcra.take(&rate, 1000, now).is_ok() {
                    passed.push(now);
                }
            }
            for (first, &from) in passed.iter().enumerate() {
                for (last, &to) in passed.iter().enumerate().skip(first) {
                    let most = burst + per_s * (to - from) as f64 / 1e9 + 1e-6;
                    prop_assert!((last - first + 1) as f64 <= most + 1e-3);
                }
            }
        }

        /// The same of those that keep what they took, whenever others give it back.
        #[test]
        fn what_is_given_back_lets_no_more_through(
            per_s in 0.5f64..200.0,
            burst in 1.0f64..6.0,
            steps in prop::collection::vec((0u64..20_000_000, prop::option::of(0usize..20)), 1..400),
        ) {
            let rate = Rate { per_s, burst };
            let gcra = Gcra::default();
            let (mut now, mut passed, mut refused_later) = (SECOND, Vec::new(), Vec::new());
            for (step, (gap, refused_after)) in steps.into_iter().enumerate() {
                now += gap;
                refused_later.retain(|&(at, taken_ns): &(usize, u64)| {
                    if at <= step {
                        gcra.give_back(rate.increment_ns(1000), now - taken_ns);
                    }
                    at > step
                });
                if gcra.take(&rate, 1000, now).is_ok() {
                    match refused_after {
                        Some(steps) => refused_later.push((step + steps, now)),
                        None => passed.push(now),
                    }
                }
            }
            for (first, &from) in passed.iter().enumerate() {
                for (last, &to) in passed.iter().enumerate().skip(first) {
                    let most = burst + per_s * (to - from) as f64 / 1e9 + 1e-3;
                    prop_assert!((last - first + 1) as f64 <= most);
                }
            }
        }

        #[test]
        fn waiting_as_told_is_enough(per_s in 0.5f64..100_000.0, burst in 1.0f64..100.0, tries in 1usize..300) {
            let rate = Rate { per_s, burst };
            let gcra = Gcra::default();
            let mut now = SECOND;
            for _ in 0..tries {
                if let Err(wait) = gcra.take(&rate, 1000, now) {
                    now += wait;
                    prop_assert_eq!(gcra.take(&rate, 1000, now), Ok(()));
                }
            }
        }
    }
}
