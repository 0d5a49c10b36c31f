//! Shadow requests: some of a route's requests are sent to another upstream too, whose responses nobody gets.
//!
//! Owns their bounds: so many in flight, bodies so long, connections of their own. A shadow that is slow or gone costs
//! the request that it is a shadow of the copying of its bytes, and nothing else.

use std::io;

use net::{Close, Net};
use wire::{Eof, ResponseEvent, ResponseTo};

use super::client::Client;
use super::failure::Failure;
use super::response::is_last;
use super::to_upstream::{lacks_resources, send_up};
use super::upstream::{NONE, UpstreamConn};
use super::worker::Worker;
use crate::health::Trial;
use crate::policy::Shadow;

/// Shadow requests of a worker in flight at most.
const MOST: usize = 64;

/// Whether a request has a shadow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shadowing {
    /// It has none.
    No,
    /// It is to be sent to this pool once all of it is here.
    Wanted { pool: u32, compare: bool },
    /// It was sent; its number among those of the worker, where statuses are compared.
    Sent(u32),
}

/// A shadow request on its connection.
#[derive(Debug)]
pub(super) struct Mirrored {
    /// Its number among those of the worker.
    number: u32,
    status: u16,
    /// What is to be sent once the connection stands.
    waiting: Vec<u8>,
    due_ns: u64,
    /// Where it is the one request that tries its server after a rest.
    trial: Option<Trial>,
}

/// The shadow requests of a worker.
#[derive(Debug)]
pub(super) struct Shadows {
    drawn: u64,
    entries: Vec<Entry>,
    free: Vec<u32>,
}

/// A request and its shadow, until both have ended.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// Statuses of the first upstream and of the shadow; 0 for none.
    statuses: [u16; 2],
    /// Which of them is still to come.
    open: [bool; 2],
}

impl Default for Shadows {
    fn default() -> Self {
        let free = (0..MOST as u32).collect();
        Self { drawn: 0, entries: vec![Entry::default(); MOST], free }
    }
}

