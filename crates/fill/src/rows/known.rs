//! Texts from the database as values.

use crate::schema::Type;
use crate::times;
use crate::value::Value;

/// A text from the database as a value of this type.
pub fn value_of(kind: &Type, plain: &str) -> Value {
    let text = || Value::Text(plain.to_owned());
    match kind {
        Type::Bool => match plain {
            "t" | "true" | "1" => Value::Bool(true),
            "f" | "false" | "0" => Value::Bool(false),
            _ => text(),
        },
        Type::Int { .. } => plain.parse().map_or_else(|_| text(), Value::Int),
        Type::Float => match plain.parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            _ => text(),
        },
        Type::Date => times::parse_date(plain).map_or_else(text, Value::Date),
        Type::Time => times::parse_time(plain).map_or_else(text, Value::Time),
        Type::Moment { .. } => times::parse_moment(plain).map_or_else(text, Value::Moment),
        Type::Bytes { .. } => bytes_of(plain).map_or_else(text, Value::Bytes),
        _ => text(),
    }
}

/// Bytes as queries give them: `\x` and hexadecimal digits.
fn bytes_of(plain: &str) -> Option<Vec<u8>> {
    let pairs = plain.strip_prefix("\\x")?.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(|pair| if pair.len() == 2 { byte(pair) } else { None }).collect()
}
