//! Curves side by side, as `verdict` joined them: each measured against the first.

use unicode_width::UnicodeWidthStr;
use verdict::Diff;
use verdict::diff::DiffRow;
use verdict::figures::times;

use super::{column, field_names, fields, notes, paragraph};
use crate::csv::{cell, csv};
use crate::figure::{clean, distinct_names, level, measured, rate, share};
use crate::grid::{Grid, Lean};
use crate::text::{Style, Tone};

/// Longest a curve's name is shown.
const NAME: usize = 24;

/// QPS, mean and success of every level with the ratio of QPS to the first curve's, a table for the first and each of
/// the other curves; then best against best, and what speaks against comparing.
pub fn diff(diff: &Diff, style: Style) -> String {
    let others = 1..diff.names.len();
    let mut parts: Vec<String> = others.clone().map(|at| pair(diff, at, style)).collect();
    let best: String = others
        .filter_map(|at| diff.best_sentence(at))
        .map(|text| paragraph(&text, "", style))
        .collect();
    parts.extend(Some(best).filter(|best| !best.is_empty()));
    if !diff.notes.is_empty() {
        parts.push(notes(&diff.notes, style));
    }
    parts.join("\n")
}

/// The first curve and another.
fn pair(diff: &Diff, other: usize, style: Style) -> String {
    // Of a narrow table, success is left out where all of it is 100 %, and the means where not.
    let whole = |row: &DiffRow| {
        let cells = [0, other].map(|of| row.cells[of].as_ref());
        cells.into_iter().flatten().all(|cell| cell.success.is_none_or(|success| success >= 1.0))
    };
    let spare = if diff.rows.iter().all(whole) { [3, 7] } else { [2, 6] };
    let mut grid = Grid::new(std::iter::repeat_n(Lean::Right, 8)).spare(&spare);
    grid.row([diff.kind.name(), "QPS", "mean", "success", "QPS", "ratio", "mean", "success"]);
    for row in diff.rows.iter().filter(|row| row.cells[0].is_some() || row.cells[other].is_some()) {
        let [qps, mean, success] = figures(row, other);
        let ratio = row.qps_ratio(other).map_or_else(|| "-".to_owned(), times);
        let other = [qps, ratio, mean, success];
        grid.row([level(row.level)].into_iter().chain(figures(row, 0)).chain(other));
    }
    let head = grid.rows(style.columns).into_iter().next().unwrap_or_default();
    names([&diff.names[0], &diff.names[other]], &head, style) + &grid.print_headed(style)
}

/// A curve's figures at a level as text: QPS, mean, success.
pub(crate) fn figures(row: &DiffRow, of: usize) -> [String; 3] {
    let missing = || "-".to_owned();
    let cell = row.cells.get(of).and_then(Option::as_ref);
    [
        cell.map_or_else(missing, |cell| rate(cell.qps)),
        cell.map_or_else(missing, |cell| measured(cell.mean_ns)),
        cell.and_then(|cell| cell.success).map_or_else(missing, share),
    ]
}

/// The line above the header: each curve's name over its first column.
fn names(names: [&str; 2], head: &str, style: Style) -> String {
    let mut line = String::new();
    let starts: Vec<usize> =
        head.match_indices("QPS").map(|(at, _)| at.saturating_sub(4)).collect();
    // Each has the room up to the next, or to the end of the line.
    let ends = starts.iter().skip(1).map(|end| end - 1).chain([style.columns]);
    let room = starts.iter().zip(ends).map(|(start, end)| end.saturating_sub(*start)).min();
    let most = room.unwrap_or(NAME).min(NAME);
    for (start, name) in starts.into_iter().zip(distinct_names(names, most)) {
        let used = line.width();
        line.push_str(&" ".repeat(start.saturating_sub(used)));
        line.push_str(&name);
    }
    style.paint(Tone::Strong, &line) + "\n"
}

/// The comparison as CSV: for every curve its figures and the ratios of QPS and mean to the first's.
pub fn diff_csv(diff: &Diff) -> String {
    let figures = || field_names().into_iter().chain(["qps_ratio", "mean_ratio"]);
    let mut header = vec![column(diff.kind).to_owned()];
    for name in &diff.names {
        let name = clean(name, 64);
        header.extend(figures().map(|figure| format!("{name} {figure}")));
    }
    let row = |row: &DiffRow| {
        let mut cells = vec![row.level.to_string()];
        for of in 0..diff.names.len() {
            let nothing = || vec![String::new(); field_names().len()];
            cells.extend(row.cells[of].as_ref().map_or_else(nothing, fields));
            cells.extend([row.qps_ratio(of), row.mean_ratio(of)].map(cell));
        }
        cells
    };
    csv(std::iter::once(header).chain(diff.rows.iter().map(row)))
}

#[cfg(test)]
mod tests {
    use model::curve::Curve;

    use super::*;
    use crate::sample;
    use crate::text::COLUMNS;

    fn joined(curves: &[(&str, f64, &[u32])]) -> Diff {
        let curve = |&(name, capacity, levels): &(&str, f64, &[u32])| {
            Curve::from_sweep(&sample::sweep(name, capacity, levels)).unwrap()
        };
        Diff::of(&curves.iter().map(curve).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn curves_stand_side_by_side() {
        let three = joined(&[
            ("native", 48e3, &[1, 200]),
            ("before", 14e3, &[1, 200]),
            ("after", 41e3, &[200, 500]),
        ]);
        insta::assert_snapshot!("abreast", diff(&three, Style::default()));
        assert!(diff(&three, Style { colour: true, ..Style::default() }).contains('\u{1b}'));
    }

    #[test]
    fn long_and_hostile_names_break_no_line() {
        let hostile = "\u{1b}[2J".repeat(30);
        let mut two = joined(&[(&hostile, 1e3, &[1, 5]), (&hostile, 2e3, &[1, 5])]);
        for cell in two.rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten()) {
            (cell.level, cell.qps) = (cell.level * 1e6, cell.qps * 1e6);
        }
        let text = diff(&two, Style::default());
        assert!(!text.contains('\u{1b}'));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
    }

    #[test]
    fn csv_has_as_many_fields_in_every_row() {
        let csv = diff_csv(&joined(&[("=a", 2e4, &[5, 9]), ("b", 1e4, &[1, 5])]));
        let lines: Vec<_> = csv.split_terminator("\r\n").collect();
        assert!(lines[0].starts_with("concurrency,'=a requests_per_s,"), "{csv}");
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.split(',').count() == 17), "{csv}");
    }
}
