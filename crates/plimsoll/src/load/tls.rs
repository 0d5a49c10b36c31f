//! TLS settings from flags and workload files.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::{Advice, PemInput, Problem, TlsError, TlsSettings};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection};

use crate::args::{TlsArgs, TlsVersion};
use crate::failure::{Failure, cannot_run, usage};
use crate::load::input::LoadInput;
use crate::results::input;

/// What a connection needs, and the name that is asked for.
#[derive(Debug, Clone)]
pub struct Tls {
    /// How TLS is used.
    pub config: Arc<ClientConfig>,
    /// Whom the certificate must name.
    pub name: ServerName<'static>,
    /// The same as text.
    pub sni: String,
    /// Whether the certificate goes unchecked.
    pub insecure: bool,
    /// Whether connections go on with the sessions of earlier ones.
    pub resume: bool,
    /// What to do about failures.
    pub advice: Advice,
}

/// Bytes of a file of certificates or of a key at most: all public authorities take less than one.
const MOST_PEM: u64 = 16 << 20;
/// Records of TLS that a server begins with: an alert, and its part of a handshake.
const FIRST_BYTES: [u8; 2] = [0x15, 0x16];
/// How long a server is waited for that is asked whether it uses TLS.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether TLS is used at an address (`127.0.0.1:8443`), found by beginning a handshake and leaving it. False where
/// that is not known within two seconds.
pub fn is_used_at(address: &str) -> bool {
    address.parse().is_ok_and(|address| begins_a_handshake(address).unwrap_or(false))
}

fn begins_a_handshake(address: SocketAddr) -> io::Result<bool> {
    let settings =
        TlsSettings { insecure: true, tls12: true, tls13: true, ..TlsSettings::default() };
    let config =
        engine::client_config(&settings).map_err(|why| io::Error::other(described(&why)))?;
    let mut client =
        ClientConnection::new(config, address.ip().into()).map_err(io::Error::other)?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    client.write_tls(&mut stream)?;
    let mut first = [0];
    stream.read_exact(&mut first)?;
    Ok(FIRST_BYTES.contains(&first[0]))
}

/// Reads what flags, or else the workload file, name.
///
/// # Errors
/// When a file cannot be read or holds no certificate, and when the server name is invalid.
pub fn read(args: &TlsArgs, input: &LoadInput) -> Result<Tls, Failure> {
    let spec = input.workload().and_then(|(file, _)| file.workload().tls.clone());
    let spec = spec.unwrap_or_default();
    let named = |flag: &str, given: &Option<PathBuf>, key: &str, written: Option<String>| {
        if let Some(path) = given {
            return Some((flag.to_owned(), path.display().to_string(), Ok(path.clone())));
        }
        let ((file, _), written) = (input.workload()?, written?);
        file.beside(&written);
        let place = file.allowed().place(&written);
        Some((format!("{}: tls: {key}", file.path().display()), written, place))
    };
    let ca = bytes(named("--cacert", &args.cacert, "cacert", spec.cacert))?;
    let insecure = args.insecure || spec.insecure;
    let resume = args.tls_resume || spec.resume;
    let is_by_system = !insecure && ca.is_none();
    let system_roots = if is_by_system { system_roots() } else { Vec::new() };
    let is_bare = is_by_system && system_roots.is_empty();
    let advice: Advice = if is_bare { without_authorities } else { advice };
    let settings = TlsSettings {
        insecure,
        resume,
        system_roots,
        ca,
        cert: bytes(named("--cert", &args.cert, "cert", spec.cert))?,
        key: bytes(named("--key", &args.key, "key", spec.key))?,
        tls12: args.tls_min == TlsVersion::V1_2,
        tls13: args.tls_max == TlsVersion::V1_3,
    };
    let config =
        engine::client_config(&settings).map_err(|error| Failure::Usage(described(&error)))?;
    let host = || input.destination.host.clone();
    let sni = args.sni.clone().or(spec.sni).unwrap_or_else(host);
    let Ok(name) = ServerName::try_from(sni.clone()) else {
        return usage(format!("`{sni}` is not a valid TLS server name"));
    };
    Ok(Tls { config, name, sni, insecure, resume, advice })
}

/// That flags are of no use to a load in the clear. `-k` is given out of habit, and changes nothing there.
pub fn unused(args: &TlsArgs) -> Option<String> {
    let given = [
        ("--cacert", args.cacert.is_some()),
        ("--cert and --key", args.cert.is_some()),
        ("--sni", args.sni.is_some()),
        ("--tls-min", args.tls_min != TlsVersion::V1_2),
        ("--tls-max", args.tls_max != TlsVersion::V1_3),
        ("--tls-resume", args.tls_resume),
    ];
    let given: Vec<&str> =
        given.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    (!given.is_empty()).then(|| {
        format!(
            "{}: of no use, as the URL begins with http://, and no TLS is spoken",
            given.join(", ")
        )
    })
}

