//! TLS: certificates, names, versions, connections that end without close_notify, and servers that speak something else.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use model::units::SECOND;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use target::{Server, Tls};
use tempfile::TempDir;
use testkit::needs;
use testkit::servers::{Nginx, NginxOptions};

use crate::harness::{interfaces, load, plimsoll, server, server_with, url};

/// A certificate for `localhost` and 127.0.0.1, and its key.
pub struct Identity {
    _folder: TempDir,
    pub cert: PathBuf,
    key: PathBuf,
}

impl Identity {
    pub fn new() -> Self {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let folder = TempDir::new().expect("a temporary folder");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        fs::write(&cert, made.cert.pem()).expect("a file");
        fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        Self { _folder: folder, cert, key }
    }

    pub fn server(&self) -> Server {
        let tls = Tls::Files { cert: self.cert.clone(), key: self.key.clone() };
        server_with(|options| options.tls = Some(tls))
    }
}

/// How [`tls_peer`] ends a connection behind a body that lasts until the close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// In TLS, then in TCP.
    Notified,
    /// In TLS, and then goes on sending bytes.
    NotifiedAndMore,
    /// In TLS alone: TCP stays open.
    NotifiedOnly,
    /// In TCP alone, as someone who cuts the connection would.
    Cut,
}

/// A TLS server that responds to one request a connection.
fn tls_peer(identity: &Identity, how: End) -> SocketAddr {
    let cert = CertificateDer::from_pem_file(&identity.cert).expect("a certificate");
    let key = PrivateKeyDer::from_pem_file(&identity.key).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert], key)
        .expect("a matching pair");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    // It ends with the test's process.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = config.clone();
            // A client that leaves early is no failure of the server's.
            thread::spawn(move || drop(answer_over_tls(stream, config, how)));
        }
    });
    address
}

fn answer_over_tls(stream: TcpStream, config: Arc<ServerConfig>, how: End) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut tls = StreamOwned::new(connection, stream);
    let mut heard = Vec::new();
    while !heard.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        tls.read_exact(&mut byte)?;
        heard.push(byte[0]);
    }
    tls.write_all(b"HTTP/1.1 200 OK\r\n\r\nto the end")?;
    if how != End::Cut {
        tls.conn.send_close_notify();
    }
    tls.flush()?;
    match how {
        End::Notified | End::Cut => Ok(()),
        End::NotifiedAndMore => tls.sock.write_all(&[0x17; 1000]),
        End::NotifiedOnly => tls.sock.read(&mut heard).map(drop),
    }
}

#[test]
fn a_body_that_lasts_until_the_close_needs_tls_to_say_so() {
    let identity = Identity::new();
    for (how, class) in [
        (End::Notified, "ok"),
        (End::NotifiedAndMore, "ok"),
        (End::NotifiedOnly, "ok"),
        (End::Cut, "read"),
    ] {
        let address = tls_peer(&identity, how);
        for io in interfaces() {
            let flags = format!("-k -c 2 -n 20 -T 20s --io {io}");
            let loaded = load(&format!("https://{address}/"), &flags);
            assert_eq!(loaded.ways(), [class], "{how:?} on {io}: {:?}", loaded.run.totals);
            assert_eq!(loaded.run.totals.attempts, 20, "{how:?} on {io}");
        }
    }
}

fn https(server: &Server, path: &str) -> String {
    format!("https://{}{path}", server.addr())
}

#[test]
fn certificates_are_checked_by_default() {
    let identity = Identity::new();
    let server = identity.server();
    let healthz = https(&server, "/healthz");
    let cacert = format!("--cacert {}", identity.cert.display());
    for io in interfaces() {
        for flags in ["--insecure", &cacert, &format!("{cacert} --tls-max 1.2")] {
            let run = load(&healthz, &format!("-c 4 -t 2 -n 200 --io {io} {flags}")).done();
            assert_eq!((run.totals.attempts, run.totals.succeeded), (200, 200), "{io} {flags}");
            assert_eq!(run.tls_ns.count, 4, "{io} {flags}");
        }
        for (flags, needle) in
            [("", "--cacert FILE"), (&*format!("{cacert} --sni other.test"), "another name")]
        {
            let loaded = load(&healthz, &format!("-c 2 -n 4 -T 20s --io {io} {flags}"));
            assert_eq!(loaded.ways(), ["tls"], "{io} {flags}: {:?}", loaded.run.totals);
            let sample = &loaded.run.totals.error_samples["tls"];
            assert!(sample.contains(needle), "{io} {flags}: {sample}");
            assert_eq!(loaded.ended.code, 1);
        }
    }
}

