//! The connecting side: sends bytes to a server and receives its bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::waiting;

/// How long a client waits before it assumes that nothing will come.
const PATIENCE: Duration = Duration::from_secs(60);

/// How the other side's bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With a FIN.
    Closed,
    /// With a RST.
    Reset,
    /// Not in the time given.
    Open,
}

/// A client that sends and receives bytes.
#[derive(Debug)]
pub struct RawClient {
    stream: TcpStream,
}

impl RawClient {
    /// Connects.
    ///
    /// # Panics
    /// When nothing listens there: a bug of the test.
    pub fn connect(to: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&to, PATIENCE).expect("the server listens");
        stream.set_nodelay(true).expect("a TCP socket");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
        Self { stream }
    }

    /// Sends bytes at once.
    ///
    /// # Panics
    /// When they cannot be sent within a minute.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server takes what is sent");
    }

    /// Sends bytes as far as the server takes them; false when it has closed.
    pub fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).is_ok()
    }

    /// Sends bytes repeatedly, at most `times`, until the server has taken none for `patience`. Returns
    /// how often they were sent whole.
    ///
    /// # Panics
    /// Never on a TCP socket with a patience above zero.
    pub fn send_until_stuck(&mut self, bytes: &[u8], times: u64, patience: Duration) -> u64 {
        self.stream.set_write_timeout(Some(patience)).expect("a timeout above zero");
        let sent = (0..times).take_while(|_| self.try_send(bytes)).count();
        self.stream.set_write_timeout(Some(PATIENCE)).expect("a timeout above zero");
        sent as u64
    }

    /// Sends bytes in pieces of `size`, far enough apart to arrive one by one.
    ///
    /// # Panics
    /// When they cannot be sent within a minute.
    pub fn send_in_pieces(&mut self, bytes: &[u8], size: usize) {
        for piece in bytes.chunks(size) {
            self.send(piece);
            thread::sleep(Duration::from_micros(300));
        }
    }

    /// Lets the connection end with a RST when this client is dropped.
    ///
    /// # Panics
    /// Never on a TCP socket.
    pub fn reset_on_drop(&self) {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).expect("a TCP socket");
    }

    /// Ends sending.
    ///
    /// # Panics
    /// When the connection is gone.
    pub fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).expect("the connection stands");
    }

    /// Waits up to a minute for `count` bytes.
    ///
    /// # Panics
    /// When they do not come.
    pub fn receive(&mut self, count: usize) -> Vec<u8> {
        self.stream.set_read_timeout(Some(PATIENCE)).expect("a timeout above zero");
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).expect("as many bytes as expected");
        bytes
    }

    /// Reads until `bytes` have come; everything up to their end.
    ///
    /// # Panics
    /// When they do not come within a minute.
    pub fn receive_until(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut came = Vec::new();
        while !came.ends_with(bytes) {
            came.extend(self.receive(1));
        }
        came
    }

    /// Reads until the other side ends, or for this long.
    pub fn receive_all(&mut self, patience: Duration) -> (Vec<u8>, End) {
        let deadline = Instant::now() + patience;
        let mut came = Vec::new();
        let mut buffer = [0; 64 * 1024];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return (came, End::Open);
            }
            self.stream.set_read_timeout(Some(left)).expect("a timeout above zero");
            match self.stream.read(&mut buffer) {
                Ok(0) => return (came, End::Closed),
                Ok(count) => came.extend_from_slice(&buffer[..count]),
                Err(error) if waiting(&error) => {}
                Err(_) => return (came, End::Reset),
            }
        }
    }

    /// Sends bytes over a new connection and reads until it ends, a minute at most.
    pub fn exchange(to: SocketAddr, bytes: &[u8]) -> (Vec<u8>, End) {
        let mut client = Self::connect(to);
        client.send(bytes);
        client.receive_all(PATIENCE)
    }
}
