//! Rewrites what responses say of where things are into the client's terms: `Location`, `Content-Location`, `Refresh`,
//! and the `Path` of `Set-Cookie`.
//!
//! This reverses what a route does to paths and hosts. An upstream uses the paths that it was asked for, and sometimes
//! its own name; a client that followed these would go past the gateway, or to another route. A reference that the
//! upstream cannot have meant so passes unchanged: another host, the upstream's name with another scheme (a client that
//! is sent from http to https would go round in circles), a path that the rewrite does not produce, and a relative
//! reference.

use std::ops::Range;

use crate::escapes::{self, Unit, strip_decoded};
use crate::policy::{PathRewrite, UpstreamAddress};

/// What is put back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Back<'a> {
    pub(super) rewrite: Option<&'a PathRewrite>,
    /// The upstream's servers.
    pub(super) servers: &'a [UpstreamAddress],
    /// The `Host` that the route sends, where that is not the client's.
    pub(super) upstream_host: Option<&'a str>,
    /// The host that the client asked, with its port; known where paths are rewritten.
    pub(super) asked: &'a [u8],
}

/// A header of a response that says where something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// A URL.
    Url,
    /// Seconds, and often a URL behind them.
    Refresh,
    /// A cookie, which may have a path.
    Cookie,
}

impl Says {
    /// What the header of this name says, if it says where something is.
    pub(super) fn of(name: &str) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        match name.len() {
            7 if is("refresh") => Some(Self::Refresh),
            8 if is("location") => Some(Self::Url),
            10 if is("set-cookie") => Some(Self::Cookie),
            16 if is("content-location") => Some(Self::Url),
            _ => None,
        }
    }
}

impl Back<'_> {
    /// Appends the value of a header.
    pub(super) fn write(&self, out: &mut Vec<u8>, says: Says, value: &[u8]) {
        match says {
            Says::Url => self.write_url(out, value),
            Says::Refresh => self.write_refresh(out, value),
            Says::Cookie => self.write_cookie(out, value),
        }
    }

    fn write_url(&self, out: &mut Vec<u8>, url: &[u8]) {
        let Some((secure, authority, rest)) = split(url) else {
            return self.write_path(out, url);
        };
        let begin = &url[..url.len() - rest.len()];
        // Without its host, `//x` would be another one.
        if self.is_upstream(secure, authority) && !rest.starts_with(b"//") {
            if rest.starts_with(b"/") {
                return self.write_path(out, rest);
            }
            // The root need not be written: `http://api?a`.
            self.write_path(out, b"/");
            return out.extend_from_slice(rest);
        }
        out.extend_from_slice(begin);
        if self.rewrite.is_some() && same_host(secure, authority, self.asked) {
            self.write_path(out, rest);
        } else {
            out.extend_from_slice(rest);
        }
    }

    fn write_refresh(&self, out: &mut Vec<u8>, refresh: &[u8]) {
        let Some(Range { start, end }) = url_of(refresh) else {
            return out.extend_from_slice(refresh);
        };
        out.extend_from_slice(&refresh[..start]);
        self.write_url(out, &refresh[start..end]);
        out.extend_from_slice(&refresh[end..]);
    }

    fn is_upstream(&self, secure: bool, authority: &[u8]) -> bool {
        let is = |server: &UpstreamAddress| {
            let named = self
                .upstream_host
                .is_some_and(|host| same_host(secure, authority, host.as_bytes()));
            server.tls.is_some() == secure
                && (named || same_host(secure, authority, server.text.as_bytes()))
        };
        self.servers.iter().any(is)
    }

    /// Appends a path with what follows it.
    fn write_path(&self, out: &mut Vec<u8>, path: &[u8]) {
        let replaced = self.rewrite.and_then(|rewrite| {
            let (from, to) = (rewrite.from.trim_end_matches('/'), rewrite.to.trim_end_matches('/'));
            if !path.starts_with(b"/") || path.starts_with(b"//") {
                return None;
            }
            let rest = path.strip_prefix(to.as_bytes()).filter(|rest| ends_segment(rest))?;
            // An upstream at the root that knows where it is put says so itself.
            let known = || strip_decoded(path, from.as_bytes()).is_some_and(ends_segment);
            let other_host = from.is_empty() && rest.starts_with(b"//");
            let as_it_came = other_host || to.is_empty() && known();
            (!as_it_came).then_some((from, rest))
        });
        let Some((from, rest)) = replaced else { return out.extend_from_slice(path) };
        for byte in from.bytes() {
            let escaped = !byte.is_ascii_graphic() || b"%?#\"<>\\^`{|}".contains(&byte);
            escapes::write(out, Unit { byte, escaped });
        }
        if from.is_empty() && !rest.starts_with(b"/") {
            out.push(b'/');
        }
        out.extend_from_slice(rest);
    }

    /// Appends a cookie. One for the whole site stays one.
    fn write_cookie(&self, out: &mut Vec<u8>, cookie: &[u8]) {
        for (number, part) in cookie.split(|&byte| byte == b';').enumerate() {
            if number > 0 {
                out.push(b';');
            }
            match path_of(part).filter(|path| number > 0 && *path != b"/") {
                Some(path) => {
                    out.extend_from_slice(&part[..part.len() - path.len()]);
                    self.write_path(out, path);
                }
                None => out.extend_from_slice(part),
            }
        }
    }
}

