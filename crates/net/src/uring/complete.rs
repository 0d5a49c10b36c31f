//! Turns the kernel's completions into a handler's events.

use std::net::Shutdown;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use io_uring::cqueue;

use super::entry::{Op, untag};
use super::output::lasting;
use super::{ConnState, Uring};
use crate::{Close, ConnId, Event, Failure, Handler, Net, Operation, clock, socket};

/// Completions handled before the handler gets to tick.
const BATCH: usize = 1024;
/// Pause after a peer could not be accepted (no file left).
const ACCEPT_PAUSE_NS: u64 = 100_000_000;

impl Uring {
    /// Handles the completions that are there now; those that come in the meantime are another batch.
    /// All refusals of output tried in rounds up to `round` are among them.
    pub(super) fn complete<P: Handler<Self>>(&mut self, round: u64, handler: &mut P) {
        let looked = self.batch;
        let there = self.ring.completion().len();
        let submission = self.ring.submission();
        let (more, overflown) = (submission.taskrun(), submission.cq_overflow());
        drop(submission);
        let all = there <= BATCH && !overflown;
        let more = more && self.looks.was_there(there);
        self.taken = there.min(BATCH);
        let mut batch = std::mem::take(&mut self.completions);
        batch.extend(self.ring.completion().take(self.taken));
        // Refusals go first: then all other output is known to have left, so that what handlers send on
        // the same connections need not wait for the end of the batch.
        if self.round > self.settled {
            for entry in batch.iter().filter(|entry| is_refusal(entry)) {
                self.refused(untag(entry.user_data()).1, entry.result(), handler);
            }
        }
        if all {
            self.settled = round;
        }
        for entry in batch.drain(..) {
            if !is_refusal(&entry) {
                self.completed(&entry, handler);
            }
        }
        self.completions = batch;
        self.read_all(handler);
        let left_behind = more || !all || self.buffers.have_run_out() || !self.reads.none();
        self.looks.over(looked, left_behind);
    }

    #[inline]
    fn completed<P: Handler<Self>>(&mut self, entry: &cqueue::Entry, handler: &mut P) {
        let (op, id) = untag(entry.user_data());
        let (result, flags) = (entry.result(), entry.flags());
        match op {
            op if op == Op::Receive as u8 => self.received(id, result, flags, handler),
            op if op == Op::Readable as u8 => self.readable(id, result, flags),
            op if op == Op::Try as u8 => self.refused(id, result, handler),
            op if op == Op::Send as u8 => self.sent(id, result, handler),
            op if op == Op::SendBlob as u8 => self.blob_failed(id, result, handler),
            op if op == Op::Connect as u8 => self.connected(id, result, handler),
            op if op == Op::Accept as u8 => self.accepted(result, flags, handler),
            _ => {}
        }
    }

    fn received<P: Handler<Self>>(&mut self, id: ConnId, result: i32, flags: u32, handler: &mut P) {
        let buffer = cqueue::buffer_select(flags);
        if let Some(conn) = self.conns.get_mut(id) {
            let over = !cqueue::more(flags);
            if over {
                conn.armed = None;
            }
            let (token, delivering) = (conn.token, conn.state == ConnState::Open);
            match (result, buffer) {
                (1.., Some(index)) => {
                    if conn.long.skips {
                        self.reads.skip_of(id).delivers(result as usize);
                    }
                    if delivering {
                        // SAFETY: this completion names the buffer, which is given back below, after
                        // the handler has returned.
                        let bytes = unsafe { self.buffers.lend(index, result as usize) };
                        handler.event(self, token, Event::Received(bytes));
                    }
                    self.note_length(id, result as usize);
                    if over {
                        self.arm_receive(id);
                    }
                }
                (0, _) if delivering => self.ended(id, token, handler),
                (0, _) => self.peer_closed(id),
                // No buffer was free, or receiving was paused: neither is the connection's end.
                _ if matches!(-result, libc::ENOBUFS | libc::ECANCELED | libc::EINTR) => {
                    if result == -libc::ENOBUFS {
                        self.buffers.ran_out();
                    }
                    self.arm_receive(id);
                }
                _ => self.broke(id, Operation::Receive, -result, handler),
            }
        }
        if let Some(index) = buffer {
            self.buffers.give(index);
        }
    }

