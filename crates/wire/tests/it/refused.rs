//! Malformed messages, by table: every case is refused, with the error that names it, and in the
//! same way when it arrives a byte at a time.

use wire::{Limits, ResponseTo};

use crate::replay::{self, Step};

/// The code of the error that ends `steps`, or an empty string.
fn code(steps: &[Step]) -> &'static str {
    match steps.last() {
        Some(Step::Error { code, .. }) => code,
        _ => "",
    }
}

fn response_code(bytes: &[u8]) -> &'static str {
    let steps = replay::responses([bytes], &[ResponseTo::Other], Limits::default());
    let dripped = replay::responses(bytes.chunks(1), &[ResponseTo::Other], Limits::default());
    assert_eq!(steps, dripped, "{}", bytes.escape_ascii());
    code(&steps)
}

fn request_code(bytes: &[u8]) -> &'static str {
    let steps = replay::requests([bytes], Limits::default());
    let dripped = replay::requests(bytes.chunks(1), Limits::default());
    assert_eq!(steps, dripped, "{}", bytes.escape_ascii());
    code(&steps)
}

/// None of these waits for more bytes than it shows.
#[test]
fn status_lines() {
    let table: [(&[u8], &str); 20] = [
        (b"\x15\x03\x03\x00\x02\x02\x28", "not-http"),
        (b"SSH-2.0-OpenSSH\r\n", "not-http"),
        (b"h", "not-http"),
        (b"HTTPS", "not-http"),
        (b"\r\nHTTP/1.1 200 OK\r\n\r\n", "not-http"),
        (b" HTTP/1.1 200 OK\r\n\r\n", "not-http"),
        (b"<html>", "not-http"),
        (b"HTTP/2.0 200 OK\r\n", "version"),
        (b"HTTP/1.2 200 OK\r\n", "version"),
        (b"HTTP/0.9 200 OK\r\n", "version"),
        (b"HTTP/11.1 200 OK\r\n", "version"),
        (b"HTTP/1.1\r\n", "status-line"),
        (b"HTTP/1.1 \r\n", "status-line"),
        (b"HTTP/1.1  200 OK\r\n", "status-line"),
        (b"HTTP/1.1\t200 OK\r\n", "status-line"),
        (b"HTTP/1.1 20 OK\r\n", "status-line"),
        (b"HTTP/1.1 2000 OK\r\n", "status-line"),
        (b"HTTP/1.1 099 OK\r\n", "status-line"),
        (b"HTTP/1.1 200OK\r\n", "status-line"),
        (b"HTTP/1.1 2x0 OK\r\n", "status-line"),
    ];
    for (bytes, expected) in table {
        assert_eq!(response_code(bytes), expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn request_lines() {
    let table: [(&[u8], &str); 34] = [
        (b"GET /\r\n", "request-line"),
        (b"GET\r\n", "request-line"),
        (b"\r\n\r\n", "request-line"),
        (b" GET / HTTP/1.1\r\n", "request-line"),
        (b"GET  / HTTP/1.1\r\n", "target"),
        (b"GET /  HTTP/1.1\r\n", "target"),
        (b"GET / a HTTP/1.1\r\n", "target"),
        (b"GET\t/ HTTP/1.1\r\n", "request-line"),
        (b"GET /\tHTTP/1.1\r\n", "request-line"),
        (b"GET / HTTP/1.1 \r\n", "request-line"),
        (b"GET HTTP/1.1\r\n", "request-line"),
        (b"GET  HTTP/1.1\r\n", "request-line"),
        (b"G\xc3T / HTTP/1.1\r\n", "request-line"),
        (b"G:T / HTTP/1.1\r\n", "request-line"),
        (b"(GET) / HTTP/1.1\r\n", "request-line"),
        (b"GET / http/1.1\r\n", "request-line"),
        (b"GET / HTTP/1.10\r\n", "request-line"),
        (b"GET / HTTP/1.2\r\n", "version"),
        (b"GET / HTTP/2.0\r\n", "version"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version"),
        (b"GET a HTTP/1.1\r\n", "target"),
        (b"GET * HTTP/1.1\r\n", "target"),
        (b"GET /a#b HTTP/1.1\r\n", "target"),
        (b"GET /\xc3\xa9 HTTP/1.1\r\n", "target"),
        (b"GET h:80 HTTP/1.1\r\n", "target"),
        (b"GET http://u@h/ HTTP/1.1\r\n", "target"),
        (b"CONNECT / HTTP/1.1\r\n", "target"),
        (b"GET / HTTP/1.1\n", "bare-lf"),
        (b"\n", "bare-lf"),
        (b"\r\n\n", "bare-lf"),
        (b"\rG", "bare-cr"),
        (b"GET / HTTP/1.1\rH", "bare-cr"),
        (b"GET /\0 HTTP/1.1\r\n", "control-byte"),
        (b"\x16\x03\x01\x02\x00\x01", "control-byte"),
    ];
    for (bytes, expected) in table {
        assert_eq!(request_code(bytes), expected, "{}", bytes.escape_ascii());
    }
}

/// Lines that are refused in responses, in requests and as trailers. The head is not complete after
/// them: errors are not deferred until it is.
#[test]
fn header_lines() {
    let table: [(&[u8], &str); 25] = [
        (b"A: b\n", "bare-lf"),
        (b"A: b\n\r\n", "bare-lf"),
        (b"A\n", "bare-lf"),
        (b"\n", "bare-lf"),
        (b"A: b\rc", "bare-cr"),
        (b"A:\r\r", "bare-cr"),
        (b"\rA", "bare-cr"),
        (b"A: b\0", "control-byte"),
        (b"A: b\x7f", "control-byte"),
        (b"A:\x0b", "control-byte"),
        (b"A\0", "control-byte"),
        (b"\0", "control-byte"),
        (b" A", "obs-fold"),
        (b"\tA", "obs-fold"),
        (b"A: b\r\n c", "obs-fold"),
        (b"A: b\r\n\t", "obs-fold"),
        (b"A :", "space-before-colon"),
        (b"A\t:", "space-before-colon"),
        (b"A b:", "space-before-colon"),
        (b":", "header-name"),
        (b"A\r", "header-name"),
        (b"A(", "header-name"),
        (b"A\xff", "header-name"),
        (b"\"A\":", "header-name"),
        (b"A[1]:", "header-name"),
    ];
    for (line, expected) in table {
        let shown = line.escape_ascii();
        let response = [b"HTTP/1.1 200 OK\r\n", line].concat();
        assert_eq!(response_code(&response), expected, "{shown}");
        let later = [b"HTTP/1.1 200 OK\r\nServer: x\r\n", line].concat();
        assert_eq!(response_code(&later), expected, "{shown} after another");
        let request = [b"GET / HTTP/1.1\r\nHost: h\r\n", line].concat();
        assert_eq!(request_code(&request), expected, "{shown} in a request");
        let chunked: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
        assert_eq!(response_code(&[chunked, line].concat()), expected, "{shown} as a trailer");
    }
}

/// Framing headers, each with the code in a response and in a request (empty: accepted).
#[test]
fn framing_headers() {
    const CHUNKED: &str = "Transfer-Encoding: chunked";
    let table = [
        ("Content-Length: ", "content-length", "content-length"),
        ("Content-Length: -1", "content-length", "content-length"),
        ("Content-Length: +1", "content-length", "content-length"),
        ("Content-Length: 1 1", "content-length", "content-length"),
        ("Content-Length: 1,1", "content-length", "content-length"),
        ("Content-Length: 1, 2", "content-length", "content-length"),
        ("Content-Length: 0x1", "content-length", "content-length"),
        ("Content-Length: 1e1", "content-length", "content-length"),
        ("Content-Length: 1.", "content-length", "content-length"),
        ("Content-Length: \u{ff11}", "content-length", "content-length"),
        ("Content-Length: 1;", "content-length", "content-length"),
        (
            "Content-Length: 18446744073709551616",
            "content-length-overflow",
            "content-length-overflow",
        ),
        (
            "Content-Length: 1\r\nContent-Length: 2",
            "content-length-repeated",
            "content-length-repeated",
        ),
        ("Content-Length: 1\r\nA: b\r\ncontent-length: 1", "", "content-length-repeated"),
        ("Transfer-Encoding: identity", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: gzip, chunked", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: chunked, chunked", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: chunked,", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: chunked;a=b", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: xchunked", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: \"chunked\"", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding: chunked\u{a0}", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding:", "transfer-encoding", "transfer-encoding"),
        ("Transfer-Encoding:\x0bchunked", "control-byte", "control-byte"),
        ("Transfer-Encoding: chunked\r\n , identity", "obs-fold", "obs-fold"),
        ("Transfer-Encoding : chunked", "space-before-colon", "space-before-colon"),
    ];
    for (lines, response, request) in table {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
        assert_eq!(response_code(head.as_bytes()), response, "{lines:?}");
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\n{lines}\r\n\r\n");
        assert_eq!(request_code(head.as_bytes()), request, "{lines:?} in a request");
    }
    let both = [
        (format!("{CHUNKED}\r\nContent-Length: 1"), "length-and-chunked"),
        (format!("Content-Length: 1\r\n{CHUNKED}"), "length-and-chunked"),
        (format!("Content-Length: 0\r\n{CHUNKED}"), "length-and-chunked"),
        (format!("{CHUNKED}\r\n{CHUNKED}"), "transfer-encoding-repeated"),
        (format!("{CHUNKED}\r\nTransfer-Encoding: identity"), "transfer-encoding"),
    ];
    for (lines, expected) in both {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
        assert_eq!(response_code(head.as_bytes()), expected, "{lines:?}");
        let head = format!("POST / HTTP/1.1\r\nHost: h\r\n{lines}\r\n\r\n");
        assert_eq!(request_code(head.as_bytes()), expected, "{lines:?} in a request");
    }
    let response = format!("HTTP/1.0 200 OK\r\n{CHUNKED}\r\n\r\n");
    assert_eq!(response_code(response.as_bytes()), "chunked-on-http10");
    let request = format!("POST / HTTP/1.0\r\n{CHUNKED}\r\n\r\n");
    assert_eq!(request_code(request.as_bytes()), "chunked-on-http10");
}

#[test]
fn hosts() {
    let table = [
        ("", "host-missing"),
        ("X-Host: h\r\n", "host-missing"),
        ("Host: h\r\nHost: h\r\n", "host-repeated"),
        ("Host: h\r\nA: b\r\nhOST: other\r\n", "host-repeated"),
        ("Host: h, other\r\n", "host-invalid"),
        ("Host: u@h\r\n", "host-invalid"),
        ("Host: h/a\r\n", "host-invalid"),
        ("Host: h:80x\r\n", "host-invalid"),
        ("Host: [::1\r\n", "host-invalid"),
        ("Host: h h\r\n", "host-invalid"),
        ("Host: \u{e9}\r\n", "host-invalid"),
    ];
    for (lines, expected) in table {
        let head = format!("GET / HTTP/1.1\r\n{lines}\r\n");
        assert_eq!(request_code(head.as_bytes()), expected, "{lines:?}");
    }
    assert_eq!(request_code(b"GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n"), "host-repeated");
}

#[test]
fn chunks() {
    let long = format!("1;{}", "x".repeat(256));
    let table = [
        ("\r\n", "chunk-size"),
        ("\n", "chunk-size"),
        (";a\r\n", "chunk-size"),
        (" 1\r\n", "chunk-size"),
        ("-1\r\n", "chunk-size"),
        ("+1\r\n", "chunk-size"),
        ("0x1\r\n", "chunk-size"),
        ("g\r\n", "chunk-size"),
        ("1g\r\n", "chunk-size"),
        ("1_0\r\n", "chunk-size"),
        ("1 \r\n", "chunk-size"),
        ("1 1\r\n", "chunk-size"),
        ("1\n", "chunk-size"),
        ("1\ra", "chunk-size"),
        ("1;a\n", "chunk-size"),
        ("1;a\rb", "chunk-size"),
        ("1;a\0", "chunk-size"),
        ("11111111111111111", "chunk-size-overflow"),
        ("00000000000000001", "chunk-size-overflow"),
        (long.as_str(), "chunk-extension-too-long"),
        ("1\r\nab", "chunk-end"),
        ("1\r\na\n", "chunk-end"),
        ("1\r\na\rb", "chunk-end"),
        ("1\r\na0\r\n\r\n", "chunk-end"),
        ("0\r\nContent-Length: 1\r\n", "trailer-forbidden"),
        ("0\r\ntransfer-encoding: chunked\r\n", "trailer-forbidden"),
        ("0\r\nHost: h\r\n", "trailer-forbidden"),
        ("0\r\nHTTP/1.1 200 OK", "header-name"),
        ("0\r\n\rX", "bare-cr"),
    ];
    for (chunks, expected) in table {
        let response = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        assert_eq!(response_code(response.as_bytes()), expected, "{chunks:?}");
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked";
        let request = format!("{head}\r\n\r\n{chunks}");
        assert_eq!(request_code(request.as_bytes()), expected, "{chunks:?} in a request");
    }
}

#[test]
fn unsolicited_responses() {
    let unasked = replay::responses([&b"HTTP/1.1 408 \r\n"[..]], &[], Limits::default());
    assert_eq!(code(&unasked), "unsolicited");
    assert_eq!(response_code(b"HTTP/1.1 204 \r\n\r\nx"), "unsolicited");
    assert_eq!(response_code(b"HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\nab"), "unsolicited");
}

#[test]
fn what_an_error_says() {
    let table: [(&[u8], &str); 6] = [
        (b"\x15\x03\x03", r"not an HTTP/1 response: it begins with `\x15`"),
        (b"HTTP/1.1 200 OK\r\nSet-Cookie: secret\n", "LF without CR in `Set-Cookie`"),
        (b"HTTP/1.1 200 OK\n", "LF without CR in `HTTP/1.1 200 OK`"),
        (b"HTTP/1.1 200 OK\r\n\n", "LF without CR at the start of a line"),
        (b"HTTP/1.1 200 OK\r\nA: \0", r"control byte `\x00` in `A`"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n", "Content-Length is not a number: `ten`"),
    ];
    for (bytes, expected) in table {
        match replay::responses([bytes], &[ResponseTo::Other], Limits::default()).last() {
            Some(Step::Error { text, .. }) => assert_eq!(text, expected),
            other => panic!("{other:?}"),
        }
    }
}
