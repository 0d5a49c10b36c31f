//! Finds the time columns of children that never lie before a time of their parents.
//!
//! Owns that query, and reading the times of existing parents. `rows` uses the result.

use crate::database::{Database, all};
use crate::error::Result;
use crate::facts::TableFacts;
use crate::kind::{Kind, kind_of};
use crate::learn::ENOUGH;
use crate::schema::{Reference, Schema};

/// A child's column and its parent's.
type Pair = (usize, usize);

/// Finds the pairs of times for each reference of the tables that are filled. A reference to rows of the same table
/// has none.
pub fn find(
    database: &mut dyn Database,
    schema: &Schema,
    order: &[usize],
    tables: &mut [TableFacts],
) -> Result<()> {
    for &at in order {
        for number in 0..schema.tables[at].references.len() {
            let reference = &schema.tables[at].references[number];
            if reference.table == at {
                continue;
            }
            let children = times(schema, tables, at);
            let mut parents = times(schema, tables, reference.table);
            parents.retain(|column| !reference.targets.contains(column));
            let pairs: Vec<Pair> = children
                .iter()
                .flat_map(|&child| parents.iter().map(move |&parent| (child, parent)))
                .collect();
            let held = held(database, schema, (at, reference), &pairs, tables)?;
            tables[at].links[number].times = held;
        }
    }
    Ok(())
}

/// The columns of a table that hold days, or days and times of day.
fn times(schema: &Schema, tables: &[TableFacts], at: usize) -> Vec<usize> {
    let columns = schema.tables[at].columns.iter().enumerate();
    let facts = &tables[at].columns;
    columns
        .filter(|(number, column)| facts[*number].learned.kind_of(column).is_time())
        .map(|(number, _)| number)
        .collect()
}

/// The pairs that the rows hold to; where there are too few to tell, those that say when rows were made.
fn held(
    database: &mut dyn Database,
    schema: &Schema,
    (at, reference): (usize, &Reference),
    pairs: &[Pair],
    tables: &[TableFacts],
) -> Result<Vec<Pair>> {
    let (child, parent) = (&schema.tables[at], &schema.tables[reference.table]);
    let quoted = |name: &str| schema.dialect.quoted(name);
    let mut counts = vec![(0, 0); pairs.len()];
    if !pairs.is_empty() && tables[at].rows > 0 && tables[reference.table].rows > 0 {
        let sums = pairs.iter().map(|&(one, other)| {
            let one = format!("c.{}", quoted(&child.columns[one].name));
            let other = format!("p.{}", quoted(&parent.columns[other].name));
            format!(
                "sum(CASE WHEN {one} IS NOT NULL AND {other} IS NOT NULL THEN 1 ELSE 0 END), \
                 sum(CASE WHEN {one} < {other} THEN 1 ELSE 0 END)"
            )
        });
        let sums: Vec<String> = sums.collect();
        let on = reference.columns.iter().zip(&reference.targets).map(|(&one, &other)| {
            let (one, other) = (&child.columns[one].name, &parent.columns[other].name);
            format!("c.{} = p.{}", quoted(one), quoted(other))
        });
        let on: Vec<String> = on.collect();
        let sql = format!(
            "SELECT {} FROM {} AS c JOIN {} AS p ON {}",
            sums.join(", "),
            child.name.sql(schema.dialect),
            parent.name.sql(schema.dialect),
            on.join(" AND ")
        );
        let row = all(database, &sql)?.into_iter().next().unwrap_or_default();
        let number = |at: usize| -> u64 {
            let text = row.get(at).and_then(Option::as_deref);
            text.and_then(|text| text.parse().ok()).unwrap_or(0)
        };
        counts = (0..pairs.len()).map(|pair| (number(2 * pair), number(2 * pair + 1))).collect();
    }
    let made = |table: &crate::schema::Table, column: usize| {
        kind_of(&table.name.table, &table.columns[column].name) == Kind::Created
    };
    let holds = |&(pair, (seen, before)): &(&Pair, (u64, u64))| {
        let by_name = made(child, pair.0) && made(parent, pair.1);
        before == 0 && (seen >= ENOUGH as u64 || by_name)
    };
    Ok(pairs.iter().zip(counts).filter(holds).map(|(pair, _)| *pair).collect())
}

/// The parents' columns of the pairs of all references to these columns of a table.
pub fn wanted(
    schema: &Schema,
    order: &[usize],
    tables: &[TableFacts],
    (table, targets): (usize, &[usize]),
) -> Vec<usize> {
    let mut columns = Vec::new();
    for &at in order {
        for (reference, link) in schema.tables[at].references.iter().zip(&tables[at].links) {
            if reference.table == table && reference.targets == targets {
                columns.extend(link.times.iter().map(|&(_, parent)| parent));
            }
        }
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}
