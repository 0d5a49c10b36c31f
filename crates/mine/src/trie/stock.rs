//! The form of values that were merged, so that words of another form are kept apart from them however late they come.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use super::looks::{Looks, is_spelled};
use super::wording::{OTHER, own_share, wording};

/// Words at most: values that have more will have others yet.
const MOST: usize = 4_096;
/// Segments that are made otherwise at most that come late.
const ROOM: u32 = 32;

/// Words by their hash.
type Words = HashSet<u64, FixedState>;

/// What the values at a place are made of.
#[derive(Debug, Clone)]
pub(super) struct Stock {
    /// Their words, where one that is made of others is none of them.
    words: Option<Words>,
    looks: Looks,
    /// How many segments that are made otherwise may still come.
    room: u32,
}

/// The words of values; nothing if they are too many.
pub(super) fn words_of<'a>(values: impl Iterator<Item = &'a [u8]>) -> Option<Words> {
    let mut words = Words::default();
    for (word, _) in values.flat_map(wording) {
        words.insert(word);
        if words.len() > MOST {
            return None;
        }
    }
    Some(words)
}

impl Stock {
    pub(super) fn new(words: Option<Words>, looks: Looks) -> Self {
        Self { words, looks, room: ROOM }
    }

    /// Whether a segment is made otherwise.
    pub(super) fn is_strange(&self, text: &[u8]) -> bool {
        let is_other = |words: &Words| own_share(text, |word| !words.contains(&word)) >= OTHER;
        is_spelled(text) && (self.looks.are_rare(text) || self.words.as_ref().is_some_and(is_other))
    }

    /// Counts a segment that is made otherwise; false if there are too many of them.
    pub(super) fn take(&mut self) -> bool {
        self.room = self.room.saturating_sub(1);
        self.room > 0
    }
}
