//! What was watched beside several results, side by side: a table for each source, a row for each figure; as text here, in
//! the page of `html::diff`.

use model::Observed;
use model::observed::{ObservedSource, Series, Unit};
use model::units::Nanos;

use unicode_width::UnicodeWidthStr;

use crate::figure::{bytes, clean};
use crate::grid::Grid;
use crate::text::{Style, Tone};
use crate::watch::shown;

/// Sources shown at most.
const MOST_SOURCES: usize = 32;

/// How a figure is written.
type Show = fn(f64) -> String;

/// Figures that are no series, with what they are called.
const FIGURES: [(&str, Show, &str); 2] = [
    ("load", |load| format!("{load:.2}"), "load.1m"),
    ("resident memory", bytes, "process.resident_bytes"),
];

/// What was watched beside one result.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// The result's name.
    pub name: String,
    /// The level that it was watched at.
    pub level: f64,
    /// What was watched.
    pub observed: Observed,
    /// The measured window, since the run's start.
    pub window: (Nanos, Nanos),
}

impl Beside {
    fn source(&self, name: &str) -> Option<&ObservedSource> {
        self.observed.sources.iter().find(|source| source.name == name)
    }
}

/// One source beside several results.
#[derive(Debug)]
pub(crate) struct Watched<'a> {
    /// Its name.
    pub source: &'a str,
    /// Its figures.
    pub rows: Vec<Row<'a>>,
}

/// A figure beside each result.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Mean and most of each.
    values: Vec<Option<[String; 2]>>,
}

impl<'a> Row<'a> {
    /// A figure of these means and maxima; nothing where it was never above zero.
    fn of(
        name: &'a str,
        show: impl Fn(f64) -> String,
        values: impl Iterator<Item = Option<(f64, f64)>>,
    ) -> Option<Self> {
        let values: Vec<Option<(f64, f64)>> = values.collect();
        let above_zero = values.iter().flatten().any(|(_, most)| *most != 0.0);
        let shown = |(mean, most)| [show(mean), show(most)];
        let values = values.into_iter().map(|value| value.map(shown)).collect();
        above_zero.then_some(Self { name, values })
    }

    /// The figure beside each result: its mean, and the most that it was if asked for.
    pub fn cells(&self, with_most: bool) -> impl Iterator<Item = String> {
        self.values.iter().map(move |value| match value {
            Some([mean, _]) if !with_most => mean.clone(),
            Some([mean, most]) => format!("{mean} (max {most})"),
            None => "-".to_owned(),
        })
    }
}

/// Every source that was watched beside two results or more, with each of its figures that was ever above zero, over the
/// measured windows.
pub(crate) fn tables(results: &[Beside]) -> Vec<Watched<'_>> {
    let mut sources: Vec<&str> = Vec::new();
    for source in results.iter().flat_map(|result| &result.observed.sources) {
        if !sources.contains(&source.name.as_str()) && sources.len() < MOST_SOURCES {
            sources.push(&source.name);
        }
    }
    let beside = |source: &&str| {
        results.iter().filter(|result| result.source(source).is_some()).count() >= 2
    };
    let tables = sources
        .into_iter()
        .filter(beside)
        .map(|source| Watched { source, rows: rows(results, source) });
    tables.filter(|table| !table.rows.is_empty()).collect()
}

fn rows<'a>(results: &'a [Beside], source: &str) -> Vec<Row<'a>> {
    let all: Vec<Option<&ObservedSource>> =
        results.iter().map(|result| result.source(source)).collect();
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for one in all.iter().flatten().flat_map(|source| &source.series) {
        if !names.iter().any(|(name, _)| *name == one.name) {
            names.push((&one.name, one.unit));
        }
    }
    let series = names.into_iter().filter_map(|(name, unit)| {
        let of = |(result, source): (&Beside, &Option<&ObservedSource>)| {
            let found = source.as_ref()?.series.iter().find(|one| one.name == name)?;
            mean_and_most(found, result.window)
        };
        Row::of(name, |value| shown(unit, value), results.iter().zip(&all).map(of))
    });
    let figures = FIGURES.into_iter().filter_map(|(name, show, figure)| {
        let of = |source: &Option<&ObservedSource>| {
            source.as_ref()?.figure(figure).map(|figure| (figure.mean, figure.max))
        };
        Row::of(name, show, all.iter().map(of))
    });
    series.chain(figures).collect()
}

