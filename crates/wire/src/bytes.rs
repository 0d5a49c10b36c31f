//! Classes of bytes, and how far a run of one class reaches.
//!
//! Owns the character tables of RFC 9110 section 5.6 and RFC 3986 and the loops over them; every
//! byte of a head passes through one of these loops once. What a run means is for the callers.

/// Bytes of a token (RFC 9110 section 5.6.2): header names, methods.
static TOKEN: [bool; 256] = {
    let mut table = alphanumeric();
    mark(&mut table, b"!#$%&'*+-.^_`|~");
    table
};

/// Bytes of a registered name or IPv4 address (RFC 3986 section 3.2.2).
static REG_NAME: [bool; 256] = {
    let mut table = alphanumeric();
    mark(&mut table, b"-._~%!$&'()*+,;=");
    table
};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

const fn alphanumeric() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
}

const fn mark(table: &mut [bool; 256], bytes: &[u8]) {
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
}

/// The index of the first byte at or after `from` that is no token byte, or the length.
pub(crate) fn token_run(bytes: &[u8], from: usize) -> usize {
    let run = bytes[from..].iter().position(|&byte| !TOKEN[byte as usize]);
    run.map_or(bytes.len(), |run| from + run)
}

/// Whether `bytes` is a token: not empty, token bytes only.
pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && token_run(bytes, 0) == bytes.len()
}

/// Whether `byte` may stand in a field value or reason phrase: HTAB, SP, VCHAR or obs-text
/// (RFC 9110 section 5.5).
pub(crate) fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// The index of the first byte at or after `from` that [`is_text`] refuses, or the length.
///
/// Eight bytes at a time: values are most of a head. The lowest marker of each of the two tests is
/// exact (a borrow can only spoil the bytes above a true hit), hence so is the lowest of both.
pub(crate) fn text_run(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(eight) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let delete = (word ^ (ONES * 0x7f)).wrapping_sub(ONES) & !(word ^ (ONES * 0x7f));
        let hits = (control | delete) & HIGHS;
        if hits == 0 {
            at += 8;
            continue;
        }
        at += hits.trailing_zeros() as usize / 8;
        if bytes[at] != b'\t' {
            return at;
        }
        at += 1;
    }
    bytes[at..].iter().position(|&byte| !is_text(byte)).map_or(bytes.len(), |run| at + run)
}

/// Whether `byte` may stand in a request target: visible ASCII, without the `#` of a fragment.
///
/// Wider than RFC 3986, which would have `"<>\^{|}` and the backquote escaped: they are common in
/// hand-written queries and none of them can end a target early.
pub(crate) fn is_target(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~') && byte != b'#'
}

/// Whether `bytes` is `uri-host [ ":" port ]` (RFC 3986 section 3.2), userinfo not allowed. A `Host` field may hold
/// nothing else; an empty one is allowed (RFC 9110 section 7.2). A port is one of TCP, at most 65535.
pub fn is_authority(bytes: &[u8]) -> bool {
    let host_end = match bytes.first() {
        Some(b'[') => match bytes.iter().position(|&byte| byte == b']') {
            Some(end) if end > 1 && bytes[1..end].iter().all(|&byte| is_ip_literal(byte)) => {
                end + 1
            }
            _ => return false,
        },
        _ => bytes.iter().position(|&byte| !REG_NAME[byte as usize]).unwrap_or(bytes.len()),
    };
    match bytes[host_end..].split_first() {
        None => true,
        Some((b':', port)) => is_port(port),
        Some(_) => false,
    }
}

fn is_port(digits: &[u8]) -> bool {
    const MOST: u32 = u16::MAX as u32;
    let value = digits.iter().try_fold(0, |value, &byte| {
        let digit = char::from(byte).to_digit(10)?;
        Some(value * 10 + digit).filter(|value| *value <= MOST)
    });
    value.is_some()
}

fn is_ip_literal(byte: u8) -> bool {
    byte == b':' || REG_NAME[byte as usize]
}

/// `bytes` without the spaces and tabs around it (OWS, RFC 9110 section 5.6.3).
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes;
    while let [b' ' | b'\t', after @ ..] = rest {
        rest = after;
    }
    while let [before @ .., b' ' | b'\t'] = rest {
        rest = before;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_runs_stop_where_the_plain_loop_stops() {
        for hole in 0..=255u8 {
            for at in 0..40 {
                let mut bytes = vec![b'x'; 40];
                bytes[at] = hole;
                bytes[(at * 7 + 3) % 40] = 0x80 | hole;
                let plain = bytes.iter().position(|&byte| !is_text(byte)).unwrap_or(40);
                assert_eq!(text_run(&bytes, 0), plain, "{hole:#x} at {at}");
            }
        }
    }

    #[test]
    fn a_control_byte_beside_another_is_not_skipped() {
        assert_eq!(text_run(b"\t\t\t\t\t\t\t\t\x01", 0), 8);
        assert_eq!(text_run(b"\t\x00aaaaaa", 0), 1);
        assert_eq!(text_run(b"a\x7f\x1faaaaa", 0), 1);
        assert_eq!(text_run(b"\x80\xff aaaaa\r", 0), 8);
    }

    #[test]
    fn authorities() {
        for good in
            ["", "h", "a.example", "127.0.0.1:80", "[::1]", "[::1]:8080", "h:65535", "h:", "a_b%20"]
        {
            assert!(is_authority(good.as_bytes()), "{good}");
        }
        let bad = [
            "u@h",
            "h/",
            "h:8o",
            "h:80:90",
            "h:65536",
            "[::1]:99999999999",
            "[::1",
            "[]",
            "[::1]x",
            "a b",
            "h?",
            "h#",
            "h\\",
        ];
        for bad in bad {
            assert!(!is_authority(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn trimming_takes_spaces_and_tabs_only() {
        assert_eq!(trim(b" \t a b\t "), b"a b");
        assert_eq!(trim(b" \t "), b"");
        assert_eq!(trim(b"\x0ba"), b"\x0ba");
    }
}
