//! Every kind of chart with realistic and with nasty data, to be looked at by people: `cargo run
//! --release --example chart_gallery -- FOLDER` writes an SVG, a PNG and a CSV each, and an
//! `index.html` that shows them inline, as the report does.

#![expect(
    clippy::disallowed_methods,
    reason = "an example writes files; the crate itself does not"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use fixture::published::{AFTER, BEFORE, NATIVE, Row};
use model::sweep::LevelKind;
use model::validity::Verdict;
use report::chart::{
    Chart, Curve, CurveLevel, CurveSeries, Diff, Heat, HeatColumn, LevelMark, Overlay, Second,
    Span, SpanKind, Spectrum, SpectrumSeries, SuccessRate, Theme, Timeline,
};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map_or_else(|| PathBuf::from("gallery"), PathBuf::from);
    fs::create_dir_all(&folder)?;
    let mut page = String::from(
        "<!doctype html><meta charset=utf-8><title>Charts</title>\
         <style>:root{color-scheme:light dark}\
         body{max-width:800px;margin:2em auto;font-family:sans-serif}</style>",
    );
    for (name, chart) in gallery() {
        save(&folder, name, &chart)?;
        let _ = writeln!(page, "<h2>{name}</h2>\n{}", chart.to_svg(Theme::Inline));
    }
    fs::write(folder.join("index.html"), page)?;
    println!("wrote {}", folder.display());
    Ok(())
}

fn save(folder: &Path, name: &str, chart: &Chart) -> io::Result<()> {
    let svg = chart.to_svg(Theme::Standalone);
    let png = chart.to_png(2.0, &|_| Vec::new()).map_err(io::Error::other)?;
    fs::write(folder.join(format!("{name}.svg")), svg)?;
    fs::write(folder.join(format!("{name}.png")), png)?;
    fs::write(folder.join(format!("{name}.csv")), chart.table().to_csv())
}

fn gallery() -> Vec<(&'static str, Chart)> {
    vec![
        ("curve-native", native_curve().chart()),
        ("curve-sweep", sweep_curve().chart()),
        ("curve-rate", rate_curve().chart()),
        ("curve-nasty", nasty_curve().chart()),
        ("curve-single", single_curve().chart()),
        ("curve-empty", Curve { title: "Nothing measured".into(), ..Default::default() }.chart()),
        ("success-native", success(&[("", &NATIVE)]).chart()),
        ("success-flat", success(&[("", &NATIVE[..9])]).chart()),
        ("success-shallow", success(&[("", &NATIVE[..11])]).chart()),
        ("success-diff", success(&[("native", &NATIVE), ("apiserver_before", &BEFORE)]).chart()),
        ("diff-two", diff(&[("native", &NATIVE), ("apiserver_before", &BEFORE)]).chart()),
        (
            "diff-three",
            diff(&[("native", &NATIVE), ("before", &BEFORE), ("after", &AFTER)]).chart(),
        ),
        ("diff-many", many_series().chart()),
        ("timeline-open", open_timeline().chart()),
        ("timeline-closed", closed_timeline().chart()),
        ("timeline-long", long_timeline().chart()),
        ("heat", heat().chart()),
        ("spectrum", spectrum().chart()),
        ("spectrum-narrow", narrow_spectrum().chart()),
        ("spectrum-nasty", nasty_spectrum().chart()),
    ]
}

fn levels(rows: &[Row]) -> Vec<CurveLevel> {
    let level = |r: &Row| CurveLevel {
        level: r.0,
        requests_per_s: r.1,
        mean_s: r.2 / 1e3,
        ..Default::default()
    };
    rows.iter().map(level).collect()
}

fn native_curve() -> Curve {
    Curve {
        title: "native: QPS and mean latency".into(),
        levels: levels(&NATIVE),
        best: Some(8),
        best_within: Some(8),
        objective_s: Some(0.5),
        ..Default::default()
    }
}

