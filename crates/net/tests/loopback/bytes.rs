//! Large bodies, in order and under pressure.

use net::{Close, ConnId, Event, Net, Route};

use crate::harness::{Script, interfaces, listener, pattern, run};

const TOTAL: usize = 8 << 20;
const CHUNK: usize = 64 * 1024;
/// Bytes an end lets pile up before it waits.
const MOST: usize = 256 * 1024;
const CALLER: u32 = 0;
const ECHO: u32 = 1;

/// One end sends a stream, the other echoes it; neither lets much pile up.
struct Echoed {
    route: Route,
    caller: Option<ConnId>,
    echo: Option<ConnId>,
    sent: usize,
    received: usize,
    largest_backlog: usize,
    pauses: usize,
    ended: bool,
}

impl Echoed {
    fn send_on<N: Net>(&mut self, net: &mut N) {
        let Some(conn) = self.caller else { return };
        while self.sent < TOTAL && net.backlog(conn) < MOST {
            let chunk: Vec<u8> = (self.sent..self.sent + CHUNK).map(pattern).collect();
            net.send(conn, &chunk);
            self.sent += CHUNK;
            self.largest_backlog = self.largest_backlog.max(net.backlog(conn));
        }
        if self.sent < TOTAL {
            net.want_drained(conn);
        }
    }

    fn echo<N: Net>(&mut self, net: &mut N, conn: ConnId, bytes: &[u8]) {
        net.send(conn, bytes);
        let backlog = net.backlog(conn);
        self.largest_backlog = self.largest_backlog.max(backlog);
        if backlog > MOST {
            self.pauses += 1;
            net.set_receiving(conn, false);
            net.want_drained(conn);
        }
    }
}

impl Script for Echoed {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.caller = net.connect(CALLER, &self.route).ok();
    }

    fn accepted<N: Net>(&mut self, _: &mut N, conn: ConnId) -> Option<u32> {
        self.echo = Some(conn);
        Some(ECHO)
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        match (token, event) {
            (CALLER, Event::Connected | Event::Drained) => self.send_on(net),
            (CALLER, Event::Received(bytes)) => {
                for &byte in &*bytes {
                    assert_eq!(byte, pattern(self.received), "at {}", self.received);
                    self.received += 1;
                }
                if self.received == TOTAL {
                    net.close(self.caller.expect("it called"), Close::Now);
                }
            }
            (ECHO, Event::Received(bytes)) => {
                self.echo(net, self.echo.expect("accepted"), bytes);
            }
            (ECHO, Event::Drained) => net.set_receiving(self.echo.expect("accepted"), true),
            (ECHO, Event::Eof) => {
                net.close(self.echo.expect("accepted"), Close::Now);
                self.ended = true;
            }
            (_, other) => panic!("{token}: {other:?}"),
        }
    }

    fn done(&self) -> bool {
        self.ended
    }
}

#[test]
fn eight_mebibytes_both_ways_in_order_with_little_piled_up() {
    for io in interfaces() {
        let (listener, route) = listener();
        let script = Echoed {
            route,
            caller: None,
            echo: None,
            sent: 0,
            received: 0,
            largest_backlog: 0,
            pauses: 0,
            ended: false,
        };
        let script = run(io, Some(listener), 2, script);
        assert_eq!(script.received, TOTAL, "{io:?}");
        // Pausing lets a few deliveries through that were on their way.
        assert!(script.largest_backlog <= 8 * MOST, "{io:?}: {}", script.largest_backlog);
    }
}

/// Sends the same blob over and over, each time after the last was echoed.
struct Blobs {
    route: Route,
    conns: [Option<ConnId>; 2],
    blob: Option<net::BlobId>,
    received: usize,
}

const BLOB: &[u8] = b"a request as long as most";
const ROUNDS: usize = 10_000;