/// Where the URL of a `Refresh` is, as browsers read it (HTML, "shared declarative refresh steps"): behind seconds and a
/// separator, with `url=` before it or not, in quotes or not.
fn url_of(refresh: &[u8]) -> Option<Range<usize>> {
    let past = |at: usize, is: fn(&u8) -> bool| {
        at + refresh[at..].iter().take_while(|byte| is(byte)).count()
    };
    let seconds = past(0, |byte| byte.is_ascii_digit() || *byte == b'.');
    let mut at = past(seconds, u8::is_ascii_whitespace);
    match refresh.get(at) {
        Some(b';' | b',') => at = past(at + 1, u8::is_ascii_whitespace),
        _ if at == seconds => return None,
        _ => {}
    }
    if refresh[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"url")) {
        let sign = past(at + 3, u8::is_ascii_whitespace);
        if refresh.get(sign) == Some(&b'=') {
            at = past(sign + 1, u8::is_ascii_whitespace);
        }
    }
    let mut end = refresh.len();
    if let Some(quote) = refresh.get(at).filter(|byte| matches!(byte, b'"' | b'\'')) {
        at += 1;
        end = refresh[at..].iter().position(|byte| byte == quote).map_or(end, |length| at + length);
    }
    (seconds > 0 && at < end).then_some(at..end)
}

/// The path that an attribute of a cookie says; it ends where the attribute does.
fn path_of(attribute: &[u8]) -> Option<&[u8]> {
    let at = attribute.iter().position(|&byte| byte == b'=')?;
    let (name, value) = (attribute[..at].trim_ascii(), attribute[at + 1..].trim_ascii_start());
    (name.eq_ignore_ascii_case(b"path") && value.starts_with(b"/")).then_some(value)
}

/// Whether a URL is https, its host and port, and what follows; `None` where it does not begin with http or https.
fn split(url: &[u8]) -> Option<(bool, &[u8], &[u8])> {
    let begins = |scheme: &[u8]| {
        let begin = url.get(..scheme.len())?;
        begin.eq_ignore_ascii_case(scheme).then_some(&url[scheme.len()..])
    };
    let (secure, rest) = match begins(b"https://") {
        Some(rest) => (true, rest),
        None => (false, begins(b"http://")?),
    };
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    Some((secure, &rest[..end], &rest[end..]))
}

/// Whether two hosts with ports are the same, in a URL of this scheme.
fn same_host(secure: bool, one: &[u8], other: &[u8]) -> bool {
    let port: &[u8] = if secure { b":443" } else { b":80" };
    let without = |host: &[u8]| host.len() - if host.ends_with(port) { port.len() } else { 0 };
    !one.is_empty() && one[..without(one)].eq_ignore_ascii_case(&other[..without(other)])
}

