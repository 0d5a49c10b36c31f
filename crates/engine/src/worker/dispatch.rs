//! Making requests leave: users whose time has come, arrivals that are due, connections to open.

use model::Nanos;
use model::units::MILLISECOND;
use net::{Close, Net};

use super::requests::Turned;
use super::{Pace, Worker};
use crate::conn::{Conn, ConnState};

impl Worker {
    /// Starts whatever has become due.
    pub(super) fn start_due<N: Net>(&mut self, net: &mut N, now: Nanos) {
        while let Some(user) = self.user_timers.due(now) {
            // Starting many may take a while, so the clock is read again.
            let now = self.timestamps.lately(now);
            self.start(net, user, now);
        }
        self.serve_arrivals(net, now);
    }

    fn start<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let Conn { state, in_session, .. } = self.conns[j];
        match (&mut self.pace, state) {
            (Pace::Open { closed, .. }, ConnState::Closed) if !in_session => closed.push(j),
            (_, ConnState::Open) => self.ready(net, j, now),
            (_, ConnState::Closed) => self.open(net, j, now),
            (_, ConnState::Connecting | ConnState::Handshaking) => {}
        }
    }

    /// Takes up the arrivals that are due, if it is time to, and serves as many as connections allow.
    ///
    /// Arrivals are taken up together: if each were taken up with the next response, each would cause a
    /// wake-up, and a wake-up costs more than a request. When a response comes after half the
    /// granularity, the arrivals that are due are taken up with it, which saves the timer's wake-up.
    pub(super) fn serve_arrivals<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let Pace::Open { arrivals, .. } = &self.pace else { return };
        if self.run.ended || !self.run.started {
            return;
        }
        let together = self.job.plan.granularity_ns / 2;
        if arrivals.next_due().is_some_and(|due| due.saturating_add(together) <= now) {
            self.take_up(now.min(self.recorder.window_end().saturating_sub(1)), now);
        }
        let mut at = now;
        while self.serve_next(net, at) {
            at = self.timestamps.lately(now);
        }
    }

    /// Takes up at `now` the arrivals due at `until`.
    pub(super) fn take_up(&mut self, until: Nanos, now: Nanos) {
        if let Pace::Open { arrivals, .. } = &mut self.pace {
            let recorder = &mut self.recorder;
            arrivals.take_up(until, now, |due| recorder.taken_up(due, now));
        }
    }

    /// Serves the oldest arrival, or opens a connection for it; false when nothing more can be done.
    pub(super) fn serve_next<N: Net>(&mut self, net: &mut N, now: Nanos) -> bool {
        let timeout = self.job.plan.timeout_ns;
        let no_more = self.run.silent || self.full();
        let Pace::Open { arrivals, idle, listed, closed } = &mut self.pace else {
            return false;
        };
        let Some(due) = arrivals.oldest_due() else { return false };
        if due.saturating_add(timeout) <= now {
            if let Some(arrival) = arrivals.serve() {
                let attempt = self.skip_arrival(arrival, now);
                self.recorder.unsent(attempt, Some(now.saturating_sub(due)));
            }
            return true;
        }
        if no_more {
            return false;
        }
        if let Some(j) = idle.pop() {
            listed[j as usize] = false;
            if self.conns.has_room(j)
                && !self.conns[j].in_session
                && let Some(arrival) = arrivals.serve()
            {
                self.turn(net, j, Some(arrival), now);
                self.room(j);
            }
            return true;
        }
        if u64::from(self.conns.opening) >= arrivals.waiting() {
            return false;
        }
        let Some(j) = closed.pop() else { return false };
        if self.conns[j].state == ConnState::Closed {
            self.open(net, j, now);
        }
        true
    }

    /// Lists a connection among those that take arrivals, if it has room and its user is free.
    pub(super) fn room(&mut self, j: u32) {
        let Pace::Open { idle, listed, .. } = &mut self.pace else { return };
        let free = self.conns.has_room(j) && !self.conns[j].in_session;
        if free && !std::mem::replace(&mut listed[j as usize], true) {
            idle.push(j);
        }
    }

    /// A connection stands and can take requests.
    pub(super) fn ready<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        self.carry_on(net, j, now);
        self.room(j);
        self.serve_arrivals(net, now);
    }

    /// Lets user `j` send as long as its connection has room: in an open loop, if it is in the middle
    /// of a session.
    #[inline]
    fn carry_on<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let closed_loop = matches!(self.pace, Pace::Closed { .. });
        let mut freed = false;
        loop {
            let conn = &self.conns[j];
            let user_may_go_on = (closed_loop || conn.in_session) && now >= conn.paused_until;
            if !user_may_go_on || !self.conns.has_room(j) || !self.may_send(now) {
                return;
            }
            if self.full() {
                return self.limit.hold_back(j);
            }
            match self.turn(net, j, None, now) {
                Turned::Sent => {}
                Turned::Free if closed_loop && !freed => freed = true,
                // A source that breaks this rule costs one call a millisecond, and does not stall the worker.
                Turned::Free if closed_loop => return self.hold(j, now + MILLISECOND, now),
                Turned::Held | Turned::Free | Turned::Silent => return,
            }
        }
    }

    /// Whether the cap on requests in flight leaves no room for a turn.
    #[inline]
    fn full(&self) -> bool {
        self.limit.is_reached(self.recorder.under_way)
    }

    /// Whether a user may send.
    #[inline]
    pub(super) fn may_send(&self, now: Nanos) -> bool {
        let left = match &self.pace {
            Pace::Closed { left, .. } => *left > 0,
            Pace::Open { .. } => true,
        };
        left && !self.run.ended && !self.run.silent && now < self.recorder.window_end()
    }

    /// Counts a closed-loop attempt due at `due` against the limit, unless it is warm-up. False if the
    /// limit is reached.
    pub(super) fn spend(&mut self, due: Nanos) -> bool {
        match &mut self.pace {
            Pace::Closed { left: 0, .. } => false,
            Pace::Closed { left, .. } if *left != u64::MAX && self.recorder.measures(due) => {
                *left -= 1;
                true
            }
            _ => true,
        }
    }

    /// Decides when the user of `j` goes on, after a response or the loss of its requests.
    pub(super) fn go_on<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let others_wait = self.limit.holds_back();
        if self.conns[j].state != ConnState::Open || self.conns.has_room(j) {
            self.go_on_alone(net, j, now, others_wait);
        }
        if others_wait {
            while !self.full()
                && let Some(user) = self.limit.release()
            {
                self.start(net, user, now);
            }
        }
        self.serve_arrivals(net, now);
    }

    fn go_on_alone<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos, others_wait: bool) {
        let in_session = self.conns[j].in_session;
        let at = match &self.pace {
            Pace::Open { .. } if !in_session => return self.room(j),
            _ => self.after_pause(self.conns.last_sent(j), now),
        };
        if at > now {
            self.user_timers.add(at, j);
        } else if others_wait {
            self.limit.hold_back(j);
        } else if self.may_send(now) {
            self.start(net, j, now);
        }
    }

    /// When a user goes on at `now` whose last attempt began at `began`: after its pace and its think time, if it has them.
    pub(super) fn after_pause(&self, began: Nanos, now: Nanos) -> Nanos {
        match &self.pace {
            Pace::Open { .. } => now,
            Pace::Closed { pace_ns, think_ns, .. } => {
                let paced = pace_ns.map_or(now, |pace| began.saturating_add(pace));
                paced.max(think_ns.map_or(now, |think| now.saturating_add(think)))
            }
        }
    }

    /// Starts opening connection `j`.
    pub(super) fn open<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        // Before the start the window's end is not yet on this clock.
        if self.run.started && !self.may_send(now) {
            return;
        }
        let route = self.conns.next_route();
        self.run.before_start(j);
        let began = self.run.now(net);
        let conn = &mut self.conns[j];
        conn.began = began;
        (conn.in_flight, conn.head, conn.unconfirmed) = (0, 0, false);
        match net.connect(j, &route) {
            Ok(id) => {
                conn.id = id;
                conn.state = ConnState::Connecting;
                self.conns.opening += 1;
            }
            Err(error) => self.not_opened(j, &error, now),
        }
    }

    /// Closes connection `j` and forgets it; its requests have been counted.
    pub(super) fn close<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos, how: Close) {
        let conn = &mut self.conns[j];
        if conn.state == ConnState::Closed {
            return;
        }
        net.close(conn.id, how);
        self.forget(j, now);
    }

    /// Connection `j` is gone.
    pub(super) fn forget(&mut self, j: u32, now: Nanos) {
        let conn = &mut self.conns[j];
        let state = std::mem::replace(&mut conn.state, ConnState::Closed);
        conn.tls = None;
        self.incoming.abandon(j);
        self.recorder.kinds.abandon(j);
        match state {
            ConnState::Connecting | ConnState::Handshaking => self.conns.opening -= 1,
            ConnState::Open => self.recorder.open.step(now, -1),
            ConnState::Closed => {}
        }
    }
}
