//! Fixed words among identifiers and codes, which are hardly ever words by chance.

use super::super::looks::is_spelled;
use super::{Candidate, Label, Trie};
use crate::segment::Class;
use crate::words;

impl Trie {
    /// The words of a group beside identifiers that are drawn at random, with the same text around them. Nothing where
    /// such words are many: they are names of another parameter, or identifiers in small letters alone.
    pub(super) fn words_beside_random(
        &self,
        node: u32,
        around: (&[u8], &[u8]),
        group: &[Candidate],
    ) -> Vec<u32> {
        const FEW: usize = 64;
        const HARDLY_ANY_ONE_IN: u64 = 50;
        let is_random = |child: &&u32| match &self.nodes[**child as usize].label {
            Label::Values { prefix, class: Class::Token | Class::Hex, suffix, .. } => {
                (&**prefix, &**suffix) == around
            }
            _ => false,
        };
        let identifiers = self.nodes[node as usize].children.iter().filter(is_random);
        let requests: u64 = identifiers.map(|child| self.below(*child)).sum();
        let words = group.iter().filter(|candidate| is_spelled(&candidate.text));
        // Those that paths are commonly made of stand beside anything.
        let is_rare = |candidate: &&Candidate| !words::is_wholly_common(&candidate.text);
        let rare = words.clone().filter(is_rare).count();
        if requests == 0 || rare > FEW || rare as u64 * HARDLY_ANY_ONE_IN > requests {
            return Vec::new();
        }
        words.map(|candidate| candidate.node).collect()
    }
}

/// The words of a group that are longer than all codes beside them.
pub(super) fn longer_words(group: &[Candidate], codes: &[Candidate]) -> Vec<u32> {
    let longest = codes.iter().map(|code| code.text.len()).max().unwrap_or(0);
    let longer = group
        .iter()
        .filter(|candidate| candidate.text.len() > longest && is_spelled(&candidate.text));
    longer.map(|candidate| candidate.node).collect()
}
