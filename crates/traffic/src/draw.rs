//! Random draws that depend on nothing but a seed and a place in the schedule.
//!
//! Owns what is drawn: choices by weight, Zipf's law, and a stream for each purpose of a request. The
//! generator is `model::random`; the caller gives seed and place.

mod choice;
mod zipf;

use model::Draw;
use model::random::{Draws, mixed};

pub(crate) use choice::Choice;
pub(crate) use zipf::Zipf;

/// What draws are for: each purpose has a separate stream, so that what one request draws does not
/// depend on what else it draws.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Which endpoint or flow.
    Choice,
    /// Which row of a pool.
    Row(u16),
    /// Everything that the request of a step holds.
    Step(u16),
    /// Whether a step is taken.
    Condition(u16),
}

/// The stream of a place for a purpose.
pub(crate) fn stream(seed: u64, place: Draw, purpose: Purpose) -> Draws {
    let purpose = match purpose {
        Purpose::Choice => 0,
        Purpose::Row(pool) => 1 << 16 | u64::from(pool),
        Purpose::Step(step) => 2 << 16 | u64::from(step),
        Purpose::Condition(step) => 3 << 16 | u64::from(step),
    };
    let lane = mixed(seed ^ mixed(u64::from(place.lane) << 20 ^ purpose));
    Draws::of(mixed(lane ^ place.k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_places_are_independent() {
        // Over neighbouring lanes and counts the first draw is uniform over 16 bins: chi-square with
        // 15 degrees of freedom is above 37.7 once in 1,000.
        for (lanes, ks) in [(65_536, 1), (1, 65_536), (256, 256)] {
            let mut bins = [0u32; 16];
            for lane in 0..lanes {
                for k in 0..ks {
                    let mut draws = stream(7, Draw { lane, k }, Purpose::Step(0));
                    bins[draws.below(16) as usize] += 1;
                }
            }
            let square = |n: &u32| (f64::from(*n) - 4096.0).powi(2) / 4096.0;
            let chi: f64 = bins.iter().map(square).sum();
            assert!(chi < 37.7, "{lanes} lanes of {ks}: {chi}");
        }
    }
}
