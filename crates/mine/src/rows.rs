//! Values with their counts, in bounded memory.
//!
//! While they fit, all are kept and the counts are exact. Beyond that, values are kept whose hash begins with enough
//! zeros (each with its exact count: a sample of the distinct values), and also, with exact counts, those of requests
//! that the first reading found to be frequent. What is kept depends on the values, not on their order.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use crate::trie::hash;

/// Values kept.
const MOST: usize = 8_192;
/// Bytes of values kept.
const MOST_BYTES: usize = 1 << 20;

/// A value and its count.
#[derive(Debug, Clone)]
struct Counted {
    times: u64,
    /// Those of them that were frequent requests.
    often: u64,
    value: Box<[u8]>,
}

/// Values by their hash.
type Table = HashMap<u64, Counted, FixedState>;

/// A table of values.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rows {
    /// Zeros that a hash begins with to be kept.
    level: u32,
    rows: Table,
    bytes: usize,
    /// Values of frequent requests, once others are left out.
    frequent: Table,
    total: u64,
}

impl Rows {
    /// Counts a value; `often` says that its request is a frequent one. What comes back is its hash.
    pub(crate) fn add(&mut self, value: &[u8], often: bool) -> u64 {
        let key = hash(value);
        self.add_hashed(key, often, || value.into());
        key
    }

    /// Counts a value of which the hash is known.
    pub(crate) fn add_hashed(&mut self, hash: u64, often: bool, value: impl Fn() -> Box<[u8]>) {
        let often = u64::from(often);
        self.total += 1;
        if self.level > 0 && often > 0 {
            count(&mut self.frequent, hash, (1, 1), &value);
        }
        if hash.leading_zeros() < self.level {
            return;
        }
        let row = count(&mut self.rows, hash, (1, often), value);
        if row.times == 1 {
            self.bytes += size(&row.value);
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        while self.rows.len() > MOST || self.bytes > MOST_BYTES {
            self.halve();
        }
    }

    /// Leaves about half of the values.
    pub(crate) fn halve(&mut self) {
        self.note_frequent();
        self.level += 1;
        self.thin_out();
    }

    /// Takes the frequent ones out of values that are all there still.
    fn note_frequent(&mut self) {
        if self.level == 0 {
            self.frequent = frequent_of(&self.rows).collect();
        }
    }

    /// Leaves the values that the level keeps.
    fn thin_out(&mut self) {
        let level = self.level;
        self.rows.retain(|hash, _| hash.leading_zeros() >= level);
        self.bytes = self.rows.values().map(|row| size(&row.value)).sum();
    }

    /// Bytes of the values kept, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        self.total += other.total;
        let level = self.level.max(other.level);
        if level > 0 {
            self.note_frequent();
            let exact = other.level == 0;
            let theirs: Table =
                if exact { frequent_of(&other.rows).collect() } else { other.frequent };
            for (hash, row) in theirs {
                count(&mut self.frequent, hash, (row.times, row.often), || row.value.clone());
            }
        }
        self.level = level;
        for (hash, row) in other.rows {
            if hash.leading_zeros() < level {
                continue;
            }
            let own = self.rows.entry(hash);
            own.and_modify(|own| {
                own.times += row.times;
                own.often += row.often;
            })
            .or_insert(row);
        }
        self.thin_out();
        self.shrink();
    }

    /// How many different values there are: exactly, or as the sample lets one expect.
    pub(crate) fn distinct(&self) -> u64 {
        (self.rows.len() as u64) << self.level.min(40)
    }

    /// The standard error of [`Rows::distinct`] as a share of it: that of a sample drawn by the values' hashes.
    pub(crate) fn distinct_error(&self) -> f64 {
        if self.is_exact() { 0.0 } else { (self.rows.len().max(1) as f64).sqrt().recip() }
    }

    /// Whether all values are there with exact counts.
    pub(crate) fn is_exact(&self) -> bool {
        self.level == 0
    }

    /// The heaviest values, at most `most` of them, the heaviest first.
    pub(crate) fn weighted(&self, most: usize) -> Vec<(f64, &[u8])> {
        let mut rows = self.sampled(usize::MAX);
        rows.truncate(most);
        rows
    }

