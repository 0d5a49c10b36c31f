//! The usual response in gzip coding, made when the program is compiled.

use wire::Framing;

use crate::response::{self, JSON, Manner, OK_BODY};

/// Appends the usual response in gzip coding.
pub(crate) fn usual(out: &mut Vec<u8>, manner: Manner) {
    let headers = [("Content-Type", JSON), ("Content-Encoding", "gzip")];
    let framing = Framing::Length(GZIP_BODY.len() as u64);
    response::head(out, 200, &headers, framing, manner.keep);
    if !manner.head_only {
        out.extend_from_slice(&GZIP_BODY);
    }
}

/// The body of the usual response as gzip: one stored block (RFC 1951 section 3.2.4) in the frame of
/// RFC 1952, with its CRC-32 and length.
static GZIP_BODY: [u8; 38] = gzip_stored();

const fn gzip_stored() -> [u8; 38] {
    const LENGTH: u16 = OK_BODY.len() as u16;
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let [low, high] = LENGTH.to_le_bytes();
    let block = [1, low, high, !low, !high];
    let sum = crc32(OK_BODY).to_le_bytes();
    let size = (LENGTH as u32).to_le_bytes();
    let mut out = [0; 38];
    let mut at = 0;
    at = put(&mut out, at, &head);
    at = put(&mut out, at, &block);
    at = put(&mut out, at, OK_BODY);
    at = put(&mut out, at, &sum);
    at = put(&mut out, at, &size);
    assert!(at == out.len());
    out
}

const fn put(out: &mut [u8; 38], at: usize, bytes: &[u8]) -> usize {
    let mut i = 0;
    while i < bytes.len() {
        out[at + i] = bytes[i];
        i += 1;
    }
    at + bytes.len()
}

/// CRC-32 as in RFC 1952 section 8, bit by bit.
const fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = !0u32;
    let mut at = 0;
    while at < bytes.len() {
        sum ^= bytes[at] as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
            bit += 1;
        }
        at += 1;
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
