//! Reading connections whose responses are long.
//!
//! A multishot receive fills buffer after buffer, each cold in the processor's caches, and completes for each
//! of them. That is cheapest for responses that fit into one. Long ones are cheaper to read, as much as is
//! there at once, into one large buffer that stays in the caches. So once a connection has filled some buffers
//! in a row it is polled instead, and read after all other completions of the batch; when little has come
//! for many reads, it gets its multishot receive back.

use io_uring::squeue::Entry;
use io_uring::{cqueue, opcode};
use rustix::io::Errno;

use super::buffers::BUFFER_BYTES;
use super::entry::{Handle, Op};
use super::{ConnState, Uring};
use crate::skip::{Came, ROOM, Skip};
use crate::{ConnId, Handler, Operation, Taken, clock};

/// Full buffers in a row that show a long response.
const FULL_IN_A_ROW: u8 = 2;
/// Turns in a row that each read less than a buffer holds, after which a connection is polled no more.
const SHORT_IN_A_ROW: u8 = 64;
/// Bytes copied at once.
const READ_BYTES: usize = 128 * 1024;
/// Reads of one connection before others get their turn.
const READS_A_TURN: usize = 16;
/// What else than bytes a poll reports: the peer's end and errors.
const END: i32 = (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) as i32;

/// The length of what a connection has lately received.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Long {
    polled: bool,
    /// While received by multishot, full buffers in a row; while polled, short turns in a row.
    in_a_row: u8,
    /// The connection is among those to be read.
    queued: bool,
    /// It must be read until nothing is left: no poll will report its end again.
    to_the_end: bool,
    /// Its handler has let some of it be skipped: [`Reads::skips`] says how much is left of that.
    pub(super) skips: bool,
}

impl Long {
    /// The operation that reports incoming bytes.
    pub(super) fn receives_by(self) -> Op {
        if self.polled { Op::Readable } else { Op::Receive }
    }

    /// Counts what came; true when the other operation is to be used from now on.
    #[inline]
    fn note(&mut self, bytes: usize) -> bool {
        let long = bytes >= BUFFER_BYTES;
        if long == self.polled {
            self.in_a_row = 0;
            return false;
        }
        self.in_a_row += 1;
        let enough = if self.polled { SHORT_IN_A_ROW } else { FULL_IN_A_ROW };
        if self.in_a_row < enough {
            return false;
        }
        (self.polled, self.in_a_row) = (!self.polled, 0);
        true
    }
}

/// Connections to be read, and the room to read into.
#[derive(Debug, Default)]
pub(super) struct Reads {
    queue: Vec<ConnId>,
    /// What may be skipped, by slot: apart from the connections' records, which short responses keep in the
    /// processor's nearest cache.
    skips: Vec<Skip>,
    /// Allocated for the first read.
    room: Box<[u8]>,
}

impl Reads {
    /// With room for what `connections` connections may skip.
    pub(super) fn of(connections: usize) -> Self {
        Self { skips: Vec::with_capacity(connections), ..Self::default() }
    }

    /// Whether no connection is to be read.
    pub(super) fn none(&self) -> bool {
        self.queue.is_empty()
    }

    /// What may be skipped of a connection that skips.
    pub(super) fn skip_of(&mut self, id: ConnId) -> &mut Skip {
        &mut self.skips[id.slot as usize]
    }
}

/// Reports bytes and the peer's end, each time that some come.
pub(super) fn poll_entry(handle: Handle) -> Entry {
    let flags = (libc::POLLIN | libc::POLLRDHUP) as u32;
    handle.entry(
        |fd| opcode::PollAdd::new(fd, flags).multi(true).build(),
        |fd| opcode::PollAdd::new(fd, flags).multi(true).build(),
    )
}

