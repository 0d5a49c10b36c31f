//! Latencies in few buckets: eight to a doubling, from 1 us to 137 s, so a figure is at most 12.5 % above the truth.

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
            let shortest = if bucket == 0 { 0 } else { longest_ns(bucket - 1) };
            f64::midpoint(shortest as f64, longest_ns(bucket) as f64)
        };
        let sum: f64 = self.filled().map(|(bucket, n)| middle(bucket) * n as f64).sum();
        sum / self.count().max(1) as f64
    }

    /// The share of the samples above a time, of the bucket that it lies in as much as lies above it; 0 without samples.
    pub fn share_above(&self, nanos: u64) -> f64 {
        let straddling = bucket_of(nanos);
        let shortest = if straddling == 0 { 0 } else { longest_ns(straddling - 1) };
        let longest = longest_ns(straddling);
        let part = longest.saturating_sub(nanos) as f64 / (longest - shortest).max(1) as f64;
        let above: u64 = self.0[straddling + 1..].iter().sum();
        (above as f64 + part * self.0[straddling] as f64) / self.count().max(1) as f64
    }

    /// A time that this share of the samples does not exceed, at most 12.5 % above the smallest such; 0 without
    /// samples.
    pub fn at_quantile(&self, share: f64) -> u64 {
        let count = self.count();
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut below = 0;
        for (bucket, n) in self.0.iter().enumerate() {
            below += n;
            if below >= rank {
                return longest_ns(bucket);
            }
        }
        0
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
