//! Moves the ceiling below the certified line while live latency is outside of its envelope.
//!
//! Latency is outside when more responses are late than chance explains: of 500, a p99 allows five, and nine may still be
//! chance. Late responses alone do not show what the API can carry: a short stall makes all requests in flight late. So
//! the ceiling falls only when, for more than one look, latency is outside, requests wait for room, and the API completes
//! less *while it runs* than the ceiling allows. It falls to a little below that throughput, so that the queue in the API
//! drains. Time in which the API completed nothing, or in which clients asked for no more, does not count as throughput.
//!
//! While latency is well inside, the ceiling doubles with each look, so an API that has recovered has its line again within a
//! second or two. If that was too much, the API stays slow, and later rises are smaller: at most by the room below the
//! envelope, since the latency of a server with a queue grows at most in proportion to the number in flight. One look
//! outside is then enough to fall again.
//!
//! Where latency is inside by less, it is that of a queue, or the API takes that long by itself, whatever the ceiling is. If
//! its mean is no longer than it was measured, the API is the one that was measured, and the ceiling rises to the line within
//! seconds. If it is longer, the ceiling rises by no more than the room that is left. A fall soon after such a rise ends
//! these rises for a minute or longer. The governor never sends or holds back a request to find something out.

use super::{Envelope, Line, Seen};

/// Looks with fewer responses than this are merged with the next.
const SAMPLES_LEAST: u64 = 50;
/// This many responses suffice for a rise if all are well inside the envelope.
const SAMPLES_TO_RISE: u64 = 10;
/// The most looks that are merged.
const LOOKS_MOST: u32 = 10;
/// The part of the upstream's rate that is let through while its queue drains.
const BELOW_COMPLETED: f64 = 0.93;
/// The smallest and the largest step down.
const STEP_DOWN: f64 = 0.9;
const STEP_DOWN_MOST: f64 = 0.5;
/// After this many looks outside in a row, the ceiling falls if the API completes less than [`SLOWER`] of it.
const OUTSIDE_LOOKS: u32 = 2;
const SLOWER: f64 = 0.8;
/// After this many looks outside, without one well inside between them, it also falls if the API is only a little slower, or
/// does not stall and the limit on the number in flight is reached.
const OUTSIDE_LONG: u32 = 4;
const LITTLE_SLOWER: f64 = 0.97;
/// From this part of the limit on the number in flight on, the limit counts as reached.
const FULL: f64 = 0.7;
/// From this share of refused requests on, requests count as waiting for room.
const REFUSED: f64 = 0.02;
/// The limit on a step up: at first [`STEP_UP_MOST`]; after rises that were too large, down to this.
const STEP_UP: f64 = 1.02;
const STEP_UP_MOST: f64 = 2.0;
/// Added to a step up, so that a low ceiling does not stay low.
const STEP_UP_LEAST: f64 = 0.005;
/// A fall within [`BOLD_LOOKS`] after a rise by more than [`BOLD`], or after any above [`NEAR`], makes later rises smaller; no
/// fall for [`BOLDER_LOOKS`] makes them larger again.
const BOLD: f64 = 1.05;
const BOLD_LOOKS: u32 = 40;
const BOLDER_LOOKS: u32 = 120;
/// Late responses must exceed the number that the envelope allows by this many standard deviations: fewer may be chance.
const BY_CHANCE: f64 = 2.0;
/// Above this share of the envelope latency is not well inside.
const NEAR: f64 = 0.8;
/// The largest step up there.
const STEP_UP_NEAR: f64 = 1.1;
/// The share of the envelope up to which the ceiling rises where the API is slower than it was measured.
const UP_TO: f64 = 0.95;
/// An API is as fast as it was measured if the measured mean latency is at least this part of its own: the buckets of latency
/// are not more exact.
const AS_MEASURED: f64 = 0.9;
/// The lowest ceiling.
const FLOOR: f64 = 0.05;
/// If the ceiling is below this share of the line, or latency outside, for about [`FITS_LOOKS`], and latency was not well inside in
/// the last few looks, the line no longer fits. It fits again once the API completes that share of it, well inside or as fast as
/// it was measured.
const FITS_FROM: f64 = 0.8;
const FITS_LOOKS: u32 = 60;
const PRESSED_LOOKS: u32 = 6;

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The ceiling as a share of the line, 0..=1.
    pub factor: f64,
    /// The percentile of the envelope, where there were enough responses for it.
    pub latency_ns: Option<u64>,
    /// Whether the line still fits: latency was not outside for long at loads that the line certifies, or the line was carried
    /// since. Otherwise the API is not the one that was measured.
    pub fits: bool,
}

