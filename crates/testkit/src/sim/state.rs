//! What the simulated world consists of: ends of connections, hosts, and what will happen to them.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use net::{ConnId, Failure};

use super::conditions::HostLimits;

/// The first local port that a host hands out.
pub(super) const FIRST_PORT: u16 = 32_768;

/// Name of one end of a connection; never reused.
pub(super) type EndId = u64;

/// What will happen at an instant, to the end named first.
#[derive(Debug)]
pub(super) enum What {
    Request(EndId),
    Refused(EndId),
    Established(EndId),
    Bytes { to: EndId, from: EndId, bytes: Vec<u8> },
    Readable(EndId),
    Taken(EndId, usize),
    Drained(EndId),
    LingerOver(EndId),
    Fin(EndId),
    Rst(EndId),
    Accept(usize),
}

#[derive(Debug)]
pub(super) struct Scheduled {
    pub(super) at: u64,
    pub(super) seq: u64,
    pub(super) what: What,
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.seq == other.seq
    }
}

impl Eq for Scheduled {}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.seq).cmp(&(other.at, other.seq))
    }
}

/// An event on its way to a handler.
#[derive(Debug)]
pub(super) struct Upcall {
    pub(super) host: usize,
    pub(super) conn: ConnId,
    pub(super) token: u32,
    pub(super) news: News,
}

#[derive(Debug)]
pub(super) enum News {
    Accepted,
    Connected,
    Received(Vec<u8>),
    Skipped(u64),
    Eof,
    Drained,
    Failed(Failure),
}

/// The state of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Requested, not yet established.
    Connecting,
    /// Standing, in the accept queue.
    Queued,
    /// Known to its handler.
    Open,
    /// Closed by its handler, still sending what it was handed, or waiting for the peer's FIN.
    Flushing,
    /// Closed passively by its handler: ends once the peer closes.
    Passive,
}

/// One end of a connection.
#[derive(Debug)]
pub(super) struct End {
    /// `None` for the deaf.
    pub(super) host: Option<usize>,
    pub(super) conn: ConnId,
    pub(super) token: u32,
    pub(super) stage: Stage,
    pub(super) peer: Option<EndId>,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// Whether it holds one of its host's ports.
    pub(super) outgoing: bool,
    pub(super) inbox: VecDeque<u8>,
    pub(super) fin_came: bool,
    pub(super) eof_seen: bool,
    pub(super) receiving: bool,
    /// Bytes of the inbox, or to come, that may be skipped.
    pub(super) skip: u64,
    /// Bytes on their way from the inbox to a handler that is at work.
    pub(super) undelivered: u64,
    pub(super) readable_ahead: bool,
    /// Handed over by the handler, not taken by the kernel.
    pub(super) unsent: VecDeque<u8>,
    /// Taken by the kernel, not yet read at the other end.
    pub(super) in_flight: usize,
    pub(super) drain_awaited: bool,
    pub(super) fin_sent: bool,
    /// When the last thing sent will arrive; what follows does not arrive earlier.
    pub(super) last_arrival: u64,
}

#[derive(Debug)]
pub(super) struct Host {
    pub(super) limits: HostLimits,
    pub(super) slots: Vec<(u32, Option<EndId>)>,
    pub(super) free_slots: Vec<u32>,
    pub(super) open: usize,
    pub(super) ports: HashMap<(IpAddr, SocketAddr), usize>,
    pub(super) next_port: u16,
    pub(super) accept_queue: VecDeque<EndId>,
    pub(super) blobs: Vec<Vec<u8>>,
    /// What its clock shows; ahead of the world's while it is at work.
    pub(super) clock: u64,
    /// What arrived while it is at work.
    pub(super) deferred: Vec<Upcall>,
}

impl End {
    pub(super) fn new(
        host: Option<usize>,
        stage: Stage,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Self {
        Self {
            host,
            conn: ConnId { slot: u32::MAX, generation: 0 },
            token: 0,
            stage,
            peer: None,
            local,
            remote,
            outgoing: false,
            inbox: VecDeque::new(),
            fin_came: false,
            eof_seen: false,
            receiving: true,
            skip: 0,
            undelivered: 0,
            readable_ahead: false,
            unsent: VecDeque::new(),
            in_flight: 0,
            drain_awaited: false,
            fin_sent: false,
            last_arrival: 0,
        }
    }
}

impl Host {
    pub(super) fn new(limits: HostLimits) -> Self {
        Self {
            limits,
            slots: Vec::new(),
            free_slots: Vec::new(),
            open: 0,
            ports: HashMap::new(),
            next_port: FIRST_PORT,
            accept_queue: VecDeque::new(),
            blobs: Vec::new(),
            clock: 0,
            deferred: Vec::new(),
        }
    }
}

/// News for the handler at an end; none for the deaf.
pub(super) fn upcall(end: &End, news: News) -> Option<Upcall> {
    Some(Upcall { host: end.host?, conn: end.conn, token: end.token, news })
}
