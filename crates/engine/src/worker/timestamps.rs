//! When requests were handed to the kernel, and when responses were taken in.
//!
//! Instants are the net's, one for each batch. A request that was made is listed here until the net says that
//! everything sent so far was handed over; then all listed requests get that instant as `sent`, before any
//! response to them can be read. Responses are `done` when their batch was taken in.
//!
//! A batch that takes long is handed over in parts, so that the requests that follow its first responses do
//! not wait for those that follow its last ones.

use model::Nanos;
use net::{Net, Taken};
use traffic::{Part, Payload, Wants};

use super::Worker;

/// How long a request may wait to be handed over while others are made.
const OLD: Nanos = 100_000;
/// Requests that are made between two readings of the clock, if making them costs next to nothing.
const READ_CLOCK_EVERY: u32 = 16;
/// Events after which the clock is read again; so few take no time that matters.
const FEW: u32 = 2;

/// The instants of the last batches, out and in. Instants are nanoseconds since the run's start.
#[derive(Debug, Default)]
pub(super) struct Timestamps {
    /// Places of requests that were made and not handed over.
    made: Vec<u32>,
    /// When the source was called for the first of them.
    oldest: Nanos,
    /// The net's last hand-over that was handled.
    nth: u64,
    /// The batch that responses are counted for.
    batch: Taken,
    /// Events in it.
    events: u32,
    /// The last known instant.
    now: Nanos,
    /// Requests made since the clock was read.
    since_reading: u32,
}

impl Timestamps {
    /// The run has started: no instant since is known yet, and earlier ones count from before.
    pub(super) fn start(&mut self) {
        self.now = 0;
    }

    /// The last known instant, but at least `now`.
    #[inline]
    pub(super) fn lately(&self, now: Nanos) -> Nanos {
        self.now.max(now)
    }
}

impl Worker {
    /// An event is handed in; the instant that it was taken in.
    #[inline]
    pub(super) fn begin_event<N: Net>(&mut self, net: &N) -> Nanos {
        let batch = net.taken_in();
        if batch != self.timestamps.batch {
            self.recorder.observed(self.timestamps.batch.waited_ns);
            self.timestamps.batch = batch;
            self.timestamps.events = 0;
            if self.run.measuring {
                self.notice_stop(net);
            }
        }
        self.timestamps.events += 1;
        self.stamp(net);
        self.run.instant(batch.at)
    }

    /// A batch has been handled, or there was none. Returns the instant, or one shortly before it.
    pub(super) fn end_batch<N: Net>(&mut self, net: &N) -> Nanos {
        let batch = net.taken_in();
        self.recorder.observed(self.timestamps.batch.waited_ns);
        self.stamp(net);
        let taken = self.run.instant(batch.at);
        let just_taken = batch != self.timestamps.batch || self.timestamps.events <= FEW;
        let now = if just_taken { taken.max(self.timestamps.now) } else { self.run.now(net) };
        self.timestamps.batch = batch;
        self.timestamps.events = FEW + 1;
        self.timestamps.now = now;
        now
    }

    /// Sets the instant of the requests that the net has handed over since the last call.
    #[inline]
    fn stamp<N: Net>(&mut self, net: &N) {
        let handed = net.handed_over();
        if handed.nth != self.timestamps.nth {
            self.timestamps.nth = handed.nth;
            self.left(self.run.instant(handed.at));
        }
    }

    /// All requests made so far left at `at`.
    fn left(&mut self, at: Nanos) {
        let mut requests = 0;
        for place in self.timestamps.made.drain(..) {
            let flight = self.conns.at_place(place);
            if !flight.handed {
                (flight.handed, flight.sent) = (true, at);
                requests += 1;
            }
        }
        self.recorder.handed_over(requests, at);
    }

    /// The hello of connection `j` was made, and its handshake begins when it leaves: at once, so that neither this one's
    /// making nor that of others in the same batch counts as the server's time.
    pub(super) fn greeted<N: Net>(&mut self, net: &mut N, j: u32) {
        net.hand_over();
        self.stamp(net);
        self.timestamps.now = self.run.instant(net.handed_over().at);
        self.conns[j].began = self.timestamps.now;
    }

    /// `parts` were made for user `j` in its turn at `now`, and are with the net.
    #[inline]
    pub(super) fn launched<N: Net>(&mut self, net: &mut N, j: u32, parts: &[Part], now: Nanos) {
        // Earlier requests may have been handed over to make room for them.
        self.stamp(net);
        if self.timestamps.made.is_empty() {
            self.timestamps.oldest = now;
        }
        let conn = &self.conns[j];
        let (in_flight, tls) = (conn.in_flight, conn.tls.is_some());
        for further in in_flight - parts.len() as u16..in_flight {
            self.timestamps.made.push(self.conns.place(j, further));
        }
        let handed = net.handed_over();
        if !handed.left {
            self.left(self.run.instant(handed.at).max(now));
        }
        let cheap =
            |part: &Part| matches!(part.payload, Payload::Fixed(_)) && part.wants == Wants::Nothing;
        self.timestamps.since_reading += 1;
        if self.timestamps.since_reading >= READ_CLOCK_EVERY || tls || !parts.iter().all(cheap) {
            self.read_clock(net);
        }
    }

    /// Reads the clock, and hands over requests that have waited for long.
    fn read_clock<N: Net>(&mut self, net: &mut N) {
        self.timestamps.since_reading = 0;
        self.timestamps.now = self.run.now(net);
        if !self.timestamps.made.is_empty()
            && self.timestamps.now.saturating_sub(self.timestamps.oldest) >= OLD
        {
            net.hand_over();
            self.stamp(net);
        }
    }
}
