//! What is written is read back equal, and hostile parts never get out.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::{
    EncodeError, Eof, Framing, Limits, RequestParts, ResponseTo, encode_chunk, encode_last_chunk,
    encode_request, encode_response_head,
};

use crate::messages::{header_name, header_value};
use crate::replay::{Step, requests, responses};

fn parts<'a>(headers: &'a [(&'a str, &'a str)]) -> RequestParts<'a, &'a str, &'a str> {
    let (method, target, host) = ("GET", "/", "h:80");
    RequestParts { method, target, host, headers, body: None, keep_alive: true }
}

fn written(parts: &RequestParts<'_, &str, &str>) -> String {
    let mut out = Vec::new();
    encode_request(&mut out, parts).expect("the request can be written");
    String::from_utf8(out).expect("the request is text")
}

fn refused(parts: &RequestParts<'_, &str, &str>) -> EncodeError {
    let mut out = b"before".to_vec();
    let error = encode_request(&mut out, parts).expect_err("the request cannot be written");
    assert_eq!(out, b"before");
    error
}

#[test]
fn requests_are_written_plainly() {
    let plain = parts(&[]);
    assert_eq!(written(&plain), "GET / HTTP/1.1\r\nHost: h:80\r\n\r\n");
    let closing = RequestParts { keep_alive: false, ..plain };
    assert_eq!(written(&closing), "GET / HTTP/1.1\r\nHost: h:80\r\nConnection: close\r\n\r\n");
    for method in ["POST", "PUT", "PATCH"] {
        let empty = RequestParts { method, ..plain };
        let expected = format!("{method} / HTTP/1.1\r\nHost: h:80\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(written(&empty), expected);
    }
    let with_body = RequestParts { body: Some(b"0123456789"), ..parts(&[("A", " b ")]) };
    let expected = "GET / HTTP/1.1\r\nHost: h:80\r\nA: b\r\nContent-Length: 10\r\n\r\n0123456789";
    assert_eq!(written(&with_body), expected);
}

#[test]
fn a_users_header_replaces_the_computed_one() {
    let headers = [("host", "other"), ("CONTENT-LENGTH", "2"), ("connection", "keep-alive")];
    let own = RequestParts { body: Some(b"hi"), keep_alive: false, ..parts(&headers) };
    let expected =
        "GET / HTTP/1.1\r\nhost: other\r\nCONTENT-LENGTH: 2\r\nconnection: keep-alive\r\n\r\nhi";
    assert_eq!(written(&own), expected);
    let headers = [("Transfer-Encoding", "chunked")];
    let chunked = RequestParts { body: Some(b"hi"), method: "POST", ..parts(&headers) };
    let head = "POST / HTTP/1.1\r\nHost: h:80\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(written(&chunked), format!("{head}2\r\nhi\r\n0\r\n\r\n"));
    assert_eq!(written(&RequestParts { body: None, ..chunked }), format!("{head}0\r\n\r\n"));
}

#[test]
fn hostile_requests_are_not_written() {
    let plain = parts(&[]);
    for method in ["", "GE T", "GET\r\n", "G\0T", "G\u{e9}T", "GET /"] {
        let error = refused(&RequestParts { method, ..plain });
        assert_eq!(error, EncodeError::Method { method: method.to_owned() });
    }
    let targets = ["", "a", "*", "/ HTTP/1.1\r\nA: b", "/ a", "/\r\n", "/\t", "/#a", "/\u{e9}"];
    for target in targets {
        let error = refused(&RequestParts { target, ..plain });
        assert_eq!(error, EncodeError::Target { target: target.to_owned() });
    }
    for host in ["", "h\r\nA: b", "h ", "u@h", "h/a", "h:x"] {
        let error = refused(&RequestParts { host, ..plain });
        assert_eq!(error, EncodeError::Host { host: host.to_owned() });
    }
    for name in ["", "A ", "A:", "A\r\nB", "A\n", "\u{e9}", "A b"] {
        let error = refused(&parts(&[(name, "b")]));
        assert_eq!(error, EncodeError::HeaderName { name: name.to_owned() });
    }
    for (value, byte) in [("b\r\nA: c", b'\r'), ("\n", b'\n'), ("b\0", 0), ("\x7f", 0x7f)] {
        let error = refused(&parts(&[("X-Key", value)]));
        assert_eq!(error, EncodeError::HeaderValue { name: "X-Key".to_owned(), byte });
    }
}

#[test]
fn contradictory_requests_are_not_written() {
    let table: [(&[(&str, &str)], &str); 9] = [
        (&[("Host", "a"), ("host", "a")], "headers contradict: Host given twice"),
        (&[("Host", "a b")], "headers contradict: malformed Host: `a b`"),
        (&[("Content-Length", "3")], "Content-Length says 3 bytes, the body has 2"),
        (&[("Content-Length", "x")], "headers contradict: Content-Length is not a number: `x`"),
        (
            &[("Content-Length", "2"), ("Content-Length", "2")],
            "headers contradict: Content-Length given twice: 2 and 2",
        ),
        (
            &[("Content-Length", "2"), ("Transfer-Encoding", "chunked")],
            "headers contradict: both Transfer-Encoding and Content-Length",
        ),
        (
            &[("Transfer-Encoding", "gzip")],
            "headers contradict: Transfer-Encoding other than chunked: `gzip`",
        ),
        (
            &[("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")],
            "headers contradict: Transfer-Encoding given twice",
        ),
        (&[("X", "a\nb")], r"byte `\n` in the value of header X"),
    ];
    for (headers, expected) in table {
        let error = refused(&RequestParts { body: Some(b"hi"), ..parts(headers) });
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn response_heads_are_written_plainly() {
    use Framing::{Chunked, Length, None, UntilClose};
    let table = [
        (200, Length(15), true, "200 OK\r\nA: b\r\nContent-Length: 15\r\n"),
        (
            200,
            Length(u64::MAX),
            false,
            "200 OK\r\nA: b\r\nContent-Length: 18446744073709551615\r\nConnection: close\r\n",
        ),
        (404, Chunked, true, "404 Not Found\r\nA: b\r\nTransfer-Encoding: chunked\r\n"),
        (200, UntilClose, true, "200 OK\r\nA: b\r\nConnection: close\r\n"),
        (204, None, true, "204 No Content\r\nA: b\r\n"),
        (304, Length(7), true, "304 Not Modified\r\nA: b\r\nContent-Length: 7\r\n"),
        (100, None, true, "100 Continue\r\nA: b\r\n"),
        (799, Length(0), true, "799 \r\nA: b\r\nContent-Length: 0\r\n"),
    ];
    for (status, framing, keep_alive, expected) in table {
        let mut out = Vec::new();
        encode_response_head(&mut out, status, &[("A", "b")], framing, keep_alive).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("HTTP/1.1 {expected}\r\n"));
    }
}

#[test]
fn impossible_responses_are_not_written() {
    let name = |name: &str| name.to_owned();
    let table: [(u16, (&str, &str), Framing, EncodeError); 9] = [
        (99, ("A", "b"), Framing::None, EncodeError::Status { status: 99 }),
        (1000, ("A", "b"), Framing::None, EncodeError::Status { status: 1000 }),
        (204, ("A", "b"), Framing::Length(0), EncodeError::BodyForbidden { status: 204 }),
        (101, ("A", "b"), Framing::Chunked, EncodeError::BodyForbidden { status: 101 }),
        (200, ("A\n", "b"), Framing::None, EncodeError::HeaderName { name: name("A\n") }),
        (200, ("A", "\r"), Framing::None, EncodeError::HeaderValue { name: name("A"), byte: 13 }),
        (200, ("A", "\0"), Framing::None, EncodeError::HeaderValue { name: name("A"), byte: 0 }),
        (
            200,
            ("Content-length", "1"),
            Framing::Length(1),
            EncodeError::FramingHeader { name: name("Content-length") },
        ),
        (
            200,
            ("Transfer-encoding", "x"),
            Framing::None,
            EncodeError::FramingHeader { name: name("Transfer-encoding") },
        ),
    ];
    for (status, header, framing, expected) in table {
        let mut out = b"before".to_vec();
        let error = encode_response_head(&mut out, status, &[header], framing, true);
        assert_eq!(error, Err(expected));
        assert_eq!(out, b"before");
    }
}

#[test]
fn chunk_sizes_are_hexadecimal() {
    for (len, size) in
        [(1, "1"), (15, "f"), (16, "10"), (255, "ff"), (256, "100"), (70_000, "11170")]
    {
        let mut out = Vec::new();
        encode_chunk(&mut out, &vec![b'x'; len]);
        assert!(out.starts_with(format!("{size}\r\nx").as_bytes()), "{len}");
        assert_eq!(out.len(), size.len() + len + 4);
    }
    let mut out = Vec::new();
    encode_chunk(&mut out, b"");
    assert!(out.is_empty());
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// Text that is often an attempt to break out.
fn any_text() -> impl Strategy<Value = String> {
    let hostile = "[\r\n\u{0} :a/#?é]{0,6}";
    prop_oneof![4 => "[a-zA-Z/]{1,6}", 1 => hostile, 1 => any::<String>()]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_written_request_is_read_back_equal(
        method in "[A-Z]{1,7}",
        target in "/[!-\"$-~]{0,30}",
        headers in vec((header_name(), header_value()), 0..6),
        body in option::of(vec(any::<u8>(), 0..50)),
        (keep_alive, chunked) in any::<(bool, bool)>(),
    ) {
        prop_assume!(method != "CONNECT");
        let mut headers = headers;
        if chunked {
            headers.push(("Transfer-Encoding".to_owned(), "chunked".into()));
        }
        let mut out = Vec::new();
        let body = body.as_deref();
        let host = "[::1]:8080";
        let request = RequestParts { method: &method, target: &target, host, headers: &headers, body, keep_alive };
        encode_request(&mut out, &request).unwrap();
        let steps = requests([&out[..]], Limits::default());
        let Step::Request { start, common, .. } = &steps[0] else { panic!("{steps:?}") };
        prop_assert_eq!((&start[0], &start[1]), (&method, &target));
        prop_assert_eq!((common.keep_alive, common.version_minor), (keep_alive, 1));
        prop_assert_eq!(&common.headers[0], &("Host".to_owned(), host.into()));
        prop_assert_eq!(&common.headers[1..=headers.len()], &headers[..]);
        let read = match &steps[1] {
            Step::Body(bytes) => Some(&bytes[..]),
            _ => None,
        };
        prop_assert_eq!(read.unwrap_or_default(), body.unwrap_or_default());
        prop_assert_eq!(steps.last(), Some(&Step::Eof(Eof::Idle)));
    }

    /// Whatever the parts: one request and no more, with exactly the headers that were given.
    #[test]
    fn whatever_is_written_is_one_request(
        (method, target, host) in (any_text(), any_text(), any_text()),
        headers in vec((any_text(), any_text()), 0..3),
    ) {
        let mut out = Vec::new();
        let request = RequestParts {
            method: &method, target: &target, host: &host, headers: &headers, body: None, keep_alive: true,
        };
        if encode_request(&mut out, &request).is_ok() {
            let steps = requests([&out[..]], Limits::default());
            let heads = steps.iter().filter(|step| matches!(step, Step::Request { .. })).count();
            prop_assert_eq!((heads, steps.last()), (1, Some(&Step::Eof(Eof::Idle))));
            let Step::Request { start, common, .. } = &steps[0] else { panic!("{steps:?}") };
            prop_assert_eq!((&start[0], &start[1]), (&method, &target));
            let own = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
            let posts = ["POST", "PUT", "PATCH"].contains(&&*method) && !own("content-length");
            let ours = usize::from(!own("host")) + usize::from(posts && !own("transfer-encoding"));
            prop_assert_eq!(common.headers.len(), headers.len() + ours);
        }
    }

    #[test]
    fn a_written_response_is_read_back_equal(
        status in 200..=999u16,
        headers in vec((header_name(), "[!-~]([ -~]{0,20}[!-~])?"), 0..6),
        body in vec(vec(any::<u8>(), 0..30), 0..4),
        framing in 0..3u8,
        keep_alive: bool,
    ) {
        prop_assume!(!matches!(status, 204 | 304));
        let bytes = body.concat();
        let framing = match framing {
            0 => Framing::Length(bytes.len() as u64),
            1 => Framing::Chunked,
            _ => Framing::UntilClose,
        };
        let borrowed: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let mut out = Vec::new();
        encode_response_head(&mut out, status, &borrowed, framing, keep_alive).unwrap();
        let head_bytes = out.len();
        for piece in &body {
            match framing {
                Framing::Chunked => encode_chunk(&mut out, piece),
                _ => out.extend_from_slice(piece),
            }
        }
        if framing == Framing::Chunked {
            encode_last_chunk(&mut out);
        }
        let steps = responses([&out[..]], &[ResponseTo::Other], Limits::default());
        let Step::Response { status: read, common } = &steps[0] else { panic!("{steps:?}") };
        let kept = keep_alive && framing != Framing::UntilClose;
        prop_assert_eq!((*read, common.framing, common.keep_alive), (status, framing, kept));
        prop_assert_eq!(common.bytes, head_bytes);
        for ((name, value), (read_name, read_value)) in headers.iter().zip(&common.headers) {
            prop_assert_eq!((name, value.as_bytes()), (read_name, &read_value[..]));
        }
        let read = match &steps[1] {
            Step::Body(bytes) => &bytes[..],
            _ => &[],
        };
        prop_assert_eq!(read, &bytes[..]);
        let failed = steps.iter().any(|step| matches!(step, Step::Error { .. }));
        prop_assert!(!failed);
    }
}
