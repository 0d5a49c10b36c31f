//! Certificates: what TLS listeners show, and whom upstreams are checked against. Connections begin here, and are the crate
//! `tls`'s from then on.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use tls::{Tls, Trusted};
use x509_parser::parse_x509_certificate;

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

    /// The last second in which the certificate is valid, since the epoch; `None` where it cannot be read.
    pub(crate) fn ends_s(&self) -> Option<i64> {
        let pair = self.shown.now();
        let (_, certificate) = parse_x509_certificate(pair.cert.first()?).ok()?;
        Some(certificate.validity().not_after.timestamp())
    }

    /// Shows new connections what another identity shows. Those that stand go on.
    pub fn renew(&self, other: &Self) {
        let pair = other.shown.now();
        *self.shown.0.write().unwrap_or_else(PoisonError::into_inner) = pair;
    }

    /// The gateway's side of a client's new connection.
    pub(super) fn accept(&self) -> Option<Tls> {
        ServerConnection::new(Arc::clone(&self.config)).ok().map(Tls::of)
    }
}

/// Whom upstreams are checked against that speak TLS. Equal where the authorities are the same.
#[derive(Debug, Clone)]
pub struct Trust {
    authorities: Arc<RootCertStore>,
    config: Arc<ClientConfig>,
}

impl PartialEq for Trust {
    fn eq(&self, other: &Self) -> bool {
        self.authorities.roots == other.authorities.roots
    }
}

impl Trust {
    /// The system's certificate authorities, or those of a PEM file.
    ///
    /// # Errors
    /// In words, where there is none to be read.
    pub fn read(authorities: Option<&Path>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        let mut named = Vec::new();
        match authorities {
            Some(path) => {
                named = CertificateDer::pem_file_iter(path)
                    .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                    .map_err(|error| {
                        format!("{}: {error}; wanted certificates in PEM", path.display())
                    })?;
                named.retain(|certificate| roots.add(certificate.clone()).is_ok());
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
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let authorities = Arc::new(roots);
        let trusts = if named.is_empty() {
            config.with_root_certificates(Arc::clone(&authorities))
        } else {
            let trusted = Trusted::new(named, provider).map_err(|error| error.to_string())?;
            config.dangerous().with_custom_certificate_verifier(Arc::new(trusted))
        };
        let mut config = trusts.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { authorities, config: Arc::new(config) })
    }

    /// The gateway's side of a new connection to the server of this name.
    pub(super) fn connect(&self, name: &str) -> Option<Tls> {
        let name = ServerName::try_from(name.to_owned()).ok()?;
        ClientConnection::new(Arc::clone(&self.config), name).ok().map(Tls::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_reported() {
        for ((year, month, day), expected) in
            [((2020, 1, 1), 1_577_836_800), ((2060, 2, 29), 2_845_238_400)]
        {
            let mut params = rcgen::CertificateParams::new(vec!["a.test".to_owned()]).unwrap();
            params.not_after = rcgen::date_time_ymd(year, month, day);
            let key = rcgen::KeyPair::generate().unwrap();
            let made = params.self_signed(&key).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let certificate = folder.path().join("c.pem");
            std::fs::write(&certificate, made.pem()).unwrap();
            let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
            let identity = Identity::read(&certificate, key).unwrap();
            assert_eq!(identity.ends_s(), Some(expected));
        }
    }
}
