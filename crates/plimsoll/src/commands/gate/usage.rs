//! `plimsoll gate usage`: what was served, by key and route.

use std::collections::BTreeMap;
use std::path::Path;

use gate::keys::{Store, StoreError};
use gate::policy::PROBLEMS;
use gate::usage::{Period, Sum, read};
use jiff::Timestamp;
use model::gated::{GateUsage, GateUsageRow, USAGE_SCHEMA};
use model::quote::{counted, grouped, plain};
use model::units::{SECOND, show_duration};
use report::grid::{Grid, Lean};
use report::text::{Style, paragraph};

use crate::args::{GateFormat, UsageArgs};
use crate::failure::{Failure, cannot_run};
use crate::results::output;

/// Rows of the table; JSON has all.
const ROWS: usize = 40;
/// Columns of a name that the table shows.
const NAME: usize = 14;
/// Characters of the place that usage is reported to.
const PLACE: usize = 300;
/// The columns that a narrow table leaves out.
const FAILED: usize = 5;
const P50: usize = 6;

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
    // Opened read-only, so that a process that writes to it does not block this.
    let store = Store::inspect(path).or_else(|error| cannot_run(error.to_string()))?;
    let to_s = Timestamp::now().as_second() + 60;
    let from_s = to_s.saturating_sub_unsigned(args.since / SECOND);
    let mut sums: BTreeMap<(u64, String), Sum> = BTreeMap::new();
    let add =
        |row: gate::usage::UsageRow| sums.entry((row.key, row.route)).or_default().merge(&row.sum);
    read(path, Period { from_s, to_s }, add).or_else(cannot_run)?;
    let mut rows: Vec<GateUsageRow> =
        sums.iter().map(|((key, route), sum)| row(*key, route, sum)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.forwarded + refused(row)));
    let owners = owners(&store, &rows).or_else(|error| cannot_run(error.to_string()))?;
    for row in &mut rows {
        row.owner = owners.get(&row.key).cloned().unwrap_or_default();
    }
    let document = GateUsage { schema: USAGE_SCHEMA.into(), from_s, to_s, rows };
    let text = match args.format {
        GateFormat::Json => output::json(&document) + "\n",
        GateFormat::Text if document.rows.is_empty() => {
            let why = nothing(path, &store).or_else(|error| cannot_run(error.to_string()))?;
            paragraph(&why, "", output::style())
        }
        GateFormat::Text => shown(&document, output::style()),
    };
    Ok(if output::print(&text) { 0 } else { 1 })
}

/// Why a store has no usage of this time. `keys add` makes a store too, before any gateway was started with it.
fn nothing(path: &Path, store: &Store) -> Result<String, StoreError> {
    Ok(match (store.tiers()?, store.usage_place()?) {
        (None, _) => {
            format!("{}: no gateway has run with this store; --store names another", path.display())
        }
        (Some(_), Some(place)) => {
            let place = plain(&place, PLACE);
            format!("the gateway of this store reports its usage to {place}, and not to the store")
        }
        (Some(_), None) => format!("no request was counted in this time; {LAGS}"),
    })
}

fn owners(store: &Store, rows: &[GateUsageRow]) -> Result<BTreeMap<u64, String>, StoreError> {
    let mut owners = BTreeMap::new();
    for row in rows.iter().filter(|row| row.key > 0) {
        let owner = store.owner(row.key)?;
        owners.extend(owner.map(|owner| (row.key, owner)));
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
        p50_ns: sum.latency.interpolated(0.5),
        p99_ns: sum.latency.interpolated(0.99),
    }
}

fn refused(row: &GateUsageRow) -> u64 {
    row.refused.values().sum()
}

fn shown(document: &GateUsage, style: Style) -> String {
    let leans = [Lean::Right, Lean::Left, Lean::Left].into_iter().chain([Lean::Right; 5]);
    let mut grid = Grid::new(leans).spare(&[FAILED, P50]);
    grid.row(["key", "owner", "route", "forwarded", "refused", "failed", "p50", "p99"]);
    let or = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    for row in document.rows.iter().take(ROWS) {
        let time = |nanos| if row.forwarded > 0 { show_duration(nanos) } else { "-".to_owned() };
        grid.row([
            if row.key == 0 { "none".to_owned() } else { row.key.to_string() },
            or(plain(&row.owner, NAME)),
            or(plain(&row.route, NAME)),
            grouped(row.forwarded),
            grouped(refused(row)),
            grouped(row.upstream_failed),
            time(row.p50_ns),
            time(row.p99_ns),
        ]);
    }
    let mut text = grid.print_headed(style);
    if document.rows.len() > ROWS {
        let more = counted((document.rows.len() - ROWS) as u64, "more row");
        text += &format!("{more}: --format json has all\n");
    }
    let mut why: BTreeMap<&str, u64> = BTreeMap::new();
    for (problem, n) in document.rows.iter().flat_map(|row| &row.refused) {
        *why.entry(problem).or_default() += n;
    }
    if !why.is_empty() {
        let each = |(problem, n): (&&str, &u64)| format!("{problem} {}", grouped(*n));
        let parts: Vec<String> = why.iter().map(each).collect();
        text += &paragraph(&format!("refused: {}", parts.join(", ")), "", style);
    }
    text += &paragraph(LAGS, "", style);
    text
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn unwrapped(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn usage_fits_the_terminal() {
        let row = GateUsageRow {
            key: 1_234_567,
            owner: "日本語の名前です。長い".into(),
            route: "catalogue-of-everything".into(),
            forwarded: 123_456_789,
            refused: PROBLEMS.iter().map(|problem| (problem.code().to_owned(), 123_456)).collect(),
            statuses: BTreeMap::new(),
            upstream_failed: 123_456,
            bytes_in: 0,
            bytes_out: 0,
            mean_ns: 1_234_567,
            p50_ns: 1_234_567,
            p99_ns: 123_456_789,
        };
        let document =
            GateUsage { schema: USAGE_SCHEMA.into(), from_s: 0, to_s: 1, rows: vec![row; 3] };
        for columns in [60, 80] {
            let text = shown(&document, Style { columns, ..Style::default() });
            assert!(text.lines().all(|line| line.width() <= columns), "{text}");
            assert!(text.contains("123,456,789") && text.contains("123ms"), "{text}");
            assert!(unwrapped(&text).contains("key_missing 370,368"), "{text}");
        }
    }
}
