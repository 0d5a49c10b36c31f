//! TLS to databases: what the options of a URL ask for, and which certificates satisfy it.
//!
//! A mode means what it means to the database's own programs. Where a client library cannot do that, more is checked,
//! never less. Owns neither connections nor the check itself (crate `tls`).

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::tls::{Trusted, Unchecked};
use mysql::SslOpts;
use postgres::config::SslMode;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::LARGEST;

/// The error says in words why TLS cannot be set up as requested.
type Result<T> = std::result::Result<T, String>;

/// What is asked of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    /// Nothing. This stops eavesdropping, but not a man in the middle.
    Nothing,
    /// That a trusted authority signed it.
    Authority,
    /// That, and that it is for the host.
    Name,
}

/// Whether a connection uses TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    /// If the server offers it, without a check of its certificate.
    IfOffered,
    Required(Check),
}

impl Mode {
    /// PostgreSQL's `sslmode`. Without one, TLS is not used.
    pub(crate) fn of_postgres(mode: Option<&str>) -> Result<Self> {
        Ok(match mode.unwrap_or_default() {
            "" | "disable" | "allow" => Self::Plain,
            "prefer" => Self::IfOffered,
            "require" => Self::Required(Check::Nothing),
            "verify-ca" => Self::Required(Check::Authority),
            "verify-full" => Self::Required(Check::Name),
            other => {
                return Err(format!(
                    "sslmode={other} is not one of disable, allow, prefer, require, verify-ca, verify-full"
                ));
            }
        })
    }

    /// MySQL's `ssl-mode`. The client library cannot fall back to a connection without TLS, so `PREFERRED` means none. It
    /// trusts public authorities besides the one that is named, so the host name is always checked with the certificate:
    /// otherwise anybody with a public certificate could pass for the server.
    pub(crate) fn of_mysql(mode: Option<&str>, has_root: bool) -> Result<Self> {
        let mode = mode.unwrap_or_default().to_ascii_uppercase();
        Ok(match mode.as_str() {
            "" if has_root => Self::Required(Check::Name),
            "" | "DISABLED" | "PREFERRED" => Self::Plain,
            "REQUIRED" => Self::Required(Check::Nothing),
            "VERIFY_CA" | "VERIFY_IDENTITY" => Self::Required(Check::Name),
            other => {
                return Err(format!(
                    "ssl-mode={other} is not one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY"
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
        // As in libpq: with a root certificate, `require` means `verify-ca`.
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
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match (check, root) {
        (Check::Nothing, _) => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
        }
        (Check::Authority, None) => {
            return Err(
                "sslmode=verify-ca needs the certificate of the authority: sslrootcert=FILE"
                    .to_owned(),
            );
        }
        (_, Some(file)) if !system => {
            let trusted = Trusted::new(certificates(file)?, provider)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            let trusted = if check == Check::Name { trusted } else { trusted.for_any_name() };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(trusted))
        }
        (_, _) => builder.with_root_certificates(system_roots()?),
    };
    let mut config = builder.with_no_client_auth();
    // `sslnegotiation=direct` requires this; other negotiations ignore it.
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Some((mode, MakeRustlsConnect::new(config))))
}

/// The system's trusted certificates, as far as rustls can read them.
fn system_roots() -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(
            "the system has no trusted certificates: name one with sslrootcert=FILE".to_owned()
        );
    }
    Ok(roots)
}

/// The certificates of a file.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let about = fs::metadata(file).map_err(|error| wrong(&error))?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(wrong(&"is not a file of certificates in PEM form"));
    }
    let text = fs::read(file).map_err(|error| wrong(&error))?;
    let read: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(wrong(&"holds no certificate in PEM form")),
        Err(error) => Err(wrong(&error)),
    }
}
