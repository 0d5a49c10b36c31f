//! An order drawn from a seed, without a list of it: a Feistel network over the next power of four, applied until the
//! result is below the bound (Black and Rogaway 2002, "cycle walking"). It takes the same few nanoseconds and no
//! memory for ten rows and for ten billion.

use super::mixed;

const ROUNDS: u64 = 6;

/// An order of the numbers below a bound.
#[derive(Debug, Clone)]
pub struct Permutation {
    bound: u64,
    half_bits: u32,
    key: u64,
}

impl Permutation {
    /// Of the numbers below `bound`; of none where it is 0.
    pub fn new(bound: u64, seed: u64) -> Self {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        Self { bound, half_bits: bits.div_ceil(2).max(1), key: mixed(seed) }
    }

    /// The number at a place below the bound.
    pub fn at(&self, place: u64) -> u64 {
        if self.bound <= 1 {
            return 0;
        }
        let mask = (1 << self.half_bits) - 1;
        let mut number = place;
        loop {
            let (mut left, mut right) = (number >> self.half_bits, number & mask);
            for round in 0..ROUNDS {
                let moved = left ^ (mixed(right ^ self.key.wrapping_add(round)) & mask);
                (left, right) = (right, moved);
            }
            number = left << self.half_bits | right;
            if number < self.bound {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_comes_once(bound in 1..3000u64, seed: u64) {
            let order = Permutation::new(bound, seed);
            let mut all: Vec<u64> = (0..bound).map(|place| order.at(place)).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..bound));
        }
    }

    #[test]
    fn seeds_give_orders_of_their_own() {
        let first = |seed| Permutation::new(1_000_000, seed).at(0);
        let firsts: std::collections::HashSet<u64> = (0..100).map(first).collect();
        assert!(firsts.len() > 95, "{}", firsts.len());
    }
}
