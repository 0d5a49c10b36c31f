//! Figures as sentences print them, so that a report, a table and a reason spell them alike.

use model::LevelKind;
use model::quote::group_digits;

/// A number with its thousands apart and a fixed number of decimals: `147,833.70`.
pub fn grouped(value: f64, decimals: usize) -> String {
    group_digits(&format!("{value:.decimals$}"))
}

/// A number with what it counts: `1 request`, `2,000 requests`.
pub fn counted(n: f64, thing: &str) -> String {
    let n = grouped(n, 0);
    let s = if n == "1" { "" } else { "s" };
    format!("{n} {thing}{s}")
}

/// How often something came to pass: `once`, `2,000 times`.
pub fn often(n: f64) -> String {
    if n == 1.0 { "once".to_owned() } else { format!("{} times", grouped(n, 0)) }
}

/// A rate per second: whole from 100 on, with two decimals below, and with two significant digits below 0.01: `0.0028`.
/// Less than one in a million seconds is `0.00`.
pub fn rate(per_s: f64) -> String {
    let size = per_s.abs();
    let decimals = match size {
        100.0.. => 0,
        1e-6..0.01 => 1 + (-size.log10().floor()) as usize,
        _ => 2,
    };
    grouped(per_s, decimals)
}

/// A ratio in per cent with two decimals: `22.80 %`.
pub fn percent(ratio: f64) -> String {
    format!("{} %", grouped(ratio * 100.0, 2))
}

/// A part of the whole that was held against a limit, in per cent: with more decimals where two would make it the whole,
/// `99.999 %`.
pub fn part(ratio: f64) -> String {
    let shown = |decimals| grouped(ratio * 100.0, decimals);
    let precise = (2..8).map(shown).find(|text| ratio >= 1.0 || !text.starts_with("100"));
    format!("{} %", precise.unwrap_or_else(|| shown(2)))
}

/// One figure over another: in per cent up to ten times, `22.80 %`, and then `45.2x`.
pub fn times(ratio: f64) -> String {
    if ratio < 10.0 { percent(ratio) } else { format!("{}x", grouped(ratio, 1)) }
}

/// A share that is not the whole in per cent, never rounded up to 100: `99.99 %`; `-` of nothing.
pub fn share(ratio: f64) -> String {
    match ratio {
        _ if ratio.is_nan() => "-".to_owned(),
        _ if ratio < 1.0 => percent(ratio.min(0.9999)),
        _ => percent(1.0),
    }
}

/// A level without its unit: `3,000`, or `0.5` for a fractional rate.
pub fn level(level: f64) -> String {
    if level.fract() == 0.0 { grouped(level, 0) } else { level.to_string() }
}

/// A level with its unit: `3,000 connections`, `20,000/s`.
pub fn level_of(kind: LevelKind, value: f64) -> String {
    match kind {
        LevelKind::Concurrency if value == 1.0 => "1 connection".to_owned(),
        LevelKind::Concurrency => format!("{} connections", level(value)),
        LevelKind::Rate => format!("{}/s", level(value)),
    }
}

/// Levels with their unit written once, `4, 8 and 16 connections`; more than eight by their ends.
pub fn levels_of(kind: LevelKind, values: &[f64]) -> String {
    match values {
        [] => String::new(),
        [one] => level_of(kind, *one),
        [first, .., last] if values.len() > 8 => {
            format!("{} levels, from {} to {}", values.len(), level(*first), level_of(kind, *last))
        }
        [before @ .., last] => {
            let before: Vec<String> = before.iter().map(|value| level(*value)).collect();
            format!("{} and {}", before.join(", "), level_of(kind, *last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        for (n, thing, times) in [
            (0.0, "0 requests", "0 times"),
            (1.0, "1 request", "once"),
            (2_000.0, "2,000 requests", "2,000 times"),
        ] {
            assert_eq!((counted(n, "request").as_str(), often(n).as_str()), (thing, times));
        }
        // A mean that is shown as one.
        assert_eq!(counted(1.3, "request"), "1 request");
    }

    #[test]
    fn a_rate_is_nothing_only_where_it_is() {
        for (per_s, text) in [
            (1_234.6, "1,235"),
            (100.0, "100"),
            (99.5, "99.50"),
            (0.01, "0.01"),
            (0.0097, "0.0097"),
            (1.0 / 3_600.0, "0.00028"),
            (-0.002, "-0.0020"),
            (0.001, "0.0010"),
            (1e-9, "0.00"),
            (0.0, "0.00"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(rate(per_s), text, "{per_s}");
        }
    }

    #[test]
    fn thousands_stand_apart() {
        for (value, decimals, text) in [
            (147_833.7, 2, "147,833.70"),
            (0.0, 0, "0"),
            (999.0, 0, "999"),
            (1000.0, 0, "1,000"),
            (1_234_567.0, 0, "1,234,567"),
            (-1234.5, 1, "-1,234.5"),
            (f64::NAN, 2, "NaN"),
            (f64::INFINITY, 2, "inf"),
        ] {
            assert_eq!(grouped(value, decimals), text);
        }
    }

    #[test]
    fn shares_and_levels() {
        assert_eq!(percent(0.228_007), "22.80 %");
        assert_eq!([times(0.9), times(9.5), times(45.232)], ["90.00 %", "950.00 %", "45.2x"]);
        assert_eq!(share(0.99999), "99.99 %");
        assert_eq!(share(1.0), "100.00 %");
        assert_eq!(
            [0.5, 0.99999, 1.0, 1.5].map(part),
            ["50.00 %", "99.999 %", "100.00 %", "150.00 %"]
        );
        assert_eq!(share(f64::NAN), "-");
        assert_eq!(level_of(LevelKind::Concurrency, 3000.0), "3,000 connections");
        assert_eq!(level_of(LevelKind::Concurrency, 1.0), "1 connection");
        assert_eq!(level_of(LevelKind::Rate, 0.5), "0.5/s");
        let many: Vec<f64> = (0..9).map(f64::from).map(|n| n * 1000.0 + 1.0).collect();
        for (values, words) in [
            (&[][..], ""),
            (&[1.0], "1 connection"),
            (&[4.0, 8.0], "4 and 8 connections"),
            (&[4.0, 8.0, 1600.0], "4, 8 and 1,600 connections"),
            (&many, "9 levels, from 1 to 8,001 connections"),
        ] {
            assert_eq!(levels_of(LevelKind::Concurrency, values), words);
        }
    }
}
