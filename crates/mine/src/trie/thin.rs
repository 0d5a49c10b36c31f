//! Places with too many words to keep: most are merged, and their form is remembered.

use std::collections::BTreeMap;

use super::stock::Stock;
use super::{Label, Trie, may_be_fixed};
use crate::segment::{Class, Shape};
use crate::words;

/// Places at most for which it is remembered what values are made of.
const MOST_STOCKS: usize = 128;

impl Trie {
    /// Puts words together where they are too many to keep, those of a namespace that has many on their own. What
    /// stays: words that may be fixed, those that one knows and many requests have, and those that go on in a way of
    /// their own or are made otherwise.
    pub(super) fn thin_out(&mut self, node: u32) {
        const MANY: usize = 64;
        let children = self.nodes[node as usize].children.clone();
        let total: u64 = children.iter().map(|child| self.below(*child)).sum();
        let apart = self.words_apart(node);
        let mut chosen: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for child in children {
            let Label::Fixed(text) = &self.nodes[child as usize].label else { continue };
            let known = || words::is_common(text) || words::is_wholly_general(text);
            let heavy = self.below(child) * 200 > total && known();
            let found = apart.contains(&child) || self.found.contains(&child);
            if !(heavy || found || may_be_fixed(text)) {
                let prefix = self.shape(node, text).prefix;
                let namespace = if prefix.ends_with(b":") { prefix } else { b"" };
                chosen.entry(namespace.to_vec()).or_default().push(child);
            }
        }
        if !chosen.values().any(|words| words.len() >= MANY) {
            let all = std::mem::take(&mut chosen).into_values().flatten().collect();
            chosen.insert(Vec::new(), all);
        }
        for (prefix, words) in chosen {
            if !prefix.is_empty() && words.len() < MANY {
                continue;
            }
            let around = Shape { prefix: &prefix, class: Class::Word, suffix: b"" };
            let into = self.values_node(node, &around);
            for child in words {
                self.move_into(node, child, into);
            }
        }
    }

    /// Remembers what the values at a place are made of.
    pub(super) fn remember(&mut self, node: u32, stock: Stock) {
        if self.stocks.len() < MOST_STOCKS {
            self.stocks.entry(node).or_insert(stock);
        }
    }

    /// Whether a segment is made otherwise than the values below a node that were put together.
    pub(super) fn is_strange(&self, node: u32, text: &[u8]) -> bool {
        let Some(stock) = self.stocks.get(&node) else { return false };
        let shape = self.shape(node, text);
        let is_whole = shape.prefix.is_empty() && shape.suffix.is_empty();
        is_whole && shape.class.is_words() && stock.is_strange(text)
    }

    /// Whether a segment is kept apart that comes after values were put together, for being made otherwise. Where
    /// more come than a place has fixed words, values bring new ones too, and nothing follows from them any more.
    pub(super) fn takes_stranger(&mut self, node: u32, text: &[u8]) -> bool {
        if !self.is_strange(node, text) {
            return false;
        }
        let has_room = self.stocks.get_mut(&node).is_some_and(Stock::take);
        if !has_room {
            self.stocks.remove(&node);
        }
        has_room
    }

    /// Whether a child stays where others of its shape are put together.
    pub(super) fn stays(&self, node: u32, child: u32) -> bool {
        match &self.nodes[child as usize].label {
            Label::Fixed(text) => self.is_word(child) || self.is_strange(node, text),
            Label::Values { .. } => false,
        }
    }
}
