//! Requests cut anywhere, pipelined, trickled, and crafted to smuggle.

use std::time::Duration;

use testkit::peer::{End, RawClient};

use crate::harness::*;

#[test]
fn a_request_may_be_cut_anywhere() {
    let requests = [
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n0\r\nX: y\r\n\r\n",
        "\r\nGET /bytes/2 HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast",
    ]
    .concat();
    each(|server| {
        let whole = fetch(server, &requests);
        assert!(whole.contains("\r\n\r\nabcHTTP") && whole.ends_with(OK_LAST), "{whole}");
        for at in 1..requests.len() {
            let mut client = connect(server);
            client.send(&requests.as_bytes()[..at]);
            std::thread::sleep(Duration::from_micros(200));
            client.send(&requests.as_bytes()[at..]);
            let (response, end) = client.receive_all(Duration::from_secs(10));
            assert_eq!((response, end), (whole.clone().into_bytes(), End::Closed), "cut at {at}");
        }
        let mut client = connect(server);
        client.send_in_pieces(requests.as_bytes(), 1);
        let (response, _) = client.receive_all(Duration::from_secs(10));
        assert_eq!(response, whole.into_bytes());
    });
}

#[test]
fn responses_to_pipelined_requests_are_in_order() {
    each(|server| {
        let mixed = [
            request("GET", "/healthz"),
            request("GET", "/bytes/70000"),
            request("GET", "/delay/1ms"),
            request("GET", "/status/404"),
            request("GET", "/fault/chunked"),
        ];
        let one = fetch(server, [mixed.concat(), last("/")].concat());
        let many = fetch(server, [mixed.concat().repeat(50), last("/")].concat());
        let once = one.strip_suffix(OK_LAST).expect("the last response");
        assert_eq!(many, [once.repeat(50), OK_LAST.to_owned()].concat());
    });
}

#[test]
fn half_closed_clients_get_their_responses() {
    each(|server| {
        let mut client = connect(server);
        client.send([request("GET", "/delay/20ms"), request("GET", "/")].concat().as_bytes());
        client.half_close();
        let (response, end) = client.receive_all(Duration::from_secs(10));
        assert_eq!((response, end), (OK.repeat(2).into_bytes(), End::Closed));
    });
}

#[test]
fn what_could_smuggle_is_refused_and_ends_the_connection() {
    let cases: &[(&str, &str)] = &[
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "both"),
        ("Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding"),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding"),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length"),
        ("Content-Length: +5\r\n", "Content-Length"),
        ("Content-Length: 0x5\r\n", "Content-Length"),
        ("Content-Length : 5\r\n", "colon"),
        ("X: a\r\n folded\r\n", "space or tab"),
        ("X: a\rb\r\n", "CR"),
        ("X: a\nY: b\r\n", "LF"),
        ("X: a\0b\r\n", "control byte"),
        ("Host: b\r\n", "Host"),
    ];
    each(|server| {
        for (lines, needle) in cases {
            let smuggled = "GET /status/418 HTTP/1.1\r\nHost: a\r\n\r\n";
            let bytes = format!("POST /healthz HTTP/1.1\r\nHost: a\r\n{lines}\r\n{smuggled}");
            let response = fetch(server, bytes);
            assert!(response.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{lines:?}: {response}");
            assert!(response.contains("Connection: close\r\n"), "{lines:?}: {response}");
            assert!(body(&response).contains(needle), "{lines:?}: {response}");
            assert!(!response.contains("418"), "{lines:?}: {response}");
        }
        for line in ["GET / HTTP/2.0", "GET  / HTTP/1.1", "/ HTTP/1.1", "GET /\u{e9} HTTP/1.1"] {
            let response = fetch(server, format!("{line}\r\nHost: a\r\n\r\n"));
            assert!(response.starts_with("HTTP/1.1 400 "), "{line}: {response}");
        }
        let response = fetch(server, "GET / HTTP/1.1\r\n\r\n");
        assert!(body(&response).contains("without Host"), "{response}");
        assert_eq!(server.served().path("malformed"), cases.len() as u64 + 5);
    });
}

#[test]
fn refusals_are_one_line_of_json_whatever_was_sent() {
    each(|server| {
        let response = fetch(server, b"GET \"\\\x01\xff / HTTP/1.1\r\nHost: a\r\n\r\n");
        let said = body(&response);
        assert!(said.starts_with("{\"error\":\"") && said.ends_with("\"}\n"), "{said}");
        assert!(said.trim_end().bytes().all(|byte| byte >= b' '), "{said}");
    });
}

#[test]
fn heads_without_end_are_bounded() {
    each(|server| {
        let mut client = connect(server);
        let mut sent = 0;
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n");
        while sent < 1 << 20 && client.try_send(b"X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n") {
            sent += 43;
        }
        let (response, _) = client.receive_all(Duration::from_secs(10));
        let text = String::from_utf8_lossy(&response).into_owned();
        assert!(text.contains("more than 128 headers"), "after {sent} bytes: {text}");
        let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(40_000));
        assert!(fetch(server, long).contains("longer than 32768 bytes"));
    });
}

#[test]
fn slow_clients_do_not_keep_others_waiting() {
    each(|server| {
        let mut slow: Vec<RawClient> = (0..50).map(|_| connect(server)).collect();
        for byte in b"GET / HTTP/1.1\r\n" {
            slow.iter_mut().for_each(|client| client.send(&[*byte]));
        }
        assert_eq!(fetch(server, last("/")), OK_LAST);
        for client in &mut slow {
            client.send(b"Host: a\r\n\r\n");
            assert_eq!(client.receive(OK.len()), OK.as_bytes());
        }
    });
}
