//! Each bound on time: towards upstreams, and of clients.

use std::time::{Duration, Instant};

use gate::path::Failure;
use gate::policy::{ClientBounds, PolicySettings, Route, Timeouts};
use testkit::peer::{End, Peer, RawClient, Step};

use crate::harness::{Front, PATIENCE, all, api, front_with, interfaces, upstream, wait_until};

const MS: u64 = 1_000_000;
const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc";

/// A gateway in front of a peer, with time-outs of its route.
fn patient(peer: &Peer, io: net::Io, timeouts: Timeouts) -> Front {
    let settings = PolicySettings::open(upstream(&[peer.addr()]));
    let routes = vec![Route { timeouts, ..Route::to(0) }];
    front_with(PolicySettings { routes, ..settings }, io)
}

fn status_and_code(front: &Front) -> (u16, String) {
    let answers = front.ask(GET);
    let problem: serde_json::Value = serde_json::from_slice(&answers[0].body).expect("JSON");
    (answers[0].status, problem["code"].as_str().expect("a code").to_owned())
}

#[test]
fn a_connection_that_does_not_stand_in_time_gives_504() {
    for io in interfaces() {
        let peer = Peer::never_accepting(0);
        // Takes the only place there is: those that come later wait.
        let _first = RawClient::connect(peer.addr());
        let timeouts = Timeouts { connect_ns: 200 * MS, ..Timeouts::default() };
        let front = patient(&peer, io, timeouts);
        assert_eq!(status_and_code(&front), (504, "late".to_owned()));
    }
}

#[test]
fn an_answer_that_does_not_begin_in_time_gives_504_and_is_not_asked_for_again() {
    for io in interfaces() {
        let peer = Peer::start(vec![Step::Expect(b"\r\n\r\n"), Step::Hang]);
        let timeouts = Timeouts { first_byte_ns: 200 * MS, ..Timeouts::default() };
        let front = patient(&peer, io, timeouts);
        assert_eq!(status_and_code(&front), (504, "late".to_owned()));
        wait_until(|| peer.requests() > 0);
        assert_eq!(peer.requests(), 1);
    }
}

#[test]
fn an_answer_that_takes_too_long_or_pauses_too_long_is_cut_off() {
    for io in interfaces() {
        let dripping = Step::SendSlowly(vec![b'x'; 97], 1, Duration::from_millis(100));
        let whole = Timeouts { whole_ns: 2000 * MS, ..Timeouts::default() };
        let idle = Timeouts { idle_ns: 200 * MS, ..Timeouts::default() };
        for (last, timeouts, failure) in
            [(dripping, whole, Failure::TooLong), (Step::Hang, idle, Failure::Cut)]
        {
            let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(HEAD.to_vec()), last];
            let peer = Peer::start(script);
            let front = patient(&peer, io, timeouts);
            let mut client = front.client();
            client.send(GET);
            let (came, end) = client.receive_all(PATIENCE);
            assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n") && came.len() < 200);
            assert_eq!((end, front.gate.counts().aborted), (End::Reset, 1), "{timeouts:?}");
            let failed_by = front.health.view(net::clock::now())[0].failed_by;
            assert_eq!(failed_by[failure as usize], 1, "{timeouts:?}");
        }
    }
}

/// A gateway with bounds of clients.
fn strict(bounds: ClientBounds, io: net::Io) -> (target::Server, Front) {
    let api = api();
    let settings = PolicySettings::open(upstream(&[api.addr()]));
    let front = front_with(PolicySettings { client: bounds, ..settings }, io);
    (api, front)
}

/// A client that waits for `100 Continue` is not late itself.
#[test]
fn who_waits_to_continue_waits_for_the_upstream() {
    let post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    for io in interfaces() {
        let slow = vec![
            Step::Expect(b"\r\n\r\n"),
            Step::Pause(Duration::from_secs(3)),
            Step::Send(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            Step::Expect(b"hello"),
            Step::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()),
        ];
        let silent = vec![Step::Expect(b"\r\n\r\n"), Step::Hang];
        for (script, first_byte_ms, body, status) in
            [(slow, 10_000, &b"hello"[..], 200), (silent, 200, b"", 504)]
        {
            let peer = Peer::start(script);
            let timeouts = Timeouts { first_byte_ns: first_byte_ms * MS, ..Timeouts::default() };
            let front = front_with(
                PolicySettings {
                    client: ClientBounds { body_ns: 2000 * MS, ..ClientBounds::default() },
                    routes: vec![Route { timeouts, ..Route::to(0) }],
                    ..PolicySettings::open(upstream(&[peer.addr()]))
                },
                io,
            );
            let mut client = front.client();
            client.send(post);
            if !body.is_empty() {
                let told = client.receive_until(b"\r\n\r\n");
                assert!(told.starts_with(b"HTTP/1.1 100 "), "{}", told.escape_ascii());
                client.send(body);
            }
            let came = client.receive_until(b"\r\n\r\n");
            let wanted = format!("HTTP/1.1 {status} ");
            assert!(came.starts_with(wanted.as_bytes()), "{}", came.escape_ascii());
        }
    }
}

