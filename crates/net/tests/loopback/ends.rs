//! The ways a connection ends, seen from both sides. Peers are plain blocking sockets.

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use net::{Close, ConnId, Event, Net, Operation, Route};
use socket2::{Domain, Socket, Type};

use crate::harness::{Script, any, interfaces, pattern, run};

/// The events that a handler saw.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Connected,
    Received(usize),
    Eof,
    Drained,
    Failed(Operation, i32),
}

impl From<Event<'_>> for Seen {
    fn from(event: Event<'_>) -> Self {
        match event {
            Event::Connected => Self::Connected,
            Event::Received(bytes) => Self::Received(bytes.len()),
            Event::Eof => Self::Eof,
            Event::Drained => Self::Drained,
            Event::Failed(failure) => Self::Failed(failure.during, failure.errno),
            Event::Skipped(bytes) => panic!("{bytes} bytes that were to be seen"),
        }
    }
}

/// Connects, does what `act` says on each event, and ends when `over` says so.
struct Calls<A, O> {
    route: Route,
    conn: Option<ConnId>,
    seen: Vec<Seen>,
    act: A,
    over: O,
}

/// What a handler can do about an event.
enum Do {
    Send(Vec<u8>),
    SendAndClose(Vec<u8>, Close),
    WantDrained,
    Close(Close),
}

impl<A: FnMut(&Seen) -> Vec<Do>, O: Fn(&[Seen]) -> bool> Script for Calls<A, O> {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.conn = Some(net.connect(7, &self.route).expect("a socket"));
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        assert_eq!(token, 7);
        let (conn, seen) = (self.conn.expect("it called"), Seen::from(event));
        for step in (self.act)(&seen) {
            match step {
                Do::Send(bytes) => net.send(conn, &bytes),
                Do::SendAndClose(bytes, how) => {
                    net.send(conn, &bytes);
                    net.close(conn, how);
                }
                Do::WantDrained => net.want_drained(conn),
                Do::Close(how) => net.close(conn, how),
            }
        }
        self.seen.push(seen);
    }

    fn done(&self) -> bool {
        (self.over)(&self.seen)
    }
}

/// A peer that takes one connection and does `with` it on a new thread.
fn peer<T: Send + 'static>(
    with: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (Route, JoinHandle<T>) {
    let listener = TcpListener::bind(any()).expect("a loopback port");
    let route = Route { to: listener.local_addr().expect("an address").into(), from: None };
    let thread = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("someone calls");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout above zero");
        with(stream)
    });
    (route, thread)
}

fn calls<A: FnMut(&Seen) -> Vec<Do>, O: Fn(&[Seen]) -> bool>(
    route: Route,
    act: A,
    over: O,
) -> Calls<A, O> {
    Calls { route, conn: None, seen: Vec::new(), act, over }
}

#[test]
fn a_port_without_a_listener_refuses() {
    for io in interfaces() {
        // Bound by nobody else meanwhile.
        let bound = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        bound.bind(&any().into()).expect("a loopback port");
        let to = bound.local_addr().expect("an address").as_socket().expect("of IPv4");
        let route = Route { to: to.into(), from: None };
        let script = run(io, None, 1, calls(route, |_| vec![], |seen| !seen.is_empty()));
        assert_eq!(script.seen, [Seen::Failed(Operation::Connect, libc_errno::REFUSED)], "{io:?}");
    }
}

#[test]
fn a_reset_is_seen_by_the_peer() {
    for io in interfaces() {
        let (route, seen) = peer(|mut stream| stream.read(&mut [0; 9]).map_err(|e| e.kind()));
        let act = |seen: &Seen| match seen {
            Seen::Connected => vec![Do::Close(Close::Reset)],
            _ => vec![],
        };
        run(io, None, 1, calls(route, act, |seen| seen.len() == 1));
        assert_eq!(seen.join().expect("no panic"), Err(ErrorKind::ConnectionReset), "{io:?}");
    }
}

#[test]
fn a_peers_reset_is_a_failed_receive() {
    for io in interfaces() {
        let (route, gone) = peer(|stream| {
            // Closing with bytes unread sends a RST: closed once there are some.
            stream.peek(&mut [0]).expect("it sends");
            drop(stream);
        });
        let act = |seen: &Seen| match seen {
            Seen::Connected => vec![Do::Send(vec![b'x'; 100])],
            _ => vec![],
        };
        let script = run(io, None, 1, calls(route, act, |seen| seen.len() == 2));
        let reset = Seen::Failed(Operation::Receive, libc_errno::RESET);
        assert_eq!(script.seen, [Seen::Connected, reset], "{io:?}");
        gone.join().expect("no panic");
    }
}

