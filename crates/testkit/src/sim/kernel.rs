//! The world's clock, events and connections.
//!
//! Owns the events in order of time (and of their making, where times are equal), the random draws,
//! and the life of a connection from request to removal. Bytes are moved by `pipe`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use net::{Close, ConnId, Failure, Operation, Route};
use rand_core::Rng;
use rand_pcg::Lcg64Xsh32;

use super::conditions::{Conditions, Delay, HostLimits};
use super::state::{End, EndId, FIRST_PORT, Host, News, Scheduled, Stage, Upcall, What, upcall};

/// Connections that stand and wait for a file to be accepted into; further requests are lost.
const ACCEPT_QUEUE: usize = 4096;

/// Virtual time does not begin at 0, so that code which confuses instants and lengths shows.
const START_NS: u64 = 1_000_000_000;

#[derive(Debug)]
enum Listener {
    Hosts(Vec<usize>),
    Deaf { room: usize },
}

#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) now: u64,
    pub(super) fingerprint: u64,
    pub(super) conditions: Conditions,
    rng: Lcg64Xsh32,
    ahead: BinaryHeap<Reverse<Scheduled>>,
    seq: u64,
    pub(super) ends: HashMap<EndId, End>,
    next_end: EndId,
    pub(super) hosts: Vec<Host>,
    listeners: HashMap<SocketAddr, Listener>,
}

impl Kernel {
    pub(super) fn new(seed: u64, conditions: Conditions) -> Self {
        Self {
            now: START_NS,
            fingerprint: 0,
            conditions,
            rng: Lcg64Xsh32::new(seed, 0x51),
            ahead: BinaryHeap::new(),
            seq: 0,
            ends: HashMap::new(),
            next_end: 0,
            hosts: Vec::new(),
            listeners: HashMap::new(),
        }
    }

    pub(super) fn add_host(&mut self, limits: HostLimits) -> usize {
        self.hosts.push(Host::new(limits));
        self.hosts.len() - 1
    }

    pub(super) fn listen(&mut self, host: usize, address: SocketAddr) {
        match self.listeners.entry(address).or_insert_with(|| Listener::Hosts(Vec::new())) {
            Listener::Hosts(hosts) => hosts.push(host),
            Listener::Deaf { .. } => panic!("{address} is deaf already"),
        }
    }

    pub(super) fn listen_deaf(&mut self, address: SocketAddr, backlog: usize) {
        let earlier = self.listeners.insert(address, Listener::Deaf { room: backlog });
        assert!(earlier.is_none(), "{address} is taken");
    }

    /// A number below `bound`, which is at least 1.
    pub(super) fn draw(&mut self, bound: u64) -> u64 {
        let drawn = ((u128::from(self.rng.next_u64()) * u128::from(bound)) >> 64) as u64;
        self.mark(drawn);
        drawn
    }

    pub(super) fn draw_delay(&mut self, delay: Delay) -> u64 {
        match delay {
            Delay::Fixed(ns) => ns,
            Delay::Between(low, high) => low + self.draw(high - low + 1),
        }
    }

