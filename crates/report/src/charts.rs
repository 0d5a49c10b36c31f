//! From results to charts: what of a run or curve is drawn, in the charts' own units (seconds).
//!
//! Does not judge: which levels are the best comes in as a [`Reading`] of `verdict`'s. The charts go to files
//! (SVG, PNG) and into the page of `html`.

use model::blocks::Block;
use model::capacity::{CapacitySearch, Margin, Outcome, Purpose, SearchStep, Unit};
use model::curve::{Curve, CurveRow};
use model::histogram::Latencies;
use model::run::Run;
use model::sweep::{LevelKind, Sweep};
use model::timeline::Point;
use model::units::{Nanos, SECOND, show_duration};
use model::{Dip, Usl};
use verdict::Reading;

use crate::chart::{
    self, CurveLevel, CurveSeries, HeatColumn, LevelMark, Overlay, Second, Span, SpanKind, SpectrumSeries,
};
use crate::figure::{clean, level, seconds};
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
        mean_s: seconds(row.mean_ns),
        p99_s: row.percentiles.p99_ns.map(seconds),
        success_ratio: row.success,
        validity: row.verdict.unwrap_or_default(),
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

/// A drain shorter than this is not drawn: a point a second apart from its neighbours would stand for
/// a moment in which nothing was asked any more.
const SHORT_DRAIN: Nanos = SECOND / 10;

/// A run second by second.
pub fn timeline(run: &Run) -> chart::Timeline {
    // Arrivals are no requests where one is a session of several.
    let offered = run.plan.rate_per_s.is_some() && run.plan.mix.flows.is_empty();
    let short = |point: &&Point| point.phase == "drain" && point.duration_ns < SHORT_DRAIN;
    let drawn: Vec<&Point> = run.timeline.iter().filter(|point| !short(point)).collect();
    chart::Timeline {
        title: "Second by second".to_owned(),
        mean_per_s: Some(run.rates.requests_per_s),
        seconds: drawn.iter().map(|point| second(point, offered)).collect(),
        spans: asides(&drawn).into_iter().chain(run.dips.iter().map(alarm)).collect(),
        limits: limits(run),
    }
}

/// The limits of the objectives on response times, those with one limit together.
fn limits(run: &Run) -> Vec<chart::Limit> {
    let mut limits: Vec<chart::Limit> = Vec::new();
    for judged in run.objectives.iter().filter(|judged| judged.unit == Some(model::objective::Unit::Ns)) {
        let Some(limit) = judged.limit else { continue };
        let (label, latency_s) = (clean(&judged.objective, 40), limit / SECOND as f64);
        match limits.iter_mut().find(|known| known.latency_s == latency_s) {
            Some(known) => known.label = format!("{}, {label}", known.label),
            None => limits.push(chart::Limit { label, latency_s }),
        }
    }
    limits
}

fn second(point: &Point, offered: bool) -> Second {
    let latency = |nanos: Nanos| (nanos > 0).then(|| seconds(nanos));
    let length_s = seconds(point.duration_ns);
    Second {
        at_s: seconds(point.start_ns),
        achieved_per_s: point.requests_per_s,
        offered_per_s: offered.then_some(point.offered_per_s),
        p50_s: latency(point.percentiles.p50_ns),
        p99_s: latency(point.percentiles.p99_ns),
        max_s: latency(point.max_ns),
        errors_per_s: if length_s > 0.0 { point.failed as f64 / length_s } else { 0.0 },
        in_flight: Some(point.in_flight_mean),
    }
}

/// Warm-up and drain as bands to be passed over.
fn asides(timeline: &[&Point]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (phase, label) in [("warmup", "warm-up"), ("drain", "drain")] {
        let mut points = timeline.iter().filter(|point| point.phase == phase);
        let Some(first) = points.next() else { continue };
        let last = points.next_back().unwrap_or(first);
        spans.push(Span {
            from_s: seconds(first.start_ns),
            to_s: seconds(last.start_ns.saturating_add(last.duration_ns)),
            label: label.to_owned(),
            kind: SpanKind::Aside,
        });
    }
    spans
}

/// A dip as a band to be noticed.
fn alarm(dip: &Dip) -> Span {
    Span {
        from_s: seconds(dip.start_ns),
        to_s: seconds(dip.start_ns.saturating_add(dip.duration_ns)),
        label: format!("dip {}", show_duration(dip.duration_ns)),
        kind: SpanKind::Alarm,
    }
}

/// The response times of the window over time, from the run's blocks. Nothing where these were not kept, or
/// are damaged, or are too few to show a course.
pub fn heat(run: &Run) -> Option<chart::Heat> {
    let column = |block: &Block| {
        let times = block.response_times().ok()?;
        // The exact longest instead of the end of the range that it was counted in.
        let longest = block.response_max_ns;
        let counts = times.recorded().map(|(nanos, n)| (seconds(nanos.min(longest)), n));
        Some(HeatColumn {
            from_s: seconds(block.start_ns),
            to_s: seconds(block.start_ns.saturating_add(block.duration_ns)),
            counts: counts.collect(),
        })
    };
    let columns: Option<Vec<HeatColumn>> = run.blocks.iter().map(column).collect();
    let columns = columns.filter(|columns| columns.iter().any(|column| !column.counts.is_empty()));
    Some(chart::Heat {
        title: "Every request over time".to_owned(),
        columns: columns.filter(|columns| columns.len() > 1)?,
        spans: run.dips.iter().map(alarm).collect(),
    })
}

