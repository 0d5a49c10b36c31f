//! Log messages that would repeat: each is printed once a minute at most.

use model::quote::counted;

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

/// A state that begins and ends. A beginning is printed once a minute at most, and its end at once. What begins and ends
/// within that minute is counted, and the next message says how often it did.
#[derive(Debug, Default)]
pub(super) struct OnAndOff {
    begun: Throttle,
    is_on: bool,
    is_said: bool,
    /// Beginnings that no message was about.
    unsaid: u64,
}

impl OnAndOff {
    /// Takes in whether the state is on now, in seconds. `Some` where that is to be printed: how often the state began and
    /// ended since the last message, without one about it. To be called again and again: some messages are put off.
    pub(super) fn look(&mut self, on: bool, now_s: u64) -> Option<u64> {
        self.unsaid += u64::from(on && !self.is_on);
        self.is_on = on;
        let say = match on {
            true => !self.is_said && self.begun.may_say(now_s),
            false => self.is_said || self.unsaid > 0 && self.begun.may_say(now_s),
        };
        if !say {
            return None;
        }
        self.is_said = on;
        // The message is about the one that lasts.
        Some(std::mem::take(&mut self.unsaid) - u64::from(on))
    }
}

/// What follows a message about a state that began and ended so often before it. `it_was` says of what, such as `it was out`.
pub(super) fn came_and_went(it_was: &str, times: u64) -> String {
    if times == 0 {
        return String::new();
    }
    format!(" ({it_was} {} since the last message about it)", counted(times, "time"))
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
    fn what_begins_and_ends_all_the_time_is_said_seldom_and_counted() {
        let mut on_and_off = OnAndOff::default();
        assert_eq!(on_and_off.look(false, 0), None);
        let said = (1..=121).filter_map(|second| {
            on_and_off.look(second % 2 == 1, second).map(|times| (second, times))
        });
        // One begins at 1, 3, 5, ..., 121.
        assert_eq!(said.collect::<Vec<_>>(), [(1, 0), (2, 0), (61, 29), (62, 0), (121, 29)]);
    }

    /// It was never said where it ended before the minute was over.
    #[test]
    fn what_begins_and_ends_soon_after_another_is_said_afterwards() {
        let mut on_and_off = OnAndOff::default();
        assert_eq!(on_and_off.look(true, 1), Some(0));
        assert_eq!(on_and_off.look(false, 2), Some(0));
        assert_eq!((on_and_off.look(true, 3), on_and_off.look(false, 9)), (None, None));
        assert_eq!((on_and_off.look(false, 60), on_and_off.look(false, 61)), (None, Some(1)));
        assert_eq!((on_and_off.look(false, 62), on_and_off.look(false, 500)), (None, None));
        // One that lasts is said once the minute is over, and its end at once.
        assert_eq!((on_and_off.look(true, 501), on_and_off.look(false, 502)), (Some(0), Some(0)));
        assert_eq!((on_and_off.look(true, 503), on_and_off.look(true, 560)), (None, None));
        assert_eq!((on_and_off.look(true, 561), on_and_off.look(false, 562)), (Some(0), Some(0)));
    }

    #[test]
    fn how_often_a_state_came_and_went_is_said_in_words() {
        assert_eq!(came_and_went("it was out", 0), "");
        let once = " (it was out 1 time since the last message about it)";
        assert_eq!(came_and_went("it was out", 1), once);
        assert!(came_and_went("it was out", 2_000).contains("out 2,000 times"));
    }
}
