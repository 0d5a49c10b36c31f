//! Servers on free ports and requests in one line.

use std::thread;
use std::time::{Duration, Instant};

use net::Io;
use target::{Options, Server};
use testkit::peer::{End, RawClient};

/// The response of `/healthz` and of most other paths.
pub const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}";

/// The same as a connection's last response.
pub const OK_LAST: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
    Content-Length: 15\r\nConnection: close\r\n\r\n{\"status\":\"ok\"}";

/// One thread on a free port.
pub fn options() -> Options {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Options { listen, threads: Some(1), share_files: true, ..Options::default() }
}

pub fn server() -> Server {
    start(options())
}

pub fn start(options: Options) -> Server {
    Server::start(options).expect("the server starts")
}

/// The kernel interfaces that work here.
pub fn interfaces() -> Vec<Io> {
    let mut all = vec![Io::Epoll];
    if net::uring_works() {
        all.push(Io::Uring);
    }
    all
}

/// A request with method, path and nothing else.
pub fn request(method: &str, path: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: test\r\n\r\n")
}

/// A request after whose response the connection ends.
pub fn last(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
}

/// The whole response to bytes sent on a new connection, which ends in order.
pub fn fetch(server: &Server, bytes: impl AsRef<[u8]>) -> String {
    let (response, end) = RawClient::exchange(server.addr(), bytes.as_ref());
    let text = String::from_utf8_lossy(&response).into_owned();
    assert_eq!(end, End::Closed, "{text}");
    text
}

pub fn connect(server: &Server) -> RawClient {
    RawClient::connect(server.addr())
}

pub fn body(response: &str) -> &str {
    response.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// Runs a test with a server on each kernel interface.
pub fn each(test: impl Fn(&Server)) {
    for io in interfaces() {
        test(&start(Options { io: Some(io), ..options() }));
    }
}

/// What the server says of its connections.
pub fn page(server: &Server) -> String {
    body(&fetch(server, last("/stub_status"))).to_owned()
}

/// Waits until something is so.
///
/// # Panics
/// When it is not within a minute.
pub fn until(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "it does not become so");
        thread::sleep(Duration::from_millis(5));
    }
}
