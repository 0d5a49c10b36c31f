//! TLS as flags and workload files ask for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::TlsSettings;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::args::{TlsArgs, TlsVersion};
use crate::failure::{Failure, usage};
use crate::sent::Sent;

/// What a connection needs, and the name that is asked for.
#[derive(Debug, Clone)]
pub struct Tls {
    /// How TLS is spoken.
    pub config: Arc<ClientConfig>,
    /// Whom the certificate must name.
    pub name: ServerName<'static>,
    /// The same as text.
    pub sni: String,
    /// Whether the certificate goes unchecked.
    pub insecure: bool,
}

/// Reads what flags, or else the workload file, name.
///
/// # Errors
/// When a file cannot be read or holds no certificate, and when the name is none.
pub fn read(args: &TlsArgs, sent: &Sent) -> Result<Tls, Failure> {
    let spec = sent.workload().and_then(|(file, _)| file.workload().tls.clone());
    let spec = spec.unwrap_or_default();
    let named = |flag: &str, given: &Option<PathBuf>, key: &str, written: Option<String>| {
        if let Some(path) = given {
            return Some((flag.to_owned(), path.clone()));
        }
        let (file, _) = sent.workload()?;
        let path = file.beside(&written?);
        Some((format!("{}: tls: {key}", file.path().display()), path))
    };
    let ca = bytes(named("--cacert", &args.cacert, "cacert", spec.cacert))?;
    let insecure = args.insecure || spec.insecure;
    let settings = TlsSettings {
        insecure,
        system_roots: if insecure || ca.is_some() { Vec::new() } else { system_roots() },
        ca,
        cert: bytes(named("--cert", &args.cert, "cert", spec.cert))?,
        key: bytes(named("--key", &args.key, "key", spec.key))?,
        tls12: args.tls_min == TlsVersion::V1_2,
        tls13: args.tls_max == TlsVersion::V1_3,
    };
    let config =
        engine::client_config(&settings).map_err(|error| Failure::Usage(error.to_string()))?;
    let host = || sent.destination.host.clone();
    let sni = args.sni.clone().or(spec.sni).unwrap_or_else(host);
    let Ok(name) = ServerName::try_from(sni.clone()) else {
        return usage(format!("`{sni}` is not a name that TLS can ask for"));
    };
    Ok(Tls { config, name, sni, insecure })
}

/// A file's bytes; who named it is told when there are none.
fn bytes(named: Option<(String, PathBuf)>) -> Result<Option<Vec<u8>>, Failure> {
    let Some((by, path)) = named else { return Ok(None) };
    let path: &Path = &path;
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) => usage(format!("{by} {}: {error}", path.display())),
    }
}

fn system_roots() -> Vec<Vec<u8>> {
    let found = rustls_native_certs::load_native_certs();
    found.certs.iter().map(|certificate| certificate.to_vec()).collect()
}
