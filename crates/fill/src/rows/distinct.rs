//! Values that no other row has: each is made from a number that no row has used yet.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

use model::random::{Draws, Permutation, mixed};

use super::limits::{filled, put_in, shaped};
use crate::check::Places;
use crate::kind::Kind;
use crate::times::{DAY, SECOND};
use crate::value::Value;
use crate::words::{Words, uuid};

/// How values of a unique column are made.
#[derive(Debug)]
pub struct Distinct {
    /// The values of the first rows.
    pub wanted: Vec<Value>,
    /// The number of the row behind them.
    pub start: i128,
    /// How the numbers come to rows; in order where there is none.
    pub order: Option<Permutation>,
    /// What is made of a number.
    pub form: Form,
    /// Rows that have the same value: 1, unless other columns tell these apart.
    pub each: u64,
}

/// Numbers that count up, one for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// The first row that has one.
    pub row: u64,
    /// Its number.
    pub start: i128,
    /// From one to the next.
    pub step: i128,
}

/// What is made of a number.
#[derive(Debug)]
pub enum Form {
    /// The number; of a counter that leaves some out, so far from one to the next.
    Int { step: i128 },
    /// So many times the number is the value without its point, of so many digits behind it.
    Decimal { scale: u32, times: i128 },
    /// The number divided by this.
    Float(f64),
    /// A day.
    Date,
    /// Seconds since 1970.
    Seconds,
    /// Microseconds of a day.
    Time,
    /// The number as text.
    Digits,
    /// A text that ends in it.
    Text(TextForm),
    /// A pattern of LIKE without `%`, whose `_` are the number's digits.
    Pattern(String),
    /// A text of a regular expression.
    Places(Places),
    /// Hexadecimal digits.
    Hex(usize),
    /// A UUID.
    Uuid,
    /// Eight bytes at most that tell, and zeros up to a width that is prescribed.
    Bytes { length: usize, width: usize },
    /// An address of version 4.
    Inet,
    /// A unique local address of version 6 (RFC 4193).
    Inet6,
    /// One of these; behind the last one NULL.
    OneOf(Vec<Value>),
}

/// A text that ends in a number, or has it before its `@`.
#[derive(Debug)]
pub struct TextForm {
    /// What it is about.
    pub kind: Kind,
    /// Characters at most.
    pub most: usize,
    /// Characters at least.
    pub least: usize,
    /// Capitals only.
    pub capital: bool,
    /// Small letters only.
    pub small: bool,
    /// Of this pattern, for which there is room besides `most`.
    pub like: Option<String>,
}

impl Distinct {
    /// The value of a row; `key` seeds what is decoration.
    pub fn value(&self, row: u64, key: u64, words: &Words) -> Value {
        let row = row / self.each;
        let Some(place) = row.checked_sub(self.wanted.len() as u64) else {
            return self.wanted[row as usize].clone();
        };
        let place = self.order.as_ref().map_or(place, |order| order.at(place));
        let number = self.start + i128::from(place);
        match &self.form {
            Form::Int { step } => Value::Int(self.start + i128::from(place) * step),
            Form::Decimal { scale, times } => {
                Value::Decimal { units: number * times, scale: *scale }
            }
            Form::Float(parts) => Value::Float(number as f64 / parts),
            Form::Date => Value::Date(number as i64),
            Form::Seconds => Value::Moment((number as i64).saturating_mul(SECOND)),
            Form::Time => Value::Time((number as i64).rem_euclid(DAY)),
            Form::Digits => Value::Text(number.to_string()),
            Form::Text(form) => {
                let text = form.text(number, key, words);
                let mut draws = Draws::of(mixed(key));
                Value::Text(shaped(text, form.like.as_deref(), None, &mut draws))
            }
            Form::Pattern(pattern) => {
                let width = pattern.matches('_').count();
                let digits = format!("{number:0>width$}");
                let mut digits = digits.chars();
                Value::Text(filled(pattern, "", || digits.next().unwrap_or('0')))
            }
            Form::Places(places) => Value::Text(places.text(number as u64)),
            Form::Hex(digits) => Value::Text(hex(number as u64, *digits)),
            Form::Uuid => {
                let mut text = String::new();
                // Bits 4 to 63 of the first half are all kept: two numbers below 2^60 give two texts.
                uuid(spread_60(number as u64) << 4, mixed(key), &mut text);
                Value::Text(text)
            }
            Form::Bytes { length, width } => {
                let mut bytes = (number as u64).to_be_bytes().to_vec();
                bytes.drain(..8_usize.saturating_sub(*length));
                bytes.resize(bytes.len().max(*width), 0);
                Value::Bytes(bytes)
            }
            Form::Inet => Value::Text(Ipv4Addr::from_bits(number as u32).to_string()),
            Form::Inet6 => {
                // 60 bits of network that tell, and 60 of a host.
                let network = 0xfd << 120 | u128::from(spread_60(number as u64)) << 60;
                let host = u128::from(mixed(key) >> 4);
                Value::Text(Ipv6Addr::from_bits(network | host).to_string())
            }
            Form::OneOf(values) => values.get(place as usize).cloned().unwrap_or(Value::Null),
        }
    }

