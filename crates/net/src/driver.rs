//! Choosing a net and driving a party on it until the party is done.

use std::io;
use std::net::TcpListener;

use crate::epoll::Epoll;
use crate::uring::Uring;
use crate::{Net, Next, Party, clock};

/// The kernel interface to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Io {
    /// io_uring: cheapest, often forbidden in containers.
    Uring,
    /// epoll: everywhere.
    Epoll,
}

/// What a net is made with.
#[derive(Debug, Default)]
pub struct Options {
    /// Connections expected at once: sizes tables and receive buffers; more are served too.
    pub connections: usize,
    /// Connections live for many requests, so that registering them with the ring pays.
    pub long_lived: bool,
    /// Where peers connect to; each gets [`Party::accepted`].
    pub listener: Option<TcpListener>,
}

/// A net that waits for real events.
pub trait Driver: Net + Sized {
    /// Delivers what has happened; waits until something does or the monotonic clock reads `until`
    /// (`u64::MAX`: for an event alone), sleeping unless `spin`.
    ///
    /// # Errors
    /// When the kernel interface itself fails; a connection's failure is its event.
    fn poll<P: Party<Self>>(&mut self, until: u64, spin: bool, party: &mut P) -> io::Result<()>;
}

/// Whether io_uring can be used here, with everything [`Uring`] needs of it.
pub fn uring_works() -> bool {
    Uring::new(Options { connections: 1, ..Options::default() }).is_ok()
}

/// Drives `party` on a net of the kind asked for until it is done, on the calling thread.
///
/// # Errors
/// When the net cannot be made or the kernel interface fails.
pub fn run<P>(io: Io, options: Options, party: &mut P) -> io::Result<()>
where
    P: Party<Uring> + Party<Epoll>,
{
    clock::sharpen_timers();
    match io {
        Io::Uring => drive(&mut Uring::new(options)?, party),
        Io::Epoll => drive(&mut Epoll::new(options)?, party),
    }
}

fn drive<N: Driver, P: Party<N>>(net: &mut N, party: &mut P) -> io::Result<()> {
    loop {
        match party.tick(net) {
            Next::Wait(until) => net.poll(until, false, party)?,
            Next::Spin(until) => net.poll(until, true, party)?,
            Next::Finished => return Ok(()),
        }
    }
}
