//! The same cases against nginx and HAProxy, with their usual settings: how often they forward what is refused here.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::servers::{Nginx, NginxOptions};
use testkit::{needs, ports};

use crate::case::{Case, Want};
use crate::cases::all;
use crate::harness::{Until, send_all};
use crate::mirror::Mirror;

/// What a server makes of the cases that the gateway refuses.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    forwarded: Vec<String>,
}

/// Sends all cases whose request the gateway refuses before it forwards anything.
fn tally<S>(start: impl Fn(&Mirror) -> (S, SocketAddr) + Sync) -> Tally {
    let mut tally = Tally::default();
    let cases = all();
    let ours = |case: &&Case| matches!(case.want, Want::Refused { forwarded: 0, .. });
    let cases: Vec<_> = cases.iter().filter(ours).collect();
    for (case, came) in send_all(&cases, |_| Until::Quiet, start) {
        if came.reached == 0 {
            tally.refused += 1;
        } else {
            tally.forwarded.push(format!("{} [{}]", case.name, case.rule));
        }
    }
    tally
}

fn print(server: &str, tally: &Tally) {
    println!(
        "{server}: of {} cases that the gateway refuses, it forwards {}:",
        tally.refused + tally.forwarded.len(),
        tally.forwarded.len()
    );
    for name in &tally.forwarded {
        println!("  {name}");
    }
}

#[test]
fn nginx() {
    if !needs::has("nginx") {
        return;
    }
    let tally = tally(|mirror| {
        let to = mirror.addr();
        let extra = format!("location /x {{ proxy_pass http://{to}; proxy_http_version 1.1; }}");
        let nginx =
            Nginx::start(&NginxOptions { extra, ..NginxOptions::default() }).expect("nginx runs");
        let to = nginx.addr();
        (nginx, to)
    });
    print("nginx", &tally);
    assert!(tally.refused > 0, "it refuses nothing: it was not asked");
}

/// A running HAProxy.
struct Haproxy {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Haproxy {
    fn start(program: &std::path::Path, upstream: SocketAddr) -> Self {
        let (address, folder) = (ports::reserved(), TempDir::new().expect("a folder"));
        let text = format!(
            "defaults\n mode http\n timeout connect 2s\n timeout client 3s\n timeout server 3s\n\
             frontend f\n bind {address}\n default_backend b\nbackend b\n server s {upstream}\n"
        );
        let path = folder.path().join("haproxy.cfg");
        fs::write(&path, text).expect("a temporary file");
        let mut command = Command::new(program);
        command.arg("-db").arg("-f").arg(&path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("HAProxy starts");
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "HAProxy does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Self { child, address, _folder: folder }
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn haproxy() {
    let Some(program) = needs::has("haproxy").then(|| needs::path("haproxy")).flatten() else {
        return;
    };
    let tally = tally(|mirror| {
        let haproxy = Haproxy::start(&program, mirror.addr());
        let to = haproxy.address;
        (haproxy, to)
    });
    print("HAProxy", &tally);
    assert!(tally.refused > 0, "it refuses nothing: it was not asked");
}