impl Shadows {
    /// Whether the next request of a route is one of its share.
    pub(super) fn draw(&mut self, shadow: &Shadow) -> bool {
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // The finisher of MurmurHash3 (public domain).
        let mut mixed = (self.drawn ^ (self.drawn >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (mixed ^ (mixed >> 33)) % 1_000_000 < u64::from(shadow.share_ppm)
    }

    fn begin(&mut self, compare: bool) -> Option<u32> {
        let number = self.free.pop()?;
        self.entries[number as usize] = Entry { statuses: [0; 2], open: [compare, true] };
        Some(number)
    }

    /// Gives the number of a shadow back that was not sent.
    fn give_back(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Notes that the first (0) or the shadow (1) has ended; both statuses, once both have.
    fn end(&mut self, number: u32, which: usize, status: u16) -> Option<[u16; 2]> {
        let entry = &mut self.entries[number as usize];
        (entry.statuses[which], entry.open[which]) = (status, false);
        if entry.open.contains(&true) {
            return None;
        }
        self.free.push(number);
        Some(entry.statuses)
    }
}

impl Worker {
    /// Sends the shadow of a request that is here whole.
    pub(super) fn mirror<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        let Some(exchange) = &mut client.exchange else { return };
        let Shadowing::Wanted { pool, compare } = exchange.shadow else { return };
        exchange.shadow = Shadowing::No;
        let timeouts = exchange.timeouts;
        let to = if exchange.head_only { ResponseTo::Head } else { ResponseTo::Other };
        let number = if exchange.kept { self.shadows.begin(compare) } else { None };
        let Some(number) = number else { return self.policy.state().shadowed.dropped() };
        let now = net.taken_in().at;
        let due = now.saturating_add(timeouts.connect_ns);
        let Some((token, trial)) = self.shadow_connection(net, pool, due) else {
            self.shadows.give_back(number);
            return self.policy.state().shadowed.dropped();
        };
        let due_ns = now.saturating_add(timeouts.whole_ns);
        let Some(up) = self.ups.get_mut(token) else { return };
        up.parser.begin(to);
        let mut waiting = Vec::new();
        if up.open {
            send_up(net, up.id, up.tls.as_deref_mut(), &client.request, &mut self.records);
            self.up_due[token as usize] = due_ns;
        } else {
            waiting.extend_from_slice(&client.request);
        }
        up.mirror = Some(Box::new(Mirrored { number, status: 0, waiting, due_ns, trial }));
        self.policy.state().shadowed.sent();
        if compare {
            exchange.shadow = Shadowing::Sent(number);
        }
    }

    /// An idle connection to a shadow's server, or a new one, and the trial where the request tries the server.
    fn shadow_connection<N: Net>(
        &mut self,
        net: &mut N,
        pool: u32,
        due: u64,
    ) -> Option<(u32, Option<Trial>)> {
        let (server, trial) = self.pools.choose(pool, NONE, net.taken_in().at);
        if server == NONE {
            return None;
        }
        let state = &mut self.pools.servers[server as usize];
        let idle = state.idle.pop();
        let token = idle.or_else(|| {
            let opened = self.open_up(net, server, NONE, due);
            let health = &self.pools.servers[server as usize].health;
            let why = |error: &io::Error| match lacks_resources(error) {
                true => Failure::Local,
                false => Failure::NoAddress,
            };
            opened.inspect_err(|error| health.failed_by(why(error))).ok()
        });
        let health = &self.pools.servers[server as usize].health;
        match (token, trial) {
            (Some(_), _) => health.begin(),
            (None, Some(trial)) => health.end_trial(trial),
            (None, None) => {}
        }
        Some((token?, trial))
    }

    /// The connection of a shadow request stands.
    pub(super) fn send_mirror<N: Net>(&mut self, net: &mut N, token: u32) {
        let Some(up) = self.ups.get_mut(token) else { return };
        let Some(mirrored) = &mut up.mirror else { return };
        let waiting = std::mem::take(&mut mirrored.waiting);
        self.up_due[token as usize] = mirrored.due_ns;
        send_up(net, up.id, up.tls.as_deref_mut(), &waiting, &mut self.records);
    }

    /// Bytes of a response that nobody gets.
    pub(super) fn mirror_received<N: Net>(
        &mut self,
        net: &mut N,
        mut up: Box<UpstreamConn>,
        bytes: &[u8],
    ) {
        let mut input = bytes;
        loop {
            match up.parser.next(&mut input) {
                Ok(Some(ResponseEvent::Head(head))) if head.status != 101 => {
                    up.last = is_last(&head);
                    if let Some(mirrored) = &mut up.mirror {
                        mirrored.status = head.status;
                    }
                }
                Ok(Some(ResponseEvent::Body(_))) => {}
                Ok(None) => return self.ups.put(up.token, up),
                Ok(Some(ResponseEvent::End { keep_alive })) => {
                    let keep = keep_alive && input.is_empty() && !up.is_ending();
                    return self.mirror_answered(net, up, keep);
                }
                broken => {
                    let failure =
                        broken.err().map_or(Failure::Framing, |error| Failure::of(&error));
                    self.mirror_failed(net, &mut up, failure);
                    return self.drop_up(net, &up, Close::Now);
                }
            }
        }
    }

    fn mirror_answered<N: Net>(&mut self, net: &mut N, mut up: Box<UpstreamConn>, keep: bool) {
        let Some(mirrored) = up.mirror.take() else { return };
        up.responses += 1;
        let server = &mut self.pools.servers[up.server as usize];
        server.health.succeeded();
        server.health.end();
        if let Some(trial) = mirrored.trial {
            server.health.end_trial(trial);
        }
        let upstream = &self.pools.pools[server.pool as usize].upstream;
        let idle_until = net.taken_in().at.saturating_add(upstream.keep_alive_ns);
        if keep && !server.retired && self.draining_since_ns.is_none() {
            server.idle.push(up.token);
            self.up_due[up.token as usize] = idle_until;
            self.ups.put(up.token, up);
        } else {
            self.drop_up(net, &up, Close::Now);
        }
        self.shadow_ended(mirrored.number, 1, mirrored.status);
    }

    /// The connection of a shadow request has ended before its response, or with it.
    pub(super) fn mirror_ended<N: Net>(
        &mut self,
        net: &mut N,
        mut up: Box<UpstreamConn>,
        failure: Failure,
    ) {
        if up.parser.eof() == Eof::Complete && !up.is_cut_off() {
            return self.mirror_answered(net, up, false);
        }
        self.mirror_failed(net, &mut up, failure);
        self.drop_up(net, &up, Close::Now);
    }

    fn mirror_failed<N: Net>(&mut self, net: &mut N, up: &mut UpstreamConn, failure: Failure) {
        let Some(mirrored) = up.mirror.take() else { return };
        let server = &self.pools.servers[up.server as usize];
        let rule = self.pools.pools[server.pool as usize].upstream.passive;
        let failure = match failure {
            Failure::Closed if mirrored.status != 0 => Failure::Cut,
            Failure::Late if mirrored.status != 0 => Failure::TooLong,
            failure => failure,
        };
        // One that was used before may have been closed just then.
        let stale = up.responses > 0 && matches!(failure, Failure::Closed | Failure::Tls);
        if !stale {
            server.health.failed_by(failure);
        }
        if !stale && failure != Failure::Local {
            server.health.did_not_answer(&rule, net.taken_in().at);
        }
        server.health.end();
        if let Some(trial) = mirrored.trial {
            server.health.end_trial(trial);
        }
        self.policy.state().shadowed.failed();
        self.shadow_ended(mirrored.number, 1, 0);
    }

    /// The first upstream's part has ended, with the status that the client was sent.
    pub(super) fn first_ended(&mut self, shadow: Shadowing, status: u16) {
        if let Shadowing::Sent(number) = shadow {
            self.shadow_ended(number, 0, status);
        }
    }

    fn shadow_ended(&mut self, number: u32, which: usize, status: u16) {
        if let Some([first, second]) = self.shadows.end(number, which, status)
            && first != 0
            && second != 0
        {
            self.policy.state().shadowed.compared(first, second);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use net::{Event, Handler};

    use super::*;
    use crate::keys::Keys;
    use crate::path::shared::Shared;
    use crate::path::wires::{Wires, accepts, receives, worker_of};
    use crate::policy::{Policy, PolicySettings, Route, State, Upstream};

    const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const WELL: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    /// A worker that sends a shadow of each request there.
    fn shadowing(to: &str) -> (Arc<Shared>, Worker) {
        let of = |name, to: &str| Upstream::of(name, to.parse().unwrap());
        let upstreams = [of("api", "127.0.0.1:1"), of("shadow", to)];
        let shadow = Shadow { upstream: 1, share_ppm: 1_000_000, compare: false };
        let settings = PolicySettings {
            routes: vec![Route { shadow: Some(shadow), ..Route::to(0) }],
            upstreams: upstreams.to_vec(),
            ..PolicySettings::open(upstreams[0].clone())
        };
        let state = Arc::new(State::new(Arc::new(Keys::default()), 1));
        worker_of(Policy::new(&state, settings, None).unwrap(), None)
    }

    /// By what the shadow's server has failed.
    fn failures(shared: &Shared, now: u64) -> Vec<Failure> {
        let servers = shared.health.view(now);
        let shadow =
            servers.iter().find(|server| server.upstream == "shadow").expect("it is known");
        let counts = Failure::ALL.into_iter().zip(shadow.failed_by);
        counts.filter(|(_, count)| *count > 0).map(|(failure, _)| failure).collect()
    }

    /// By what a shadow's server has failed, where this is all that comes as its second response on a connection: the server ends
    /// the connection then, or lets time pass.
    fn failed_by(second: &[u8], ends: bool) -> Vec<Failure> {
        let (shared, mut worker) = shadowing("127.0.0.1:2");
        let mut wires = Wires::new();
        let client = accepts(&mut worker, &mut wires).expect("there is room");
        let mut ups = Vec::new();
        let mut asks = |worker: &mut Worker, wires: &mut Wires| {
            receives(worker, wires, client, GET);
            while let Some((up, _)) = wires.connecting.pop() {
                ups.push(up);
                Handler::<Wires>::event(worker, wires, up, Event::Connected);
            }
            assert_eq!(ups.len(), 2, "one to each");
            receives(worker, wires, ups[0], WELL);
            ups[1]
        };
        let up = asks(&mut worker, &mut wires);
        receives(&mut worker, &mut wires, up, WELL);
        assert_eq!(asks(&mut worker, &mut wires), up);
        if !second.is_empty() {
            receives(&mut worker, &mut wires, up, second);
        }
        if ends {
            Handler::<Wires>::event(&mut worker, &mut wires, up, Event::Eof);
        } else {
            wires.now += 1_000_000_000_000;
            Handler::<Wires>::tick(&mut worker, &mut wires);
        }
        assert_eq!(worker.policy.state().shadowed.view().failed, 1);
        failures(&shared, wires.now)
    }

    /// As on a machine without IPv6.
    #[test]
    fn a_shadow_that_cannot_be_connected_to_is_said_why() {
        let (shared, mut worker) = shadowing("[::1]:2");
        let mut wires = Wires::new();
        let client = accepts(&mut worker, &mut wires).expect("there is room");
        receives(&mut worker, &mut wires, client, GET);
        let (up, _) = wires.connecting.pop().expect("a connection to the first");
        Handler::<Wires>::event(&mut worker, &mut wires, up, Event::Connected);
        assert_eq!(worker.policy.state().shadowed.view().dropped, 1);
        assert_eq!(failures(&shared, wires.now), [Failure::NoAddress]);
    }

    /// On a connection that was used before, none was counted but a response that did not come in time.
    #[test]
    fn a_server_that_fails_shadows_on_a_kept_connection_is_known_to() {
        let begun = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
        assert_eq!(failed_by(begun, true), [Failure::Cut]);
        assert_eq!(failed_by(begun, false), [Failure::TooLong]);
        assert_eq!(failed_by(b"", false), [Failure::Late]);
        assert_eq!(failed_by(b"SSH-2.0-\r\n", false), [Failure::NotHttp]);
        // It may have been closed before the request came.
        assert!(failed_by(b"", true).is_empty());
    }

    #[test]
    fn both_have_to_end_in_any_order() {
        let mut shadows = Shadows::default();
        let [one, other] = [true, false].map(|compare| shadows.begin(compare).unwrap());
        assert_eq!(shadows.end(one, 1, 500), None);
        assert_eq!(shadows.end(one, 0, 200), Some([200, 500]));
        // Where nothing is compared the shadow's end is the end.
        assert_eq!(shadows.end(other, 1, 500), Some([0, 500]));
        let all: Vec<_> = std::iter::from_fn(|| shadows.begin(true)).collect();
        assert_eq!(all.len(), MOST);
    }

    #[test]
    fn a_share_is_drawn() {
        let mut shadows = Shadows::default();
        let mut drawn = |share_ppm| {
            let shadow = Shadow { upstream: 0, share_ppm, compare: false };
            (0..100_000).filter(|_| shadows.draw(&shadow)).count()
        };
        assert_eq!((drawn(0), drawn(1_000_000)), (0, 100_000));
        let tenth = drawn(100_000);
        assert!((9_500..=10_500).contains(&tenth), "{tenth}");
    }
}
