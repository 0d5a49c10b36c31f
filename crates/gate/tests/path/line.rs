//! Room below the load line's ceiling: who holds it, and for how long.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gate::admission::{Line, Part};
use gate::policy::{ClientBounds, PolicySettings};
use testkit::peer::{End, Peer, Step};
use wire::ResponseTo;

use crate::harness::{Front, answers, front_with, interfaces, some, upstream, wait_until};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A gateway under a line with room for one request.
fn narrow(peer: &Peer, io: net::Io) -> Front {
    let mut line = Line::default();
    (line.rate_per_s, line.at_once, line.arrivals_per_s) = (1000.0, 1.0, 1000.0);
    line.ahead_ns = 1_000_000_000;
    let settings = PolicySettings::open(upstream(&[peer.addr()]));
    let front = front_with(PolicySettings { line: Some(Arc::new(line.clone())), ..settings }, io);
    front.current.get().0.state().ceiling.set(&line, 1.0, Part::of(1, false));
    front
}

fn answering() -> Vec<Step> {
    vec![Step::Forever(vec![Step::Expect(b"\r\n\r\n"), Step::Send(OK.to_vec())])]
}

#[test]
fn a_client_that_drips_its_body_holds_no_room() {
    for io in interfaces() {
        // Answers no body before its end.
        let whole = vec![Step::Expect(b"end!"), Step::Send(OK.to_vec())];
        let peer = Peer::start(vec![Step::Forever(whole)]);
        let front = narrow(&peer, io);
        let mut slow = front.client();
        slow.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\ne");
        std::thread::sleep(Duration::from_millis(50));
        let answers = front.ask(b"GET /end! HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answers[0].status, 200);
        slow.send(b"nd!");
        assert!(some(&mut slow).starts_with("HTTP/1.1 200 OK\r\n"));
    }
}

/// The same where there is no load line.
#[test]
fn a_client_that_drips_its_body_holds_no_connection_where_bodies_are_held() {
    for io in interfaces() {
        for hold_bodies in [true, false] {
            let peer = Peer::start(vec![Step::Expect(b"end!"), Step::Send(OK.to_vec())]);
            let settings = PolicySettings::open(upstream(&[peer.addr()]));
            let client = ClientBounds { hold_bodies, ..ClientBounds::default() };
            let front = front_with(PolicySettings { client, ..settings }, io);
            let mut slow = front.client();
            slow.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\ne");
            if hold_bodies {
                std::thread::sleep(Duration::from_millis(100));
                assert_eq!(front.gate.counts().connects, 0);
            } else {
                wait_until(|| front.gate.counts().connects == 1);
            }
            slow.send(b"nd!");
            assert!(some(&mut slow).starts_with("HTTP/1.1 200 OK\r\n"));
        }
    }
}

/// The gateway says it, under a load line or where bodies are held: the upstream is asked once the body is there.
#[test]
fn a_client_that_waits_to_continue_holds_neither_room_nor_connection() {
    let post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
    for io in interfaces() {
        for line in [true, false] {
            // Answers no head alone, and says nothing of continuing.
            let whole = vec![Step::Expect(b"end!"), Step::Send(OK.to_vec())];
            let peer = Peer::start(vec![Step::Forever(whole)]);
            let settings = PolicySettings::open(upstream(&[peer.addr()]));
            let client = ClientBounds { hold_bodies: true, ..ClientBounds::default() };
            let front = match line {
                true => narrow(&peer, io),
                false => front_with(PolicySettings { client, ..settings }, io),
            };
            let mut slow = front.client();
            slow.send(post);
            assert_eq!(slow.receive_until(b"\r\n\r\n"), b"HTTP/1.1 100 Continue\r\n\r\n");
            assert_eq!(front.gate.counts().connects, 0);
            assert_eq!(front.ask(b"GET /end! HTTP/1.1\r\nHost: a\r\n\r\n")[0].status, 200);
            slow.send(b"end!");
            let came = slow.receive_until(b"ok");
            assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", came.escape_ascii());
        }
    }
}

#[test]
fn a_whole_body_for_which_there_is_no_room_is_refused_and_its_connection_goes_on() {
    for io in interfaces() {
        let busy = vec![Step::Expect(b"\r\n\r\n"), Step::Hang];
        let peer = Peer::start_each(vec![busy, answering()]);
        let front = narrow(&peer, io);
        let mut first = front.client();
        first.send(GET);
        wait_until(|| peer.requests() > 0);
        let mut second = front.client();
        second.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
        second.send(b"0\r\n\r\n");
        let came = second.receive_until(b"}");
        let refused = &answers(&came, ResponseTo::Other)[0];
        assert!(refused.status == 429 && refused.keep_alive, "{refused:?}");
        assert_eq!(peer.requests(), 1);
        first.reset_on_drop();
        drop(first);
        let policy = front.current.get().0;
        wait_until(|| policy.state().ceiling.in_flight() == 0.0);
        second.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab");
        assert!(some(&mut second).starts_with("HTTP/1.1 200 OK\r\n"));
        assert_eq!(policy.state().ceiling.in_flight(), 0.0);
    }
}

#[test]
fn a_long_body_that_has_room_has_to_keep_the_pace_of_the_line() {
    let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Hang]);
    let front = narrow(&peer, net::Io::Epoll);
    let mut slow = front.client();
    let began = Instant::now();
    slow.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
    slow.send(&[b'x'; 80_000]);
    let (came, end) = slow.receive_all(Duration::from_secs(20));
    assert!(came.starts_with(b"HTTP/1.1 408 "), "{}", came.escape_ascii());
    assert!(end == End::Closed && began.elapsed() < Duration::from_secs(12), "{end:?}");
}

