//! The worker and its source: asking what a user sends, handing it to the net, telling what became
//! of it.

use model::{ErrorClass, Nanos};
use net::Net;
use traffic::{Halt, NOBODY, Next, Part, Payload, Requests, Session, Skipped, Turn, Wants};
use wire::AnswerTo;

use super::{Lent, Pace, Worker};
use crate::arrivals::Arrival;
use crate::conn::Conn;
use crate::ledger::{Attempt, Flight, Ledger};

/// Requests up to this length are sent without a word of success. An idle socket takes them whole;
/// a longer one could still be on its way when an early answer lets the next one follow.
const BLOB_BYTES: usize = 4096;

/// What a user's turn came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turned {
    /// Requests have left.
    Sent,
    /// The user is asked again at an instant of its own.
    Held,
    /// The user has nothing more to send.
    Free,
    /// Nothing more is sent by this worker.
    Silent,
}

impl Worker {
    /// Lends the requests that never change to the net, where they may be sent as blobs.
    pub(super) fn lend_fixed<N: Net>(&mut self, net: &mut N) {
        let alone = self.slots == 1 && self.job.tls.is_none();
        for lent in self.lent.iter_mut().filter(|lent| alone && lent.bytes.len() <= BLOB_BYTES) {
            lent.blob = Some(net.blob(&lent.bytes));
        }
    }

    /// Asks what user `j` sends now, and sends it; `arrival` is the one that the user takes up.
    #[inline]
    pub(super) fn turn<N: Net>(
        &mut self,
        net: &mut N,
        j: u32,
        arrival: Option<Arrival>,
        now: Nanos,
    ) -> Turned {
        let mut asked = std::mem::take(&mut self.asked);
        asked.clear();
        let draw = arrival.map(|arrival| arrival.draw);
        self.lay_down(arrival.is_some());
        let next = self.job.source.next(Turn { user: j, draw, now }, &mut asked);
        self.take_up_books();
        let turned = match next {
            Next::Send => {
                self.put(net, j, &asked, arrival, now);
                Turned::Sent
            }
            other => self.pause(j, other, arrival, now),
        };
        self.asked = asked;
        turned
    }

    /// Lays the books where others find them if the source never returns, where it may not.
    #[inline]
    fn lay_down(&mut self, with_arrival: bool) {
        if self.guarded {
            if let Pace::Open { arrivals, .. } = &self.pace {
                self.ledger.waiting = arrivals.waiting() + u64::from(with_arrival);
            }
            self.job.desk.lay_down(&mut self.ledger);
        }
    }

    #[inline]
    fn take_up_books(&mut self) {
        if self.guarded {
            self.job.desk.take_up(&mut self.ledger);
        }
    }

    /// A turn that sends nothing.
    fn pause(&mut self, j: u32, next: Next, arrival: Option<Arrival>, now: Nanos) -> Turned {
        let conn = &mut self.conns[j as usize];
        if let Some(arrival) = arrival {
            // Until something is sent for it; what never leaves is unsent in the end.
            conn.keep_arrival(arrival.due);
        }
        match next {
            Next::At(at) => {
                conn.in_session = true;
                self.hold(j, at, now);
                Turned::Held
            }
            Next::Free | Next::Send => {
                conn.in_session = false;
                conn.take_arrival();
                Turned::Free
            }
            Next::Stop => {
                self.silent = true;
                Turned::Silent
            }
            Next::Halt(halt) => {
                self.halt(halt);
                Turned::Silent
            }
        }
    }

    /// User `j` is not to be asked before `at`.
    pub(super) fn hold(&mut self, j: u32, at: Nanos, now: Nanos) {
        let at = at.max(now.saturating_add(1));
        self.conns[j as usize].asks_from = at;
        self.starts.add(at, j);
    }

