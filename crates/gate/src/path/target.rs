//! Request targets: the path to route by and the host that is meant, or why one of them is ambiguous.
//!
//! Owns everything in a target that two readers could take differently. All of it is refused: the route is chosen by the
//! path, so the upstream must not see another path than the gateway did.

use wire::RequestHead;

use super::refusal::Fault;
use crate::escapes::{self, Unit, units};

/// Room for the forms of a path that are not what was sent. Used again by the next request.
#[derive(Debug, Default)]
pub(super) struct Forms {
    path: Vec<u8>,
    decoded: Vec<u8>,
    cut: Vec<u8>,
}

/// A target in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target<'a> {
    /// As it goes upstream: begins with `/`, or is `*`. Escapes are in one form.
    pub(super) path: &'a [u8],
    /// The bytes that the path decodes to: routes are chosen by them.
    pub(super) decoded: &'a [u8],
    /// What some servers read instead: without parameters of segments (`;x`), and without empty segments but the last,
    /// which some leave out too.
    pub(super) cut: Option<&'a [u8]>,
    pub(super) query: Option<&'a str>,
    /// With its port, as sent; empty in HTTP/1.0 without one.
    pub(super) authority: &'a [u8],
    /// The authority without its port, and without the dot that ends a name at the root of DNS.
    pub(super) host: &'a [u8],
}

/// Takes a target and `Host` apart.
///
/// # Errors
/// [`Fault`] where they contradict, or can be read in two ways.
pub(super) fn read<'a>(head: &RequestHead<'a>, forms: &'a mut Forms) -> Result<Target<'a>, Fault> {
    let header = head.headers.get("host").unwrap_or_default();
    let (authority, path) = match head.target.as_bytes().first() {
        Some(b'/') => (header, head.path),
        Some(b'*') => (header, head.path),
        _ => absolute(head.target, header)?,
    };
    let path = match path {
        // Of the server as a whole (RFC 9112 section 3.2.4).
        "" if head.method == "OPTIONS" && head.query.is_none() => "*",
        "" => "/",
        path => path,
    };
    let query = if head.target == "*" { None } else { head.query };
    if query.is_some_and(|query| has_bad_escape(query.as_bytes())) {
        return Err(Fault::Escape);
    }
    let host = without_port(authority);
    // Readers that decode a host would take it for another one.
    if host.contains(&b'%') {
        return Err(Fault::HostEscaped);
    }
    let host = host.strip_suffix(b".").unwrap_or(host);
    if host.is_empty() && head.version_minor == 1 {
        return Err(Fault::Host);
    }
    let Forms { path: upstream, decoded, cut } = forms;
    let (path, decoded) = if path.as_bytes().contains(&b'%') {
        read_escapes(path.as_bytes(), upstream, decoded)?;
        (upstream.as_slice(), decoded.as_slice())
    } else {
        (path.as_bytes(), path.as_bytes())
    };
    if path != b"*" {
        check_path(decoded)?;
    }
    let cut = is_cut(decoded).then(|| cut_into(cut, decoded));
    Ok(Target { path, decoded, cut, query, authority, host })
}

/// Whether an escape of a query is malformed, or stands for NUL.
fn has_bad_escape(query: &[u8]) -> bool {
    let bad = |unit| !matches!(unit, Ok(Unit { byte: 1.., .. }) | Ok(Unit { escaped: false, .. }));
    query.contains(&b'%') && units(query).any(bad)
}

/// Whether some servers leave out a part of the path.
fn is_cut(decoded: &[u8]) -> bool {
    let inner = decoded.contains(&b';') || decoded.windows(2).any(|pair| pair == b"//");
    inner || decoded.len() > 1 && decoded.ends_with(b"/")
}

/// The path without what some servers leave out.
fn cut_into<'a>(out: &'a mut Vec<u8>, decoded: &[u8]) -> &'a [u8] {
    out.clear();
    let mut in_parameter = false;
    for &byte in decoded {
        in_parameter = (in_parameter || byte == b';') && byte != b'/';
        if !(in_parameter || byte == b'/' && out.last() == Some(&b'/')) {
            out.push(byte);
        }
    }
    out
}

/// Brings escapes into one form, and decodes them.
fn read_escapes(path: &[u8], upstream: &mut Vec<u8>, decoded: &mut Vec<u8>) -> Result<(), Fault> {
    upstream.clear();
    decoded.clear();
    for unit in units(path) {
        let unit = unit.map_err(|_| Fault::Escape)?;
        let meant = matches!(unit.byte, b'.' | b'/' | b'\\' | b'%' | 0..0x20 | 0x7f);
        if unit.escaped && meant {
            return Err(Fault::Path);
        }
        escapes::write(upstream, unit);
        decoded.push(unit.byte);
    }
    if escapes::is_overlong(decoded) { Err(Fault::Escape) } else { Ok(()) }
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

/// Refuses paths that servers normalise differently: dot segments, backslashes, and an empty first segment (`//`, which may
/// be read as an authority). The path is decoded; what must not be escaped is looked at by [`read_escapes`].
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
    Ok(())
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
        let mut forms = Forms::default();
        let target = read(&head, &mut forms)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ok((text(target.path), target.query.map(str::to_owned), text(target.host)))
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
            "/a%c0%af",
            "/..%3bx/a",
            "/%e0%80%ae",
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
            "/%20b%3B",
            "/..a/b",
        ];
        for path in good {
            let read = reading(&format!("GET {path} HTTP/1.1"), "h").unwrap();
            assert_eq!(read.0, path);
        }
        assert_eq!(reading("GET /%5f%61%3b HTTP/1.1", "h").unwrap().0, "/_a%3B");
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
        assert_eq!(reading("OPTIONS http://a.b HTTP/1.1", "a.b").unwrap().0, "*");
        assert_eq!(reading("OPTIONS http://a.b?x HTTP/1.1", "a.b").unwrap().0, "/");
        assert_eq!(reading("OPTIONS http://a.b/ HTTP/1.1", "a.b").unwrap().0, "/");
    }

    #[test]
    fn what_some_servers_leave_out_is_left_out() {
        for (path, expected) in
            [("/a;x=1/b;y", "/a/b"), ("/a//b", "/a/b"), ("/a/;x//b/", "/a/b/"), ("/a/b//", "/a/b/")]
        {
            assert!(is_cut(path.as_bytes()));
            assert_eq!(cut_into(&mut Vec::new(), path.as_bytes()), expected.as_bytes(), "{path}");
        }
        assert!(is_cut(b"/a/b/") && !is_cut(b"/"));
    }

    #[test]
    fn hosts_lose_their_port() {
        for (authority, host) in
            [("a:80", "a"), ("a", "a"), ("[::1]:8", "[::1]"), ("[::1]", "[::1]"), ("a:", "a")]
        {
            assert_eq!(without_port(authority.as_bytes()), host.as_bytes());
        }
        assert_eq!(reading("GET / HTTP/1.1", ""), Err(Fault::Host));
        assert_eq!(reading("GET / HTTP/1.1", "."), Err(Fault::Host));
        assert_eq!(reading("GET / HTTP/1.1", "a.b.:80").unwrap().2, "a.b");
        assert_eq!(reading("GET / HTTP/1.1", "%61.b"), Err(Fault::HostEscaped));
    }
}
