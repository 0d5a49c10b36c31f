//! Time-outs and the end: which deadlines have passed, and how a worker drains.
//!
//! Owns deadlines. They are kept in dense tables that are scanned twenty times a second, so moving a deadline costs one
//! store; a time-out may come a twentieth of a second late.

use net::{Close, Net};
use wire::Eof;

use super::client::Client;
use super::failure::Failure;
use super::refusal::Fault;
use super::shared::count;
use super::upstream::NONE;
use super::worker::Worker;

/// Never due.
pub(super) const NEVER: u64 = u64::MAX;
/// Between two looks at all deadlines.
pub(super) const SWEEP_NS: u64 = 50_000_000;
/// Before a body may be called slow.
pub(super) const GRACE_NS: u64 = 5_000_000_000;
/// Idle connections get so long for a last request when draining begins.
const LAST_CALL_NS: u64 = 500_000_000;
const SECOND_NS: u128 = 1_000_000_000;

/// How long so many bytes take at a rate.
pub(super) fn earned_ns(bytes: u64, per_s: u64) -> u64 {
    u64::try_from(u128::from(bytes) * SECOND_NS / u128::from(per_s.max(1))).unwrap_or(NEVER)
}

impl Worker {
    /// When a client is due, as it stands.
    #[inline]
    pub(super) fn due_of(&self, client: &Client, now: u64) -> u64 {
        let bounds = self.policy.client();
        let Some(exchange) = &client.exchange else {
            return match client {
                _ if client.closing || client.choked => now.saturating_add(bounds.send_idle_ns),
                _ if client.head_began_ns > 0 => {
                    client.head_began_ns.saturating_add(bounds.head_ns)
                }
                _ => now.saturating_add(bounds.idle_ns),
            };
        };
        if exchange.tunnel {
            let idle = now.saturating_add(exchange.timeouts.idle_ns);
            return idle.min(self.key_ends_ns(exchange, now));
        }
        let stage = match (exchange.status, exchange.read_whole) {
            (0, false) if exchange.awaits_continue() => match exchange.any_sent {
                true => exchange.sent_ns.saturating_add(exchange.timeouts.first_byte_ns),
                false => NEVER,
            },
            (0, false) if !client.paused => {
                let earned = match bounds.body_bytes_per_s {
                    0 => NEVER,
                    rate => earned_ns(exchange.body_bytes, rate).saturating_add(GRACE_NS),
                };
                let due = exchange.head_ns.saturating_add(earned.min(bounds.body_ns));
                if bounds.body_bytes_per_s > 0 { due.min(exchange.off_pace_ns()) } else { due }
            }
            (0, _) if exchange.any_sent => {
                exchange.sent_ns.saturating_add(exchange.timeouts.first_byte_ns)
            }
            (0, _) => NEVER,
            _ if client.draining => now.saturating_add(bounds.send_idle_ns),
            _ => now.saturating_add(exchange.timeouts.idle_ns),
        };
        stage.min(exchange.ends_ns())
    }

    /// Looks all deadlines over.
    pub(super) fn sweep<N: Net>(&mut self, net: &mut N, now: u64) {
        for token in 0..self.client_due.len() {
            if self.client_due[token] <= now {
                self.client_is_due(net, token as u32, now);
            }
        }
        for token in 0..self.up_due.len() {
            if self.up_due[token] <= now {
                self.up_is_due(net, token as u32);
            }
        }
        self.end_invalid(net, now);
        self.begin_checks(net, now);
        self.forget_left(net);
    }

    /// Forgets closed connections of which nothing is left. Others count again for their addresses: whoever does not close too
    /// holds a socket of ours all the same.
    fn forget_left<N: Net>(&mut self, net: &N) {
        let caps = &self.shared.caps;
        self.leaving.retain_mut(|leaving| {
            let lingers = net.lingers(leaving.conn);
            match (lingers, leaving.counted) {
                (false, true) => caps.remove(leaving.address),
                (true, false) => leaving.counted = caps.add(leaving.address, u32::MAX),
                _ => {}
            }
            lingers
        });
    }

