//! TLS to databases: what the options of a URL ask for, and which certificates satisfy it.
//!
//! A mode means what it means to the database's own programs. Where a client library cannot do that, more is checked,
//! never less. Owns no connection.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mysql::SslOpts;
use postgres::config::SslMode;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::LARGEST;

/// Why TLS cannot be had as it is asked for, in words.
type Result<T> = std::result::Result<T, String>;

/// What is asked of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing: who listens cannot read along, who stands between can.
    Nothing,
    /// That an authority which is trusted signed it.
    Authority,
    /// That, and that it names the host.
    Name,
}

/// Whether TLS is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    /// If the server can, without a check.
    IfOffered,
    Required(Check),
}

impl Mode {
    /// PostgreSQL's `sslmode`. Without one no TLS is spoken.
    pub(crate) fn of_postgres(mode: Option<&str>) -> Result<Self> {
        Ok(match mode.unwrap_or_default() {
            "" | "disable" | "allow" => Self::Plain,
            "prefer" => Self::IfOffered,
            "require" => Self::Required(Check::Nothing),
            "verify-ca" => Self::Required(Check::Authority),
            "verify-full" => Self::Required(Check::Name),
            other => {
                return Err(format!(
                    "sslmode={other} is none of disable, allow, prefer, require, verify-ca, verify-full"
                ));
            }
        })
    }

    /// MySQL's `ssl-mode`. The client library falls back to no other kind of connection, so that what is only preferred
    /// is left out. It trusts public authorities beside the one that is named: any of their customers would pass for
    /// the server if its name was not checked, so it always is.
    pub(crate) fn of_mysql(mode: Option<&str>, has_root: bool) -> Result<Self> {
        let mode = mode.unwrap_or_default().to_ascii_uppercase();
        Ok(match mode.as_str() {
            "" if has_root => Self::Required(Check::Name),
            "" | "DISABLED" | "PREFERRED" => Self::Plain,
            "REQUIRED" => Self::Required(Check::Nothing),
            "VERIFY_CA" | "VERIFY_IDENTITY" => Self::Required(Check::Name),
            other => {
                return Err(format!(
                    "ssl-mode={other} is none of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY"
                ));
            }
        })
    }
}

/// The options of MySQL's client; none without TLS.
pub(crate) fn mysql(mode: Mode, root: Option<PathBuf>) -> Result<Option<SslOpts>> {
    let Mode::Required(check) = mode else { return Ok(None) };
    if let Some(root) = &root {
        certificates(root)?;
    }
    let options = SslOpts::default().with_danger_accept_invalid_certs(check == Check::Nothing);
    Ok(Some(options.with_root_cert_path(root.map(Cow::from))))
}

/// The mode and the connector of PostgreSQL's client; none without TLS. The root is the file named by `sslrootcert`, or
/// `system`.
pub(crate) fn postgres(
    mode: Mode,
    root: Option<&Path>,
) -> Result<Option<(SslMode, MakeRustlsConnect)>> {
    const SYSTEM: &str = "system";
    let system = root.is_some_and(|root| root.as_os_str() == SYSTEM);
    let (mode, check) = match mode {
        Mode::Plain => return Ok(None),
        Mode::IfOffered => (SslMode::Prefer, Check::Nothing),
        // As libpq has it since it could not check certificates that were not there.
        Mode::Required(Check::Nothing) if root.is_some() => (SslMode::Require, Check::Authority),
        Mode::Required(check) => (SslMode::Require, check),
    };
    if system && check != Check::Name {
        return Err(
            "sslrootcert=system needs sslmode=verify-full: anybody can have a certificate \
                    of a public authority"
                .to_owned(),
        );
    }
    let verifier = match (check, root) {
        (Check::Nothing, _) => Verifier::of(Vec::new(), check)?,
        (Check::Authority, None) => {
            return Err(
                "sslmode=verify-ca needs the certificate of the authority: sslrootcert=FILE"
                    .to_owned(),
            );
        }
        (_, Some(file)) if !system => Verifier::of(certificates(file)?, check)?,
        (_, _) => Verifier::of(rustls_native_certs::load_native_certs().certs, check)?,
    };
    let provider = verifier.provider.clone();
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    // What `sslnegotiation=direct` demands, and all others pass over.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Some((mode, MakeRustlsConnect::new(config))))
}

/// The certificates of a file.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let about = fs::metadata(file).map_err(|error| wrong(&error))?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(wrong(&"is no file of certificates in PEM form"));
    }
    let text = fs::read(file).map_err(|error| wrong(&error))?;
    let read: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(wrong(&"holds no certificate in PEM form")),
        Err(error) => Err(wrong(&error)),
    }
}

/// Judges a server's certificate.
#[derive(Debug)]
struct Verifier {
    check: Check,
    /// Certificates that are trusted; one of them may be the server's own.
    trusted: Vec<CertificateDer<'static>>,
    /// Looks for a chain to one of them; none where nothing is checked.
    chains: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn of(trusted: Vec<CertificateDer<'static>>, check: Check) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let chains = match check {
            Check::Nothing => None,
            Check::Authority | Check::Name => {
                let mut roots = RootCertStore::empty();
                roots.add_parsable_certificates(trusted.iter().cloned());
                let builder =
                    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
                Some(builder.build().map_err(|error| format!("no certificate to trust: {error}"))?)
            }
        };
        Ok(Self { check, trusted, chains, provider })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(chains) = &self.chains else { return Ok(ServerCertVerified::assertion()) };
        // Self-signed ones are mostly marked as authorities, which no server's certificate may be in a chain.
        if self.trusted.iter().any(|trusted| trusted == own) {
            if self.check == Check::Name {
                verify_server_name(&ParsedCertificate::try_from(own)?, host)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match chains.verify_server_cert(own, between, host, status, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Authority => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, own, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, own, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
