//! Start, change and end: policies replaced, drains, ports taken, limits on connections.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gate::health::Health;
use gate::keys::Settings;
use gate::path::{Gate, Listener, Options, StartError};
use gate::policy::{ClientBounds, Current, Policy, PolicySettings, Upstream};
use gate::usage::Collector;
use testkit::peer::{End, Peer, Step};

use crate::harness::{
    PATIENCE, all, api, front, front_at, front_of, front_with, interfaces, some, upstream,
    wait_until, with_keys,
};

const GET: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn a_policy_is_replaced_between_two_requests_of_a_connection() {
    for io in interfaces() {
        let (old, new) = (api(), api());
        let front = front(upstream(&[old.addr()]), io);
        let mut client = front.client();
        client.send(GET);
        client.receive_until(b"}");
        // The worker may take it while a request is in flight, which gives back what it took of the same state.
        let (before, _) = front.current.get();
        let settings = PolicySettings::open(upstream(&[new.addr()]));
        let after = Policy::new(before.state(), settings, Some(&before)).expect("few names");
        front.current.replace(Arc::new(after));
        let served = |server: &target::Server| server.served().requests;
        let mut asked = 1;
        // The worker looks for it a few times a second.
        wait_until(|| {
            client.send(GET);
            client.receive_until(b"}");
            asked += 1;
            served(&new) > 0
        });
        assert_eq!((served(&old), served(&new)), (asked - 1, 1));
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

/// What is still open when the time of a drain is up has ended then: it is in usage, and nothing of it stays in flight.
#[test]
fn what_a_drain_cuts_off_is_counted() {
    for io in interfaces() {
        let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        let tunnel = vec![Step::Expect(b"\r\n\r\n"), Step::Send(switched.to_vec()), Step::Hang];
        let silent = vec![Step::Expect(b"\r\n\r\n"), Step::Hang];
        let peer = Peer::start_each(vec![tunnel, silent]);
        let client = ClientBounds { drain_ns: 600_000_000, ..ClientBounds::default() };
        let settings = PolicySettings { client, ..PolicySettings::open(upstream(&[peer.addr()])) };
        let front = front_with(settings, io);
        let state = Arc::clone(front.current.get().0.state());
        let (mut collector, _reporter) = Collector::new(Arc::clone(&state.usage), 1);
        let (mut first, mut second) = (front.client(), front.client());
        let began = Instant::now();
        first.send(
            b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        first.receive_until(b"\r\n\r\n");
        let answered = began.elapsed();
        second.send(GET);
        wait_until(|| peer.requests() == 2);
        let counted = front.gate.reader();
        assert_eq!(front.gate.drain(), Vec::<String>::new());
        assert_eq!((state.usage.served(), state.ceiling.in_flight()), (2, 0.0));
        assert_eq!(counted.counts().cut, 1, "a tunnel is no request that awaits its answer");
        assert!(all(&mut second).0.starts_with("HTTP/1.1 503 "));
        collector.collect(1, u64::from, |route| route.to_string());
        let (statuses, failed, least_ns) = collector.reader().read(|snapshot| {
            let sums = snapshot.since_start.values();
            let least_ns = sums.clone().map(|sum| sum.latency.at_quantile(0.0)).min();
            let failed: u64 = sums.clone().map(|sum| sum.upstream_failed).sum();
            (sums.flat_map(|sum| sum.statuses.clone()).collect::<Vec<_>>(), failed, least_ns)
        });
        assert_eq!((statuses, failed), (vec![(101, 1), (503, 1)], 1));
        // The change of protocols was the answer, not the end of the tunnel. Buckets are an eighth wide.
        let most_ns = answered.as_nanos() * 9 / 8 + 1024;
        assert!(least_ns.is_some_and(|ns| u128::from(ns) <= most_ns), "{least_ns:?} {answered:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = taken.local_addr().expect("an address");
    let current = Arc::new(Current::new(Arc::new(Policy::open(Upstream::of("api", address)))));
    let options = Options {
        listeners: vec![Listener::plain(address)],
        workers: None,
        io: None,
        busy_poll_ns: 0,
        log: None,
    };
    let error =
        Gate::start(options, current, Arc::new(Health::default())).expect_err("it is taken");
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

/// It ends here for good only once its client has closed it too, or has had the time to.
#[test]
fn a_connection_counts_for_its_address_until_its_client_has_closed_it_too() {
    for io in interfaces() {
        let api = api();
        let client = ClientBounds { connections_per_address: 1, ..ClientBounds::default() };
        let settings = PolicySettings { client, ..PolicySettings::open(upstream(&[api.addr()])) };
        let front = front_with(settings, io);
        let mut first = front.client();
        first.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(some(&mut first).starts_with("HTTP/1.1 200 "));
        let answer = || {
            let mut other = front.client();
            other.try_send(GET);
            some(&mut other)
        };
        let until = |counted: bool| {
            let begun = Instant::now();
            while answer().is_empty() != counted {
                assert!(begun.elapsed() < PATIENCE, "counted: {}", !counted);
            }
        };
        // Each look is a connection that is closed here too, and counts no longer than until the next.
        until(true);
        drop(first);
        until(false);
    }
}

/// Clients that sent nothing more kept all others out, for as long as a connection may be idle.
#[test]
fn the_longest_idle_client_makes_room_for_a_new_one() {
    for io in interfaces() {
        let api = api();
        let head_ns = 60_000_000_000;
        let client = ClientBounds { connections_max: 3, head_ns, ..ClientBounds::default() };
        let settings = PolicySettings { client, ..PolicySettings::open(upstream(&[api.addr()])) };
        let front = front_with(settings, io);
        let [mut first, mut second, mut third] = [(); 3].map(|()| front.client());
        for client in [&mut first, &mut second] {
            client.send(GET);
            client.receive_until(b"}");
        }
        // One that is about to ask is not idle.
        let (begin, end) = GET.split_at(10);
        third.send(begin);
        let begun = Instant::now();
        let mut new = loop {
            let mut new = front.client();
            new.try_send(GET);
            if some(&mut new).starts_with("HTTP/1.1 200 ") {
                break new;
            }
            assert!(begun.elapsed() < PATIENCE, "{io:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(all(&mut first), (String::new(), End::Closed), "{io:?}");
        third.send(end);
        third.receive_until(b"}");
        for client in [&mut second, &mut new] {
            client.send(GET);
            client.receive_until(b"}");
        }
    }
}

/// Clients that close, one after another, each have one connection.
#[test]
fn a_client_that_closes_too_is_not_counted_for_it() {
    for io in interfaces() {
        let api = api();
        let client = ClientBounds { connections_per_address: 2, ..ClientBounds::default() };
        let settings = PolicySettings { client, ..PolicySettings::open(upstream(&[api.addr()])) };
        let front = front_with(settings, io);
        for nth in 0..50 {
            let mut client = front.client();
            client.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            assert!(some(&mut client).starts_with("HTTP/1.1 200 "), "{io:?}: {nth}");
        }
    }
}

/// An owner may hold any text: escaped, it ends no line.
#[test]
fn the_api_is_told_the_number_of_the_key_and_its_owner() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
        let told =
            b"\r\nX-Plimsoll-Key: 7\r\nX-Plimsoll-Owner: Zo%C3%AB%20%26%20co%0D%0AX%3A%20y\r\n";
        let peer = Peer::start(vec![Step::Expect(told), Step::Send(answer)]);
        let (digester, settings) = with_keys(upstream(&[peer.addr()]));
        let front = front_with(settings, io);
        let key = Settings { id: 7, ..Settings::default() };
        let state = Arc::clone(front.current.get().0.state());
        state.keys.put_of("Zoë & co\r\nX: y", &digester.digest(b"one"), &key);
        let mut client = front.client();
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nX-API-Key: one\r\nX-Plimsoll-Key: 8\r\n\r\n");
        client.receive_until(b"ok");
    }
}

#[test]
fn a_proxy_in_front_says_who_asks() {
    for io in interfaces() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec();
        let peer =
            Peer::start(vec![Step::Expect(b"X-Forwarded-For: 192.0.2.7\r\n"), Step::Send(answer)]);
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
        let counts = front.gate.counts();
        assert_eq!((counts.accepted, counts.headerless, counts.capped), (2, 1, 0));
        assert_eq!(counts.let_in, 1, "one that is accepted may still come to nothing");
    }
}

/// Such a connection counted as accepted, and was in no other count.
#[test]
fn who_has_too_many_connections_behind_a_proxy_is_counted() {
    for io in interfaces() {
        let api = api();
        let bounds = ClientBounds { connections_per_address: 1, ..ClientBounds::default() };
        let open = PolicySettings::open(upstream(&[api.addr()]));
        let settings = PolicySettings { client: bounds, ..open };
        let listener =
            Listener { proxy: true, ..Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))) };
        let front = front_at(settings, io, listener);
        let header = b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n";
        let mut first = front.client();
        first.send(header);
        first.send(GET);
        first.receive_until(b"200 OK");
        let mut second = front.client();
        second.send(&[header.as_slice(), GET].concat());
        assert_eq!(all(&mut second).0, "");
        let counts = front.gate.counts();
        assert_eq!((counts.accepted, counts.let_in, counts.capped), (2, 1, 1));
    }
}
