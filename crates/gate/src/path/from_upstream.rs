//! What upstreams send: responses, passed on to the client as they come.
//!
//! Owns the way of a response from a server's bytes to the client's. `response` writes heads, `ending` ends requests.

use net::{Close, Net};
use wire::{Eof, Headers, ResponseEvent};

use super::client::{Client, Exchange};
use super::failure::Failure;
use super::fields::Connection;
use super::redirects::Back;
use super::refusal::Fault;
use super::response::{self, Manner, Sent};
use super::shared::count;
use super::to_upstream::BACKLOG_BYTES;
use super::upstream::{NONE, UpstreamConn};
use super::worker::Worker;
use crate::policy::HeaderRules;

/// How far a response has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    More,
    /// Complete; the connection may carry another request or not.
    Done(bool),
    /// The protocol was changed; so many bytes behind the head belong to the tunnel.
    Tunnel(usize),
    /// It is no response.
    Broken(Failure),
}

/// What passing a response on depends on.
struct Terms<'a> {
    rules: &'a HeaderRules,
    date: &'a [u8],
    back: Option<Back<'a>>,
    draining: bool,
    now: u64,
}

impl Worker {
    /// Bytes from a server.
    pub(super) fn up_received<N: Net>(&mut self, net: &mut N, token: u32, bytes: &[u8]) {
        let Some(mut up) = self.ups.take(token) else { return };
        let Some(mut tls) = up.tls.take() else { return self.up_plain(net, up, bytes) };
        let id = up.id;
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let shaking = tls.is_handshaking();
        let decrypted = tls.decrypt(bytes, &mut plain);
        self.records.clear();
        tls.outgoing(&mut self.records);
        if !self.records.is_empty() {
            net.send(up.id, &self.records);
        }
        let opened = shaking && !tls.is_handshaking() && decrypted.is_ok();
        let ended = tls.has_ended();
        up.tls = Some(tls);
        up.open |= opened;
        let failed = decrypted.is_err();
        let failure = decrypted.as_ref().err().map_or(Failure::Tls, Failure::of_tls);
        if let Err(error) = &decrypted {
            let server = &self.pools.servers[up.server as usize];
            server.health.tls_failed(failure, Failure::about_tls(error));
        }
        if failed || opened {
            self.ups.put(token, up);
            if failed {
                self.up_failed(net, token, Close::Now, Fault::Upstream(failure));
            } else {
                self.up_opened(net, token);
            }
            if let Some(up) = self.ups.take(token) {
                if plain.is_empty() || failed {
                    self.ups.put(token, up)
                } else {
                    self.up_plain(net, up, &plain)
                }
            }
        } else if plain.is_empty() {
            self.ups.put(token, up);
        } else {
            self.up_plain(net, up, &plain);
        }
        self.plain = plain;
        // Its connection may be gone by now, and its number another one's.
        if ended && self.ups.get(token).is_some_and(|up| up.id == id) {
            self.up_eof(net, token);
        }
    }

    /// Plaintext from a server.
    fn up_plain<N: Net>(&mut self, net: &mut N, mut up: Box<UpstreamConn>, bytes: &[u8]) {
        let token = up.token;
        if up.check != NONE {
            return self.check_received(net, up, bytes);
        }
        if up.mirror.is_some() {
            return self.mirror_received(net, up, bytes);
        }
        let Some(mut client) = self.clients.take(up.client) else {
            // Bytes that nobody asked for: a later response on this connection could not be distinguished from them.
            self.leave_idle(&up);
            return self.drop_up(net, &up, Close::Now);
        };
        let progress = self.pass_on(net, &mut client, &mut up, bytes);
        self.end_trial(&mut client);
        match progress {
            Progress::More => {
                self.hold_back(net, &mut client, &mut up);
                self.ups.put(token, up);
            }
            Progress::Done(keep) => self.complete(net, &mut client, up, keep),
            Progress::Tunnel(rest) => {
                self.pools.servers[up.server as usize].health.succeeded();
                self.ups.put(token, up);
                count(&self.counts().tunnels);
                self.leave_line(&mut client, net.taken_in().at);
                self.tunnel_down(net, &mut client, &bytes[bytes.len() - rest..]);
                self.tunnel_held(net, &mut client);
                if self.is_of_revoked(&client) {
                    self.end_tunnel(net, &mut client);
                }
            }
            Progress::Broken(failure) => {
                self.ups.put(token, up);
                self.fail(net, &mut client, Close::Now, Fault::Upstream(failure), false);
            }
        }
        self.read_held(net, &mut client);
        self.settle(net, client);
    }

