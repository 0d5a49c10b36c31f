//! The kinds of responses that came in an interval, distinguished by status, media type, how the body begins
//! and how long it is, per endpoint. So a page of errors that comes with status 200 is seen.
//!
//! Only responses that succeeded are counted: the others are known as failures. Not here: the kinds of a
//! run over time ([`crate::kinds`]).

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Kinds of one endpoint counted separately; any further ones are left out.
pub const MOST_KINDS: usize = 12;
/// Characters of a body that are kept.
pub const BEGINNING: usize = 80;

/// What distinguishes kinds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Look {
    /// HTTP status.
    pub status: u16,
    /// A hash of the media type without its parameters; 0 where there is none.
    pub media_type: u32,
    /// What the body begins with, see [`begins`].
    pub begins: u8,
}

/// A class for the first byte of a body that is no white space: the byte itself where it begins JSON,
/// markup or a quoted text, else one for digits (`0`), letters (`a`), all others (`?`) or none (0).
#[inline]
pub fn begins(body: &[u8]) -> u8 {
    match body.iter().find(|byte| !byte.is_ascii_whitespace()) {
        None if body.is_empty() => 0,
        None => b'?',
        Some(b'0'..=b'9' | b'-') => b'0',
        Some(b'a'..=b'z' | b'A'..=b'Z') => b'a',
        Some(&byte @ (b'{' | b'[' | b'<' | b'"')) => byte,
        Some(_) => b'?',
    }
}

/// A class for the length of a body: the binary digits of the number of its bytes.
#[inline]
pub const fn length_class(bytes: u64) -> u8 {
    (u64::BITS - bytes.leading_zeros()) as u8
}

/// One kind of response in one interval.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KindTally {
    /// Index into the plan's endpoints; 0 for a load of one request.
    pub endpoint: u32,
    /// What it looks like.
    pub look: Look,
    /// See [`length_class`].
    pub length: u8,
    /// How many came.
    #[serde(rename = "answers")]
    pub responses: u64,
    /// When the first and the last was whole, since the run's start.
    pub first_ns: Nanos,
    /// See `first_ns`.
    pub last_ns: Nanos,
    /// Shortest and longest body.
    pub least_bytes: u64,
    /// See `least_bytes`.
    pub most_bytes: u64,
    /// Sum of done - sent.
    pub service_sum_ns: u64,
    /// How one body began, control characters escaped.
    pub beginning: Option<String>,
    /// The media type in words.
    pub media_type: Option<String>,
}

impl KindTally {
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.endpoint, self.look, self.length) == (other.endpoint, other.look, other.length)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        if other.responses == 0 {
            return;
        }
        if self.responses == 0 {
            (self.first_ns, self.least_bytes) = (other.first_ns, other.least_bytes);
        }
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.least_bytes = self.least_bytes.min(other.least_bytes);
        self.most_bytes = self.most_bytes.max(other.most_bytes);
        self.responses = self.responses.saturating_add(other.responses);
        self.service_sum_ns = self.service_sum_ns.saturating_add(other.service_sum_ns);
        if self.beginning.is_none() {
            self.beginning.clone_from(&other.beginning);
        }
        if self.media_type.is_none() {
            self.media_type.clone_from(&other.media_type);
        }
    }
}

/// Adds another worker's kinds; of an endpoint at most [`MOST_KINDS`] are kept.
pub(crate) fn merge(into: &mut Vec<KindTally>, from: &[KindTally]) {
    for one in from {
        let of_endpoint = into.iter().filter(|kind| kind.endpoint == one.endpoint).count();
        match into.iter_mut().find(|kind| kind.is_like(one)) {
            Some(kind) => kind.add(one),
            None if of_endpoint < MOST_KINDS => into.push(one.clone()),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_distinguished_by_how_they_begin() {
        for (body, class) in [
            (&b""[..], 0),
            (b" \n{\"a\":1}", b'{'),
            (b"[]", b'['),
            (b"<!doctype html>", b'<'),
            (b"-1", b'0'),
            (b"7", b'0'),
            (b"Database", b'a'),
            (b"\x1f\x8b", b'?'),
            (b"  ", b'?'),
        ] {
            assert_eq!(begins(body), class, "{body:?}");
        }
        assert_eq!([0, 1, 15, 16, 35].map(length_class), [0, 1, 4, 5, 6]);
    }
}
