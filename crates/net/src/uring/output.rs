//! Output of a connection: what [`crate::Net::send`] was handed until the kernel has taken it.
//!
//! A completion for every send would wake a server once more for every batch it has just responded to.
//! So output is first submitted to be taken at once or refused, and only a refusal completes. As a send of
//! this kind never outlasts its submission, all of a round's refusals are there when the submission returns;
//! once the completions have been read, output without a refusal has been taken. What was refused is
//! sent again by a send that waits for room and completes.

use std::os::fd::AsRawFd;

use io_uring::squeue::Flags;

use super::entry::{MOST_AT_ONCE, Op, send_entry, tag, try_entry};
use super::{Conn, ConnState, Uring};
use crate::{BlobId, Close, ConnId, Event, Handler, Net, Operation, clock, socket};

/// Send buffers larger than this are given back once they are empty.
const KEPT_BUFFER: usize = 64 * 1024;
/// Output larger than this is not expected to fit at once.
const MOST_TRIED: usize = 64 * 1024;

/// Made by the first send, so that a client that only sends blobs has none.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// Being sent, from `sent` on; must not move or change while the kernel may read it.
    sending: Vec<u8>,
    sent: usize,
    stage: Stage,
    /// To be sent next.
    next: Vec<u8>,
    /// The connection is among those to be submitted.
    queued: bool,
    /// Why the kernel takes no more, where that is reported once what the peer sent before has been read.
    pub(super) failed: Option<i32>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Idle,
    /// Submitted in this round, to be taken at once or refused.
    Tried(u64),
    /// The kernel sends it, and completes when it has.
    InFlight,
    /// The kernel sends a blob of this length, and completes when it has. Nothing else is `sending`.
    Lent(BlobId, usize),
}

impl Output {
    /// Adds bytes; true when the connection is to be put among those to be submitted.
    #[inline]
    pub(super) fn add(&mut self, bytes: &[u8]) -> bool {
        self.next.extend_from_slice(bytes);
        !std::mem::replace(&mut self.queued, true)
    }

    /// Whether the kernel reads the buffer, or a blob, after its submission.
    pub(super) fn in_flight(&self) -> bool {
        matches!(self.stage, Stage::InFlight | Stage::Lent(..))
    }

    /// Updates output that was tried in a round up to `settled`: it was taken.
    #[inline]
    fn settle(&mut self, settled: u64) {
        if matches!(self.stage, Stage::Tried(round) if round <= settled) {
            self.stage = Stage::Idle;
            self.sent = self.sending.len();
        }
    }

    fn left(&self, settled: u64) -> usize {
        let taken = matches!(self.stage, Stage::Tried(round) if round <= settled);
        let sending = if taken { 0 } else { self.sending.len() - self.sent };
        let lent = if let Stage::Lent(_, bytes) = self.stage { bytes } else { 0 };
        sending + lent + self.next.len()
    }

    /// Keeps what the kernel has not taken of a blob, which is next to nothing ever.
    fn copy_rest(&mut self, rest: &[u8]) {
        self.sending.clear();
        self.sending.extend_from_slice(rest);
        self.sent = 0;
    }

    /// Makes what is next current, if all of the current is gone.
    fn advance(&mut self) {
        if self.sent < self.sending.len() {
            return;
        }
        self.sending.clear();
        self.sent = 0;
        std::mem::swap(&mut self.sending, &mut self.next);
        if self.next.capacity() > KEPT_BUFFER {
            self.next = Vec::new();
        }
    }
}

impl Conn {
    /// Bytes that the kernel is not known to have taken.
    pub(super) fn backlog(&self, settled: u64) -> usize {
        self.output.as_ref().map_or(0, |output| output.left(settled))
    }

    pub(super) fn acknowledged(&self) -> Option<u64> {
        socket::acknowledged(self.fd.as_raw_fd())
    }
}

impl Uring {
    /// Submits the output of connections that have some, except where the result of their last
    /// submission is not known yet.
    pub(super) fn submit_dirty(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        self.round += 1;
        self.submitting = true;
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.retain(|&id| !self.submit_output(id));
        debug_assert!(self.dirty.is_empty());
        self.dirty = dirty;
        self.submitting = false;
    }

    /// Sends a long blob from where it lies, if nothing else is on its way; a copy of it otherwise.
    pub(super) fn lend(&mut self, id: ConnId, blob: BlobId) {
        let (settled, bytes) = (self.settled, &self.blobs[blob.0 as usize]);
        let Some(conn) = self.conns.get_mut(id) else { return };
        let handle = conn.handle(id);
        let open = conn.state == ConnState::Open;
        let output = conn.output.get_or_insert_default();
        output.settle(settled);
        let idle = output.stage == Stage::Idle && output.left(settled) == 0;
        if open && idle && bytes.len() <= MOST_AT_ONCE {
            output.stage = Stage::Lent(blob, bytes.len());
            let entry = send_entry(handle, bytes);
            return self.push(&entry.user_data(tag(Op::Send, id)));
        }
        let bytes = std::mem::take(&mut self.blobs[blob.0 as usize]);
        self.send(id, &bytes);
        self.blobs[blob.0 as usize] = bytes;
    }

