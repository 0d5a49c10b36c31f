//! Explains the error with which a database refuses rows: names the condition, its columns and the row.
//!
//! PostgreSQL shows the row itself. For the other two, the rows are written again one by one to find it.

use crate::database::Database;
use crate::error::Error;
use crate::rows::Rows;
use crate::schema::{Check, Dialect, Schema, Table, Unique};
use crate::work::write;

/// Rows that are written again, one by one.
const MOST_AGAIN: usize = 50_000;

/// Rows of a table.
pub type Of<'a> = (usize, &'a [u64]);

/// The error, with what is known of the condition that the rows of `refused` do not meet. `before` are rows that were
/// written in the same transaction, which has been rolled back.
pub fn explained(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    (before, refused): (&[Of<'_>], Of<'_>),
    error: Error,
) -> Error {
    let table = &schema.tables[refused.0];
    error.reworded(|mut why| {
        if let Some(unique) = table.rules().find(|unique| is_broken(table, unique, &why)) {
            let (rule, places) = (&unique.rule, table.places(&unique.columns));
            return why + &format!("; the rule {rule} is on {places}");
        }
        let Some(check) = table.checks.iter().find(|check| is_meant(check, &why)) else {
            return why;
        };
        let columns = table.columns_of(check);
        why += &format!("; the condition is on {}", table.places(&columns));
        if schema.dialect != Dialect::Postgres
            && let Some(row) = culprit(database, schema, rows, before, refused)
        {
            why += &format!("; the row is {}", shown(table, rows, refused.0, row));
        }
        why
    })
}

/// Whether what a database says is about this condition. SQLite says the text of one without a name, MariaDB the
/// column's name for one that stands with a column.
fn is_meant(check: &Check, said: &str) -> bool {
    let rule = &check.rule;
    let bare = check.text.trim_start_matches('(').trim_end_matches(')');
    let lite = said.split_once("CHECK constraint failed: ");
    match lite {
        Some((_, named)) => named == rule || named.contains(bare),
        None => [
            format!("(rule {rule} of "),
            format!("CONSTRAINT `{rule}`"),
            format!(".{rule}` failed"),
            format!("constraint '{rule}'"),
        ]
        .iter()
        .any(|words| said.contains(words)),
    }
}

/// Whether a database says that rows break this rule of uniqueness. SQLite names its columns, or the index of expressions.
fn is_broken(table: &Table, unique: &Unique, said: &str) -> bool {
    let rule = &unique.rule;
    if let Some((_, named)) = said.split_once("UNIQUE constraint failed: ") {
        let name = |&at: &usize| format!("{}.{}", table.name.table, table.columns[at].name);
        let names: Vec<String> = unique.columns.iter().map(name).collect();
        return named == names.join(", ") || named == format!("index '{rule}'");
    }
    let words = [format!("(rule {rule} of "), format!("for key '{rule}'"), format!(".{rule}'")];
    words.iter().any(|words| said.contains(words))
}

/// The first row that is refused by itself.
fn culprit(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    before: &[Of<'_>],
    (table, numbers): Of<'_>,
) -> Option<u64> {
    if numbers.len() > MOST_AGAIN {
        return None;
    }
    database.execute("BEGIN").ok()?;
    let mut again = before.iter();
    let ready =
        again.all(|&(table, numbers)| write(database, schema, rows, table, numbers).is_ok());
    let mut each = numbers.iter().copied().filter(|_| ready);
    let found = each.find(|&row| write(database, schema, rows, table, &[row]).is_err());
    // What failed may have ended the transaction already.
    let _ = database.execute("ROLLBACK");
    found
}

fn shown(table: &Table, rows: &Rows, at: usize, row: u64) -> String {
    let mut values = Vec::new();
    match rows.row(at, row, &mut values) {
        Ok(()) => table.shown(rows.written(at), &values),
        Err(_) => row.to_string(),
    }
}
