//! TLS on either side.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use gate::path::{Failure, Identity, Listener, Trust};
use gate::policy::{PolicySettings, Upstream, UpstreamAddress};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use target::{Options, Server, Tls};

use crate::certificate::Made;
use crate::harness::{PATIENCE, api, front_at, interfaces, upstream};

fn loopback() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

fn plain(socket: SocketAddr) -> UpstreamAddress {
    UpstreamAddress { text: "localhost".into(), socket, tls: None }
}

fn tls_api(made: &Made) -> Server {
    let tls = Tls::Files { cert: made.cert.clone(), key: made.key.clone() };
    let options =
        Options { listen: loopback(), threads: Some(1), tls: Some(tls), ..Options::default() };
    Server::start(options).expect("the API starts")
}

fn tls_upstream(api: &Server, name: &str) -> Upstream {
    let address = UpstreamAddress { tls: Some(name.into()), ..plain(api.addr()) };
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
        let (came, _) = plain.receive_all(PATIENCE);
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
        let misnamed = front("another.test", &made);
        assert_eq!(misnamed.ask(get)[0].status, 502, "another name");
        let view = &misnamed.health.view(net::clock::now())[0];
        assert!(view.failed_by[Failure::OtherName as usize] > 0, "{view:?}");
        let about = "`another.test` was asked for, and it is for localhost".to_owned();
        assert_eq!(view.tls, Some((Failure::OtherName, about)));
        assert_eq!(front("localhost", &Made::new()).ask(get)[0].status, 502, "another authority");
    }
}

/// A certificate that is marked as an authority's, as those are that `openssl req -x509` makes.
fn of_authority() -> Made {
    let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().expect("a key");
    let made = params.self_signed(&key).expect("a certificate");
    Made::of(&made.pem(), &key.serialize_pem())
}

/// rustls alone refuses such a certificate from a server.
#[test]
fn an_upstream_whose_own_certificate_was_named_is_trusted() {
    for io in interfaces() {
        let made = of_authority();
        let api = tls_api(&made);
        let front = |trusted: &Made| {
            let trust = Trust::read(Some(&trusted.cert)).expect("an authority");
            let settings = PolicySettings::open(tls_upstream(&api, "localhost"));
            let settings = PolicySettings { trust: Some(trust), ..settings };
            front_at(settings, io, Listener::plain(loopback()))
        };
        let get = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(front(&made).ask(get)[0].status, 200);
        let other = front(&of_authority());
        assert_eq!(other.ask(get)[0].status, 502);
        let view = &other.health.view(net::clock::now())[0];
        assert!(view.failed_by[Failure::Untrusted as usize] > 0, "{view:?}");
    }
}

/// How a server ends an answer whose length nobody said.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Close {
    /// As anybody on the way could: TCP alone.
    Cut,
    /// With TLS's word, then TCP.
    Told,
    /// With TLS's word; the connection stands.
    ToldAlone,
}

/// A server that answers one request, and ends so.
fn ending_peer(made: &Made, close: Close) -> SocketAddr {
    let chain = vec![CertificateDer::from_pem_file(&made.cert).expect("PEM")];
    let key = PrivateKeyDer::from_pem_file(&made.key).expect("PEM");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions that ring has")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("they go together");
    let listener = TcpListener::bind(loopback()).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (tcp, _) = listener.accept().expect("a connection");
        let mut left = tcp.try_clone().expect("a socket");
        let connection = ServerConnection::new(Arc::new(config)).expect("a server");
        let mut stream = StreamOwned::new(connection, tcp);
        let mut came = Vec::new();
        while !came.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("a request");
            came.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").expect("it is taken");
        if close != Close::Cut {
            stream.conn.send_close_notify();
        }
        stream.flush().expect("it is taken");
        if close == Close::ToldAlone {
            // Until the other side goes.
            let _ = left.read_to_end(&mut Vec::new());
        }
    });
    address
}

#[test]
fn an_answer_that_is_cut_short_is_told_from_one_that_ends() {
    for io in interfaces() {
        for close in [Close::Cut, Close::Told, Close::ToldAlone] {
            let made = Made::new();
            let socket = ending_peer(&made, close);
            let address = UpstreamAddress { tls: Some("localhost".into()), ..plain(socket) };
            let upstream = Upstream { addresses: vec![address], ..upstream(&[socket]) };
            let trust = Trust::read(Some(&made.cert)).expect("an authority");
            let settings = PolicySettings { trust: Some(trust), ..PolicySettings::open(upstream) };
            let front = front_at(settings, io, Listener::plain(loopback()));
            let answers = front.ask(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            let bodies: Vec<&[u8]> = answers.iter().map(|answer| &*answer.body).collect();
            let cut = close == Close::Cut;
            assert_eq!(bodies, if cut { vec![] } else { vec![&b"hello"[..]] }, "{close:?}");
            let failed = front.health.view(net::clock::now())[0].failed_by;
            assert_eq!(failed[Failure::Cut as usize], u64::from(cut), "{close:?}");
        }
    }
}

/// A client of TLS that says it sends no more gets its answer, and is not waited for.
#[test]
fn a_client_that_has_said_its_last_is_answered_and_let_go() {
    for io in interfaces() {
        let (made, api) = (Made::new(), api());
        let key = Identity::read_key(&made.key).expect("a key");
        let identity = Identity::read(&made.cert, key).expect("an identity");
        let listener = Listener { identity: Some(identity), ..Listener::plain(loopback()) };
        let front = front_at(PolicySettings::open(upstream(&[api.addr()])), io, listener);
        let mut client = made.client(front.addr());
        client.sock.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        client.write_all(b"GET /bytes/2 HTTP/1.1\r\nHost: a\r\n\r\n").expect("it is taken");
        client.conn.send_close_notify();
        client.flush().expect("it is taken");
        let mut came = Vec::new();
        client.read_to_end(&mut came).expect("an end that was told");
        assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", came.escape_ascii());
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
