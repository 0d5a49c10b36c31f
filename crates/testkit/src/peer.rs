//! Scripted peers on real loopback sockets. They write and expect the bytes of their script and know
//! nothing else: no HTTP, and no code of what they test.
//!
//! [`Peer`] is the listening side, for testing clients; [`RawClient`] the connecting side, for testing
//! servers.

mod client;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};

pub use client::{End, RawClient};

/// How often a waiting thread checks whether it must end.
const LOOK: Duration = Duration::from_millis(10);
/// How long a peer tries to send what its client does not read.
const PATIENCE: Duration = Duration::from_secs(10);

/// One step of a connection's script.
#[derive(Debug, Clone)]
pub enum Step {
    /// Waits until these bytes have come, after those that earlier steps waited for, and counts a
    /// request.
    Expect(&'static [u8]),
    /// Sends these bytes at once.
    Send(Vec<u8>),
    /// Sends these bytes in pieces of this size, with a pause after each.
    SendSlowly(Vec<u8>, usize, Duration),
    /// Waits.
    Pause(Duration),
    /// Does these steps over and over, until the client closes.
    Forever(Vec<Step>),
    /// Ends sending, but goes on reading until the client closes.
    HalfClose,
    /// Ends the connection with a RST.
    Reset,
    /// Neither reads nor writes until the peer is dropped.
    Hang,
}

/// A listening peer. Each connection gets a thread that follows a script and then closes. Dropping
/// it ends them all.
#[derive(Debug)]
pub struct Peer {
    address: SocketAddr,
    state: Arc<PeerState>,
    thread: Option<JoinHandle<()>>,
    /// Held, and never accepted from, by a peer that does not accept.
    _silent: Option<Socket>,
}

#[derive(Debug, Default)]
struct PeerState {
    over: AtomicBool,
    requests: AtomicU64,
    connections: AtomicU64,
}

impl Peer {
    /// A peer that follows `script` on every connection.
    ///
    /// # Panics
    /// When no loopback port is free.
    pub fn start(script: Vec<Step>) -> Self {
        Self::start_each(vec![script])
    }

    /// A peer that follows the first script on its first connection, the second on the next, and the
    /// last on all that come after.
    ///
    /// # Panics
    /// When there is no script, or no loopback port is free.
    pub fn start_each(scripts: Vec<Vec<Step>>) -> Self {
        assert!(!scripts.is_empty(), "a peer needs a script");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a socket can be non-blocking");
        let state = Arc::new(PeerState::default());
        let shared = Arc::clone(&state);
        let thread = thread::spawn(move || accept_all(&listener, &scripts, &shared));
        Self { address, state, thread: Some(thread), _silent: None }
    }

    /// A peer whose kernel takes `backlog` + 1 connections, and which accepts none of them.
    ///
    /// # Panics
    /// When no loopback port is free.
    pub fn never_accepting(backlog: i32) -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(&any.into()).expect("a loopback port");
        socket.listen(backlog).expect("a bound socket listens");
        let address = socket.local_addr().ok().and_then(|address| address.as_socket());
        Self {
            address: address.expect("a bound socket has an address"),
            state: Arc::default(),
            thread: None,
            _silent: Some(socket),
        }
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Requests seen: [`Step::Expect`]s that were met.
    pub fn requests(&self) -> u64 {
        self.state.requests.load(SeqCst)
    }

    /// Connections accepted.
    pub fn connections(&self) -> u64 {
        self.state.connections.load(SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.state.over.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed already.
            let _ = thread.join();
        }
    }
}

fn accept_all(listener: &TcpListener, scripts: &[Vec<Step>], state: &Arc<PeerState>) {
    let mut conversations = Vec::new();
    while !state.over.load(SeqCst) {
        match listener.accept() {
            Ok((stream, _)) => {
                let nth = state.connections.fetch_add(1, SeqCst) as usize;
                let script = scripts[nth.min(scripts.len() - 1)].clone();
                let state = Arc::clone(state);
                conversations.push(thread::spawn(move || converse(stream, &script, &state)));
            }
            Err(_) => thread::sleep(LOOK / 10),
        }
    }
    for conversation in conversations {
        let _ = conversation.join();
    }
}

fn converse(stream: TcpStream, script: &[Step], state: &PeerState) {
    let mut conversation = Conversation { stream, heard: Vec::new(), state };
    // An error here means that the client has gone, which the test notices on its side.
    let _ = conversation.ready().and_then(|()| conversation.follow(script));
}

struct Conversation<'a> {
    stream: TcpStream,
    /// Bytes that came and that no step has waited for yet.
    heard: Vec<u8>,
    state: &'a PeerState,
}

