//! Lines of the log: the combined format with the time taken behind it, or JSON.
//!
//! Owns what of a request is not written: query values whose name or form says that they are credentials, the query of a
//! `Referer`, and the gateway's own keys wherever they stand.

use std::borrow::Cow;
use std::io::Write;

use model::secret::{MASK, is_secret_query_name, is_secret_value};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Entry;
use crate::escapes;
use crate::keys::PREFIX;
use crate::limits::{MONTHS, date};

const SECOND_NS: i64 = 1_000_000_000;

/// How lines of the access log are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum LogFormat {
    /// nginx's and Apache's combined format, with the seconds taken behind it.
    #[default]
    #[serde(rename = "combined+time")]
    CombinedTime,
    /// A JSON object a line, with the time of arrival in microseconds.
    #[serde(rename = "json")]
    Json,
}

impl LogFormat {
    /// Appends a line. `wall_ns` is what to add to the data path's clock for the time of day; `route` the route's name.
    pub(super) fn write(self, out: &mut Vec<u8>, entry: &Entry<'_>, wall_ns: i64, route: &str) {
        let at_ns = wall_ns.saturating_add(i64::try_from(entry.at_ns).unwrap_or(i64::MAX));
        match self {
            Self::CombinedTime => combined(out, entry, at_ns),
            Self::Json => json(out, entry, at_ns, route),
        }
    }
}

/// As servers write it: with the time at which the response ended.
fn combined(out: &mut Vec<u8>, entry: &Entry<'_>, at_ns: i64) {
    let [method, target, _, referer, agent] = entry.texts;
    let ended_ns = at_ns.saturating_add(i64::try_from(entry.took_ns).unwrap_or(0));
    let (year, month, day, seconds) = clock(ended_ns);
    let month = MONTHS[(month as usize - 1).min(11)];
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    // Writing into a vector cannot fail.
    let _ = write!(out, "{} - ", entry.address);
    match entry.key {
        0 => out.push(b'-'),
        key => drop(write!(out, "{key}")),
    }
    let _ = write!(out, " [{day:02}/{month}/{year}:{hour:02}:{minute:02}:{second:02} +0000] \"");
    if !method.is_empty() {
        quoted(out, method, b"\\x");
        out.push(b' ');
        quoted(out, redacted(target).as_bytes(), b"\\x");
        let _ = write!(out, " HTTP/1.{}", entry.version_minor);
    }
    // Servers write the bytes of the body there.
    let body_out = entry.bytes_out.saturating_sub(entry.head_out);
    let _ = write!(out, "\" {} {body_out} \"", status(entry));
    quoted(out, or_dash(without_query(referer)), b"\\x");
    out.extend_from_slice(b"\" \"");
    quoted(out, or_dash(agent), b"\\x");
    let _ = writeln!(out, "\" {:.6}", entry.took_ns as f64 / 1e9);
}

/// With the time at which the request arrived.
fn json(out: &mut Vec<u8>, entry: &Entry<'_>, at_ns: i64, route: &str) {
    let [method, target, host, referer, agent] = entry.texts;
    let (year, month, day, seconds) = clock(at_ns);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let micros = at_ns.rem_euclid(SECOND_NS) / 1000;
    // Writing into a vector cannot fail.
    let _ = write!(
        out,
        "{{\"time\":\"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z\",\
         \"client_ip\":\"{}\"",
        entry.address
    );
    if entry.key != 0 {
        let _ = write!(out, ",\"user\":\"{}\"", entry.key);
    }
    let target = redacted(target);
    let texts = [
        ("method", method),
        ("uri", target.as_bytes()),
        ("host", host),
        ("route", route.as_bytes()),
        ("referer", without_query(referer)),
        ("user_agent", agent),
    ];
    for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        let _ = write!(out, ",\"{name}\":\"");
        quoted(out, text, b"\\u00");
        out.push(b'"');
    }
    let _ = writeln!(
        out,
        ",\"status\":{},\"bytes_in\":{},\"bytes_out\":{},\"duration\":{:.6}}}",
        status(entry),
        entry.bytes_in,
        entry.bytes_out,
        entry.took_ns as f64 / 1e9
    );
}

