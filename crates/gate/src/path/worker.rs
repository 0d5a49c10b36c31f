//! One worker, as a [`Handler`]: its connections, and which of them an event is for.
//!
//! Owns the tables. What an event means is in `from_client` (clients) and `from_upstream` (upstreams), what time brings in
//! `timeouts`. A connection is taken out of its table while it is worked on.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;

use net::{Close, ConnId, Event, Handler, Net, Next};
use wire::Limits;

use super::begin::Room;
use super::client::Client;
use super::date::Date;
use super::idle_eviction::Idlest;
use super::pool::Pools;
use super::proxy::Preface;
use super::shadow::Shadows;
use super::shared::{Counts, DRAIN, END, Entrance, Shared, count};
use super::slab::Slab;
use super::timeouts::{NEVER, SWEEP_NS};
use super::upstream::UpstreamConn;
use crate::access::PageWriter;
use crate::policy::Policy;
use crate::usage::Local;

/// Marks the tokens of connections to upstreams.
pub(super) const UP: u32 = 1 << 31;
/// Header lines of a request or a response at most.
const HEADERS: usize = 128;
/// Events after which what they caused to be sent is handed to the kernel: the first of a large batch need not wait until all of it
/// is handled. A small batch is handed over as a whole at its end, with the wait for the next.
const EVENTS_HANDED_OVER: u32 = 16;
/// Bytes of a response's head at most.
pub(super) const RESPONSE_LIMITS: Limits = Limits { head_bytes: 64 * 1024, headers: HEADERS };

/// One thread of the data path.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) number: usize,
    entrance: Entrance,
    pub(super) policy: Arc<Policy>,
    generation: u64,
    pub(super) usage: Local,
    /// What requests are logged with, where they are.
    pub(super) page_writer: Option<PageWriter>,
    pub(super) clients: Slab<Client>,
    pub(super) leaving: Vec<Leaving>,
    pub(super) idlest: Idlest,
    pub(super) ups: Slab<UpstreamConn>,
    /// When each client and each connection upstream is due, by number.
    pub(super) client_due: Vec<u64>,
    pub(super) up_due: Vec<u64>,
    pub(super) pools: Pools,
    pub(super) shadows: Shadows,
    /// The number of ends in the table of keys, and the wall clock less the monotonic one in seconds, when the ends of tunnels
    /// were last looked at; `None` before.
    pub(super) ends_looked_at: Option<(u32, i64)>,
    pub(super) next_sweep_ns: u64,
    /// Events since the last look at the time, accepted connections included.
    events: u32,
    /// Until when it looks for events without sleeping.
    busy_until_ns: u64,
    /// What responses say of the time.
    pub(super) date: Date,
    /// When draining began.
    pub(super) draining_since_ns: Option<u64>,
    /// Scratch: a response, other forms of a head, plaintext, and TLS records.
    pub(super) out: Vec<u8>,
    pub(super) room: Room,
    pub(super) plain: Vec<u8>,
    pub(super) records: Vec<u8>,
    started: Option<Sender<()>>,
}

impl Worker {
    pub(super) fn new(
        shared: Arc<Shared>,
        number: usize,
        entrance: Entrance,
        started: Option<Sender<()>>,
    ) -> Self {
        let (policy, generation) = shared.current.get();
        let mut pools = Pools::default();
        pools.adopt(&policy, &shared.health);
        let usage = Local::new(Arc::clone(&policy.state().usage));
        let page_writer = shared.log.as_ref().map(|queue| PageWriter::new(Arc::clone(queue)));
        Self {
            shared,
            number,
            entrance,
            policy,
            generation,
            usage,
            page_writer,
            clients: Slab::default(),
            leaving: Vec::new(),
            idlest: Idlest::default(),
            ups: Slab::default(),
            client_due: Vec::new(),
            up_due: Vec::new(),
            pools,
            shadows: Shadows::default(),
            ends_looked_at: None,
            next_sweep_ns: 0,
            events: 0,
            busy_until_ns: 0,
            date: Date::default(),
            draining_since_ns: None,
            out: Vec::new(),
            room: Room::default(),
            plain: Vec::new(),
            records: Vec::new(),
            started,
        }
    }

