//! Counts by key since the start, of as many keys as `/metrics` may show: the first that come, and all others together.

use std::collections::BTreeMap;

use super::sum::OTHER_STATUS;
use super::table::Row;
use crate::policy::PROBLEMS;

/// Keys that are kept apart.
const KEYS_MOST: usize = 100;
/// The number that usage has for requests without a key.
const NO_KEY: u64 = 0;

/// Counts of one key, or of several together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySum {
    /// Bytes of requests, head and body.
    pub bytes_in: u64,
    /// Bytes of responses, head and body.
    pub bytes_out: u64,
    /// Refusals, in the order of [`PROBLEMS`].
    pub refused: [u64; PROBLEMS.len()],
    classes: BTreeMap<u16, u64>,
}

impl KeySum {
    /// Responses by the class of their status, refusals included: `2xx`; `left` where the client left first, `other` of further
    /// statuses.
    pub fn classes(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.classes.iter().map(|(class, n)| {
            let class = match *class {
                0 => "left".to_owned(),
                OTHER_STATUS => "other".to_owned(),
                class => format!("{class}xx"),
            };
            (class, *n)
        })
    }

    fn add(&mut self, row: &Row) {
        self.bytes_in += row.bytes_in;
        self.bytes_out += row.bytes_out;
        self.refused.iter_mut().zip(row.refused).for_each(|(sum, n)| *sum += u64::from(n));
        let classes = row.statuses.iter().map(|(status, n)| (status / 100, *n));
        let others = [(OTHER_STATUS, row.other_statuses)];
        for (class, n) in classes.chain(others).filter(|(_, n)| *n > 0) {
            *self.classes.entry(class).or_default() += u64::from(n);
        }
    }
}

/// Counts by key. A key that is kept apart stays so, and none joins later: so no count ever falls.
#[derive(Debug, Clone, Default)]
pub struct ByKey {
    keys: BTreeMap<u64, KeySum>,
    without: KeySum,
    others: KeySum,
}

impl ByKey {
    pub(super) fn add(&mut self, key: u64, row: &Row) {
        let sum = match key {
            NO_KEY => &mut self.without,
            key if self.keys.len() < KEYS_MOST || self.keys.contains_key(&key) => {
                self.keys.entry(key).or_default()
            }
            _ => &mut self.others,
        };
        sum.add(row);
    }

    /// Each by its number, requests without a key as `none`, all further keys as `other`.
    pub fn each(&self) -> impl Iterator<Item = (String, &KeySum)> {
        let keys = self.keys.iter().map(|(key, sum)| (key.to_string(), sum));
        let rest = [("none".to_owned(), &self.without), ("other".to_owned(), &self.others)];
        keys.chain(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Table;
    use super::*;
    use crate::policy::{Outcome, Problem};

    #[test]
    fn keys_beyond_the_first_are_counted_together_and_no_count_falls() {
        let outcome = |status| Outcome {
            status,
            bytes_in: 10,
            bytes_out: 20,
            latency_ns: 1,
            upstream_ns: 1,
            waited_ns: 0,
            upstream_failed: false,
        };
        let mut by_key = ByKey::default();
        let mut before: BTreeMap<String, u64> = BTreeMap::new();
        // In the second round the last keys are the busiest.
        let rounds: [fn(u32) -> u32; 2] = [|_| 1, |key| key];
        for requests in rounds {
            let mut table = Table::new();
            for key in 0..150 {
                for _ in 0..requests(key) {
                    assert!(table.count(key, 0, 1000, &outcome(204)));
                }
                assert!(table.refuse(key, 0, Problem::RateLimited, 0));
            }
            table.rows().iter().for_each(|row| by_key.add(row.key.into(), row));
            let now: BTreeMap<String, u64> = by_key
                .each()
                .map(|(key, sum)| (key, sum.classes().map(|(_, n)| n).sum()))
                .collect();
            assert_eq!(now.len(), KEYS_MOST + 2);
            assert!(before.iter().all(|(key, n)| now[key] >= *n), "{before:?} {now:?}");
            before = now;
        }
        let of = |wanted: &str| by_key.each().find(|(key, _)| key == wanted).unwrap().1.clone();
        let classes = |key| of(key).classes().collect::<Vec<_>>();
        assert_eq!(classes("none"), [("2xx".to_owned(), 1), ("4xx".to_owned(), 2)]);
        assert_eq!(classes("100"), [("2xx".to_owned(), 101), ("4xx".to_owned(), 2)]);
        let others: u64 = (101..150).map(|key| key + 1).sum();
        assert_eq!(classes("other"), [("2xx".to_owned(), others), ("4xx".to_owned(), 2 * 49)]);
        let sum = of("other");
        assert_eq!((sum.bytes_in, sum.bytes_out), (10 * others, 20 * others));
        assert_eq!(sum.refused[Problem::RateLimited as usize], 2 * 49);
        assert!(by_key.each().all(|(key, _)| key != "101"));
    }

    #[test]
    fn what_has_no_class_is_named() {
        let classes = BTreeMap::from([(0, 3), (5, 1), (OTHER_STATUS, 2)]);
        let sum = KeySum { classes, ..KeySum::default() };
        let classes: Vec<_> = sum.classes().map(|(class, _)| class).collect();
        assert_eq!(classes, ["left", "5xx", "other"]);
    }
}
