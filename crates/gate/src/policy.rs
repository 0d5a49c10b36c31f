//! Decisions: whether a request is forwarded, where to and under which bounds, or what it is refused with.
//!
//! Pure: facts and instants in, decisions out. A [`Policy`] is an immutable snapshot of the configuration. What
//! changes with every request (how much of a limit is used) is kept in atomics that later snapshots share, so several
//! workers decide without a lock and a new configuration forgets nothing. Numbers of routes, keys and tiers stay
//! valid over all snapshots of a process, so a [`Ticket`] may be finished under a later policy than admitted it.

mod current;
mod pattern;
mod refusal;
mod route;

use std::net::IpAddr;

pub use current::Current;
pub use pattern::{Host, Methods, PathPattern};
pub use refusal::{PROBLEMS, Problem, RateLimit, Refusal};
pub use route::{
    ActiveCheck, Balance, ClientBounds, HeaderRules, KeySource, PassiveCheck, PathRewrite,
    RetryRule, Route, Timeouts, Upstream, UpstreamAddress,
};

use crate::usage::Local;

/// Stands for no key, or no address, in a [`Ticket`].
pub const NONE: u32 = u32::MAX;

/// What the data path knows of a request before it forwards it.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The method, as sent.
    pub method: &'a [u8],
    /// The host without its port, as sent (letters of either case).
    pub host: &'a [u8],
    /// The path without query. Begins with `/`; has no dot segments and no encoded slash, dot or NUL: those are
    /// refused before.
    pub path: &'a [u8],
    /// The credential found where [`Policy::key_source`] says, if any; empty counts as none.
    pub key: Option<&'a [u8]>,
    /// Who asks: the peer, or what the PROXY protocol says of it.
    pub address: IpAddr,
    /// The length that the request announces; `None` for a chunked body, which the data path holds to
    /// [`Ticket::body_max_bytes`] as it comes.
    pub body_bytes: Option<u64>,
}

/// What to do with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Forward it, and call [`Policy::finish`] once, whatever comes of it.
    Forward(Ticket),
    /// Answer with this; nothing is held, and nothing is to be finished.
    Refuse(Refusal),
}

/// Held while a request is in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// The route, for [`Policy::route`].
    pub route: u32,
    /// The key's slot, or [`NONE`].
    pub key: u32,
    /// The tier's number.
    pub tier: u32,
    /// The slot of the address, or [`NONE`].
    pub address_slot: u32,
    /// What it costs the upstream, in thousandths of the mean request of the load line.
    pub cost_milli: u32,
    /// When it was admitted, on the clock of the data path.
    pub admitted_at_ns: u64,
    /// The longest body that may be forwarded.
    pub body_max_bytes: u64,
}

/// What came of a request that was forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The status that the client was sent; 0 where it left before.
    pub status: u16,
    /// Bytes of the client's request, head and body.
    pub bytes_in: u64,
    /// Bytes sent to the client, head and body.
    pub bytes_out: u64,
    /// From admission to the last byte for the client.
    pub latency_ns: u64,
    /// From the request's first byte to the upstream, to the answer's first byte; 0 where none came.
    pub upstream_ns: u64,
    /// Whether the status is the gateway's own, since the upstream gave no answer.
    pub upstream_failed: bool,
}

/// A snapshot of the configuration, with the state that all snapshots share.
#[derive(Debug)]
pub struct Policy {
    routes: Vec<Route>,
    upstreams: Vec<Upstream>,
    key_source: KeySource,
    client: ClientBounds,
}

impl Policy {
    /// Forwards everything to one upstream, and asks for no key.
    pub fn open(upstream: Upstream) -> Self {
        Self {
            routes: vec![Route::to(0)],
            upstreams: vec![upstream],
            key_source: KeySource::none(),
            client: ClientBounds::default(),
        }
    }

    /// Decides about a request. Counts a refusal in `usage`.
    pub fn decide(&self, facts: &Facts, now_ns: u64, _usage: &mut Local) -> Decision {
        let fits = |route: &&Route| route.takes(facts.method, facts.host, facts.path);
        let Some(route) = self.routes.iter().find(fits) else {
            return Decision::Refuse(Refusal::of(Problem::NoRoute));
        };
        if facts.body_bytes.is_some_and(|bytes| bytes > route.body_max_bytes) {
            return Decision::Refuse(Refusal::of(Problem::BodyTooLarge));
        }
        Decision::Forward(Ticket {
            route: route.number,
            key: NONE,
            tier: 0,
            address_slot: NONE,
            cost_milli: 1000,
            admitted_at_ns: now_ns,
            body_max_bytes: route.body_max_bytes,
        })
    }

    /// Gives back what a ticket holds, and counts what came of its request.
    pub fn finish(&self, _ticket: &Ticket, outcome: &Outcome, _now_ns: u64, usage: &mut Local) {
        usage.count(outcome);
    }

    /// The route of a ticket, also one admitted by an earlier policy.
    ///
    /// # Panics
    /// For a number that no ticket carries.
    pub fn route(&self, number: u32) -> &Route {
        &self.routes[number as usize]
    }

    /// All upstreams; [`Route::upstream`] is an index into them.
    pub fn upstreams(&self) -> &[Upstream] {
        &self.upstreams
    }

    /// Where requests carry their key.
    pub fn key_source(&self) -> &KeySource {
        &self.key_source
    }

    /// What clients are held to before a decision is made.
    pub fn client(&self) -> &ClientBounds {
        &self.client
    }
}
