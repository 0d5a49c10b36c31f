//! Makes room for a new connection when a worker is at its limit of connections or of open files: the client that has
//! been idle for longest is disconnected.
//!
//! Owns the choice of the connections to close. A client that pauses for less than a second between two requests keeps
//! its connection.

use std::cmp::Reverse;

use net::{Close, Net};
use wire::Eof;

use super::client::Client;
use super::timeouts::SWEEP_NS;
use super::worker::Worker;

/// Shortest pause between requests in which a connection may be closed.
const IDLE_NS: u64 = 1_000_000_000;
/// Connections that one look finds. It goes over all of them, once in the time of a sweep at most.
const FOUND_MOST: usize = 64;

/// Connections that may be closed, the longest idle last: when each was to be closed, and its number.
#[derive(Debug, Default)]
pub(super) struct Idlest {
    found: Vec<(u64, u32)>,
    next_look_ns: u64,
}

impl Worker {
    /// Whether there is room for another connection. Where there is none, those that are idle are closed: one, but more once a
    /// reload allows fewer than there are.
    pub(super) fn has_room<N: Net>(&mut self, net: &mut N, now: u64) -> bool {
        while self.is_full() && self.close_idlest(net, now) {}
        !self.is_full()
    }

    /// Closes the connections that one look finds, where no files are left for new ones. The net accepts those after a short
    /// pause.
    pub(super) fn free_files<N: Net>(&mut self, net: &mut N, now: u64) {
        while self.close_idlest(net, now) {}
    }

    /// Closes the connection that has been idle for longest; whether there was one.
    pub(super) fn close_idlest<N: Net>(&mut self, net: &mut N, now: u64) -> bool {
        if self.idlest.found.is_empty() && now >= self.idlest.next_look_ns {
            self.find_idlest(now);
        }
        while let Some((due, token)) = self.idlest.found.pop() {
            // It may have gone on since, or be another one by now.
            let client = self.clients.get(token).filter(|client| is_idle(client));
            let has_all = client.is_some_and(|client| net.backlog(client.id) == 0);
            let still = has_all && self.client_due[token as usize] == due;
            if still && let Some(mut client) = self.clients.take(token) {
                self.cut_client(net, &mut client, Close::Now);
                self.settle(net, client);
                return true;
            }
        }
        false
    }

    /// Those count too that are closed here and not at their clients.
    fn is_full(&self) -> bool {
        let open = self.clients.len() + self.leaving.len();
        open as u64 >= u64::from(self.policy.client().connections_max)
    }

    fn find_idlest(&mut self, now: u64) {
        self.idlest.next_look_ns = now.saturating_add(SWEEP_NS);
        // A connection is due so long after it became idle.
        let idle_ns = self.policy.client().idle_ns;
        let latest = now.saturating_add(idle_ns).saturating_sub(IDLE_NS);
        let due = |token: u32| self.client_due[token as usize];
        let is_found =
            |token: &u32| due(*token) <= latest && self.clients.get(*token).is_some_and(is_idle);
        let found = (0..self.clients.numbers()).filter(is_found);
        let mut found: Vec<(u64, u32)> = found.map(|token| (due(token), token)).collect();
        found.sort_unstable_by_key(|found| Reverse(*found));
        found.drain(..found.len().saturating_sub(FOUND_MOST));
        self.idlest.found = found;
    }
}

