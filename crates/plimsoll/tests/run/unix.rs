//! Unix sockets.

use std::io::{Read, Write, copy};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

use crate::harness::{interfaces, load, plimsoll, server};
use crate::tls::Identity;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server on a Unix socket that keeps the heads of requests.
struct OnUnix {
    path: PathBuf,
    heads: Arc<Mutex<Vec<String>>>,
}

impl OnUnix {
    fn start(path: PathBuf) -> Self {
        let listener = UnixListener::bind(&path).expect("a socket");
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let kept = heads.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, stream) = (kept.clone(), stream.expect("a caller"));
                thread::spawn(move || answer(stream, &kept));
            }
        });
        Self { path, heads }
    }

    fn head(&self) -> String {
        self.heads.lock().expect("no panic").last().cloned().unwrap_or_default()
    }

    fn served(&self) -> u64 {
        self.heads.lock().expect("no panic").len() as u64
    }
}

fn answer(mut stream: UnixStream, kept: &Mutex<Vec<String>>) {
    let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        heard.extend_from_slice(&buffer[..n]);
        while let Some(end) = heard.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head: Vec<u8> = heard.drain(..end + 4).collect();
            kept.lock().expect("no panic").push(String::from_utf8_lossy(&head).into_owned());
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    }
}

/// A Unix socket that leads to an address.
fn lead_to(path: &Path, address: SocketAddr) {
    let listener = UnixListener::bind(path).expect("a socket");
    thread::spawn(move || {
        for near in listener.incoming() {
            let (mut near, mut far) =
                (near.expect("a caller"), TcpStream::connect(address).expect("it listens"));
            let (mut near_in, mut far_in) =
                (near.try_clone().expect("a file"), far.try_clone().expect("a file"));
            thread::spawn(move || {
                // Fails where the other end is gone.
                let _ = copy(&mut near_in, &mut far).and_then(|_| far.shutdown(Shutdown::Write));
            });
            thread::spawn(move || {
                let _ = copy(&mut far_in, &mut near).and_then(|_| near.shutdown(Shutdown::Both));
            });
        }
    });
}

#[test]
fn a_socket_takes_the_place_of_the_urls_address() {
    let folder = TempDir::new().expect("a temporary folder");
    let server = OnUnix::start(folder.path().join("api.sock"));
    let socket = server.path.display();
    for io in interfaces() {
        let before = server.served();
        for flags in ["", "--no-keepalive", "--pipeline 4"] {
            let flags = format!("-c 20 -n 400 --io {io} --unix {socket} {flags}");
            let run = load("http://api.example.test:81/users?page=2", &flags).run;
            assert_eq!((run.totals.succeeded, run.totals.errors.total()), (400, 0), "{flags}");
            assert_eq!(run.plan.addresses, [format!("unix:{socket}")]);
            assert_eq!(run.plan.url, "http://api.example.test:81/users?page=2");
        }
        assert_eq!(server.served() - before, 1200, "{io}");
        let head = server.head();
        assert!(head.starts_with("GET /users?page=2 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nHost: api.example.test:81\r\n"), "{head}");
    }
}

#[test]
fn tls_is_spoken_on_a_socket_too() {
    let identity = Identity::new();
    let server = identity.server();
    let folder = TempDir::new().expect("a temporary folder");
    let socket = folder.path().join("tls.sock");
    lead_to(&socket, server.addr());
    for io in interfaces() {
        let flags = format!(
            "-c 4 -n 100 --io {io} --cacert {} --unix {}",
            identity.cert.display(),
            socket.display()
        );
        let run = load("https://localhost/healthz", &flags).run;
        assert_eq!(run.totals.succeeded, 100, "{io}: {:?}", run.totals.error_samples);
    }
}

#[test]
fn every_command_that_makes_load_takes_a_socket() {
    let folder = TempDir::new().expect("a temporary folder");
    let out = |name: &str| folder.path().join(name).display().to_string();
    let server = OnUnix::start(folder.path().join("a.sock"));
    let other = OnUnix::start(folder.path().join("b.sock"));
    let (a, b) = (server.path.display(), other.path.display());
    for (line, code) in [
        (format!("sweep http://h/ --levels 2,4 -d 200ms --rest 0 -q --unix {a}"), &[0, 98][..]),
        (
            format!(
                "capacity http://h/ --closed --max 20 --budget 10s --step 300ms --hold 300ms --rest 20ms -q --unix {a}"
            ),
            &[0, 98],
        ),
    ] {
        let before = server.served();
        let ended = plimsoll(&format!("{line} --out {}", out(&line[..5])));
        assert!(code.contains(&ended.code), "{line}: {ended:#?}");
        assert!(server.served() > before, "{line}: {ended:#?}");
    }
    let before = (server.served(), other.served());
    let line =
        format!("compare http://h/ http://h/ --rounds 1 -d 200ms --rest 0 -q --out {}", out("c"));
    let ended = plimsoll(&format!("{line} --unix {a} --unix {b}"));
    assert!([0, 98, 99].contains(&ended.code), "{ended:#?}");
    assert!(server.served() > before.0 && other.served() > before.1, "{ended:#?}");
    let file = folder.path().join("w.yaml");
    std::fs::write(&file, "target: http://h\nendpoints: [{path: /a}, {path: /b}]\n")
        .expect("a file");
    let run = load(&file.display().to_string(), &format!("-c 2 -n 50 --unix {a}")).run;
    assert_eq!(run.totals.succeeded, 50, "{:?}", run.totals);
    let shown = plimsoll(&format!("plan http://h/ --unix {a}"));
    assert!(shown.code == 0 && shown.stdout.contains(&a.to_string()), "{shown:#?}");
    let three = plimsoll(&format!("{line} --unix {a} --unix {b} --unix {b}"));
    three.refuses(2, "--unix: at most one for each URL");
}

#[test]
fn what_is_no_socket_is_refused_by_its_path() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    drop(UnixListener::bind(at("gone.sock")).expect("a socket"));
    std::fs::write(at("file"), "").expect("a file");
    for (name, needle) in [
        ("none.sock", "No such file"),
        ("gone.sock", "Connection refused"),
        ("file", "Connection refused"),
    ] {
        let ended = plimsoll(&format!("run http://h/ -d 100ms --unix {}", at(name)));
        ended.refuses(1, &format!("cannot connect to the Unix socket {}: {needle}", at(name)));
    }
    for (flags, needle) in [
        (format!("--unix {}", "a".repeat(108)), "longer than the 107 bytes"),
        ("--unix a --unix b".to_owned(), "--unix: one path"),
        ("--unix a --connect-to 127.0.0.1:1".to_owned(), "cannot be used with"),
        ("--unix a --source 127.0.0.1".to_owned(), "cannot be used with"),
        ("--unix a -s a.lua".to_owned(), "cannot be used with"),
    ] {
        plimsoll(&format!("run http://h/ -d 100ms {flags}")).refuses(2, needle);
    }
}

/// The kernel's queue of such a socket is short, and tells nobody when it has room again.
#[test]
fn more_connections_than_the_queue_holds_are_opened() {
    let folder = TempDir::new().expect("a temporary folder");
    let server = server();
    lead_to(&folder.path().join("api.sock"), server.addr());
    for io in interfaces() {
        let flags =
            format!("-c 500 -n 5000 --io {io} --unix {}", folder.path().join("api.sock").display());
        let run = load("http://localhost/healthz", &flags).run;
        assert_eq!(run.totals.succeeded, 5000, "{io}: {:?}", run.totals.error_samples);
    }
}
