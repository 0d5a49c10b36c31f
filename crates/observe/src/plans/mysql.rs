//! Plans of MySQL and MariaDB, which plan nothing without values: so an example of each statement is looked for, as
//! `performance_schema` or a session that is at work has it.

use ::mysql::prelude::Queryable;
use ::mysql::{Conn, Row};
use model::scans::{NoPlan, Planned, Scan, Way};

use super::{EQUALITIES, Table, begin_of, compared, explainable, of};
use crate::sources::mysql::{number, open, rows, text, tight, why};
use crate::sources::statement::{Quotes, shape};

/// Where examples are: the digest, a text, the schema that names count from. Not every server has all of them.
const EXAMPLES: [&str; 5] = [
    "SELECT LEFT(DIGEST_TEXT, 1000), LEFT(QUERY_SAMPLE_TEXT, 20001), SCHEMA_NAME \
     FROM performance_schema.events_statements_summary_by_digest WHERE QUERY_SAMPLE_TEXT IS NOT NULL \
     ORDER BY SUM_TIMER_WAIT DESC LIMIT 500",
    "SELECT LEFT(DIGEST_TEXT, 1000), SQL_TEXT, CURRENT_SCHEMA \
     FROM performance_schema.events_statements_history_long WHERE DIGEST_TEXT IS NOT NULL AND SQL_TEXT IS NOT NULL \
     LIMIT 5000",
    "SELECT LEFT(DIGEST_TEXT, 1000), SQL_TEXT, CURRENT_SCHEMA \
     FROM performance_schema.events_statements_history WHERE DIGEST_TEXT IS NOT NULL AND SQL_TEXT IS NOT NULL LIMIT 5000",
    "SELECT LEFT(DIGEST_TEXT, 1000), SQL_TEXT, CURRENT_SCHEMA \
     FROM performance_schema.events_statements_current WHERE SQL_TEXT IS NOT NULL LIMIT 5000",
    "SELECT NULL, LEFT(INFO, 20001), DB FROM information_schema.PROCESSLIST \
     WHERE INFO IS NOT NULL AND ID <> CONNECTION_ID() LIMIT 1000",
];
const TABLE_ROWS: &str =
    "SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?";
const LEADING: &str = "SELECT DISTINCT COLUMN_NAME FROM information_schema.STATISTICS \
    WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND SEQ_IN_INDEX = 1";

/// Rows that are looked at for the values of a column.
const SAMPLE: u32 = 10_000;

const NO_EXAMPLE: &str = "the server has no example of it with its values: turn the consumers that keep some on (UPDATE \
    performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('events_statements_current', \
    'events_statements_history')) and run it again, or EXPLAIN it by hand";
const PREPARED: &str = "the server's examples of it have ? for their values, since the client prepares it: EXPLAIN it by hand with values";
const CUT_OFF: &str =
    "the server's examples of it are cut off: raise performance_schema_max_sql_text_length";

/// A statement with its values.
struct Example {
    digest: Option<String>,
    text: String,
    schema: Option<String>,
}

/// The plans of the statements of these shapes.
pub(super) fn plans(url: &str, statements: &[String]) -> Result<Vec<Planned>, String> {
    let mut connection = open(url)?;
    let first = |connection: &mut Conn, sql: &str| -> Result<String, String> {
        Ok(rows(connection, sql)?.first().and_then(|row| text(row, 0)).unwrap_or_default())
    };
    let mariadb = first(&mut connection, "SELECT VERSION()")?.contains("MariaDB");
    let (bound, explain) = match mariadb {
        true => ("SET SESSION max_statement_time = 2", "EXPLAIN EXTENDED"),
        false => ("SET SESSION max_execution_time = 2000", "EXPLAIN FORMAT=TRADITIONAL"),
    };
    connection.query_drop(bound).map_err(|error| why(&error))?;
    let longest = first(&mut connection, "SELECT @@performance_schema_max_sql_text_length");
    let longest = longest.ok().and_then(|text| text.parse().ok()).unwrap_or(1024);
    let mut examples = Vec::new();
    for sql in EXAMPLES {
        // Not every server has it, and not every user may read it.
        let found = rows(&mut connection, sql).unwrap_or_default();
        examples.extend(found.iter().filter_map(|row| {
            Some(Example { digest: text(row, 0), text: text(row, 1)?, schema: text(row, 2) })
        }));
    }
    let plans = |statement: &String| {
        of(statement, scans(&mut connection, explain, &examples, statement, longest))
    };
    Ok(statements.iter().flat_map(plans).collect())
}

