//! Keys of seeded draws: which stream a cell has.
//!
//! Every value of a row is a function of (seed, table, column, row), so that a fill can be taken up at any row
//! and a foreign key can be computed without asking the database.

use model::random::{GOLDEN, mixed};

/// One number that stands for several.
pub fn key_of(parts: &[u64]) -> u64 {
    parts.iter().fold(GOLDEN, |key, part| mixed(key ^ mixed(part.wrapping_add(GOLDEN))))
}

/// A number that stands for a name (FNV-1a, mixed).
pub fn key_of_text(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed(hash)
}