#[test]
fn after_the_peers_end_sending_goes_on_and_no_second_end_is_reported() {
    for io in interfaces() {
        let (route, response) = peer(|mut stream| {
            stream.write_all(b"request").expect("it reads");
            stream.shutdown(Shutdown::Write).expect("the connection stands");
            let mut response = Vec::new();
            stream.read_to_end(&mut response).map(|_| response).map_err(|e| e.kind())
        });
        let mut drains = 0;
        let act = |seen: &Seen| match seen {
            Seen::Eof => vec![Do::Send(b"late ".to_vec()), Do::WantDrained],
            Seen::Drained => {
                drains += 1;
                match drains {
                    3 => vec![Do::SendAndClose(b"response".to_vec(), Close::Flush)],
                    _ => vec![Do::WantDrained],
                }
            }
            _ => vec![],
        };
        let over = |seen: &[Seen]| seen.iter().filter(|t| **t == Seen::Drained).count() == 3;
        let route_of = calls(route, act, over);
        let script = keep_going(io, route_of, &response);
        let ends = script.iter().filter(|seen| **seen == Seen::Eof).count();
        assert_eq!(ends, 1, "{io:?}: {script:?}");
        assert_eq!(response.join().expect("no panic"), Ok(b"late response".to_vec()), "{io:?}");
    }
}

#[test]
fn a_peer_that_has_ended_still_gets_all_of_a_response_that_is_closed_in_order() {
    const BYTES: usize = 8 << 20;
    for io in interfaces() {
        let (route, response) = peer(|mut stream| {
            stream.write_all(b"request").expect("it reads");
            stream.shutdown(Shutdown::Write).expect("the connection stands");
            // No buffer holds all of it.
            thread::sleep(Duration::from_millis(20));
            let mut response = Vec::new();
            stream.read_to_end(&mut response).map(|_| response).map_err(|e| e.kind())
        });
        let act = |seen: &Seen| match seen {
            Seen::Received(_) => {
                vec![Do::SendAndClose((0..BYTES).map(pattern).collect(), Close::Flush)]
            }
            _ => vec![],
        };
        keep_going(io, calls(route, act, |_| true), &response);
        let response = response.join().expect("no panic").expect("everything, then the end");
        assert_eq!(response.len(), BYTES, "{io:?}");
        assert!(response.iter().enumerate().all(|(at, &byte)| byte == pattern(at)), "{io:?}");
    }
}

/// A handler that waits for its output to be gone, and closes instead: only the peer is waited for from then on.
#[test]
fn who_closes_before_all_is_sent_does_not_keep_the_net_busy() {
    const BYTES: usize = 8 << 20;
    for io in interfaces() {
        let (route, response) = peer(|mut stream| {
            let mut response = Vec::new();
            let read = stream.read_to_end(&mut response).map_err(|e| e.kind());
            // It has everything, and leaves its own side open for a while.
            thread::sleep(Duration::from_millis(500));
            read
        });
        let act = |seen: &Seen| match seen {
            Seen::Connected => {
                vec![Do::Send(vec![b'x'; BYTES]), Do::WantDrained, Do::Close(Close::Flush)]
            }
            _ => panic!("{seen:?} after the close"),
        };
        let turns = Cell::new(0);
        let over = |_: &[Seen]| {
            turns.set(turns.get() + 1);
            true
        };
        keep_going(io, calls(route, act, over), &response);
        assert_eq!(response.join().expect("no panic"), Ok(BYTES), "{io:?}");
        // One every 20 ms, and those in which something is sent.
        assert!(turns.get() < 10_000, "{io:?}: {} turns", turns.get());
    }
}

/// Runs a script until it is over and the peer's thread has ended: a net that is dropped closes what
/// it still held.
fn keep_going<T, A: FnMut(&Seen) -> Vec<Do>, O: Fn(&[Seen]) -> bool>(
    io: net::Io,
    script: Calls<A, O>,
    peer: &JoinHandle<T>,
) -> Vec<Seen> {
    let Calls { route, act, over, .. } = script;
    let over = |seen: &[Seen]| over(seen) && peer.is_finished();
    run(io, None, 1, calls(route, act, over)).seen
}

