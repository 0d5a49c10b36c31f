//! Clients' addresses, as servers and the proxies before them write them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use memchr::memchr;

/// The first address of several, without the port behind it and the brackets that a port needs; what is no address
/// stays as it is.
pub(crate) fn address(text: &[u8]) -> &[u8] {
    // Figures and points, as most fields have it: nothing is to be cut off.
    if text.iter().all(|byte| (b'.'..=b'9').contains(byte)) {
        return text;
    }
    let first = memchr(b',', text).map_or(text, |at| &text[..at]).trim_ascii();
    if let Some(inner) = first.strip_prefix(b"[") {
        return memchr(b']', inner).map_or(inner, |at| &inner[..at]);
    }
    let is_v4 =
        |text: &[u8]| str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok());
    let is_v6 =
        |text: &[u8]| str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok());
    let before_port = memchr(b':', first).map_or(first, |at| &first[..at]);
    match () {
        () if is_v4(before_port) => before_port,
        () if is_v6(first) => first,
        () => text,
    }
}

/// The first address that proxies name in `X-Forwarded-For`; nothing where that is not an address: `-`, `unknown`.
pub(crate) fn forwarded(text: &[u8]) -> &[u8] {
    let first = address(text);
    if parsed(first).is_some() { first } else { b"" }
}

/// The client's address, of that which was connected to the server and that which a proxy names, if one does.
pub(crate) fn client<'a>(connected: &'a [u8], forwarded: &'a [u8]) -> &'a [u8] {
    let is_outer = |text: &[u8]| parsed(text).is_some_and(|address| !is_inner(address));
    match forwarded.is_empty() {
        true => connected,
        // Networks have the same addresses inside: what is seen from outside tells them apart.
        false if is_outer(connected) && !is_outer(forwarded) => connected,
        false => forwarded,
    }
}

fn parsed(text: &[u8]) -> Option<IpAddr> {
    str::from_utf8(text).ok()?.parse().ok()
}

/// Whether an address is one of a network that others cannot reach.
fn is_inner(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let carrier = v4.octets()[0] == 100 && v4.octets()[1] & 0xc0 == 64;
            v4.is_private() || v4.is_loopback() || v4.is_link_local() || carrier
        }
        IpAddr::V6(v6) => {
            let first = v6.segments()[0];
            v6.is_loopback() || first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_whom_a_proxy_names() {
        for (connected, named, client) in [
            ("10.0.0.1", "203.0.113.7", "203.0.113.7"),
            ("10.0.0.1", "203.0.113.7, 10.0.0.9", "203.0.113.7"),
            ("10.0.0.1", "192.168.1.7", "192.168.1.7"),
            ("198.51.100.1", "192.168.1.7", "198.51.100.1"),
            ("198.51.100.1", "100.64.3.7", "198.51.100.1"),
            ("198.51.100.1", "203.0.113.7:4711", "203.0.113.7"),
            ("unix:", "192.168.1.7", "192.168.1.7"),
            ("", "203.0.113.7", "203.0.113.7"),
            ("fd00::1", "[2001:db8::7]:443", "2001:db8::7"),
            ("2001:db8::1", "fd00::7", "2001:db8::1"),
            ("10.0.0.1", "-", "10.0.0.1"),
            ("10.0.0.1", "unknown", "10.0.0.1"),
            ("10.0.0.1", "shop.example", "10.0.0.1"),
        ] {
            let found = self::client(connected.as_bytes(), forwarded(named.as_bytes()));
            assert_eq!(found, client.as_bytes(), "{connected} {named}");
        }
    }
}
