//! After a change of protocols: bytes pass both ways, under the same pressure back, until one side ends.
//!
//! Knows nothing of what passes. Opened only where the client asked for it and the upstream answered 101; it ends with its
//! key, too.

use net::{Close, Net};

use super::client::{Client, Exchange};
use super::timeouts::NEVER;
use super::to_upstream::{BACKLOG_BYTES, send_up};
use super::upstream::NONE;
use super::worker::Worker;
use crate::policy;

const SECOND_NS: u64 = 1_000_000_000;
/// A clock that goes on by more than this between two looks, of which there are some in a second, was changed.
const CLOCK_CHANGED_S: i64 = 10;

impl Worker {
    /// Bytes from the client.
    pub(super) fn tunnel_up<N: Net>(&mut self, net: &mut N, client: &mut Client, bytes: &[u8]) {
        let Some(exchange) = &mut client.exchange else { return };
        let Some(up) = self.ups.get_mut(exchange.up) else { return };
        exchange.bytes_in += bytes.len() as u64;
        if bytes.is_empty() {
            return;
        }
        send_up(net, up.id, up.tls.as_deref_mut(), bytes, &mut self.records);
        if net.backlog(up.id) > BACKLOG_BYTES {
            if !up.draining {
                up.draining = true;
                net.want_drained(up.id);
            }
            client.pause(net);
        }
    }

    /// Bytes from the upstream.
    pub(super) fn tunnel_down<N: Net>(&mut self, net: &mut N, client: &mut Client, bytes: &[u8]) {
        let Some(exchange) = &mut client.exchange else { return };
        exchange.bytes_out += bytes.len() as u64;
        if !bytes.is_empty() {
            self.send_client(net, client, bytes);
        }
    }

    /// What the client sent before the upstream answered.
    pub(super) fn tunnel_held<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        client.forget_request();
        let held = std::mem::take(&mut client.held);
        self.tunnel_up(net, client, &held);
        self.resume(net, client);
    }

    /// Ends the tunnels of keys that are no longer valid, where keys or the clock were changed since this was last called: nothing
    /// that passes in a tunnel is decided about, and in a quiet one nothing passes.
    pub(super) fn end_invalid<N: Net>(&mut self, net: &mut N, now: u64) {
        let state = self.policy.state();
        let (ends, unix_s) = (state.keys.ends(), state.calendar.unix_s());
        let is_same = std::mem::replace(&mut self.ends, ends) == ends;
        let since_s = unix_s.saturating_sub(std::mem::replace(&mut self.looked_s, unix_s));
        if is_same && (0..CLOCK_CHANGED_S).contains(&since_s) {
            return;
        }
        for number in 0..self.clients.numbers() {
            let Some(client) = self.clients.get(number) else { continue };
            let tunnel = client.exchange.as_ref().filter(|exchange| exchange.tunnel);
            let Some(ends_ns) = tunnel.map(|exchange| self.key_ends_ns(exchange, now)) else {
                continue;
            };
            if !self.is_of_revoked(client) && ends_ns > now {
                let due = &mut self.client_due[number as usize];
                *due = ends_ns.min(*due);
            } else if let Some(mut client) = self.clients.take(number) {
                self.end_tunnel(net, &mut client);
                self.settle(net, client);
            }
        }
    }

    /// When the key of a tunnel expires, to the second; [`NEVER`] where it does not, or there is none.
    pub(super) fn key_ends_ns(&self, exchange: &Exchange, now: u64) -> u64 {
        let state = self.policy.state();
        let key = exchange.ticket.key;
        let entry = (key != policy::NONE).then(|| state.keys.entry(key));
        let left_s = entry.and_then(|entry| entry.left_s(state.calendar.unix_s()));
        left_s.map_or(NEVER, |left_s| now.saturating_add(left_s.saturating_mul(SECOND_NS)))
    }

    /// Whether a client has a tunnel whose key was revoked.
    pub(super) fn is_of_revoked(&self, client: &Client) -> bool {
        let exchange = client.exchange.as_ref().filter(|exchange| exchange.tunnel);
        let key = exchange.map(|exchange| exchange.ticket.key).filter(|key| *key != policy::NONE);
        key.is_some_and(|key| self.policy.state().keys.entry(key).is_revoked())
    }

    /// One side has ended: both get what was sent to them, and are closed.
    pub(super) fn end_tunnel<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        if let Some(exchange) = &mut client.exchange {
            let token = std::mem::replace(&mut exchange.up, NONE);
            self.close_up(net, token, Close::Flush);
        }
        self.abandon(net, client);
        self.close_client(net, client);
    }
}
