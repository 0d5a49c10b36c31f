//! Whether nets report correctly when bytes left and arrived; and the end of a net with much under way.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use net::{ConnId, Event, Handed, Io, Net, Route, Taken};

use crate::harness::{Script, interfaces, listener, pattern, run};

/// Sends three times, and stays busy after each until the reply is there.
struct Busy {
    route: Route,
    conn: Option<ConnId>,
    echoed: Receiver<()>,
    sends: usize,
    /// When it last sent, what the net reported of the hand-over, and until when the handler was busy.
    last: (u64, Handed, u64),
    received: usize,
}

/// Sends, alternately in the middle of a batch and handed over by the handler.
const SENDS: usize = 3;

impl Busy {
    fn send_one<N: Net>(&mut self, net: &mut N) {
        let Some(conn) = self.conn else { return };
        let begun = net.now();
        let before = net.handed_over();
        net.send(conn, b"?");
        net.hand_over();
        let handed = net.handed_over();
        assert!(handed.nth > before.nth && !handed.left);
        assert!((begun..=net.now()).contains(&handed.at));
        // The response is in the socket before the next look at the kernel.
        self.echoed.recv().expect("the peer responds");
        self.last = (begun, handed, net.now());
        self.sends += 1;
    }
}

impl Script for Busy {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.conn = net.connect(0, &self.route).ok();
    }

    fn event<N: Net>(&mut self, net: &mut N, _: u32, event: Event<'_>) {
        let Taken { at, waited_ns } = net.taken_in();
        assert!(at <= net.now());
        match event {
            Event::Connected => {}
            Event::Received(bytes) => {
                self.received += bytes.len();
                let (begun, handed, busy_until) = self.last;
                assert!(handed.at <= begun.max(handed.at) && busy_until <= at);
                // It came while the handler was busy, so it may have waited since it last looked.
                assert!(waited_ns >= busy_until - begun, "{waited_ns} of {}", busy_until - begun);
            }
            other => panic!("{other:?}"),
        }
        if self.sends < SENDS {
            self.send_one(net);
        }
    }

    fn done(&self) -> bool {
        self.received == SENDS
    }
}

/// Sends a byte back for each byte, and signals once it is in the other side's socket.
fn echo_bytes(mut stream: TcpStream, signal: &Sender<()>) {
    let mut byte = [0];
    stream.set_nodelay(true).expect("an option that every socket has");
    while stream.read(&mut byte).is_ok_and(|n| n > 0) {
        stream.write_all(b"!").expect("the caller is there");
        await_acknowledgement(&stream);
        signal.send(()).expect("the caller waits for it");
    }
}

/// Waits until what was written is in the other side's socket.
fn await_acknowledgement(stream: &TcpStream) {
    let mut unacknowledged: libc::c_int = 1;
    while unacknowledged > 0 {
        // SAFETY: the call writes one integer, to a place that is there.
        let done =
            unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut unacknowledged) };
        assert_eq!(done, 0, "a socket says what is unacknowledged");
        // The receiver is woken right after the acknowledgement.
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn bytes_that_came_while_the_handler_was_busy_are_known_to_have_waited() {
    for io in interfaces() {
        let (listener, route) = listener();
        let (signal, echoed) = channel();
        let peer = thread::spawn(move || {
            let (stream, _) = listener.accept().expect("somebody calls");
            echo_bytes(stream, &signal);
        });
        let last = (0, Handed::default(), 0);
        let script = Busy { route, conn: None, echoed, sends: 0, last, received: 0 };
        let script = run(io, None, 1, script);
        assert_eq!(script.received, SENDS, "{io:?}");
        peer.join().expect("no panic");
    }
}

/// Sends on many connections, and stays busy until all replies are there; then takes its time with each.
struct Crowd {
    route: Route,
    conns: Vec<ConnId>,
    connected: usize,
    replied: Receiver<()>,
    /// When all replies were there.
    there: u64,
    received: usize,
}

/// More than the kernel completes at one look, and than it has buffers for at first.
const CROWD: usize = 100;

impl Script for Crowd {
    fn begin<N: Net>(&mut self, net: &mut N) {
        let connect = |token| net.connect(token, &self.route).expect("a socket");
        self.conns = (0..CROWD as u32).map(connect).collect();
    }

    fn event<N: Net>(&mut self, net: &mut N, _: u32, event: Event<'_>) {
        let Taken { at, waited_ns } = net.taken_in();
        match event {
            Event::Connected => self.connected += 1,
            Event::Received(_) => {
                self.received += 1;
                let waited = at.saturating_sub(self.there);
                assert!(waited_ns >= waited, "{waited_ns} of {waited}, {}th", self.received);
                return thread::sleep(Duration::from_micros(200));
            }
            Event::Eof => return,
            other => panic!("{other:?}"),
        }
        if self.connected == CROWD {
            self.conns.iter().for_each(|conn| net.send(*conn, b"?"));
            net.hand_over();
            self.replied.recv().expect("the peer responds");
            self.there = net.now();
        }
    }

