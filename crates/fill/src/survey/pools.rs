//! Which values of a workload's pools have rows, and which are missing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::Request;
use crate::database::{Database, all, selected};
use crate::error::Result;
use crate::schema::{Dialect, Schema, Type};
use crate::words::is_uuid;

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
            Type::Text { most } => {
                most.is_none_or(|most| value.0.chars().count() <= most as usize)
                    && !value.0.contains('\0')
            }
            Type::Uuid => is_uuid(&value.0.to_ascii_lowercase()),
            _ => false,
        };
        // SQLite keeps UUIDs as text, as they were written.
        let text = Type::Text { most: None };
        let kept = if schema.dialect == Dialect::Sqlite && of.kind == Type::Uuid {
            &text
        } else {
            &of.kind
        };
        let fit = pool.values.iter().filter(fits).map(|(value, n)| (as_kept(kept, value), *n));
        let (texts, weights): (Vec<String>, Vec<f64>) = fit.unzip();
        let compared = database.compared_as(table, *column, &texts)?;
        let values = merged(texts.into_iter().zip(compared).zip(weights));
        let there = found(database, schema, (*at, *column), &values)?;
        let fitting: usize = values.iter().map(|value| value.times).sum();
        let sorted = sorted.entry((*at, *column)).or_default();
        sorted.unfit += pool.values.len() - fitting;
        let asked = sorted.missing.iter().map(|(text, _)| text);
        let own = values.iter().map(|value| &value.text);
        let texts: Vec<String> = asked.chain(own).chain(&there).cloned().collect();
        let compared = database.compared_as(table, *column, &texts)?;
        let (asked, compared) = compared.split_at(sorted.missing.len());
        let (own, kept) = compared.split_at(values.len());
        let asked: BTreeSet<&Option<String>> = asked.iter().collect();
        let kept: BTreeMap<&Option<String>, &String> = kept.iter().zip(&there).collect();
        for (value, compared) in values.into_iter().zip(own) {
            if let Some(kept) = kept.get(compared) {
                if sorted.there.iter().take(LIST).all(|(other, _)| other != *kept) {
                    sorted.there.push(((*kept).clone(), value.weight));
                }
            } else if !asked.contains(compared) {
                sorted.missing.push((value.text, value.weight));
            }
        }
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

/// Those of the values of a column that rows have, as the rows have them.
fn found(
    database: &mut dyn Database,
    schema: &Schema,
    (at, column): (usize, usize),
    values: &[Wanted],
) -> Result<Vec<String>> {
    let (table, of) = (&schema.tables[at], &schema.tables[at].columns[column]);
    let (name, key) = (table.name.sql(schema.dialect), schema.dialect.quoted(&of.name));
    let shown = selected(schema.dialect, table, &[column]);
    let mut there = Vec::new();
    for chunk in values.chunks(LIST) {
        let literal = |value: &Wanted| match &of.kind {
            Type::Int { .. } => value.text.clone(),
            _ => schema.dialect.literal(&value.text),
        };
        let list: Vec<String> = chunk.iter().map(literal).collect();
        let sql = format!("SELECT {shown} FROM {name} WHERE {key} IN ({})", list.join(", "));
        there.extend(all(database, &sql)?.into_iter().flatten().flatten());
    }
    Ok(there)
}

/// A value that requests ask for.
#[derive(Debug, PartialEq)]
struct Wanted {
    text: String,
    weight: f64,
    /// How many values of the pool it stands for.
    times: usize,
}

/// Values that the column can hold, each with what the database compares, with the weights of equal ones added up, the
/// heaviest first; of those that are the same to the database, the first.
fn merged(values: impl Iterator<Item = ((String, Option<String>), f64)>) -> Vec<Wanted> {
    let mut places = BTreeMap::<String, usize>::new();
    let mut all: Vec<Wanted> = Vec::new();
    for ((text, compared), weight) in values {
        let Some(compared) = compared else { continue };
        match places.entry(compared) {
            Entry::Occupied(place) => {
                let same = &mut all[*place.get()];
                same.weight += weight;
                same.times += 1;
            }
            Entry::Vacant(place) => {
                place.insert(all.len());
                all.push(Wanted { text, weight, times: 1 });
            }
        }
    }
    all.sort_by(|one, other| other.weight.total_cmp(&one.weight));
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
    }

    #[test]
    fn values_that_are_the_same_to_the_database_are_one() {
        let values = [
            ("Shoes", Some("shoes"), 3.0),
            ("hats", Some("hats"), 4.0),
            ("\u{1f3a9}", None, 9.0),
            ("shoes", Some("shoes"), 2.0),
        ];
        let own = values.map(|(text, as_, n)| ((text.to_owned(), as_.map(str::to_owned)), n));
        let found = merged(own.into_iter());
        let told: Vec<_> = found.iter().map(|of| (of.text.as_str(), of.weight, of.times)).collect();
        assert_eq!(told, [("Shoes", 5.0, 2), ("hats", 4.0, 1)]);
    }
}
