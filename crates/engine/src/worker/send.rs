//! Making requests leave: users whose time has come, arrivals that are due, connections to open.

use model::Nanos;
use net::{Close, Net};

use super::{Pace, Worker};
use crate::conn::State;
use crate::ledger::Flight;

impl Worker {
    /// Starts whatever has become due.
    pub(super) fn start_due<N: Net>(&mut self, net: &mut N, now: Nanos) {
        while let Some(user) = self.starts.due(now) {
            // Many at once take a while: each is sent when it is sent.
            let now = self.now(net);
            self.start(net, user, now);
        }
        self.serve_arrivals(net, now);
    }

    fn start<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        if let Pace::Open { closed, .. } = &mut self.pace {
            return closed.push(j);
        }
        match self.conn(j).state {
            State::Open => self.ready(net, j, now),
            State::Closed => self.open(net, j, now),
            State::Connecting | State::Handshaking => {}
        }
    }

    /// Takes up the arrivals that are due, if it is time to, and serves as many as connections allow.
    ///
    /// Together or not at all: an arrival taken up at every answer would make the next wake-up, and a
    /// wake-up costs more than a request.
    pub(super) fn serve_arrivals<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let Pace::Open { arrivals, .. } = &self.pace else { return };
        if self.ended || !self.started {
            return;
        }
        let together = self.job.plan.granularity_ns;
        if arrivals.next_due().is_some_and(|due| due.saturating_add(together) <= now) {
            self.take_up(now.min(self.ledger.window_end().saturating_sub(1)), now);
        }
        let mut at = now;
        while self.serve_next(net, at) {
            at = self.now(net);
        }
    }

    /// Takes up at `now` the arrivals due at `until`.
    pub(super) fn take_up(&mut self, until: Nanos, now: Nanos) {
        if let Pace::Open { arrivals, .. } = &mut self.pace {
            let ledger = &mut self.ledger;
            arrivals.take_up(until, now, |due| ledger.taken_up(due, now));
        }
    }

    /// Serves the oldest arrival, or opens a connection for it; false when nothing more can be done.
    pub(super) fn serve_next<N: Net>(&mut self, net: &mut N, now: Nanos) -> bool {
        let timeout = self.job.plan.timeout_ns;
        let Pace::Open { arrivals, idle, listed, closed } = &mut self.pace else {
            return false;
        };
        let Some(due) = arrivals.oldest_due() else { return false };
        if due.saturating_add(timeout) <= now {
            arrivals.serve();
            self.ledger.unsent(due, Some(now - due));
            return true;
        }
        if self.ledger.in_flight.value() >= self.inflight_cap {
            return false;
        }
        if let Some(j) = idle.pop() {
            listed[j as usize] = false;
            let conn = &self.conns[j as usize];
            if conn.state == State::Open
                && conn.in_flight < self.pipeline
                && let Some(arrival) = arrivals.serve()
            {
                let taken = arrival.taken.min(now);
                self.send(net, j, Flight { due: arrival.due, taken, sent: now });
                self.room(j);
            }
            return true;
        }
        if u64::from(self.opening) >= arrivals.waiting() {
            return false;
        }
        let Some(j) = closed.pop() else { return false };
        self.open(net, j, now);
        true
    }

    /// Lists a connection among those with room.
    pub(super) fn room(&mut self, j: u32) {
        let Pace::Open { idle, listed, .. } = &mut self.pace else { return };
        let conn = &self.conns[j as usize];
        let has_room = conn.state == State::Open && conn.in_flight < self.pipeline;
        if has_room && !std::mem::replace(&mut listed[j as usize], true) {
            idle.push(j);
        }
    }

    /// A connection stands and can take requests.
    pub(super) fn ready<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        if matches!(self.pace, Pace::Open { .. }) {
            self.room(j);
            return self.serve_arrivals(net, now);
        }
        while self.conns[j as usize].in_flight < self.pipeline {
            if !self.may_send(now) {
                return;
            }
            if self.ledger.in_flight.value() >= self.inflight_cap {
                return self.park(j);
            }
            self.spend(now);
            self.send(net, j, Flight { due: now, taken: now, sent: now });
        }
    }

    /// Whether a closed-loop user may send.
    #[inline]
    pub(super) fn may_send(&self, now: Nanos) -> bool {
        let left = match &self.pace {
            Pace::Closed { left, .. } => *left > 0,
            Pace::Open { .. } => true,
        };
        left && !self.ended && now < self.ledger.window_end()
    }

    /// A closed-loop attempt due at `due` is made: one less is left, unless it only warms up. False
    /// when none was left.
    pub(super) fn spend(&mut self, due: Nanos) -> bool {
        match &mut self.pace {
            Pace::Closed { left: 0, .. } => false,
            Pace::Closed { left, .. } if *left != u64::MAX && self.ledger.measures(due) => {
                *left -= 1;
                true
            }
            _ => true,
        }
    }

    /// Holds a closed-loop user back until there is room in flight.
    fn park(&mut self, j: u32) {
        if let Pace::Closed { parked, held, .. } = &mut self.pace
            && !std::mem::replace(&mut held[j as usize], true)
        {
            parked.push_back(j);
        }
    }

    /// The user held back longest, if there is room in flight.
    fn unpark(&mut self) -> Option<u32> {
        let Pace::Closed { parked, held, .. } = &mut self.pace else { return None };
        if self.ledger.in_flight.value() >= self.inflight_cap {
            return None;
        }
        let user = parked.pop_front()?;
        held[user as usize] = false;
        Some(user)
    }

    /// After an answer on `j`: when does its user go on?
    pub(super) fn go_on<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let last_sent = self.conns[j as usize].last_sent;
        let Pace::Closed { pace_ns, think_ns, parked, .. } = &self.pace else {
            if self.conns[j as usize].state == State::Open {
                self.room(j);
            }
            return self.serve_arrivals(net, now);
        };
        let paced = pace_ns.map_or(now, |pace| last_sent.saturating_add(pace));
        let thought = think_ns.map_or(now, |think| now.saturating_add(think));
        let at = paced.max(thought);
        let others_wait = !parked.is_empty();
        if at > now {
            self.starts.add(at, j);
        } else if others_wait {
            self.park(j);
        } else if self.may_send(now) {
            self.start(net, j, now);
        }
        if others_wait {
            while let Some(user) = self.unpark() {
                self.start(net, user, now);
            }
        }
    }

    #[inline]
    pub(super) fn send<N: Net>(&mut self, net: &mut N, j: u32, flight: Flight) {
        let (pipeline, answer_to) = (self.pipeline, self.job.answer_to);
        let conn = &mut self.conns[j as usize];
        let slot = (conn.head + conn.in_flight) % pipeline;
        self.flights[j as usize * usize::from(pipeline) + usize::from(slot)] = flight;
        if conn.in_flight == 0 {
            conn.begin_answer();
            conn.parser.begin(answer_to);
        }
        conn.in_flight += 1;
        conn.last_sent = flight.sent;
        self.ledger.in_flight.step(flight.sent, 1);
        self.ledger.tally.sent += 1;
        let id = conn.id;
        let bytes = if let Some(session) = &mut conn.tls {
            session.write(&self.job.request);
            self.cipher.clear();
            session.take_output(&mut self.cipher);
            net.send(id, &self.cipher);
            self.cipher.len()
        } else {
            match self.blob {
                // Nothing else is under way on the connection: what was sent before is answered.
                Some(blob) => net.send_blob(id, blob),
                _ => net.send(id, &self.job.request),
            }
            self.job.request.len()
        };
        self.ledger.tally.bytes_written += bytes as u64;
    }

    /// Starts opening connection `j`.
    pub(super) fn open<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        // Before the start the window's end is not yet on this clock.
        if self.started && !self.may_send(now) {
            return;
        }
        let routes = &self.job.routes;
        let route = routes[self.next_route % routes.len()];
        self.next_route = self.next_route.wrapping_add(1);
        let conn = &mut self.conns[j as usize];
        conn.began = now;
        (conn.in_flight, conn.head) = (0, 0);
        match net.connect(j, &route) {
            Ok(id) => {
                conn.id = id;
                conn.state = State::Connecting;
                self.opening += 1;
            }
            Err(error) => self.not_opened(j, &error, now),
        }
    }

    /// Closes connection `j` and forgets it; what it carried has been counted.
    pub(super) fn close<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos, how: Close) {
        let conn = &mut self.conns[j as usize];
        if conn.state == State::Closed {
            return;
        }
        net.close(conn.id, how);
        self.forget(j, now);
    }

    /// Connection `j` is gone.
    pub(super) fn forget(&mut self, j: u32, now: Nanos) {
        let conn = &mut self.conns[j as usize];
        let state = std::mem::replace(&mut conn.state, State::Closed);
        conn.tls = None;
        self.sampler.abandon(j);
        match state {
            State::Connecting | State::Handshaking => self.opening -= 1,
            State::Open => self.ledger.open.step(now, -1),
            State::Closed => {}
        }
    }
}
