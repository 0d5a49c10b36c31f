//! Random arrivals at the rate that the load line was certified at, beside the number in flight that keeps the API busy.
//!
//! That number may be small, where more of them break the objectives while none of the API's time is left free. Random
//! arrivals at the line come in clusters that exceed it; they were measured to hold the objectives, with more in flight at
//! times. So while no more is let through than the line, as many may be in flight as they seldom exceed; whoever sends more
//! has used that up, and is held to the smaller number.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::Gcra;

/// What is let through may be so much above the line: of arrivals at exactly the line, as many come too early as too late.
const ABOVE: f64 = 1.02;

/// What the line's rate leaves of a larger number in flight.
#[derive(Debug)]
pub(super) struct Certified {
    used: Gcra,
    /// Nanoseconds that a thousandth of a mean request takes up of the rate, as bits of an `f64`.
    ns_per_milli: AtomicU64,
    /// How far ahead of an even pace requests may be; behind what is more they are held for as long.
    ahead_ns: AtomicU64,
    at_once_milli: AtomicU64,
}

impl Default for Certified {
    fn default() -> Self {
        Self {
            used: Gcra::default(),
            ns_per_milli: AtomicU64::new(0),
            ahead_ns: AtomicU64::new(0),
            at_once_milli: AtomicU64::new(0),
        }
    }
}

impl Certified {
    /// Holds so many mean requests per second, and so many in flight.
    pub(super) fn set(&self, per_s: f64, at_once: f64) {
        let per_s = per_s * ABOVE;
        let (ns_per_milli, ahead_ns) =
            if per_s > 0.0 { (1e6 / per_s, at_once / per_s * 1e9) } else { (0.0, 0.0) };
        self.ns_per_milli.store(ns_per_milli.to_bits(), Ordering::Relaxed);
        self.ahead_ns.store(ahead_ns as u64, Ordering::Relaxed);
        self.at_once_milli.store((at_once * 1000.0) as u64, Ordering::Relaxed);
    }

    /// How much may be in flight, in thousandths, while a request of this cost is none too many; 0 where it is.
    pub(super) fn most_milli(&self, cost_milli: u32, now_ns: u64) -> u64 {
        let ahead_ns = self.ahead_ns.load(Ordering::Relaxed);
        let fits = self.used.ahead_ns(now_ns) + self.takes_ns(cost_milli) <= ahead_ns;
        if fits { self.at_once_milli.load(Ordering::Relaxed) } else { 0 }
    }

    /// Notes a request that was let through, whichever number held it.
    pub(super) fn took(&self, cost_milli: u32, now_ns: u64) {
        let most_ns = 2 * self.ahead_ns.load(Ordering::Relaxed);
        self.used.take_up_to(self.takes_ns(cost_milli), most_ns, now_ns);
    }

    fn takes_ns(&self, cost_milli: u32) -> u64 {
        let ns_per_milli = f64::from_bits(self.ns_per_milli.load(Ordering::Relaxed));
        (f64::from(cost_milli) * ns_per_milli).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn who_sends_more_than_the_line_has_used_it_up_for_a_while() {
        let certified = Certified::default();
        assert_eq!(certified.most_milli(1000, SECOND), 0, "nothing is certified");
        certified.set(100.0 / ABOVE, 30.0);
        // Ten a second above it: the thirty that may come early are used up after three seconds.
        let mut fits = 0;
        for nth in 0..1100 {
            let now_ns = SECOND + nth * SECOND / 110;
            fits += u32::from(certified.most_milli(1000, now_ns) == 30_000);
            certified.took(1000, now_ns);
        }
        assert!((315..=340).contains(&fits), "{fits}");
        // Then as many have to be left out again.
        let end_ns = 11 * SECOND;
        assert_eq!(certified.most_milli(1000, end_ns + 290_000_000), 0);
        assert_eq!(certified.most_milli(1000, end_ns + 320_000_000), 30_000);
    }
}
