//! A run over time: what its timeline and its heat map are drawn from.

use model::Dip;
use model::blocks::Block;
use model::objective::Unit;
use model::percentile::PointPercentiles;
use model::run::Run;
use model::slices::Slice;
use model::timeline::Point;
use model::units::{Nanos, SECOND, show_duration};

use crate::chart::{self, HeatColumn, Second, Span, SpanKind};
use crate::figure::{clean, seconds};

/// What is drawn of a point of the timeline, or of a slice.
struct Period<'a> {
    start_ns: Nanos,
    duration_ns: Nanos,
    phase: &'a str,
    offered_per_s: f64,
    requests_per_s: f64,
    failed: u64,
    percentiles: &'a PointPercentiles,
    max_ns: Nanos,
    in_flight_mean: f64,
}

impl<'a> Period<'a> {
    fn of_point(point: &'a Point) -> Self {
        Self {
            start_ns: point.start_ns,
            duration_ns: point.duration_ns,
            phase: &point.phase,
            offered_per_s: point.offered_per_s,
            requests_per_s: point.requests_per_s,
            failed: point.failed,
            percentiles: &point.percentiles,
            max_ns: point.max_ns,
            in_flight_mean: point.in_flight_mean,
        }
    }

    fn of_slice(slice: &'a Slice) -> Self {
        Self {
            start_ns: slice.start_ns,
            duration_ns: slice.duration_ns,
            phase: &slice.phase,
            offered_per_s: slice.offered_per_s,
            requests_per_s: slice.requests_per_s,
            failed: slice.failed,
            percentiles: &slice.percentiles,
            max_ns: slice.max_ns,
            in_flight_mean: slice.in_flight_mean,
        }
    }

    fn second(&self, offered: bool) -> Second {
        let latency = |nanos: Nanos| (nanos > 0).then(|| seconds(nanos));
        let length_s = seconds(self.duration_ns);
        Second {
            at_s: seconds(self.start_ns),
            length_s,
            requests_per_s: self.requests_per_s,
            offered_per_s: offered.then_some(self.offered_per_s),
            p50_s: latency(self.percentiles.p50_ns),
            p99_s: latency(self.percentiles.p99_ns),
            max_s: latency(self.max_ns),
            errors_per_s: if length_s > 0.0 { self.failed as f64 / length_s } else { 0.0 },
            in_flight: Some(self.in_flight_mean),
        }
    }
}

/// A drain shorter than this is not drawn: a point a second apart from its neighbours would stand for
/// a moment in which nothing was asked any more.
const SHORT_DRAIN: Nanos = SECOND / 10;

/// A run second by second; a short one in its slices.
pub fn timeline(run: &Run) -> chart::Timeline {
    let sliced = !run.slices.is_empty();
    let periods: Vec<Period> = if sliced {
        run.slices.iter().map(Period::of_slice).collect()
    } else {
        run.timeline.iter().map(Period::of_point).collect()
    };
    let short = |period: &Period| period.phase == "drain" && period.duration_ns < SHORT_DRAIN;
    let drawn: Vec<Period> = periods.into_iter().filter(|period| !short(period)).collect();
    // Arrivals are no requests where one is a session of several.
    let offered = run.plan.rate_per_s.is_some() && run.plan.mix.flows.is_empty();
    chart::Timeline {
        title: if sliced { "Over time" } else { "Second by second" }.to_owned(),
        mean_per_s: Some(run.rates.requests_per_s),
        failed: Some(run.totals.attempts.saturating_sub(run.totals.succeeded)),
        seconds: drawn.iter().map(|period| period.second(offered)).collect(),
        spans: asides(&drawn).into_iter().chain(run.dips.iter().map(alarm)).collect(),
        limits: limits(run),
    }
}

/// The limits of the objectives on response times, those with one limit together.
fn limits(run: &Run) -> Vec<chart::Limit> {
    let mut limits: Vec<chart::Limit> = Vec::new();
    for judged in run.objectives.iter().filter(|judged| judged.unit == Some(Unit::Ns)) {
        let Some(limit) = judged.limit else { continue };
        let (label, latency_s) = (clean(&judged.objective, 40), limit / SECOND as f64);
        match limits.iter_mut().find(|known| known.latency_s == latency_s) {
            Some(known) => known.label = format!("{}, {label}", known.label),
            None => limits.push(chart::Limit { label, latency_s }),
        }
    }
    limits
}

