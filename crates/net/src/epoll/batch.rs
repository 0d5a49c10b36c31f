//! Connections a few at a time: first all of them are read, then their bytes are delivered, then what
//! handlers sent is written. Code that runs many times in a row, the kernel's and the handler's, stays
//! in the processor's caches, while alternating reads, handlers and writes evict one another.

use std::ops::Range;

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::{Conn, ConnState, Epoll, READ_BYTES};
use crate::skip::Came;
use crate::{BlobId, ConnId, Handed, Handler, clock};

/// Connections taken together at most. Each is served a little later for all others in its batch.
const TOGETHER: usize = 16;
/// Room for at least one read; a read that fills it is followed by another.
pub(super) const LEAST_READ: usize = READ_BYTES / 4;
/// Larger pieces are written at once.
const SMALL: usize = 4096;

/// What was read and what is to be written of the connections taken together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    read: Vec<Read>,
    /// Whether handlers of a batch are running.
    pub(super) open: bool,
    sends: Vec<Send>,
    bytes: Vec<u8>,
}

/// The bytes of one read, by their place.
#[derive(Debug)]
struct Read {
    id: ConnId,
    outcome: Result<Range<usize>, Errno>,
    /// There may be more.
    full: bool,
}

#[derive(Debug)]
struct Send {
    id: ConnId,
    what: What,
}

#[derive(Debug)]
enum What {
    Blob(BlobId),
    Bytes(Range<usize>),
}

impl Batch {
    /// Whether something waits to be written.
    #[inline]
    pub(super) fn keeps(&self) -> bool {
        !self.sends.is_empty()
    }
}

impl Conn {
    /// Whether an event means nothing but bytes to deliver.
    fn only_reads(&self, flags: epoll::EventFlags) -> bool {
        let plain = epoll::EventFlags::IN | epoll::EventFlags::OUT;
        plain.contains(flags)
            && flags.contains(epoll::EventFlags::IN)
            && self.state == ConnState::Open
            && self.receiving
            && !self.want_drained
            && self.is_drained()
            && !self.long
            && !self.skip.allowed()
            && self.failure.is_none()
            && !self.eof
    }
}

impl Epoll {
    /// Delivers the leading events that need only a read. Returns their number.
    pub(super) fn deliver_together<P: Handler<Self>>(
        &mut self,
        events: &[epoll::Event],
        handler: &mut P,
    ) -> usize {
        let taken = self.read_together(events);
        self.took();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut read = std::mem::take(&mut self.batch.read);
        self.batch.open = true;
        for Read { id, outcome, full } in read.drain(..) {
            let came = outcome.map(|at| Came::Bytes(&mut buffer[at]));
            if self.deliver(id, came, handler) && full {
                // Its other bytes cause no further edge.
                self.ready.push(id);
                if let Some(conn) = self.conns.get_mut(id) {
                    conn.long = true;
                }
            }
        }
        self.batch.open = false;
        (self.batch.read, self.buffer) = (read, buffer);
        self.write_together();
        taken
    }

    fn read_together(&mut self, events: &[epoll::Event]) -> usize {
        let mut at = 0;
        for (taken, event) in events.iter().enumerate().take(TOGETHER) {
            let id = super::unpack(event.data.u64());
            let Some(conn) = self.conns.get(id).filter(|conn| conn.only_reads(event.flags)) else {
                return taken;
            };
            if at + LEAST_READ > READ_BYTES {
                return taken;
            }
            let room = &mut self.buffer[at..at + LEAST_READ];
            let outcome = match rustix::net::recv(&conn.fd, room, RecvFlags::empty()) {
                Ok((_, n)) => Ok(at..at + n),
                Err(Errno::AGAIN) => continue,
                // Interrupted before anything was read.
                Err(Errno::INTR) => return taken,
                Err(error) => Err(error),
            };
            let n = outcome.as_ref().map_or(0, ExactSizeIterator::len);
            self.batch.read.push(Read { id, outcome, full: n == LEAST_READ });
            at += n;
        }
        events.len().min(TOGETHER)
    }

    /// Keeps a small send until the end of the batch. False if it must be written now, after what is
    /// kept.
    #[inline]
    pub(super) fn keep_blob(&mut self, id: ConnId, blob: BlobId) -> bool {
        if self.batch.open {
            self.batch.sends.push(Send { id, what: What::Blob(blob) });
        }
        self.batch.open
    }

    /// As [`Self::keep_blob`], of bytes.
    #[inline]
    pub(super) fn keep_bytes(&mut self, id: ConnId, bytes: &[u8]) -> bool {
        let Batch { open, sends, bytes: kept, .. } = &mut self.batch;
        if !*open {
            return false;
        }
        if bytes.len() > SMALL || kept.len() + bytes.len() > READ_BYTES {
            return false;
        }
        let start = kept.len();
        kept.extend_from_slice(bytes);
        sends.push(Send { id, what: What::Bytes(start..kept.len()) });
        true
    }

    /// Writes what was kept, in order, as one hand-over.
    pub(super) fn write_together(&mut self) {
        if self.batch.keeps() {
            self.handing();
            self.write_kept();
        }
    }

    /// What is written from here on counts as handed over now.
    #[inline]
    pub(super) fn handing(&mut self) {
        self.handed = Handed { nth: self.handed.nth + 1, at: clock::now(), left: false };
    }

    pub(super) fn write_kept(&mut self) {
        let mut sends = std::mem::take(&mut self.batch.sends);
        let mut bytes = std::mem::take(&mut self.batch.bytes);
        for Send { id, what } in sends.drain(..) {
            match what {
                What::Blob(blob) => self.write_blob(id, blob),
                What::Bytes(at) => self.write(id, &bytes[at]),
            }
        }
        bytes.clear();
        (self.batch.sends, self.batch.bytes) = (sends, bytes);
    }
}