impl Example {
    /// Whether it is one of this shape, which was made of a digest or of a text: digests quote every name.
    fn is_of(&self, statement: &str) -> bool {
        let squeezed = |shape: &str| shape.replace([' ', '`'], "").to_ascii_lowercase();
        let digest = self.digest.as_ref().map(|digest| shape(&tight(digest), Quotes::Strings));
        digest.as_deref() == Some(statement)
            || squeezed(&shape(begin_of(&self.text), Quotes::Strings)) == squeezed(statement)
    }
}

/// The scans of each example of this shape.
fn scans(
    connection: &mut Conn,
    explain: &str,
    examples: &[Example],
    statement: &str,
    longest: usize,
) -> Result<Vec<Vec<Scan>>, NoPlan> {
    let of_shape: Vec<&Example> =
        examples.iter().filter(|example| example.is_of(statement)).collect();
    if of_shape.is_empty() {
        return Err(NoPlan { why: NO_EXAMPLE.to_owned(), while_at_work: true });
    }
    let whole = |example: &&&Example| {
        example.digest.is_none()
            || example.text.len() + 4 < longest && !example.text.ends_with("...")
    };
    let whole: Vec<&Example> = of_shape.iter().filter(whole).copied().collect();
    if whole.is_empty() {
        return Err(CUT_OFF.to_owned().into());
    }
    let texts: Vec<&str> = whole.iter().map(|example| example.text.as_str()).collect();
    let mut all: Vec<Vec<Scan>> = Vec::new();
    for text in explainable(&texts, Quotes::Strings)? {
        let schema = whole.iter().find(|example| example.text == text);
        let schema = schema.and_then(|example| example.schema.as_deref());
        if let Some(scans) = explained(connection, explain, text, schema)? {
            all.push(scans);
        }
    }
    if all.is_empty() { Err(PREPARED.to_owned().into()) } else { Ok(all) }
}

/// What `EXPLAIN` says of a text; none where it has no values.
fn explained(
    connection: &mut Conn,
    explain: &str,
    text: &str,
    schema: Option<&str>,
) -> Result<Option<Vec<Scan>>, String> {
    let run =
        |connection: &mut Conn, sql: &str| connection.query_drop(sql).map_err(|error| why(&error));
    if let Some(schema) = schema {
        run(connection, &format!("USE `{}`", schema.replace('`', "``")))?;
    }
    run(connection, "START TRANSACTION READ ONLY")?;
    let explained = tables(connection, &format!("{explain} {text}"));
    run(connection, "ROLLBACK")?;
    let Some((tables, rewritten)) = explained? else { return Ok(None) };
    let extra = |row: &Row| column_of(row, "Extra").unwrap_or_default();
    let whole_first =
        |row: &Row| ["filesort", "temporary"].iter().any(|word| extra(row).contains(word));
    let limit = limit_of(&rewritten).filter(|_| !tables.iter().any(whole_first));
    let mut scans = Vec::new();
    for row in &tables {
        // What a part of the statement reads by itself does not end with the whole.
        let kind = column_of(row, "select_type").unwrap_or_default().to_ascii_uppercase();
        let limit = limit.filter(|_| matches!(kind.as_str(), "SIMPLE" | "PRIMARY"));
        let found = scan(connection, row, &rewritten)?;
        scans.extend(found.map(|scan| Scan { rows_read: read_of(&scan, limit), ..scan }));
    }
    Ok(Some(scans))
}

/// The lines of a plan, and the statement as the server rewrote it; none where it has parameters.
fn tables(connection: &mut Conn, sql: &str) -> Result<Option<(Vec<Row>, String)>, String> {
    // A prepared statement is one and no more.
    let prepared = connection.prep(sql).map_err(|error| why(&error))?;
    if prepared.num_params() > 0 {
        return Ok(None);
    }
    let plan: Vec<Row> = connection.exec(&prepared, ()).map_err(|error| why(&error))?;
    let notes = rows(connection, "SHOW WARNINGS")?;
    let rewritten = notes.iter().find(|row| number(row, 1) == 1003.0);
    Ok(Some((plan, rewritten.and_then(|row| text(row, 2)).unwrap_or_default())))
}

/// A column of a line, by its name.
fn column_of(row: &Row, name: &str) -> Option<String> {
    let named = |column: &::mysql::Column| column.name_str().eq_ignore_ascii_case(name);
    text(row, row.columns_ref().iter().position(named)?)
}

/// Rows after which a statement ends, as the server rewrote it: `limit 10`, or `limit 5,10` with those that are skipped.
/// None where one row is made of all.
fn limit_of(rewritten: &str) -> Option<f64> {
    const OF_ALL: [&str; 6] = ["count(", "sum(", "avg(", "min(", "max(", "group_concat("];
    let lower = rewritten.to_ascii_lowercase();
    let list = lower.split(" from ").next().unwrap_or_default();
    if !lower.contains(" group by ") && OF_ALL.iter().any(|function| list.contains(function)) {
        return None;
    }
    let (_, limits) = lower.rsplit_once(" limit ")?;
    limits.split(',').map(|n| n.trim().parse::<f64>().ok()).sum()
}

