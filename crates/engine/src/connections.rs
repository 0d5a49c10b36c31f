//! A worker's connections, and the requests in flight on each.
//!
//! Owns the table: for each connection a ring of `slots` requests in flight, oldest at `head`, and how
//! many connections are being opened. [`Conn`] knows what a connection is doing; the worker decides
//! when it opens and closes.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use model::Nanos;
use net::Route;

use crate::conn::{Conn, ConnState};
use crate::recorder::InFlight;

/// Connections by number. The number is also that of their user, and their token with the net.
#[derive(Debug)]
pub(crate) struct Connections {
    list: Vec<Conn>,
    /// `slots` requests for each connection.
    in_flight: Vec<InFlight>,
    slots: u16,
    /// What is known of the responses on each.
    responses: Vec<Responses>,
    /// The most requests that a source sends at once.
    burst: u16,
    /// Connections being opened: connecting, or in a TLS handshake.
    pub(crate) opening: u32,
    /// Connections before this one have been opened before the start.
    next_to_open: u32,
    routes: Arc<[Route]>,
    next_route: usize,
}

/// What is known of the responses on a connection, however often it was opened.
#[derive(Debug, Clone, Copy)]
struct Responses {
    /// When the last one was whole; 0 before one.
    last: Nanos,
    /// How long the fastest of the window took.
    fastest: Nanos,
}

impl Connections {
    /// Closed connections with room for `slots` requests in flight on each. The source sends at most
    /// `burst` at once. Connections use `routes` in rotation, from `first_route` on.
    pub(crate) fn new(
        count: usize,
        slots: u16,
        burst: u16,
        routes: Arc<[Route]>,
        first_route: usize,
    ) -> Self {
        Self {
            list: (0..count).map(|_| Conn::new()).collect(),
            in_flight: vec![InFlight::default(); count * usize::from(slots)],
            slots,
            responses: vec![Responses { last: 0, fastest: Nanos::MAX }; count],
            burst,
            opening: 0,
            next_to_open: 0,
            routes,
            next_route: first_route,
        }
    }

    /// The route of the next connection to open.
    pub(crate) fn next_route(&mut self) -> Route {
        let route = self.routes[self.next_route % self.routes.len()];
        self.next_route = self.next_route.wrapping_add(1);
        route
    }

    /// The next of the first `users` connections to be opened before the start.
    pub(crate) fn next_to_open(&mut self, users: u32) -> Option<u32> {
        let next = self.next_to_open;
        (next < users).then(|| {
            self.next_to_open += 1;
            next
        })
    }

    /// Whether the first `users` connections were opened, or could not be.
    pub(crate) fn all_tried(&self, users: u32) -> bool {
        self.next_to_open == users && self.opening == 0
    }

    /// Their number.
    pub(crate) fn count(&self) -> u32 {
        self.list.len() as u32
    }

    /// Whether there is one request in flight at most on each.
    pub(crate) fn one_at_a_time(&self) -> bool {
        self.slots == 1
    }

    /// Whether connection `j` is open and has room for `burst` more requests.
    #[inline]
    pub(crate) fn has_room(&self, j: u32) -> bool {
        let conn = &self[j];
        conn.state == ConnState::Open
            && u32::from(conn.in_flight) + u32::from(self.burst) <= u32::from(self.slots)
            && !self.is_to_close(j)
    }

    /// Whether the newest request in flight on connection `j` asks for `Connection: close`: nothing is sent behind it.
    #[inline]
    fn is_to_close(&self, j: u32) -> bool {
        let newest = self[j].in_flight.checked_sub(1);
        newest.is_some_and(|newest| self.in_flight[self.place(j, newest) as usize].closes)
    }

    /// Whether connection `j` has as many requests in flight as it may.
    #[inline]
    pub(crate) fn is_full(&self, j: u32) -> bool {
        self[j].in_flight == self.slots
    }

    /// Adds a request behind those in flight on connection `j`, which is not full.
    #[inline]
    pub(crate) fn push(&mut self, j: u32, request: InFlight) {
        let at = self.place(j, self[j].in_flight);
        self.in_flight[at as usize] = request;
        let conn = &mut self.list[j as usize];
        if conn.in_flight == 0 {
            conn.await_response(request);
        }
        conn.in_flight += 1;
    }

    /// Takes the oldest request in flight off connection `j`.
    #[inline]
    pub(crate) fn pop(&mut self, j: u32) -> Option<InFlight> {
        let at = self.oldest_place(j);
        let conn = &mut self.list[j as usize];
        if conn.in_flight == 0 {
            return None;
        }
        conn.in_flight -= 1;
        conn.head = if conn.head + 1 == self.slots { 0 } else { conn.head + 1 };
        let request = &mut self.in_flight[at];
        // The place may be among those yet to be handed over: it no longer holds this request.
        let handed = std::mem::replace(&mut request.handed, true);
        Some(InFlight { handed, ..*request })
    }

