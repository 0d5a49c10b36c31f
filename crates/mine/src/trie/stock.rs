//! The words of values that were put together: what is made of others is told from them however late it comes.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::looks::is_spelled;
use super::wording::{OTHER, own_share, wording};

/// Words at most: values that have more will have others yet.
const MOST: usize = 4_096;
/// Segments of other words at most that come late.
const ROOM: u32 = 32;

/// The words of the values at a place.
#[derive(Debug, Clone)]
pub(super) struct Stock {
    words: HashSet<u64, FixedState>,
    /// How many segments of other words may still come.
    room: u32,
}

impl Stock {
    /// The words of values; nothing if they are too many.
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut words: HashSet<u64, FixedState> = HashSet::default();
        for (word, _) in values.flat_map(wording) {
            words.insert(word);
            if words.len() > MOST {
                return None;
            }
        }
        Some(Self { words, room: ROOM })
    }

    /// Whether a segment is made of other words.
    pub(super) fn is_strange(&self, text: &[u8]) -> bool {
        own_share(text, |word| !self.words.contains(&word)) >= OTHER && is_spelled(text)
    }

    /// Counts a segment of other words; false if there are too many of them.
    pub(super) fn take(&mut self) -> bool {
        self.room = self.room.saturating_sub(1);
        self.room > 0
    }
}
