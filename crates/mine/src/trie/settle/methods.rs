//! Fixed words among values, recognised by methods that the values never have: `POST /transparency/appeal` beside pages
//! of users that are only read. Such a word is no value, however rare it is.

use super::super::looks::is_plain;
use super::super::{Marks, Trie};
use super::Candidate;
use crate::words;

/// The bits of [`Marks`] that stand for methods.
const METHODS: Marks = 0b111_1110;

impl Trie {
    /// The words that one knows among candidates for values some of whose requests, or of those below them, have a
    /// method that no value's have. `values` are those that were put together before.
    pub(super) fn words_of_other_methods(
        &self,
        group: &[Candidate],
        values: Option<u32>,
    ) -> Vec<u32> {
        // Of fewer requests a method that is rare may be missing.
        const ENOUGH: u64 = 1_000;
        let (known, unknown): (Vec<&Candidate>, Vec<&Candidate>) =
            group.iter().partition(|candidate| words::is_wholly_general(&candidate.text));
        let before = values.map_or((0, 0), |values| (self.methods(values), self.below(values)));
        let (methods, hits) = unknown.iter().fold(before, |(methods, hits), candidate| {
            (methods | self.methods(candidate.node), hits + candidate.hits)
        });
        if hits < ENOUGH {
            return Vec::new();
        }
        let words = known.into_iter().filter(|candidate| is_plain(&candidate.text));
        let nodes = words.map(|candidate| candidate.node);
        nodes.filter(|node| self.methods(*node) & !methods != 0).collect()
    }

    /// The methods of the requests that end at a node or below it.
    fn methods(&self, node: u32) -> Marks {
        let source = &self.nodes[node as usize];
        let below = source.children.iter().map(|child| self.methods(*child));
        below.fold(source.marks & METHODS, |all, more| all | more)
    }
}