    /// A response on connection `j` is whole at `now`; when the one before it was, or 0 where there was none.
    #[inline]
    pub(crate) fn answered(&mut self, j: u32, now: Nanos) -> Nanos {
        std::mem::replace(&mut self.responses[j as usize].last, now)
    }

    /// When the last response on connection `j` was whole; 0 before one.
    pub(crate) fn last_response(&self, j: u32) -> Nanos {
        self.responses[j as usize].last
    }

    /// A response of the window on connection `j` took this long.
    #[inline]
    pub(crate) fn took(&mut self, j: u32, service_ns: Nanos) {
        let fastest = &mut self.responses[j as usize].fastest;
        *fastest = service_ns.min(*fastest);
    }

    /// How long the fastest response of the window on connection `j` took.
    pub(crate) fn fastest(&self, j: u32) -> Nanos {
        self.responses[j as usize].fastest
    }

    /// Prepares connection `j` to read the response to its oldest request, if it has one.
    #[inline]
    pub(crate) fn await_next(&mut self, j: u32) {
        let at = self.oldest_place(j);
        let conn = &mut self.list[j as usize];
        if conn.in_flight > 0 {
            conn.await_response(self.in_flight[at]);
        }
    }

    /// The oldest request in flight on a connection that has one.
    #[inline]
    pub(crate) fn oldest(&self, j: u32) -> &InFlight {
        &self.in_flight[self.oldest_place(j)]
    }

    /// When the last request on connection `j` was sent, which may have had its response: what a pace counts from.
    pub(crate) fn last_sent(&self, j: u32) -> Nanos {
        let Conn { head, in_flight, .. } = self[j];
        let next = slot_after(head, in_flight, self.slots);
        let last = slot_after(next, self.slots - 1, self.slots);
        self.in_flight[j as usize * usize::from(self.slots) + usize::from(last)].sent
    }

    /// When the oldest operation that connection `j` waits for began.
    pub(crate) fn waiting_since(&self, j: u32) -> Option<Nanos> {
        let conn = &self[j];
        match conn.state {
            ConnState::Open => (conn.in_flight > 0).then(|| self.oldest(j).sent),
            _ => self.opening_since(j),
        }
    }

    /// When connection `j` began to connect, or its handshake, if that is what it does.
    pub(crate) fn opening_since(&self, j: u32) -> Option<Nanos> {
        let conn = &self[j];
        match conn.state {
            ConnState::Connecting | ConnState::Handshaking => Some(conn.began),
            ConnState::Open | ConnState::Closed => None,
        }
    }

    /// The place of the request that lies `further` behind the oldest one on connection `j`.
    #[inline]
    pub(crate) fn place(&self, j: u32, further: u16) -> u32 {
        let slot = slot_after(self[j].head, further, self.slots);
        j * u32::from(self.slots) + u32::from(slot)
    }

    /// The request at a place.
    #[inline]
    pub(crate) fn at_place(&mut self, place: u32) -> &mut InFlight {
        &mut self.in_flight[place as usize]
    }

    #[inline]
    fn oldest_place(&self, j: u32) -> usize {
        j as usize * usize::from(self.slots) + usize::from(self[j].head)
    }
}

impl Index<u32> for Connections {
    type Output = Conn;

    #[inline]
    fn index(&self, j: u32) -> &Conn {
        &self.list[j as usize]
    }
}

impl IndexMut<u32> for Connections {
    #[inline]
    fn index_mut(&mut self, j: u32) -> &mut Conn {
        &mut self.list[j as usize]
    }
}

/// The slot `further` behind `head` in a ring of `slots`, neither of them beyond it.
#[inline]
fn slot_after(head: u16, further: u16, slots: u16) -> u16 {
    // A division would take as long as the rest of the call.
    let room = slots - head;
    if further < room { head + further } else { further - room }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_room_behind_a_request_that_asks_to_close() {
        let mut connections = Connections::new(2, 3, 1, Arc::new([]), 0);
        connections[1].state = ConnState::Open;
        connections.push(1, InFlight::default());
        assert!(connections.has_room(1));
        connections.push(1, InFlight { closes: true, ..InFlight::default() });
        assert!(!connections.has_room(1), "the third place stays empty");
    }

    #[test]
    fn requests_leave_in_the_order_in_which_they_came() {
        let mut connections = Connections::new(2, 3, 1, Arc::new([]), 0);
        let request = |sent| InFlight { sent, ..InFlight::default() };
        for sent in 1..=3 {
            connections.push(1, request(sent));
        }
        assert!(connections.is_full(1) && !connections.is_full(0));
        assert_eq!(connections.pop(1).map(|request| request.sent), Some(1));
        connections.push(1, request(4));
        assert_eq!((connections.last_sent(1), connections.last_sent(0)), (4, 0));
        let rest: Vec<_> = std::iter::from_fn(|| connections.pop(1)).map(|r| r.sent).collect();
        assert_eq!((rest, connections.last_sent(1)), (vec![2, 3, 4], 4));
        assert_eq!(connections.pop(0), None);
    }
}
