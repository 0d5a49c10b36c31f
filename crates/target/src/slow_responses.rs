//! Responses that take time: delays and queues, streamed bodies, and the slow kinds of misbehaviour.
//!
//! Each step ends in a [`Flow`], and [`Context::settle`] turns it into the connection's status.

use std::sync::atomic::Ordering::Relaxed;

use model::Nanos;
use model::units::MILLISECOND;
use net::{Close, Net};
use wire::Framing;

use crate::conn::{Conn, Job, Task};
use crate::context::{ConnStatus, Context};
use crate::counters::Kind;
use crate::exchange::{BACKLOG_BYTES, Flow, HEAD_PATIENCE_NS};
use crate::fault::ENDLESS_BLOCK;
use crate::response::{self, ResponseMode};

/// A block of a body of `/bytes/{n}`.
static BLOCK: [u8; 64 * 1024] = [b'x'; 64 * 1024];

/// Blocks of one body sent before others get their turn.
const BLOCKS_A_TURN: usize = 16;
const DRIP_NS: Nanos = 100 * MILLISECOND;
const ENDLESS_NS: Nanos = 10 * MILLISECOND;

impl Task {
    /// Whether it ends only with the connection.
    pub(crate) fn is_endless(self) -> bool {
        matches!(self, Self::Hang | Self::Endless { .. })
    }
}

impl Context {
    /// The timer of a connection has fired.
    pub(crate) fn due<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> ConnStatus {
        conn.came_due();
        let Some(Job { task, mode }) = conn.job else { return self.head_overdue(net, conn) };
        let flow = match task {
            Task::Respond => {
                conn.job = None;
                self.out.extend_from_slice(self.shared.usual.bytes(mode));
                self.ended(net, conn, mode)
            }
            Task::Drip { next } => self.drip(net, conn, next, mode),
            Task::Endless { left } => self.endless(net, conn, left, mode),
            Task::Stream { .. } | Task::Hang => Flow::Busy,
        };
        self.settle(net, conn, flow)
    }

    /// Everything handed to the net is out.
    pub(crate) fn drained<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> ConnStatus {
        conn.choked = false;
        conn.moved();
        self.go_on(net, conn)
    }

    /// Another turn for a connection.
    pub(crate) fn go_on<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> ConnStatus {
        match conn.job {
            _ if conn.choked => ConnStatus::Open,
            Some(Job { task: Task::Stream { left }, mode }) => {
                let flow = self.pump(net, conn, left, mode);
                self.settle(net, conn, flow)
            }
            _ => self.resume(net, conn),
        }
    }

    fn settle<N: Net>(&mut self, net: &mut N, conn: &mut Conn, flow: Flow) -> ConnStatus {
        if flow == Flow::Gone {
            return ConnStatus::Gone;
        }
        self.flush(net, conn);
        self.resume(net, conn)
    }

    /// The body of `/bytes/{n}`: its head, and as much of the rest as goes out now.
    pub(crate) fn stream<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        bytes: u64,
        mode: ResponseMode,
    ) -> Flow {
        let headers = [("Content-Type", "application/octet-stream")];
        response::head(&mut self.out, 200, &headers, Framing::Length(bytes), mode.keep);
        let left = if mode.head_only { 0 } else { bytes };
        self.pump(net, conn, left, mode)
    }

    fn pump<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        mut left: u64,
        mode: ResponseMode,
    ) -> Flow {
        self.flush(net, conn);
        for _ in 0..BLOCKS_A_TURN {
            if left == 0 {
                conn.job = None;
                return self.ended(net, conn, mode);
            }
            if conn.choked {
                return self.go(conn, Task::Stream { left }, mode);
            }
            let block = &BLOCK[..left.min(BLOCK.len() as u64) as usize];
            self.send_block(net, conn, block);
            left -= block.len() as u64;
        }
        self.again.push(conn.token);
        self.go(conn, Task::Stream { left }, mode)
    }

    fn send_block<N: Net>(&mut self, net: &mut N, conn: &mut Conn, block: &[u8]) {
        conn.moved();
        match conn.tls.as_mut() {
            None => net.send(conn.id, block),
            Some(tls) => {
                tls.encrypt(block);
                self.send_records(net, conn);
            }
        }
        if net.backlog(conn.id) > BACKLOG_BYTES && !conn.choked {
            conn.choked = true;
            net.want_drained(conn.id);
        }
    }

    fn drip<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        next: usize,
        mode: ResponseMode,
    ) -> Flow {
        let bytes = self.shared.usual.bytes(mode);
        self.out.push(bytes[next]);
        if next + 1 == bytes.len() {
            conn.job = None;
            return self.ended(net, conn, mode);
        }
        conn.set_due(&mut self.timers, net.now() + DRIP_NS);
        self.go(conn, Task::Drip { next: next + 1 }, mode)
    }

    fn endless<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        left: u64,
        mode: ResponseMode,
    ) -> Flow {
        if left == 0 {
            return self.close(net, conn, Close::Now);
        }
        conn.set_due(&mut self.timers, net.now() + ENDLESS_NS);
        if net.backlog(conn.id) > BACKLOG_BYTES {
            return Flow::Busy;
        }
        self.out.extend_from_slice(&ENDLESS_BLOCK);
        self.go(conn, Task::Endless { left: left - ENDLESS_BLOCK.len() as u64 }, mode)
    }

    /// A head that began a while ago has not ended: the client trickles it on purpose, or is gone.
    fn head_overdue<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> ConnStatus {
        if conn.exchange.is_some() || conn.overdue_after != conn.responses {
            // It ended, and a body is being read or another head has begun.
            conn.set_due(&mut self.timers, net.now() + HEAD_PATIENCE_NS);
            conn.overdue_after = conn.responses;
            return ConnStatus::Open;
        }
        self.counts().request(Kind::Malformed);
        self.refuse(net, conn, 408, "the head of the request did not arrive in time");
        ConnStatus::Gone
    }

    /// Keeps the processor busy for `ns` of this thread's processor time. The whole thread waits for it,
    /// as it would for a handler that computes; only the end of the server cuts it short.
    pub(crate) fn burn(&self, ns: Nanos) {
        let end = net::clock::thread_cpu() + ns;
        while net::clock::thread_cpu() < end && !self.shared.stop.load(Relaxed) {
            std::hint::spin_loop();
        }
    }
}
