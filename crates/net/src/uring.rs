//! The net on io_uring: one ring per thread (single issuer, deferred task run), connections
//! registered as fixed files, one multishot receive a connection into a ring of provided buffers,
//! sends queued and submitted with the next wait. A request costs a share of one syscall. Connections
//! with long responses are polled and read (`read`).

mod buffers;
mod complete;
mod entry;
mod looks;
mod output;
mod poll;
mod read;
mod teardown;

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, Fixed};
use io_uring::{IoUring, cqueue, opcode};
use socket2::{SockAddr, Type};

use self::buffers::Buffers;
use self::entry::{Handle, Op, send_entry, tag};
use self::looks::Looks;
use self::output::Output;
use self::read::{Long, Reads};
use crate::conns::Conns;
use crate::driver::Options;
use crate::linger::Lingering;
use crate::yielding::Yielding;
use crate::{BlobId, Close, ConnId, Handed, Net, Peer, Route, SHORT_BLOB, Taken, clock, socket};

/// Submissions queued at most before they are handed over. Few, so that their ring stays in the
/// processor's nearest cache.
const SUBMISSIONS: u32 = 128;
/// Completions that find room without the kernel having to keep them, for each connection expected.
const COMPLETIONS_EACH: u32 = 2;
/// Connections registered as fixed files at most; further ones work by their descriptors.
const FIXED_FILES: u32 = 32_768;
/// Submissions that are handed over before the wait rather than with it, so that it is known whether
/// something came while the kernel took them.
const MANY: usize = 8;

/// The net on io_uring. Fields drop in this order: the ring goes before what the kernel writes to, and what is
/// under way on it is cancelled before (`teardown`).
pub struct Uring {
    ring: IoUring,
    buffers: Buffers,
    conns: Conns<Conn>,
    fixed_files: u32,
    blobs: Vec<Box<[u8]>>,
    addresses: Vec<(Peer, Box<SockAddr>)>,
    listener: Option<TcpListener>,
    /// Closed once what cancels its accept has been submitted.
    retired_listener: Option<TcpListener>,
    accept_at: u64,
    /// Connections with output to submit.
    dirty: Vec<ConnId>,
    /// Connections with an action pending for when their backlog is empty, as it may be by now.
    ready: Vec<ConnId>,
    /// Scratch: those being looked at.
    checked: Vec<ConnId>,
    /// Number of the latest round of output that was submitted to be taken at once or refused.
    round: u64,
    /// All refusals of rounds up to this one have been read.
    settled: u64,
    /// Completions that were handled in the last batch.
    taken: usize,
    yielding: Yielding,
    /// Scratch: those of a batch.
    completions: Vec<cqueue::Entry>,
    /// The batch being delivered.
    batch: Taken,
    looks: Looks,
    handed: Handed,
    /// Output is being submitted.
    submitting: bool,
    reads: Reads,
    lingering: Lingering,
    /// Connections that are gone, with their slots. Neither slot nor descriptor is used again before
    /// everything queued for them has been submitted, or it would reach their successors.
    gone: Vec<(u32, Conn)>,
}

