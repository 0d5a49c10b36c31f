//! Finds the key of a request, and what of the request must not be passed on because of it.
//!
//! Owns where keys are looked for. The policy decides whether a key is valid.

use wire::Headers;

use super::refusal::Fault;
use crate::escapes::{Unit, lenient, units};
use crate::policy::KeySource;

/// What stands between the parameters of a query. Some servers still take `;` as HTML 4 had it, so a key may stand behind one.
const SEPARATORS: [char; 2] = ['&', ';'];

/// The key of a request, and where it was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// The key; none or empty where there is none.
    pub(super) key: Option<&'a [u8]>,
    /// It came as `Authorization: Bearer`: that header was for the gateway and ends here.
    pub(super) by_bearer: bool,
}

/// Looks for the key: `named` has all fields of the header that is configured for keys, `authorization` all of `Authorization`;
/// either may have others too. A parameter's value that has escapes is decoded into `room`.
///
/// A header of its own or the query parameter is meant for the gateway alone, so `Authorization` is then the
/// upstream's and is passed on.
///
/// # Errors
/// [`Fault::TwoKeys`] where two places hold different keys, or one of them is given twice.
pub(super) fn find<'a>(
    source: &KeySource,
    named: &Headers<'a>,
    authorization: &Headers<'a>,
    query: Option<&'a str>,
    room: &'a mut Vec<u8>,
) -> Result<Found<'a>, Fault> {
    let header = match &source.header {
        Some(name) => only(named.all(name))?,
        None => None,
    };
    let parameter = match (&source.query, query) {
        (Some(name), Some(query)) => only(values(query, name))?,
        _ => None,
    };
    let parameter = parameter.map(|value| decoded(value, room));
    let own = match (header, parameter) {
        (Some(header), Some(parameter)) if header != parameter => return Err(Fault::TwoKeys),
        (header, parameter) => header.or(parameter),
    };
    if own.is_some() || !source.bearer {
        return Ok(Found { key: own, by_bearer: false });
    }
    let key = only(authorization.all("authorization"))?.and_then(bearer);
    Ok(Found { key, by_bearer: key.is_some() })
}

fn decoded<'a>(value: &'a [u8], room: &'a mut Vec<u8>) -> &'a [u8] {
    if !value.contains(&b'%') {
        return value;
    }
    room.clear();
    room.extend(lenient(value));
    room
}

fn only<'a>(mut found: impl Iterator<Item = &'a [u8]>) -> Result<Option<&'a [u8]>, Fault> {
    let first = found.next();
    if found.next().is_some() { Err(Fault::TwoKeys) } else { Ok(first) }
}

/// What a value of `Authorization` carries by the scheme `Bearer`, whose name has no case and ends in one space or more (RFC 9110
/// sections 11.1 and 11.4).
pub(crate) fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| rest.trim_ascii())
}

fn values<'a>(query: &'a str, name: &str) -> impl Iterator<Item = &'a [u8]> {
    query.split(SEPARATORS).filter_map(move |pair| value_of(pair, name)).map(str::as_bytes)
}

fn value_of<'a>(pair: &'a str, name: &str) -> Option<&'a str> {
    let (found, value) = pair.split_once('=').unwrap_or((pair, ""));
    is_named(found, name).then_some(value)
}

/// Whether a parameter of a query has this name, however it is escaped.
fn is_named(found: &str, name: &str) -> bool {
    if !found.contains(['%', '+']) {
        return found == name;
    }
    let decoded = units(found.as_bytes()).map(|unit| match unit {
        Ok(Unit { byte: b'+', escaped: false }) => b' ',
        unit => unit.map_or(b'%', |unit| unit.byte),
    });
    decoded.eq(name.bytes())
}

/// Appends a URL without the parameter of this name in its query. A query that is no text is left out.
pub(super) fn write_url(out: &mut Vec<u8>, url: &[u8], without: &str) {
    let at = url.iter().position(|byte| *byte == b'?').unwrap_or(url.len());
    let (page, query) = url.split_at(at);
    out.extend_from_slice(page);
    let query = query.strip_prefix(b"?").and_then(|query| str::from_utf8(query).ok());
    write_query(out, query, Some(without));
}

/// Appends `?query` without the parameter of this name.
pub(super) fn write_query(out: &mut Vec<u8>, query: Option<&str>, without: Option<&str>) {
    let Some(query) = query else { return };
    let Some(name) = without else {
        out.push(b'?');
        out.extend_from_slice(query.as_bytes());
        return;
    };
    let (mut rest, mut separator, mut is_first) = (query, b'?', true);
    loop {
        let (pair, after) = rest.split_at(rest.find(SEPARATORS).unwrap_or(rest.len()));
        if value_of(pair, name).is_none() {
            out.push(if is_first { b'?' } else { separator });
            out.extend_from_slice(pair.as_bytes());
            is_first = false;
        }
        let Some(next) = after.bytes().next() else { return };
        (rest, separator) = (&after[1..], next);
    }
}

