//! Levels over time: connections open, requests in flight.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// A level that rises and falls, integrated over time: connections open, requests in flight. Never
/// past the instant that [`Gauge::until`] named: what happens later, while the period has not been
/// taken yet, moves the level but adds no time to it.
#[derive(Debug, Clone, Copy)]
pub struct Gauge {
    value: u32,
    max: u32,
    since_ns: Nanos,
    until_ns: Nanos,
    /// Level x time since the last [`Gauge::take`]: 64 bits hold a million for five hours.
    area_ns: u64,
}

impl Default for Gauge {
    fn default() -> Self {
        Self { value: 0, max: 0, since_ns: 0, until_ns: Nanos::MAX, area_ns: 0 }
    }
}

impl Gauge {
    /// Moves the level by `by` at `now_ns`.
    #[inline]
    pub fn step(&mut self, now_ns: Nanos, by: i32) {
        self.settle(now_ns);
        self.value = self.value.saturating_add_signed(by);
        self.max = self.max.max(self.value);
    }

    /// The level now.
    #[inline]
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// The period being integrated ends at `until_ns`.
    pub fn until(&mut self, until_ns: Nanos) {
        self.until_ns = until_ns;
    }

    /// Hands over what was integrated up to `now_ns` and starts afresh at the same level.
    pub fn take(&mut self, now_ns: Nanos) -> GaugeSum {
        self.settle(now_ns);
        let sum = GaugeSum { area_ns: u128::from(self.area_ns), max: self.max };
        (self.area_ns, self.max) = (0, self.value);
        sum
    }

    #[inline]
    fn settle(&mut self, now_ns: Nanos) {
        let now_ns = now_ns.min(self.until_ns);
        let elapsed = now_ns.saturating_sub(self.since_ns);
        self.area_ns += u64::from(self.value) * elapsed;
        self.since_ns = self.since_ns.max(now_ns);
    }
}

/// A gauge over a period of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GaugeSum {
    /// Level x time, in nanoseconds.
    pub area_ns: u128,
    /// Highest level. Merged over workers it is the sum of their highest levels, which they need
    /// not have reached at the same instant: an upper bound.
    pub max: u32,
}

impl GaugeSum {
    /// Adds another worker's gauge over the same time.
    pub fn merge(&mut self, other: &Self) {
        self.area_ns = self.area_ns.saturating_add(other.area_ns);
        self.max = self.max.saturating_add(other.max);
    }

    /// Appends a later period of the same gauge.
    pub fn append(&mut self, later: &Self) {
        self.area_ns = self.area_ns.saturating_add(later.area_ns);
        self.max = self.max.max(later.max);
    }

    /// The mean level over `elapsed_ns`.
    pub fn mean(&self, elapsed_ns: Nanos) -> f64 {
        if elapsed_ns == 0 { 0.0 } else { self.area_ns as f64 / elapsed_ns as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_integrates_level_over_time() {
        let mut gauge = Gauge::default();
        gauge.step(10, 1);
        gauge.step(20, 1);
        gauge.step(40, -1);
        let sum = gauge.take(50);
        assert_eq!(sum, GaugeSum { area_ns: 10 + 40 + 10, max: 2 });
        assert_eq!(gauge.take(60), GaugeSum { area_ns: 10, max: 1 });
    }

    #[test]
    fn changes_after_a_period_add_no_time_to_it() {
        let mut gauge = Gauge::default();
        gauge.until(100);
        gauge.step(0, 4);
        gauge.step(150, -1);
        assert_eq!(gauge.take(100), GaugeSum { area_ns: 400, max: 4 });
        gauge.until(200);
        assert_eq!(gauge.take(200), GaugeSum { area_ns: 300, max: 3 });
    }
}
