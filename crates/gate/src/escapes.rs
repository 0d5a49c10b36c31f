//! Percent-escapes (RFC 3986 section 2.1): what they stand for, and the one form that equal paths have.
//!
//! An escaped letter, digit, `-`, `.`, `_` or `~` is the same as the character itself (section 6.2.2.2), so it is written
//! plain in what goes upstream. An escape of any other byte stays there, as `;` and `%3B` may mean different things. But
//! servers commonly decode all of a path before they look at it, so patterns are compared with the bytes that it decodes to.

use std::fmt;

/// A malformed escape: `%` without two hexadecimal digits behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`%` is followed by two hexadecimal digits")
    }
}

/// A byte of a text, and whether it was escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub byte: u8,
    pub escaped: bool,
}

/// The bytes that a text stands for, in order; an error for each malformed escape, which is then passed over.
pub(crate) fn units(text: &[u8]) -> impl Iterator<Item = Result<Unit, Malformed>> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let &byte = text.get(at)?;
        at += 1;
        if byte != b'%' {
            return Some(Ok(Unit { byte, escaped: false }));
        }
        let digit = |at: usize| text.get(at).and_then(|&byte| (byte as char).to_digit(16));
        let (Some(high), Some(low)) = (digit(at), digit(at + 1)) else {
            return Some(Err(Malformed));
        };
        at += 2;
        Some(Ok(Unit { byte: (high << 4 | low) as u8, escaped: true }))
    })
}

/// The bytes that a text stands for; the `%` of a malformed escape stands for itself.
pub(crate) fn lenient(text: &[u8]) -> impl Iterator<Item = u8> + '_ {
    units(text).map(|unit| unit.map_or(b'%', |unit| unit.byte))
}

/// The bytes that a text stands for once nothing in it is an escape any more, be they escaped several times, and where in the
/// text each begins.
pub(crate) fn innermost(text: &[u8]) -> impl Iterator<Item = (u8, usize)> + '_ {
    let mut bytes: Vec<(u8, usize)> = Vec::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        bytes.push((byte, at));
        // What an escape stands for may be the last digit of another one.
        while let [.., (b'%', begin), (high, _), (low, _)] = bytes[..] {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (Some(high), Some(low)) = (digit(high), digit(low)) else { break };
            bytes.truncate(bytes.len() - 3);
            bytes.push(((high << 4 | low) as u8, begin));
        }
    }
    bytes.into_iter()
}

/// Whether an escape of this byte is the same as the byte.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Appends a byte as it goes upstream.
pub(crate) fn write(out: &mut Vec<u8>, unit: Unit) {
    if !unit.escaped || is_unreserved(unit.byte) {
        out.push(unit.byte);
        return;
    }
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |of: u8| DIGITS[usize::from(of)];
    out.extend_from_slice(&[b'%', digit(unit.byte >> 4), digit(unit.byte & 15)]);
}

/// What is left of a path in its upstream form behind a beginning that decodes to `begin`.
pub(crate) fn strip_decoded<'p>(path: &'p [u8], begin: &[u8]) -> Option<&'p [u8]> {
    let mut wanted = begin.iter();
    let mut bytes = 0;
    for unit in units(path) {
        let Some(&next) = wanted.next() else { break };
        let unit = unit.ok().filter(|unit| unit.byte == next)?;
        bytes += if unit.escaped { 3 } else { 1 };
    }
    (wanted.next().is_none()).then(|| &path[bytes..])
}

/// Whether bytes hold UTF-8 that is longer than it need be: some decoders take `%C0%AF` for `/`.
pub(crate) fn is_overlong(bytes: &[u8]) -> bool {
    let two = |pair: &[u8]| matches!(pair, [0xe0, 0x80..=0x9f] | [0xf0, 0x80..=0x8f]);
    bytes.iter().any(|byte| matches!(byte, 0xc0 | 0xc1)) || bytes.windows(2).any(two)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(text: &str) -> String {
        let mut out = Vec::new();
        units(text.as_bytes()).for_each(|unit| write(&mut out, unit.unwrap()));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_what_is_the_same_is_decoded() {
        for (text, expected) in [
            ("/%5f%5Fcount", "/__count"),
            ("/%61%2D%7e%39", "/a-~9"),
            ("/a%3bb%2b%20", "/a%3Bb%2B%20"),
            ("/caf%c3%a9", "/caf%C3%A9"),
        ] {
            assert_eq!(upstream(text), expected);
            assert_eq!(upstream(expected), expected);
        }
        assert_eq!(lenient(b"a%zz%41%").collect::<Vec<_>>(), b"a%zzA%");
        assert_eq!(units(b"%4").collect::<Vec<_>>()[0], Err(Malformed));
    }

    #[test]
    fn escapes_of_escapes_are_decoded_too() {
        for (text, expected) in [
            ("a%41%2541%252541", "aAAA"),
            ("%%34%31", "A"),
            ("%25%32%35%37%30", "p"),
            ("%zz%4%", "%zz%4%"),
        ] {
            let decoded: Vec<u8> = innermost(text.as_bytes()).map(|(byte, _)| byte).collect();
            assert_eq!(decoded, expected.as_bytes(), "{text}");
        }
        let begins: Vec<usize> = innermost(b"a%2541b").map(|(_, begin)| begin).collect();
        assert_eq!(begins, [0, 1, 6]);
    }

    #[test]
    fn a_beginning_is_found_however_it_is_escaped() {
        for (path, begin, rest) in [
            ("/a%20b/c", "/a b", Some("/c")),
            ("/%40x", "/@x", Some("")),
            ("/a", "/ab", None),
            ("/b", "/a", None),
        ] {
            let found = strip_decoded(path.as_bytes(), begin.as_bytes());
            assert_eq!(found, rest.map(str::as_bytes), "{path}");
        }
    }

    #[test]
    fn utf_8_that_is_too_long_is_told_apart() {
        assert!(is_overlong(b"a\xc0\xaf") && is_overlong(b"\xe0\x80\xaf"));
        assert!(is_overlong(b"\xf0\x80\x80\xaf"));
        assert!(!is_overlong("aé漢🙂".as_bytes()) && !is_overlong(b"\xe9"));
    }
}
