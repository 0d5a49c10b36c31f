//! `plimsoll gate usage`: what was served, by key and route.

use std::collections::BTreeMap;

use gate::keys::Store;
use gate::policy::PROBLEMS;
use gate::usage::{Period, Sum, read};
use model::gated::{GateUsage, GateUsageRow, USAGE_SCHEMA};
use model::quote::plain;
use model::units::{SECOND, show_duration};

use super::keys::now_s;
use crate::args::{GateFormat, UsageArgs};
use crate::failure::{Failure, cannot_run};
use crate::results::output;

/// Rows of the table; JSON has all.
const ROWS: usize = 40;
/// Characters of a name that the table shows.
const NAME: usize = 14;

/// What the table lacks.
const LAGS: &str =
    "a running gateway adds what it counted every few seconds (usage.every, 5s unless set)";

/// Runs the command; the exit code.
///
/// # Errors
/// When the store cannot be read.
pub fn usage(args: &UsageArgs) -> Result<u8, Failure> {
    let path = &args.store.store;
    if !path.exists() {
        return cannot_run(format!(
            "{}: there is no such file: no gateway has run here; --store names another",
            path.display()
        ));
    }
    let to_s = now_s() + 60;
    let from_s = to_s.saturating_sub_unsigned(args.since / SECOND);
    let mut sums: BTreeMap<(u64, String), Sum> = BTreeMap::new();
    let add =
        |row: gate::usage::UsageRow| sums.entry((row.key, row.route)).or_default().merge(&row.sum);
    read(path, Period { from_s, to_s }, add).or_else(cannot_run)?;
    let mut rows: Vec<GateUsageRow> =
        sums.iter().map(|((key, route), sum)| row(*key, route, sum)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.forwarded + refused(row)));
    let owners = owners(path, &rows)?;
    for row in &mut rows {
        row.owner = owners.get(&row.key).cloned().unwrap_or_default();
    }
    let document = GateUsage { schema: USAGE_SCHEMA.into(), from_s, to_s, rows };
    let text = match args.format {
        GateFormat::Json => output::json(&document) + "\n",
        GateFormat::Text => shown(&document),
    };
    Ok(if output::print(&text) { 0 } else { 1 })
}

fn owners(path: &std::path::Path, rows: &[GateUsageRow]) -> Result<BTreeMap<u64, String>, Failure> {
    let store = Store::open(path).or_else(|error| cannot_run(error.to_string()))?;
    let mut owners = BTreeMap::new();
    for row in rows.iter().filter(|row| row.key > 0) {
        let key = store.key(row.key).or_else(|error| cannot_run(error.to_string()))?;
        owners.extend(key.map(|key| (row.key, key.key.owner)));
    }
    Ok(owners)
}

fn row(key: u64, route: &str, sum: &Sum) -> GateUsageRow {
    let refused = PROBLEMS.iter().zip(sum.refused).filter(|(_, n)| *n > 0);
    GateUsageRow {
        key,
        owner: String::new(),
        route: route.to_owned(),
        forwarded: sum.forwarded,
        refused: refused.map(|(problem, n)| (problem.code().to_owned(), n)).collect(),
        statuses: sum.statuses.clone(),
        upstream_failed: sum.upstream_failed,
        bytes_in: sum.bytes_in,
        bytes_out: sum.bytes_out,
        mean_ns: sum.latency_sum_ns / sum.forwarded.max(1),
        p50_ns: sum.latency.at_quantile(0.5),
        p99_ns: sum.latency.at_quantile(0.99),
    }
}

fn refused(row: &GateUsageRow) -> u64 {
    row.refused.values().sum()
}

fn shown(document: &GateUsage) -> String {
    let head = ["key", "owner", "route", "forwarded", "refused", "failed", "p50", "p99"];
    let mut lines = vec![head.map(str::to_owned)];
    let or = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    for row in document.rows.iter().take(ROWS) {
        let time = |nanos| if row.forwarded > 0 { show_duration(nanos) } else { "-".to_owned() };
        lines.push([
            if row.key == 0 { "none".to_owned() } else { row.key.to_string() },
            or(plain(&row.owner, NAME)),
            or(plain(&row.route, NAME)),
            row.forwarded.to_string(),
            refused(row).to_string(),
            row.upstream_failed.to_string(),
            time(row.p50_ns),
            time(row.p99_ns),
        ]);
    }
    if document.rows.is_empty() {
        return format!("no request was counted in this time; {LAGS}\n");
    }
    let mut text = table(&lines);
    if document.rows.len() > ROWS {
        text += &format!("{} more rows: --format json has all\n", document.rows.len() - ROWS);
    }
    let mut why: BTreeMap<&str, u64> = BTreeMap::new();
    for (problem, n) in document.rows.iter().flat_map(|row| &row.refused) {
        *why.entry(problem).or_default() += n;
    }
    if !why.is_empty() {
        let parts: Vec<String> = why.iter().map(|(problem, n)| format!("{problem} {n}")).collect();
        text += &format!("refused: {}\n", parts.join(", "));
    }
    text += &format!("{LAGS}\n");
    text
}

/// Columns, numbers flush right.
pub(super) fn table<const N: usize>(lines: &[[String; N]]) -> String {
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let is_number = |column: usize| {
        lines
            .iter()
            .skip(1)
            .all(|line| line[column].starts_with(|c: char| c.is_ascii_digit() || c == '-'))
    };
    let right: Vec<bool> = (0..N).map(is_number).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            let gap = if column > 0 { "  " } else { "" };
            match right[column] {
                true => row += &format!("{gap}{cell:>width$}"),
                false => row += &format!("{gap}{cell:<width$}"),
            }
        }
        text += row.trim_end();
        text.push('\n');
    }
    text
}
