//! Units as people write and read them: durations with `us ms s m h`, counts with `k M G`.
//! Inside the project time is integer nanoseconds; floats appear only where a rate is meant.

use std::fmt;

use crate::quote::grouped;

/// Nanoseconds, the only unit of time in memory and on disk.
pub type Nanos = u64;

/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const MILLISECOND: Nanos = 1_000_000;
/// Nanoseconds in a microsecond.
pub const MICROSECOND: Nanos = 1_000;

/// The longest duration accepted anywhere: 10 years.
pub const LONGEST: Nanos = 10 * 365 * 24 * 3600 * SECOND;

/// What may stand behind a rate.
const PER_SECOND: [&str; 3] = ["/s", "rps", "qps"];

/// Why a number with a unit could not be read. `Display` says what was wrong and what would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    message: String,
}

impl UnitError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}

/// Reads a duration: `110ms`, `1.5s`, `2m`, `1m30s`, `1h`, `250us`, `800ns`; a bare number means seconds,
/// as in wrk. Zero is allowed here; callers that need more say so themselves.
///
/// # Errors
/// On anything but finite, non-negative decimal numbers with known units, or above ten years.
pub fn parse_duration(text: &str) -> Result<Nanos, UnitError> {
    let (mut nanos, mut rest, mut above) = (0.0, text.trim(), f64::INFINITY);
    loop {
        let (number, after) = split_number(rest, "a duration such as 500ms, 10s or 1m30s")?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let unit = after[..end].trim_end();
        if unit.is_empty() && rest != text.trim() {
            return Err(UnitError::new(format!("the last part of `{text}` needs a unit")));
        }
        let length = nanos_of(unit, text)?;
        if length >= above {
            return Err(UnitError::new(format!(
                "`{unit}` stands twice or too late in `{text}`: the longest unit comes first, each once"
            )));
        }
        above = length;
        nanos += (number * length).round();
        rest = &after[end..];
        if rest.is_empty() {
            break;
        }
    }
    if nanos > LONGEST as f64 {
        return Err(UnitError::new(format!("`{text}` is longer than ten years")));
    }
    Ok(nanos as Nanos)
}

/// The nanoseconds of a unit that stands in `text`.
fn nanos_of(unit: &str, text: &str) -> Result<f64, UnitError> {
    Ok(match unit {
        "ns" => 1.0,
        "us" | "µs" => MICROSECOND as f64,
        "ms" => MILLISECOND as f64,
        "" | "s" | "S" | "sec" | "secs" => SECOND as f64,
        "m" | "M" | "min" | "mins" => 60.0 * SECOND as f64,
        "h" | "H" => 3600.0 * SECOND as f64,
        "d" => 86400.0 * SECOND as f64,
        _ => {
            return Err(UnitError::new(format!(
                "unknown unit `{unit}` in `{text}`: use ns, us, ms, s, m, h or d"
            )));
        }
    })
}

/// Reads a count with an optional SI suffix: `200`, `1k`, `1M`, `2.5k`, `1e3`. Suffixes are powers of 1000.
///
/// # Errors
/// When the text is not a whole, non-negative number up to 10^15 after scaling.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let value = parse_si(text, "a count such as 200, 1k or 1M")?;
    if value.fract() != 0.0 {
        return Err(UnitError::new(format!("`{text}` is not a whole number")));
    }
    if value > 1e15 {
        return Err(UnitError::new(format!("`{text}` is more than anything here can count")));
    }
    Ok(value as u64)
}

/// Reads a rate per second with an optional SI suffix; fractions are welcome: `0.5`, `20k`, `100/s`, `100rps`, `1e3`.
///
/// # Errors
/// When the text is not a finite number, not above zero, or above 10^9.
pub fn parse_rate(text: &str) -> Result<f64, UnitError> {
    let number = text.trim();
    if let Some((_, unit)) = number.split_once('/').filter(|(_, unit)| *unit != "s") {
        return Err(UnitError::new(format!(
            "`{text}` is per `{unit}`; a rate per second is wanted, such as 1000, 2.5 or 20k"
        )));
    }
    let per_second = PER_SECOND.iter().find_map(|unit| number.strip_suffix(unit));
    let number = per_second.unwrap_or(number);
    let value = parse_si(number, "a rate per second such as 1000, 2.5 or 20k")?;
    if value <= 0.0 {
        // What a list makes of `1,000`.
        let hint = if number == "000" { "; a thousand is written 1000" } else { "" };
        return Err(UnitError::new(format!("a rate must be above zero, not `{text}`{hint}")));
    }
    if value > 1e9 {
        return Err(UnitError::new(format!(
            "`{text}` per second is more than 1G, the highest rate"
        )));
    }
    Ok(value)
}

