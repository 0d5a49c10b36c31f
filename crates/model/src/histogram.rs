//! Latency histograms: what is recorded per request, and the figures read from them.
//!
//! Three significant digits from 100 ns to 1 h (the `hdrhistogram` crate), beside exact minimum,
//! maximum, sum and count. Percentiles are only ever read from merged histograms, never averaged.

mod sparse;
mod stored;

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use hdrhistogram::{Counter, Histogram};
use serde::{Deserialize, Serialize};

use crate::percentile::Summary;
use crate::units::{Nanos, SECOND};

pub use sparse::SparseLatencies;

/// The longest latency distinguished; a longer one counts as this in percentiles, and exactly in `max`.
pub const HIGHEST: Nanos = 3600 * SECOND;
const LOWEST: Nanos = 100;
const SIGNIFICANT_DIGITS: u8 = 3;
/// Latencies that one distribution holds at most: more than any run brings, but a file may claim any
/// number. Those beyond are left out.
const MOST: u64 = 1 << 53;

/// A distribution of latencies in nanoseconds. `C` is the width of one bucket's count: `u32` for
/// an interval, `u64` for a run.
#[derive(Clone)]
pub struct Latencies<C: Counter = u32> {
    /// None until the first latency, unless they were asked for: most of the distributions of a run stay empty.
    buckets: Option<Histogram<C>>,
    count: u64,
    sum: u128,
    min: Nanos,
    max: Nanos,
}

/// An empty distribution; its buckets are allocated for the first latency.
impl<C: Counter> Default for Latencies<C> {
    fn default() -> Self {
        Self { buckets: None, count: 0, sum: 0, min: Nanos::MAX, max: 0 }
    }
}

impl<C: Counter> PartialEq for Latencies<C> {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum == other.sum
            && self.min == other.min
            && self.max == other.max
            && self.recorded().eq(other.recorded())
    }
}

impl<C: Counter> fmt::Debug for Latencies<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().fmt(f)
    }
}

impl<C: Counter> Latencies<C> {
    /// An empty distribution, with all its buckets allocated (about 27,000 counts).
    pub fn new() -> Self {
        Self { buckets: Some(empty_buckets()), ..Self::default() }
    }

    /// The buckets of a distribution that holds something.
    fn filled(&self) -> Option<&Histogram<C>> {
        self.buckets.as_ref().filter(|_| self.count > 0)
    }

    /// Counts in the bucket of a latency.
    #[inline]
    fn put(&mut self, nanos: Nanos, n: u64) {
        let buckets = self.buckets.get_or_insert_with(empty_buckets);
        buckets.saturating_record_n(nanos.min(HIGHEST), bucket_count(n));
    }

    /// Records one latency. Allocates nothing, but for the first one of a [`Self::default`].
    #[inline]
    pub fn record(&mut self, nanos: Nanos) {
        self.record_n(nanos, 1);
    }

    /// Records the same latency `n` times.
    #[inline]
    pub fn record_n(&mut self, nanos: Nanos, n: u32) {
        if n == 0 {
            return;
        }
        self.count += u64::from(n);
        self.sum += u128::from(nanos) * u128::from(n);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.put(nanos, u64::from(n));
    }

    /// Adds `n` latencies of one bucket, as [`Self::recorded`] lists them.
    pub fn record_many(&mut self, nanos: Nanos, n: u64) {
        if n == 0 {
            return;
        }
        let n = n.min(MOST.saturating_sub(self.count));
        self.count += n;
        self.sum = self.sum.saturating_add(u128::from(nanos) * u128::from(n));
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.put(nanos, n);
    }

    /// The highest latency of the bucket that one falls into, as [`Self::recorded`] lists it. Each call allocates buckets where
    /// there are none: use a [`Self::new`] for many.
    #[inline]
    pub fn bucket_of(&self, nanos: Nanos) -> Nanos {
        let highest = |buckets: &Histogram<C>| buckets.highest_equivalent(nanos.min(HIGHEST));
        self.buckets.as_ref().map_or_else(|| highest(&empty_buckets()), highest)
    }

    /// Sets the exact figures of a distribution that was filled from its buckets.
    pub(crate) fn set_exact(&mut self, sum: u128, min: Nanos, max: Nanos) {
        if self.count > 0 {
            (self.sum, self.min, self.max) = (sum, min, max);
        }
    }

