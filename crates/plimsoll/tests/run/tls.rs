//! TLS: certificates, names, versions, and the wrong scheme.

use std::fs;
use std::path::PathBuf;

use target::{Server, Tls};
use tempfile::TempDir;
use testkit::servers::{Nginx, NginxOptions};

use crate::harness::{interfaces, load, plimsoll, server, server_with, url};

/// A certificate for `localhost` and 127.0.0.1, and its key.
struct Identity {
    _folder: TempDir,
    cert: PathBuf,
    key: PathBuf,
}

impl Identity {
    fn new() -> Self {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let folder = TempDir::new().expect("a temporary folder");
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        fs::write(&cert, made.cert.pem()).expect("a file");
        fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        Self { _folder: folder, cert, key }
    }

    fn server(&self) -> Server {
        let tls = Tls::Files { cert: self.cert.clone(), key: self.key.clone() };
        server_with(|options| options.tls = Some(tls))
    }
}

fn https(server: &Server, path: &str) -> String {
    format!("https://{}{path}", server.addr())
}

#[test]
fn certificates_are_checked_unless_told_otherwise() {
    let identity = Identity::new();
    let server = identity.server();
    let healthz = https(&server, "/healthz");
    let cacert = format!("--cacert {}", identity.cert.display());
    for io in interfaces() {
        for flags in ["--insecure", &cacert, &format!("{cacert} --tls-max 1.2")] {
            let run = load(&healthz, &format!("-c 4 -t 2 -n 200 --io {io} {flags}")).ends(0);
            assert_eq!((run.totals.attempts, run.totals.succeeded), (200, 200), "{io} {flags}");
            assert_eq!(run.tls_ns.count, 4, "{io} {flags}");
        }
        for (flags, needle) in
            [("", "certificate"), (&*format!("{cacert} --sni other.test"), "other.test")]
        {
            let loaded = load(&healthz, &format!("-c 2 -d 200ms -T 1s --io {io} {flags}"));
            assert_eq!(loaded.ways(), ["tls"], "{io} {flags}: {:?}", loaded.run.totals);
            let sample = &loaded.run.totals.error_samples["tls"];
            assert!(sample.contains(needle), "{io} {flags}: {sample}");
            assert_eq!(loaded.ended.code, 98);
        }
    }
}

#[test]
fn answers_come_whole_over_tls_however_they_end() {
    let server = Identity::new().server();
    for io in interfaces() {
        for path in ["/bytes/300000", "/fault/no-length", "/fault/chunked", "/fault/early"] {
            let run = load(&https(&server, path), &format!("-k -c 3 -n 40 --io {io}")).run;
            assert_eq!(run.totals.succeeded, 40, "{path} on {io}: {:?}", run.totals);
        }
        let loaded =
            load(&https(&server, "/fault/truncate"), &format!("-k -c 3 -d 200ms --io {io}"));
        assert_eq!(loaded.ways(), ["read"], "{io}");
        let loaded =
            load(&https(&server, "/fault/garbage"), &format!("-k -c 3 -d 200ms --io {io}"));
        assert_eq!(loaded.ways(), ["protocol"], "{io}");
    }
}

#[test]
fn nginx_speaks_tls_with_us() {
    let identity = Identity::new();
    let tls = Some((identity.cert.clone(), identity.key.clone()));
    let mut nginx =
        Nginx::start(&NginxOptions { tls, ..NginxOptions::default() }).expect("nginx runs");
    let address = nginx.tls_addr().expect("a TLS port");
    for io in interfaces() {
        let before = nginx.requests().expect("its counters");
        let run =
            load(&format!("https://{address}/"), &format!("-k -c 10 -n 1000 --io {io}")).ends(0);
        let seen = nginx.requests().expect("its counters") - before;
        assert_eq!((run.totals.succeeded, seen), (1000, 1000), "{io}");
    }
    // It answers a request in the clear with 400, in the clear.
    let ended = plimsoll(&format!("run http://{address}/ -c 2 -d 200ms -q"));
    assert!(ended.stderr.contains("use https://"), "{ended:?}");
    assert_eq!(ended.code, 98);
}

#[test]
fn the_wrong_scheme_is_said() {
    let (plain, secure) = (server(), Identity::new().server());
    for io in interfaces() {
        let flags = format!("-c 2 -d 200ms -T 1s -q --io {io}");
        let ended = plimsoll(&format!("run {} {flags}", https(&plain, "/healthz")));
        ended.refuses(1, "does not speak TLS on this port: use http://");
        let ended = plimsoll(&format!("run {} {flags} -k", https(&plain, "/healthz")));
        ended.refuses(1, "does not speak TLS on this port: use http://");
        let ended = plimsoll(&format!("run {} {flags}", url(&secure, "/healthz")));
        ended.refuses(1, "speaks TLS on this port: use https://");
    }
}
