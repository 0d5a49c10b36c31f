//! Choosing a net and driving a party on it until the party is done.

use std::io;

use crate::driver::{Driver, Options};
use crate::epoll::Epoll;
use crate::uring::Uring;
use crate::{Next, Party, clock};

/// The kernel interface to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Io {
    /// io_uring: cheapest, often forbidden in containers.
    Uring,
    /// epoll: everywhere.
    Epoll,
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
