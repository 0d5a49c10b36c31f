//! Before the run's start: a closed loop opens its connections, so that opening them is not part of
//! the window. With a ramp, users open theirs as they come; an open loop opens as arrivals need.

use net::{Net, Next};

use super::{Pace, Worker};
use crate::timeouts::Timeouts;

/// Connections being opened at once by one worker: more would overrun the server's accept queue and
/// wait for retransmissions.
const OPENING_AT_ONCE: u32 = 256;
/// How often the gate is looked at.
const LOOK_EVERY: u64 = 1_000_000;
/// Longest that opening may take; who is not connected then connects inside the window.
const OPEN_WITHIN: u64 = 60_000_000_000;

impl Worker {
    /// One step towards the start. Instants count from the first step until the start is known.
    pub(super) fn prepare<N: Net>(&mut self, net: &mut N) -> Next {
        if self.base_ns == 0 {
            self.base_ns = net.now();
            self.lend_fixed(net);
        }
        let users = self.users_to_open();
        while self.opening < OPENING_AT_ONCE && self.next_to_open < users {
            let (user, now) = (self.next_to_open, self.now(net));
            self.next_to_open += 1;
            self.open(net, user, now);
        }
        let now = self.now(net);
        if now >= self.timeouts.next() {
            self.scan_timeouts(net, now);
        }
        self.job.gate.opened(self.job.worker, self.ledger.open.value());
        let all_tried = self.next_to_open == users && self.opening == 0;
        if self.stop_asked() {
            self.job.gate.end(0);
        }
        if all_tried || now > OPEN_WITHIN || self.stop_asked() {
            self.job.gate.ready(self.job.worker, net.now());
        }
        match self.job.gate.start() {
            Some(start) if net.now() >= start => {
                self.begin(start);
                Next::Wait(start)
            }
            Some(start) => Next::Wait(start),
            None => Next::Wait(net.now() + LOOK_EVERY),
        }
    }

    fn users_to_open(&self) -> u32 {
        let opens = matches!(self.pace, Pace::Closed { .. }) && self.job.plan.ramp_ns == 0;
        if opens { self.conns.len() as u32 } else { 0 }
    }

    /// The run has started: from here on, instants count from its start.
    fn begin(&mut self, start_ns: u64) {
        let shift = start_ns.saturating_sub(self.base_ns);
        self.base_ns = start_ns;
        self.started = true;
        self.timeouts = Timeouts::new(self.job.plan.timeout_ns, 0);
        for conn in &mut self.conns {
            conn.began = conn.began.saturating_sub(shift);
        }
        let spent = (self.job.spent)();
        self.ledger.start(spent);
        self.gaps.start(0, spent);
    }
}