/// The ceiling's place over time.
#[derive(Debug)]
pub struct Governor {
    certified_per_s: f64,
    at_once: f64,
    /// The mean latency that was measured.
    mean_ns: f64,
    envelope: Envelope,
    factor: f64,
    gathered: Seen,
    gathered_s: f64,
    gathered_looks: u32,
    /// Looks outside, without one between them that was well inside, or inside with an API as fast as it was measured.
    outside_for: u32,
    /// The largest step up.
    step_up_most: f64,
    /// Looks since the last rise by more than [`BOLD`] or above [`NEAR`], and since the last fall; many where there was none.
    since_rise: u32,
    since_fall: u32,
    /// Looks since latency was outside, or not well inside with an API slower than it was measured.
    since_pressed: u32,
    misfit_for: u32,
    fits: bool,
}

impl Governor {
    /// A governor with the ceiling at the line.
    pub fn new(line: &Line) -> Self {
        Self {
            certified_per_s: line.rate_per_s,
            at_once: line.at_once,
            mean_ns: line.mean_ns as f64,
            envelope: line.envelope.clone(),
            factor: 1.0,
            gathered: Seen::default(),
            gathered_s: 0.0,
            gathered_looks: 0,
            outside_for: 0,
            step_up_most: STEP_UP_MOST,
            since_rise: u32::MAX,
            since_fall: u32::MAX,
            since_pressed: u32::MAX,
            misfit_for: 0,
            fits: true,
        }
    }

    /// Judges what was seen in the last `seconds`.
    pub fn step(&mut self, seen: &Seen, seconds: f64) -> Verdict {
        self.gathered.latency.merge(&seen.latency);
        self.gathered.completed_milli += seen.completed_milli;
        self.gathered.given_up += seen.given_up;
        self.gathered.refused += seen.refused;
        self.gathered.stalled_ns += seen.stalled_ns;
        self.gathered.stalls += seen.stalls;
        self.gathered_s += seconds;
        self.gathered_looks += 1;
        let samples = self.gathered.latency.count();
        let near_ns = (self.envelope.limit_ns as f64 * NEAR) as u64;
        let may_rise = self.factor < 1.0
            && samples >= SAMPLES_TO_RISE
            && self.gathered.latency.share_above(near_ns) == 0.0;
        let enough = samples >= SAMPLES_LEAST || may_rise;
        if !enough && self.gathered_looks < LOOKS_MOST {
            return self.verdict(None);
        }
        let latency = enough.then(|| self.gathered.latency.at_quantile(self.envelope.share));
        self.move_by(latency);
        self.gathered = Seen::default();
        (self.gathered_s, self.gathered_looks) = (0.0, 0);
        self.verdict(latency)
    }

    /// Whether more responses were late than chance explains where the envelope holds.
    fn is_outside(&self) -> bool {
        let (share, latency) = (self.envelope.share, &self.gathered.latency);
        let deviation = (share * (1.0 - share) / latency.count() as f64).sqrt();
        latency.share_above(self.envelope.limit_ns) > 1.0 - share + BY_CHANCE * deviation
    }

