//! PostgreSQL's catalogue to a schema.

use std::collections::BTreeMap;

use super::{Database, all, types};
use crate::computed;
use crate::error::Result;
use crate::schema::{
    Check, Column, Dialect, Exclusion, Name, OnDelete, Reference, Schema, Table, Type, Unique,
};

/// Ordinary and partitioned tables, but no partitions; and why rows cannot be added to one.
const TABLES: &str = "
SELECT c.oid, CASE WHEN n.nspname = current_schema() THEN NULL ELSE n.nspname END, c.relname,
  CASE WHEN row_security_active(c.oid) THEN 'hidden'
       WHEN c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_inherits h WHERE h.inhparent = c.oid) THEN 'inherited' END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
  AND c.relname NOT LIKE 'plimsoll\\_fill%'
  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname, c.relname";

/// Exclusion constraints: what they compare by `=`, and what otherwise. An expression has the number 0.
const EXCLUSIONS: &str = "
SELECT r.conrelid, r.conname,
  string_agg(k.number::text, ',' ORDER BY k.place) FILTER (WHERE o.oprname = '=' AND k.number > 0),
  string_agg(k.number::text, ',' ORDER BY k.place) FILTER (WHERE o.oprname <> '=' AND k.number > 0),
  i.indpred IS NOT NULL
FROM pg_constraint r
  JOIN pg_index i ON i.indexrelid = r.conindid
  CROSS JOIN unnest(r.conkey, r.conexclop) WITH ORDINALITY AS k(number, comparison, place)
  JOIN pg_operator o ON o.oid = k.comparison
WHERE r.contype = 'x' AND r.conparentid = 0
GROUP BY r.conrelid, r.conname, i.indpred IS NOT NULL ORDER BY r.conrelid, r.conname";

/// A domain may be of another domain: the innermost has the type, and a NOT NULL of any holds.
const COLUMNS: &str = "
WITH RECURSIVE layers AS (
  SELECT oid AS outermost, typbasetype AS base, typtypmod AS modifier, typnotnull AS filled
  FROM pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT l.outermost, t.typbasetype, t.typtypmod, l.filled OR t.typnotnull
  FROM layers l JOIN pg_type t ON t.oid = l.base AND t.typtype = 'd'
), domains AS (
  SELECT l.* FROM layers l JOIN pg_type t ON t.oid = l.base AND t.typtype <> 'd'
)
SELECT a.attrelid, a.attnum, a.attname,
  CASE WHEN t.base IS NULL THEN format_type(a.atttypid, a.atttypmod) ELSE format_type(t.base, t.modifier) END,
  a.attnotnull OR coalesce(t.filled, false), a.attidentity, a.attgenerated,
  pg_get_expr(d.adbin, d.adrelid),
  (SELECT string_agg(e.enumlabel, E'\\x01' ORDER BY e.enumsortorder) FROM pg_enum e
   WHERE e.enumtypid = coalesce(t.base, a.atttypid)),
  (SELECT NOT l.collisdeterministic FROM pg_collation l WHERE l.oid = a.attcollation)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN domains t ON t.outermost = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped
  AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY a.attrelid, a.attnum";

const CONSTRAINTS: &str = "
SELECT r.conrelid, r.conname, r.contype, array_to_string(r.conkey, ','), r.confrelid,
  array_to_string(r.confkey, ','), pg_get_constraintdef(r.oid), r.confdeltype
FROM pg_constraint r WHERE r.contype IN ('p', 'f', 'c') AND r.conrelid <> 0 AND r.conparentid = 0
ORDER BY r.conrelid, r.contype = 'p' DESC, r.conname";

const INDEXES: &str = "
SELECT i.indrelid, c.relname, array_to_string((i.indkey::int[])[0:i.indnkeyatts - 1], ','),
  pg_get_indexdef(i.indexrelid), i.indpred IS NOT NULL OR i.indexprs IS NOT NULL
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indisunique AND NOT i.indisprimary ORDER BY i.indrelid, c.relname";

/// Behind the columns of an index to which one NULL is the same as another: a column of it may be NULL once at most, and
/// rows that are added leave that to others.
const NULLS_ARE_EQUAL: &str = ") NULLS NOT DISTINCT";

const DOMAINS: &str = "
WITH RECURSIVE layers AS (
  SELECT oid AS outermost, oid AS layer, typbasetype AS base FROM pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT l.outermost, t.oid, t.typbasetype FROM layers l JOIN pg_type t ON t.oid = l.base AND t.typtype = 'd'
)
SELECT a.attrelid, a.attnum, r.conname, pg_get_constraintdef(r.oid)
FROM pg_attribute a JOIN layers l ON l.outermost = a.atttypid JOIN pg_constraint r ON r.contypid = l.layer
WHERE a.attnum > 0 AND NOT a.attisdropped AND r.contype = 'c' ORDER BY a.attrelid, a.attnum, r.conname";

type Row = Vec<Option<String>>;

