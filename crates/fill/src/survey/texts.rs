//! Which texts of a column are taken, where no other row may have the same.

use std::collections::BTreeSet;

use super::{MOST_LISTED, is_checked};
use crate::database::Database;
use crate::error::Result;
use crate::facts::TableFacts;
use crate::rows::{pattern_of, places_of, put_in};
use crate::schema::Table;

/// What texts of a column are taken: their highest number, all of them where they are few (`short`, or under conditions),
/// and the numbers that none has of those that a regular expression counts.
pub fn find(
    database: &mut dyn Database,
    table: &Table,
    column: usize,
    short: bool,
    facts: &mut TableFacts,
) -> Result<()> {
    let dialect = database.dialect();
    let (name, key) = (table.name.sql(dialect), dialect.quoted(&table.columns[column].name));
    let checked = is_checked(table, column, facts.partitions.as_deref());
    let pattern = pattern_of(dialect, table, column);
    let places = places_of(dialect, table, column);
    let number = |text: &str| places.as_ref().and_then(|places| places.number(text));
    let wanted = facts.columns[column].wanted.iter();
    let mut numbers: Vec<i64> = wanted.filter_map(|text| number(text)).collect();
    let (mut trailing, mut taken) = (0, BTreeSet::new());
    let sql = format!("SELECT {key} FROM {name} WHERE {key} IS NOT NULL");
    database.query(&sql, &mut |row| {
        let text = row.first().copied().flatten().unwrap_or_default();
        trailing = trailing.max(number_in(text, pattern.as_deref()));
        numbers.extend(number(text));
        if short || (checked && taken.len() < MOST_LISTED) {
            taken.insert(text.to_owned());
        }
        Ok(())
    })?;
    let of = &mut facts.columns[column];
    of.trailing = trailing;
    of.taken = taken.into_iter().collect();
    of.gap = places.map(|places| widest_gap(numbers, places.count()));
    Ok(())
}

/// The first and the last of the most numbers in a row below `count` that are not among these; the last is below the first
/// where there are none.
fn widest_gap(mut taken: Vec<i64>, count: i64) -> (i64, i64) {
    taken.sort_unstable();
    let starts = std::iter::once(0).chain(taken.iter().map(|number| number + 1));
    let gaps = starts.zip(taken.iter().copied().chain([count]).map(|end| end - 1));
    gaps.max_by_key(|(first, last)| last - first).unwrap_or((0, count - 1))
}

/// The number that tells a text from others: at its end, or where the column's pattern of LIKE has it.
fn number_in(text: &str, pattern: Option<&str>) -> u64 {
    let Some(pattern) = pattern else { return trailing_number(text) };
    let inner = trailing_number(&put_in(pattern, text));
    // A text that is of such a pattern as it is has nothing put into it.
    if pattern.contains('%') { inner.max(trailing_number(text)) } else { inner }
}

/// The highest number at the end of a text, or before its `@`; of up to 15 digits behind leading zeros, as ours are.
fn trailing_number(text: &str) -> u64 {
    let ends = [text.split('@').next().unwrap_or_default(), text.trim_end()];
    let number = |end: &str| {
        let start = end.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let digits = end[start..].trim_start_matches('0');
        if digits.len() > 15 { 0 } else { digits.parse().unwrap_or(0) }
    };
    ends.into_iter().map(number).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_end_of_texts_are_found() {
        for (text, number) in [
            ("ann.lee42@example.com", 42),
            ("SKU-00017", 17),
            ("a1b", 0),
            ("a9@b7", 9),
            ("x@y12", 12),
            ("1234567890123456", 0),
            ("日本5", 5),
            ("code 7  ", 7),
            ("", 0),
        ] {
            assert_eq!(trailing_number(text), number, "{text}");
        }
    }

    #[test]
    fn the_widest_gap_between_numbers_is_found() {
        for (taken, gap) in [
            (vec![], (0, 9)),
            (vec![0, 9], (1, 8)),
            (vec![8, 1], (2, 7)),
            (vec![7, 2, 2], (3, 6)),
            (vec![2], (3, 9)),
            (vec![8], (0, 7)),
        ] {
            assert_eq!(widest_gap(taken.clone(), 10), gap, "{taken:?}");
        }
        let (first, last) = widest_gap((0..10).collect(), 10);
        assert!(last < first, "{first} {last}");
    }

    #[test]
    fn numbers_are_found_where_a_pattern_has_them() {
        for (text, pattern, number) in [
            ("SKU-Lamp 17", "SKU-%", 17),
            ("Lamp 17-EU", "%-EU", 17),
            ("Lamp 1734X", "%__X", 17),
            // It is of the pattern as it is.
            ("Lamp 1734", "%_", 1734),
            ("ann12@shop", "%@%", 12),
            ("17-AB", "__-AB", 17),
            ("017-234", "___-___", 17_234),
            ("A1-0017-9", "A1-____-9", 17),
            ("0000000000000017", "________________", 17),
            ("x", "____", 0),
        ] {
            assert_eq!(number_in(text, Some(pattern)), number, "{text} {pattern}");
        }
    }
}
