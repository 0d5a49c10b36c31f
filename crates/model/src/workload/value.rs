//! Values as people write them: times, rates and counts with units, ordered fields, JSON literals.

mod fields;
mod literal;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use fields::Fields;
pub use literal::Literal;

use crate::units::{Nanos, exact_duration, parse_count, parse_duration, parse_rate};

/// A length of time: `500ms`, `10s`, `2m`; a bare number is seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub Nanos);

/// A rate: `45/s`, `20k/s`, `90/m`, `5/h`; a bare number is per second. Above 0 unless it is written
/// as 0, which some places allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A count: `200`, `1k`, `1M`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_duration(text).map(Self).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&exact_duration(self.0))
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, per) = text.trim().split_once('/').unwrap_or((text.trim(), "s"));
        let seconds = match per.trim() {
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            other => {
                return Err(format!("unknown unit `{other}` in `{text}`: use /s, /m or /h"));
            }
        };
        if number.trim() == "0" {
            return Ok(Self(0.0));
        }
        parse_rate(number).map(|rate| Self(rate / seconds)).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_count(text).map(Self).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads a value with a unit from text, or from a bare number as if it were written so.
struct Written<T> {
    wanted: &'static str,
    read: fn(&str) -> Result<T, String>,
}

impl<T> Visitor<'_> for Written<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        (self.read)(&number.to_string()).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        (self.read)(&number.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        (self.read)(&number.to_string()).map_err(E::custom)
    }
}

macro_rules! as_written {
    ($type:ident, $wanted:literal, $pattern:literal, $written:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Written { wanted: $wanted, read: str::parse })
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $written(self, serializer)
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": $wanted,
                    "anyOf": [{ "type": "string", "pattern": $pattern }, { "type": "number", "minimum": 0 }]
                })
            }
        }
    };
}

as_written!(
    Time,
    "a duration such as 500ms, 10s or 2m",
    r"^[0-9.]+ *(ns|us|µs|ms|s|S|m|M|min|h|H|d)?$",
    |time: &Self, serializer: S| serializer.collect_str(time)
);
as_written!(
    Rate,
    "a rate such as 45/s, 20k/s or 90/m",
    r"^[0-9.]+ *[kKmMgG]?( */ *(s|m|min|h))?$",
    |rate: &Self, serializer: S| serializer.collect_str(rate)
);
as_written!(
    Count,
    "a count such as 200, 1k or 1M",
    r"^[0-9.]+ *[kKmMgG]?$",
    |count: &Self, serializer: S| serializer.serialize_u64(count.0)
);
