//! Takes fills back: removes exactly the rows that they added, then restores counters and statistics and drops the
//! ledger.

use std::ops::Range;
use std::time::Instant;

use model::quote::{counted, grouped};

use crate::content::Content;
use crate::database::{Database, number, one};
use crate::error::{Error, Result};
use crate::found::{self, LIST, Lot};
use crate::ledger::{self, Fill, Step};
use crate::pace::Pace;
use crate::rows::Rows;
use crate::schema::{Dialect, OnDelete, Reference, Schema, Table};
use crate::work::{Progress, Watch, last_number};

/// How to go on where Ctrl-C ended the removal of a fill.
pub const INTERRUPTED: &str = "--clean again removes the rest";

/// Rows that are left, of which a message names so many of each table.
const NAMED: usize = 10;

/// Why rows of others are under keys of a fill.
const WHY_LEFT: &str = "Others have put them there after those of the fill were deleted, or have changed most of \
                        their values";

/// What to do with them where all other rows are removed.
const CHOICE: &str = "The other rows of the fill are removed. --clean --replaced keep forgets the fill and leaves them, \
                      --clean --replaced remove removes them too";

/// What to do with them where other rows could not be removed.
const IN_THE_WAY: &str =
    "They may refer to the rows that were to go: --clean --replaced remove removes them too";

/// What becomes of rows that are under keys of a fill and hold other values than it wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// They are left and named, and the fill is not forgotten.
    Tell,
    /// They are left.
    Keep,
    /// They are removed.
    Remove,
}

/// What was removed of a fill.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Rows that were there and are gone.
    pub removed: u64,
    /// Rows that were not there any more, by table.
    pub gone: Vec<(String, u64)>,
    /// Rows of others that are under keys of the fill.
    pub left: u64,
}

/// The removal of what a step of a fill wrote.
struct Removal<'a> {
    schema: &'a Schema,
    rows: &'a Rows,
    at: usize,
    step: Step,
    replaced: Replaced,
    /// Tells rows of others; none where they are removed too, or cannot be told.
    content: Option<Content>,
    /// How far the ledger says that the step is done.
    noted: u64,
    left: Left,
}

/// Rows of others under keys of a fill, which are left.
#[derive(Debug, Default)]
struct Left {
    table: usize,
    count: u64,
    /// Some of them.
    named: Vec<u64>,
}

/// Undoes a fill, the last one first.
///
/// # Errors
/// When one of its tables has changed since, the database refuses (others may refer to the rows), or `watch` ends it; it can
/// be repeated. Where rows were not found, and may be there under another key, the fill is forgotten the next time. Where
/// rows of others are under its keys, it is forgotten when `replaced` says what becomes of them.
pub fn clean(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &mut Fill,
    replaced: Replaced,
    watch: &mut Watch<'_>,
) -> Result<Cleaned> {
    let schema = &fill.numbered(schema)?;
    let rows = &Rows::compile(schema, &fill.facts)?;
    let noted = fill.done.clone();
    fill.done.iter_mut().zip(&fill.again).for_each(|(done, again)| *done = (*done).max(*again));
    let all: u64 = fill.done.iter().sum();
    let mut removed = 0;
    let (mut missing, mut left) = (Vec::new(), Vec::<Left>::new());
    for (at, step) in fill.facts.steps().into_iter().enumerate().rev() {
        let before = fill.done[at];
        let content = match (before, replaced) {
            (0, _) | (_, Replaced::Remove) => None,
            _ => Content::of(schema, &fill.facts, rows, step.table),
        };
        let none = Left { table: step.table, ..Left::default() };
        let mut removal =
            Removal { schema, rows, at, step, replaced, content, noted: noted[at], left: none };
        let outcome = take_back(database, fill, &mut removal, all, watch);
        let others = removal.left.count;
        // A reference that was filled afterwards is one of a table whose rows are still to be looked at.
        if step.reference.is_none() && others > 0 {
            left.push(removal.left);
        }
        let count = outcome.map_err(|error| match left.is_empty() {
            true => error,
            false => {
                let which = describe_left(schema, rows, &left);
                error.reworded(|why| format!("{why}\nplimsoll: {which}. {WHY_LEFT}. {IN_THE_WAY}"))
            }
        })?;
        // Where a foreign key has no index, each parent that is removed reads the whole table, dead rows and all. A full disk
        // may have no room for it, and the removal goes on without.
        if schema.dialect == Dialect::Postgres && step.rows > 0 {
            let name = schema.tables[step.table].name.sql(schema.dialect);
            let _ = database.execute(&format!("VACUUM {name}"));
        }
        removed += count;
        // Of rows that are looked at again nobody knows which were found before.
        let gone = noted[at].saturating_sub(count + others);
        if step.reference.is_none() && gone > 0 {
            missing.push((step.table, gone, others));
        }
    }
    let tables: Vec<usize> = left.iter().map(|left| left.table).collect();
    restore_counters(database, schema, fill, rows, &tables)?;
    let mut wrong = Vec::new();
    if replaced == Replaced::Tell && !left.is_empty() {
        wrong.push(format!("{}. {WHY_LEFT}. {CHOICE}", describe_left(schema, rows, &left)));
    }
    for &missing in &missing {
        wrong.extend(lost(database, schema, fill, missing)?);
    }
    if !wrong.is_empty() {
        return Err(Error::Database(wrong.join("\nplimsoll: ")));
    }
    ledger::forget(database, fill.number)?;
    if ledger::load(database)?.is_empty() {
        database.forget_statistics()?;
    }
    let gone =
        missing.into_iter().map(|(table, rows, _)| (schema.tables[table].name.to_string(), rows));
    let left = left.iter().map(|left| left.count).sum();
    Ok(Cleaned { removed, gone: gone.collect(), left })
}

