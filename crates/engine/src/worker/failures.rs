//! Failures: each failed attempt is counted, and its user goes on.

use std::io;

use model::units::{MILLISECOND, SECOND, exact_duration, show_duration};
use model::{ErrorClass, Nanos};
use net::{Close, Failure, Net, Operation};
use wire::WireError;

use super::{Pace, Worker};
use crate::conn::{Conn, ConnState};
use crate::problem::other_protocol;
use crate::recorder::{Attempt, InFlight, Recorder};

/// First pause before a connection that could not be opened is tried again, of a user without a longer one of its own; it
/// doubles up to a second.
const FIRST_BACKOFF: Nanos = 10 * MILLISECOND;
const BACKOFF_DOUBLINGS: u16 = 7;
/// How long a connection must have been idle before its last request for a server's time-out to have ended it: servers wait
/// for seconds, and more.
const IDLE: Nanos = SECOND;
/// How soon after that request it must have ended: the way there and back.
const AT_ONCE: Nanos = 100 * MILLISECOND;

impl Worker {
    pub(super) fn failed<N: Net>(&mut self, net: &mut N, j: u32, failure: Failure, now: Nanos) {
        let error = failure.error();
        if failure.during == Operation::Connect || self.conns[j].state == ConnState::Connecting {
            self.forget(j, now);
            self.not_opened(j, &error, now);
            return self.serve_arrivals(net, now);
        }
        if self.conns[j].state == ConnState::Handshaking {
            return self.tls_failed(net, j, &error.to_string(), now);
        }
        let class = match failure.during {
            Operation::Send => ErrorClass::Write,
            Operation::Receive | Operation::Connect => ErrorClass::Read,
        };
        let in_flight = self.conns[j].in_flight;
        self.lose_flights(j, now, class, || error.to_string());
        self.forget(j, now);
        self.reopenable(j);
        if in_flight > 0 {
            self.go_on(net, j, now);
        } else {
            self.recorder.tally.server_closes += u64::from(self.job.plan.keepalive);
            self.serve_arrivals(net, now);
        }
    }

    /// Connection `j` could not be opened: the attempt it was opened for has failed.
    pub(super) fn not_opened(&mut self, j: u32, error: &io::Error, now: Nanos) {
        if let Some(name) = error.raw_os_error().and_then(exhausted) {
            *self.recorder.tally.limits.entry(name.to_owned()).or_default() += 1;
        }
        self.opening_failed(j, ErrorClass::Connect, &error.to_string(), now);
    }

    pub(super) fn tls_failed<N: Net>(&mut self, net: &mut N, j: u32, error: &str, now: Nanos) {
        if self.conns[j].state == ConnState::Open {
            return self.broken(net, j, ErrorClass::Tls, error, now);
        }
        self.close(net, j, now, Close::Now);
        self.opening_failed(j, ErrorClass::Tls, error, now);
        self.serve_arrivals(net, now);
    }

    /// Serves no arrivals itself: it is also called while they are being served, once for each
    /// connection that cannot be opened.
    fn opening_failed(&mut self, j: u32, class: ErrorClass, error: &str, now: Nanos) {
        if !self.run.started {
            // Its user will try again when the run has started, and that attempt counts.
            return self.recorder.keep_sample(class, || error.to_owned());
        }
        match self.lost_opening(j, now) {
            Some(attempt) => self.recorder.failed(attempt, class, || error.to_owned()),
            None => self.recorder.keep_sample(class, || error.to_owned()),
        }
        let timed_out = self.timeouts.expired(self.conns[j].began, now);
        self.mark_down(j, self.conns[j].began, !timed_out, now);
        let conn = &mut self.conns[j];
        conn.unserved(conn.began, now);
        let backoff =
            (FIRST_BACKOFF << conn.failures.min(BACKOFF_DOUBLINGS)).min(1000 * MILLISECOND);
        conn.failures = conn.failures.saturating_add(1);
        // An attempt that fails is one of those that a user's pace allows: more of them would count for more of its time.
        let paused = self.after_pause(self.conns[j].began, now);
        self.user_timers.add(paused.max(now + backoff), j);
    }

    /// The attempt that connection `j` was opened for; `None` if a limit by count leaves no room for
    /// it.
    fn lost_opening(&mut self, j: u32, now: Nanos) -> Option<Attempt> {
        let Conn { began, in_session, .. } = self.conns[j];
        if let Pace::Open { arrivals, .. } = &mut self.pace
            && !in_session
        {
            let arrival = arrivals.serve()?;
            return Some(self.skip_arrival(arrival, now));
        }
        if !self.spend(began) {
            return None;
        }
        let endpoint = self.skip_turn(j, now);
        let due = self.conns[j].take_arrival().unwrap_or(began);
        Some(Attempt { due, endpoint })
    }

    /// The bytes received are not HTTP.
    pub(super) fn malformed<N: Net>(
        &mut self,
        net: &mut N,
        j: u32,
        error: &WireError,
        came: &[u8],
        now: Nanos,
    ) {
        match self.other_protocol(came) {
            Some(other) => self.broken(net, j, ErrorClass::Protocol, other, now),
            None => self.broken(net, j, ErrorClass::Protocol, &error.to_string(), now),
        }
    }

