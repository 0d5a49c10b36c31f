//! Sockets, clock and waiting behind one completion-based interface. All `unsafe` of the project is here, except for one line
//! in `script`.
//!
//! A [`Net`] drives a [`Handler`] (a worker of the engine, a thread of the built-in server or of the
//! gateway): the handler submits connect, send and close, and receives [`Event`]s in batches; received
//! bytes are borrowed for the duration of the call. There are three nets: [`uring`], [`epoll`], and the
//! simulation in `testkit`, with which tests run the real handlers in virtual time.
//!
//! Does not own protocols (HTTP, TLS) or decisions: the handler decides what to send, when to give up
//! and how often to try again.

pub mod clock;
mod conns;
mod driver;
pub mod epoll;
pub mod handing_over;
pub mod limits;
mod linger;
mod peer;
mod run;
mod skip;
pub mod socket;
pub mod uring;
mod yielding;

use std::io;
use std::net::{IpAddr, SocketAddr};

pub use driver::{Driver, Options};
pub use peer::{Peer, UnixPath};
pub use run::{Io, run, uring_works};

/// A connection of a net. Never reused: an operation on a connection that is gone does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnId {
    /// Index of the net's record of it, dense from 0; reused after the connection is gone.
    pub slot: u32,
    /// Distinguishes a connection from earlier ones in the same slot.
    pub generation: u32,
}

/// Blobs up to this length are sent without waiting for success: an idle socket takes them whole.
pub const SHORT_BLOB: usize = 4096;

/// Bytes that were handed to a net once, to be sent many times without copying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobId(pub u32);

/// Where to connect, and from which local address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The peer.
    pub to: Peer,
    /// The local address, of TCP alone; `None` leaves it to the kernel. The port is always the kernel's choice.
    pub from: Option<IpAddr>,
}

/// What happened to a connection.
#[derive(Debug)]
pub enum Event<'a> {
    /// The requested connection is established.
    Connected,
    /// Bytes came, lent until the handler returns, which may change them. Never empty.
    Received(&'a mut [u8]),
    /// So many bytes came and were discarded, as [`Net::skip`] allowed. Never 0.
    Skipped(u64),
    /// The peer will send no more. Sending may go on until the handler closes.
    Eof,
    /// Everything handed to [`Net::send`] has been taken by the kernel. Comes once for each
    /// [`Net::want_drained`], and never otherwise.
    Drained,
    /// The connection is gone.
    Failed(Failure),
}

/// Why a connection is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    /// What was being done.
    pub during: Operation,
    /// The operating system's error number; 0 when there was none.
    pub errno: i32,
}

impl Failure {
    /// A failure from an I/O error.
    pub fn new(during: Operation, error: &io::Error) -> Self {
        Self { during, errno: error.raw_os_error().unwrap_or(0) }
    }

    /// The operating system's words for it.
    pub fn error(&self) -> io::Error {
        io::Error::from_raw_os_error(self.errno)
    }
}

/// What a connection was doing when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Being opened.
    Connect,
    /// Receiving.
    Receive,
    /// Sending.
    Send,
}

/// How a handler ends a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// At once, with a FIN; what was not taken by the kernel is dropped.
    Now,
    /// After everything handed to [`Net::send`] is out: then a FIN, and incoming bytes are discarded
    /// until the peer closes too or two seconds have passed, so that no RST overtakes the response. With a RST
    /// once a peer has taken less than 4 KiB in half a minute.
    Flush,
    /// Once the peer closes too, which it is about to, or after a tenth of a second: who closes first
    /// keeps the port in TIME_WAIT, and this side may need it. Incoming bytes are discarded.
    Passive,
    /// At once, with a RST: no TIME_WAIT is left on this side.
    Reset,
}

/// The batch of events being delivered: everything there was at one look at the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Taken {
    /// When it was taken in, on the net's clock. No event of it came later.
    pub at: u64,
    /// For how long its oldest event may have waited: since the last look at the kernel, while the handler
    /// was busy. 0 if nothing was there before the net began to wait, since the kernel then wakes the
    /// thread for it; how long that takes is not known.
    pub waited_ns: u64,
}

/// The last time that everything sent so far was handed to the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Handed {
    /// Counts these times.
    pub nth: u64,
    /// When it began, on the net's clock.
    pub at: u64,
    /// Something was sent since then and has not been handed over.
    pub left: bool,
}

/// The interface that a handler works on. After [`Net::close`] or [`Event::Failed`] no event of that
/// connection is delivered any more.
pub trait Net {
    /// Monotonic time in nanoseconds. All nets of one process (or one simulation) agree.
    fn now(&self) -> u64;

