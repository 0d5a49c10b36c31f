//! One connection's TLS state: bytes in, bytes out, no socket.
//!
//! rustls decrypts records where they lie, in the bytes that the net lends. Only a record that came in parts is
//! put together here first.

use std::fmt;
use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};
use rustls::{ClientConfig, Error, HandshakeKind};

/// Bytes of a record before its content; the last two are the content's length.
const HEADER: usize = 5;

/// One connection's TLS state.
pub(crate) struct Session {
    connection: UnbufferedClientConnection,
    /// From the beginning of the first record that is not whole, or whose handshake message is not.
    begun: Vec<u8>,
    /// Was decrypted while something was written, and not handed out.
    aside: Vec<u8>,
    ended: bool,
}

/// Records to be sent, in room that is kept.
#[derive(Debug, Default)]
pub(crate) struct Records {
    room: Vec<u8>,
    used: usize,
}

/// Why a call of rustls has returned.
enum Paused {
    /// It has decrypted something.
    Read,
    /// It needs more bytes, or none ever.
    Blocked,
}

impl Session {
    pub(crate) fn new(
        config: &Arc<ClientConfig>,
        name: &ServerName<'static>,
    ) -> Result<Self, Error> {
        let connection = UnbufferedClientConnection::new(config.clone(), name.clone())?;
        Ok(Self { connection, begun: Vec::new(), aside: Vec::new(), ended: false })
    }

    pub(crate) fn handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether the handshake resumed the session of an earlier connection.
    pub(crate) fn resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Whether the server has ended its side with close_notify.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether nothing is left that [`Self::feed`] could decrypt without more bytes.
    pub(crate) fn is_idle(&self) -> bool {
        self.begun.is_empty() && self.aside.is_empty()
    }

    /// Takes bytes from the net, as many as it takes to decrypt something into `plain`, which is empty, or all of
    /// them; call it until nothing is left and nothing was decrypted, or the session has
    /// [`ended`](Self::ended). What it has to send, also on a failure, goes to `records`. The first call, without
    /// bytes, begins the handshake.
    pub(crate) fn feed(
        &mut self,
        input: &mut &mut [u8],
        plain: &mut Vec<u8>,
        records: &mut Records,
    ) -> Result<(), Error> {
        if !self.aside.is_empty() {
            std::mem::swap(plain, &mut self.aside);
            return Ok(());
        }
        let bytes = std::mem::take(input);
        if self.begun.is_empty() {
            let (used, paused) = self.process(bytes, plain, records);
            let rest = &mut bytes[used..];
            match paused? {
                Paused::Read => *input = rest,
                Paused::Blocked => self.begun.extend_from_slice(rest),
            }
            return Ok(());
        }
        let (needed, rest) = bytes.split_at_mut(missing(&self.begun).min(bytes.len()));
        self.begun.extend_from_slice(needed);
        *input = rest;
        let mut begun = std::mem::take(&mut self.begun);
        let (used, paused) = self.process(&mut begun, plain, records);
        begun.drain(..used);
        self.begun = begun;
        paused.map(drop)
    }

    /// Encrypts a request into `records`. The handshake is over.
    pub(crate) fn write(&mut self, bytes: &[u8], records: &mut Records) {
        let mut begun = std::mem::take(&mut self.begun);
        let mut used = 0;
        loop {
            let UnbufferedStatus { discard, state, .. } =
                self.connection.process_tls_records(&mut begun[used..]);
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    records.append(|room| match traffic.encrypt(bytes, room) {
                        Ok(length) => Ok(length),
                        Err(EncryptError::InsufficientSize(size)) => Err(Some(size)),
                        Err(EncryptError::EncryptExhausted) => Err(None),
                    });
                    used += discard;
                    break;
                }
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        self.aside.extend_from_slice(record.payload);
                    }
                }
                Ok(state) => {
                    if !settle(state, &mut self.ended, records) {
                        break;
                    }
                }
                // Nothing can be sent any more. The same is said to who reads.
                Err(_) => break,
            }
            used += discard;
        }
        begun.drain(..used);
        self.begun = begun;
    }

    /// Has rustls go through `bytes`, from the beginning of a record, until it has decrypted something. Returns how
    /// many of them are over.
    fn process(
        &mut self,
        bytes: &mut [u8],
        plain: &mut Vec<u8>,
        records: &mut Records,
    ) -> (usize, Result<Paused, Error>) {
        let mut used = 0;
        loop {
            let status = self.connection.process_tls_records(&mut bytes[used..]);
            let mut discard = status.discard;
            let paused = match status.state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        plain.extend_from_slice(record.payload);
                        discard += record.discard;
                    }
                    (!plain.is_empty()).then_some(Paused::Read)
                }
                Ok(state) => (!settle(state, &mut self.ended, records)).then_some(Paused::Blocked),
                Err(error) => {
                    self.write_alert(records);
                    return (used + discard, Err(error));
                }
            };
            used += discard;
            if let Some(paused) = paused {
                return (used, Ok(paused));
            }
        }
    }

    /// After an error: the alert to send to the server.
    fn write_alert(&mut self, records: &mut Records) {
        while self.connection.wants_write() {
            match self.connection.process_tls_records(&mut []).state {
                Ok(state) if matches!(state, ConnectionState::EncodeTlsData(_)) => {
                    settle(state, &mut self.ended, records);
                }
                _ => return,
            }
        }
    }
}

/// Does what a state asks for before rustls can go on; false where it can not.
fn settle<Data>(
    state: ConnectionState<'_, '_, Data>,
    ended: &mut bool,
    records: &mut Records,
) -> bool {
    match state {
        ConnectionState::EncodeTlsData(mut message) => {
            records.append(|room| match message.encode(room) {
                Ok(length) => Ok(length),
                Err(EncodeError::InsufficientSize(size)) => Err(Some(size)),
                Err(EncodeError::AlreadyEncoded) => Err(None),
            });
            true
        }
        ConnectionState::TransmitTlsData(transmit) => {
            transmit.done();
            true
        }
        ConnectionState::PeerClosed => {
            *ended = true;
            false
        }
        _ => false,
    }
}

/// Bytes until the first record of `begun` is whole, or its header; all there are where it is whole and more of a
/// message is to come.
fn missing(begun: &[u8]) -> usize {
    let Some(header) = begun.first_chunk::<HEADER>() else { return HEADER - begun.len() };
    let length = HEADER + usize::from(u16::from_be_bytes([header[3], header[4]]));
    if begun.len() < length { length - begun.len() } else { usize::MAX }
}

impl Records {
    /// The bytes, which are forgotten by [`Self::clear`] alone.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.room[..self.used]
    }

    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Appends what `write` writes, in as much room as it asks for.
    fn append(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, Option<InsufficientSizeError>>,
    ) {
        loop {
            match write(&mut self.room[self.used..]) {
                Ok(length) => return self.used += length,
                Err(Some(size)) => self.room.resize(self.used + size.required_size, 0),
                Err(None) => return,
            }
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("ended", &self.ended).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