#[derive(Debug)]
struct Conn {
    fd: OwnedFd,
    token: u32,
    state: ConnState,
    fixed: bool,
    /// What the kernel has been asked to report incoming bytes by: a multishot receive or a poll.
    armed: Option<Op>,
    long: Long,
    receiving: bool,
    want_drained: bool,
    /// The peer's end has been reported.
    eof: bool,
    output: Option<Box<Output>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnState {
    Connecting,
    Open,
    /// Closed by the handler, output still going out or the peer still to close.
    Flushing,
    /// Closed: only the kernel's use of the output buffer is awaited.
    Zombie,
}

impl Uring {
    /// A net without connections yet.
    ///
    /// # Errors
    /// When the kernel has no io_uring of the kind needed (Linux 6.1 or newer) or forbids it.
    pub fn new(options: Options) -> io::Result<Self> {
        let expected = (options.connections as u32).clamp(SUBMISSIONS, 1024);
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize((COMPLETIONS_EACH * expected).next_power_of_two())
            .build(SUBMISSIONS)?;
        if !ring.params().is_feature_skip_cqe_on_success() || !ring.params().is_feature_ext_arg() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "io_uring is too old"));
        }
        let buffers = Buffers::register(&ring, options.connections)?;
        let fixed_files =
            if options.long_lived { register_files(&ring, options.connections) } else { 0 };
        let mut net = Self {
            ring,
            buffers,
            conns: Conns::with_capacity(options.connections),
            fixed_files,
            blobs: Vec::new(),
            addresses: Vec::new(),
            accept_at: u64::MAX,
            listener: options.listener,
            retired_listener: None,
            dirty: Vec::new(),
            ready: Vec::new(),
            checked: Vec::new(),
            round: 0,
            settled: 0,
            taken: 0,
            yielding: Yielding::default(),
            completions: Vec::new(),
            batch: Taken::default(),
            looks: Looks::default(),
            handed: Handed::default(),
            submitting: false,
            reads: Reads::of(options.connections),
            lingering: Lingering::default(),
            gone: Vec::new(),
        };
        net.arm_accept();
        Ok(net)
    }

    fn push(&mut self, entry: &Entry) {
        self.handed.left = true;
        loop {
            // SAFETY: everything an entry points to (blobs, addresses, output buffers in flight)
            // stays where it is for as long as the kernel reads it: blobs and addresses live as long
            // as the net and are never moved, output buffers while `output` says that they are read.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            // The queue is full. A passing refusal (EINTR, EBUSY) is tried again.
            if self.submitting {
                self.submit_now();
            } else {
                self.hand_over();
                self.handed.left = true;
            }
        }
    }

    fn submit_now(&self) {
        if let Err(error) = self.ring.submit() {
            assert!(passing(&error), "the kernel refuses io_uring submissions: {error}");
        }
    }

    /// What was sent so far counts as handed over at `at`.
    fn handed_at(&mut self, at: u64) {
        if std::mem::take(&mut self.handed.left) {
            self.handed.nth += 1;
            self.handed.at = at;
        }
    }

    /// Whether something has come that was not taken in yet.
    fn pending(&mut self) -> bool {
        !self.ring.completion().is_empty() || self.ring.submission().taskrun()
    }

    fn insert(&mut self, fd: OwnedFd, state: ConnState, token: u32) -> ConnId {
        let slot = self.conns.next_slot();
        let fixed = slot < self.fixed_files && self.set_fixed(slot, fd.as_raw_fd());
        self.conns.insert(Conn {
            fd,
            token,
            state,
            fixed,
            armed: None,
            long: Long::default(),
            receiving: true,
            want_drained: false,
            eof: false,
            output: None,
        })
    }

    fn set_fixed(&self, slot: u32, fd: RawFd) -> bool {
        self.ring.submitter().register_files_update(slot, &[fd]).is_ok()
    }

    fn arm_accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        let entry = opcode::AcceptMulti::new(Fd(listener.as_raw_fd()))
            .flags(libc::SOCK_CLOEXEC)
            .build()
            .user_data(tag(Op::Accept, ConnId { slot: 0, generation: 0 }));
        self.accept_at = u64::MAX;
        self.push(&entry);
    }

    fn arm_receive(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let idle = matches!(conn.state, ConnState::Connecting | ConnState::Zombie);
        if conn.armed.is_some() || !conn.receiving || conn.eof || idle {
            return;
        }
        let (op, handle) = (conn.long.receives_by(), conn.handle(id));
        conn.armed = Some(op);
        let entry = match op {
            Op::Readable => read::poll_entry(handle),
            _ => handle.entry(
                |fd| opcode::RecvMulti::new(fd, buffers::GROUP).build(),
                |fd| opcode::RecvMulti::new(fd, buffers::GROUP).build(),
            ),
        };
        self.push(&entry.user_data(tag(op, id)));
    }

    /// Stops the kernel's use of a connection and lets it go, now or once its buffer is free: with a RST if `how` is
    /// [`Close::Reset`], else with a FIN.
    fn release(&mut self, id: ConnId, how: Close) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let reset = how == Close::Reset;
        let fd = conn.fd.as_raw_fd();
        if reset {
            socket::reset_on_close(fd);
        }
        let polled = conn.armed == Some(Op::Readable);
        if conn.armed.is_some() || conn.state == ConnState::Connecting || conn.output_in_flight() {
            // The request in the kernel holds the socket open: end it, or no FIN or RST goes out.
            if reset || polled || conn.state == ConnState::Connecting {
                self.cancel(id);
            } else {
                socket::shutdown(fd, Shutdown::Both);
            }
        }
        self.retire(id);
    }

    /// Frees the slot, or leaves a zombie while the kernel still reads the output buffer.
    fn retire(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if conn.output_in_flight() {
            conn.state = ConnState::Zombie;
            return;
        }
        if conn.fixed {
            self.set_fixed(id.slot, -1);
        }
        if let Some(conn) = self.conns.take(id) {
            self.gone.push((id.slot, conn));
        }
    }

    /// Releases connections that nothing queued refers to any more.
    fn bury(&mut self) {
        if self.retired_listener.is_some() && self.ring.submission().is_empty() {
            self.retired_listener = None;
        }
        if !self.gone.is_empty() && self.ring.submission().is_empty() {
            for (slot, conn) in self.gone.drain(..) {
                drop(conn);
                self.conns.free(slot);
            }
        }
    }

    fn cancel(&mut self, id: ConnId) {
        for op in [Op::Receive, Op::Readable, Op::Connect, Op::Send] {
            self.cancel_one(op, id);
        }
    }

    fn cancel_one(&mut self, op: Op, id: ConnId) {
        let entry = opcode::AsyncCancel::new(tag(op, id)).build();
        self.push(&entry.flags(Flags::SKIP_SUCCESS).user_data(tag(Op::Cancel, id)));
    }

    fn address(&mut self, to: &Peer) -> io::Result<*const SockAddr> {
        let at = match self.addresses.iter().position(|(peer, _)| peer == to) {
            Some(known) => known,
            None => {
                self.addresses.push((*to, Box::new(to.address()?)));
                self.addresses.len() - 1
            }
        };
        Ok(&raw const *self.addresses[at].1)
    }
}

