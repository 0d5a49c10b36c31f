//! Pools: the values that requests use, with their weights, and the column of the table that they belong to.
//!
//! Owns reading and writing them as CSV, and the rule that recognises which pool's column is a table's key.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::schema::{Schema, Table, Type};

/// Rows of a pool that are read at most.
const MOST_ROWS: usize = 1_000_000;

/// A column of a pool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PoolColumn {
    /// The pool's name.
    pub pool: String,
    /// The column's.
    pub column: String,
    /// Its values and their weights; the heaviest first.
    pub values: Vec<(String, f64)>,
}

/// How a file of rows is written.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// The byte between two values.
    pub separator: u8,
    /// The columns' names, if the first row does not hold them.
    pub columns: Option<&'a [String]>,
    /// The column of the weights; `weight` where none is named.
    pub weight: Option<&'a str>,
}

/// Reads a pool; each column but that of the weights.
///
/// # Errors
/// What is wrong with the file, without its name.
pub fn read(
    pool: &str,
    bytes: &[u8],
    form: Form<'_>,
) -> std::result::Result<Vec<PoolColumn>, String> {
    let mut reader = csv::ReaderBuilder::new();
    reader.flexible(true).delimiter(form.separator).has_headers(form.columns.is_none());
    let mut reader = reader.from_reader(bytes);
    let headers: csv::StringRecord = match form.columns {
        Some(columns) => columns.iter().collect(),
        None => reader.headers().map_err(|error| error.to_string())?.clone(),
    };
    let weight = form.weight.unwrap_or("weight");
    let weight_at = headers.iter().position(|name| name == weight);
    let mut sums: Vec<BTreeMap<String, f64>> = vec![BTreeMap::new(); headers.len()];
    for record in reader.records().take(MOST_ROWS) {
        let record = record.map_err(|error| error.to_string())?;
        let number = weight_at.and_then(|at| record.get(at)?.trim().parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite() && *number > 0.0).unwrap_or(1.0);
        for (at, value) in record.iter().enumerate().take(headers.len()) {
            if Some(at) != weight_at && !value.is_empty() {
                *sums[at].entry(value.to_owned()).or_default() += number;
            }
        }
    }
    let columns = headers.iter().zip(sums).enumerate().filter(|(at, _)| Some(*at) != weight_at);
    Ok(columns.map(|(_, (name, values))| heaviest_first(pool, name, values)).collect())
}

/// A pool of rows that are read already: of each the columns and their texts.
pub fn of_rows(
    pool: &str,
    rows: impl Iterator<Item = Vec<(String, String)>>,
    weight: Option<&str>,
) -> Vec<PoolColumn> {
    let weight = weight.unwrap_or("weight");
    let mut sums: Vec<(String, BTreeMap<String, f64>)> = Vec::new();
    let mut places = BTreeMap::<String, usize>::new();
    for row in rows.take(MOST_ROWS) {
        let field = row.iter().find(|(name, _)| name == weight);
        let number = field.and_then(|(_, text)| text.parse::<f64>().ok());
        let number = number.filter(|number| number.is_finite() && *number > 0.0).unwrap_or(1.0);
        for (name, value) in row {
            if name == weight || value.is_empty() {
                continue;
            }
            let at = *places.entry(name).or_insert_with_key(|name| {
                sums.push((name.clone(), BTreeMap::new()));
                sums.len() - 1
            });
            *sums[at].1.entry(value).or_default() += number;
        }
    }
    sums.into_iter().map(|(name, values)| heaviest_first(pool, &name, values)).collect()
}

fn heaviest_first(pool: &str, column: &str, values: BTreeMap<String, f64>) -> PoolColumn {
    let mut values: Vec<(String, f64)> = values.into_iter().collect();
    values.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    PoolColumn { pool: pool.to_owned(), column: column.to_owned(), values }
}

/// A pool as CSV.
pub fn write(column: &str, values: &[(String, u64)]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = writer.write_record([column, "weight"]);
    for (value, weight) in values {
        let _ = writer.write_record([value.as_str(), &weight.to_string()]);
    }
    writer.into_inner().unwrap_or_default()
}

/// Which column of which table a pool's column is. `asked` are those of the user: `POOL.COLUMN=TABLE.COLUMN`.
///
/// # Errors
/// For what the user asked for and is not there.
pub fn place(
    schema: &Schema,
    of: &PoolColumn,
    asked: &[(String, String)],
) -> Result<Option<(usize, usize)>> {
    let name = format!("{}.{}", of.pool, of.column);
    if let Some((_, place)) = asked.iter().find(|(pool, _)| *pool == name) {
        return column(schema, place).map(Some);
    }
    Ok([key_of, primary_key].iter().find_map(|key| {
        key(schema, &of.pool, &of.column)
            .or_else(|| split_key(schema, &of.column, *key))
            .or_else(|| split_key(schema, &of.pool, *key))
    }))
}

/// `users.id` as table and column.
///
/// # Errors
/// Where one of the two is not there.
pub fn column(schema: &Schema, place: &str) -> Result<(usize, usize)> {
    let Some((table, column)) = place.rsplit_once('.') else {
        return Err(Error::Usage(format!("`{place}` has no dot: write TABLE.COLUMN")));
    };
    let at = crate::plan::find(schema, table)?;
    match schema.tables[at].column(column) {
        Some(column) => Ok((at, column)),
        None => Err(Error::Usage(format!("{table} has no column `{column}`"))),
    }
}

