//! One request as it is logged.

use model::units::SECOND;

use crate::address;
use crate::time::Stamp;

/// A request of a log. What the log does not say is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hit<'a> {
    /// When it was logged.
    pub at: Stamp,
    /// The client's address: that which a proxy before the server names, if one does.
    pub client: &'a [u8],
    /// The name of the user, or another field that tells users apart.
    pub user: &'a [u8],
    /// The `User-Agent`.
    pub agent: &'a [u8],
    /// The host asked for.
    pub host: &'a [u8],
    /// The method, as written.
    pub method: &'a [u8],
    /// The path, without its query, as written.
    pub path: &'a [u8],
    /// The query, without its question mark.
    pub query: &'a [u8],
    /// The status; 0 where it is not known.
    pub status: u16,
    /// Bytes of the response.
    pub bytes: u64,
    /// How long the server took.
    pub took: Option<Took>,
}

/// How long a server took, as a log writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Took {
    /// The time, in nanoseconds.
    pub ns: u64,
    /// What the last digit of the field counts, in nanoseconds: a second at most.
    pub step_ns: u64,
}

impl Took {
    /// A time of which the field does not tell the step: the largest of a second, a thousandth of it and so on that it
    /// is a multiple of, and at most `most_ns`.
    pub(crate) fn guessed(ns: u64, most_ns: u64) -> Self {
        let mut step_ns = most_ns.clamp(1, SECOND);
        while !ns.is_multiple_of(step_ns) {
            step_ns = (step_ns / 1_000).max(1);
        }
        Self { ns, step_ns }
    }

    /// Both times together.
    pub(crate) fn with(self, other: Self) -> Self {
        Self { ns: self.ns.saturating_add(other.ns), step_ns: self.step_ns.min(other.step_ns) }
    }
}

/// Why a line is no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bad {
    /// It has another form than the format's.
    Form,
    /// Its time cannot be read.
    Time,
    /// Its request is not HTTP.
    Request,
    /// Its status is not a number of three digits.
    Status,
    /// It is longer than [`crate::LONGEST_LINE`].
    TooLong,
}

impl Bad {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 5] = [Self::Form, Self::Time, Self::Request, Self::Status, Self::TooLong];

    /// Its place in [`Bad::ALL`].
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Form => "does not have the form of the format",
            Self::Time => "has no time that can be read",
            Self::Request => "holds no HTTP request",
            Self::Status => "has no status",
            Self::TooLong => "is longer than 64 KiB",
        }
    }
}

/// What a line holds before it is looked at.
#[derive(Debug, Default)]
pub(crate) struct Slots<'a> {
    pub(crate) at: Option<Stamp>,
    pub(crate) client: &'a [u8],
    /// The address that a proxy names, if it is one.
    pub(crate) forwarded: &'a [u8],
    pub(crate) user: &'a [u8],
    pub(crate) agent: &'a [u8],
    pub(crate) host: &'a [u8],
    /// `GET /path HTTP/1.1`.
    pub(crate) request: &'a [u8],
    pub(crate) method: &'a [u8],
    /// Path with query.
    pub(crate) uri: &'a [u8],
    /// A query that stands apart from the path.
    pub(crate) query: &'a [u8],
    pub(crate) status: Option<u16>,
    pub(crate) bytes: u64,
    pub(crate) took: Option<Took>,
}

impl<'a> Slots<'a> {
    /// The request, if it is one.
    pub(crate) fn hit(mut self) -> Result<Hit<'a>, Bad> {
        if !self.request.is_empty() {
            (self.method, self.uri) = request(self.request).ok_or(Bad::Request)?;
        }
        let at = self.at.ok_or(Bad::Time)?;
        let status = self.status.ok_or(Bad::Status)?;
        let (path, query) = path_of(self.uri).ok_or(Bad::Request)?;
        if !is_method(self.method) {
            return Err(Bad::Request);
        }
        let query = if self.query.is_empty() { query } else { self.query };
        Ok(Hit {
            at,
            client: address::client(known(self.client), self.forwarded),
            user: known(self.user),
            agent: known(self.agent),
            host: known(self.host),
            method: self.method,
            path,
            query: known(query.strip_prefix(b"?").unwrap_or(query)),
            status,
            bytes: self.bytes,
            took: self.took,
        })
    }
}

/// A field that is not just `-`.
pub(crate) fn known(field: &[u8]) -> &[u8] {
    if field == b"-" { b"" } else { field }
}

/// Method and target of a request line; the version may be missing (HTTP/0.9).
fn request(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (method, rest) = line.split_at(line.iter().position(|byte| *byte == b' ')?);
    let rest = rest.trim_ascii();
    let target = match memchr::memrchr(b' ', rest) {
        Some(at) if rest[at + 1..].starts_with(b"HTTP/") => &rest[..at],
        _ => rest,
    };
    Some((method, target.trim_ascii()))
}

