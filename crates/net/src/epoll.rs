//! The net on epoll: edge-triggered, reads and writes performed as soon as they can be, into one buffer per net. Two
//! syscalls a request plus a share of the wait. Connections that merely have bytes are handled a few at a time (`batch`);
//! `write` sends.

mod batch;
mod poll;
mod queue;
mod write;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::SocketFlags;

use crate::conns::Conns;
use crate::driver::Options;
use crate::linger::Lingering;
use crate::skip::{Came, ROOM, Skip};
use crate::yielding::Yielding;
use crate::{
    BlobId, Close, ConnId, Event, Failure, Handed, Handler, Net, Operation, Peer, Route, Taken,
    clock, socket,
};
use batch::{Batch, LEAST_READ};
use queue::Queued;

/// Bytes copied at once.
const READ_BYTES: usize = 64 * 1024;
/// Reads of one connection before others get their turn.
const READS_A_TURN: usize = 16;
/// Events taken from the kernel at once.
const BATCH: usize = 512;
/// Peers accepted before connections get their turn.
const ACCEPTS_A_TURN: usize = 256;
/// Pause after a peer could not be accepted (no file left).
const ACCEPT_PAUSE_NS: u64 = 100_000_000;
/// If the handler was busy for less than this before a wait, it is not checked whether something came in that time.
const SHORT_NS: u64 = 20_000;
/// The listener's mark among the connections'.
const LISTENER: u64 = u64::MAX;

/// The net on epoll.
pub struct Epoll {
    epoll: OwnedFd,
    conns: Conns<Conn>,
    blobs: Vec<Box<[u8]>>,
    listener: Option<TcpListener>,
    accept_at: u64,
    queued: Queued,
    /// Connections with something to deliver for which the kernel will send no event.
    ready: Vec<ConnId>,
    lingering: Lingering,
    batch: Batch,
    buffer: Box<[u8]>,
    events: Vec<epoll::Event>,
    yielding: Yielding,
    taken: Taken,
    /// What is being delivered came after this instant.
    since: u64,
    /// When the kernel last reported events.
    reported: u64,
    handed: Handed,
}

#[derive(Debug)]
struct Conn {
    fd: OwnedFd,
    token: u32,
    state: ConnState,
    receiving: bool,
    /// Bytes may be waiting in the kernel for which no event will come.
    readable: bool,
    want_drained: bool,
    /// The peer's end has been reported.
    eof: bool,
    failure: Option<Failure>,
    /// A blob that the kernel has not taken whole, from this byte on; `out` comes behind it.
    lent: Option<(BlobId, usize)>,
    /// Bytes the kernel has not taken, from `written` on.
    out: Vec<u8>,
    written: usize,
    /// Its last read filled its part of a batch's buffer: it is read alone.
    long: bool,
    skip: Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnState {
    Connecting,
    Open,
    /// Closed by the handler: output is flushed, input discarded.
    Closing,
}

impl Conn {
    fn connecting(fd: OwnedFd, token: u32) -> Self {
        Self {
            fd,
            token,
            state: ConnState::Connecting,
            receiving: true,
            readable: false,
            want_drained: false,
            eof: false,
            failure: None,
            lent: None,
            out: Vec::new(),
            written: 0,
            long: false,
            skip: Skip::default(),
        }
    }
}

impl Epoll {
    /// A net without connections yet.
    ///
    /// # Errors
    /// When the kernel gives no epoll instance or does not take the listener.
    pub fn new(options: Options) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        if let Some(listener) = &options.listener {
            listener.set_nonblocking(true)?;
            let (mark, wanted) = (epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN);
            epoll::add(&epoll, listener, mark, wanted | epoll::EventFlags::ET)?;
        }
        Ok(Self {
            epoll,
            conns: Conns::with_capacity(options.connections),
            blobs: Vec::new(),
            accept_at: if options.listener.is_some() { 0 } else { u64::MAX },
            listener: options.listener,
            queued: Queued::default(),
            ready: Vec::new(),
            lingering: Lingering::default(),
            batch: Batch::default(),
            buffer: vec![0; ROOM].into_boxed_slice(),
            events: Vec::with_capacity(BATCH),
            yielding: Yielding::default(),
            taken: Taken::default(),
            since: u64::MAX,
            reported: u64::MAX,
            handed: Handed::default(),
        })
    }

