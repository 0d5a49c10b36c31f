//! Log messages that would repeat: each is printed once a minute at most.

/// Between two messages, in seconds.
const EVERY_S: u64 = 60;

/// When a message was last printed.
#[derive(Debug, Default)]
pub(super) struct Throttle(Option<u64>);

impl Throttle {
    /// Whether the message may be printed now, in seconds; it then counts as printed.
    pub(super) fn may_say(&mut self, now_s: u64) -> bool {
        if self.0.is_some_and(|said_s| now_s < said_s + EVERY_S) {
            return false;
        }
        self.0 = Some(now_s);
        true
    }
}

/// A state that begins and ends. Its end is printed if its beginning was, so one that changes all the time is printed once a
/// minute, too.
#[derive(Debug, Default)]
pub(super) struct OnAndOff {
    begun: Throttle,
    is_said: bool,
}

impl OnAndOff {
    /// Takes in whether the state is on now, in seconds; returns whether to print that.
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
        let mut throttle = Throttle::default();
        let said = [1, 1, 60, 61, 62, 120, 121].map(|now_s| throttle.may_say(now_s));
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