/// A client that leaves gives its room back, and is no answer of the upstream's.
#[test]
fn a_request_that_its_client_gives_up_is_not_completed() {
    for io in interfaces() {
        let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Hang]);
        let front = narrow(&peer, io);
        let policy = front.current.get().0;
        let ceiling = &policy.state().ceiling;
        let mut client = front.client();
        client.send(GET);
        wait_until(|| peer.requests() > 0);
        std::thread::sleep(Duration::from_millis(20));
        client.reset_on_drop();
        drop(client);
        wait_until(|| ceiling.in_flight() == 0.0);
        let seen = ceiling.look(net::clock::now());
        // The line's envelope is none, so that all of it is late.
        assert_eq!((seen.completed_milli, seen.latency.count()), (0, 1));
        assert!(seen.given_up >= 1000 * 20_000, "{seen:?}");
    }
}

#[test]
fn a_tunnel_holds_no_room() {
    for io in interfaces() {
        let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi";
        let tunnel = vec![Step::Expect(b"\r\n\r\n"), Step::Send(switched.to_vec()), Step::Hang];
        let peer = Peer::start_each(vec![tunnel, answering()]);
        let front = narrow(&peer, io);
        let mut client = front.client();
        client.send(
            b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        client.receive_until(b"\r\n\r\nhi");
        let policy = front.current.get().0;
        assert_eq!(policy.state().ceiling.in_flight(), 0.0);
        assert_eq!(front.ask(GET)[0].status, 200);
        drop(client);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(policy.state().ceiling.in_flight(), 0.0);
        let seen = policy.state().ceiling.look(net::clock::now());
        assert_eq!(seen.completed_milli, 2000);
    }
}

/// An upstream that pushes and never reads, a client that floods it: what is under way stays bounded.
#[test]
fn a_tunnel_to_an_upstream_that_does_not_read_takes_no_more_than_its_bound() {
    use std::io::{ErrorKind, Read, Write};
    for io in interfaces() {
        let switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        let push = Step::SendSlowly(vec![b'p'; 2000], 1, Duration::from_millis(1));
        let peer = Peer::start(vec![
            Step::Expect(b"\r\n\r\n"),
            Step::Send(switched.to_vec()),
            push,
            Step::Hang,
        ]);
        let settings = PolicySettings::open(upstream(&[peer.addr()]));
        let front = front_with(settings, io);
        let mut client = std::net::TcpStream::connect(front.addr()).expect("it connects");
        client
            .write_all(
                b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            )
            .expect("the request is sent");
        let mut head = [0; 64];
        let _ = client.read(&mut head).expect("an answer");
        client.set_nonblocking(true).expect("a socket can be non-blocking");
        let (until, block) = (Instant::now() + Duration::from_secs(2), [b'x'; 64 * 1024]);
        let mut taken = 0;
        while Instant::now() < until && taken < 64 << 20 {
            match client.write(&block) {
                Ok(bytes) => taken += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("{error}"),
            }
        }
        // Buffers of the kernel on both connections, and what the gateway keeps.
        assert!(taken < 32 << 20, "{taken} bytes were taken");
    }
}
