//! The configuration as it is written. Defaults of absent values are those of the types in `policy`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::place::ConfigError;
use super::values::{Bytes, Duration, RateText, wait};
use crate::access::LogFormat;

/// The longest configuration, in bytes.
pub const LONGEST: usize = 4 << 20;

/// A gateway's configuration, `plimsoll.gate/1`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Addresses for clients.
    pub listen: Vec<ListenConfig>,
    /// The admin API.
    pub admin: AdminConfig,
    /// Upstreams: servers that give the same responses.
    pub upstream: Vec<UpstreamConfig>,
    /// Which requests go to which upstream; without routes, all go to the first.
    pub route: Vec<RouteConfig>,
    /// Keys that are treated alike. The first tier is that of keys without one.
    pub tier: Vec<TierConfig>,
    /// Where requests carry their key, and where keys are stored.
    pub keys: KeysConfig,
    /// Limits of all requests, and of each address.
    pub limits: LimitsConfig,
    /// A load line (capacity.json of `plimsoll capacity`) that limits all requests.
    #[schemars(with = "Option<String>")]
    pub loadline: Option<Spanned<PathBuf>>,
    /// Number of gateways in front of the same API, this one included (default 1): each holds its part of the load line. With
    /// `[shared]` they count each other; this number is used until they can.
    #[schemars(with = "Option<u32>")]
    pub gateways: Option<Spanned<u32>>,
    /// Certificate authorities, in PEM form, that https upstreams are checked against; by default the system's. The file may also
    /// contain a server's own certificate, which is then trusted itself.
    #[schemars(with = "Option<String>")]
    pub authorities: Option<Spanned<PathBuf>>,
    /// Bounds on clients.
    pub client: ClientConfig,
    /// Where usage is reported.
    pub usage: UsageConfig,
    /// Limits shared by several gateways.
    pub shared: SharedConfig,
    /// A line for each request; none without a path.
    pub access_log: AccessLogConfig,
    /// Threads; by default one per processor.
    #[schemars(with = "Option<usize>")]
    pub workers: Option<Spanned<usize>>,
    /// How long a worker looks for the next event before it sleeps, after each event (default 0s, at most 1ms). Where a
    /// sleeping processor takes long to wake, as in most virtual machines, `300us` makes the gateway add less latency far
    /// below full load; its workers use more processor time, up to a processor each.
    #[schemars(with = "Option<Duration>")]
    pub busy_poll: Option<Spanned<Duration>>,
}

/// A listener.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListenConfig {
    /// Address and port, such as `0.0.0.0:9090`.
    #[schemars(with = "String")]
    pub address: Spanned<String>,
    /// Use TLS with this certificate chain in PEM form.
    #[schemars(with = "Option<String>")]
    pub cert: Option<Spanned<PathBuf>>,
    /// The certificate's key in PEM form.
    #[schemars(with = "Option<String>")]
    pub key: Option<Spanned<PathBuf>>,
    /// Require the PROXY protocol, version 1 or 2.
    #[serde(default)]
    pub proxy_protocol: bool,
}

/// The admin API.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdminConfig {
    /// Address and port; no admin API without one.
    #[schemars(with = "Option<String>")]
    pub address: Option<Spanned<String>>,
    /// File with the token; without one a new token is made at each start.
    #[schemars(with = "Option<String>")]
    pub token_file: Option<Spanned<PathBuf>>,
}

/// An upstream.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpstreamConfig {
    /// Its name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// URLs of its servers: `http://10.0.0.7:8080`, `https://api.internal`. A host name is looked up at the start and at each
    /// reload; each of its addresses is a server.
    #[schemars(with = "Vec<String>")]
    pub servers: Spanned<Vec<Spanned<String>>>,
    /// `least-connections` (default) or `round-robin`.
    #[serde(default)]
    pub balance: BalanceConfig,
    /// The most connections to each server, per thread (default 1024).
    #[schemars(with = "Option<u32>")]
    pub connections: Option<Spanned<u32>>,
    /// An idle connection is closed after this (default 4s).
    pub keep_alive: Option<Duration>,
    /// Active health checks.
    pub check: Option<CheckConfig>,
    /// Failures in a row that take a server out (default 5; 0 never).
    pub failures: Option<u32>,
    /// For how long a server is taken out (default 5s).
    pub rest: Option<Duration>,
    /// Retries of one request, if nothing of it was sent or its method is idempotent (default 1).
    pub retries: Option<u32>,
    /// The most retries per request of the upstream (default 0.1), over about the last ten seconds, in addition to a reserve of
    /// 10 retries. Each thread counts for itself.
    #[schemars(with = "Option<f64>")]
    pub retry_budget: Option<Spanned<f64>>,
}

