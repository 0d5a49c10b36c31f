//! Finds the rows under keys of a fill that somebody else has put there, by comparing their content with what the fill
//! wrote.
//!
//! The rows of a fill are generated again and compared with those in the database. A load test changes values of the
//! fill's rows, and other rows may share values by chance, so neither one difference nor one match decides.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use crate::database::{Database, selected};
use crate::error::Result;
use crate::facts::Facts;
use crate::found::{Lot, by_key, counted};
use crate::rows::{Counts, Rows};
use crate::schema::{Schema, Table, Type, Unique};
use crate::times::{SECOND, parse_moment, parse_time};
use crate::value::Value;

/// Rows by which it is told how common values are.
const SAMPLE: u64 = 1024;
/// A value is common that more than one in so many rows has.
const COMMON: u64 = 10;
/// Columns that are compared at most.
const MOST_COLUMNS: usize = 8;
/// A value of so many characters that no other row of the sample has is nobody else's: a time to the second, a mail.
const LONG: usize = 16;

/// What tells rows of a table from those that others put under the same keys.
#[derive(Debug)]
pub struct Content {
    table: usize,
    /// Those of which most rows have a value that is not common come first.
    columns: Vec<Compared>,
}

/// A column that is compared.
#[derive(Debug)]
struct Compared {
    column: usize,
    /// Values that more than one row of the sample has, and whether they are common.
    repeated: HashMap<String, bool>,
}

impl Content {
    /// For a table that a fill adds rows to; none where it has no key, or its other columns tell no rows apart.
    pub fn of(schema: &Schema, facts: &Facts, rows: &Rows, table: usize) -> Option<Self> {
        let columns = comparable(schema, facts, rows, table)?;
        let add = facts.tables[table].add;
        let sample = add.min(SAMPLE);
        let mut seen = vec![HashMap::<String, u64>::new(); columns.len()];
        for at in 0..sample {
            let values = rows.values(table, &columns, at * add / sample);
            for (seen, value) in seen.iter_mut().zip(&values) {
                if *value != Value::Null {
                    *seen.entry(value.text()).or_default() += 1;
                }
            }
        }
        let is_common = |count: u64| count > 1 && count * COMMON > sample;
        let compared = columns.into_iter().zip(seen).map(|(column, seen)| {
            let telling: u64 = seen.values().filter(|count| !is_common(**count)).sum();
            let repeated = seen.into_iter().filter(|(_, count)| *count > 1);
            let repeated = repeated.map(|(text, count)| (text, is_common(count))).collect();
            (telling, Compared { column, repeated })
        });
        let mut compared: Vec<(u64, Compared)> =
            compared.filter(|(telling, _)| *telling > 0).collect();
        compared.sort_by_key(|(telling, _)| Reverse(*telling));
        compared.truncate(MOST_COLUMNS);
        let columns: Vec<Compared> = compared.into_iter().map(|(_, column)| column).collect();
        (!columns.is_empty()).then_some(Self { table, columns })
    }

    /// The rows of these numbers under whose keys others' are by now, in order.
    ///
    /// # Errors
    /// When the database refuses.
    pub fn replaced(
        &self,
        database: &mut dyn Database,
        schema: &Schema,
        rows: &Rows,
        numbers: &Range<u64>,
    ) -> Result<Vec<u64>> {
        let of = &schema.tables[self.table];
        let Some(key) = of.key() else { return Ok(Vec::new()) };
        let written = Written::of(of, rows, (self.table, key), numbers);
        let columns: Vec<usize> = self.columns.iter().map(|compared| compared.column).collect();
        let read: Vec<usize> = key.columns.iter().chain(&columns).copied().collect();
        let (name, shown) = (of.name.sql(schema.dialect), selected(schema.dialect, of, &read));
        let mut replaced = Vec::new();
        for Lot { condition, .. } in by_key(schema, rows, self.table, key, numbers.clone()) {
            let sql = format!("SELECT {shown} FROM {name} WHERE {condition}");
            database.query(&sql, &mut |cells| {
                let (key_cells, cells) = cells.split_at(key.columns.len());
                if let Some(row) = written.row_of(of, key, key_cells)
                    && self.is_anothers(&rows.values(self.table, &columns, row), cells)
                {
                    replaced.push(row);
                }
                Ok(())
            })?;
        }
        replaced.sort_unstable();
        Ok(replaced)
    }

