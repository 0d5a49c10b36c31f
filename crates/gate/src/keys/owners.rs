//! The names of keys' owners, as the data path sends them upstream: texts that are written once and never move.
//!
//! Owns their bytes, one text after the other, in words that readers load without a lock. An entry of the table holds the
//! position of its owner's text.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Words that are allocated together: 1 MiB. No text lies in two of these chunks.
const CHUNK: usize = 1 << 17;
/// Chunks at most: 4 GiB.
const CHUNKS: usize = 4096;
/// Bits of a place that hold the length of its text.
const LENGTH_BITS: u32 = 32;

/// All texts.
#[derive(Debug)]
pub(super) struct Owners {
    chunks: Box<[OnceLock<Box<[AtomicU64]>>]>,
    /// Words that texts are in. One thread at a time writes.
    used: AtomicU32,
}

impl Owners {
    pub fn new() -> Self {
        Self { chunks: (0..CHUNKS).map(|_| OnceLock::new()).collect(), used: AtomicU32::new(0) }
    }

    /// Stores a text and returns its place. To be called by one thread at a time. 0 means no text: it was empty, or there is no
    /// room for it.
    pub fn add(&self, text: &str) -> u64 {
        let words = text.len().div_ceil(WORD);
        let mut first = self.used.load(Ordering::Relaxed) as usize;
        if first % CHUNK + words > CHUNK {
            first = first.next_multiple_of(CHUNK);
        }
        let chunk = self.chunks.get(first / CHUNK).filter(|_| (1..=CHUNK).contains(&words));
        let Some(chunk) = chunk else { return 0 };
        let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
        for (own, part) in chunk[first % CHUNK..].iter().zip(text.as_bytes().chunks(WORD)) {
            let mut word = [0; WORD];
            word[..part.len()].copy_from_slice(part);
            own.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        self.used.store((first + words) as u32, Ordering::Relaxed);
        (first as u64) << LENGTH_BITS | text.len() as u64
    }

    /// The text at a place that [`Self::add`] gave.
    pub fn at(&self, place: u64) -> Owner<'_> {
        let (first, bytes) = ((place >> LENGTH_BITS) as usize, place as u32 as usize);
        let chunk = self.chunks.get(first / CHUNK).and_then(OnceLock::get);
        let words = chunk.map(|chunk| &chunk[first % CHUNK..][..bytes.div_ceil(WORD)]);
        Owner { words: words.unwrap_or_default(), bytes }
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> usize {
        let chunks = self.chunks.iter().filter(|chunk| chunk.get().is_some()).count();
        chunks * CHUNK * WORD + CHUNKS * size_of::<OnceLock<Box<[AtomicU64]>>>()
    }
}

/// The owner of a key, as stored in the table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Owner<'a> {
    words: &'a [AtomicU64],
    bytes: usize,
}

impl<'a> Owner<'a> {
    /// Whether the owner has no text.
    pub fn is_empty(self) -> bool {
        self.bytes == 0
    }

    /// The text, in UTF-8.
    pub fn bytes(self) -> impl Iterator<Item = u8> + 'a {
        let words = self.words.iter();
        words.flat_map(|word| word.load(Ordering::Relaxed).to_le_bytes()).take(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were_put() {
        let owners = Owners::new();
        let text = |place| String::from_utf8(owners.at(place).bytes().collect()).unwrap();
        assert_eq!((owners.add(""), text(0), owners.bytes() < 1 << 20), (0, String::new(), true));
        // As long as an owner may be; more than a chunk of them.
        let long = "ö".repeat(100);
        let texts = ["a", "12345678", "123456789", "Zoë & co", long.as_str()];
        let places: Vec<u64> = (0..40_000).map(|n| owners.add(texts[n % texts.len()])).collect();
        for (n, place) in places.into_iter().enumerate() {
            assert_eq!(text(place), texts[n % texts.len()], "{n}");
        }
        assert!(owners.bytes() > 2 << 20);
        assert_eq!(owners.add(&"x".repeat(WORD * CHUNK + 1)), 0, "there is no room for it");
    }
}
