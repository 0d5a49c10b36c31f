//! Latencies in few buckets: eight to a doubling, from 1 us to 137 s, so that a figure is at most 12.5 % off the truth. Each key
//! that is busy on a route has them, in several places: finer ones would take twice the memory, and more of the store.

const FIRST_BITS: u32 = 10;
const LAST_BITS: u32 = 37;
const PARTS_BITS: u32 = 3;
/// Buckets, with one for all below 1.024 us and one for all from 137 s on.
pub const BUCKETS: usize = ((LAST_BITS - FIRST_BITS) << PARTS_BITS) as usize + 2;

/// The bucket of a time.
pub fn bucket_of(nanos: u64) -> usize {
    if nanos < 1 << FIRST_BITS {
        return 0;
    }
    let bits = nanos.ilog2();
    if bits >= LAST_BITS {
        return BUCKETS - 1;
    }
    let part = (nanos >> (bits - PARTS_BITS)) & ((1 << PARTS_BITS) - 1);
    1 + (((bits - FIRST_BITS) << PARTS_BITS) as u64 + part) as usize
}

/// The longest time that falls into a bucket; that of the last is unknown and given as its shortest.
pub fn longest_ns(bucket: usize) -> u64 {
    if bucket == 0 {
        return (1 << FIRST_BITS) - 1;
    }
    let nth = (bucket.min(BUCKETS - 1) - 1) as u64;
    if bucket >= BUCKETS - 1 {
        return 1 << LAST_BITS;
    }
    let bits = (nth >> PARTS_BITS) + u64::from(FIRST_BITS);
    let part = nth & ((1 << PARTS_BITS) - 1);
    (1 << bits) + ((part + 1) << (bits - u64::from(PARTS_BITS))) - 1
}

/// The longest time of the bucket before, and that of a bucket.
fn ends(bucket: usize) -> (u64, u64) {
    (bucket.checked_sub(1).map_or(0, longest_ns), longest_ns(bucket))
}

/// Counts by bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets(pub Vec<u64>);

impl Default for Buckets {
    fn default() -> Self {
        Self(vec![0; BUCKETS])
    }
}

impl Buckets {
    /// Samples.
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, n)| *sum += n);
    }

    /// The mean time, at most a sixteenth off where none is beyond the last bucket; 0 without samples.
    pub fn mean_ns(&self) -> f64 {
        let middle = |bucket: usize| {
            let (shortest, longest) = ends(bucket);
            f64::midpoint(shortest as f64, longest as f64)
        };
        let sum: f64 = self.filled().map(|(bucket, n)| middle(bucket) * n as f64).sum();
        sum / self.count().max(1) as f64
    }

    /// The share of the samples above a time, of the bucket that it lies in as much as lies above it; 0 without samples.
    pub fn share_above(&self, nanos: u64) -> f64 {
        let straddling = bucket_of(nanos);
        let (shortest, longest) = ends(straddling);
        let part = longest.saturating_sub(nanos) as f64 / (longest - shortest).max(1) as f64;
        let above: u64 = self.0[straddling + 1..].iter().sum();
        (above as f64 + part * self.0[straddling] as f64) / self.count().max(1) as f64
    }

    /// A time that this share of the samples does not exceed, at most 12.5 % above the smallest such; 0 without
    /// samples.
    pub fn at_quantile(&self, share: f64) -> u64 {
        self.find(share).map_or(0, |(bucket, ..)| longest_ns(bucket))
    }

    /// The time at a quantile if the samples of its bucket lie evenly in it, and so at most 12.5 % off; 0 without samples. For
    /// people, who compare it with figures of others: the end of the bucket is above the truth nearly always.
    pub fn interpolated(&self, share: f64) -> u64 {
        let Some((bucket, nth, n)) = self.find(share) else { return 0 };
        let (shortest, longest) = ends(bucket);
        let part = (nth as f64 - 0.5) / n as f64;
        shortest + ((longest - shortest) as f64 * part).round() as u64
    }

    /// The bucket of the sample at a quantile, which one of that bucket it is, from 1 on, and of how many; none without samples.
    fn find(&self, share: f64) -> Option<(usize, u64, u64)> {
        let count = self.count();
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut below = 0;
        for (bucket, n) in self.filled() {
            if below + n >= rank {
                return Some((bucket, rank - below, n));
            }
            below += n;
        }
        None
    }

    /// The buckets that hold something, with their counts.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0.iter().copied().enumerate().filter(|&(_, n)| n > 0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_time_lies_in_its_bucket(nanos in 1024u64..1 << 37) {
            let bucket = bucket_of(nanos);
            prop_assert!(nanos <= longest_ns(bucket));
            prop_assert!(nanos > longest_ns(bucket - 1));
            prop_assert!(longest_ns(bucket) as f64 <= nanos as f64 * 1.125);
        }
    }

    #[test]
    fn a_quantile_is_read_between_the_ends_of_its_bucket() {
        let mut buckets = Buckets::default();
        assert_eq!(buckets.interpolated(0.5), 0);
        (1..=20_000u64).for_each(|us| buckets.0[bucket_of(us * 1000)] += 1);
        for (share, true_us) in [(0.25, 5_000.0), (0.5, 10_000.0), (0.8, 16_000.0)] {
            let off = |nanos: u64| (nanos as f64 / 1e3 / true_us - 1.0).abs();
            let (between, end) = (buckets.interpolated(share), buckets.at_quantile(share));
            assert!(off(between) < 0.001 && off(end) > 0.01, "{share}: {between} and {end} ns");
        }
        for bucket in [0, 1, 100, BUCKETS - 1] {
            let mut one = Buckets::default();
            one.0[bucket] = 1;
            let (shortest, longest) = ends(bucket);
            let read = one.interpolated(0.99);
            assert!((shortest..=longest).contains(&read), "bucket {bucket}: {read} ns");
        }
    }

    #[test]
    fn ends_and_quantiles() {
        assert_eq!((bucket_of(0), bucket_of(1023), bucket_of(1024)), (0, 0, 1));
        assert_eq!((bucket_of(u64::MAX), bucket_of(1 << 37)), (BUCKETS - 1, BUCKETS - 1));
        let mut buckets = Buckets::default();
        assert_eq!(buckets.at_quantile(0.5), 0);
        for nanos in [2_000, 2_000, 2_000, 1_000_000] {
            buckets.0[bucket_of(nanos)] += 1;
        }
        assert_eq!(buckets.at_quantile(0.75), longest_ns(bucket_of(2_000)));
        assert_eq!(buckets.at_quantile(0.99), longest_ns(bucket_of(1_000_000)));
        assert_eq!(Buckets::default().share_above(5), 0.0);
        assert_eq!(buckets.share_above(10_000), 0.25);
        let longest = longest_ns(bucket_of(1_000_000));
        assert_eq!((buckets.share_above(longest), buckets.share_above(u64::MAX)), (0.0, 0.0));
        let middle = buckets.share_above(longest - (longest >> 5));
        assert!(middle > 0.0 && middle < 0.25, "{middle}");
    }
}