    /// Where the request that tries a server is being answered, others may try it too: a response or a tunnel may last for hours.
    fn end_trial(&self, client: &mut Client) {
        if let Some(exchange) = &mut client.exchange
            && exchange.first_byte_ns > 0
            && let Some(trial) = exchange.trial.take()
        {
            self.pools.servers[exchange.server as usize].health.end_trial(trial);
        }
    }

    /// The protocol was changed: for the load line the request is over. A tunnel that is idle for long is no stall either.
    fn leave_line(&self, client: &mut Client, now: u64) {
        if let Some(exchange) = &mut client.exchange {
            let upstream_ns = exchange.first_byte_ns.saturating_sub(exchange.sent_ns).max(1);
            self.policy.leave_line(&mut exchange.ticket, upstream_ns, now);
        }
    }

    /// Passes on what bytes bring of a response.
    fn pass_on<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        up: &mut UpstreamConn,
        bytes: &[u8],
    ) -> Progress {
        let Some(exchange) = &mut client.exchange else {
            return Progress::Broken(Failure::Framing);
        };
        if exchange.tunnel {
            self.tunnel_down(net, client, bytes);
            return Progress::More;
        }
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let route = self.policy.route(exchange.ticket.route);
        let back = Back {
            rewrite: route.rewrite.as_ref(),
            servers: &self.pools.pools[exchange.pool as usize].upstream.addresses,
            upstream_host: route.upstream_host.as_deref(),
            asked: &client.asked,
        };
        let terms = Terms {
            rules: &route.response_headers,
            date: self.date.line(),
            back: route.rewrite_responses.then_some(back),
            draining: self.draining_since_ns.is_some(),
            now: net.taken_in().at,
        };
        let mut input = bytes;
        let progress = loop {
            match step(exchange, up, &mut input, &mut out, &terms) {
                Progress::More if input.is_empty() => break Progress::More,
                Progress::More => {}
                ended => break ended,
            }
        };
        if !out.is_empty() {
            exchange.bytes_out += out.len() as u64;
            self.send_client(net, client, &out);
        }
        self.out = out;
        progress
    }

    /// Holds a server back whose response the client does not take as fast.
    pub(super) fn hold_back<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        up: &mut UpstreamConn,
    ) {
        if !up.paused && net.backlog(client.id) > BACKLOG_BYTES {
            up.paused = true;
            net.set_receiving(up.id, false);
            client.want_drained(net);
        }
    }

    /// A server sends no more.
    pub(super) fn up_eof<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(mut up) = self.ups.take(token) else { return };
        let Some(mut client) = self.clients.take(up.client) else {
            let failure = Failure::of_lost(&up);
            return self.up_without_client(net, up, failure);
        };
        let tunnel = client.exchange.as_ref().is_some_and(|exchange| exchange.tunnel);
        match up.parser.eof() {
            _ if tunnel => {
                self.ups.put(token, up);
                self.end_tunnel(net, &mut client);
            }
            Eof::Complete if !up.is_cut_off() => {
                if client.exchange.as_ref().is_some_and(|exchange| exchange.sent_as == Sent::Chunks)
                {
                    self.send_client(net, &mut client, b"0\r\n\r\n");
                }
                self.complete(net, &mut client, up, false);
            }
            eof => {
                let stale = up.responses > 0;
                let cut = matches!(eof, Eof::Truncated | Eof::Complete);
                let failure = if cut { Failure::Cut } else { Failure::of_lost(&up) };
                self.ups.put(token, up);
                self.fail(net, &mut client, Close::Now, Fault::Upstream(failure), stale);
            }
        }
        self.read_held(net, &mut client);
        self.settle(net, client);
    }

    /// A connection to a server is gone, or could not be made.
    pub(super) fn up_lost<N: Net>(&mut self, net: &mut N, token: u32, gone: net::Failure) {
        let failure = self.ups.get(token).map_or(Failure::Closed, |up| Failure::of_gone(up, gone));
        self.up_failed(net, token, Close::Now, Fault::Upstream(failure));
    }

    /// A connection to a server is of no use any more.
    pub(super) fn up_failed<N: Net>(&mut self, net: &mut N, token: u32, how: Close, fault: Fault) {
        let Some(up) = self.ups.take(token) else { return };
        let Some(mut client) = self.clients.take(up.client) else {
            let failure = match fault {
                Fault::Late(_) if up.open => Failure::Late,
                Fault::Late(failure) | Fault::Upstream(failure) => failure,
                _ => Failure::of_lost(&up),
            };
            return self.up_without_client(net, up, failure);
        };
        let stale = up.responses > 0 && !matches!(fault, Fault::Late(_));
        self.ups.put(token, up);
        self.fail(net, &mut client, how, fault, stale);
        self.read_held(net, &mut client);
        self.settle(net, client);
    }

    /// An idle connection, or one that carried a check, has ended so.
    fn up_without_client<N: Net>(&mut self, net: &mut N, up: Box<UpstreamConn>, failure: Failure) {
        if up.mirror.is_some() {
            return self.mirror_ended(net, up, failure);
        }
        if up.check != NONE {
            self.check_failed(&up, failure);
        } else {
            self.leave_idle(&up);
        }
        self.drop_up(net, &up, Close::Now);
    }

    /// Takes a connection out of the idle ones.
    pub(super) fn leave_idle(&mut self, up: &UpstreamConn) {
        let idle = &mut self.pools.servers[up.server as usize].idle;
        if let Some(at) = idle.iter().rposition(|&token| token == up.token) {
            idle.remove(at);
        }
    }
}

