//! The state of one client's connection and of its request in flight.

use std::net::IpAddr;

use net::{ConnId, Net};
use tls::Tls;
use wire::{Framing, Limits, RequestHead, RequestParser};

use super::logging::Noted;
use super::proxy::Preface;
use super::response::Sent;
use super::shadow::Shadowing;
use super::upstream::NONE;
use crate::health::Trial;
use crate::policy::{Ticket, Timeouts};

/// Bytes of input kept while a request is in flight; beyond it, receiving stops.
pub(super) const HELD_BYTES: usize = 64 * 1024;
/// Bytes of a request kept so that it can be sent again.
pub(super) const REPLAY_BYTES: usize = 64 * 1024;
/// Bytes of a refused request's body that are read and dropped; a longer one ends the connection.
pub(super) const DISCARD_BYTES: u64 = 64 * 1024;
/// Buffers of a connection larger than this are given back between requests.
const KEPT_BYTES: usize = 4 * 1024;
/// Longest text of an address: `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
const ADDRESS_BYTES: usize = 45;

/// One client's connection.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: ConnId,
    pub(super) token: u32,
    pub(super) address: Address,
    pub(super) parser: RequestParser,
    pub(super) tls: Option<Box<Tls>>,
    /// What comes before the first byte of HTTP or TLS, where the listener expects it.
    pub(super) preface: Option<Box<Preface>>,
    pub(super) exchange: Option<Exchange>,
    /// The request as it goes upstream, as long as it is needed; its body in part.
    pub(super) request: Vec<u8>,
    /// The host that it asked, where responses are compared with it.
    pub(super) asked: Vec<u8>,
    /// What is logged of the request in flight, where it is.
    pub(super) noted: Option<Box<Noted>>,
    /// Bytes of it that were handed on.
    pub(super) handed: usize,
    /// Plaintext to be read once the request in flight has ended.
    pub(super) held: Vec<u8>,
    /// Bytes of a refused request's body that may still be dropped.
    pub(super) discard: Option<u64>,
    /// When the head under way began; 0: none has.
    pub(super) head_began_ns: u64,
    /// The client will send no more.
    pub(super) eof: bool,
    /// Receiving was switched off.
    pub(super) paused: bool,
    /// Responses pile up that the client does not take: no other request is begun.
    pub(super) choked: bool,
    /// A `Drained` was asked for and has not come.
    pub(super) draining: bool,
    /// Bytes that it had acknowledged when that was asked for, or when it was last due.
    pub(super) acknowledged: u64,
    /// The last response is made: the connection ends once the client has taken it.
    pub(super) closing: bool,
    /// When its deadline was last set: when something last came from it or for it.
    pub(super) settled_ns: u64,
    /// The address for which the connection was counted.
    pub(super) counted: Option<IpAddr>,
    /// The net has let the connection go: so does the table, once it is put back.
    pub(super) gone: bool,
}

/// A request between its head and the end of its response.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) ticket: Ticket,
    pub(super) timeouts: Timeouts,
    /// The pool of its upstream.
    pub(super) pool: u32,
    /// The connection that carries it, and its server; `NONE` while there is none.
    pub(super) up: u32,
    pub(super) server: u32,
    /// Where it is the one request that tries the server after its rest.
    pub(super) trial: Option<Trial>,
    pub(super) attempts_left: u32,
    pub(super) head_only: bool,
    pub(super) http10: bool,
    pub(super) keep_alive: bool,
    pub(super) idempotent: bool,
    /// The client asked to change protocols, and may.
    pub(super) upgrade: bool,
    /// The client waits for the upstream to say that its body may come.
    pub(super) expects_continue: bool,
    /// The request's body goes upstream in chunks.
    pub(super) chunked: bool,
    /// Its trailers do too. They need not, and where `Connection` names headers, these may be among them.
    pub(super) trailers: bool,
    /// More of the body is awaited before room of the load line is taken.
    pub(super) waits: bool,
    /// The whole request has been read.
    pub(super) read_whole: bool,
    /// All of it that was handed on is still in [`Client::request`], for a retry or a shadow.
    pub(super) kept: bool,
    pub(super) shadow: Shadowing,
    /// Any of it was handed to a connection that stood.
    pub(super) any_sent: bool,
    /// When its head had been read, or its client was asked to send the body.
    pub(super) head_ns: u64,
    pub(super) connect_ns: u64,
    pub(super) sent_ns: u64,
    /// An interim response has come.
    pub(super) interim: bool,
    /// When the final response, or the change of protocols, began; 0 before.
    pub(super) first_byte_ns: u64,
    pub(super) body_bytes: u64,
    /// The body has to keep the pace of the load line since then, and this much had come; 0: it has not.
    pub(super) pace_ns: u64,
    pub(super) pace_bytes: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    /// The part of `bytes_out` that is heads.
    pub(super) head_out: u64,
    /// The status that the client was sent; 0 before.
    pub(super) status: u16,
    pub(super) sent_as: Sent,
    /// A tunnel since the upstream changed protocols.
    pub(super) tunnel: bool,
    pub(super) upstream_failed: bool,
}