    fn add(&mut self, fd: OwnedFd, token: u32, state: ConnState) -> io::Result<ConnId> {
        let id = self.conns.insert(Conn { state, ..Conn::connecting(fd, token) });
        if let Err(error) = self.watch(id) {
            self.conns.remove(id);
            return Err(error);
        }
        Ok(id)
    }

    /// Has the kernel report events of a connection.
    fn watch(&self, id: ConnId) -> io::Result<()> {
        use epoll::EventFlags as Flags;
        let flags = Flags::IN | Flags::OUT | Flags::RDHUP | Flags::ET;
        let data = epoll::EventData::new_u64(pack(id));
        let Some(conn) = self.conns.get(id) else { return Ok(()) };
        Ok(epoll::add(&self.epoll, &conn.fd, data, flags)?)
    }

    fn fail(&mut self, id: ConnId, failure: Failure) {
        if let Some(conn) = self.conns.get_mut(id) {
            conn.failure = Some(failure);
            self.ready.push(id);
        }
    }

    fn accept<P: Handler<Self>>(&mut self, handler: &mut P) {
        for _ in 0..ACCEPTS_A_TURN {
            let Some(listener) = &self.listener else { return };
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let accepted = match rustix::net::accept_with(listener, flags) {
                Ok(fd) => {
                    socket::no_delay(fd.as_raw_fd());
                    self.add(fd, u32::MAX, ConnState::Open)
                }
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                // Without a file left the kernel says so before it looks whether anybody waits.
                Err(error) if error == Errno::AGAIN || !socket::has_peers(listener) => {
                    self.accept_at = u64::MAX;
                    return;
                }
                Err(error) => Err(error.into()),
            };
            match accepted {
                Ok(id) => match handler.accepted(self, id) {
                    Some(token) => {
                        if let Some(conn) = self.conns.get_mut(id) {
                            conn.token = token;
                        }
                    }
                    None => self.close(id, Close::Now),
                },
                Err(error) => {
                    self.accept_at = clock::now() + ACCEPT_PAUSE_NS;
                    handler.not_accepted(self, error.raw_os_error().unwrap_or(0));
                    return;
                }
            }
        }
        self.accept_at = 0;
    }

    fn ready<P: Handler<Self>>(&mut self, id: ConnId, flags: epoll::EventFlags, handler: &mut P) {
        let Some(conn) = self.conns.get(id) else { return };
        if conn.state == ConnState::Connecting {
            // One that failed at once has no error left in its socket; its failure is among those to be delivered.
            if conn.failure.is_some() {
                return;
            }
            if !flags.intersects(
                epoll::EventFlags::OUT | epoll::EventFlags::ERR | epoll::EventFlags::HUP,
            ) {
                return;
            }
            if !self.connected(id, handler) {
                return;
            }
        }
        if flags.contains(epoll::EventFlags::OUT) {
            self.writable(id, handler);
        }
        let input = epoll::EventFlags::IN
            | epoll::EventFlags::RDHUP
            | epoll::EventFlags::HUP
            | epoll::EventFlags::ERR;
        if flags.intersects(input) {
            // Where the peer is done, the edge will not come again: read to the end.
            let to_the_end = flags.intersects(input.difference(epoll::EventFlags::IN));
            self.receive(id, to_the_end, handler);
        }
    }

    /// Reports how connecting ended; true when the connection stands.
    fn connected<P: Handler<Self>>(&mut self, id: ConnId, handler: &mut P) -> bool {
        // Handlers of other connections of this look may have taken long since.
        self.look_over();
        let Some(conn) = self.conns.get_mut(id) else { return false };
        let token = conn.token;
        let Some(error) = socket::take_error(conn.fd.as_raw_fd()) else {
            conn.state = ConnState::Open;
            handler.event(self, token, Event::Connected);
            return true;
        };
        self.conns.remove(id);
        let failure = Failure::new(Operation::Connect, &error);
        handler.event(self, token, Event::Failed(failure));
        false
    }

