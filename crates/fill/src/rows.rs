//! Rows: every cell a function of the schema, the facts and the row's number.
//!
//! Owns the compiled form of a fill, from which any row of any table can be made in any order. `compile` decides how
//! each column is made, `unique` how rules of uniqueness hold by construction, `conditions` what CHECKs say: `limits` of
//! one column, `equations` of several. `link` says which parent a row has, `distinct` and `plain` make values. Nothing
//! here asks the database.

mod compile;
mod conditions;
mod distinct;
mod equations;
mod histogram;
mod limits;
mod link;
mod plain;
mod series;
mod unique;

use crate::check::{Expr, holds, number};
use crate::draw::key_of;
use crate::error::{Result, unsatisfiable};
use crate::schema::Schema;
use crate::times::{DAY, parse_moment};
use crate::value::Value;
use crate::words::Words;
use distinct::Distinct;
use equations::Equation;
use link::{Deal, Link};
use plain::Plain;

pub use conditions::{few_texts_of, pattern_of, places_of};
pub use distinct::{Counts, number_in};
pub use unique::{FIRST_PRIVATE, LAST_PRIVATE};

/// Parents that are sorted by the columns that another link decides, 4 bytes each; those beyond get no children.
const MOST_MATCHED: u64 = 50_000_000;

/// How often a row is made anew that violates a condition.
const MOST_ATTEMPTS: u64 = 100;

/// A fill, ready to make rows.
#[derive(Debug)]
pub struct Rows {
    words: Words,
    tables: Vec<TableRows>,
}

/// The rows of a table.
#[derive(Debug)]
struct TableRows {
    add: u64,
    key: u64,
    place: String,
    columns: Vec<Maker>,
    links: Vec<Link>,
    /// Keys of rows that were there before, by the columns.
    parents: Vec<OldKeys>,
    /// Conditions that do not hold by construction.
    checks: Vec<(String, Expr)>,
    /// The columns that are written.
    written: Vec<usize>,
    first_rowid: i64,
}

/// Keys of rows that were there before.
#[derive(Debug)]
struct OldKeys {
    keys: Vec<Vec<Value>>,
    /// Columns with times, and the times in microseconds since 1970.
    times: Vec<(usize, Vec<Option<i64>>)>,
}

impl TableRows {
    /// Adds the conditions that a row does not meet.
    fn judge(&self, written: &[Value], broken: &mut Vec<usize>) {
        if self.checks.is_empty() {
            return;
        }
        let mut row = vec![Value::Null; self.columns.len()];
        for (&column, value) in self.written.iter().zip(written) {
            row[column] = value.clone();
        }
        let checks = self.checks.iter().enumerate();
        broken.extend(
            checks.filter(|(_, (_, check))| holds(check, &row) == Some(false)).map(|(at, _)| at),
        );
    }
}

/// How a column is made.
#[derive(Debug)]
enum Maker {
    /// The database makes it.
    Skipped,
    /// Always NULL.
    Null,
    /// A part of a parent's key.
    Part { link: usize, part: usize },
    /// The number among the children of a parent.
    Ordinal { link: usize, fresh: i64, aged: i64, days: bool },
    /// One of a few values: `each` children of a parent have the same one before the next one's turn.
    Choice { link: usize, each: u64, values: Vec<Value> },
    /// One of a few values: `each` rows have the same one before the next one's turn. Tells rows apart that have the
    /// same value in the column `with`.
    Turns { with: usize, each: u64, values: Vec<Value> },
    /// A value that no other row has.
    Distinct(Distinct),
    /// Any value.
    Plain(Box<Plain>),
    /// What other columns make it; any value where one of them is NULL.
    Equal { equation: Equation, otherwise: Box<Plain> },
}

impl Rows {
    /// The columns of a table that are written, in order.
    pub fn written(&self, table: usize) -> &[usize] {
        &self.tables[table].written
    }

    /// The first hidden row number of a table without a key.
    pub fn first_rowid(&self, table: usize) -> i64 {
        self.tables[table].first_rowid
    }

    /// Makes a row: a value for each written column.
    ///
    /// # Errors
    /// Where no row was found that meets the table's conditions.
    pub fn row(&self, table: usize, row: u64, out: &mut Vec<Value>) -> Result<()> {
        self.made(table, row, out).map(|_| ())
    }

    /// Makes a row; how many were thrown away.
    fn made(&self, table: usize, row: u64, out: &mut Vec<Value>) -> Result<u64> {
        let of = &self.tables[table];
        let mut broken = Vec::new();
        for attempt in 0..MOST_ATTEMPTS {
            out.clear();
            out.extend(of.written.iter().map(|&column| self.cell(table, column, row, attempt)));
            let before = broken.len();
            of.judge(out, &mut broken);
            if broken.len() == before {
                return Ok(attempt);
            }
        }
        let times = |rule: &usize| broken.iter().filter(|other| *other == rule).count();
        let worst = (0..of.checks.len()).max_by_key(times);
        let rule = worst.map_or("", |rule| of.checks[rule].0.as_str());
        unsatisfiable(format!(
            "{}: no row that meets the condition {rule} was found in {MOST_ATTEMPTS} tries; 20 rows that meet it, in \
             the table before the fill, show what its columns look like",
            of.place
        ))
    }

