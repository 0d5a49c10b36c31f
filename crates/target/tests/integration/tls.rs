//! The same bytes, wrapped in TLS.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use target::{Options, Server, StartError, Tls};
use testkit::peer::End;
use testkit::peer::RawClient;

use crate::harness::*;

type TlsClient = StreamOwned<ClientConnection, TcpStream>;

fn connect_tls(
    server: &Server,
    name: &str,
    version: &'static rustls::SupportedProtocolVersion,
) -> TlsClient {
    let mut roots = RootCertStore::empty();
    let certificate = server.certificate().expect("a TLS server").to_vec();
    roots.add(CertificateDer::from(certificate)).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .expect("a version that ring has")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    StreamOwned::new(connection, TcpStream::connect(server.addr()).expect("it listens"))
}

fn each(test: impl Fn(&Server)) {
    for io in interfaces() {
        test(&start(Options { io: Some(io), tls: Some(Tls::SelfSigned), ..options() }));
    }
}

fn fetch_over_tls(server: &Server, bytes: &str) -> String {
    let mut client = connect_tls(server, "localhost", &rustls::version::TLS13);
    client.write_all(bytes.as_bytes()).expect("it is taken");
    let mut response = Vec::new();
    client.read_to_end(&mut response).expect("an ending with close_notify");
    String::from_utf8_lossy(&response).into_owned()
}

#[test]
fn the_certificate_made_at_start_is_good_for_loopback() {
    each(|server| {
        for name in ["localhost", "127.0.0.1", "::1"] {
            for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
                let mut client = connect_tls(server, name, version);
                for _ in 0..3 {
                    client.write_all(request("GET", "/healthz").as_bytes()).expect("sent");
                    let mut response = vec![0; OK.len()];
                    client.read_exact(&mut response).expect("a response");
                    assert_eq!(response, OK.as_bytes());
                }
            }
        }
    });
}

#[test]
fn responses_are_those_without_tls() {
    each(|server| {
        let mixed = [
            request("GET", "/healthz"),
            request("GET", "/delay/2ms"),
            request("GET", "/fault/chunked"),
            request("GET", "/queue?mean=1ms&dist=det"),
        ]
        .concat();
        let plain = start(options());
        let expected = fetch(&plain, [mixed.repeat(20), last("/")].concat());
        assert_eq!(fetch_over_tls(server, &[mixed.repeat(20), last("/")].concat()), expected);
        let large = fetch_over_tls(server, &last("/bytes/3000000"));
        assert_eq!(body(&large).len(), 3_000_000);
        let echoed = fetch_over_tls(
            server,
            &format!(
                "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 200000\r\n\r\n{}",
                "e".repeat(200_000)
            ),
        );
        assert_eq!(body(&echoed), "e".repeat(200_000));
    });
}

#[test]
fn plain_http_to_a_tls_port_is_refused() {
    each(|server| {
        let (response, end) = RawClient::exchange(server.addr(), request("GET", "/").as_bytes());
        assert!(!response.starts_with(b"HTTP"), "an alert at most");
        assert_eq!(end, End::Closed);
        assert_eq!(server.served().path("malformed"), 1);
    });
}

#[test]
fn a_certificate_may_come_from_files() {
    let make = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("made");
    let (mine, other) = (make(), make());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("room on disk");
        path
    };
    let cert = write("cert.pem", mine.cert.pem());
    let key = write("key.pem", mine.signing_key.serialize_pem());
    let wrong = write("other.pem", other.signing_key.serialize_pem());
    let files = Tls::Files { cert: cert.clone(), key };
    let server = start(Options { tls: Some(files), ..options() });
    assert_eq!(server.certificate(), Some(&**mine.cert.der()));
    assert_eq!(fetch_over_tls(&server, &last("/")), OK_LAST);
    for key in [wrong, cert.clone()] {
        let refused = Server::start(Options {
            tls: Some(Tls::Files { cert: cert.clone(), key }),
            ..options()
        });
        assert!(matches!(refused, Err(StartError::Certificate { .. })), "{refused:?}");
    }
}

#[test]
fn files_that_are_no_certificate_are_named() {
    let missing = "/nonexistent/cert.pem".into();
    let files = Tls::Files { cert: missing, key: "/nonexistent/key.pem".into() };
    let refused = Server::start(Options { tls: Some(files), ..options() });
    let Err(error @ StartError::Certificate { .. }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains("/nonexistent/cert.pem"), "{error}");
}
