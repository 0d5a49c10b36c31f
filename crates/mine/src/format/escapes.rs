//! Bytes of a request that nginx and Apache escape in their logs: `\x22`, `\"`, `\\`, `\n`.

use memchr::memchr;

/// Puts a target, or a request line, into `into` as a client may write it: bytes that the server escaped in its log are
/// percent-encoded, so that a path is the same whichever way it was asked for.
pub(super) fn percent_encode(field: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut rest = field;
    while let Some(at) = memchr(b'\\', rest) {
        into.extend_from_slice(&rest[..at]);
        let behind = &rest[at + 1..];
        rest = match escaped(behind) {
            Some((byte, length)) => {
                into.extend_from_slice(format!("%{byte:02X}").as_bytes());
                &behind[length..]
            }
            None => {
                into.push(b'\\');
                behind
            }
        };
    }
    into.extend_from_slice(rest);
}

/// The byte that the text behind a backslash stands for, and the length of that text; nothing where it is no escape.
fn escaped(text: &[u8]) -> Option<(u8, usize)> {
    Some(match text {
        [b'x', high, low, ..] => (hex(*high, *low)?, 3),
        // With nginx's `escape=json`.
        [b'u', b'0', b'0', high @ b'0'..=b'7', low, ..] => (hex(*high, *low)?, 5),
        [sign @ (b'"' | b'\\'), ..] => (*sign, 1),
        [b'b', ..] => (0x08, 1),
        [b't', ..] => (b'\t', 1),
        [b'n', ..] => (b'\n', 1),
        [b'v', ..] => (0x0b, 1),
        [b'f', ..] => (0x0c, 1),
        [b'r', ..] => (b'\r', 1),
        _ => return None,
    })
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}
