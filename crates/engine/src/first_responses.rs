//! The first successful response of each endpoint, with which the others are compared where the plan
//! says so. All workers share it, and all runs of one load may: whichever worker of the first run receives
//! one first sets it.

use std::sync::atomic::{AtomicU64, Ordering};

use model::interval::{Look, length_class, tallies_needed};

use crate::attempt_log::endpoint_number;
use crate::response_kinds::ResponseShape;

/// The first response of each endpoint.
#[derive(Debug)]
pub struct FirstResponses {
    /// The first response's key by endpoint; 0 before it came.
    firsts: Box<[AtomicU64]>,
}

impl Default for FirstResponses {
    /// Of one endpoint.
    fn default() -> Self {
        Self::of(0)
    }
}

impl FirstResponses {
    /// Of this many endpoints, before any of them has responded.
    pub fn of(endpoints: usize) -> Self {
        let endpoints = tallies_needed(endpoints).max(1);
        Self { firsts: (0..endpoints).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Whether a response is of the same status, media type and beginning as the first one of its
    /// endpoint, and not twice as long or short. The first one is.
    pub(crate) fn is_like_first(&self, seen: ResponseShape) -> bool {
        let Some(first) = self.firsts.get(usize::from(endpoint_number(seen.endpoint))) else {
            return true;
        };
        let key = key(seen);
        let known = match first.load(Ordering::Relaxed) {
            0 => first
                .compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed)
                .map_or_else(|other| other, |_| key),
            known => known,
        };
        let length = |key: u64| key as u8;
        known >> 8 == key >> 8 && length(known).abs_diff(length(key)) <= 1
    }
}

/// Status, media type, beginning and class of length in one number, never 0.
fn key(seen: ResponseShape) -> u64 {
    let Look { status, media_type, begins, .. } = seen.look;
    // Two of media type and beginning share a number once in four billion.
    let types = media_type ^ begins.wrapping_mul(0x9e37_79b9);
    u64::from(types) << 32 | u64::from(status) << 16 | u64::from(length_class(seen.bytes))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn responses_are_held_against_the_first() {
        let expected = FirstResponses::of(0);
        let seen = |begins, bytes| ResponseShape {
            endpoint: 0,
            look: Look { status: 200, media_type: 3, begins, wording: 0 },
            bytes,
            service_ns: 1,
            now: 1,
        };
        for (begins, bytes, like) in
            [(123, 15, true), (123, 17, true), (123, 40, false), (97, 15, false)]
        {
            assert_eq!(expected.is_like_first(seen(begins, bytes)), like, "{begins} {bytes}");
        }
    }
}
