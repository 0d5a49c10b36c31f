//! A connection as the worker sees it: what it is doing, and the answer being read on it.

use model::Nanos;
use model::kinds::Look;
use net::ConnId;
use traffic::Wants;
use wire::{Limits, ResponseParser};

use crate::presence::Down;
use crate::tls::Session;

/// One of a worker's connections, opened anew as often as needed.
#[derive(Debug)]
pub(crate) struct Conn {
    pub(crate) state: State,
    /// The net's name for it; meaningless while `Closed`.
    pub(crate) id: ConnId,
    pub(crate) tls: Option<Box<Session>>,
    pub(crate) parser: ResponseParser,
    /// Requests unanswered, oldest at `head` of the connection's flights.
    pub(crate) in_flight: u16,
    pub(crate) head: u16,
    /// Status of the answer being read.
    pub(crate) status: u16,
    /// Times in a row that it could not be opened.
    pub(crate) failures: u16,
    /// What the answer being read looks like, as far as it has come.
    pub(crate) look: Look,
    /// The answer being read: when its first byte came (0: not yet), and body bytes so far.
    pub(crate) first: Nanos,
    pub(crate) body_bytes: u64,
    /// When connecting, or the handshake, began.
    pub(crate) began: Nanos,
    /// When the last request was sent: what a pace counts from.
    pub(crate) last_sent: Nanos,
    /// What the source is shown of the answer being read.
    pub(crate) wants: Wants,
    /// The endpoint it counts for.
    pub(crate) endpoint: u32,
    /// When the user's session was due.
    pub(crate) session_due: Nanos,
    /// Requests sent for it.
    pub(crate) session_requests: u32,
    /// Its user is in the middle of a session, and asked again without an arrival.
    pub(crate) in_session: bool,
    /// Before this instant the user is not asked.
    pub(crate) asks_from: Nanos,
    /// When the arrival was due that the user has taken up and sent nothing for yet.
    pub(crate) arrival: Option<Nanos>,
    /// Whether its user is without the server.
    pub(crate) down: Down,
    /// Responses to attempts of the window.
    pub(crate) served: u32,
    /// Attempts that failed without a response since the last one.
    pub(crate) tries: u32,
    /// When the first of those began (0: none has), and when the last of them failed.
    pub(crate) unanswered_since: Nanos,
    pub(crate) failed_at: Nanos,
    /// Whether a response has come since it was opened, or it was counted as one without.
    pub(crate) heard: bool,
    /// Times that it was opened and asked, and ended without any response.
    pub(crate) mute: u32,
    /// Whether bytes were copied to the net since it was opened, so that some may still be there.
    pub(crate) copied: bool,
}

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    Connecting,
    Handshaking,
    Open,
}

impl Conn {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            id: ConnId { slot: u32::MAX, generation: u32::MAX },
            tls: None,
            parser: ResponseParser::new(Limits::default()),
            in_flight: 0,
            head: 0,
            status: 0,
            look: Look::default(),
            failures: 0,
            first: 0,
            body_bytes: 0,
            began: 0,
            last_sent: 0,
            wants: Wants::Nothing,
            endpoint: 0,
            session_due: 0,
            session_requests: 0,
            in_session: false,
            asks_from: 0,
            arrival: None,
            down: Down::NOT,
            served: 0,
            tries: 0,
            heard: false,
            mute: 0,
            unanswered_since: 0,
            failed_at: 0,
            copied: false,
        }
    }

    /// Whether it stands and takes `burst` requests more without having over `slots` under way.
    #[inline]
    pub(crate) fn has_room(&self, burst: u16, slots: u16) -> bool {
        self.state == State::Open
            && u32::from(self.in_flight) + u32::from(burst) <= u32::from(slots)
    }

    /// A response came, to an attempt of the window or not.
    #[inline]
    pub(crate) fn served(&mut self, measured: bool) {
        self.served = self.served.saturating_add(u32::from(measured));
        self.heard = true;
        self.unanswered_since = 0;
    }

    /// An attempt begun at `since` failed at `now`, without a response.
    pub(crate) fn unserved(&mut self, since: Nanos, now: Nanos) {
        if self.unanswered_since == 0 {
            (self.unanswered_since, self.tries) = (since.max(1), 0);
        }
        self.tries = self.tries.saturating_add(1);
        self.failed_at = now;
    }

    /// It ends with an attempt that counts as `measured` and has no response.
    pub(crate) fn ends_unanswered(&mut self, measured: bool) {
        if !self.heard && measured {
            (self.heard, self.mute) = (true, self.mute.saturating_add(1));
        }
    }

    /// Forgets the answer being read, for the next one.
    #[inline]
    pub(crate) fn begin_answer(&mut self) {
        self.first = 0;
        self.body_bytes = 0;
    }
}
