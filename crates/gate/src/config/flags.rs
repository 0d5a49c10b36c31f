//! A configuration made of flags, and how it goes before one that is written.

use std::path::PathBuf;

use toml::Spanned;

use super::file::{
    AccessLogConfig, AdminConfig, Config, KeysConfig, ListenConfig, UpstreamConfig, UsageConfig,
};

/// The settings that flags can set.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// Addresses for clients.
    pub listen: Vec<String>,
    /// URLs of servers that give the same responses.
    pub upstream: Vec<String>,
    /// The load line.
    pub loadline: Option<PathBuf>,
    /// Address of the admin API.
    pub admin: Option<String>,
    /// File of its token.
    pub admin_token: Option<PathBuf>,
    /// File of keys and usage.
    pub store: Option<PathBuf>,
    /// Whether requests need no key.
    pub open: bool,
    /// File of JSON lines for usage.
    pub usage_lines: Option<PathBuf>,
    /// File of the access log.
    pub access_log: Option<PathBuf>,
    /// Threads.
    pub workers: Option<usize>,
}

/// A value without a place in a file.
fn unplaced<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

impl From<Flags> for Config {
    fn from(flags: Flags) -> Self {
        let listener = |address| ListenConfig {
            address: unplaced(address),
            cert: None,
            key: None,
            proxy_protocol: false,
        };
        let servers: Vec<_> = flags.upstream.into_iter().map(unplaced).collect();
        let upstream = UpstreamConfig {
            name: unplaced("upstream".to_owned()),
            servers: unplaced(servers),
            balance: super::file::BalanceConfig::default(),
            connections: None,
            keep_alive: None,
            check: None,
            failures: None,
            rest: None,
            retries: None,
            retry_budget: None,
        };
        let upstreams =
            if upstream.servers.get_ref().is_empty() { Vec::new() } else { vec![upstream] };
        Self {
            listen: flags.listen.into_iter().map(listener).collect(),
            admin: AdminConfig {
                address: flags.admin.map(unplaced),
                token_file: flags.admin_token.map(unplaced),
            },
            upstream: upstreams,
            keys: KeysConfig {
                open: flags.open,
                store: flags.store.map(unplaced),
                ..KeysConfig::default()
            },
            loadline: flags.loadline.map(unplaced),
            usage: UsageConfig {
                json_lines: flags.usage_lines.map(unplaced),
                ..UsageConfig::default()
            },
            access_log: AccessLogConfig {
                path: flags.access_log.map(unplaced),
                ..AccessLogConfig::default()
            },
            workers: flags.workers.map(unplaced),
            ..Self::default()
        }
    }
}

impl Config {
    /// Applies flags, which take precedence over the file.
    pub fn overrule(&mut self, flags: &Self) {
        let Self {
            listen,
            admin,
            upstream,
            route: _,
            tier: _,
            keys,
            limits: _,
            loadline,
            gateways: _,
            authorities: _,
            client: _,
            usage,
            shared: _,
            access_log,
            workers,
            busy_poll: _,
        } = flags;
        if !listen.is_empty() {
            self.listen.clone_from(listen);
        }
        if !upstream.is_empty() {
            self.upstream.clone_from(upstream);
        }
        fn over<T: Clone>(own: &mut Option<T>, flag: &Option<T>) {
            if flag.is_some() {
                own.clone_from(flag);
            }
        }
        over(&mut self.admin.address, &admin.address);
        over(&mut self.admin.token_file, &admin.token_file);
        over(&mut self.keys.store, &keys.store);
        over(&mut self.loadline, loadline);
        over(&mut self.usage.json_lines, &usage.json_lines);
        over(&mut self.access_log.path, &access_log.path);
        over(&mut self.workers, workers);
        self.keys.open |= keys.open;
    }
}