/// How a server is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BalanceConfig {
    /// The one with the fewest requests in flight.
    #[default]
    LeastConnections,
    /// One after another.
    RoundRobin,
}

/// Active health checks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckConfig {
    /// Path of the GET request; a status of 200 to 399 is a success.
    #[schemars(with = "String")]
    pub path: Spanned<String>,
    /// How often (default 2s).
    #[serde(default, deserialize_with = "wait")]
    pub every: Option<Duration>,
    /// How long a response may take (default 1s).
    #[serde(default, deserialize_with = "wait")]
    pub timeout: Option<Duration>,
    /// Successes in a row that bring a server back (default 2).
    #[schemars(with = "Option<u32>")]
    pub up_after: Option<Spanned<u32>>,
    /// Failures in a row that take it out (default 2).
    #[schemars(with = "Option<u32>")]
    pub down_after: Option<Spanned<u32>>,
}

/// A route.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteConfig {
    /// Its name in usage.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// `api.example.com`, or `*.example.com`; all hosts by default.
    #[schemars(with = "Option<String>")]
    pub host: Option<Spanned<String>>,
    /// A prefix such as `/api`, or a template such as `/users/{id}`; all paths by default. Case matters. A request whose path
    /// would match another route if case did not matter is refused, since servers may ignore case.
    #[schemars(with = "Option<String>")]
    pub path: Option<Spanned<String>>,
    /// Methods, at least one; all where it is left out.
    #[schemars(with = "Option<Vec<String>>")]
    pub methods: Option<Spanned<Vec<Spanned<String>>>>,
    /// Name of the upstream.
    #[schemars(with = "String")]
    pub upstream: Spanned<String>,
    /// Copies some of its requests to another upstream, whose responses are discarded.
    pub shadow: Option<ShadowConfig>,
    /// Whether requests need no key.
    #[serde(default)]
    pub public: bool,
    /// Replaces the path's beginning.
    pub rewrite: Option<RewriteConfig>,
    /// Whether `Location`, `Content-Location`, `Refresh` and the `Path` of `Set-Cookie` in responses are rewritten for the
    /// client: to its form of the path, and without the upstream's own address (default yes).
    pub rewrite_responses: Option<bool>,
    /// The `Host` sent upstream; the client's by default.
    #[schemars(with = "Option<String>")]
    pub upstream_host: Option<Spanned<String>>,
    /// Headers of requests.
    #[serde(default)]
    pub request_headers: HeaderConfig,
    /// Headers of responses.
    #[serde(default)]
    pub response_headers: HeaderConfig,
    /// Bounds on time.
    #[serde(default)]
    pub timeouts: TimeoutConfig,
    /// For which protocols `Upgrade` opens a tunnel: WebSocket (default), none (`false`), or these.
    #[schemars(with = "Option<UpgradeConfig>")]
    pub upgrade: Option<Spanned<UpgradeConfig>>,
    /// The longest body (default 64MiB).
    pub body: Option<Bytes>,
    /// Limits of all its requests together.
    #[serde(default)]
    pub limits: LimitConfig,
}

/// Protocols for which `Upgrade` opens a tunnel.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is true, false, or a list such as [\"websocket\"]")]
pub enum UpgradeConfig {
    /// WebSocket, or none.
    Whether(bool),
    /// These, such as `["websocket", "SPDY/3.1"]`. Other versions of HTTP are not allowed: their requests would bypass the gateway.
    Protocols(Vec<String>),
}