    fn client_is_due<N: Net>(&mut self, net: &mut N, token: u32, now: u64) {
        let Some(mut client) = self.clients.take(token) else { return };
        if self.still_takes(net, &mut client, now) {
            return self.settle(net, client);
        }
        match &client.exchange {
            None if client.closing || client.choked => {
                self.cut_client(net, &mut client, Close::Reset)
            }
            None if client.discard.is_some() => self.close_client(net, &mut client),
            None if client.parser.eof() == Eof::Idle => {
                self.cut_client(net, &mut client, Close::Now)
            }
            None => self.answer_fault_and_close(net, &mut client, Fault::Slow),
            Some(exchange) if exchange.tunnel => self.end_tunnel(net, &mut client),
            Some(exchange) if exchange.status != 0 => {
                count(&self.counts().aborted);
                // Where the client is slow, no end of the upstream's is awaited.
                if !client.draining && exchange.server != NONE {
                    let is_over = now >= exchange.ends_ns();
                    let failure = if is_over { Failure::TooLong } else { Failure::Cut };
                    self.pools.servers[exchange.server as usize].health.failed_by(failure);
                }
                self.cut_client(net, &mut client, Close::Reset);
            }
            // It is the upstream that has sent nothing.
            Some(exchange) if exchange.awaits_continue() => self.late(net, &mut client),
            Some(exchange) if !exchange.read_whole && !client.paused => {
                self.answer_fault_and_close(net, &mut client, Fault::Slow);
            }
            Some(_) => self.late(net, &mut client),
        }
        self.read_held(net, &mut client);
        self.settle(net, client);
    }

    /// Whether a client that had to take what it was sent has taken enough of it meanwhile: at least as much as a body has
    /// to bring, and something.
    fn still_takes<N: Net>(&self, net: &N, client: &mut Client, now: u64) -> bool {
        let bounds = self.policy.client();
        let ends_ns = match &client.exchange {
            Some(exchange) if exchange.tunnel => self.key_ends_ns(exchange, now),
            Some(exchange) => exchange.ends_ns(),
            None => NEVER,
        };
        if !client.draining || now >= ends_ns {
            return false;
        }
        let before = client.acknowledged;
        client.acknowledged = net.acknowledged(client.id);
        let least = u128::from(bounds.body_bytes_per_s) * u128::from(bounds.send_idle_ns);
        let taken = u128::from(client.acknowledged.saturating_sub(before));
        taken > 0 && taken >= least / SECOND_NS
    }

    /// The upstream has not begun to answer in time.
    fn late<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        if let Some(exchange) = &mut client.exchange {
            // Too late to be sent again.
            (exchange.attempts_left, exchange.kept) = (0, false);
        }
        self.fail(net, client, Close::Now, Fault::Late(Failure::Late), false);
    }

    fn up_is_due<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(up) = self.ups.get(token) else { return };
        let carries = up.client != NONE || up.check != NONE || up.mirror.is_some();
        if !carries {
            if let Some(up) = self.ups.take(token) {
                self.leave_idle(&up);
                self.drop_up(net, &up, Close::Now);
            }
        } else {
            self.up_failed(net, token, Close::Reset, Fault::Late(Failure::NotConnected));
        }
    }

    /// Stops taking connections; requests in flight are answered.
    pub(super) fn begin_drain<N: Net>(&mut self, net: &mut N, now: u64) {
        self.draining_since_ns = Some(now);
        net.stop_accepting();
        let last_call = now.saturating_add(LAST_CALL_NS);
        for number in 0..self.clients.numbers() {
            if self.clients.get(number).is_some_and(|client| client.exchange.is_none()) {
                let due = &mut self.client_due[number as usize];
                *due = (*due).min(last_call);
            }
        }
    }

    /// The worker's end: requests and tunnels that are still open end now, so that they are counted and logged. How many were
    /// answered so: what they were sent leaves with the next batch.
    pub(super) fn cut_all<N: Net>(&mut self, net: &mut N) -> u32 {
        let mut answered = 0;
        for token in 0..self.clients.numbers() {
            let Some(mut client) = self.clients.take(token) else { continue };
            if let Some(exchange) = client.exchange.as_ref().filter(|exchange| !exchange.tunnel) {
                count(&self.counts().cut);
                if exchange.status == 0 {
                    answered += 1;
                    self.answer_fault_and_close(net, &mut client, Fault::Ended);
                } else {
                    count(&self.counts().aborted);
                }
            }
            self.cut_client(net, &mut client, Close::Flush);
            self.settle(net, client);
        }
        self.usage.hand_over_all();
        answered
    }

    /// Whether draining is over: nothing is left, or its time is up.
    pub(super) fn drained(&self, now: u64) -> bool {
        self.draining_since_ns.is_some_and(|since| {
            let late = now >= since.saturating_add(self.policy.client().drain_ns);
            self.clients.len() == 0 && now >= since.saturating_add(LAST_CALL_NS) || late
        })
    }
}