/// Path and query of a target. The authority of an absolute one is dropped, as is a fragment.
fn path_of(target: &[u8]) -> Option<(&[u8], &[u8])> {
    let target = match target {
        [b'/', ..] => target,
        b"*" => return Some((target, b"")),
        _ => {
            let rest =
                target.strip_prefix(b"http://").or_else(|| target.strip_prefix(b"https://"))?;
            memchr::memchr(b'/', rest).map_or(b"/".as_slice(), |at| &rest[at..])
        }
    };
    let (path, query) = match memchr::memchr2(b'?', b'#', target) {
        None => (target, &target[target.len()..]),
        Some(at) if target[at] == b'#' => (&target[..at], &target[at..at]),
        Some(at) => {
            let rest = &target[at + 1..];
            (&target[..at], memchr::memchr(b'#', rest).map_or(rest, |end| &rest[..end]))
        }
    };
    // Without an early end, so that many bytes are looked at at once.
    let is_parted = |text: &[u8]| {
        text.iter().fold(false, |found, byte| found | (*byte <= b' ') | (*byte == 0x7f))
    };
    (!is_parted(path) && !is_parted(query)).then_some((path, query))
}

/// Whether this may be a method: one to 20 letters in upper case.
fn is_method(method: &[u8]) -> bool {
    (1..=20).contains(&method.len())
        && (matches!(method, b"GET" | b"POST")
            || method.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_')))
}

/// A status of three digits.
pub(crate) fn status(text: &[u8]) -> Option<u16> {
    let [a, b, c] = text else { return None };
    let digits = [a, b, c].map(|byte| u16::from(byte.wrapping_sub(b'0')));
    (digits.iter().all(|digit| *digit < 10) && digits[0] > 0)
        .then(|| digits[0] * 100 + digits[1] * 10 + digits[2])
}

/// Digits as a number; one that is too large is the largest.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |n: u64, byte: &u8| n.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    Some(text.iter().fold(0, digit))
}

/// A decimal number of units of `unit_ns`; of several separated by commas or colons, the last.
pub(crate) fn duration(text: &[u8], unit_ns: f64) -> Option<Took> {
    let last = text.rsplit(|byte| matches!(byte, b',' | b':')).next()?.trim_ascii();
    let number: f64 = str::from_utf8(last).ok()?.parse().ok()?;
    if !number.is_finite() || number < 0.0 {
        return None;
    }
    let decimals = memchr::memchr(b'.', last).map_or(0, |at| last.len() - at - 1);
    let step_ns = unit_ns / 10_f64.powi(decimals.min(9) as i32);
    let step_ns = (step_ns.round() as u64).clamp(1, SECOND);
    Some(Took { ns: (number * unit_ns).round() as u64, step_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_lines_are_taken_apart() {
        for (line, method, target) in [
            ("GET /a?b=c HTTP/1.1", "GET", "/a?b=c"),
            ("GET /a", "GET", "/a"),
            ("POST http://h:80/a HTTP/2.0", "POST", "http://h:80/a"),
        ] {
            let (m, t) = request(line.as_bytes()).unwrap();
            assert_eq!((m, t), (method.as_bytes(), target.as_bytes()));
        }
        assert_eq!(path_of(b"http://h:80/a?b#c"), Some((&b"/a"[..], &b"b"[..])));
        assert_eq!(path_of(b"https://h"), Some((&b"/"[..], &b""[..])));
        for junk in ["", "-", "\\x16\\x03", "a b"] {
            let slots = Slots {
                at: Some(Stamp::default()),
                request: junk.as_bytes(),
                status: Some(400),
                ..Slots::default()
            };
            assert_eq!(slots.hit(), Err(Bad::Request), "{junk}");
        }
    }

    #[test]
    fn times_taken_are_read_in_their_unit() {
        for (text, unit_ns, ns, step_ns) in [
            ("0.012", 1e9, 12_000_000, 1_000_000),
            ("0.000", 1e9, 0, 1_000_000),
            ("2.000", 1e9, 2_000_000_000, 1_000_000),
            ("0.5, 0.250", 1e9, 250_000_000, 1_000_000),
            ("0", 1e9, 0, 1_000_000_000),
            ("3000", 1e3, 3_000_000, 1_000),
            ("0.0000000001", 1e9, 0, 1),
        ] {
            let took = duration(text.as_bytes(), unit_ns);
            assert_eq!(took, Some(Took { ns, step_ns }), "{text}");
        }
        assert_eq!(duration(b"-", 1e9), None);
        assert_eq!(duration(b"-1", 1e9), None);
    }
}
