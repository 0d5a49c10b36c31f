//! A net without sockets and without IPv6, for tests of a worker: keeps what is sent, and lets time pass.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use net::{BlobId, Close, ConnId, Event, Handed, Handler, Net, Peer, Route, Taken};
use rustix::io::Errno;

use super::connection_caps::Caps;
use super::shared::{Counts, Entrance, RUN, Shared};
use super::worker::Worker;
use crate::access::PageQueue;
use crate::health::Health;
use crate::policy::{Current, Policy};

/// Bytes of a connection that are kept without more memory.
const KEPT: usize = 64 * 1024;

/// Takes what is sent. Connections have slots in the order in which they were opened, by clients or to upstreams.
pub(super) struct Wires {
    pub(super) now: u64,
    /// What was sent on each connection.
    pub(super) sent: Vec<Vec<u8>>,
    /// Connections to upstreams that do not stand yet: their tokens and slots.
    pub(super) connecting: Vec<(u32, u32)>,
    /// Slots of connections that the worker has closed.
    pub(super) closed: Vec<u32>,
    /// Connections to upstreams that there are files for. One that is closed gives its own back.
    pub(super) files: usize,
    /// How often what was sent was handed over before the end of a batch.
    pub(super) handed_over: u32,
    /// Where clients come from next, and where each connection came from.
    pub(super) from: IpAddr,
    peers: Vec<IpAddr>,
}

impl Wires {
    pub(super) fn new() -> Self {
        Self {
            now: 1_000_000_000,
            sent: Vec::new(),
            connecting: Vec::new(),
            closed: Vec::new(),
            files: usize::MAX,
            handed_over: 0,
            from: Ipv4Addr::LOCALHOST.into(),
            peers: Vec::new(),
        }
    }

    pub(super) fn open(&mut self) -> ConnId {
        self.sent.push(Vec::with_capacity(KEPT));
        self.peers.push(self.from);
        ConnId { slot: self.sent.len() as u32 - 1, generation: 0 }
    }
}

impl Net for Wires {
    fn now(&self) -> u64 {
        self.now
    }
    fn taken_in(&self) -> Taken {
        Taken { at: self.now, waited_ns: 0 }
    }
    fn handed_over(&self) -> Handed {
        Handed::default()
    }
    fn hand_over(&mut self) {
        self.handed_over += 1;
    }
    fn connect(&mut self, token: u32, route: &Route) -> io::Result<ConnId> {
        if matches!(route.to, Peer::Tcp(SocketAddr::V6(_))) {
            return Err(Errno::AFNOSUPPORT.into());
        }
        let left = self.files.checked_sub(1);
        self.files = left.ok_or_else(|| io::Error::from(Errno::MFILE))?;
        let conn = self.open();
        self.connecting.push((token, conn.slot));
        Ok(conn)
    }
    fn blob(&mut self, _bytes: &[u8]) -> BlobId {
        BlobId(0)
    }
    fn send_blob(&mut self, _conn: ConnId, _blob: BlobId) {}
    fn send(&mut self, conn: ConnId, bytes: &[u8]) {
        self.sent[conn.slot as usize].extend_from_slice(bytes);
    }
    fn want_drained(&mut self, _conn: ConnId) {}
    fn backlog(&self, _conn: ConnId) -> usize {
        0
    }
    fn set_receiving(&mut self, _conn: ConnId, _receiving: bool) {}
    fn close(&mut self, conn: ConnId, _how: Close) {
        self.closed.push(conn.slot);
        self.files = self.files.saturating_add(1);
    }
    fn peer_address(&self, conn: ConnId) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.peers[conn.slot as usize], 1))
    }
}

/// A worker of this policy, alone.
pub(super) fn worker_of(policy: Policy, log: Option<Arc<PageQueue>>) -> (Arc<Shared>, Worker) {
    let shared = Arc::new(Shared {
        current: Arc::new(Current::new(Arc::new(policy))),
        health: Arc::new(Health::default()),
        log,
        busy_poll_ns: 0,
        caps: Caps::default(),
        stop: RUN.into(),
        counts: vec![Counts::default()],
    });
    let worker = Worker::new(Arc::clone(&shared), 0, Entrance::default(), None);
    (shared, worker)
}

/// A client connects; its token, where it is let in.
pub(super) fn accepts(worker: &mut Worker, wires: &mut Wires) -> Option<u32> {
    let conn = wires.open();
    Handler::<Wires>::accepted(worker, wires, conn)
}

/// Hands the worker a copy of `bytes`, of 1,024 at most.
pub(super) fn receives(worker: &mut Worker, wires: &mut Wires, token: u32, bytes: &[u8]) {
    let mut lent = [0; 1024];
    let lent = &mut lent[..bytes.len()];
    lent.copy_from_slice(bytes);
    Handler::<Wires>::event(worker, wires, token, Event::Received(lent));
}
