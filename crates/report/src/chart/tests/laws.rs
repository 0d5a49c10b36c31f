//! Whatever figures and names come in, the page that comes out is sound.

use proptest::prelude::*;
use proptest::{collection, option, sample};

use model::capacity::Unit;
use model::sweep::LevelKind;
use model::validity::Verdict;

use super::page::Page;
use crate::chart::{
    Chart, Curve, CurveLevel, CurveSeries, Demand, Diff, EffectRow, Effects, Heat, HeatColumn,
    LevelMark, Limit, Overlay, Search, SearchLevel, Second, Span, SpanKind, Spectrum,
    SpectrumSeries, SuccessRate, Theme, Timeline, Tried, Watched, WatchedFigure, by_hour,
};

/// Any float at all, and often those a measurement would give.
fn figure() -> impl Strategy<Value = f64> {
    let edges = vec![0.0, -0.0, 1.0, 100.0, 1e12, 1e18, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY];
    prop_oneof![
        2 => prop::num::f64::ANY,
        4 => 0.0..1e6_f64,
        1 => 0.0..1e-6_f64,
        1 => sample::select(edges),
    ]
}

fn maybe() -> impl Strategy<Value = Option<f64>> {
    option::of(figure())
}

fn validity() -> impl Strategy<Value = Verdict> {
    sample::select(vec![Verdict::Valid, Verdict::LowerBound, Verdict::Invalid])
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z ]{0,90}"]
}

fn kind() -> impl Strategy<Value = LevelKind> {
    sample::select(vec![LevelKind::Concurrency, LevelKind::Rate])
}

fn curve_level() -> impl Strategy<Value = CurveLevel> {
    (figure(), figure(), figure(), maybe(), validity(), any::<bool>()).prop_map(
        |(level, requests_per_s, mean_s, p99_s, validity, cut_short)| CurveLevel {
            level,
            requests_per_s,
            mean_s,
            p99_s,
            success_ratio: None,
            validity,
            cut_short,
        },
    )
}

fn overlay() -> impl Strategy<Value = Overlay> {
    (name(), collection::vec((figure(), figure()), 0..20))
        .prop_map(|(name, points)| Overlay { name, points })
}

fn mark() -> impl Strategy<Value = LevelMark> {
    (figure(), name()).prop_map(|(level, label)| LevelMark { level, label })
}

fn curve() -> impl Strategy<Value = Chart> {
    let measured = (collection::vec(curve_level(), 0..40), maybe());
    let named = (option::of(0_usize..45), option::of(0_usize..45));
    let around = (collection::vec(overlay(), 0..5), collection::vec(mark(), 0..8));
    (name(), kind(), measured, named, around).prop_map(
        |(title, kind, (levels, objective_s), (best, best_within), (overlays, marks))| {
            Curve { title, kind, levels, best, best_within, objective_s, overlays, marks }.chart()
        },
    )
}

fn success_series() -> impl Strategy<Value = CurveSeries> {
    let ratio = prop_oneof![0.0..=1.0, figure()];
    let level = (figure(), ratio, validity()).prop_map(|(level, success_ratio, validity)| {
        CurveLevel { level, success_ratio: Some(success_ratio), validity, ..CurveLevel::default() }
    });
    (name(), collection::vec(level, 0..12)).prop_map(|(name, levels)| CurveSeries { name, levels })
}

fn success() -> impl Strategy<Value = Chart> {
    (name(), kind(), collection::vec(success_series(), 0..12))
        .prop_map(|(title, kind, series)| SuccessRate { title, kind, series }.chart())
}

fn diff_series() -> impl Strategy<Value = CurveSeries> {
    (name(), collection::vec(curve_level(), 0..12))
        .prop_map(|(name, levels)| CurveSeries { name, levels })
}

fn diff() -> impl Strategy<Value = Chart> {
    (name(), kind(), collection::vec(diff_series(), 0..12))
        .prop_map(|(title, kind, series)| Diff { title, kind, series }.chart())
}

fn second() -> impl Strategy<Value = Second> {
    let rates = (figure(), maybe(), figure(), figure());
    (figure(), rates, [maybe(), maybe(), maybe()], maybe()).prop_map(
        |(
            at_s,
            (requests_per_s, offered_per_s, errors_per_s, length_s),
            [p50_s, p99_s, max_s],
            in_flight,
        )| {
            Second {
                at_s,
                length_s,
                requests_per_s,
                offered_per_s,
                p50_s,
                p99_s,
                max_s,
                errors_per_s,
                in_flight,
            }
        },
    )
}

fn span() -> impl Strategy<Value = Span> {
    (figure(), figure(), name()).prop_map(|(from_s, to_s, label)| Span {
        from_s,
        to_s,
        label,
        kind: SpanKind::Alarm,
    })
}

