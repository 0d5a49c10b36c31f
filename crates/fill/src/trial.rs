//! Tries a fill on a few rows first: some rows of every table are written and removed in transactions that are rolled
//! back. So a rule that cannot be met, and rows that could not be removed again, are reported before anything is stored.

use std::collections::{BTreeMap, BTreeSet};

use crate::database::{Database, number};
use crate::error::{Error, Result, unsatisfiable};
use crate::facts::Facts;
use crate::found::{LIST, any_of, by_values};
use crate::refusal::{self, Of};
use crate::rows::Rows;
use crate::schema::{Dialect, Schema};
use crate::survey::{SlowRemoval, slow_removals};
use crate::work::write;

/// Rows of each table that are tried: enough for a rule that is broken here and there.
const TRIED: u64 = 1000;
/// Rows that are tried in all, with the parents that those need.
const MOST_TRIED: usize = 20_000;
/// Rows of each table that are removed again too.
const REMOVED: u64 = 1;
/// Where so few would make `clean` slow, as a foreign key without an index does, none is removed.
const QUICK: u64 = 10;

/// Writes the first rows of every table, with the parents that they need, and takes them back.
///
/// # Errors
/// What the database says; nothing stays written.
pub fn try_out(
    database: &mut dyn Database,
    schema: &Schema,
    facts: &Facts,
    rows: &Rows,
) -> Result<()> {
    let (few, many) = (chosen(facts, rows, REMOVED), chosen(facts, rows, TRIED));
    let slow = slow_removals(database, schema, facts, &vec![QUICK; schema.tables.len()])?;
    let parent = |of: &SlowRemoval| schema.tables[of.table].references[of.reference].table;
    let stay: BTreeSet<usize> = slow.iter().map(parent).collect();
    let outcome = tried(database, schema, rows, &few, |database, tried| {
        are_removed(database, schema, rows, tried, stay)
    });
    let outcome = outcome.and_then(|()| {
        tried(database, schema, rows, &many, |database, tried| {
            are_found(database, schema, rows, tried)
        })
    });
    if outcome.is_err() {
        put_counters_back(database, schema, facts)?;
    }
    outcome.map_err(|error| match error {
        Error::Rule(why) => {
            Error::Schema(format!("rows were tried and refused, nothing was written: {why}"))
        }
        Error::Database(why) => Error::Database(format!("nothing was written: {why}")),
        other => other,
    })
}

/// The first rows of every table, with those that they refer to, until there are enough: tables in their order, and
/// rows in theirs.
fn chosen(facts: &Facts, rows: &Rows, each: u64) -> Vec<(usize, Vec<u64>)> {
    let mut chosen = BTreeMap::<usize, BTreeSet<u64>>::new();
    let (mut room, mut tables) = (MOST_TRIED, facts.order.clone());
    for row in 0..each {
        tables.retain(|&table| {
            let found = match row < facts.tables[table].add {
                true => with_parents(rows, (table, row), &chosen, room),
                false => None,
            };
            for &(table, row) in found.iter().flatten() {
                chosen.entry(table).or_default().insert(row);
            }
            room -= found.as_ref().map_or(0, BTreeSet::len);
            found.is_some()
        });
    }
    let mut of = |table: usize| {
        let rows: Vec<u64> = chosen.remove(&table)?.into_iter().collect();
        Some((table, rows))
    };
    facts.order.iter().filter_map(|table| of(*table)).collect()
}

/// A row and those that it refers to, but none of `known`; nothing where they are more than `most`, as in a long chain.
fn with_parents(
    rows: &Rows,
    row: (usize, u64),
    known: &BTreeMap<usize, BTreeSet<u64>>,
    most: usize,
) -> Option<BTreeSet<(usize, u64)>> {
    let (mut found, mut waiting) = (BTreeSet::new(), vec![row]);
    while let Some((table, row)) = waiting.pop() {
        let is_known = known.get(&table).is_some_and(|rows| rows.contains(&row));
        if !is_known && found.insert((table, row)) {
            waiting.extend(rows.new_parents(table, row));
        }
        if found.len() > most {
            return None;
        }
    }
    Some(found)
}

