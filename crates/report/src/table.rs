//! Tables of levels: a sweep's closing table, and curves side by side, these as CSV too.
//!
//! Owns layout and the quotients between columns. Which level is the best and what to read from a
//! curve is `verdict`'s and comes in as a [`Reading`].

mod side;

use model::curve::{Curve, CurveRow};
use model::percentile::LevelPercentiles;
use model::sweep::LevelKind;
use model::units::{Nanos, exact_duration, show_duration};
use model::validity::Verdict;

pub(crate) use side::figures;
pub use side::{diff, diff_csv};
use unicode_width::UnicodeWidthStr;
use verdict::Reading;
use verdict::figures::level_of;

use crate::csv::cell;
use crate::figure::{clean, level, measured, rate, share};
use crate::grid::{Grid, Lean};
use crate::text::{self, Style, Tone};

/// The table that ends a sweep: a line a level, then the two levels named and the reading.
pub fn sweep(curve: &Curve, reading: &Reading, objective_mean_ns: Nanos, style: Style) -> String {
    let headers = headers(curve.kind);
    let numbers = std::iter::repeat_n(Lean::Right, headers.len() - 1);
    let mut grid = Grid::new(numbers.chain([Lean::Left, Lean::Left])).spare(&spare(curve));
    grid.row(headers.into_iter().chain([""]));
    for (i, row) in curve.rows.iter().enumerate() {
        grid.row(cells(row).into_iter().chain([named(i, reading)]));
    }
    let mut rows = grid.rows(style.columns).into_iter();
    let mut out = style.paint(Tone::Strong, &rows.next().unwrap_or_default()) + "\n";
    for (lines, row) in rows.zip(&curve.rows) {
        out += &match row.verdict.unwrap_or(Verdict::Valid) {
            Verdict::Valid => lines,
            _ => style.paint(Tone::Soft, &lines),
        };
        out.push('\n');
    }
    out.push('\n');
    out + &conclusion(curve, reading, objective_mean_ns, style)
}

/// What a narrow table leaves out.
fn spare(curve: &Curve) -> Vec<usize> {
    let at = |name: &str| headers(curve.kind).iter().position(|header| *header == name);
    ["p50"].into_iter().filter_map(at).collect()
}

/// The columns of a table of levels.
pub(crate) fn headers(kind: LevelKind) -> Vec<&'static str> {
    let percentiles = LevelPercentiles::default().each().map(|(named, _)| named.name);
    let before = [kind.name(), "QPS", "mean"].into_iter();
    before.chain(percentiles).chain(["success", "validity"]).collect()
}

/// The figures of a level as text, in the order of the table's columns.
pub(crate) fn cells(row: &CurveRow) -> Vec<String> {
    let latency = |nanos: Option<u64>| nanos.map_or_else(missing, measured);
    let mut cells = vec![level(row.level), rate(row.qps), measured(row.mean_ns)];
    cells.extend(row.percentiles.each().map(|(_, nanos)| latency(nanos)));
    cells.push(row.success.map_or_else(missing, share));
    let cut = if row.cut_short { ", cut short" } else { "" };
    cells.push(row.verdict.map_or_else(missing, |verdict| format!("{}{cut}", verdict.name())));
    cells
}

fn missing() -> String {
    "-".to_owned()
}

/// What a level is known for.
pub(crate) fn named(row: usize, reading: &Reading) -> String {
    match (reading.best == Some(row), reading.best_within == Some(row)) {
        (true, true) => "◀ highest QPS, within the objective".to_owned(),
        (true, false) => "◀ highest QPS".to_owned(),
        (false, true) => "◀ highest QPS within the objective".to_owned(),
        (false, false) => String::new(),
    }
}

