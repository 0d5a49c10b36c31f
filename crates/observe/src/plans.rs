//! How a database would carry out the statements that were seen in it: their texts are looked up there by their shapes
//! and explained (`EXPLAIN`), in a read-only transaction that is rolled back, within a time limit.
//!
//! Owns the queries and reading plans; `verdict` decides what they mean. Only one `SELECT` at a time is explained, and
//! texts are taken from the database itself only.

mod mysql;
mod postgres;

use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use model::scans::{NoPlan, Planned, Scan};

use crate::source::Kind;
use crate::sources::statement::{Quotes, is_one_select};

/// How long a database may take for all of them.
const PATIENCE: Duration = Duration::from_secs(30);
/// Statements that are asked about at most.
const MOST: usize = 12;
/// Texts of one shape that are explained at most.
const MOST_TEXTS: usize = 3;
/// Characters of a text that its shape is made of, as where it is watched.
const OF_SHAPE: usize = 1000;
/// Characters of a text at most.
const LONGEST: usize = 20_000;

/// What stands between a column and what it is equal to, or compared with.
const EQUALITIES: [&str; 2] = ["= ", "in ("];
const COMPARISONS: [&str; 7] = ["= ", "in (", "< ", "> ", "<= ", ">= ", "between "];

const NO_SELECT: &str = "it is not a plain SELECT, and nothing else is explained";

/// The plans of statements, given by their shapes.
///
/// # Errors
/// In words, without the password, when the source is no such database, or it does not answer.
pub fn plans(database: &Kind, statements: &[String]) -> Result<Vec<Planned>, String> {
    let statements: Vec<String> = statements.iter().take(MOST).cloned().collect();
    let (kind, (answer, answers)) = (database.clone(), sync_channel(1));
    let ask = move || {
        let planned = match &kind {
            Kind::Postgres(url) => postgres::plans(url.with_password(), &statements),
            Kind::Mysql(url) => mysql::plans(url.with_password(), &statements),
            _ => Err("it is neither PostgreSQL nor MySQL".to_owned()),
        };
        // Who asked may have gone on without it.
        let _ = answer.send(planned);
    };
    let thread = thread::Builder::new().name("plans".to_owned()).spawn(ask);
    thread.map_err(|error| format!("no thread to ask with: {error}"))?;
    let late = || format!("no answer in {} s", PATIENCE.as_secs());
    answers.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(late()))
}

/// The plans of one statement, of each of its texts; a failure is one too.
fn of(statement: &str, plans: Result<Vec<Vec<Scan>>, NoPlan>) -> Vec<Planned> {
    let planned = |scans| Planned { statement: statement.to_owned(), scans };
    match plans {
        Ok(plans) => plans.into_iter().map(|scans| planned(Ok(scans))).collect(),
        Err(none) => vec![planned(Err(none))],
    }
}

/// A table as its database knows it.
#[derive(Debug, Clone, Default)]
struct Table {
    rows: f64,
    /// Columns that an index begins with.
    leading: Vec<String>,
}

impl Table {
    /// Of these columns, those by which an index finds rows.
    fn indexed(&self, columns: &[String]) -> Vec<String> {
        columns.iter().filter(|column| self.leading.contains(column)).cloned().collect()
    }
}

/// The part of a text that its shape is made of.
fn begin_of(text: &str) -> &str {
    text.char_indices().nth(OF_SHAPE).map_or(text, |(at, _)| &text[..at])
}

/// Texts that may be explained, or why not.
fn explainable<'a>(texts: &[&'a str], quotes: Quotes) -> Result<Vec<&'a str>, String> {
    let mut chosen: Vec<&str> = Vec::new();
    for text in texts {
        if !is_one_select(text, quotes) {
            return Err(NO_SELECT.to_owned());
        }
        if text.chars().nth(LONGEST).is_some() {
            return Err(format!("its text is longer than {LONGEST} characters"));
        }
        if !chosen.contains(text) && chosen.len() < MOST_TEXTS {
            chosen.push(text);
        }
    }
    Ok(chosen)
}

/// Columns of a table, by its name in the statement, that a condition compares with a value that is known before the table is
/// read: `(o.user_id = $1)`. Not those inside a function, cast to another type than text, or compared with another column:
/// an index of the column does not find these.
fn compared(condition: &str, alias: &str, operators: &[&str]) -> Vec<String> {
    let mut columns = Vec::new();
    let mut at = 0;
    while let Some(begin) = condition[at..].find(of_name).map(|begin| at + begin) {
        let name = name_of(&condition[begin..]);
        at = begin + name.len();
        let mut parts = name.rsplit('.').map(|part| part.trim_matches(['"', '`']));
        let (Some(column), Some(of)) = (parts.next(), parts.next()) else { continue };
        let before = condition[..begin].trim_end_matches('(');
        let called = before.len() < begin && before.ends_with(of_name);
        let behind = condition[at..].trim_start_matches(')');
        let behind = behind.strip_prefix("::text").unwrap_or(behind).trim_start_matches(')');
        let behind = behind.trim_start();
        let with = operators.iter().find_map(|operator| behind.strip_prefix(operator));
        let with = with.map(|with| name_of(with.trim_start_matches('(')));
        let known =
            |with: &str| !with.contains('.') || with.starts_with(|c: char| c.is_ascii_digit());
        if of == alias && with.is_some_and(known) && !called && !columns.iter().any(|c| c == column)
        {
            columns.push(column.to_owned());
        }
    }
    columns
}

/// Whether a character may be part of a name with its table and its schema.
fn of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '`' | '$')
}

/// The name that a text begins with.
fn name_of(text: &str) -> &str {
    &text[..text.find(|c| !of_name(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_conditions_compare() {
        for (condition, alias, columns) in [
            ("(orders.user_id = $1)", "orders", &["user_id"][..]),
            (
                "((o.user_id = $1) AND (o.status = ANY ($2)) AND (p.id = o.x))",
                "o",
                &["user_id", "status"],
            ),
            ("((o.name)::text = $1)", "o", &["name"]),
            ("((o.id)::numeric = $1)", "o", &[]),
            ("(lower(o.name) = $1)", "o", &[]),
            ("(lower((o.name)::text) = $1)", "o", &[]),
            ("(NOT o.done)", "o", &[]),
            ("(o.name ~~ '%a%'::text)", "o", &[]),
            ("((o.a = o.b) AND (o.c = 1.5))", "o", &["c"]),
            ("`shop`.`o`.`user_id` = `shop`.`u`.`id`", "o", &[]),
            ("(\"Orders\".\"userId\" > $1)", "Orders", &["userId"]),
            ("`shop`.`o`.`user_id` = 7 and `shop`.`o`.`a` between 1 and 2", "o", &["user_id", "a"]),
            ("(`shop`.`orders`.`user_id` in (1,2))", "orders", &["user_id"]),
            ("", "o", &[]),
        ] {
            assert_eq!(compared(condition, alias, &COMPARISONS), columns, "{condition}");
        }
    }

    #[test]
    fn only_one_select_is_explained() {
        let text = "SELECT a FROM t WHERE b = 'x'";
        let chosen = explainable(&[text, text, "select 2"], Quotes::Names);
        assert_eq!(chosen, Ok(vec![text, "select 2"]));
        let long = format!("SELECT '{}'", "x".repeat(LONGEST));
        for refused in ["DELETE FROM t", "SELECT 1; DELETE FROM t", &long] {
            assert!(explainable(&[text, refused], Quotes::Names).is_err(), "{refused:.40}");
        }
    }
}
