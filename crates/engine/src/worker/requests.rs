//! Requests: gets from the source what a user sends, hands it to the net, and reports the outcome to
//! the source.

use model::{ErrorClass, Nanos};
use net::Net;
use traffic::{Halt, NO_USER, Next, Part, Requests, Session, Skipped, Turn, Wants};

use super::{Pace, Worker};
use crate::arrivals::Arrival;
use crate::recorder::{Attempt, InFlight};

/// The outcome of calling the source for a user's next requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turned {
    /// Requests have left.
    Sent,
    /// The user waits for an instant that its source chose.
    Held,
    /// The user has nothing more to send.
    Free,
    /// Nothing more is sent by this worker.
    Silent,
}

impl Worker {
    /// Gets what user `j` sends now, and sends it; `arrival` is the one that the user takes up.
    #[inline]
    pub(super) fn turn<N: Net>(
        &mut self,
        net: &mut N,
        j: u32,
        arrival: Option<Arrival>,
        now: Nanos,
    ) -> Turned {
        let mut requests = std::mem::take(&mut self.outgoing.requests);
        requests.clear();
        let draw = arrival.map(|arrival| arrival.draw);
        self.deposit_recorder(arrival.is_some());
        let next = self.job.source.next(Turn { user: j, draw, now }, &mut requests);
        self.withdraw_recorder();
        let turned = match next {
            Next::Send => {
                self.put(net, j, &requests, arrival, now);
                Turned::Sent
            }
            other => self.pause(j, other, arrival, now),
        };
        self.outgoing.requests = requests;
        turned
    }

    /// Deposits the recorder where the collector finds it if the source never returns.
    #[inline]
    fn deposit_recorder(&mut self, with_arrival: bool) {
        if let Some(recorder_slot) = &self.recorder_slot {
            if let Pace::Open { arrivals, .. } = &self.pace {
                self.recorder.waiting = arrivals.waiting() + u64::from(with_arrival);
            }
            recorder_slot.deposit(&mut self.recorder);
        }
    }

    #[inline]
    fn withdraw_recorder(&mut self) {
        if let Some(recorder_slot) = &self.recorder_slot {
            recorder_slot.withdraw(&mut self.recorder);
        }
    }

    /// A turn that sends nothing.
    fn pause(&mut self, j: u32, next: Next, arrival: Option<Arrival>, now: Nanos) -> Turned {
        let conn = &mut self.conns[j];
        if let Some(arrival) = arrival {
            // Until something is sent for it; what never leaves is unsent in the end.
            conn.keep_arrival(arrival.due);
        }
        match next {
            Next::At(at) => {
                conn.in_session = true;
                // The pause is its own; for how long it had waited before it is not.
                conn.delay_arrival(at.saturating_sub(now));
                self.hold(j, at, now);
                Turned::Held
            }
            Next::Free | Next::Send => {
                conn.in_session = false;
                conn.take_arrival();
                Turned::Free
            }
            Next::Stop => {
                self.run.silent = true;
                Turned::Silent
            }
            Next::Halt(halt) => {
                self.halt(halt);
                Turned::Silent
            }
        }
    }

    /// User `j` sends nothing before `at`.
    pub(super) fn hold(&mut self, j: u32, at: Nanos, now: Nanos) {
        let at = at.max(now.saturating_add(1));
        self.conns[j].paused_until = at;
        self.user_timers.add(at, j);
    }

