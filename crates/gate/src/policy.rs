//! Decisions: whether a request is forwarded, where to and under which bounds, or what it is refused with.
//!
//! Pure: facts and instants in, decisions out. A [`Policy`] is an immutable snapshot of the configuration. What
//! changes with every request (how much of a limit is used) is kept in atomics that later snapshots share, so several
//! workers decide without a lock and a new configuration forgets nothing. Numbers of routes, keys and tiers stay
//! valid over all snapshots of a process, so a [`Ticket`] may be finished under a later policy than admitted it.

mod addresses;
mod at_line;
mod build;
mod current;
mod decide;
mod finder;
mod limits_of;
mod pattern;
mod quotas;
mod refusal;
mod replaced;
mod route;
mod shadowed;
mod sharing;
mod state;
mod tree;

use std::net::IpAddr;
use std::sync::Arc;

pub use build::{PolicySettings, TooManyNames};
pub use current::Current;
pub use limits_of::{Limits, Quotas, Tier};
pub(crate) use pattern::without_slash;
pub use pattern::{Host, Methods, PathPattern};
pub(crate) use quotas::QuotaOf;
pub use refusal::{PROBLEMS, Problem, RateLimit, Refusal};
pub use route::{
    ActiveCheck, Balance, ClientBounds, HeaderRules, KeySource, PassiveCheck, PathRewrite,
    RetryRule, Route, Timeouts, Upstream, UpstreamAddress, WEBSOCKET,
};
pub use shadowed::{Shadow, ShadowView, Shadowed};
pub(crate) use state::NAMES_MOST;
pub use state::State;

pub(crate) use tree::PathTree;

use finder::Finder;
use limits_of::KeyLimits;

use crate::admission::{Line, Part};
use crate::keys::{Entry, Keys};
use crate::limits::Rate;
use crate::path::Trust;

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
    /// The path as some servers read it, if that differs: without parameters of segments (`;x`) and without empty segments.
    /// Its last segment may still be empty; some servers leave that out too.
    pub cut: Option<&'a [u8]>,
    /// The credential found where [`Policy::key_source`] says, if any; empty counts as none.
    pub key: Option<&'a [u8]>,
    /// The client's address: the peer's, or the one that the PROXY protocol gives.
    pub address: IpAddr,
    /// The length that the request announces; `None` for a chunked body, which the data path holds to
    /// [`Ticket::body_max_bytes`] as it comes.
    pub body_bytes: Option<u64>,
}

/// What to do with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Forward it, and call [`Policy::finish`] once, whatever the outcome.
    Forward(Ticket),
    /// Respond with this; nothing is held, and nothing is to be finished.
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
    /// The day and the month whose quotas it was taken from.
    periods: (u32, u32),
    /// The limits on requests in flight that it counts in.
    held: TicketCounts,
}

/// The limits on requests in flight that a ticket counts in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TicketCounts {
    key: bool,
    tier: bool,
    route: bool,
    address: bool,
    all: bool,
    /// Of the load line: it has room below the ceiling.
    line: bool,
}

/// The outcome of a request that was forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the response to the client; 0 if the client left before.
    pub status: u16,
    /// Bytes of the client's request, head and body.
    pub bytes_in: u64,
    /// Bytes sent to the client, head and body.
    pub bytes_out: u64,
    /// From admission to the last byte for the client, or to the change of protocols.
    pub latency_ns: u64,
    /// From the request's first byte to the upstream, to the response's first byte; 0 where none came.
    pub upstream_ns: u64,
    /// If no response came: how long the gateway waited for one after the whole request was sent; 0 if nothing was sent upstream.
    pub waited_ns: u64,
    /// Whether the status is the gateway's own, since the upstream gave no response.
    pub upstream_failed: bool,
}

/// A snapshot of the configuration, with the state that all snapshots share.
#[derive(Debug)]
pub struct Policy {
    state: Arc<State>,
    /// By number; those that are no longer configured stay for requests in flight.
    routes: Vec<Route>,
    /// Numbers of the routes that are configured, the narrowest first.
    order: Vec<u32>,
    /// Finds a route's place in that order.
    finder: Finder,
    /// The same, to which letters of either case are the same in paths.
    any_case: Finder,
    /// A path of a route has capitals.
    capitals: bool,
    /// By number; those that are no longer configured are absent.
    upstreams: Vec<Option<Upstream>>,
    /// By number, with the share of the room below the ceiling that each may use, in thousandths.
    tiers: Vec<Option<(Tier, u32)>>,
    /// Number of the tier of keys that name none of these.
    default: usize,
    /// The other settings: its routes, upstreams and tiers are taken out, and are the fields above.
    settings: PolicySettings,
}

