//! The floor under a load: connections that send the same request again after whatever they
//! receive, or, with a rate, one after the other at evenly spaced instants; with no parsing, no
//! timing and no counting. What `cargo xtask bench` compares a whole worker with, to separate the
//! worker's own cost from the kernel's.
//!
//!     bare_loop uring|epoll CONNECTIONS SECONDS ADDRESS PATH [REQUESTS_PER_SECOND]
//!
//! Right only for servers whose responses come in one piece. A connection that fails ends the process.

use std::error::Error;
use std::net::SocketAddr;

use net::{BlobId, ConnId, Event, Handler, Io, Net, Next, Options, Route, clock};

struct Bare {
    route: Route,
    request: Vec<u8>,
    blob: Option<BlobId>,
    conns: Vec<ConnId>,
    connections: u32,
    until: u64,
    paced: Option<Paced>,
}

/// Requests at evenly spaced instants, each on the next connection in turn.
struct Paced {
    every_ns: u64,
    next: u64,
    sent: usize,
}

impl<N: Net> Handler<N> for Bare {
    fn accepted(&mut self, _: &mut N, _: ConnId) -> Option<u32> {
        None
    }

    #[inline]
    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        match (event, self.blob) {
            (Event::Connected | Event::Received(_), Some(_)) if self.paced.is_some() => {}
            (Event::Connected | Event::Received(_), Some(blob)) => {
                net.send_blob(self.conns[token as usize], blob);
            }
            (other, _) => panic!("connection {token}: {other:?}"),
        }
    }

    fn tick(&mut self, net: &mut N) -> Next {
        if self.blob.is_none() {
            self.blob = Some(net.blob(&self.request));
            for token in 0..self.connections {
                self.conns.push(net.connect(token, &self.route).expect("a socket"));
            }
        }
        let now = net.now();
        if now >= self.until {
            return Next::Finished;
        }
        let (Some(paced), Some(blob)) = (&mut self.paced, self.blob) else {
            return Next::Wait(self.until);
        };
        while paced.next <= now {
            net.send_blob(self.conns[paced.sent % self.conns.len()], blob);
            paced.sent += 1;
            paced.next += paced.every_ns;
        }
        Next::Wait(paced.next)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [io, connections, seconds, address, path, rate @ ..] = args.as_slice() else {
        return Err("bare_loop uring|epoll CONNECTIONS SECONDS ADDRESS PATH [RATE]".into());
    };
    let rate: Option<u64> = rate.first().map(|rate| rate.parse()).transpose()?;
    let start = clock::now();
    let io = if io == "uring" { Io::Uring } else { Io::Epoll };
    let (connections, seconds): (u32, u64) = (connections.parse()?, seconds.parse()?);
    let to: SocketAddr = address.parse()?;
    let options = Options { connections: connections as usize, long_lived: true, listener: None };
    let mut bare = Bare {
        route: Route { to: to.into(), from: None },
        request: format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes(),
        blob: None,
        conns: Vec::new(),
        connections,
        until: start + seconds * 1_000_000_000,
        // Connections are made in the first tenth of a second.
        paced: rate.map(|rate| Paced {
            every_ns: 1_000_000_000 / rate,
            next: start + 100_000_000,
            sent: 0,
        }),
    };
    net::run(io, options, &mut bare)?;
    Ok(())
}
