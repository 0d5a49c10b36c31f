//! TLS over a net's bytes, by rustls: how it is set up, and the state of a connection (`session`).

mod session;

use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

pub(crate) use ::tls::is_of_authority;
pub(crate) use session::{Records, Session};

use ::tls::{Trusted, Unchecked};

/// The user's TLS settings. Certificates and keys are PEM bytes.
#[derive(Debug, Default)]
pub struct TlsSettings {
    /// Leave the server's certificate unchecked.
    pub insecure: bool,
    /// Certificates to trust instead of the system's.
    pub ca: Option<Vec<u8>>,
    /// The system's trusted certificates (DER), used when `ca` is absent.
    pub system_roots: Vec<Vec<u8>>,
    /// Client certificate chain.
    pub cert: Option<Vec<u8>>,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// Whether TLS 1.2 may be spoken.
    pub tls12: bool,
    /// Whether TLS 1.3 may be spoken.
    pub tls13: bool,
    /// Whether a connection may resume the session of an earlier one, which saves most of the
    /// handshake. A new client has none.
    pub resume: bool,
}

/// One of the inputs in PEM form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PemInput {
    /// Certificates to trust.
    Authorities,
    /// The client's certificate chain.
    Certificate,
    /// Its key.
    Key,
}

/// Why TLS could not be set up. The caller names the inputs (flags, files) in its message.
#[derive(Debug)]
pub enum TlsError {
    /// No version of TLS is left to use.
    NoVersion(rustls::Error),
    /// There is no certificate in an input.
    NoCertificate(PemInput),
    /// An input is not valid PEM of the right kind.
    Pem(PemInput, rustls::pki_types::pem::Error),
    /// A certificate to trust cannot be used.
    UnusableAuthority(rustls::Error),
    /// The client's certificate and key cannot be used.
    UnusablePair(rustls::Error),
}

/// The configuration that all connections of a run share.
///
/// # Errors
/// When a certificate or key cannot be read or used, or no version is left.
pub fn client_config(settings: &TlsSettings) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut versions: Vec<&'static SupportedProtocolVersion> = Vec::new();
    if settings.tls13 {
        versions.push(&rustls::version::TLS13);
    }
    if settings.tls12 {
        versions.push(&rustls::version::TLS12);
    }
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&versions)
        .map_err(TlsError::NoVersion)?;
    let builder = if settings.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
    } else if let Some(pem) = &settings.ca {
        let named = certificates(pem, PemInput::Authorities)?;
        let trusted = Trusted::new(named, provider).map_err(TlsError::UnusableAuthority)?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(trusted))
    } else {
        builder.with_root_certificates(system_roots(settings))
    };
    let mut config = match (&settings.cert, &settings.key) {
        (Some(cert), Some(key)) => builder
            .with_client_auth_cert(
                certificates(cert, PemInput::Certificate)?,
                PrivateKeyDer::from_pem_slice(key)
                    .map_err(|error| TlsError::Pem(PemInput::Key, error))?,
            )
            .map_err(TlsError::UnusablePair)?,
        _ => builder.with_no_client_auth(),
    };
    if !settings.resume {
        config.resumption = Resumption::disabled();
    }
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn system_roots(settings: &TlsSettings) -> RootCertStore {
    let mut store = RootCertStore::empty();
    let system = settings.system_roots.iter().cloned().map(CertificateDer::from);
    store.add_parsable_certificates(system);
    store
}

fn certificates(pem: &[u8], input: PemInput) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(TlsError::NoCertificate(input)),
        Err(error) => Err(TlsError::Pem(input, error)),
    }
}
