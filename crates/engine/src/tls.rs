//! TLS over a net's bytes, by rustls: bytes in, bytes out, no socket.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, HandshakeKind,
    RootCertStore, SignatureScheme, SupportedProtocolVersion,
};

/// The failure of a handshake with a server that answers in the clear.
pub const SPEAKS_NO_TLS: &str = "the server does not speak TLS on this port: use http://";
/// The failure of a request in the clear to a server that expects TLS.
pub const SPEAKS_TLS: &str = "the server speaks TLS on this port: use https://";

/// What the user asked of TLS. Certificates and keys are PEM bytes.
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
    /// Whether a connection may go on with the session of an earlier one, which saves it most of the
    /// handshake. A new client has none.
    pub resume: bool,
}

/// Why TLS could not be set up. `Display` says what was wrong.
#[derive(Debug)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

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
        .map_err(|e| TlsError(format!("no usable TLS version: {e}")))?;
    let builder = if settings.insecure {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
    } else {
        builder.with_root_certificates(roots(settings)?)
    };
    let mut config = match (&settings.cert, &settings.key) {
        (Some(cert), Some(key)) => builder
            .with_client_auth_cert(certificates(cert, "--cert")?, private_key(key)?)
            .map_err(|e| TlsError(format!("{}: {e}", unusable_pair(&e))))?,
        _ => builder.with_no_client_auth(),
    };
    if !settings.resume {
        config.resumption = Resumption::disabled();
    }
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
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
             tells), have it signed anew with an extension, which makes it version 3"
        }
        _ => "--cert and --key cannot be used together",
    }
}

fn roots(settings: &TlsSettings) -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    match &settings.ca {
        Some(pem) => {
            for certificate in certificates(pem, "--cacert")? {
                store.add(certificate).map_err(|e| {
                    TlsError(format!("--cacert holds an unusable certificate: {e}"))
                })?;
            }
        }
        None => {
            let system = settings.system_roots.iter().cloned().map(CertificateDer::from);
            store.add_parsable_certificates(system);
        }
    }
    Ok(store)
}

fn certificates(pem: &[u8], flag: &str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(TlsError(format!("{flag}: no certificate in PEM form in the file"))),
        Err(error) => Err(TlsError(format!("{flag}: {error}"))),
    }
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| TlsError(format!("--key: {error}")))
}

/// Accepts any certificate, and still checks that the handshake is signed with its key.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// One connection's TLS state.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ClientConnection,
    ended: bool,
}

impl Session {
    pub(crate) fn new(
        config: &Arc<ClientConfig>,
        name: &ServerName<'static>,
    ) -> Result<Self, String> {
        let mut connection =
            ClientConnection::new(config.clone(), name.clone()).map_err(|e| e.to_string())?;
        connection.set_buffer_limit(None);
        Ok(Self { connection, ended: false })
    }

    pub(crate) fn handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether the handshake went on with the session of an earlier connection.
    pub(crate) fn resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Whether the server has said, in TLS, that it will send no more.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Takes bytes from the net; all of `input` is consumed unless decrypted data fills up, so the
    /// caller alternates with [`Self::read`] until `input` is empty or the session has
    /// [`ended`](Self::ended).
    pub(crate) fn feed(&mut self, input: &mut &[u8]) -> Result<(), String> {
        self.connection.read_tls(input).map_err(|e| e.to_string())?;
        let state = self.connection.process_new_packets().map_err(|error| in_words(&error))?;
        self.ended = state.peer_has_closed();
        Ok(())
    }

    /// Decrypted bytes; 0 when there are none for now or ever.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> usize {
        self.connection.reader().read(buffer).unwrap_or(0)
    }

    /// Encrypts a request; [`Self::take_output`] has the records.
    pub(crate) fn write(&mut self, plain: &[u8]) {
        self.connection.writer().write_all(plain).expect("the session's buffer has no limit");
    }

    /// Appends what is to be sent to `out`.
    pub(crate) fn take_output(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            let written: io::Result<usize> = self.connection.write_tls(out);
            written.expect("writing to memory does not fail");
        }
    }
}

/// What went wrong, and what to do where that is known.
fn in_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => {
            SPEAKS_NO_TLS.to_owned()
        }
        rustls::Error::InvalidCertificate(why) => format!("{}: {why}", advice(why)),
        other => match refusal(other) {
            Some(cause) => format!("{cause}: {other}"),
            None => other.to_string(),
        },
    }
}

/// What to do where the server breaks the handshake off.
fn refusal(error: &rustls::Error) -> Option<&'static str> {
    use rustls::{AlertDescription as Alert, Error, PeerIncompatible};
    Some(match error {
        Error::AlertReceived(Alert::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => "the two ends have no TLS version in common (--tls-min, --tls-max)",
        Error::AlertReceived(Alert::CertificateRequired) => {
            "the server wants a client certificate (--cert, --key)"
        }
        Error::AlertReceived(Alert::HandshakeFailure) => {
            "the server ended the handshake: no cipher in common, or it wants a client certificate \
             (--cert, --key)"
        }
        Error::AlertReceived(Alert::UnrecognisedName) => {
            "the server does not know the name asked for (--sni NAME asks for another)"
        }
        _ => return None,
    })
}

/// What to do about a certificate that was refused.
fn advice(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::UnknownIssuer => {
            "the server's certificate is signed by nobody trusted here (--cacert FILE trusts its signer, \
             --insecure anybody)"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for another name (--sni NAME asks for one, --insecure takes any)"
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is out of date (--insecure takes it all the same)"
        }
        _ => "the server's certificate was refused (--insecure takes any)",
    }
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, Error, PeerIncompatible};

    use super::*;

    #[test]
    fn a_handshake_that_the_server_ends_says_what_to_do() {
        let ours = PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig;
        for (error, needle) in [
            (Error::AlertReceived(AlertDescription::ProtocolVersion), "(--tls-min, --tls-max): "),
            (Error::PeerIncompatible(ours), "(--tls-min, --tls-max): "),
            (Error::AlertReceived(AlertDescription::CertificateRequired), "(--cert, --key): "),
            (Error::AlertReceived(AlertDescription::HandshakeFailure), "(--cert, --key): "),
            (Error::AlertReceived(AlertDescription::UnrecognisedName), "(--sni NAME"),
        ] {
            let words = in_words(&error);
            assert!(words.contains(needle) && words.ends_with(&error.to_string()), "{words}");
        }
    }
}
