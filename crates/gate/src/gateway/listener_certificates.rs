//! The certificates of listeners, and the list of files that a reload reads.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::config_files::Written;
use super::control::{Control, read};
use super::{GatewayError, listeners};
use crate::config::{Built, Config, ListenerSettings};
use crate::limits::date;
use crate::path::{Identity, Listener};

/// What each listener with TLS shows, by its address as configured.
#[derive(Debug, Default)]
pub(super) struct ListenerCertificates(Vec<(SocketAddr, Identity)>);

impl ListenerCertificates {
    /// Of listeners and what they were made of.
    pub(super) fn of(settings: &[ListenerSettings], listeners: &[Listener]) -> Self {
        let identity = |(settings, listener): (&ListenerSettings, &Listener)| {
            Some((settings.address, listener.identity.clone()?))
        };
        Self(settings.iter().zip(listeners).filter_map(identity).collect())
    }

    /// Reads what a configuration has listeners show.
    ///
    /// # Errors
    /// As at the start: when a certificate or key cannot be used.
    pub(super) fn read(
        config: &Config,
        built: &Built,
        written: Written<'_>,
    ) -> Result<Self, GatewayError> {
        Ok(Self::of(&built.listeners, &listeners(&built.listeners, config, written)?))
    }

    /// What is wrong where a certificate has expired.
    pub(super) fn expired(&self, now_s: i64) -> Option<String> {
        let ended = |(address, identity): &(SocketAddr, Identity)| {
            let ends_s = identity.ends_s().filter(|ends_s| *ends_s < now_s)?;
            let (year, month, day) = date(ends_s);
            Some(format!(
                "the certificate that {address} shows expired on {year}-{month:02}-{day:02}, and clients refuse it: renew it, \
                 and reload"
            ))
        };
        self.0.iter().find_map(ended)
    }

    /// Shows new connections what a later configuration says, at the addresses that use TLS already.
    pub(super) fn renew(&self, later: &Self) {
        for (address, identity) in &self.0 {
            if let Some((_, other)) = later.0.iter().find(|(other, _)| other == address) {
                identity.renew(other);
            }
        }
    }
}

impl Control {
    /// The files that a reload reads: the configuration, and those that the one on disk names.
    pub fn files(&self) -> Vec<PathBuf> {
        let setup = self.setup();
        let mut files: Vec<PathBuf> = setup.file.iter().cloned().collect();
        if let Ok((config, _)) = read(setup) {
            let listeners = config.listen.iter().flat_map(|listen| [&listen.cert, &listen.key]);
            let named = [&config.loadline, &config.authorities].into_iter().chain(listeners);
            files.extend(named.flatten().map(|path| path.get_ref().clone()));
        }
        files
    }
}