    /// Whether less than half of the values that tell are as they were written, and none is that nobody else has. Common
    /// values that are the same tell nothing, however many they are: a country, its currency and its language come together.
    fn is_anothers(&self, written: &[Value], cells: &[Option<&str>]) -> bool {
        let (mut telling, mut same) = (0, 0);
        for ((compared, value), cell) in self.columns.iter().zip(written).zip(cells) {
            let text = value.text();
            let repeated = compared.repeated.get(&text);
            if *value == Value::Null || repeated == Some(&true) {
                continue;
            }
            telling += 1;
            if cell.is_some_and(|cell| is_same(value, cell)) {
                if repeated.is_none() && text.chars().count() >= LONG {
                    return false;
                }
                same += 1;
            }
        }
        2 * same < telling
    }
}

/// The columns whose values can be compared; none where the table has no key. A reference that is filled in a second pass
/// is NULL again by the time that rows go, and who counts up gives the next row the same number.
fn comparable(schema: &Schema, facts: &Facts, rows: &Rows, table: usize) -> Option<Vec<usize>> {
    let of = &schema.tables[table];
    let key = of.key()?;
    let is_deferred = |column: usize| {
        let mut deferred = facts.deferred.iter().filter(|(other, _)| *other == table);
        deferred.any(|&(_, reference)| of.references[reference].columns.contains(&column))
    };
    let is_comparable = |column: &usize| {
        !key.columns.contains(column)
            && !is_deferred(*column)
            && rows.counts_from(table, *column).is_none()
            && !matches!(
                of.columns[*column].kind,
                // Databases write these in ways of their own, and there are few values of others.
                Type::Json | Type::Inet6 | Type::Other | Type::Bool | Type::Enum(_)
            )
    };
    Some(rows.written(table).iter().copied().filter(is_comparable).collect())
}

/// Which rows were written under which keys.
struct Written {
    counted: Option<Counts>,
    /// Rows whose keys do not count up.
    listed: HashMap<String, u64>,
}

impl Written {
    fn of(of: &Table, rows: &Rows, (table, key): (usize, &Unique), numbers: &Range<u64>) -> Self {
        let counted = counted(rows, table, key);
        let end = counted.map_or(numbers.end, |counts| counts.row.min(numbers.end));
        let listed = (numbers.start..end).map(|row| {
            let values = rows.values(table, &key.columns, row);
            (known_as(of, &key.columns, &values), row)
        });
        Self { counted, listed: listed.collect() }
    }

    /// The row that was written under this key; none where its text is in no form that is known.
    fn row_of(&self, of: &Table, key: &Unique, cells: &[Option<&str>]) -> Option<u64> {
        let value = |(&column, cell): (&usize, &Option<&str>)| {
            Value::parse(&of.columns[column].kind, cell.unwrap_or_default())
        };
        let values: Vec<Value> = key.columns.iter().zip(cells).map(value).collect();
        if let Some(&row) = self.listed.get(&known_as(of, &key.columns, &values)) {
            return Some(row);
        }
        match (self.counted, &values[..]) {
            (Some(Counts { row, start, .. }), [Value::Int(number)]) => {
                u64::try_from(number - start).ok().map(|place| row + place)
            }
            _ => None,
        }
    }
}

/// A key as one text, whatever the way in which the database shows it: never the same for two keys.
fn known_as(of: &Table, columns: &[usize], values: &[Value]) -> String {
    let part = |(&column, value): (&usize, &Value)| match of.columns[column].kind {
        Type::Decimal { .. } | Type::Float => {
            value.number().map_or_else(|| value.text(), |number| number.to_string())
        }
        Type::Uuid => value.text().to_ascii_lowercase(),
        _ => {
            let (of, mut text) = (&of.columns[column], value.text());
            if of.is_padded() {
                text.truncate(text.trim_end_matches(' ').len());
            }
            // SQLite keeps letters apart that are not ASCII's.
            if of.folds { text.to_ascii_lowercase() } else { text }
        }
    };
    columns.iter().zip(values).map(part).collect::<Vec<_>>().join("\u{1f}")
}

