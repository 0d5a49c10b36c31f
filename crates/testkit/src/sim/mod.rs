//! A seeded simulation of clock and network behind [`net::Net`].
//!
//! Several hosts share one [`World`]. Each has a [`SimNet`], on which a handler (the same code that
//! runs over real sockets) is driven by [`run`]. Time is virtual: it jumps to the next instant at which
//! anything happens, so that an hour costs what its events cost. Everything random (delays, where a
//! stream of bytes is cut, which listener of several gets a connection, lost connections) is drawn from
//! the world's seed: the same seed gives the same run, byte for byte and nanosecond for nanosecond.
//!
//! What of TCP is modelled: the handshake and its refusals, accept queues, one-way delays with
//! ordered delivery, send and receive buffers with pressure back on the sender, FIN and half-close,
//! RST (also for bytes to a closed socket, and instead of a FIN when bytes were left unread), local
//! ports and open files running out. What is not: loss, congestion control, `TIME_WAIT`.
//!
//! `conditions` says how the network behaves, `state` what there is, `kernel` owns events and connections, `pipe` the way of bytes from end to end, `host` the interface of a
//! host, and `drive` the loop.

mod conditions;
mod drive;
mod host;
mod kernel;
mod pipe;
mod state;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::ops::Range;
use std::rc::Rc;

use kernel::Kernel;

pub use conditions::{Conditions, Cut, Delay, HostLimits};
pub use drive::{Actor, Ended, run};
pub use host::SimNet;

/// Hosts that share a clock and a network. When a test fails, its seed is printed.
#[derive(Debug)]
pub struct World {
    kernel: Rc<RefCell<Kernel>>,
    seed: u64,
}

impl World {
    /// An empty world under [`Conditions::default`].
    pub fn new(seed: u64) -> Self {
        Self::under(seed, Conditions::default())
    }

    /// An empty world under these conditions.
    ///
    /// # Panics
    /// When the buffers have no room at all: nothing would ever arrive.
    pub fn under(seed: u64, conditions: Conditions) -> Self {
        assert!(conditions.buffer_bytes > 0, "buffers without room");
        Self { kernel: Rc::new(RefCell::new(Kernel::new(seed, conditions))), seed }
    }

    /// A new host with plenty of everything.
    pub fn host(&self) -> SimNet {
        self.limited_host(HostLimits::default())
    }

    /// A new host that may use this much.
    pub fn limited_host(&self, limits: HostLimits) -> SimNet {
        SimNet::new(Rc::clone(&self.kernel), limits)
    }

    /// Makes an address listen whose application never accepts: connections stand, up to `backlog`
    /// of them, and never get a response; further requests to connect are lost. With a backlog of 0
    /// it is a black hole.
    pub fn deaf(&self, address: SocketAddr, backlog: usize) {
        self.kernel.borrow_mut().listen_deaf(address, backlog);
    }

    /// Virtual time, nanoseconds.
    pub fn now(&self) -> u64 {
        self.kernel.borrow().now
    }

    /// Every draw and delivery so far, folded into one number: equal runs have equal ones.
    pub fn fingerprint(&self) -> u64 {
        self.kernel.borrow().fingerprint
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("simulation seed {0}: replay with SIM_SEED={0}", self.seed);
        }
    }
}

/// The seeds a test should try: those of the range, or the one in `SIM_SEED`.
///
/// # Panics
/// When `SIM_SEED` is set to something other than a number.
pub fn seeds(range: Range<u64>) -> Range<u64> {
    match std::env::var("SIM_SEED") {
        Ok(text) => {
            let seed = text.parse().expect("SIM_SEED is a number");
            seed..seed + 1
        }
        Err(_) => range,
    }
}