#[test]
fn heads_and_bodies_that_take_too_long_give_408() {
    for io in interfaces() {
        let bounds =
            ClientBounds { head_ns: 1000 * MS, body_ns: 1000 * MS, ..ClientBounds::default() };
        let (_api, front) = strict(bounds, io);
        for begun in [
            &b"GET / HTTP/1.1\r\nHos"[..],
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab",
        ] {
            let mut client = front.client();
            client.send(begun);
            let (came, end) = client.receive_all(PATIENCE);
            let text = String::from_utf8_lossy(&came);
            assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("\"slow\""), "{text}");
            assert_eq!(end, End::Closed);
        }
    }
}

#[test]
fn a_client_that_asks_nothing_more_or_takes_nothing_is_let_go() {
    for io in interfaces() {
        let bounds =
            ClientBounds { idle_ns: 2000 * MS, send_idle_ns: 300 * MS, ..ClientBounds::default() };
        let (_api, front) = strict(bounds, io);
        let mut idle = front.client();
        idle.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
        let (text, end) = (idle.receive_until(b"}"), idle.receive_all(PATIENCE).1);
        assert!(text.starts_with(b"HTTP/1.1 200 OK\r\n") && end == End::Closed);
        let mut deaf = front.client();
        deaf.send(b"GET /bytes/100000000 HTTP/1.1\r\nHost: a\r\n\r\n");
        wait_until(|| front.gate.counts().aborted == 1);
        assert!(all(&mut deaf).0.len() < 100_000_000);
    }
}

/// Reads a long answer at 80 KB/s: what waits for the client is not taken within the bound, but it does take some.
#[test]
fn a_client_that_takes_its_answer_slowly_and_steadily_gets_it() {
    use std::io::{Read, Write};
    for io in interfaces() {
        let bounds = ClientBounds { send_idle_ns: 1600 * MS, ..ClientBounds::default() };
        let (_api, front) = strict(bounds, io);
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)
            .expect("a socket");
        socket.set_recv_buffer_size(16 * 1024).expect("a small buffer");
        socket.connect(&front.addr().into()).expect("it connects");
        let mut client = std::net::TcpStream::from(socket);
        client.write_all(b"GET /bytes/8000000 HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is sent");
        let mut block = [0; 20_000];
        for _ in 0..14 {
            std::thread::sleep(Duration::from_millis(250));
            client.read_exact(&mut block).expect("more of the answer");
        }
        assert_eq!(front.gate.counts().aborted, 0);
    }
}

/// Of an answer that is cut off in the middle, here by a malformed chunk of its request, what was sent is waited for no longer
/// than of any other.
#[test]
fn a_client_that_is_cut_off_and_takes_nothing_is_reset() {
    use std::io::Write;
    for io in interfaces() {
        // More than all buffers on the way hold.
        let long =
            [b"HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n".to_vec(), vec![b'x'; 32 << 20]]
                .concat();
        let script = vec![Step::Expect(b"\r\n\r\n"), Step::Send(long), Step::Hang];
        let peer = Peer::start(script);
        let client = ClientBounds { send_idle_ns: 2000 * MS, ..ClientBounds::default() };
        let settings = PolicySettings { client, ..PolicySettings::open(upstream(&[peer.addr()])) };
        let front = front_with(settings, io);
        let mut client = std::net::TcpStream::connect(front.addr()).expect("it listens");
        let post = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
        client.write_all(post).expect("it is sent");
        std::thread::sleep(Duration::from_millis(500));
        client.write_all(b"x\r\n").expect("it is sent");
        let until = Instant::now() + Duration::from_secs(15);
        while client.write_all(b"?").is_ok() {
            assert!(Instant::now() < until, "the connection is held");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
