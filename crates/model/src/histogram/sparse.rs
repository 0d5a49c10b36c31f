//! Latencies as the buckets that hold something.

use serde::{Deserialize, Serialize};

use super::Latencies;
use crate::units::Nanos;

/// A distribution of latencies as the buckets that hold something. Unlike [`Latencies`] it takes
/// memory for what is in it alone, and time to put something in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SparseLatencies {
    /// Exact sum.
    sum: u128,
    /// Exact smallest and largest; 0 when empty.
    min: Nanos,
    max: Nanos,
    /// (highest latency of the bucket, count), ascending.
    buckets: Vec<(Nanos, u64)>,
}

impl SparseLatencies {
    /// Those of a whole histogram.
    pub fn of(latencies: &Latencies) -> Self {
        Self {
            sum: latencies.sum(),
            min: latencies.min(),
            max: latencies.max(),
            buckets: latencies.recorded().collect(),
        }
    }

    /// Adds latencies, in any order; they are sorted.
    pub fn add(&mut self, values: &mut [Nanos], ruler: &Latencies) {
        values.sort_unstable();
        let [first, .., last] = values else {
            return values.first().into_iter().for_each(|&only| {
                self.append(&Self {
                    sum: only.into(),
                    min: only,
                    max: only,
                    buckets: vec![(ruler.bucket_of(only), 1)],
                });
            });
        };
        let mut added = Self { min: *first, max: *last, ..Self::default() };
        for &value in &*values {
            added.sum += u128::from(value);
            let bucket = ruler.bucket_of(value);
            match added.buckets.last_mut() {
                Some((last, count)) if *last == bucket => *count += 1,
                _ => added.buckets.push((bucket, 1)),
            }
        }
        self.append(&added);
    }

    /// Adds another distribution.
    pub fn append(&mut self, other: &Self) {
        if other.buckets.is_empty() {
            return;
        }
        self.min = if self.buckets.is_empty() { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.buckets.extend_from_slice(&other.buckets);
        self.buckets.sort_unstable_by_key(|&(value, _)| value);
        self.buckets.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
    }

    /// How many latencies are in it.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |count, &(_, n)| count.saturating_add(n))
    }

    /// Exact sum, in nanoseconds.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// The latency that this share (0..=1) of them does not exceed; 0 when empty.
    pub fn at_quantile(&self, quantile: f64) -> Nanos {
        let rank = ((quantile * self.count() as f64).ceil() as u64).max(1);
        let mut seen: u64 = 0;
        let reaches = |&&(_, n): &&(Nanos, u64)| {
            seen = seen.saturating_add(n);
            seen >= rank
        };
        self.buckets.iter().find(reaches).map_or(0, |&(value, _)| value.min(self.max))
    }

    /// Exact mean; 0 when empty.
    pub fn mean(&self) -> Nanos {
        (self.sum / u128::from(self.count().max(1))) as Nanos
    }

    /// Exact largest; 0 when empty.
    pub const fn max(&self) -> Nanos {
        self.max
    }

    /// The buckets that hold something: (highest latency, count), ascending.
    pub fn buckets(&self) -> &[(Nanos, u64)] {
        &self.buckets
    }

    /// The same with all its buckets, in `latencies`, which is emptied first.
    pub fn fill(&self, latencies: &mut Latencies<u64>) {
        latencies.clear();
        self.buckets.iter().for_each(|&(value, n)| latencies.record_many(value, n));
        latencies.set_exact(self.sum, self.min, self.max);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::SECOND;

    proptest! {
        #[test]
        fn sparse_times_are_the_whole_histogram(
            mut first in prop::collection::vec(0..10 * SECOND, 0..60),
            mut second in prop::collection::vec(0..10 * SECOND, 0..60),
        ) {
            let ruler = Latencies::new();
            let mut whole = Latencies::<u64>::new();
            first.iter().chain(&second).for_each(|&nanos| whole.record_many(nanos, 1));
            let (mut times, mut later) = (SparseLatencies::default(), SparseLatencies::default());
            times.add(&mut first, &ruler);
            later.add(&mut second, &ruler);
            times.append(&later);
            let mut filled = Latencies::new();
            times.fill(&mut filled);
            prop_assert_eq!(times.count(), whole.count());
            prop_assert_eq!(filled.summary(), whole.summary());
        }
    }
}