    /// The value of a cell. `attempt` counts the rows that were thrown away.
    fn cell(&self, table: usize, column: usize, row: u64, attempt: u64) -> Value {
        let of = &self.tables[table];
        match &of.columns[column] {
            Maker::Skipped | Maker::Null => Value::Null,
            Maker::Part { link, part } => {
                if of.links[*link].deferred {
                    return Value::Null;
                }
                self.part(table, *link, *part, row, attempt)
            }
            Maker::Ordinal { link, fresh, aged, days } => {
                let Some(parent) = of.links[*link].parent(row) else { return Value::Null };
                let first = if parent.is_new(&of.links[*link]) { *fresh } else { *aged };
                let number = first.saturating_add_unsigned(parent.ordinal);
                if *days { Value::Date(number) } else { Value::Int(number.into()) }
            }
            Maker::Choice { link, each, values } => {
                let ordinal = of.links[*link].parent(row).map_or(0, |parent| parent.ordinal);
                in_turn(values, ordinal / each)
            }
            Maker::Turns { each, values, .. } => in_turn(values, row / each),
            Maker::Distinct(distinct) => {
                distinct.value(row, key_of(&[of.key, column as u64, row]), &self.words)
            }
            Maker::Plain(plain) => self.plain(plain, (table, column), row, attempt),
            Maker::Equal { equation, otherwise } => {
                let value = self.plain(otherwise, (table, column), row, attempt);
                if value == Value::Null {
                    return value;
                }
                let mut values = vec![Value::Null; of.columns.len()];
                for &other in &equation.columns {
                    values[other] = self.cell(table, other, row, attempt);
                }
                number(&equation.expr, &values).map_or(value, |number| otherwise.nearest(number))
            }
        }
    }

    fn plain(
        &self,
        plain: &Plain,
        (table, column): (usize, usize),
        row: u64,
        attempt: u64,
    ) -> Value {
        let of = &self.tables[table];
        let key = key_of(&[of.key, column as u64, row, attempt]);
        if attempt > 0 && plain.is_null_when_redrawn(key) {
            return Value::Null;
        }
        let base = plain.base().map(|base| self.cell(table, base, row, attempt));
        let floors = plain.floors().iter();
        let floor = floors.filter_map(|&(link, of)| self.time_of((table, link), of, row, attempt));
        plain.value((row, of.add), key, base.as_ref(), floor.max(), &self.words)
    }

    /// A time of a row's parent, in microseconds since 1970.
    fn time_of(
        &self,
        (table, link): (usize, usize),
        column: usize,
        row: u64,
        attempt: u64,
    ) -> Option<i64> {
        let parent = self.parent(table, link, row, attempt)?;
        let link = &self.tables[table].links[link];
        let of = &self.tables[link.table];
        let Some(new) = parent.checked_sub(link.old) else {
            let (_, times) = of.parents[link.keys].times.iter().find(|(at, _)| *at == column)?;
            return times[parent as usize];
        };
        let attempt = self.attempt(link.table, &[column], new);
        match self.cell(link.table, column, new, attempt) {
            Value::Moment(micros) => Some(micros),
            Value::Date(days) => days.checked_mul(DAY),
            Value::Text(text) => parse_moment(&text),
            _ => None,
        }
    }

    /// A column of the parent of a row.
    fn part(&self, table: usize, link: usize, part: usize, row: u64, attempt: u64) -> Value {
        let of = &self.tables[table].links[link];
        let Some(parent) = self.parent(table, link, row, attempt) else { return Value::Null };
        self.key(of, parent, part)
    }

    /// The number of a row's parent: old ones first.
    fn parent(&self, table: usize, link: usize, row: u64, attempt: u64) -> Option<u64> {
        let links = &self.tables[table].links;
        if let Deal::Matching(matching) = &links[link].deal {
            let of = &links[link];
            let shared = matching.shared.iter();
            let value = |column| self.value(table, column, row, attempt).text();
            let values: Vec<String> = shared.map(|&(column, _)| value(column)).collect();
            let first = of.second_to.and_then(|first| links[first].parent(row));
            let key = match (first, attempt) {
                (Some(_), _) => of.key,
                (None, 0) => key_of(&[of.key, row]),
                (None, _) => key_of(&[of.key, row, attempt]),
            };
            return matching.parent(&values, key, first);
        }
        match links[link].second_to {
            Some(first) => {
                let first = links[first].parent(row)?;
                Some(links[link].second(first))
            }
            None => {
                let parent = links[link].parent_of_attempt(row, attempt)?;
                Some(links[link].moved(parent.number, row, attempt))
            }
        }
    }