    #[inline]
    pub(super) fn counts(&self) -> &Counts {
        &self.shared.counts[self.number]
    }

    pub(super) fn draining(&self) -> bool {
        self.draining_since_ns.is_some()
    }

    /// Puts a client back, with its deadline, or lets it go.
    #[inline]
    pub(super) fn settle<N: Net>(&mut self, net: &N, mut client: Box<Client>) {
        let token = client.token;
        if !client.gone {
            client.settled_ns = net.taken_in().at;
            self.client_due[token as usize] = self.due_of(&client, client.settled_ns);
            self.clients.put(token, client);
            return;
        }
        debug_assert!(client.exchange.is_none());
        if let Some(address) = client.counted {
            self.shared.caps.remove(address);
            if net.lingers(client.id) {
                self.leaving.push(Leaving { conn: client.id, address, counted: false });
            }
        }
        self.client_due[token as usize] = NEVER;
        self.clients.release(token);
        count(&self.counts().closed);
    }

    fn client_event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let Some(mut client) = self.clients.take(token) else { return };
        match event {
            Event::Received(bytes) => self.client_received(net, &mut client, bytes),
            Event::Eof => self.client_eof(net, &mut client),
            Event::Drained => self.client_drained(net, &mut client),
            Event::Failed(_) => self.client_lost(net, &mut client),
            Event::Connected | Event::Skipped(_) => {}
        }
        self.settle(net, client);
    }

    fn up_event<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        match event {
            Event::Received(bytes) => self.up_received(net, token, bytes),
            Event::Connected => self.up_connected(net, token),
            Event::Drained => self.up_drained(net, token),
            Event::Eof => self.up_eof(net, token),
            Event::Failed(gone) => self.up_lost(net, token, gone),
            Event::Skipped(_) => {}
        }
    }

    /// Takes the policy in force, if it is another one.
    fn adopt<N: Net>(&mut self, net: &mut N) {
        if self.shared.current.generation() == self.generation {
            return;
        }
        (self.policy, self.generation) = self.shared.current.get();
        self.pools.adopt(&self.policy, &self.shared.health);
        for number in 0..self.pools.servers.len() {
            if self.pools.servers[number].retired {
                for token in std::mem::take(&mut self.pools.servers[number].idle) {
                    self.close_up(net, token, Close::Now);
                }
            }
        }
    }

    fn limits(&self) -> Limits {
        Limits { head_bytes: self.policy.client().head_bytes as usize, headers: HEADERS }
    }
}

/// A connection that is closed here and not yet at its client.
#[derive(Debug)]
pub(super) struct Leaving {
    pub conn: ConnId,
    pub address: IpAddr,
    /// Whether it counts among the connections of its address: as soon as the client had time to close too.
    pub counted: bool,
}

impl<N: Net> Handler<N> for Worker {
    fn accepted(&mut self, net: &mut N, conn: ConnId) -> Option<u32> {
        let bounds = *self.policy.client();
        let now = net.now();
        count(&self.counts().accepted);
        self.events += 1;
        let ip = net.peer_address(conn).map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
        let tls = self.entrance.identity.as_ref().map(|identity| identity.accept());
        // Looked at first: an address at its limit must not cost another client its connection.
        let of_address = self.shared.caps.add(ip, bounds.connections_per_address);
        if !of_address || matches!(tls, Some(None)) || !self.has_room(net, now) {
            if of_address {
                self.shared.caps.remove(ip);
            }
            count(&self.counts().capped);
            count(&self.counts().closed);
            return None;
        }
        let token = self.clients.next();
        let mut client = Client::new(conn, token, ip, self.limits());
        client.counted = Some(ip);
        client.tls = tls.flatten().map(Box::new);
        if self.entrance.proxy {
            client.preface = Some(Box::new(Preface::default()));
        } else {
            count(&self.counts().let_in);
        }
        client.head_began_ns = now;
        if self.client_due.len() <= token as usize {
            self.client_due.resize(token as usize + 1, NEVER);
        }
        self.client_due[token as usize] = now.saturating_add(bounds.head_ns);
        self.clients.insert(Box::new(client));
        Some(token)
    }