    /// The source ends the run: every worker ends its window as if Ctrl-C had been pressed.
    #[cold]
    fn halt(&mut self, halt: Halt) {
        self.silent = true;
        self.job.gate.halt(halt);
        self.job.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// Sends what was asked for, as far as a limit by count or the schedule leaves room.
    #[inline]
    fn put<N: Net>(
        &mut self,
        net: &mut N,
        j: u32,
        asked: &Requests,
        arrival: Option<Arrival>,
        now: Nanos,
    ) {
        // What a pause came before is due when the pause is over.
        self.conns[j as usize].take_arrival();
        let first = arrival.map_or((now, now), |a| (a.due, a.taken.min(now)));
        let mut count = 0;
        for part in asked.parts() {
            let arrived = if count == 0 { Some(first) } else { self.further(first, now) };
            let Some((due, taken)) = arrived else { break };
            if self.conns[j as usize].in_flight == self.slots || !self.spend(due) {
                break;
            }
            self.launch(j, part, Flight::of(part, due, taken, now));
            count += 1;
        }
        self.transmit(net, j, asked, count);
        self.launched(net, j, &asked.parts()[..count], now);
    }

    /// When a request was due and taken up that leaves behind the `first` of its turn. In an open loop it
    /// takes up an arrival of its own, so that a rate is one of requests however many leave together:
    /// one that waits, or else the schedule's next, which then is due with the first.
    fn further(&mut self, first: (Nanos, Nanos), now: Nanos) -> Option<(Nanos, Nanos)> {
        let Pace::Open { arrivals, .. } = &mut self.pace else { return Some(first) };
        if let Some(arrival) = arrivals.serve() {
            return Some((arrival.due, arrival.taken.min(now)));
        }
        let (due, taken) = first;
        arrivals.bring_forward().then(|| {
            self.ledger.taken_up(due, taken);
            first
        })
    }

    /// Enters a request into the connection's books.
    #[inline]
    fn launch(&mut self, j: u32, part: &Part, flight: Flight) {
        let slots = self.slots;
        let conn = &mut self.conns[j as usize];
        let slot = slot_after(conn.head, conn.in_flight, slots);
        self.flights[j as usize * usize::from(slots) + usize::from(slot)] = flight;
        if conn.in_flight == 0 {
            await_answer(conn, flight);
        }
        conn.in_flight += 1;
        conn.last_sent = flight.sent;
        conn.in_session = part.goes_on;
        if part.opens {
            (conn.session_due, conn.session_requests) = (flight.due, 0);
            if let Some(&Some(flow)) = self.flow_of.get(part.endpoint as usize) {
                self.ledger.began(flow, flight.due);
            }
        }
        conn.session_requests = conn.session_requests.saturating_add(1);
        self.ledger.launched(flight);
    }

    /// Hands the first `count` requests to the net, together.
    #[inline]
    fn transmit<N: Net>(&mut self, net: &mut N, j: u32, asked: &Requests, count: usize) {
        let Self { conns, lent, cipher, ledger, gathered, .. } = self;
        let conn = &mut conns[j as usize];
        let parts = &asked.parts()[..count];
        if let [Part { payload: Payload::Fixed(index), .. }] = parts {
            let lent = &lent[*index as usize];
            match lent.blob {
                // Nothing else is under way on the connection: what went before is answered.
                Some(blob) if !conn.copied || net.backlog(conn.id) == 0 => {
                    net.send_blob(conn.id, blob);
                    ledger.tally.bytes_written += lent.bytes.len() as u64;
                }
                _ => send(net, conn, &lent.bytes, cipher, ledger),
            }
        } else if let Some(end) = all_written(parts) {
            send(net, conn, &asked.bytes[..end], cipher, ledger);
        } else {
            gather(asked, parts, lent, gathered);
            send(net, conn, gathered, cipher, ledger);
        }
    }

    /// Readies the connection for the answer to its oldest request, if it has one.
    #[inline]
    pub(super) fn await_next(&mut self, j: u32) {
        let conn = &mut self.conns[j as usize];
        if conn.in_flight > 0 {
            let at = j as usize * usize::from(self.slots) + usize::from(conn.head);
            await_answer(conn, self.flights[at]);
        }
    }

    /// Tells the source of a whole answer that it wants to hear of; the check that it failed.
    pub(super) fn answered(&mut self, j: u32, success: bool, now: Nanos) -> Option<u16> {
        self.lay_down(false);
        let told = self.job.source.answered(j, success, now);
        self.take_up_books();
        self.session_over(j, told.session, now);
        self.silent |= told.stop;
        if let Some(halt) = told.halt {
            self.halt(halt);
        }
        told.failed_check
    }

    /// Tells the source of a request that will not be answered.
    pub(super) fn lost(&mut self, j: u32, flight: Flight, class: ErrorClass, now: Nanos) {
        let conn = &mut self.conns[j as usize];
        conn.in_session = false;
        conn.unserved(flight.sent, now);
        if flight.wants != Wants::Nothing {
            let session = self.job.source.lost(j, class);
            self.session_over(j, session, now);
        }
    }

    fn session_over(&mut self, j: u32, session: Option<Session>, now: Nanos) {
        if let Some(session) = session {
            let conn = &mut self.conns[j as usize];
            conn.in_session = false;
            self.ledger.session(session, conn.session_due, conn.session_requests, now);
        }
    }

    /// An arrival that no user takes up any more.
    pub(super) fn skip_arrival(&mut self, arrival: Arrival, now: Nanos) -> Attempt {
        let turn = Turn { user: NOBODY, draw: Some(arrival.draw), now };
        let Skipped { endpoint, session } = self.job.source.skip(turn);
        self.session_lost(session, arrival.due, now);
        Attempt { due: arrival.due, endpoint }
    }

    /// The request that user `j` would make now cannot be made; the endpoint it is lost for.
    pub(super) fn skip_turn(&mut self, j: u32, now: Nanos) -> u32 {
        let Skipped { endpoint, session } = self.job.source.skip(Turn { user: j, draw: None, now });
        let conn = &mut self.conns[j as usize];
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
            self.ledger.began(session.flow, due);
            self.ledger.session(session, due, 0, now);
        }
    }
}

