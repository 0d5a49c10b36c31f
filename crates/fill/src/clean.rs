//! Taking back fills: exactly the rows that they added, then counters, statistics and the ledger.

use std::ops::Range;
use std::time::Instant;

use crate::database::{Database, number, one};
use crate::error::{Error, Result};
use crate::found::{self, LIST, Lot};
use crate::ledger::{self, Fill};
use crate::pace::Pace;
use crate::rows::Rows;
use crate::schema::{Dialect, OnDelete, Reference, Schema, Table};
use crate::work::{Progress, Watch, last_number};

/// How to go on where Ctrl-C ended the removal of a fill.
pub const INTERRUPTED: &str = "--clean again removes the rest";

/// Undoes a fill, the last one first; the rows that were there and are gone.
///
/// # Errors
/// When one of its tables has changed since, the database refuses (others may refer to the rows), or `watch` ends it; it can
/// be repeated. Where rows were not found, and may be there under another key, the fill is forgotten the next time.
pub fn clean(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
    watch: &mut Watch<'_>,
) -> Result<u64> {
    let schema = &fill.numbered(schema)?;
    let rows = Rows::compile(schema, &fill.facts)?;
    let steps = fill.facts.steps();
    let all: u64 = fill.done.iter().sum();
    let mut removed = 0;
    let mut missing = Vec::new();
    for (at, step) in steps.iter().enumerate().rev() {
        let before = fill.done[at];
        let count = take_back(database, schema, fill, &rows, (at, all), watch)?;
        // Where a foreign key has no index, each parent that is removed reads the whole table, dead rows and all. A full disk
        // may have no room for it, and the removal goes on without.
        if schema.dialect == Dialect::Postgres && step.rows > 0 {
            let name = schema.tables[step.table].name.sql(schema.dialect);
            let _ = database.execute(&format!("VACUUM {name}"));
        }
        removed += count;
        let gone = before.saturating_sub(count);
        if step.reference.is_none() && gone > 0 {
            missing.push((step.table, gone));
        }
    }
    restore_counters(database, schema, fill, &rows)?;
    for (table, gone) in missing {
        look_for(database, schema, fill, (table, gone))?;
    }
    ledger::forget(database, fill.number)?;
    if ledger::load(database)?.is_empty() {
        database.forget_statistics()?;
    }
    Ok(removed)
}

/// Takes back a step of a fill that did `all` rows, the last rows first; the rows that were there and are gone.
fn take_back(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
    rows: &Rows,
    (at, all): (usize, u64),
    watch: &mut Watch<'_>,
) -> Result<u64> {
    let step = fill.facts.steps()[at];
    let of = fill.done[at];
    let mut removed = 0;
    let mut pace = Pace::new(fill.facts.batch);
    while fill.done[at] > 0 {
        let done = fill.done[at];
        let progress = Progress {
            table: &schema.tables[step.table].name,
            done: of - done,
            of,
            all_done: all - fill.done.iter().sum::<u64>(),
            all,
        };
        if !watch(&progress) {
            return Err(Error::Interrupted(INTERRUPTED));
        }
        let start = batch_start(schema, step.table, done, pace.rows());
        let began = Instant::now();
        let count = take_batch(database, schema, fill, rows, at, start..done)?;
        pace.took(done - start, began.elapsed());
        removed += count;
        fill.done[at] = start;
    }
    Ok(removed)
}

/// Takes back some rows of a step, in a transaction.
fn take_batch(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    rows: &Rows,
    at: usize,
    numbers: Range<u64>,
) -> Result<u64> {
    let step = fill.facts.steps()[at];
    let start = numbers.start;
    database.execute("BEGIN")?;
    let outcome = match step.reference {
        Some(reference) => clear(database, schema, rows, (step.table, reference), numbers),
        None => remove(database, schema, fill, rows, at, numbers),
    };
    let outcome = outcome.and_then(|count| {
        ledger::set(database, fill.number, at, start)?;
        database.execute("COMMIT")?;
        Ok(count)
    });
    if outcome.is_err() {
        // The connection may be gone, and the transaction with it.
        let _ = database.execute("ROLLBACK");
    }
    outcome
}

/// Fails where rows were not found and the table has more of them than before the fill: their key may be another one.
fn look_for(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    (table, gone): (usize, u64),
) -> Result<()> {
    let of = &schema.tables[table];
    let before = fill.facts.tables[table].rows;
    let sql = format!("SELECT count(*) FROM {}", of.name.sql(schema.dialect));
    let more = number(database, &sql)?.saturating_sub(before);
    if more == 0 {
        return Ok(());
    }
    Err(Error::Database(format!(
        "{}: {gone} rows of the fill were not found, and {more} more are there than before it: others have removed and \
         added some, or have changed those of the fill. All that was found is removed; look at the rest, then --clean \
         again forgets the fill and leaves them",
        of.name
    )))
}

