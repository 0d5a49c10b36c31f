//! One turn of epoll: waits for events, handles them, and records when.

use std::io;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::{BATCH, Epoll, LISTENER, SHORT_NS, unpack};
use crate::driver::Driver;
use crate::{Handler, Taken, clock};

impl Driver for Epoll {
    fn poll<P: Handler<Self>>(
        &mut self,
        until: u64,
        spin: bool,
        handler: &mut P,
    ) -> io::Result<()> {
        // Handlers of these events may make something due before `until`.
        let until = if self.ready.is_empty() { until } else { 0 };
        self.deliver_ready(handler);
        let until = until.min(self.lingering.next()).min(self.accept_at).min(self.queued.at);
        self.look(until, spin)?;
        let events = std::mem::take(&mut self.events);
        let mut left = events.as_slice();
        while let [event, ..] = left {
            let taken = match event.data.u64() {
                LISTENER => {
                    self.accept_at = 0;
                    1
                }
                packed => match self.deliver_together(left, handler) {
                    0 => {
                        self.ready(unpack(packed), event.flags, handler);
                        1
                    }
                    together => together,
                },
            };
            left = &left[taken..];
        }
        self.events = events;
        let now = clock::now();
        if self.accept_at <= now {
            self.accept(handler);
        }
        if self.queued.at <= now {
            self.try_queued();
        }
        while let Some(id) = self.lingering.expired(now) {
            self.conns.remove(id);
        }
        self.cut_off(now);
        Ok(())
    }
}

impl Epoll {
    /// Waits for events or for the clock to read `until`, and records since when events that are there
    /// now may have been there.
    fn look(&mut self, until: u64, spin: bool) -> io::Result<()> {
        let busy_until = clock::now();
        let mut now = busy_until;
        let events = self.events.len();
        if !spin && self.ready.is_empty() && self.yielding.should(events, until, now) {
            std::thread::yield_now();
            now = clock::now();
            self.yielding.yielded(events, busy_until, now);
        }
        // After a full list, more may have been there already. A handler that yielded was not busy.
        let all_reported = self.events.len() < BATCH;
        let since = if all_reported { self.reported } else { self.since }.min(busy_until);
        let since = since.saturating_add(now.saturating_sub(busy_until));
        let at_once = spin || !self.ready.is_empty() || until <= now;
        if at_once || now.saturating_sub(since) > SHORT_NS {
            self.wait(0, until)?;
            (self.since, self.reported) = (since, clock::now());
            if at_once && !spin || !self.events.is_empty() {
                self.look_over();
                return Ok(());
            }
            now = self.reported;
        }
        loop {
            let left = if spin || until <= now { 0 } else { until - now };
            self.wait(left, until)?;
            // A wait returns at once when an event comes; a spin has just checked.
            let reported = clock::now();
            (self.since, self.reported) = (if spin { now } else { reported }, reported);
            now = reported;
            if !self.events.is_empty() || !spin || !self.ready.is_empty() || reported >= until {
                self.look_over();
                return Ok(());
            }
        }
    }

    /// What is delivered now was there when the kernel last reported.
    pub(super) fn look_over(&mut self) {
        self.taken = Taken { at: self.reported, waited_ns: 0 };
    }

    /// Bytes have just been read.
    #[inline]
    pub(super) fn took(&mut self) {
        let at = clock::now();
        self.taken = Taken { at, waited_ns: at.saturating_sub(self.since) };
    }

    fn wait(&mut self, left_ns: u64, until: u64) -> io::Result<()> {
        let (tv_sec, tv_nsec) = clock::timespec(left_ns);
        let timeout = Timespec { tv_sec, tv_nsec };
        let timeout = if until == u64::MAX && left_ns > 0 { None } else { Some(&timeout) };
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), timeout) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
