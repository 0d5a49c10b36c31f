//! Which exchanges of a recording become one flow.

use std::collections::HashMap;

use super::Exchange;

/// Which exchanges belong together: a forest of sets.
pub(super) struct Groups(Vec<usize>);

impl Groups {
    pub(super) fn by_page(exchanges: &[Exchange]) -> Self {
        let mut first: HashMap<&str, usize> = HashMap::new();
        let each = exchanges.iter().enumerate();
        Self(each.map(|(at, exchange)| *first.entry(&exchange.page).or_insert(at)).collect())
    }

    /// The first exchange of the group.
    pub(super) fn of(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    pub(super) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b)] = a.min(b);
    }
}
