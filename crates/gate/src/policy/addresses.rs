//! What each address has used: a table of fixed size, so that many addresses cost no more memory than few.
//!
//! IPv4 counts by address, IPv6 by /64, which is what one subscriber has. An address that is not ahead of its rate and has
//! nothing in flight may lose its place to another; among several, the one that has used the least of its quotas. Its use of
//! quotas is then forgotten. So with many addresses some may start their quotas again, but none can take places from the
//! others for good. If none of the places of an address is free, it shares one: it may then be refused because of
//! another address, but is never let through because of one.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::{AtOnce, Calendar, Gcra, Quota};

/// Places, of 40 bytes each: 2.5 MiB.
const PLACES: usize = 1 << 16;
/// Places that one address may be in.
const WAYS: usize = 8;

/// What an address has used.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// A hash of the address; 0 for none.
    tag: AtomicU64,
    pub used: Gcra,
    pub in_flight: AtOnce,
    pub day: Quota,
    pub month: Quota,
}

impl Place {
    /// Whether another address may have it.
    fn is_idle(&self, now_ns: u64) -> bool {
        self.used.ahead_ns(now_ns) == 0 && self.in_flight.held() == 0
    }

    /// How much is forgotten where another address gets it.
    fn of_quotas(&self, calendar: &Calendar) -> u64 {
        self.day.used(calendar.day()).max(self.month.used(calendar.month()))
    }
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
    pub fn slot(&self, address: IpAddr, now_ns: u64, calendar: &Calendar) -> u32 {
        let tag = self.tag(address);
        let first = (tag as usize % (PLACES / WAYS)) * WAYS;
        let ways = &self.places[first..first + WAYS];
        let tag_of = |place: &Place| place.tag.load(Ordering::Relaxed);
        // Another worker may take a place at the same time, also for the same address.
        for _ in 0..WAYS {
            if let Some(way) = ways.iter().position(|place| tag_of(place) == tag) {
                return (first + way) as u32;
            }
            let idle = ways.iter().map(|place| (place, tag_of(place))).enumerate();
            let idle = idle.filter(|(_, (place, _))| place.is_idle(now_ns));
            let least = idle.min_by_key(|(_, (place, _))| place.of_quotas(calendar));
            let Some((way, (place, found))) = least else { break };
            let swap = place.tag.compare_exchange(found, tag, Ordering::Relaxed, Ordering::Relaxed);
            if swap.is_ok() {
                place.day.forget();
                place.month.forget();
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
        let (addresses, calendar) = (Addresses::new(7), Calendar::default());
        let rate = Rate { per_s: 1.0, burst: 1.0 };
        let one = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let slot = addresses.slot(one, 1, &calendar);
        addresses.place(slot).used.take(&rate, 1000, 1).unwrap();
        for n in 0..200_000u32 {
            addresses.slot(IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + n)), 2, &calendar);
        }
        assert_eq!(addresses.slot(one, 2, &calendar), slot);
        let mapped = Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped();
        assert_eq!(addresses.slot(IpAddr::V6(mapped), 2, &calendar), slot);
    }

    #[test]
    fn a_subscriber_of_ipv6_is_one_address() {
        let (addresses, calendar) = (Addresses::new(7), Calendar::default());
        let slot = |text: &str| {
            let address = IpAddr::V6(text.parse::<Ipv6Addr>().unwrap());
            addresses.slot(address, 1, &calendar)
        };
        assert_eq!(slot("2001:db8::1"), slot("2001:db8::ffff:2"));
        assert_ne!(slot("2001:db8::1"), slot("2001:db8:0:1::1"));
    }

    #[test]
    fn many_addresses_forget_those_that_used_the_least_of_their_quotas() {
        let (addresses, calendar) = (Addresses::new(7), Calendar::default());
        let slot = |n: u32| addresses.slot(IpAddr::V4(Ipv4Addr::from(n)), 1, &calendar);
        let ask = |n: u32| addresses.place(slot(n)).day.take(1000, calendar.day());
        let much = 0x0a00_0001;
        for _ in 0..10 {
            ask(much).unwrap();
        }
        let kept = slot(much);
        for n in 0..600_000u32 {
            assert_eq!(ask(0x0b00_0000 + n), Some(999), "none pays for what another used");
        }
        assert_eq!((slot(much), ask(much)), (kept, Some(989)));
        // The day has ended.
        calendar.set(86_400);
        assert_eq!(ask(much), Some(999));
    }
}
