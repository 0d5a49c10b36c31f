//! TLS on a connection: bytes from the network to plaintext and back, by rustls. Plain connections
//! never come here.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::options::{StartError, Tls};

/// What TLS connections are made from, and the certificate they show.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    config: Arc<ServerConfig>,
    pub(crate) certificate: CertificateDer<'static>,
}

impl Identity {
    pub(crate) fn new(tls: &Tls) -> Result<Self, StartError> {
        let (chain, key) = match tls {
            Tls::SelfSigned => self_signed()?,
            Tls::Files { cert, key } => (certificates(cert)?, private_key(key)?),
        };
        let certificate = chain[0].clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config
            .map_err(|error| unusable(format!("certificate and key cannot be used: {error}")))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), certificate })
    }

    /// The server's side of a new connection.
    pub(crate) fn accept(&self) -> Result<TlsConn, rustls::Error> {
        let mut connection = ServerConnection::new(Arc::clone(&self.config))?;
        // Everything written is taken out again at once, so the buffer needs no limit.
        connection.set_buffer_limit(None);
        Ok(TlsConn { connection })
    }
}

type Pair = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn self_signed() -> Result<Pair, StartError> {
    let names = ["localhost", "127.0.0.1", "::1"].map(String::from);
    let made = rcgen::generate_simple_self_signed(names)
        .map_err(|error| unusable(format!("no certificate could be made: {error}")))?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, StartError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(chain) if chain.is_empty() => {
            Err(unusable(format!("{}: no certificate in it; wanted PEM", path.display())))
        }
        Ok(chain) => Ok(chain),
        Err(error) => Err(unusable(format!("{}: {error}; wanted PEM", path.display()))),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, StartError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| {
        unusable(format!("{}: {error}; wanted a private key in PEM", path.display()))
    })
}

fn unusable(reason: String) -> StartError {
    StartError::Certificate { reason }
}

/// The state of TLS on one connection.
#[derive(Debug)]
pub(crate) struct TlsConn {
    connection: ServerConnection,
}

impl TlsConn {
    /// Takes received bytes and appends their plaintext to `plain`.
    ///
    /// # Errors
    /// When they are not TLS that we accept; an alert for the client is then in [`Self::outgoing`].
    pub(crate) fn decrypt(&mut self, mut came: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        while !came.is_empty() {
            if self.connection.read_tls(&mut came)? == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let state = self.connection.process_new_packets().map_err(io::Error::other)?;
            let there = state.plaintext_bytes_to_read() as u64;
            self.connection.reader().take(there).read_to_end(plain)?;
        }
        Ok(())
    }

    /// Takes plaintext to be sent.
    pub(crate) fn encrypt(&mut self, plain: &[u8]) {
        // Writing into a buffer without a limit cannot fail.
        let written = self.connection.writer().write_all(plain);
        debug_assert!(written.is_ok());
    }

    /// Announces the end of sending (close_notify).
    pub(crate) fn close_notify(&mut self) {
        self.connection.send_close_notify();
    }

    /// Moves TLS records that are to be sent into `out`.
    pub(crate) fn outgoing(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            match self.connection.write_tls(out) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}