impl Uring {
    /// Counts what a connection has received at once, and changes the way it receives if another is cheaper.
    #[inline]
    pub(super) fn note_length(&mut self, id: ConnId, bytes: usize) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if bytes > 0
            && conn.long.note(bytes)
            && let Some(op) = conn.armed
        {
            // Its end arms the other.
            self.cancel_one(op, id);
        }
    }

    /// A poll reports that there is something to read, or is over.
    pub(super) fn readable(&mut self, id: ConnId, result: i32, flags: u32) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if result >= 0 {
            conn.long.to_the_end |= result & END != 0;
            if !std::mem::replace(&mut conn.long.queued, true) {
                self.reads.queue.push(id);
            }
        }
        // One that was disarmed is not wanted again.
        if !cqueue::more(flags) && conn.armed.take_if(|op| *op == Op::Readable).is_some() {
            self.arm_receive(id);
        }
    }

    /// Reads the connections that have something to read.
    pub(super) fn read_all<P: Handler<Self>>(&mut self, handler: &mut P) {
        if self.reads.none() {
            return;
        }
        let mut room = std::mem::take(&mut self.reads.room);
        if room.is_empty() {
            room = vec![0; ROOM].into_boxed_slice();
        }
        let mut queue = std::mem::take(&mut self.reads.queue);
        let batch = self.batch;
        queue.retain(|&id| self.read(id, batch, &mut room, handler));
        debug_assert!(self.reads.none());
        (self.reads.queue, self.reads.room) = (queue, room);
    }

    /// Reads a connection. What it delivers has been there since `batch` at the earliest, or for as long
    /// before as that batch had waited. Returns whether there may be more.
    fn read<P: Handler<Self>>(
        &mut self,
        id: ConnId,
        batch: Taken,
        room: &mut [u8],
        handler: &mut P,
    ) -> bool {
        let mut total = 0;
        for _ in 0..READS_A_TURN {
            let Some(conn) = self.conns.get_mut(id) else { return false };
            conn.long.queued = false;
            // What an armed multishot receive has taken already comes before anything read here.
            if conn.eof || !conn.receiving || conn.armed == Some(Op::Receive) {
                return false;
            }
            let (token, delivering) = (conn.token, conn.state == ConnState::Open);
            let to_the_end = conn.long.to_the_end;
            let read = match conn.long.skips {
                true => self.reads.skips[id.slot as usize].read(&conn.fd, room, READ_BYTES),
                false => Skip::default().read(&conn.fd, room, READ_BYTES),
            };
            let at = clock::now();
            let waited_ns = batch.waited_ns.saturating_add(at.saturating_sub(batch.at));
            self.batch = Taken { at, waited_ns };
            let (came, emptied) = match read {
                Ok((Came::Bytes([]), _)) if delivering => {
                    // No poll must outlive the peer's end: nothing more comes of it.
                    self.disarm(id);
                    self.ended(id, token, handler);
                    return false;
                }
                Ok((Came::Bytes([]), _)) => {
                    self.disarm(id);
                    self.peer_closed(id);
                    return false;
                }
                Ok(read) => read,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {
                    self.note_length(id, total);
                    return false;
                }
                Err(error) => {
                    self.broke(id, Operation::Receive, error.raw_os_error(), handler);
                    return false;
                }
            };
            total += came.length();
            if delivering {
                handler.event(self, token, came.event());
            }
            // The next bytes of a socket that is empty are reported anew.
            if emptied && !to_the_end {
                self.note_length(id, total);
                return false;
            }
        }
        self.note_length(id, total);
        let Some(conn) = self.conns.get_mut(id) else { return false };
        conn.long.queued = true;
        true
    }

    /// Lets bytes of a connection be skipped, once it is polled: before that, the kernel has received what is next.
    pub(super) fn let_skip(&mut self, id: ConnId, bytes: u64) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let (skips, slot) = (&mut self.reads.skips, id.slot as usize);
        if slot >= skips.len() {
            skips.resize(slot + 1, Skip::default());
        }
        if !std::mem::replace(&mut conn.long.skips, true) {
            // What an earlier connection in this slot had left.
            skips[slot] = Skip::default();
        }
        skips[slot].allow(bytes);
    }

    /// Ends the poll of a connection that will receive nothing more.
    fn disarm(&mut self, id: ConnId) {
        let armed = self.conns.get_mut(id).and_then(|conn| conn.armed.take());
        if let Some(op) = armed {
            self.cancel_one(op, id);
        }
    }
}