/// Which column of which table this one is of the table of this name.
type Key = fn(&Schema, &str, &str) -> Option<(usize, usize)>;

/// `users_id` and `userId` are the column `id` of `users`.
fn split_key(schema: &Schema, name: &str, key: Key) -> Option<(usize, usize)> {
    let snake: String = name
        .chars()
        .flat_map(|c| {
            let joint = c.is_uppercase().then_some('_');
            joint.into_iter().chain(c.to_lowercase())
        })
        .collect();
    let splits = snake.match_indices(['_', '-', '.']).map(|(at, _)| at).collect::<Vec<_>>();
    splits.into_iter().rev().find_map(|at| key(schema, &snake[..at], &snake[at + 1..]))
}

/// Names that logs give to keys for their form: what holds UUIDs may have any name.
fn primary_key(schema: &Schema, table: &str, column: &str) -> Option<(usize, usize)> {
    let (at, of) = called(schema, table)?;
    let [key] = of.uniques.first().filter(|_| of.has_primary)?.columns[..] else { return None };
    let named = of.columns.iter().any(|of| of.name.eq_ignore_ascii_case(column));
    let fits = match (column.to_ascii_lowercase().as_str(), &of.columns[key].kind) {
        ("uuid" | "guid", Type::Uuid) | ("id", Type::Int { .. }) => true,
        ("uuid" | "guid", Type::Text { most }) => most.is_none_or(|most| most >= 36),
        _ => false,
    };
    (fits && !named).then_some((at, key))
}

fn called<'a>(schema: &'a Schema, name: &str) -> Option<(usize, &'a Table)> {
    let mut tables = schema.tables.iter().enumerate();
    tables.find(|(_, of)| of.name.schema.is_none() && is_called(of, name))
}

/// The table that is called so, in the singular or plural, if this column is a key of it by itself.
fn key_of(schema: &Schema, table: &str, column: &str) -> Option<(usize, usize)> {
    let (at, of) = called(schema, table)?;
    let found = of.columns.iter().position(|of| of.name.eq_ignore_ascii_case(column))?;
    of.uniques.iter().any(|unique| unique.columns == [found]).then_some((at, found))
}

fn is_called(table: &Table, name: &str) -> bool {
    let small = |text: &str| text.to_lowercase();
    let (table, name) = (small(&table.name.table), small(name));
    singular(&table) == singular(&name)
}

fn singular(name: &str) -> String {
    match name {
        "people" => "person".to_owned(),
        _ if name.ends_with("ies") => format!("{}y", &name[..name.len() - 3]),
        _ if ["ches", "shes", "sses", "xes"].iter().any(|end| name.ends_with(end)) => {
            name[..name.len() - 2].to_owned()
        }
        _ if name.ends_with('s') && !name.ends_with("ss") => name[..name.len() - 1].to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Column, Dialect, Name, Unique};

    fn schema() -> Schema {
        let column = |name: &str| Column {
            name: name.to_owned(),
            kind: Type::Text { most: None },
            type_name: String::new(),
            nullable: false,
            default: None,
            generated: None,
            counted: false,
            folds: false,
        };
        let table = |name: &str, columns: &[&str]| {
            let columns = columns.iter().map(|name| column(name)).collect();
            let table = Table::new(Name { schema: None, table: name.to_owned() }, columns);
            let uniques = vec![Unique { rule: "key".into(), columns: vec![0] }];
            Table { uniques, has_primary: true, ..table }
        };
        let mut tables =
            vec![table("users", &["id", "name"]), table("category", &["slug", "uuid"])];
        tables[0].columns[0].kind = Type::Uuid;
        Schema { dialect: Dialect::Sqlite, tables }
    }

    #[test]
    fn a_pools_column_is_a_key_by_its_name() {
        let asked = [("x.y".to_owned(), "users.name".to_owned())];
        for (pool, column, wanted) in [
            ("users", "id", Some((0, 0))),
            ("user", "ID", Some((0, 0))),
            ("any", "users_id", Some((0, 0))),
            ("any", "userId", Some((0, 0))),
            ("users_id", "value", Some((0, 0))),
            ("categories", "slug", Some((1, 0))),
            ("users", "name", None),
            ("x", "y", Some((0, 1))),
            ("any", "page", None),
            ("get_users_uuid_orders", "users_uuid", Some((0, 0))),
            ("category", "uuid", None),
            ("users", "uuid", Some((0, 0))),
        ] {
            let of = PoolColumn { pool: pool.into(), column: column.into(), values: Vec::new() };
            assert_eq!(place(&schema(), &of, &asked).unwrap(), wanted, "{pool}.{column}");
        }
    }

    #[test]
    fn pools_are_read_with_their_weights() {
        let form = Form { separator: b',', columns: None, weight: None };
        let columns = read("users", b"id,weight\n7,2\n9,5\n7,1.5\n,9\n8\n", form).unwrap();
        assert_eq!(columns.len(), 1);
        assert_eq!(columns[0].values, [("9".into(), 5.0), ("7".into(), 3.5), ("8".into(), 1.0)]);
        assert_eq!(write("id", &[("a,b".into(), 3)]), b"id,weight\n\"a,b\",3\n");
    }
}