/// Takes the next event of a response and writes what it means for the client.
fn step(
    exchange: &mut Exchange,
    up: &mut UpstreamConn,
    input: &mut &[u8],
    out: &mut Vec<u8>,
    terms: &Terms<'_>,
) -> Progress {
    let head = match up.parser.next(input) {
        Ok(Some(ResponseEvent::Head(head))) => head,
        Ok(Some(ResponseEvent::Body(bytes))) => {
            if exchange.sent_as == Sent::Chunks {
                wire::encode_chunk(out, bytes);
            } else {
                out.extend_from_slice(bytes);
            }
            // A body without bytes to come ends without more input.
            return end_of(exchange, up, input, out, terms);
        }
        Ok(Some(ResponseEvent::End { keep_alive })) => {
            return done(exchange, up, keep_alive, input, out, terms);
        }
        Ok(None) => return Progress::More,
        Err(error) => return Progress::Broken(Failure::of(&error)),
    };
    // What an interim response says of the upstream's speed is nothing: the time that counts is that of the final one.
    let interim = matches!(head.status, 100 | 102..=199);
    if head.status == 100 && exchange.awaits_continue() {
        // The client could not send its body before.
        exchange.head_ns = terms.now;
    }
    exchange.interim |= interim;
    exchange.first_byte_ns = if interim { 0 } else { terms.now };
    match head.status {
        101 if !exchange.upgrade => return Progress::Broken(Failure::Framing),
        101 => {
            let before = out.len();
            response::write_interim(out, &head, terms.rules);
            exchange.head_out += (out.len() - before) as u64;
            (exchange.status, exchange.tunnel) = (101, true);
            return Progress::Tunnel(input.len());
        }
        100..=199 => {
            if !exchange.http10 && (head.status != 100 || exchange.expects_continue) {
                let before = out.len();
                response::write_interim(out, &head, terms.rules);
                exchange.head_out += (out.len() - before) as u64;
            }
            return Progress::More;
        }
        _ => {}
    }
    let manner = Manner {
        http10: exchange.http10,
        head_only: exchange.head_only,
        // A client that is still sending would have to be read to the end first.
        keep_alive: exchange.keep_alive && exchange.read_whole && !terms.draining,
        rules: terms.rules,
        date: terms.date,
        back: terms.back,
    };
    up.last = response::is_last(&head);
    let before = out.len();
    exchange.sent_as = response::write_head(out, &head, &manner);
    exchange.head_out += (out.len() - before) as u64;
    if exchange.sent_as == Sent::Chunks {
        up.trailers = !Connection::of(&head.headers).nominates();
    }
    exchange.status = head.status;
    exchange.keep_alive = manner.keep_alive && exchange.sent_as != Sent::UntilClose;
    end_of(exchange, up, input, out, terms)
}

/// The end of a response whose last byte has come, and which needs no more input to be seen.
fn end_of(
    exchange: &Exchange,
    up: &mut UpstreamConn,
    input: &mut &[u8],
    out: &mut Vec<u8>,
    terms: &Terms<'_>,
) -> Progress {
    if !input.is_empty() {
        return Progress::More;
    }
    match up.parser.next(input) {
        Ok(Some(ResponseEvent::End { keep_alive })) => {
            done(exchange, up, keep_alive, input, out, terms)
        }
        Ok(_) => Progress::More,
        Err(error) => Progress::Broken(Failure::of(&error)),
    }
}

fn done(
    exchange: &Exchange,
    up: &UpstreamConn,
    keep_alive: bool,
    input: &[u8],
    out: &mut Vec<u8>,
    terms: &Terms<'_>,
) -> Progress {
    if exchange.sent_as == Sent::Chunks {
        let trailers = if up.trailers { up.parser.trailers() } else { Headers::default() };
        response::write_last_chunk(out, &trailers, terms.rules);
    }
    Progress::Done(keep_alive && input.is_empty() && !up.is_ending())
}
