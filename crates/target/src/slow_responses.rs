//! Responses that take time: delays and queues, streamed bodies, and the slow kinds of misbehaviour.
//!
//! Each step ends in a [`Flow`], and [`Context::settle`] turns it into what becomes of the connection.

use std::sync::atomic::Ordering::Relaxed;

use model::Nanos;
use model::units::MILLISECOND;
use net::{Close, Net};
use wire::Framing;

use crate::conn::{Conn, Job, Task};
use crate::context::{Context, Fate};
use crate::counters::Kind;
use crate::exchange::{BACKLOG_BYTES, Flow, HEAD_PATIENCE_NS};
use crate::fault::ENDLESS_BLOCK;
use crate::response::{self, Manner};

/// What bodies of `/bytes/{n}` are made of.
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
    /// A connection's instant has come.
    pub(crate) fn due<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> Fate {
        conn.came_due();
        let Some(Job { task, manner }) = conn.job else { return self.head_overdue(net, conn) };
        let flow = match task {
            Task::Respond => {
                conn.job = None;
                self.out.extend_from_slice(self.shared.usual.bytes(manner));
                self.ended(net, conn, manner)
            }
            Task::Drip { next } => self.drip(net, conn, next, manner),
            Task::Endless { left } => self.endless(net, conn, left, manner),
            Task::Stream { .. } | Task::Hang => Flow::Busy,
        };
        self.settle(net, conn, flow)
    }

    /// Everything handed to the net is out.
    pub(crate) fn drained<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> Fate {
        conn.choked = false;
        conn.moved();
        self.go_on(net, conn)
    }

    /// Another turn for a connection.
    pub(crate) fn go_on<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> Fate {
        match conn.job {
            _ if conn.choked => Fate::Open,
            Some(Job { task: Task::Stream { left }, manner }) => {
                let flow = self.pump(net, conn, left, manner);
                self.settle(net, conn, flow)
            }
            _ => self.resume(net, conn),
        }
    }

    fn settle<N: Net>(&mut self, net: &mut N, conn: &mut Conn, flow: Flow) -> Fate {
        if flow == Flow::Gone {
            return Fate::Gone;
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
        manner: Manner,
    ) -> Flow {
        let headers = [("Content-Type", "application/octet-stream")];
        response::head(&mut self.out, 200, &headers, Framing::Length(bytes), manner.keep);
        let left = if manner.head_only { 0 } else { bytes };
        self.pump(net, conn, left, manner)
    }

    fn pump<N: Net>(
        &mut self,
        net: &mut N,
        conn: &mut Conn,
        mut left: u64,
        manner: Manner,
    ) -> Flow {
        self.flush(net, conn);
        for _ in 0..BLOCKS_A_TURN {
            if left == 0 {
                conn.job = None;
                return self.ended(net, conn, manner);
            }
            if conn.choked {
                return self.go(conn, Task::Stream { left }, manner);
            }
            let block = &BLOCK[..left.min(BLOCK.len() as u64) as usize];
            self.send_block(net, conn, block);
            left -= block.len() as u64;
        }
        self.again.push(conn.token);
        self.go(conn, Task::Stream { left }, manner)
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

    fn drip<N: Net>(&mut self, net: &mut N, conn: &mut Conn, next: usize, manner: Manner) -> Flow {
        let bytes = self.shared.usual.bytes(manner);
        self.out.push(bytes[next]);
        if next + 1 == bytes.len() {
            conn.job = None;
            return self.ended(net, conn, manner);
        }
        conn.set_due(&mut self.timers, net.now() + DRIP_NS);
        self.go(conn, Task::Drip { next: next + 1 }, manner)
    }

    fn endless<N: Net>(&mut self, net: &mut N, conn: &mut Conn, left: u64, manner: Manner) -> Flow {
        if left == 0 {
            return self.close(net, conn, Close::Now);
        }
        conn.set_due(&mut self.timers, net.now() + ENDLESS_NS);
        if net.backlog(conn.id) > BACKLOG_BYTES {
            return Flow::Busy;
        }
        self.out.extend_from_slice(&ENDLESS_BLOCK);
        self.go(conn, Task::Endless { left: left - ENDLESS_BLOCK.len() as u64 }, manner)
    }

    /// A head that began a while ago has not ended: the client trickles it on purpose, or is gone.
    fn head_overdue<N: Net>(&mut self, net: &mut N, conn: &mut Conn) -> Fate {
        if conn.exchange.is_some() || conn.overdue_after != conn.responses {
            // It ended, and a body is being read or another head has begun.
            conn.set_due(&mut self.timers, net.now() + HEAD_PATIENCE_NS);
            conn.overdue_after = conn.responses;
            return Fate::Open;
        }
        self.counts().request(Kind::Malformed);
        self.refuse(net, conn, 408, "the head of the request did not arrive in time");
        Fate::Gone
    }

    /// Keeps the processor busy for so much of this thread's time. The whole thread waits for it,
    /// as it would for a handler that computes; only the end of the server cuts it short.
    pub(crate) fn burn(&self, ns: Nanos) {
        let end = net::clock::thread_cpu() + ns;
        while net::clock::thread_cpu() < end && !self.shared.stop.load(Relaxed) {
            std::hint::spin_loop();
        }
    }
}
