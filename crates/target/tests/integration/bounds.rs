//! Clients that do not read, send too much, or leave: each costs a bounded amount of memory.

use std::time::Duration;

use target::Options;
use testkit::peer::RawClient;

use crate::harness::*;

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
