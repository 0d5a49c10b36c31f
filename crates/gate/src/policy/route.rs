//! What the data path does with an admitted request: where to send it, under which time-outs, and how to rewrite it.

use std::net::SocketAddr;

use super::limits_of::{Limits, Quotas};
use super::pattern::{Host, Methods, PathPattern};
use super::shadowed::Shadow;
use crate::path::alike;

const SECOND: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;
/// The protocol that a connection may change to by default.
pub const WEBSOCKET: &str = "websocket";

/// A route: requests of one kind, and what is done with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Its name in the configuration and in usage.
    pub name: String,
    /// Stays the same over all policies of a process, for the same name.
    pub number: u32,
    /// Hosts it is for.
    pub host: Host,
    /// Methods it is for.
    pub methods: Methods,
    /// Paths it is for.
    pub path: PathPattern,
    /// Index into [`super::Policy::upstreams`].
    pub upstream: u32,
    /// Another upstream that gets copies of some of its requests.
    pub shadow: Option<Shadow>,
    /// Bounds on time.
    pub timeouts: Timeouts,
    /// Replaces the beginning of the path that is sent upstream.
    pub rewrite: Option<PathRewrite>,
    /// Whether paths in responses are rewritten back to those that the client uses: in `Location`, `Content-Location`,
    /// `Refresh`, and the `Path` of `Set-Cookie`.
    pub rewrite_responses: bool,
    /// What is changed in the headers of requests, after the gateway's own changes.
    pub request_headers: HeaderRules,
    /// What is changed in the headers of responses.
    pub response_headers: HeaderRules,
    /// The `Host` sent upstream; the client's where absent.
    pub upstream_host: Option<String>,
    /// Protocols for which `Upgrade` may open a tunnel, in lower case.
    pub upgrade: Vec<String>,
    /// The longest body.
    pub body_max_bytes: u64,
    /// Whether requests need no key.
    pub public: bool,
    /// Limits of all its requests together.
    pub limits: Limits,
    /// Quotas of all its requests together.
    pub quotas: Quotas,
}

impl Route {
    /// A route of all requests to this upstream.
    pub fn to(upstream: u32) -> Self {
        Self {
            name: "all".into(),
            number: 0,
            host: Host::Any,
            methods: Methods::default(),
            path: PathPattern::Prefix("/".into()),
            upstream,
            shadow: None,
            timeouts: Timeouts::default(),
            rewrite: None,
            rewrite_responses: true,
            request_headers: HeaderRules::default(),
            response_headers: HeaderRules::default(),
            upstream_host: None,
            upgrade: vec![WEBSOCKET.to_owned()],
            body_max_bytes: 64 * MIB,
            public: false,
            limits: Limits::default(),
            quotas: Quotas::default(),
        }
    }

    /// Whether a request with this method and `Upgrade` may change protocols. WebSocket begins with GET (RFC 6455 section 4.1).
    pub fn tunnels(&self, method: &str, protocol: &[u8]) -> bool {
        let is = |known: &str| protocol.eq_ignore_ascii_case(known.as_bytes());
        (method == "GET" || !is(WEBSOCKET)) && self.upgrade.iter().any(|known| is(known))
    }

    /// Whether it is for such requests.
    pub fn takes(&self, method: &[u8], host: &[u8], path: &[u8]) -> bool {
        self.path.takes(path) && self.host.takes(host) && self.methods.take(method)
    }
}

/// Bounds on the time of a request towards the upstream, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is open; 504 after it.
    pub connect_ns: u64,
    /// From the whole request sent to the first byte of the response; 504 after it.
    pub first_byte_ns: u64,
    /// From admission to the last byte of the response; closed after it.
    pub whole_ns: u64,
    /// Without a byte either way inside a response or a tunnel; closed after it.
    pub idle_ns: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_ns: 2 * SECOND,
            first_byte_ns: 30 * SECOND,
            whole_ns: 300 * SECOND,
            idle_ns: 60 * SECOND,
        }
    }
}

/// A path's beginning, replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRewrite {
    /// What is taken away, decoded: `/v1`. Always the beginning of whole segments; paths that do not begin so stay.
    pub from: String,
    /// What is put there; may be empty (the path then begins with what follows, or is `/`).
    pub to: String,
}

/// Changes of headers. Names in lower case; values are free of control characters. None is hop-by-hop or framing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderRules {
    /// Removed.
    pub remove: Vec<String>,
    /// Set, instead of any by that name.
    pub set: Vec<(String, String)>,
}

impl HeaderRules {
    /// Whether a header or trailer of this name is not passed on as it came. Letters of either case are the same, and so are
    /// `_` and `-`: servers that hand headers on as variables make no difference.
    pub fn drops(&self, name: &[u8]) -> bool {
        let same = |other: &String| alike(name, other.as_bytes());
        self.remove.iter().any(same) || self.set.iter().any(|(other, _)| same(other))
    }
}