/// Response against service time by percentile; one line where they are the same. A damaged
/// histogram counts as absent.
pub fn spectrum(run: &Run) -> chart::Spectrum {
    let names: &[(&str, &str)] = if response_is_service(run) {
        &[("service", "service")]
    } else {
        &[("response", "response"), ("service", "service")]
    };
    let series = names.iter().filter_map(|&(stored, name)| {
        let latencies = run.histogram(stored).ok().filter(|l| l.count() > 0)?;
        Some(distribution(name, &latencies))
    });
    chart::Spectrum { title: "Spectrum".to_owned(), series: series.collect() }
}

/// The response times of some levels of a sweep, by their index, by percentile.
pub fn spectra(sweep: &Sweep, levels: &[usize]) -> chart::Spectrum {
    let series = levels.iter().filter_map(|&at| {
        let held = sweep.levels.get(at)?;
        let latencies = held.run.histogram("response").ok().filter(|l| l.count() > 0)?;
        let level = match sweep.kind {
            LevelKind::Concurrency => format!("c = {}", level(held.level)),
            LevelKind::Rate => format!("{}/s", level(held.level)),
        };
        Some(distribution(&level, &latencies))
    });
    chart::Spectrum { title: "Response time by level".to_owned(), series: series.collect() }
}

fn distribution(name: &str, latencies: &Latencies<u64>) -> SpectrumSeries {
    let rows = hgrm::rows(latencies);
    let below = rows.iter().filter(|row| row.share < 1.0);
    SpectrumSeries {
        name: name.to_owned(),
        points: below.map(|row| (row.share * 100.0, seconds(row.nanos))).collect(),
        max_s: Some(seconds(latencies.max())),
        count: Some(latencies.count()),
    }
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
        value: of(held).map(|margin| scaled(margin.value)),
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
        subtitle: record.outcome.clone().unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;
    use crate::sample;

    #[test]
    fn the_timeline_sets_the_warm_up_apart() {
        let timeline = timeline(&sample::open_loop());
        assert_eq!(timeline.seconds.len(), 62);
        assert_eq!((timeline.spans[0].from_s, timeline.spans[0].to_s), (0.0, 2.0));
        assert_eq!(timeline.seconds[5].offered_per_s, Some(20_000.0));
    }

    #[test]
    fn the_timeline_speaks_of_the_window_alone() {
        let mut run = sample::open_loop();
        let mut drain = Point { phase: "drain".into(), start_ns: 62 * SECOND, ..Point::default() };
        drain.percentiles.p99_ns = 90 * SECOND;
        run.timeline.push(Point { duration_ns: SECOND / 50, ..drain.clone() });
        let with = timeline(&run);
        assert_eq!((with.seconds.len(), with.spans.len()), (62, run.dips.len() + 1));
        *run.timeline.last_mut().unwrap() = Point { duration_ns: 2 * SECOND, ..drain };
        let with = timeline(&run);
        assert_eq!(with.seconds.len(), 63);
        assert_eq!(with.mean_per_s, Some(run.rates.requests_per_s));
        let chart = with.chart();
        let subtitle = chart.subtitle();
        let without = timeline(&sample::open_loop()).chart();
        assert_eq!(subtitle, without.subtitle(), "neither the drain's rate nor latency is named");
    }

    #[test]
    fn the_timeline_has_the_limits_of_latency() {
        let mut run = sample::judged_run();
        let mut twin = run.objectives[1].clone();
        twin.objective = "p50<1ms".into();
        run.objectives.push(twin);
        let limits = timeline(&run).limits;
        let limits: Vec<_> = limits.iter().map(|l| (l.label.as_str(), l.latency_s)).collect();
        assert_eq!(limits, [("p99<500ms", 0.5), ("mean<1ms, p50<1ms", 0.001), ("p99.9<20ms", 0.02)]);
        assert!(timeline(&sample::closed_loop()).limits.is_empty());
    }

    #[test]
    fn the_heat_map_has_every_response_of_the_window() {
        let run = sample::open_loop();
        let heat = heat(&run).unwrap();
        assert_eq!(heat.columns.len(), run.blocks.len());
        let responses: u64 = heat.columns.iter().flat_map(|c| &c.counts).map(|(_, n)| n).sum();
        assert_eq!(responses, run.response_ns.count);
        assert_eq!((heat.columns[0].from_s, heat.columns[0].to_s), (2.0, 3.0));
        let slowest = heat.columns.iter().flat_map(|c| &c.counts).map(|count| count.0);
        assert_eq!(slowest.fold(0.0, f64::max), seconds(run.response_ns.max));
    }

    #[test]
    fn without_blocks_there_is_no_heat_map() {
        let mut run = sample::closed_loop();
        run.blocks[1].response = Some("$$".into());
        assert!(heat(&run).is_none(), "one is damaged");
        run.blocks.truncate(1);
        assert!(heat(&run).is_none(), "one is no course");
        run.blocks.clear();
        assert!(heat(&run).is_none());
        assert!(heat(&sample::hostile()).is_none());
    }

    #[test]
    fn sessions_are_not_offered_as_requests() {
        let mut run = sample::open_loop();
        run.plan.mix.flows.push(model::FlowPlan::default());
        assert!(timeline(&run).seconds.iter().all(|second| second.offered_per_s.is_none()));
    }

    #[test]
    fn a_closed_loop_has_one_spectrum_and_an_open_loop_two() {
        let names =
            |run: &Run| spectrum(run).series.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&sample::closed_loop()), ["service"]);
        assert_eq!(names(&sample::open_loop()), ["response", "service"]);
        assert!(names(&sample::hostile()).is_empty());
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
