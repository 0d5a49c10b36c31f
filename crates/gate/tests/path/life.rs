//! Start, change and end: policies replaced, drains, ports taken, limits on connections.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use gate::health::Health;
use gate::path::{Gate, Listener, Options, StartError};
use gate::policy::{Current, Policy, Upstream};
use testkit::peer::End;

use crate::harness::{all, api, front, front_of, interfaces, upstream};

const GET: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn a_policy_is_replaced_between_two_requests_of_a_connection() {
    for io in interfaces() {
        let (old, new) = (api(), api());
        let front = front(upstream(&[old.addr()]), io);
        let mut client = front.client();
        client.send(GET);
        client.receive_until(b"}");
        front.current.replace(Arc::new(Policy::open(upstream(&[new.addr()]))));
        std::thread::sleep(Duration::from_millis(120));
        client.send(GET);
        client.receive_until(b"}");
        let served = |server: &target::Server| server.served().requests;
        assert_eq!((served(&old), served(&new)), (1, 1));
    }
}

#[test]
fn draining_answers_what_is_in_flight() {
    for io in interfaces() {
        let api = api();
        let front = front(upstream(&[api.addr()]), io);
        let (mut busy, mut idle) = (front.client(), front.client());
        busy.send(b"GET /delay/900ms HTTP/1.1\r\nHost: a\r\n\r\n");
        idle.send(GET);
        idle.receive_until(b"}");
        std::thread::sleep(Duration::from_millis(100));
        let addr = front.addr();
        assert_eq!(front.gate.drain(), Vec::<String>::new());
        let (text, end) = all(&mut busy);
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("Connection: close"),
            "{text}"
        );
        assert_eq!((end, all(&mut idle)), (End::Closed, (String::new(), End::Closed)));
        assert!(std::net::TcpStream::connect(addr).is_err(), "nobody listens any more");
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = taken.local_addr().expect("an address");
    let current = Arc::new(Current::new(Arc::new(Policy::open(Upstream::of("api", address)))));
    let options =
        Options { listeners: vec![Listener::plain(address)], workers: None, io: None, log: None };
    let error =
        Gate::start(options, current, Arc::new(Health::default())).expect_err("it is taken");
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[test]
fn a_proxy_in_front_says_who_asks() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
        let peer = testkit::peer::Peer::start(vec![
            testkit::peer::Step::Expect(b"X-Forwarded-For: 192.0.2.7\r\n"),
            testkit::peer::Step::Send(answer),
        ]);
        let listener =
            Listener { proxy: true, ..Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))) };
        let front = front_of(Policy::open(upstream(&[peer.addr()])), io, listener);
        let request = b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
        let mut client = front.client();
        client.send_in_pieces(request, 7);
        client.receive_until(b"ok");
        let mut client = front.client();
        client.send(GET);
        assert_eq!(all(&mut client).0, "", "without the header there is no answer");
    }
}