/// Another upstream that gets copies of some of a route's requests.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShadowConfig {
    /// Name of the upstream.
    #[schemars(with = "String")]
    pub upstream: Spanned<String>,
    /// Share of the requests, from 0 to 1 (default 1). Those with a body above 64 KiB are left out.
    #[schemars(with = "Option<f64>")]
    pub share: Option<Spanned<f64>>,
    /// Count how often its status differs from that of the first upstream.
    #[serde(default)]
    pub compare: bool,
}

/// A path's beginning, replaced.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewriteConfig {
    /// What is taken away, such as `/v1`.
    #[schemars(with = "String")]
    pub from: Spanned<String>,
    /// What is put there.
    #[schemars(with = "String")]
    pub to: Spanned<String>,
}

/// Changes of headers.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HeaderConfig {
    /// Names of headers that are removed.
    #[schemars(with = "Vec<String>")]
    pub remove: Vec<Spanned<String>>,
    /// Headers that are set, by name.
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub set: std::collections::BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Bounds on the time of a request.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutConfig {
    /// To connect (default 2s).
    #[serde(deserialize_with = "wait")]
    pub connect: Option<Duration>,
    /// From the request to the first byte of the response (default 30s).
    #[serde(deserialize_with = "wait")]
    pub first_byte: Option<Duration>,
    /// From admission to the last byte of the response (default 5m).
    #[serde(deserialize_with = "wait")]
    pub whole: Option<Duration>,
    /// Without a byte inside a response or a tunnel (default 1m).
    #[serde(deserialize_with = "wait")]
    pub idle: Option<Duration>,
}

/// Limits of one thing.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitConfig {
    /// Requests per time: `100/s`, `30/m`, `1000/h`.
    pub rate: Option<RateText>,
    /// Requests at once after a pause (default: what comes in a second of the rate).
    #[schemars(with = "Option<u32>")]
    pub burst: Option<Spanned<u32>>,
    /// Requests in flight.
    #[schemars(with = "Option<u32>")]
    pub concurrency: Option<Spanned<u32>>,
    /// Requests in a day of UTC.
    #[schemars(with = "Option<u64>")]
    pub per_day: Option<Spanned<u64>>,
    /// Requests in a month of UTC.
    #[schemars(with = "Option<u64>")]
    pub per_month: Option<Spanned<u64>>,
}

/// A tier.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TierConfig {
    /// Its name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Under pressure, tiers with lower numbers are refused first (default 0).
    #[serde(default)]
    pub priority: i32,
    /// Each key's requests per time.
    pub rate: Option<RateText>,
    /// Each key's requests at once after a pause.
    #[schemars(with = "Option<u32>")]
    pub burst: Option<Spanned<u32>>,
    /// Each key's requests in flight.
    #[schemars(with = "Option<u32>")]
    pub concurrency: Option<Spanned<u32>>,
    /// Each key's requests in a day of UTC.
    #[schemars(with = "Option<u64>")]
    pub per_day: Option<Spanned<u64>>,
    /// Each key's requests in a month of UTC.
    #[schemars(with = "Option<u64>")]
    pub per_month: Option<Spanned<u64>>,
    /// The longest body.
    pub body: Option<Bytes>,
    /// While the server of shared limits does not answer: `open` (default) decides from what this gateway knows, `closed`
    /// refuses with 503.
    #[serde(default)]
    pub unshared: UnsharedConfig,
    /// Limits of all keys of the tier together.
    #[serde(default)]
    pub together: LimitConfig,
}

/// What happens to requests while the server of shared limits does not answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnsharedConfig {
    /// The gateway decides from what it knows.
    #[default]
    Open,
    /// They are refused.
    Closed,
}

/// Limits shared by several gateways.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SharedConfig {
    /// A Redis or Valkey server: `redis://HOST:6379/0`. The rates of keys, the load line, and the quotas of keys, of tiers, of routes
    /// and of all requests are then those of all gateways together.
    #[schemars(with = "Option<String>")]
    pub server: Option<Spanned<String>>,
}

