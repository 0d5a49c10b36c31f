//! Figures in files of other tools: plain decimals, within bounds, with the precision they were
//! printed with. What is no such figure is refused, never guessed.

use model::units::{LONGEST, MICROSECOND, MILLISECOND, Nanos, SECOND};

use crate::BadFile;
use model::quote::quote;

/// The highest count or rate accepted: more than a machine can do.
pub(crate) const HIGHEST: f64 = 1e15;

/// A latency as printed, and how far it may lie from what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Printed {
    pub ns: Nanos,
    pub error_ns: Nanos,
}

/// A decimal such as `75613.16`, from 0 to 10^15.
pub(crate) fn number(line: usize, what: &str, word: &str) -> Result<f64, BadFile> {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let value = word.chars().all(numeric).then(|| word.parse::<f64>().ok()).flatten();
    let Some(value) = value else {
        return Err(BadFile::at(line, format!("{what}: {} is not a number", quote(word))));
    };
    bounded(value).map_err(|why| BadFile::at(line, format!("{what}: {} {why}", quote(word))))
}

/// A number from JSON, from 0 to 10^15.
pub(crate) fn plain_number(what: &str, value: f64) -> Result<f64, BadFile> {
    bounded(value).map_err(|why| BadFile::whole(format!("`{what}` {why}: {value}")))
}

fn bounded(value: f64) -> Result<f64, &'static str> {
    if value.is_nan() {
        Err("is not a number")
    } else if value.is_sign_negative() && value != 0.0 {
        Err("is negative")
    } else if value > HIGHEST {
        Err("is too large")
    } else {
        Ok(value)
    }
}

/// A count; what is printed with a fraction is cut to the whole.
pub(crate) fn count(line: usize, what: &str, word: &str) -> Result<u64, BadFile> {
    number(line, what, word).map(|value| value as u64)
}

/// A latency with its unit attached, such as `508.77ms`.
pub(crate) fn duration(line: usize, what: &str, word: &str) -> Result<Printed, BadFile> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    in_unit(line, what, digits, unit)
}

/// A latency whose unit stands apart, such as `0.0022` and `secs`.
pub(crate) fn in_unit(
    line: usize,
    what: &str,
    digits: &str,
    unit: &str,
) -> Result<Printed, BadFile> {
    let scale = match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" | "sec" | "secs" | "seconds" => SECOND,
        // oha counts in tens where its slowest response took more than ten.
        "10 sec" => 10 * SECOND,
        "m" | "min" => 60 * SECOND,
        "10 min" => 600 * SECOND,
        "h" | "hr" => 3600 * SECOND,
        _ => {
            let what = format!("{what}: {} is not a unit of time", quote(unit));
            return Err(BadFile::at(line, what));
        }
    };
    let value = number(line, what, digits)?;
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let step = scale as f64 / 10f64.powi(decimals.min(18) as i32);
    let ns = nanos(value * scale as f64)
        .ok_or_else(|| BadFile::at(line, format!("{what}: longer than ten years")))?;
    Ok(Printed { ns, error_ns: (step / 2.0).round() as Nanos })
}

/// Nanoseconds from a float; none above ten years.
pub(crate) fn nanos(value: f64) -> Option<Nanos> {
    (value <= LONGEST as f64).then(|| value.round() as Nanos)
}

/// A JSON latency in units of `scale` nanoseconds.
pub(crate) fn json_nanos(what: &str, value: f64, scale: Nanos) -> Result<Nanos, BadFile> {
    let value = plain_number(what, value)?;
    nanos(value * scale as f64)
        .ok_or_else(|| BadFile::whole(format!("`{what}` is longer than ten years: {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_keep_the_precision_they_were_printed_with() {
        for (word, ns, error_ns) in [
            ("508.77ms", 508_770_000, 5_000),
            ("9.27s", 9_270_000_000, 5_000_000),
            ("302.00us", 302_000, 5),
            ("1.00m", 60_000_000_000, 300_000_000),
            ("17ms", 17_000_000, 500_000),
            ("0.00us", 0, 5),
        ] {
            assert_eq!(duration(1, "x", word), Ok(Printed { ns, error_ns }), "{word}");
        }
        let tens = in_unit(1, "x", "1.2345", "10 sec");
        assert_eq!(tens, Ok(Printed { ns: 12_345_000_000, error_ns: 500_000 }));
        let apart = in_unit(1, "x", "0.0022", "secs");
        assert_eq!(apart, Ok(Printed { ns: 2_200_000, error_ns: 50_000 }));
    }

    #[test]
    fn what_is_no_figure_is_refused_with_its_place() {
        for (result, needle) in [
            (number(3, "QPS", "nan"), "line 3: QPS: `nan` is not a number"),
            (number(3, "QPS", "inf"), "is not a number"),
            (number(3, "QPS", "-1"), "is negative"),
            (number(3, "QPS", "1e999"), "is too large"),
            (number(3, "QPS", "--"), "is not a number"),
            (duration(3, "mean", "5parsecs").map(|p| p.ns as f64), "`parsecs` is not a unit"),
            (duration(3, "mean", "ms").map(|p| p.ns as f64), "`` is not a number"),
            (duration(3, "mean", "999999999h").map(|p| p.ns as f64), "ten years"),
            (plain_number("rate", -2.0), "`rate` is negative: -2"),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(needle), "{error}");
        }
    }
}