/// Reads the schema.
pub fn schema(database: &mut dyn Database) -> Result<Schema> {
    let mut tables = Vec::new();
    let mut places = BTreeMap::new();
    for row in all(database, TABLES)? {
        places.insert(text(&row, 0), tables.len());
        let name = Name { schema: row[1].clone(), table: text(&row, 2) };
        tables.push(Table { unfit: unfit(&text(&row, 3)), ..Table::new(name, Vec::new()) });
    }
    let mut numbers: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new(); tables.len()];
    for row in all(database, COLUMNS)? {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        numbers[at].insert(text(&row, 1), tables[at].columns.len());
        tables[at].columns.push(column(&row));
    }
    for row in all(database, CONSTRAINTS)? {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        let rule = text(&row, 1);
        let columns = columns_of(&numbers[at], &text(&row, 3)).unwrap_or_default();
        match text(&row, 2).as_str() {
            "p" => {
                tables[at].has_primary = true;
                tables[at].uniques.push(Unique { rule, columns });
            }
            "f" => {
                let Some(&table) = places.get(&text(&row, 4)) else { continue };
                let targets = columns_of(&numbers[table], &text(&row, 5)).unwrap_or_default();
                let on_delete = OnDelete::of(&text(&row, 7));
                let reference = Reference { rule, columns, table, targets, on_delete };
                tables[at].references.push(reference);
            }
            _ => {
                let text = condition(&text(&row, 6));
                tables[at].checks.push(Check { rule, text, value: None });
            }
        }
    }
    rules(database, &places, &numbers, &mut tables)?;
    tables.iter_mut().for_each(computed::resolve);
    Ok(Schema { dialect: Dialect::Postgres, tables })
}

/// Rules of uniqueness that are no keys, exclusion constraints, and conditions of domains. `numbers` are the columns of each table by their
/// number.
fn rules(
    database: &mut dyn Database,
    places: &BTreeMap<String, usize>,
    numbers: &[BTreeMap<String, usize>],
    tables: &mut [Table],
) -> Result<()> {
    for row in all(database, INDEXES)? {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        let columns = columns_of(&numbers[at], &text(&row, 2));
        // An index on expressions: on the columns that they name.
        let definition = text(&row, 3);
        let columns = columns.unwrap_or_else(|| named(&tables[at].columns, &definition));
        if definition.contains(NULLS_ARE_EQUAL) {
            columns.iter().for_each(|&column| tables[at].columns[column].nullable = false);
        }
        let unique = Unique { rule: text(&row, 1), columns };
        match text(&row, 4).as_str() {
            _ if unique.columns.is_empty() => {}
            "t" => tables[at].partial.push(unique),
            _ => tables[at].uniques.push(unique),
        }
    }
    for row in all(database, EXCLUSIONS)? {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        let columns =
            |place: usize| columns_of(&numbers[at], &text(&row, place)).unwrap_or_default();
        tables[at].exclusions.push(Exclusion {
            equal: Unique { rule: text(&row, 1), columns: columns(2) },
            others: columns(3),
            partial: text(&row, 4) == "t",
        });
    }
    for row in all(database, DOMAINS)? {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        let value = numbers[at].get(&text(&row, 1)).copied();
        let text_of = condition(&text(&row, 3));
        tables[at].checks.push(Check { rule: text(&row, 2), text: text_of, value });
    }
    Ok(())
}

/// The columns of these numbers; nothing if one stands for an expression.
fn columns_of(numbers: &BTreeMap<String, usize>, list: &str) -> Option<Vec<usize>> {
    list.split(',').map(|number| numbers.get(number).copied()).collect()
}

fn unfit(why: &str) -> Option<&'static str> {
    match why {
        "hidden" => Some(
            "row level security hides rows of it from this user, and refuses COPY: connect as its owner, or as one who \
             may BYPASSRLS",
        ),
        "inherited" => Some(
            "other tables inherit from it, so that a DELETE from it removes rows of theirs too, which --clean must not: \
             ALTER TABLE ... NO INHERIT, or fill those",
        ),
        _ => None,
    }
}

fn text(row: &Row, at: usize) -> String {
    row[at].clone().unwrap_or_default()
}

fn column(row: &Row) -> Column {
    let type_name = text(row, 3);
    let default = row[7].clone();
    let generated = (!text(row, 6).is_empty()).then(|| text(row, 7));
    let kind = match &row[8] {
        Some(labels) => Type::Enum(labels.split('\u{1}').map(str::to_owned).collect()),
        None => types::postgres(&type_name),
    };
    Column {
        name: text(row, 2),
        kind,
        // A collation that is not deterministic ignores case, or more.
        folds: type_name == "citext" || row[9].as_deref() == Some("t"),
        type_name,
        nullable: text(row, 4) != "t",
        counted: !text(row, 5).is_empty()
            || default.as_deref().is_some_and(|text| text.starts_with("nextval(")),
        default,
        generated,
    }
}

/// `CHECK ((a > 0)) NOT VALID` to `(a > 0)`.
fn condition(definition: &str) -> String {
    let inner = definition.strip_prefix("CHECK ").unwrap_or(definition);
    inner.strip_suffix(" NOT VALID").unwrap_or(inner).trim_end_matches(" NO INHERIT").to_owned()
}

/// The columns whose names occur in the definition of an index, behind its first bracket and before its condition.
pub(super) fn named(columns: &[Column], definition: &str) -> Vec<usize> {
    let inner = definition.split_once('(').map_or("", |(_, inner)| inner);
    let inner = inner.split(" WHERE ").next().unwrap_or_default();
    let words: Vec<&str> = inner.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let occurs = |column: &Column| {
        words.contains(&column.name.as_str()) || inner.contains(&format!("\"{}\"", column.name))
    };
    (0..columns.len()).filter(|&at| occurs(&columns[at])).collect()
}
