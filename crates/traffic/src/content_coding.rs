//! Compressed bodies: `gzip` and `deflate` are decoded for checks and extractions, with a bound on the
//! output. Other codings are named and left as they are.

use flate2::{Crc, Decompress, FlushDecompress, Status};
use wire::ResponseHead;

/// How a body is coded, by its `Content-Encoding`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Coding {
    /// As it is.
    #[default]
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or RFC 1951 as some servers send it.
    Deflate,
    /// Anything else.
    Unknown,
}

/// Why a body could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undecoded {
    /// It is coded in another way than gzip or deflate.
    Unknown,
    /// It does not match its coding, or ends too early.
    Damaged,
    /// It is longer than the limit.
    TooLong,
}

impl Undecoded {
    /// Whether the generator's limits are the reason, and not what the server sent.
    pub(crate) const fn is_own(self) -> bool {
        !matches!(self, Self::Damaged)
    }

    /// Completes a sentence that begins with "the body".
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Unknown => {
                "has a content coding that is not supported (only gzip and deflate are): request \
                 another with -H 'Accept-Encoding: gzip'"
            }
            Self::Damaged => "does not match its Content-Encoding",
            Self::TooLong => "is longer than 1 MiB when decoded: too long to be checked",
        }
    }
}

impl Coding {
    pub(crate) fn of(head: &ResponseHead<'_>) -> Self {
        let mut fields = head.headers.all("content-encoding");
        let is =
            |value: &[u8], name: &str| value.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        match (fields.next(), fields.next()) {
            (None, _) => Self::Identity,
            (Some(value), None) if value.is_empty() || is(value, "identity") => Self::Identity,
            (Some(value), None) if is(value, "gzip") || is(value, "x-gzip") => Self::Gzip,
            (Some(value), None) if is(value, "deflate") => Self::Deflate,
            _ => Self::Unknown,
        }
    }
}

/// Decodes one body after another; keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    inflate: Option<Box<Decompress>>,
    out: Vec<u8>,
}

impl Decoder {
    /// The decoded body, at most `most` bytes.
    pub(crate) fn decode<'a>(
        &'a mut self,
        coding: Coding,
        body: &'a [u8],
        most: usize,
    ) -> Result<&'a [u8], Undecoded> {
        // A response to HEAD, or one without a body, says how it would be coded.
        if body.is_empty() {
            return Ok(body);
        }
        self.out.clear();
        match coding {
            Coding::Identity => return Ok(body),
            Coding::Unknown => return Err(Undecoded::Unknown),
            Coding::Gzip => self.members(body, most)?,
            Coding::Deflate => {
                self.inflate(body, has_zlib_header(body), most)?;
            }
        }
        Ok(&self.out)
    }

    /// As much of the body as can be decoded, at most `most` bytes; none of a whole body that does not match its coding,
    /// nor of one that says nothing. A body that was `cut` ends too early.
    pub(crate) fn beginning(
        &mut self,
        coding: Coding,
        body: &[u8],
        most: usize,
        cut: bool,
    ) -> Option<&[u8]> {
        match self.decode(coding, body, most).map(<[u8]>::len) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(Undecoded::TooLong) => self.out.truncate(most),
            Err(Undecoded::Damaged) if cut => {}
            Err(Undecoded::Damaged | Undecoded::Unknown) => return None,
        }
        Some(&self.out)
    }

    /// One gzip member after another.
    fn members(&mut self, mut body: &[u8], most: usize) -> Result<(), Undecoded> {
        while !body.is_empty() {
            body = gzip_header(body).ok_or(Undecoded::Damaged)?;
            let begun = self.out.len();
            let read = self.inflate(body, false, most)?;
            let (trailer, rest) =
                body[read..].split_first_chunk::<8>().ok_or(Undecoded::Damaged)?;
            let mut crc = Crc::new();
            crc.update(&self.out[begun..]);
            if trailer[..4] != crc.sum().to_le_bytes() {
                return Err(Undecoded::Damaged);
            }
            body = rest;
        }
        Ok(())
    }

    /// Appends one decoded member from the start of `body`. Returns its length in `body`.
    fn inflate(&mut self, body: &[u8], zlib: bool, most: usize) -> Result<usize, Undecoded> {
        let inflate = self.inflate.get_or_insert_with(|| Box::new(Decompress::new(zlib)));
        inflate.reset(zlib);
        loop {
            if self.out.len() == self.out.capacity() {
                self.out.reserve(self.out.len().clamp(4096, most));
            }
            let read = inflate.total_in() as usize;
            let before = self.out.len();
            let went = inflate.decompress_vec(&body[read..], &mut self.out, FlushDecompress::None);
            let status = went.map_err(|_| Undecoded::Damaged)?;
            if self.out.len() > most {
                return Err(Undecoded::TooLong);
            }
            let read_now = inflate.total_in() as usize;
            match status {
                Status::StreamEnd => return Ok(read_now),
                // Room is left and nothing moves: the body ended too early.
                _ if read_now == read
                    && self.out.len() == before
                    && self.out.len() < self.out.capacity() =>
                {
                    return Err(Undecoded::Damaged);
                }
                _ => {}
            }
        }
    }
}

