//! Which texts of a column are taken, where no other row may have the same.

use std::collections::BTreeSet;

use super::{MOST_LISTED, is_checked};
use crate::check::Places;
use crate::database::Database;
use crate::error::Result;
use crate::facts::TableFacts;
use crate::rows::{few_texts_of, number_in, pattern_of, places_of};
use crate::schema::Table;

/// Groups at most that numbers are told apart by: 8 MiB.
const MOST_GROUPS: i64 = 1 << 26;

/// What texts of a column are taken: their highest number, all of them where new ones are chosen from a few, the first under
/// other conditions, and the numbers that none has of those that a regular expression counts.
pub fn find(
    database: &mut dyn Database,
    table: &Table,
    column: usize,
    facts: &mut TableFacts,
) -> Result<()> {
    let dialect = database.dialect();
    let (name, key) = (table.name.sql(dialect), dialect.quoted(&table.columns[column].name));
    let checked = is_checked(table, column, facts.partitions.as_deref());
    let few = !few_texts_of(dialect, table, column, facts.partitions.as_deref()).is_empty();
    let pattern = pattern_of(dialect, table, column);
    let places = places_of(dialect, table, column);
    let number = |text: &str| places.as_ref().and_then(|places| places.number(text));
    let mut numbers = Numbers::below(places.as_ref().map_or(0, Places::count));
    facts.columns[column]
        .wanted
        .iter()
        .filter_map(|text| number(text))
        .for_each(|n| numbers.add(n));
    let (mut trailing, mut taken) = (0, BTreeSet::new());
    let sql = format!("SELECT {key} FROM {name} WHERE {key} IS NOT NULL");
    database.query(&sql, &mut |row| {
        let text = row.first().copied().flatten().unwrap_or_default();
        trailing = trailing.max(number_in(text, pattern.as_deref()));
        if let Some(number) = number(text) {
            numbers.add(number);
        }
        if few || (checked && taken.len() < MOST_LISTED) {
            taken.insert(text.to_owned());
        }
        Ok(())
    })?;
    let of = &mut facts.columns[column];
    of.trailing = trailing;
    of.taken = taken.into_iter().collect();
    of.gap = places.map(|_| numbers.widest_gap());
    Ok(())
}

/// Which numbers below a count are taken: exactly where there are few, by groups of neighbours where there are many, so
/// that the memory has a bound whatever a table holds.
struct Numbers {
    count: i64,
    /// Numbers in a group.
    group: i64,
    /// A bit for each group: one of its numbers is taken.
    taken: Vec<u64>,
}

impl Numbers {
    fn below(count: i64) -> Self {
        let group = (count / MOST_GROUPS).saturating_add(1);
        let words = (count / group) / 64 + 1;
        Self { count, group, taken: vec![0; words as usize] }
    }

    fn add(&mut self, number: i64) {
        let group = number / self.group;
        self.taken[(group / 64) as usize] |= 1 << (group % 64);
    }

    /// The first and the last of the most numbers in a row that are not taken; the last is below the first where there
    /// are none.
    fn widest_gap(&self) -> (i64, i64) {
        let is_taken = |group: i64| self.taken[(group / 64) as usize] >> (group % 64) & 1 == 1;
        let (mut widest, mut first) = ((0, -1), 0);
        for group in 0..=self.count / self.group {
            let start = group * self.group;
            if is_taken(group) {
                first = start.saturating_add(self.group);
            } else if self.group.min(self.count - start) + start - first > widest.1 - widest.0 + 1 {
                widest = (first, (start.saturating_add(self.group)).min(self.count) - 1);
            }
        }
        widest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_gap_between_numbers_is_found() {
        let widest = |count: i64, taken: &[i64]| {
            let mut numbers = Numbers::below(count);
            taken.iter().for_each(|&number| numbers.add(number));
            numbers.widest_gap()
        };
        for (taken, gap) in [
            (&[][..], (0, 9)),
            (&[0, 9], (1, 8)),
            (&[8, 1], (2, 7)),
            (&[7, 2, 2], (3, 6)),
            (&[2], (3, 9)),
            (&[8], (0, 7)),
        ] {
            assert_eq!(widest(10, taken), gap, "{taken:?}");
        }
        let (first, last) = widest(10, &(0..10).collect::<Vec<_>>());
        assert!(last < first, "{first} {last}");
        // By groups: what is near to a number that is taken counts as taken.
        let many = 1_000 * MOST_GROUPS;
        let (first, last) = widest(many, &[many / 2]);
        assert!((0..2_002).contains(&(many / 2 - (last + 1 - first))), "{first} {last}");
        assert_eq!(widest(i64::MAX, &[]), (0, i64::MAX - 1));
        let (first, last) = widest(i64::MAX, &[i64::MAX - 1]);
        assert!(first == 0 && last > i64::MAX / 2);
    }
}