fn parse_si(text: &str, wanted: &str) -> Result<f64, UnitError> {
    let (number, unit) = split_number(text, wanted)?;
    let exponent = unit.strip_prefix(['e', 'E']).and_then(|digits| digits.parse::<u8>().ok());
    let scale = match unit {
        "" => 1.0,
        _ if exponent.is_some() => 10_f64.powi(exponent.unwrap_or(0).into()),
        "k" | "K" => 1e3,
        "M" | "m" => 1e6,
        "G" | "g" => 1e9,
        _ if unit.starts_with([',', '-']) => {
            let what = if unit.starts_with(',') { "list" } else { "range" };
            return Err(UnitError::new(format!("`{text}` is a {what}; one number is wanted here")));
        }
        _ => {
            return Err(UnitError::new(format!(
                "unknown suffix `{unit}` in `{text}`: use k, M or G"
            )));
        }
    };
    Ok(number * scale)
}

fn split_number<'a>(text: &'a str, wanted: &str) -> Result<(f64, &'a str), UnitError> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(UnitError::new(format!("`{text}` is negative; expected {wanted}")));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end]
        .parse::<f64>()
        .map_err(|_| UnitError::new(format!("`{text}` is not {wanted}")))?;
    if !number.is_finite() {
        return Err(UnitError::new(format!("`{text}` is too large; expected {wanted}")));
    }
    if let Some(plain) = ungrouped(text) {
        return Err(UnitError::new(format!("`{text}` is not read as one number: write {plain}")));
    }
    Ok((number, text[end..].trim_start()))
}

