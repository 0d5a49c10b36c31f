//! The usage that this gateway reports while the gateway that it takes over still serves.
//!
//! Separates the two in the store's usage: what this gateway reported is already counted in its quotas; everything else
//! that is new in the store was reported by the other gateway and has to be added.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use super::control::Control;
use super::loading::Used;
use crate::limits::Periods;
use crate::locks::try_lock;
use crate::usage::{Batch, Sink};

/// Requests that were let through, by the numbers of their keys and the names of their routes.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) by_key: BTreeMap<u64, u64>,
    pub(super) by_route: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, batch: &Batch) {
        for (key, route, sum) in &batch.rows {
            *self.by_key.entry(*key).or_default() += sum.forwarded;
            *self.by_route.entry(route.clone()).or_default() += sum.forwarded;
        }
    }
}

/// What this gateway reported, of the day and of the month of its last report.
#[derive(Debug, Default)]
pub(super) struct OwnReports {
    day: (u32, Counts),
    month: (u32, Counts),
}

impl OwnReports {
    fn add(&mut self, batch: &Batch) {
        let now = Periods::at(batch.at_s);
        for (own, period) in [(&mut self.day, now.day), (&mut self.month, now.month)] {
            if own.0 != period {
                *own = (period, Counts::default());
            }
            own.1.add(batch);
        }
    }

    /// The counts of a day; `None` where the last report was of another.
    pub(super) fn of_day(&self, day: u32) -> Option<&Counts> {
        (self.day.0 == day).then_some(&self.day.1)
    }

    /// The counts of a month, likewise.
    pub(super) fn of_month(&self, month: u32) -> Option<&Counts> {
        (self.month.0 == month).then_some(&self.month.1)
    }
}

/// What is known of usage while an earlier gateway still serves.
#[derive(Debug)]
pub(super) struct Awaited {
    /// What others had used when it was last counted.
    pub(super) used: Used,
    pub(super) own: OwnReports,
}

/// Reports, and notes what was reported as long as an earlier gateway serves.
pub(super) struct NotingSink {
    pub(super) sink: Box<dyn Sink>,
    pub(super) control: Arc<Control>,
}

impl Sink for NotingSink {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        // Who reads the store meanwhile would take the batch for the earlier gateway's.
        if let Some(awaited) = &mut *self.control.awaited() {
            self.sink.write(batch)?;
            awaited.own.add(batch);
            return Ok(());
        }
        self.sink.write(batch)
    }
}

impl Control {
    /// What is known of usage, where an earlier gateway still serves.
    pub(super) fn awaited(&self) -> MutexGuard<'_, Option<Awaited>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what an earlier gateway lets through is still to be added. Waits for nobody.
    pub(super) fn awaits_used(&self) -> bool {
        // Nobody holds it for long but who counts what is awaited.
        try_lock(&self.awaited).is_none_or(|awaited| awaited.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::Sum;

    #[test]
    fn a_day_that_ends_takes_its_counts_along() {
        let mut own = OwnReports::default();
        let mut report = |at_s: i64, route: &str, forwarded: u64| {
            let row = (7, route.to_owned(), Sum { forwarded, ..Sum::default() });
            own.add(&Batch { at_s, rows: vec![row] });
        };
        // Two on the first of January 1970, one on the second.
        report(5, "a", 2);
        report(86_400, "b", 1);
        assert!(own.of_day(0).is_none() && own.of_month(1).is_none());
        let (day, month) = (own.of_day(1).unwrap(), own.of_month(0).unwrap());
        assert_eq!((day.by_key[&7], month.by_key[&7]), (1, 3));
        assert_eq!((day.by_route.get("a"), month.by_route["a"]), (None, 2));
    }
}
