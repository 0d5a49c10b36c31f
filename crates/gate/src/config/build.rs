//! Checks a written configuration and converts it to settings. `routes` converts routes, `reach` compares addresses, `source`
//! finds where requests carry their keys, `workers` is about threads.

mod reach;
mod routes;
mod source;
mod workers;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use model::secret::mask_address;
use toml::Spanned;

use super::file::*;
use super::place::ConfigError;
use crate::access::LogFormat;
use crate::admission::Line;
use crate::policy::{
    ActiveCheck, Balance, ClientBounds, Limits, NAMES_MOST, PolicySettings, Quotas, Route, Tier,
    Upstream, UpstreamAddress,
};
use crate::shared::Place;
use crate::usage::HttpSink;

const SECOND: u64 = 1_000_000_000;
/// The most gateways in front of one API.
const GATEWAYS_MOST: u32 = 1000;
/// The most upstreams, routes, and tiers. Keys without a tier take one of the tiers' numbers.
const EACH_MOST: usize = NAMES_MOST - 1;
/// The smallest and the largest limit on the bytes of a head.
const HEAD_LEAST: u32 = 1 << 10;
const HEAD_MOST: u32 = 1 << 20;
/// The error for a name that is not the address of a server or listener.
pub(crate) const NO_ADDRESS: &str = "the name has no address";
/// The file of keys and usage.
pub const STORE: &str = "plimsoll-gate.db";

/// A listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerSettings {
    /// The address that it listens on.
    pub address: SocketAddr,
    /// Certificate chain and key, where TLS is used.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether connections begin with the PROXY protocol.
    pub proxy: bool,
}

/// A log of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct AccessLog {
    /// The file.
    pub path: PathBuf,
    /// Its lines.
    pub format: LogFormat,
    /// Share of clients that are logged, 0..=1.
    pub sample: f64,
}

/// A configuration that was checked, as settings.
#[derive(Debug)]
pub struct Built {
    /// The settings of the policy, without those that are read from files: the load line, the digester, certificate authorities.
    pub policy: PolicySettings,
    /// Listeners; at least one.
    pub listeners: Vec<ListenerSettings>,
    /// The address of the admin API.
    pub admin: Option<SocketAddr>,
    /// The access log, if any.
    pub access_log: Option<AccessLog>,
    /// The server of shared limits, if any.
    pub shared: Option<Place>,
    /// How long a worker looks for events before it sleeps; 0: not at all.
    pub busy_poll_ns: u64,
}

/// Resolves a host and a port to all addresses that the name has, at least one.
pub type Resolve<'a> = &'a dyn Fn(&str) -> Result<Vec<SocketAddr>, String>;

/// A text, where it stands in.
struct Builder<'a> {
    text: &'a str,
    resolve: Resolve<'a>,
}

impl Built {
    /// Checks a whole configuration. `text` is what it was read from, for places in errors; empty for flags. If the file names
    /// a load line, the caller has read it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn of(
        config: &Config,
        text: &str,
        line: Option<Arc<Line>>,
        resolve: Resolve,
    ) -> Result<Self, ConfigError> {
        let builder = Builder { text, resolve };
        builder.not_too_many(config)?;
        let mut upstreams = Vec::new();
        for upstream in &config.upstream {
            builder.fresh(&upstream.name, upstreams.iter().map(|other: &Upstream| &*other.name))?;
            upstreams.push(builder.upstream(upstream)?);
        }
        if upstreams.is_empty() {
            return Err(ConfigError::whole(
                "there is no upstream: write [[upstream]] with name and servers, or --upstream URL",
            ));
        }
        let mut routes = Vec::new();
        for route in &config.route {
            builder.fresh(&route.name, routes.iter().map(|other: &Route| &*other.name))?;
            let made = builder.route(route, &upstreams)?;
            builder.reachable(route, &made, &routes)?;
            routes.push(made);
        }
        if routes.is_empty() {
            routes.push(Route::to(0));
        }
        let mut tiers = Vec::new();
        for tier in &config.tier {
            builder.fresh(&tier.name, tiers.iter().map(|other: &Tier| &*other.name))?;
            tiers.push(builder.tier(tier)?);
        }
        if tiers.is_empty() {
            tiers.push(Tier::unlimited("default"));
        }
        let listeners = builder.listeners(&config.listen)?;
        builder.no_loop(config, &upstreams, &listeners)?;
        let admin = config.admin.address.as_ref();
        let admin = admin.map(|address| builder.address(address)).transpose()?;
        if let (Some(admin), Some(written)) = (admin, &config.admin.address)
            && listeners.iter().any(|listener| reach::is_shared(listener.address, admin))
        {
            return Err(builder.wrong(written, "the admin API never shares the address of clients"));
        }
        builder.no_admin_upstream(config, &upstreams, admin)?;
        let policy = PolicySettings {
            routes,
            upstreams,
            tiers,
            key_source: builder.key_source(&config.keys)?,
            digester: None,
            client: builder.client(&config.client)?,
            all: builder.limits(&config.limits.all)?,
            all_quotas: builder.quotas(&config.limits.all)?,
            address: builder.limits(&config.limits.address)?,
            address_quotas: builder.quotas(&config.limits.address)?,
            body_max_bytes: config.limits.body.map_or(u64::MAX, |bytes| bytes.0),
            line,
            gateways: builder.gateways(config)?,
            trust: None,
        };
        builder.usage(&config.usage)?;
        builder.check_workers(config)?;
        let busy_poll_ns = builder.busy_poll_ns(config)?;
        let access_log = builder.access_log(&config.access_log)?;
        let place = |url: &Spanned<String>| {
            Place::parse(url.get_ref()).map_err(|why| builder.wrong(url, why))
        };
        let shared = config.shared.server.as_ref().map(place).transpose()?;
        Ok(Self { policy, listeners, admin, access_log, shared, busy_poll_ns })
    }
}

