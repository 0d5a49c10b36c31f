//! The beginning of a request: its head is checked, decided about, and written anew.
//!
//! Owns the order of checks. `target`, `key` and `fields` read the head, the policy decides, `request` writes.

use net::Net;
use wire::{Framing, Headers, RequestHead};

use super::client::{Client, Exchange};
use super::fields::{self, Connection};
use super::key::{self, Found, bearer};
use super::logging::Ending;
use super::refusal::{self, Fault, Manner};
use super::request::{self, Forward};
use super::shadow::Shadowing;
use super::shared::count;
use super::target::{self, Forms, Target};
use super::to_upstream::Attempt;
use super::worker::Worker;
use crate::keys::{Entry, is_like_key};
use crate::policy::{Decision, Facts, KeySource, Problem, Refusal, Ticket};

/// The header fields that are looked up in every request, found in one walk over all fields: see [`Headers::parts`].
pub(super) struct LookedUp<'a> {
    via: Headers<'a>,
    connection: Headers<'a>,
    authorization: Headers<'a>,
    /// The header that is configured for keys.
    key: Headers<'a>,
}

impl<'a> LookedUp<'a> {
    pub(super) fn of(headers: &Headers<'a>, source: &KeySource) -> Self {
        let own = source.header.as_deref().unwrap_or_default();
        let [via, connection, authorization, key] =
            headers.parts(["via", "connection", "authorization", own]);
        Self { via, connection, authorization, key }
    }
}

/// A head that is in order.
pub(super) struct Checked<'a> {
    pub(super) target: Target<'a>,
    pub(super) connection: Connection,
    pub(super) key: Found<'a>,
    authorization: Headers<'a>,
    /// The protocol to change to that is asked for: the route says whether it may be.
    pub(super) upgrade: Option<&'a [u8]>,
    /// How many times the request may be forwarded, where that is to be counted.
    pub(super) max_forwards: Option<u64>,
}

/// Room for what a head has in other forms than it was sent in. Used again by the next request.
#[derive(Debug, Default)]
pub(super) struct Room {
    target: Forms,
    key: Vec<u8>,
}

/// Checks a head as far as the policy is not needed for it.
pub(super) fn check<'a>(
    head: &RequestHead<'a>,
    looked_up: &LookedUp<'a>,
    source: &KeySource,
    room: &'a mut Room,
) -> Result<Checked<'a>, Fault> {
    // Methods are written in capitals (RFC 9110 section 9.1). Some servers take `post` for `POST`: a route for the one
    // would not hold the other.
    let in_capitals = !head.method.bytes().any(|byte| byte.is_ascii_lowercase());
    if matches!(head.method, "CONNECT" | "TRACE") || !in_capitals {
        return Err(Fault::Method);
    }
    let target = target::read(head, &mut room.target)?;
    let connection = Connection::of(&looked_up.connection);
    if connection.too_many() {
        return Err(Fault::Options);
    }
    if head.expects && !head.expect_continue && head.version_minor == 1 {
        return Err(Fault::Expectation);
    }
    let authorization = looked_up.authorization;
    let key = key::find(source, &looked_up.key, &authorization, head.query, &mut room.key)?;
    let may = connection.upgrade && head.version_minor == 1 && head.framing == Framing::None;
    let upgrade = if may { head.headers.get("upgrade") } else { None };
    // RFC 9110 section 7.6.2 has it counted of TRACE, which is not served, and of OPTIONS.
    let max_forwards = match head.method {
        "OPTIONS" => fields::max_forwards(&head.headers)?,
        _ => None,
    };
    Ok(Checked { target, connection, key, authorization, upgrade, max_forwards })
}

/// Whether `Authorization` ends here. Where no key is asked for, or the key was found elsewhere, other tokens are the upstream's.
fn holds_key(checked: &Checked<'_>, public: bool) -> bool {
    let Some(key) = checked.key.key else { return false };
    if checked.key.by_bearer {
        return !public || is_like_key(key);
    }
    checked.authorization.all("authorization").any(|value| bearer(value) == Some(key))
}

