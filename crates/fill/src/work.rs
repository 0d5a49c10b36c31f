//! Carries out a fill: rows in batches, references that close cycles, counters. Each step is resumed where it ended.

use std::time::Instant;

use crate::database::{Database, Target, literal};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::found::{LIST, any_of, equals};
use crate::ledger::{self, Fill, Step};
use crate::pace::Pace;
use crate::refusal;
use crate::rows::{Counts, Rows};
use crate::schema::{Dialect, Name, Schema};

/// How to go on where Ctrl-C ended a fill.
pub const INTERRUPTED: &str = "--resume continues, --clean undoes";

/// How far the work is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The table at hand.
    pub table: &'a Name,
    /// Its rows done.
    pub done: u64,
    /// Its rows.
    pub of: u64,
    /// Rows done of all tables.
    pub all_done: u64,
    /// Rows of all tables.
    pub all: u64,
}

/// Sees how far the work is, and says whether it is to go on. Where the database refuses, it is asked once more: a
/// statement that was ended by [`Database::canceller`] is not looked into.
pub type Watch<'a> = dyn FnMut(&Progress<'_>) -> bool + 'a;

/// Writes rows of a table, inside of a transaction.
///
/// # Errors
/// When the database refuses, and where a row cannot be made.
pub fn write(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    table: usize,
    numbers: &[u64],
) -> Result<()> {
    let of = &schema.tables[table];
    let hidden = of.key().is_none().then(|| rows.first_rowid(table));
    let target = Target { table: of, columns: rows.written(table), first_rowid: hidden };
    database.write(&target, numbers, &|row, out| rows.row(table, row, out))
}

/// Does what is left of a fill.
///
/// # Errors
/// When one of its tables has changed since it began, the database refuses, or `watch` ends it; what was done before stays, and can be continued or undone.
pub fn fill(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let schema = &fill.numbered(schema)?;
    let rows = Rows::compile(schema, &fill.facts)?;
    advance_counters(database, schema, &fill.facts, &rows)?;
    let steps = fill.facts.steps();
    let all = steps.iter().map(|step| step.rows).sum();
    for (number, step) in steps.iter().enumerate() {
        let mut pace = Pace::new(fill.facts.batch);
        while fill.done[number] < step.rows {
            let progress = Progress {
                table: &schema.tables[step.table].name,
                done: fill.done[number],
                of: step.rows,
                all_done: fill.done.iter().sum(),
                all,
            };
            if !watch(&progress) {
                return Err(Error::Interrupted(INTERRUPTED));
            }
            let end = (fill.done[number] + pace.rows()).min(step.rows);
            let numbers: Vec<u64> = (fill.done[number]..end).collect();
            let began = Instant::now();
            let outcome = batch(database, schema, fill, &rows, (number, *step), &numbers);
            if let Err(error) = outcome {
                // The connection may be gone, and the transaction with it.
                let _ = database.execute("ROLLBACK");
                if !watch(&progress) {
                    return Err(error);
                }
                let of = (&[][..], (step.table, &*numbers));
                return Err(match step.reference {
                    None => refusal::explained(database, schema, &rows, of, error),
                    Some(_) => error,
                });
            }
            pace.took(numbers.len() as u64, began.elapsed());
            fill.done[number] = end;
        }
    }
    for &table in &fill.facts.order {
        database.analyze(&schema.tables[table].name)?;
    }
    Ok(())
}

fn batch(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    rows: &Rows,
    (number, step): (usize, Step),
    numbers: &[u64],
) -> Result<()> {
    database.execute("BEGIN")?;
    match step.reference {
        None => {
            write(database, schema, rows, step.table, numbers)?;
            if schema.tables[step.table].key().is_none() {
                ledger::sign(database, fill.number, number)?;
            }
        }
        Some(reference) => {
            for chunk in numbers.chunks(LIST) {
                refer(database, schema, rows, (step.table, reference), chunk)?;
            }
        }
    }
    let end = numbers.last().map_or(0, |last| last + 1);
    ledger::set(database, fill.number, number, end)?;
    database.execute("COMMIT").map(|_| ())
}

/// Fills a reference of rows that are there.
fn refer(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    (table, reference): (usize, usize),
    numbers: &[u64],
) -> Result<()> {
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let reference = &of.references[reference];
    let Some(key) = of.key() else { return Ok(()) };
    let mut cases = vec![String::new(); reference.columns.len()];
    let mut found = Vec::new();
    for &row in numbers {
        let values = rows.values(table, &reference.columns, row);
        if values.contains(&crate::value::Value::Null) {
            continue;
        }
        let condition = equals(schema, rows, table, &key.columns, row);
        for (at, value) in values.iter().enumerate() {
            let text = literal(dialect, value);
            let column = &of.columns[reference.columns[at]];
            let text = match dialect {
                Dialect::Postgres => format!("CAST({text} AS {})", column.type_name),
                _ => text,
            };
            cases[at] += &format!(" WHEN {condition} THEN {text}");
        }
        found.push(row);
    }
    if found.is_empty() {
        return Ok(());
    }
    let sets: Vec<String> = reference
        .columns
        .iter()
        .zip(&cases)
        .map(|(&column, case)| {
            format!("{} = CASE{case} END", dialect.quoted(&of.columns[column].name))
        })
        .collect();
    let name = of.name.sql(dialect);
    let found = any_of(schema, rows, table, &key.columns, &found);
    let sql = format!("UPDATE {name} SET {} WHERE {found}", sets.join(", "));
    database.execute(&sql).map(|_| ())
}

/// Moves PostgreSQL's sequences past the rows to come, so that others that insert meanwhile get numbers behind them. In
/// the other databases a row's own number does that.
fn advance_counters(
    database: &mut dyn Database,
    schema: &Schema,
    facts: &Facts,
    rows: &Rows,
) -> Result<()> {
    if schema.dialect != Dialect::Postgres {
        return Ok(());
    }
    for &table in &facts.order {
        for column in 0..schema.tables[table].columns.len() {
            let Some(last) = last_number(facts, rows, table, column) else { continue };
            let of = &schema.tables[table];
            let now = database.counter(of, column)?;
            if now.is_some_and(|(value, _)| value < last) {
                database.set_counter(of, column, (last, true))?;
            }
        }
    }
    Ok(())
}

/// The highest number that a fill gives to a column that counts.
pub(crate) fn last_number(facts: &Facts, rows: &Rows, table: usize, column: usize) -> Option<i64> {
    facts.tables[table].columns[column].counter?;
    let Counts { row, start, step } = rows.counts_from(table, column)?;
    let counted = facts.tables[table].add.saturating_sub(row);
    i64::try_from(start + (i128::from(counted) - 1) * step).ok()
}
