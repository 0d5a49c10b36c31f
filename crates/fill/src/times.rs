//! Dates and times as integers and as the text of SQL. UTC throughout: what the session's zone is set to.

use std::fmt::Write as _;

use jiff::civil;
use jiff::tz::TimeZone;

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub const DAY: i64 = 86_400 * SECOND;

/// Appends `2026-11-23`.
pub fn write_date(days: i64, out: &mut String) {
    // A row may hold several times, and a general calendar costs ten times as much.
    let (year, month, day) = model::date::civil(days);
    // Writing to a String cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

/// Appends `07:45:00`, with microseconds where there are some.
pub fn write_time(micros: i64, out: &mut String) {
    let seconds = micros.div_euclid(SECOND);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let _ = write!(out, "{hour:02}:{minute:02}:{second:02}");
    let part = micros.rem_euclid(SECOND);
    if part > 0 {
        let _ = write!(out, ".{part:06}");
    }
}

/// Appends `2026-11-23 07:45:00`, with microseconds where there are some.
pub fn write_moment(micros: i64, out: &mut String) {
    write_date(micros.div_euclid(DAY), out);
    out.push(' ');
    write_time(micros.rem_euclid(DAY), out);
}

/// Days since 1970-01-01 of `2026-11-23`; what follows the date is left out. None of a year before the first one, as
/// PostgreSQL shows it.
pub fn parse_date(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.ends_with(" BC") {
        return None;
    }
    let date: civil::Date = text.get(..10)?.parse().ok()?;
    Some(moment_of(date.at(0, 0, 0, 0))?.div_euclid(DAY))
}

/// Microseconds since midnight of `07:45:00.25`.
pub fn parse_time(text: &str) -> Option<i64> {
    let plain = text.trim().split(['+', '-']).next()?;
    let time: civil::Time = plain.parse().ok()?;
    let nanos = time.duration_since(civil::Time::midnight()).as_nanos();
    i64::try_from(nanos / 1000).ok()
}

/// Microseconds since 1970 of `2026-11-23 07:45:00.25+00` (or `+00:00`, `Z`), of a `T` instead of the blank, and of a date alone.
pub fn parse_moment(text: &str) -> Option<i64> {
    let text = text.trim();
    let plain =
        ["+00:00", "+00", "Z"].into_iter().find_map(|zone| text.strip_suffix(zone)).unwrap_or(text);
    if plain.len() == 10 {
        return parse_date(plain)?.checked_mul(DAY);
    }
    moment_of(plain.parse().ok()?)
}

fn moment_of(datetime: civil::DateTime) -> Option<i64> {
    Some(datetime.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(micros in -60_000_000_000_000_000_i64..200_000_000_000_000_000) {
            let mut text = String::new();
            write_moment(micros, &mut text);
            prop_assert_eq!(parse_moment(&text), Some(micros), "{}", text);
            let mut date = String::new();
            write_date(micros.div_euclid(DAY), &mut date);
            prop_assert_eq!(parse_date(&date), Some(micros.div_euclid(DAY)));
        }
    }

    #[test]
    fn forms_of_the_three_databases_are_read() {
        assert_eq!(parse_moment("1970-01-01 00:00:01.5+00"), Some(1_500_000));
        assert_eq!(parse_moment("1970-01-02T00:00:00Z"), Some(DAY));
        assert_eq!(parse_moment("1970-01-02"), Some(DAY));
        assert_eq!(parse_time("00:00:01"), Some(SECOND));
        assert_eq!(parse_moment("infinity"), None);
        assert_eq!(parse_date("日本語"), None);
        assert_eq!(parse_date("4000-03-02 BC"), None);
    }
}
