//! How much the API carries while that is less than the ceiling. A slowed server is late with the requests in flight, so
//! the ceiling's limit on requests in flight refuses requests that its rate would let through. Fair shares are parts of
//! this throughput. It is computed from the time in which the API ran, without stalls, which end soon.

use super::Seen;

/// From this part of the limit on the number in flight on, a look counts as one of a full API.
const FULL: f64 = 0.7;
/// The least share of requests that must have been refused in such a look.
const REFUSED: f64 = 0.02;
/// An API is as fast as it was measured if, by Little's law, its limit on the number in flight carries this part of the ceiling: it
/// may need all of the limit for its rate. Only a look with at least `TELLING` of the limit in flight shows that.
const AS_MEASURED: f64 = 0.9;
const TELLING: f64 = 0.25;
/// The part of a full API's rate that is divided among keys, so that places in flight become free.
const BELOW_COMPLETED: f64 = 0.97;
/// The smallest and the largest step up.
const STEP_UP: f64 = 1.02;
const STEP_UP_MOST: f64 = 2.0;
/// An API counts as carrying at least this part of the ceiling: steps up begin there.
const LEAST: f64 = 0.05;

/// What the API is known to carry, in mean requests per second.
#[derive(Debug)]
pub struct Throughput(f64);

impl Default for Throughput {
    /// As much as the ceiling allows.
    fn default() -> Self {
        Self(f64::INFINITY)
    }
}

impl Throughput {
    /// Learns from what was seen in the last `seconds` below a ceiling of this many mean requests per second and at once.
    pub fn learn(&mut self, seen: &Seen, seconds: f64, ceiling_per_s: f64, at_once: f64) {
        let seconds = seconds.max(1e-3);
        let completed = seen.completed_milli as f64 / 1000.0;
        let in_flight = seen.in_flight(seconds);
        let asked = seen.latency.count() + seen.refused;
        let refused = seen.refused as f64 > REFUSED * asked as f64;
        let full = in_flight >= FULL * at_once;
        let slow = completed / seconds * at_once < AS_MEASURED * ceiling_per_s * in_flight;
        self.0 = match () {
            () if !slow && in_flight >= TELLING * at_once => f64::INFINITY,
            // All requests in flight were given up. That may be a stall, and shows no rate.
            () if full && refused && seen.completed_milli == 0 => self.0,
            () if full && refused => BELOW_COMPLETED * completed / seen.running_s(seconds),
            // This many times the rate fills no more than `FULL`, unless there is a queue: then the next look lowers it again.
            () => self.0 * (FULL * at_once / in_flight).clamp(STEP_UP, STEP_UP_MOST),
        };
        self.0 = self.0.max(LEAST * ceiling_per_s);
        if self.0 >= ceiling_per_s {
            self.0 = f64::INFINITY;
        }
    }

    /// Mean requests per second; infinite if the API carries whatever the ceiling allows.
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
    fn learn(throughput: &mut Throughput, latency_ns: u64, completed: u64, refused: u64) -> f64 {
        let mut seen = Seen { completed_milli: completed * 1000, refused, ..Seen::default() };
        seen.latency.0[bucket_of(latency_ns)] = completed;
        throughput.learn(&seen, 0.5, 1000.0, 30.0);
        throughput.per_s().min(1000.0)
    }

    #[test]
    fn a_slowed_server_carries_what_it_completes() {
        let mut throughput = Throughput::default();
        assert_eq!(learn(&mut throughput, 10 * MS, 480, 100), 1000.0, "10 in flight of 30");
        assert_eq!(learn(&mut throughput, 60 * MS, 250, 100), 485.0, "30 in flight of 30");
        let per_s = learn(&mut throughput, 40 * MS, 250, 0);
        assert!(
            (494.0..540.0).contains(&per_s),
            "20 in flight of 30, and nothing is refused: {per_s}"
        );
        learn(&mut throughput, 4 * MS, 250, 0);
        assert_eq!(learn(&mut throughput, 4 * MS, 250, 0), 1000.0, "hardly anything is in flight");
    }

    /// It was held to less for ten seconds, and an honest key of a fifth of the line to a part of that.
    #[test]
    fn an_api_that_is_well_again_has_its_ceiling_within_two_seconds() {
        let mut throughput = Throughput::default();
        assert_eq!(learn(&mut throughput, 300 * MS, 50, 100), 97.0, "30 in flight of 30");
        let per_s: Vec<_> = (0..4).map(|_| learn(&mut throughput, 4 * MS, 100, 0)).collect();
        assert_eq!(per_s, [194.0, 388.0, 776.0, 1000.0]);
        // Where the ceiling had fallen below that, it is all of it when it is at the line again.
        let mut throughput = Throughput::default();
        assert_eq!(learn(&mut throughput, 300 * MS, 50, 100), 97.0);
        throughput.learn(&Seen::default(), 0.5, 50.0, 2.0);
        assert_eq!(learn(&mut throughput, 4 * MS, 100, 0), 1000.0);
    }

    /// It completes less than the ceiling since it is given less.
    #[test]
    fn an_api_that_needs_all_its_places_carries_its_ceiling() {
        let mut throughput = Throughput::default();
        assert_eq!(learn(&mut throughput, 30 * MS, 400, 100), 1000.0, "24 in flight of 30");
        assert_eq!(
            learn(&mut throughput, 45 * MS, 300, 100),
            582.0,
            "27 in flight of 30, and slower"
        );
        assert_eq!(
            learn(&mut throughput, 30 * MS, 200, 0),
            1000.0,
            "12 in flight, and as fast again"
        );
    }

    /// Clients leave while the API stands still. Keys were held to one request a second each from then on, for ever.
    #[test]
    fn an_api_that_answered_nothing_for_a_while_is_shared_as_before() {
        let mut throughput = Throughput::default();
        // 30 in flight of 30.
        let still = Seen { given_up: 15_000_000_000, refused: 100, ..Seen::default() };
        for _ in 0..10 {
            throughput.learn(&still, 0.5, 1000.0, 30.0);
        }
        assert_eq!(throughput.per_s().min(1000.0), 1000.0);
        assert_eq!(learn(&mut throughput, 15_000 * MS, 1, 100), 50.0, "30 in flight of 30");
        for _ in 0..20 {
            learn(&mut throughput, 4 * MS, 20, 0);
        }
        assert_eq!(throughput.per_s().min(1000.0), 1000.0);
    }

    #[test]
    fn a_burst_into_an_idle_api_says_nothing() {
        let mut throughput = Throughput::default();
        assert_eq!(learn(&mut throughput, 60 * MS, 30, 170), 1000.0);
    }

    #[test]
    fn nothing_seen_lowers_nothing() {
        let mut throughput = Throughput::default();
        throughput.learn(&Seen::default(), 0.0, 1000.0, 30.0);
        assert_eq!(throughput.per_s().min(1000.0), 1000.0);
    }
}
