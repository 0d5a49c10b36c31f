//! TLS on either side.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use gate::path::{Identity, Listener, Trust};
use gate::policy::{PolicySettings, Upstream, UpstreamAddress};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use target::{Options, Server, Tls};

use crate::harness::{api, front_at, interfaces, upstream};

/// A certificate for `localhost`, and its key, in files.
struct Made {
    _folder: tempfile::TempDir,
    cert: PathBuf,
    key: PathBuf,
}

impl Made {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
        let made = made.expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).expect("a file");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        Self { _folder: folder, cert, key }
    }

    /// A client that trusts it.
    fn client(&self, to: SocketAddr) -> StreamOwned<ClientConnection, TcpStream> {
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

fn loopback() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

fn tls_api(made: &Made) -> Server {
    let tls = Tls::Files { cert: made.cert.clone(), key: made.key.clone() };
    let options =
        Options { listen: loopback(), threads: Some(1), tls: Some(tls), ..Options::default() };
    Server::start(options).expect("the API starts")
}

fn tls_upstream(api: &Server, name: &str) -> Upstream {
    let address =
        UpstreamAddress { text: "localhost".into(), socket: api.addr(), tls: Some(name.into()) };
    Upstream { addresses: vec![address], ..upstream(&[api.addr()]) }
}

/// Requests and long bodies both ways, on one connection.
fn converse(client: &mut (impl Read + Write)) {
    let body = vec![b'x'; 300_000];
    for _ in 0..3 {
        client
            .write_all(b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
            .expect("it is taken");
        client.write_all(&body).expect("it is taken");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).expect("an answer");
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", head.escape_ascii());
        let mut came = vec![0; body.len()];
        client.read_exact(&mut came).expect("its body");
        assert!(came == body);
    }
}

#[test]
fn a_listener_speaks_tls() {
    for io in interfaces() {
        let (made, api) = (Made::new(), api());
        let key = Identity::read_key(&made.key).expect("a key");
        let identity = Identity::read(&made.cert, key).expect("an identity");
        let listener = Listener { identity: Some(identity), ..Listener::plain(loopback()) };
        let front = front_at(PolicySettings::open(upstream(&[api.addr()])), io, listener);
        converse(&mut made.client(front.addr()));
        // Who does not speak it gets no answer, and is in nobody's way.
        let mut plain = front.client();
        plain.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let (came, _) = plain.receive_all(std::time::Duration::from_secs(5));
        assert!(!came.starts_with(b"HTTP"), "{}", came.escape_ascii());
        converse(&mut made.client(front.addr()));
    }
}

#[test]
fn an_upstream_speaks_tls_and_is_who_it_says() {
    for io in interfaces() {
        let made = Made::new();
        let api = tls_api(&made);
        let front = |name: &str, trusted: &Made| {
            let trust = Trust::read(Some(&trusted.cert)).expect("an authority");
            let settings = PolicySettings::open(tls_upstream(&api, name));
            front_at(
                PolicySettings { trust: Some(trust), ..settings },
                io,
                Listener::plain(loopback()),
            )
        };
        let trusting = front("localhost", &made);
        converse(&mut TcpStream::connect(trusting.addr()).expect("it listens"));
        assert_eq!(trusting.gate.counts().connects, 1, "its connection is kept");
        let get = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(front("another.test", &made).ask(get)[0].status, 502, "another name");
        assert_eq!(front("localhost", &Made::new()).ask(get)[0].status, 502, "another authority");
    }
}

#[test]
fn both_sides_at_once() {
    for io in interfaces() {
        let made = Made::new();
        let api = tls_api(&made);
        let key = Identity::read_key(&made.key).expect("a key");
        let identity = Identity::read(&made.cert, key).expect("an identity");
        let listener = Listener { identity: Some(identity), ..Listener::plain(loopback()) };
        let trust = Trust::read(Some(&made.cert)).expect("an authority");
        let settings = PolicySettings::open(tls_upstream(&api, "localhost"));
        let front = front_at(PolicySettings { trust: Some(trust), ..settings }, io, listener);
        converse(&mut made.client(front.addr()));
    }
}
