//! What a server counts, without what the watching itself adds: at a low load there are more queries of the watcher than
//! of the load.

/// A counter of a server's, without what the watching session adds to it.
#[derive(Debug, Default)]
pub struct OfOthers {
    own: u64,
    total: u64,
    others: u64,
}

impl OfOthers {
    /// Counts this many of the watching session.
    pub fn spend(&mut self, own: u64) {
        self.own += own;
    }

    /// The count of others, given the total. A server may count what a session did up to a second late; the result then stays
    /// the same instead of falling.
    pub fn of(&mut self, total: u64) -> u64 {
        if total < self.total {
            // It began anew.
            *self = Self { own: 0, total, others: total };
        }
        self.total = total;
        self.others = self.others.max(total.saturating_sub(self.own));
        self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_session_does_is_not_reported_of_others() {
        let mut counter = OfOthers::default();
        counter.spend(3);
        assert_eq!(counter.of(103), 100);
        counter.spend(2);
        // Ours are not counted yet, and then they are; others had one more.
        assert_eq!((counter.of(103), counter.of(106)), (100, 101));
        // The statistics were reset.
        assert_eq!((counter.of(2), counter.of(4)), (2, 4));
    }
}