/// Writes rows in a transaction that is rolled back, and looks at them before that.
fn tried(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    chosen: &[(usize, Vec<u64>)],
    look: impl FnOnce(&mut dyn Database, &[Of<'_>]) -> Result<()>,
) -> Result<()> {
    let chosen: Vec<Of<'_>> = chosen.iter().map(|(table, rows)| (*table, &**rows)).collect();
    database.execute("BEGIN")?;
    let refused = chosen.iter().enumerate().find_map(|(at, &(table, numbers))| {
        write(database, schema, rows, table, numbers).err().map(|error| (at, error))
    });
    let looked = match refused {
        None => look(database, &chosen),
        Some(_) => Ok(()),
    };
    // What failed may have ended the transaction already.
    let back = database.execute("ROLLBACK");
    match refused {
        None => looked.and(back.map(|_| ())),
        Some((at, error)) => {
            Err(refusal::explained(database, schema, rows, (&chosen[..at], chosen[at]), error))
        }
    }
}

/// Whether rows can be taken back as `clean` does it: by the keys that they were written with. Those of tables in `stay`
/// and of tables without a key are left, and those to which they refer.
fn are_removed(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    tried: &[Of<'_>],
    mut stay: BTreeSet<usize>,
) -> Result<()> {
    for &(table, numbers) in tried.iter().rev() {
        let of = &schema.tables[table];
        let Some(key) = of.key().filter(|_| !stay.contains(&table)) else {
            stay.extend(of.references.iter().map(|reference| reference.table));
            continue;
        };
        let (name, mut removed) = (of.name.sql(schema.dialect), 0);
        let numbers: Vec<u64> = numbers.iter().rev().copied().collect();
        for lot in by_values(schema, rows, table, key, &numbers) {
            let sql = format!("DELETE FROM {name} WHERE {}{}", lot.condition, lot.ending);
            removed += database.execute(&sql).or_else(|error| {
                unsatisfiable(format!(
                    "{}: rows that were tried cannot be deleted, so that --clean could not take them back; nothing \
                     stays written: {error}{}",
                    of.name,
                    why_kept(schema, table, &error)
                ))
            })?;
        }
        if removed != numbers.len() as u64 {
            return unsatisfiable(format!(
                "{}: {removed} of {} that were tried could be deleted by the key with which they were written, nothing \
                 stays written: a trigger changes the key or keeps rows, so that --clean could not take them back",
                of.places(&key.columns),
                numbers.len()
            ));
        }
    }
    Ok(())
}

/// What helps where a row has to refer to itself: InnoDB does not delete such a row.
fn why_kept(schema: &Schema, table: usize, error: &Error) -> String {
    let (of, said) = (&schema.tables[table], error.to_string());
    let own = of.references.iter().find(|reference| {
        reference.table == table
            && said.contains(&format!("`{}`", reference.rule))
            && reference.columns.iter().any(|&column| !of.columns[column].nullable)
    });
    let Some(own) = own.filter(|_| schema.dialect == Dialect::Mysql) else { return String::new() };
    let each = of
        .uniques
        .iter()
        .any(|unique| unique.columns.iter().all(|column| own.columns.contains(column)));
    let more = match each {
        true => "",
        false => ", or put a row into the table first, to which others can refer",
    };
    let place = of.places(&own.columns);
    format!("; a row that refers to itself is not deleted: let {place} be NULL{more}")
}

/// Whether rows meet the rules that are looked at in the end only, and have the keys that they were written with.
fn are_found(
    database: &mut dyn Database,
    schema: &Schema,
    rows: &Rows,
    tried: &[Of<'_>],
) -> Result<()> {
    if schema.dialect == Dialect::Postgres {
        database.execute("SET CONSTRAINTS ALL IMMEDIATE")?;
    }
    for &(table, numbers) in tried {
        let of = &schema.tables[table];
        let Some(key) = of.key() else { continue };
        let mut there = 0;
        for chunk in numbers.chunks(LIST) {
            let found = any_of(schema, rows, table, &key.columns, chunk);
            let name = of.name.sql(schema.dialect);
            there += number(database, &format!("SELECT count(*) FROM {name} WHERE {found}"))?;
        }
        if there != numbers.len() as u64 {
            return unsatisfiable(format!(
                "{}: of {} rows that were tried {there} have the key with which they were written, nothing stays \
                 written: a trigger changes it, so that --clean could not tell the rows from others",
                of.places(&key.columns),
                numbers.len()
            ));
        }
    }
    Ok(())
}

/// InnoDB counts on for rows that were rolled back; in the other databases the rows' own numbers move no counter.
fn put_counters_back(database: &mut dyn Database, schema: &Schema, facts: &Facts) -> Result<()> {
    if schema.dialect != Dialect::Mysql {
        return Ok(());
    }
    for &table in &facts.order {
        for (column, of) in facts.tables[table].columns.iter().enumerate() {
            let Some(before) = of.counter else { continue };
            if database.counter(&schema.tables[table], column)? != Some(before) {
                database.set_counter(&schema.tables[table], column, before)?;
            }
        }
    }
    Ok(())
}
