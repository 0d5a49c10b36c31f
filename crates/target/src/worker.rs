//! One thread of the server, as a [`Handler`]: the table of its connections, their events, and its
//! timers.
//!
//! Owns which connection an event belongs to, timers, and the pauses of `--stall-every`. `exchange` and
//! `slow_responses` handle an event for its connection.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Sender;

use model::Nanos;
use model::units::SECOND;
use net::{Close, ConnId, Event, Handler, Net, Next};

use crate::conn::{Conn, HELD_BYTES};
use crate::context::{ConnStatus, Context, Shared};
use crate::counters::Doing;

/// Connections of one thread at most; further ones are closed as they come.
pub(crate) const MOST_CONNECTIONS: usize = 1 << 20;
/// How often each connection is looked at, and after how many looks without anything new it is closed: in 5
/// minutes.
const LOOK_NS: Nanos = 30 * SECOND;
const LOOKS: u8 = 10;
/// The checks are spread over the time between two, so that none delays the thread.
const STEPS: usize = 30;

/// One thread of the server. Drive it on a net whose listener stands.
#[derive(Debug)]
pub struct Worker {
    pub(crate) context: Context,
    table: Vec<Option<Conn>>,
    free: Vec<u32>,
    /// The events during a pause, in order.
    stalled: VecDeque<Stalled>,
    patience_ns: Nanos,
    /// The part of the table that is looked at next, and when.
    look_step: usize,
    look_next_ns: Nanos,
    /// Signalled once the net is ready.
    started: Option<Sender<io::Result<()>>>,
}

#[derive(Debug)]
struct Stalled {
    token: u32,
    conn: ConnId,
    what: StalledEvent,
}

#[derive(Debug)]
enum StalledEvent {
    Received(Box<[u8]>),
    Eof,
    Drained,
}

impl Worker {
    /// The thread numbered `thread`, from 0. With `patience_ns` it checks that often whether to stop;
    /// `u64::MAX` runs until its net ends.
    ///
    /// # Panics
    /// When `shared` is for fewer threads.
    pub fn new(shared: Arc<Shared>, thread: usize, patience_ns: Nanos) -> Self {
        assert!(thread < shared.counts.len(), "thread {thread} of {}", shared.counts.len());
        let context = Context::new(shared, thread);
        Self {
            context,
            table: Vec::new(),
            free: Vec::new(),
            stalled: VecDeque::new(),
            patience_ns,
            look_step: 0,
            look_next_ns: 0,
            started: None,
        }
    }

    /// Signals `started` when the worker is driven for the first time.
    pub(crate) fn announcing(self, started: Sender<io::Result<()>>) -> Self {
        Self { started: Some(started), ..self }
    }

    #[inline]
    fn take<N: Net>(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        self.with(net, token, |context, net, conn| match event {
            Event::Received(bytes) => context.received(net, conn, bytes),
            Event::Eof => context.eof(net, conn),
            Event::Drained => context.drained(net, conn),
            Event::Failed(_) => ConnStatus::Gone,
            Event::Connected | Event::Skipped(_) => ConnStatus::Open,
        });
    }

    /// Applies `act` to a connection, and removes the connection if that ended it.
    #[inline]
    fn with<N: Net>(
        &mut self,
        net: &mut N,
        token: u32,
        act: impl FnOnce(&mut Context, &mut N, &mut Conn) -> ConnStatus,
    ) {
        let Some(Some(conn)) = self.table.get_mut(token as usize) else { return };
        match act(&mut self.context, net, conn) {
            ConnStatus::Open => self.context.note(net, conn),
            ConnStatus::Gone => {
                conn.clear_due(&mut self.context.timers);
                self.context.counts().turned(conn.doing, Doing::Waiting);
                self.context.counts().closed();
                self.table[token as usize] = None;
                self.free.push(token);
            }
        }
    }

