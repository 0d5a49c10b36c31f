//! Responses and requests of changing length: a net may handle long ones differently, and must not show it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use net::{BlobId, Close, ConnId, Event, Net, Operation, Route, SHORT_BLOB};

use crate::harness::{Script, any, interfaces, listener, pattern, run};

const CALLER: u32 = 0;
const SERVER: u32 = 1;

/// Lengths of responses: long ones in a row, then so many short ones that those count as the rule again.
fn lengths() -> Vec<usize> {
    let phase = |long: usize, times: usize| {
        let short = (0..150).map(|i| 1 + i * 7 % 400);
        std::iter::repeat_n(long, times).chain(short)
    };
    phase(1 << 20, 3).chain(phase(100_000, 5)).chain(phase(16_384, 9)).chain([3 << 20]).collect()
}

/// One end asks with a byte, the other responds with the next length, and closes behind the last.
struct Changing {
    route: Route,
    conns: [Option<ConnId>; 2],
    lengths: Vec<usize>,
    responded: usize,
    heard: usize,
    received: usize,
    ended: bool,
}

impl Script for Changing {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.conns[0] = net.connect(CALLER, &self.route).ok();
    }

    fn accepted<N: Net>(&mut self, _: &mut N, conn: ConnId) -> Option<u32> {
        self.conns[1] = Some(conn);
        Some(SERVER)
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let conn = self.conns[token as usize].expect("it stands");
        match (token, event) {
            (CALLER, Event::Connected) => net.send(conn, b"?"),
            (CALLER, Event::Received(bytes)) => {
                for &byte in &*bytes {
                    assert_eq!(byte, pattern(self.received), "at {}", self.received);
                    self.received += 1;
                }
                if self.received == self.lengths[..=self.heard].iter().sum() {
                    self.heard += 1;
                    net.send(conn, b"?");
                }
            }
            (CALLER, Event::Eof) => {
                net.close(conn, Close::Now);
                self.ended = true;
            }
            (SERVER, Event::Received(_)) if self.responded < self.lengths.len() => {
                let start: usize = self.lengths[..self.responded].iter().sum();
                let end = start + self.lengths[self.responded];
                let response: Vec<u8> = (start..end).map(pattern).collect();
                net.send(conn, &response);
                self.responded += 1;
                if self.responded == self.lengths.len() {
                    net.close(conn, Close::Flush);
                }
            }
            (_, Event::Failed(failure)) => panic!("{token}: {failure:?}"),
            _ => {}
        }
    }

    fn done(&self) -> bool {
        self.ended
    }
}

#[test]
fn long_and_short_responses_in_turns_arrive_in_order_and_whole_before_the_end() {
    for io in interfaces() {
        let (listener, route) = listener();
        let script = Changing {
            route,
            conns: [None; 2],
            lengths: lengths(),
            responded: 0,
            heard: 0,
            received: 0,
            ended: false,
        };
        let script = run(io, Some(listener), 2, script);
        assert_eq!(script.received, script.lengths.iter().sum::<usize>(), "{io:?}");
    }
}

/// Sends a long blob for each byte that the peer responds with, however much of the last is on its way.
struct Lending {
    route: Route,
    conn: Option<ConnId>,
    bytes: Vec<u8>,
    blob: Option<BlobId>,
    sent: usize,
    lent: usize,
    ended: Option<Operation>,
}

const BLOBS: usize = 40;

impl Lending {
    fn new(route: Route) -> Self {
        let bytes = (0..100 * SHORT_BLOB).map(pattern).collect();
        Self { route, conn: None, bytes, blob: None, sent: 0, lent: 0, ended: None }
    }

    fn send_next<N: Net>(&mut self, net: &mut N, conn: ConnId) {
        if self.sent == BLOBS {
            return;
        }
        self.sent += 1;
        if net.backlog(conn) == 0 {
            self.lent += 1;
            net.send_blob(conn, self.blob.expect("made"));
        } else {
            net.send(conn, &self.bytes);
        }
    }
}

impl Script for Lending {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.blob = Some(net.blob(&self.bytes));
        self.conn = net.connect(CALLER, &self.route).ok();
    }

    fn event<N: Net>(&mut self, net: &mut N, _: u32, event: Event<'_>) {
        let conn = self.conn.expect("it stands");
        match event {
            Event::Connected => self.send_next(net, conn),
            Event::Received(bytes) => bytes.iter().for_each(|_| self.send_next(net, conn)),
            Event::Eof => self.ended = Some(Operation::Connect),
            Event::Failed(failure) => self.ended = Some(failure.during),
            Event::Drained | Event::Skipped(_) => {}
        }
    }

    fn done(&self) -> bool {
        self.ended.is_some()
    }
}

/// A peer on a thread, and the route to it.
fn peer(talk: impl FnOnce(TcpStream) + Send + 'static) -> (Route, thread::JoinHandle<()>) {
    let listener = TcpListener::bind(any()).expect("a loopback port");
    let to = listener.local_addr().expect("a bound socket has an address");
    let thread = thread::spawn(move || talk(listener.accept().expect("it calls").0));
    (Route { to: to.into(), from: None }, thread)
}

#[test]
fn long_blobs_stay_in_order_behind_a_peer_that_responds_early() {
    for io in interfaces() {
        let (route, peer) = peer(|mut stream| {
            let length = 100 * SHORT_BLOB;
            let mut request = vec![0; length];
            for blob in 0..BLOBS {
                // Every other response comes before the request has been read.
                let early = if blob % 2 == 0 { length } else { 1000 };
                stream.read_exact(&mut request[..early]).expect("bytes");
                stream.write_all(b"!").expect("it listens");
                stream.read_exact(&mut request[early..]).expect("the others");
                let same = request.iter().enumerate().all(|(at, &byte)| byte == pattern(at));
                assert!(same, "blob {blob}");
            }
        });
        let script = run(io, None, 1, Lending::new(route));
        peer.join().expect("all came in order");
        assert_eq!((script.sent, script.ended), (BLOBS, Some(Operation::Connect)), "{io:?}");
        assert!(script.lent > BLOBS / 2, "{io:?}: {}", script.lent);
    }
}

#[test]
fn a_peer_that_vanishes_under_a_long_blob_is_a_failure() {
    for io in interfaces() {
        let (route, peer) = peer(|mut stream| {
            stream.read_exact(&mut [0; 1000]).expect("bytes");
            // Closing with bytes unread resets the connection.
        });
        let script = run(io, None, 1, Lending::new(route));
        peer.join().expect("it read");
        let operation = script.ended.expect("it ended");
        assert!(matches!(operation, Operation::Send | Operation::Receive), "{io:?}: {operation:?}");
    }
}
