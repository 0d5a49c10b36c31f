//! Whether an API carries less than its load line says although its latency is inside of the envelope: it became slower,
//! the limit on requests in flight keeps its latency low, and requests beyond that limit are refused.
//!
//! By Little's law, the limit on requests in flight carries at most that number divided by the mean latency. The API is
//! not the one that was measured if that is far less than the ceiling, requests are refused for this limit, and no more
//! is forwarded. A look with a stall does not count: stalls end soon. A finding stands until the API has carried its line
//! again; fewer requests alone do not end it.

use super::Seen;

/// The least share of requests that must have been refused by the limit on the number in flight.
const CROWDED: f64 = 0.02;
/// The API carries too little below this part of the ceiling.
const SHORT: f64 = 0.8;
/// For this many seconds.
const LASTING_S: f64 = 10.0;
/// Fair shares keep places in flight free for a few looks. After more than this without a look that falls short, counting starts again.
const BETWEEN_S: f64 = 5.0;

/// The throughput of an API that carries less than the ceiling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Short {
    /// Mean requests forwarded per second.
    pub forwarded_per_s: f64,
    /// What the ceiling allows, in mean requests per second.
    pub ceiling_per_s: f64,
    /// And in flight.
    pub at_once: f64,
}

/// Looks that fell short, over time.
#[derive(Debug, Default)]
pub struct Shortfall {
    last: Option<Short>,
    /// Seconds from the beginning of the first short look to the end of the last.
    lasts_s: f64,
    /// Seconds since the last short look.
    since_s: f64,
    /// The most that the ceiling let through while it was short.
    ceiling_most_per_s: f64,
}

impl Shortfall {
    /// Learns from what was seen in the last `seconds` below a ceiling of this many mean requests per second and at once; what
    /// is short, once it has been for long.
    pub fn learn(
        &mut self,
        seen: &Seen,
        seconds: f64,
        ceiling_per_s: f64,
        at_once: f64,
    ) -> Option<Short> {
        let seconds = seconds.max(1e-3);
        let forwarded_per_s = seen.completed_milli as f64 / 1000.0 / seconds;
        let most_per_s = forwarded_per_s * (at_once / seen.in_flight(seconds)).max(1.0);
        let asked = (seen.latency.count() + seen.refused) as f64;
        let crowded = seen.crowded as f64 > CROWDED * asked;
        let stalled = seen.running_s(seconds) < seconds;
        self.since_s += seconds;
        if crowded && !stalled && forwarded_per_s > 0.0 && most_per_s < SHORT * ceiling_per_s {
            self.lasts_s += match self.last {
                Some(_) => self.since_s,
                None => seconds,
            };
            self.since_s = 0.0;
            self.ceiling_most_per_s = self.ceiling_most_per_s.max(ceiling_per_s);
            self.last = Some(Short { forwarded_per_s, ceiling_per_s, at_once });
        } else if forwarded_per_s >= SHORT * ceiling_per_s.max(self.ceiling_most_per_s)
            || (self.since_s > BETWEEN_S && self.lasts_s < LASTING_S)
        {
            *self = Self::default();
        }
        self.last.filter(|_| self.lasts_s >= LASTING_S)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ceiling, Line, Part, Room};
    use super::*;
    use crate::usage::bucket_of;

    const MS: u64 = 1_000_000;

    /// Half a second of an API that answers so many in this time each; `refused` found as many in flight as may be.
    fn seen(latency_ms: u64, completed: u64, refused: u64) -> Seen {
        let mut seen = Seen {
            completed_milli: completed * 1000,
            refused,
            crowded: refused,
            ..Seen::default()
        };
        seen.latency.0[bucket_of(latency_ms * MS)] = completed;
        seen
    }

    /// Looks below a ceiling of 868 a second and 4 at once.
    fn learn(shortfall: &mut Shortfall, seen: &Seen, looks: usize) -> Option<Short> {
        (0..looks).fold(None, |_, _| shortfall.learn(seen, 0.5, 868.0, 4.0))
    }

    #[test]
    fn an_api_that_became_four_times_slower_is_short_after_a_while() {
        let mut shortfall = Shortfall::default();
        let slow = seen(16, 125, 300);
        assert_eq!(learn(&mut shortfall, &slow, 19), None, "the first seconds");
        let short = Short { forwarded_per_s: 250.0, ceiling_per_s: 868.0, at_once: 4.0 };
        assert_eq!(learn(&mut shortfall, &slow, 1), Some(short));
        // Shares keep room free between two looks; a stall says nothing.
        assert_eq!(learn(&mut shortfall, &seen(16, 110, 0), 8), Some(short));
        let stalled = Seen { stalls: 1, stalled_ns: 400 * MS, ..slow.clone() };
        assert_eq!(learn(&mut shortfall, &stalled, 1), Some(short));
        assert_eq!(learn(&mut shortfall, &slow, 1), Some(short));
        assert_eq!(learn(&mut shortfall, &seen(4, 420, 10), 1), None, "it is well again");
        for looks in [19, 1] {
            assert_eq!(learn(&mut shortfall, &slow, looks).is_some(), looks == 1);
        }
        // That nobody asks any more, or for less than the line, says nothing of it.
        assert_eq!(learn(&mut shortfall, &Seen::default(), 100), Some(short));
        assert_eq!(learn(&mut shortfall, &seen(4, 200, 0), 100), Some(short));
        let mut lower = |ceiling_per_s| shortfall.learn(&seen(4, 200, 0), 0.5, ceiling_per_s, 4.0);
        assert_eq!(lower(400.0), Some(short), "of a ceiling that has fallen");
        assert_eq!(learn(&mut shortfall, &seen(4, 350, 0), 1), None, "it carries its line");
        learn(&mut shortfall, &slow, 19);
        assert_eq!(learn(&mut shortfall, &Seen::default(), 100), None, "it was never told");
        assert_eq!(learn(&mut shortfall, &slow, 1), None, "nor is it now");
    }

    #[test]
    fn what_finds_as_many_in_flight_as_may_be_is_counted_apart() {
        let line = Line {
            rate_per_s: 868.0,
            at_once: 4.0,
            arrivals_per_s: 868.0,
            ahead_ns: 1_000_000_000,
            ..Line::default()
        };
        let (ceiling, now_ns) = (Ceiling::default(), 10_000_000_000);
        ceiling.set(&line, 1.0, Part::of(1, false));
        let taken = (0..6).filter(|_| ceiling.take(1000, Room::ALL, now_ns).is_ok()).count();
        let seen = ceiling.look(now_ns);
        assert_eq!((taken, seen.refused, seen.crowded), (4, 2, 2));
        assert_eq!(ceiling.look(now_ns).crowded, 0, "since the last look");
    }

    #[test]
    fn an_api_that_carries_its_line_is_never_short() {
        let of_shares = Seen { crowded: 0, ..seen(16, 125, 300) };
        for (what, seen) in [
            ("at the line", seen(4, 430, 300)),
            ("bursts with as long pauses between them", seen(4, 217, 200)),
            ("refused by the rate alone", of_shares),
            ("slower, and nobody is refused", seen(16, 125, 0)),
            ("nothing answered", Seen { given_up: 2_000_000_000, ..seen(16, 0, 300) }),
            ("nothing came", Seen::default()),
        ] {
            let mut shortfall = Shortfall::default();
            assert_eq!(learn(&mut shortfall, &seen, 100), None, "{what}");
        }
    }
}