    /// Adds all of `other`, whatever the width of its counts.
    pub fn merge<D: Counter>(&mut self, other: &Latencies<D>) {
        let Some(buckets) = other.filled() else { return };
        if self.count.saturating_add(other.count) > MOST {
            return;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for bucket in buckets.iter_recorded() {
            self.put(bucket.value_iterated_to(), bucket.count_at_value().as_u64());
        }
    }

    /// Empties it for reuse, keeping the buckets' memory.
    pub fn clear(&mut self) {
        if let Some(buckets) = self.buckets.as_mut().filter(|_| self.count > 0) {
            buckets.reset();
            (self.count, self.sum, self.min, self.max) = (0, 0, Nanos::MAX, 0);
        }
    }

    /// How many latencies were recorded.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum, in nanoseconds.
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact smallest latency; 0 when empty.
    pub const fn min(&self) -> Nanos {
        if self.count == 0 { 0 } else { self.min }
    }

    /// The exact largest latency; 0 when empty.
    pub const fn max(&self) -> Nanos {
        self.max
    }

    /// The exact mean, rounded to a nanosecond; 0 when empty.
    pub fn mean(&self) -> Nanos {
        if self.count == 0 { 0 } else { (self.sum / u128::from(self.count)) as Nanos }
    }

    /// The standard deviation to the histogram's precision; 0 when empty.
    pub fn stdev(&self) -> Nanos {
        self.filled().map_or(0, |buckets| buckets.stdev().round() as Nanos)
    }

    /// The latency that a share `quantile` (0..=1) of the samples does not exceed, to three
    /// digits and never outside the exact minimum and maximum; 0 when empty.
    pub fn at_quantile(&self, quantile: f64) -> Nanos {
        let Some(buckets) = self.filled() else { return 0 };
        let highest_of_bucket = buckets.value_at_quantile(quantile);
        // Below the lowest latency distinguished, a bucket's upper edge would invent time.
        let value = if highest_of_bucket < LOWEST { 0 } else { highest_of_bucket };
        value.clamp(self.min, self.max)
    }

    /// The share of samples within one standard deviation of the mean, as wrk's `+/- Stdev`.
    pub fn share_within_stdev(&self) -> f64 {
        let Some(buckets) = self.filled() else { return 0.0 };
        let (mean, stdev) = (self.mean(), self.stdev());
        let low = mean.saturating_sub(stdev).min(HIGHEST);
        let high = mean.saturating_add(stdev).min(HIGHEST);
        buckets.count_between(low, high).as_u64() as f64 / self.count as f64
    }

    /// Buckets that hold something: (highest latency of the bucket, count), ascending.
    pub fn recorded(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        let buckets = self.buckets.iter().flat_map(Histogram::iter_recorded);
        buckets.map(|b| (b.value_iterated_to(), b.count_at_value().as_u64()))
    }

    /// The figures that reports show.
    pub fn summary(&self) -> Summary {
        Summary {
            count: self.count,
            min: self.min(),
            mean: self.mean(),
            stdev: self.stdev(),
            max: self.max,
            ..Summary::of_percentiles(|share| self.at_quantile(share))
        }
    }

    /// HdrHistogram's V2 compressed form in base64, which any HdrHistogram library reads.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        let written = match &self.buckets {
            Some(buckets) => serializer.serialize(buckets, &mut bytes),
            None => serializer.serialize(&empty_buckets::<C>(), &mut bytes),
        };
        written.expect("writing to memory does not fail");
        STANDARD.encode(bytes)
    }

    /// Reads [`Self::to_base64`]'s form. Exact figures are lost: they are read off the buckets.
    /// Whatever the text says, reading it takes less than a megabyte.
    ///
    /// # Errors
    /// A sentence, when the text is not base64 of a histogram with this module's bounds.
    pub fn from_base64(text: &str) -> Result<Self, String> {
        let read = stored::read(text)?;
        let mut latencies = Self::default();
        for bucket in read.iter_recorded() {
            if latencies.count.saturating_add(bucket.count_at_value()) > MOST {
                return Err("a histogram that counts more than any run can produce".to_owned());
            }
            latencies.record_many(bucket.value_iterated_to(), bucket.count_at_value());
        }
        Ok(latencies)
    }
}

/// All buckets, with nothing in them.
fn empty_buckets<C: Counter>() -> Histogram<C> {
    Histogram::new_with_bounds(LOWEST, HIGHEST, SIGNIFICANT_DIGITS)
        .expect("the bounds are constants that the histogram accepts")
}

/// A count in a bucket's width, at most what 32 bits hold when it does not fit.
fn bucket_count<C: Counter>(n: u64) -> C {
    C::from_u64(n).or_else(|| C::from_u32(u32::MAX)).unwrap_or_else(C::one)
}

