//! How requests and connections end: with a response, a failure, a retry, abandoned or cut off.
//!
//! Owns that each admitted request is finished exactly once, that each server's count of requests in flight is decreased,
//! and that a client's connection is closed only after the client has got what it was sent.

use net::{Close, Net};

use super::client::{Client, Exchange};
use super::failure::Failure;
use super::logging::{Ending, head_of};
use super::refusal::{self, Fault, Manner};
use super::shared::count;
use super::to_upstream::Attempt;
use super::upstream::{NONE, UpstreamConn};
use super::worker::Worker;
use crate::policy::Outcome;

/// Bytes of responses that a client may leave untaken before its next request is begun.
const CHOKED_BYTES: usize = 64 * 1024;
/// Bytes of a scratch buffer that is kept.
const KEPT_SCRATCH: usize = 256 * 1024;

impl Worker {
    /// A response is complete, and its connection may carry another request or not.
    pub(super) fn complete<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        mut up: Box<UpstreamConn>,
        keep: bool,
    ) {
        let now = net.taken_in().at;
        let Some(mut exchange) = client.exchange.take() else {
            return self.drop_up(net, &up, Close::Now);
        };
        self.pools.servers[up.server as usize].health.succeeded();
        self.give_back(&mut exchange);
        up.client = NONE;
        up.responses += 1;
        let server = &mut self.pools.servers[up.server as usize];
        if keep && exchange.read_whole && !server.retired && self.draining_since_ns.is_none() {
            if std::mem::take(&mut up.paused) {
                net.set_receiving(up.id, true);
            }
            server.idle.push(up.token);
            let upstream = &self.pools.pools[server.pool as usize].upstream;
            self.up_due[up.token as usize] = now.saturating_add(upstream.keep_alive_ns);
            self.ups.put(up.token, up);
        } else {
            self.drop_up(net, &up, Close::Now);
        }
        self.finish(client, &exchange, now);
        if exchange.keep_alive && !self.draining() {
            self.after_answer(net, client);
        } else {
            self.close_client(net, client);
        }
    }

    /// The connection that carries the client's request is of no use any more. `stale`: it had carried others
    /// before, and may have been closed before this one arrived.
    pub(super) fn fail<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        how: Close,
        fault: Fault,
        stale: bool,
    ) {
        let now = net.taken_in().at;
        let Some(exchange) = &mut client.exchange else { return };
        let (token, server) = (exchange.up, exchange.server);
        let unanswered = exchange.first_byte_ns == 0 && !exchange.interim;
        let sending = !exchange.read_whole || client.handed < client.request.len();
        let fault = match fault {
            Fault::Upstream(Failure::Closed) if sending => Fault::Upstream(Failure::Unread),
            fault => fault,
        };
        let stale = stale && unanswered;
        if server != NONE && !stale {
            let state = &self.pools.servers[server as usize];
            let rule = self.pools.pools[state.pool as usize].upstream.passive;
            if !matches!(fault, Fault::Upstream(Failure::Local)) {
                state.health.did_not_answer(&rule, now);
            }
            if let Fault::Upstream(failure) | Fault::Late(failure) = fault {
                let closed = matches!(failure, Failure::Closed | Failure::Unread);
                let begun = !unanswered && closed;
                state.health.failed_by(if begun { Failure::Cut } else { failure });
            }
        }
        self.give_back_of(client);
        self.close_up(net, token, how);
        let Some(exchange) = &mut client.exchange else { return };
        if exchange.tunnel {
            return self.end_tunnel(net, client);
        }
        if exchange.status != 0 {
            count(&self.counts().aborted);
            let how = if exchange.sent_as == super::response::Sent::UntilClose {
                Close::Reset
            } else {
                Close::Flush
            };
            return self.cut_client(net, client, how);
        }
        if unanswered && self.may_send_again(client, stale) {
            count(&self.counts().retries);
            client.handed = 0;
            let attempt = match stale {
                true => Attempt::Reconnected,
                false => Attempt::Elsewhere { failed: server },
            };
            return self.dispatch(net, client, attempt);
        }
        self.answer_fault(net, client, fault);
    }

    /// Whether the client's request may be sent again, taking it from the budget.
    fn may_send_again(&mut self, client: &mut Client, stale: bool) -> bool {
        let Some(exchange) = &mut client.exchange else { return false };
        let whole = !exchange.any_sent || (exchange.idempotent && exchange.kept);
        if !whole || (!stale && exchange.attempts_left == 0) {
            return false;
        }
        let pool = &mut self.pools.pools[exchange.pool as usize];
        // A connection that the server had closed before costs it nothing to be asked again.
        if !stale && !pool.budget.take(&pool.upstream.retry) {
            return false;
        }
        if !stale {
            exchange.attempts_left -= 1;
        }
        exchange.any_sent = false;
        true
    }

    /// Answers like [`Self::answer_fault`], and closes the connection: what follows on it is no request, or is not waited for.
    pub(super) fn answer_fault_and_close<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        fault: Fault,
    ) {
        if let Some(exchange) = &mut client.exchange {
            exchange.keep_alive = false;
        }
        self.answer_fault(net, client, fault);
    }

    /// Answers the client's request with a fault of it or of the upstream. The connection is kept where the client may send
    /// another request on it.
    pub(super) fn answer_fault<N: Net>(&mut self, net: &mut N, client: &mut Client, fault: Fault) {
        let now = net.taken_in().at;
        self.counts().fault(fault);
        let mut exchange = client.exchange.take();
        let mut manner = Manner { keep_alive: false, head_only: false };
        if let Some(exchange) = &mut exchange {
            let token = exchange.up;
            self.give_back(exchange);
            self.close_up(net, token, Close::Now);
            if exchange.status != 0 {
                // Part of another response is out: nothing can follow it.
                self.finish(client, exchange, now);
                client.forget_request();
                return self.cut_client(net, client, Close::Flush);
            }
            let keep_alive = exchange.keep_alive && !exchange.expects_continue && !self.draining();
            manner = Manner { keep_alive, head_only: exchange.head_only };
        }
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        refusal::write_fault(&mut out, fault, self.date.line(), manner);
        self.send_client(net, client, &out);
        let bytes_out = out.len() as u64;
        self.out = out;
        let mut whole = true;
        if let Some(exchange) = &mut exchange {
            exchange.status = fault.status();
            exchange.upstream_failed =
                matches!(fault, Fault::Upstream(_) | Fault::Busy | Fault::Ended | Fault::Late(_));
            exchange.bytes_out = bytes_out;
            exchange.head_out = head_of(&self.out);
            whole = exchange.read_whole;
            self.finish(client, exchange, now);
        } else {
            self.usage.invalid(fault.status());
            self.log_unread(client, fault.status(), bytes_out as usize, now);
        }
        client.forget_request();
        match (manner.keep_alive, whole) {
            (false, _) => self.close_client(net, client),
            (true, false) => {
                Self::discard_body(client, now);
                client.resume(net);
            }
            (true, true) => self.after_answer(net, client),
        }
    }

    /// Reports the outcome of a request to the policy and to the log.
    fn finish(&mut self, client: &mut Client, exchange: &Exchange, now: u64) {
        let Exchange { ticket, sent_ns, first_byte_ns, connect_ns, .. } = exchange;
        let asked_ns = if *sent_ns > 0 { *sent_ns } else { *connect_ns };
        let unanswered = *first_byte_ns == 0 && exchange.read_whole && asked_ns > 0;
        // What passes in a tunnel is no response to this request: hours of it would be the longest of all latencies.
        let answered_ns = if exchange.tunnel { *first_byte_ns } else { now };
        let outcome = Outcome {
            status: exchange.status,
            bytes_in: exchange.bytes_in,
            bytes_out: exchange.bytes_out,
            latency_ns: answered_ns.saturating_sub(ticket.admitted_at_ns),
            upstream_ns: if *first_byte_ns == 0 {
                0
            } else {
                first_byte_ns.saturating_sub(*sent_ns).max(1)
            },
            waited_ns: if unanswered { now.saturating_sub(asked_ns) } else { 0 },
            upstream_failed: exchange.upstream_failed,
        };
        self.policy.finish(ticket, &outcome, now, &mut self.usage);
        self.first_ended(exchange.shadow, exchange.status);
        let ending = Ending {
            key: ticket.key,
            route: ticket.route,
            status: exchange.status,
            bytes_in: exchange.bytes_in,
            bytes_out: exchange.bytes_out,
            head_out: Some(exchange.head_out),
        };
        self.log(client, ending, now);
    }

    /// Takes a request away from its server's count.
    fn give_back(&mut self, exchange: &mut Exchange) {
        if exchange.server != NONE {
            let health = &self.pools.servers[exchange.server as usize].health;
            health.end();
            if let Some(trial) = exchange.trial.take() {
                health.end_trial(trial);
            }
        }
        (exchange.server, exchange.up) = (NONE, NONE);
    }

    fn give_back_of(&mut self, client: &mut Client) {
        if let Some(mut exchange) = client.exchange.take() {
            self.give_back(&mut exchange);
            client.exchange = Some(exchange);
        }
    }

    /// The client is gone or to go: what it had asked for is not awaited any longer.
    pub(super) fn abandon<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        let Some(mut exchange) = client.exchange.take() else { return };
        let token = exchange.up;
        self.give_back(&mut exchange);
        self.close_up(net, token, Close::Now);
        self.finish(client, &exchange, net.taken_in().at);
    }

    /// The next request may begin.
    pub(super) fn after_answer<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        client.forget_request();
        if self.out.capacity() > KEPT_SCRATCH {
            self.out = Vec::new();
        }
        if net.backlog(client.id) > CHOKED_BYTES {
            client.choked = true;
            client.want_drained(net);
        }
    }

    /// Sends the client bytes, in TLS where that is spoken.
    pub(super) fn send_client<N: Net>(&mut self, net: &mut N, client: &mut Client, bytes: &[u8]) {
        match &mut client.tls {
            None => net.send(client.id, bytes),
            Some(tls) => {
                tls.encrypt(bytes);
                self.records.clear();
                tls.outgoing(&mut self.records);
                net.send(client.id, &self.records);
            }
        }
    }

    /// Closes a client's connection once it has taken everything.
    pub(super) fn close_client<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        if client.closing || client.gone {
            return;
        }
        if let Some(tls) = &mut client.tls {
            tls.close_notify();
            self.records.clear();
            tls.outgoing(&mut self.records);
            net.send(client.id, &self.records);
        }
        close_behind(net, client);
    }

    /// Ends a client's request now, and its connection with it: with [`Close::Flush`] once it has taken what it was sent.
    pub(super) fn cut_client<N: Net>(&mut self, net: &mut N, client: &mut Client, how: Close) {
        self.abandon(net, client);
        match how {
            _ if client.gone => {}
            Close::Flush => close_behind(net, client),
            how => {
                net.close(client.id, how);
                client.gone = true;
            }
        }
    }
}

/// Closes a client's connection once it has taken everything. Until then the worker keeps it, with its deadline and as one of
/// its address: a net, which would flush it too, knows of neither.
fn close_behind<N: Net>(net: &mut N, client: &mut Client) {
    client.closing = true;
    if net.backlog(client.id) == 0 {
        net.close(client.id, Close::Flush);
        client.gone = true;
    } else {
        client.pause(net);
        client.want_drained(net);
    }
}
