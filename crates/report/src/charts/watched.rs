//! What was watched beside a run: what the charts of its sources are drawn from.

use model::Run;
use model::observed::{ObservedSource, Series, Unit};

use super::over_time::alarm;
use crate::chart::{Watched, WatchedFigure};
use crate::figure::{clean, seconds};

/// A chart for each source that has something to draw.
pub fn watched(run: &Run) -> Vec<Watched> {
    let Some(observed) = &run.observed else { return Vec::new() };
    let points = run.timeline.iter();
    let end = points.map(|point| point.start_ns.saturating_add(point.duration_ns)).max();
    let from_to_s = (0.0, seconds(end.unwrap_or(run.totals.duration_ns)));
    let drawn = observed.sources.iter().filter(|source| !source.series.is_empty());
    drawn
        .map(|source| Watched {
            title: clean(&source.name, 60),
            subtitle: subtitle(source),
            from_to_s,
            figures: source.series.iter().map(figure).collect(),
            spans: run.dips.iter().map(alarm).collect(),
        })
        .collect()
}

fn subtitle(source: &ObservedSource) -> String {
    format!("{}, read from {}", source.role.name(), clean(&source.read_from, 80))
}

fn figure(series: &Series) -> WatchedFigure {
    let (unit, factor) = match series.unit {
        Unit::Ratio => (" (%)", 100.0),
        Unit::Cores => (" (cores)", 1.0),
        Unit::Bytes => (" (bytes)", 1.0),
        Unit::BytesPerS => (" (bytes/s)", 1.0),
        Unit::PerS => (" (1/s)", 1.0),
        Unit::Count => ("", 1.0),
    };
    let points = series.at_ns.iter().zip(&series.values);
    WatchedFigure {
        heading: format!("{}{unit}", clean(&series.name, 40)),
        points: points.map(|(&at_ns, value)| (seconds(at_ns), value * factor)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use model::observed::Observed;
    use model::units::SECOND;

    use super::*;
    use crate::sample;

    #[test]
    fn each_source_is_a_chart_of_its_figures() {
        let mut run = sample::closed_loop();
        assert!(watched(&run).is_empty());
        let series = Series {
            name: "CPU".into(),
            unit: Unit::Ratio,
            at_ns: vec![SECOND, 2 * SECOND],
            values: vec![0.5, 0.75],
        };
        let source =
            ObservedSource { name: "app".into(), series: vec![series], ..Default::default() };
        run.observed = Some(Observed { sources: vec![source, ObservedSource::default()] });
        let charts = watched(&run);
        assert_eq!(charts.len(), 1);
        assert_eq!(charts[0].figures[0].heading, "CPU (%)");
        assert_eq!(charts[0].figures[0].points, [(1.0, 50.0), (2.0, 75.0)]);
        let svg = charts[0].chart().to_svg(crate::chart::Theme::Inline);
        assert!(svg.contains("CPU (%)") && svg.contains("app"));
    }
}
