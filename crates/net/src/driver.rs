//! What a real net is made with, and how it is driven.

use std::io;
use std::net::TcpListener;

use crate::{Handler, Net};

/// What a net is made with.
#[derive(Debug, Default)]
pub struct Options {
    /// Connections expected at once: sizes tables and receive buffers; more are served too.
    pub connections: usize,
    /// Connections live for many requests, so that registering them with the ring pays.
    pub long_lived: bool,
    /// Where peers connect to; each gets [`Handler::accepted`].
    pub listener: Option<TcpListener>,
}

/// A net that waits for real events.
pub trait Driver: Net + Sized {
    /// Delivers what has happened; waits until something does or the monotonic clock reads `until`
    /// (`u64::MAX`: for an event alone), sleeping unless `spin`.
    ///
    /// # Errors
    /// When the kernel interface itself fails; a connection's failure is its event.
    fn poll<P: Handler<Self>>(&mut self, until: u64, spin: bool, handler: &mut P)
    -> io::Result<()>;
}
