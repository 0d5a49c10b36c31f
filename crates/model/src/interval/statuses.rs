//! Responses counted by status.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Responses by status, 100 to 999.
#[derive(Clone, PartialEq, Eq)]
pub struct StatusCounts(Box<[u32; 1000]>);

impl Default for StatusCounts {
    fn default() -> Self {
        Self(Box::new([0; 1000]))
    }
}

impl fmt::Debug for StatusCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.seen()).finish()
    }
}

impl StatusCounts {
    /// Counts one response. A status outside 100..=999 counts as 999; the parser lets none through.
    #[inline]
    pub fn record(&mut self, status: u16) {
        self.record_n(status, 1);
    }

    /// Counts `n` responses of one status.
    #[inline]
    pub fn record_n(&mut self, status: u16, n: u32) {
        self.0[usize::from(status).min(999)] += n;
    }

    /// Adds another set of counts.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0.iter()) {
            *count = count.saturating_add(*more);
        }
    }

    /// Statuses that were seen, ascending, with their counts.
    pub fn seen(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let counts = self.0.iter().enumerate().filter(|(_, n)| **n > 0);
        counts.map(|(status, &n)| (status as u16, u64::from(n)))
    }
}

impl Serialize for StatusCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.seen())
    }
}

impl<'de> Deserialize<'de> for StatusCounts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (status, n) in BTreeMap::<u16, u32>::deserialize(deserializer)? {
            let sum = &mut counts.0[usize::from(status).min(999)];
            *sum = sum.saturating_add(n);
        }
        Ok(counts)
    }
}
