//! Requests by status.

use std::collections::BTreeMap;

/// Requests by status. A server answers with few of them, so that looking through those that came is quicker than a map.
#[derive(Debug, Default, Clone)]
pub(crate) struct Statuses(Vec<(u16, u64)>);

impl Statuses {
    /// Counts further requests of a status.
    pub(super) fn add(&mut self, status: u16, more: u64) {
        match self.0.iter_mut().find(|(own, _)| *own == status) {
            Some((_, count)) => *count += more,
            None => self.0.push((status, more)),
        }
    }

    /// Adds those of another part of the log.
    pub(super) fn absorb(&mut self, other: Self) {
        other.0.into_iter().for_each(|(status, count)| self.add(status, count));
    }

    /// All of them in their order.
    pub(crate) fn by_status(&self) -> BTreeMap<u16, u64> {
        self.0.iter().copied().collect()
    }
}