    fn move_by(&mut self, latency: Option<u64>) {
        for since in [&mut self.since_rise, &mut self.since_fall, &mut self.since_pressed] {
            *since = since.saturating_add(1);
        }
        if self.since_fall > BOLDER_LOOKS && self.step_up_most < STEP_UP_MOST {
            self.step_up_most = self.step_up_most.powi(3).min(STEP_UP_MOST);
            self.since_fall = 0;
        }
        let near_ns = self.envelope.limit_ns as f64 * NEAR;
        let outside = latency.is_some() && self.is_outside();
        let near = latency.is_some_and(|latency| latency as f64 > near_ns);
        let pressed = outside || (near && !self.is_as_measured());
        match (outside, pressed) {
            (true, _) => self.outside_for = self.outside_for.saturating_add(1),
            (false, true) => {}
            (false, false) => self.outside_for = 0,
        }
        if pressed {
            self.since_pressed = 0;
        }
        match latency {
            Some(_) if outside => self.fall(),
            Some(latency) if latency as f64 > near_ns => self.rise_near(latency),
            // Hardly a response in all this time is no sign of too much load.
            latency => self.rise(near_ns / latency.unwrap_or(1).max(1) as f64),
        }
        let misfit = outside || self.factor < FITS_FROM;
        self.misfit_for = match misfit {
            true => (self.misfit_for + self.gathered_looks).min(2 * FITS_LOOKS),
            false => self.misfit_for.saturating_sub(2 * self.gathered_looks),
        };
        let lasting = self.misfit_for >= FITS_LOOKS && self.since_pressed <= PRESSED_LOOKS;
        let completed = self.gathered.completed_milli as f64 / 1000.0;
        let carried = completed >= FITS_FROM * self.certified_per_s * self.gathered_s;
        self.fits = !lasting && (self.fits || (carried && !pressed));
    }

    /// The ceiling falls, if the API is slower than the ceiling.
    fn fall(&mut self) {
        let seen = &self.gathered;
        // What was given up while nothing was answered may be of a stall, which is over soon.
        if seen.completed_milli == 0 && self.outside_for < OUTSIDE_LONG {
            return;
        }
        let completed = seen.completed_milli as f64 / 1000.0;
        let carries = completed / seen.running_s(self.gathered_s) / self.certified_per_s;
        let full = seen.in_flight(self.gathered_s) >= FULL * (self.at_once * self.factor).max(1.0);
        let asked = (seen.latency.count() + seen.refused) as f64;
        let waiting = full || seen.refused as f64 > REFUSED * asked;
        // An API that a rise was too bold for is known to be slower.
        let known = self.is_careful();
        let (looks, long) = if known { (1, 1) } else { (OUTSIDE_LOOKS, OUTSIDE_LONG) };
        let slower = self.outside_for >= looks && waiting && carries < SLOWER * self.factor;
        // A stall explains latency that nothing else does.
        let little_slower = seen.stalls == 0 || carries < LITTLE_SLOWER * self.factor;
        if !(slower || (self.outside_for >= long && full && little_slower)) {
            return;
        }
        let (least, most) = (self.factor * STEP_DOWN_MOST, self.factor * STEP_DOWN);
        self.factor = (BELOW_COMPLETED * carries).clamp(least, most).max(FLOOR);
        if self.since_rise <= BOLD_LOOKS {
            self.step_up_most = self.step_up_most.cbrt().max(STEP_UP);
            self.since_rise = u32::MAX;
        }
        self.since_fall = 0;
    }

    /// The ceiling rises, if it is below the line. `room` is how many times as long responses may take as they do.
    fn rise(&mut self, room: f64) {
        if self.factor >= 1.0 {
            return;
        }
        let step = match self.is_careful() {
            true => room.clamp(STEP_UP, self.step_up_most.max(STEP_UP)),
            false => STEP_UP_MOST,
        };
        if step > BOLD {
            self.since_rise = 0;
        }
        self.factor = (self.factor * step + STEP_UP_LEAST).min(1.0);
    }

    /// The ceiling rises, if it is below the line, although latency is not well inside. A fall that follows soon ends that.
    fn rise_near(&mut self, latency_ns: u64) {
        let room = UP_TO * self.envelope.limit_ns as f64 / latency_ns as f64;
        let step = if self.is_as_measured() { STEP_UP_NEAR } else { room.min(STEP_UP_NEAR) };
        if step <= 1.0 || self.factor >= 1.0 || self.is_careful() {
            return;
        }
        self.since_rise = 0;
        self.factor = (self.factor * step).min(1.0);
    }

    /// Whether requests take hardly longer in the mean than when the line was measured; false where none was completed.
    fn is_as_measured(&self) -> bool {
        let seen = &self.gathered;
        let completed = seen.completed_milli as f64 / 1000.0;
        // By Little's law, so that waits that were given up count.
        let mean_ns = seen.in_flight(self.gathered_s) * self.gathered_s * 1e9 / completed;
        AS_MEASURED * mean_ns <= self.mean_ns
    }

