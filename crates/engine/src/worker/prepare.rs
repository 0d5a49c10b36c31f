//! Before the run's start: a closed loop opens its connections, so that opening them is not part of the
//! window. With a ramp, users open their connections as they start; an open loop opens connections as arrivals
//! need them.

use net::{Net, Next};

use super::{Pace, Worker};
use crate::timeouts::Timeouts;

/// Connections being opened at once by one worker: more would overrun the server's accept queue and
/// wait for retransmissions.
const OPENING_AT_ONCE: u32 = 256;
/// Connections opened between two looks at the kernel: making the others would be in the time that each takes.
const TOGETHER: u32 = 8;
/// How often the barrier is checked.
const LOOK_EVERY: u64 = 1_000_000;
/// The longest that opening may take; users not connected by then connect inside the window.
pub const OPEN_WITHIN: u64 = 60_000_000_000;
/// The longest that opening may go on while no connection opens. A SYN that was lost is repeated after one second, and
/// again after three.
const STALLED: u64 = 4_000_000_000;

impl Worker {
    /// One step towards the start. Instants count from the first step until the start is known.
    pub(super) fn prepare<N: Net>(&mut self, net: &mut N) -> Next {
        if self.run.begin_clock(net.now()) && self.conns.one_at_a_time() && self.job.tls.is_none() {
            self.outgoing.lend(net);
        }
        let opens = matches!(self.pace, Pace::Closed { .. }) && self.job.plan.ramp_ns == 0;
        let users = if opens { self.conns.count() } else { 0 };
        let mut opened = 0;
        while opened < TOGETHER
            && self.conns.opening < OPENING_AT_ONCE
            && let Some(user) = self.conns.next_to_open(users)
        {
            let now = self.run.now(net);
            self.open(net, user, now);
            opened += 1;
        }
        let now = self.run.now(net);
        if now >= self.timeouts.next() {
            self.scan_timeouts(net, now);
        }
        let open = self.recorder.open.value();
        self.job.barrier.opened(self.job.worker, open);
        let given_up = now > OPEN_WITHIN || self.run.since_opened(open, now) > STALLED;
        let all_tried = self.conns.all_tried(users);
        if self.stop_requested() {
            self.job.barrier.end(0);
        }
        if all_tried || given_up || self.stop_requested() {
            // Read again until the start is known: what the worker waits for a processor from here to its first look behind the
            // start is no gap.
            if self.job.barrier.start().is_none() {
                self.gaps.start(0, (self.job.spent)());
            }
            self.job.barrier.ready(self.job.worker, net.now());
        }
        match self.job.barrier.start() {
            Some(start) if net.now() >= start => {
                self.begin(start);
                Next::Wait(start)
            }
            Some(start) => Next::Wait(start),
            None if opened == TOGETHER => Next::Wait(net.now()),
            None => Next::Wait(net.now() + LOOK_EVERY),
        }
    }

    /// The run has started: instants now count from its start.
    fn begin(&mut self, start_ns: u64) {
        let shift = self.run.start(start_ns);
        self.timestamps.start();
        self.timeouts = Timeouts::new(self.job.plan.timeout_ns, 0);
        for j in 0..self.conns.count() {
            if let Some(began) = self.conns.opening_since(j) {
                self.run.early.push((j, shift.saturating_sub(began)));
                self.conns[j].began = 0;
            }
        }
        self.recorder.start((self.job.spent)());
    }
}
