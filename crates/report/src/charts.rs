//! From results to charts: what of a run or curve is drawn, in the charts' own units (seconds).
//!
//! Does not judge: which levels are the best comes in as a [`Reading`] of `verdict`'s. The charts go to files
//! (SVG, PNG) and into the page of `html`.

mod over_time;
mod source;
mod watched;

pub use over_time::{heat, timeline};
pub use source::{of_comparison, of_curves, of_search, of_sweep};
pub use watched::watched;

use model::Usl;
use model::capacity::{CapacitySearch, Margin, Outcome, Purpose, SearchStep, Unit};
use model::curve::{Curve, CurveRow};
use model::histogram::Latencies;
use model::percentile::Summary;
use model::run::Run;
use model::sweep::{LevelKind, Sweep};
use model::units::Nanos;
use verdict::Reading;

use crate::chart::{self, CurveLevel, CurveSeries, LevelMark, Overlay, SpectrumSeries};
use crate::figure::{level, seconds};
use crate::hgrm;
use crate::latencies::response_is_service;

/// QPS and latency over the levels, with the two levels named and the objective on the mean.
pub fn curve(curve: &Curve, reading: &Reading, objective_mean_ns: Nanos) -> chart::Curve {
    let knee = reading.knee.iter();
    chart::Curve {
        title: curve.name.clone(),
        kind: curve.kind,
        levels: levels(curve),
        best: reading.best,
        best_within: reading.best_within,
        objective_s: Some(seconds(objective_mean_ns)),
        overlays: reading.usl.iter().map(law).collect(),
        marks: knee.map(|k| LevelMark { level: k.level, label: "knee".to_owned() }).collect(),
    }
}

fn levels(curve: &Curve) -> Vec<CurveLevel> {
    let figures = |row: &CurveRow| CurveLevel {
        level: row.level,
        requests_per_s: row.qps,
        // No request takes 0 ns: there was no response.
        mean_s: if row.mean_ns > 0 { seconds(row.mean_ns) } else { f64::NAN },
        p99_s: row.percentiles.p99_ns.filter(|p99| *p99 > 0).map(seconds),
        success_ratio: row.success,
        validity: row.verdict.unwrap_or_default(),
        cut_short: row.cut_short,
    };
    curve.rows.iter().map(figures).collect()
}

/// A fitted law over the levels it was fitted to, and no further.
fn law(usl: &Usl) -> Overlay {
    const STEPS: u32 = 64;
    let (from, to) = (usl.from_level.ln(), usl.to_level.ln());
    let level = |step: u32| (from + (to - from) * f64::from(step) / f64::from(STEPS)).exp();
    let points = (0..=STEPS).map(level).map(|level| (level, usl.at(level)));
    Overlay { name: "scalability law".to_owned(), points: points.collect() }
}

/// Success rate over the levels of one curve or several.
pub fn success(title: &str, curves: &[Curve]) -> chart::SuccessRate {
    let series = |curve: &Curve| CurveSeries {
        name: if curves.len() > 1 { curve.name.clone() } else { String::new() },
        levels: levels(curve),
    };
    chart::SuccessRate {
        title: title.to_owned(),
        kind: curves.first().map(|curve| curve.kind).unwrap_or_default(),
        series: curves.iter().map(series).collect(),
    }
}

/// Several curves over the same levels.
pub fn diff(title: &str, curves: &[Curve]) -> chart::Diff {
    let series = |curve: &Curve| CurveSeries { name: curve.name.clone(), levels: levels(curve) };
    chart::Diff {
        title: title.to_owned(),
        kind: curves.first().map(|curve| curve.kind).unwrap_or_default(),
        series: curves.iter().map(series).collect(),
    }
}

/// Response against service time by percentile; one line where they are the same. A damaged
/// histogram counts as absent.
pub fn spectrum(run: &Run) -> chart::Spectrum {
    let service = ("service", &run.service_ns);
    let response = ("response", &run.response_ns);
    let both = [response, service];
    let names = if response_is_service(run) { &both[1..] } else { &both[..] };
    let series = names.iter().filter_map(|&(name, summary)| {
        let latencies = run.histogram(name).ok().filter(|l| l.count() > 0)?;
        Some(distribution(name, &latencies, summary))
    });
    chart::Spectrum { title: "Spectrum".to_owned(), series: series.collect() }
}

/// The spectrum of the run of one level, named in its title.
pub(crate) fn spectrum_at(run: &Run, place: &str) -> chart::Spectrum {
    chart::Spectrum { title: format!("Spectrum at {place}"), ..spectrum(run) }
}

/// The response times of some levels of a sweep, by their index, by percentile.
pub(crate) fn spectra(sweep: &Sweep, levels: &[usize]) -> chart::Spectrum {
    let series = levels.iter().filter_map(|&at| {
        let held = sweep.levels.get(at)?;
        let latencies = held.run.histogram("response").ok().filter(|l| l.count() > 0)?;
        let level = match sweep.kind {
            LevelKind::Concurrency => format!("c = {}", level(held.level)),
            LevelKind::Rate => format!("{}/s", level(held.level)),
        };
        Some(distribution(&level, &latencies, &held.run.response_ns))
    });
    chart::Spectrum { title: "Response time by level".to_owned(), series: series.collect() }
}

