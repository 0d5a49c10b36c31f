//! Moves the ceiling below the certified line while live latency is outside of its envelope.
//!
//! Outside is where more answers are late than chance explains: of 500, a p99 allows five, and nine are none too many.
//! There the ceiling falls to a little below what the upstream completes, so that what queues there drains, and by a tenth
//! at least. Inside, it rises by small steps back to the line and not above. Nothing is sent or held back to find
//! something out.

use super::{Envelope, Seen};

/// Looks with fewer answers than this are put together with the next.
const SAMPLES_LEAST: u64 = 50;
/// Looks that are put together at most.
const LOOKS_MOST: u32 = 10;
/// What of the upstream's rate is let through while its queue drains.
const BELOW_COMPLETED: f64 = 0.93;
/// A step down is at least this.
const STEP_DOWN: f64 = 0.9;
/// A step up.
const STEP_UP: f64 = 1.02;
/// Added to a step up, so that a low ceiling is not stuck there.
const STEP_UP_LEAST: f64 = 0.005;
/// Standard deviations by which more answers than the envelope allows must be late: of few, some are by chance.
const BY_CHANCE: f64 = 2.0;
/// Above this share of the envelope the ceiling does not rise.
const NEAR: f64 = 0.8;
/// The lowest ceiling.
const FLOOR: f64 = 0.05;
/// Below this share of the line for that many looks, the line no longer fits.
const FITS_FROM: f64 = 0.8;
const FITS_LOOKS: u32 = 60;

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The ceiling as a share of the line, 0..=1.
    pub factor: f64,
    /// The percentile of the envelope, where there were enough answers for it.
    pub latency_ns: Option<u64>,
    /// Whether the ceiling has been far below the line for long: the API is not what was measured.
    pub fits: bool,
}

/// The ceiling's place over time.
#[derive(Debug)]
pub struct Governor {
    certified_per_s: f64,
    envelope: Envelope,
    factor: f64,
    gathered: Seen,
    gathered_s: f64,
    gathered_looks: u32,
    low_for: u32,
}

impl Governor {
    /// At the line.
    pub fn new(certified_per_s: f64, envelope: Envelope) -> Self {
        Self {
            certified_per_s,
            envelope,
            factor: 1.0,
            gathered: Seen::default(),
            gathered_s: 0.0,
            gathered_looks: 0,
            low_for: 0,
        }
    }

    /// Judges what was seen in the last `seconds`.
    pub fn step(&mut self, seen: &Seen, seconds: f64) -> Verdict {
        self.gathered.latency.merge(&seen.latency);
        self.gathered.completed_milli += seen.completed_milli;
        self.gathered.refused += seen.refused;
        self.gathered_s += seconds;
        self.gathered_looks += 1;
        let samples = self.gathered.latency.count();
        let enough = samples >= SAMPLES_LEAST;
        if !enough && self.gathered_looks < LOOKS_MOST {
            return self.verdict(None);
        }
        let latency = enough.then(|| self.gathered.latency.at_quantile(self.envelope.share));
        self.move_by(latency);
        self.gathered = Seen::default();
        (self.gathered_s, self.gathered_looks) = (0.0, 0);
        self.verdict(latency)
    }

    /// Whether more answers were late than chance explains where the envelope holds.
    fn is_outside(&self) -> bool {
        let (share, latency) = (self.envelope.share, &self.gathered.latency);
        let deviation = (share * (1.0 - share) / latency.count() as f64).sqrt();
        latency.share_above(self.envelope.limit_ns) > 1.0 - share + BY_CHANCE * deviation
    }

    fn move_by(&mut self, latency: Option<u64>) {
        let limit = self.envelope.limit_ns;
        match latency {
            Some(_) if self.is_outside() => {
                let completed_per_s =
                    self.gathered.completed_milli as f64 / 1000.0 / self.gathered_s.max(1e-3);
                let kept = BELOW_COMPLETED * completed_per_s / self.certified_per_s;
                self.factor = kept.min(self.factor * STEP_DOWN).max(FLOOR);
            }
            Some(latency) if latency as f64 > limit as f64 * NEAR => {}
            // Hardly an answer in all this time is no sign of too much load.
            _ => self.factor = (self.factor * STEP_UP + STEP_UP_LEAST).min(1.0),
        }
        self.low_for = if self.factor < FITS_FROM { self.low_for.saturating_add(1) } else { 0 };
    }