    /// Whether a rise has been too bold lately.
    fn is_careful(&self) -> bool {
        self.step_up_most < STEP_UP_MOST
    }

    fn verdict(&self, latency_ns: Option<u64>) -> Verdict {
        Verdict { factor: self.factor, latency_ns, fits: self.fits }
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
        let line = Line { rate_per_s: 1000.0, at_once: 50.0, envelope, ..Line::default() };
        Governor::new(&line)
    }

    fn seen(latency_ns: u64, completed: u64) -> Seen {
        ran(latency_ns, completed, 500)
    }

    /// Half a second of which the API ran so long, and more came than was let through.
    fn ran(latency_ns: u64, completed: u64, running_ms: u64) -> Seen {
        let mut seen = Seen {
            completed_milli: completed * 1000,
            refused: completed,
            stalled_ns: (500 - running_ms) * MS,
            stalls: u64::from(running_ms < 500),
            ..Seen::default()
        };
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
        assert_eq!(governor.step(&seen(300 * MS, 300), 0.5).factor, 1.0, "one look is no reason");
        let verdict = governor.step(&seen(300 * MS, 300), 0.5);
        assert!((verdict.factor - 0.558).abs() < 1e-9, "{verdict:?}");
        // Near the limit it rises by the room that is left, and well inside it is back in a second.
        let near = governor.step(&seen(90 * MS, 250), 0.5).factor / verdict.factor;
        assert!((1.0..100.0 / 90.0).contains(&near), "{near}");
        governor.step(&seen(20 * MS, 280), 0.5);
        let verdict = governor.step(&seen(20 * MS, 480), 0.5);
        assert_eq!((verdict.factor, verdict.fits), (1.0, true));
    }

    /// All is late that was in flight in a pause, and while it ran the API completed what it was measured with.
    #[test]
    fn a_stall_is_no_slower_api() {
        let mut governor = governor();
        for _ in 0..3 {
            assert_eq!(governor.step(&ran(150 * MS, 350, 350), 0.5).factor, 1.0);
        }
        // A client that asks for half of the line is not refused for a late response.
        let mut asked = seen(5 * MS, 240);
        asked.latency.0[bucket_of(150 * MS)] = 10;
        asked.refused = 0;
        for _ in 0..10 {
            assert_eq!(governor.step(&asked, 0.5).factor, 1.0);
        }
    }

    /// Half a second in which so many were given up late, and so many answered well inside.
    fn given_up(late: u64, answered: u64) -> Seen {
        let mut seen = seen(20 * MS, answered);
        seen.latency.0[bucket_of(1000 * MS)] = late;
        (seen.given_up, seen.refused) = (late * 1_000_000_000, late);
        seen
    }

    /// One of four gateways holds a quarter of the places: when they are all taken, all are, by what is answered and what is not.
    #[test]
    fn what_one_gateway_sees_is_its_part() {
        for (late, answered) in [(0, 600), (10, 0), (10, 600)] {
            let own = given_up(late, answered);
            let all = own.clone().of_all(0.25);
            let times = all.in_flight(0.5) / own.in_flight(0.5);
            assert!((times - 4.0).abs() < 1e-3, "{late}, {answered}: {times}");
        }
    }

    /// Clients that leave before they are answered do not make a slow API look productive; where nothing at all is answered,
    /// it may be a stall, for a while.
    #[test]
    fn answers_that_nobody_waits_for_are_none() {
        let mut slow = governor();
        slow.step(&given_up(400, 60), 0.5);
        let verdict = slow.step(&given_up(400, 60), 0.5);
        assert!(verdict.factor <= 0.5, "{verdict:?}");
        let mut dead = governor();
        let mut factors = (0..6).map(|_| dead.step(&given_up(400, 0), 0.5).factor);
        assert!(factors.by_ref().take(3).all(|factor| factor == 1.0));
        assert!(factors.all(|factor| factor < 1.0));
    }