/// The form an interval's histogram has in a journal: buckets and the exact figures.
#[derive(Serialize, Deserialize)]
struct Stored {
    sum: String,
    min: Nanos,
    max: Nanos,
    buckets: String,
}

impl<C: Counter> Serialize for Latencies<C> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.count == 0 {
            return serializer.serialize_none();
        }
        let stored = Stored {
            sum: self.sum.to_string(),
            min: self.min,
            max: self.max,
            buckets: self.to_base64(),
        };
        serializer.serialize_some(&stored)
    }
}

impl<'de, C: Counter> Deserialize<'de> for Latencies<C> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(stored) = Option::<Stored>::deserialize(deserializer)? else {
            return Ok(Self::default());
        };
        let mut latencies = Self::from_base64(&stored.buckets).map_err(serde::de::Error::custom)?;
        if stored.min > stored.max {
            return Err(serde::de::Error::custom("a histogram whose minimum is above its maximum"));
        }
        latencies.sum = stored.sum.parse().map_err(serde::de::Error::custom)?;
        (latencies.min, latencies.max) = (stored.min, stored.max);
        Ok(latencies)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[Nanos]) -> Latencies {
        let mut latencies = Latencies::new();
        values.iter().for_each(|&v| latencies.record(v));
        latencies
    }

    #[test]
    fn figures_of_a_known_set() {
        let latencies = of(&(1..=1000).map(|i| i * 1000).collect::<Vec<_>>());
        let s = latencies.summary();
        assert_eq!((s.count, s.min, s.mean, s.max), (1000, 1000, 500_500, 1_000_000));
        for (value, exact) in [(s.p50, 500_000.0), (s.p99, 990_000.0), (s.p999, 999_000.0)] {
            assert!((value as f64 / exact - 1.0).abs() < 1e-3, "{value} against {exact}");
        }
    }

    #[test]
    fn an_empty_set_is_all_zero() {
        assert_eq!(Latencies::<u32>::new().summary(), Summary::default());
    }

    #[test]
    fn buckets_are_there_when_a_latency_is() {
        let (mut lazy, whole) = (Latencies::<u32>::default(), of(&[]));
        assert!(lazy.buckets.is_none() && lazy == whole);
        assert_eq!(lazy.summary(), Summary::default());
        assert_eq!((lazy.share_within_stdev(), lazy.recorded().count()), (0.0, 0));
        assert_eq!(lazy.bucket_of(2_000_003), whole.bucket_of(2_000_003));
        assert_eq!(lazy.to_base64(), whole.to_base64());
        lazy.merge(&whole);
        lazy.record_n(7, 0);
        lazy.clear();
        assert!(lazy.buckets.is_none(), "nothing was put in");
        lazy.record(1_000);
        assert_eq!(lazy, of(&[1_000]));
        lazy.clear();
        assert!(lazy.buckets.is_some() && lazy == whole, "its memory stays");
    }

    #[test]
    fn longer_than_the_highest_keeps_its_exact_maximum() {
        let latencies = of(&[2 * HIGHEST]);
        assert_eq!(latencies.max(), 2 * HIGHEST);
        assert_eq!(latencies.mean(), 2 * HIGHEST);
    }

    #[test]
    fn junk_is_no_histogram() {
        assert!(Latencies::<u64>::from_base64("$$").unwrap_err().contains("base64"));
        assert!(Latencies::<u64>::from_base64("AAAA").unwrap_err().contains("HdrHistogram"));
    }

    proptest! {
        #[test]
        fn split_then_merged_is_the_whole(values in prop::collection::vec(0..5 * HIGHEST, 1..200), at in 0..200usize) {
            let at = at.min(values.len());
            let mut merged = of(&values[..at]);
            merged.merge(&of(&values[at..]));
            prop_assert_eq!(&merged, &of(&values));
        }

        #[test]
        fn stored_then_read_is_the_same(values in prop::collection::vec(0..HIGHEST, 0..50)) {
            let latencies = of(&values);
            let text = serde_json::to_string(&latencies).unwrap();
            let read: Latencies = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read, latencies);
        }

        #[test]
        fn percentiles_are_within_three_digits(mut values in prop::collection::vec(100..HIGHEST, 1..300), q in 0.0..1.0f64) {
            let latencies = of(&values);
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let read = latencies.at_quantile(q) as f64;
            prop_assert!((read - exact).abs() <= exact * 1e-3 + 64.0, "{read} against {exact}");
        }
    }
}
