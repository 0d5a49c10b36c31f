//! What each address has used: a table of fixed size, so that many addresses cost no more memory than few.
//!
//! IPv4 counts by address, IPv6 by /64, which is what one subscriber has. An address that used nothing lately and has
//! nothing in flight gives its place to another. Where all places of an address are in use, it shares one: it may then
//! be refused for what another did, and never let through for it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::{AtOnce, Gcra};

/// Places: 4 MiB.
const PLACES: usize = 1 << 16;
/// Places that one address may be in.
const WAYS: usize = 8;

/// What an address has used.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Of the address; 0 for none.
    tag: AtomicU64,
    pub used: Gcra,
    pub in_flight: AtOnce,
}

/// All addresses.
#[derive(Debug)]
pub(super) struct Addresses {
    places: Box<[Place]>,
    /// Differs between processes, so that nobody can choose addresses that share places.
    seed: u64,
}

impl Addresses {
    pub fn new(seed: u64) -> Self {
        Self { places: (0..PLACES).map(|_| Place::default()).collect(), seed }
    }

    pub fn place(&self, slot: u32) -> &Place {
        &self.places[slot as usize]
    }

    /// All places.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.iter()
    }

    /// The place of an address.
    pub fn slot(&self, address: IpAddr, now_ns: u64) -> u32 {
        let tag = self.tag(address);
        let first = (tag as usize % (PLACES / WAYS)) * WAYS;
        let ways = &self.places[first..first + WAYS];
        if let Some(way) = ways.iter().position(|place| place.tag.load(Ordering::Relaxed) == tag) {
            return (first + way) as u32;
        }
        for (way, place) in ways.iter().enumerate() {
            let found = place.tag.load(Ordering::Relaxed);
            let idle =
                found == 0 || (place.used.ahead_ns(now_ns) == 0 && place.in_flight.held() == 0);
            let swap =
                || place.tag.compare_exchange(found, tag, Ordering::Relaxed, Ordering::Relaxed);
            if idle && swap().is_ok() {
                return (first + way) as u32;
            }
        }
        (first + (tag >> 32) as usize % WAYS) as u32
    }

    fn tag(&self, address: IpAddr) -> u64 {
        let bits = match address {
            IpAddr::V4(v4) => u64::from(u32::from(v4)),
            IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
                Some(v4) => u64::from(u32::from(v4)),
                None => (u128::from(v6) >> 64) as u64 | 1 << 63,
            },
        };
        // The finisher of MurmurHash3 (public domain), keyed.
        let mut mixed = bits ^ self.seed;
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (mixed ^ (mixed >> 33)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;
    use crate::limits::Rate;

    #[test]
    fn an_address_keeps_its_place_while_it_uses_something() {
        let addresses = Addresses::new(7);
        let rate = Rate { per_s: 1.0, burst: 1.0 };
        let one = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let slot = addresses.slot(one, 1);
        addresses.place(slot).used.take(&rate, 1000, 1).unwrap();
        for n in 0..200_000u32 {
            addresses.slot(IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + n)), 2);
        }
        assert_eq!(addresses.slot(one, 2), slot);
        let mapped = Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped();
        assert_eq!(addresses.slot(IpAddr::V6(mapped), 2), slot);
    }

    #[test]
    fn a_subscriber_of_ipv6_is_one_address() {
        let addresses = Addresses::new(7);
        let slot = |text: &str| addresses.slot(IpAddr::V6(text.parse::<Ipv6Addr>().unwrap()), 1);
        assert_eq!(slot("2001:db8::1"), slot("2001:db8::ffff:2"));
        assert_ne!(slot("2001:db8::1"), slot("2001:db8:0:1::1"));
    }
}
