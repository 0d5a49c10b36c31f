//! MySQL's and MariaDB's information schema to a schema.

use std::collections::{BTreeMap, BTreeSet};

use super::{Database, all, types};
use crate::computed;
use crate::error::Result;
use crate::schema::{
    Check, Column, Dialect, Name, OnDelete, Reference, Schema, Table, Type, Unique,
};
use crate::times;

const TABLES: &str = "
SELECT TABLE_NAME, ENGINE, TABLE_TYPE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_NAME NOT LIKE 'plimsoll\\_fill%'
ORDER BY TABLE_NAME";

const COLUMNS: &str = "
SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION,
  COLLATION_NAME
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION";

const INDEXES: &str = "
SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0
ORDER BY TABLE_NAME, INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX";

const REFERENCES: &str = "
SELECT k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME, r.DELETE_RULE
FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
  ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.TABLE_NAME = k.TABLE_NAME
  AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME
WHERE k.TABLE_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_SCHEMA = DATABASE()
ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION";

/// MariaDB: conditions belong to tables, and names repeat.
const CHECKS_MARIADB: &str = "
SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS
WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY TABLE_NAME, CONSTRAINT_NAME";

const CHECKS_MYSQL: &str = "
SELECT t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS c
JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA
  AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
WHERE c.CONSTRAINT_SCHEMA = DATABASE() ORDER BY t.TABLE_NAME, c.CONSTRAINT_NAME";

/// Reads the schema.
pub fn schema(database: &mut dyn Database) -> Result<Schema> {
    let mut tables: Vec<Table> = Vec::new();
    for row in all(database, TABLES)? {
        let name = Name { schema: None, table: text(&row, 0) };
        let unfit = unfit(&text(&row, 1), &text(&row, 2));
        tables.push(Table { unfit, ..Table::new(name, Vec::new()) });
    }
    let places: BTreeMap<String, usize> =
        tables.iter().enumerate().map(|(at, table)| (table.name.table.clone(), at)).collect();
    for row in all(database, COLUMNS)? {
        if let Some(&at) = places.get(&text(&row, 0)) {
            tables[at].columns.push(column(&row));
        }
    }
    uniques(database, &places, &mut tables)?;
    for row in all(database, REFERENCES)? {
        let (Some(&at), Some(&table)) = (places.get(&text(&row, 0)), places.get(&text(&row, 3)))
        else {
            continue;
        };
        let (rule, column) = (text(&row, 1), tables[at].column(&text(&row, 2)));
        let target = tables[table].column(&text(&row, 4));
        let (Some(column), Some(target)) = (column, target) else { continue };
        match tables[at].references.last_mut() {
            Some(reference) if reference.rule == rule => {
                reference.columns.push(column);
                reference.targets.push(target);
            }
            _ => tables[at].references.push(Reference {
                rule,
                columns: vec![column],
                table,
                targets: vec![target],
                on_delete: OnDelete::of(&text(&row, 5)),
            }),
        }
    }
    // Old servers have neither.
    let checks = all(database, CHECKS_MARIADB).or_else(|_| all(database, CHECKS_MYSQL));
    for row in checks.unwrap_or_default() {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        let (rule, condition) = (text(&row, 1), text(&row, 2));
        // MariaDB's JSON is a text with a condition.
        let json = condition.strip_prefix("json_valid(`").and_then(|rest| rest.strip_suffix("`)"));
        match json.and_then(|name| tables[at].column(name)) {
            Some(column) => tables[at].columns[column].kind = Type::Json,
            None => tables[at].checks.push(Check { rule, text: condition, value: None }),
        }
    }
    tables.iter_mut().for_each(computed::resolve);
    Ok(Schema { dialect: Dialect::Mysql, tables })
}

/// Why no rows can be added to a table of this engine and type.
fn unfit(engine: &str, table_type: &str) -> Option<&'static str> {
    if table_type == "SYSTEM VERSIONED" {
        return Some(
            "it keeps the history of its rows, in which those of a fill would stay after --clean: ALTER TABLE ... DROP \
             SYSTEM VERSIONING",
        );
    }
    (!engine.eq_ignore_ascii_case("innodb")).then_some(
        "its storage engine has no transactions, so that an interrupted fill could not be taken up or undone: ALTER \
         TABLE ... ENGINE = InnoDB",
    )
}

/// Rules of uniqueness: of columns, and apart from them those of expressions.
fn uniques(
    database: &mut dyn Database,
    places: &BTreeMap<String, usize>,
    tables: &mut [Table],
) -> Result<()> {
    let mut computed = BTreeSet::new();
    for row in all(database, INDEXES)? {
        let Some(&at) = places.get(&text(&row, 0)) else { continue };
        let rule = text(&row, 1);
        tables[at].has_primary |= rule == "PRIMARY";
        let table = &mut tables[at];
        // An index on an expression has no column there.
        let column = row[2].as_deref().and_then(|name| table.column(name));
        if column.is_none() {
            computed.insert((at, rule.clone()));
        }
        let prefix = row[3].as_deref().and_then(|length| length.parse().ok());
        if let (Some(column), Some(prefix)) = (column, prefix) {
            shorten(&mut table.columns[column].kind, prefix);
        }
        match table.uniques.last_mut() {
            Some(unique) if unique.rule == rule => unique.columns.extend(column),
            _ => table.uniques.push(Unique { rule, columns: column.into_iter().collect() }),
        }
    }
    for (at, table) in tables.iter_mut().enumerate() {
        let is_computed = |unique: &Unique| computed.contains(&(at, unique.rule.clone()));
        let all = std::mem::take(&mut table.uniques);
        (table.partial, table.uniques) = all.into_iter().partition(is_computed);
        table.partial.retain(|unique| !unique.columns.is_empty());
    }
    Ok(())
}