/// Warm-up and drain as bands to be passed over.
fn asides(periods: &[Period]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (phase, label) in [("warmup", "warm-up"), ("drain", "drain")] {
        let mut of_it = periods.iter().filter(|period| period.phase == phase);
        let Some(first) = of_it.next() else { continue };
        let last = of_it.next_back().unwrap_or(first);
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
pub(super) fn alarm(dip: &Dip) -> Span {
    Span {
        from_s: seconds(dip.start_ns),
        to_s: seconds(dip.start_ns.saturating_add(dip.duration_ns)),
        label: format!("dip {}", show_duration(dip.duration_ns)),
        kind: SpanKind::Alarm,
    }
}

/// The response times of the window over time, from the run's slices or, where it has none, from its
/// blocks. Nothing where these were not kept, or are damaged, or are too few to show a course.
pub fn heat(run: &Run) -> Option<chart::Heat> {
    let columns = if run.slices.is_empty() {
        run.blocks.iter().map(of_block).collect()
    } else {
        Some(of_slices(&run.slices))
    };
    let columns = columns.filter(|columns| columns.iter().any(|column| !column.counts.is_empty()));
    Some(chart::Heat {
        title: "Every request over time".to_owned(),
        columns: columns.filter(|columns| columns.len() > 1)?,
        spans: run.dips.iter().map(alarm).collect(),
        p50_and_p99_s: super::p50_and_p99_s(&run.response_ns),
    })
}

/// The slices of the window; what ended in the drain is in the last, as it is in the last block.
fn of_slices(slices: &[Slice]) -> Vec<HeatColumn> {
    let mut columns: Vec<HeatColumn> = Vec::new();
    for slice in slices.iter().filter(|slice| slice.phase != "warmup") {
        // The exact longest instead of the end of the range that it was counted in.
        let exact = |nanos: Nanos| seconds(nanos.min(slice.max_ns));
        let counts = slice.response_counts.iter().map(|&(nanos, n)| (exact(nanos), n));
        match columns.last_mut() {
            Some(last) if slice.phase == "drain" => last.counts.extend(counts),
            _ => columns.push(HeatColumn {
                from_s: seconds(slice.start_ns),
                to_s: seconds(slice.start_ns.saturating_add(slice.duration_ns)),
                counts: counts.collect(),
            }),
        }
    }
    columns
}

fn of_block(block: &Block) -> Option<HeatColumn> {
    let times = block.response_times().ok()?;
    // The exact longest instead of the end of the range that it was counted in.
    let longest = block.response_max_ns;
    let counts = times.recorded().map(|(nanos, n)| (seconds(nanos.min(longest)), n));
    Some(HeatColumn {
        from_s: seconds(block.start_ns),
        to_s: seconds(block.start_ns.saturating_add(block.duration_ns)),
        counts: counts.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_short_run_is_drawn_from_its_slices() {
        let mut run = sample::closed_loop();
        let slice = |i: u64| Slice {
            start_ns: i * SECOND / 4,
            duration_ns: SECOND / 4,
            phase: if i < 19 { "window" } else { "drain" }.into(),
            requests_per_s: 100.0,
            failed: 1,
            max_ns: SECOND / 1000,
            response_counts: vec![(SECOND / 900, 25)],
            ..Slice::default()
        };
        run.slices = (0..20).map(slice).collect();
        let timeline = timeline(&run);
        assert_eq!((timeline.title.as_str(), timeline.seconds.len()), ("Over time", 20));
        assert_eq!((timeline.seconds[3].at_s, timeline.seconds[3].errors_per_s), (0.75, 4.0));
        assert_eq!(timeline.spans[0].label, "drain");
        let heat = heat(&run).unwrap();
        assert_eq!((heat.columns.len(), heat.columns[7].from_s), (19, 1.75));
        assert_eq!(heat.columns[7].counts, [(0.001, 25)]);
        assert_eq!(heat.columns[18].counts, [(0.001, 25), (0.001, 25)], "with the drain's");
    }

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
        assert_eq!(
            limits,
            [("p99<500ms", 0.5), ("mean<1ms, p50<1ms", 0.001), ("p99.9<20ms", 0.02)]
        );
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
}
