//! An audit for people: each file's rows with what is in flight, then what was found, then files of
//! the same load side by side. As CSV and JSON in `data`.
//!
//! Owns words and layout. What is impossible or doubtful is `verdict`'s and printed as found.

mod data;
mod side;

use model::claim::{Claim, LoopKind};
use model::units::{MILLISECOND, Nanos, show_duration};
use verdict::audit::{Audit, Audited, Finding, Severity};
use verdict::figures::counted;

pub use data::{Document, csv, document};

use crate::figure::{clean, level, rate, seconds, share, wrap};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone, paragraph};

/// Rows whose evidence is printed one by one, for each code.
const SHOWN: usize = 30;
/// Longest a file's name or a target is shown.
const NAME: usize = 70;
/// Longest a sentence may be.
const LONGEST: usize = 1000;

/// Everything an audit has to say.
pub fn text(audit: &Audit, style: Style) -> String {
    let mut parts: Vec<String> = audit.files.iter().map(|file| of_file(file, style)).collect();
    parts.extend(audit.groups.iter().map(|group| side::group(audit, group, style)));
    parts.push(conclusion(audit, style));
    parts.join("\n")
}

fn of_file(file: &Audited, style: Style) -> String {
    let rows = &file.claims.rows;
    let mut head = format!("{}: {}", clean(&file.name, NAME), file.claims.tool.name());
    if let Some(first) = rows.first() {
        let other = rows.iter().find(|row| row.loop_kind != first.loop_kind);
        head += &format!(", {}", first.loop_kind.name());
        head += &other.map_or_else(String::new, |row| format!(" and {}", row.loop_kind.name()));
        let same = rows.iter().all(|row| row.target == first.target);
        if let Some(target) = first.target.as_ref().filter(|_| same) {
            head += &format!(", {}", clean(target, NAME));
        }
    }
    let head = wrap(&head, style.columns).join("\n");
    let mut out = style.paint(Tone::Strong, &head) + "\n" + &table(file, style) + "\n";
    for code in codes(file) {
        out += &finding(file, code, style);
    }
    let (latency, success) = (file.claims.tool.latency(), &file.claims.success_means);
    out += &indented(&format!("Latencies: {latency}."), 2, style);
    out + &indented(&format!("Success: {}.", clean(success, LONGEST)), 2, style)
}

fn table(file: &Audited, style: Style) -> String {
    let mut grid = Grid::new(std::iter::repeat_n(Lean::Right, 6).chain([Lean::Left]));
    grid.row(["load", "QPS", "mean", "in flight", "ratio", "success", ""]);
    for (at, row) in file.claims.rows.iter().enumerate() {
        // Only what matters is marked in the table; notes are printed below it.
        let marked = file.worst_of(at).filter(|worst| *worst >= Severity::Doubtful);
        let mark = marked.map_or("", Severity::name).to_owned();
        grid.row(cells(row).into_iter().chain([mark]));
    }
    let mut lines = grid.rows(style.columns).into_iter();
    let mut out = style.paint(Tone::Strong, &lines.next().unwrap_or_default()) + "\n";
    for (at, line) in lines.enumerate() {
        out += &match file.worst_of(at) {
            Some(Severity::Impossible) => style.paint(Tone::Bad, &line),
            Some(Severity::Doubtful) => style.paint(Tone::Doubtful, &line),
            _ => line,
        };
        out.push('\n');
    }
    out
}

fn missing() -> String {
    "-".to_owned()
}

/// Load, QPS, mean, in flight, ratio, success.
fn cells(row: &Claim) -> [String; 6] {
    let decimals = |n: f64| if n < 10.0 { format!("{n:.2}") } else { level(n.round()) };
    let ratio =
        below(row).zip(row.in_flight_cap()).map(|(_, cap)| format!("<{:.2}", most(row) / cap));
    [
        load(row),
        rate(row.qps),
        mean(row),
        in_flight(row, decimals),
        ratio.or_else(|| row.ratio().map(|ratio| format!("{ratio:.2}"))).unwrap_or_else(missing),
        row.success.map_or_else(missing, share),
    ]
}

/// What the mean is below, where it was printed as 0: the digits that it was printed with leave no more.
fn below(row: &Claim) -> Option<Nanos> {
    (row.mean_ns == Some(0) && row.error_ns > 0).then_some(row.error_ns)
}

