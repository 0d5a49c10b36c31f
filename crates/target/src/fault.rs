//! Misbehaviour on demand: what a liar sends, byte for byte.
//!
//! Owns names and bytes; `exchange` and `job` send them.

use crate::answer::OK_BODY;

/// What is wrong with an answer. `chunked`, `gzip`, `1xx` and `no-length` are correct HTTP that
/// clients often get wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// RST instead of an answer.
    Reset,
    /// FIN instead of an answer.
    Close,
    /// A body shorter than its `Content-Length`, then FIN.
    Truncate,
    /// A `Content-Length` that is no number.
    BadLength,
    /// Bytes that are not HTTP.
    Garbage,
    /// A head that never ends: 1.6 MB/s of header lines, 64 MiB at most.
    EndlessHeader,
    /// A correct answer, a byte each 100 ms.
    Drip,
    /// No answer.
    Hang,
    /// A correct chunked answer.
    Chunked,
    /// A chunk size that is no number.
    ChunkedBad,
    /// A correct answer in gzip coding.
    Gzip,
    /// An answer before the body is read, then FIN.
    Early,
    /// An interim answer (103), then a correct one.
    Interim,
    /// A correct answer that lasts until the close.
    NoLength,
}

impl Fault {
    /// All of them, with their names in `/fault/{kind}`.
    pub const ALL: [(&'static str, Self); 14] = [
        ("reset", Self::Reset),
        ("close", Self::Close),
        ("truncate", Self::Truncate),
        ("bad-length", Self::BadLength),
        ("garbage", Self::Garbage),
        ("endless-header", Self::EndlessHeader),
        ("drip", Self::Drip),
        ("hang", Self::Hang),
        ("chunked", Self::Chunked),
        ("chunked-bad", Self::ChunkedBad),
        ("gzip", Self::Gzip),
        ("early", Self::Early),
        ("1xx", Self::Interim),
        ("no-length", Self::NoLength),
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|&(_, fault)| fault)
    }

    /// The bytes of those faults that are a fixed text followed by the end of the connection.
    pub(crate) fn last_words(self) -> Option<&'static [u8]> {
        Some(match self {
            Self::Truncate => TRUNCATED,
            Self::BadLength => BAD_LENGTH,
            Self::Garbage => GARBAGE,
            Self::ChunkedBad => CHUNKED_BAD,
            Self::NoLength => NO_LENGTH,
            _ => return None,
        })
    }
}

const TRUNCATED: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Content-Length: 1000\r\n\r\n{\"status\":\"ok\"}";

const BAD_LENGTH: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Content-Length: fifteen\r\n\r\n{\"status\":\"ok\"}";

const GARBAGE: &[u8] = b"\x16\x03\x01\x00\xff\xfe this is not HTTP at all\r\n\r\n\x00\x00";

const CHUNKED_BAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Transfer-Encoding: chunked\r\n\r\nfive\r\n{\"sta\r\n0\r\n\r\n";

const NO_LENGTH: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n\
    {\"status\":\"ok\"}";

/// Comes before the answer of [`Fault::Interim`].
pub(crate) const EARLY_HINTS: &[u8] =
    b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n";

/// Begins the head of [`Fault::EndlessHeader`].
pub(crate) const ENDLESS_START: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// Goes on with it, over and over: 16 KiB of header lines, 64 bytes each.
pub(crate) static ENDLESS_BLOCK: [u8; 16 * 1024] = endless_block();

/// Bytes of [`Fault::EndlessHeader`] after which it gives up.
pub(crate) const ENDLESS_BYTES: u64 = 64 << 20;

const fn endless_block() -> [u8; 16 * 1024] {
    const LINE: &[u8; 64] = b"X-Endless: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
    let mut block = [0; 16 * 1024];
    let mut at = 0;
    while at < block.len() {
        block[at] = LINE[at % LINE.len()];
        at += 1;
    }
    block
}

/// The body of the usual answer as gzip: one stored block (RFC 1951 section 3.2.4) in the frame of
/// RFC 1952, with its CRC-32 and length.
pub(crate) static GZIP_BODY: [u8; 38] = gzip_stored();

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

    #[test]
    fn names_are_found_again() {
        for (name, fault) in Fault::ALL {
            assert_eq!(Fault::named(name), Some(fault));
        }
        assert_eq!(Fault::named("Reset"), None);
    }

    #[test]
    fn endless_lines_are_whole() {
        assert!(ENDLESS_BLOCK.ends_with(b"\r\n") && ENDLESS_BLOCK.starts_with(b"X-Endless"));
    }
}