/// The status sent; 499 where the client left first, as nginx writes it.
fn status(entry: &Entry<'_>) -> u16 {
    if entry.status == 0 { 499 } else { entry.status }
}

/// Year, month, day and second of the day.
fn clock(at_ns: i64) -> (i64, i64, i64, i64) {
    let seconds = at_ns.div_euclid(SECOND_NS);
    let (year, month, day) = date(seconds);
    (year, month, day, seconds.rem_euclid(86_400))
}

fn or_dash(text: &[u8]) -> &[u8] {
    if text.is_empty() { b"-" } else { text }
}

/// A page's address may hold what was given to that page alone.
fn without_query(url: &[u8]) -> &[u8] {
    url.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default()
}

/// A target whose credentials are masked: values of the query by name or form, segments of the path by form.
fn redacted(target: &[u8]) -> String {
    let target = String::from_utf8_lossy(target);
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (&*target, None),
    };
    let segment = |segment| if is_secret_value(&plain(segment)) { MASK } else { segment };
    let mut out = path.split('/').map(segment).collect::<Vec<_>>().join("/");
    out.extend(query.map(|_| '?'));
    // Some servers take `;` for `&`.
    for part in query.into_iter().flat_map(|query| query.split_inclusive(['&', ';'])) {
        let pair = part.trim_end_matches(['&', ';']);
        match pair.split_once('=') {
            Some((name, value))
                if is_secret_query_name(&plain(name)) || is_secret_value(&plain(value)) =>
            {
                out.push_str(name);
                out.push('=');
                out.push_str(MASK);
            }
            _ => out.push_str(pair),
        }
        out.push_str(&part[pair.len()..]);
    }
    out
}

/// What a text stands for that may have escapes, and escapes of escapes.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let decoded: Vec<u8> = escapes::innermost(text.as_bytes()).map(|(byte, _)| byte).collect();
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

/// A text without keys of the gateway: what follows their prefix, in either case and however it is escaped, is masked.
fn without_keys(text: &[u8]) -> Cow<'_, [u8]> {
    // The prefix ends in `_`.
    if !text.iter().any(|byte| matches!(byte, b'_' | b'%')) {
        return Cow::Borrowed(text);
    }
    let decoded: Vec<(u8, usize)> = escapes::innermost(text).collect();
    let begins = |at: usize| {
        let begin =
            decoded[at..].iter().take(PREFIX.len()).map(|(byte, _)| byte.to_ascii_lowercase());
        begin.eq(PREFIX.bytes())
    };
    if !(0..decoded.len()).any(begins) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    let begin_of = |at: usize| decoded.get(at).map_or(text.len(), |(_, begin)| *begin);
    while at < decoded.len() {
        if !begins(at) {
            out.extend_from_slice(&text[begin_of(at)..begin_of(at + 1)]);
            at += 1;
            continue;
        }
        out.extend_from_slice(MASK.as_bytes());
        at += PREFIX.len();
        let of_key = decoded[at..].iter().take_while(|(byte, _)| byte.is_ascii_alphanumeric());
        at += of_key.count();
    }
    Cow::Owned(out)
}

/// Appends a text, with `\x` (or `\u00`) and two digits for bytes that would end or bend a line: as nginx does.
/// In JSON, text that is UTF-8 stays as it is beyond ASCII.
fn quoted(out: &mut Vec<u8>, text: &[u8], mark: &[u8]) {
    let text = &*without_keys(text);
    let keeps = mark == b"\\u00" && std::str::from_utf8(text).is_ok();
    for &byte in text {
        match byte {
            b'"' | b'\\' | 0..=0x1f | 0x7f => escaped(out, mark, byte),
            0x80.. if !keeps => escaped(out, mark, byte),
            _ => out.push(byte),
        }
    }
}

