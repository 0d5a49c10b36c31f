//! Taking back fills: exactly the rows that they added, then counters, statistics and the ledger.

use crate::database::{Database, column_list, literal};
use crate::error::{Error, Result};
use crate::ledger::{self, Fill};
use crate::rows::Rows;
use crate::schema::{Dialect, Schema};
use crate::survey::digest;
use crate::work::{LIST, Progress, Watch, equals, last_number};

/// Undoes a fill, the last one first; the rows that were there and are gone.
///
/// # Errors
/// When the schema has changed since, the database refuses (others may refer to the rows), or `watch` ends it; it can
/// be repeated.
pub fn clean(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
    watch: &mut Watch<'_>,
) -> Result<u64> {
    if digest(schema) != fill.facts.schema {
        return Err(Error::Schema(
            "the schema has changed since the fill, so that its rows cannot be told apart any more; restore it, or \
             remove them by hand and drop the tables plimsoll_fill and plimsoll_fill_step"
                .to_owned(),
        ));
    }
    let rows = Rows::compile(schema, &fill.facts)?;
    let steps = fill.facts.steps();
    let all: u64 = fill.done.iter().sum();
    let mut removed = 0;
    for (number, step) in steps.iter().enumerate().rev() {
        while fill.done[number] > 0 {
            let done = fill.done[number];
            let progress = Progress {
                table: &schema.tables[step.table].name,
                done: step.rows - done,
                of: step.rows,
                all_done: all - fill.done.iter().sum::<u64>(),
                all,
            };
            if !watch(&progress) {
                return Err(Error::Interrupted);
            }
            let start = whole_batch(schema, fill, step.table, done);
            database.execute("BEGIN")?;
            let outcome = match step.reference {
                Some(reference) => {
                    clear(database, schema, &rows, (step.table, reference), start..done)
                }
                None => remove(database, schema, fill, &rows, number, start..done),
            };
            let outcome = outcome.and_then(|count| {
                ledger::set(database, fill.number, number, start)?;
                database.execute("COMMIT")?;
                Ok(count)
            });
            match outcome {
                Ok(count) => removed += count,
                Err(error) => {
                    let _ = database.execute("ROLLBACK");
                    return Err(error);
                }
            }
            fill.done[number] = start;
        }
        // Where a foreign key has no index, each parent that is removed reads the whole table, dead rows and all.
        if schema.dialect == Dialect::Postgres && step.rows > 0 {
            let name = schema.tables[step.table].name.sql(schema.dialect);
            database.execute(&format!("VACUUM {name}"))?;
        }
    }
    restore_counters(database, schema, fill, &rows)?;
    ledger::forget(database, fill.number)?;
    if ledger::load(database)?.is_empty() {
        database.forget_statistics()?;
    }
    Ok(removed)
}

/// A table without a key in PostgreSQL is known by its transactions: all of it at once.
fn whole_batch(schema: &Schema, fill: &Fill, table: usize, done: u64) -> u64 {
    let by_transaction =
        schema.tables[table].key().is_none() && schema.dialect == Dialect::Postgres;
    if by_transaction { 0 } else { done.saturating_sub(fill.facts.batch) }
}

/// Makes a reference NULL again.
fn clear(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    (table, reference): (usize, usize),
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let Some(key) = of.key() else { return Ok(0) };
    let sets: Vec<String> = of.references[reference]
        .columns
        .iter()
        .filter(|&&column| of.columns[column].nullable && !key.columns.contains(&column))
        .map(|&column| format!("{} = NULL", dialect.quoted(&of.columns[column].name)))
        .collect();
    let name = of.name.sql(dialect);
    let numbers: Vec<u64> = numbers.collect();
    for chunk in numbers.chunks(LIST) {
        let found = conditions(schema, rows, table, &key.columns, chunk);
        database.execute(&format!("UPDATE {name} SET {} WHERE {found}", sets.join(", ")))?;
    }
    Ok(0)
}

fn conditions(
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

fn remove(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    rows: &Rows,
    step: usize,
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    let table = fill.facts.steps()[step].table;
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let name = of.name.sql(dialect);
    let Some(key) = of.key() else {
        return match (dialect, of.rowid) {
            (Dialect::Postgres, _) => ledger::remove_signed(database, fill.number, step, &name),
            (Dialect::Sqlite, Some(rowid)) => {
                let first = rows.first_rowid(table);
                let (from, to) = (
                    first.saturating_add_unsigned(numbers.start),
                    first.saturating_add_unsigned(numbers.end),
                );
                database.execute(&format!(
                    "DELETE FROM {name} WHERE {rowid} >= {from} AND {rowid} < {to}"
                ))
            }
            _ => remove_alike(database, schema, rows, table, numbers),
        };
    };
    // MySQL checks references row by row: children of the same table have higher keys.
    let descending = match dialect {
        Dialect::Mysql => format!(
            " ORDER BY {}",
            column_list(dialect, of, &key.columns).replace(", ", " DESC, ") + " DESC"
        ),
        _ => String::new(),
    };
    let counted = match key.columns[..] {
        [column] => rows.counts_from(table, column).map(|counts| (column, counts)),
        _ => None,
    };
    let mut removed = 0;
    let mut listed = numbers.clone();
    if let Some((column, (first_row, start))) = counted {
        let from = numbers.start.max(first_row);
        if from < numbers.end {
            let value = |row: u64| start + i128::from(row - first_row);
            let column = dialect.quoted(&of.columns[column].name);
            removed += database.execute(&format!(
                "DELETE FROM {name} WHERE {column} >= {} AND {column} <= {}{descending}",
                value(from),
                value(numbers.end - 1)
            ))?;
        }
        listed = numbers.start..from.min(numbers.end).max(numbers.start);
        if numbers.start >= first_row {
            listed = 0..0;
        }
    }
    let listed: Vec<u64> = listed.rev().collect();
    for chunk in listed.chunks(LIST) {
        let found = conditions(schema, rows, table, &key.columns, chunk);
        removed += database.execute(&format!("DELETE FROM {name} WHERE {found}{descending}"))?;
    }
    Ok(removed)
}

/// Rows that nothing tells apart are as good as each other: one that looks like ours is removed for each.
fn remove_alike(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    table: usize,
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let columns = rows.written(table);
    let mut removed = 0;
    for row in numbers {
        let values = rows.values(table, columns, row);
        let same = columns.iter().zip(&values).map(|(&column, value)| {
            let name = dialect.quoted(&of.columns[column].name);
            format!("{name} <=> {}", literal(dialect, value))
        });
        let same = same.collect::<Vec<_>>().join(" AND ");
        removed += database
            .execute(&format!("DELETE FROM {} WHERE {same} LIMIT 1", of.name.sql(dialect)))?;
    }
    Ok(removed)
}

/// Sets counters back to where they stood, unless others have counted on since.
fn restore_counters(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    rows: &Rows,
) -> Result<()> {
    for &table in &fill.facts.order {
        let of = &schema.tables[table];
        for column in 0..of.columns.len() {
            let Some(before) = fill.facts.tables[table].columns[column].counter else { continue };
            let last = last_number(&fill.facts, rows, table, column);
            let now = database.counter(of, column)?;
            let moved_on = match (now, last) {
                (Some((value, _)), Some(last)) => value > last && schema.dialect != Dialect::Mysql,
                _ => false,
            };
            // InnoDB keeps a higher number by itself where there are rows above this one.
            if now != Some(before) && !moved_on {
                database.set_counter(of, column, before)?;
            }
        }
    }
    Ok(())
}
