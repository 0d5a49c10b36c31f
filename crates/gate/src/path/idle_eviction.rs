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
    /// Whether there is room for another connection. Where there is none, one that is idle is closed.
    pub(super) fn has_room<N: Net>(&mut self, net: &mut N, now: u64) -> bool {
        if self.is_full() {
            self.close_idlest(net, now);
        }
        !self.is_full()
    }

    /// Closes the connections that one look finds, where no files are left for new ones. The net accepts those after a short
    /// pause.
    pub(super) fn free_files<N: Net>(&mut self, net: &mut N, now: u64) {
        while self.close_idlest(net, now) {}
    }

    /// Closes the connection that has been idle for longest; whether there was one.
    fn close_idlest<N: Net>(&mut self, net: &mut N, now: u64) -> bool {
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
