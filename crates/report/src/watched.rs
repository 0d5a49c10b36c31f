//! What was watched beside several results, side by side: a table for each source, a row for each figure that is drawn.

use model::Observed;
use model::observed::{Series, Unit};
use model::units::Nanos;

use unicode_width::UnicodeWidthStr;

use crate::figure::clean;
use crate::grid::Grid;
use crate::text::{Style, Tone};
use crate::watch::shown;

/// Sources shown at most.
const MOST_SOURCES: usize = 32;

/// What was watched beside one result.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// The result's name.
    pub name: String,
    /// What was watched.
    pub observed: Observed,
    /// The measured window, since the run's start.
    pub window: (Nanos, Nanos),
}

/// The tables, each figure as its mean over the window and the most that it was; empty where no source was watched
/// beside two results.
pub fn side_by_side(results: &[Beside], style: Style) -> String {
    let mut out = String::new();
    let mut sources: Vec<&str> = Vec::new();
    for source in results.iter().flat_map(|result| &result.observed.sources) {
        if !sources.contains(&source.name.as_str()) && sources.len() < MOST_SOURCES {
            sources.push(&source.name);
        }
    }
    for source in sources {
        let of = |result: &Beside| result.observed.sources.iter().any(|found| found.name == source);
        if results.iter().filter(|result| of(result)).count() < 2 {
            continue;
        }
        let mut grid = table(results, source, true);
        if grid.lines().any(|line| line.width() > style.columns) {
            grid = table(results, source, false);
        }
        if !grid.is_empty() {
            out += &format!("\n{}\n{grid}", style.paint(Tone::Strong, &clean(source, 60)));
        }
    }
    out
}

/// The table of one source, with the most that each figure was if asked for; empty where nothing of it was ever above
/// zero.
fn table(results: &[Beside], source: &str, with_most: bool) -> String {
    let series = |result: &Beside| -> Vec<Series> {
        let found = result.observed.sources.iter().find(|found| found.name == source);
        found.map(|found| found.series.clone()).unwrap_or_default()
    };
    let all: Vec<Vec<Series>> = results.iter().map(series).collect();
    let mut names: Vec<(&str, Unit)> = Vec::new();
    for one in all.iter().flatten() {
        if !names.iter().any(|(name, _)| *name == one.name) {
            names.push((&one.name, one.unit));
        }
    }
    let mut grid = Grid::named(results.len());
    let name = if with_most { 30 } else { 12 };
    grid.row(
        [String::new()].into_iter().chain(results.iter().map(|result| clean(&result.name, name))),
    );
    let mut rows = 0;
    for (name, unit) in names {
        let of = |(result, series): (&Beside, &Vec<Series>)| {
            let found = series.iter().find(|one| one.name == name)?;
            mean_and_most(found, result.window)
        };
        let values: Vec<Option<(f64, f64)>> = results.iter().zip(&all).map(of).collect();
        if values.iter().all(|value| value.is_none_or(|(_, most)| most == 0.0)) {
            continue;
        }
        let cell = |value: &Option<(f64, f64)>| match value {
            Some((mean, _)) if !with_most => shown(unit, *mean),
            Some((mean, most)) => format!("{} (max {})", shown(unit, *mean), shown(unit, *most)),
            None => "-".to_owned(),
        };
        grid.row([format!("  {name}")].into_iter().chain(values.iter().map(cell)));
        rows += 1;
    }
    if rows == 0 { String::new() } else { grid.print() }
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
    use model::observed::ObservedSource;
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
            ..ObservedSource::default()
        };
        let observed = Observed { sources: vec![source] };
        Beside { name: name.into(), observed, window: (2 * SECOND, 4 * SECOND) }
    }

    #[test]
    fn figures_of_the_window_side_by_side() {
        let results = [
            beside("old", "app", &[0.9, 0.5, 0.7, 0.6]),
            beside("new", "app", &[0.1, 0.2, 0.3, 0.4]),
        ];
        let table = side_by_side(&results, Style { columns: 80, ..Style::default() });
        let wanted = "\napp\n                   old              new\n  CPU  60 % (max 70 %)  30 % (max 40 %)\n";
        assert_eq!(table, wanted);
        let narrow = side_by_side(&results, Style { columns: 30, ..Style::default() });
        assert_eq!(narrow, "\napp\n        old   new\n  CPU  60 %  30 %\n");
        let apart = [beside("old", "one", &[0.5; 4]), beside("new", "two", &[0.5; 4])];
        assert_eq!(side_by_side(&apart, Style::default()), "");
    }
}