    /// Values with weights that add up to the total, the heaviest first, at most `most` of them: frequent ones with their
    /// counts, and a sample of the others that stands for all of these. To leave out the lightest instead would give
    /// their requests to the heavy ones.
    pub(crate) fn sampled(&self, most: usize) -> Vec<(f64, &[u8])> {
        let mut frequent: Vec<(&u64, &Counted)> = self.frequent.iter().collect();
        if frequent.len() > most / 2 {
            frequent.sort_by_cached_key(|(_, row)| (Reverse(row.times), row.value.clone()));
            frequent.truncate(most / 2);
        }
        let kept: HashSet<u64, FixedState> = frequent.iter().map(|(hash, _)| **hash).collect();
        let mut rest: Vec<(&u64, &Counted)> =
            self.rows.iter().filter(|(hash, _)| !kept.contains(*hash)).collect();
        let mut level = self.level;
        while rest.len() > most - frequent.len() {
            level += 1;
            rest.retain(|(hash, _)| hash.leading_zeros() >= level);
        }
        let times = |rows: &[(&u64, &Counted)]| rows.iter().map(|(_, row)| row.times).sum::<u64>();
        let of_rest = self.total.saturating_sub(times(&frequent));
        let scale = of_rest as f64 / (times(&rest) as f64).max(1.0);
        let mut rows: Vec<(f64, &[u8])> = Vec::with_capacity(frequent.len() + rest.len());
        rows.extend(frequent.iter().map(|(_, row)| (row.times as f64, row.value.as_ref())));
        rows.extend(rest.iter().map(|(_, row)| (row.times as f64 * scale, row.value.as_ref())));
        rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        rows
    }
}

/// Adds to the count of a value.
fn count(
    to: &mut Table,
    hash: u64,
    (times, often): (u64, u64),
    value: impl FnOnce() -> Box<[u8]>,
) -> &Counted {
    let new = || Counted { times: 0, often: 0, value: value() };
    let row = to.entry(hash).or_insert_with(new);
    row.times += times;
    row.often += often;
    row
}

/// Those of exact counts that frequent requests have, with the count of those.
fn frequent_of(rows: &Table) -> impl Iterator<Item = (u64, Counted)> {
    let frequent = rows.iter().filter(|(_, row)| row.often > 0);
    frequent.map(|(hash, row)| (*hash, Counted { times: row.often, ..row.clone() }))
}

fn size(value: &[u8]) -> usize {
    value.len() + size_of::<(u64, Counted)>()
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
        for value in &values {
            rows.add(value.as_bytes(), false);
        }
        let weighted = rows.weighted(1_000);
        assert!(rows.is_exact());
        assert_eq!(weighted.len(), 500);
        assert_eq!(weighted[0], (1_000.0, b"v0".as_slice()));
        assert_eq!(weighted.iter().map(|row| row.0).sum::<f64>(), values.len() as f64);
    }

    #[test]
    fn values_that_are_too_many_for_a_pool_keep_the_shares_of_heavy_and_rare_ones() {
        const MOST_ROWS: usize = 4_000;
        let values = skewed(60_000);
        let number =
            |value: &[u8]| -> u32 { str::from_utf8(&value[1..]).unwrap().parse().unwrap() };
        for frequent in [1_000, 10_000] {
            let mut rows = Rows::default();
            for value in &values {
                rows.add(value.as_bytes(), number(value.as_bytes()) < frequent);
            }
            let sampled = rows.sampled(MOST_ROWS);
            assert!(sampled.len() <= MOST_ROWS);
            let off = |found: f64, wanted: f64| (found - wanted).abs() / wanted;
            let total: f64 = sampled.iter().map(|row| row.0).sum();
            assert!(off(total, values.len() as f64) < 1e-9, "{total}");
            let rare = |value: &[u8]| number(value) >= 20_000;
            let wanted = values.iter().filter(|value| rare(value.as_bytes())).count() as f64;
            let found: f64 = sampled.iter().filter(|row| rare(row.1)).map(|row| row.0).sum();
            assert!(off(found, wanted) < 0.15, "{frequent}: {found} for {wanted}");
            assert_eq!(sampled[0], (120_000.0, b"v0".as_slice()));
        }
    }

    #[test]
    fn many_values_keep_their_skew() {
        let values = skewed(60_000);
        let often = |value: &str| value.len() <= 3;
        let (mut halves, mut all) = ([Rows::default(), Rows::default()], Rows::default());
        for (at, value) in values.iter().enumerate() {
            halves[at % 2].add(value.as_bytes(), often(value));
            all.add(value.as_bytes(), often(value));
        }
        let [mut rows, other] = halves;
        rows.absorb(other);
        assert_eq!(rows.weighted(usize::MAX), all.weighted(usize::MAX));
        let off = |found: f64, wanted: f64| (found - wanted).abs() / wanted;
        assert!(off(rows.distinct() as f64, 60_000.0) < 0.1, "{}", rows.distinct());
        let weighted = rows.weighted(usize::MAX);
        let total: f64 = weighted.iter().map(|row| row.0).sum();
        assert!(off(total, values.len() as f64) < 0.02, "{total}");
        for (rank, row) in weighted.iter().take(5).enumerate() {
            let wanted = (120_000 / (rank + 1)) as f64;
            assert_eq!(row.1, format!("v{rank}").as_bytes());
            assert_eq!(row.0, wanted);
        }
    }
}