/// A doubling ladder with a finer pass, p99, a fitted model and levels in doubt.
fn sweep_curve() -> Curve {
    let model = |c: f64| 995.0 * c / (1.0 + 0.027 * (c - 1.0) + 0.000_098 * c * (c - 1.0));
    let ladder = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0, 64.0, 96.0, 128.0, 192.0, 256.0, 512.0];
    let level = |(i, c): (usize, f64)| {
        let wobble = 1.0 + 0.02 * ((i * 7 % 5) as f64 - 2.0);
        let mean_s = c / model(c);
        CurveLevel {
            level: c,
            requests_per_s: model(c) * wobble,
            mean_s,
            p99_s: Some(mean_s * (2.5 + (i % 3) as f64 * 0.4)),
            validity: match i {
                10 | 11 => Verdict::LowerBound,
                12 => Verdict::Invalid,
                _ => Verdict::Valid,
            },
            ..Default::default()
        }
    };
    Curve {
        title: "apiserver /v1/users: QPS and latency".into(),
        levels: ladder.into_iter().enumerate().map(level).collect(),
        best: Some(9),
        best_within: Some(7),
        objective_s: Some(0.004),
        overlays: vec![Overlay {
            name: "USL fit".into(),
            points: (0..=180)
                .map(|i| 10f64.powf(f64::from(i) * 0.0151))
                .map(|c| (c, model(c)))
                .collect(),
        }],
        marks: vec![
            LevelMark { level: 37.0, label: "knee".into() },
            LevelMark { level: 101.0, label: "predicted peak".into() },
        ],
        ..Default::default()
    }
}

/// An open-loop sweep whose tail explodes: linear levels, logarithmic latency.
fn rate_curve() -> Curve {
    let level = |i: u32| {
        let rate = f64::from(i) * 1000.0;
        let load = rate / 12_700.0;
        let mean_s = if load < 1.0 { 0.0012 / (1.0 - load) } else { 1.4 };
        CurveLevel {
            level: rate,
            requests_per_s: rate.min(12_400.0),
            mean_s,
            p99_s: Some(if load < 1.0 { mean_s * 9.0 } else { 9.6 }),
            ..Default::default()
        }
    };
    Curve {
        title: "checkout: capacity by rate".into(),
        kind: LevelKind::Rate,
        levels: (1..=14).map(level).collect(),
        best: Some(12),
        best_within: Some(11),
        objective_s: Some(0.5),
        ..Default::default()
    }
}

fn nasty_curve() -> Curve {
    let rows = [
        (f64::NAN, 5.0, 1.0),
        (3.0, f64::INFINITY, 0.2),
        (10.0, 1e12, 1e-9),
        (10.0, 9e11, 3e-9),
        (11.0, -5.0, -1.0),
        (12.0, 0.0, 0.0),
        (15_943.0, 3e11, 7200.0),
        (15_944.0, 2e11, f64::NAN),
        (1e12, 1.0, 86_400.0),
    ];
    let level = |(level, requests_per_s, mean_s)| CurveLevel {
        level,
        requests_per_s,
        mean_s,
        ..Default::default()
    };
    Curve {
        title: "<script>alert('&')</script> \u{202e}a very long name that goes on and on "
            .repeat(6),
        levels: rows.into_iter().map(level).collect(),
        best: Some(2),
        best_within: Some(99),
        objective_s: Some(1e300),
        overlays: vec![Overlay {
            name: "overlay ]]> \"quoted\" and far too long to stand in a heading".into(),
            points: vec![(1.0, 1e18), (100.0, -1e18), (1e6, 1e11), (f64::NAN, 1.0), (1e9, 5e11)],
        }],
        marks: (0..9)
            .map(|i| LevelMark { level: 10.0 + f64::from(i), label: format!("mark number {i}") })
            .collect(),
        ..Default::default()
    }
}

fn single_curve() -> Curve {
    Curve {
        title: "One level".into(),
        levels: levels(&NATIVE[..1]),
        best: Some(0),
        ..Default::default()
    }
}

fn success(series: &[(&str, &[Row])]) -> SuccessRate {
    let level =
        |r: &Row| CurveLevel { level: r.0, success_ratio: Some(r.3 / 100.0), ..Default::default() };
    SuccessRate {
        title: "Success rate".into(),
        series: series
            .iter()
            .map(|(name, rows)| CurveSeries {
                name: (*name).into(),
                levels: rows.iter().map(level).collect(),
            })
            .collect(),
        ..Default::default()
    }
}

