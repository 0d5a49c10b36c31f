//! The certificate that TLS connections are shown: made at the start, or the user's. Connections begin here, and are the
//! crate `tls`'s from then on.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

use tls::Tls;

use crate::options::{self, StartError};

/// What TLS connections are made from, and the certificate they show.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    config: Arc<ServerConfig>,
    pub(crate) certificate: CertificateDer<'static>,
}

impl Identity {
    pub(crate) fn new(tls: &options::Tls) -> Result<Self, StartError> {
        let (chain, key) = match tls {
            options::Tls::SelfSigned => self_signed()?,
            options::Tls::Files { cert, key } => (certificates(cert)?, private_key(key)?),
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
    pub(crate) fn accept(&self) -> Result<Tls, rustls::Error> {
        ServerConnection::new(Arc::clone(&self.config)).map(Tls::of)
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
