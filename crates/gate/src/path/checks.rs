//! Active checks: requests that the gateway itself sends to see whether servers are well.
//!
//! Owns their timing and which result counts as well. One worker makes them; `health` stores their results.

use net::{Close, Net};
use wire::{ResponseEvent, ResponseTo};

use super::failure::Failure;
use super::to_upstream::{lacks_resources, send_up};
use super::upstream::{NONE, UpstreamConn};
use super::worker::Worker;
use crate::health::CheckFailure;

impl Worker {
    /// Begins the checks that are due.
    pub(super) fn begin_checks<N: Net>(&mut self, net: &mut N, now: u64) {
        if self.number != 0 || self.draining() {
            return;
        }
        for number in 0..self.pools.servers.len() {
            let server = &mut self.pools.servers[number];
            let upstream = &self.pools.pools[server.pool as usize].upstream;
            let Some(rule) = &upstream.active else { continue };
            // One that takes longer than the time between two is waited for: they do not pile up.
            if server.retired || server.checking || now < server.check_ns {
                continue;
            }
            server.check_ns = now.saturating_add(rule.every_ns);
            let due = now.saturating_add(rule.timeout_ns);
            match self.open_up(net, number as u32, NONE, due) {
                Ok(token) => {
                    self.pools.servers[number].checking = true;
                    if let Some(up) = self.ups.get_mut(token) {
                        up.check = up.server;
                    }
                }
                // That says nothing of the server.
                Err(error) if lacks_resources(&error) => {}
                Err(_) => {
                    self.judge(number as u32, Err(CheckFailure::Unanswered(Failure::NoAddress)));
                }
            }
        }
    }

    /// The connection of a check stands: asks.
    pub(super) fn send_check<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(up) = self.ups.get_mut(token) else { return };
        let server = &self.pools.servers[up.server as usize];
        let upstream = &self.pools.pools[server.pool as usize].upstream;
        let path = upstream.active.as_ref().map_or("/", |rule| rule.path.as_str());
        let host = upstream.addresses.get(server.place).map_or("", |address| address.text.as_str());
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: plimsoll-gate\r\nConnection: close\r\n\r\n"
        );
        up.parser.begin(ResponseTo::Other);
        send_up(net, up.id, up.tls.as_deref_mut(), request.as_bytes(), &mut self.records);
    }

    /// Bytes of the response to a check.
    pub(super) fn check_received<N: Net>(
        &mut self,
        net: &mut N,
        mut up: Box<UpstreamConn>,
        bytes: &[u8],
    ) {
        let mut input = bytes;
        loop {
            let found = match up.parser.next(&mut input) {
                Ok(Some(ResponseEvent::Head(head))) => match head.status {
                    ..200 => continue,
                    200..400 => Ok(()),
                    status => Err(CheckFailure::Status(status)),
                },
                Ok(None) => return self.ups.put(up.token, up),
                Ok(Some(_)) => Err(CheckFailure::Unanswered(Failure::Framing)),
                Err(error) => Err(CheckFailure::Unanswered(Failure::of(&error))),
            };
            self.judge(up.server, found);
            return self.drop_up(net, &up, Close::Now);
        }
    }

    /// A check had no response.
    pub(super) fn check_failed(&self, up: &UpstreamConn, failure: Failure) {
        if failure != Failure::Local {
            self.judge(up.server, Err(CheckFailure::Unanswered(failure)));
        }
    }

    fn judge(&self, server: u32, found: Result<(), CheckFailure>) {
        let server = &self.pools.servers[server as usize];
        if let Some(rule) = &self.pools.pools[server.pool as usize].upstream.active {
            if let Err(failure) = found {
                server.health.check_failed(failure);
            }
            server.health.checked(found.is_ok(), rule);
        }
    }
}