    fn receive<P: Handler<Self>>(&mut self, id: ConnId, to_the_end: bool, handler: &mut P) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut total = 0;
        for turn in 0.. {
            let Some(conn) = self.conns.get_mut(id) else { break };
            if turn == READS_A_TURN {
                self.ready.push(id);
                break;
            }
            if !conn.receiving {
                conn.readable = true;
                break;
            }
            if conn.eof && conn.state != ConnState::Closing {
                break;
            }
            let (outcome, emptied) = match conn.skip.read(&conn.fd, &mut buffer, READ_BYTES) {
                Ok((came, emptied)) => (Ok(came), emptied),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(error) => (Err(error), true),
            };
            total += outcome.as_ref().map_or(0, Came::length);
            conn.long = total >= LEAST_READ;
            self.took();
            // The next bytes of a socket that is empty make a new edge.
            if !self.deliver(id, outcome, handler) || (emptied && !to_the_end) {
                break;
            }
        }
        self.buffer = buffer;
    }

    /// Delivers what was read. Returns whether there may be more.
    fn deliver<P: Handler<Self>>(
        &mut self,
        id: ConnId,
        outcome: Result<Came<'_>, Errno>,
        handler: &mut P,
    ) -> bool {
        let Some(conn) = self.conns.get_mut(id) else { return false };
        let (token, closing) = (conn.token, conn.state == ConnState::Closing);
        match outcome {
            Ok(Came::Bytes([])) if closing && conn.is_drained() => drop(self.conns.remove(id)),
            Ok(Came::Bytes([])) => {
                conn.eof = true;
                if !closing {
                    handler.event(self, token, Event::Eof);
                }
            }
            Ok(came) => {
                if !closing {
                    handler.event(self, token, came.event());
                }
                return true;
            }
            Err(error) => {
                self.conns.remove(id);
                if !closing {
                    let failure = failure(Operation::Receive, error);
                    handler.event(self, token, Event::Failed(failure));
                }
            }
        }
        false
    }

    fn deliver_ready<P: Handler<Self>>(&mut self, handler: &mut P) {
        let mut ready = std::mem::take(&mut self.ready);
        for id in ready.drain(..) {
            let Some(conn) = self.conns.get_mut(id) else { continue };
            if let Some(failure) = conn.failure {
                self.deliver_failure(id, failure, handler);
                continue;
            }
            if conn.want_drained && conn.is_drained() {
                self.writable(id, handler);
            }
            self.receive(id, true, handler);
        }
        // Connections that handlers marked ready in the meantime are in the emptied list.
        if self.ready.is_empty() {
            self.ready = ready;
        }
    }
}

impl Epoll {
    /// Reports a failure of sending or connecting, and ends the connection.
    fn deliver_failure<P: Handler<Self>>(&mut self, id: ConnId, failure: Failure, handler: &mut P) {
        if failure.during == Operation::Send {
            // A peer that stopped reading may have sent its reason before it closed.
            self.receive(id, true, handler);
        }
        let Some(conn) = self.conns.remove(id) else { return };
        if conn.state != ConnState::Closing {
            handler.event(self, conn.token, Event::Failed(failure));
        }
    }
}

impl Net for Epoll {
    fn now(&self) -> u64 {
        clock::now()
    }

    #[inline]
    fn taken_in(&self) -> Taken {
        self.taken
    }

    #[inline]
    fn handed_over(&self) -> Handed {
        Handed { left: self.batch.keeps(), ..self.handed }
    }

    fn hand_over(&mut self) {
        self.write_together();
    }

    fn connect(&mut self, token: u32, route: &Route) -> io::Result<ConnId> {
        let fd = socket::outgoing(route, socket2::Type::STREAM.nonblocking())?;
        let started = socket::start_connect(&fd, &route.to);
        if let (Peer::Unix(to), Err(error)) = (&route.to, &started)
            && error.kind() == io::ErrorKind::WouldBlock
        {
            return Ok(self.queue(fd, token, *to));
        }
        let id = self.add(fd, token, ConnState::Connecting)?;
        if let Err(error) = started {
            self.fail(id, Failure::new(Operation::Connect, &error));
        }
        Ok(id)
    }

    fn blob(&mut self, bytes: &[u8]) -> BlobId {
        self.blobs.push(bytes.into());
        BlobId(self.blobs.len() as u32 - 1)
    }

    #[inline]
    fn send_blob(&mut self, conn: ConnId, blob: BlobId) {
        if !self.keep_blob(conn, blob) {
            self.handing();
            self.write_blob(conn, blob);
        }
    }

    #[inline]
    fn send(&mut self, conn: ConnId, bytes: &[u8]) {
        if !self.keep_bytes(conn, bytes) {
            self.handing();
            self.write_kept();
            self.write(conn, bytes);
        }
    }

    fn want_drained(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(id) {
            conn.want_drained = true;
            if conn.is_drained() {
                self.ready.push(id);
            }
        }
    }

