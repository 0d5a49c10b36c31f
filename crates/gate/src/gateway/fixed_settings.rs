//! The settings that need a restart: a reload reads them and reports that they differ, but does not apply them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::REPORT_EVERY_S;
use super::config_files::{TOKEN_MOST, read_text};
use super::control::Control;
use crate::config::{Built, Config, ListenerSettings};

/// What came of a configuration that was put in force while the gateway runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reloaded {
    /// Settings that differ from those of the start, by their names in a configuration: they wait for a restart. All
    /// others are in force.
    pub waits_for_restart: Vec<&'static str>,
    /// What is in force and may not be what was meant, a sentence each.
    pub notes: Vec<String>,
}

/// The settings that a gateway was started with, as far as they change by a restart only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fixed(Vec<(&'static str, String)>);

impl Fixed {
    /// Those of a configuration.
    pub(super) fn of(config: &Config, built: &Built) -> Self {
        let store = super::store_of(config);
        let path = |path: &Option<toml::Spanned<PathBuf>>| {
            path.as_ref().map(|path| path.get_ref().clone())
        };
        let url =
            |url: &Option<toml::Spanned<String>>| url.as_ref().map(|url| url.get_ref().clone());
        let token = path(&config.admin.token_file);
        // Certificates are read again.
        let listener = |own: &ListenerSettings| (own.address, own.identity.is_some(), own.proxy);
        let listeners: Vec<_> = built.listeners.iter().map(listener).collect();
        Self(vec![
            ("listen", format!("{listeners:?}")),
            ("admin.address", format!("{:?}", built.admin)),
            ("admin.token_file", format!("{token:?} {:?}", token.as_deref().map(content))),
            ("keys.store", format!("{store:?}")),
            ("usage.every", report_every_s(config).to_string()),
            ("usage.json_lines", format!("{:?}", path(&config.usage.json_lines))),
            ("usage.http", format!("{:?}", url(&config.usage.http))),
            ("shared.server", format!("{:?}", url(&config.shared.server))),
            ("access_log", format!("{:?}", built.access_log)),
            ("workers", format!("{:?}", config.workers.as_ref().map(toml::Spanned::get_ref))),
            ("busy_poll", built.busy_poll_ns.to_string()),
        ])
    }

    /// The names of the settings that a later configuration would change.
    pub(super) fn waiting(&self, later: &Self) -> Vec<&'static str> {
        let pairs = self.0.iter().zip(&later.0);
        pairs.filter(|(own, other)| own != other).map(|(own, _)| own.0).collect()
    }
}

impl Control {
    /// Notes that the number of threads that was asked for is not the one in force: a gateway that takes over keeps the number.
    pub(super) fn note_kept_threads(&self, note: String) {
        let mut changing = self.changing();
        changing.outcome.waits_for_restart.push("workers");
        changing.outcome.notes.push(note);
    }
}

/// A hash of a file's content, to notice that it changed.
fn content(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    read_text(path, TOKEN_MOST).ok().hash(&mut hasher);
    hasher.finish()
}

/// Seconds between two reports of usage.
pub(super) fn report_every_s(config: &Config) -> u32 {
    let every = config.usage.every.as_ref().map(|every| every.get_ref().0 / model::units::SECOND);
    every.map_or(REPORT_EVERY_S, |seconds| u32::try_from(seconds).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    fn fixed(change: impl FnOnce(&mut Flags)) -> Fixed {
        let mut flags = Flags {
            listen: vec!["127.0.0.1:9090".into()],
            upstream: vec!["http://127.0.0.1:8080".into()],
            ..Flags::default()
        };
        change(&mut flags);
        let config = Config::from(flags);
        let resolve = |text: &str| match text.parse::<std::net::SocketAddr>() {
            Ok(address) => Ok(vec![address]),
            Err(error) => Err(error.to_string()),
        };
        let built = Built::of(&config, "", None, &resolve).unwrap();
        Fixed::of(&config, &built)
    }

    #[test]
    fn what_waits_for_a_restart_is_named() {
        let start = fixed(|_| ());
        assert!(start.waiting(&fixed(|_| ())).is_empty());
        let upstream = fixed(|flags| flags.upstream = vec!["http://127.0.0.1:8081".into()]);
        assert!(start.waiting(&upstream).is_empty(), "upstreams change at once");
        let later = fixed(|flags| {
            flags.listen = vec!["127.0.0.1:9092".into()];
            flags.store = Some("other.db".into());
            flags.access_log = Some("access.log".into());
            flags.workers = Some(3);
        });
        assert_eq!(start.waiting(&later), ["listen", "keys.store", "access_log", "workers"]);
        // The default, written out, is the default.
        let store = Some(crate::config::STORE.into());
        assert!(start.waiting(&fixed(|flags| flags.store = store)).is_empty());
    }
}
