//! Numbers on axes: counts with SI suffixes, durations in the unit that fits; and which numbers can be
//! drawn.
//!
//! Owns rounding and units where room is short, nothing about where a number stands. In words a figure
//! is written as everywhere else in text and tables: durations by [`duration`], rates and shares by
//! `crate::figure`. Numbers that programs read (CSV) go through [`plain`] and keep every digit.

use model::quote::group_digits;
use model::units::{Nanos, show_duration};

/// The largest magnitude a chart draws. Anything beyond it, like NaN, counts as "not measured".
pub(super) const LARGEST: f64 = 1e18;

/// `v` where a chart can draw it as a quantity: finite, not negative, at most [`LARGEST`].
pub(super) fn quantity(v: f64) -> Option<f64> {
    (v.is_finite() && (0.0..=LARGEST).contains(&v)).then_some(v)
}

/// `v` with `digits` significant digits, trailing zeros cut.
pub(super) fn significant(v: f64, digits: i32) -> String {
    if v == 0.0 || !v.is_finite() {
        return if v == 0.0 { "0".into() } else { "–".into() };
    }
    let magnitude = v.abs().log10().floor() as i32;
    if !(-5..=14).contains(&magnitude) {
        let text = format!("{v:.*e}", (digits - 1).max(0) as usize);
        let (mantissa, exponent) = text.split_once('e').expect("written with an exponent");
        return format!("{}e{exponent}", trim(mantissa.to_string()));
    }
    let decimals = (digits - 1 - magnitude).max(0) as usize;
    trim(format!("{v:.decimals$}"))
}