/// Rows that a statement with a LIMIT reads of a table. Rows that meet its conditions are assumed to be spread evenly: if only one
/// does, the whole table is read to find it.
fn read_of(scan: &Scan, limit: Option<f64>) -> f64 {
    match (limit, &scan.way) {
        (None, _) => scan.rows_read,
        (Some(limit), Way::ByIndex(_)) => scan.rows_read.min(limit),
        (Some(limit), Way::Whole | Way::Along(_)) => {
            let kept = scan.rows_kept.unwrap_or(scan.table_rows).max(1.0);
            (limit * scan.table_rows / kept).min(scan.table_rows)
        }
    }
}

/// The scan that a line of a plan is, if it is of a table.
fn scan(connection: &mut Conn, row: &Row, rewritten: &str) -> Result<Option<Scan>, String> {
    let column = |name: &str| column_of(row, name);
    let (Some(alias), Some(kind)) = (column("table"), column("type")) else { return Ok(None) };
    let Some((schema, table)) = named(rewritten, &alias) else { return Ok(None) };
    let names = (schema.as_str(), table.as_str());
    let ask = |error: ::mysql::Error| why(&error);
    let known: Option<Option<u64>> = connection.exec_first(TABLE_ROWS, names).map_err(ask)?;
    let leading: Vec<String> = connection.exec(LEADING, names).map_err(ask)?;
    let known = Table { rows: known.flatten().unwrap_or(0) as f64, leading };
    let key = column("key").unwrap_or_default();
    let way = match kind.to_ascii_lowercase().as_str() {
        "all" => Way::Whole,
        "index" => Way::Along(key),
        _ => Way::ByIndex(key),
    };
    let filtered = column("Extra").is_some_and(|extra| extra.contains("Using where"));
    let condition =
        rewritten.to_ascii_lowercase().find(" where ").map_or("", |at| &rewritten[at..]);
    let compared = match way {
        Way::Whole | Way::Along(_) if filtered => compared(condition, &alias, &EQUALITIES),
        _ => Vec::new(),
    };
    let read = column("rows").and_then(|rows| rows.parse().ok()).unwrap_or(0.0);
    let table_rows = known.rows.max(if way == Way::Whole { read } else { 0.0 });
    let kept = compared.iter().filter_map(|column| picked(connection, names, column, table_rows));
    let kept = kept.reduce(f64::min).map(|part| part * table_rows);
    Ok(Some(Scan {
        table: format!("{schema}.{table}"),
        way,
        table_rows,
        rows_read: read,
        rows_kept: Some(kept.unwrap_or(table_rows)),
        filtered,
        indexed: known.indexed(&compared),
        compared,
    }))
}

/// The part of a table that one value of a column picks, by a sample of its rows: without a histogram the server's own
/// plan does not know.
fn picked(
    connection: &mut Conn,
    table: (&str, &str),
    column: &str,
    table_rows: f64,
) -> Option<f64> {
    let [schema, table, column] = [table.0, table.1, column].map(|name| name.replace('`', "``"));
    let sql = format!(
        "SELECT COUNT(DISTINCT c), COUNT(c) FROM (SELECT `{column}` AS c FROM `{schema}`.`{table}` LIMIT {SAMPLE}) s"
    );
    let counts = rows(connection, &sql).ok()?;
    let row = counts.first()?;
    part_of(number(row, 0), number(row, 1), table_rows)
}

/// The part of a table that has one value, given the number of different values in a sample of rows. If each row has its own,
/// one row.
fn part_of(values: f64, looked_at: f64, table_rows: f64) -> Option<f64> {
    let all = if values >= looked_at { values.max(table_rows) } else { values };
    (values >= 1.0).then(|| 1.0 / all)
}

