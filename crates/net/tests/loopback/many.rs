//! Many connections: one after the other, and at once.

use std::collections::HashSet;

use net::{Close, ConnId, Event, Net, Route, limits};

use crate::harness::{Script, interfaces, listener, run};

/// Accepted connections carry tokens from here on.
const ACCEPTED: u32 = 1 << 20;

/// Keeps some connections open, each of which sends a word, gets it back, and is replaced, until enough
/// have.
struct Short {
    route: Route,
    at_once: u32,
    total: usize,
    callers: Vec<Option<ConnId>>,
    accepted: Vec<ConnId>,
    opened: usize,
    received: usize,
    highest_slot: u32,
}

impl Short {
    fn call<N: Net>(&mut self, net: &mut N, token: u32) {
        if self.opened < self.total {
            let conn = net.connect(token, &self.route).expect("a socket");
            self.highest_slot = self.highest_slot.max(conn.slot);
            self.callers[token as usize] = Some(conn);
            self.opened += 1;
        }
    }
}

impl Script for Short {
    fn begin<N: Net>(&mut self, net: &mut N) {
        (0..self.at_once).for_each(|token| self.call(net, token));
    }

    fn accepted<N: Net>(&mut self, _: &mut N, conn: ConnId) -> Option<u32> {
        self.highest_slot = self.highest_slot.max(conn.slot);
        self.accepted.push(conn);
        Some(ACCEPTED + self.accepted.len() as u32 - 1)
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        if token >= ACCEPTED {
            let conn = self.accepted[(token - ACCEPTED) as usize];
            match event {
                Event::Received(bytes) => net.send(conn, bytes),
                Event::Eof => net.close(conn, Close::Now),
                other => panic!("accepted: {other:?}"),
            }
            return;
        }
        let conn = self.callers[token as usize].expect("it called");
        match event {
            Event::Connected => net.send(conn, &token.to_be_bytes()),
            Event::Received(bytes) => {
                assert_eq!(bytes, token.to_be_bytes(), "someone else's word");
                self.received += 1;
                net.close(conn, Close::Now);
                self.call(net, token);
            }
            other => panic!("caller: {other:?}"),
        }
    }

    fn done(&self) -> bool {
        self.received == self.total
    }
}

#[test]
fn short_connections_reuse_their_slots() {
    for io in interfaces() {
        let (listener, route) = listener();
        let at_once = 32;
        let script = run(
            io,
            Some(listener),
            64,
            Short {
                route,
                at_once,
                total: 5000,
                callers: vec![None; at_once as usize],
                accepted: Vec::new(),
                opened: 0,
                received: 0,
                highest_slot: 0,
            },
        );
        assert_eq!((script.accepted.len(), script.opened), (5000, 5000), "{io:?}");
        // A caller's successor may connect before the server has closed, but hardly two of them.
        assert!(script.highest_slot < 8 * at_once, "{io:?}: {}", script.highest_slot);
    }
}

/// Opens all connections and then sends on all of them.
struct AtOnce {
    route: Route,
    callers: Vec<ConnId>,
    accepted: Vec<ConnId>,
    opening: usize,
    received: HashSet<u32>,
}

const ALL: usize = 2000;
/// Connections being opened at once, well below the accept queue.
const OPENING: usize = 100;

impl AtOnce {
    fn call<N: Net>(&mut self, net: &mut N) {
        while self.opening < OPENING && self.callers.len() < ALL {
            let conn = net.connect(self.callers.len() as u32, &self.route).expect("a socket");
            self.callers.push(conn);
            self.opening += 1;
        }
        if self.callers.len() == ALL && self.opening == 0 {
            for (token, &conn) in self.callers.iter().enumerate() {
                net.send(conn, &(token as u32).to_be_bytes());
            }
        }
    }
}

impl Script for AtOnce {
    fn begin<N: Net>(&mut self, net: &mut N) {
        self.call(net);
    }

    fn accepted<N: Net>(&mut self, _: &mut N, conn: ConnId) -> Option<u32> {
        self.accepted.push(conn);
        Some(ACCEPTED + self.accepted.len() as u32 - 1)
    }

    fn event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        match event {
            Event::Connected => {
                self.opening -= 1;
                self.call(net);
            }
            Event::Received(bytes) if token >= ACCEPTED => {
                net.send(self.accepted[(token - ACCEPTED) as usize], bytes);
            }
            Event::Received(bytes) => {
                assert_eq!(bytes, token.to_be_bytes());
                assert!(self.received.insert(token), "{token} received twice");
            }
            other => panic!("{token}: {other:?}"),
        }
    }

    fn done(&self) -> bool {
        self.received.len() == ALL
    }
}

#[test]
fn two_thousand_connections_at_once_each_hear_their_own() {
    let files = limits::raise_file_limit();
    assert!(files.soft >= 2 * ALL as u64 + 100, "ulimit -Hn {} is too low", files.hard);
    for io in interfaces() {
        let (listener, route) = listener();
        let script = AtOnce {
            route,
            callers: Vec::new(),
            accepted: Vec::new(),
            opening: 0,
            received: HashSet::new(),
        };
        let script = run(io, Some(listener), 2 * ALL, script);
        assert_eq!(script.accepted.len(), ALL, "{io:?}");
    }
}