/// The slot `further` behind `head` in a ring of `slots`, neither of them beyond it.
#[inline]
pub(super) fn slot_after(head: u16, further: u16, slots: u16) -> u16 {
    // Dividing would take as long as all the rest of a launch.
    let room = slots - head;
    if further < room { head + further } else { further - room }
}

/// Where the last of `parts` ends, if all of them were written.
#[inline]
fn all_written(parts: &[Part]) -> Option<usize> {
    parts.iter().try_fold(0, |_, part| match part.payload {
        Payload::Written { end } => Some(end as usize),
        Payload::Fixed(_) => None,
    })
}

/// Puts the bytes of `parts` one behind the other.
fn gather(asked: &Requests, parts: &[Part], lent: &[Lent], gathered: &mut Vec<u8>) {
    gathered.clear();
    let mut start = 0;
    for part in parts {
        match part.payload {
            Payload::Fixed(index) => gathered.extend_from_slice(&lent[index as usize].bytes),
            Payload::Written { end } => {
                gathered.extend_from_slice(&asked.bytes[start..end as usize]);
                start = end as usize;
            }
        }
    }
}

/// Readies a connection for the answer to `flight`.
#[inline]
fn await_answer(conn: &mut Conn, flight: Flight) {
    conn.begin_answer();
    (conn.wants, conn.endpoint) = (flight.wants, flight.endpoint);
    conn.parser.begin(if flight.head { AnswerTo::Head } else { AnswerTo::Other });
}

#[inline]
fn send<N: Net>(
    net: &mut N,
    conn: &mut Conn,
    bytes: &[u8],
    cipher: &mut Vec<u8>,
    ledger: &mut Ledger,
) {
    conn.copied = true;
    let Some(session) = &mut conn.tls else {
        net.send(conn.id, bytes);
        ledger.tally.bytes_written += bytes.len() as u64;
        return;
    };
    session.write(bytes);
    cipher.clear();
    session.take_output(cipher);
    net.send(conn.id, cipher);
    ledger.tally.bytes_written += cipher.len() as u64;
}
