//! A host's view of the world: [`net::Net`] over the simulation.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use net::{BlobId, Close, ConnId, Net, Route};

use super::HostLimits;
use super::kernel::Kernel;

/// The network as one host of a [`World`](super::World) has it.
#[derive(Debug)]
pub struct SimNet {
    pub(super) kernel: Rc<RefCell<Kernel>>,
    pub(super) host: usize,
}

impl SimNet {
    pub(super) fn new(kernel: Rc<RefCell<Kernel>>, limits: HostLimits) -> Self {
        let host = kernel.borrow_mut().add_host(limits);
        Self { kernel, host }
    }

    /// Accepts connections to `address`. Hosts that listen on the same one share its connections.
    ///
    /// # Panics
    /// When the address was made deaf.
    pub fn listen(&mut self, address: SocketAddr) {
        self.kernel.borrow_mut().listen(self.host, address);
    }

    /// Ends sending, but goes on receiving: a half-close, which [`Net`] has no word for because
    /// only peers under test do it.
    ///
    /// # Panics
    /// When bytes still wait to be taken by the kernel.
    pub fn half_close(&mut self, conn: ConnId) {
        let mut kernel = self.kernel.borrow_mut();
        if let Some(end) = kernel.end_of(self.host, conn) {
            kernel.half_close(end);
        }
    }

    /// Connections open now.
    pub fn open(&self) -> usize {
        self.kernel.borrow().hosts[self.host].open
    }
}

impl Net for SimNet {
    fn now(&self) -> u64 {
        self.kernel.borrow().now
    }

    fn connect(&mut self, token: u32, route: &Route) -> io::Result<ConnId> {
        let started = self.kernel.borrow_mut().connect(self.host, token, route);
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
        let mut kernel = self.kernel.borrow_mut();
        let Some(end) = kernel.end_of(self.host, conn) else { return };
        let waiting = kernel.ends[&end].unsent.len();
        assert_eq!(waiting, 0, "a blob was sent behind {waiting} bytes that still wait");
        let bytes = kernel.hosts[self.host].blobs[blob.0 as usize].clone();
        kernel.send(end, &bytes);
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) {
        let mut kernel = self.kernel.borrow_mut();
        if let Some(end) = kernel.end_of(self.host, conn) {
            kernel.send(end, bytes);
        }
    }

    fn want_drained(&mut self, conn: ConnId) {
        let mut kernel = self.kernel.borrow_mut();
        if let Some(end) = kernel.end_of(self.host, conn) {
            kernel.want_drained(end);
        }
    }

    fn backlog(&self, conn: ConnId) -> usize {
        let kernel = self.kernel.borrow();
        kernel.end_of(self.host, conn).map_or(0, |end| kernel.ends[&end].unsent.len())
    }

    fn set_receiving(&mut self, conn: ConnId, receiving: bool) {
        let mut kernel = self.kernel.borrow_mut();
        if let Some(end) = kernel.end_of(self.host, conn) {
            kernel.set_receiving(end, receiving);
        }
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        let mut kernel = self.kernel.borrow_mut();
        if let Some(end) = kernel.end_of(self.host, conn) {
            kernel.close(end, how);
        }
    }
}