/// Servers that give the same responses.
#[derive(Debug, Clone, PartialEq)]
pub struct Upstream {
    /// Its name in the configuration, under which the data path keeps its connections from policy to policy.
    pub name: String,
    /// Its servers; at least one.
    pub addresses: Vec<UpstreamAddress>,
    /// How a server is chosen.
    pub balance: Balance,
    /// Connections to each address at most, per worker.
    pub connections_max: u32,
    /// An idle connection is closed after this: below the upstream's own time, so that it is never used as it closes.
    pub keep_alive_ns: u64,
    /// Active health checks, if any.
    pub active: Option<ActiveCheck>,
    /// When failed requests take a server out.
    pub passive: PassiveCheck,
    /// How often a request may be sent again.
    pub retry: RetryRule,
}

impl Upstream {
    /// One server, with defaults.
    pub fn of(name: &str, socket: SocketAddr) -> Self {
        let address = UpstreamAddress { text: socket.to_string(), socket, tls: None };
        Self {
            name: name.into(),
            addresses: vec![address],
            balance: Balance::LeastConnections,
            connections_max: 1024,
            keep_alive_ns: 4 * SECOND,
            active: None,
            passive: PassiveCheck::default(),
            retry: RetryRule::default(),
        }
    }
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamAddress {
    /// As configured: the `Host` that is sent, if the client's is not passed on.
    pub text: String,
    /// Where to connect.
    pub socket: SocketAddr,
    /// The name that its certificate must have; none for a server without TLS.
    pub tls: Option<String>,
}

/// Which server of an upstream is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// That with the fewest requests in flight.
    LeastConnections,
    /// One after another.
    RoundRobin,
}

/// Active health checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveCheck {
    /// Path of the `GET` request; a status of 200..=399 is a success.
    pub path: String,
    /// How often.
    pub every_ns: u64,
    /// How long a response may take.
    pub timeout_ns: u64,
    /// Successes in a row that bring a server back.
    pub up_after: u32,
    /// Failures in a row that take it out.
    pub down_after: u32,
}

/// When failed requests take a server out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassiveCheck {
    /// Failures to connect or to respond, in a row, that take it out; 0: never.
    pub failures: u32,
    /// For how long; then one request tries it.
    pub rest_ns: u64,
}

impl Default for PassiveCheck {
    fn default() -> Self {
        Self { failures: 5, rest_ns: 5 * SECOND }
    }
}

/// How often requests may be sent again. Only those of which nothing was sent yet, or whose method is idempotent and of whose
/// response nothing came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryRule {
    /// Attempts of one request beside the first.
    pub attempts: u32,
    /// Retries / requests of the upstream at most, over about the last 10 s.
    pub budget: f64,
}

impl Default for RetryRule {
    fn default() -> Self {
        Self { attempts: 1, budget: 0.1 }
    }
}

/// Where requests carry their key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySource {
    /// `Authorization: Bearer KEY`.
    pub bearer: bool,
    /// Header that is the key, in lower case: `x-api-key`. Not passed upstream.
    pub header: Option<String>,
    /// Query parameter that is the key: `user_key`. Stripped upstream. A request with two different keys is refused
    /// with 400.
    pub query: Option<String>,
}

impl KeySource {
    /// Keys are not asked for, and nothing is stripped.
    pub fn none() -> Self {
        Self::default()
    }

    /// `Authorization: Bearer`, `X-API-Key`, `?user_key=`.
    pub fn usual() -> Self {
        Self { bearer: true, header: Some("x-api-key".into()), query: Some("user_key".into()) }
    }
}

/// Bounds on clients. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientBounds {
    /// From the first byte of a head to its last; 408 after it.
    pub head_ns: u64,
    /// Bytes of a head; 431 above it.
    pub head_bytes: u32,
    /// From the head to the body's last byte; 408 after it.
    pub body_ns: u64,
    /// The slowest body, in bytes per second, after a grace of five seconds; 408 below it. 0: any.
    pub body_bytes_per_s: u64,
    /// Whether a request is forwarded only once its body has arrived, or fills the buffer. With a load line this is always so.
    pub hold_bodies: bool,
    /// Between requests of a connection; closed after it.
    pub idle_ns: u64,
    /// For the client to read a response: closed if it reads nothing of it for this long, or for this long less than
    /// [`Self::body_bytes_per_s`].
    pub send_idle_ns: u64,
    /// Connections of one address at most; closed above it.
    pub connections_per_address: u32,
    /// Connections in all, per worker. Above it, the one that is idle for longest is closed for a new one.
    pub connections_max: u32,
    /// For requests in flight after SIGTERM.
    pub drain_ns: u64,
}

impl Default for ClientBounds {
    fn default() -> Self {
        Self {
            head_ns: 10 * SECOND,
            head_bytes: 32 << 10,
            body_ns: 300 * SECOND,
            body_bytes_per_s: 256,
            hold_bodies: false,
            idle_ns: 75 * SECOND,
            send_idle_ns: 30 * SECOND,
            connections_per_address: 4096,
            connections_max: 65_536,
            drain_ns: 30 * SECOND,
        }
    }
}