/// The text without the separators of its first number, where that stands in groups of three digits as results show it:
/// `1000s` of `1,000s`. It is refused rather than read: a list of three-digit numbers looks the same.
pub fn ungrouped(text: &str) -> Option<String> {
    let separators = [',', '_'];
    let ends = |c: char| !c.is_ascii_digit() && !separators.contains(&c);
    let (number, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
    let (first, others) = number.split_once(separators)?;
    let in_groups =
        (1..=3).contains(&first.len()) && others.split(separators).all(|group| group.len() == 3);
    in_groups.then(|| format!("{}{rest}", number.replace(separators, "")))
}

/// Shows a duration with three significant digits in the unit that fits: `85.3us`, `4.33ms`, `1.20s`. What would be
/// rounded up to 1000 of a unit is shown in the next one.
pub fn show_duration(nanos: Nanos) -> String {
    let value = nanos as f64;
    match nanos {
        0..MICROSECOND => format!("{nanos}ns"),
        MICROSECOND..999_500 => format!("{}us", three_digits(value / 1e3)),
        999_500..999_500_000 => format!("{}ms", three_digits(value / 1e6)),
        _ if value < 120e9 => format!("{}s", three_digits(value / 1e9)),
        _ if value < 7200e9 => format!("{}m", three_digits(value / 60e9)),
        _ => format!("{}h", three_digits(value / 3600e9)),
    }
}

/// Shows a duration as a person would type it on a command line, exactly: `10s`, `110ms`, `1500us`.
pub fn exact_duration(nanos: Nanos) -> String {
    for (unit, scale) in
        [("h", 3600 * SECOND), ("m", 60 * SECOND), ("s", SECOND), ("ms", MILLISECOND), ("us", 1000)]
    {
        if nanos >= scale && nanos.is_multiple_of(scale) {
            return format!("{}{unit}", nanos / scale);
        }
    }
    if nanos == 0 { "0s".to_owned() } else { format!("{nanos}ns") }
}

/// Shows a rate that is above 0: whole from 100 on, else with three digits, wherever they begin: `8,023`, `2.5`, `0.000123`.
pub fn show_rate(per_s: f64) -> String {
    if per_s >= 100.0 {
        return grouped(per_s.round() as u64);
    }
    format!("{per_s:.2e}").parse::<f64>().unwrap_or(per_s).to_string()
}

fn three_digits(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_written() {
        for (text, nanos) in [
            ("10", 10 * SECOND),
            ("10s", 10 * SECOND),
            ("1.5s", 1_500_000_000),
            ("110ms", 110_000_000),
            ("1m30s", 90 * SECOND),
            ("1h 2m 3s", 3_723 * SECOND),
            ("250us", 250_000),
            ("7ns", 7),
            ("2m", 120 * SECOND),
            ("1min 30sec", 90 * SECOND),
            ("1h", 3600 * SECOND),
            (" 3 s ", 3 * SECOND),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn rates_are_never_shown_as_none() {
        for (per_s, shown) in [
            (8022.9, "8,023"),
            (99.97, "100"),
            (20.0, "20"),
            (2.5, "2.5"),
            (1.0 / 3.0, "0.333"),
            (0.1, "0.1"),
            (1.0 / 8100.0, "0.000123"),
        ] {
            assert_eq!(show_rate(per_s), shown);
        }
    }

    #[test]
    fn refused_durations_say_why() {
        for (text, needle) in [
            ("", "not a duration"),
            ("ten", "not a duration"),
            ("-1s", "negative"),
            ("5 parsecs", "unknown unit"),
            ("999999999h", "ten years"),
            ("1.2.3s", "not a duration"),
            ("nan", "not a duration"),
            ("inf", "not a duration"),
            ("1m30", "needs a unit"),
            ("1m30x", "unknown unit `x`"),
            ("1,000ms", "`1,000ms` is not read as one number: write 1000ms"),
            ("1h1s1h", "`h` stands twice or too late"),
            ("1s30m", "`m` stands twice or too late"),
        ] {
            let message = parse_duration(text).unwrap_err().to_string();
            assert!(message.contains(needle), "{text}: {message}");
        }
    }

    #[test]
    fn counts_and_rates_take_si_suffixes() {
        assert_eq!(parse_count("1k"), Ok(1000));
        assert_eq!(parse_count("1M"), Ok(1_000_000));
        assert_eq!(parse_count("2.5k"), Ok(2500));
        assert!(parse_count("2.5").is_err());
        assert_eq!(parse_count("1e9"), Ok(1_000_000_000));
        assert!(parse_count("1e200").is_err());
        for text in ["100/s", "100rps", "100 qps", " 100 "] {
            assert_eq!(parse_rate(text), Ok(100.0), "{text}");
        }
        let per_minute = parse_rate("6000/m").unwrap_err().to_string();
        assert!(per_minute.contains("is per `m`; a rate per second is wanted"), "{per_minute}");
        assert_eq!(parse_rate("1e3"), Ok(1000.0));
        assert!(parse_rate("1e10").is_err());
        assert_eq!(parse_rate("0.5"), Ok(0.5));
        assert_eq!(parse_rate("20k"), Ok(20_000.0));
        assert!(parse_rate("0").is_err());
        assert!(parse_rate("-3").is_err());
        assert!(parse_rate("5G").is_err());
    }

    #[test]
    fn numbers_in_groups_of_three_digits_are_answered_by_how_to_write_them() {
        for (text, plain) in [
            ("1,000", Some("1000")),
            ("1_000", Some("1000")),
            ("12,345,678", Some("12345678")),
            ("1,000.5", Some("1000.5")),
            ("1,8,64", None),
            ("1,000,", None),
            ("1000,200", None),
            (",000", None),
            ("1000", None),
            ("", None),
        ] {
            assert_eq!(ungrouped(text).as_deref(), plain, "{text}");
        }
        let refused = |error: UnitError| error.to_string();
        let wanted = "`1,000` is not read as one number: write 1000";
        assert_eq!(parse_count("1,000").map_err(refused), Err(wanted.to_owned()));
        assert_eq!(parse_rate("1,000").map_err(refused), Err(wanted.to_owned()));
        let in_a_list = parse_rate("000").unwrap_err().to_string();
        assert!(in_a_list.contains("a thousand is written 1000"), "{in_a_list}");
        let list = parse_count("1,8,64").unwrap_err().to_string();
        assert!(list.contains("is a list"), "{list}");
    }

    #[test]
    fn shown_with_three_digits() {
        for (nanos, text) in [
            (850, "850ns"),
            (85_310, "85.3us"),
            (4_330_000, "4.33ms"),
            (99_960_000, "100ms"),
            (999_499, "999us"),
            (999_500, "1.00ms"),
            (999_999_999, "1.00s"),
            (1_200_000_000, "1.20s"),
            (600 * SECOND, "10.0m"),
        ] {
            assert_eq!(show_duration(nanos), text);
        }
        assert_eq!(exact_duration(90 * SECOND), "90s");
        assert_eq!(exact_duration(110 * MILLISECOND), "110ms");
        assert_eq!(exact_duration(3600 * SECOND), "1h");
    }
}