    fn not_accepted(&mut self, net: &mut N, _errno: i32) {
        count(&self.counts().not_accepted);
        let now = net.now();
        self.free_files(net, now);
    }

    #[inline]
    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        if token & UP == 0 {
            self.client_event(net, token, event);
        } else {
            self.up_event(net, token & !UP, event);
        }
        self.events += 1;
        if self.events.is_multiple_of(EVENTS_HANDED_OVER) {
            net.hand_over();
        }
    }

    fn tick(&mut self, net: &mut N) -> Next {
        if let Some(started) = self.started.take() {
            // The starter waits for this; it cannot have gone away.
            let _ = started.send(());
        }
        self.adopt(net);
        let now = net.now();
        self.usage.tick(now);
        self.date.set(self.policy.state().calendar.unix_s());
        if let Some(page_writer) = &mut self.page_writer {
            page_writer.tick(now);
        }
        match self.shared.stop.load(Relaxed) {
            END => {
                self.cut_all(net);
                return Next::Finished;
            }
            DRAIN if self.draining_since_ns.is_none() => self.begin_drain(net, now),
            _ => {}
        }
        if now >= self.next_sweep_ns {
            self.next_sweep_ns = now.saturating_add(SWEEP_NS);
            // It looks at all connections: what the batch has sent does not wait for that.
            net.hand_over();
            self.sweep(net, now);
        }
        if self.drained(now) && self.cut_all(net) == 0 {
            return Next::Finished;
        }
        if std::mem::take(&mut self.events) > 0 {
            self.busy_until_ns = now.saturating_add(self.shared.busy_poll_ns);
        }
        if now < self.busy_until_ns {
            Next::Spin(self.busy_until_ns.min(self.next_sweep_ns))
        } else {
            Next::Wait(self.next_sweep_ns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::wires::{Wires, accepts, receives, worker_of};
    use crate::policy::Upstream;

    #[test]
    fn what_a_large_batch_sends_is_handed_over_before_its_end() {
        let upstream = Upstream::of("api", "127.0.0.1:1".parse().unwrap());
        let (_shared, mut worker) = worker_of(Policy::open(upstream), None);
        let mut net = Wires::new();
        let client = accepts(&mut worker, &mut net).expect("there is room");
        receives(&mut worker, &mut net, client, b"GET / HTTP/1.1\r\n");
        worker.tick(&mut net);
        let mut batch = |worker: &mut Worker, events: u32| {
            let before = net.handed_over;
            (0..events).for_each(|_| receives(worker, &mut net, client, b"A: b\r\n"));
            worker.tick(&mut net);
            net.handed_over - before
        };
        let times = [1, 15, 16, 31, 48].map(|events| batch(&mut worker, events));
        assert_eq!(times, [0, 0, 1, 1, 3], "a batch begins to count at its own first event");
        let before = net.handed_over;
        net.now += SWEEP_NS;
        worker.tick(&mut net);
        assert_eq!(net.handed_over - before, 1, "it does not wait for the look at all deadlines");
    }

    #[test]
    fn after_an_event_a_worker_looks_for_the_next_before_it_sleeps() {
        let upstream = Upstream::of("api", "127.0.0.1:1".parse().unwrap());
        let (shared, mut worker) = worker_of(Policy::open(upstream), None);
        drop(shared);
        let mut net = Wires::new();
        let tick = |worker: &mut Worker, net: &mut Wires| worker.tick(net);
        accepts(&mut worker, &mut net);
        assert!(matches!(tick(&mut worker, &mut net), Next::Wait(_)), "not unless asked for");
        Arc::get_mut(&mut worker.shared).unwrap().busy_poll_ns = 50_000;
        assert!(matches!(tick(&mut worker, &mut net), Next::Wait(_)), "nothing came");
        accepts(&mut worker, &mut net);
        let until = net.now + 50_000;
        assert_eq!(tick(&mut worker, &mut net), Next::Spin(until));
        net.now = until - 1;
        assert_eq!(tick(&mut worker, &mut net), Next::Spin(until));
        net.now = until;
        assert!(matches!(tick(&mut worker, &mut net), Next::Wait(_)));
    }
}
