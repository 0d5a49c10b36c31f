//! What makes `clean` slow. Foreign keys without an index: for each row of the parent that is removed, the database looks
//! through the whole child; MySQL gives every foreign key an index. And MySQL's tables without a key, since they have no
//! row number either.

use crate::database::{Database, all, column_list};
use crate::error::Result;
use crate::facts::Facts;
use crate::schema::{Dialect, Schema, Table};

/// Rows that are looked at, for all rows that are removed: some seconds' worth.
const MANY: u64 = 100_000_000;

/// Foreign keys of which no column comes first in an index of all rows.
const POSTGRES: &str = "
SELECT CASE WHEN n.nspname = current_schema() THEN NULL ELSE n.nspname END, c.relname, r.conname
FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.contype = 'f' AND r.conparentid = 0 AND NOT EXISTS (
  SELECT 1 FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
  WHERE i.indrelid = r.conrelid AND i.indisvalid AND i.indpred IS NULL AND m.amname IN ('btree', 'hash')
    AND (i.indkey::int[])[0] = ANY (r.conkey::int[]))";

/// A foreign key that makes `clean` slow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowRemoval {
    /// The table that has it.
    pub table: usize,
    /// Which of the table's references it is.
    pub reference: usize,
    /// Rows of the table to which it refers that are to be removed.
    pub removed: u64,
    /// Rows of its own table that are looked at for the first of them.
    pub looked_at: u64,
    /// The SQL that helps.
    pub index: String,
}

/// The foreign keys that make the removal of so many rows of each table slow. The schema is as the facts number it.
///
/// # Errors
/// When the database refuses.
pub fn slow_removals(
    database: &mut dyn Database,
    schema: &Schema,
    facts: &Facts,
    added: &[u64],
) -> Result<Vec<SlowRemoval>> {
    let mut found = Vec::new();
    for (table, reference) in unindexed(database, schema)? {
        let of = &schema.tables[table].references[reference];
        // Its own rows of the fill are gone by then, unless it refers to itself.
        let own = if of.table == table { added[table] } else { 0 };
        let looked_at = facts.tables[table].rows + own;
        let removed = added[of.table];
        if removed.saturating_mul(looked_at) >= MANY {
            let index = index(schema.dialect, &schema.tables[table], &of.columns);
            found.push(SlowRemoval { table, reference, removed, looked_at, index });
        }
    }
    Ok(found)
}

/// MySQL's tables without a key that `clean` looks through for each row that it removes, where that takes long; `counts`
/// are the rows of each table before the fill, and those added.
pub fn looked_through(schema: &Schema, counts: &[(u64, u64)]) -> Vec<usize> {
    let is_slow = |at: &usize| {
        let (before, added) = counts[*at];
        let looks = added.saturating_mul(before.saturating_add(added));
        schema.tables[*at].key().is_none() && looks >= MANY
    };
    let all = if schema.dialect == Dialect::Mysql { schema.tables.len() } else { 0 };
    (0..all).filter(is_slow).collect()
}

fn index(dialect: Dialect, table: &Table, columns: &[usize]) -> String {
    let names: Vec<&str> = columns.iter().map(|&at| table.columns[at].name.as_str()).collect();
    let name = dialect.quoted(&format!("{}_{}_index", table.name.table, names.join("_")));
    let list = column_list(dialect, table, columns);
    format!("CREATE INDEX {name} ON {} ({list})", table.name.sql(dialect))
}

/// Tables, and which of their references have no index.
fn unindexed(database: &mut dyn Database, schema: &Schema) -> Result<Vec<(usize, usize)>> {
    match schema.dialect {
        Dialect::Mysql => Ok(Vec::new()),
        Dialect::Postgres => {
            let rows = all(database, POSTGRES)?;
            let has_none = |of: &Table, rule: &String| {
                rows.iter().any(|row| {
                    row[0] == of.name.schema
                        && row[1].as_ref() == Some(&of.name.table)
                        && row[2].as_ref() == Some(rule)
                })
            };
            let references = schema.tables.iter().enumerate().flat_map(|(table, of)| {
                let rules = of.references.iter().map(|reference| &reference.rule).enumerate();
                rules.map(move |(at, rule)| (table, at, of, rule))
            });
            let without = references.filter(|(_, _, of, rule)| has_none(of, rule));
            Ok(without.map(|(table, at, _, _)| (table, at)).collect())
        }
        Dialect::Sqlite => {
            let mut found = Vec::new();
            for (table, of) in schema.tables.iter().enumerate() {
                if of.references.is_empty() {
                    continue;
                }
                let first = first_columns(database, of)?;
                let references = of.references.iter().enumerate();
                let without = references.filter(|(_, reference)| {
                    !reference.columns.iter().any(|column| first.contains(column))
                });
                found.extend(without.map(|(at, _)| (table, at)));
            }
            Ok(found)
        }
    }
}

/// The columns that come first in an index of all rows of a table of SQLite's, its row number among them.
fn first_columns(database: &mut dyn Database, table: &Table) -> Result<Vec<usize>> {
    let name = Dialect::Sqlite.literal(&table.name.table);
    let sql = format!(
        "SELECT parts.name FROM pragma_index_list({name}) AS indexes, pragma_index_info(indexes.name) AS parts \
         WHERE indexes.partial = 0 AND parts.seqno = 0"
    );
    let mut first: Vec<usize> = Vec::new();
    for row in all(database, &sql)? {
        first.extend(row[0].as_deref().and_then(|name| table.column(name)));
    }
    let numbered = (0..table.columns.len()).filter(|&at| table.columns[at].counted);
    first.extend(numbered);
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Name;

    #[test]
    fn tables_of_mysql_without_a_key_are_looked_through() {
        let table =
            |name: &str| Table::new(Name { schema: None, table: name.to_owned() }, Vec::new());
        let mut schema = Schema { dialect: Dialect::Mysql, tables: vec![table("a"), table("b")] };
        let found = |schema: &Schema, b| looked_through(schema, &[(0, 9_999), b]);
        assert_eq!(found(&schema, (0, 10_000)), vec![1]);
        assert!(found(&schema, (99_990_000, 1)).is_empty());
        assert_eq!(found(&schema, (99_999_999, 1)), vec![1]);
        schema.dialect = Dialect::Postgres;
        assert!(found(&schema, (0, 10_000)).is_empty());
    }
}