/// The first row of the batch that ends before `done`. A table without a key in PostgreSQL is known by its
/// transactions: all of it at once.
fn batch_start(schema: &Schema, table: usize, done: u64, most: u64) -> u64 {
    let by_transaction =
        schema.tables[table].key().is_none() && schema.dialect == Dialect::Postgres;
    if by_transaction { 0 } else { done.saturating_sub(most) }
}

/// Makes a reference NULL again.
fn clear(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    (table, reference): (usize, usize),
    numbers: Range<u64>,
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
        let found = found::any_of(schema, rows, table, &key.columns, chunk);
        database.execute(&format!("UPDATE {name} SET {} WHERE {found}", sets.join(", ")))?;
    }
    Ok(0)
}

/// Removes rows, the last ones first.
fn remove(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    rows: &Rows,
    step: usize,
    numbers: Range<u64>,
) -> Result<u64> {
    let table = fill.facts.steps()[step].table;
    let name = schema.tables[table].name.sql(schema.dialect);
    let mut removed = 0;
    for Lot { condition, ending } in lots(schema, fill, rows, step, numbers.clone()) {
        refuse_to_take_along(database, schema, table, &condition)?;
        removed += database.execute(&format!("DELETE FROM {name} WHERE {condition}{ending}"))?;
    }
    let of = &schema.tables[table];
    if let (Dialect::Sqlite, None, Some(rowid)) = (schema.dialect, of.key(), of.rowid) {
        let places = found::places(rows, table, rowid, &numbers);
        let others = number(database, &format!("SELECT count(*) FROM {name} WHERE {places}"))?;
        if others > 0 {
            return Err(Error::Database(format!(
                "{}: {others} of the fill's places in this table, which has no key, hold rows that are not as they were \
                 written: VACUUM has moved them, or others have changed or replaced them. Remove by hand what is the \
                 fill's, and drop the tables plimsoll_fill*",
                of.name
            )));
        }
    }
    Ok(removed)
}

fn lots(schema: &Schema, fill: &Fill, rows: &Rows, step: usize, numbers: Range<u64>) -> Vec<Lot> {
    let table = fill.facts.steps()[step].table;
    let of = &schema.tables[table];
    if let Some(key) = of.key() {
        return found::by_key(schema, rows, table, key, numbers);
    }
    match (schema.dialect, of.rowid) {
        (Dialect::Postgres, _) => {
            vec![Lot { condition: ledger::signed(fill.number, step), ending: String::new() }]
        }
        (Dialect::Sqlite, Some(rowid)) => found::by_place(schema, rows, table, rowid, numbers),
        _ => numbers.map(|row| found::alike(schema, rows, table, row)).collect(),
    }
}

/// Rows that are not the fill's, and that the database would delete or change if the rows of this condition went, stop
/// it. The fill's own are gone by now, save those of the same table.
fn refuse_to_take_along(
    database: &mut dyn Database,
    schema: &Schema,
    table: usize,
    condition: &str,
) -> Result<()> {
    let (parent, dialect) = (&schema.tables[table], schema.dialect);
    for child in &schema.tables {
        let takes = |of: &&Reference| of.table == table && of.on_delete != OnDelete::Refuse;
        for reference in child.references.iter().filter(takes) {
            let list = |of: &Table, columns: &[usize]| -> String {
                let names = columns.iter().map(|&column| dialect.quoted(&of.columns[column].name));
                let numbered = names.enumerate().map(|(at, name)| format!("{name} AS k{at}"));
                numbered.collect::<Vec<_>>().join(", ")
            };
            let (ours, theirs) =
                (list(parent, &reference.targets), list(child, &reference.columns));
            let own = child.name == parent.name;
            let others = if own { format!(" WHERE NOT ({condition})") } else { String::new() };
            let same = (0..reference.columns.len()).map(|at| format!("c.k{at} = p.k{at}"));
            let sql = format!(
                "SELECT 1 FROM (SELECT {ours} FROM {} WHERE {condition}) AS p \
                 JOIN (SELECT {theirs} FROM {}{others}) AS c ON {} LIMIT 1",
                parent.name.sql(dialect),
                child.name.sql(dialect),
                same.collect::<Vec<_>>().join(" AND ")
            );
            if one(database, &sql)?.is_some() {
                return Err(Error::Database(format!(
                    "{}: rows that the fill did not add refer to rows of {} that it added, by {} (ON DELETE {}): they \
                     would be deleted or changed too. Remove those first, or let them refer to others",
                    child.places(&reference.columns),
                    parent.name,
                    reference.rule,
                    reference.on_delete
                )));
            }
        }
    }
    Ok(())
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