fn has_zlib_header(body: &[u8]) -> bool {
    body.first_chunk::<2>()
        .is_some_and(|&head| head[0] & 0x0f == 8 && u16::from_be_bytes(head).is_multiple_of(31))
}

/// What follows a gzip header (RFC 1952 section 2.3); `None` if the header is incomplete.
fn gzip_header(body: &[u8]) -> Option<&[u8]> {
    const CRC: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    let (head, mut rest) = body.split_first_chunk::<10>()?;
    if head[..3] != [0x1f, 0x8b, 8] {
        return None;
    }
    let flags = head[3];
    if flags & EXTRA != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for text in [NAME, COMMENT] {
        if flags & text != 0 {
            let end = memchr::memchr(0, rest)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & CRC != 0 { rest.get(2..) } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    const MOST: usize = 1 << 20;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut coder = GzEncoder::new(Vec::new(), Compression::default());
        coder.write_all(text).unwrap();
        coder.finish().unwrap()
    }

    fn zlib(text: &[u8]) -> Vec<u8> {
        let mut coder = ZlibEncoder::new(Vec::new(), Compression::default());
        coder.write_all(text).unwrap();
        coder.finish().unwrap()
    }

    fn raw(text: &[u8]) -> Vec<u8> {
        let mut coder = DeflateEncoder::new(Vec::new(), Compression::default());
        coder.write_all(text).unwrap();
        coder.finish().unwrap()
    }

    #[test]
    fn what_was_coded_comes_back() {
        let mut decoder = Decoder::default();
        let long: Vec<u8> =
            (0..300_000u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).take(MOST).collect();
        for text in [&b"{\"status\":\"ok\"}"[..], b"", &long] {
            for (coding, coded) in [
                (Coding::Gzip, gzip(text)),
                (Coding::Deflate, zlib(text)),
                (Coding::Deflate, raw(text)),
                (Coding::Identity, text.to_vec()),
            ] {
                let decoded = decoder.decode(coding, &coded, MOST);
                assert!(decoded == Ok(text), "{coding:?} of {} bytes", text.len());
            }
        }
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decoder.decode(Coding::Gzip, &two, MOST), Ok(&b"one two"[..]));
        assert_eq!(decoder.decode(Coding::Unknown, b"\x0b\x02", MOST), Err(Undecoded::Unknown));
    }

    #[test]
    fn bombs_are_bounded_and_damage_is_named() {
        let mut decoder = Decoder::default();
        let bomb = gzip(&vec![0; 64 << 20]);
        assert_eq!(decoder.decode(Coding::Gzip, &bomb, MOST), Err(Undecoded::TooLong));
        assert!(decoder.out.capacity() <= 4 * MOST, "{}", decoder.out.capacity());
        let good = gzip(b"{\"status\":\"ok\"}");
        for end in 1..good.len() {
            let cut = decoder.decode(Coding::Gzip, &good[..end], MOST);
            assert_eq!(cut, Err(Undecoded::Damaged), "{end}");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            // Only the header's time, flags and the like may differ.
            let same = decoder.decode(Coding::Gzip, &bad, MOST) == Ok(b"{\"status\":\"ok\"}");
            assert!(!same || (4..10).contains(&at) || at >= good.len() - 4, "{at}");
        }
    }
}
