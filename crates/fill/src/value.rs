//! A cell's value, and its text as all three databases read it.

use std::fmt::Write as _;

use crate::schema::Type;
use crate::times;

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL's NULL.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// `units` / 10^`scale`.
    Decimal {
        /// The number without its point.
        units: i128,
        /// Digits behind the point.
        scale: u32,
    },
    /// A binary fraction, finite.
    Float(f64),
    /// Text, and every type that is given as text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i64),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    Moment(i64),
}

impl Value {
    /// A text from the database as a value of this type; as text where it cannot be read so.
    pub(crate) fn parse(kind: &Type, plain: &str) -> Self {
        let text = || Self::Text(plain.to_owned());
        match kind {
            Type::Bool => match plain {
                "t" | "true" | "1" => Self::Bool(true),
                "f" | "false" | "0" => Self::Bool(false),
                _ => text(),
            },
            Type::Int { .. } => plain.parse().map_or_else(|_| text(), Self::Int),
            Type::Float => match plain.parse::<f64>() {
                Ok(number) if number.is_finite() => Self::Float(number),
                _ => text(),
            },
            Type::Date => times::parse_date(plain).map_or_else(text, Self::Date),
            Type::Time => times::parse_time(plain).map_or_else(text, Self::Time),
            Type::Moment { .. } => times::parse_moment(plain).map_or_else(text, Self::Moment),
            Type::Bytes { .. } => parse_bytes(plain).map_or_else(text, Self::Bytes),
            _ => text(),
        }
    }

    /// Appends the text, unquoted; nothing for NULL, hexadecimal digits for bytes.
    pub fn write(&self, out: &mut String) {
        // Writing to a String cannot fail.
        let _ = match self {
            Self::Null => Ok(()),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Decimal { units, scale } => {
                write_decimal(*units, *scale, out);
                Ok(())
            }
            Self::Float(value) => write!(out, "{value}"),
            Self::Text(text) => {
                out.push_str(text);
                Ok(())
            }
            Self::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
            Self::Date(days) => {
                times::write_date(*days, out);
                Ok(())
            }
            Self::Time(micros) => {
                times::write_time(*micros, out);
                Ok(())
            }
            Self::Moment(micros) => {
                times::write_moment(*micros, out);
                Ok(())
            }
        };
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Decimal { units, scale } => {
                Some(*units as f64 / 10_f64.powi((*scale).try_into().unwrap_or(0)))
            }
            Self::Float(value) => Some(*value),
            Self::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// Bytes as queries give them: `\x` and hexadecimal digits.
fn parse_bytes(plain: &str) -> Option<Vec<u8>> {
    let pairs = plain.strip_prefix("\\x")?.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(|pair| if pair.len() == 2 { byte(pair) } else { None }).collect()
}

fn write_decimal(units: i128, scale: u32, out: &mut String) {
    let digits = units.unsigned_abs().to_string();
    if units < 0 {
        out.push('-');
    }
    let scale = scale as usize;
    let (whole, part) = digits.split_at(digits.len().saturating_sub(scale));
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if scale > 0 {
        let _ = write!(out, ".{part:0>scale$}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_text_that_databases_read() {
        for (value, text) in [
            (Value::Int(-5), "-5"),
            (Value::Decimal { units: 1250, scale: 2 }, "12.50"),
            (Value::Decimal { units: -5, scale: 2 }, "-0.05"),
            (Value::Decimal { units: 7, scale: 0 }, "7"),
            (Value::Float(0.25), "0.25"),
            (Value::Bytes(vec![0, 255]), "00ff"),
            (Value::Date(0), "1970-01-01"),
            (Value::Date(-1), "1969-12-31"),
            (Value::Date(19_782), "2024-02-29"),
            (Value::Time(3_661_000_001), "01:01:01.000001"),
            (Value::Moment(86_400_000_000), "1970-01-02 00:00:00"),
        ] {
            assert_eq!(value.text(), text);
        }
    }
}
