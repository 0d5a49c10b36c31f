//! Short hashes, some of which come out as numbers or words: `1234567` and `deadbee` beside `1f3c9a2`.

use super::{Label, Trie};
use crate::segment::Class;
use crate::trie::length_bit;

/// Digits of a hash at least: git's short form.
const SHORTEST: usize = 7;

impl Trie {
    /// Takes what has the length of the hashes at a place, and hexadecimal digits alone, for one of them.
    pub(super) fn settle_hashes(&mut self, node: u32) {
        let Some(hashes) = self.values_alone(node, Class::Hex) else { return };
        let length = self.nodes[hashes as usize].value_lengths;
        // Of several lengths they are no hashes of one kind.
        if length.count_ones() != 1 || length < length_bit(SHORTEST) {
            return;
        }
        for child in self.nodes[node as usize].children.clone() {
            let alike = match &self.nodes[child as usize].label {
                Label::Fixed(text) => {
                    length_bit(text.len()) == length && text.iter().all(u8::is_ascii_hexdigit)
                }
                Label::Values { .. } => {
                    Some(child) == self.values_alone(node, Class::Int)
                        && self.nodes[child as usize].value_lengths == length
                        && self.below(child) <= self.below(hashes)
                }
            };
            if alike {
                self.take_all(hashes);
                self.move_into(node, child, hashes);
            }
        }
    }

    /// The child that stands for values of a class with no text around them.
    fn values_alone(&self, node: u32, class: Class) -> Option<u32> {
        let is_it = |child: &&u32| {
            matches!(
                &self.nodes[**child as usize].label,
                Label::Values { prefix, class: of, suffix, .. }
                    if *of == class && prefix.is_empty() && suffix.is_empty()
            )
        };
        self.nodes[node as usize].children.iter().find(is_it).copied()
    }
}
