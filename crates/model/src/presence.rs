//! Whether the server was there: the time that users of a closed loop were without it, and the
//! periods in which users waited and none was served.
//!
//! A worker fills a [`PresenceTally`] for each interval; `PresenceSums` makes the run's
//! [`Presence`] of them. What it means for the figures is `verdict`'s to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::{Interval, Phase, PresenceTally, SLOT_BITS, SLOTS};
use crate::units::Nanos;

/// Silences kept: the longest.
const MOST_SILENCES: usize = 16;
/// How many long waits end at once, within about a slot's length, where one thing held them up: those of requests that are slow
/// by themselves end as far apart as they began.
const AT_ONCE: u32 = 3;

/// A period in which no user was served although some waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silence {
    /// When it began, since the run's start, to 17 ms.
    pub from_ns: Nanos,
    /// When it ended, likewise: the last instant that somebody waited in vain, or the window's end; after a failed attempt the
    /// first success, or the window's end, since users that back off wait for the server too.
    pub to_ns: Nanos,
    /// Of it, the time in which the generator itself did not run: nothing is known of it.
    #[serde(default)]
    pub unseen_ns: Nanos,
    /// When the last attempt failed in it; absent where none did: it was a long wait.
    pub last_failed_ns: Option<Nanos>,
    /// In how many slots of 16.8 ms an attempt failed.
    pub failed_slots: u32,
    /// Whether some user was served after it, even in the drain.
    pub ended: bool,
    /// Whether several responses that had been awaited for long came at once at its end: what held up one held up all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
    /// Whether no user had been served before it, neither in the warm-up nor in earlier runs of the same command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub before_any_response: bool,
}

impl Silence {
    /// Its length, as far as it was seen.
    pub const fn duration_ns(&self) -> Nanos {
        self.to_ns.saturating_sub(self.from_ns).saturating_sub(self.unseen_ns)
    }
}

/// Whether the server was there over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Presence {
    /// Users x window, in a closed loop; 0 in an open one, whose arrivals tell.
    pub user_ns: Nanos,
    /// Of it, the time that users were down: from the beginning of an attempt that failed without a
    /// response to the beginning of the next that was answered.
    pub down_ns: Nanos,
    /// Of that, what was ended by the server and not by a time-out: refused, reset, cut off.
    pub cut_ns: Nanos,
    /// Time that users spent on responses that failed.
    pub failing_ns: Nanos,
    /// The longest periods in which no user was served although some waited, 16 at most, in order.
    pub silences: Vec<Silence>,
}

/// Collects intervals.
#[derive(Debug, Default)]
pub(crate) struct PresenceSums {
    sums: PresenceTally,
    open: Option<Silence>,
    /// Unseen time since the open silence was last seen to go on.
    unseen_ns: Nanos,
    silences: Vec<Silence>,
    window_end_ns: Nanos,
    /// Whether some user was served so far, in an earlier run of the same command or in this one.
    any_served: bool,
}

impl PresenceSums {
    /// Nothing yet, of a server that has served an earlier run or has not.
    pub(crate) fn new(served_before: bool) -> Self {
        Self { any_served: served_before, ..Self::default() }
    }

    pub(crate) fn add(&mut self, interval: &Interval) {
        let presence = &interval.tally.presence;
        match interval.phase {
            Phase::Warmup => {
                self.any_served |= presence.served != 0;
                return;
            }
            Phase::Window => self.window(interval.start_ns, interval.end_ns, presence),
            Phase::Drain if presence.served != 0 => {
                let first = presence.served & presence.served.wrapping_neg();
                self.served(self.window_end_ns, released(presence, first));
            }
            Phase::Drain => {}
        }
        self.sums.merge(presence);
    }

    fn window(&mut self, start_ns: Nanos, end_ns: Nanos, presence: &PresenceTally) {
        self.window_end_ns = end_ns;
        let length = end_ns.saturating_sub(start_ns);
        let slots = (length.div_ceil(1 << SLOT_BITS)).min(u64::from(SLOTS));
        for slot in 0..SLOTS {
            let bit = 1 << slot;
            let from = start_ns.saturating_add(u64::from(slot) << SLOT_BITS);
            if presence.served & bit != 0 {
                self.served(from, released(presence, bit));
            } else if presence.unseen & bit != 0 {
                self.unseen_ns = self.unseen_ns.saturating_add(1 << SLOT_BITS);
            } else if u64::from(slot) < slots && (presence.waited | presence.failed) & bit != 0 {
                let to = from.saturating_add(1 << SLOT_BITS).min(end_ns);
                self.in_vain(from, to, presence.failed & bit != 0);
            }
        }
    }