/// A ticket comes before the response, so that with one user every connection after the first has one.
#[test]
fn sessions_are_resumed_when_that_is_asked_for() {
    let server = Identity::new().server();
    let healthz = https(&server, "/healthz");
    for io in interfaces() {
        for version in ["1.2", "1.3"] {
            let flags = format!("-k -c 1 -n 20 --no-keepalive --io {io} --tls-max {version}");
            let run = load(&healthz, &flags).run;
            assert_eq!(run.totals.succeeded, 20, "{flags}");
            assert_eq!(run.totals.tls_resumed, Some(0), "{flags}");
            let run = load(&healthz, &format!("{flags} --tls-resume")).run;
            let resumed = run.totals.tls_resumed.expect("handshakes were made");
            assert!((1..run.tls_ns.count).contains(&resumed), "{flags}: {resumed}");
            assert!(run.plan.tls.is_some_and(|tls| tls.resume));
        }
    }
    let text = plimsoll(&format!("run {healthz} -k -c 1 -n 20 --no-keepalive")).stdout;
    assert!(text.contains(", all full."), "{text}");
}

#[test]
fn responses_come_whole_over_tls_however_they_end() {
    let server = Identity::new().server();
    for io in interfaces() {
        for path in ["/bytes/300000", "/fault/no-length", "/fault/chunked", "/fault/early"] {
            let run = load(&https(&server, path), &format!("-k -c 3 -n 40 --io {io}")).run;
            assert_eq!(run.totals.succeeded, 40, "{path} on {io}: {:?}", run.totals);
        }
        let loaded = load(&https(&server, "/fault/truncate"), &format!("-k -c 3 -n 6 --io {io}"));
        assert_eq!(loaded.ways(), ["read"], "{io}");
        let loaded = load(&https(&server, "/fault/garbage"), &format!("-k -c 3 -n 6 --io {io}"));
        assert_eq!(loaded.ways(), ["protocol"], "{io}");
    }
}

#[test]
fn nginx_speaks_tls_with_us() {
    if !needs::has("nginx") {
        return;
    }
    let identity = Identity::new();
    let tls = Some((identity.cert.clone(), identity.key.clone()));
    let mut nginx =
        Nginx::start(&NginxOptions { tls, ..NginxOptions::default() }).expect("nginx runs");
    let address = nginx.tls_addr().expect("a TLS port");
    for io in interfaces() {
        let before = nginx.requests().expect("its counters");
        let run =
            load(&format!("https://{address}/"), &format!("-k -c 10 -n 1000 --io {io}")).done();
        let seen = nginx.requests().expect("its counters") - before;
        assert_eq!((run.totals.succeeded, seen), (1000, 1000), "{io}");
    }
    // It responds to a request in the clear with 400, in the clear.
    plimsoll(&format!("run http://{address}/ -c 2 -d 200ms -q"))
        .refuses(1, "the server speaks TLS on this port: use https://");
}

#[test]
fn a_server_that_responds_400_need_not_speak_tls() {
    let server = server();
    let ended = plimsoll(&format!("run {} -c 2 -d 200ms -q", url(&server, "/status/400")));
    let hint = "if the server speaks TLS on this port, use https://";
    assert!(ended.stderr.contains(hint), "{ended:?}");
    assert_eq!(ended.code, 98);
}

#[test]
fn a_key_of_another_certificate_is_reported() {
    let (own, other) = (Identity::new(), Identity::new());
    let server = own.server();
    let pair = format!("--cert {} --key {}", own.cert.display(), other.key.display());
    plimsoll(&format!("run {} -k {pair}", https(&server, "/healthz")))
        .refuses(2, "--key is not the key of the first certificate in --cert");
    let pair = format!("--cert {} --key {}", own.cert.display(), own.key.display());
    load(&https(&server, "/healthz"), &format!("-k -n 10 -c 1 {pair}")).done();
}

