//! Values that are written with a unit.

use std::fmt;

use model::units::{parse_count, parse_duration, parse_rate};
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

use crate::limits::Rate;

/// A time such as `250ms`, `5s` or `1m`, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Duration(pub u64);

/// A size such as `512`, `64KiB` or `1MiB`, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend("type" = ["string", "integer"]))]
pub struct Bytes(pub u64);

/// A rate such as `100/s`, `30/m` or `1000/h`, in requests per second.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub struct RateText(pub f64);

impl RateText {
    /// Reads a rate.
    ///
    /// # Errors
    /// In words, when it is not a rate, or not above 0.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rate = Self::read(text);
        let meant =
            || meant(text).map(|meant| format!("`{text}` is not a rate: did you mean `{meant}`?"));
        rate.map_err(|why| meant().unwrap_or(why))
    }

    fn read(text: &str) -> Result<Self, String> {
        if text.trim().starts_with('-') {
            return Err(format!("`{text}` is negative: a rate is such as 100/s, 30/m or 1000/h"));
        }
        let (number, seconds) = match text.trim().rsplit_once('/') {
            Some((number, "s")) => (number, 1.0),
            Some((number, "m" | "min")) => (number, 60.0),
            Some((number, "h")) => (number, 3600.0),
            // A number alone could be meant per minute as well.
            None if text
                .trim_end()
                .ends_with(|last: char| last.is_ascii_digit() || "kKMmGg".contains(last)) =>
            {
                return Err(format!(
                    "`{text}` does not say per what: a rate is such as 100/s, 30/m or 1000/h"
                ));
            }
            None => (text.trim(), 1.0),
            Some((_, unit)) => {
                return Err(format!("`{text}`: a rate is per s, m or h, not per `{unit}`"));
            }
        };
        // What `parse_rate` would suggest says nothing of minutes and hours.
        let is_number = || number.trim().starts_with(|first: char| first.is_ascii_digit());
        let rate = parse_rate(number).map_err(|error| match is_number() {
            true => error.to_string(),
            false => format!("`{text}` is not a rate: write 100/s, 30/m or 1000/h"),
        })?;
        Ok(Self(rate / seconds))
    }

    /// The rate of a key, with the burst that is asked for beside it.
    ///
    /// # Errors
    /// In words, when there is a burst without a rate, or of none.
    pub fn limit(rate: Option<Self>, burst: Option<u32>) -> Result<Option<Rate>, &'static str> {
        match burst {
            Some(0) => Err("a burst is 1 or more"),
            Some(_) if rate.is_none() => Err("a burst belongs to a rate: write rate too"),
            burst => Ok(rate.map(|rate| rate.with(burst))),
        }
    }

    /// With a burst, or what comes in a second of it.
    pub fn with(self, burst: Option<u32>) -> Rate {
        match burst {
            Some(burst) => Rate { per_s: self.0, burst: f64::from(burst.max(1)) },
            None => Rate::per_second(self.0),
        }
    }
}

/// The rate that is meant by words: `10 per second`, `5 requests a minute`, `10`.
fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = &text[..end];
    number.parse::<f64>().ok().filter(|number| *number > 0.0)?;
    let words = text[end..].replace('/', " per ");
    let mut words = words.split_whitespace().filter(|word| {
        !["per", "a", "an", "each", "every", "request", "requests", "req", "reqs"].contains(word)
    });
    let unit = match words.next().unwrap_or("s") {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hour" | "hours" => "h",
        _ => return None,
    };
    words.next().is_none().then(|| format!("{number}/{unit}"))
}

impl Bytes {
    /// Reads a size.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let units = [
            ("KiB", 1u64 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("kB", 1000),
            ("MB", 1_000_000),
            ("B", 1),
        ];
        let text = text.trim();
        let found = units.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)));
        let (number, bytes) = found.unwrap_or((text, 1));
        // What `parse_count` would suggest are counts.
        let count = parse_count(number.trim())
            .map_err(|_| format!("`{text}` is not a size, such as 512, 32KiB or 1MiB"))?;
        count.checked_mul(bytes).map(Self).ok_or_else(|| format!("`{text}` is too large"))
    }
}

/// Reads a text, and says what is wrong with it.
struct TextReader<T> {
    /// What it is, for who wrote something else.
    expected: &'static str,
    /// Whether a number is read as its text is.
    or_number: bool,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> Visitor<'_> for TextReader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        match self.or_number {
            true => self.visit_str(&number.to_string()),
            false => Err(E::invalid_type(Unexpected::Signed(number), &self)),
        }
    }

    /// Of JSON: TOML has signed ones alone.
    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        match self.or_number {
            true => self.visit_str(&number.to_string()),
            false => Err(E::invalid_type(Unexpected::Unsigned(number), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextReader {
            expected: "a time in quotes, such as \"250ms\" or \"5s\"",
            or_number: false,
            parse: |text| parse_duration(text).map(Self).map_err(|error| error.to_string()),
        })
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextReader {
            expected: "a size, such as 512, \"32KiB\" or \"1MiB\"",
            or_number: true,
            parse: Self::parse,
        })
    }
}

impl<'de> Deserialize<'de> for RateText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextReader {
            expected: "a rate in quotes, such as \"100/s\" or \"30/m\"",
            or_number: false,
            parse: Self::parse,
        })
    }
}

/// A time that somebody waits: not 0, which others take for no bound and which here would end every request.
///
/// # Errors
/// As for a [`Duration`], and of 0.
pub(super) fn wait<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    match Duration::deserialize(deserializer)? {
        Duration(0) => Err(D::Error::custom(
            "a time of 0 would end everything at once: for no bound write a long one, such as 24h",
        )),
        time => Ok(Some(time)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_per_second_minute_or_hour() {
        let cases =
            [("100/s", 100.0), ("30/m", 0.5), ("7200/h", 2.0), ("2k/s", 2000.0), ("5rps", 5.0)];
        for (text, rate) in cases {
            assert_eq!(RateText::parse(text), Ok(RateText(rate)), "{text}");
        }
        for wrong in ["0/s", "-1/s", "1/day", "x", "", "/s", "2k"] {
            assert!(RateText::parse(wrong).is_err(), "{wrong}");
        }
        for (text, meant) in [
            ("10 per second", "10/s"),
            ("10", "10/s"),
            ("5 requests a minute", "5/m"),
            ("100/hour", "100/h"),
            ("2.5 / sec", "2.5/s"),
        ] {
            let said = format!("`{text}` is not a rate: did you mean `{meant}`?");
            assert_eq!(RateText::parse(text), Err(said));
        }
        for text in ["banana", "/s", "x/s", ""] {
            let said = format!("`{text}` is not a rate: write 100/s, 30/m or 1000/h");
            assert_eq!(RateText::parse(text), Err(said));
        }
        assert_eq!(RateText(0.5).with(None), Rate { per_s: 0.5, burst: 1.0 });
    }

    #[test]
    fn sizes_have_units() {
        let cases = [("512", 512), ("1KiB", 1024), ("2 MiB", 2 << 20), ("3kB", 3000), ("9B", 9)];
        for (text, bytes) in cases {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text}");
        }
        assert!(Bytes::parse("1TiB").is_err() && Bytes::parse("99999999999GiB").is_err());
        for json in ["1024", "\"1KiB\""] {
            assert_eq!(serde_json::from_str::<Bytes>(json).unwrap(), Bytes(1024), "{json}");
        }
        assert!(serde_json::from_str::<Bytes>("-1").is_err());
    }
}