/// Texts of which the first characters have to differ are made no longer than those.
fn shorten(kind: &mut Type, prefix: u32) {
    if let Type::Text { most } = kind {
        *most = Some(most.map_or(prefix, |most| most.min(prefix)));
    }
}

fn text(row: &[Option<String>], at: usize) -> String {
    row[at].clone().unwrap_or_default()
}

fn column(row: &[Option<String>]) -> Column {
    let extra = text(row, 5).to_ascii_lowercase();
    let generated = extra.contains("generated") && !extra.contains("default_generated")
        || ["virtual", "persistent", "stored"].iter().any(|word| extra.contains(word));
    let default = row[4].clone().filter(|default| default != "NULL");
    Column {
        name: text(row, 1),
        kind: types::mysql(&text(row, 2)),
        type_name: text(row, 2),
        nullable: text(row, 3) == "YES",
        default,
        generated: generated.then(|| text(row, 6)),
        counted: extra.contains("auto_increment"),
        folds: row[7].as_deref().is_some_and(|collation| collation.ends_with("_ci")),
    }
}

/// Which rows a partition takes. `RANGE` begins below all values, so that the highest bound alone counts.
const PARTITIONS: &str = "
SELECT DISTINCT PARTITION_METHOD, PARTITION_EXPRESSION, PARTITION_DESCRIPTION, PARTITION_ORDINAL_POSITION
FROM information_schema.PARTITIONS
WHERE TABLE_SCHEMA = DATABASE() AND PARTITION_METHOD IS NOT NULL AND TABLE_NAME = ";

/// Days from the year 0 to 1970, as TO_DAYS counts them.
const DAYS_TO_1970: i64 = 719_528;

/// The condition that a row has to meet so that a partition takes it; none where all are taken, or that is not known.
///
/// # Errors
/// When the database refuses.
pub fn partitions(database: &mut dyn Database, table: &Table) -> Result<Option<String>> {
    let name = Dialect::Mysql.literal(&table.name.table);
    let rows = all(database, &format!("{PARTITIONS}{name} ORDER BY PARTITION_ORDINAL_POSITION"))?;
    let bounds: Vec<String> = rows.iter().filter_map(|row| row[2].clone()).collect();
    let Some(last) = rows.last() else { return Ok(None) };
    let cell = |at: usize| last[at].as_deref().unwrap_or_default();
    Ok(taken(cell(0), cell(1), &bounds))
}

/// The condition of partitions by this method and expression.
fn taken(method: &str, expression: &str, bounds: &[String]) -> Option<String> {
    let last = bounds.last()?;
    match method {
        "LIST" | "LIST COLUMNS" if !expression.contains(',') => {
            let listed = bounds.iter().all(|bound| bound != "DEFAULT");
            let values: Vec<&str> =
                bounds.iter().map(String::as_str).filter(|bound| *bound != "NULL").collect();
            listed.then(|| format!("{expression} IN ({})", values.join(", ")))
        }
        // Rows with less in the first column are taken, whatever the others hold.
        "RANGE" | "RANGE COLUMNS" => {
            let first = |list: &str| list.split(',').next().unwrap_or_default().to_owned();
            let (expression, bound) = (first(expression), first(last));
            (bound != "MAXVALUE").then(|| match of_time(&expression, &bound) {
                Some((column, time)) => format!("{column} < '{time}'"),
                None => format!("{expression} < {bound}"),
            })
        }
        _ => None,
    }
}

/// The column, and the time before which it lies, of the usual functions that make times numbers.
fn of_time(expression: &str, bound: &str) -> Option<(String, String)> {
    let (function, column) = expression.strip_suffix(')')?.split_once('(')?;
    let number: i64 = bound.parse().ok()?;
    let mut time = String::new();
    match function.to_ascii_lowercase().as_str() {
        "year" => time = format!("{number:04}-01-01"),
        "to_days" => times::write_date(number - DAYS_TO_1970, &mut time),
        "unix_timestamp" => times::write_moment(number.checked_mul(times::SECOND)?, &mut time),
        _ => return None,
    }
    Some((column.to_owned(), time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_conditions() {
        for (method, expression, bounds, wanted) in [
            ("LIST", "`k`", &["1,2", "NULL", "-7"][..], Some("`k` IN (1,2, -7)")),
            ("LIST COLUMNS", "`k`", &["'a','b'"], Some("`k` IN ('a','b')")),
            ("LIST", "`k`", &["1", "DEFAULT"], None),
            ("LIST COLUMNS", "`a`,`b`", &["(1,2)"], None),
            ("RANGE", "`id`", &["100", "200"], Some("`id` < 200")),
            ("RANGE", "`id`", &["100", "MAXVALUE"], None),
            ("RANGE COLUMNS", "`a`,`b`", &["5,10", "20,MAXVALUE"], Some("`a` < 20")),
            ("RANGE COLUMNS", "`d`", &["'2012-01-01'"], Some("`d` < '2012-01-01'")),
            ("RANGE", "year(`d`)", &["2012"], Some("`d` < '2012-01-01'")),
            ("RANGE", "to_days(`d`)", &["719529"], Some("`d` < '1970-01-02'")),
            ("RANGE", "unix_timestamp(`d`)", &["86400"], Some("`d` < '1970-01-02 00:00:00'")),
            ("RANGE", "hour(`d`)", &["9"], Some("hour(`d`) < 9")),
            ("HASH", "`id`", &[], None),
        ] {
            let bounds: Vec<String> = bounds.iter().map(|bound| (*bound).to_owned()).collect();
            assert_eq!(taken(method, expression, &bounds).as_deref(), wanted, "{expression}");
        }
    }
}
