//! The kinds of responses that came in an interval, distinguished by status, media type, how the body begins
//! and how long it is, per endpoint. So a page of errors that comes with status 200 is seen.
//!
//! Only responses that succeeded are counted: the others are known as failures. Not here: the kinds of a
//! run over time ([`crate::kinds`]).

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Kinds of one endpoint counted separately, see [`place`] for further ones.
pub const MOST_KINDS: usize = 12;
/// Of these, places that further lengths of a known look leave free for other looks.
const FREE_FOR_LOOKS: usize = 4;
/// Places that further beginnings of a known status and media type leave free for others of these.
const FREE_FOR_TYPES: usize = 2;
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

/// A class for how a body begins, white space aside: of an object of JSON by the name of its first member
/// (names with digits count as data); else the byte itself where it begins JSON, markup or a quoted text, or one for
/// digits (`0`), letters (`a`), all others (`?`) or none (0).
#[inline]
pub fn begins(body: &[u8]) -> u8 {
    let Some(at) = body.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        return if body.is_empty() { 0 } else { b'?' };
    };
    match body[at] {
        b'0'..=b'9' | b'-' => b'0',
        b'a'..=b'z' | b'A'..=b'Z' => b'a',
        b'{' => first_member(&body[at + 1..]),
        byte @ (b'[' | b'<' | b'"') => byte,
        _ => b'?',
    }
}

/// Bytes of a member's name that are looked at.
const NAME: usize = 24;

/// One of 128 classes, all of them above ASCII, for the name that an object begins with: an envelope of
/// errors has another one than what was asked for. `{` where there is no name of letters and `_` alone:
/// names with digits in them may well be data, such as an identifier or a date.
#[inline]
fn first_member(object: &[u8]) -> u8 {
    let Some(quote) = object.iter().take(NAME).position(|byte| !byte.is_ascii_whitespace()) else {
        return b'{';
    };
    if object[quote] != b'"' {
        return b'{';
    }
    let mut hash = 0u32;
    for &byte in object[quote + 1..].iter().take(NAME) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
            }
            b'"' => return 0x80 | (hash >> 8) as u8,
            _ => break,
        }
    }
    b'{'
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

/// The place of a response among the kinds that its endpoint has: the number of these where it is to be
/// a new one. Where there is no room for that it counts with one that is like it but for its length, or
/// has its status and media type at least, so that bodies of many lengths leave room for a page of
/// errors. `None` where nothing is like it and all places are taken.
pub fn place(
    kinds: impl ExactSizeIterator<Item = (Look, u8)>,
    look: Look,
    length: u8,
) -> Option<usize> {
    let held = kinds.len();
    let (mut of_look, mut of_type) = (None, None);
    for (at, (other, its_length)) in kinds.enumerate() {
        if (other, its_length) == (look, length) {
            return Some(at);
        }
        if other == look {
            of_look.get_or_insert(at);
        }
        if (other.status, other.media_type) == (look.status, look.media_type) {
            of_type.get_or_insert(at);
        }
    }
    let most = match (of_look, of_type) {
        (Some(_), _) => MOST_KINDS - FREE_FOR_LOOKS,
        (None, Some(_)) => MOST_KINDS - FREE_FOR_TYPES,
        (None, None) => MOST_KINDS,
    };
    if held < most { Some(held) } else { of_look.or(of_type) }
}

/// Adds another worker's kinds; of an endpoint at most [`MOST_KINDS`] are kept.
pub(crate) fn merge(into: &mut Vec<KindTally>, from: &[KindTally]) {
    for one in from {
        let held: Vec<usize> =
            (0..into.len()).filter(|&at| into[at].endpoint == one.endpoint).collect();
        let kinds = held.iter().map(|&at| (into[at].look, into[at].length));
        match place(kinds, one.look, one.length).map(|place| held.get(place)) {
            Some(Some(&at)) => into[at].add(one),
            Some(None) => into.push(one.clone()),
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
            (b"{}", b'{'),
            (b"{\"2026-11-24\":1}", b'{'),
            (b"{\"a", b'{'),
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
    #[test]
    fn objects_are_distinguished_by_their_first_member() {
        let status = begins(b"{\"status\":\"ok\"}");
        assert!(status >= 0x80);
        assert_eq!(begins(b" {\n  \"status\" : 1}"), status);
        assert_ne!(begins(b"{\"error\":\"no database\"}"), status);
    }

    #[test]
    fn many_lengths_and_beginnings_leave_room_for_others() {
        let mut kinds: Vec<KindTally> = Vec::new();
        let mut put = |status, begins, length| {
            let look = Look { status, media_type: 1, begins };
            let responses = 1;
            merge(&mut kinds, &[KindTally { look, length, responses, ..KindTally::default() }]);
            let sum: u64 = kinds.iter().map(|kind| kind.responses).sum();
            (kinds.len(), sum, kinds.iter().any(|kind| kind.look == look))
        };
        for n in 0..100 {
            assert_eq!(put(200, b'{', n).1, u64::from(n) + 1, "all are counted");
        }
        assert_eq!(put(200, b'<', 9), (MOST_KINDS - FREE_FOR_LOOKS + 1, 101, true));
        for n in 0..100 {
            assert_eq!(put(200, 0x80 + n, 9).1, u64::from(n) + 102);
        }
        assert_eq!(put(302, 0, 0), (MOST_KINDS - FREE_FOR_TYPES + 1, 202, true));
    }
}