/// What is drawn of a stored histogram. Its greatest value is only as exact as its buckets, the summary's is exact.
fn distribution(name: &str, latencies: &Latencies<u64>, summary: &Summary) -> SpectrumSeries {
    let rows = hgrm::rows(latencies);
    let max = if summary.count > 0 { summary.max } else { latencies.max() };
    let below = rows.iter().filter(|row| row.share < 1.0);
    SpectrumSeries {
        name: name.to_owned(),
        points: below.map(|row| (row.share * 100.0, seconds(row.nanos.min(max)))).collect(),
        p50_and_p99_s: p50_and_p99_s(summary),
        max_s: Some(seconds(max)),
        count: Some(latencies.count()),
    }
}

/// Median and 99th percentile in seconds; none of no requests.
fn p50_and_p99_s(summary: &Summary) -> Option<(f64, f64)> {
    (summary.count > 0).then(|| (seconds(summary.p50), seconds(summary.p99)))
}

/// What limits a search over its levels, with the interval that the capacity is in: the objective that
/// keeps it from being higher; where none does, the first that is given. Looks at the idle server and
/// probes are left out; so is what was approached from above.
pub fn search(record: &CapacitySearch) -> chart::Chart {
    let line = record.load_line.as_ref();
    let limit = line.and_then(|line| Some(&line.limited_by.as_ref()?.objective));
    let objective = limit.or(record.objectives.first()).cloned().unwrap_or_default();
    let of = |held: &SearchStep| held.judged.margin(&objective).cloned();
    let speaks = |held: &&SearchStep| matches!(held.step.purpose, Purpose::Search | Purpose::Hold);
    let known: Option<Margin> = record.steps.iter().filter(speaks).find_map(of);
    let unit = known.as_ref().map_or(Unit::Count, |margin| margin.unit);
    let scaled = |value: f64| if unit == Unit::Nanoseconds { value / 1e9 } else { value };
    let level = |held: &SearchStep| chart::SearchLevel {
        level: held.step.level,
        value: of(held).filter(|margin| !margin.untried).map(|margin| scaled(margin.value)),
        tried: match held.judged.outcome {
            Outcome::Held => chart::Tried::Held,
            Outcome::Broke => chart::Tried::Broke,
            Outcome::Unclear | Outcome::Generator => chart::Tried::Unknown,
        },
        purpose: held.step.purpose.name().to_owned(),
    };
    let found = verdict::capacity::Search::of_record(record).answer();
    chart::Search {
        title: format!("Capacity of {}", record.url),
        subtitle: first_sentence(record.outcome.as_deref().unwrap_or_default()),
        kind: record.settings.kind,
        objective: objective.clone(),
        measure: unit,
        limit: known.map(|margin| scaled(margin.limit)),
        levels: record.steps.iter().filter(speaks).map(level).collect(),
        capacity: found.as_ref().map(|found| found.level),
        interval: found.and_then(|found| Some((found.low, found.high?))),
    }
    .chart()
}

/// A text up to the end of its first sentence.
fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
}

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;
    use crate::sample;

    #[test]
    fn a_closed_loop_has_one_spectrum_and_an_open_loop_two() {
        let names =
            |run: &Run| spectrum(run).series.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&sample::closed_loop()), ["service"]);
        assert_eq!(names(&sample::open_loop()), ["response", "service"]);
        assert!(names(&sample::hostile()).is_empty());
    }

    #[test]
    fn the_greatest_latency_is_the_one_that_the_text_has() {
        let mut run = sample::closed_loop();
        run.service_ns.max = 123_456_789;
        let service = spectrum(&run).series.pop().expect("a series");
        assert_eq!(service.max_s, Some(0.123_456_789));
    }

    /// The bucket of the greatest latency reaches beyond it.
    #[test]
    fn no_percentile_is_above_the_greatest_latency() {
        let mut run = sample::closed_loop();
        run.service_ns.max -= 1_000;
        let service = spectrum(&run).series.pop().expect("a series");
        let max_s = service.max_s.expect("a greatest");
        assert!(service.points.iter().all(|&(_, y)| y <= max_s), "{service:?}");
    }

    #[test]
    fn a_chart_of_a_search_has_the_first_sentence_of_what_came_out() {
        assert_eq!(first_sentence("208/s, at 1.5 ms. It ended. So."), "208/s, at 1.5 ms.");
        assert_eq!(first_sentence("208/s"), "208/s");
    }

    #[test]
    fn a_step_that_did_not_try_the_objective_has_no_value() {
        let (mut record, _) = sample::search();
        let has_none =
            |record: &CapacitySearch| search(record).table().to_csv().contains("search,11200,,");
        assert!(!has_none(&record));
        let margin = &mut record.steps[1].judged.margins[0];
        (margin.value, margin.outcome, margin.untried) = (0.0, Outcome::Unclear, true);
        assert!(has_none(&record), "{}", search(&record).table().to_csv());
    }

    #[test]
    fn curves_keep_their_levels_and_doubts() {
        let sweep = sample::sweep("api", 50_000.0, &[100, 30_000]);
        let model = Curve::from_sweep(&sweep).unwrap();
        let drawn = curve(&model, &verdict::curve::read(&model, 500_000_000), 500_000_000);
        assert_eq!(drawn.levels[1].validity, Verdict::LowerBound);
        assert_eq!((drawn.levels[0].level, drawn.best), (100.0, Some(1)));
        assert_eq!(success("t", std::slice::from_ref(&model)).series[0].levels.len(), 2);
        assert_eq!(diff("t", &[model.clone(), model]).series.len(), 2);
    }
}