/// The tables as text, each figure as its mean and the most that it was where the terminal is wide enough.
pub fn side_by_side(results: &[Beside], style: Style) -> String {
    let mut out = String::new();
    for table in tables(results) {
        let mut lines = grid(results, &table, true).rows(usize::MAX);
        if lines.iter().any(|line| line.width() > style.columns) {
            lines = grid(results, &table, false).rows(style.columns);
        }
        let name = clean(table.source, style.columns.min(60));
        let lines: String = lines.into_iter().map(|line| line + "\n").collect();
        out += &format!("\n{}\n{lines}", style.paint(Tone::Strong, &name));
    }
    out
}

fn grid(results: &[Beside], table: &Watched<'_>, with_most: bool) -> Grid {
    let mut grid = Grid::named(results.len());
    let name = if with_most { 30 } else { 12 };
    let names = results.iter().map(|result| clean(&result.name, name));
    grid.row([String::new()].into_iter().chain(names));
    for row in &table.rows {
        grid.row([format!("  {}", clean(row.name, 40))].into_iter().chain(row.cells(with_most)));
    }
    grid
}

/// Of the values inside a window.
fn mean_and_most(series: &Series, (from_ns, to_ns): (Nanos, Nanos)) -> Option<(f64, f64)> {
    let inside = |(at, value): (&Nanos, &f64)| (from_ns..=to_ns).contains(at).then_some(*value);
    let values: Vec<f64> = series.at_ns.iter().zip(&series.values).filter_map(inside).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let most = values.into_iter().reduce(f64::max)?;
    Some((mean, most))
}

#[cfg(test)]
mod tests {
    use model::Role;
    use model::observed::Figure;
    use model::units::SECOND;

    use super::*;

    fn beside(name: &str, source: &str, cpu: &[f64]) -> Beside {
        let series = |name: &str, unit, values: &[f64]| Series {
            name: name.into(),
            unit,
            at_ns: (1..=values.len() as u64).map(|second| second * SECOND).collect(),
            values: values.to_vec(),
        };
        let source = ObservedSource {
            name: source.into(),
            role: Role::App,
            series: vec![
                series("CPU", Unit::Ratio, cpu),
                series("listen drops", Unit::PerS, &vec![0.0; cpu.len()]),
            ],
            figures: [("load.1m".into(), Figure { mean: 1.5, max: 2.0, ..Figure::default() })]
                .into(),
            ..ObservedSource::default()
        };
        let observed = Observed { sources: vec![source] };
        Beside { name: name.into(), level: 8.0, observed, window: (2 * SECOND, 4 * SECOND) }
    }

    #[test]
    fn figures_of_the_window_side_by_side() {
        let results = [
            beside("old", "app", &[0.9, 0.5, 0.7, 0.6]),
            beside("new", "app", &[0.1, 0.2, 0.3, 0.4]),
        ];
        let table = side_by_side(&results, Style { columns: 80, ..Style::default() });
        let wanted = "\napp\n                    old              new\n  CPU   60 % (max 70 %)  30 % (max 40 %)\n  load  \
                      1.50 (max 2.00)  1.50 (max 2.00)\n";
        assert_eq!(table, wanted);
        let narrow = side_by_side(&results, Style { columns: 30, ..Style::default() });
        assert_eq!(narrow, "\napp\n         old   new\n  CPU   60 %  30 %\n  load  1.50  1.50\n");
        let hostile = [
            beside("old", &"日".repeat(90), &[0.5; 4]),
            beside("new", &"日".repeat(90), &[0.5; 4]),
        ];
        let hostile = side_by_side(&hostile, Style { columns: 60, ..Style::default() });
        assert!(hostile.lines().all(|line| line.width() <= 60), "{hostile}");
        let apart = [beside("old", "one", &[0.5; 4]), beside("new", "two", &[0.5; 4])];
        assert_eq!(side_by_side(&apart, Style::default()), "");
    }
}
