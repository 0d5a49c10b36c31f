//! Conditions by which rows that were written are found again.

use std::ops::Range;

use crate::database::literal;
use crate::rows::Rows;
use crate::schema::{Dialect, Schema, Unique};

/// Rows of one UPDATE or DELETE that lists them.
pub const LIST: usize = 500;

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

/// The condition by which several rows are found.
pub fn any_of(
    schema: &Schema,
    rows: &Rows,
    table: usize,
    key: &[usize],
    numbers: &[u64],
) -> String {
    let dialect = schema.dialect;
    if let [column] = *key {
        let name = dialect.quoted(&schema.tables[table].columns[column].name);
        let list: Vec<String> =
            numbers.iter().map(|&row| literal(dialect, &rows.values(table, key, row)[0])).collect();
        return format!("{name} IN ({})", list.join(", "));
    }
    let each = numbers.iter().map(|&row| format!("({})", equals(schema, rows, table, key, row)));
    each.collect::<Vec<_>>().join(" OR ")
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
    let counted = match key.columns[..] {
        [column] => rows.counts_from(table, column).map(|counts| (column, counts)),
        _ => None,
    };
    // MySQL looks at references row by row: a row goes before the earlier one that it refers to.
    let refers_to_own = of.references.iter().any(|reference| reference.table == table);
    let one_by_one = dialect == Dialect::Mysql && refers_to_own;
    let in_this_order = |key: &[usize], chunk: &[u64]| {
        let places = chunk.iter().enumerate().map(|(place, &row)| {
            format!(" WHEN {} THEN {place}", equals(schema, rows, table, key, row))
        });
        format!(" ORDER BY CASE{} END", places.collect::<String>())
    };
    let mut lots = Vec::new();
    let mut listed = numbers.clone();
    if let Some((column, (first_row, start))) = counted {
        let from = numbers.start.max(first_row);
        if from < numbers.end {
            let value = |row: u64| start + i128::from(row - first_row);
            let column = dialect.quoted(&of.columns[column].name);
            let (low, high) = (value(from), value(numbers.end - 1));
            lots.push(Lot {
                condition: format!("{column} >= {low} AND {column} <= {high}"),
                ending: if one_by_one { format!(" ORDER BY {column} DESC") } else { String::new() },
            });
        }
        listed = numbers.start..from.min(numbers.end);
    }
    let listed: Vec<u64> = listed.rev().collect();
    lots.extend(listed.chunks(LIST).map(|chunk| Lot {
        condition: any_of(schema, rows, table, &key.columns, chunk),
        ending: if one_by_one { in_this_order(&key.columns, chunk) } else { String::new() },
    }));
    lots
}

/// Finds rows of a table without a key by SQLite's hidden row number.
pub fn by_place(rows: &Rows, table: usize, rowid: &str, numbers: Range<u64>) -> Lot {
    let first = rows.first_rowid(table);
    let (from, to) =
        (first.saturating_add_unsigned(numbers.start), first.saturating_add_unsigned(numbers.end));
    Lot { condition: format!("{rowid} >= {from} AND {rowid} < {to}"), ending: String::new() }
}

/// Rows that nothing tells apart are as good as each other: finds one that looks like this one.
pub fn alike(schema: &Schema, rows: &Rows, table: usize, row: u64) -> Lot {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let columns = rows.written(table);
    let values = rows.values(table, columns, row);
    let same = columns.iter().zip(&values).map(|(&column, value)| {
        let name = dialect.quoted(&of.columns[column].name);
        format!("{name} <=> {}", literal(dialect, value))
    });
    Lot { condition: same.collect::<Vec<_>>().join(" AND "), ending: " LIMIT 1".to_owned() }
}
