//! Figures to draw: those of published result tables, and some that nobody should ever hand in.

pub(super) use fixture::published::NATIVE;
use fixture::published::Row;
use model::sweep::LevelKind;

use crate::chart::{
    Chart, Curve, CurveLevel, CurveSeries, Diff, Heat, HeatColumn, LevelMark, Limit, Overlay,
    Second, Span, SpanKind, Spectrum, SpectrumSeries, SuccessRate, Timeline,
};

pub(super) const BEFORE: [Row; 5] = [
    (200.0, 145_651.44, 1.28, 100.0),
    (3000.0, 147_833.70, 30.91, 100.0),
    (25_000.0, 140_783.38, 272.12, 100.0),
    (70_000.0, 139_312.92, 462.26, 99.93),
    (1_000_000.0, 12_304.60, 819.44, 71.78),
];

const HOSTILE: &str = "</text><script>alert(\"x\")</script> ]]> & \u{0}\u{202e} \
                       a name that goes on for longer than anything on the page could ever hold";

pub(super) fn curve(rows: &[Row]) -> Curve {
    let level = |r: &Row| CurveLevel {
        level: r.0,
        requests_per_s: r.1,
        mean_s: r.2 / 1e3,
        ..Default::default()
    };
    Curve { title: "native".into(), levels: rows.iter().map(level).collect(), ..Default::default() }
}

pub(super) fn success(series: &[(&str, &[Row])]) -> SuccessRate {
    let level =
        |r: &Row| CurveLevel { level: r.0, success_ratio: Some(r.3 / 100.0), ..Default::default() };
    let one = |(name, rows): &(&str, &[Row])| CurveSeries {
        name: (*name).into(),
        levels: rows.iter().map(level).collect(),
    };
    SuccessRate {
        title: "success".into(),
        series: series.iter().map(one).collect(),
        ..Default::default()
    }
}

pub(super) fn diff(series: &[(&str, &[Row])]) -> Diff {
    let level = |r: &Row| CurveLevel {
        level: r.0,
        requests_per_s: r.1,
        mean_s: r.2 / 1e3,
        ..Default::default()
    };
    let one = |(name, rows): &(&str, &[Row])| CurveSeries {
        name: (*name).into(),
        levels: rows.iter().map(level).collect(),
    };
    Diff { title: "diff".into(), series: series.iter().map(one).collect(), ..Default::default() }
}

pub(super) fn timeline(i: u32) -> Second {
    let wave = f64::from(i % 13) / 13.0;
    Second {
        at_s: f64::from(i),
        length_s: 1.0,
        requests_per_s: 3_400.0 + 200.0 * wave,
        offered_per_s: Some(3_500.0),
        p50_s: Some(0.02 + 0.002 * wave),
        p99_s: Some(0.09 + 0.02 * wave),
        max_s: Some(0.2 + 0.1 * wave),
        errors_per_s: if i % 50 == 49 { 12.0 } else { 0.0 },
        in_flight: Some(100.0 + 9.0 * wave),
    }
}

fn spectrum() -> Spectrum {
    let series = |name: &str, scale: f64| SpectrumSeries {
        name: name.into(),
        points: [(0.0, 0.2), (50.0, 1.2), (90.0, 3.1), (99.0, 88.0), (99.9, 610.0), (99.99, 980.0)]
            .map(|(p, ms)| (p, ms * scale / 1e3))
            .to_vec(),
        max_s: Some(1.004 * scale),
        count: Some(1_200_000),
        ..SpectrumSeries::default()
    };
    Spectrum {
        title: "spectrum".into(),
        series: vec![series("response", 1.0), series("service", 0.98), series("", 0.4)],
    }
}

/// A wave of latencies over `n` seconds, with a stall in every twentieth.
fn heat(n: u32, name: &str) -> Heat {
    let column = |i: u32| {
        let stall = (i % 20 == 9).then_some((1.5, 3));
        let counts = (0..300).map(|k| (0.001 * 1.01_f64.powi(k), u64::from((k as u32 * i) % 97)));
        let (from_s, to_s) = (f64::from(i), f64::from(i + 1));
        HeatColumn { from_s, to_s, counts: counts.chain(stall).collect() }
    };
    let dip = Span { from_s: 9.0, to_s: 11.0, label: name.into(), kind: SpanKind::Alarm };
    Heat {
        title: name.into(),
        columns: (0..n).map(column).collect(),
        spans: vec![dip],
        p50_and_p99_s: Some((0.002, 0.02)),
    }
}