#[cfg(test)]
mod tests {
    use wire::{Limits, RequestEvent, RequestParser};

    use super::*;

    fn key(lines: &str, query: Option<&str>) -> Result<(Option<String>, bool), Fault> {
        let text = format!("GET / HTTP/1.1\r\nHost: h\r\n{lines}\r\n");
        let mut parser = RequestParser::new(Limits::default());
        let mut input = text.as_bytes();
        let Ok(Some(RequestEvent::Head(head))) = parser.next(&mut input) else { panic!("{lines}") };
        let mut room = Vec::new();
        let all = &head.headers;
        let found = find(&KeySource::usual(), all, all, query, &mut room)?;
        Ok((found.key.map(|key| String::from_utf8(key.to_vec()).unwrap()), found.by_bearer))
    }

    #[test]
    fn keys_are_found_in_three_places() {
        let some = |key: &str, by_bearer| Ok((Some(key.to_owned()), by_bearer));
        assert_eq!(key("", None), Ok((None, false)));
        assert_eq!(key("X-API-Key: k\r\n", None), some("k", false));
        assert_eq!(key("authorization: bearer k\r\n", None), some("k", true));
        assert_eq!(key("Authorization: BEARER   k\r\n", None), some("k", true));
        assert_eq!(key("Authorization: Bearerk\r\n", None), Ok((None, false)));
        assert_eq!(key("", Some("a=1&user_key=k&b")), some("k", false));
        assert_eq!(key("Authorization: Bearer j\r\nx-api-key: k\r\n", None), some("k", false));
        assert_eq!(key("x-api-key: k\r\n", Some("user_key=k")), some("k", false));
        assert_eq!(key("Authorization: Basic abcdef\r\n", None), Ok((None, false)));
        assert_eq!(key("", Some("user_key")), some("", false));
        assert_eq!(key("", Some("%75ser%5Fkey=k")), some("k", false));
        assert_eq!(key("", Some("a=1;user_key=k&b")), some("k", false));
        assert_eq!(key("", Some("user_key=plk%5F1&b=%31")), some("plk_1", false));
        assert_eq!(key("x-api-key: plk_1\r\n", Some("user_key=plk%5f1")), some("plk_1", false));
        assert_eq!(key("", Some("xuser_key=1&USER_KEY=2")), Ok((None, false)));
    }

    #[test]
    fn two_keys_are_not_chosen_between() {
        for (lines, query) in [
            ("x-api-key: k\r\nX-Api-Key: k\r\n", None),
            ("x-api-key: k\r\n", Some("user_key=j")),
            ("", Some("user_key=k&user_key=k")),
            ("", Some("user_key=k&user%5fkey=j")),
            ("", Some("user_key=k&a=1;user_key=j")),
            ("Authorization: Bearer k\r\nAuthorization: Bearer j\r\n", None),
        ] {
            assert_eq!(key(lines, query), Err(Fault::TwoKeys), "{lines} {query:?}");
        }
    }

    #[test]
    fn the_parameter_is_taken_out_of_the_page_that_led_here() {
        for (url, expected) in [
            (&b"http://a/p?user_key=k"[..], &b"http://a/p"[..]),
            (b"http://a/p?x=1&%75ser_key=k", b"http://a/p?x=1"),
            (b"http://a/p", b"http://a/p"),
            (b"http://a/p?x=\xff&user_key=k", b"http://a/p"),
            (b"about:blank", b"about:blank"),
        ] {
            let mut out = Vec::new();
            write_url(&mut out, url, "user_key");
            assert_eq!(out, expected, "{}", url.escape_ascii());
        }
    }

    #[test]
    fn the_parameter_is_taken_out_of_the_query() {
        for (query, expected) in [
            ("user_key=k", ""),
            ("a=1&user_key=k&b=2", "?a=1&b=2"),
            ("user_key=k&a", "?a"),
            ("%75ser_key=k&a%75", "?a%75"),
            ("a&user_key", "?a"),
            ("a=user_key=1", "?a=user_key=1"),
            ("a=1;user_key=k", "?a=1"),
            ("user_key=k;a=1", "?a=1"),
            ("a=1;user_key=k&b;c=", "?a=1&b;c="),
            ("a;b&&c;", "?a;b&&c;"),
            ("", "?"),
        ] {
            let mut out = Vec::new();
            write_query(&mut out, Some(query), Some("user_key"));
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{query}");
        }
        let mut out = Vec::new();
        write_query(&mut out, Some("user_key=k"), None);
        write_query(&mut out, None, None);
        assert_eq!(out, b"?user_key=k");
    }
}