impl Conversation<'_> {
    fn ready(&self) -> io::Result<()> {
        self.stream.set_nonblocking(false)?;
        self.stream.set_nodelay(true)?;
        self.stream.set_read_timeout(Some(LOOK))?;
        self.stream.set_write_timeout(Some(PATIENCE))
    }

    fn follow(&mut self, script: &[Step]) -> io::Result<()> {
        script.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> io::Result<()> {
        match step {
            Step::Expect(bytes) => self.expect(bytes),
            Step::Send(bytes) => self.stream.write_all(bytes),
            Step::SendSlowly(bytes, size, gap) => bytes.chunks(*size).try_for_each(|piece| {
                self.stream.write_all(piece)?;
                self.pause(*gap)
            }),
            Step::Pause(length) => self.pause(*length),
            Step::Forever(steps) => loop {
                self.follow(steps)?;
            },
            Step::HalfClose => {
                self.stream.shutdown(Shutdown::Write)?;
                while self.read()? > 0 {}
                Ok(())
            }
            Step::Reset => {
                SockRef::from(&self.stream).set_linger(Some(Duration::ZERO))?;
                Err(ErrorKind::ConnectionReset.into())
            }
            Step::Hang => self.pause(Duration::MAX),
        }
    }

    fn expect(&mut self, wanted: &[u8]) -> io::Result<()> {
        loop {
            if let Some(at) = self.heard.windows(wanted.len()).position(|bytes| bytes == wanted) {
                self.heard.drain(..at + wanted.len());
                self.state.requests.fetch_add(1, SeqCst);
                return Ok(());
            }
            if self.read()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Reads bytes, or finds that the client has closed, or that the peer must end.
    fn read(&mut self) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        loop {
            self.check_over()?;
            match self.stream.read(&mut buffer) {
                Ok(count) => {
                    self.heard.extend_from_slice(&buffer[..count]);
                    return Ok(count);
                }
                Err(error) if waiting(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn pause(&self, length: Duration) -> io::Result<()> {
        let start = Instant::now();
        while start.elapsed() < length {
            self.check_over()?;
            thread::sleep(LOOK.min(length));
        }
        Ok(())
    }

    fn check_over(&self) -> io::Result<()> {
        if self.state.over.load(SeqCst) { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

/// Whether nothing came in time, or a read with a timeout was interrupted, as happens when a machine is
/// suspended.
fn waiting(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_followed_and_requests_are_counted() {
        let again = vec![Step::Expect(b"?"), Step::Send(b"!".to_vec())];
        let peer = Peer::start(vec![Step::Forever(again)]);
        let mut client = RawClient::connect(peer.addr());
        client.send(b"a?b?");
        assert_eq!(client.receive(2), b"!!");
        client.send(b"?");
        assert_eq!(client.receive_until(b"!"), b"!");
        assert_eq!((peer.requests(), peer.connections()), (3, 1));
    }

    #[test]
    fn connections_end_as_the_script_says() {
        let peer = Peer::start_each(vec![
            vec![Step::SendSlowly(b"slow".to_vec(), 1, Duration::from_millis(1))],
            vec![Step::Expect(b"x"), Step::Reset],
            vec![Step::Send(b"half".to_vec()), Step::HalfClose],
            vec![Step::Hang],
        ]);
        let patience = Duration::from_secs(60);
        let mut closed = RawClient::connect(peer.addr());
        assert_eq!(closed.receive_all(patience), (b"slow".to_vec(), End::Closed));
        assert_eq!(RawClient::exchange(peer.addr(), b"x"), (Vec::new(), End::Reset));
        let mut half = RawClient::connect(peer.addr());
        assert_eq!(half.receive_all(patience), (b"half".to_vec(), End::Closed));
        let mut hanging = RawClient::connect(peer.addr());
        assert_eq!(hanging.receive_all(Duration::from_millis(50)), (Vec::new(), End::Open));
        drop(peer);
        assert_ne!(hanging.receive_all(patience).1, End::Open);
    }

    #[test]
    fn a_peer_that_never_accepts_fills_up() {
        let peer = Peer::never_accepting(0);
        let _first = RawClient::connect(peer.addr());
        let second = TcpStream::connect_timeout(&peer.addr(), Duration::from_millis(100));
        assert!(second.is_err_and(|error| error.kind() == ErrorKind::TimedOut));
    }
}
