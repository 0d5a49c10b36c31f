//! Ways to a server and things to send.

use std::io::{Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use testkit::peer::{Peer, Step};

use crate::harness::{command, end, interfaces, load, loaded, plimsoll, server, server_with, url};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn ipv6_and_its_brackets() {
    let server = server_with(|options| options.listen = (Ipv6Addr::LOCALHOST, 0).into());
    for io in interfaces() {
        let port = server.addr().port();
        let url = format!("http://[::1]:{port}/healthz");
        for flags in ["", "--source ::1"] {
            let run = load(&url, &format!("-c 3 -n 100 --io {io} {flags}")).done();
            assert_eq!(run.totals.succeeded, 100, "{io} {flags}");
            assert_eq!(run.plan.addresses, [format!("[::1]:{port}")]);
        }
    }
}

#[test]
fn connections_come_from_the_source_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    let peers = thread::spawn(move || {
        let mut peers = Vec::new();
        // The first only finds out whether anyone listens.
        for stream in listener.incoming().take(10) {
            let mut stream = stream.expect("someone calls");
            peers.push(stream.peer_addr().expect("an address").ip().to_string());
            thread::spawn(move || answer(&mut stream));
        }
        peers
    });
    let sources = ["127.0.0.5", "127.0.0.6", "127.0.0.7"];
    // In turn, also across two workers of unequal shares.
    let flags = format!("-c 9 -t 2 -n 90 --source {}", sources.join(","));
    let run = load(&format!("http://{address}/"), &flags).run;
    assert_eq!((run.totals.succeeded, run.plan.sources.len()), (90, 3));
    let mut peers = peers.join().expect("no panic");
    // Whoever only finds out comes from there as well: other sources may not be let in.
    assert_eq!(peers[0], "127.0.0.5");
    peers[1..].sort();
    assert_eq!(peers[1..], sources.map(|source| [source; 3]).concat());
}

fn answer(stream: &mut TcpStream) {
    let mut buffer = [0; 4096];
    while matches!(stream.read(&mut buffer), Ok(1..)) {
        if stream.write_all(OK).is_err() {
            return;
        }
    }
}

