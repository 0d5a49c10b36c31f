//! Curves side by side: joined on the level, each measured against the last.

use model::curve::{Curve, CurveRow};
use model::units::show_duration;

use super::{column, fields};
use crate::figure::{clean, level, rate, share};
use crate::grid::{Grid, Lean};
use crate::text::{COLUMNS, Style, Tone};

/// One level over all curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The level.
    pub level: f64,
    /// Each curve's figures there, in the curves' order; absent where it was not measured.
    pub sides: Vec<Option<Side>>,
}

/// One curve at one level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Its figures.
    pub row: CurveRow,
    /// QPS over the last curve's there; absent where that has none.
    pub qps_ratio: Option<f64>,
    /// Mean over the last curve's there; absent where that has none.
    pub mean_ratio: Option<f64>,
}

/// Every level that any of the curves has, ascending.
pub fn join(curves: &[Curve]) -> Vec<Joined> {
    let mut levels: Vec<f64> = curves.iter().flat_map(|c| &c.rows).map(|row| row.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let row = |curve: &Curve, level: f64| curve.rows.iter().find(|r| r.level == level).copied();
    let joined = |level: f64| {
        let base = curves.last().and_then(|curve| row(curve, level));
        let side = |curve: &Curve| row(curve, level).map(|row| Side::of(row, base));
        Joined { level, sides: curves.iter().map(side).collect() }
    };
    levels.into_iter().map(joined).collect()
}

impl Side {
    fn of(row: CurveRow, base: Option<CurveRow>) -> Self {
        let ratio = |ours: f64, theirs: f64| (theirs > 0.0).then(|| ours / theirs);
        Self {
            row,
            qps_ratio: base.and_then(|base| ratio(row.qps, base.qps)),
            mean_ratio: base.and_then(|base| ratio(row.mean_ns as f64, base.mean_ns as f64)),
        }
    }
}

/// Longest a curve's name is shown.
const LONGEST: usize = 24;

/// QPS, mean and success of every level with the ratio of QPS to the last curve's, as text: a table
/// for each curve beside the last.
pub fn diff(curves: &[Curve], style: Style) -> String {
    let joined = join(curves);
    let last = curves.len().saturating_sub(1);
    if last == 0 {
        return print(curves, &(0..curves.len()).collect::<Vec<_>>(), &joined, style);
    }
    let pair = |at: usize| print(curves, &[at, last], &joined, style);
    (0..last).map(pair).collect::<Vec<_>>().join("\n")
}

fn print(curves: &[Curve], shown: &[usize], joined: &[Joined], style: Style) -> String {
    let per = |at: usize| if at + 1 == curves.len() { 3 } else { 4 };
    let columns: usize = shown.iter().map(|&at| per(at)).sum();
    let mut grid = Grid::new(std::iter::repeat_n(Lean::Right, columns + 1));
    let mut header = vec![curves.first().map_or("level", |c| c.kind.name()).to_owned()];
    for &at in shown {
        header.extend(["QPS", "ratio", "mean", "success"].map(String::from));
        if per(at) == 3 {
            header.remove(header.len() - 3);
        }
    }
    grid.row(header);
    for joined in joined.iter().filter(|j| shown.iter().any(|&at| j.sides[at].is_some())) {
        let mut cells = vec![level(joined.level)];
        for &at in shown {
            cells.extend(side(joined.sides[at].as_ref(), per(at) == 4));
        }
        grid.row(cells);
    }
    let table = grid.print();
    let (head, body) = table.split_at(table.find('\n').unwrap_or(0));
    names(curves, shown, head, style) + &style.paint(Tone::Strong, head) + body
}

/// The line above the header: each curve's name over its first column.
fn names(curves: &[Curve], shown: &[usize], head: &str, style: Style) -> String {
    let mut line: Vec<char> = vec![' '; COLUMNS];
    let starts = head.match_indices("QPS").map(|(at, _)| at);
    for (start, &at) in starts.zip(shown) {
        let name = clean(&curves[at].name, LONGEST);
        line.truncate(start.saturating_sub(4));
        line.resize(start.saturating_sub(4), ' ');
        line.extend(name.chars());
        line.resize(COLUMNS.max(line.len()), ' ');
    }
    let line: String = line.into_iter().collect();
    style.paint(Tone::Strong, line.trim_end()) + "\n"
}

fn side(side: Option<&Side>, with_ratio: bool) -> Vec<String> {
    let missing = || "-".to_owned();
    let ratio = |s: &Side| s.qps_ratio.map_or_else(missing, |r| format!("{:.2} %", r * 100.0));
    let mut cells = vec![
        side.map_or_else(missing, |s| rate(s.row.qps)),
        side.map_or_else(missing, ratio),
        side.map_or_else(missing, |s| show_duration(s.row.mean_ns)),
        side.and_then(|s| s.row.success).map_or_else(missing, share),
    ];
    if !with_ratio {
        cells.remove(1);
    }
    cells
}

/// The comparison as CSV: for every curve its figures and the ratios of QPS and mean to the last's.
pub fn diff_csv(curves: &[Curve]) -> String {
    let kind = curves.first().map_or("level", |curve| column(curve.kind));
    let mut out = kind.to_owned();
    for curve in curves {
        for figure in
            ["requests_per_s", "mean_ns", "p50_ns", "p99_ns", "success_ratio", "validity", "qps_ratio", "mean_ratio"]
        {
            out += &format!(",{}", quoted(&format!("{} {figure}", clean(&curve.name, 64))));
        }
    }
    out += "\r\n";
    for joined in join(curves) {
        out += &joined.level.to_string();
        for side in &joined.sides {
            let number = |ratio: Option<f64>| ratio.map_or_else(String::new, |r| r.to_string());
            let figures = side.as_ref().map_or_else(Default::default, |s| fields(&s.row));
            let (qps, mean) = side.as_ref().map_or((None, None), |s| (s.qps_ratio, s.mean_ratio));
            out += &format!(",{},{},{}", figures.join(","), number(qps), number(mean));
        }
        out += "\r\n";
    }
    out
}

/// A header from outside as RFC 4180 wants it, and not as a formula.
fn quoted(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn curve(name: &str, capacity: f64, levels: &[u32]) -> Curve {
        Curve::from_sweep(&sample::sweep(name, capacity, levels)).unwrap()
    }

    #[test]
    fn levels_of_either_side_are_listed() {
        let joined = join(&[curve("a", 1e4, &[1, 5]), curve("b", 2e4, &[5, 9])]);
        let held: Vec<_> =
            joined.iter().map(|j| (j.level, j.sides[0].is_some(), j.sides[1].is_some())).collect();
        assert_eq!(held, [(1.0, true, false), (5.0, true, true), (9.0, false, true)]);
        assert_eq!(joined[0].sides[0].unwrap().qps_ratio, None);
        assert!((joined[1].sides[0].unwrap().qps_ratio.unwrap() - 0.5).abs() < 0.01);
        assert_eq!(joined[1].sides[1].unwrap().qps_ratio, Some(1.0));
    }

    #[test]
    fn curves_stand_side_by_side() {
        let curves =
            [curve("before", 14e3, &[1, 200]), curve("after", 41e3, &[200, 500]), curve("native", 48e3, &[1, 200])];
        insta::assert_snapshot!("abreast", diff(&curves, Style::default()));
        let many: Vec<_> = (0..5).map(|i| curves[i % 3].clone()).collect();
        for text in [diff(&curves, Style::default()), diff(&many, Style::default())] {
            assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        }
        assert_eq!(diff(&many, Style::default()).matches("before").count(), 2);
    }

    #[test]
    fn csv_has_as_many_fields_in_every_row() {
        let csv = diff_csv(&[curve("=a", 1e4, &[1, 5]), curve("b", 2e4, &[5, 9])]);
        let lines: Vec<_> = csv.split_terminator("\r\n").collect();
        assert!(lines[0].starts_with("concurrency,\"'=a requests_per_s\""), "{csv}");
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.split(',').count() == 17), "{csv}");
    }

    #[test]
    fn nothing_to_compare_is_an_empty_table() {
        assert!(join(&[]).is_empty());
        assert_eq!(diff(&[], Style::default()).trim(), "level");
    }
}