    fn in_vain(&mut self, from_ns: Nanos, to_ns: Nanos, failed: bool) {
        let unseen_ns = std::mem::take(&mut self.unseen_ns);
        match &mut self.open {
            Some(silence) => silence.unseen_ns = silence.unseen_ns.saturating_add(unseen_ns),
            none => {
                let before_any_response = !self.any_served;
                *none = Some(Silence { from_ns, before_any_response, ..Silence::default() });
            }
        }
        let Some(silence) = &mut self.open else { return };
        silence.to_ns = to_ns;
        if failed {
            silence.last_failed_ns = Some(to_ns);
            silence.failed_slots = silence.failed_slots.saturating_add(1);
        }
    }

    /// Some user was served at `at`; `released` says whether several were that had waited for long.
    fn served(&mut self, at: Nanos, released: bool) {
        self.any_served = true;
        let unseen_ns = std::mem::take(&mut self.unseen_ns);
        let Some(mut silence) = self.open.take() else { return };
        if silence.last_failed_ns == Some(silence.to_ns) {
            silence.to_ns = at.max(silence.to_ns);
            silence.unseen_ns = silence.unseen_ns.saturating_add(unseen_ns);
        }
        self.keep(Silence { ended: true, released, ..silence });
    }

    /// Keeps a silence among the longest.
    fn keep(&mut self, silence: Silence) {
        self.silences.push(silence);
        if self.silences.len() > MOST_SILENCES {
            let shortest = (0..).zip(&self.silences).min_by_key(|(_, one)| one.duration_ns());
            if let Some((at, _)) = shortest {
                self.silences.remove(at);
            }
        }
    }

    /// The sums so far.
    pub(crate) const fn sums(&self) -> &PresenceTally {
        &self.sums
    }

    pub(crate) fn finish(mut self) -> Presence {
        if let Some(silence) = self.open.take() {
            self.keep(silence);
        }
        let PresenceTally { user_ns, down_ns, cut_ns, failing_ns, .. } = self.sums;
        Presence { user_ns, down_ns, cut_ns, failing_ns, silences: self.silences }
    }
}