    /// The source ends the run: every worker ends its window as if Ctrl-C had been pressed.
    #[cold]
    fn halt(&mut self, halt: Halt) {
        self.run.silent = true;
        self.job.barrier.halt(halt);
        self.job.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// Sends the source's requests, as far as a limit by count or the schedule leaves room.
    #[inline]
    fn put<N: Net>(
        &mut self,
        net: &mut N,
        j: u32,
        requests: &Requests,
        arrival: Option<Arrival>,
        now: Nanos,
    ) {
        // An arrival that paused first is due as much later.
        let paused = self.conns[j].take_arrival().unwrap_or(now).min(now);
        let first = arrival.map_or((paused, paused), |a| (a.due, a.taken.min(now)));
        let mut count = 0;
        for part in requests.parts() {
            let arrived = if count == 0 { Some(first) } else { self.further(first, now) };
            let Some((due, taken)) = arrived else { break };
            if self.conns.is_full(j) || !self.spend(due) {
                break;
            }
            self.launch(j, part, InFlight::of(part, due, taken, now));
            count += 1;
        }
        let parts = &requests.parts()[..count];
        let bytes = self.outgoing.transmit(net, &mut self.conns[j], requests, parts);
        self.recorder.tally.bytes_written += bytes;
        self.launched(net, j, parts, now);
    }

    /// When a request was due and taken up that leaves together with a `first` one. In an open loop it takes up
    /// another arrival, so that the rate counts requests however many leave together: an arrival that
    /// waits, or else the schedule's next, which then is due with the first.
    fn further(&mut self, first: (Nanos, Nanos), now: Nanos) -> Option<(Nanos, Nanos)> {
        let Pace::Open { arrivals, .. } = &mut self.pace else { return Some(first) };
        if let Some(arrival) = arrivals.serve() {
            return Some((arrival.due, arrival.taken.min(now)));
        }
        let (due, taken) = first;
        arrivals.bring_forward().then(|| {
            self.recorder.taken_up(due, taken);
            first
        })
    }

    /// A request is in flight on connection `j`.
    #[inline]
    fn launch(&mut self, j: u32, part: &Part, flight: InFlight) {
        self.conns.push(j, flight);
        let conn = &mut self.conns[j];
        conn.in_session = part.goes_on;
        if part.opens {
            (conn.session_due, conn.session_requests) = (flight.due, 0);
            self.recorder.session_opened(part.endpoint, flight.due);
        } else {
            self.recorder.tally.sent_inside += 1;
        }
        conn.session_requests = conn.session_requests.saturating_add(1);
        self.recorder.launched(flight);
    }

    /// Reports a whole response to a source that wants it. Returns the check that failed, and whether that was for want of a
    /// body that could be looked into here.
    pub(super) fn completed(&mut self, j: u32, success: bool, now: Nanos) -> (Option<u16>, bool) {
        self.deposit_recorder(false);
        let outcome = self.job.source.completed(j, success, now);
        self.withdraw_recorder();
        self.session_over(j, outcome.session, now);
        self.run.silent |= outcome.stop;
        if let Some(halt) = outcome.halt {
            self.halt(halt);
        }
        (outcome.failed_check, outcome.unchecked)
    }

    /// Reports to the source a request that will have no response.
    pub(super) fn lost(&mut self, j: u32, flight: InFlight, class: ErrorClass, now: Nanos) {
        let conn = &mut self.conns[j];
        conn.in_session = false;
        conn.unserved(flight.sent, now);
        if flight.wants != Wants::Nothing {
            let session = self.job.source.lost(j, class);
            self.session_over(j, session, now);
        }
    }

    fn session_over(&mut self, j: u32, session: Option<Session>, now: Nanos) {
        if let Some(session) = session {
            let conn = &mut self.conns[j];
            conn.in_session = false;
            self.recorder.session(session, conn.session_due, conn.session_requests, now);
        }
    }

    /// An arrival that no user takes up any more.
    pub(super) fn skip_arrival(&mut self, arrival: Arrival, now: Nanos) -> Attempt {
        let turn = Turn { user: NO_USER, draw: Some(arrival.draw), now };
        let Skipped { endpoint, session } = self.job.source.skip(turn);
        self.session_lost(session, arrival.due, now);
        Attempt { due: arrival.due, endpoint }
    }

    /// The request that user `j` would make now cannot be made. Returns the endpoint that it would have
    /// been for.
    pub(super) fn skip_turn(&mut self, j: u32, now: Nanos) -> u32 {
        let Skipped { endpoint, session } = self.job.source.skip(Turn { user: j, draw: None, now });
        let conn = &mut self.conns[j];
        if std::mem::replace(&mut conn.in_session, false) {
            self.session_over(j, session, now);
        } else {
            self.session_lost(session, now, now);
        }
        endpoint
    }

    /// A session failed before anything was sent for it.
    fn session_lost(&mut self, session: Option<Session>, due: Nanos, now: Nanos) {
        if let Some(session) = session {
            self.recorder.began(session.flow, due);
            self.recorder.session(session, due, 0, now);
        }
    }
}
