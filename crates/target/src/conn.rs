//! The state of one connection.

use model::Nanos;
use net::{ConnId, Net};
use tls::Tls;
use wire::{Limits, RequestParser};

use crate::counters::Doing;
use crate::response::ResponseMode;
use crate::route::Route;
use crate::timers::Timers;

/// Bytes of input kept for a connection that is busy with a response; beyond it, receiving stops.
pub(crate) const HELD_BYTES: usize = 64 * 1024;

/// The head of a request, and its lines. Larger ones are refused.
const LIMITS: Limits = Limits { head_bytes: 32 * 1024, headers: 128 };

/// One connection.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) id: ConnId,
    pub(crate) token: u32,
    pub(crate) parser: RequestParser,
    /// The request whose body is being read.
    pub(crate) exchange: Option<Exchange>,
    /// The response that takes time.
    pub(crate) job: Option<Job>,
    /// Input to be read once the response has been made: plaintext.
    pub(crate) held: Vec<u8>,
    pub(crate) tls: Option<Box<Tls>>,
    /// Responses made or begun.
    pub(crate) responses: u64,
    /// Its instant among the timers; `u64::MAX` when it has none.
    due_ns: Nanos,
    pub(crate) doing: Doing,
    /// The client will send no more.
    pub(crate) eof: bool,
    /// Responses pile up that the client does not read: no more are made until they are gone.
    pub(crate) choked: bool,
    /// Receiving was switched off.
    pub(crate) paused: bool,
    /// Bytes that came during a pause of the server and wait for its end.
    pub(crate) stalled_bytes: usize,
    /// How often part of a response was sent, or taken by the client.
    pub(crate) moves: u32,
    /// The value of [`Conn::stamp`] at the last check, and for how many checks it has been so.
    seen: u32,
    still: u8,
    /// The number of heads that had ended when the timer for the next one was set.
    pub(crate) overdue_after: u64,
}

/// A request between its head and its end.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) route: Route,
    pub(crate) mode: ResponseMode,
}

/// A response that takes time, and its mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) mode: ResponseMode,
}

/// What is still to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// The usual response, when the timer fires.
    Respond,
    /// So many bytes of a body, as fast as they are taken.
    Stream { left: u64 },
    /// The usual response from this byte on, one byte at each timer.
    Drip { next: usize },
    /// Header lines forever, a block at each timer.
    Endless { left: u64 },
    /// Nothing.
    Hang,
}

impl Conn {
    pub(crate) fn new(id: ConnId, token: u32, tls: Option<Box<Tls>>) -> Self {
        Self {
            id,
            token,
            parser: RequestParser::new(LIMITS),
            exchange: None,
            job: None,
            held: Vec::new(),
            tls,
            responses: 0,
            due_ns: u64::MAX,
            doing: Doing::Waiting,
            eof: false,
            choked: false,
            paused: false,
            stalled_bytes: 0,
            moves: 0,
            seen: 0,
            still: 0,
            overdue_after: 0,
        }
    }

    /// Part of a response is on its way.
    #[inline]
    pub(crate) fn moved(&mut self) {
        self.moves = self.moves.wrapping_add(1);
    }

    /// Checks whether a request has begun or a response has made progress since the last check. Returns
    /// for how many checks nothing has. A response that is due at an instant counts as progress.
    pub(crate) fn looks_still(&mut self) -> u8 {
        let stamp = (self.responses as u32).wrapping_add(self.moves);
        let awaited = self.job.is_some_and(|job| job.task == Task::Respond);
        self.still = if stamp == self.seen && !awaited { self.still.saturating_add(1) } else { 0 };
        self.seen = stamp;
        self.still
    }

    /// Whether input has to wait.
    #[inline]
    pub(crate) fn busy(&self) -> bool {
        self.job.is_some() || self.choked
    }

    /// Keeps input for later, and the client from sending much more of it.
    pub(crate) fn hold<N: Net>(&mut self, net: &mut N, input: &[u8]) {
        self.held.extend_from_slice(input);
        if self.held.len() >= HELD_BYTES {
            self.pause(net);
        }
    }

    pub(crate) fn pause<N: Net>(&mut self, net: &mut N) {
        if !self.paused {
            self.paused = true;
            net.set_receiving(self.id, false);
        }
    }

    pub(crate) fn receive_again<N: Net>(&mut self, net: &mut N) {
        if self.paused {
            self.paused = false;
            net.set_receiving(self.id, true);
        }
    }

    /// Makes the connection due at an instant, instead of any earlier one.
    pub(crate) fn set_due(&mut self, timers: &mut Timers, at: Nanos) {
        self.clear_due(timers);
        timers.set(at, self.token);
        self.due_ns = at;
    }

    pub(crate) fn clear_due(&mut self, timers: &mut Timers) {
        if self.due_ns != u64::MAX {
            timers.clear(self.due_ns, self.token);
            self.due_ns = u64::MAX;
        }
    }

    /// Its timer has fired and is gone.
    pub(crate) fn came_due(&mut self) {
        self.due_ns = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_stays_small() {
        assert!(size_of::<Conn>() <= 320, "{}", size_of::<Conn>());
    }
}