impl Conn {
    #[inline]
    fn handle(&self, id: ConnId) -> Handle {
        if self.fixed { Handle::Fixed(Fixed(id.slot)) } else { Handle::Fd(Fd(self.fd.as_raw_fd())) }
    }

    fn output_in_flight(&self) -> bool {
        self.output.as_ref().is_some_and(|output| output.in_flight())
    }
}

impl Net for Uring {
    #[inline]
    fn now(&self) -> u64 {
        clock::now()
    }

    #[inline]
    fn taken_in(&self) -> Taken {
        self.batch
    }

    #[inline]
    fn handed_over(&self) -> Handed {
        self.handed
    }

    fn hand_over(&mut self) {
        if self.handed.left {
            self.handed_at(clock::now());
            self.submit_dirty();
            self.submit_now();
            self.handed.left = false;
        }
    }

    fn connect(&mut self, token: u32, route: &Route) -> io::Result<ConnId> {
        let fd = match socket::outgoing(route, Type::STREAM) {
            // Connections that are gone hold their files until what is queued for them has been submitted.
            Err(_) if !self.gone.is_empty() => {
                self.hand_over();
                self.bury();
                socket::outgoing(route, Type::STREAM)
            }
            made => made,
        }?;
        let address = self.address(&route.to)?;
        let id = self.insert(fd, ConnState::Connecting, token);
        let conn = self.conns.get(id).expect("just inserted");
        // SAFETY: the address is boxed and kept by this net.
        let (name, length) = unsafe { ((*address).as_ptr(), (*address).len()) };
        let entry = conn.handle(id).entry(
            |fd| opcode::Connect::new(fd, name.cast(), length).build(),
            |fd| opcode::Connect::new(fd, name.cast(), length).build(),
        );
        self.push(&entry.user_data(tag(Op::Connect, id)));
        Ok(id)
    }

