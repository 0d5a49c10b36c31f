//! Sentences that could be said over and over: once a minute at most.

/// Between two sentences, in seconds.
const EVERY_S: u64 = 60;

/// When something was last said.
#[derive(Debug, Default)]
pub(super) struct Seldom(Option<u64>);

impl Seldom {
    /// Whether it may be said now, which is in seconds; it counts as said then.
    pub(super) fn may_say(&mut self, now_s: u64) -> bool {
        if self.0.is_some_and(|said_s| now_s < said_s + EVERY_S) {
            return false;
        }
        self.0 = Some(now_s);
        true
    }
}

/// Something that begins and ends: its end is said if its beginning was, so that one that begins and ends all the time is said
/// seldom, too.
#[derive(Debug, Default)]
pub(super) struct OnAndOff {
    begun: Seldom,
    is_said: bool,
}

impl OnAndOff {
    /// Takes in whether it is on now, which is in seconds; whether that is to be said.
    pub(super) fn look(&mut self, on: bool, now_s: u64) -> bool {
        let say = match on {
            true => !self.is_said && self.begun.may_say(now_s),
            false => self.is_said,
        };
        if say {
            self.is_said = on;
        }
        say
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_a_minute() {
        let mut seldom = Seldom::default();
        let said = [1, 1, 60, 61, 62, 120, 121].map(|now_s| seldom.may_say(now_s));
        assert_eq!(said, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn what_begins_and_ends_all_the_time_is_said_seldom() {
        let mut on_and_off = OnAndOff::default();
        assert!(!on_and_off.look(false, 0));
        let said = (1..=120).filter(|&second| on_and_off.look(second % 2 == 1, second));
        assert_eq!(said.collect::<Vec<_>>(), [1, 2, 61, 62]);
        // One that has begun in the same minute is said once that is over.
        assert!(!on_and_off.look(true, 120) && on_and_off.look(true, 121));
        assert!(!on_and_off.look(true, 500) && on_and_off.look(false, 501));
    }
}
