//! Which values of a workload's pools have rows, and which are missing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::Request;
use crate::database::{Database, all};
use crate::error::Result;
use crate::schema::{Dialect, Schema, Type};

/// Values of one query's list.
const LIST: usize = 1000;

/// A pool's values, the heaviest first.
#[derive(Debug, Default)]
pub struct Sorted {
    pub there: Vec<(String, f64)>,
    pub missing: Vec<(String, f64)>,
    /// How many others the column cannot hold.
    pub unfit: usize,
}

/// Which values of the pools have rows. Where two pools are of one column, the first has its say on what both hold.
pub fn sort_pools(
    database: &mut dyn Database,
    schema: &Schema,
    request: &Request,
) -> Result<BTreeMap<(usize, usize), Sorted>> {
    let mut sorted = BTreeMap::<(usize, usize), Sorted>::new();
    for (pool, (at, column)) in &request.pools {
        let (table, of) = (&schema.tables[*at], &schema.tables[*at].columns[*column]);
        let fits = |value: &&(String, f64)| match &of.kind {
            Type::Int { min, max } => {
                value.0.parse::<i128>().is_ok_and(|number| (*min..=*max).contains(&number))
            }
            Type::Text { most } => most.is_none_or(|most| value.0.chars().count() <= most as usize),
            Type::Uuid => value.0.len() == 36,
            _ => false,
        };
        // SQLite keeps UUIDs as text, as they were written.
        let text = Type::Text { most: None };
        let kept = if schema.dialect == Dialect::Sqlite && of.kind == Type::Uuid {
            &text
        } else {
            &of.kind
        };
        let values = merged(kept, of.folds, pool.values.iter().filter(fits));
        let mut there = BTreeMap::new();
        let (name, key) = (table.name.sql(schema.dialect), schema.dialect.quoted(&of.name));
        for chunk in values.chunks(LIST) {
            let list: Vec<String> = chunk
                .iter()
                .map(|(value, _)| match &of.kind {
                    Type::Int { .. } => value.clone(),
                    _ => schema.dialect.literal(value),
                })
                .collect();
            let sql = format!("SELECT {key} FROM {name} WHERE {key} IN ({})", list.join(", "));
            for row in all(database, &sql)? {
                let values = row.into_iter().flatten();
                there.extend(values.map(|value| (folded(of.folds, &value), value)));
            }
        }
        let sorted = sorted.entry((*at, *column)).or_default();
        sorted.unfit += pool.values.iter().filter(|value| !fits(value)).count();
        for (value, weight) in values {
            let (list, value) = match there.get(&folded(of.folds, &value)) {
                Some(kept) => (&mut sorted.there, kept.clone()),
                None => (&mut sorted.missing, value),
            };
            if !list.iter().take(LIST).any(|(other, _)| *other == value) {
                list.push((value, weight));
            }
        }
    }
    for (&(at, column), sorted) in &mut sorted {
        let folds = schema.tables[at].columns[column].folds;
        let mut seen = BTreeSet::new();
        sorted.missing.retain(|(value, _)| seen.insert(folded(folds, value)));
    }
    Ok(sorted)
}

/// A value as the database shows it, however a log wrote it: `007` is 7, and a UUID has small letters.
fn as_kept(kind: &Type, value: &str) -> String {
    match kind {
        Type::Int { .. } => {
            value.parse::<i128>().map_or_else(|_| value.to_owned(), |number| number.to_string())
        }
        Type::Uuid => value.to_ascii_lowercase(),
        _ => value.to_owned(),
    }
}

/// What is the same of values that are the same to the database.
fn folded(folds: bool, value: &str) -> String {
    if folds { value.to_lowercase() } else { value.to_owned() }
}

/// Values as the database shows them, with the weights of equal ones added up, the heaviest first; of those that differ
/// in the case of letters alone, where it makes no difference, the first.
fn merged<'a>(
    kind: &Type,
    folds: bool,
    values: impl Iterator<Item = &'a (String, f64)>,
) -> Vec<(String, f64)> {
    let mut places = BTreeMap::<String, usize>::new();
    let mut all: Vec<(String, f64)> = Vec::new();
    for (value, weight) in values {
        let value = as_kept(kind, value);
        match places.entry(folded(folds, &value)) {
            Entry::Occupied(place) => all[*place.get()].1 += weight,
            Entry::Vacant(place) => {
                place.insert(all.len());
                all.push((value, *weight));
            }
        }
    }
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_pools_are_written_as_databases_show_them() {
        let int = Type::Int { min: 0, max: 100 };
        let text = Type::Text { most: None };
        for (kind, value, kept) in [
            (&int, "007", "7"),
            (&int, "+7", "7"),
            (
                &Type::Uuid,
                "6F9619FF-8B86-D011-B42D-00C04FC964FF",
                "6f9619ff-8b86-d011-b42d-00c04fc964ff",
            ),
            (&text, "007A", "007A"),
        ] {
            assert_eq!(as_kept(kind, value), kept);
        }
        let pool = [("9", 3.0), ("007", 2.0), ("7", 2.0)].map(|(value, n)| (value.to_owned(), n));
        assert_eq!(
            merged(&int, false, pool.iter()),
            [("7".to_owned(), 4.0), ("9".to_owned(), 3.0)]
        );
        let pool =
            [("Shoes", 3.0), ("hats", 4.0), ("shoes", 2.0)].map(|(of, n)| (of.to_owned(), n));
        let folded = [("Shoes".to_owned(), 5.0), ("hats".to_owned(), 4.0)];
        assert_eq!(merged(&text, true, pool.iter()), folded);
        assert_eq!(merged(&text, false, pool.iter()).len(), 3);
    }
}