/// Whether several responses that had been awaited for long came about a slot, which is a set of one.
fn released(presence: &PresenceTally, slot: u64) -> bool {
    // What comes at once may come on both sides of an edge.
    presence.long_waits_in(slot | (slot << 1) | (slot >> 1)) >= AT_ONCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Tally;
    use crate::units::SECOND;

    const SLOT: Nanos = 1 << SLOT_BITS;

    fn interval(index: u32, phase: Phase, presence: PresenceTally) -> Interval {
        let start_ns = u64::from(index) * SECOND;
        Interval {
            tally: Tally { presence, ..Tally::default() },
            ..Interval::new(index, phase, start_ns, start_ns + SECOND)
        }
    }

    fn presence(intervals: &[Interval]) -> Presence {
        let mut sums = PresenceSums::default();
        intervals.iter().for_each(|interval| sums.add(interval));
        sums.finish()
    }

    #[test]
    fn a_silence_goes_from_the_first_wait_to_the_last_and_over_intervals() {
        let all = u64::MAX;
        let served = PresenceTally { served: all, waited: all, ..Default::default() };
        let dead = PresenceTally { waited: all, failed: 0b101, ..Default::default() };
        let back = PresenceTally { served: !0b11, waited: all, ..Default::default() };
        let window = |index, presence| interval(index, Phase::Window, presence);
        let found = presence(&[window(0, served), window(1, dead), window(2, back)]);
        let whole = Silence {
            from_ns: SECOND,
            to_ns: 2 * SECOND + 2 * SLOT,
            unseen_ns: 0,
            last_failed_ns: Some(SECOND + 3 * SLOT),
            failed_slots: 2,
            ended: true,
            released: false,
            before_any_response: false,
        };
        assert_eq!(found.silences, [whole]);
        let to_the_end = presence(&[window(0, served), window(1, dead)]);
        let last = Silence { to_ns: 2 * SECOND, ended: false, ..whole };
        assert_eq!(to_the_end.silences, [last]);
        let drained = [window(0, served), window(1, dead), interval(2, Phase::Drain, back)];
        assert_eq!(presence(&drained).silences, [Silence { ended: true, ..last }]);
    }

    #[test]
    fn what_the_generator_did_not_see_neither_ends_a_silence_nor_lengthens_it() {
        let all = u64::MAX;
        let served = PresenceTally { served: all, waited: all, ..Default::default() };
        let unseen = PresenceTally { waited: all, failed: all, unseen: 0b1111 << 30, ..served };
        let unseen = PresenceTally { served: 0, ..unseen };
        let window = |index, presence| interval(index, Phase::Window, presence);
        let mut pausing = unseen;
        pausing.unseen = all;
        let all_of_it = [window(0, served), window(1, unseen), interval(2, Phase::Drain, pausing)];
        let found = presence(&all_of_it).silences;
        let [silence] = &found[..] else { panic!("{found:?}") };
        assert_eq!((silence.from_ns, silence.to_ns, silence.ended), (SECOND, 2 * SECOND, false));
        assert_eq!(silence.unseen_ns, 4 * SLOT);
        let back = presence(&[window(0, served), window(1, pausing), window(2, served)]).silences;
        assert_eq!(back, [], "nothing is known of it");
    }

    #[test]
    fn users_that_back_off_are_without_the_server_until_one_is_served() {
        let served = PresenceTally { served: 1, waited: 1, ..Default::default() };
        let refused = PresenceTally { failed: 1 | 1 << 20, ..Default::default() };
        let back = PresenceTally { served: 1 << 10, ..Default::default() };
        let window = |index, presence| interval(index, Phase::Window, presence);
        let found = presence(&[window(0, served), window(1, refused), window(2, back)]).silences;
        let last_failed_ns = Some(SECOND + 21 * SLOT);
        let whole = Silence {
            from_ns: SECOND,
            to_ns: 2 * SECOND + 10 * SLOT,
            unseen_ns: 0,
            last_failed_ns,
            failed_slots: 2,
            ended: true,
            released: false,
            before_any_response: false,
        };
        assert_eq!(found, [whole]);
        let drained = [window(0, served), window(1, refused), interval(2, Phase::Drain, back)];
        assert_eq!(presence(&drained).silences, [Silence { to_ns: 2 * SECOND, ..whole }]);
    }

    #[test]
    fn a_silence_knows_whether_anybody_was_served_before_it() {
        let waited = PresenceTally { waited: u64::MAX, ..Default::default() };
        let [first, second] =
            [0b1, 0b10].map(|served| PresenceTally { served: served | 1 << 50, ..waited });
        for (name, warm, tally, expected) in [
            ("nobody", waited, second, &[true, false][..]),
            ("some in the first slot", waited, first, &[false]),
            ("some in the warm-up", first, second, &[false, false]),
        ] {
            let window = interval(1, Phase::Window, tally);
            let end = interval(2, Phase::Drain, first);
            let found = presence(&[interval(0, Phase::Warmup, warm), window, end]).silences;
            let before: Vec<bool> = found.iter().map(|one| one.before_any_response).collect();
            let (until_50, to_the_end) = before.split_at(before.len() - 1);
            assert_eq!((until_50, to_the_end), (expected, &[false][..]), "{name}");
        }
    }

    #[test]
    fn a_server_that_served_an_earlier_run_has_no_time_before_its_first_response() {
        let waited = PresenceTally { waited: u64::MAX, served: 1 << 50, ..Default::default() };
        for served_before in [false, true] {
            let mut sums = PresenceSums::new(served_before);
            sums.add(&interval(0, Phase::Window, waited));
            let silences = sums.finish().silences;
            assert_eq!(silences[0].before_any_response, !served_before);
        }
    }

    #[test]
    fn nobody_waits_in_a_pause() {
        let served = PresenceTally { served: 1, waited: 1, ..Default::default() };
        let late = PresenceTally { served: 1 << 40, waited: 1 << 40, ..Default::default() };
        let found =
            presence(&[interval(0, Phase::Window, served), interval(1, Phase::Window, late)]);
        assert_eq!(found.silences, []);
    }

    #[test]
    fn a_silence_behind_which_several_were_served_at_once_says_so() {
        let waited = PresenceTally { waited: 0b1111, served: 1 << 4, ..Default::default() };
        for (slots, expected) in [
            (&[4_u64, 4, 5][..], true),
            (&[3, 4, 5], true),
            (&[4, 5], false),
            (&[4, 5, 6, 6], false),
            (&[], false),
        ] {
            // Each is another worker's.
            let mut tally = waited;
            for slot in slots {
                let mut other = PresenceTally::default();
                other.waited_long(0, slot * SLOT);
                tally.merge(&other);
            }
            let found = presence(&[interval(0, Phase::Window, tally)]).silences;
            let [silence] = &found[..] else { panic!("{found:?}") };
            assert_eq!((silence.released, silence.ended), (expected, true), "{slots:?}");
        }
    }

    #[test]
    fn the_longest_silences_are_kept() {
        let mut sums = PresenceSums::default();
        for index in 0..100 {
            let long = if index == 50 { 20 } else { 1 };
            let waited = PresenceTally::slots(0, 0, long * SLOT);
            let tally = PresenceTally { waited, served: 1 << 50, ..Default::default() };
            sums.add(&interval(index, Phase::Window, tally));
        }
        let silences = sums.finish().silences;
        assert_eq!(silences.len(), MOST_SILENCES);
        assert!(silences.iter().any(|one| one.duration_ns() == 21 * SLOT));
    }
}