    /// The protocol that the server uses instead of HTTP/1.1, if these bytes show one. The connection has failed.
    pub(super) fn other_protocol(&mut self, came: &[u8]) -> Option<&'static str> {
        let other = other_protocol(came, self.job.tls.is_none());
        self.recorder.tally.mismatches += u64::from(other.is_some());
        other
    }

    pub(super) fn broken<N: Net>(
        &mut self,
        net: &mut N,
        j: u32,
        class: ErrorClass,
        error: &str,
        now: Nanos,
    ) {
        self.lose_flights(j, now, class, || error.to_owned());
        self.close(net, j, now, Close::Now);
        self.reopenable(j);
        self.go_on(net, j, now);
    }

    /// Counts every request under way on `j` as failed. Where the connection had been idle, the words say so: a server that
    /// closes it just then is there.
    pub(super) fn lose_flights(
        &mut self,
        j: u32,
        now: Nanos,
        class: ErrorClass,
        sample: impl Fn() -> String,
    ) {
        let is_cut = matches!(class, ErrorClass::Read | ErrorClass::Write);
        let idle = if is_cut { self.idle_before(j, now) } else { None };
        let sample = || match idle {
            None => sample(),
            Some(idle_ns) => format!(
                "{}; the connection had been idle for {} before, and the server may have closed it for that",
                sample(),
                show_duration(idle_ns)
            ),
        };
        self.end_without_response(j, now, class, |recorder, flight| {
            let counts = idle.is_some() && recorder.measures(flight.due);
            recorder.tally.idle_cuts += u64::from(counts);
            recorder.failed(flight.attempt(), class, sample);
        });
    }

    /// For how long nothing had been under way on `j` before the request that was sent just now and waits there without a
    /// byte of its response, if that was long.
    fn idle_before(&self, j: u32, now: Nanos) -> Option<Nanos> {
        let Conn { in_flight, had_response, first, .. } = self.conns[j];
        if in_flight == 0 || !had_response || first > 0 {
            return None;
        }
        let sent = self.conns.oldest(j).sent;
        let idle_ns = sent.saturating_sub(self.conns.last_response(j));
        (idle_ns >= IDLE && now.saturating_sub(sent) <= AT_ONCE).then_some(idle_ns)
    }

    /// Ends every request in flight on `j`, oldest first, without a response; `count` counts each.
    fn end_without_response(
        &mut self,
        j: u32,
        now: Nanos,
        class: ErrorClass,
        count: impl Fn(&mut Recorder, InFlight),
    ) {
        while let Some(flight) = self.conns.pop(j) {
            let timed_out = class == ErrorClass::Timeout;
            self.mark_down(j, flight.sent, !timed_out, now);
            // In the window also where it was sent in the warm-up: its user had nothing in the window meanwhile.
            let in_window = self.recorder.measures(now);
            self.conns[j].ends_without_response(in_window, timed_out);
            self.lost(j, flight, class, now);
            self.recorder.landed(flight, now);
            count(&mut self.recorder, flight);
        }
    }

    /// A connection is closed; in an open loop it may be opened again for an arrival, unless its user
    /// is in the middle of a session and opens it itself.
    pub(super) fn reopenable(&mut self, j: u32) {
        if let Pace::Open { closed, .. } = &mut self.pace
            && !self.conns[j].in_session
        {
            closed.push(j);
        }
    }

    /// Fails attempts that have waited too long: the connection is closed, and its user opens it anew.
    pub(super) fn scan_timeouts<N: Net>(&mut self, net: &mut N, now: Nanos) {
        let mut oldest: Option<Nanos> = None;
        for j in 0..self.conns.count() {
            let Some(since) = self.conns.waiting_since(j) else { continue };
            if self.timeouts.expired(since, now) {
                self.timed_out(net, j, now);
            } else {
                oldest = Some(oldest.map_or(since, |other| other.min(since)));
            }
        }
        self.serve_arrivals(net, now);
        self.timeouts.scanned(oldest, now);
    }

    pub(super) fn timed_out<N: Net>(&mut self, net: &mut N, j: u32, now: Nanos) {
        let timeout = self.job.plan.timeout_ns;
        let state = self.conns[j].state;
        if state != ConnState::Open {
            let class =
                if state == ConnState::Handshaking { ErrorClass::Tls } else { ErrorClass::Connect };
            let what = if state == ConnState::Handshaking { "TLS handshake" } else { "connection" };
            self.close(net, j, now, Close::Reset);
            let error = format!("no {what} within {}", exact_duration(timeout));
            return self.opening_failed(j, class, &error, now);
        }
        self.end_without_response(j, now, ErrorClass::Timeout, |recorder, flight| {
            recorder.timed_out(flight, timeout, now);
        });
        self.recorder.keep_sample(ErrorClass::Timeout, || {
            format!("no complete response within {}", exact_duration(timeout))
        });
        self.close(net, j, now, Close::Reset);
        self.reopenable(j);
        self.go_on(net, j, now);
    }
}

/// The name of an error that means that a local resource ran out.
fn exhausted(errno: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 5] =
        [(12, "ENOMEM"), (23, "ENFILE"), (24, "EMFILE"), (99, "EADDRNOTAVAIL"), (105, "ENOBUFS")];
    NAMES.iter().find(|(number, _)| *number == errno).map(|(_, name)| *name)
}
