//! The number of connections of each address, over all workers. Looked up when a connection opens and closes, never for a
//! request.
//!
//! IPv4 counts by address, IPv6 by /64, which is what one subscriber has.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

/// Locks over which addresses are spread.
const PARTS: usize = 16;

/// The counts. Bounded by the number of connections: an address without one has no entry.
#[derive(Debug)]
pub(super) struct Caps {
    hasher: RandomState,
    parts: [Mutex<HashMap<IpAddr, u32>>; PARTS],
}

impl Default for Caps {
    fn default() -> Self {
        Self { hasher: RandomState::new(), parts: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl Caps {
    /// Counts a connection, unless the address has `most` already.
    pub(super) fn add(&self, address: IpAddr, most: u32) -> bool {
        let address = subscriber(address);
        let mut part = self.part(address).lock().unwrap_or_else(PoisonError::into_inner);
        let count = part.entry(address).or_insert(0);
        let fits = *count < most;
        if fits {
            *count += 1;
        } else if *count == 0 {
            part.remove(&address);
        }
        fits
    }

    /// A counted connection is gone.
    pub(super) fn remove(&self, address: IpAddr) {
        let address = subscriber(address);
        let mut part = self.part(address).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = part.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                part.remove(&address);
            }
        }
    }

    fn part(&self, address: IpAddr) -> &Mutex<HashMap<IpAddr, u32>> {
        &self.parts[self.hasher.hash_one(address) as usize % PARTS]
    }
}

/// What an address counts as.
fn subscriber(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_and_leaves_nothing_behind() {
        let caps = Caps::default();
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse::<IpAddr>().unwrap());
        assert!(caps.add(one, 2) && caps.add(one, 2) && !caps.add(one, 2));
        assert!(caps.add(other, 2) && !caps.add(other, 0));
        caps.remove(one);
        assert!(caps.add(one, 2));
        for address in [one, one, other] {
            caps.remove(address);
        }
        assert!(caps.parts.iter().all(|part| part.lock().unwrap().is_empty()));
        let [near, same, far] = ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"]
            .map(|text| text.parse::<IpAddr>().unwrap());
        assert!(caps.add(near, 2) && caps.add(same, 2) && !caps.add(near, 2) && caps.add(far, 2));
        for address in [near, same, far] {
            caps.remove(address);
        }
        assert!(!caps.add(one, 0));
        assert!(caps.parts.iter().all(|part| part.lock().unwrap().is_empty()));
    }
}