    /// Excludes small sends that wait for the end of their batch: 64 KiB at most.
    fn backlog(&self, conn: ConnId) -> usize {
        let Some(conn) = self.conns.get(conn) else { return 0 };
        let lent = conn.lent.map_or(0, |(blob, at)| self.blobs[blob.0 as usize].len() - at);
        lent + conn.out.len() - conn.written
    }

    fn acknowledged(&self, id: ConnId) -> u64 {
        self.conns.get(id).and_then(Conn::acknowledged).unwrap_or(0)
    }

    fn set_receiving(&mut self, id: ConnId, receiving: bool) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.receiving = receiving;
        if receiving && std::mem::take(&mut conn.readable) {
            self.ready.push(id);
        }
    }

    fn skip(&mut self, id: ConnId, bytes: u64) {
        if let Some(conn) = self.conns.get_mut(id) {
            conn.skip.allow(bytes);
        }
    }

    fn lingers(&self, id: ConnId) -> bool {
        self.conns.get(id).is_some_and(|conn| conn.state == ConnState::Closing)
    }

    fn close(&mut self, id: ConnId, how: Close) {
        self.write_together();
        let Some(conn) = self.conns.get_mut(id) else { return };
        let stands = conn.state != ConnState::Connecting && conn.failure.is_none();
        if stands && matches!(how, Close::Flush | Close::Passive) {
            // The handler gets no event any more when it has nothing left to send.
            (conn.state, conn.receiving, conn.want_drained) = (ConnState::Closing, true, false);
            if how == Close::Passive {
                self.lingering.add_open(clock::now(), id);
                self.ready.push(id);
            } else if conn.is_drained() {
                self.end_flushed(id);
            } else {
                self.lingering.add_unsent(clock::now(), id, conn.acknowledged());
            }
            return;
        }
        if how == Close::Reset {
            socket::reset_on_close(conn.fd.as_raw_fd());
        }
        self.conns.remove(id);
    }

    fn peer_address(&self, id: ConnId) -> Option<SocketAddr> {
        socket::peer_address(self.conns.get(id)?.fd.as_raw_fd())
    }

    fn stop_accepting(&mut self) {
        if let Some(listener) = self.listener.take() {
            // Closing it would do, but where another process has it too.
            let _ = epoll::delete(&self.epoll, &listener);
        }
        self.accept_at = u64::MAX;
    }
}

fn failure(during: Operation, error: Errno) -> Failure {
    Failure { during, errno: error.raw_os_error() }
}

fn pack(id: ConnId) -> u64 {
    u64::from(id.generation) << 32 | u64::from(id.slot)
}

fn unpack(packed: u64) -> ConnId {
    ConnId { slot: packed as u32, generation: (packed >> 32) as u32 }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::Next;

    /// What came of connecting peers.
    #[derive(Default)]
    struct Accepted(Vec<Result<(), i32>>);

    impl Handler<Epoll> for Accepted {
        fn accepted(&mut self, _: &mut Epoll, _: ConnId) -> Option<u32> {
            self.0.push(Ok(()));
            Some(0)
        }

        fn not_accepted(&mut self, _: &mut Epoll, errno: i32) {
            self.0.push(Err(errno));
        }

        fn event(&mut self, _: &mut Epoll, _: u32, _: Event<'_>) {}

        fn tick(&mut self, _: &mut Epoll) -> Next {
            Next::Finished
        }
    }

    #[test]
    fn a_peer_whose_connection_cannot_be_watched_is_reported() {
        let listener = socket::listen(([127, 0, 0, 1], 0).into()).expect("a port");
        let to = listener.local_addr().expect("an address");
        let options = Options { connections: 1, listener: Some(listener), ..Options::default() };
        let mut net = Epoll::new(options).expect("epoll works");
        // Takes no sockets, as one whose user has no watches left.
        net.epoll = std::fs::File::open("/dev/null").expect("it is there").into();
        let _peer = TcpStream::connect(to).expect("it listens");
        let (mut accepted, until) = (Accepted::default(), Instant::now() + Duration::from_secs(10));
        while accepted.0.is_empty() && Instant::now() < until {
            net.accept(&mut accepted);
        }
        assert_eq!(accepted.0, [Err(Errno::INVAL.raw_os_error())]);
        assert!(net.accept_at > 0 && net.accept_at < u64::MAX, "it is tried again");
    }
}
