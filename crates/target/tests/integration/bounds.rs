//! Clients that do not read, send too much, or leave: each costs a bounded amount of memory.

use std::time::{Duration, Instant};

use target::{Options, Server};
use testkit::peer::RawClient;

use crate::harness::*;

fn each(test: impl Fn(&Server)) {
    for io in interfaces() {
        test(&start(Options { io: Some(io), ..options() }));
    }
}

/// Bytes of memory that this process has touched.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

#[test]
fn a_body_too_large_is_refused_before_it_is_read() {
    each(|server| {
        let declared = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n";
        let response = fetch(server, declared);
        assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
        assert!(body(&response).contains("up to 1048576 bytes"));
        let mut client = connect(server);
        client.send(b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = [b"10000\r\n".as_slice(), &[b'a'; 65_536], b"\r\n"].concat();
        let taken = (0..200).take_while(|_| client.try_send(&chunk)).count();
        let (response, _) = client.receive_all(Duration::from_secs(10));
        let text = String::from_utf8_lossy(&response).into_owned();
        assert!(text.starts_with("HTTP/1.1 413 "), "after {taken} chunks: {text}");
        let most = [b"POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n".as_slice()];
        let most = [most[0], b"Content-Length: 1048576\r\n\r\n", &[b'b'; 1 << 20]].concat();
        assert_eq!(body(&fetch(server, most)).len(), 1 << 20);
    });
}

#[test]
fn a_client_that_pipelines_without_reading_has_to_wait() {
    each(|server| {
        let mut client = connect(server);
        let before = resident();
        let some = request("GET", "/healthz").repeat(200);
        // More responses than all buffers between the two hold; sending stops once they are full.
        let sent = client.send_until_stuck(some.as_bytes(), 2000, Duration::from_millis(300));
        assert!(sent < 2000, "all requests were taken though nobody read a response");
        let grown = resident().saturating_sub(before);
        assert!(grown < 64 << 20, "{grown} bytes");
        let served = server.served().path("/healthz");
        assert!(served < 400_000, "{served} served unread");
        // The server still serves other clients.
        assert_eq!(fetch(server, last("/")), OK_LAST);
        let expected = OK.repeat(200);
        for _ in 0..sent {
            assert!(client.receive(expected.len()) == expected.as_bytes());
        }
    });
}

#[test]
fn a_large_body_is_made_as_it_is_read() {
    each(|server| {
        let before = resident();
        let mut clients: Vec<_> = (0..20).map(|_| connect(server)).collect();
        for client in &mut clients {
            client.send(last("/bytes/10g").replace("10g", "10737418240").as_bytes());
        }
        for client in &mut clients {
            client.receive(1 << 20);
        }
        let grown = resident().saturating_sub(before);
        assert!(grown < 128 << 20, "{grown} bytes for 20 unread bodies of 10 GiB");
        assert_eq!(fetch(server, last("/")), OK_LAST);
        drop(clients);
        until(|| page(server).starts_with("Active connections: 1 \n"));
    });
}

fn page(server: &Server) -> String {
    body(&fetch(server, last("/stub_status"))).to_owned()
}

fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "it does not become so");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_leaves_is_forgotten() {
    each(|server| {
        for path in ["/healthz", "/delay/1h", "/queue?mean=1h", "/fault/hang", "/fault/drip"] {
            let mut clients: Vec<_> = (0..30).map(|_| connect(server)).collect();
            for client in &mut clients {
                client.send(request("GET", path).as_bytes());
            }
            // As killed processes commonly end.
            clients.iter().for_each(RawClient::reset_on_drop);
            drop(clients);
            until(|| page(server).starts_with("Active connections: 1 \n"));
        }
    });
}

#[test]
fn many_connections_come_and_go() {
    let server = start(Options { threads: Some(2), ..options() });
    for _ in 0..10 {
        let mut clients: Vec<_> = (0..200).map(|_| connect(&server)).collect();
        for client in &mut clients {
            client.send(request("GET", "/").as_bytes());
        }
        for client in &mut clients {
            assert_eq!(client.receive(OK.len()), OK.as_bytes());
        }
    }
    let served = server.stop();
    assert_eq!((served.connections, served.path("/")), (2000, 2000));
}
