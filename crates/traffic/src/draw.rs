//! Random draws that depend on nothing but a seed and a place in the schedule.
//!
//! Owns the generator and the draws made with it: choices by weight, permutations, Zipf's law. The
//! caller gives seed and place.

mod choice;
mod permutation;
mod zipf;

use model::Draw;

pub(crate) use choice::Choice;
pub(crate) use permutation::Permutation;
pub(crate) use zipf::Zipf;

/// The golden ratio's part, in 64 bits: successive multiples of it are spread as evenly over a circle
/// as anything can be.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64 (Steele, Lea, Flood 2014): a counter and a mixing function, so that a generator for each
/// request costs nothing to set up.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    state: u64,
}

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

impl Draws {
    /// The stream of a place for a purpose.
    pub(crate) fn of(seed: u64, place: Draw, purpose: Purpose) -> Self {
        let purpose = match purpose {
            Purpose::Choice => 0,
            Purpose::Row(pool) => 1 << 16 | u64::from(pool),
            Purpose::Step(step) => 2 << 16 | u64::from(step),
            Purpose::Condition(step) => 3 << 16 | u64::from(step),
        };
        let lane = mixed(seed ^ mixed(u64::from(place.lane) << 20 ^ purpose));
        Self { state: mixed(lane ^ place.k) }
    }

    /// 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mixed(self.state)
    }

    /// A number below `bound`, which is above 0 (Lemire 2019, without the rejection: what is off is
    /// less than `bound` parts in 2^64).
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// SplitMix64's finalizer: a bijection in which every bit of the input moves every bit of the output.
#[inline]
pub(crate) fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs for the seed 1234567 (Rosetta Code, "Pseudo-random
    /// numbers/Splitmix64").
    #[test]
    fn is_splitmix64() {
        let mut draws = Draws { state: 1_234_567 };
        let drawn: Vec<u64> = (0..5).map(|_| draws.next()).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn neighbouring_places_are_independent() {
        // Over neighbouring lanes and counts the first draw is uniform over 16 bins: chi-square with
        // 15 degrees of freedom is above 37.7 once in 1,000.
        for (lanes, ks) in [(65_536, 1), (1, 65_536), (256, 256)] {
            let mut bins = [0u32; 16];
            for lane in 0..lanes {
                for k in 0..ks {
                    let mut draws = Draws::of(7, Draw { lane, k }, Purpose::Step(0));
                    bins[draws.below(16) as usize] += 1;
                }
            }
            let square = |n: &u32| (f64::from(*n) - 4096.0).powi(2) / 4096.0;
            let chi: f64 = bins.iter().map(square).sum();
            assert!(chi < 37.7, "{lanes} lanes of {ks}: {chi}");
        }
    }
}
