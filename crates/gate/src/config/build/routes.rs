//! Checks routes and converts them to settings.

use std::collections::BTreeMap;

use model::names::nearest;
use toml::Spanned;

use super::super::file::*;
use super::super::place::ConfigError;
use super::{Builder, set};
use crate::policy::{
    HeaderRules, Host, Methods, PathPattern, PathRewrite, Route, Shadow, Timeouts, Upstream,
    WEBSOCKET,
};

impl Builder<'_> {
    pub(super) fn route(
        &self,
        written: &RouteConfig,
        upstreams: &[Upstream],
    ) -> Result<Route, ConfigError> {
        let mut route = Route::to(self.upstream_of(&written.upstream, upstreams)?);
        route.shadow =
            written.shadow.as_ref().map(|shadow| self.shadow(shadow, upstreams)).transpose()?;
        route.name = written.name.get_ref().clone();
        if let Some(host) = &written.host {
            route.host = self.host(host)?;
        }
        if let Some(path) = &written.path {
            let parsed = PathPattern::parse(path.get_ref());
            route.path = parsed.map_err(|why| self.wrong(path, why))?;
            if let Some(segment) = parameter_of_others(path.get_ref()) {
                return Err(self.wrong(
                    path,
                    format!(
                        "`{segment}`: a parameter stands for any one segment, such as {{id}}; a path without parameters takes \
                         all below it"
                    ),
                ));
            }
        }
        route.methods = self.methods(written.methods.as_ref())?;
        route.public = written.public;
        route.rewrite =
            written.rewrite.as_ref().map(|rewrite| self.rewrite(rewrite)).transpose()?;
        route.rewrite_responses = written.rewrite_responses.unwrap_or(true);
        route.upstream_host = match &written.upstream_host {
            Some(host) if !is_host(host.get_ref()) => {
                let what = "a host is a name such as api.example.com, with a port or without";
                return Err(self.wrong(host, what));
            }
            host => host.as_ref().map(|host| host.get_ref().clone()),
        };
        route.request_headers = self.headers(&written.request_headers)?;
        route.response_headers = self.headers(&written.response_headers)?;
        route.timeouts = timeouts(&written.timeouts);
        route.upgrade = self.upgrade(written)?;
        route.body_max_bytes = written.body.map_or(route.body_max_bytes, |bytes| bytes.0);
        route.limits = self.limits(&written.limits)?;
        route.quotas = self.quotas(&written.limits)?;
        Ok(route)
    }

    /// Refuses a route whose requests all match an earlier one, and a rewrite that changes none of its paths.
    pub(super) fn reachable(
        &self,
        written: &RouteConfig,
        route: &Route,
        earlier: &[Route],
    ) -> Result<(), ConfigError> {
        if let Some(other) = earlier.iter().find(|other| takes_all_of(other, route)) {
            return Err(self.wrong(
                &written.name,
                format!(
                    "the route `{}` takes all requests of this one: same host, path and methods",
                    other.name
                ),
            ));
        }
        match (&route.rewrite, &written.rewrite) {
            (Some(rewrite), Some(written)) if !route.path.may_begin_with(&rewrite.from) => {
                Err(self.wrong(
                    &written.from,
                    format!(
                        "no path that the route takes ({}) begins with `{}`",
                        route.path,
                        written.from.get_ref()
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// The index of the upstream of this name.
    fn upstream_of(
        &self,
        written: &Spanned<String>,
        upstreams: &[Upstream],
    ) -> Result<u32, ConfigError> {
        let name = written.get_ref();
        if let Some(place) = upstreams.iter().position(|upstream| upstream.name == *name) {
            return Ok(place as u32);
        }
        let near = nearest(name, upstreams.iter().map(|upstream| &*upstream.name));
        let hint = near.map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
        Err(self.wrong(written, format!("there is no upstream `{name}`{hint}")))
    }

    /// Protocols for which `Upgrade` opens a tunnel, in lower case.
    fn upgrade(&self, written: &RouteConfig) -> Result<Vec<String>, ConfigError> {
        let websocket = || Ok(vec![WEBSOCKET.to_owned()]);
        let Some(upgrade) = &written.upgrade else { return websocket() };
        let protocols = match upgrade.get_ref() {
            UpgradeConfig::Whether(true) => return websocket(),
            UpgradeConfig::Whether(false) => return Ok(Vec::new()),
            UpgradeConfig::Protocols(protocols) => protocols,
        };
        let protocol = |text: &String| {
            let lower = text.to_ascii_lowercase();
            let (name, version) = lower.split_once('/').unwrap_or((lower.as_str(), "1"));
            let of_tokens =
                [name, version].iter().all(|part| !part.is_empty() && part.bytes().all(is_token));
            match name {
                "http" | "h2c" | "h2" => Err(self.wrong(
                    upgrade,
                    format!("upgrade: `{text}`: in another version of HTTP requests would pass the gateway"),
                )),
                _ if of_tokens => Ok(lower.clone()),
                _ => Err(self.wrong(
                    upgrade,
                    format!("upgrade: `{text}` is not a protocol such as websocket or SPDY/3.1"),
                )),
            }
        };
        protocols.iter().map(protocol).collect()
    }

    fn shadow(
        &self,
        written: &ShadowConfig,
        upstreams: &[Upstream],
    ) -> Result<Shadow, ConfigError> {
        let upstream = self.upstream_of(&written.upstream, upstreams)?;
        let share = match &written.share {
            Some(share) if !(0.0..=1.0).contains(share.get_ref()) => {
                return Err(self.wrong(share, "a share is from 0 to 1"));
            }
            share => share.as_ref().map_or(1.0, |share| *share.get_ref()),
        };
        Ok(Shadow { upstream, share_ppm: (share * 1e6).round() as u32, compare: written.compare })
    }

    fn host(&self, written: &Spanned<String>) -> Result<Host, ConfigError> {
        let text = written.get_ref().to_ascii_lowercase();
        let (below, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, &*text),
        };
        if !is_host(name) || name.contains(':') {
            return Err(self.wrong(
                written,
                "a host is a name such as api.example.com or *.example.com, without port",
            ));
        }
        Ok(if below { Host::Below(format!(".{name}")) } else { Host::Exact(name.to_owned()) })
    }

    fn methods(
        &self,
        written: Option<&Spanned<Vec<Spanned<String>>>>,
    ) -> Result<Methods, ConfigError> {
        let Some(written) = written else { return Ok(Methods::default()) };
        if written.get_ref().is_empty() {
            let what = "a route takes at least one method: leave `methods` out for all of them";
            return Err(self.wrong(written, what));
        }
        let fits = |byte: u8| is_token(byte) && !byte.is_ascii_lowercase();
        let method = |method: &Spanned<String>| match method.get_ref() {
            text if !text.is_empty() && text.bytes().all(fits) => Ok(text.clone()),
            _ => Err(self.wrong(method, "a method is written in capitals, such as GET")),
        };
        written.get_ref().iter().map(method).collect::<Result<_, _>>().map(Methods)
    }

    fn rewrite(&self, written: &RewriteConfig) -> Result<PathRewrite, ConfigError> {
        let (from, to) = (written.from.get_ref(), written.to.get_ref());
        let plain = |text: &str| {
            !text.bytes().any(|byte| byte <= b' ' || byte >= 127 || b"?#".contains(&byte))
        };
        if !from.starts_with('/') || !plain(from) {
            return Err(
                self.wrong(&written.from, "begins with / and has no query, fragment or space")
            );
        }
        if !(to.is_empty() || to.starts_with('/')) || !plain(to) {
            return Err(self.wrong(
                &written.to,
                "is empty or begins with /, and has no query, fragment or space",
            ));
        }
        let from = match PathPattern::parse(from) {
            Ok(PathPattern::Prefix(from)) => from,
            Ok(PathPattern::Template(_)) => {
                return Err(self.wrong(&written.from, "is a path without {parameters}"));
            }
            Err(why) => return Err(self.wrong(&written.from, why)),
        };
        let trimmed = |text: &str| text.trim_end_matches('/').to_owned();
        Ok(PathRewrite { from: trimmed(&from), to: trimmed(to) })
    }

    fn headers(&self, written: &HeaderConfig) -> Result<HeaderRules, ConfigError> {
        let name = |name: &Spanned<String>| {
            let text = name.get_ref().to_ascii_lowercase();
            if text.is_empty() || !text.bytes().all(is_token) {
                return Err(self.wrong(name, format!("`{text}` is not the name of a header")));
            }
            if KEPT_HEADERS.contains(&&*text) {
                return Err(
                    self.wrong(name, format!("the header {text} is the gateway's own to set"))
                );
            }
            Ok(text)
        };
        let mut set: BTreeMap<String, String> = BTreeMap::new();
        for (key, value) in &written.set {
            let text = value.get_ref();
            if text.trim() != text || text.bytes().any(|byte| byte < b' ' || byte == 127) {
                return Err(
                    self.wrong(value, "a value has no control characters and no spaces around it")
                );
            }
            set.insert(name(key)?, text.clone());
        }
        let remove = written.remove.iter().map(name).collect::<Result<_, _>>()?;
        Ok(HeaderRules { remove, set: set.into_iter().collect() })
    }
}

/// Headers that rules may not touch: those of the connection and of framing, and what the gateway overwrites.
pub(super) const KEPT_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-plimsoll-key",
    "x-plimsoll-owner",
];

/// RFC 9110, section 5.6.2.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A parameter that other routers take for several segments (`{rest...}`, `{*rest}`), or for some values alone
/// (`{id:[0-9]+}`).
fn parameter_of_others(path: &str) -> Option<&str> {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) || !byte.is_ascii();
    path.split('/').find(|segment| {
        let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        name.is_some_and(|name| !name.bytes().all(plain) || name.contains(".."))
    })
}

fn is_host(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.len() <= 255 && text.bytes().all(fits)
}

/// Whether one route, which comes first, takes all requests of another by the same host and path.
fn takes_all_of(one: &Route, other: &Route) -> bool {
    let methods = match (one.methods.0.is_empty(), other.methods.0.is_empty()) {
        (true, true) => true,
        // Routes with methods are tried first.
        (true, false) | (false, true) => false,
        (false, false) => other.methods.0.iter().all(|method| one.methods.take(method.as_bytes())),
    };
    methods && one.host == other.host && one.path == other.path
}

fn timeouts(written: &TimeoutConfig) -> Timeouts {
    let mut timeouts = Timeouts::default();
    set(&mut timeouts.connect_ns, written.connect);
    set(&mut timeouts.first_byte_ns, written.first_byte);
    set(&mut timeouts.whole_ns, written.whole);
    set(&mut timeouts.idle_ns, written.idle);
    timeouts
}
