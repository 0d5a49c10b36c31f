//! TLS on a connection, either side: bytes from the network to plaintext and back, by rustls.
//!
//! Owns the state of one connection ([`Tls`]), for callers that process all received bytes at once, and the choice of
//! which server certificates a client accepts (`trusted`). Does not own sockets, nor the certificates and keys of a
//! configuration. The load engine has a session of its own, which buffers nothing.

mod trusted;

use std::io::{self, Read, Write};

use rustls::Connection;

pub use trusted::{Trusted, Unchecked, is_of_authority};

/// The state of TLS on one connection.
#[derive(Debug)]
pub struct Tls {
    connection: Connection,
    /// The peer has said that it sends no more (close_notify).
    has_ended: bool,
}

impl Tls {
    /// Of a new connection, of either side.
    pub fn of(connection: impl Into<Connection>) -> Self {
        let mut connection = connection.into();
        // Everything written is taken out again at once, so the buffer needs no limit.
        connection.set_buffer_limit(None);
        Self { connection, has_ended: false }
    }

    /// Whether the peer has said that it sends no more: what ends without that may have been cut off by anybody.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether the handshake is still under way.
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Takes received bytes and appends their plaintext to `plain`. What follows the peer's close_notify is passed over (RFC
    /// 8446 section 6.1).
    ///
    /// # Errors
    /// When they are not TLS that is accepted; an alert for the peer is then in [`Self::outgoing`].
    pub fn decrypt(&mut self, mut came: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        while !came.is_empty() && !self.has_ended {
            if self.connection.read_tls(&mut came)? == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let state = self.connection.process_new_packets().map_err(io::Error::other)?;
            let there = state.plaintext_bytes_to_read() as u64;
            self.has_ended = state.peer_has_closed();
            self.connection.reader().take(there).read_to_end(plain)?;
        }
        Ok(())
    }

    /// Takes plaintext to be sent.
    pub fn encrypt(&mut self, plain: &[u8]) {
        // Writing into a buffer without a limit cannot fail.
        let written = self.connection.writer().write_all(plain);
        debug_assert!(written.is_ok());
    }

    /// Announces the end of sending (close_notify).
    pub fn close_notify(&mut self) {
        self.connection.send_close_notify();
    }

    /// Moves TLS records that are to be sent into `out`.
    pub fn outgoing(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            match self.connection.write_tls(out) {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}
