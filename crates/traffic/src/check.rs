//! What a response must hold.
//!
//! Owns checks compiled, and judging a response by them. When responses come in, and what of them is kept,
//! is `play::responses`'s.

mod json;
mod pointer;

use model::StatusRanges;
use regex::bytes::Regex;
use wire::ResponseHead;

use crate::value::Texts;

pub(crate) use pointer::{Found, Pointer};

/// A check.
#[derive(Debug, Clone)]
pub(crate) enum Check {
    Status(StatusRanges),
    Header { name: String, equals: Option<Wanted> },
    Json { pointer: Pointer, equals: Option<Wanted> },
    Contains(Wanted),
    Regex(Box<Regex>),
}

/// The value that is expected.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// The same for every request.
    Text(Box<[u8]>),
    /// A JSON value other than text.
    Json(serde_json::Value),
    /// The value computed for the request, by its number.
    Computed(u16),
}

impl Wanted {
    fn text<'a>(&'a self, computed: &'a Texts) -> &'a [u8] {
        match self {
            Self::Text(text) => text,
            Self::Computed(index) => computed.of(*index).0,
            Self::Json(_) => &[],
        }
    }

    fn is(&self, found: &Found<'_>, computed: &Texts) -> bool {
        match self {
            Self::Json(value) => {
                found.json
                    && serde_json::from_slice(found.bytes)
                        .is_ok_and(|f: serde_json::Value| same(&f, value))
            }
            Self::Text(text) => !found.json && **text == *found.bytes,
            Self::Computed(index) => *computed.of(*index).0 == *found.bytes,
        }
    }
}

/// Whether two JSON values are the same; numbers by their value, so that `1` is `1.0`. Two whole numbers are compared as such: a
/// float holds 53 bits, and identifiers have more.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (a, b) {
        (Number(a), Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Array(a), Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Object(a), Object(b)) => {
            a.len() == b.len() && a.iter().all(|(n, a)| b.get(n).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

impl Check {
    /// Whether the body is needed.
    pub(crate) const fn needs_body(&self) -> bool {
        matches!(self, Self::Json { .. } | Self::Contains(_) | Self::Regex(_))
    }

    /// Whether the head passes; a check of the body passes here.
    pub(crate) fn holds_in_head(&self, head: &ResponseHead<'_>, computed: &Texts) -> bool {
        match self {
            Self::Status(ranges) => ranges.contains(head.status),
            Self::Header { name, equals } => match (head.headers.get(name), equals) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(value), Some(wanted)) => value == wanted.text(computed),
            },
            _ => true,
        }
    }

    /// Whether the body passes; a check of the head alone passes here. `scratch` is kept.
    pub(crate) fn holds_in_body(
        &self,
        body: &[u8],
        computed: &Texts,
        scratch: &mut Vec<u8>,
    ) -> bool {
        match self {
            Self::Json { pointer, equals } => match (pointer.find(body, scratch), equals) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(found), Some(wanted)) => wanted.is(&found, computed),
            },
            Self::Contains(wanted) => memchr::memmem::find(body, wanted.text(computed)).is_some(),
            Self::Regex(regex) => regex.is_match(body),
            Self::Status(_) | Self::Header { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_their_value() {
        for (a, b, alike) in [
            ("1", "1.0", true),
            ("1", "10e-1", true),
            ("[0.5, {\"n\": 2}]", "[5e-1, {\"n\": 2.0}]", true),
            ("1", "2", false),
            // One float stands for both.
            ("1152921504606846977", "1152921504606846976", false),
            ("-9007199254740993", "-9007199254740992", false),
        ] {
            let value = |text: &str| serde_json::from_str(text).expect("JSON");
            assert_eq!(same(&value(a), &value(b)), alike, "{a} and {b}");
        }
    }
}