/// Keys.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeysConfig {
    /// Requests need no key.
    pub open: bool,
    /// Require a key even if the store never had one (default no): until there is one, all requests are refused.
    #[schemars(with = "Option<bool>")]
    pub required: Option<Spanned<bool>>,
    /// The file that keys and usage are kept in (default plimsoll-gate.db).
    #[schemars(with = "Option<String>")]
    pub store: Option<Spanned<PathBuf>>,
    /// Whether `Authorization: Bearer` may carry the key (default yes).
    pub bearer: Option<bool>,
    /// Header that is the key (default X-API-Key); empty for none.
    #[schemars(with = "Option<String>")]
    pub header: Option<Spanned<String>>,
    /// Query parameter that is the key (default user_key); empty for none.
    pub query: Option<String>,
}

/// Limits of all requests together, of each address, and of each request.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Of all requests together.
    pub all: LimitConfig,
    /// Of each address (IPv6: each /64). Requests without a valid key count in its rate too. Use of its quotas is kept only in
    /// memory: they begin at zero with each start.
    pub address: LimitConfig,
    /// The longest body of any request; its route or tier may have a shorter one.
    pub body: Option<Bytes>,
}

/// Bounds on clients.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClientConfig {
    /// For a request's head (default 10s).
    #[serde(deserialize_with = "wait")]
    pub head: Option<Duration>,
    /// Bytes of a head, from 1KiB to 1MiB (default 32KiB).
    #[schemars(with = "Option<Bytes>")]
    pub head_size: Option<Spanned<Bytes>>,
    /// For a request's body (default 5m).
    #[serde(deserialize_with = "wait")]
    pub body: Option<Duration>,
    /// The slowest body, in bytes per second (default 256; 0 any). Under a load line, and with `hold_bodies`, what comes after
    /// the first 64 KiB has to come at 16 KiB/s.
    pub body_rate: Option<Bytes>,
    /// Forward a request only once its whole body or 64 KiB of it have come, as with a load line. A client that sends slowly
    /// then holds no connection to the API, and one that waits for `100 Continue` gets it from the gateway (default no).
    pub hold_bodies: bool,
    /// Between requests of a connection (default 75s).
    #[serde(deserialize_with = "wait")]
    pub idle: Option<Duration>,
    /// For a client to take some of its response: at least as much as it would have to send of a body (default 30s).
    #[serde(deserialize_with = "wait")]
    pub send_idle: Option<Duration>,
    /// Connections of one address (IPv6: of each /64; default 4096).
    #[schemars(with = "Option<u32>")]
    pub connections_per_address: Option<Spanned<u32>>,
    /// Connections in total, per thread (default 65536). Above it, the one that is idle for longest is closed.
    #[schemars(with = "Option<u32>")]
    pub connections: Option<Spanned<u32>>,
    /// For requests in flight when the gateway is asked to end (default 30s).
    pub drain: Option<Duration>,
}

/// Where usage is reported.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UsageConfig {
    /// How often (default 5s); whole seconds.
    #[schemars(with = "Option<Duration>")]
    pub every: Option<Spanned<Duration>>,
    /// Append JSON lines to this file instead of counting in the store.
    #[schemars(with = "Option<String>")]
    pub json_lines: Option<Spanned<PathBuf>>,
    /// Post JSON lines to this URL (http) instead.
    #[schemars(with = "Option<String>")]
    pub http: Option<Spanned<String>>,
}

/// A line for each request.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AccessLogConfig {
    /// The file, which is appended to. SIGHUP and SIGUSR1 reopen it.
    #[schemars(with = "Option<String>")]
    pub path: Option<Spanned<PathBuf>>,
    /// `combined+time` (default) or `json`; `plimsoll mine` reads both.
    pub format: LogFormat,
    /// Share of clients whose requests are logged, from 0 to 1 (default 1).
    #[schemars(with = "Option<f64>")]
    pub sample: Option<Spanned<f64>>,
}

impl Config {
    /// Reads TOML.
    ///
    /// # Errors
    /// If it is not TOML, a name is unknown or a value is invalid; with the place.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        if text.len() > LONGEST {
            return Err(ConfigError::whole(format!("it is longer than {LONGEST} bytes")));
        }
        toml::from_str(text).map_err(|error| ConfigError::of_toml(text, &error))
    }
}
