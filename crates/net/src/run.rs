//! Choosing a net and driving a handler on it until the handler is done.

use std::io;

use crate::driver::{Driver, Options};
use crate::epoll::Epoll;
use crate::uring::Uring;
use crate::{Handler, Next, clock};

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

/// Drives `handler` on a net of this kind until it is done, on the calling thread.
///
/// # Errors
/// When the net cannot be made or the kernel interface fails.
pub fn run<P>(io: Io, options: Options, handler: &mut P) -> io::Result<()>
where
    P: Handler<Uring> + Handler<Epoll>,
{
    clock::sharpen_timers();
    match io {
        Io::Uring => drive(&mut Uring::new(options)?, handler),
        Io::Epoll => drive(&mut Epoll::new(options)?, handler),
    }
}

fn drive<N: Driver, P: Handler<N>>(net: &mut N, handler: &mut P) -> io::Result<()> {
    loop {
        match handler.tick(net) {
            Next::Wait(until) => net.poll(until, false, handler)?,
            Next::Spin(until) => net.poll(until, true, handler)?,
            Next::Finished => return Ok(()),
        }
    }
}
