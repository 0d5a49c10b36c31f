//! Since when the events of a batch may have been there.
//!
//! What comes after a look at the kernel that took in everything came after that look. Some looks leave something
//! behind: since Linux 6.13 the kernel completes some twenty operations at once; a receive needs a free buffer; and
//! of one connection only so much is read in a turn. Operations are completed in the order in which they became
//! ready, so what is left behind has not waited for longer than the oldest of what was taken in. A thread that slept
//! was woken by the first of them: however many such looks follow one another, the time does not reach back over
//! the sleep before.

use crate::Taken;

/// A call that brings fewer completions than this has left nothing behind that was there when it began: the kernel
/// runs twenty pieces of work at once, some of which complete nothing.
const AT_ONCE: usize = 16;

/// The looks at the kernel, as far as they bound how long the next events may have waited.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Everything that came before this instant has been taken in.
    since: u64,
    left_behind: bool,
    /// Completions that were there before the last call, which waited for more; `None` if it did not.
    before: Option<usize>,
}

impl Looks {
    /// Nothing can have come before the first look.
    #[inline]
    pub(super) fn begin(&mut self, now: u64) {
        if self.since == 0 {
            self.since = now;
        }
    }

    /// Whether the last look left something behind.
    #[inline]
    pub(super) fn left_behind(&self) -> bool {
        self.left_behind
    }

    /// The last call of a look begins, with this many completions there; `None` if it waits for none.
    #[inline]
    pub(super) fn last_call(&mut self, before: Option<usize>) {
        self.before = before;
    }

    /// Whether work that the kernel has left after the last call was there before, where `there` completions are now;
    /// else it came since.
    #[inline]
    pub(super) fn was_there(&self, there: usize) -> bool {
        self.before.is_none_or(|before| there.saturating_sub(before) >= AT_ONCE)
    }

    /// The batch of a look at `at`. If something was there before the net began to wait, that has waited until
    /// `waited_until`.
    #[inline]
    pub(super) fn batch(&self, at: u64, waited_until: Option<u64>) -> Taken {
        let waited_ns = waited_until.map_or(0, |until| until.min(at).saturating_sub(self.since));
        Taken { at, waited_ns }
    }

    /// The look of this batch is over.
    #[inline]
    pub(super) fn over(&mut self, batch: Taken, left_behind: bool) {
        self.left_behind = left_behind;
        self.since = batch.at - if left_behind { batch.waited_ns } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Option<u64> = Some(u64::MAX);

    /// Looks at these instants: until when what was there had waited, and whether something was left behind.
    fn waited(looks: &[(u64, Option<u64>, bool)]) -> Vec<u64> {
        let mut state = Looks::default();
        state.begin(1_000);
        let one = |&(at, until, left): &(u64, Option<u64>, bool)| {
            let batch = state.batch(at, until);
            state.over(batch, left);
            batch.waited_ns
        };
        looks.iter().map(one).collect()
    }

    #[test]
    fn what_comes_has_waited_since_the_look_before() {
        assert_eq!(waited(&[(1_200, BUSY, false), (1_300, BUSY, false)]), [200, 100]);
        assert_eq!(waited(&[(1_200, None, false), (1_900, Some(1_210), false)]), [0, 10]);
    }

    #[test]
    fn what_was_left_behind_has_waited_for_as_long_as_what_was_taken() {
        let looks =
            [(1_200, BUSY, true), (1_300, BUSY, true), (1_400, BUSY, false), (1_450, BUSY, false)];
        assert_eq!(waited(&looks), [200, 300, 400, 50]);
    }

    #[test]
    fn work_that_came_after_a_call_that_brought_little_was_not_left_behind() {
        let mut looks = Looks::default();
        looks.last_call(Some(40));
        assert!(!looks.was_there(45) && looks.was_there(60));
        looks.last_call(None);
        assert!(looks.was_there(0), "not asked for");
    }

    #[test]
    fn sleep_before_a_look_that_left_something_behind_is_no_waiting() {
        // Slept until 50,000, when more came than is taken in at once.
        let looks = [
            (1_100, None, false),
            (50_000, None, true),
            (50_200, BUSY, true),
            (50_300, BUSY, false),
        ];
        assert_eq!(waited(&looks), [0, 0, 200, 300]);
        // Something was there that brought nothing, and the thread slept all the same.
        let looks = [(1_100, None, false), (50_000, Some(1_150), true), (50_200, BUSY, false)];
        assert_eq!(waited(&looks), [0, 50, 250]);
    }
}
