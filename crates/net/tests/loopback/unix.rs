//! Unix sockets.

use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use net::{Close, ConnId, Event, Failure, Io, Net, Operation, Peer, Route, UnixPath, socket};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::harness::{Script, interfaces, pattern, run};

const TOTAL: usize = 1 << 20;

/// A path that nothing is at yet, and the way to it.
fn place(name: &str, io: Io) -> (PathBuf, Route) {
    let path = std::env::temp_dir().join(format!("net-{name}-{io:?}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let to = Peer::Unix(UnixPath::new(&path).expect("a short path"));
    (path, Route { to, from: None })
}

/// Opens connections, sends what is expected back on each, and counts.
struct Calling {
    route: Route,
    conns: Vec<Option<ConnId>>,
    bytes: usize,
    received: Vec<usize>,
    ended: usize,
    failures: Vec<(Operation, i32)>,
}

impl Calling {
    fn new(route: Route, count: usize, bytes: usize) -> Self {
        let (conns, received) = (vec![None; count], vec![0; count]);
        Self { route, conns, bytes, received, ended: 0, failures: Vec::new() }
    }
}

/// Opens a second connection, to where nothing is, when the first has nothing left to send: the second time that
/// this is told, which no event of the kernel's goes with.
struct OnDrained {
    conn: Option<ConnId>,
    drained: bool,
    first: Route,
    second: Route,
    seen: Vec<String>,
}

impl Script for OnDrained {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.conn = net.connect(1, &self.first).ok();
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let conn = self.conn.expect("it stands");
        match (token, event) {
            (1, Event::Connected) => net.want_drained(conn),
            (1, Event::Drained) if std::mem::replace(&mut self.drained, true) => {
                net.connect(2, &self.second).expect("a socket");
            }
            (1, Event::Drained) => net.want_drained(conn),
            (1, other) => panic!("{other:?}"),
            (_, event) => self.seen.push(format!("{event:?}")),
        }
    }

    fn done(&self) -> bool {
        !self.seen.is_empty()
    }
}

#[test]
fn what_cannot_connect_from_within_any_event_is_no_connection() {
    for io in interfaces() {
        let (there, first) = place("there", io);
        let (_, second) = place("missing", io);
        let _listens = UnixListener::bind(&there).expect("a socket");
        let script = OnDrained { conn: None, drained: false, first, second, seen: Vec::new() };
        let seen = run(io, None, 2, script).seen;
        let failure = Failure { during: Operation::Connect, errno: 2 };
        assert_eq!(seen, [format!("{:?}", Event::Failed(failure))], "{io:?}: no such file");
        std::fs::remove_file(&there).expect("it is there");
    }
}

impl Script for Calling {
    fn begin<N: Net>(&mut self, net: &mut N) {
        for (token, conn) in (0..).zip(&mut self.conns) {
            *conn = net.connect(token, &self.route).ok();
        }
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let at = token as usize;
        let conn = self.conns[at].expect("it was opened");
        match event {
            Event::Connected => {
                let bytes: Vec<u8> = (0..self.bytes).map(pattern).collect();
                net.send(conn, &bytes);
            }
            Event::Received(bytes) => {
                for &byte in &*bytes {
                    assert_eq!(byte, pattern(self.received[at]), "at {}", self.received[at]);
                    self.received[at] += 1;
                }
                if self.received[at] == self.bytes {
                    net.close(conn, Close::Now);
                    self.ended += 1;
                }
            }
            Event::Failed(failure) => {
                self.failures.push((failure.during, failure.errno));
                self.ended += 1;
            }
            Event::Drained | Event::Eof | Event::Skipped(_) => {}
        }
    }

    fn done(&self) -> bool {
        self.ended == self.conns.len()
    }
}

/// Sends everything back, `count` connections one after another or together.
fn echo(listener: UnixListener, count: usize, after: Duration) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        thread::sleep(after);
        let serving: Vec<_> = (0..count)
            .map(|_| {
                let (mut stream, _) = listener.accept().expect("a caller");
                thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(n @ 1..) = stream.read(&mut buffer) {
                        stream.write_all(&buffer[..n]).expect("somebody reads");
                    }
                })
            })
            .collect();
        serving.into_iter().for_each(|served| served.join().expect("no panic"));
    })
}

#[test]
fn bytes_go_both_ways_in_order() {
    for io in interfaces() {
        let (path, route) = place("echo", io);
        let listener = UnixListener::bind(&path).expect("a socket");
        let served = echo(listener, 3, Duration::ZERO);
        let ended = run(io, None, 3, Calling::new(route, 3, TOTAL));
        assert_eq!(ended.received, [TOTAL; 3], "{io:?}: {:?}", ended.failures);
        served.join().expect("no panic");
        std::fs::remove_file(path).expect("it is there");
    }
}

/// The kernel tells nobody when a full queue has room again.
#[test]
fn a_full_queue_is_waited_for() {
    for io in interfaces() {
        let (path, route) = place("full", io);
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).expect("a socket");
        socket.bind(&SockAddr::unix(&path).expect("a path")).expect("nothing is there");
        socket.listen(1).expect("a queue");
        let served = echo(socket.into(), 20, Duration::from_millis(100));
        let ended = run(io, None, 20, Calling::new(route, 20, 100));
        assert_eq!(ended.received, [100; 20], "{io:?}: {:?}", ended.failures);
        served.join().expect("no panic");
        std::fs::remove_file(path).expect("it is there");
    }
}

#[test]
fn where_nothing_listens_connecting_fails() {
    for io in interfaces() {
        let (path, route) = place("none", io);
        let ended = run(io, None, 1, Calling::new(route, 1, 1));
        assert_eq!(ended.failures, [(Operation::Connect, 2)], "{io:?}: no such file");
        drop(UnixListener::bind(&path).expect("a socket"));
        let ended = run(io, None, 1, Calling::new(route, 1, 1));
        assert_eq!(ended.failures, [(Operation::Connect, 111)], "{io:?}: refused");
        let within = Duration::from_secs(5);
        assert!(socket::try_connect(&route, within).is_err());
        std::fs::remove_file(&path).expect("it is there");
        let _listens = UnixListener::bind(&path).expect("a socket");
        socket::try_connect(&route, within).expect("somebody listens");
        std::fs::remove_file(Path::new(&path)).expect("it is there");
    }
}
