//! Output: requests as the source made them, lent, copied or encrypted, to the net.

use net::{BlobId, Net, SHORT_BLOB};
use traffic::{Part, Payload, Requests, Source};

use crate::conn::Conn;
use crate::tls::Records;

/// The requests that never change, and the buffers that all others go through.
#[derive(Debug)]
pub(super) struct Outgoing {
    fixed: Vec<Lent>,
    /// The requests that the source wrote in this turn.
    pub(super) requests: Requests,
    /// Requests of a turn that lie in several places, one behind the other.
    gathered: Vec<u8>,
    /// TLS records.
    pub(super) cipher: Records,
}

/// A request that never changes.
#[derive(Debug)]
struct Lent {
    bytes: Box<[u8]>,
    /// The net's identifier, where it may be sent as a blob.
    blob: Option<BlobId>,
}

impl Outgoing {
    /// For the requests that a source never changes.
    pub(super) fn new(source: &dyn Source) -> Self {
        let lent = |bytes: &[u8]| Lent { bytes: bytes.into(), blob: None };
        Self {
            fixed: source.fixed().iter().map(|fixed| lent(&fixed.bytes)).collect(),
            requests: Requests::new(),
            gathered: Vec::new(),
            cipher: Records::default(),
        }
    }

    /// Lends to the net those requests that never change. Call only if each is sent alone and without TLS.
    pub(super) fn lend<N: Net>(&mut self, net: &mut N) {
        for fixed in &mut self.fixed {
            fixed.blob = Some(net.blob(&fixed.bytes));
        }
    }

    /// Hands `parts` of `requests` to the net, together. Returns their bytes.
    #[inline]
    pub(super) fn transmit<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        requests: &Requests,
        parts: &[Part],
    ) -> u64 {
        let Self { fixed, gathered, cipher, .. } = self;
        if let [Part { payload: Payload::Fixed(index), .. }] = parts {
            let Lent { bytes, blob } = &fixed[*index as usize];
            match blob {
                // Nothing else is under way on the connection: what went before has its response.
                Some(blob) if !conn.unconfirmed || net.backlog(conn.id) == 0 => {
                    // A response may come before the whole of a long request has left.
                    conn.unconfirmed = bytes.len() > SHORT_BLOB;
                    net.send_blob(conn.id, *blob);
                    bytes.len() as u64
                }
                _ => send(net, conn, bytes, cipher),
            }
        } else if let Some(end) = all_written(parts) {
            send(net, conn, &requests.bytes[..end], cipher)
        } else {
            gather(requests, parts, fixed, gathered);
            send(net, conn, gathered, cipher)
        }
    }

    /// Sends the records that are there. Returns the number of bytes.
    pub(super) fn flush_tls<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> u64 {
        let records = self.cipher.bytes();
        let length = records.len() as u64;
        if length > 0 {
            net.send(conn.id, records);
            self.cipher.clear();
        }
        length
    }
}

/// Where the last of `parts` ends, if all of them were written.
#[inline]
fn all_written(parts: &[Part]) -> Option<usize> {
    parts.iter().try_fold(0, |_, part| match part.payload {
        Payload::Written { end } => Some(end as usize),
        Payload::Fixed(_) => None,
    })
}

/// Concatenates the bytes of `parts`.
fn gather(requests: &Requests, parts: &[Part], fixed: &[Lent], gathered: &mut Vec<u8>) {
    gathered.clear();
    let mut start = 0;
    for part in parts {
        match part.payload {
            Payload::Fixed(index) => gathered.extend_from_slice(&fixed[index as usize].bytes),
            Payload::Written { end } => {
                gathered.extend_from_slice(&requests.bytes[start..end as usize]);
                start = end as usize;
            }
        }
    }
}

/// Copies bytes to the net, in TLS records if the connection uses TLS. Returns the number of bytes
/// handed over.
#[inline]
fn send<N: Net>(net: &mut N, conn: &mut Conn, bytes: &[u8], cipher: &mut Records) -> u64 {
    conn.unconfirmed = true;
    let Some(session) = &mut conn.tls else {
        net.send(conn.id, bytes);
        return bytes.len() as u64;
    };
    session.write(bytes, cipher);
    net.send(conn.id, cipher.bytes());
    let length = cipher.bytes().len() as u64;
    cipher.clear();
    length
}