    fn done(&self) -> bool {
        self.received == CROWD
    }
}

/// Sends a byte back on each of [`CROWD`] connections once it has one of each, and signals once all are in the
/// other side's sockets.
fn reply_at_once(listener: &TcpListener, signal: &Sender<()>) {
    let accept = |_| listener.accept().expect("somebody calls").0;
    let mut streams: Vec<_> = (0..CROWD).map(accept).collect();
    for stream in &mut streams {
        stream.read_exact(&mut [0]).expect("the caller sends");
    }
    for stream in &mut streams {
        stream.write_all(b"!").expect("the caller is there");
    }
    streams.iter().for_each(await_acknowledgement);
    signal.send(()).expect("the caller waits for it");
}

#[test]
fn bytes_that_came_together_are_known_to_have_waited_for_one_another() {
    for io in interfaces() {
        let (listener, route) = listener();
        let (signal, replied) = channel();
        let peer = thread::spawn(move || reply_at_once(&listener, &signal));
        let conns = Vec::new();
        let script = Crowd { route, conns, connected: 0, replied, there: 0, received: 0 };
        let script = run(io, None, CROWD, script);
        assert_eq!(script.received, CROWD, "{io:?}");
        peer.join().expect("no panic");
    }
}

/// A crowd, and one that connects when all of its replies are there.
struct Joined {
    crowd: Crowd,
    joins: bool,
    /// When the first reply was taken in, and when the last one's connection stood.
    first: Option<u64>,
    stood: Option<u64>,
}

impl Script for Joined {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.crowd.begin(net);
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let at = net.taken_in().at;
        if token == CROWD as u32 {
            self.stood.get_or_insert(at);
            return;
        }
        if matches!(event, Event::Received(_)) {
            self.first.get_or_insert(at);
        }
        self.crowd.event(net, token, event);
        if self.crowd.there > 0 && !std::mem::replace(&mut self.joins, true) {
            net.connect(CROWD as u32, &self.crowd.route).expect("a socket");
            self.crowd.replied.recv().expect("the peer accepts");
        }
    }

    fn done(&self) -> bool {
        self.crowd.done() && self.stood.is_some()
    }
}

/// The kernel tells of it in the same look as of the replies, behind them. With io_uring it connects after that look.
#[test]
fn a_connection_does_not_wait_for_the_handlers_of_those_before_it() {
    let (listener, route) = listener();
    let (signal, replied) = channel();
    let peer = thread::spawn(move || {
        reply_at_once(&listener, &signal);
        let last = listener.accept().expect("another one calls");
        signal.send(()).expect("it waits for that");
        last
    });
    let conns = Vec::new();
    let crowd = Crowd { route, conns, connected: 0, replied, there: 0, received: 0 };
    let script = Joined { crowd, joins: false, first: None, stood: None };
    let Joined { first, stood, .. } = run(Io::Epoll, None, CROWD + 1, script);
    assert!(stood <= first, "{stood:?}, and the first reply was taken in at {first:?}");
    peer.join().expect("no panic");
}

/// Sends more than fits into any socket's buffer, and is done.
struct Hasty {
    route: Route,
    conn: Option<ConnId>,
    sent: bool,
}

const MUCH: usize = 64 << 20;

impl Script for Hasty {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.conn = net.connect(0, &self.route).ok();
    }

    fn event<N: Net>(&mut self, net: &mut N, _: u32, event: Event<'_>) {
        if let (Event::Connected, Some(conn)) = (event, self.conn) {
            let much: Vec<u8> = (0..MUCH).map(pattern).collect();
            net.send(conn, &much);
            net.hand_over();
            self.sent = true;
        }
    }

    fn done(&self) -> bool {
        self.sent
    }
}

#[test]
fn a_handler_that_ends_in_the_middle_of_a_large_send_leaves_nothing_to_read_from_freed_memory() {
    for io in interfaces() {
        let (listener, route) = listener();
        run(io, None, 1, Hasty { route, conn: None, sent: false });
        // Allocates other data where the buffer was, if that has been freed.
        let overwritten = vec![0xee_u8; MUCH];
        let (mut stream, _) = listener.accept().expect("it called");
        let mut received = Vec::new();
        // A RST may end it.
        let _ = stream.read_to_end(&mut received);
        let good =
            received.iter().enumerate().take_while(|(at, byte)| **byte == pattern(*at)).count();
        assert_eq!(good, received.len(), "{io:?}: other bytes after {good}");
        assert!(received.len() < MUCH, "{io:?}: it all fitted");
        drop(overwritten);
    }
}
