//! Numbers that are a function of a seed: a stream of draws, and orders without a list of them.
//!
//! Owns the generator. What a seed is made of, so that a draw depends on nothing but its place, is said by the users:
//! `traffic` for requests, `fill` for rows.

mod permutation;

pub use permutation::Permutation;

/// The golden ratio's part, in 64 bits: successive multiples of it are spread as evenly over a circle as anything can
/// be.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's finalizer: a bijection in which every bit of the input moves every bit of the output.
#[inline]
pub fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// SplitMix64 (Steele, Lea, Flood 2014): a counter and a mixing function, so that a generator for each request or cell
/// costs nothing to set up.
#[derive(Debug, Clone)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The stream of a state, which should be mixed where states are alike.
    pub fn of(state: u64) -> Self {
        Self { state }
    }

    /// 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mixed(self.state)
    }

    /// A number below `bound`, which is above 0 (Lemire 2019, without the rejection: what is off is less than `bound`
    /// parts in 2^64).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the elements of a list that is not empty.
    pub fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs for the seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
    #[test]
    fn is_splitmix64() {
        let mut draws = Draws::of(1_234_567);
        let drawn: Vec<u64> = (0..5).map(|_| draws.bits()).collect();
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
    fn draws_are_spread_evenly() {
        let mut draws = Draws::of(7);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[draws.below(10) as usize] += 1;
        }
        // 9 degrees of freedom: above 27.9 once in 1,000.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 27.9, "{chi} {counts:?}");
    }
}
