//! How many different things there are: exactly while they are few, then by a HyperLogLog sketch.
//!
//! The estimate is Ertl's improved one ("New cardinality estimation algorithms for HyperLogLog sketches", 2017),
//! which needs no correction for small or large counts.

use std::collections::HashSet;

use foldhash::fast::FixedState;

/// Registers as a power of two; the standard error is 1.04 / sqrt(2^BITS).
const BITS: u32 = 14;
/// Ranks that 64 - BITS bits can have.
const RANKS: usize = (64 - BITS) as usize;
/// Things counted exactly.
const MOST_EXACT: usize = 10_000;

/// A count of different things.
#[derive(Debug, Clone)]
pub(crate) enum Distinct {
    Exact(HashSet<u64, FixedState>),
    Sketch(Box<[u8]>),
}

impl Default for Distinct {
    fn default() -> Self {
        Self::Exact(HashSet::default())
    }
}

impl Distinct {
    /// Counts a thing by its hash.
    pub(crate) fn add(&mut self, hash: u64) {
        match self {
            Self::Exact(seen) => {
                seen.insert(hash);
                if seen.len() > MOST_EXACT {
                    let mut registers = vec![0; 1 << BITS].into_boxed_slice();
                    seen.iter().for_each(|hash| note(&mut registers, *hash));
                    *self = Self::Sketch(registers);
                }
            }
            Self::Sketch(registers) => note(registers, hash),
        }
    }

    pub(crate) fn absorb(&mut self, other: &Self) {
        match other {
            Self::Exact(seen) => seen.iter().for_each(|hash| self.add(*hash)),
            Self::Sketch(theirs) => {
                if let Self::Exact(seen) = self {
                    let mut registers = theirs.clone();
                    seen.iter().for_each(|hash| note(&mut registers, *hash));
                    *self = Self::Sketch(registers);
                } else if let Self::Sketch(own) = self {
                    for (own, their) in own.iter_mut().zip(theirs) {
                        *own = (*own).max(*their);
                    }
                }
            }
        }
    }

    /// How many, and the standard error of that as a share; 0 where it is exact.
    pub(crate) fn count(&self) -> (u64, f64) {
        match self {
            Self::Exact(seen) => (seen.len() as u64, 0.0),
            Self::Sketch(registers) => {
                (estimate(registers), 1.04 / f64::from(1_u32 << BITS).sqrt())
            }
        }
    }
}

fn note(registers: &mut [u8], hash: u64) {
    let at = (hash >> (64 - BITS)) as usize;
    let rank = ((hash << BITS) | (1 << (BITS - 1))).leading_zeros() + 1;
    registers[at] = registers[at].max(rank as u8);
}

fn estimate(registers: &[u8]) -> u64 {
    let m = registers.len() as f64;
    let mut counts = [0_u32; RANKS + 2];
    for rank in registers {
        counts[usize::from(*rank).min(RANKS + 1)] += 1;
    }
    let mut z = m * tau(1.0 - f64::from(counts[RANKS + 1]) / m);
    for count in counts[1..=RANKS].iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += m * sigma(f64::from(counts[0]) / m);
    (m * m / (2.0 * std::f64::consts::LN_2) / z).round() as u64
}

fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trie::hash;

    #[test]
    fn counts_are_within_the_error_stated() {
        for wanted in [0_u64, 1, 9_999, 10_001, 30_000, 100_000, 1_000_000] {
            let mut halves = [Distinct::default(), Distinct::default()];
            for n in 0..wanted {
                halves[(n % 2) as usize].add(hash(&n.to_le_bytes()));
                halves[0].add(hash(&n.to_le_bytes()));
            }
            let [mut all, other] = halves;
            all.absorb(&other);
            let (found, error) = all.count();
            let off = (found as f64 - wanted as f64).abs() / (wanted as f64).max(1.0);
            assert!(off <= 4.0 * error, "{found} of {wanted}: {off} against {error}");
        }
    }
}