/// Whether a column still holds what was written there, as far as the databases' ways of keeping and showing values tell:
/// blanks at the end, zeros behind bytes and fractions, capitals, zones and parts of seconds are no difference.
fn is_same(written: &Value, shown: &str) -> bool {
    let text = written.text();
    let (text, shown) = (text.trim_end(), shown.trim_end());
    let within_a_second = |(a, b): (i64, i64)| a.abs_diff(b) < SECOND.unsigned_abs();
    match written {
        Value::Bytes(_) => {
            let shown = shown.strip_prefix("\\x").unwrap_or(shown);
            text.trim_end_matches('0').eq_ignore_ascii_case(shown.trim_end_matches('0'))
        }
        Value::Time(_) => parse_time(text).zip(parse_time(shown)).is_some_and(within_a_second),
        _ => {
            let slack = match written {
                Value::Float(_) => 1e-5,
                Value::Decimal { .. } => 1e-9,
                _ => 0.0,
            };
            let near = |(a, b): (f64, f64)| (a - b).abs() <= slack * a.abs().max(b.abs());
            text.eq_ignore_ascii_case(shown)
                || written.number().zip(shown.parse::<f64>().ok()).is_some_and(near)
                || parse_moment(text).zip(parse_moment(shown)).is_some_and(within_a_second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_in_each_database_s_way_of_showing_them() {
        let text = |text: &str| Value::Text(text.to_owned());
        for (written, shown, same) in [
            (Value::Int(7), "7", true),
            (Value::Int(1_000_001), "1000002", false),
            (Value::Decimal { units: 1250, scale: 2 }, "12.5", true),
            (Value::Decimal { units: 1250, scale: 2 }, "12.51", false),
            (Value::Float(0.1), "0.100000001", true),
            (Value::Float(0.1), "0.2", false),
            (text("Ann "), "Ann", true),
            (text("Ann@example.com"), "ann@example.com", true),
            (text("Ann"), "Anna", false),
            (Value::Bytes(vec![0x0a, 0x80]), "\\x0A8000", true),
            (Value::Bytes(vec![0x0a, 0x80]), "\\x0A81", false),
            (Value::Date(1), "1970-01-02", true),
            (Value::Date(1), "1970-01-03", false),
            (Value::Time(SECOND), "00:00:01.000000", true),
            (Value::Moment(1_500_000), "1970-01-01 00:00:01.5+00", true),
            (Value::Moment(1_500_000), "1970-01-01 00:00:02", true),
            (Value::Moment(1_500_000), "1970-01-01 00:01:01", false),
        ] {
            assert_eq!(is_same(&written, shown), same, "{written:?} {shown}");
        }
    }

    #[test]
    fn a_row_is_anothers_where_too_little_of_it_is_as_it_was_written() {
        let columns = ["a", "b", "c"].iter().enumerate().map(|(column, common)| Compared {
            column,
            repeated: HashMap::from([((*common).to_owned(), true), ("some".to_owned(), false)]),
        });
        let content = Content { table: 0, columns: columns.collect() };
        let long = "ann.lee7@example.com";
        for (written, there, anothers) in [
            (["x", "y", "z"], ["x", "y", "else"], false),
            (["x", "y", "z"], ["x", "else", "else"], true),
            (["x", "y", "z"], ["else", "else", "else"], true),
            // One that nobody else has is enough.
            (["x", "y", long], ["else", "else", long], false),
            // What is common, and nothing at all, tells nothing.
            (["a", "y", "z"], ["a", "else", "else"], true),
            (["a", "b", "z"], ["a", "b", "else"], true),
            (["a", "b", "c"], ["else", "else", "else"], false),
            (["a", "b", "z"], ["else", "else", "z"], false),
            (["some", "y", "c"], ["some", "else", "else"], false),
        ] {
            let values = written.map(|text| Value::Text(text.to_owned()));
            let cells = there.map(Some);
            assert_eq!(content.is_anothers(&values, &cells), anothers, "{written:?} {there:?}");
        }
        let nothing = [Value::Null, Value::Null, Value::Null];
        assert!(!content.is_anothers(&nothing, &[Some("x"), Some("y"), None]));
    }
}
