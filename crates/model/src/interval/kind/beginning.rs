//! How a body begins: a class that bodies of one API share whatever their data, and the words in it,
//! which distinguish bodies that never change.

/// Bytes of a body that are looked at, and characters of it that are kept.
pub const BEGINNING: usize = 80;
/// The wording of a response without a body.
pub const NO_BODY: u32 = 1;
/// Bytes of a member's name that are looked at.
const NAME: usize = 24;

/// A class for how a body begins, white space aside: of an object of JSON the name of its first member
/// (names with digits count as data); else the byte itself where it begins JSON, markup or a quoted text, or one for
/// digits (`0`), letters (`a`), all others (`?`) or none (0).
#[inline]
pub fn begins(body: &[u8]) -> u32 {
    let beginning = &body[..body.len().min(BEGINNING)];
    let Some(at) = beginning.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        return if body.is_empty() { 0 } else { b'?'.into() };
    };
    match beginning[at] {
        b'0'..=b'9' | b'-' => b'0'.into(),
        b'a'..=b'z' | b'A'..=b'Z' => b'a'.into(),
        b'{' => first_member(&beginning[at + 1..]),
        byte @ (b'[' | b'<' | b'"') => byte.into(),
        _ => b'?'.into(),
    }
}

/// A hash, above all bytes, of the name that an object begins with: an envelope of errors has another one
/// than what was asked for. `{` where there is no name of letters and `_` alone: names with digits in
/// them may well be data, such as an identifier or a date.
#[inline]
fn first_member(object: &[u8]) -> u32 {
    const NONE: u32 = b'{' as u32;
    let Some(quote) = object.iter().take(NAME).position(|byte| !byte.is_ascii_whitespace()) else {
        return NONE;
    };
    if object[quote] != b'"' {
        return NONE;
    }
    let mut hash = Hash::default();
    for &byte in object[quote + 1..].iter().take(NAME) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => hash.add(byte.into()),
            b'"' => return 1 << 31 | hash.0,
            _ => break,
        }
    }
    NONE
}

/// A hash of the words that a body begins with and of what stands between them, in its first
/// [`BEGINNING`] bytes: `{"status":"ok"}` has another one than `{"status":"no"}`. Words with a digit in them are
/// data (numbers, dates, identifiers) and all the same, several in a row like one. Above [`NO_BODY`]; 0
/// where the body is not text, as compressed ones are.
pub fn wording(body: &[u8]) -> u32 {
    if body.is_empty() {
        return NO_BODY;
    }
    if begins(body) == u32::from(b'?') {
        return 0;
    }
    let beginning = &body[..body.len().min(BEGINNING)];
    let (mut text, mut after_data) = (Hash::default(), false);
    let mut rest = beginning;
    while let Some(&byte) = rest.first() {
        let length = rest.iter().position(|&byte| !in_word(byte)).unwrap_or(rest.len());
        let (word, then) = rest.split_at(length.max(1));
        rest = then;
        // Where the beginning ends in a word, the word may go on.
        if length > 0 && rest.is_empty() && beginning.len() == BEGINNING {
            break;
        }
        let data = word.iter().any(u8::is_ascii_digit);
        match (length, after_data) {
            // Signs between data, or behind them.
            (0, true) => {}
            (0, false) => text.add(byte.into()),
            _ if data && after_data => {}
            _ if data => text.add(b'0'.into()),
            _ => {
                // One sign stands for all that were passed over.
                text.add(b' '.into());
                word.iter().for_each(|&byte| text.add(byte.into()));
            }
        }
        after_data = data || length == 0 && after_data;
    }
    text.0.max(NO_BODY + 1)
}

/// Whether a byte is part of a word: of a name, a number, a date, a path, an identifier.
const fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+' | b'/' | 0x80..)
}

/// FNV-1a of 32 bits (Fowler, Noll and Vo), by bytes.
#[derive(Clone, Copy)]
struct Hash(u32);

impl Default for Hash {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Hash {
    #[inline]
    const fn add(&mut self, byte: u32) {
        self.0 = (self.0 ^ byte).wrapping_mul(0x0100_0193);
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
            assert_eq!(begins(body), u32::from(class), "{body:?}");
        }
    }

    #[test]
    fn objects_are_distinguished_by_their_first_member() {
        let status = begins(b"{\"status\":\"ok\"}");
        assert!(status > 0xff);
        assert_eq!(begins(b" {\n  \"status\" : 1}"), status);
        assert_ne!(begins(b"{\"error\":\"no database\"}"), status);
    }

    #[test]
    fn few_names_of_first_members_share_a_class() {
        let names = || (b'a'..=b'z').flat_map(|a| (b'a'..=b'z').map(move |b| [a, b]));
        let classes = names().map(|[a, b]| begins(&[b'{', b'"', a, b, b'"', b':', b'1', b'}']));
        let distinct: std::collections::BTreeSet<u32> = classes.collect();
        assert_eq!(distinct.len(), names().count());
    }

    #[test]
    fn words_distinguish_bodies_of_one_length() {
        let of = |text: &str| wording(text.as_bytes());
        for (a, b) in [
            (r#"{"status":"ok"}"#, r#"{"status":"no"}"#),
            (r#"{"ok":true}"#, r#"{"ok":null}"#),
            ("<p>Welcome.</p>", "<p>Sorry....</p>"),
            (r#"{"id":7,"state":"up"}"#, r#"{"id":7,"state":"no"}"#),
            ("fine", ""),
        ] {
            assert_ne!(of(a), of(b), "{a} {b}");
            assert!(of(a) > NO_BODY && of(b) >= NO_BODY);
        }
    }

    #[test]
    fn data_do_not_distinguish_bodies() {
        let of = |text: &str| wording(text.as_bytes());
        for (a, b) in [
            (r#"{"time":"2026-11-24T22:59:59Z"}"#, r#"{"time":"2026-11-24T23:00:00Z"}"#),
            (r#"{"n":999}"#, r#"{"n":1,000}"#),
            (r#"{"at":[1]}"#, r#"{"at":[1, -2.5e7, 3]}"#),
            (r#"{"id":"a1f09bce"}"#, r#"{"id":"99aa"}"#),
            ("7", "12 13"),
        ] {
            assert_eq!(of(a), of(b), "{a} {b}");
        }
        // What is cut may be a number, and what lies behind is not looked at.
        let long = |end: &str| format!("{}{end}", "word ".repeat(15));
        assert_eq!(of(&long("tokenabc123")), of(&long("tokenxyz")));
        assert_eq!(wording(b"\x1f\x8b\x08\0"), 0, "not text");
    }
}