    /// Submits the output of a connection, unless some is in flight already; it then follows. False if
    /// that is not known.
    fn submit_output(&mut self, id: ConnId) -> bool {
        let (round, settled) = (self.round, self.settled);
        let Some(conn) = self.conns.get_mut(id) else { return true };
        let (handle, state) = (conn.handle(id), conn.state);
        let Some(output) = conn.output.as_deref_mut() else { return true };
        output.settle(settled);
        match output.stage {
            Stage::Tried(_) => return false,
            Stage::InFlight | Stage::Lent(..) => output.queued = false,
            Stage::Idle => {
                output.queued = false;
                output.advance();
                let left = &output.sending[output.sent..];
                if left.is_empty() {
                    return true;
                }
                let entry = if left.len() <= MOST_TRIED && state == ConnState::Open {
                    output.stage = Stage::Tried(round);
                    let entry = try_entry(handle, left).flags(Flags::SKIP_SUCCESS);
                    entry.user_data(tag(Op::Try, id))
                } else {
                    output.stage = Stage::InFlight;
                    send_entry(handle, left).user_data(tag(Op::Send, id))
                };
                self.push(&entry);
            }
        }
        true
    }

    /// A refusal: not all of what was tried has been taken.
    pub(super) fn refused<P: Handler<Self>>(&mut self, id: ConnId, result: i32, handler: &mut P) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if lasting(result) {
            return self.send_broke(id, -result, handler);
        }
        let handle = conn.handle(id);
        let Some(output) = conn.output.as_deref_mut() else { return };
        output.sent += result.max(0) as usize;
        output.stage = Stage::InFlight;
        let entry = send_entry(handle, &output.sending[output.sent..]);
        self.push(&entry.user_data(tag(Op::Send, id)));
    }

    /// All or some of what was in flight has been taken.
    pub(super) fn sent<P: Handler<Self>>(&mut self, id: ConnId, result: i32, handler: &mut P) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let Some(output) = conn.output.as_deref_mut() else { return };
        let stage = std::mem::take(&mut output.stage);
        if conn.state == ConnState::Zombie {
            return self.retire(id);
        }
        if lasting(result) {
            return self.send_broke(id, -result, handler);
        }
        let taken = result.max(0) as usize;
        match stage {
            Stage::Lent(blob, _) => output.copy_rest(&self.blobs[blob.0 as usize][taken..]),
            _ => output.sent += taken,
        }
        if output.left(self.settled) == 0 {
            return self.empty(id, handler);
        }
        if !std::mem::replace(&mut output.queued, true) {
            self.dirty.push(id);
        }
        if conn.want_drained {
            self.ready.push(id);
        }
    }

    /// A send failed. Where the peer is gone, what it sent before is read first: a server that refuses a long body responds at
    /// once and closes.
    fn send_broke<P: Handler<Self>>(&mut self, id: ConnId, errno: i32, handler: &mut P) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let gone = matches!(errno, libc::EPIPE | libc::ECONNRESET);
        let reads = conn.armed.is_some() && conn.receiving && !conn.eof;
        match &mut conn.output {
            Some(output) if gone && reads && conn.state == ConnState::Open => {
                output.failed = Some(errno);
            }
            _ => self.broke(id, Operation::Send, errno, handler),
        }
    }

    /// The peer of a connection that is being closed is to take what its socket has no room for.
    pub(super) fn await_taking(&mut self, id: ConnId) {
        let acknowledged = self.conns.get(id).and_then(Conn::acknowledged);
        self.lingering.add_unsent(clock::now(), id, acknowledged);
    }

    /// Resets connections that are being closed whose peers have taken next to nothing for long.
    pub(super) fn cut_off(&mut self, now: u64) {
        while let Some(unsent) = self.lingering.unsent(now) {
            let Some(conn) = self.conns.get(unsent.conn) else { continue };
            let waits = conn.state == ConnState::Flushing && conn.backlog(self.settled) > 0;
            if waits && !self.lingering.goes_on(now, unsent, conn.acknowledged()) {
                self.release(unsent.conn, Close::Reset);
            }
        }
    }

    /// Runs the action that was waiting for a connection's backlog to be empty.
    fn empty<P: Handler<Self>>(&mut self, id: ConnId, handler: &mut P) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if conn.state == ConnState::Flushing {
            self.end_flushed(id);
        } else if std::mem::take(&mut conn.want_drained) {
            let token = conn.token;
            handler.event(self, token, Event::Drained);
        }
    }

    /// Checks connections with an action pending for an empty backlog. Output in flight will complete
    /// by itself.
    pub(super) fn deliver_ready<P: Handler<Self>>(&mut self, handler: &mut P) {
        if self.ready.is_empty() {
            return;
        }
        std::mem::swap(&mut self.ready, &mut self.checked);
        let mut checked = std::mem::take(&mut self.checked);
        for id in checked.drain(..) {
            let Some(conn) = self.conns.get(id) else { continue };
            if conn.backlog(self.settled) == 0 {
                self.empty(id, handler);
            } else if !conn.output_in_flight() {
                self.ready.push(id);
            } else if conn.state == ConnState::Flushing {
                self.await_taking(id);
            }
        }
        self.checked = checked;
    }
}

/// Whether the result of a send is a permanent error.
pub(super) fn lasting(result: i32) -> bool {
    result < 0 && !matches!(-result, libc::EINTR | libc::EAGAIN)
}
