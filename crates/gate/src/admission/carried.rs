//! What the API carries while that is less than its ceiling: a slowed server answers what is in flight late, and the
//! ceiling's number in flight then refuses requests that its rate would let through. Shares are shares of this. What it
//! completes is told by the time in which it ran: a stall is over soon.

use super::Seen;

/// The part of the number in flight at most from which on a look is one of an API that has all it can carry.
const FULL: f64 = 0.7;
/// The share of requests that must have been refused in such a look.
const REFUSED: f64 = 0.02;
/// The part of the ceiling that as many in flight as may be carry, by Little's law, in an API that is as fast as it was
/// measured: it may need all its places for its rate.
const AS_MEASURED: f64 = 0.9;
/// What of the rate of such an API is shared out, so that the room in flight becomes free.
const BELOW_COMPLETED: f64 = 0.97;
/// A step back up.
const STEP_UP: f64 = 1.02;
/// A step back up while less than [`IDLE`] of the number in flight at most is in flight.
const STEP_UP_IDLE: f64 = 1.2;
const IDLE: f64 = 0.25;
/// Of the ceiling, what an API is taken to carry at least: steps up begin there.
const LEAST: f64 = 0.05;

/// What the API is known to carry, in mean requests per second.
#[derive(Debug)]
pub struct Carried(f64);

impl Default for Carried {
    /// As much as the ceiling lets through.
    fn default() -> Self {
        Self(f64::INFINITY)
    }
}

impl Carried {
    /// Learns from what was seen in the last `seconds` below a ceiling of so many mean requests per second and at once.
    pub fn learn(&mut self, seen: &Seen, seconds: f64, ceiling_per_s: f64, at_once: f64) {
        let seconds = seconds.max(1e-3);
        let completed = seen.completed_milli as f64 / 1000.0;
        let in_flight = seen.in_flight(seconds);
        let asked = seen.latency.count() + seen.refused;
        let refused = seen.refused as f64 > REFUSED * asked as f64;
        let slow = completed / seconds * at_once < AS_MEASURED * ceiling_per_s * in_flight;
        let full = refused && slow && in_flight >= FULL * at_once;
        self.0 = match () {
            // All that was in flight was given up: that may be of a stall, and says of no rate what it is.
            () if full && seen.completed_milli == 0 => self.0,
            () if full => BELOW_COMPLETED * completed / seen.running_s(seconds),
            () if in_flight < IDLE * at_once => self.0 * STEP_UP_IDLE,
            () => self.0 * STEP_UP,
        };
        self.0 = self.0.max(LEAST * ceiling_per_s).min(ceiling_per_s);
    }

    /// Mean requests per second.
    pub fn per_s(&self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::bucket_of;

    const MS: u64 = 1_000_000;

    /// Half a second under a ceiling of 1,000 a second and 30 at once.
    fn learn(carried: &mut Carried, latency_ns: u64, completed: u64, refused: u64) -> f64 {
        let mut seen = Seen { completed_milli: completed * 1000, refused, ..Seen::default() };
        seen.latency.0[bucket_of(latency_ns)] = completed;
        carried.learn(&seen, 0.5, 1000.0, 30.0);
        carried.per_s()
    }

    #[test]
    fn a_slowed_server_carries_what_it_completes() {
        let mut carried = Carried::default();
        assert_eq!(learn(&mut carried, 10 * MS, 480, 100), 1000.0, "10 in flight of 30");
        assert_eq!(learn(&mut carried, 60 * MS, 250, 100), 485.0, "30 in flight of 30");
        assert!((learn(&mut carried, 40 * MS, 250, 0) - 494.7).abs() < 1e-9, "nothing is refused");
        for _ in 0..5 {
            learn(&mut carried, 4 * MS, 250, 0);
        }
        assert_eq!(carried.per_s(), 1000.0, "hardly anything is in flight");
    }

    /// It completes less than the ceiling since it is given less.
    #[test]
    fn an_api_that_needs_all_its_places_carries_its_ceiling() {
        let mut carried = Carried::default();
        assert_eq!(learn(&mut carried, 30 * MS, 400, 100), 1000.0, "24 in flight of 30");
        assert_eq!(learn(&mut carried, 45 * MS, 300, 100), 582.0, "27 in flight of 30, and slower");
    }

    /// Clients leave while the API stands still. Keys were held to one request a second each from then on, for ever.
    #[test]
    fn an_api_that_answered_nothing_for_a_while_is_shared_as_before() {
        let mut carried = Carried::default();
        // 30 in flight of 30.
        let still = Seen { given_up: 15_000_000_000, refused: 100, ..Seen::default() };
        for _ in 0..10 {
            carried.learn(&still, 0.5, 1000.0, 30.0);
        }
        assert_eq!(carried.per_s(), 1000.0);
        assert_eq!(learn(&mut carried, 15_000 * MS, 1, 100), 50.0, "30 in flight of 30");
        for _ in 0..20 {
            learn(&mut carried, 4 * MS, 20, 0);
        }
        assert_eq!(carried.per_s(), 1000.0);
    }

    #[test]
    fn a_burst_into_an_idle_api_says_nothing() {
        let mut carried = Carried::default();
        assert_eq!(learn(&mut carried, 60 * MS, 30, 170), 1000.0);
    }

    #[test]
    fn nothing_seen_lowers_nothing() {
        let mut carried = Carried::default();
        carried.learn(&Seen::default(), 0.0, 1000.0, 30.0);
        assert_eq!(carried.per_s(), 1000.0);
    }
}
