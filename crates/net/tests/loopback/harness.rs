//! Writes a handler in a few lines.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use net::{ConnId, Event, Handler, Io, Net, Next, Options, Route};

/// Longest that a test's handler may take; nothing here depends on how long it does.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a test's handler does. Connections it opens carry the token it gives them.
pub trait Script {
    /// Called once, before anything else.
    fn begin<N: Net>(&mut self, net: &mut N);

    fn accepted<N: Net>(&mut self, _net: &mut N, _conn: ConnId) -> Option<u32> {
        None
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>);

    /// Called after every batch of events.
    fn done(&self) -> bool;
}

struct Runner<S> {
    script: S,
    begun: bool,
    deadline: Instant,
}

impl<N: Net, S: Script> Handler<N> for Runner<S> {
    fn accepted(&mut self, net: &mut N, conn: ConnId) -> Option<u32> {
        self.script.accepted(net, conn)
    }

    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        self.script.event(net, token, event);
    }

    fn tick(&mut self, net: &mut N) -> Next {
        if !std::mem::replace(&mut self.begun, true) {
            self.script.begin(net);
        }
        assert!(Instant::now() < self.deadline, "the script never ends");
        if self.script.done() { Next::Finished } else { Next::Wait(net.now() + 20_000_000) }
    }
}

/// Runs a script on one net to its end.
pub fn run<S: Script>(io: Io, listener: Option<TcpListener>, connections: usize, script: S) -> S {
    let mut runner = Runner { script, begun: false, deadline: Instant::now() + PATIENCE };
    let options = Options { connections, long_lived: true, listener };
    net::run(io, options, &mut runner).expect("the net works");
    runner.script
}

/// The nets that work here: epoll everywhere, io_uring where it is allowed.
pub fn interfaces() -> Vec<Io> {
    if net::uring_works() { vec![Io::Epoll, Io::Uring] } else { vec![Io::Epoll] }
}

pub fn any() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// A listener and the way to it.
pub fn listener() -> (TcpListener, Route) {
    let listener = net::socket::listen(any()).expect("a loopback port");
    let to = listener.local_addr().expect("a bound socket has an address");
    (listener, Route { to: to.into(), from: None })
}

/// The byte at a place in a stream whose order is to be checked.
pub fn pattern(at: usize) -> u8 {
    ((at >> 3) ^ (at >> 11) ^ (at >> 19)) as u8 ^ at as u8
}
