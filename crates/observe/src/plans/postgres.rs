//! Plans of PostgreSQL. Texts are those of `pg_stat_statements`, whose values are `$1`, or of sessions. One way serves
//! both: the text is prepared, and the plan that fits every value is asked for (`plan_cache_mode`, from version 12 on;
//! `EXPLAIN (GENERIC_PLAN)`, from 16 on, gives the same).

use ::postgres::Client;
use model::scans::{NoPlan, Planned, Scan, Way};
use serde_json::Value;

use super::{COMPARISONS, Table, begin_of, compared, explainable, of};
use crate::sources::postgres::{integer, open, rows, why};
use crate::sources::statement::{Quotes, shape};

/// The first version with `plan_cache_mode`.
const SINCE: u64 = 120_000;

/// The dearest first, whole.
const STATEMENTS: &str = "
SELECT left(query, 20001) FROM pg_stat_statements
  WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND queryid IS NOT NULL
  ORDER BY total_exec_time DESC LIMIT 1000";
/// The last statement of each session, but for those that are cut off.
const SESSIONS: &str = "
SELECT query FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
  AND pid <> pg_backend_pid() AND octet_length(query) < pg_size_bytes(current_setting('track_activity_query_size')) - 1
  LIMIT 1000";
const TABLE: &str = "
SELECT greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 0)::float8,
    ARRAY(SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2";
const BEGIN: &str = "BEGIN TRANSACTION READ ONLY; SET LOCAL plan_cache_mode = force_generic_plan";

const NO_TEXT: &str =
    "its text is not there: neither pg_stat_statements nor a session that is still open has it";

/// The plans of the statements of these shapes.
pub(super) fn plans(url: &str, statements: &[String]) -> Result<Vec<Planned>, String> {
    let mut client = open(url, "plimsoll explain")?;
    let version = rows(&mut client, "SELECT current_setting('server_version_num')")?;
    if version.first().is_none_or(|row| integer(row, 0) < SINCE) {
        return Err("PostgreSQL before 12 plans nothing without values: EXPLAIN it by hand".into());
    }
    let mut texts: Vec<String> = Vec::new();
    for sql in [STATEMENTS, SESSIONS] {
        // The extension may be missing.
        let found = rows(&mut client, sql).unwrap_or_default();
        texts.extend(found.iter().filter_map(|row| row.get(0).map(str::to_owned)));
    }
    let plans = |statement: &String| of(statement, scans(&mut client, &texts, statement));
    Ok(statements.iter().flat_map(plans).collect())
}

/// The scans of each text of this shape.
fn scans(client: &mut Client, texts: &[String], statement: &str) -> Result<Vec<Vec<Scan>>, NoPlan> {
    let of_shape = texts.iter().filter(|text| shape(begin_of(text), Quotes::Names) == statement);
    let of_shape: Vec<&str> = of_shape.map(String::as_str).collect();
    if of_shape.is_empty() {
        return Err(NoPlan { why: NO_TEXT.to_owned(), while_at_work: true });
    }
    let mut all = Vec::new();
    for text in explainable(&of_shape, Quotes::Names)? {
        client.batch_execute(BEGIN).map_err(|error| why(&error))?;
        let plan = plan(client, text);
        client.batch_execute("ROLLBACK; DEALLOCATE ALL").map_err(|error| why(&error))?;
        let found = found(&plan?, is_limit_unknown(text));
        let scans = found.into_iter().map(|found| found.scan(client));
        all.push(scans.collect::<Result<_, String>>()?);
    }
    Ok(all)
}

/// The plan of a text for every value of its parameters.
fn plan(client: &mut Client, text: &str) -> Result<Value, String> {
    // The extended protocol takes one statement and no more.
    let prepare = format!("PREPARE plimsoll AS {text}");
    client.execute(prepare.as_str(), &[]).map_err(|error| denied(&error))?;
    let asked =
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'plimsoll'";
    let parameters = rows(client, asked)?.first().map_or(0, |row| integer(row, 0));
    let values = vec!["NULL"; usize::try_from(parameters).unwrap_or(0)].join(", ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    let sql = format!("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE plimsoll{values}");
    let explained = rows(client, &sql)?;
    let text = explained.first().and_then(|row| row.get(0)).unwrap_or_default();
    let mut plan: Value =
        serde_json::from_str(text).map_err(|error| format!("its plan is unreadable: {error}"))?;
    Ok(plan[0]["Plan"].take())
}

/// The server's words, and what helps.
fn denied(error: &::postgres::Error) -> String {
    let said = why(error);
    match said.ends_with("[42501]") {
        true => format!("{said}: let this user SELECT there, or give the server's own user"),
        false => said,
    }
}

/// A table in a plan.
#[derive(Debug, PartialEq)]
struct Found {
    schema: String,
    table: String,
    way: Way,
    loops: f64,
    /// The part of what it gives that is asked for: below a LIMIT not all is.
    part: f64,
    kept: f64,
    filtered: bool,
    compared: Vec<String>,
}

impl Found {
    fn scan(self, client: &mut Client) -> Result<Scan, String> {
        let names: [&(dyn ::postgres::types::ToSql + Sync); 2] = [&self.schema, &self.table];
        let known = client.query_opt(TABLE, &names).map_err(|error| why(&error))?;
        let known = known.map_or_else(Table::default, |row| Table {
            rows: row.try_get(0).unwrap_or(0.0),
            leading: row.try_get(1).unwrap_or_default(),
        });
        let each = if matches!(self.way, Way::ByIndex(_)) { self.kept } else { known.rows };
        Ok(Scan {
            table: format!("{}.{}", self.schema, self.table),
            way: self.way,
            table_rows: known.rows,
            rows_read: each * self.loops * self.part,
            rows_kept: Some(self.kept),
            filtered: self.filtered,
            indexed: known.indexed(&self.compared),
            compared: self.compared,
        })
    }
}

/// Whether a text takes its LIMIT as a parameter: the plan supposes a tenth of all rows then, and one may be meant.
fn is_limit_unknown(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.windows(2).any(|pair| {
        matches!(pair[0], "limit" | "first" | "next")
            && pair[1].trim_start_matches('(').starts_with('$')
    })
}

/// Every table in a plan; `one` where no more than a row of what is below a LIMIT is asked for to be sure.
fn found(plan: &Value, one: bool) -> Vec<Found> {
    let mut all = Vec::new();
    walk(plan, Place { loops: 1.0, part: 1.0, workers: 0.0, one }, &mut all);
    all
}

/// Where a node is in its plan.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// How often it is carried out.
    loops: f64,
    /// The part of its rows that the node above asks for.
    part: f64,
    /// Workers beside the first.
    workers: f64,
    /// Whether a LIMIT is taken for one of one row.
    one: bool,
}

/// Looks at a node and those below it.
fn walk(node: &Value, place: Place, all: &mut Vec<Found>) {
    let text = |name: &str| node[name].as_str().unwrap_or_default().to_owned();
    let kind = text("Node Type");
    let workers = node["Workers Planned"].as_f64().unwrap_or(place.workers);
    let rows = node["Plan Rows"].as_f64().unwrap_or(0.0);
    let way = match kind.as_str() {
        "Seq Scan" => Some(Way::Whole),
        "Index Scan" | "Index Only Scan" if node["Index Cond"].is_null() => {
            Some(Way::Along(text("Index Name")))
        }
        "Index Scan" | "Index Only Scan" => Some(Way::ByIndex(text("Index Name"))),
        "Bitmap Heap Scan" => Some(Way::ByIndex(index_below(node))),
        _ => None,
    };
    if let Some(way) = way {
        // Each of several workers keeps a part.
        let parts = if node["Parallel Aware"] == true { workers + 1.0 } else { 1.0 };
        all.push(Found {
            schema: text("Schema"),
            table: text("Relation Name"),
            way,
            loops: place.loops,
            part: place.part,
            kept: rows * parts,
            filtered: !node["Filter"].is_null(),
            compared: compared(&text("Filter"), &text("Alias"), &COMPARISONS),
        });
    }
    let below = || node["Plans"].as_array().into_iter().flatten();
    let outer = below().find(|below| below["Parent Relationship"] == "Outer");
    let outer = outer.and_then(|outer| outer["Plan Rows"].as_f64()).unwrap_or(1.0);
    let part = match kind.as_str() {
        "Limit" => place.part * asked(if place.one { 1.0 } else { rows }, outer),
        // What begins with all that is below it.
        "Sort" | "Hash" | "SetOp" => 1.0,
        "Aggregate" if node["Strategy"] != "Sorted" => 1.0,
        _ => place.part,
    };
    for below in below() {
        let kept = matches!(below["Node Type"].as_str(), Some("Materialize" | "Memoize"));
        let again = kind == "Nested Loop" && below["Parent Relationship"] == "Inner" && !kept;
        let inside = match again {
            true => Place { loops: place.loops * (outer * part).max(1.0), part: 1.0, ..place },
            false => Place { part, ..place },
        };
        walk(below, Place { workers, ..inside }, all);
    }
}

/// The part of this many rows that is asked for.
fn asked(wanted: f64, rows: f64) -> f64 {
    if rows > wanted { wanted / rows } else { 1.0 }
}

/// The first index below a node that combines some.
fn index_below(node: &Value) -> String {
    let mut nodes = vec![node];
    while let Some(node) = nodes.pop() {
        if let Some(index) = node["Index Name"].as_str() {
            return index.to_owned();
        }
        nodes.extend(node["Plans"].as_array().into_iter().flatten());
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_tell_how_tables_are_read() {
        let plan = serde_json::json!({
            "Node Type": "Nested Loop", "Plan Rows": 375,
            "Plans": [
                {"Node Type": "Gather", "Parent Relationship": "Outer", "Workers Planned": 2, "Plan Rows": 125, "Plans": [
                    {"Node Type": "Seq Scan", "Parallel Aware": true, "Schema": "public", "Relation Name": "orders",
                     "Alias": "o", "Plan Rows": 52, "Filter": "(o.user_id = $1)", "Parent Relationship": "Outer"}
                ]},
                {"Node Type": "Bitmap Heap Scan", "Parent Relationship": "Inner", "Schema": "public", "Relation Name": "items",
                 "Alias": "i", "Plan Rows": 3, "Recheck Cond": "(i.order_id = o.id)", "Plans": [
                    {"Node Type": "Bitmap Index Scan", "Index Name": "items_order", "Index Cond": "(i.order_id = o.id)"}
                ]},
                {"Node Type": "Index Scan", "Schema": "public", "Relation Name": "users", "Alias": "u", "Plan Rows": 1,
                 "Index Name": "users_pkey", "Filter": "(u.email = $2)"}
            ]
        });
        let [orders, items, users] =
            <[Found; 3]>::try_from(found(&plan, false)).expect("three tables");
        assert_eq!((orders.table.as_str(), orders.way), ("orders", Way::Whole));
        assert_eq!(
            (orders.kept, orders.loops, orders.compared),
            (156.0, 1.0, vec!["user_id".to_owned()])
        );
        assert_eq!((items.way, items.loops), (Way::ByIndex("items_order".into()), 125.0));
        assert_eq!(
            (users.way, users.compared),
            (Way::Along("users_pkey".into()), vec!["email".to_owned()])
        );
        assert!(found(&Value::Null, false).is_empty());
    }

    #[test]
    fn what_is_below_a_limit_is_not_read_to_its_end() {
        let scan = |relation: &str, rows: f64| {
            serde_json::json!({
                "Node Type": "Seq Scan", "Parent Relationship": relation, "Schema": "public",
                "Relation Name": "events", "Alias": "e", "Plan Rows": rows
            })
        };
        let above = |kind: &str, rows: f64, below: Value| {
            serde_json::json!({
                "Node Type": kind, "Parent Relationship": "Outer", "Plan Rows": rows, "Plans": [below]
            })
        };
        let parts = |plan: &Value, one| -> Vec<(f64, f64)> {
            found(plan, one).iter().map(|found| (found.part, found.loops)).collect()
        };
        let plain = above("Limit", 10.0, scan("Outer", 1e6));
        assert_eq!(parts(&plain, false), [(1e-5, 1.0)]);
        assert_eq!(parts(&plain, true), [(1e-6, 1.0)], "the limit is a parameter");
        let sorted = above("Limit", 10.0, above("Sort", 1e6, scan("Outer", 1e6)));
        assert_eq!(parts(&sorted, false), [(1.0, 1.0)], "what is sorted is read whole first");
        let counted = above("Limit", 1.0, above("Aggregate", 1.0, scan("Outer", 1e6)));
        assert_eq!(parts(&counted, false), [(1.0, 1.0)]);
        let all = above("Limit", 10.0, scan("Outer", 5.0));
        assert_eq!(parts(&all, false), [(1.0, 1.0)]);
        let mut joined = above("Nested Loop", 1e6, scan("Outer", 1e6));
        joined["Plans"].as_array_mut().expect("a list").push(scan("Inner", 50.0));
        let joined = above("Limit", 10.0, joined);
        assert_eq!(parts(&joined, false), [(1e-5, 1.0), (1.0, 10.0)]);
        for (text, unknown) in [
            ("SELECT * FROM events ORDER BY id LIMIT $1", true),
            ("select * from events fetch first $2 rows only", true),
            ("SELECT * FROM events LIMIT 10", false),
            ("SELECT * FROM events WHERE id = $1", false),
        ] {
            assert_eq!(is_limit_unknown(text), unknown, "{text}");
        }
    }
}
