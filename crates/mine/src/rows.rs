//! Values with how often each came, in bounded memory.
//!
//! While they fit, all are kept and the counts are exact. Beyond, those stay whose hash begins with zeros (each with
//! its exact count: a sample of the distinct values), and beside them the values that came most often (Misra and
//! Gries 1982, with the error that this has).

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::trie::hash;

/// Values kept.
const MOST: usize = 8_192;
/// Bytes of values kept.
const MOST_BYTES: usize = 1 << 20;
/// Frequent values counted beside the sample.
const FREQUENT: usize = 1_024;

/// A value and its count.
type Counted = (u64, Box<[u8]>);

/// A table of values.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rows {
    /// Zeros that a hash begins with to be kept.
    level: u32,
    rows: HashMap<u64, Counted, FixedState>,
    bytes: usize,
    frequent: HashMap<u64, Counted, FixedState>,
    /// What every count in `frequent` may be too low by.
    lost: u64,
    total: u64,
}

impl Rows {
    /// Counts a value.
    pub(crate) fn add(&mut self, value: &[u8]) {
        let hash = hash(value);
        self.total += 1;
        if self.level > 0 {
            self.add_frequent(hash, value, 1);
        }
        if !self.keeps(hash) {
            return;
        }
        let row = self.rows.entry(hash).or_insert_with(|| {
            self.bytes += value.len() + size_of::<(u64, Counted)>();
            (0, value.into())
        });
        row.0 += 1;
        self.shrink();
    }

    fn keeps(&self, hash: u64) -> bool {
        hash.leading_zeros() >= self.level
    }

    fn add_frequent(&mut self, hash: u64, value: &[u8], times: u64) {
        if let Some(known) = self.frequent.get_mut(&hash) {
            known.0 += times;
        } else if self.frequent.len() < FREQUENT {
            self.frequent.insert(hash, (times, value.into()));
        } else {
            let least = self.frequent.values().map(|row| row.0).min().unwrap_or(0).min(times);
            self.lost += least;
            self.frequent.retain(|_, row| {
                row.0 -= least;
                row.0 > 0
            });
            if times > least {
                self.frequent.insert(hash, (times - least, value.into()));
            }
        }
    }

    fn shrink(&mut self) {
        while self.rows.len() > MOST || self.bytes > MOST_BYTES {
            self.halve();
        }
    }

    /// Leaves about half of the values.
    pub(crate) fn halve(&mut self) {
        if self.level == 0 {
            self.frequent = self.rows.clone();
            self.keep_most_frequent();
        }
        self.level += 1;
        self.thin_out();
    }

    /// Leaves the values that the level keeps.
    fn thin_out(&mut self) {
        let level = self.level;
        self.rows.retain(|hash, _| hash.leading_zeros() >= level);
        let size = |row: &Counted| row.1.len() + size_of::<(u64, Counted)>();
        self.bytes = self.rows.values().map(size).sum();
    }

    /// Bytes of the values kept, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves the most frequent values of too many.
    fn keep_most_frequent(&mut self) {
        if self.frequent.len() <= FREQUENT {
            return;
        }
        let mut counts: Vec<u64> = self.frequent.values().map(|row| row.0).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let bar = counts[FREQUENT];
        self.lost += bar;
        self.frequent.retain(|_, row| {
            row.0 -= bar.min(row.0);
            row.0 > 0
        });
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        let (own_exact, exact) = (self.level == 0, other.level == 0);
        self.total += other.total;
        // The counts of one that is exact are frequent values of the other.
        if own_exact && !exact {
            self.frequent = self.rows.clone();
        }
        self.level = self.level.max(other.level);
        if self.level > 0 {
            let theirs = if exact { &other.rows } else { &other.frequent };
            for (hash, (times, value)) in theirs {
                let row = self.frequent.entry(*hash).or_insert_with(|| (0, value.clone()));
                row.0 += times;
            }
            self.lost += other.lost;
            self.keep_most_frequent();
        }
        for (hash, (times, value)) in other.rows {
            self.rows.entry(hash).or_insert((0, value)).0 += times;
        }
        self.thin_out();
        self.shrink();
    }

    /// How many different values there are: exactly, or as the sample lets one expect.
    pub(crate) fn distinct(&self) -> u64 {
        (self.rows.len() as u64) << self.level.min(40)
    }

    /// Whether all values are there with exact counts.
    pub(crate) fn is_exact(&self) -> bool {
        self.level == 0
    }

    /// Values with weights that add up to about the total, the heaviest first, at most `most` of them.
    pub(crate) fn weighted(&self, most: usize) -> Vec<(f64, &[u8])> {
        // A value is frequent if its count is well beyond what the count may be wrong by.
        let heavy = |row: &&Counted| row.0 > 2 * self.lost.max(4);
        let mut rows: Vec<(f64, &[u8])> = Vec::new();
        let mut mass = 0.0;
        if !self.is_exact() {
            for row in self.frequent.values().filter(heavy) {
                let count = row.0 as f64 + self.lost as f64 / 2.0;
                mass += count;
                rows.push((count, &row.1));
            }
        }
        let is_frequent =
            |hash: &u64| !self.is_exact() && self.frequent.get(hash).as_ref().is_some_and(heavy);
        let rest: Vec<&Counted> =
            self.rows.iter().filter(|(hash, _)| !is_frequent(hash)).map(|(_, row)| row).collect();
        let sampled: u64 = rest.iter().map(|row| row.0).sum();
        let scale = match self.is_exact() {
            true => 1.0,
            false => ((self.total as f64 - mass) / (sampled as f64).max(1.0)).max(0.0),
        };
        rows.extend(rest.iter().map(|row| (row.0 as f64 * scale, row.1.as_ref())));
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        rows.truncate(most);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The skew of Zipf's law over `n` values, in an order that has nothing to do with the counts.
    fn skewed(n: u64) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in 0..n {
            values.extend((0..(n * 2 / (value + 1)).max(1)).map(|_| format!("v{value}")));
        }
        values.sort_by_key(|value| hash(value.as_bytes()));
        values.rotate_left(7);
        values
    }

    #[test]
    fn few_values_are_counted_exactly() {
        let mut rows = Rows::default();
        let values = skewed(500);
        values.iter().for_each(|value| rows.add(value.as_bytes()));
        let weighted = rows.weighted(1_000);
        assert!(rows.is_exact());
        assert_eq!(weighted.len(), 500);
        assert_eq!(weighted[0], (1_000.0, b"v0".as_slice()));
        assert_eq!(weighted.iter().map(|row| row.0).sum::<f64>(), values.len() as f64);
    }

    #[test]
    fn many_values_keep_their_skew() {
        let values = skewed(60_000);
        let mut halves = [Rows::default(), Rows::default()];
        for (at, value) in values.iter().enumerate() {
            halves[at % 2].add(value.as_bytes());
        }
        let [mut rows, other] = halves;
        rows.absorb(other);
        let off = |found: f64, wanted: f64| (found - wanted).abs() / wanted;
        assert!(off(rows.distinct() as f64, 60_000.0) < 0.1, "{}", rows.distinct());
        let weighted = rows.weighted(usize::MAX);
        let total: f64 = weighted.iter().map(|row| row.0).sum();
        assert!(off(total, values.len() as f64) < 0.02, "{total}");
        for (rank, row) in weighted.iter().take(5).enumerate() {
            let wanted = (120_000 / (rank + 1)) as f64;
            assert_eq!(row.1, format!("v{rank}").as_bytes());
            assert!(off(row.0, wanted) < 0.1, "{} of {wanted}", row.0);
        }
    }
}
