//! What clients send: bytes to requests, one after the other.
//!
//! Owns the order of a connection's requests: one is in flight at a time, and what comes behind it is held. `begin`
//! starts a request, `to_upstream` sends it on.

use std::net::IpAddr;

use net::{Close, Net};
use wire::{Eof, Headers, Limits, RequestEvent, RequestParser};

use super::client::{Address, Client, DISCARD_BYTES};
use super::proxy::Said;
use super::refusal::Fault;
use super::request;
use super::shared::count;
use super::worker::Worker;

/// The detail of the response to a client that does not end its body.
const BODY_CUT: &str = "The connection ended before the body did.";

impl Worker {
    /// Bytes from a client's connection.
    #[inline]
    pub(super) fn client_received<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        bytes: &[u8],
    ) {
        let mut bytes = bytes;
        if client.closing
            || (client.preface.is_some() && !self.read_preface(net, client, &mut bytes))
        {
            return;
        }
        let Some(mut tls) = client.tls.take() else { return self.read(net, client, bytes) };
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let decrypted = tls.decrypt(bytes, &mut plain);
        self.records.clear();
        tls.outgoing(&mut self.records);
        client.tls = Some(tls);
        if !self.records.is_empty() {
            net.send(client.id, &self.records);
        }
        match decrypted {
            Ok(()) => {
                self.read(net, client, &plain);
                let ended = client.tls.as_ref().is_some_and(|tls| tls.has_ended());
                if ended && !client.eof && !client.gone {
                    self.client_eof(net, client);
                }
            }
            Err(_) => self.cut_client(net, client, Close::Flush),
        }
        self.plain = plain;
    }

    /// Reads the PROXY protocol's header. False where there is nothing behind it yet.
    fn read_preface<N: Net>(
        &mut self,
        net: &mut N,
        client: &mut Client,
        bytes: &mut &[u8],
    ) -> bool {
        let Some(preface) = &mut client.preface else { return true };
        match preface.read(bytes) {
            Ok(None) => return false,
            Ok(Some(Said::Nothing)) => {}
            Ok(Some(Said::Address(ip))) => {
                if !self.count_again(client, ip) {
                    count(&self.counts().capped);
                    self.cut_client(net, client, Close::Reset);
                    return false;
                }
            }
            Err(_) => {
                count(&self.counts().headerless);
                self.cut_client(net, client, Close::Reset);
                return false;
            }
        }
        client.preface = None;
        count(&self.counts().let_in);
        !bytes.is_empty()
    }

    /// Counts the connection for the address that the PROXY protocol names. False where that has too many.
    fn count_again(&self, client: &mut Client, ip: IpAddr) -> bool {
        client.address = Address::new(ip);
        let ip = client.address.ip;
        let fits = self.shared.caps.add(ip, self.policy.client().connections_per_address);
        if fits && let Some(before) = client.counted.replace(ip) {
            self.shared.caps.remove(before);
        }
        fits
    }

    /// Reads plaintext: requests, or what goes through a tunnel.
    pub(super) fn read<N: Net>(&mut self, net: &mut N, client: &mut Client, bytes: &[u8]) {
        if client.exchange.as_ref().is_some_and(|exchange| exchange.tunnel) {
            return self.tunnel_up(net, client, bytes);
        }
        let mut input = bytes;
        // The parser lends heads, so it is taken out while its client is worked on.
        let mut parser =
            std::mem::replace(&mut client.parser, RequestParser::new(Limits::default()));
        loop {
            if client.closing || client.gone {
                return;
            }
            if client.busy() {
                if !input.is_empty() {
                    client.hold(net, input);
                }
                break;
            }
            match parser.next(&mut input) {
                Ok(Some(RequestEvent::Head(head))) => self.begin(net, client, &head),
                Ok(Some(RequestEvent::Body(bytes))) => self.body(net, client, bytes),
                Ok(Some(RequestEvent::End)) => self.read_whole(net, client, &parser.trailers()),
                Ok(None) => break,
                // It has its response, and what follows cannot be distinguished from its body.
                Err(_) if client.discard.is_some() => return self.close_client(net, client),
                Err(error) => return self.answer_fault_and_close(net, client, Fault::of(&error)),
            }
        }
        let waits =
            client.exchange.is_none() && client.discard.is_none() && client.head_began_ns == 0;
        if waits && parser.eof() != Eof::Idle {
            client.head_began_ns = net.taken_in().at;
        }
        client.parser = parser;
        self.hand_on(net, client);
    }

    /// Bytes of a request's body.
    fn body<N: Net>(&mut self, net: &mut N, client: &mut Client, bytes: &[u8]) {
        if let Some(left) = client.discard {
            match left.checked_sub(bytes.len() as u64) {
                Some(left) => client.discard = Some(left),
                None => self.close_client(net, client),
            }
            return;
        }
        let Some(exchange) = &mut client.exchange else { return };
        exchange.body_bytes += bytes.len() as u64;
        exchange.bytes_in += bytes.len() as u64;
        if exchange.body_bytes > exchange.ticket.body_max_bytes {
            return self.answer_fault_and_close(net, client, Fault::Body);
        }
        if exchange.chunked {
            wire::encode_chunk(&mut client.request, bytes);
        } else {
            client.request.extend_from_slice(bytes);
        }
        self.end_waiting(net, client);
    }

    /// A request has been read to its end.
    fn read_whole<N: Net>(&mut self, net: &mut N, client: &mut Client, trailers: &Headers<'_>) {
        if client.discard.take().is_some() {
            client.head_began_ns = 0;
            return self.after_answer(net, client);
        }
        let Some(exchange) = &mut client.exchange else { return };
        exchange.read_whole = true;
        if exchange.chunked {
            let rules = &self.policy.route(exchange.ticket.route).request_headers;
            let key_header = self.policy.key_source().header.as_deref();
            let none = Headers::default();
            let trailers = if exchange.trailers { trailers } else { &none };
            request::write_last_chunk(&mut client.request, trailers, rules, key_header);
        }
        self.end_waiting(net, client);
    }

    /// A refused request's body is read and dropped, within bounds, so that the connection can go on.
    pub(super) fn discard_body(client: &mut Client, now_ns: u64) {
        client.discard = Some(DISCARD_BYTES);
        client.head_began_ns = now_ns;
    }

    /// Reads what was held while a request was in flight.
    pub(super) fn read_held<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        if client.gone || client.closing || client.busy() {
            return;
        }
        if !client.held.is_empty() {
            let held = std::mem::take(&mut client.held);
            self.read(net, client, &held);
        }
        if client.gone || client.closing {
            return;
        }
        self.resume(net, client);
        if client.eof && client.exchange.is_none() && client.held.is_empty() {
            self.close_client(net, client);
        }
    }

    /// Receives from the client again, unless its upstream has yet to take what was sent to it.
    pub(super) fn resume<N: Net>(&self, net: &mut N, client: &mut Client) {
        let up = client.exchange.as_ref().and_then(|exchange| self.ups.get(exchange.up));
        if up.is_none_or(|up| !up.draining) {
            client.resume(net);
        }
    }

    /// The client sends no more. What it has asked for it still gets.
    pub(super) fn client_eof<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        client.eof = true;
        match &client.exchange {
            Some(exchange) if exchange.tunnel => self.end_tunnel(net, client),
            // It may have closed one direction alone, and read on.
            Some(exchange) if !exchange.read_whole => {
                self.answer_fault_and_close(net, client, Fault::Syntax(BODY_CUT))
            }
            Some(_) => {}
            None if client.choked || client.closing => {}
            None => self.close_client(net, client),
        }
    }

    /// The client has taken everything.
    pub(super) fn client_drained<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        client.draining = false;
        if client.closing {
            net.close(client.id, Close::Flush);
            client.gone = true;
            return;
        }
        client.choked = false;
        if let Some(exchange) = &client.exchange
            && let Some(up) = self.ups.get_mut(exchange.up)
            && up.paused
        {
            up.paused = false;
            net.set_receiving(up.id, true);
        }
        self.read_held(net, client);
    }

    /// The client's connection is gone.
    pub(super) fn client_lost<N: Net>(&mut self, net: &mut N, client: &mut Client) {
        client.gone = true;
        self.abandon(net, client);
    }
}
