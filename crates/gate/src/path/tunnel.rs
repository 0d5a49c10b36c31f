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
/// The wall clock was changed where it is ahead of the monotonic one by this much more or less than before: both are read in
/// whole seconds, the wall clock some times in a second.
const CLOCK_CHANGED_S: u64 = 3;

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

    /// Ends the tunnels of keys that are no longer valid, and sets anew when the others are due, where keys or the wall clock were
    /// changed since this was last done: nothing that passes in a tunnel is decided about, and in a quiet one nothing passes.
    pub(super) fn end_invalid<N: Net>(&mut self, net: &mut N, now: u64) {
        let state = self.policy.state();
        let ahead_s = state.calendar.unix_s().saturating_sub((now / SECOND_NS) as i64);
        let ends = state.keys.ends();
        if self.ends_looked_at.is_some_and(|(known, before_s)| {
            known == ends && ahead_s.abs_diff(before_s) < CLOCK_CHANGED_S
        }) {
            return;
        }
        self.ends_looked_at = Some((ends, ahead_s));
        for number in 0..self.clients.numbers() {
            let Some(client) = self.clients.get(number) else { continue };
            let Some(exchange) = client.exchange.as_ref().filter(|exchange| exchange.tunnel) else {
                continue;
            };
            let ends_ns = self.key_ends_ns(exchange, now);
            if !self.is_of_revoked(client) && ends_ns > now {
                let idle = client.settled_ns.saturating_add(exchange.timeouts.idle_ns);
                self.client_due[number as usize] = idle.min(ends_ns);
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use net::{Event, Handler};

    use super::*;
    use crate::keys::{Digester, Keys, Settings};
    use crate::path::wires::{Wires, accepts, receives, worker_of};
    use crate::policy::{KeySource, Policy, PolicySettings, State, Upstream};

    /// Of the client in slot 0, by a key that expires then. The clock is at 1,000 s.
    fn tunnel(expires_s: i64) -> (Worker, Wires, Arc<State>) {
        let digester = Digester::new(b"secret");
        let settings = PolicySettings {
            digester: Some(digester.clone()),
            key_source: KeySource::usual(),
            ..PolicySettings::open(Upstream::of("api", "127.0.0.1:1".parse().unwrap()))
        };
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        state.calendar.set(1_000);
        let key = Settings { expires_s, ..Settings::default() };
        state.keys.put(&digester.digest(b"one"), &key);
        let (_, mut worker) = worker_of(Policy::new(&state, settings, None).unwrap(), None);
        let mut wires = Wires::new();
        let client = accepts(&mut worker, &mut wires).expect("there is room");
        let asked =
            b"GET / HTTP/1.1\r\nHost: a\r\nX-API-Key: one\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        receives(&mut worker, &mut wires, client, asked);
        let (up, _) = wires.connecting.pop().expect("a connection upstream");
        Handler::<Wires>::event(&mut worker, &mut wires, up, Event::Connected);
        let switched =
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
        receives(&mut worker, &mut wires, up, switched);
        assert!(wires.sent[0].starts_with(b"HTTP/1.1 101 "), "{}", wires.sent[0].escape_ascii());
        (worker, wires, state)
    }

    /// So many seconds later, by a clock that says so; whether the client's connection stands.
    fn later(tunnel: &mut (Worker, Wires, Arc<State>), seconds: u64, unix_s: i64) -> bool {
        let (worker, wires, state) = tunnel;
        wires.now += seconds * SECOND_NS;
        state.calendar.set(unix_s);
        Handler::<Wires>::tick(worker, wires);
        !wires.closed.contains(&0)
    }

    /// It was ended by the time that the clock had said before.
    #[test]
    fn a_quiet_tunnel_goes_on_where_the_clock_is_set_back() {
        let mut tunnel = tunnel(1_010);
        assert!(later(&mut tunnel, 1, 1_001));
        assert!(later(&mut tunnel, 1, 982));
        assert!(later(&mut tunnel, 15, 997), "its key is valid for 13 s more");
        assert!(later(&mut tunnel, 12, 1_009));
        assert!(!later(&mut tunnel, 1, 1_010));
    }

    /// Each step was small enough to be taken for none.
    #[test]
    fn a_quiet_tunnel_ends_with_its_key_where_the_clock_is_set_forward_in_small_steps() {
        let mut tunnel = tunnel(1_030);
        assert!([1_006, 1_012, 1_018, 1_024].into_iter().all(|at| later(&mut tunnel, 1, at)));
        assert!(!later(&mut tunnel, 1, 1_030));
    }

    /// Time-outs go by a clock that nobody sets.
    #[test]
    fn a_quiet_tunnel_times_out_whatever_the_clock_says() {
        let mut tunnel = tunnel(1_000_000);
        let each = [(1, 900), (1, 5_000), (1, 10), (56, 66)];
        assert!(each.into_iter().all(|(after, at)| later(&mut tunnel, after, at)));
        assert!(!later(&mut tunnel, 1, 67));
    }
}
