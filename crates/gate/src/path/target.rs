//! Request targets: the path that is routed by, and the host that is meant, or why neither is sure.
//!
//! Owns what of a target two readers could take differently. All of it is refused: a route is chosen by the path, so
//! the upstream must not see another one than the gateway did.

use wire::RequestHead;

use super::refusal::Fault;

/// A target in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target<'a> {
    /// Begins with `/`, or is `*`.
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
    /// With its port, as sent; empty in HTTP/1.0 without one.
    pub(super) authority: &'a [u8],
    /// The authority without its port.
    pub(super) host: &'a [u8],
}

/// Takes a target and `Host` apart.
///
/// # Errors
/// [`Fault`] where they contradict, or can be read in two ways.
pub(super) fn read<'a>(head: &RequestHead<'a>) -> Result<Target<'a>, Fault> {
    let header = head.headers.get("host").unwrap_or_default();
    let (authority, path) = match head.target.as_bytes().first() {
        Some(b'/') => (header, head.path),
        Some(b'*') => (header, head.path),
        _ => absolute(head.target, header)?,
    };
    let path = if path.is_empty() { "/" } else { path };
    let query = if head.target == "*" { None } else { head.query };
    if path != "*" {
        check_path(path.as_bytes())?;
    }
    if query.is_some_and(|query| {
        escapes(query.as_bytes()).any(|escape| matches!(escape, None | Some(0)))
    }) {
        return Err(Fault::Escape);
    }
    let host = without_port(authority);
    if host.is_empty() && head.version_minor == 1 {
        return Err(Fault::Host);
    }
    Ok(Target { path, query, authority, host })
}

/// The authority and path of `http://authority/path`. RFC 9112 section 3.2.2 lets the target's host replace
/// `Host`; servers that go by `Host` alone would answer for another site, so both have to be the same.
fn absolute<'a>(target: &'a str, header: &'a [u8]) -> Result<(&'a [u8], &'a str), Fault> {
    let target = target.split_once('?').map_or(target, |(before, _)| before);
    let Some((_, rest)) = target.split_once("://") else { return Err(Fault::Target) };
    let cut = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(cut);
    if authority.is_empty() || !authority.as_bytes().eq_ignore_ascii_case(header) {
        return Err(Fault::HostDiffers);
    }
    Ok((header, path))
}

fn without_port(authority: &[u8]) -> &[u8] {
    let digits = authority.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    match authority[..authority.len() - digits].split_last() {
        Some((b':', host)) => host,
        _ => authority,
    }
}

/// Refuses paths that servers normalise differently: dot segments, escaped dots, slashes and NUL, backslashes,
/// malformed escapes, and an empty first segment (`//`, which may be read as an authority).
fn check_path(path: &[u8]) -> Result<(), Fault> {
    if path.starts_with(b"//") {
        return Err(Fault::Path);
    }
    let mut at_start = true;
    let mut dots = 0;
    for &byte in path.iter().chain(b"/") {
        match byte {
            b'/' if !at_start && (dots == 1 || dots == 2) => return Err(Fault::Path),
            b'/' => (at_start, dots) = (false, 0),
            b'.' if dots < 3 => dots += 1,
            b'\\' => return Err(Fault::Path),
            // A parameter behind a dot segment (`..;x`) is cut off by some.
            b';' if dots == 1 || dots == 2 => return Err(Fault::Path),
            _ => dots = 3,
        }
    }
    for escape in escapes(path) {
        match escape {
            None => return Err(Fault::Escape),
            Some(b'.' | b'/' | b'\\' | b'%' | 0..0x20 | 0x7f) => return Err(Fault::Path),
            Some(_) => {}
        }
    }
    Ok(())
}

/// What is escaped with `%`, byte by byte; `None` for an escape that is none.
fn escapes(bytes: &[u8]) -> impl Iterator<Item = Option<u8>> + '_ {
    let digit = |byte: Option<&u8>| byte.and_then(|&byte| (byte as char).to_digit(16));
    bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'%').map(move |(at, _)| {
        let (high, low) = (digit(bytes.get(at + 1))?, digit(bytes.get(at + 2))?);
        Some((high << 4 | low) as u8)
    })
}

#[cfg(test)]
mod tests {
    use wire::{Limits, RequestEvent, RequestParser};

    use super::*;

    fn reading(line: &str, host: &str) -> Result<(String, Option<String>, String), Fault> {
        let text = format!("{line}\r\nHost: {host}\r\n\r\n");
        let mut parser = RequestParser::new(Limits::default());
        let mut input = text.as_bytes();
        let Ok(Some(RequestEvent::Head(head))) = parser.next(&mut input) else { panic!("{line}") };
        let target = read(&head)?;
        let host = String::from_utf8(target.host.to_vec()).unwrap();
        Ok((target.path.to_owned(), target.query.map(str::to_owned), host))
    }

    #[test]
    fn paths_that_can_be_read_in_two_ways_are_refused() {
        let bad = [
            "/..",
            "/a/../b",
            "/./a",
            "/a/.",
            "/%2e%2e/a",
            "/a%2fb",
            "/a%5Cb",
            "/a\\b",
            "/a%00",
            "/a%0d%0a",
            "/a%2",
            "/a%zz",
            "/a%252e",
            "//a",
            "/..;x/a",
            "/a/..;/b",
            "/a%",
        ];
        for path in bad {
            assert!(reading(&format!("GET {path} HTTP/1.1"), "h").is_err(), "{path}");
        }
        let good = [
            "/",
            "/a",
            "/a/b/",
            "/a//b",
            "/.well-known/x",
            "/a.b",
            "/...",
            "/a..b/c",
            "/%41%20b",
            "/..a/b",
        ];
        for path in good {
            let read = reading(&format!("GET {path} HTTP/1.1"), "h").unwrap();
            assert_eq!(read.0, path);
        }
        assert!(reading("GET /a?b=../%2e&c=%zz HTTP/1.1", "h").is_err());
        assert!(reading("GET /a?b=%00 HTTP/1.1", "h").is_err());
        assert_eq!(
            reading("GET /a?b=../%2e?# HTTP/1.1".replace('#', "x").as_str(), "h").unwrap().0,
            "/a"
        );
    }

    #[test]
    fn the_absolute_form_has_to_name_the_same_host() {
        let read = reading("GET http://A.b:80/x?y HTTP/1.1", "a.b:80").unwrap();
        assert_eq!(read, ("/x".to_owned(), Some("y".to_owned()), "a.b".to_owned()));
        assert_eq!(reading("GET http://a.b HTTP/1.1", "a.b").unwrap().0, "/");
        assert_eq!(reading("GET http://a.b?q HTTP/1.1", "a.b").unwrap().1.as_deref(), Some("q"));
        assert_eq!(reading("GET http://c/x HTTP/1.1", "a.b"), Err(Fault::HostDiffers));
        assert_eq!(reading("GET http://a.b:81/x HTTP/1.1", "a.b"), Err(Fault::HostDiffers));
        assert_eq!(reading("OPTIONS * HTTP/1.1", "a.b").unwrap().0, "*");
    }

    #[test]
    fn hosts_lose_their_port() {
        for (authority, host) in
            [("a:80", "a"), ("a", "a"), ("[::1]:8", "[::1]"), ("[::1]", "[::1]"), ("a:", "a")]
        {
            assert_eq!(without_port(authority.as_bytes()), host.as_bytes());
        }
        assert_eq!(reading("GET / HTTP/1.1", ""), Err(Fault::Host));
    }
}
