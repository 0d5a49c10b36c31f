//! The simulation, tested with tiny handlers: an echo server, and a client that sends everything at
//! once and gets it back.

use std::net::{Ipv4Addr, SocketAddr};

use net::{Close, ConnId, Event, Failure, Handler, Net, Next, Operation, Route};

use super::*;

const MS: u64 = 1_000_000;

fn address(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// Sends back what it receives, and closes when the other side does.
#[derive(Default)]
struct Echo {
    conns: Vec<ConnId>,
    accepted: usize,
    largest_backlog: usize,
}

impl Handler<SimNet> for Echo {
    fn accepted(&mut self, _: &mut SimNet, conn: ConnId) -> Option<u32> {
        self.accepted += 1;
        self.conns.push(conn);
        Some(self.conns.len() as u32 - 1)
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        let conn = self.conns[token as usize];
        match event {
            Event::Received(bytes) => {
                net.send(conn, bytes);
                self.largest_backlog = self.largest_backlog.max(net.backlog(conn));
            }
            Event::Eof => net.close(conn, Close::Flush),
            Event::Connected | Event::Drained | Event::Skipped(_) | Event::Failed(_) => {}
        }
    }

    fn tick(&mut self, _: &mut SimNet) -> Next {
        Next::Wait(u64::MAX)
    }
}

/// Opens connections, sends `says` on each, and half-closes.
struct Caller {
    to: SocketAddr,
    says: Vec<u8>,
    connections: u32,
    conns: Vec<ConnId>,
    refused: Vec<i32>,
    heard: Vec<Vec<u8>>,
    deliveries: usize,
    failures: Vec<Failure>,
    ended: u32,
    all_sent: bool,
    eof: bool,
    patience_ns: u64,
}

impl Caller {
    fn new(to: SocketAddr, says: &[u8], connections: u32) -> Self {
        Self {
            to,
            says: says.to_vec(),
            connections,
            conns: Vec::new(),
            refused: Vec::new(),
            heard: vec![Vec::new(); connections as usize],
            deliveries: 0,
            failures: Vec::new(),
            ended: 0,
            all_sent: false,
            eof: false,
            patience_ns: u64::MAX,
        }
    }

    fn start(&mut self, net: &mut SimNet) {
        for token in 0..self.connections {
            match net.connect(token, &Route { to: self.to.into(), from: None }) {
                Ok(conn) => self.conns.push(conn),
                Err(error) => {
                    self.refused.push(error.raw_os_error().unwrap_or(0));
                    self.ended += 1;
                }
            }
        }
    }
}

impl Handler<SimNet> for Caller {
    fn accepted(&mut self, _: &mut SimNet, _: ConnId) -> Option<u32> {
        unreachable!("a caller does not listen")
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        let conn = self.conns[token as usize];
        match event {
            Event::Connected => {
                net.send(conn, &self.says);
                net.want_drained(conn);
            }
            Event::Drained => {
                self.all_sent = true;
                if self.eof {
                    net.close(conn, Close::Now);
                    self.ended += 1;
                } else {
                    net.half_close(conn);
                }
            }
            Event::Received(bytes) => {
                self.deliveries += 1;
                self.heard[token as usize].extend(&*bytes);
            }
            Event::Eof if net.backlog(conn) > 0 => self.eof = true,
            Event::Eof => {
                net.close(conn, Close::Now);
                self.ended += 1;
            }
            Event::Failed(failure) => {
                self.failures.push(failure);
                self.ended += 1;
            }
            Event::Skipped(bytes) => panic!("{bytes} bytes that were to be heard"),
        }
    }

    fn tick(&mut self, _: &mut SimNet) -> Next {
        if self.ended == self.connections { Next::Finished } else { Next::Wait(self.patience_ns) }
    }
}

fn run_pair(world: &World, server: &mut Echo, caller: &mut Caller) -> (Ended, usize) {
    let (mut near, mut far) = (world.host(), world.host());
    near.listen(caller.to);
    caller.start(&mut far);
    let mut actors =
        [Actor { net: &mut near, handler: server }, Actor { net: &mut far, handler: caller }];
    let ended = run(world, u64::MAX, &mut actors);
    (ended, near.open())
}

#[test]
fn what_is_sent_comes_back_however_it_is_cut() {
    let says: Vec<u8> = (0..50_000_u32).map(|i| (i % 251) as u8).collect();
    for seed in seeds(0..20) {
        let cut = if seed % 2 == 0 { Cut::Anywhere } else { Cut::Whole };
        let delay = Delay::Between(1000, 5 * MS);
        let conditions = Conditions { cut, delay, buffer_bytes: 3000, ..Conditions::default() };
        let world = World::under(seed, conditions);
        let (mut server, mut caller) = (Echo::default(), Caller::new(address(80), &says, 3));
        let (ended, left_open) = run_pair(&world, &mut server, &mut caller);
        assert_eq!((ended, left_open), (Ended::Idle, 0));
        assert!(caller.heard.iter().all(|heard| *heard == says));
        assert_eq!(caller.failures, []);
    }
}

#[test]
fn a_seed_gives_one_run() {
    let run_once = |seed| {
        let delay = Delay::Between(1000, 5 * MS);
        let conditions = Conditions { cut: Cut::Anywhere, delay, ..Conditions::default() };
        let world = World::under(seed, conditions);
        let (mut server, mut caller) = (Echo::default(), Caller::new(address(80), &[7; 9000], 5));
        run_pair(&world, &mut server, &mut caller);
        (world.fingerprint(), world.now(), caller.deliveries)
    };
    assert_eq!(run_once(1), run_once(1));
    assert_ne!(run_once(1), run_once(2));
}

#[test]
fn time_is_what_the_ways_take() {
    let conditions = Conditions {
        delay: Delay::Fixed(2 * MS),
        handshake: Delay::Fixed(10 * MS),
        ..Conditions::default()
    };
    let world = World::under(0, conditions);
    let before = world.now();
    let (mut server, mut caller) = (Echo::default(), Caller::new(address(80), b"x", 1));
    run_pair(&world, &mut server, &mut caller);
    assert_eq!(caller.heard, [b"x"]);
    // Two halves of the handshake; there and back; the last FIN, and the acknowledgement after it.
    assert!(world.now() - before >= 24 * MS, "{}", world.now() - before);
}

#[test]
fn bytes_come_one_by_one_when_asked() {
    let conditions = Conditions { cut: Cut::Bytes, ..Conditions::default() };
    let world = World::under(0, conditions);
    let (mut server, mut caller) = (Echo::default(), Caller::new(address(80), &[1; 300], 1));
    run_pair(&world, &mut server, &mut caller);
    assert_eq!(caller.deliveries, 300);
}

#[test]
fn a_port_without_a_listener_refuses() {
    let world = World::new(0);
    let mut net = world.host();
    let mut caller = Caller::new(address(81), b"x", 2);
    caller.start(&mut net);
    run(&world, u64::MAX, &mut [Actor { net: &mut net, handler: &mut caller }]);
    let refused = Failure { during: Operation::Connect, errno: libc::ECONNREFUSED };
    assert_eq!(caller.failures, [refused, refused]);
}

#[test]
fn deaf_addresses_take_connections_up_to_their_backlog() {
    let world = World::new(0);
    world.deaf(address(82), 2);
    let mut net = world.host();
    let mut caller = Caller::new(address(82), b"x", 3);
    caller.start(&mut net);
    let ended = run(&world, u64::MAX, &mut [Actor { net: &mut net, handler: &mut caller }]);
    assert_eq!((ended, caller.ended), (Ended::Idle, 0));
    assert_eq!(net.open(), 3);
}

#[test]
fn files_and_ports_run_out() {
    for (limits, errno) in [
        (HostLimits { files: 2, ..HostLimits::default() }, libc::EMFILE),
        (HostLimits { ports: 2, ..HostLimits::default() }, libc::EADDRNOTAVAIL),
    ] {
        let world = World::new(0);
        let mut net = world.limited_host(limits);
        let mut caller = Caller::new(address(83), b"x", 3);
        caller.start(&mut net);
        assert_eq!(caller.refused, [errno]);
        let own = Some("127.0.0.9".parse().expect("an address"));
        let elsewhere = net.connect(0, &Route { to: address(83).into(), from: own });
        assert_eq!(elsewhere.is_ok(), errno == libc::EADDRNOTAVAIL);
    }
}

#[test]
fn a_server_out_of_files_accepts_once_one_is_free() {
    let world = World::new(0);
    let mut near = world.limited_host(HostLimits { files: 1, ..HostLimits::default() });
    let mut far = world.host();
    near.listen(address(80));
    let (mut server, mut caller) = (Echo::default(), Caller::new(address(80), b"hello", 3));
    caller.start(&mut far);
    let mut actors = [
        Actor { net: &mut near, handler: &mut server },
        Actor { net: &mut far, handler: &mut caller },
    ];
    run(&world, u64::MAX, &mut actors);
    assert_eq!(server.accepted, 3);
    assert!(caller.heard.iter().all(|heard| heard == b"hello"));
}

#[test]
fn a_lossy_world_resets_and_both_sides_see_it() {
    let conditions = Conditions { resets_per_million: 300_000, ..Conditions::default() };
    let world = World::under(3, conditions);
    let (mut server, mut caller) = (Echo::default(), Caller::new(address(80), &[1; 1000], 50));
    let (_, left_open) = run_pair(&world, &mut server, &mut caller);
    assert_eq!((caller.ended, left_open), (50, 0));
    assert!((10..40).contains(&caller.failures.len()), "{}", caller.failures.len());
    assert!(caller.failures.iter().all(|failure| failure.errno == libc::ECONNRESET));
}

/// Sends once and closes, in the way given.
struct Brief {
    how: Close,
}

impl Handler<SimNet> for Brief {
    fn accepted(&mut self, net: &mut SimNet, conn: ConnId) -> Option<u32> {
        net.send(conn, b"bye");
        net.close(conn, self.how);
        Some(0)
    }

    fn event(&mut self, _: &mut SimNet, _: u32, event: Event<'_>) {
        panic!("{event:?} after the close");
    }

    fn tick(&mut self, _: &mut SimNet) -> Next {
        Next::Wait(u64::MAX)
    }
}

#[test]
fn closes_end_as_they_are_meant_to() {
    for how in [Close::Now, Close::Reset, Close::Flush, Close::Passive] {
        // Bytes go on arriving after the close: more than fit on their way at once.
        let conditions = Conditions { buffer_bytes: 1000, ..Conditions::default() };
        let world = World::under(0, conditions);
        let (mut near, mut far) = (world.host(), world.host());
        near.listen(address(80));
        let mut caller = Caller::new(address(80), &[1; 5000], 1);
        caller.start(&mut far);
        let mut brief = Brief { how };
        let mut actors = [
            Actor { net: &mut near, handler: &mut brief },
            Actor { net: &mut far, handler: &mut caller },
        ];
        assert_eq!(run(&world, u64::MAX, &mut actors), Ended::Idle);
        // A RST makes the kernel throw away what has not been read yet.
        let heard: &[u8] = if how == Close::Reset { b"" } else { b"bye" };
        assert_eq!(caller.heard[0], heard, "{how:?}");
        // Only a lingering close still receives; otherwise the kernel sends a RST.
        let lingered = matches!(how, Close::Flush | Close::Passive);
        assert_eq!(caller.all_sent, lingered, "{how:?}");
        assert_eq!(caller.failures.is_empty(), lingered, "{how:?}");
        assert_eq!((near.open(), far.open()), (0, 0), "{how:?}");
    }
}

/// Takes a connection and sends more than fits, without reading or being read.
struct Flood {
    conn: Option<ConnId>,
    drained: bool,
}

impl Handler<SimNet> for Flood {
    fn accepted(&mut self, net: &mut SimNet, conn: ConnId) -> Option<u32> {
        net.send(conn, &[0; 10_000]);
        net.want_drained(conn);
        self.conn = Some(conn);
        Some(0)
    }

    fn event(&mut self, _: &mut SimNet, _: u32, event: Event<'_>) {
        self.drained |= matches!(event, Event::Drained);
    }

    fn tick(&mut self, _: &mut SimNet) -> Next {
        Next::Wait(u64::MAX)
    }
}

/// Connects and reads only from an instant on.
struct Sleeper {
    conn: Option<ConnId>,
    wakes_ns: u64,
    heard: usize,
}

impl Handler<SimNet> for Sleeper {
    fn accepted(&mut self, _: &mut SimNet, _: ConnId) -> Option<u32> {
        None
    }

    fn event(&mut self, net: &mut SimNet, _: u32, event: Event<'_>) {
        match event {
            Event::Connected => net.set_receiving(self.conn.expect("connected"), false),
            Event::Received(bytes) => self.heard += bytes.len(),
            _ => {}
        }
    }

    fn tick(&mut self, net: &mut SimNet) -> Next {
        if net.now() < self.wakes_ns {
            return Next::Wait(self.wakes_ns);
        }
        net.set_receiving(self.conn.expect("connected"), true);
        Next::Wait(u64::MAX)
    }
}

#[test]
fn a_reader_that_sleeps_presses_back() {
    let conditions = Conditions { buffer_bytes: 1000, ..Conditions::default() };
    let world = World::under(0, conditions);
    let (mut near, mut far) = (world.host(), world.host());
    near.listen(address(80));
    let mut flood = Flood { conn: None, drained: false };
    let conn = far.connect(0, &Route { to: address(80).into(), from: None }).ok();
    let wakes_ns = world.now() + 1000 * MS;
    let mut sleeper = Sleeper { conn, wakes_ns, heard: 0 };
    let go =
        |until, flood: &mut Flood, sleeper: &mut Sleeper, near: &mut SimNet, far: &mut SimNet| {
            run(
                &world,
                until,
                &mut [Actor { net: near, handler: flood }, Actor { net: far, handler: sleeper }],
            )
        };
    go(wakes_ns - 1, &mut flood, &mut sleeper, &mut near, &mut far);
    assert_eq!((sleeper.heard, flood.drained), (0, false));
    assert_eq!(near.backlog(flood.conn.expect("accepted")), 9000);
    go(u64::MAX, &mut flood, &mut sleeper, &mut near, &mut far);
    assert_eq!((sleeper.heard, flood.drained), (10_000, true));
}