    fn blob(&mut self, bytes: &[u8]) -> BlobId {
        self.blobs.push(bytes.into());
        BlobId(self.blobs.len() as u32 - 1)
    }

    #[inline]
    fn send_blob(&mut self, id: ConnId, blob: BlobId) {
        let Some(conn) = self.conns.get(id) else { return };
        let bytes = &self.blobs[blob.0 as usize];
        if bytes.len() > SHORT_BLOB {
            return self.lend(id, blob);
        }
        let entry = send_entry(conn.handle(id), bytes);
        self.push(&entry.flags(Flags::SKIP_SUCCESS).user_data(tag(Op::SendBlob, id)));
    }

    #[inline]
    fn send(&mut self, id: ConnId, bytes: &[u8]) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if !matches!(conn.state, ConnState::Open | ConnState::Connecting) {
            return;
        }
        if conn.output.get_or_insert_default().add(bytes) {
            self.dirty.push(id);
        }
        self.handed.left = true;
    }

    fn want_drained(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(id) {
            conn.want_drained = true;
            self.ready.push(id);
        }
    }

    fn backlog(&self, id: ConnId) -> usize {
        self.conns.get(id).map_or(0, |conn| conn.backlog(self.settled))
    }

    fn acknowledged(&self, id: ConnId) -> u64 {
        self.conns.get(id).and_then(Conn::acknowledged).unwrap_or(0)
    }

    fn set_receiving(&mut self, id: ConnId, receiving: bool) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        conn.receiving = receiving;
        if receiving {
            self.arm_receive(id);
        } else if let Some(op) = conn.armed {
            self.cancel_one(op, id);
        }
    }

    fn skip(&mut self, id: ConnId, bytes: u64) {
        self.let_skip(id, bytes);
    }

    fn lingers(&self, id: ConnId) -> bool {
        self.conns.get(id).is_some_and(|conn| conn.state == ConnState::Flushing)
    }

    fn close(&mut self, id: ConnId, how: Close) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if conn.state == ConnState::Zombie {
            return;
        }
        let armed = conn.armed.is_some();
        match how {
            Close::Flush if conn.state == ConnState::Open => {
                // The handler gets no event any more when it has nothing left to send.
                (conn.state, conn.receiving, conn.want_drained) =
                    (ConnState::Flushing, true, false);
                // Input left unread would turn the FIN into a RST.
                self.arm_receive(id);
                if self.backlog(id) == 0 {
                    self.end_flushed(id);
                } else {
                    self.ready.push(id);
                }
                return;
            }
            Close::Passive if conn.state == ConnState::Open && armed => {
                (conn.state, conn.receiving) = (ConnState::Flushing, true);
                return self.lingering.add_open(clock::now(), id);
            }
            _ => {}
        }
        self.release(id, how);
    }

    fn peer_address(&self, id: ConnId) -> Option<SocketAddr> {
        socket::peer_address(self.conns.get(id)?.fd.as_raw_fd())
    }

    fn stop_accepting(&mut self) {
        self.accept_at = u64::MAX;
        if let Some(listener) = self.listener.take() {
            // The accept in the kernel would hold the socket open.
            self.cancel_one(Op::Accept, ConnId { slot: 0, generation: 0 });
            self.retired_listener = Some(listener);
        }
    }
}

/// Makes room for fixed files; 0 where the kernel gives none, which costs speed alone.
fn register_files(ring: &IoUring, connections: usize) -> u32 {
    let wanted = (connections as u32).clamp(64, FIXED_FILES);
    if ring.submitter().register_files_sparse(wanted).is_ok() { wanted } else { 0 }
}

fn unless_passing(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) if !passing(&error) => Err(error),
        _ => Ok(()),
    }
}

fn passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN))
}