/// Which rows of others are left, for people.
fn describe_left(schema: &Schema, rows: &Rows, left: &[Left]) -> String {
    let of_table = |left: &Left| {
        let of = &schema.tables[left.table];
        let key = of.key().map_or(&[][..], |key| key.columns.as_slice());
        let named = left.named.iter();
        let mut named: Vec<String> =
            named.map(|&row| of.shown(key, &rows.values(left.table, key, row))).collect();
        if left.count > named.len() as u64 {
            named.push("...".to_owned());
        }
        format!(
            "{}: left {} under keys of the fill with values that it did not write: {}",
            of.name,
            counted(left.count, "row"),
            named.join(", ")
        )
    };
    left.iter().map(of_table).collect::<Vec<_>>().join("; ")
}

/// Takes back a step of a fill that did `all` rows, the last rows first; the rows that were there and are gone.
fn take_back(
    database: &mut dyn Database,
    fill: &mut Fill,
    removal: &mut Removal<'_>,
    all: u64,
    watch: &mut Watch<'_>,
) -> Result<u64> {
    let (schema, at, table) = (removal.schema, removal.at, removal.step.table);
    let of = fill.done[at];
    let mut removed = 0;
    let mut pace = Pace::new(fill.facts.batch);
    while fill.done[at] > 0 {
        let done = fill.done[at];
        let progress = Progress {
            table: &schema.tables[table].name,
            done: of - done,
            of,
            all_done: all - fill.done.iter().sum::<u64>(),
            all,
        };
        if !watch(&progress) {
            return Err(Error::Interrupted(INTERRUPTED));
        }
        let start = batch_start(schema, table, done, pace.rows());
        let began = Instant::now();
        let count = take_batch(database, fill, removal, start..done)?;
        pace.took(done - start, began.elapsed());
        removed += count;
        fill.done[at] = start;
    }
    Ok(removed)
}

/// Takes back some rows of a step, in a transaction.
fn take_batch(
    database: &mut dyn Database,
    fill: &Fill,
    removal: &mut Removal<'_>,
    numbers: Range<u64>,
) -> Result<u64> {
    database.execute("BEGIN")?;
    let outcome = taken(database, fill, removal, numbers).and_then(|count| {
        database.execute("COMMIT")?;
        Ok(count)
    });
    if outcome.is_err() {
        // The connection may be gone, and the transaction with it.
        let _ = database.execute("ROLLBACK");
    }
    outcome
}

fn taken(
    database: &mut dyn Database,
    fill: &Fill,
    removal: &mut Removal<'_>,
    numbers: Range<u64>,
) -> Result<u64> {
    let (start, end) = (numbers.start, numbers.end);
    let others = match &removal.content {
        Some(content) => content.replaced(database, removal.schema, removal.rows, &numbers)?,
        None => Vec::new(),
    };
    let count = match removal.step.reference {
        Some(reference) => clear(database, removal, reference, numbers, &others)?,
        None => remove(database, fill, removal, numbers, &others)?,
    };
    if removal.replaced == Replaced::Tell && removal.left.count == 0 && !others.is_empty() {
        ledger::look_again(database, fill, removal.at, end)?;
    }
    // Above are rows that are looked at again.
    if start < removal.noted {
        ledger::set(database, fill.number, removal.at, start)?;
    }
    removal.left.add(&others);
    Ok(count)
}

impl Left {
    fn add(&mut self, others: &[u64]) {
        self.count += others.len() as u64;
        let room = NAMED.saturating_sub(self.named.len());
        self.named.extend(others.iter().take(room));
    }
}

/// What is to be said where rows were not found and the table has more of them than before the fill: their key may be
/// another one. `others` are left of those that are there.
fn lost(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    (table, gone, others): (usize, u64, u64),
) -> Result<Option<String>> {
    let of = &schema.tables[table];
    let before = fill.facts.tables[table].rows + others;
    let sql = format!("SELECT count(*) FROM {}", of.name.sql(schema.dialect));
    let more = number(database, &sql)?.saturating_sub(before);
    Ok((more > 0).then(|| {
        let (gone, more) = (grouped(gone), grouped(more));
        format!(
            "{}: {gone} rows of the fill were not found, and {more} more are there than before it: others have removed \
             and added some, or have changed those of the fill. All that was found is removed; look at the rest, then \
             --clean again forgets the fill and leaves them",
            of.name
        )
    }))
}

