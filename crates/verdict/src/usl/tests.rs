use model::SuccessMeaning;
use model::percentile::LevelPercentiles;

use super::*;

/// A Cisco benchmark that Schwartz (Practical Scalability Analysis with the Universal Scalability
/// Law, 2015) fits to lambda 995.6486, sigma 0.02671591, kappa 7.690945e-4: QPS at 1 to 32 threads.
const REFERENCE: [f64; 32] = [
    955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61,
    8278.71, 8646.7, 9047.84, 9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52,
    11151.43, 11518.63, 11806.0, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93, 12155.27,
    12118.04, 12140.4, 12074.39,
];

fn curve(points: impl IntoIterator<Item = (f64, f64)>) -> Curve {
    let row = |(level, qps)| CurveRow {
        level,
        offered_per_s: None,
        sessions: None,
        responded_ratio: None,
        qps,
        mean_ns: 1,
        percentiles: LevelPercentiles::default(),
        success: Some(1.0),
        verdict: Some(Verdict::Valid),
        reason: None,
        cut_short: false,
    };
    Curve {
        name: "a".into(),
        kind: LevelKind::Concurrency,
        rows: points.into_iter().map(row).collect(),
        origin: None,
        success_means: SuccessMeaning::Unstated,
        environment: None,
        commonest_response: None,
        change: None,
    }
}

fn reference() -> Curve {
    curve((1..).map(f64::from).zip(REFERENCE))
}

#[track_caller]
fn close(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() <= within, "{found} instead of {expected}");
}

#[test]
fn the_reference_data_give_the_published_coefficients() {
    let usl = of(&reference()).unwrap();
    for (name, found, published) in [
        ("lambda", usl.lambda, 995.6486),
        ("sigma", usl.sigma, 0.026_715_91),
        ("kappa", usl.kappa, 7.690_945e-4),
    ] {
        let off = (found / published - 1.0).abs();
        let met = if off <= 0.001 { "yes" } else { "no" };
        println!(
            "truth | USL reference data, {name} | within 0.1 % | {:.5} % | {met}",
            off * 100.0
        );
        close(found, published, 0.001);
    }
    close(usl.r2, 0.9972, 0.001);
    let peak = usl.peak.unwrap();
    close(peak.level, 35.57, 0.001);
    close(peak.qps, 12_342.0, 0.001);
    assert!(peak.extrapolated, "{peak:?}");
    assert!(peak.level_low < 35.57 && peak.level_high.is_some_and(|high| high > 35.57), "{peak:?}");
    // The delta method with Student's t on 29 degrees of freedom gives 31.64 to 39.51.
    close(peak.level_low, 31.64, 0.03);
    close(peak.level_high.unwrap(), 39.51, 0.03);
}

/// Doubling levels on a given law, with and without its terms.
#[test]
fn a_law_is_found_again() {
    for (lambda, sigma, kappa) in [
        (5000.0, 0.05, 1e-4),
        (120.0, 0.3, 0.0),
        (9e4, 0.0, 1e-3),
        (10.0, 0.0, 0.0),
        (3e4, 0.2, 1e-7),
    ] {
        let law = Law { lambda, sigma, kappa };
        let levels = (0..11).map(|power| f64::from(1 << power));
        let usl = of(&curve(levels.map(|n| (n, law.at(n))))).unwrap();
        close(usl.lambda, lambda, 1e-6);
        assert!((usl.sigma - sigma).abs() < 1e-6 && (usl.kappa - kappa).abs() < 1e-9, "{usl:?}");
        let within = law.peak().filter(|level| *level <= 1536.0);
        assert_eq!(usl.peak.is_some(), within.is_some(), "{usl:?}");
    }
}

#[test]
fn points_that_do_not_support_the_law_are_refused() {
    let levels = |n: usize| (1..=n).map(|i| (i as f64, 100.0 * i as f64));
    let zigzag = (1..20).map(|i| (f64::from(i), if i % 2 == 0 { 100.0 } else { 900.0 }));
    let mut rates = reference();
    rates.kind = LevelKind::Rate;
    let mut bounds = reference();
    bounds.rows.iter_mut().skip(5).for_each(|row| row.verdict = Some(Verdict::LowerBound));
    for (curve, needle) in [
        (curve([]), "there are 0"),
        (curve(levels(5)), "there are 5"),
        (bounds, "there are 5"),
        (curve((10..20).map(|i| (f64::from(i), 1.0))), "too close together"),
        (curve(zigzag), "do not follow the law"),
        (rates, "these levels are rates"),
    ] {
        let refused = of(&curve).unwrap_err();
        assert!(refused.contains(needle), "{refused}");
    }
}

#[test]
fn hostile_figures_do_not_panic() {
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0, f64::MAX, f64::MIN_POSITIVE] {
        let _ = of(&curve((1..10).map(|i| (f64::from(i), bad))));
        let _ = of(&curve((1..10).map(|i| (bad * f64::from(i), f64::from(i)))));
        let _ = of(&curve((1..10).map(|i| (f64::from(i), if i == 5 { bad } else { 10.0 }))));
    }
}

#[test]
fn what_it_means_in_words() {
    let text = words(&of(&reference()).unwrap());
    for needle in [
        "fitted to 32 levels from 1 to 32 connections",
        "Contention 0.0267: 2.67 % of the work is serialized, so no number of connections yields more \
         than 37,26",
        "It predicts a peak of 12,34",
        "at 36 connections",
        "beyond the highest level measured",
    ] {
        assert!(text.contains(needle), "{text}");
    }
    let straight = words(&of(&curve((1..9).map(|i| (f64::from(i), 10.0 * f64::from(i))))).unwrap());
    assert!(straight.contains("no peak near the levels measured"), "{straight}");
}