/// Whether what follows a path's beginning leaves its last segment whole.
fn ends_segment(rest: &[u8]) -> bool {
    rest.first().is_none_or(|byte| b"/?#".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers() -> [UpstreamAddress; 2] {
        let socket = "127.0.0.1:8080".parse().unwrap();
        let of = |text: &str, tls: Option<&str>| UpstreamAddress {
            text: text.into(),
            socket,
            tls: tls.map(str::to_owned),
        };
        [of("10.0.0.7:8080", None), of("api.internal", Some("api.internal"))]
    }

    fn written(from_to: Option<(&str, &str)>, says: Says, value: &str) -> String {
        let rewrite = from_to.map(|(from, to)| PathRewrite { from: from.into(), to: to.into() });
        let back = Back {
            rewrite: rewrite.as_ref(),
            servers: &servers(),
            upstream_host: Some("inner"),
            asked: b"shop.test:9090",
        };
        let mut out = Vec::new();
        back.write(&mut out, says, value.as_bytes());
        String::from_utf8(out).unwrap()
    }

    const USERS: Option<(&str, &str)> = Some(("/users", "/v2/people"));

    #[test]
    fn urls_are_where_the_client_finds_them() {
        let of = |from_to, url| written(from_to, Says::Url, url);
        for (url, expected) in [
            ("/v2/people/7?a=/v2/people#b", "/users/7?a=/v2/people#b"),
            ("/v2/people", "/users"),
            ("/v2/people?a", "/users?a"),
            ("/v2/peoples/7", "/v2/peoples/7"),
            ("/other", "/other"),
            ("7", "7"),
            ("../7", "../7"),
            ("?a", "?a"),
            ("//v2/people/7", "//v2/people/7"),
            ("mailto:a@b", "mailto:a@b"),
            // By the upstream's own names: a reference to the gateway.
            ("http://10.0.0.7:8080/v2/people/7", "/users/7"),
            ("HTTP://INNER:80/v2/people/7", "/users/7"),
            ("http://10.0.0.7:8080/other?a", "/other?a"),
            ("http://10.0.0.7:8080", "/"),
            ("http://10.0.0.7:8080?a", "/?a"),
            ("https://api.internal:443/v2/people", "/users"),
            ("https://inner/v2/people", "/users"),
            // In another scheme, at another port, or what would be another host.
            ("https://10.0.0.7:8080/v2/people", "https://10.0.0.7:8080/v2/people"),
            ("http://api.internal/v2/people", "http://api.internal/v2/people"),
            ("http://10.0.0.7/v2/people", "http://10.0.0.7/v2/people"),
            ("http://10.0.0.7:8080//evil.test/", "http://10.0.0.7:8080//evil.test/"),
            // By the name that the client asked.
            ("http://shop.test:9090/v2/people/7", "http://shop.test:9090/users/7"),
            ("https://Shop.test:9090/v2/people", "https://Shop.test:9090/users"),
            ("http://shop.test/v2/people", "http://shop.test/v2/people"),
            ("http://elsewhere.test/v2/people", "http://elsewhere.test/v2/people"),
        ] {
            assert_eq!(of(USERS, url), expected, "{url}");
        }
        for (from_to, url, expected) in [
            (Some(("/api", "")), "/login", "/api/login"),
            (Some(("/api", "")), "/", "/api/"),
            (Some(("/api", "")), "http://10.0.0.7:8080?a", "/api/?a"),
            (Some(("/api", "")), "/api/login", "/api/login"),
            (Some(("/api", "")), "/apix", "/api/apix"),
            (Some(("", "/v2")), "/v2/x", "/x"),
            (Some(("", "/v2")), "/v2", "/"),
            (Some(("", "/v2")), "/v2?a", "/?a"),
            (Some(("", "/v2")), "/v2//evil.test", "/v2//evil.test"),
            (Some(("/café x", "/v2")), "/v2/7", "/caf%C3%A9%20x/7"),
            (None, "/v2/people", "/v2/people"),
            (None, "http://10.0.0.7:8080/v2/people", "/v2/people"),
            (None, "http://shop.test:9090/x", "http://shop.test:9090/x"),
        ] {
            assert_eq!(of(from_to, url), expected, "{from_to:?} {url}");
        }
    }

    #[test]
    fn cookies_are_sent_where_they_are_wanted() {
        let of = |from_to, cookie| written(from_to, Says::Cookie, cookie);
        for (cookie, expected) in [
            ("a=b; Path=/v2/people; HttpOnly", "a=b; Path=/users; HttpOnly"),
            ("a=b;path = /v2/people/7", "a=b;path = /users/7"),
            ("path=/v2/people", "path=/v2/people"),
            ("a=b; Path=/", "a=b; Path=/"),
            ("a=b; Path=x; Domain=inner", "a=b; Path=x; Domain=inner"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(of(USERS, cookie), expected);
        }
        assert_eq!(of(Some(("/api", "")), "a=b; Path=/"), "a=b; Path=/");
        assert_eq!(of(Some(("/api", "")), "a=b; Path=/x"), "a=b; Path=/api/x");
        assert_eq!(of(None, "a=b; Path=/v2"), "a=b; Path=/v2");
    }

    #[test]
    fn pages_that_follow_are_where_the_client_finds_them() {
        let of = |refresh| written(USERS, Says::Refresh, refresh);
        for (refresh, expected) in [
            ("5; url=/v2/people/7", "5; url=/users/7"),
            ("0;URL=http://inner/v2/people", "0;URL=/users"),
            ("0.5 , Url = '/v2/people/7' ", "0.5 , Url = '/users/7' "),
            ("3; url=\"http://10.0.0.7:8080/v2/people?a\"", "3; url=\"/users?a\""),
            ("3; url='/v2/people", "3; url='/users"),
            ("3 /v2/people", "3 /users"),
            ("3; /v2/people", "3; /users"),
            // Of elsewhere, of the same page, or none that a browser follows.
            ("5; url=https://elsewhere.test/v2/people", "5; url=https://elsewhere.test/v2/people"),
            ("5", "5"),
            ("5;", "5;"),
            ("5; url=", "5; url="),
            ("5; url=''", "5; url=''"),
            ("5x/v2/people", "5x/v2/people"),
            ("; url=/v2/people", "; url=/v2/people"),
            ("", ""),
        ] {
            assert_eq!(of(refresh), expected, "{refresh}");
        }
        assert_eq!(written(None, Says::Refresh, "0; url=http://inner/x"), "0; url=/x");
    }

    #[test]
    fn the_headers_are_known_in_any_letters() {
        assert_eq!(Says::of("LOCATION"), Some(Says::Url));
        assert_eq!(Says::of("content-location"), Some(Says::Url));
        assert_eq!(Says::of("Set-Cookie"), Some(Says::Cookie));
        assert_eq!(Says::of("REFRESH"), Some(Says::Refresh));
        assert_eq!(Says::of("x-location"), None);
        assert_eq!(Says::of("proxy-connection"), None);
    }
}