fn escaped(out: &mut Vec<u8>, mark: &[u8], byte: u8) {
    out.extend_from_slice(mark);
    let _ = write!(out, "{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(target: &'a [u8], agent: &'a [u8]) -> Entry<'a> {
        Entry {
            at_ns: 0,
            took_ns: 1_250_000_000,
            bytes_in: 30,
            bytes_out: 400,
            head_out: 119,
            key: 17,
            address: "192.0.2.1".parse().unwrap(),
            status: 200,
            version_minor: 1,
            route: 0,
            texts: [b"GET", target, b"api.test", b"http://x/?token=abc", agent],
        }
    }

    fn line(format: LogFormat, entry: &Entry<'_>) -> String {
        let mut out = Vec::new();
        format.write(&mut out, entry, 971_211_336_123_456_789, "users");
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_combined_format_with_the_time_taken() {
        let logged = line(LogFormat::CombinedTime, &entry(b"/a/b?c=d", b"Mozilla \"5\""));
        assert_eq!(
            logged,
            "192.0.2.1 - 17 [10/Oct/2000:20:55:37 +0000] \"GET /a/b?c=d HTTP/1.1\" 200 281 \"http://x/\" \
             \"Mozilla \\x225\\x22\" 1.250000\n"
        );
        let nothing = Entry { texts: [b""; 5], key: 0, status: 400, ..entry(b"", b"") };
        let logged = line(LogFormat::CombinedTime, &nothing);
        assert!(
            logged.contains(" - - [") && logged.contains("] \"\" 400 281 \"-\" \"-\" "),
            "{logged}"
        );
    }

    #[test]
    fn keys_are_written_nowhere() {
        for text in [
            &b"/x/plk_0123abcd/y"[..],
            b"/a?q=plk_0123abcd",
            b"/a?b=%20plk%5F0123abcd",
            b"/%70l%6b_%301%3223abcd",
            b"/users/1?a=%2570%256c%256b_0123abcd",
            b"/users/1?a=%25252570lk%2525255f0123abcd",
            b"/PLK_0123abcd",
        ] {
            for format in [LogFormat::CombinedTime, LogFormat::Json] {
                let logged = line(format, &entry(text, b"agent plk_0123abcd end"));
                assert!(!logged.contains("23abcd") && logged.contains("agent *** end"), "{logged}");
            }
        }
    }

    #[test]
    fn json_is_json_whatever_clients_send() {
        for agent in [&b"plain"[..], "grüß\u{7f}".as_bytes(), b"\xff\xfe\"\\\n"] {
            let logged = line(LogFormat::Json, &entry(b"/a?c=%22", agent));
            let value: serde_json::Value = serde_json::from_str(&logged).unwrap();
            assert_eq!(value["time"], "2000-10-10T20:55:36.123456Z");
            assert_eq!((value["user"].as_str(), value["status"].as_u64()), (Some("17"), Some(200)));
            assert_eq!(value["duration"], 1.25);
            assert_eq!(value["uri"], "/a?c=%22");
        }
    }

    #[test]
    fn credentials_are_masked() {
        let cases = [
            ("/a?user_key=plk_1&b=2", "/a?user_key=***&b=2"),
            ("/a?access_token=x", "/a?access_token=***"),
            ("/a?%61ccess_tok%65n=x", "/a?%61ccess_tok%65n=***"),
            ("/a?q=ghp_0123456789abcdef0123&user_key", "/a?q=***&user_key"),
            ("/reset/ghp_0123456789abcdef0123/x", "/reset/***/x"),
            ("/a?q=gh%2570_0123456789abcdef0123", "/a?q=***"),
            ("/a?page=2&sort=name", "/a?page=2&sort=name"),
            ("/?", "/?"),
            ("/a?b=1;access_token=x&c;", "/a?b=1;access_token=***&c;"),
        ];
        for (target, expected) in cases {
            assert_eq!(redacted(target.as_bytes()), expected);
        }
        for format in [LogFormat::CombinedTime, LogFormat::Json] {
            let logged = line(format, &entry(b"/a?user_key=plk_1", b"x"));
            assert!(!logged.contains("plk_1") && !logged.contains("abc"), "{logged}");
        }
    }
}