/// Half of them with seconds that follow one another, as a real run's do.
fn timeline() -> impl Strategy<Value = Chart> {
    (name(), collection::vec(second(), 0..60), collection::vec(span(), 0..8), any::<bool>())
        .prop_map(|(title, mut seconds, spans, regular)| {
            if regular {
                (0_u32..).zip(&mut seconds).for_each(|(i, s)| s.at_s = f64::from(i));
            }
            let limits =
                spans.iter().map(|s| Limit { label: s.label.clone(), latency_s: s.from_s });
            let limits = limits.collect();
            Timeline { title, seconds, spans, limits, ..Timeline::default() }.chart()
        })
}

fn heat_column() -> impl Strategy<Value = HeatColumn> {
    let counts = collection::vec((figure(), any::<u64>()), 0..20);
    (figure(), figure(), counts).prop_map(|(from_s, to_s, counts)| HeatColumn {
        from_s,
        to_s,
        counts,
    })
}

/// Half of them with columns that follow one another.
fn heat() -> impl Strategy<Value = Chart> {
    (name(), collection::vec(heat_column(), 0..40), collection::vec(span(), 0..4), any::<bool>())
        .prop_map(|(title, mut columns, spans, regular)| {
            if regular {
                (0_u32..).zip(&mut columns).for_each(|(i, column)| {
                    (column.from_s, column.to_s) = (f64::from(i), f64::from(i + 1));
                });
            }
            let p50_and_p99_s = columns.first().map(|column| (column.from_s, column.to_s));
            Heat { title, columns, spans, p50_and_p99_s }.chart()
        })
}

fn spectrum_series() -> impl Strategy<Value = SpectrumSeries> {
    let percentile = prop_oneof![0.0..100.0, figure()];
    (name(), collection::vec((percentile, figure()), 0..20), maybe(), any::<Option<u64>>())
        .prop_map(|(name, points, max_s, count)| SpectrumSeries {
            p50_and_p99_s: points.first().copied(),
            name,
            points,
            max_s,
            count,
        })
}

fn spectrum() -> impl Strategy<Value = Chart> {
    (name(), collection::vec(spectrum_series(), 0..12))
        .prop_map(|(title, series)| Spectrum { title, series }.chart())
}

fn effects() -> impl Strategy<Value = Chart> {
    let row = (name(), figure(), figure(), figure(), name())
        .prop_map(|(name, ratio, low, high, word)| EffectRow { name, ratio, low, high, word });
    (name(), figure(), collection::vec(row, 0..9)).prop_map(|(title, margin, rows)| {
        Effects { subtitle: title.clone(), title, margin, rows }.chart()
    })
}

fn search() -> impl Strategy<Value = Chart> {
    let tried = sample::select(vec![Tried::Held, Tried::Broke, Tried::Unknown]);
    let level = (figure(), maybe(), tried, name())
        .prop_map(|(level, value, tried, purpose)| SearchLevel { level, value, tried, purpose });
    let measure = sample::select(vec![Unit::Nanoseconds, Unit::Ratio, Unit::Count]);
    let found = (maybe(), maybe(), option::of((figure(), figure())));
    (name(), kind(), measure, found, collection::vec(level, 0..20)).prop_map(
        |(title, kind, measure, (limit, capacity, interval), levels)| {
            let (subtitle, objective) = (title.clone(), title.clone());
            Search { title, subtitle, kind, objective, measure, limit, levels, capacity, interval }
                .chart()
        },
    )
}

fn demand() -> impl Strategy<Value = Chart> {
    let parts = collection::vec((figure(), figure()), 0..60);
    (name(), parts, figure(), (figure(), figure())).prop_map(|(title, parts, step_s, peak)| {
        Demand { subtitle: title.clone(), title, parts, step_s, peak }.chart()
    })
}

fn watched() -> impl Strategy<Value = Chart> {
    let of = (name(), collection::vec((figure(), figure()), 0..30))
        .prop_map(|(heading, points)| WatchedFigure { heading, points });
    (name(), (figure(), figure()), collection::vec(of, 0..5), collection::vec(span(), 0..4))
        .prop_map(|(title, from_to_s, figures, spans)| {
            Watched { subtitle: title.clone(), title, from_to_s, figures, spans }.chart()
        })
}

fn by_hours() -> impl Strategy<Value = Chart> {
    collection::vec(any::<u64>(), 0..30).prop_map(|requests| by_hour(&requests))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_figures_make_a_sound_page(
        chart in prop_oneof![
            prop_oneof![curve(), success(), diff(), timeline(), heat(), spectrum()],
            prop_oneof![effects(), search(), demand(), watched(), by_hours()],
        ],
        inline in any::<bool>(),
    ) {
        let svg = chart.to_svg(if inline { Theme::Inline } else { Theme::Standalone });
        let checked = Page::read(&svg).and_then(|page| page.check());
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
        prop_assert!(crate::chart::png::parse(&svg, &[]).is_ok());
        let table = chart.table();
        prop_assert!(table.rows.iter().all(|row| row.len() == table.headers.len()));
    }
}