fn diff(series: &[(&str, &[Row])]) -> Diff {
    let level = |r: &Row| CurveLevel {
        level: r.0,
        requests_per_s: r.1,
        mean_s: r.2 / 1e3,
        ..Default::default()
    };
    Diff {
        title: verdict::diff::title(&series.iter().map(|s| s.0.to_owned()).collect::<Vec<_>>()),
        series: series
            .iter()
            .map(|(name, rows)| CurveSeries {
                name: (*name).into(),
                levels: rows.iter().map(level).collect(),
            })
            .collect(),
        ..Default::default()
    }
}

fn many_series() -> Diff {
    let series = |n: u32| {
        let name = if n == 4 {
            "a name that will certainly not fit the room that there is".into()
        } else {
            format!("build {n}")
        };
        let level = |i: u32| {
            let level = f64::from(2_u32.pow(i));
            let requests_per_s = 1000.0 * f64::from(10 + n) * level / (level + 20.0 + f64::from(n));
            CurveLevel {
                level,
                requests_per_s,
                mean_s: level / requests_per_s,
                ..Default::default()
            }
        };
        CurveSeries { name, levels: (0..9).map(level).collect() }
    };
    Diff {
        title: "Eleven builds".into(),
        series: (0..11).map(series).collect(),
        ..Default::default()
    }
}

/// A small deterministic noise in -1..1.
fn noise(i: u32) -> f64 {
    let hash = i.wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(2_246_822_519);
    f64::from(hash >> 8) / f64::from(1 << 23) - 1.0
}

fn open_timeline() -> Timeline {
    let second = |i: u32| {
        let dip = (70..82).contains(&i);
        let warm = i < 10;
        let base = if warm {
            0.0061
        } else if dip {
            0.19
        } else {
            0.0032
        };
        let p50_s = base * (1.0 + 0.08 * noise(i));
        let p99_s = p50_s * (6.0 + 1.2 * noise(i + 1000));
        Second {
            at_s: f64::from(i),
            length_s: 1.0,
            requests_per_s: if dip { 14_100.0 } else { 20_000.0 } + 60.0 * noise(i + 2000),
            offered_per_s: Some(20_000.0),
            p50_s: Some(p50_s),
            p99_s: Some(p99_s),
            max_s: Some(p99_s * (2.0 + noise(i + 3000).abs() * 3.0)),
            errors_per_s: if dip { 340.0 * (1.0 + noise(i)) } else { 0.0 },
            in_flight: Some(20_000.0 * p50_s * 1.3),
        }
    };
    Timeline {
        title: "20,000 requests/s for two minutes".into(),
        seconds: (0..120).map(second).collect(),
        spans: vec![
            Span { from_s: 0.0, to_s: 10.0, label: "warm-up".into(), kind: SpanKind::Aside },
            Span {
                from_s: 70.0,
                to_s: 82.0,
                label: "dip: 12 s, 30 % deep".into(),
                kind: SpanKind::Alarm,
            },
        ],
        ..Default::default()
    }
}

fn closed_timeline() -> Timeline {
    let second = |i: u32| Second {
        at_s: f64::from(i),
        requests_per_s: 48_000.0 + 900.0 * noise(i),
        p50_s: Some(0.002 + 0.0001 * noise(i + 9)),
        p99_s: Some(0.006 + 0.0006 * noise(i + 99)),
        max_s: Some(0.014 + 0.004 * noise(i + 999)),
        ..Default::default()
    };
    Timeline {
        title: "Ten seconds, closed loop".into(),
        seconds: (0..10).map(second).collect(),
        ..Default::default()
    }
}