/// Requests in flight at most, of a row whose mean was printed as 0.
fn most(row: &Claim) -> f64 {
    row.qps * seconds(row.error_ns)
}

fn mean(row: &Claim) -> String {
    match below(row) {
        Some(ns) if ns >= MILLISECOND / 10 => format!("<{:.1}ms", ns as f64 / MILLISECOND as f64),
        Some(ns) => format!("<{}", show_duration(ns)),
        None => row.mean_ns.map_or_else(missing, show_duration),
    }
}

fn in_flight(row: &Claim, shown: impl Fn(f64) -> String) -> String {
    match below(row) {
        Some(_) => format!("<{}", shown(most(row))),
        None => row.in_flight().map_or_else(missing, shown),
    }
}

/// The level of a row: connections, users or a rate.
fn load(row: &Claim) -> String {
    match (row.connections, row.rate_per_s) {
        (_, Some(rate_per_s)) => format!("{}/s", rate(rate_per_s)),
        (Some(n), None) if row.loop_kind == LoopKind::Users => counted(n, "user"),
        (Some(n), None) => level(n),
        (None, None) => missing(),
    }
}

/// The codes found in a file, worst first, each once.
fn codes(file: &Audited) -> Vec<&'static str> {
    let mut all: Vec<&Finding> = file.findings.iter().flatten().collect();
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut codes: Vec<&str> = Vec::new();
    for finding in all {
        if !codes.contains(&finding.code) {
            codes.push(finding.code);
        }
    }
    codes
}

/// One code: its evidence row by row, the likely cause, and what to do.
fn finding(file: &Audited, code: &str, style: Style) -> String {
    let mut found: Vec<(usize, &Finding)> = Vec::new();
    for (at, all) in file.findings.iter().enumerate() {
        found.extend(all.iter().filter(|finding| finding.code == code).map(|f| (at, f)));
    }
    let Some(worst) = found.iter().map(|(_, finding)| finding.severity).max() else {
        return String::new();
    };
    let (all, alone) = (file.claims.rows.len(), file.claims.rows.len() == 1);
    let count = if alone { String::new() } else { format!(": {} of {all} rows", found.len()) };
    let tone = if worst == Severity::Impossible { Tone::Bad } else { Tone::Strong };
    let mut out = format!("  {}{count}\n", style.paint(tone, &format!("{}, {code}", worst.name())));
    for (at, finding) in found.iter().take(SHOWN) {
        let row = if alone { String::new() } else { format!("{}: ", name(file, *at)) };
        out += &indented(&format!("{row}{}", finding.evidence), 4, style);
    }
    if found.len() > SHOWN {
        let more = counted((found.len() - SHOWN) as f64, "more row");
        out += &format!("    and {more}; --format json has all\n");
    }
    let first = found[0].1;
    if let Some(cause) = &first.cause {
        out += &indented(&format!("Likely cause: {cause}."), 4, style);
    }
    out + &indented(first.advice, 4, style)
}

/// A row's name: its load, or its place.
fn name(file: &Audited, at: usize) -> String {
    let row = &file.claims.rows[at];
    let named = row.connections.is_some() || row.rate_per_s.is_some();
    if named { load(row) } else { format!("row {}", at + 1) }
}

/// A text in lines that fit, moved in.
fn indented(text: &str, by: usize, style: Style) -> String {
    paragraph(&clean(text, LONGEST), &" ".repeat(by), style)
}

fn conclusion(audit: &Audit, style: Style) -> String {
    let rows = audit.files.iter().flat_map(|file| &file.findings);
    let worst: Vec<Option<Severity>> =
        rows.map(|found| found.first().map(|finding| finding.severity)).collect();
    let of = |severity| worst.iter().filter(|found| **found == Some(severity)).count();
    let (impossible, doubtful) = (of(Severity::Impossible), of(Severity::Doubtful));
    let rows = counted(worst.len() as f64, "row");
    let mut words = format!("{rows} judged: {impossible} impossible, {doubtful} doubtful.");
    if impossible + doubtful == 0 {
        words += " A figure can be possible and still be wrong.";
    }
    let tone = if impossible > 0 { Tone::Bad } else { Tone::Strong };
    let lines = wrap(&words, style.columns);
    lines.iter().map(|line| style.paint(tone, line) + "\n").collect()
}

#[cfg(test)]
mod tests;
