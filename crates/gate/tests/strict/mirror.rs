//! The upstream of the cases: answers each request with its bytes, as they came.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// A listening upstream. Its threads end with the process.
#[derive(Debug)]
pub struct Mirror {
    address: SocketAddr,
    requests: Arc<AtomicU64>,
}

impl Mirror {
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(AtomicU64::new(0));
        let shared = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || answer_all(stream, &shared));
            }
        });
        Self { address, requests }
    }

    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Whole requests that came.
    pub fn requests(&self) -> u64 {
        self.requests.load(SeqCst)
    }
}

fn answer_all(mut stream: TcpStream, requests: &AtomicU64) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout above zero");
    stream.set_nodelay(true).expect("a TCP socket");
    let mut came = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        while let Some(length) = request_length(&came) {
            requests.fetch_add(1, SeqCst);
            let request: Vec<u8> = came.drain(..length).collect();
            let body = if request.starts_with(b"HEAD ") { &[][..] } else { &request };
            let head = format!(
                "HTTP/1.1 200 OK\r\nX-Mirror: 1\r\nContent-Length: {}\r\n\r\n",
                request.len()
            );
            if stream.write_all(&[head.as_bytes(), body].concat()).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => came.extend_from_slice(&buffer[..count]),
        }
    }
}

/// The length of the request that the bytes begin with, once it is whole. Knows only the plain forms that a gateway
/// may write.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = find(bytes, b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let value = |name: &str| {
        let line = text.split("\r\n").find(|line| line.starts_with(name))?;
        Some(line[name.len()..].trim().to_owned())
    };
    if value("transfer-encoding:").is_some_and(|coding| coding == "chunked") {
        let mut at = head;
        loop {
            let line = find(&bytes[at..], b"\r\n")?;
            let size = String::from_utf8_lossy(&bytes[at..at + line]).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            at += line + 2;
            if size == 0 {
                let end = if bytes[at..].starts_with(b"\r\n") {
                    2
                } else {
                    find(&bytes[at..], b"\r\n\r\n")? + 4
                };
                return Some(at + end);
            }
            at += size + 2;
            if at > bytes.len() {
                return None;
            }
        }
    }
    let length = value("content-length:").and_then(|length| length.parse().ok()).unwrap_or(0);
    (bytes.len() >= head + length).then_some(head + length)
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
