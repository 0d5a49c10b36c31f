//! The state of one connection to an upstream's server.

use net::ConnId;
use tls::Tls;
use wire::{Limits, ResponseParser};

use super::shadow::Mirrored;

/// Stands for no connection, no client and no server.
pub(super) const NONE: u32 = u32::MAX;

/// One connection to a server.
#[derive(Debug)]
pub(super) struct UpstreamConn {
    pub(super) id: ConnId,
    pub(super) token: u32,
    pub(super) parser: ResponseParser,
    pub(super) tls: Option<Box<Tls>>,
    /// Its server's number.
    pub(super) server: u32,
    /// The client whose request it carries; [`NONE`] while idle.
    pub(super) client: u32,
    /// TCP stands.
    pub(super) connected: bool,
    /// It stands, and TLS is past its handshake.
    pub(super) open: bool,
    /// Responses it has brought.
    pub(super) responses: u64,
    /// The response under way is the last that can be distinguished from what comes behind it.
    pub(super) last: bool,
    /// Trailers of the response under way pass, as those of a request do (`Exchange::trailers`).
    pub(super) trailers: bool,
    /// Receiving was switched off.
    pub(super) paused: bool,
    pub(super) draining: bool,
    /// It carries a check, not a client's request: of this upstream (see `checks`).
    pub(super) check: u32,
    /// It carries a shadow request.
    pub(super) mirror: Option<Box<Mirrored>>,
}

impl UpstreamConn {
    pub(super) fn new(id: ConnId, token: u32, server: u32, client: u32, limits: Limits) -> Self {
        Self {
            id,
            token,
            parser: ResponseParser::new(limits).reporting_interim().keeping_trailers(),
            tls: None,
            server,
            client,
            connected: false,
            open: false,
            responses: 0,
            last: false,
            trailers: true,
            paused: false,
            draining: false,
            check: NONE,
            mirror: None,
        }
    }

    /// Whether a connection that has ended did so without the peer's word, where TLS has one: a response until the close may
    /// then have been cut short.
    pub(super) fn is_cut_off(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| !tls.has_ended())
    }

    /// Whether no other request may be sent, though the connection stands: the peer has said that it sends no more, or what
    /// it sends next may belong to this response.
    pub(super) fn is_ending(&self) -> bool {
        self.last || self.tls.as_ref().is_some_and(|tls| tls.has_ended())
    }
}
