//! SQL conditions that select the rows which a fill has written.

use std::ops::Range;

use crate::database::{literal, literal_of};
use crate::rows::{Counts, Rows};
use crate::schema::{Column, Dialect, Schema, Unique};
use crate::value::Value;

/// Rows of one UPDATE or DELETE that lists them.
pub const LIST: usize = 500;

/// Rows of one DELETE that finds each by all of its columns.
const LIST_OF_PLACES: usize = 100;

/// Rows that one statement finds.
#[derive(Debug, PartialEq)]
pub struct Lot {
    /// The condition.
    pub condition: String,
    /// What follows a DELETE's condition: an order, a limit.
    pub ending: String,
}

/// The condition by which a row is found.
pub fn equals(schema: &Schema, rows: &Rows, table: usize, columns: &[usize], row: u64) -> String {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let values = rows.values(table, columns, row);
    let parts = columns.iter().zip(&values).map(|(&column, value)| {
        let name = dialect.quoted(&of.columns[column].name);
        let value = literal(dialect, value);
        format!("{name} = {value}")
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// The condition by which several rows are found; there is one at least.
pub fn any_of(
    schema: &Schema,
    rows: &Rows,
    table: usize,
    key: &[usize],
    numbers: &[u64],
) -> String {
    let dialect = schema.dialect;
    let values = |&row: &u64| -> Vec<String> {
        rows.values(table, key, row).iter().map(|value| literal(dialect, value)).collect()
    };
    if let [column] = *key {
        let columns = &schema.tables[table].columns;
        return one_of(dialect, &columns[column], numbers.iter().map(|row| values(row).remove(0)));
    }
    if dialect == Dialect::Postgres {
        let columns: Vec<&Column> =
            key.iter().map(|&column| &schema.tables[table].columns[column]).collect();
        let values: Vec<Vec<String>> = numbers.iter().map(values).collect();
        return listed(&columns, &values);
    }
    let each = numbers.iter().map(|&row| format!("({})", equals(schema, rows, table, key, row)));
    each.collect::<Vec<_>>().join(" OR ")
}

/// The condition that a column has one of these values.
fn one_of(dialect: Dialect, column: &Column, values: impl Iterator<Item = String>) -> String {
    let list: Vec<String> = values.collect();
    format!("{} IN ({})", dialect.quoted(&column.name), list.join(", "))
}

/// The condition that columns have one of these lists of values, for PostgreSQL: with OR between them it would plan each
/// list for each partition, which takes minutes where there are thousands. The lists of each column alone tell it which
/// partitions to look into.
fn listed(columns: &[&Column], values: &[Vec<String>]) -> String {
    const DIALECT: Dialect = Dialect::Postgres;
    let names: Vec<String> = columns.iter().map(|column| DIALECT.quoted(&column.name)).collect();
    let each = columns.iter().enumerate().map(|(at, column)| {
        one_of(DIALECT, column, values.iter().map(|values| values[at].clone()))
    });
    let each: Vec<String> = each.collect();
    // The first list says of which types all are.
    let list = |(number, values): (usize, &Vec<String>)| {
        let typed = values.iter().zip(columns).map(|(value, column)| match number {
            0 => format!("CAST({value} AS {})", column.type_name),
            _ => value.clone(),
        });
        format!("({})", typed.collect::<Vec<_>>().join(", "))
    };
    let lists: Vec<String> = values.iter().enumerate().map(list).collect();
    format!("{} AND ({}) IN (VALUES {})", each.join(" AND "), names.join(", "), lists.join(", "))
}

/// The counter that gives a key its numbers. Between those of one that leaves some out there may be others' rows.
pub fn counted(rows: &Rows, table: usize, key: &Unique) -> Option<Counts> {
    match key.columns[..] {
        [column] => rows.counts_from(table, column).filter(|counts| counts.step == 1),
        _ => None,
    }
}

/// Finds rows of a table by its key, the last ones first.
pub fn by_key(
    schema: &Schema,
    rows: &Rows,
    table: usize,
    key: &Unique,
    numbers: Range<u64>,
) -> Vec<Lot> {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let counted = counted(rows, table, key);
    let mut lots = Vec::new();
    let mut listed = numbers.clone();
    if let Some(Counts { row: first_row, start, .. }) = counted {
        let from = numbers.start.max(first_row);
        if from < numbers.end {
            let value = |row: u64| start + i128::from(row - first_row);
            let column = dialect.quoted(&of.columns[key.columns[0]].name);
            let (low, high) = (value(from), value(numbers.end - 1));
            lots.push(Lot {
                condition: format!("{column} >= {low} AND {column} <= {high}"),
                ending: match is_ordered(schema, table) {
                    true => format!(" ORDER BY {column} DESC"),
                    false => String::new(),
                },
            });
        }
        listed = numbers.start..from.min(numbers.end);
    }
    let listed: Vec<u64> = listed.rev().collect();
    lots.extend(by_values(schema, rows, table, key, &listed));
    lots
}

/// Finds rows of a table by the values of its key, in this order.
pub fn by_values(
    schema: &Schema,
    rows: &Rows,
    table: usize,
    key: &Unique,
    numbers: &[u64],
) -> Vec<Lot> {
    let in_this_order = |chunk: &[u64]| {
        let places = chunk.iter().enumerate().map(|(place, &row)| {
            format!(" WHEN {} THEN {place}", equals(schema, rows, table, &key.columns, row))
        });
        format!(" ORDER BY CASE{} END", places.collect::<String>())
    };
    let lot = |chunk: &[u64]| Lot {
        condition: any_of(schema, rows, table, &key.columns, chunk),
        ending: if is_ordered(schema, table) { in_this_order(chunk) } else { String::new() },
    };
    numbers.chunks(LIST).map(lot).collect()
}

/// Whether rows have to go one by one: MySQL looks at references row by row, so that a row goes before the earlier one
/// that it refers to.
fn is_ordered(schema: &Schema, table: usize) -> bool {
    let mut references = schema.tables[table].references.iter();
    schema.dialect == Dialect::Mysql && references.any(|reference| reference.table == table)
}

/// Finds rows of a table without a key by SQLite's hidden row number and by all that was written: the number is another
/// row's after a VACUUM, or where a row is gone.
pub fn by_place(
    schema: &Schema,
    rows: &Rows,
    table: usize,
    rowid: &str,
    numbers: Range<u64>,
) -> Vec<Lot> {
    let first = rows.first_rowid(table);
    let found = |row: &u64| {
        let place = format!("{rowid} = {}", first.saturating_add_unsigned(*row));
        let written = as_written(schema, rows, table, *row);
        let all: Vec<String> = std::iter::once(place).chain(written).collect();
        format!("({})", all.join(" AND "))
    };
    // Later rows may refer to earlier ones.
    let numbers: Vec<u64> = numbers.rev().collect();
    let lots = numbers.chunks(LIST_OF_PLACES).map(|chunk| Lot {
        condition: chunk.iter().map(found).collect::<Vec<_>>().join(" OR "),
        ending: String::new(),
    });
    lots.collect()
}

/// The places in which rows of a table without a key were written.
pub fn places(rows: &Rows, table: usize, rowid: &str, numbers: &Range<u64>) -> String {
    let first = rows.first_rowid(table);
    let (from, to) =
        (first.saturating_add_unsigned(numbers.start), first.saturating_add_unsigned(numbers.end));
    format!("{rowid} >= {from} AND {rowid} < {to}")
}

/// Rows that nothing tells apart are as good as each other: finds one that looks like this one.
pub fn alike(schema: &Schema, rows: &Rows, table: usize, row: u64) -> Lot {
    let condition = as_written(schema, rows, table, row).join(" AND ");
    Lot { condition, ending: " LIMIT 1".to_owned() }
}

/// Conditions that each column of a row holds what was written, for SQLite and MySQL.
fn as_written(schema: &Schema, rows: &Rows, table: usize, row: u64) -> Vec<String> {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let same = if dialect == Dialect::Sqlite { "IS" } else { "<=>" };
    let columns = rows.written(table);
    let values = rows.values(table, columns, row);
    let condition = |(&column, value): (&usize, &Value)| {
        let column = &of.columns[column];
        let (name, text) = (dialect.quoted(&column.name), literal_of(dialect, column, value));
        let declared = column.type_name.to_ascii_lowercase();
        let is_number = matches!(value, Value::Int(_) | Value::Decimal { .. } | Value::Float(_));
        let is_fraction = matches!(value, Value::Decimal { .. } | Value::Float(_));
        match dialect {
            // Kept with about 7 digits.
            Dialect::Mysql if is_number && declared.starts_with("float") => {
                format!("ABS({name} - {text}) <= 1e-6 * ABS({text})")
            }
            // A text is never equal to it.
            Dialect::Mysql if declared == "json" && *value != Value::Null => {
                format!("{name} <=> CAST({text} AS JSON)")
            }
            // Kept as a binary fraction, which the literal may miss by its last bit.
            Dialect::Sqlite if is_fraction => {
                format!("abs({name} - {text}) <= 1e-12 * abs({text})")
            }
            _ => format!("{name} {same} {text}"),
        }
    };
    columns.iter().zip(&values).map(condition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Type;

    #[test]
    fn postgres_is_asked_for_several_columns_by_lists() {
        let column = |(name, type_name): (&str, &str)| Column {
            name: name.to_owned(),
            kind: Type::Other,
            type_name: type_name.to_owned(),
            nullable: false,
            default: None,
            generated: None,
            counted: false,
            folds: false,
        };
        let columns = [("id", "bigint"), ("on", "date")].map(column);
        let columns: Vec<&Column> = columns.iter().collect();
        let values = [["7", "'2030-01-01'"], ["8", "'2030-01-02'"]];
        let values = values.map(|row| row.map(str::to_owned).to_vec());
        let wanted = "\"id\" IN (7, 8) AND \"on\" IN ('2030-01-01', '2030-01-02') AND (\"id\", \"on\") IN (VALUES \
                      (CAST(7 AS bigint), CAST('2030-01-01' AS date)), (8, '2030-01-02'))";
        assert_eq!(listed(&columns, &values), wanted);
    }
}
