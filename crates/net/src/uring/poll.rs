//! One turn of the ring: submits what is queued, waits for completions and delivers them.

use std::io;

use io_uring::types::{SubmitArgs, Timespec};

use super::{MANY, Uring, unless_passing};
use crate::driver::Driver;
use crate::{Handler, clock};

impl Driver for Uring {
    fn poll<P: Handler<Self>>(
        &mut self,
        until: u64,
        spin: bool,
        handler: &mut P,
    ) -> io::Result<()> {
        // Handlers of these events may make something due before `until`.
        let until = if self.ready.is_empty() && self.reads.none() { until } else { 0 };
        self.deliver_ready(handler);
        let now = clock::now();
        self.handed_at(now);
        self.submit_dirty();
        // Output that was held back must be submitted as soon as that is known.
        let until = if self.dirty.is_empty() { until } else { 0 };
        let until = until.min(self.lingering.next()).min(self.accept_at);
        let waited_until = self.submit_and_look(until, spin, now)?;
        self.handed.left = false;
        self.batch = self.looks.batch(clock::now(), waited_until);
        self.bury();
        let round = if self.ring.submission().is_empty() { self.round } else { self.settled };
        self.complete(round, handler);
        self.buffers.batch_over();
        self.expire();
        Ok(())
    }
}

impl Uring {
    /// Hands over what is queued and waits. If something had come before the net began to wait, it has
    /// waited for the handler until the instant returned, or for as long as this took (`u64::MAX`).
    fn submit_and_look(&mut self, until: u64, spin: bool, now: u64) -> io::Result<Option<u64>> {
        let mut came = (self.looks.left_behind() || self.pending()).then_some(u64::MAX);
        self.looks.begin(now);
        self.looks.last_call(None);
        if spin {
            let in_vain = self.spin(until)?;
            came = came.map(|waited_until| waited_until.min(in_vain));
        } else if until == 0 || !self.ring.completion().is_empty() {
            self.submit()?;
        } else {
            let should_yield = self.yielding.should(self.taken, until, now);
            let mut now = now;
            if should_yield || self.ring.submission().len() >= MANY {
                self.submit()?;
                // Handing over many takes long enough for the first response to come.
                now = clock::now();
                if came.is_some() || self.pending() {
                    came = Some(now);
                }
                if should_yield {
                    std::thread::yield_now();
                    let yielded = std::mem::replace(&mut now, clock::now());
                    self.yielding.yielded(self.taken, yielded, now);
                }
            }
            // What is there ends the wait at once; work of the kernel's that completes nothing does not. A handler
            // that yielded in between was not busy.
            came = came.map(|waited_until| waited_until.min(now));
            let there = self.ring.completion().len();
            self.looks.last_call(Some(there));
            self.wait(until, now)?;
        }
        Ok(came)
    }

    /// Hands over what is queued.
    fn submit(&self) -> io::Result<()> {
        unless_passing(self.ring.submit())
    }

    /// Submits and waits for a completion or for the clock to read `until`; it reads `now`.
    fn wait(&self, until: u64, now: u64) -> io::Result<()> {
        if until == u64::MAX {
            return unless_passing(self.ring.submit_and_wait(1));
        }
        let (sec, nsec) = clock::timespec(until.saturating_sub(now));
        let timeout = Timespec::new().sec(sec as u64).nsec(nsec as u32);
        let args = SubmitArgs::new().timespec(&timeout);
        unless_passing(self.ring.submitter().submit_with_args(1, &args))
    }

    /// Looks until something is there or the clock reads `until`. Returns when it first looked in vain;
    /// `u64::MAX` if it did not.
    fn spin(&mut self, until: u64) -> io::Result<u64> {
        let mut in_vain = u64::MAX;
        loop {
            let submission = self.ring.submission();
            let pending = !submission.is_empty() || submission.taskrun();
            drop(submission);
            if pending {
                self.submit()?;
            }
            if !self.ring.completion().is_empty() {
                return Ok(in_vain);
            }
            let now = clock::now();
            in_vain = in_vain.min(now);
            if now >= until {
                return Ok(in_vain);
            }
            std::hint::spin_loop();
        }
    }
}
