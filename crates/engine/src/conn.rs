//! A connection as the worker sees it: what it is doing, and the response being read on it.

use model::Nanos;
use model::interval::Look;
use net::ConnId;
use traffic::Wants;
use wire::{Limits, ResponseParser, ResponseTo};

use crate::presence::Down;
use crate::recorder::InFlight;
use crate::tls::Session;

/// One of a worker's connections, opened anew as often as needed.
///
/// With thousands of connections, hardly one is in the processor's nearest cache when its response comes. So
/// the fields that a response and the next request use share two lines of 64 bytes; all others are on a third.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Conn {
    /// The net's identifier; meaningless while `Closed`.
    pub(crate) id: ConnId,
    pub(crate) tls: Option<Box<Session>>,
    pub(crate) parser: ResponseParser,
    /// The response being read: when its first byte came (0: not yet), and body bytes so far.
    pub(crate) first: Nanos,
    pub(crate) body_bytes: u64,
    /// What the response being read looks like, so far.
    pub(crate) look: Look,
    /// Before this instant the source is not called for this user.
    pub(crate) paused_until: Nanos,
    /// When the user's session was due.
    pub(crate) session_due: Nanos,
    /// Requests sent for it.
    pub(crate) session_requests: u32,
    /// The endpoint that the response being read counts for.
    pub(crate) endpoint: u32,
    /// Responses to attempts of the window.
    pub(crate) served: u32,
    /// Requests in flight, the oldest at `head` of the connection's ring.
    pub(crate) in_flight: u16,
    pub(crate) head: u16,
    pub(crate) state: ConnState,
    /// How much of the response being read is passed to the source.
    pub(crate) wants: Wants,
    /// Its user is in the middle of a session, and goes on without an arrival.
    pub(crate) in_session: bool,
    /// Whether bytes sent earlier may still be with the net: they were copied, or many.
    pub(crate) unconfirmed: bool,
    /// Whether `arrival` is kept.
    has_arrival: bool,
    /// Whether an attempt failed and none has had a response since. Only then is the last cache line
    /// read.
    pub(crate) troubled: bool,
    /// Whether a response has come since it was opened, or it has been counted as mute.
    pub(crate) had_response: bool,
    /// When connecting, or the handshake, began.
    pub(crate) began: Nanos,
    /// Due time of an arrival that the user has taken up and not yet sent a request for, and of its request.
    arrival: Nanos,
    /// Whether its user is down.
    pub(crate) down: Down,
    /// When the first attempt since the last response failed, and when the last one did.
    pub(crate) failing_since: Nanos,
    pub(crate) failed_at: Nanos,
    /// Attempts that failed without a response since the last one.
    pub(crate) tries: u32,
    /// Consecutive failures to open it.
    pub(crate) failures: u16,
    /// Times that it was opened, carried a request, and ended without any response, though its user waited for the time-out or
    /// was served on another one later.
    pub(crate) mute: u32,
    /// Times that the server ended it like that and its user was not served since.
    cut: u32,
}

const _: () = assert!(size_of::<Conn>() == 3 * 64 && std::mem::offset_of!(Conn, began) == 2 * 64);

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnState {
    Closed,
    Connecting,
    Handshaking,
    Open,
}

impl Conn {
    pub(crate) fn new() -> Self {
        Self {
            id: ConnId { slot: u32::MAX, generation: u32::MAX },
            tls: None,
            parser: ResponseParser::new(Limits::default()),
            first: 0,
            body_bytes: 0,
            look: Look::default(),
            paused_until: 0,
            session_due: 0,
            session_requests: 0,
            endpoint: 0,
            served: 0,
            in_flight: 0,
            head: 0,
            state: ConnState::Closed,
            wants: Wants::Nothing,
            in_session: false,
            unconfirmed: false,
            has_arrival: false,
            troubled: false,
            had_response: false,
            began: 0,
            arrival: 0,
            down: Down::NOT,
            failing_since: 0,
            failed_at: 0,
            tries: 0,
            failures: 0,
            mute: 0,
            cut: 0,
        }
    }

    /// Keeps the arrival that the user has taken up until its request is sent.
    pub(crate) fn keep_arrival(&mut self, due: Nanos) {
        (self.has_arrival, self.arrival) = (true, due);
    }

    /// The request of the kept arrival, if there is one, is not to leave for this long.
    pub(crate) fn delay_arrival(&mut self, by: Nanos) {
        self.arrival = self.arrival.saturating_add(by);
    }

    /// Removes the kept arrival and returns when it was due.
    #[inline]
    pub(crate) fn take_arrival(&mut self) -> Option<Nanos> {
        std::mem::take(&mut self.has_arrival).then_some(self.arrival)
    }

    /// Status of the response being read.
    #[inline]
    pub(crate) const fn status(&self) -> u16 {
        self.look.status
    }

    /// An attempt begun at `since` failed at `now`, without a response.
    pub(crate) fn unserved(&mut self, since: Nanos, now: Nanos) {
        self.troubled = true;
        if self.failing_since == 0 {
            (self.failing_since, self.tries) = (since.max(1), 0);
        }
        self.tries = self.tries.saturating_add(1);
        self.failed_at = now;
    }

    /// It ends without a response to an attempt; `in_window` says whether it ends in the measured window, and `timed_out`
    /// whether by the time-out: the server ends it otherwise, and with all others where it stops.
    pub(crate) fn ends_without_response(&mut self, in_window: bool, timed_out: bool) {
        if !self.had_response && in_window {
            self.had_response = true;
            let count = if timed_out { &mut self.mute } else { &mut self.cut };
            *count = count.saturating_add(1);
        }
    }

    /// Its user is served again after attempts that failed.
    pub(crate) fn recovers(&mut self) {
        (self.troubled, self.failing_since) = (false, 0);
        self.mute = self.mute.saturating_add(std::mem::take(&mut self.cut));
    }

    /// Prepares it to read the response to `flight`.
    #[inline]
    pub(crate) fn await_response(&mut self, flight: InFlight) {
        (self.first, self.body_bytes) = (0, 0);
        (self.wants, self.endpoint) = (flight.wants, flight.endpoint);
        self.parser.begin(if flight.head { ResponseTo::Head } else { ResponseTo::Other });
    }
}