#[test]
fn closing_in_order_delivers_everything_to_a_slow_reader_that_still_talks() {
    const BYTES: usize = 4 << 20;
    for io in interfaces() {
        let (route, read) = peer(|mut stream| {
            let mut received = vec![0; BYTES / 2];
            stream.read_exact(&mut received).map_err(|e| e.kind())?;
            // What the other side will never read must not cost the rest of the response.
            stream.write_all(&[b'x'; 50_000]).map_err(|e| e.kind())?;
            thread::sleep(Duration::from_millis(100));
            stream.read_to_end(&mut received).map_err(|e| e.kind())?;
            Ok::<_, ErrorKind>(received)
        });
        let act = |seen: &Seen| match seen {
            Seen::Connected => {
                vec![Do::SendAndClose((0..BYTES).map(pattern).collect(), Close::Flush)]
            }
            _ => panic!("{seen:?} after the close"),
        };
        keep_going(io, calls(route, act, |_| true), &read);
        let received = read.join().expect("no panic").expect("everything, then the end");
        assert_eq!(received.len(), BYTES, "{io:?}");
        assert!(received.iter().enumerate().all(|(at, &byte)| byte == pattern(at)), "{io:?}");
    }
}

#[test]
fn small_sends_to_a_reader_that_falls_behind_stay_whole_and_in_order() {
    const BYTES: usize = 6 << 20;
    for (io, each) in interfaces().into_iter().flat_map(|io| [(io, 173), (io, 30_011)]) {
        let (route, read) = peer(|mut stream| {
            let mut received = Vec::new();
            let mut some = vec![0; 300_000];
            loop {
                thread::sleep(Duration::from_millis(5));
                match stream.read(&mut some).map_err(|e| e.kind())? {
                    0 => return Ok::<_, ErrorKind>(received),
                    n => received.extend_from_slice(&some[..n]),
                }
            }
        });
        let mut at = 0;
        let act = |seen: &Seen| match seen {
            Seen::Connected | Seen::Drained if at >= BYTES => vec![Do::Close(Close::Flush)],
            Seen::Connected | Seen::Drained => {
                let mut two = || {
                    at += each;
                    Do::Send((at - each..at).map(pattern).collect())
                };
                vec![two(), two(), Do::WantDrained]
            }
            _ => panic!("{seen:?}"),
        };
        keep_going(io, calls(route, act, |_| true), &read);
        let received = read.join().expect("no panic").expect("everything, then the end");
        assert!(received.len() >= BYTES, "{io:?}: {}", received.len());
        assert!(received.iter().enumerate().all(|(at, &byte)| byte == pattern(at)), "{io:?}");
    }
}

#[test]
fn a_passive_close_lets_the_peer_go_first() {
    for io in interfaces() {
        let (route, ended) = peer(|mut stream| {
            let since = Instant::now();
            stream.write_all(b"response").expect("it reads");
            thread::sleep(Duration::from_millis(5));
            // Still open: nothing to read, and writing works.
            let end = stream
                .write_all(b"more")
                .and_then(|()| stream.shutdown(Shutdown::Write))
                .and_then(|()| stream.read(&mut [0; 9]));
            (end.map_err(|e| e.kind()), since.elapsed())
        });
        let act = |seen: &Seen| match seen {
            Seen::Received(_) => vec![Do::Close(Close::Passive)],
            _ => vec![],
        };
        keep_going(io, calls(route, act, |_| true), &ended);
        let (end, after) = ended.join().expect("no panic");
        // A peer that did not run for so long was waited for in vain.
        assert!(end == Ok(0) || after > Duration::from_millis(50), "{io:?}: {end:?} {after:?}");
    }
}

#[test]
fn a_passive_close_does_not_wait_for_ever() {
    for io in interfaces() {
        let (route, ended) = peer(|mut stream| {
            // From before what makes the other side close, so that no pause of this thread shortens it.
            let since = Instant::now();
            stream.write_all(b"response").expect("it reads");
            let end = stream.read(&mut [0; 9]).map_err(|e| e.kind());
            (end, since.elapsed())
        });
        let act = |seen: &Seen| match seen {
            Seen::Received(_) => vec![Do::Close(Close::Passive)],
            _ => vec![],
        };
        keep_going(io, calls(route, act, |_| true), &ended);
        let (end, after) = ended.join().expect("no panic");
        assert_eq!(end, Ok(0), "{io:?}");
        assert!(after > Duration::from_millis(50), "{after:?}");
    }
}

/// Error numbers, which the events carry.
mod libc_errno {
    pub const REFUSED: i32 = 111;
    pub const RESET: i32 = 104;
}