fn conclusion(curve: &Curve, reading: &Reading, objective_mean_ns: Nanos, style: Style) -> String {
    let mut out = String::new();
    let row = |at: Option<usize>| at.and_then(|at| curve.rows.get(at));
    let within = format!("Highest QPS, mean <= {}:", exact_duration(objective_mean_ns));
    for (name, found) in
        [("Highest QPS:", row(reading.best)), (within.as_str(), row(reading.best_within))]
    {
        let words = found.map_or_else(|| "no level".to_owned(), |row| words(curve.kind, row));
        let pad = " ".repeat(within.width() - name.width());
        let lines = text::paragraph(&words, &format!("{name}{pad} "), style);
        out += &lines.replacen(name, &style.paint(Tone::Strong, name), 1);
    }
    out.push('\n');
    let scaling = reading.scaling_words(curve.kind);
    let scaling: String =
        scaling.iter().map(|text| format!("\n{}", paragraph(text, "", style))).collect();
    out + &paragraph(&reading.sentence, "", style) + &notes(&reading.notes, style) + &scaling
}

/// What else must be known, each under a dash.
fn notes(notes: &[String], style: Style) -> String {
    notes.iter().map(|note| paragraph(note, "- ", style)).collect()
}

fn paragraph(text: &str, mark: &str, style: Style) -> String {
    text::paragraph(&clean(text, LONGEST), mark, style)
}

/// Longest a sentence may be.
const LONGEST: usize = 2000;

/// A level in words: `648,381/s at 25,000 connections, mean 344ms`.
fn words(kind: LevelKind, row: &CurveRow) -> String {
    let (least, most) = match (row.verdict, kind) {
        (Some(Verdict::LowerBound), LevelKind::Concurrency) => ("at least ", "at most "),
        (Some(Verdict::LowerBound), LevelKind::Rate) => ("at least ", ""),
        _ => ("", ""),
    };
    let (qps, mean) = (rate(row.qps), show_duration(row.mean_ns));
    format!("{least}{qps}/s at {}, mean {most}{mean}", level_of(kind, row.level))
}

/// The name of the level's column in CSV.
pub(crate) const fn column(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Concurrency => "concurrency",
        LevelKind::Rate => "rate_per_s",
    }
}

/// The names of a row's [`fields`].
fn field_names() -> Vec<&'static str> {
    let percentiles = LevelPercentiles::default().each().map(|(named, _)| named.key);
    let before = ["requests_per_s", "mean_ns"].into_iter();
    before.chain(percentiles).chain(["success_ratio", "validity"]).collect()
}

/// A level's figures in full; what is not known is empty.
fn fields(row: &CurveRow) -> Vec<String> {
    // No request takes 0 ns: there was no response.
    let time = |nanos: Option<Nanos>| cell(nanos.filter(|nanos| *nanos > 0));
    let mut fields = vec![row.qps.to_string(), time(Some(row.mean_ns))];
    let percentiles = row.percentiles.each();
    fields.extend(percentiles.map(|(_, nanos)| time(nanos)));
    fields.push(cell(row.success));
    fields.push(row.verdict.map_or("", Verdict::name).to_owned());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn swept() -> Curve {
        Curve::from_sweep(&sample::sweep("api", 50_000.0, &[1, 100, 1_000, 30_000])).unwrap()
    }

    const OBJECTIVE: Nanos = 500_000_000;

    fn closing(curve: &Curve, style: Style) -> String {
        sweep(curve, &verdict::curve::read(curve, OBJECTIVE), OBJECTIVE, style)
    }

    #[test]
    fn a_sweep_closes_with_its_table() {
        insta::assert_snapshot!(closing(&swept(), Style::default()));
    }

    #[test]
    fn no_level_within_the_objective_says_so() {
        let mut slow = swept();
        slow.rows.iter_mut().for_each(|row| row.mean_ns *= 1_000);
        let text = closing(&slow, Style { colour: true, ..Style::default() });
        assert!(text.contains("no level") && text.contains('\u{1b}'), "{text}");
        assert!(!closing(&slow, Style::default()).contains('\u{1b}'));
    }
}
