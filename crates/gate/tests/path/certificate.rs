//! A certificate for `localhost`, and clients that trust it alone.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A connection of such a client.
pub type TlsClient = StreamOwned<ClientConnection, TcpStream>;

/// A certificate for `localhost`, and its key, in files.
pub struct Made {
    _folder: tempfile::TempDir,
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Made {
    pub fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
        let made = made.expect("a certificate");
        Self::of(&made.cert.pem(), &made.signing_key.serialize_pem())
    }

    /// One that is marked as an authority's, as those are that `openssl req -x509` makes.
    pub fn of_authority() -> Self {
        let mut params =
            rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().expect("a key");
        let made = params.self_signed(&key).expect("a certificate");
        Self::of(&made.pem(), &key.serialize_pem())
    }

    fn of(cert_pem: &str, key_pem: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, cert_pem).expect("a file");
        std::fs::write(&key, key_pem).expect("a file");
        Self { _folder: folder, cert, key }
    }

    /// A client that trusts it.
    pub fn client(&self, to: SocketAddr) -> TlsClient {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(&self.cert).expect("PEM")).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions that ring has")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
        StreamOwned::new(connection, TcpStream::connect(to).expect("it listens"))
    }
}
