//! A host's view of the world: [`net::Net`] over the simulation.
//!
//! A host's own work takes no time, unless it is given a [work time](SimNet::set_work_time): then its clock runs ahead of the
//! world's, what it sends leaves that much later, and what arrives in that time waits.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use net::{BlobId, Close, ConnId, Handed, Net, Route, Taken};

use super::HostLimits;
use super::kernel::Kernel;

/// The network as one host of a [`World`](super::World) has it.
#[derive(Debug)]
pub struct SimNet {
    pub(super) kernel: Rc<RefCell<Kernel>>,
    pub(super) host: usize,
    pub(super) taken: Taken,
    /// When everything that had come was last taken in.
    pub(super) looked: u64,
    /// A batch was delivered, and the handler has not ticked since.
    pub(super) owes_tick: bool,
    handed: Handed,
    /// What is sent leaves at the end of a batch, as with io_uring; else at once.
    batching: bool,
    queue: Vec<(ConnId, Vec<u8>)>,
    /// The time that its work has taken so far.
    work_ns: Arc<AtomicU64>,
    /// The part of it that the host's clock shows.
    shown: Cell<u64>,
}

impl SimNet {
    pub(super) fn new(kernel: Rc<RefCell<Kernel>>, limits: HostLimits) -> Self {
        let host = kernel.borrow_mut().add_host(limits);
        Self {
            kernel,
            host,
            taken: Taken::default(),
            looked: 0,
            owes_tick: false,
            handed: Handed::default(),
            batching: false,
            queue: Vec::new(),
            work_ns: Arc::default(),
            shown: Cell::new(0),
        }
    }

    /// The host's work takes as many nanoseconds as are added to `work_ns`.
    pub fn set_work_time(&mut self, work_ns: Arc<AtomicU64>) {
        self.work_ns = work_ns;
    }

    /// What is sent from here on leaves at the end of a batch, or when it is handed over.
    pub fn batch(&mut self) {
        self.batching = true;
    }

    /// Adds the time of its work to the host's clock. Returns the clock's reading.
    pub(super) fn clock(&self) -> u64 {
        let work_ns = self.work_ns.load(Ordering::Relaxed);
        let fresh = work_ns - self.shown.replace(work_ns);
        let mut kernel = self.kernel.borrow_mut();
        let now = kernel.now;
        let clock = &mut kernel.hosts[self.host].clock;
        *clock = (*clock).max(now) + fresh;
        *clock
    }

    /// Does something at the instant that the host's clock shows.
    fn act<T>(&self, what: impl FnOnce(&mut Kernel) -> T) -> T {
        let clock = self.clock();
        let mut kernel = self.kernel.borrow_mut();
        let now = std::mem::replace(&mut kernel.now, clock);
        let done = what(&mut kernel);
        kernel.now = now;
        done
    }

    fn send_now(&self, conn: ConnId, bytes: &[u8]) {
        self.act(|kernel| {
            if let Some(end) = kernel.end_of(self.host, conn) {
                kernel.send(end, bytes);
            }
        });
    }

    fn handing(&mut self) {
        self.handed = Handed { nth: self.handed.nth + 1, at: self.clock(), left: false };
    }

    /// Accepts connections to `address`. Hosts that listen on the same one share its connections.
    ///
    /// # Panics
    /// When the address was made deaf.
    pub fn listen(&mut self, address: SocketAddr) {
        self.kernel.borrow_mut().listen(self.host, address);
    }

    /// Ends sending, but goes on receiving: a half-close, which [`Net`] does not have because only
    /// peers under test do it.
    ///
    /// # Panics
    /// When bytes still wait to be taken by the kernel.
    pub fn half_close(&mut self, conn: ConnId) {
        self.hand_over();
        self.act(|kernel| {
            if let Some(end) = kernel.end_of(self.host, conn) {
                kernel.half_close(end);
            }
        });
    }

    /// Connections open now.
    pub fn open(&self) -> usize {
        self.kernel.borrow().hosts[self.host].open
    }
}

impl Net for SimNet {
    fn now(&self) -> u64 {
        self.clock()
    }

    fn taken_in(&self) -> Taken {
        self.taken
    }

    fn handed_over(&self) -> Handed {
        self.handed
    }

    fn hand_over(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        self.handing();
        for (conn, bytes) in std::mem::take(&mut self.queue) {
            self.send_now(conn, &bytes);
        }
    }

    fn connect(&mut self, token: u32, route: &Route) -> io::Result<ConnId> {
        let started = self.act(|kernel| kernel.connect(self.host, token, route));
        started.map_err(io::Error::from_raw_os_error)
    }

    fn blob(&mut self, bytes: &[u8]) -> BlobId {
        let blobs = &mut self.kernel.borrow_mut().hosts[self.host].blobs;
        blobs.push(bytes.to_vec());
        BlobId(blobs.len() as u32 - 1)
    }

    /// # Panics
    /// When the promise that everything sent earlier has been taken by the kernel does not hold.
    fn send_blob(&mut self, conn: ConnId, blob: BlobId) {
        let waiting = self.backlog(conn);
        assert_eq!(waiting, 0, "a blob was sent behind {waiting} bytes that still wait");
        let bytes = self.kernel.borrow().hosts[self.host].blobs[blob.0 as usize].clone();
        self.send(conn, &bytes);
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) {
        if self.batching {
            self.queue.push((conn, bytes.to_vec()));
            self.handed.left = true;
        } else {
            self.handing();
            self.send_now(conn, bytes);
        }
    }

    fn want_drained(&mut self, conn: ConnId) {
        self.act(|kernel| {
            if let Some(end) = kernel.end_of(self.host, conn) {
                kernel.want_drained(end);
            }
        });
    }

    fn backlog(&self, conn: ConnId) -> usize {
        let queued = self.queue.iter().filter(|(other, _)| *other == conn);
        let queued: usize = queued.map(|(_, bytes)| bytes.len()).sum();
        let kernel = self.kernel.borrow();
        queued + kernel.end_of(self.host, conn).map_or(0, |end| kernel.ends[&end].unsent.len())
    }

    fn set_receiving(&mut self, conn: ConnId, receiving: bool) {
        self.act(|kernel| {
            if let Some(end) = kernel.end_of(self.host, conn) {
                kernel.set_receiving(end, receiving);
            }
        });
    }

    fn skip(&mut self, conn: ConnId, bytes: u64) {
        self.act(|kernel| {
            if let Some(end) = kernel.end_of(self.host, conn) {
                kernel.skip(end, bytes);
            }
        });
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        self.hand_over();
        self.act(|kernel| {
            if let Some(end) = kernel.end_of(self.host, conn) {
                kernel.close(end, how);
            }
        });
    }
}
