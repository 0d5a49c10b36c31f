//! A user's cookies (RFC 6265, without paths and domains: a workload has one server).

use jiff::fmt::rfc2822::DateTimeParser;

/// Cookies at most, bytes of one, and bytes of all: more than any server takes in a request's head.
const MOST: usize = 50;
const LONGEST: usize = 4096;
const MOST_BYTES: usize = 16 << 10;

/// Cookies by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jar {
    /// Those of the session first; behind them room that earlier ones leave.
    cookies: Vec<(Vec<u8>, Vec<u8>)>,
    used: usize,
}

impl Jar {
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// The value of a cookie that a `Set-Cookie` field's value sets, if it is of that name.
    pub(crate) fn set_value<'a>(field: &'a [u8], name: &str) -> Option<&'a [u8]> {
        let (known, value) = pair(field)?;
        (known == name.as_bytes()).then_some(value)
    }

    /// Applies a `Set-Cookie` field.
    pub(crate) fn take(&mut self, field: &[u8], unix_ns: i64) {
        let Some((name, value)) = pair(field) else { return };
        if name.is_empty() || name.len() + value.len() > LONGEST {
            return;
        }
        let at = self.cookies[..self.used].iter().position(|(known, _)| known == name);
        let replaced = at.map_or(0, |at| self.cookies[at].0.len() + self.cookies[at].1.len());
        let fits = self.bytes() - replaced + name.len() + value.len() <= MOST_BYTES;
        match (at, expired(field, unix_ns)) {
            (Some(at), true) => {
                self.cookies[at..self.used].rotate_left(1);
                self.used -= 1;
            }
            (Some(at), false) if fits => put(&mut self.cookies[at].1, value),
            (None, false) if fits && self.used < MOST => {
                if self.used == self.cookies.len() {
                    self.cookies.push(Default::default());
                }
                let (known, kept) = &mut self.cookies[self.used];
                put(known, name);
                put(kept, value);
                self.used += 1;
            }
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        self.cookies[..self.used].iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Appends the `Cookie` field, if there are cookies.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (at, (name, value)) in self.cookies[..self.used].iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"Cookie: " } else { b"; " });
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(value);
        }
        if self.used > 0 {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Appends cookies to the `Cookie` field that `out` ends with, whose own count more. None to an empty one, which says
    /// that none are to be sent.
    pub(crate) fn write_further(&self, out: &mut Vec<u8>) {
        let line = out.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let colon = out[line..].iter().position(|byte| *byte == b':');
        let start = colon.map_or(line, |colon| line + colon + 1);
        // A semicolon at its end stands before nothing.
        let last = out[start..].iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b';'));
        let Some(end) = last.map(|last| start + last + 1) else { return };
        let name_of =
            |pair: &[u8]| pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let mut first = true;
        for (name, value) in &self.cookies[..self.used] {
            let mut own = out[start..end].split(|byte| *byte == b';');
            if own.any(|pair| pair[..name_of(pair)].trim_ascii() == name.as_slice()) {
                continue;
            }
            if std::mem::take(&mut first) {
                out.truncate(end);
            }
            out.extend_from_slice(b"; ");
            out.extend_from_slice(name);
            out.push(b'=');
            out.extend_from_slice(value);
        }
    }
}

fn put(kept: &mut Vec<u8>, text: &[u8]) {
    kept.clear();
    kept.extend_from_slice(text);
}

/// Name and value, trimmed (RFC 6265 section 5.2).
fn pair(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let pair = field.split(|byte| *byte == b';').next()?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    let plain = |byte: &u8| *byte > b' ' && *byte != 0x7f;
    name.iter().chain(value).all(|byte| plain(byte) || *byte == b' ').then_some((name, value))
}

/// An instant in the form of a date with blanks or, as older servers write it, with hyphens.
fn date(text: &str) -> Option<i128> {
    // `Thu, 01 Jan 1970 00:00:00 GMT` has 29 letters.
    let mut plain = [b' '; 64];
    let plain = plain.get_mut(..text.len())?;
    plain.copy_from_slice(text.as_bytes());
    plain.iter_mut().filter(|byte| **byte == b'-').for_each(|byte| *byte = b' ');
    let at = DateTimeParser::new().parse_timestamp(&*plain).ok()?;
    Some(at.as_nanosecond())
}

/// Whether the field removes its cookie: `Max-Age` not above 0, or `Expires` in the past.
fn expired(field: &[u8], unix_ns: i64) -> bool {
    let mut by_date = false;
    for attribute in field.split(|byte| *byte == b';').skip(1) {
        let Ok(attribute) = str::from_utf8(attribute) else { continue };
        let Some((name, value)) = attribute.split_once('=') else { continue };
        let value = value.trim();
        if name.trim().eq_ignore_ascii_case("max-age") {
            return value.parse::<i64>().is_ok_and(|seconds| seconds <= 0);
        }
        if name.trim().eq_ignore_ascii_case("expires") {
            by_date = date(value).is_some_and(|at_ns| at_ns <= i128::from(unix_ns));
        }
    }
    by_date
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookies(fields: &[&str]) -> String {
        let mut jar = Jar::default();
        for field in fields {
            jar.take(field.as_bytes(), 1_700_000_000_000_000_000);
        }
        let mut out = Vec::new();
        jar.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn cookies_are_set_changed_and_taken_away() {
        assert_eq!(cookies(&[]), "");
        assert_eq!(cookies(&["a=1; Path=/", " b = 2 ;HttpOnly", "a=3"]), "Cookie: a=3; b=2\r\n");
        assert_eq!(cookies(&["a=1", "b=2", "a=; Max-Age=0"]), "Cookie: b=2\r\n");
        assert_eq!(cookies(&["a=1", "a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]), "");
        assert_eq!(cookies(&["a=1", "a=; expires=Thu, 01-Jan-1970 00:00:00 GMT"]), "");
        let later = ["a=1", "b=2", "c=3", "a=; Max-Age=0", "d=4", "a=5"];
        assert_eq!(cookies(&later), "Cookie: b=2; c=3; d=4; a=5\r\n");
        assert_eq!(cookies(&["a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT"]), "Cookie: a=1\r\n");
        assert_eq!(cookies(&["a=1; Expires=never", "=x", "novalue"]), "Cookie: a=1\r\n");
    }

    #[test]
    fn a_hostile_server_fills_no_memory() {
        let many: Vec<String> = (0..1000).map(|n| format!("n{n}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(cookies(&many).matches('=').count(), MOST);
        assert_eq!(cookies(&[&format!("a={}", "x".repeat(5000))]), "");
        assert_eq!(Jar::set_value(b"sid=x y; Path=/", "sid"), Some(&b"x y"[..]));
    }
}