    /// The batch that the events being delivered belong to; between batches the last one. Costs no
    /// reading of the clock.
    fn taken_in(&self) -> Taken;

    /// When what was sent left: see [`Handed`]. What its connection still holds back behind earlier
    /// bytes counts as handed over. Costs no reading of the clock.
    fn handed_over(&self) -> Handed;

    /// Hands everything sent so far to the kernel now; otherwise that happens at the end of the batch or
    /// before.
    fn hand_over(&mut self);

    /// Starts opening a connection; its events carry `token`. [`Event::Connected`] or
    /// [`Event::Failed`] follows, never from inside this call.
    ///
    /// # Errors
    /// When the socket could not be made or bound: no file (`EMFILE`), no port (`EADDRNOTAVAIL`).
    fn connect(&mut self, token: u32, route: &Route) -> io::Result<ConnId>;

    /// Keeps bytes for [`Net::send_blob`] for as long as the net lives.
    fn blob(&mut self, bytes: &[u8]) -> BlobId;

    /// Sends a blob without copying. The caller promises that everything sent earlier on the connection
    /// has been taken by the kernel; otherwise bytes could overtake each other. Short blobs
    /// ([`SHORT_BLOB`]) have been once they had their response; of longer ones, which count in
    /// [`Net::backlog`], some may still be on its way then.
    fn send_blob(&mut self, conn: ConnId, blob: BlobId);

    /// Sends bytes, in order; what the kernel does not take at once is copied and sent later. The
    /// caller bounds what piles up, by [`Net::backlog`] and [`Net::want_drained`].
    fn send(&mut self, conn: ConnId, bytes: &[u8]);

    /// Asks for one [`Event::Drained`] as soon as the backlog is empty: at the next poll if it is
    /// empty now.
    fn want_drained(&mut self, conn: ConnId);

    /// Bytes handed to [`Net::send`], and of long blobs, that the kernel has not taken yet.
    fn backlog(&self, conn: ConnId) -> usize;

    /// Bytes that the peer has acknowledged since the connection stood; 0 where nobody knows. Asks the kernel: for
    /// deadlines, not for each send.
    fn acknowledged(&self, conn: ConnId) -> u64 {
        let _ = conn;
        0
    }

    /// Stops or resumes receiving: pressure back on a peer that sends faster than it reads. A few
    /// bytes already on their way may still be delivered.
    fn set_receiving(&mut self, conn: ConnId, receiving: bool);

    /// Lets the net discard the next `bytes` bytes of a connection rather than copy them out of the kernel:
    /// those behind what has been delivered, so call it from the connection's [`Event::Received`] or
    /// [`Event::Skipped`] alone, which it replaces as the last word on what to skip. Each of them comes in
    /// [`Event::Skipped`], or in [`Event::Received`] where copying costs less; bytes behind them are always
    /// received. Both events come when those bytes do, not when all have come.
    fn skip(&mut self, conn: ConnId, bytes: u64) {
        let _ = (conn, bytes);
    }

    /// Ends a connection. Idempotent.
    fn close(&mut self, conn: ConnId, how: Close);

    /// Whether a connection that was closed with [`Close::Flush`] or [`Close::Passive`] still has its socket: its peer has yet to
    /// take what was sent, or to close too. For who bounds the connections that peers hold.
    fn lingers(&self, conn: ConnId) -> bool {
        let _ = conn;
        false
    }

    /// The other end of a connection, where it has an address and port. Asks the kernel: for once a
    /// connection.
    fn peer_address(&self, conn: ConnId) -> Option<SocketAddr> {
        let _ = conn;
        None
    }

    /// Closes the listener: no peer is accepted from now on. Connections stand.
    fn stop_accepting(&mut self) {}
}

/// What is driven by a net: takes events, and says after each batch what it waits for.
pub trait Handler<N: Net> {
    /// A peer has connected to the listener. The token returned comes with the connection's events;
    /// `None` closes it at once.
    fn accepted(&mut self, net: &mut N, conn: ConnId) -> Option<u32>;

    /// A peer could not be accepted, mostly for want of something local, such as files (`EMFILE`) or
    /// watches of epoll (`ENOSPC`); the net tries again after a short pause.
    fn not_accepted(&mut self, net: &mut N, errno: i32) {
        let _ = (net, errno);
    }

    /// Something happened to the connection with this token.
    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>);

    /// Called before each wait: does what has become due and says how long to wait.
    fn tick(&mut self, net: &mut N) -> Next;
}

/// What a handler waits for next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An event, or this instant; `u64::MAX` waits for an event alone.
    Wait(u64),
    /// As `Wait`, but without ever sleeping.
    Spin(u64),
    /// Nothing: the handler is done.
    Finished,
}
