//! Bytes that a handler lets the net skip: each is counted once, in order, and none behind them is lost.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::thread;

use net::{Close, ConnId, Event, Net, Route};

use crate::harness::{Script, any, interfaces, pattern, run};

/// Bytes before a message that say how long it is.
const HEAD: usize = 8;
/// Rests that are shorter are not skipped.
const LEAST: usize = 1000;

/// Reads messages that follow each other without a pause. Of most it looks at the beginning and the last byte alone.
struct Reader {
    route: Route,
    conn: Option<ConnId>,
    head: Vec<u8>,
    /// What is left of the message under way, behind its head.
    left: usize,
    /// Lengths of messages that are whole.
    whole: Vec<usize>,
    /// The length of the one under way.
    length: usize,
    /// Bytes that came, and those of them that were skipped.
    came: usize,
    skipped: usize,
    ended: bool,
}

impl Reader {
    fn new(route: Route) -> Self {
        Self {
            route,
            conn: None,
            head: Vec::new(),
            left: 0,
            whole: Vec::new(),
            length: 0,
            came: 0,
            skipped: 0,
            ended: false,
        }
    }

    fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.left == 0 {
                self.head.push(byte);
                if let Ok(length) = <[u8; HEAD]>::try_from(self.head.as_slice()) {
                    self.left = usize::from_be_bytes(length);
                    self.length = self.left;
                    self.head.clear();
                }
            } else {
                assert_eq!(byte, pattern(self.came), "at {}", self.came);
                self.advance(1);
            }
            self.came += 1;
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.left -= bytes;
        if self.left == 0 {
            self.whole.push(self.length);
        }
    }
}

impl Script for Reader {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.conn = net.connect(0, &self.route).ok();
    }

    fn event<N: Net>(&mut self, net: &mut N, _: u32, event: Event<'_>) {
        let conn = self.conn.expect("it stands");
        match event {
            Event::Received(bytes) => {
                self.read(bytes);
                // Every seventh message is looked at.
                if self.left > LEAST && self.whole.len() % 7 != 6 {
                    net.skip(conn, self.left as u64 - 1);
                }
            }
            Event::Skipped(bytes) => {
                let bytes = bytes as usize;
                assert!(bytes > 0 && bytes < self.left, "{bytes} of {}", self.left);
                self.advance(bytes);
                self.came += bytes;
                self.skipped += bytes;
            }
            Event::Eof => {
                net.close(conn, Close::Now);
                self.ended = true;
            }
            Event::Connected | Event::Drained => {}
            Event::Failed(failure) => panic!("{failure:?}"),
        }
    }

    fn done(&self) -> bool {
        self.ended
    }
}

/// Messages of these lengths, one behind the other.
fn messages(lengths: &[usize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &length in lengths {
        bytes.extend(length.to_be_bytes());
        let start = bytes.len();
        bytes.extend((start..start + length).map(pattern));
    }
    bytes
}

/// Reads what a peer sends in pieces of this many bytes before it closes.
fn read(io: net::Io, bytes: Vec<u8>, piece: usize) -> Reader {
    let listener = TcpListener::bind(any()).expect("a loopback port");
    let to = listener.local_addr().expect("a bound socket has an address");
    let peer = thread::spawn(move || {
        let (mut stream, _): (TcpStream, _) = listener.accept().expect("it calls");
        bytes.chunks(piece).for_each(|piece| stream.write_all(piece).expect("it listens"));
    });
    let reader = run(io, None, 1, Reader::new(Route { to: to.into(), from: None }));
    peer.join().expect("all was sent");
    reader
}

#[test]
fn what_is_skipped_is_counted_and_what_follows_is_received() {
    let long = [1 << 20; 8];
    let mixed = (0..120).map(|i| 1 + i * i * 37 % 150_000);
    let lengths: Vec<usize> = long.into_iter().chain(mixed).chain([5 << 20]).collect();
    for io in interfaces() {
        for piece in [usize::MAX, 100_000, 7_001] {
            let reader = read(io, messages(&lengths), piece);
            assert_eq!(reader.whole, lengths, "{io:?} {piece}");
            assert_eq!(reader.came, lengths.iter().sum::<usize>() + HEAD * lengths.len());
            assert!(reader.skipped > reader.came / 2, "{io:?} {piece}: {}", reader.skipped);
        }
    }
}

#[test]
fn a_peer_that_closes_in_the_middle_of_what_is_skipped_has_ended() {
    for io in interfaces() {
        let mut bytes = messages(&[3 << 20, 8 << 20]);
        bytes.truncate(bytes.len() - 4_321_000);
        let sent = bytes.len();
        let reader = read(io, bytes, usize::MAX);
        assert_eq!((reader.came, reader.whole.as_slice()), (sent, &[3 << 20][..]), "{io:?}");
        assert_eq!(reader.left, 4_321_000, "{io:?}");
    }
}

#[test]
fn bytes_behind_those_that_may_be_skipped_are_never_skipped() {
    for io in interfaces() {
        // Short messages behind long ones: a net that took too much would lose their heads.
        let lengths: Vec<usize> =
            (0..400).map(|i| if i % 2 == 0 { 70_000 + i } else { 1 }).collect();
        let reader = read(io, messages(&lengths), usize::MAX);
        assert_eq!(reader.whole, lengths, "{io:?}");
    }
}
