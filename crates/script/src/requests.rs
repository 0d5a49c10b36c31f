//! Where each request ends in what `request()` returned.
//!
//! Owns as much of HTTP as that takes: empty lines, `Content-Length` and chunks. A script may send what
//! a strict parser refuses (that is what some scripts are for), so this does not check requests: it
//! needs a request line, and a head and body that end.

use std::fmt;

use memchr::memchr;
use traffic::asks_to_close;

/// Digits of a `Content-Length` or chunk size at most: more than a state may hold.
const DIGITS: usize = 10;

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Where it ends.
    pub(crate) end: u32,
    /// Whether its method is HEAD.
    pub(crate) head: bool,
    /// Whether it asks for `Connection: close`.
    pub(crate) closes: bool,
}

/// Why the bytes are not requests, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flaw {
    what: &'static str,
    /// Offset in the bytes.
    at: usize,
}

impl Flaw {
    /// A message, with line and column of `bytes`.
    pub(crate) fn describe(self, bytes: &[u8]) -> impl fmt::Display {
        let before = &bytes[..self.at.min(bytes.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        format!("its return value is not a request: {} at {line}:{column}", self.what)
    }
}

/// Puts the ends of all requests in `bytes` into `cuts`, which is emptied first.
#[inline]
pub(crate) fn cut(bytes: &[u8], cuts: &mut Vec<Cut>) -> Result<(), Flaw> {
    cuts.clear();
    let mut lines = Lines { bytes, at: 0 };
    loop {
        let (end, closes) = one(&mut lines)?;
        let start = cuts.last().map_or(0, |cut: &Cut| cut.end as usize);
        let method = bytes[start..].trim_ascii_start();
        let end = u32::try_from(end).map_err(|_| Flaw { what: "too long", at: end })?;
        cuts.push(Cut { end, head: method.starts_with(b"HEAD "), closes });
        if end as usize == bytes.len() {
            return Ok(());
        }
    }
}

/// The end of the request that begins where `lines` stands, and whether it asks for `Connection: close`.
#[inline]
fn one(lines: &mut Lines<'_>) -> Result<(usize, bool), Flaw> {
    let start = lines.at;
    let mut line = lines.next()?;
    while line.is_empty() {
        line = lines.next()?;
    }
    if !is_request_line(line) {
        return Err(Flaw { what: "no request line", at: start });
    }
    let (mut length, mut chunked, mut closes) = (0, false, false);
    loop {
        let at = lines.at;
        line = lines.next()?;
        match line.first() {
            None => break,
            Some(b'c' | b'C') => {
                if let Some(value) = field(line, b"content-length") {
                    length = number(value, 10, at)?;
                } else if let Some(value) = field(line, b"connection") {
                    closes |= asks_to_close(value);
                }
            }
            Some(b't' | b'T') => {
                if let Some(value) = field(line, b"transfer-encoding") {
                    chunked = value.to_ascii_lowercase().ends_with(b"chunked");
                }
            }
            Some(_) => {}
        }
    }
    let end = if chunked { chunks(lines)? } else { lines.skip(length)? };
    Ok((end, closes))
}

/// The end of a chunked body.
fn chunks(lines: &mut Lines<'_>) -> Result<usize, Flaw> {
    loop {
        let at = lines.at;
        let line = lines.next()?;
        let size = line.split(|&byte| byte == b';').next().unwrap_or_default();
        let size = number(size.trim_ascii(), 16, at)?;
        if size == 0 {
            while !lines.next()?.is_empty() {}
            return Ok(lines.at);
        }
        lines.skip(size)?;
        if !lines.next()?.is_empty() {
            return Err(Flaw { what: "a chunk longer than its size", at });
        }
    }
}

fn is_request_line(line: &[u8]) -> bool {
    let Some(method) = memchr(b' ', line) else { return false };
    let version = line.len().saturating_sub(9);
    method > 0 && method < version && line[version..].starts_with(b" HTTP/1.")
}

/// The value of a header line if its name is `name`.
#[inline]
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (known, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    known.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn number(digits: &[u8], radix: u32, at: usize) -> Result<usize, Flaw> {
    let flaw = Flaw { what: "a length that is not a number", at };
    if digits.is_empty() || digits.len() > DIGITS {
        return Err(flaw);
    }
    digits.iter().try_fold(0, |number, &digit| {
        let digit = char::from(digit).to_digit(radix).ok_or(flaw)?;
        Ok(number * radix as usize + digit as usize)
    })
}

/// Lines that end in LF, the CR before it left out.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    #[inline]
    fn next(&mut self) -> Result<&'a [u8], Flaw> {
        let rest = &self.bytes[self.at..];
        let Some(length) = memchr(b'\n', rest) else {
            return Err(Flaw { what: "an incomplete request", at: self.bytes.len() });
        };
        self.at += length + 1;
        let line = &rest[..length];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }

    fn skip(&mut self, length: usize) -> Result<usize, Flaw> {
        if length > self.bytes.len() - self.at {
            let at = self.bytes.len();
            return Err(Flaw { what: "a body shorter than its length says", at });
        }
        self.at += length;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(bytes: &str) -> Result<Vec<(u32, bool)>, String> {
        let mut cuts = Vec::new();
        match cut(bytes.as_bytes(), &mut cuts) {
            Ok(()) => Ok(cuts.iter().map(|cut| (cut.end, cut.head)).collect()),
            Err(flaw) => Err(flaw.describe(bytes.as_bytes()).to_string()),
        }
    }

    #[test]
    fn one_request_ends_where_the_bytes_do() {
        assert_eq!(ends("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Ok(vec![(27, false)]));
        assert_eq!(ends("HEAD /x HTTP/1.0\n\n"), Ok(vec![(18, true)]));
        let activity = "POST / HTTP/1.1\r\ncontent-length:  4 \r\n\r\na\r\nb";
        assert_eq!(ends(activity), Ok(vec![(activity.len() as u32, false)]));
    }

    #[test]
    fn consecutive_requests_are_separated() {
        let (get, head) = ("GET / HTTP/1.1\r\n\r\n", "\r\nHEAD / HTTP/1.1\r\n\r\n");
        let activity = "POST / HTTP/1.1\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        let chunked = "PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
                       a;x=y\r\n0123456789\r\n0\r\nA: b\r\n\r\n";
        let all = [get, head, activity, chunked, get].concat();
        let mut at = 0;
        let expected = [get, head, activity, chunked, get].map(|request| {
            at += request.len() as u32;
            (at, request == head)
        });
        assert_eq!(ends(&all), Ok(expected.to_vec()));
    }

    #[test]
    fn what_is_no_request_is_reported_with_its_place() {
        for (bytes, what) in [
            ("", "an incomplete request at 1:1"),
            ("GET / HTTP/1.1\r\nHost: a\r\n", "an incomplete request at 3:1"),
            ("hello\r\n\r\n", "no request line at 1:1"),
            (" / HTTP/1.1\r\n\r\n", "no request line at 1:1"),
            ("GET HTTP/1.1\r\n\r\n", "no request line at 1:1"),
            ("GET / HTTP/1.1\r\n\r\njunk", "an incomplete request at 3:5"),
            ("P / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc", "shorter than its length says at 4:4"),
            ("P / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", "a length that is not a number at 2:1"),
            ("P / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", "not a number at 2:1"),
            (
                "P / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
                "a chunk longer than its size at 4:1",
            ),
        ] {
            let message = ends(bytes).unwrap_err();
            assert!(message.ends_with(what), "{bytes:?}: {message}");
        }
    }
}
