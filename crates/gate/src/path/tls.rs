//! TLS on a connection, either side: bytes from the network to plaintext and back, by rustls.
//!
//! Owns certificates and sessions. Plain connections never come here.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
};

/// What TLS listeners show. Clones show the same, also after it was renewed.
#[derive(Debug, Clone)]
pub struct Identity {
    config: Arc<ServerConfig>,
    shown: Arc<Shown>,
}

/// The certificate that new connections are shown.
#[derive(Debug)]
struct Shown(RwLock<Arc<CertifiedKey>>);

impl Shown {
    fn now(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }
}

impl Identity {
    /// Reads a key from a PEM file.
    ///
    /// # Errors
    /// In words that name the file.
    pub fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
        let wanted = |error| format!("{}: {error}; wanted a private key in PEM", path.display());
        PrivateKeyDer::from_pem_file(path).map_err(wanted)
    }

    /// Reads a certificate with those that it is signed by from a PEM file; `key` is its key.
    ///
    /// # Errors
    /// In words that name the file.
    pub fn read(certificate: &Path, key: PrivateKeyDer<'static>) -> Result<Self, String> {
        let wanted = |path: &Path, error: &dyn std::fmt::Display, what: &str| {
            format!("{}: {error}; wanted {what} in PEM", path.display())
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| wanted(certificate, &error, "a certificate"))?;
        if chain.is_empty() {
            return Err(wanted(certificate, &"no certificate in it", "a certificate"));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let pair = CertifiedKey::from_der(chain, key, &provider).map_err(|error| {
            format!("{} and its key do not go together: {error}", certificate.display())
        })?;
        let shown = Arc::new(Shown(RwLock::new(Arc::new(pair))));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let resolver: Arc<Shown> = Arc::clone(&shown);
        let mut config = config.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), shown })
    }

    /// Shows new connections what another identity shows. Those that stand go on.
    pub fn renew(&self, other: &Self) {
        let pair = other.shown.now();
        *self.shown.0.write().unwrap_or_else(PoisonError::into_inner) = pair;
    }

    /// The gateway's side of a client's new connection.
    pub(super) fn accept(&self) -> Option<Tls> {
        ServerConnection::new(Arc::clone(&self.config)).ok().map(|tls| Tls::of(tls.into()))
    }
}

/// Whom upstreams are checked against that speak TLS.
#[derive(Debug, Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

impl Trust {
    /// The system's certificate authorities, or those of a PEM file.
    ///
    /// # Errors
    /// In words, where there is none to be read.
    pub fn read(authorities: Option<&Path>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        match authorities {
            Some(path) => {
                let found = CertificateDer::pem_file_iter(path)
                    .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                    .map_err(|error| {
                        format!("{}: {error}; wanted certificates in PEM", path.display())
                    })?;
                roots.add_parsable_certificates(found);
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            return Err(match authorities {
                Some(path) => format!("{}: no certificate in it; wanted certificates in PEM", path.display()),
                None => {
                    "no certificate authority was found to check an https upstream against: name a file, authorities = FILE"
                        .into()
                }
            });
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config) })
    }

    /// The gateway's side of a new connection to the server of this name.
    pub(super) fn connect(&self, name: &str) -> Option<Tls> {
        let name = ServerName::try_from(name.to_owned()).ok()?;
        ClientConnection::new(Arc::clone(&self.config), name).ok().map(|tls| Tls::of(tls.into()))
    }
}

/// The state of TLS on one connection.
#[derive(Debug)]
pub(super) struct Tls {
    connection: Connection,
    /// The peer has said that it sends no more (close_notify).
    has_ended: bool,
}

impl Tls {
    fn of(mut connection: Connection) -> Self {
        // Everything written is taken out again at once, so the buffer needs no limit.
        connection.set_buffer_limit(None);
        Self { connection, has_ended: false }
    }

    /// Whether the peer has said that it sends no more: what ends without that may have been cut off by anybody.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the handshake is still under way.
    pub(super) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Takes received bytes and appends their plaintext to `plain`. What follows the peer's close_notify is passed over (RFC
    /// 8446 section 6.1).
    ///
    /// # Errors
    /// When they are not TLS that is accepted; an alert for the peer is then in [`Self::outgoing`].
    pub(super) fn decrypt(&mut self, mut came: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        while !came.is_empty() && !self.has_ended {
            if self.connection.read_tls(&mut came)? == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let state = self.connection.process_new_packets().map_err(io::Error::other)?;
            let there = state.plaintext_bytes_to_read() as u64;
            self.has_ended = state.peer_has_closed();
            self.connection.reader().take(there).read_to_end(plain)?;
        }
        Ok(())
    }

    /// Takes plaintext to be sent.
    pub(super) fn encrypt(&mut self, plain: &[u8]) {
        // Writing into a buffer without a limit cannot fail.
        let written = self.connection.writer().write_all(plain);
        debug_assert!(written.is_ok());
    }

    /// Announces the end of sending (close_notify).
    pub(super) fn close_notify(&mut self) {
        self.connection.send_close_notify();
    }

    /// Moves TLS records that are to be sent into `out`.
    pub(super) fn outgoing(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            match self.connection.write_tls(out) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}
