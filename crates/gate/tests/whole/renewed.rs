//! Certificates that are renewed while the gateway runs.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;

use crate::harness::api;
use crate::{start, text};

/// A certificate for `localhost` and its key, in PEM form.
fn made() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
    let made = made.expect("a certificate");
    (made.cert.pem(), made.signing_key.serialize_pem())
}

/// A client that trusts this certificate alone.
fn client(cert: &str, to: SocketAddr) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    let cert = CertificateDer::from_pem_slice(cert.as_bytes()).expect("PEM");
    roots.add(cert).expect("a certificate");
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

/// One request and its answer.
fn ask(client: &mut StreamOwned<ClientConnection, TcpStream>) -> io::Result<()> {
    client.write_all(b"GET /bytes/2 HTTP/1.1\r\nHost: a\r\n\r\n")?;
    let mut came = Vec::new();
    while !came.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        came.push(byte[0]);
    }
    assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", came.escape_ascii());
    client.read_exact(&mut [0; 2])
}

#[test]
fn a_renewed_certificate_is_shown_to_new_connections() {
    let (folder, api) = (TempDir::new().expect("a folder"), api());
    let (first, second) = (made(), made());
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
    fs::write(&cert, &first.0).expect("it is written");
    fs::write(&key, &first.1).expect("it is written");
    let identity = format!("[[listen]]\ncert = {cert:?}\nkey = {key:?}");
    let text = text(&folder, api.addr(), "").replace("[[listen]]", &identity);
    let gateway = start(&folder, &text);
    assert!([&cert, &key].iter().all(|file| gateway.control().files().contains(file)));
    let address = gateway.addresses()[0];
    let mut before = client(&first.0, address);
    ask(&mut before).expect("an answer");
    // Half of a pair changes nothing.
    fs::write(&cert, &second.0).expect("it is written");
    let refused = gateway.control().reload("test").expect_err("they do not go together");
    assert!(refused.to_string().contains("line 3, column 8: listen.cert"), "{refused}");
    ask(&mut client(&first.0, address)).expect("the first is shown");
    fs::write(&key, &second.1).expect("it is written");
    let reloaded = gateway.control().reload("test").expect("it is read again");
    assert_eq!(reloaded.waits_for_restart, Vec::<&str>::new());
    ask(&mut client(&second.0, address)).expect("the second is shown");
    ask(&mut client(&first.0, address)).expect_err("the first is no more");
    ask(&mut before).expect("who is connected goes on");
}
