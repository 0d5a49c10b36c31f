//! Start lines: `HTTP/1.1 200 OK` and `GET / HTTP/1.1` (RFC 9112 sections 3 and 4).
//!
//! Owns their syntax and the four forms of a request target, which the encoder checks by the same
//! rules. `head` finds where the line ends.

use crate::bytes::{is_authority, is_target, token_run};
use crate::error::{Excerpt, WireError};

const PROTOCOL: &[u8] = b"HTTP/";

/// What a start line says, as numbers and as places in the head.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StartLine {
    pub(crate) version_minor: u8,
    pub(crate) status: u16,
    pub(crate) method_len: u32,
    pub(crate) target_len: u32,
}

/// Refuses a response at its first byte that cannot begin `HTTP/`, without waiting for a line that a
/// peer of another protocol may never end.
#[inline]
pub(crate) fn check_protocol(bytes: &[u8]) -> Result<(), WireError> {
    if bytes.starts_with(PROTOCOL) {
        return Ok(());
    }
    match PROTOCOL.iter().zip(bytes).position(|(expected, byte)| expected != byte) {
        Some(at) => Err(WireError::NotHttp(Excerpt::of(&bytes[..=at]))),
        None => Ok(()),
    }
}

/// Reads a status line. Servers that omit the space after the code are tolerated.
#[inline]
pub(crate) fn status_line(line: &[u8]) -> Result<StartLine, WireError> {
    let malformed = || WireError::StatusLine(Excerpt::of_start_line(line));
    let (version, rest) = line.split_first_chunk::<8>().ok_or_else(malformed)?;
    let version_minor = minor(version, line)?;
    match rest.split_first_chunk() {
        Some(([b' ', a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'], [] | [b' ', ..])) => {
            let digit = |byte: &u8| u16::from(byte - b'0');
            let status = digit(a) * 100 + digit(b) * 10 + digit(c);
            Ok(StartLine { version_minor, status, ..StartLine::default() })
        }
        _ => Err(malformed()),
    }
}

/// Reads a request line: single spaces, nothing after the version.
#[inline]
pub(crate) fn request_line(line: &[u8]) -> Result<StartLine, WireError> {
    let malformed = || WireError::RequestLine(Excerpt::of_start_line(line));
    let (rest, version) = line.split_last_chunk::<8>().ok_or_else(malformed)?;
    let method_end = token_run(rest, 0);
    let (method, rest) = rest.split_at(method_end);
    let [b' ', target @ .., b' '] = rest else { return Err(malformed()) };
    if method.is_empty() || target.is_empty() || !version.starts_with(PROTOCOL) {
        return Err(malformed());
    }
    let version_minor = minor(version, line)?;
    check_target(method, target).map_err(|()| WireError::Target(Excerpt::of_start_line(target)))?;
    Ok(StartLine {
        version_minor,
        status: 0,
        method_len: method.len() as u32,
        target_len: target.len() as u32,
    })
}

fn minor(version: &[u8; 8], line: &[u8]) -> Result<u8, WireError> {
    match version {
        b"HTTP/1.1" => Ok(1),
        b"HTTP/1.0" => Ok(0),
        _ => Err(WireError::Version(Excerpt::of_start_line(line))),
    }
}

/// Whether `target` has the form that belongs to `method` (RFC 9112 section 3.2).
pub(crate) fn check_target(method: &[u8], target: &[u8]) -> Result<(), ()> {
    let visible = target.iter().all(|&byte| is_target(byte));
    let form = match target {
        _ if method == b"CONNECT" => is_authority(target) && target.contains(&b':'),
        [b'/', ..] => true,
        b"*" => method == b"OPTIONS",
        _ => absolute(target)
            .is_some_and(|(authority, _)| !authority.is_empty() && is_authority(authority)),
    };
    if visible && form { Ok(()) } else { Err(()) }
}

/// The authority of an absolute-form target and what follows it.
fn absolute(target: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = target.iter().position(|&byte| byte == b':')?;
    let (scheme, rest) = target.split_at(colon);
    let rest = rest.strip_prefix(b"://")?;
    let known = scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https");
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    known.then_some(rest.split_at(end))
}

/// Path and query of an accepted target: `/` for an absolute form without a path, the target itself
/// where it is `*` or an authority.
#[inline]
pub(crate) fn path_and_query(target: &str) -> (&str, Option<&str>) {
    let origin = match target.as_bytes() {
        [b'/', ..] => target,
        bytes => absolute(bytes).map_or(target, |(_, rest)| &target[target.len() - rest.len()..]),
    };
    match origin.bytes().position(|byte| byte == b'?') {
        Some(0) => ("/", Some(&origin[1..])),
        Some(at) => (&origin[..at], Some(&origin[at + 1..])),
        None if origin.is_empty() => ("/", None),
        None => (origin, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_their_parts() {
        let table = [
            ("GET", "/", "/", None),
            ("GET", "/a/b?c=d?e", "/a/b", Some("c=d?e")),
            ("GET", "/?", "/", Some("")),
            ("GET", "//a", "//a", None),
            ("GET", "http://h", "/", None),
            ("GET", "HTTP://h:80/p?q", "/p", Some("q")),
            ("GET", "https://[::1]?q", "/", Some("q")),
            ("GET", "/{\"a\":1}", "/{\"a\":1}", None),
            ("OPTIONS", "*", "*", None),
            ("CONNECT", "h:443", "h:443", None),
        ];
        for (method, target, path, query) in table {
            assert_eq!(check_target(method.as_bytes(), target.as_bytes()), Ok(()), "{target}");
            assert_eq!(path_and_query(target), (path, query), "{target}");
        }
    }

    #[test]
    fn targets_of_no_form() {
        let table = [
            ("GET", "*"),
            ("GET", "a"),
            ("GET", "?q"),
            ("GET", "/a#b"),
            ("GET", "/a b"),
            ("GET", "/\u{e9}"),
            ("GET", "h:443"),
            ("GET", "http://"),
            ("GET", "http:///a"),
            ("GET", "http://u@h/"),
            ("GET", "ftp://h/"),
            ("CONNECT", "/"),
            ("CONNECT", "h"),
            ("CONNECT", "http://h:1/"),
        ];
        for (method, target) in table {
            let checked = check_target(method.as_bytes(), target.as_bytes());
            assert_eq!(checked, Err(()), "{method} {target}");
        }
    }
}
