//! A distribution of whole numbers as the buckets that hold something.

/// How values are spread: buckets that hold something, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    /// (Highest value of the bucket, values in it).
    pub buckets: Vec<(u64, u64)>,
    /// Values in all.
    pub count: f64,
    /// Their sum.
    pub sum: f64,
}

impl Distribution {
    /// Of buckets in ascending order.
    pub fn of(buckets: Vec<(u64, u64)>) -> Self {
        let count = buckets.iter().map(|&(_, n)| n as f64).sum();
        let sum = buckets.iter().map(|&(value, n)| value as f64 * n as f64).sum();
        Self { buckets, count, sum }
    }

    /// All values of several distributions together.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut buckets: Vec<(u64, u64)> = parts.flat_map(|part| &part.buckets).copied().collect();
        buckets.sort_unstable_by_key(|&(value, _)| value);
        buckets.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        Self::of(buckets)
    }

    /// How many are within `limit`.
    pub fn within(&self, limit: u64) -> f64 {
        let end = self.buckets.partition_point(|&(value, _)| value <= limit);
        self.buckets[..end].iter().map(|&(_, n)| n as f64).sum()
    }

    /// The value that a share does not exceed; none without values.
    pub fn at_quantile(&self, quantile: f64) -> Option<u64> {
        let rank = (quantile * self.count).ceil().max(1.0);
        let mut seen = 0.0;
        for &(value, n) in &self.buckets {
            seen += n as f64;
            if seen >= rank {
                return Some(value);
            }
        }
        self.buckets.last().map(|&(value, _)| value)
    }
}