/// Takes one request and says what it was.
fn one_request(wait_for: usize) -> (SocketAddr, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    let heard = thread::spawn(move || {
        drop(listener.accept());
        let (mut stream, _) = listener.accept().expect("someone calls");
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        while heard.len() < wait_for || !heard.windows(4).any(|w| w == b"\r\n\r\n") {
            let n = stream.read(&mut buffer).expect("it speaks");
            assert!(n > 0, "it ended after {}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&buffer[..n]);
        }
        stream.write_all(OK).expect("it listens");
        String::from_utf8_lossy(&heard).into_owned()
    });
    (address, heard)
}

#[test]
fn connect_to_leaves_host_and_path_alone() {
    let (address, heard) = one_request(0);
    let flags = format!("-c 1 -n 1 --connect-to {address} -H X-Tried:yes");
    let run = load("http://api.example.test:81/users?page=2", &flags).done();
    assert_eq!(run.totals.succeeded, 1);
    let heard = heard.join().expect("no panic");
    assert!(heard.starts_with("GET /users?page=2 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("\r\nHost: api.example.test:81\r\n"), "{heard}");
    assert!(heard.to_lowercase().contains("\r\nx-tried: yes\r\n"), "{heard}");
}

#[test]
fn bodies_and_methods() {
    let server = server();
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let file = folder.path().join("body.bin");
    let body: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
    std::fs::write(&file, &body).expect("a file");
    let echo = url(&server, "/echo");
    for io in interfaces() {
        let flags = format!("-c 3 -n 60 --io {io} --body-file {}", file.display());
        let run = load(&echo, &flags).run;
        assert_eq!((run.totals.succeeded, run.plan.method.as_str()), (60, "POST"), "{io}");
        assert_eq!(run.commonest_response.map(|response| response.bytes), Some(100_000), "{io}");
        let run = load(&echo, &format!("-c 3 -n 60 --io {io} -m PUT -b hello --pipeline 4")).run;
        assert_eq!(run.commonest_response.map(|response| response.bytes), Some(5), "{io}");
        let run = load(&url(&server, "/bytes/5000"), &format!("-m HEAD -n 60 --io {io}")).run;
        assert_eq!(run.totals.succeeded, 60, "{io}");
        assert_eq!(run.commonest_response.map(|response| response.bytes), Some(0), "{io}");
    }
}

#[test]
fn pipelining_sends_on_without_waiting() {
    // Answers only once eight requests have come.
    let mut steps = vec![Step::Expect(b"\r\n\r\n"); 8];
    steps.push(Step::Send(OK.repeat(8)));
    let peer = Peer::start(vec![Step::Forever(steps)]);
    for io in interfaces() {
        let flags = format!("-c 2 -t 1 --pipeline 8 -n 1600 -T 30s --io {io}");
        let run = load(&format!("http://{}/", peer.addr()), &flags).run;
        assert_eq!(run.totals.succeeded, 1600, "{io}: {:?}", run.totals);
        assert_eq!(run.concurrency.in_flight_max, 16, "{io}");
    }
}

#[test]
fn a_proxy_in_the_environment_is_ignored_and_named() {
    let server = server();
    let mut command =
        command(&format!("run {} -n 5 -c 1 -q --format json", url(&server, "/healthz")));
    command.env("HTTP_PROXY", "http://192.0.2.1:3128");
    let loaded = loaded(end(command));
    assert!(loaded.ended.stderr.contains("HTTP_PROXY is set but ignored"), "{:?}", loaded.ended);
    assert_eq!(loaded.run.totals.succeeded, 5);
}

#[test]
fn other_statuses_can_be_a_success() {
    let server = server();
    let url = url(&server, "/status/404");
    assert_eq!(load(&url, "-c 1 -n 20").ways(), ["status"]);
    assert_eq!(load(&url, "-c 1 -n 20 --success 200,404").ways(), ["ok"]);
}

/// Gives each connection a cookie of its own, and responds with 403 where a further request does not bring it.
fn gives_cookies() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut stream = stream.expect("someone calls");
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                let mut known = false;
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    let head = String::from_utf8_lossy(&buffer[..n]).into_owned();
                    let brought =
                        head.contains(&format!("\r\nCookie: id={number}; theme=dark\r\n"));
                    let status = if known == brought { "200 OK" } else { "403 Forbidden" };
                    let set =
                        format!("Set-Cookie: id={number}; Path=/\r\nSet-Cookie: theme=dark\r\n");
                    let set = if known { "" } else { &*set };
                    known = true;
                    let response = format!("HTTP/1.1 {status}\r\n{set}Content-Length: 2\r\n\r\nok");
                    if stream.write_all(response.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn connections_keep_the_cookies_that_they_were_given() {
    let url = format!("http://{}/", gives_cookies());
    for io in interfaces() {
        let flags = format!("-c 5 -n 200 --io {io}");
        for more in ["--cookies", "--cookies --expect-body-like ok", "--cookies -R 400 -d 500ms"] {
            let run = load(&url, &format!("{flags} {more}")).run;
            assert_eq!(run.totals.statuses.get(&403), None, "{io} {more}: {:?}", run.totals);
            assert!(
                run.totals.succeeded > 100 && run.plan.cookies,
                "{io} {more}: {:?}",
                run.totals
            );
        }
        let run = load(&url, &flags).run;
        assert_eq!(run.totals.statuses.get(&403), Some(&195), "{io}: {:?}", run.totals);
        assert!(!run.plan.cookies);
    }
    let both = format!("run {url} -d 100ms --cookies -H Cookie:a=b");
    plimsoll(&both).refuses(2, "leave out either it or -H Cookie");
    plimsoll(&format!("run {url} --cookies -s a.lua")).refuses(2, "cannot be used with");
}
