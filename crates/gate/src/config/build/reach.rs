//! Finds servers whose address is the gateway itself, and listeners that conflict with each other.
//!
//! Owns comparisons of addresses, and the errors about them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use toml::Spanned;

use super::super::file::Config;
use super::super::place::ConfigError;
use super::{Builder, ListenerSettings};
use crate::policy::{Upstream, UpstreamAddress};

/// Addresses that are reserved (RFC 1112 section 4) or of documentation (RFC 3849): no machine has them.
const NOBODYS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(240, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
];

impl Builder<'_> {
    /// Refuses servers that are the gateway itself.
    pub(super) fn no_loop(
        &self,
        config: &Config,
        upstreams: &[Upstream],
        listeners: &[ListenerSettings],
    ) -> Result<(), ConfigError> {
        let leads_here = |server: &UpstreamAddress| {
            let reached = |own: &&ListenerSettings| is_reached(own.address, server.socket, is_own);
            listeners.iter().find(reached)
        };
        for (written, upstream) in config.upstream.iter().zip(upstreams) {
            let mut servers = upstream.addresses.iter();
            let Some((server, own)) = servers.find_map(|it| Some((it, leads_here(it)?))) else {
                continue;
            };
            let mut urls = written.servers.get_ref().iter();
            let url = urls.find(|url| url.get_ref().contains(&server.text));
            return Err(self.wrong(
                url.unwrap_or(&written.name),
                format!(
                    "`{}` is the gateway itself, which listens on {}: requests would go round in a circle; write the \
                     address of the API",
                    url.map_or(&server.text, Spanned::get_ref),
                    own.address
                ),
            ));
        }
        Ok(())
    }

    /// Refuses servers that are the admin API.
    pub(super) fn no_admin_upstream(
        &self,
        config: &Config,
        upstreams: &[Upstream],
        admin: Option<SocketAddr>,
    ) -> Result<(), ConfigError> {
        let (Some(admin), Some(written)) = (admin, &config.admin.address) else { return Ok(()) };
        let mut servers = upstreams.iter().flat_map(|upstream| &upstream.addresses);
        match servers.find(|server| is_reached(admin, server.socket, is_own)) {
            Some(server) => Err(self.wrong(
                written,
                format!("{admin} is the address of the upstream's server {}: the admin API needs its own", server.text),
            )),
            None => Ok(()),
        }
    }
}

/// Whether connections to an address reach a listener. `is_own` says whether an address is one of this machine's.
fn is_reached(listener: SocketAddr, to: SocketAddr, is_own: impl FnOnce(IpAddr) -> bool) -> bool {
    if listener.port() != to.port() || to.port() == 0 {
        return false;
    }
    let (own, other) = (listener.ip().to_canonical(), to.ip().to_canonical());
    // A listener on [::] takes connections of both families.
    let family = own.is_ipv4() == other.is_ipv4() || own.is_ipv6() && own.is_unspecified();
    let local = other.is_unspecified() || other.is_loopback();
    own == other
        || family && own.is_loopback() && other.is_unspecified()
        || family && own.is_unspecified() && (local || is_own(other))
}

/// Whether the kernel refuses one of two listeners because of the other.
pub(super) fn is_shared(one: SocketAddr, other: SocketAddr) -> bool {
    let (a, b) = (one.ip(), other.ip());
    let everywhere = a.is_unspecified() || b.is_unspecified();
    one.port() == other.port()
        && one.port() != 0
        && (a == b || everywhere && a.is_ipv4() == b.is_ipv4())
}

/// Whether an address is one of this machine's. Where the kernel lets any address be bound (`ip_nonlocal_bind`), none
/// is known to be.
fn is_own(address: IpAddr) -> bool {
    let binds = |address: IpAddr| UdpSocket::bind((address, 0)).is_ok();
    binds(address) && !NOBODYS.into_iter().any(binds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_listeners() {
        // The machine has 10.0.0.7 and fd00::7.
        let is_own = |address: IpAddr| ["10.0.0.7", "fd00::7"].contains(&&*address.to_string());
        let cases = [
            ("127.0.0.1:80", "127.0.0.1:80", true),
            ("127.0.0.1:80", "127.0.0.1:81", false),
            ("127.0.0.1:80", "0.0.0.0:80", true),
            ("127.0.0.1:80", "10.0.0.7:80", false),
            ("0.0.0.0:80", "127.0.0.9:80", true),
            ("0.0.0.0:80", "10.0.0.7:80", true),
            ("0.0.0.0:80", "10.0.0.7:81", false),
            ("0.0.0.0:80", "10.0.0.8:80", false),
            ("0.0.0.0:80", "[fd00::7]:80", false),
            ("[::]:80", "[fd00::7]:80", true),
            ("[::]:80", "10.0.0.7:80", true),
            ("[::]:80", "[fd00::8]:80", false),
            ("0.0.0.0:0", "10.0.0.7:0", false),
        ];
        for (listener, to, expected) in cases {
            let reached = is_reached(listener.parse().unwrap(), to.parse().unwrap(), is_own);
            assert_eq!(reached, expected, "{listener} {to}");
        }
    }

    #[test]
    fn listeners_share_a_port_of_one_address() {
        let cases = [
            ("127.0.0.1:80", "127.0.0.1:80", true),
            ("127.0.0.1:80", "127.0.0.1:81", false),
            ("127.0.0.1:80", "127.0.0.2:80", false),
            ("0.0.0.0:80", "127.0.0.2:80", true),
            ("10.0.0.7:80", "0.0.0.0:80", true),
            ("[::]:80", "[::1]:80", true),
            ("[::1]:80", "0.0.0.0:80", false),
            ("127.0.0.1:0", "127.0.0.1:0", false),
        ];
        for (one, other, expected) in cases {
            let shared = is_shared(one.parse().unwrap(), other.parse().unwrap());
            assert_eq!(shared, expected, "{one} {other}");
        }
    }

    #[test]
    fn the_machines_addresses_are_its_own() {
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(!NOBODYS.into_iter().any(is_own));
    }
}