impl Builder<'_> {
    /// Checks how often usage is reported, and that it goes to one place only.
    fn usage(&self, written: &UsageConfig) -> Result<(), ConfigError> {
        if let Some(every) = &written.every {
            match every.get_ref().0 {
                ns if ns < SECOND => {
                    return Err(self.wrong(every, "usage is reported once a second at most"));
                }
                ns if ns % SECOND != 0 => {
                    return Err(
                        self.wrong(every, "usage is reported every whole seconds, such as 2s")
                    );
                }
                _ => {}
            }
        }
        if let Some(url) = &written.http {
            HttpSink::new(url.get_ref(), "").map_err(|why| self.wrong(url, why))?;
            if written.json_lines.is_some() {
                return Err(self.wrong(url, "usage goes to a file or to a URL, not to both"));
            }
        }
        Ok(())
    }

    /// Refuses more of a kind than a gateway can number.
    fn not_too_many(&self, config: &Config) -> Result<(), ConfigError> {
        let upstreams = config.upstream.get(EACH_MOST).map(|it| ("upstreams", &it.name));
        let routes = config.route.get(EACH_MOST).map(|it| ("routes", &it.name));
        let tiers = config.tier.get(EACH_MOST).map(|it| ("tiers", &it.name));
        match upstreams.or(routes).or(tiers) {
            Some((what, name)) => {
                Err(self.wrong(name, format!("a configuration has at most {EACH_MOST} {what}")))
            }
            None => Ok(()),
        }
    }

    /// The listeners for clients, each on its own address.
    fn listeners(&self, written: &[ListenConfig]) -> Result<Vec<ListenerSettings>, ConfigError> {
        let mut listeners: Vec<ListenerSettings> = Vec::new();
        for listen in written {
            let listener = self.listener(listen)?;
            let others = listeners.iter().map(|other| other.address);
            self.free(&listen.address, listener.address, others)?;
            listeners.push(listener);
        }
        if listeners.is_empty() {
            return Err(ConfigError::whole(
                "there is no listener: write [[listen]] with address, or --listen ADDRESS",
            ));
        }
        Ok(listeners)
    }

    /// A number that must be at least 1.
    fn count<T: Copy + PartialEq + From<u8>>(
        &self,
        what: &str,
        written: &Option<Spanned<T>>,
    ) -> Result<Option<T>, ConfigError> {
        match written {
            Some(none) if *none.get_ref() == T::from(0u8) => {
                Err(self.wrong(none, format!("{what} is 1 or more")))
            }
            count => Ok(count.as_ref().map(|count| *count.get_ref())),
        }
    }

    /// How many gateways stand before the same API.
    fn gateways(&self, config: &Config) -> Result<u32, ConfigError> {
        let Some(written) = &config.gateways else { return Ok(1) };
        match *written.get_ref() {
            count if (1..=GATEWAYS_MOST).contains(&count) => Ok(count),
            count => Err(self.wrong(
                written,
                format!("gateways are 1 to {GATEWAYS_MOST} before one API, this one included; not {count}"),
            )),
        }
    }

    fn wrong<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> ConfigError {
        // What flags say beside a file has no place in it.
        ConfigError::at(self.text, Some(at.span()).filter(|span| !span.is_empty()), what)
    }

    /// A name that occurs once, is not empty and contains no separator of names.
    fn fresh<'n>(
        &self,
        name: &Spanned<String>,
        mut others: impl Iterator<Item = &'n str>,
    ) -> Result<(), ConfigError> {
        let text = name.get_ref();
        if text.is_empty() || text.len() > 100 || text.chars().any(|c| c.is_control() || c == ',') {
            return Err(
                self.wrong(name, "a name has 1 to 100 bytes, no comma and no control characters")
            );
        }
        match others.any(|other| other == text) {
            true => Err(self.wrong(name, format!("the name `{text}` is used twice"))),
            false => Ok(()),
        }
    }

    fn address(&self, written: &Spanned<String>) -> Result<SocketAddr, ConfigError> {
        let text = written.get_ref();
        let text = if text.starts_with(':') { format!("127.0.0.1{text}") } else { text.clone() };
        let wrong =
            |why| self.wrong(written, format!("`{text}`: {why}; write it as 127.0.0.1:9090"));
        let found = (self.resolve)(&text).map_err(wrong)?;
        found.first().copied().ok_or_else(|| wrong(NO_ADDRESS.into()))
    }

    fn listener(&self, listen: &ListenConfig) -> Result<ListenerSettings, ConfigError> {
        let identity = match (&listen.cert, &listen.key) {
            (Some(cert), Some(key)) => Some((cert.get_ref().clone(), key.get_ref().clone())),
            (Some(cert), None) => {
                return Err(self.wrong(cert, "a certificate needs its key: key = FILE"));
            }
            (None, Some(key)) => {
                return Err(self.wrong(key, "a key needs its certificate: cert = FILE"));
            }
            (None, None) => None,
        };
        let address = self.address(&listen.address)?;
        Ok(ListenerSettings { address, identity, proxy: listen.proxy_protocol })
    }

    /// Refuses a listener whose port another one uses already.
    fn free(
        &self,
        written: &Spanned<String>,
        address: SocketAddr,
        mut others: impl Iterator<Item = SocketAddr>,
    ) -> Result<(), ConfigError> {
        match others.find(|other| reach::is_shared(*other, address)) {
            None => Ok(()),
            Some(other) if other == address => {
                Err(self.wrong(written, format!("{address} is listened on twice")))
            }
            Some(other) => Err(self.wrong(
                written,
                format!("{address} is listened on already: {other} is every address of the port, or one of them"),
            )),
        }
    }

    fn upstream(&self, written: &UpstreamConfig) -> Result<Upstream, ConfigError> {
        let servers = written.servers.get_ref();
        let mut addresses: Vec<UpstreamAddress> = Vec::new();
        for server in servers {
            addresses.extend(self.server(server)?);
        }
        let Some(first) = addresses.first() else {
            return Err(self.wrong(&written.servers, "an upstream has at least one server"));
        };
        let mut upstream = Upstream::of(written.name.get_ref(), first.socket);
        upstream.addresses = addresses;
        upstream.balance = match written.balance {
            BalanceConfig::LeastConnections => Balance::LeastConnections,
            BalanceConfig::RoundRobin => Balance::RoundRobin,
        };
        let connections = self.count("`connections`", &written.connections)?;
        upstream.connections_max = connections.unwrap_or(upstream.connections_max);
        set(&mut upstream.keep_alive_ns, written.keep_alive);
        upstream.passive.failures = written.failures.unwrap_or(upstream.passive.failures);
        set(&mut upstream.passive.rest_ns, written.rest);
        upstream.retry.attempts = written.retries.unwrap_or(upstream.retry.attempts);
        if let Some(budget) = &written.retry_budget {
            if !(0.0..=1.0).contains(budget.get_ref()) {
                return Err(self.wrong(budget, "retry_budget is from 0 to 1"));
            }
            upstream.retry.budget = *budget.get_ref();
        }
        upstream.active = written.check.as_ref().map(|check| self.check(check)).transpose()?;
        Ok(upstream)
    }

    fn check(&self, written: &CheckConfig) -> Result<ActiveCheck, ConfigError> {
        let path = written.path.get_ref();
        if !path.starts_with('/') || path.bytes().any(|byte| byte <= b' ' || byte >= 127) {
            return Err(self.wrong(&written.path, "a path begins with / and has no spaces"));
        }
        let mut check = ActiveCheck {
            path: path.clone(),
            every_ns: 2 * SECOND,
            timeout_ns: SECOND,
            up_after: self.count("`up_after`", &written.up_after)?.unwrap_or(2),
            down_after: self.count("`down_after`", &written.down_after)?.unwrap_or(2),
        };
        set(&mut check.every_ns, written.every);
        set(&mut check.timeout_ns, written.timeout);
        Ok(check)
    }

    /// The servers of a URL: one for each address that its name has.
    fn server(&self, written: &Spanned<String>) -> Result<Vec<UpstreamAddress>, ConfigError> {
        let url = written.get_ref();
        // A server has no user and password: one that is written there goes to no log.
        let shown = if url.contains('@') { mask_address(url) } else { url.clone() };
        let (tls, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => {
                return Err(self.wrong(
                    written,
                    format!("`{shown}`: a server is a URL such as http://10.0.0.7:8080"),
                ));
            }
        };
        let text = rest.strip_suffix('/').unwrap_or(rest);
        if text.is_empty() || text.contains(['/', '?', '#', '@', ' ']) {
            return Err(self.wrong(
                written,
                format!("`{shown}`: a server is scheme, host and port alone; paths are rewritten by routes"),
            ));
        }
        let ends_with_port = text.rsplit_once(':').is_some_and(|(host, port)| {
            !port.is_empty()
                && port.bytes().all(|byte| byte.is_ascii_digit())
                && !host.is_empty()
                && (!host.contains(':') || host.ends_with(']'))
        });
        let with_port = if ends_with_port {
            text.to_owned()
        } else {
            format!("{text}:{}", if tls { 443 } else { 80 })
        };
        let mut sockets = (self.resolve)(&with_port)
            .map_err(|why| self.wrong(written, format!("`{url}`: {why}")))?;
        sockets.sort_unstable();
        sockets.dedup();
        let host = with_port.rsplit_once(':').map_or("", |(host, _)| host);
        let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let server = |socket| UpstreamAddress {
            text: text.to_owned(),
            socket,
            tls: tls.then(|| name.clone()),
        };
        Ok(sockets.into_iter().map(server).collect())
    }

    fn tier(&self, written: &TierConfig) -> Result<Tier, ConfigError> {
        let each = LimitConfig {
            rate: written.rate,
            burst: written.burst.clone(),
            concurrency: written.concurrency.clone(),
            per_day: written.per_day.clone(),
            per_month: written.per_month.clone(),
        };
        let quotas = self.quotas(&each)?;
        Ok(Tier {
            name: written.name.get_ref().clone(),
            priority: written.priority,
            each: self.limits(&each)?,
            day_quota: quotas.day,
            month_quota: quotas.month,
            together: self.limits(&written.together)?,
            together_quotas: self.quotas(&written.together)?,
            body_max_bytes: written.body.map(|bytes| bytes.0),
            closed: written.unshared == UnsharedConfig::Closed,
        })
    }

    fn limits(&self, written: &LimitConfig) -> Result<Limits, ConfigError> {
        let at_once = self.count("a concurrency", &written.concurrency)?;
        let most = self.count("a burst", &written.burst)?;
        if let (Some(burst), None) = (&written.burst, written.rate) {
            return Err(self.wrong(burst, "a burst belongs to a rate: write rate too"));
        }
        Ok(Limits { rate: written.rate.map(|rate| rate.with(most)), at_once })
    }

    fn quotas(&self, written: &LimitConfig) -> Result<Quotas, ConfigError> {
        let quota = |written| self.count("a quota", written);
        Ok(Quotas { day: quota(&written.per_day)?, month: quota(&written.per_month)? })
    }

    fn access_log(&self, written: &AccessLogConfig) -> Result<Option<AccessLog>, ConfigError> {
        let sample = written.sample.as_ref().map_or(1.0, |sample| *sample.get_ref());
        if let Some(sample) = &written.sample
            && !(0.0..=1.0).contains(sample.get_ref())
        {
            return Err(self.wrong(sample, "a share is from 0 to 1"));
        }
        if let (Some(sample), None) = (&written.sample, &written.path) {
            return Err(self.wrong(sample, "a sample is of a log: write path = FILE beside it"));
        }
        let path = written.path.as_ref().map(|path| path.get_ref().clone());
        Ok(path.map(|path| AccessLog { path, format: written.format, sample }))
    }

    fn client(&self, written: &ClientConfig) -> Result<ClientBounds, ConfigError> {
        let mut bounds = ClientBounds::default();
        set(&mut bounds.head_ns, written.head);
        set(&mut bounds.body_ns, written.body);
        set(&mut bounds.idle_ns, written.idle);
        set(&mut bounds.send_idle_ns, written.send_idle);
        set(&mut bounds.drain_ns, written.drain);
        if let Some(size) = &written.head_size {
            bounds.head_bytes = match u32::try_from(size.get_ref().0) {
                Ok(bytes @ HEAD_LEAST..=HEAD_MOST) => bytes,
                _ => return Err(self.wrong(size, "a head has 1KiB to 1MiB")),
            };
        }
        bounds.body_bytes_per_s = written.body_rate.map_or(bounds.body_bytes_per_s, |rate| rate.0);
        bounds.hold_bodies = written.hold_bodies;
        let of_address =
            self.count("`connections_per_address`", &written.connections_per_address)?;
        bounds.connections_per_address = of_address.unwrap_or(bounds.connections_per_address);
        let connections = self.count("`connections`", &written.connections)?;
        bounds.connections_max = connections.unwrap_or(bounds.connections_max);
        Ok(bounds)
    }
}

fn set(value: &mut u64, written: Option<super::Duration>) {
    *value = written.map_or(*value, |duration| duration.0);
}

#[cfg(test)]
mod tests;