/// A minute of a server that answers some requests out of a cache and others not, and stalls once.
fn heat() -> Heat {
    let column = |i: u32| {
        let spread = |around: f64, n: f64| {
            let bell = move |k: i32| (n * (-f64::from(k * k) / 200.0).exp()) as u64;
            (-30..=30).map(move |k| (around * 1.03_f64.powi(k), bell(k)))
        };
        let cached = spread(0.0009 * (1.0 + 0.1 * noise(i)), 9_000.0);
        let stall = (31..33).contains(&i).then_some((1.1 + 0.4 * noise(i), 40));
        HeatColumn {
            from_s: f64::from(i),
            to_s: f64::from(i + 1),
            counts: cached.chain(spread(0.021, 700.0)).chain(stall).collect(),
        }
    };
    let label = "dip 2.00s".into();
    Heat {
        title: "Every request over time".into(),
        columns: (0..60).map(column).collect(),
        spans: vec![Span { from_s: 31.0, to_s: 33.0, label, kind: SpanKind::Alarm }],
        p50_and_p99_s: Some((0.000_9, 0.021)),
    }
}

/// Two hours with one bad second, a gap, and a peak that thinning must not lose.
fn long_timeline() -> Timeline {
    let second = |i: u32| {
        let gap = (3000..3060).contains(&i);
        let bad = i == 6120;
        Second {
            at_s: f64::from(i),
            requests_per_s: if gap { 0.0 } else { 3400.0 + 250.0 * noise(i) },
            p50_s: (!gap).then(|| 0.02 + 0.002 * noise(i + 5)),
            p99_s: (!gap).then(|| if bad { 8.0 } else { 0.09 + 0.02 * noise(i + 55) }),
            max_s: (!gap).then(|| if bad { 29.0 } else { 0.2 + 0.1 * noise(i + 555) }),
            errors_per_s: if gap { 12.0 } else { f64::from(u8::from(bad)) * 900.0 },
            in_flight: Some(110.0 + 20.0 * noise(i + 7)),
            ..Default::default()
        }
    };
    let note = |from_s, to_s, label: &str, kind| Span { from_s, to_s, label: label.into(), kind };
    Timeline {
        title: "600,000 users, two hours".into(),
        seconds: (0..7200).map(second).collect(),
        spans: vec![
            note(0.0, 60.0, "warm-up", SpanKind::Aside),
            note(3000.0, 3060.0, "no responses", SpanKind::Alarm),
            note(6120.0, 6121.0, "time-outs for one second", SpanKind::Alarm),
            note(6300.0, 6300.0, "index added", SpanKind::Aside),
        ],
        ..Default::default()
    }
}

fn percentiles(values_ms: [f64; 8], max_ms: f64, name: &str) -> SpectrumSeries {
    let at = [0.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];
    SpectrumSeries {
        name: name.into(),
        points: at.into_iter().zip(values_ms.map(|ms| ms / 1e3)).collect(),
        max_s: Some(max_ms / 1e3),
        count: Some(1_200_000),
        ..SpectrumSeries::default()
    }
}

fn spectrum() -> Spectrum {
    Spectrum {
        title: "Latency spectrum".into(),
        series: vec![
            percentiles([0.21, 1.2, 1.8, 3.1, 5.6, 88.0, 610.0, 980.0], 1004.0, "response"),
            percentiles([0.19, 1.1, 1.5, 2.0, 2.4, 4.8, 12.0, 41.0], 1001.0, "service"),
        ],
    }
}

fn narrow_spectrum() -> Spectrum {
    Spectrum {
        title: "Latency spectrum of an idle server".into(),
        series: vec![percentiles([0.08, 0.1, 0.11, 0.12, 0.13, 0.17, 0.28, 0.6], 0.9, "service")],
    }
}

fn nasty_spectrum() -> Spectrum {
    let all_equal = percentiles([5.0; 8], 5.0, "all equal");
    let broken = SpectrumSeries {
        name: "broken & <b>bold</b> with a name beyond all measure".into(),
        points: vec![
            (50.0, f64::NAN),
            (-3.0, 1.0),
            (99.0, 1e12),
            (120.0, 4.0),
            (90.0, 0.0),
            (10.0, -1.0),
        ],
        max_s: Some(f64::INFINITY),
        count: Some(0),
        ..SpectrumSeries::default()
    };
    Spectrum {
        title: "Nasty spectrum".into(),
        series: vec![all_equal, broken, SpectrumSeries::default()],
    }
}
