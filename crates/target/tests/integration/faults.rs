//! Every kind of misbehaviour, byte for byte.

use std::time::Duration;

use target::{Fault, Options};
use testkit::peer::{End, RawClient};

use crate::harness::*;

const JSON_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

/// The bytes received for a kind, and how the connection ends, on every kernel interface.
fn each(kind: &str, check: impl Fn(&str, End)) {
    for io in interfaces() {
        let server = start(Options { io: Some(io), ..options() });
        let path = format!("/fault/{kind}");
        let (bytes, end) = RawClient::exchange(server.addr(), last(&path).as_bytes());
        check(&String::from_utf8_lossy(&bytes), end);
        assert_eq!(server.served().path("/fault"), 1);
    }
}

fn expect(kind: &str, expected: &str, expected_end: End) {
    each(kind, |response, end| assert_eq!((response, end), (expected, expected_end), "{kind}"));
}

#[test]
fn endings_without_a_response() {
    expect("reset", "", End::Reset);
    expect("close", "", End::Closed);
}

#[test]
fn responses_that_lie_about_their_length() {
    let body = "{\"status\":\"ok\"}";
    let response = |line: &str| format!("{JSON_HEAD}{line}\r\n\r\n{body}");
    expect("truncate", &response("Content-Length: 1000"), End::Closed);
    expect("bad-length", &response("Content-Length: fifteen"), End::Closed);
    expect("no-length", &response("Connection: close"), End::Closed);
}

#[test]
fn chunks_right_and_wrong() {
    let chunked = format!("{JSON_HEAD}Transfer-Encoding: chunked\r\n");
    let right = "5\r\n{\"sta\r\na\r\ntus\":\"ok\"}\r\n0\r\n\r\n";
    expect("chunked", &format!("{chunked}Connection: close\r\n\r\n{right}"), End::Closed);
    expect("chunked-bad", &format!("{chunked}\r\nfive\r\n{{\"sta\r\n0\r\n\r\n"), End::Closed);
}

#[test]
fn what_is_not_http_at_all() {
    each("garbage", |response, end| {
        assert!(!response.starts_with("HTTP") && response.contains("not HTTP"), "{response}");
        assert_eq!(end, End::Closed);
    });
}

#[test]
fn interim_responses_come_first() {
    each("1xx", |response, end| {
        let (interim, rest) = response.split_once("\r\n\r\n").expect("two heads");
        assert!(interim.starts_with("HTTP/1.1 103 Early Hints\r\nLink: "), "{interim}");
        assert_eq!((rest, end), (OK_LAST, End::Closed));
    });
}

#[test]
fn gzip_unpacks_to_the_usual_body() {
    let server = server();
    let (response, _) = RawClient::exchange(server.addr(), last("/fault/gzip").as_bytes());
    let at = response.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    let head = String::from_utf8_lossy(&response[..at]).into_owned();
    assert!(head.contains("Content-Encoding: gzip\r\nContent-Length: 38\r\n"), "{head}");
    let mut child = std::process::Command::new("gzip")
        .arg("-dc")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("gzip is part of every Debian");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, &response[at..]).expect("gzip reads");
    drop(input);
    let output = child.wait_with_output().expect("gzip ends");
    assert!(output.status.success());
    assert_eq!(output.stdout, b"{\"status\":\"ok\"}");
}

#[test]
fn an_early_response_does_not_wait_for_the_body() {
    for io in interfaces() {
        let server = start(Options { io: Some(io), ..options() });
        let mut client = connect(&server);
        client.send(b"POST /fault/early HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhalf");
        assert_eq!(client.receive(OK_LAST.len()), OK_LAST.as_bytes());
        assert_eq!(client.receive_all(Duration::from_secs(10)), (Vec::new(), End::Closed));
    }
}

#[test]
fn a_hang_lasts_until_the_client_goes() {
    for io in interfaces() {
        let server = start(Options { io: Some(io), ..options() });
        let mut client = connect(&server);
        client.send(request("GET", "/fault/hang").as_bytes());
        let (came, end) = client.receive_all(Duration::from_millis(50));
        assert_eq!((came.len(), end), (0, End::Open));
        client.half_close();
        assert_ne!(client.receive_all(Duration::from_secs(10)).1, End::Open);
    }
}

#[test]
fn a_drip_and_an_endless_header_go_on() {
    for io in interfaces() {
        let server = start(Options { io: Some(io), ..options() });
        let mut dripping = connect(&server);
        dripping.send(request("GET", "/fault/drip").as_bytes());
        assert_eq!(dripping.receive(4), b"HTTP");
        let mut endless = connect(&server);
        endless.send(request("GET", "/fault/endless-header").as_bytes());
        let came = String::from_utf8(endless.receive(100_000)).expect("ASCII");
        assert!(came.starts_with("HTTP/1.1 200 OK\r\nX-Endless: a"));
        assert!(!came.contains("\r\n\r\n"));
        drop(endless);
        // Neither delays other clients.
        assert_eq!(fetch(&server, last("/")), OK_LAST);
    }
}

#[test]
fn every_kind_has_its_test_here() {
    let text = include_str!("faults.rs");
    for name in Fault::ALL.iter().map(|fault| fault.name()) {
        assert!(
            text.contains(&format!("{name}\"")) || text.contains(&format!("/{name} ")),
            "{name}"
        );
    }
}