    fn blob_failed<P: Handler<Self>>(&mut self, id: ConnId, result: i32, handler: &mut P) {
        if result < 0 {
            self.broke(id, Operation::Send, -result, handler);
        }
    }

    fn connected<P: Handler<Self>>(&mut self, id: ConnId, result: i32, handler: &mut P) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if result < 0 {
            return self.broke(id, Operation::Connect, -result, handler);
        }
        conn.state = ConnState::Open;
        let token = conn.token;
        self.arm_receive(id);
        handler.event(self, token, Event::Connected);
    }

    fn accepted<P: Handler<Self>>(&mut self, result: i32, flags: u32, handler: &mut P) {
        if result >= 0 {
            // SAFETY: the completion hands over a descriptor that has no other owner.
            let fd = unsafe { OwnedFd::from_raw_fd(result) };
            socket::no_delay(fd.as_raw_fd());
            let id = self.insert(fd, ConnState::Open, u32::MAX);
            match handler.accepted(self, id) {
                Some(token) => {
                    if let Some(conn) = self.conns.get_mut(id) {
                        conn.token = token;
                        self.arm_receive(id);
                    }
                }
                None => self.close(id, Close::Now),
            }
        }
        if !cqueue::more(flags) {
            let passing = matches!(
                -result,
                i32::MIN..=0 | libc::EINTR | libc::EAGAIN | libc::ECONNABORTED | libc::ECANCELED
            );
            if passing || self.listener.is_none() {
                self.arm_accept();
            } else {
                self.accept_at = clock::now() + ACCEPT_PAUSE_NS;
                handler.not_accepted(self, -result);
            }
        }
    }

    /// Ends a connection that failed and reports it to the handler, unless the handler has closed it
    /// itself.
    pub(super) fn broke<P: Handler<Self>>(
        &mut self,
        id: ConnId,
        during: Operation,
        errno: i32,
        handler: &mut P,
    ) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        let (token, state) = (conn.token, conn.state);
        self.release(id, Close::Now);
        if matches!(state, ConnState::Open | ConnState::Connecting) {
            handler.event(self, token, Event::Failed(Failure { during, errno }));
        }
    }

    /// The output of a connection that the handler has closed is out: send a FIN and wait for the peer's.
    pub(super) fn end_flushed(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(id) else { return };
        socket::shutdown(conn.fd.as_raw_fd(), Shutdown::Write);
        if conn.armed.is_some() {
            self.lingering.add_closed(clock::now(), id);
        } else {
            // The peer may have closed already, and nothing would report it.
            self.release(id, Close::Now);
        }
    }

    /// The peer of an open connection sends no more.
    pub(super) fn ended<P: Handler<Self>>(&mut self, id: ConnId, token: u32, handler: &mut P) {
        let Some(conn) = self.conns.get_mut(id) else { return };
        if let Some(errno) = conn.output.as_ref().and_then(|output| output.failed) {
            return self.broke(id, Operation::Send, errno, handler);
        }
        conn.eof = true;
        handler.event(self, token, Event::Eof);
    }

    pub(super) fn peer_closed(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(id) else { return };
        if conn.state == ConnState::Flushing && conn.backlog(self.settled) == 0 {
            self.release(id, Close::Now);
        }
    }

    /// Ends connections whose peers never closed or read, and accepts again after a pause.
    pub(super) fn expire(&mut self) {
        if self.lingering.next() == u64::MAX && self.accept_at == u64::MAX {
            return;
        }
        let now = clock::now();
        while let Some(id) = self.lingering.expired(now) {
            self.release(id, Close::Now);
        }
        self.cut_off(now);
        if self.accept_at <= now {
            self.arm_accept();
        }
    }
}

/// Whether it is a refusal: output that was tried has not been taken, or not all of it.
#[inline]
fn is_refusal(entry: &cqueue::Entry) -> bool {
    untag(entry.user_data()).0 == Op::Try as u8 && !lasting(entry.result())
}