impl Policy {
    /// Forwards everything to one upstream, and asks for no key.
    pub fn open(upstream: Upstream) -> Self {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 0));
        let settings = PolicySettings::open(upstream);
        Self::new(&state, settings, None).expect("two names are not too many")
    }

    /// The route of a ticket, also one admitted by an earlier policy.
    ///
    /// # Panics
    /// For a number that no ticket carries.
    pub fn route(&self, number: u32) -> &Route {
        &self.routes[number as usize]
    }

    /// The name of a tier by its number: where it is not configured, that of the tier in its place.
    pub(crate) fn tier_name(&self, number: u32) -> &str {
        &self.tier(number).1.name
    }

    /// The name of a route by its number, `-` for [`NONE`].
    pub fn route_name(&self, number: u32) -> &str {
        self.routes.get(number as usize).map_or("-", |route| &route.name)
    }

    /// The routes that are configured, in the order in which they are tried.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.order.iter().map(|&number| &self.routes[number as usize])
    }

    /// The methods that routes take at a request's host and path, each once: for `Allow`. None where all are taken.
    pub(crate) fn methods_at(&self, facts: &Facts) -> Vec<&str> {
        let takes = |route: &&Route| route.path.takes(facts.path) && route.host.takes(facts.host);
        let named = self.routes().filter(takes).flat_map(|route| &route.methods.0);
        let mut methods: Vec<&str> = named.map(String::as_str).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// All upstreams; [`Route::upstream`] is an index into them. One keeps its index over policies; the place of one
    /// that is no longer configured is empty.
    pub fn upstreams(&self) -> &[Option<Upstream>] {
        &self.upstreams
    }

    /// Where requests carry their key.
    pub fn key_source(&self) -> &KeySource {
        &self.settings.key_source
    }

    /// Whether keys are asked for.
    pub fn asks_for_keys(&self) -> bool {
        self.settings.digester.is_some()
    }

    /// What clients are held to before a decision is made.
    pub fn client(&self) -> &ClientBounds {
        &self.settings.client
    }

    /// The load line that requests are held to.
    pub fn line(&self) -> Option<&Arc<Line>> {
        self.settings.line.as_ref()
    }

    /// What the certificates of upstreams are checked against.
    pub fn trust(&self) -> Option<&Trust> {
        self.settings.trust.as_ref()
    }

    /// What all policies share.
    pub fn state(&self) -> &Arc<State> {
        &self.state
    }

    /// The part of the load line that this gateway holds. Gateways that share limits are counted; while that is not possible,
    /// the larger of the last count and the configured number is assumed.
    pub fn part(&self, now_ns: u64) -> Part {
        let (shared, configured) = (&self.state.shared, self.settings.gateways);
        match shared.gateways() {
            0 => Part::of(configured, false),
            counted if shared.is_fresh(now_ns) => Part::of(counted, true),
            counted => Part::of(counted.max(configured), false),
        }
    }

    /// The limits of a key.
    pub(crate) fn limits_of(&self, entry: &Entry) -> KeyLimits {
        KeyLimits::of(entry, self.tier(entry.tier()).1)
    }

    /// The rates that gateways share: of a key of each tier, and of a tier that is not configured; then the load line's, with
    /// its number at once.
    pub(crate) fn shared_rates(&self) -> impl Iterator<Item = Option<Rate>> + '_ {
        let of_keys = (0..=self.tiers.len() as u32).map(|number| self.tier(number).1.each.rate);
        let line = self.line().map(|line| Rate { per_s: line.rate_per_s, burst: line.at_once });
        of_keys.chain([line])
    }

    /// The tier of a key by its number: that tier's number, itself, and its share of the room below the ceiling.
    fn tier(&self, number: u32) -> (u32, &Tier, u32) {
        let known = |at: usize| {
            let (tier, share_milli) = self.tiers.get(at)?.as_ref()?;
            Some((at as u32, tier, *share_milli))
        };
        known(number as usize).or_else(|| known(self.default)).expect("the default tier is there")
    }
}

#[cfg(test)]
mod tests;
