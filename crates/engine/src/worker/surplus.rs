//! Surplus bytes, which no request asked for, and the time for which a worker listens for them after the last response.
//!
//! A surplus response that comes while another request is out cannot be distinguished from the response to it: each
//! response on the connection is then taken for that to the next request. Only at the end does it show, because one
//! response more than there were requests is left. So connections stay open for a while after the last response.

use model::interval::{Phase, WorkerUse};
use model::units::MILLISECOND;
use model::{ErrorClass, Nanos};
use net::{Close, Net, Next};

use super::{Worker, hand_over};
use crate::conn::ConnState;
use crate::recorder::{IntervalBuffers, WorkerInterval};

/// How a response begins.
const RESPONSE: &[u8] = b"HTTP/";
/// Where its status is.
const STATUS: std::ops::Range<usize> = 9..12;
/// What a server says that closes an idle connection (RFC 9110, 15.5.9).
const IDLE: &[u8] = b"408";
/// How long connections are listened to at the end: this many times as long as the last responses were
/// awaited, within bounds.
const LISTENING_TIMES: u64 = 2;
const LISTENING: (Nanos, Nanos) = (50 * MILLISECOND, 500 * MILLISECOND);

/// A worker that has counted everything, handed it over, and listens.
#[derive(Debug)]
pub(super) struct Listening {
    /// Number of the interval that it listens in.
    index: u32,
    since: Nanos,
    until: Nanos,
}

impl Worker {
    /// Bytes came without a request: the connection cannot be trusted with another one.
    #[cold]
    pub(super) fn unsolicited<N: Net>(&mut self, net: &mut N, j: u32, bytes: &[u8], now: Nanos) {
        let other = self.other_protocol(bytes);
        if other.is_none() {
            self.count_surplus(bytes);
        }
        self.recorder.keep_sample(ErrorClass::Protocol, || match other {
            Some(other) => other.to_owned(),
            None => format!("the server sent {} unsolicited bytes", bytes.len()),
        });
        self.close(net, j, now, Close::Now);
        self.reopenable(j);
        self.serve_arrivals(net, now);
    }

    /// More bytes came behind the only response due on `j`. Which of them is the response cannot be
    /// known, and the next request must not be sent before this is handled, or the rest would pass for
    /// its response.
    #[cold]
    pub(super) fn responded_twice<N: Net>(&mut self, net: &mut N, j: u32, rest: &[u8], now: Nanos) {
        self.count_surplus(rest);
        let n = rest.len();
        let error = format!("after its response the server sent {n} unsolicited bytes");
        self.broken(net, j, ErrorClass::Protocol, &error, now);
    }

    /// A response came to a request that had not left: an earlier one had two responses.
    #[cold]
    pub(super) fn unasked<N: Net>(&mut self, net: &mut N, j: u32, bytes: &[u8], now: Nanos) {
        let other = self.other_protocol(bytes);
        if other.is_none() {
            self.count_surplus(bytes);
        }
        let error = other.unwrap_or("the server sent more responses than there were requests");
        self.broken(net, j, ErrorClass::Protocol, error, now);
    }

    /// Counts a connection on which these bytes came that nothing was asked for. Empty lines answer nothing, and
    /// who closes an idle connection may say so.
    #[cold]
    pub(super) fn count_surplus(&mut self, bytes: &[u8]) {
        let begins = &bytes[..bytes.len().min(RESPONSE.len())];
        let tally = &mut self.recorder.tally;
        if bytes.iter().all(|byte| matches!(byte, b'\r' | b'\n')) || bytes.get(STATUS) == Some(IDLE)
        {
            return;
        }
        if RESPONSE.starts_with(begins) {
            tally.surplus_responses += 1;
        } else {
            tally.unsolicited += 1;
        }
    }

    /// All is counted, and `part` holds the last of it: hands it over, since what the machine did is read with it, and listens on
    /// connections that have had all their responses.
    pub(super) fn listen<N: Net>(&mut self, net: &mut N, part: WorkerInterval, now: Nanos) -> Next {
        let awaited = match self.job.plan.duration_ns {
            _ if self.run.stopped => 0,
            Some(_) => now.saturating_sub(self.recorder.window_end()),
            None => self.longest_wait(now),
        };
        let listening = awaited.saturating_mul(LISTENING_TIMES).clamp(LISTENING.0, LISTENING.1);
        self.run.end_measuring();
        let (index, until) = (part.index + 1, now.saturating_add(listening));
        self.listening = Some(Listening { index, since: part.end_ns, until });
        hand_over(&self.job, Some(part));
        self.go_on_listening(net)
    }

    /// How long ago the last request on an open connection was sent, at most.
    fn longest_wait(&self, now: Nanos) -> Nanos {
        let open = (0..self.conns.count()).filter(|&j| self.conns[j].state == ConnState::Open);
        open.map(|j| now.saturating_sub(self.conns.last_sent(j))).max().unwrap_or(0)
    }

    /// Listens until it is time to end, or no connection is left; then hands over what it heard.
    #[cold]
    pub(super) fn go_on_listening<N: Net>(&mut self, net: &mut N) -> Next {
        let now = self.run.now(net);
        let Some(Listening { until, .. }) = self.listening else { return Next::Finished };
        if now < until && self.recorder.open.value() > 0 {
            return Next::Wait(self.run.on_net_clock(until));
        }
        if let Some(listening) = self.listening.take() {
            if let Some(part) = self.heard(&listening, now) {
                hand_over(&self.job, Some(part));
            }
            hand_over(&self.job, None);
        }
        Next::Finished
    }

    /// The surplus that came by `now`, if any did, as an interval of the drain with nothing else in it.
    fn heard(&self, listening: &Listening, now: Nanos) -> Option<WorkerInterval> {
        let heard = &self.recorder.tally;
        let surplus = (heard.surplus_responses, heard.unsolicited);
        if surplus == (0, 0) {
            return None;
        }
        let mut buffers = IntervalBuffers::default();
        (buffers.tally.surplus_responses, buffers.tally.unsolicited) = surplus;
        let Listening { index, since, .. } = *listening;
        Some(WorkerInterval {
            index,
            phase: Phase::Drain,
            start_ns: since,
            end_ns: now.max(since),
            due: 0,
            slices: Vec::new(),
            buffers,
            used: WorkerUse::default(),
        })
    }
}