    #[test]
    fn a_rise_that_was_too_bold_is_followed_by_smaller_ones() {
        let mut governor = governor();
        let mut risen = Vec::new();
        for _ in 0..4 {
            while governor.step(&seen(300 * MS, 200), 0.5).factor > 0.5 {}
            let before = governor.factor;
            risen.push(governor.step(&seen(10 * MS, 200), 0.5).factor / before);
        }
        assert!(risen[0] > 1.9 && risen[3] < 1.3, "{risen:?}");
        assert!(risen.is_sorted_by(|a, b| a >= b), "{risen:?}");
    }

    /// Six of 300 are late where three are allowed: chance, and the ceiling stays. Of twenty it does not.
    #[test]
    fn what_chance_explains_moves_nothing() {
        for (late, moved) in [(6, false), (20, true)] {
            let mut governor = governor();
            let mut seen = seen(60 * MS, 300 - late);
            seen.latency.0[bucket_of(300 * MS)] = late;
            governor.step(&seen, 0.5);
            let verdict = governor.step(&seen, 0.5);
            assert!(verdict.latency_ns > Some(100 * MS), "{verdict:?}");
            assert_eq!(verdict.factor < 1.0, moved, "{late} late");
        }
    }

    /// It takes 85 of 100 ms at any load. Its ceiling stayed as low as a trouble had left it for as long as requests came.
    #[test]
    fn an_api_that_takes_as_long_as_it_was_measured_to_has_its_line_again() {
        for (measured_ms, risen) in [(85, true), (20, false)] {
            let mut governor = governor();
            governor.mean_ns = (measured_ms * MS) as f64;
            for _ in 0..2 * FITS_LOOKS {
                governor.step(&seen(300 * MS, 100), 0.5);
            }
            let low = governor.factor;
            assert!(low < 0.3 && !governor.fits, "{low}");
            let step = |governor: &mut Governor| {
                let completed = (450.0 * governor.factor) as u64;
                governor.step(&seen(90 * MS, completed), 0.5)
            };
            let factors: Vec<f64> = (0..60).map(|_| step(&mut governor).factor).collect();
            assert!(factors.is_sorted(), "no dip: {factors:?}");
            let verdict = step(&mut governor);
            assert_eq!((verdict.factor == 1.0, verdict.fits), (risen, risen), "{verdict:?}");
        }
    }

    /// Latency is near the limit at the ceiling, and outside of the envelope above.
    #[test]
    fn a_rise_near_the_limit_that_was_too_much_is_not_tried_again_for_long() {
        let mut governor = governor();
        governor.mean_ns = 90e6;
        governor.factor = 0.5;
        let mut falls = 0;
        for _ in 0..240 {
            let before = governor.factor;
            let latency_ns = if before > 0.6 { 120 * MS } else { 88 * MS };
            governor.step(&seen(latency_ns, 250), 0.5);
            falls += u32::from(governor.factor < before);
        }
        assert!((1..=2).contains(&falls), "{falls} in two minutes");
    }

    #[test]
    fn an_api_that_got_slower_no_longer_fits_its_line_until_it_is_well() {
        let mut governor = governor();
        for _ in 0..FITS_LOOKS {
            governor.step(&seen(300 * MS, 100), 0.5);
        }
        let verdict = governor.step(&seen(300 * MS, 100), 0.5);
        assert!(!verdict.fits && verdict.factor >= FLOOR);
        // Nobody asks any more, or for little: that is answered in time, and says nothing of the line.
        for few in [Seen::default(), seen(10 * MS, 100)] {
            assert!((0..100).all(|_| !governor.step(&few, 0.5).fits), "{few:?}");
        }
        let mut looks = 0;
        while !governor.step(&seen(10 * MS, 400), 0.5).fits {
            looks += 1;
        }
        assert!(looks <= PRESSED_LOOKS, "{looks}");
    }

    #[test]
    fn few_answers_are_put_together() {
        let mut governor = governor();
        for _ in 0..4 {
            assert_eq!(governor.step(&seen(300 * MS, 10), 0.5).latency_ns, None);
        }
        assert!(governor.step(&seen(300 * MS, 10), 0.5).latency_ns.is_some());
        for _ in 0..5 {
            governor.step(&seen(300 * MS, 10), 0.5);
        }
        let low = governor.factor;
        assert!(low < 1.0);
        // To rise, a few that are well inside do.
        assert!(governor.step(&seen(10 * MS, 10), 0.5).factor > low);
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
