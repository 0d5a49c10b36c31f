//! What the gateway forwards is read alike by servers that share no code: Node, Python, Go, and nginx in front of Node.
//!
//! Each answers a request with how it understood it; nginx reads it, writes it anew and has Node answer. Cases that the
//! gateway passes are sent through it to each, and the answers compared.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gate::health::Health;
use gate::path::{Gate, Listener, Options};
use gate::policy::{Current, Policy, Upstream};
use tempfile::TempDir;
use testkit::peer::{End, RawClient};
use testkit::servers::{Nginx, NginxOptions};
use testkit::{needs, ports};

use crate::case::Want;
use crate::cases::all;

const NODE: &str = r#"
const http = require('http');
http.createServer((request, response) => {
  let bytes = 0;
  request.on('data', part => bytes += part.length);
  request.on('end', () => {
    const text = `[${request.method} ${request.url} ${request.headers.host} ${bytes}]`;
    response.writeHead(200, {'Content-Length': Buffer.byteLength(text)});
    response.end(text);
  });
}).listen(+process.argv[2], '127.0.0.1');
"#;

const PYTHON: &str = r#"
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def __getattr__(self, name):
        if name.startswith('do_'):
            return self.answer
        raise AttributeError(name)

    def answer(self):
        if self.headers.get('Transfer-Encoding') == 'chunked':
            bytes = 0
            while size := int(self.rfile.readline().strip(), 16):
                bytes += len(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline() != b'\r\n':
                pass
        else:
            bytes = len(self.rfile.read(int(self.headers.get('Content-Length', 0))))
        text = f"[{self.command} {self.path} {self.headers['Host']} {bytes}]".encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(text)

    def log_message(self, *args):
        pass

ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
"#;

const GO: &str = r#"
package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bytes, _ := io.Copy(io.Discard, r.Body)
		text := fmt.Sprintf("[%s %s %s %d]", r.Method, r.RequestURI, r.Host, bytes)
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		io.WriteString(w, text)
	}))
}
"#;

/// A back end that runs until it is dropped.
struct Backend {
    name: &'static str,
    runs: Runs,
    address: SocketAddr,
}

/// What a back end is.
enum Runs {
    Program(Child),
    /// In front of another.
    Nginx(#[expect(dead_code, reason = "held so that it runs")] Nginx),
}

impl Drop for Backend {
    fn drop(&mut self) {
        if let Runs::Program(child) = &mut self.runs {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a program with a port as its last argument.
fn start(name: &'static str, program: PathBuf, file: PathBuf) -> Backend {
    let address = ports::reserved();
    let mut command = Command::new(program);
    if file.exists() {
        command.arg(file);
    }
    command
        .arg(address.port().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let runs = Runs::Program(command.spawn().expect("it starts"));
    let backend = Backend { name, runs, address };
    let deadline = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(address).is_err() {
        assert!(Instant::now() < deadline, "{name} does not listen");
        thread::sleep(Duration::from_millis(20));
    }
    backend
}

/// nginx in front of a back end, passing on what it read of a request.
fn nginx_before(backend: &Backend) -> Backend {
    let extra = format!(
        "location ~ . {{ proxy_pass http://{}; proxy_http_version 1.1; proxy_set_header Host $http_host; }}",
        backend.address
    );
    let nginx = Nginx::start(&NginxOptions { extra, ..NginxOptions::default() }).expect("it runs");
    let address = nginx.addr();
    Backend { name: "nginx", runs: Runs::Nginx(nginx), address }
}

/// The back ends whose programs are installed.
fn backends(folder: &TempDir) -> Vec<Backend> {
    let mut started = Vec::new();
    for (name, program, file, text) in
        [("Node", "node", "server.js", NODE), ("Python", "python3", "server.py", PYTHON)]
    {
        if needs::has(program) {
            let file = folder.path().join(file);
            fs::write(&file, text).expect("a temporary file");
            started.push(start(name, needs::path(program).expect("it is there"), file));
        }
    }
    if needs::has("go") {
        let source = folder.path().join("server.go");
        let binary = folder.path().join("server");
        fs::write(&source, GO).expect("a temporary file");
        let mut build = Command::new(needs::path("go").expect("it is there"));
        build.args(["build", "-o"]).arg(&binary).arg(&source).current_dir(folder.path());
        assert!(build.status().expect("go runs").success(), "the Go server does not build");
        started.push(start("Go", binary, PathBuf::from("/nonexistent")));
    }
    if let Some(node) = started.iter().find(|backend| backend.name == "Node")
        && needs::has("nginx")
    {
        let nginx = nginx_before(node);
        started.push(nginx);
    }
    started
}

fn through(backend: &Backend) -> Gate {
    let policy = Policy::open(Upstream::of(backend.name, backend.address));
    let listener = Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let options = Options {
        listeners: vec![listener],
        workers: Some(1),
        io: None,
        busy_poll_ns: 0,
        log: None,
    };
    let current = Arc::new(Current::new(Arc::new(policy)));
    Gate::start(options, current, Arc::new(Health::default())).expect("it starts")
}

/// What a back end understood of the requests of a case: the brackets of its answers.
fn understood(gate: &Gate, bytes: &[u8], requests: usize) -> Vec<String> {
    let mut client = RawClient::connect(gate.addresses()[0]);
    client.try_send(bytes);
    let deadline = Instant::now() + Duration::from_secs(3);
    let mut text = String::new();
    while text.matches("\n[").count() < requests && Instant::now() < deadline {
        let (came, end) = client.receive_all(Duration::from_millis(20));
        text.push_str(&String::from_utf8_lossy(&came));
        if end != End::Open {
            break;
        }
    }
    text.split("\n[").skip(1).filter_map(|rest| rest.split(']').next().map(str::to_owned)).collect()
}

#[test]
fn what_is_forwarded_is_read_alike() {
    let folder = TempDir::new().expect("a folder");
    let backends = backends(&folder);
    if backends.len() < 2 {
        println!("skipped: it takes two of node, python3 and go");
        return;
    }
    let gates: Vec<(&Backend, Gate)> =
        backends.iter().map(|backend| (backend, through(backend))).collect();
    let mut compared = vec![0; gates.len()];
    for case in all() {
        let Want::Passed { requests, .. } = case.want else { continue };
        // A tunnel is not answered by them, an asterisk not by all, and HEAD shows nothing of what was understood.
        let told = ["websocket", "HEAD ", "OPTIONS *", "OPTIONS http://", "HTTP/1.0"];
        let text = String::from_utf8_lossy(&case.bytes);
        if told.iter().any(|word| text.to_lowercase().contains(&word.to_lowercase())) {
            continue;
        }
        let readings: Vec<_> = gates
            .iter()
            .map(|(backend, gate)| (backend.name, understood(gate, &case.bytes, requests)))
            .collect();
        let answered: Vec<_> = readings.iter().filter(|(_, reading)| !reading.is_empty()).collect();
        for pair in answered.windows(2) {
            assert_eq!(pair[0].1, pair[1].1, "{}: {} and {}", case.name, pair[0].0, pair[1].0);
        }
        for (count, (_, reading)) in compared.iter_mut().zip(&readings) {
            *count += usize::from(answered.len() > 1 && !reading.is_empty());
        }
    }
    for (count, backend) in compared.iter().zip(&backends) {
        println!("{}: {count} cases compared with the others", backend.name);
        assert!(*count >= 50, "{}: {count} compared", backend.name);
    }
}