#[test]
fn the_wrong_scheme_is_reported() {
    let (plain, secure) = (server(), Identity::new().server());
    for io in interfaces() {
        let flags = format!("-c 2 -d 200ms -T 20s -q --io {io}");
        let ended = plimsoll(&format!("run {} {flags}", https(&plain, "/healthz")));
        ended.refuses(1, "does not speak TLS on this port: use http://");
        let ended = plimsoll(&format!("run {} {flags} -k", https(&plain, "/healthz")));
        ended.refuses(1, "does not speak TLS on this port: use http://");
        let ended = plimsoll(&format!("run {} {flags}", url(&secure, "/healthz")));
        ended.refuses(1, "speaks TLS on this port: use https://");
    }
}

/// As Node's and Python's servers are: they say nothing to what comes in the clear.
#[test]
fn a_server_of_tls_that_hangs_up_is_asked_for_its_scheme() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    // It ends with the test's process.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut first = [0];
            if stream.read_exact(&mut first).is_ok() && first == [0x16] {
                let told = stream.write_all(&[0x15, 3, 3, 0, 2, 2, 40]);
                // What is not read would reset the connection; a client that leaves early is no failure of the server's.
                let _ = told.and_then(|()| stream.read_to_end(&mut Vec::new()));
            }
        }
    });
    plimsoll(&format!("run http://{address}/ -c 1 -d 200ms -q"))
        .refuses(1, "the server speaks TLS on this port: use https://");
}

/// A server of nothing but HTTP/2, which speaks first.
fn http2_peer() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    let settings = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64";
    // It ends with the test's process.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let told = stream.write_all(settings);
            // A client that leaves early is no failure of the server's.
            let _ = told.and_then(|()| stream.read_to_end(&mut Vec::new()));
        }
    });
    address
}

/// A server in the clear that responds as nginx does to plain HTTP on a port of TLS.
fn asks_for_tls() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    let address = listener.local_addr().expect("an address");
    let body = "<h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port";
    let response = format!(
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    // It ends with the test's process.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // The connection that is tried before the load sends nothing. A client that leaves early is no failure of the
            // server's.
            if stream.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {
                let _ = stream.write_all(response.as_bytes());
            }
        }
    });
    address
}

#[test]
fn a_server_of_http2_alone_is_named() {
    let ended = plimsoll(&format!("run http://{}/ -c 4 -d 200ms -q", http2_peer()));
    ended.refuses(1, "speaks HTTP/2 on this port");
}

#[test]
fn what_trying_again_does_not_change_ends_a_run_at_once() {
    let identity = Identity::new();
    let secure = identity.server();
    let healthz = https(&secure, "/healthz");
    let of_another = format!("-c 4 --sni other.test --cacert {}", identity.cert.display());
    let http2 = format!("http://{}/", http2_peer());
    let asking = format!("http://{}/", asks_for_tls());
    for (at, flags, needle) in [
        (&healthz, "-c 4", "--cacert FILE"),
        (&healthz, "-c 4 -R 100", "--cacert FILE"),
        (&healthz, &*of_another, "--sni NAME"),
        (&url(&secure, "/healthz"), "-c 4", "use https://"),
        (&http2, "-c 4", "speaks HTTP/2 on this port"),
        (&http2, "-c 4 -R 100", "speaks HTTP/2 on this port"),
        (&asking, "-c 1", "a proxy there sends plain HTTP to a port of TLS"),
    ] {
        for io in interfaces() {
            let loaded = load(at, &format!("-d 60s --io {io} {flags}"));
            loaded.ended.refuses(1, needle);
            let totals = &loaded.run.totals;
            assert!(totals.duration_ns < 30 * SECOND, "{at} {flags}: {totals:?}");
            assert!(loaded.run.interrupted && loaded.run.halted.is_some(), "{at} {flags}");
        }
    }
}

#[test]
fn no_command_measures_on_where_settings_do_not_fit() {
    let (plain, secure) = (server(), Identity::new().server());
    let folder = TempDir::new().expect("a temporary folder");
    let wrong = [
        (https(&plain, "/healthz"), "does not speak TLS on this port: use http://"),
        (url(&secure, "/healthz"), "speaks TLS on this port: use https://"),
        (https(&secure, "/healthz"), "--cacert FILE"),
    ];
    for (at, (url, needle)) in wrong.iter().enumerate() {
        for (name, line) in [
            ("sweep", format!("{url} --levels 1,2 -d 200ms")),
            ("capacity", format!("{url} --budget 10s")),
            ("compare", format!("{url} {url} --rounds 2 -d 200ms")),
        ] {
            let out = folder.path().join(format!("{name}-{at}"));
            plimsoll(&format!("{name} {line} -q --out {}", out.display())).refuses(1, needle);
        }
    }
}