fn trim(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

const SI: [(f64, &str); 5] = [(1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P")];

/// A count or rate with three significant digits and an SI suffix: `12.4k`, `648k`, `1.2M`.
pub(super) fn si(v: f64) -> String {
    si_digits(v, 3)
}

/// As [`si`], with `digits` significant digits.
pub(super) fn si_digits(v: f64, digits: i32) -> String {
    if v.abs() < 1e3 {
        let text = significant(v, digits);
        return if text == "1000" { "1k".into() } else { text };
    }
    let mut at = SI.iter().rposition(|(unit, _)| v.abs() >= *unit).unwrap_or(0);
    let mut text = significant(v / SI[at].0, digits);
    if text.trim_start_matches('-') == "1000" && at + 1 < SI.len() {
        at += 1;
        text = significant(v / SI[at].0, digits);
    }
    text + SI[at].1
}

/// A level exactly: `500`, `25k`, `1.5M`, `1,024`; a suffix only where at most two decimals say it
/// all.
pub(super) fn level(v: f64) -> String {
    if v.abs() >= 1e15 || (v != 0.0 && v.abs() < 1e-4) {
        return significant(v, 4);
    }
    for (unit, suffix) in SI.iter().rev() {
        let scaled = v / unit;
        let hundredths = scaled * 100.0;
        if scaled.abs() >= 1.0 && (hundredths - hundredths.round()).abs() < 1e-9 * hundredths.abs()
        {
            return trim(format!("{scaled:.2}")) + suffix;
        }
    }
    grouped(v)
}

/// `v` with thousands separated and at most two decimals: `147,833.7`.
pub(super) fn grouped(v: f64) -> String {
    let text = if v.abs() < 1.0 { significant(v, 4) } else { trim(format!("{v:.2}")) };
    group_digits(&text)
}

/// `v` for programs: the shortest text that reads back as `v` to twelve digits, nothing where `v`
/// is not finite.
///
/// Twelve, because seconds times a thousand would otherwise drag their rounding error into every
/// file.
pub(super) fn plain(v: f64) -> String {
    if !v.is_finite() {
        return String::new();
    }
    let rounded: f64 = format!("{v:.11e}").parse().unwrap_or(v);
    let magnitude = rounded.abs();
    if magnitude != 0.0 && !(1e-9..1e18).contains(&magnitude) {
        format!("{rounded:e}")
    } else {
        format!("{rounded}")
    }
}

/// The unit a duration is read in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeUnit {
    /// Seconds in one unit.
    pub seconds: f64,
    /// Its symbol.
    pub symbol: &'static str,
}

const TIME_UNITS: [(TimeUnit, f64); 6] = [
    (TimeUnit { seconds: 1e-9, symbol: "ns" }, 1e-6),
    (TimeUnit { seconds: 1e-6, symbol: "us" }, 1e-3),
    (TimeUnit { seconds: 1e-3, symbol: "ms" }, 1.0),
    (TimeUnit { seconds: 1.0, symbol: "s" }, 120.0),
    (TimeUnit { seconds: 60.0, symbol: "m" }, 7200.0),
    (TimeUnit { seconds: 3600.0, symbol: "h" }, f64::INFINITY),
];

impl TimeUnit {
    /// The unit in which `max_s` seconds is a number of convenient size.
    pub(super) fn fitting(max_s: f64) -> TimeUnit {
        TIME_UNITS.iter().find(|(_, below)| max_s < *below).map_or(TIME_UNITS[2].0, |(u, _)| *u)
    }
}

/// A measured duration with three significant digits, as text and tables have it: `344ms`, `1.20s`.
pub(super) fn duration(seconds: f64) -> String {
    // No run has measured others, and nanoseconds do not hold them.
    if !(0.0..=1e10).contains(&seconds) {
        return round_duration(seconds);
    }
    show_duration((seconds * 1e9).round() as Nanos)
}

/// A duration that was chosen, as a person types it: `100ms`, `2.5s`.
pub(super) fn round_duration(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0s".into();
    }
    let unit = TimeUnit::fitting(seconds.abs());
    let amount = seconds / unit.seconds;
    let text = significant(amount, 3);
    if text == "1000" {
        return round_duration(unit.seconds * 1000.0);
    }
    let text = if amount.abs() >= 1e3 { si(amount) } else { text };
    format!("{text}{}", unit.symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_carry_si_suffixes() {
        for (v, text) in [
            (0.0, "0"),
            (0.05, "0.05"),
            (7.0, "7"),
            (999.4, "999"),
            (999.7, "1k"),
            (12_412.0, "12.4k"),
            (999_960.0, "1M"),
            (648_380.78, "648k"),
            (1.2e6, "1.2M"),
            (1e12, "1T"),
            (2.5e17, "250P"),
            (3e-9, "3e-9"),
        ] {
            assert_eq!(si(v), text, "{v}");
        }
    }

    #[test]
    fn levels_are_exact() {
        for (v, text) in [
            (1.0, "1"),
            (1000.0, "1k"),
            (1024.0, "1,024"),
            (1250.0, "1.25k"),
            (25_000.0, "25k"),
            (32_768.0, "32,768"),
            (1e6, "1M"),
            (12.5, "12.5"),
            (0.25, "0.25"),
        ] {
            assert_eq!(level(v), text, "{v}");
        }
    }

    #[test]
    fn round_durations_pick_their_unit() {
        for (s, text) in [
            (0.0, "0s"),
            (3e-9, "3ns"),
            (4.2e-6, "4.2us"),
            (0.1, "100ms"),
            (0.999_96, "1s"),
            (2.5, "2.5s"),
            (90.0, "90s"),
            (150.0, "2.5m"),
            (10_800.0, "3h"),
            (3600.0 * 12_345.0, "12.3kh"),
        ] {
            assert_eq!(round_duration(s), text, "{s}");
        }
    }

    #[test]
    fn measured_durations_read_as_in_tables() {
        for (s, text) in [
            (0.000_442_13, "442us"),
            (0.344_17, "344ms"),
            (1.2, "1.20s"),
            (150.0, "2.50m"),
            (1e17, "27.8Th"),
        ] {
            assert_eq!(duration(s), text, "{s}");
        }
    }

    #[test]
    fn programs_get_every_digit_and_no_rounding_dirt() {
        assert_eq!(plain(0.000_442_13 * 1e3), "0.44213");
        assert_eq!(plain(540_539.65), "540539.65");
        assert_eq!(plain(f64::NAN), "");
        assert_eq!(plain(1e300), "1e300");
        assert_eq!(plain(-0.0), "-0");
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(147_833.70), "147,833.7");
        assert_eq!(grouped(-1_234_567.0), "-1,234,567");
        assert_eq!(grouped(12.0), "12");
    }
}
