//! An HTTP server on a real loopback socket that is well for a while and then misbehaves, as servers do
//! that are measured while something happens to them.
//!
//! A thread for each connection, which reads up to the end of a request's head, waits for the service
//! time and responds. Requests have no bodies, and it shares no code with what is tested.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::SockRef;

/// How often a waiting thread checks whether it must end.
const LOOK: Duration = Duration::from_millis(10);
/// How long a slow error takes.
const SLOW: Duration = Duration::from_millis(300);

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 26\r\n\r\n\
    Database connection failed";
const UNAVAILABLE: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
const BAD_GATEWAY: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";

/// What a server does while it misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Each tenth connection is accepted and never gets a response; those accepted before stay well.
    Deaf,
    /// Requests wait until the fault is over.
    Stall,
    /// Requests are met by a reset, and so are those on new connections.
    Resets,
    /// Responses are 503, after 300 ms.
    Slow503s,
    /// Responses are an error page, with status 200.
    ErrorPage,
    /// One of two instances behind one address has been killed: its connections are reset, and a new one
    /// that is given to it as well.
    HalfReset,
    /// One of two instances has lost its network: its connections are silent, and a new one that is given
    /// to it as well.
    HalfSilent,
    /// One of two instances is gone behind a proxy that responds 502 in its place.
    HalfBadGateway,
    /// Each request gets two responses.
    Twice,
}

/// The body of responses while all is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    /// The same 15 bytes of JSON.
    Same,
    /// JSON whose text and length, 20 to 2,000 bytes, differ from response to response.
    Dynamic,
    /// The same 200,000 bytes of JSON.
    Long,
}

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Behaviour {
    /// How long a response takes.
    pub service: Duration,
    /// The body of responses.
    pub bodies: Bodies,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// From when to when, since the first connection.
    pub during: Range<Duration>,
}

impl Behaviour {
    /// A server that is well.
    pub fn well(service: Duration) -> Self {
        Self { service, bodies: Bodies::Same, fault: None, during: Duration::ZERO..Duration::MAX }
    }

    /// Responses in 2 ms, and misbehaves from an instant on, forever.
    pub fn faulty(fault: Fault, after: Duration) -> Self {
        let well = Self::well(Duration::from_millis(2));
        Self { fault: Some(fault), during: after..Duration::MAX, ..well }
    }
}