    /// The value of a column as it is in the end, deferred references included.
    fn value(&self, table: usize, column: usize, row: u64, attempt: u64) -> Value {
        match &self.tables[table].columns[column] {
            Maker::Part { link, part } => self.part(table, *link, *part, row, attempt),
            _ => self.cell(table, column, row, attempt),
        }
    }

    /// How many rows were thrown away before this one, if these columns depend on it.
    fn attempt(&self, table: usize, columns: &[usize], row: u64) -> u64 {
        let of = &self.tables[table];
        let depends = |column: &usize| match &of.columns[*column] {
            Maker::Plain(_) | Maker::Equal { .. } => true,
            Maker::Part { link, .. } => {
                let link = &of.links[*link];
                link.step > 0 || matches!(link.deal, Deal::Matching(_))
            }
            _ => false,
        };
        if of.checks.is_empty() || !columns.iter().any(depends) {
            return 0;
        }
        // One that cannot be made is never written.
        self.made(table, row, &mut Vec::new()).unwrap_or(0)
    }

    /// The values of these columns in a row, deferred references included: what a row is known by, and what a second
    /// pass writes.
    pub fn values(&self, table: usize, columns: &[usize], row: u64) -> Vec<Value> {
        let attempt = self.attempt(table, columns, row);
        columns.iter().map(|&column| self.value(table, column, row, attempt)).collect()
    }

    /// The parents of a row that are added too: table and row.
    pub fn new_parents(&self, table: usize, row: u64) -> Vec<(usize, u64)> {
        let links = &self.tables[table].links;
        let every: Vec<usize> = (0..self.tables[table].columns.len()).collect();
        let attempt = self.attempt(table, &every, row);
        let parent = |at: usize| {
            let number = self.parent(table, at, row, attempt)?.checked_sub(links[at].old)?;
            (!links[at].deferred).then_some((links[at].table, number))
        };
        (0..links.len()).filter_map(parent).collect()
    }

    /// The columns that are NULL in rows which no value is left for: the column, in how many rows, and why.
    pub fn left_null(&self, table: usize) -> Vec<(usize, u64, &'static str)> {
        let of = &self.tables[table];
        let left = |(column, maker): (usize, &Maker)| {
            let (room, why) = match maker {
                Maker::Null => (0, "none that is allowed can be made up"),
                Maker::Distinct(distinct) => (distinct.room()?, "no other row may have the same"),
                Maker::Part { link, .. } => {
                    (of.links[*link].room()?, "no other row may refer to the same one")
                }
                _ => return None,
            };
            let rows = of.add.saturating_sub(room);
            (rows > 0).then_some((column, rows, why))
        };
        of.columns.iter().enumerate().filter_map(left).collect()
    }

    /// Whether this column counts up from a number, and from which on.
    pub fn counts_from(&self, table: usize, column: usize) -> Option<Counts> {
        match &self.tables[table].columns[column] {
            Maker::Distinct(distinct) => distinct.counts_from(),
            _ => None,
        }
    }

    /// Looks up the parents of links that have to agree with another one; parents' tables come first.
    fn match_parents(&mut self, order: &[usize]) {
        for &table in order {
            for at in 0..self.tables[table].links.len() {
                let link = &self.tables[table].links[at];
                let Deal::Matching(matching) = &link.deal else { continue };
                let mut found = std::collections::HashMap::<Vec<String>, Vec<u32>>::new();
                for parent in 0..(link.old + link.new).min(MOST_MATCHED) {
                    let value = |&(_, part): &(usize, usize)| self.key(link, parent, part).text();
                    let values = matching.shared.iter().map(value).collect();
                    found.entry(values).or_default().push(parent as u32);
                }
                if let Deal::Matching(matching) = &mut self.tables[table].links[at].deal {
                    matching.parents = found;
                }
            }
        }
    }

    /// A part of the key of a parent.
    fn key(&self, link: &Link, parent: u64, part: usize) -> Value {
        match parent.checked_sub(link.old) {
            None => self.tables[link.table].parents[link.keys].keys[parent as usize][part].clone(),
            Some(new) => {
                let column = link.targets[part];
                self.cell(link.table, column, new, self.attempt(link.table, &[column], new))
            }
        }
    }

    /// Compiles a fill.
    ///
    /// # Errors
    /// Where the schema cannot be satisfied: the rule and the column.
    pub fn compile(schema: &Schema, facts: &crate::facts::Facts) -> Result<Self> {
        compile::compile(schema, facts)
    }
}

/// One of a few values, after the last the first again.
fn in_turn(values: &[Value], number: u64) -> Value {
    values[(number % values.len() as u64) as usize].clone()
}

#[cfg(test)]
mod tests;
