//! Result tables that others published, as curves.

use model::percentile::LevelPercentiles;
use model::{Curve, CurveRow, LevelKind, SuccessMeaning};

/// The tables as they were published: concurrency, QPS, mean ms, success in %.
type Table = [(f64, f64, f64, f64); 14];

#[rustfmt::skip]
mod tables {
    use super::Table;
    pub const NATIVE: Table = [
        (200.0, 107975.55, 2.18, 100.00),
        (500.0, 387894.92, 2.52, 100.00),
        (1000.0, 512223.67, 5.89, 100.00),
        (3000.0, 599781.96, 27.75, 100.00),
        (5000.0, 623458.30, 52.72, 100.00),
        (10000.0, 640701.55, 134.92, 100.00),
        (15000.0, 644269.17, 222.44, 100.00),
        (20000.0, 646675.63, 257.28, 100.00),
        (25000.0, 648380.78, 344.17, 100.00),
        (50000.0, 642420.16, 305.24, 99.99),
        (100000.0, 572197.78, 118.41, 99.84),
        (200000.0, 372247.81, 154.68, 99.31),
        (500000.0, 110261.20, 181.90, 96.90),
        (1000000.0, 20954.71, 198.87, 83.15),
    ];
    pub const BEFORE: Table = [
        (200.0, 145651.44, 1.28, 100.00),
        (500.0, 143562.75, 4.30, 100.00),
        (1000.0, 144860.93, 8.79, 100.00),
        (3000.0, 147833.70, 30.91, 100.00),
        (5000.0, 146953.40, 52.75, 100.00),
        (10000.0, 144015.46, 108.19, 100.00),
        (15000.0, 140960.03, 164.76, 100.00),
        (20000.0, 140586.00, 218.57, 100.00),
        (25000.0, 140783.38, 272.12, 100.00),
        (50000.0, 139312.92, 462.26, 99.93),
        (100000.0, 127629.61, 419.98, 99.28),
        (200000.0, 90035.14, 483.31, 97.14),
        (500000.0, 25118.75, 743.60, 86.08),
        (1000000.0, 12304.60, 819.44, 71.78),
    ];
    pub const AFTER: Table = [
        (200.0, 540539.65, 0.44213, 100.00),
        (500.0, 536362.78, 1.89, 100.00),
        (1000.0, 529081.92, 5.61, 100.00),
        (3000.0, 535506.99, 30.00, 100.00),
        (5000.0, 539251.92, 55.10, 100.00),
        (10000.0, 541375.64, 131.69, 100.00),
        (15000.0, 547164.96, 127.14, 100.00),
        (20000.0, 550434.18, 282.16, 100.00),
        (25000.0, 553335.38, 222.91, 100.00),
        (50000.0, 538144.69, 174.27, 99.98),
        (100000.0, 457695.17, 130.28, 99.80),
        (200000.0, 305915.69, 193.37, 99.16),
        (500000.0, 87672.39, 241.65, 96.14),
        (1000000.0, 20351.67, 231.12, 82.99),
    ];
}

/// One of the published tables as the curve that a `.dat` is: `native`, `before` or `after`.
pub(crate) fn published(name: &str) -> Curve {
    let table = match name {
        "native" => tables::NATIVE,
        "before" => tables::BEFORE,
        "after" => tables::AFTER,
        _ => panic!("no table `{name}` was published"),
    };
    let row = |(level, qps, mean_ms, percent): (f64, f64, f64, f64)| CurveRow {
        level,
        offered_per_s: None,
        sessions: None,
        responded_ratio: None,
        qps,
        mean_ns: (mean_ms * 1e6).round() as u64,
        percentiles: LevelPercentiles::default(),
        success: Some(percent / 100.0),
        verdict: None,
        reason: None,
        cut_short: false,
    };
    Curve {
        name: name.to_owned(),
        kind: LevelKind::Concurrency,
        rows: table.into_iter().map(row).collect(),
        origin: None,
        success_means: SuccessMeaning::Unstated,
        environment: None,
        commonest_response: None,
        change: None,
    }
}