/// Whether a client is between two requests, and owes and is owed nothing.
fn is_idle(client: &Client) -> bool {
    let is_asked = client.head_began_ns > 0 || !client.held.is_empty() || client.discard.is_some();
    let is_answered = client.exchange.is_none() && !client.choked && !client.closing;
    is_answered && !is_asked && client.parser.eof() == Eof::Idle
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use net::{Event, Handler};

    use super::*;
    use crate::keys::Keys;
    use crate::path::shared::Shared;
    use crate::path::wires::{Wires, accepts, receives, worker_of};
    use crate::path::worker::UP;
    use crate::policy::{ClientBounds, Policy, PolicySettings, State, Upstream};

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    fn settings(connections_max: u32, connections_per_address: u32) -> PolicySettings {
        let bounds = ClientBounds::default();
        let client = ClientBounds { connections_max, connections_per_address, ..bounds };
        let upstream = Upstream::of("api", "127.0.0.1:1".parse().unwrap());
        PolicySettings { client, ..PolicySettings::open(upstream) }
    }

    fn worker(settings: PolicySettings) -> (Arc<Shared>, Worker) {
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        worker_of(Policy::new(&state, settings, None).unwrap(), None)
    }

    /// A client that was answered; all of them by the first connection to the upstream.
    fn served(worker: &mut Worker, wires: &mut Wires) -> u32 {
        let client = accepts(worker, wires).expect("there is room");
        receives(worker, wires, client, GET);
        if let Some((up, _)) = wires.connecting.pop() {
            Handler::<Wires>::event(worker, wires, up, Event::Connected);
        }
        receives(worker, wires, UP, OK);
        client
    }

    /// One connection was closed for each newcomer, so that nobody was let in for long.
    #[test]
    fn as_many_make_room_as_a_reload_asks_for() {
        let (shared, mut worker) = worker(settings(8, 100));
        let mut wires = Wires::new();
        for _ in 0..8 {
            served(&mut worker, &mut wires);
            wires.now += 1_000;
        }
        let (before, _) = shared.current.get();
        let fewer = Policy::new(before.state(), settings(3, 100), Some(&before)).unwrap();
        shared.current.replace(Arc::new(fewer));
        wires.now += IDLE_NS;
        Handler::<Wires>::tick(&mut worker, &mut wires);
        assert!(accepts(&mut worker, &mut wires).is_some());
        // The slot of the first client's connection is 0, that of the one to the upstream 1.
        assert_eq!((worker.clients.len(), &wires.closed[..]), (3, &[0, 2, 3, 4, 5, 6][..]));
    }

    #[test]
    fn who_has_all_that_an_address_may_have_costs_nobody_a_connection() {
        let (_shared, mut worker) = worker(settings(2, 1));
        let mut wires = Wires::new();
        served(&mut worker, &mut wires);
        wires.from = "127.0.0.2".parse().unwrap();
        served(&mut worker, &mut wires);
        wires.now += IDLE_NS;
        assert_eq!(accepts(&mut worker, &mut wires), None);
        assert!(wires.closed.is_empty(), "{:?}", wires.closed);
        wires.from = "127.0.0.3".parse().unwrap();
        assert!(accepts(&mut worker, &mut wires).is_some());
        assert_eq!(wires.closed, [0]);
    }

    /// The request was answered with 502, while idle clients kept their files.
    #[test]
    fn a_connection_to_the_upstream_gets_the_file_of_an_idle_client() {
        let (shared, mut worker) = worker(settings(8, 100));
        let mut wires = Wires::new();
        wires.files = 1;
        served(&mut worker, &mut wires);
        wires.now += 1_000;
        served(&mut worker, &mut wires);
        let [first, second, third, last] =
            [(); 4].map(|()| accepts(&mut worker, &mut wires).expect("there is room"));
        wires.now += IDLE_NS;
        // By the connection that stands, then by new ones, for each of which one client goes.
        receives(&mut worker, &mut wires, first, GET);
        receives(&mut worker, &mut wires, second, GET);
        assert_eq!((wires.connecting.len(), &wires.closed[..]), (1, &[0][..]));
        receives(&mut worker, &mut wires, third, GET);
        assert_eq!((wires.connecting.len(), &wires.closed[..]), (2, &[0, 2][..]));
        // Nobody is idle any more: the request fails, which is no fault of the server.
        receives(&mut worker, &mut wires, last, GET);
        let answer = wires.sent.iter().rfind(|sent| !sent.is_empty()).expect("an answer");
        assert!(answer.starts_with(b"HTTP/1.1 502 "), "{}", answer.escape_ascii());
        let server = &shared.health.view(wires.now)[0];
        assert!(server.well && server.failed == 0, "{server:?}");
    }

    #[test]
    fn a_check_or_a_shadow_costs_no_client_its_connection() {
        let (_shared, mut worker) = worker(settings(8, 100));
        let mut wires = Wires::new();
        wires.files = 1;
        served(&mut worker, &mut wires);
        wires.now += IDLE_NS;
        let no_client = crate::policy::NONE;
        assert!(worker.open_up(&mut wires, 0, no_client, u64::MAX).is_err());
        assert!(wires.closed.is_empty());
    }
}