    pub(super) fn mark(&mut self, number: u64) {
        let mixed = (self.fingerprint ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.fingerprint = mixed.rotate_left(29) ^ self.now;
    }

    pub(super) fn schedule(&mut self, at: u64, what: What) {
        self.seq += 1;
        self.ahead.push(Reverse(Scheduled { at, seq: self.seq, what }));
    }

    pub(super) fn next_instant(&self) -> Option<u64> {
        self.ahead.peek().map(|Reverse(next)| next.at)
    }

    /// The next event that is due, and the end that it concerns.
    pub(super) fn step(&mut self) -> Option<Option<Upcall>> {
        if self.next_instant()? > self.now {
            return None;
        }
        let Reverse(Scheduled { what, seq, .. }) = self.ahead.pop()?;
        self.mark(seq);
        Some(match what {
            What::Request(from) => self.request(from),
            What::Refused(end) => self.fail(end, Operation::Connect, libc::ECONNREFUSED),
            What::Established(end) => self.established(end),
            What::Bytes { to, from, bytes } => self.bytes_came(to, from, bytes),
            What::Readable(end) => self.readable(end),
            What::Taken(end, bytes) => self.taken(end, bytes),
            What::Drained(end) => self.drained(end),
            What::LingerOver(end) => self.linger_over(end),
            What::Fin(end) => self.fin_came(end),
            What::Rst(end) => {
                let connecting = self.ends.get(&end).is_some_and(|e| e.stage == Stage::Connecting);
                let during = if connecting { Operation::Connect } else { Operation::Receive };
                self.fail(end, during, libc::ECONNRESET)
            }
            What::Accept(host) => self.accept(host),
        })
    }

    pub(super) fn connect(
        &mut self,
        host: usize,
        token: u32,
        route: &Route,
    ) -> Result<ConnId, i32> {
        let Some(to) = route.to.tcp() else { return Err(libc::EAFNOSUPPORT) };
        let own = route.from.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let record = &mut self.hosts[host];
        if record.open >= record.limits.files {
            return Err(libc::EMFILE);
        }
        let in_use = record.ports.entry((own, to)).or_default();
        if *in_use >= record.limits.ports {
            return Err(libc::EADDRNOTAVAIL);
        }
        *in_use += 1;
        let local = SocketAddr::new(own, record.next_port);
        record.next_port = record.next_port.checked_add(1).unwrap_or(FIRST_PORT);
        let end = self.add_end(Some(host), Stage::Connecting, local, to);
        let conn = self.take_slot(host, end);
        let record = self.ends.get_mut(&end).expect("just made");
        (record.token, record.conn, record.outgoing) = (token, conn, true);
        let arrival = self.now + self.draw_delay(self.conditions.handshake);
        self.schedule(arrival, What::Request(end));
        Ok(conn)
    }

    fn add_end(
        &mut self,
        host: Option<usize>,
        stage: Stage,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> EndId {
        self.next_end += 1;
        let end = End::new(host, stage, local, remote);
        self.ends.insert(self.next_end, end);
        self.next_end
    }

    fn take_slot(&mut self, host: usize, end: EndId) -> ConnId {
        let record = &mut self.hosts[host];
        record.open += 1;
        let slot = record.free_slots.pop().unwrap_or_else(|| {
            record.slots.push((0, None));
            record.slots.len() as u32 - 1
        });
        let (generation, occupant) = &mut record.slots[slot as usize];
        *occupant = Some(end);
        ConnId { slot, generation: *generation }
    }

    /// The end that a host's connection is, unless it is gone.
    pub(super) fn end_of(&self, host: usize, conn: ConnId) -> Option<EndId> {
        let (generation, end) = self.hosts[host].slots.get(conn.slot as usize)?;
        (*generation == conn.generation).then_some(*end)?
    }

    /// A request to connect has reached the address it was sent to.
    fn request(&mut self, from: EndId) -> Option<Upcall> {
        let (local, remote) = self.ends.get(&from).map(|end| (end.remote, end.local))?;
        let back = self.now + self.draw_delay(self.conditions.handshake);
        let host = match self.listeners.get_mut(&local) {
            None => {
                self.schedule(back, What::Refused(from));
                return None;
            }
            Some(Listener::Deaf { room: 0 }) => return None,
            Some(Listener::Deaf { room }) => {
                *room -= 1;
                None
            }
            Some(Listener::Hosts(hosts)) => {
                let hosts = hosts.clone();
                Some(hosts[self.draw(hosts.len() as u64) as usize])
            }
        };
        if host.is_some_and(|host| self.hosts[host].accept_queue.len() >= ACCEPT_QUEUE) {
            return None;
        }
        let end = self.add_end(host, Stage::Queued, local, remote);
        self.ends.get_mut(&end).expect("just made").peer = Some(from);
        self.ends.get_mut(&from).expect("found above").peer = Some(end);
        self.schedule(back, What::Established(from));
        if let Some(host) = host {
            self.hosts[host].accept_queue.push_back(end);
            self.schedule(self.now, What::Accept(host));
        }
        None
    }

    fn established(&mut self, id: EndId) -> Option<Upcall> {
        let end = self.ends.get_mut(&id)?;
        end.stage = Stage::Open;
        let upcall = upcall(end, News::Connected);
        self.expect_readable(id);
        upcall
    }

    /// Takes a connection out of a host's accept queue, if the host has a file for it.
    fn accept(&mut self, host: usize) -> Option<Upcall> {
        let record = &mut self.hosts[host];
        if record.open >= record.limits.files {
            return None;
        }
        let id = record.accept_queue.pop_front()?;
        if !self.ends.contains_key(&id) {
            self.schedule(self.now, What::Accept(host));
            return None;
        }
        let conn = self.take_slot(host, id);
        let end = self.ends.get_mut(&id).expect("looked up above");
        (end.conn, end.stage) = (conn, Stage::Open);
        upcall(end, News::Accepted)
    }

    /// The handler has given the token of an accepted connection, or refused it.
    pub(super) fn accepted(&mut self, host: usize, conn: ConnId, token: Option<u32>) {
        let Some(id) = self.end_of(host, conn) else { return };
        match token {
            Some(token) => {
                self.ends.get_mut(&id).expect("a slot names an end").token = token;
                self.expect_readable(id);
            }
            None => self.close(id, Close::Now),
        }
    }

    fn fail(&mut self, id: EndId, during: Operation, errno: i32) -> Option<Upcall> {
        let end = self.remove(id)?;
        match end.stage {
            Stage::Connecting | Stage::Open => {
                upcall(&end, News::Failed(Failure { during, errno }))
            }
            Stage::Queued | Stage::Flushing | Stage::Passive => None,
        }
    }

    /// Removes an end and returns its host's resources.
    pub(super) fn remove(&mut self, id: EndId) -> Option<End> {
        let end = self.ends.remove(&id)?;
        let Some(host) = end.host else { return Some(end) };
        let record = &mut self.hosts[host];
        if let Some((generation, occupant)) = record.slots.get_mut(end.conn.slot as usize) {
            *generation += 1;
            *occupant = None;
            record.free_slots.push(end.conn.slot);
            record.open -= 1;
        }
        if end.outgoing
            && let Some(in_use) = record.ports.get_mut(&(end.local.ip(), end.remote))
        {
            *in_use -= 1;
        }
        if !record.accept_queue.is_empty() {
            self.schedule(self.now, What::Accept(host));
        }
        Some(end)
    }

    /// A host's handler is done: what it had is closed, as when a process ends.
    pub(super) fn retire(&mut self, host: usize) {
        for listener in self.listeners.values_mut() {
            if let Listener::Hosts(hosts) = listener {
                hosts.retain(|&other| other != host);
            }
        }
        self.listeners
            .retain(|_, listener| !matches!(listener, Listener::Hosts(h) if h.is_empty()));
        let mut ends: Vec<EndId> =
            self.ends.iter().filter(|(_, end)| end.host == Some(host)).map(|(&id, _)| id).collect();
        ends.sort_unstable();
        for id in ends {
            self.close(id, Close::Now);
        }
    }
}