/// The first row of the batch that ends before `done`. A table without a key in PostgreSQL is known by its
/// transactions: all of it at once.
fn batch_start(schema: &Schema, table: usize, done: u64, most: u64) -> u64 {
    let by_transaction =
        schema.tables[table].key().is_none() && schema.dialect == Dialect::Postgres;
    if by_transaction { 0 } else { done.saturating_sub(most) }
}

/// Makes a reference NULL again, but of others' rows.
fn clear(
    database: &mut dyn Database,
    removal: &Removal<'_>,
    reference: usize,
    numbers: Range<u64>,
    others: &[u64],
) -> Result<u64> {
    let (schema, rows, table) = (removal.schema, removal.rows, removal.step.table);
    let (of, dialect) = (&schema.tables[table], schema.dialect);
    let Some(key) = of.key() else { return Ok(0) };
    let sets: Vec<String> = of.references[reference]
        .columns
        .iter()
        .filter(|&&column| of.columns[column].nullable && !key.columns.contains(&column))
        .map(|&column| format!("{} = NULL", dialect.quoted(&of.columns[column].name)))
        .collect();
    let name = of.name.sql(dialect);
    let numbers: Vec<u64> = numbers.filter(|row| others.binary_search(row).is_err()).collect();
    for chunk in numbers.chunks(LIST) {
        let found = found::any_of(schema, rows, table, &key.columns, chunk);
        database.execute(&format!("UPDATE {name} SET {} WHERE {found}", sets.join(", ")))?;
    }
    Ok(0)
}

/// Removes rows, the last ones first, but not others'.
fn remove(
    database: &mut dyn Database,
    fill: &Fill,
    removal: &Removal<'_>,
    numbers: Range<u64>,
    others: &[u64],
) -> Result<u64> {
    let (schema, rows, table) = (removal.schema, removal.rows, removal.step.table);
    let name = schema.tables[table].name.sql(schema.dialect);
    let mut removed = 0;
    for Lot { condition, ending } in lots(fill, removal, numbers.clone(), others) {
        refuse_to_take_along(database, schema, table, &condition)?;
        let sql = format!("DELETE FROM {name} WHERE {condition}{ending}");
        removed += database.execute(&sql).map_err(|error| kept(schema, table, error))?;
    }
    let of = &schema.tables[table];
    if let (Dialect::Sqlite, None, Some(rowid)) = (schema.dialect, of.key(), of.rowid) {
        let places = found::places(rows, table, rowid, &numbers);
        let others = number(database, &format!("SELECT count(*) FROM {name} WHERE {places}"))?;
        if others > 0 {
            let others = grouped(others);
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

/// What a database says that does not remove rows, with the tables of those that may refer to them: SQLite names none.
fn kept(schema: &Schema, table: usize, error: Error) -> Error {
    let refers = |of: &&Table| of.references.iter().any(|reference| reference.table == table);
    let children = schema.tables.iter().filter(refers).map(|of| of.name.to_string());
    let children: Vec<String> = children.collect();
    match error {
        Error::Rule(why) if !children.is_empty() => Error::Rule(format!(
            "{}: {why}\nplimsoll: rows that the fill did not add may refer to those that it added, in {}: remove these first, \
             or let them refer to others; --clean again removes the rest",
            schema.tables[table].name,
            children.join(", ")
        )),
        other => other,
    }
}

fn lots(fill: &Fill, removal: &Removal<'_>, numbers: Range<u64>, others: &[u64]) -> Vec<Lot> {
    let (schema, rows, table) = (removal.schema, removal.rows, removal.step.table);
    let of = &schema.tables[table];
    if let Some(key) = of.key() {
        if others.is_empty() {
            return found::by_key(schema, rows, table, key, numbers);
        }
        let is_ours = |row: &u64| others.binary_search(row).is_err();
        let ours: Vec<u64> = numbers.rev().filter(is_ours).collect();
        return found::by_values(schema, rows, table, key, &ours);
    }
    match (schema.dialect, of.rowid) {
        (Dialect::Postgres, _) => {
            let condition = ledger::signed(fill.number, removal.at);
            vec![Lot { condition, ending: String::new() }]
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

/// Sets counters back to where they stood, unless others have counted on since, or have rows in the tables `left` under
/// the numbers that would come again.
fn restore_counters(
    database: &mut dyn Database,
    schema: &Schema,
    fill: &Fill,
    rows: &Rows,
    left: &[usize],
) -> Result<()> {
    for &table in fill.facts.order.iter().filter(|table| !left.contains(table)) {
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
