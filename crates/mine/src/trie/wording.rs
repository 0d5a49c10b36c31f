//! The words that segments are made of, and how many of them others have.

use super::hash;
use crate::words;

/// From this share of its letters on, a segment is made of other words: two thirds.
pub(super) const OTHER: f64 = 2.0 / 3.0;

/// The words of a text by their hash, whatever case they are written in, with their lengths.
pub(super) fn wording(text: &[u8]) -> impl Iterator<Item = (u64, usize)> {
    words::parts(text).map(|word| (hash(&word.to_ascii_lowercase()), word.len()))
}

/// The share of the letters of a text that are in words of which `is_own` says so.
pub(super) fn own_share(text: &[u8], is_own: impl Fn(u64) -> bool) -> f64 {
    let (mut own, mut all) = (0, 0);
    for (word, length) in wording(text) {
        all += length;
        own += if is_own(word) { length } else { 0 };
    }
    own as f64 / (all as f64).max(1.0)
}