    fn verdict(&self, latency_ns: Option<u64>) -> Verdict {
        Verdict { factor: self.factor, latency_ns, fits: self.low_for < FITS_LOOKS }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::usage::bucket_of;

    const MS: u64 = 1_000_000;

    fn governor() -> Governor {
        let envelope = Envelope { share: 0.99, limit_ns: 100 * MS, from: "p99<100ms".into() };
        Governor::new(1000.0, envelope)
    }

    fn seen(latency_ns: u64, completed: u64) -> Seen {
        let mut seen = Seen { completed_milli: completed * 1000, ..Seen::default() };
        seen.latency.0[bucket_of(latency_ns)] = completed;
        seen
    }

    #[test]
    fn inside_the_envelope_it_stays_at_the_line() {
        let mut governor = governor();
        for _ in 0..100 {
            let verdict = governor.step(&seen(20 * MS, 500), 0.5);
            assert_eq!((verdict.factor, verdict.fits), (1.0, true));
        }
    }

    #[test]
    fn outside_it_falls_below_what_is_completed_and_comes_back() {
        let mut governor = governor();
        let verdict = governor.step(&seen(300 * MS, 250), 0.5);
        assert!((verdict.factor - 0.465).abs() < 1e-9, "{verdict:?}");
        // Near the limit it waits, well inside it rises.
        assert_eq!(governor.step(&seen(90 * MS, 250), 0.5).factor, verdict.factor);
        let mut last = verdict.factor;
        for _ in 0..60 {
            let factor = governor.step(&seen(20 * MS, 250), 0.5).factor;
            assert!(factor >= last && factor <= 1.0);
            last = factor;
        }
        assert_eq!(last, 1.0);
    }

    /// Nine of 500 are late where five are allowed: chance, and the ceiling stays. Of twenty it does not.
    #[test]
    fn what_chance_explains_moves_nothing() {
        for (late, factor) in [(9, 1.0), (20, 0.9)] {
            let mut governor = governor();
            let mut seen = seen(20 * MS, 500 - late);
            seen.latency.0[bucket_of(300 * MS)] = late;
            seen.completed_milli = 500_000;
            let verdict = governor.step(&seen, 0.5);
            assert!(verdict.latency_ns > Some(100 * MS), "{verdict:?}");
            assert_eq!(verdict.factor, factor, "{late} late");
        }
    }

    #[test]
    fn an_api_that_got_slower_no_longer_fits_its_line() {
        let mut governor = governor();
        for _ in 0..FITS_LOOKS {
            governor.step(&seen(300 * MS, 100), 0.5);
        }
        let verdict = governor.step(&seen(300 * MS, 100), 0.5);
        assert!(!verdict.fits && verdict.factor >= FLOOR);
    }

    #[test]
    fn few_answers_are_put_together() {
        let mut governor = governor();
        for _ in 0..4 {
            assert_eq!(governor.step(&seen(300 * MS, 10), 0.5).latency_ns, None);
        }
        let verdict = governor.step(&seen(300 * MS, 10), 0.5);
        assert!(verdict.latency_ns.is_some() && verdict.factor < 1.0);
    }

    /// A server with a queue that carries less than its line says: what is let through settles below what it
    /// carries, and stays near it.
    #[test]
    fn a_server_at_half_its_capacity_is_held_near_it() {
        let (capacity, offered) = (500.0, 2000.0);
        let mut governor = governor();
        let (mut queue, mut factor, mut goodput, mut inside) = (0.0f64, 1.0, 0.0, 0);
        for look in 0..400 {
            let admitted = f64::min(offered, 1000.0 * factor) * 0.5;
            let completed = f64::min(queue + admitted, capacity * 0.5);
            queue += admitted - completed;
            let latency = MS * 2 + (queue / capacity * 1e9) as u64;
            factor = governor.step(&seen(latency, completed as u64), 0.5).factor;
            if look >= 100 {
                goodput += completed / (capacity * 0.5) / 300.0;
                inside += u32::from(latency <= 100 * MS);
            }
        }
        assert!(goodput >= 0.95, "{goodput}");
        assert!(inside >= 250, "{inside}");
    }

    proptest! {
        #[test]
        fn never_above_the_line_and_never_up_while_outside(
            looks in prop::collection::vec((0u64..1000, 0u64..400), 1..200)
        ) {
            let mut governor = governor();
            let mut before = 1.0;
            for (latency_ms, completed) in looks {
                let verdict = governor.step(&seen(latency_ms * MS, completed), 0.5);
                prop_assert!((FLOOR..=1.0).contains(&verdict.factor));
                if verdict.latency_ns.is_some_and(|latency| latency > 100 * MS) {
                    prop_assert!(verdict.factor <= before);
                }
                before = verdict.factor;
            }
        }
    }
}