impl Script for Blobs {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.blob = Some(net.blob(BLOB));
        self.conns[0] = net.connect(CALLER, &self.route).ok();
    }

    fn accepted<N: Net>(&mut self, _: &mut N, conn: ConnId) -> Option<u32> {
        self.conns[1] = Some(conn);
        Some(ECHO)
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let conn = self.conns[token as usize].expect("it stands");
        match (token, event) {
            (CALLER, Event::Connected) => net.send_blob(conn, self.blob.expect("made")),
            (CALLER, Event::Received(bytes)) => {
                self.received += bytes.len();
                if self.received.is_multiple_of(BLOB.len()) {
                    net.send_blob(conn, self.blob.expect("made"));
                }
            }
            (ECHO, Event::Received(bytes)) => net.send(conn, bytes),
            (_, other) => panic!("{token}: {other:?}"),
        }
    }

    fn done(&self) -> bool {
        self.received >= ROUNDS * BLOB.len()
    }
}

#[test]
fn a_blob_is_sent_as_often_as_requested() {
    for io in interfaces() {
        let (listener, route) = listener();
        let script = Blobs { route, conns: [None; 2], blob: None, received: 0 };
        let script = run(io, Some(listener), 2, script);
        assert!(script.received < (ROUNDS + 1) * BLOB.len(), "{io:?}");
    }
}

/// Connections that are ready together, each sent a response in pieces of all sizes, some with the last of them
/// closed.
struct Pieces {
    route: Route,
    callers: Vec<Option<ConnId>>,
    accepted: Vec<ConnId>,
    received: Vec<usize>,
    ended: usize,
}

const CALLERS: usize = 40;
/// Lengths of a response's pieces.
const PIECES: [usize; 5] = [10, 6_000, 10, 30_000, 1];
const RESPONSE: usize = 36_021;
const RESPONSES: usize = 50;

impl Pieces {
    fn hear(&mut self, caller: usize, bytes: &[u8]) {
        let received = &mut self.received[caller];
        for &byte in bytes {
            assert_eq!(byte, pattern(*received % RESPONSE), "caller {caller} at {received}");
            *received += 1;
        }
    }
}

fn send_response<N: Net>(net: &mut N, conn: ConnId) {
    let mut at = 0;
    for length in PIECES {
        let piece: Vec<u8> = (at..at + length).map(pattern).collect();
        net.send(conn, &piece);
        at += length;
    }
}

impl Script for Pieces {
    fn begin<N: Net>(&mut self, net: &mut N) {
        for caller in 0..CALLERS {
            self.callers[caller] = net.connect(caller as u32, &self.route).ok();
        }
    }

    fn accepted<N: Net>(&mut self, _: &mut N, conn: ConnId) -> Option<u32> {
        self.accepted.push(conn);
        Some((CALLERS + self.accepted.len() - 1) as u32)
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let caller = token as usize;
        match (caller.checked_sub(CALLERS), event) {
            (None, Event::Connected) => net.send(self.callers[caller].expect("connected"), b"?"),
            (None, Event::Received(bytes)) => {
                self.hear(caller, bytes);
                if self.received[caller].is_multiple_of(RESPONSE) {
                    net.send(self.callers[caller].expect("connected"), b"?");
                }
            }
            (None, Event::Eof) => {
                net.close(self.callers[caller].expect("connected"), Close::Now);
                self.ended += 1;
            }
            (Some(at), Event::Received(bytes)) => {
                let conn = self.accepted[at];
                bytes.iter().for_each(|_| send_response(net, conn));
                if self.received.iter().all(|&received| received >= (RESPONSES - 1) * RESPONSE) {
                    net.close(conn, Close::Flush);
                }
            }
            (Some(_), Event::Drained | Event::Eof) => {}
            (_, other) => panic!("{token}: {other:?}"),
        }
    }

    fn done(&self) -> bool {
        self.ended == CALLERS
    }
}

#[test]
fn responses_in_pieces_arrive_in_order_and_whole_before_the_end() {
    for io in interfaces() {
        let (listener, route) = listener();
        let script = Pieces {
            route,
            callers: vec![None; CALLERS],
            accepted: Vec::new(),
            received: vec![0; CALLERS],
            ended: 0,
        };
        let script = run(io, Some(listener), 2 * CALLERS, script);
        for received in script.received {
            assert!(received >= RESPONSES * RESPONSE, "{io:?}: {received}");
            assert!(received.is_multiple_of(RESPONSE), "{io:?}: a response was cut: {received}");
        }
    }
}