/// The server. Dropping it ends it.
#[derive(Debug)]
pub struct Misbehaving {
    address: SocketAddr,
    state: Arc<ServerState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ServerState {
    behaviour: Behaviour,
    over: AtomicBool,
    first: OnceLock<Instant>,
    responses: AtomicU64,
}

impl Misbehaving {
    /// Starts it on a free port.
    ///
    /// # Panics
    /// When no loopback port is free.
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a socket can be non-blocking");
        let state = Arc::new(ServerState {
            behaviour,
            over: AtomicBool::new(false),
            first: OnceLock::new(),
            responses: AtomicU64::new(0),
        });
        let shared = Arc::clone(&state);
        let thread = thread::spawn(move || accept_all(&listener, &shared));
        Self { address, state, thread: Some(thread) }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Misbehaving {
    fn drop(&mut self) {
        self.state.over.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

impl ServerState {
    /// The fault that is active now.
    fn fault(&self) -> Option<Fault> {
        let since = self.first.get().map_or(Duration::ZERO, Instant::elapsed);
        self.behaviour.fault.filter(|_| self.behaviour.during.contains(&since))
    }

    fn is_over(&self) -> bool {
        self.over.load(SeqCst)
    }

    fn wait_while(&self, condition: impl Fn() -> bool) {
        while condition() && !self.is_over() {
            thread::sleep(LOOK);
        }
    }

    fn response(&self) -> Vec<u8> {
        let body = match self.behaviour.bodies {
            Bodies::Same => "{\"status\":\"ok\"}".to_owned(),
            Bodies::Dynamic => {
                let n =
                    self.responses.fetch_add(1, SeqCst).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8;
                format!("{{\"id\":{n},\"text\":\"{}\"}}", "x".repeat((n % 1_980) as usize))
            }
            Bodies::Long => format!("{{\"text\":\"{}\"}}", "x".repeat(200_000 - 11)),
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json";
        format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
    }
}

fn accept_all(listener: &TcpListener, state: &Arc<ServerState>) {
    let mut conversations = Vec::new();
    let mut accepted = 0;
    while !state.is_over() {
        match listener.accept() {
            Ok((stream, _)) => {
                state.first.get_or_init(Instant::now);
                accepted += 1;
                let (nth, state) = (accepted, Arc::clone(state));
                // An error means that the client has gone, which the test notices on its side.
                conversations.push(thread::spawn(move || {
                    let _ = converse(stream, nth, &state);
                }));
            }
            Err(_) => thread::sleep(LOOK / 10),
        }
    }
    for conversation in conversations {
        let _ = conversation.join();
    }
}

/// Serves connection number n until either side closes it.
fn converse(mut stream: TcpStream, nth: u64, state: &ServerState) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_millis(100)))?;
    if nth.is_multiple_of(10) && state.fault() == Some(Fault::Deaf) {
        state.wait_while(|| true);
    }
    let mut received = Vec::new();
    while read_request(&mut stream, &mut received, state)? {
        if !state.behaviour.service.is_zero() {
            thread::sleep(state.behaviour.service);
        }
        let (here, chosen) = (state.fault(), nth.is_multiple_of(2));
        match here {
            Some(Fault::Resets) => return reset(&stream),
            Some(Fault::HalfReset) if chosen => return reset(&stream),
            Some(Fault::HalfSilent) if chosen => state.wait_while(|| state.fault() == here),
            Some(Fault::Stall) => state.wait_while(|| state.fault() == here),
            Some(Fault::Slow503s) => thread::sleep(SLOW),
            _ => {}
        }
        let bytes = match here {
            Some(Fault::Slow503s) => UNAVAILABLE.to_vec(),
            Some(Fault::ErrorPage) => PAGE.to_vec(),
            Some(Fault::HalfBadGateway)
                if state.responses.fetch_add(1, SeqCst).is_multiple_of(2) =>
            {
                BAD_GATEWAY.to_vec()
            }
            Some(Fault::Twice) => state.response().repeat(2),
            _ => state.response(),
        };
        stream.write_all(&bytes)?;
    }
    Ok(())
}

fn reset(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

/// Reads up to the end of a head. Whether there was one.
fn read_request(
    stream: &mut TcpStream,
    received: &mut Vec<u8>,
    state: &ServerState,
) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    loop {
        if let Some(at) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            received.drain(..at + 4);
            return Ok(true);
        }
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) if waiting(&error) && !state.is_over() => {}
            Err(error) => return Err(error),
        }
    }
}

fn waiting(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::{End, RawClient};

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn it_is_well_and_then_it_is_not() {
        let server = Misbehaving::start(Behaviour {
            service: Duration::ZERO,
            ..Behaviour::faulty(Fault::Resets, Duration::from_secs(3))
        });
        let mut client = RawClient::connect(server.addr());
        for _ in 0..3 {
            client.send(REQUEST);
            let response = client.receive_until(b"{\"status\":\"ok\"}");
            assert!(response.starts_with(b"HTTP/1.1 200 OK\r\n"));
        }
        thread::sleep(Duration::from_millis(3_100));
        assert_eq!(RawClient::exchange(server.addr(), REQUEST), (Vec::new(), End::Reset));
        client.send(REQUEST);
        assert_eq!(client.receive_all(Duration::from_secs(60)), (Vec::new(), End::Reset));
    }

    #[test]
    fn the_tenth_connection_gets_no_response() {
        let server = Misbehaving::start(Behaviour::faulty(Fault::Deaf, Duration::ZERO));
        let mut clients: Vec<RawClient> =
            (0..10).map(|_| RawClient::connect(server.addr())).collect();
        for client in &mut clients {
            client.send(REQUEST);
        }
        let mut unserved = || {
            clients.retain_mut(|client| {
                let (bytes, end) = client.receive_all(Duration::from_millis(200));
                assert_eq!(end, End::Open);
                bytes.is_empty()
            });
            clients.len()
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while unserved() > 1 && Instant::now() < deadline {}
        assert_eq!(unserved(), 1);
    }
}