    /// How many rows there are values for, if the others are NULL.
    pub fn room(&self) -> Option<u64> {
        let Form::OneOf(values) = &self.form else { return None };
        Some(((self.wanted.len() + values.len()) as u64).saturating_mul(self.each))
    }

    /// From where on its numbers count up.
    pub fn counts_from(&self) -> Option<Counts> {
        match self.form {
            Form::Int { step } if self.order.is_none() && self.each == 1 => {
                Some(Counts { row: self.wanted.len() as u64, start: self.start, step })
            }
            _ => None,
        }
    }
}

/// Another number below 2^60 for each number below 2^60: steps that can each be undone.
fn spread_60(number: u64) -> u64 {
    const MASK: u64 = (1 << 60) - 1;
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & MASK;
    let number = (number ^ (number >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) & MASK;
    number ^ (number >> 29)
}

/// So many hexadecimal digits, at least 16, of which the first 16 tell numbers apart.
fn hex(number: u64, digits: usize) -> String {
    let mut text = format!("{:016x}", mixed(number));
    let mut draws = Draws::of(number);
    while text.len() < digits {
        let _ = write!(text, "{:016x}", draws.bits());
    }
    text.truncate(digits.max(16));
    text
}

impl TextForm {
    /// What the number takes at least besides its digits.
    pub fn overhead(&self) -> usize {
        if self.kind == Kind::Email { "@example.com".len() } else { 0 }
    }

    fn text(&self, number: i128, key: u64, words: &Words) -> String {
        let mut draws = Draws::of(key);
        let mut text = String::new();
        if self.kind == Kind::Email {
            words.email(&mut draws, Some(number as u64), self.most, &mut text);
            return text;
        }
        if self.kind == Kind::Phone {
            let _ = write!(text, "{}{number}", words.phones().0);
            return text.chars().take(self.most).collect();
        }
        words.write(self.kind, &mut draws, &mut text);
        while text.chars().count() < self.least {
            text.push(' ');
            words.write(Kind::Title, &mut draws, &mut text);
        }
        let digits = number.to_string();
        let separator = match self.kind {
            Kind::Slug | Kind::Url | Kind::Code => "-",
            Kind::Username => "",
            _ => " ",
        };
        let room = self.most.saturating_sub(digits.len() + separator.len());
        let cut: String = text.chars().take(room).collect();
        let cut = cut.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '-');
        let mut text = if cut.is_empty() { String::new() } else { format!("{cut}{separator}") };
        text.push_str(&digits);
        match (self.capital, self.small) {
            (true, _) => text.to_uppercase(),
            (_, true) => text.to_lowercase(),
            _ => text,
        }
    }
}

/// The number that tells a text from others: at its end, or where the column's pattern of LIKE has it.
pub fn number_in(text: &str, pattern: Option<&str>) -> u64 {
    let Some(pattern) = pattern else { return trailing_number(text) };
    let inner = trailing_number(&put_in(pattern, text));
    // A text that is of such a pattern as it is has nothing put into it.
    if pattern.contains('%') { inner.max(trailing_number(text)) } else { inner }
}

/// The highest number at the end of a text, or before its `@`; of up to 15 digits behind leading zeros, as ours are.
fn trailing_number(text: &str) -> u64 {
    let ends = [text.split('@').next().unwrap_or_default(), text.trim_end()];
    let number = |end: &str| {
        let start = end.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let digits = end[start..].trim_start_matches('0');
        if digits.len() > 15 { 0 } else { digits.parse().unwrap_or(0) }
    };
    ends.into_iter().map(number).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_the_end_of_texts_are_found() {
        for (text, number) in [
            ("ann.lee42@example.com", 42),
            ("SKU-00017", 17),
            ("a1b", 0),
            ("a9@b7", 9),
            ("x@y12", 12),
            ("1234567890123456", 0),
            ("日本5", 5),
            ("code 7  ", 7),
            ("", 0),
        ] {
            assert_eq!(trailing_number(text), number, "{text}");
        }
    }

    #[test]
    fn numbers_are_found_where_a_pattern_has_them() {
        for (text, pattern, number) in [
            ("SKU-Lamp 17", "SKU-%", 17),
            ("Lamp 17-EU", "%-EU", 17),
            ("Lamp 1734X", "%__X", 17),
            // It is of the pattern as it is.
            ("Lamp 1734", "%_", 1734),
            ("ann12@shop", "%@%", 12),
            ("17-AB", "__-AB", 17),
            ("017-234", "___-___", 17_234),
            ("A1-0017-9", "A1-____-9", 17),
            ("0000000000000017", "________________", 17),
            ("x", "____", 0),
        ] {
            assert_eq!(number_in(text, Some(pattern)), number, "{text} {pattern}");
        }
    }
}
