//! Seeded draws: a stream of numbers for each cell, and orders of rows without a list of them.
//!
//! Every value of a row is a function of (seed, table, column, row), so that a fill can be taken up at any row
//! and a foreign key can be computed without asking the database.

/// SplitMix64's step.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
const ROUNDS: u64 = 6;

/// Spreads every bit of a number over all bits; no two numbers give the same (SplitMix64's finaliser).
pub fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// One number that stands for several.
pub fn key_of(parts: &[u64]) -> u64 {
    parts.iter().fold(STEP, |key, part| mixed(key ^ mixed(part.wrapping_add(STEP))))
}

/// A number that stands for a name (FNV-1a, mixed).
pub fn key_of_text(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed(hash)
}

/// A stream of numbers.
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    /// The stream of a key.
    pub fn of(key: u64) -> Self {
        Self(key)
    }

    /// All 64 bits drawn.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// At least 0 and below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below a bound, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// One of the elements of a list that is not empty.
    pub fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// An order of the numbers below a bound: a Feistel network over the next power of four, applied until the result
/// is below the bound (Black and Rogaway 2002, "cycle walking").
#[derive(Debug, Clone)]
pub struct Permutation {
    bound: u64,
    half_bits: u32,
    key: u64,
}

impl Permutation {
    /// Of the numbers below `bound`; of none where it is 0.
    pub fn new(bound: u64, key: u64) -> Self {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        Self { bound, half_bits: bits.div_ceil(2).max(1), key: mixed(key) }
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
        fn every_number_comes_once(bound in 1..3000u64, key: u64) {
            let order = Permutation::new(bound, key);
            let mut all: Vec<u64> = (0..bound).map(|place| order.at(place)).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..bound));
        }
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