    /// Keeps an event for the end of the pause that we are in, if we are, or for its turn after others
    /// that were kept. The end of a connection is handled at once.
    fn keep_for_later<N: Net>(&mut self, net: &mut N, token: u32, event: &Event<'_>) -> bool {
        let Some(stall) = self.context.shared.stall else { return false };
        let pausing = stall.until(self.context.shared.start_ns, net.now()).is_some();
        if !pausing && self.stalled.is_empty() {
            return false;
        }
        let Some(Some(conn)) = self.table.get_mut(token as usize) else { return false };
        let what = match event {
            Event::Received(bytes) => {
                conn.stalled_bytes += bytes.len();
                if conn.stalled_bytes >= HELD_BYTES {
                    conn.pause(net);
                }
                StalledEvent::Received((&**bytes).into())
            }
            Event::Eof => StalledEvent::Eof,
            Event::Drained => StalledEvent::Drained,
            Event::Failed(_) | Event::Connected | Event::Skipped(_) => return false,
        };
        self.stalled.push_back(Stalled { token, conn: conn.id, what });
        true
    }

    /// A pause is over: the kept events are handled now, in order.
    fn replay<N: Net>(&mut self, net: &mut N) {
        while let Some(Stalled { token, conn, what }) = self.stalled.pop_front() {
            match self.table.get_mut(token as usize) {
                Some(Some(known)) if known.id == conn => known.stalled_bytes = 0,
                _ => continue,
            }
            match what {
                StalledEvent::Received(mut bytes) => {
                    self.take(net, token, Event::Received(&mut bytes));
                }
                StalledEvent::Eof => self.take(net, token, Event::Eof),
                StalledEvent::Drained => self.take(net, token, Event::Drained),
            }
            self.with(net, token, |context, net, conn| context.resume(net, conn));
        }
    }

    /// Closes connections of the next part of the table on which nothing has happened for long: idle
    /// ones, bodies and handshakes that trickle, responses that the client does not read.
    fn close_the_still<N: Net>(&mut self, net: &mut N, now: Nanos) {
        if now < self.look_next_ns {
            return;
        }
        self.look_next_ns = now.saturating_add(LOOK_NS / STEPS as Nanos);
        let step = self.look_step;
        self.look_step = (step + 1) % STEPS;
        let [from, to] = [step, step + 1].map(|step| self.table.len() * step / STEPS);
        for token in from..to {
            self.with(net, token as u32, |_, net, conn| {
                if conn.looks_still() < LOOKS {
                    return ConnStatus::Open;
                }
                net.close(conn.id, Close::Reset);
                ConnStatus::Gone
            });
        }
    }

    fn do_what_is_due<N: Net>(&mut self, net: &mut N, now: Nanos) {
        while let Some(token) = self.context.timers.expired(now) {
            self.with(net, token, |context, net, conn| context.due(net, conn));
        }
        for token in std::mem::take(&mut self.context.again) {
            self.with(net, token, |context, net, conn| context.go_on(net, conn));
        }
    }
}

impl<N: Net> Handler<N> for Worker {
    fn accepted(&mut self, _net: &mut N, conn: ConnId) -> Option<u32> {
        if self.table.len() - self.free.len() >= MOST_CONNECTIONS {
            return None;
        }
        let tls = match &self.context.shared.identity {
            None => None,
            Some(identity) => Some(Box::new(identity.accept().ok()?)),
        };
        let token = self.free.pop().unwrap_or_else(|| {
            self.table.push(None);
            self.table.len() as u32 - 1
        });
        self.table[token as usize] = Some(Conn::new(conn, token, tls));
        self.context.counts().accepted();
        Some(token)
    }

    fn not_accepted(&mut self, _net: &mut N, _errno: i32) {
        self.context.counts().not_accepted();
    }

    #[inline]
    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        if self.context.shared.stall.is_some() && self.keep_for_later(net, token, &event) {
            return;
        }
        self.take(net, token, event);
    }

    fn tick(&mut self, net: &mut N) -> Next {
        if self.context.shared.stop.load(Relaxed) {
            return Next::Finished;
        }
        if let Some(started) = self.started.take() {
            // The starter waits for this; it cannot have gone away.
            let _ = started.send(Ok(()));
        }
        let now = net.now();
        let stop_check = now.saturating_add(self.patience_ns);
        if let Some(stall) = self.context.shared.stall {
            if let Some(end) = stall.until(self.context.shared.start_ns, now) {
                return Next::Wait(end.min(stop_check));
            }
            self.replay(net);
        }
        self.do_what_is_due(net, now);
        self.close_the_still(net, now);
        if !self.context.again.is_empty() {
            return Next::Wait(now);
        }
        Next::Wait(self.context.timers.next().min(stop_check))
    }
}