impl Exchange {
    /// Of a request whose head has been read, to be sent to a pool; no connection carries it yet.
    pub(super) fn begun(ticket: Ticket, head: &RequestHead<'_>, pool: u32, now: u64) -> Self {
        Self {
            ticket,
            timeouts: Timeouts::default(),
            pool,
            up: NONE,
            server: NONE,
            trial: None,
            attempts_left: 0,
            head_only: head.method == "HEAD",
            http10: head.version_minor == 0,
            keep_alive: head.keep_alive && head.version_minor == 1,
            idempotent: false,
            upgrade: false,
            expects_continue: head.expect_continue,
            chunked: head.framing == Framing::Chunked,
            trailers: true,
            waits: false,
            read_whole: false,
            kept: false,
            shadow: Shadowing::No,
            any_sent: false,
            head_ns: now,
            connect_ns: 0,
            sent_ns: 0,
            interim: false,
            first_byte_ns: 0,
            body_bytes: 0,
            pace_ns: 0,
            pace_bytes: 0,
            bytes_in: head.bytes as u64,
            bytes_out: 0,
            head_out: 0,
            status: 0,
            sent_as: Sent::Plain,
            tunnel: false,
            upstream_failed: false,
        }
    }
}

impl Exchange {
    /// When the time for all of it is up.
    pub(super) fn ends_ns(&self) -> u64 {
        self.ticket.admitted_at_ns.saturating_add(self.timeouts.whole_ns)
    }

    /// Whether the client may be waiting for the upstream to say that it is to send its body.
    pub(super) fn awaits_continue(&self) -> bool {
        self.expects_continue && !self.interim && self.body_bytes == 0 && !self.read_whole
    }
}

/// A client's address, and its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    pub(super) ip: IpAddr,
    text: [u8; ADDRESS_BYTES],
    length: u8,
}

impl Address {
    pub(super) fn new(ip: IpAddr) -> Self {
        use std::io::Write;
        let ip = ip.to_canonical();
        let mut text = [0; ADDRESS_BYTES];
        let mut left = &mut text[..];
        // The longest address fits.
        let _ = write!(left, "{ip}");
        let left = left.len();
        Self { ip, text, length: (ADDRESS_BYTES - left) as u8 }
    }

    pub(super) fn text(&self) -> &str {
        str::from_utf8(&self.text[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl Client {
    pub(super) fn new(id: ConnId, token: u32, ip: IpAddr, limits: Limits) -> Self {
        Self {
            id,
            token,
            address: Address::new(ip),
            parser: RequestParser::new(limits).keeping_trailers(),
            tls: None,
            preface: None,
            exchange: None,
            request: Vec::new(),
            asked: Vec::new(),
            noted: None,
            handed: 0,
            held: Vec::new(),
            discard: None,
            head_began_ns: 0,
            eof: false,
            paused: false,
            choked: false,
            draining: false,
            acknowledged: 0,
            closing: false,
            settled_ns: 0,
            counted: None,
            gone: false,
        }
    }

    /// Whether input has to wait for the request in flight, or for the client to take responses.
    pub(super) fn busy(&self) -> bool {
        self.choked
            || self
                .exchange
                .as_ref()
                .is_some_and(|exchange| exchange.read_whole && !exchange.tunnel)
    }

    /// Keeps input for later, and the client from sending much more of it.
    pub(super) fn hold<N: Net>(&mut self, net: &mut N, input: &[u8]) {
        self.held.extend_from_slice(input);
        if self.held.len() >= HELD_BYTES {
            self.pause(net);
        }
    }

    pub(super) fn pause<N: Net>(&mut self, net: &mut N) {
        if !self.paused {
            self.paused = true;
            net.set_receiving(self.id, false);
        }
    }

    pub(super) fn resume<N: Net>(&mut self, net: &mut N) {
        if self.paused && self.held.len() < HELD_BYTES {
            self.paused = false;
            net.set_receiving(self.id, true);
            // While it was held back it could send nothing.
            if let Some(exchange) = &mut self.exchange
                && exchange.pace_ns > 0
            {
                exchange.keep_pace(net.taken_in().at);
            }
        }
    }

    /// Asks once for an event when the client has taken everything.
    pub(super) fn want_drained<N: Net>(&mut self, net: &mut N) {
        if !self.draining {
            self.draining = true;
            self.acknowledged = net.acknowledged(self.id);
            net.want_drained(self.id);
        }
    }

    /// Forgets the request that was handed on.
    pub(super) fn forget_request(&mut self) {
        self.request.clear();
        self.handed = 0;
        if self.request.capacity() > KEPT_BYTES {
            self.request = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_text() {
        for text in ["127.0.0.1", "::1", "2001:db8:1111:2222:3333:4444:5555:6666"] {
            assert_eq!(Address::new(text.parse().unwrap()).text(), text);
        }
        assert_eq!(Address::new("::ffff:1.2.3.4".parse().unwrap()).text(), "1.2.3.4");
    }

    #[test]
    fn a_connection_stays_small() {
        assert!(size_of::<Client>() <= 640, "{}", size_of::<Client>());
    }
}