impl Worker {
    /// Begins a request.
    pub(super) fn begin<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        head: &RequestHead<'_>,
    ) {
        let mut room = std::mem::take(&mut self.room);
        self.begin_with(net, client, head, &mut room);
        self.room = room;
    }

    fn begin_with<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        head: &RequestHead<'_>,
        room: &mut Room,
    ) {
        let now = net.taken_in().at;
        client.head_began_ns = 0;
        count(&self.counts().requests);
        self.note(client, head, now);
        let looked_up = LookedUp::of(&head.headers, self.policy.key_source());
        let returned = fields::passed(&looked_up.via, &self.policy.state().via);
        let checked = match check(head, &looked_up, self.policy.key_source(), room) {
            Ok(_) if returned => return self.refuse_fault(net, client, head, Fault::Loop),
            Ok(checked) => checked,
            Err(fault) => return self.refuse_fault(net, client, head, fault),
        };
        let body_bytes = match head.framing {
            Framing::Length(bytes) => Some(bytes),
            Framing::None => Some(0),
            Framing::Chunked | Framing::UntilClose => None,
        };
        // The server as a whole is where its root is.
        let decoded = checked.target.decoded;
        let routed = if decoded == b"*" { b"/" } else { decoded };
        let facts = Facts {
            method: head.method.as_bytes(),
            host: checked.target.host,
            path: routed,
            cut: checked.target.cut,
            key: checked.key.key,
            address: client.address.ip,
            body_bytes,
        };
        if !self.policy.reads_alike(&facts) {
            return self.refuse_fault(net, client, head, Fault::Path);
        }
        // A client that sends its body slowly holds no room of the load line, and no connection: see `body_buffering`.
        let holds = self.policy.line().is_some() || self.policy.client().hold_bodies;
        let with_body = body_bytes != Some(0) && holds;
        let waits = with_body && self.policy.client().body_bytes_per_s > 0;
        let decision = if waits {
            self.policy.decide_before_body(&facts, now, &mut self.usage)
        } else {
            self.policy.decide(&facts, now, &mut self.usage)
        };
        match decision {
            Decision::Refuse(refusal) => self.refuse(net, client, head, &facts, &refusal),
            Decision::Forward(ticket) => {
                self.write_request(client, head, &checked, ticket, now, waits);
                if checked.max_forwards == Some(0) {
                    // A client that waits for `100 Continue` may send another request instead of the body.
                    if head.expect_continue {
                        return self.answer_fault_and_close(net, client, Fault::LastHop);
                    }
                    return self.answer_fault(net, client, Fault::LastHop);
                }
                if waits {
                    if head.expect_continue {
                        self.tell_to_continue(net, client);
                    }
                    return self.end_waiting(net, client);
                }
                let Some(exchange) = &mut client.exchange else { return };
                self.pools.pools[exchange.pool as usize].budget.request(now);
                self.dispatch(net, client, Attempt::First);
            }
        }
    }

    /// Writes the request to be sent, and what is kept of it until it is answered.
    fn write_request(
        &mut self,
        client: &mut Client,
        head: &RequestHead<'_>,
        checked: &Checked<'_>,
        ticket: Ticket,
        now: u64,
        waits: bool,
    ) {
        let route = self.policy.route(ticket.route);
        let source = self.policy.key_source();
        let upgrade = checked.upgrade.filter(|protocol| route.tunnels(head.method, protocol));
        let pool = self.pools.of_policy(route.upstream);
        let upstream = &self.pools.pools[pool as usize].upstream;
        let first = upstream.addresses.first().map_or("", |address| address.text.as_str());
        let host = match &route.upstream_host {
            Some(host) => host.as_bytes(),
            None if checked.target.authority.is_empty() => first.as_bytes(),
            None => checked.target.authority,
        };
        client.forget_request();
        client.asked.clear();
        if route.rewrite.is_some() && route.rewrite_responses {
            client.asked.extend_from_slice(checked.target.authority);
        }
        let keys = &self.policy.state().keys;
        let key = (ticket.key != crate::policy::NONE).then(|| keys.entry(ticket.key));
        let forward = Forward {
            head,
            target: &checked.target,
            connection: &checked.connection,
            host,
            rewrite: route.rewrite.as_ref(),
            rules: &route.request_headers,
            key_parameter: source.query.as_deref(),
            key_header: source.header.as_deref(),
            drop_authorization: holds_key(checked, route.public),
            key_id: key.map_or(0, Entry::id),
            owner: key.map(|key| keys.owner(key)).unwrap_or_default(),
            client: client.address.text(),
            tls: client.tls.is_some(),
            via: &self.policy.state().via,
            upgrade,
            expects_continue: head.expect_continue && !waits,
            max_forwards: checked.max_forwards,
        };
        request::write_head(&mut client.request, &forward);
        let idempotent = request::is_idempotent(head.method);
        let shadow = match &route.shadow {
            Some(shadow) if upgrade.is_none() && self.shadows.draw(shadow) => Shadowing::Wanted {
                pool: self.pools.of_policy(shadow.upstream),
                compare: shadow.compare,
            },
            _ => Shadowing::No,
        };
        client.exchange = Some(Exchange {
            timeouts: route.timeouts,
            attempts_left: upstream.retry.attempts,
            idempotent,
            upgrade: upgrade.is_some(),
            expects_continue: forward.expects_continue,
            trailers: !checked.connection.nominates(),
            waits,
            kept: idempotent || shadow != Shadowing::No,
            shadow,
            ..Exchange::begun(ticket, head, pool, now)
        });
    }

    /// Answers a request that the policy refuses; the connection goes on.
    fn refuse<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        head: &RequestHead<'_>,
        facts: &Facts<'_>,
        refusal: &Refusal,
    ) {
        let small = match head.framing {
            Framing::None => true,
            Framing::Length(bytes) => {
                bytes <= super::client::DISCARD_BYTES && !head.expect_continue
            }
            Framing::Chunked => !head.expect_continue,
            Framing::UntilClose => false,
        };
        let keep_alive = head.keep_alive && head.version_minor == 1 && small && !self.draining();
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        let methods = match refusal.problem {
            Problem::MethodNotAllowed => self.policy.methods_at(facts),
            _ => Vec::new(),
        };
        refusal::write_refusal(
            &mut out,
            refusal,
            &methods,
            self.date.line(),
            Manner { keep_alive, head_only: head.method == "HEAD" },
        );
        self.send_client(net, client, &out);
        let bytes_out = out.len();
        self.out = out;
        let now = net.taken_in().at;
        self.log(client, Ending::refused(refusal, head.bytes, bytes_out), now);
        if keep_alive {
            Self::discard_body(client, now);
        } else {
            self.close_client(net, client);
        }
    }

    /// Answers a request whose head is faulty; the connection ends.
    fn refuse_fault<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        head: &RequestHead<'_>,
        fault: Fault,
    ) {
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        self.counts().fault(fault);
        self.usage.invalid(fault.status());
        refusal::write_fault(
            &mut out,
            fault,
            self.date.line(),
            Manner { keep_alive: false, head_only: head.method == "HEAD" },
        );
        self.send_client(net, client, &out);
        let bytes_out = out.len();
        self.out = out;
        let ending = Ending::early(fault.status(), head.bytes, bytes_out);
        self.log(client, ending, net.taken_in().at);
        self.close_client(net, client);
    }
}
