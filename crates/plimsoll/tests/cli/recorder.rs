//! A server that responds and records what came, byte for byte. A thread a connection, and no code
//! of the program under test.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A request that came.
#[derive(Debug, Clone)]
pub struct Came {
    /// Which connection, in order of acceptance.
    pub conn: usize,
    /// The server's address that it came to.
    pub to: SocketAddr,
    pub at: Instant,
    pub text: String,
}

impl Came {
    /// Its first line, its header lines sorted, its body.
    pub fn parts(&self) -> (String, Vec<String>, String) {
        let (head, body) = self.text.split_once("\r\n\r\n").expect("a head");
        let mut lines = head.split("\r\n").map(str::to_owned);
        let first = lines.next().expect("a first line");
        let mut headers: Vec<String> = lines.collect();
        headers.sort();
        (first, headers, body.to_owned())
    }

    pub fn path(&self) -> String {
        self.text.split(' ').nth(1).expect("a path").to_owned()
    }
}

type Log = Arc<Mutex<Vec<Came>>>;

/// The server: on one port of 127.0.0.1 and 127.0.0.2. `/login` responds with a token, all else
/// with `ok`.
#[derive(Debug)]
pub struct Recorder {
    pub port: u16,
    log: Log,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Recorder {
    pub fn start() -> Self {
        Self::taking(Duration::ZERO)
    }

    /// One that takes its time for each piece that it reads, so that connections bound its throughput.
    pub fn taking(time: Duration) -> Self {
        // A port that is free at one address may be taken at the other.
        let on_both = |_| {
            let first = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = first.local_addr().expect("its address").port();
            let second = TcpListener::bind(("127.0.0.2", port)).ok()?;
            Some((port, first, second))
        };
        let (port, first, second) = (0..100).find_map(on_both).expect("the same port again");
        let (log, over) = (Log::default(), Arc::new(AtomicBool::new(false)));
        let conns = Arc::new(Mutex::new(0));
        let accept = |listener: TcpListener| {
            listener.set_nonblocking(true).expect("a listener that does not block");
            let (log, over, conns) = (log.clone(), over.clone(), conns.clone());
            thread::spawn(move || accept(&listener, &log, &over, &conns, time))
        };
        let threads = vec![accept(first), accept(second)];
        Self { port, log, over, threads }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Waits until something came.
    ///
    /// # Panics
    /// After a minute.
    pub fn wait(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.log.lock().expect("no panic").is_empty() {
            assert!(Instant::now() < until, "nothing came");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What came since the last time, in the order of each connection.
    pub fn take(&self) -> Vec<Came> {
        std::mem::take(&mut self.log.lock().expect("no panic"))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic in it has failed the test already.
            let _ = thread.join();
        }
    }
}

fn accept(
    listener: &TcpListener,
    log: &Log,
    over: &AtomicBool,
    conns: &Mutex<usize>,
    time: Duration,
) {
    while !over.load(Ordering::Relaxed) {
        let Ok((stream, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(2));
            continue;
        };
        let mut conns = conns.lock().expect("no panic");
        let (conn, log) = (*conns, log.clone());
        *conns += 1;
        drop(conns);
        thread::spawn(move || serve(stream, conn, &log, time));
    }
}

fn serve(mut stream: TcpStream, conn: usize, log: &Log, time: Duration) {
    stream.set_nonblocking(false).expect("a stream that blocks");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    stream.set_nodelay(true).expect("no delay");
    let to = stream.local_addr().expect("an address");
    let mut held = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(n) => held.extend_from_slice(&piece[..n]),
        }
        let at = Instant::now();
        thread::sleep(time);
        let mut responses = Vec::new();
        while let Some(text) = cut(&mut held) {
            let login = text.starts_with("GET /login ");
            responses.extend_from_slice(if login { LOGIN } else { OK });
            log.lock().expect("no panic").push(Came { conn, to, at, text });
        }
        if stream.write_all(&responses).is_err() {
            return;
        }
    }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LOGIN: &[u8] = b"HTTP/1.1 200 OK\r\nX-Token: t0ken\r\nContent-Length: 2\r\n\r\nin";

/// The first whole request of `held`.
fn cut(held: &mut Vec<u8>) -> Option<String> {
    let text = String::from_utf8_lossy(held).into_owned();
    let head = text.find("\r\n\r\n")? + 4;
    let length = text[..head].lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let whole = head + length.map_or(0, |n| n.trim().parse::<usize>().expect("a length"));
    if held.len() < whole {
        return None;
    }
    held.drain(..whole);
    Some(text[..whole].to_owned())
}