/// The schema and the name of the table that a rewritten statement calls so: `` `shop`.`orders` `o` ``.
fn named(rewritten: &str, alias: &str) -> Option<(String, String)> {
    let from = &rewritten[rewritten.to_ascii_lowercase().find(" from ")?..];
    let quoted = format!("`{alias}`");
    let parts = |name: &str| {
        let (schema, table) = name.strip_prefix('`')?.strip_suffix('`')?.split_once("`.`")?;
        (!schema.contains('`') && !table.contains('`'))
            .then(|| (schema.to_owned(), table.to_owned()))
    };
    let word =
        |text: &str| -> Option<(String, String)> { parts(text.rsplit([' ', '(', ',']).next()?) };
    for (at, _) in from.match_indices(&quoted) {
        let (before, after) = (&from[..at], &from[at + quoted.len()..]);
        if after.starts_with('.') {
            continue;
        }
        let named = match before.strip_suffix(' ') {
            Some(before) => word(before),
            None if before.ends_with('.') => word(&from[..at + quoted.len()]),
            None => None,
        };
        if named.is_some() {
            return named;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_resolved() {
        for (rewritten, alias, wanted) in [
            (
                "/* select#1 */ select `shop`.`orders`.`id` AS `id` from `shop`.`orders` where (`shop`.`orders`.`user_id` = 7)",
                "orders",
                Some(("shop", "orders")),
            ),
            (
                "select `shop`.`o`.`id` AS `id` from `shop`.`orders` `o` join `shop`.`items` `i` where `shop`.`o`.`a` = 7",
                "o",
                Some(("shop", "orders")),
            ),
            ("select 1 AS `1` from (`a`.`b` `x`,`c`.`d`)", "d", Some(("c", "d"))),
            ("select 1 AS `1`", "d", None),
            ("select `s`.`d`.`x` AS `x` from `s`.`other` where `s`.`d`.`x` = 1", "d", None),
        ] {
            let wanted = wanted.map(|(s, t): (&str, &str)| (s.to_owned(), t.to_owned()));
            assert_eq!(named(rewritten, alias), wanted, "{rewritten}");
        }
    }

    #[test]
    fn statements_end_at_their_limit() {
        for (rewritten, limit) in [
            ("/* select#1 */ select `s`.`t`.`a` AS `a` from `s`.`t` limit 10", Some(10.0)),
            ("select 1 from `s`.`t` limit 5,10", Some(15.0)),
            ("select 1 from (select 1 from `s`.`t` limit 3) where 1", None),
            ("select 1 from `s`.`t`", None),
            ("select count(0) AS `n` from `s`.`t` where (`s`.`t`.`a` = 1) limit 1", None),
            ("select count(0) AS `n` from `s`.`t` group by `s`.`t`.`a` limit 5", Some(5.0)),
        ] {
            assert_eq!(limit_of(rewritten), limit, "{rewritten}");
        }
    }

    #[test]
    fn a_scan_that_looks_for_few_rows_goes_on_until_they_are_found() {
        let along = Way::Along("PRIMARY".to_owned());
        for (way, kept, limit, read) in [
            // One row of one is wanted: wherever it lies, most of the table may come before it.
            (Way::Whole, 1.0, Some(1.0), 200_000.0),
            (along.clone(), 1.0, Some(1.0), 200_000.0),
            (along.clone(), 100.0, Some(10.0), 20_000.0),
            // Nothing is looked for.
            (along.clone(), 200_000.0, Some(10.0), 10.0),
            (Way::Whole, 0.0, Some(20.0), 200_000.0),
            (Way::ByIndex("by_user".to_owned()), 50.0, Some(10.0), 10.0),
            // What EXPLAIN says.
            (along, 1.0, None, 4_000.0),
        ] {
            let scan = Scan {
                table: "s.t".to_owned(),
                way,
                table_rows: 200_000.0,
                rows_read: 4_000.0,
                rows_kept: Some(kept),
                filtered: true,
                compared: Vec::new(),
                indexed: Vec::new(),
            };
            assert_eq!(read_of(&scan, limit), read, "{scan:?} {limit:?}");
        }
    }

    #[test]
    fn a_value_that_each_row_has_of_its_own_picks_one() {
        assert_eq!(part_of(10_000.0, 10_000.0, 200_000.0), Some(1.0 / 200_000.0));
        assert_eq!(part_of(50.0, 10_000.0, 200_000.0), Some(0.02));
        assert_eq!(part_of(0.0, 0.0, 200_000.0), None, "no value is known");
    }

    #[test]
    fn examples_are_of_the_shape_of_their_digest_or_of_their_text() {
        let example = |digest: Option<&str>, text: &str| Example {
            digest: digest.map(str::to_owned),
            text: text.to_owned(),
            schema: None,
        };
        let digest = "SELECT COUNT ( `id` ) FROM `orders` WHERE `user_id` = ?";
        let text = "SELECT COUNT(id) FROM orders WHERE user_id = 7";
        for (example, statement, wanted) in [
            (
                example(Some(digest), text),
                "SELECT COUNT(`id`) FROM `orders` WHERE `user_id` = ?",
                true,
            ),
            (example(None, text), "SELECT COUNT(`id`) FROM `orders` WHERE `user_id` = ?", true),
            (example(None, text), "SELECT COUNT(id) FROM orders WHERE user_id = ?", true),
            (example(None, text), "SELECT COUNT(id) FROM orders WHERE status = ?", false),
        ] {
            assert_eq!(example.is_of(statement), wanted, "{statement}");
        }
    }
}
