//! Servers that lie. Each lie falls in its class, on both kernel interfaces, and ends in time.

use std::time::Duration;

use model::Run;
use target::Fault;
use testkit::peer::{Peer, Step};

use crate::harness::{interfaces, load, server, url};

/// The class that every attempt at `/fault/{kind}` belongs to.
fn class(kind: &str) -> &'static str {
    match kind {
        "reset" | "close" | "truncate" => "read",
        "bad-length" | "garbage" | "endless-header" | "chunked-bad" => "protocol",
        "drip" | "hang" => "timeout",
        "chunked" | "gzip" | "early" | "1xx" | "no-length" => "ok",
        other => panic!("/fault/{other} is not known here"),
    }
}

#[test]
fn each_fault_falls_in_its_class() {
    let server = server();
    for io in interfaces() {
        for kind in Fault::ALL.iter().map(|fault| fault.name()) {
            let url = url(&server, &format!("/fault/{kind}"));
            // A response that is sent must come in time on a busy machine too.
            let timeout = if class(kind) == "timeout" { "1s" } else { "20s" };
            let loaded = load(&url, &format!("-c 4 -t 2 -n 8 -T {timeout} --io {io}"));
            assert_eq!(loaded.ways(), [class(kind)], "{kind} on {io}: {:?}", loaded.run.totals);
            assert_eq!(loaded.run.totals.unfinished, 0, "{kind} on {io}");
            if class(kind) == "timeout" {
                assert!(loaded.run.service_ns.min >= 1_000_000_000, "{kind} on {io}");
            }
            if kind == "gzip" {
                assert_eq!(loaded.run.commonest_response.map(|response| response.bytes), Some(38));
            }
        }
    }
}

#[test]
fn an_early_response_to_a_long_body_is_a_response() {
    let server = server();
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let body = folder.path().join("body");
    std::fs::write(&body, vec![b'x'; 1_000_000]).expect("a file");
    for io in interfaces() {
        let flags = format!("-c 4 -n 40 -T 20s --io {io} --body-file {}", body.display());
        let loaded = load(&url(&server, "/fault/early"), &flags);
        let totals = &loaded.run.totals;
        // The rest of a body may meet a closed connection before the response has been read.
        assert!(totals.requests > 0, "{io}: {totals:?}");
        assert_eq!(totals.errors.protocol + totals.errors.timeout, 0, "{io}: {totals:?}");
        let echoed = load(&url(&server, "/echo"), &flags).run;
        assert_eq!(echoed.totals.attempts, echoed.totals.succeeded, "{io}: {:?}", echoed.totals);
        assert_eq!(
            echoed.commonest_response.map(|response| response.bytes),
            Some(1_000_000),
            "{io}"
        );
    }
}

/// A peer that responds to each request with these bytes, in pieces if asked, and then goes on or ends.
fn answering(bytes: &[u8], end: Option<Step>) -> Peer {
    let mut steps = vec![Step::Expect(b"\r\n\r\n"), Step::Send(bytes.to_vec())];
    match end {
        Some(end) => {
            steps.push(end);
            Peer::start(steps)
        }
        None => Peer::start(vec![Step::Forever(steps)]),
    }
}

#[test]
fn raw_liars_fall_in_their_classes() {
    let cases: [(&[u8], Option<Step>, &str); 16] = [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", None, "ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", None, "ok"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", None, "status"),
        (b"HTTP/1.1 200 OK\r\n\r\nto the end", Some(Step::HalfClose), "ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", Some(Step::HalfClose), "read"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", Some(Step::Reset), "read"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", Some(Step::HalfClose), "read"),
        (b"", Some(Step::HalfClose), "read"),
        (b"", Some(Step::Reset), "read"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", None, "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", None, "protocol"),
        (b"HTTP/2 200\r\n\r\n", None, "protocol"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", None, "protocol"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", None, "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", None, "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", Some(Step::Hang), "timeout"),
    ];
    for io in interfaces() {
        for (bytes, end, class) in &cases {
            let peer = answering(bytes, end.clone());
            let timeout = if *class == "timeout" { "400ms" } else { "20s" };
            let flags = format!("-c 2 -n 4 -T {timeout} --io {io}");
            let loaded = load(&format!("http://{}/", peer.addr()), &flags);
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(loaded.ways(), [*class], "{io}: {text:?} {:?}", loaded.run.totals);
        }
    }
}

#[test]
fn a_request_with_two_responses_has_failed() {
    let twice = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".repeat(2);
    for io in interfaces() {
        let peer = answering(&twice, None);
        let run = load(&format!("http://{}/", peer.addr()), &format!("-c 1 -n 50 --io {io}")).run;
        let failed = run.totals.errors.protocol;
        assert_eq!((failed, run.totals.attempts, peer.requests()), (50, 50, 50), "{io}");
    }
}

#[test]
fn a_slow_response_cut_into_bytes_is_whole() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
    let slowly = Step::SendSlowly(bytes, 1, Duration::from_micros(100));
    let peer = Peer::start(vec![Step::Forever(vec![Step::Expect(b"\r\n\r\n"), slowly])]);
    for io in interfaces() {
        let loaded = load(&format!("http://{}/", peer.addr()), &format!("-c 1 -n 3 --io {io}"));
        assert_eq!(loaded.ways(), ["ok"], "{io}");
        // A process that was kept from running may find a response there whole.
        let Run { first_byte_ns, service_ns, .. } = &loaded.run;
        assert!(first_byte_ns.mean <= service_ns.mean, "{io}: {first_byte_ns:?} {service_ns:?}");
    }
}

#[test]
fn a_server_that_never_accepts_ends_by_the_time_out() {
    let peer = Peer::never_accepting(64);
    for io in interfaces() {
        let loaded =
            load(&format!("http://{}/", peer.addr()), &format!("-c 4 -d 200ms -T 500ms --io {io}"));
        assert_eq!(loaded.ways(), ["timeout"], "{io}: {:?}", loaded.run.totals);
        assert_eq!(loaded.ended.code, 98);
    }
}