/// Who names a file, what it is called there, and where it lies.
type Named = (String, String, Result<PathBuf, String>);

/// A file's bytes; the error says what named it.
fn bytes(named: Option<Named>) -> Result<Option<Vec<u8>>, Failure> {
    let Some((by, name, place)) = named else { return Ok(None) };
    let path = place.or_else(|why| usage(format!("{by} {name}: {why}")))?;
    match input::read_at_most(&path, MOST_PEM) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) => cannot_run(format!("{by} {name}: {why}")),
    }
}

/// Why TLS could not be set up, with the flags that ask for it.
fn described(error: &TlsError) -> String {
    let flag = |input: &PemInput| match input {
        PemInput::Authorities => "--cacert",
        PemInput::Certificate => "--cert",
        PemInput::Key => "--key",
    };
    match error {
        TlsError::NoVersion(error) => format!("no usable TLS version: {error}"),
        TlsError::NoCertificate(input) => {
            format!("{}: no certificate in PEM form in the file", flag(input))
        }
        TlsError::Pem(input, error) => format!("{}: {error}", flag(input)),
        TlsError::UnusableAuthority(error) => {
            format!("--cacert holds an unusable certificate: {error}")
        }
        TlsError::UnusablePair(error) => format!("{}: {error}", unusable_pair(error)),
    }
}

/// What is wrong with a client's certificate and key.
fn unusable_pair(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::InconsistentKeys(_) => {
            "--key is not the key of the first certificate in --cert"
        }
        // What `openssl x509 -req` makes unless it is given extensions.
        rustls::Error::InvalidCertificate(CertificateError::Other(_)) => {
            "--cert cannot be used; if it is of X.509 version 1 (openssl x509 -in FILE -noout -text \
             tells), have it reissued as version 3, with an extension"
        }
        _ => "--cert and --key cannot be used together",
    }
}

/// What to do about a failure of the run, with the flags that help.
pub fn advice(problem: Problem) -> &'static str {
    match problem {
        Problem::NoCommonVersion => {
            "the two ends have no TLS version in common (--tls-min, --tls-max)"
        }
        Problem::NoCommonProtocol => {
            "the server does not take HTTP/1.1 on this port (perhaps only HTTP/2), and Plimsoll speaks nothing else"
        }
        Problem::ClientCertificateWanted => "the server wants a client certificate (--cert, --key)",
        Problem::HandshakeRefused => {
            "the server ended the handshake: no cipher in common, or it wants a client certificate \
             (--cert, --key)"
        }
        Problem::UnknownName => {
            "the server does not know the name asked for (--sni NAME asks for another)"
        }
        Problem::UntrustedSigner => {
            "the server's certificate is signed by an authority that is not trusted here (--cacert FILE trusts \
             it, --insecure accepts any)"
        }
        Problem::AuthoritysOwn => {
            "the server's certificate is self-signed and not trusted here (--cacert FILE with this very certificate \
             trusts it, --insecure accepts any)"
        }
        Problem::OtherName => {
            "the server's certificate is for another name (--sni NAME asks for one, --insecure accepts any)"
        }
        Problem::OutOfDate => {
            "the server's certificate is out of date (--insecure accepts it anyway)"
        }
        Problem::CertificateRefused => {
            "the server's certificate was refused (--insecure accepts any)"
        }
        Problem::UnlikeFirst => "not like the response before the load (--expect-body-like FIRST)",
    }
}

/// As [`advice`], where this machine knows no authority that certificates could be checked by.
fn without_authorities(problem: Problem) -> &'static str {
    match problem {
        Problem::UntrustedSigner | Problem::AuthoritysOwn => {
            "no authority is known here that the server's certificate could be checked by: install the package \
             ca-certificates (--cacert FILE trusts one certificate, --insecure accepts any)"
        }
        other => advice(other),
    }
}

pub fn system_roots() -> Vec<Vec<u8>> {
    let found = rustls_native_certs::load_native_certs();
    found.certs.iter().map(|certificate| certificate.to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_authorities_is_told_to_have_some() {
        for problem in [Problem::UntrustedSigner, Problem::AuthoritysOwn] {
            let text = without_authorities(problem);
            assert!(text.contains("ca-certificates") && text.contains("--cacert FILE"), "{text}");
        }
        assert_eq!(without_authorities(Problem::OtherName), advice(Problem::OtherName));
    }
}