/// Every kind of chart, with good figures and bad.
pub(super) fn all() -> Vec<(&'static str, Chart)> {
    let spans = |n: u32, label: &str| {
        (0..n)
            .map(|i| Span {
                from_s: f64::from(i) * 3.0,
                to_s: f64::from(i) * 3.0 + f64::from(i % 3),
                label: label.into(),
                kind: if i % 2 == 0 { SpanKind::Aside } else { SpanKind::Alarm },
            })
            .collect::<Vec<_>>()
    };
    let seconds = |n: u32| (0..n).map(timeline).collect::<Vec<_>>();
    let many: Vec<(&str, &[Row])> = (0..30).map(|_| (HOSTILE, &NATIVE[..])).collect();
    vec![
        (
            "curve",
            Curve { best: Some(8), best_within: Some(8), objective_s: Some(0.5), ..curve(&NATIVE) }
                .chart(),
        ),
        ("curve by rate", Curve { kind: LevelKind::Rate, ..curve(&NATIVE[..4]) }.chart()),
        (
            "curve of one",
            Curve { best: Some(0), best_within: Some(0), ..curve(&NATIVE[..1]) }.chart(),
        ),
        ("curve of none", Curve::default().chart()),
        ("hostile curve", hostile_curve().chart()),
        ("success", success(&[("", &NATIVE)]).chart()),
        ("success flat", success(&[("", &NATIVE[..6]), (HOSTILE, &NATIVE[..3])]).chart()),
        ("success of many", success(&many).chart()),
        ("success of none", SuccessRate::default().chart()),
        ("diff of two", diff(&[(HOSTILE, &BEFORE), ("native", &NATIVE)]).chart()),
        ("diff of three", diff(&[("a", &BEFORE), ("b", &NATIVE), ("", &[])]).chart()),
        ("diff of many", diff(&many).chart()),
        ("diff of none", Diff::default().chart()),
        (
            "timeline",
            Timeline {
                seconds: seconds(120),
                spans: spans(20, "dip"),
                limits: vec![Limit { label: "p99<500ms".into(), latency_s: 0.5 }],
                ..Default::default()
            }
            .chart(),
        ),
        (
            "hostile timeline",
            Timeline { seconds: seconds(7), spans: spans(300, HOSTILE), ..Default::default() }
                .chart(),
        ),
        ("timeline of one", Timeline { seconds: seconds(1), ..Default::default() }.chart()),
        ("timeline of none", Timeline { spans: spans(2, "dip"), ..Default::default() }.chart()),
        ("heat", heat(60, "heat").chart()),
        ("heat of a day", heat(1_000, HOSTILE).chart()),
        ("heat of none", Heat::default().chart()),
        ("spectrum", spectrum().chart()),
        ("spectrum of none", Spectrum::default().chart()),
    ]
}

fn hostile_curve() -> Curve {
    let levels = [
        (f64::NAN, 5.0, 1.0),
        (3.0, f64::INFINITY, 0.2),
        (10.0, 1e12, 1e-9),
        (11.0, -5.0, -1.0),
        (12.0, 0.0, 0.0),
        (15_943.0, 3e11, 7200.0),
        (15_944.0, 2e11, f64::NAN),
        (1e12, 1.0, 1e17),
    ];
    let level = |(level, requests_per_s, mean_s)| CurveLevel {
        level,
        requests_per_s,
        mean_s,
        ..Default::default()
    };
    let mark = |i: u32| LevelMark {
        level: 10.0 + f64::from(i),
        label: HOSTILE.chars().skip(4 * i as usize).collect(),
    };
    Curve {
        title: HOSTILE.repeat(30),
        levels: levels.into_iter().map(level).collect(),
        best: Some(2),
        best_within: Some(5),
        objective_s: Some(1e300),
        overlays: (0..6)
            .map(|_| Overlay { name: HOSTILE.into(), points: vec![(1.0, 1e18), (1e6, -4.0)] })
            .collect(),
        marks: (0..40).map(mark).collect(),
        ..Default::default()
    }
}
