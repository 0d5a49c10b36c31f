//! Which words of a tree are values of a parameter.
//!
//! Words that stand side by side are either fixed, each a resource or an action of its own, or values: names, slugs,
//! titles. One alone does not say which; all together do. Values are many and go on coming (many were seen once
//! only), look like slugs or names, and are followed by the same segments, methods and parameters; fixed words are
//! few, come often, are common words, and differ in what follows.

mod apart;
mod figures;
mod hashes;
mod methods;
mod random;
mod secrets;
mod shared;
mod strangers;
mod values;
mod vocabulary;

use std::collections::BTreeMap;

use model::secret::Neighbour;

use super::following::{ENDS, Next, WORDS, follows_in, is_strange};
use super::looks::is_plain;
use super::{Label, ROOT, Trie, hash};
use crate::segment::{Class, Shape, is_upper};
use crate::template::{Builder, Templates};
use crate::words;
use random::longer_words;
use shared::without_shared;
use values::{agreement, values_among};

/// What the requests of a segment have in common, as bits: where they end, methods, names in queries (the lower
/// half), and what follows in the path (the upper half).
type Traits = u128;

/// The text before and behind a value.
type Around = (Vec<u8>, Vec<u8>);
/// Segments that may be values, by the text around their words.
type Words = BTreeMap<Around, Vec<Candidate>>;

/// A segment that may be a value.
struct Candidate {
    node: u32,
    /// What stands between the text around it.
    text: Vec<u8>,
    /// The segment as it stands.
    whole: Vec<u8>,
    /// Requests that end here or below.
    hits: u64,
    /// Those of them that end here.
    ends: u64,
    traits: Traits,
    /// Its requests by what follows.
    next: Next,
    /// The same, by the very segment that follows.
    after: Next,
    /// Whether words follow, and all are such as one knows.
    before_words: Option<bool>,
}

/// Requests by what follows them in the path.
#[derive(Default)]
struct Followers {
    next: Next,
    /// By the very segment.
    after: Next,
}

impl Trie {
    /// The templates of all paths.
    pub(crate) fn templates(mut self) -> Templates {
        self.arrange();
        self.settle(ROOT);
        self.settle_siblings(ROOT);
        let mut builder = Builder::default();
        self.write(ROOT, builder.root(), &mut builder);
        builder.finish()
    }

    fn write(&self, node: u32, at: u32, builder: &mut Builder) {
        for child in &self.nodes[node as usize].children {
            let source = &self.nodes[*child as usize];
            let ends = source.hits > 0;
            let key = self.key(*child);
            let made = match &source.label {
                Label::Fixed(text) => builder.fixed(at, key, text, ends),
                Label::Values { prefix, class, suffix, any } => {
                    let shape = Shape { prefix, class: *class, suffix };
                    builder.parameter(at, key, &shape, *any, ends)
                }
            };
            self.write(*child, made, builder);
        }
    }

    pub(super) fn settle(&mut self, node: u32) {
        self.settle_figures(node);
        self.settle_hashes(node);
        self.settle_words(node);
        self.settle_files(node);
        self.settle_strays(node);
        self.settle_secrets(node);
        for child in self.nodes[node as usize].children.clone() {
            self.settle(child);
        }
    }

    /// Fixed children by the text around their value and its class.
    fn groups(&self, node: u32) -> BTreeMap<(Vec<u8>, Class, Vec<u8>), Vec<Candidate>> {
        let mut groups: BTreeMap<_, Vec<Candidate>> = BTreeMap::new();
        for child in &self.nodes[node as usize].children {
            let Label::Fixed(text) = &self.nodes[*child as usize].label else { continue };
            // A word such as `reset`, which credentials do follow, is no value.
            let announces =
                matches!(self.nodes[*child as usize].neighbour, Neighbour::Firm | Neighbour::Loose);
            if announces && self.secrets_below(*child).is_some() {
                continue;
            }
            let Shape { prefix, class, suffix } = self.shape(node, text);
            let Followers { next, after } = self.followers(*child);
            let candidate = Candidate {
                node: *child,
                text: text[prefix.len()..text.len() - suffix.len()].to_vec(),
                whole: text.to_vec(),
                // Each goes on or ends.
                hits: next.values().sum(),
                ends: self.nodes[*child as usize].hits,
                traits: self.traits(*child),
                next,
                after,
                before_words: self.is_before_words(*child),
            };
            let key = (prefix.to_vec(), class, suffix.to_vec());
            groups.entry(key).or_default().push(candidate);
        }
        groups
    }

    /// Words, by the text around them.
    fn settle_words(&mut self, node: u32) {
        let mut words: Words = BTreeMap::new();
        for ((prefix, class, suffix), group) in self.groups(node) {
            match class {
                Class::Locale => self.settle_locales(node, group, &mut words),
                Class::Word => words.entry((prefix, suffix)).or_default().extend(group),
                // Slugs with a number behind a word, of which there are few each.
                _ if !prefix.is_empty() && suffix.is_empty() => {
                    words.entry(Default::default()).or_default().extend(group);
                }
                _ => {}
            }
        }
        for ((prefix, suffix), group) in words {
            let shape = Shape { prefix: &prefix, class: Class::Word, suffix: &suffix };
            let before = self.edges.get(&(node, super::hash_of_shape(&shape))).copied();
            let group = without_shared(group);
            // Countries and codes are no names of pages, and pages no codes.
            let (upper, lower): (Vec<Candidate>, Vec<Candidate>) =
                group.into_iter().partition(|candidate| is_upper(&candidate.text));
            let others = self.others(before);
            self.found.extend(self.words_of_other_methods(&lower, before));
            if prefix.is_empty() && suffix.is_empty() {
                self.found.extend(self.words_of_no_value(node, &lower));
            }
            self.found.extend(self.words_beside_random(node, (shape.prefix, shape.suffix), &lower));
            let (mut values, fixed) = values_among(&lower, before.is_some(), &others);
            self.found.extend(fixed);
            let (codes, fixed) = values_among(&upper, before.is_some(), &others);
            self.found.extend(fixed);
            if before.is_none() && values.is_empty() && !codes.is_empty() {
                self.found.extend(longer_words(&lower, &upper));
            }
            values.extend(codes);
            values.retain(|value| !self.found.contains(value));
            if values.is_empty() {
                continue;
            }
            let into = self.values_node(node, &shape);
            for value in values {
                self.move_into(node, value, into);
            }
        }
    }

    /// Those of a group that are made otherwise than the values that were put together before.
    fn words_of_no_value(&self, node: u32, group: &[Candidate]) -> Vec<u32> {
        let Some(stock) = self.stocks.get(&node) else { return Vec::new() };
        let strange = group.iter().filter(|candidate| stock.is_strange(&candidate.whole));
        strange.map(|candidate| candidate.node).collect()
    }

    /// Files with different endings at one place are values of one parameter, ending included.
    fn settle_files(&mut self, node: u32) {
        const ENDINGS: usize = 3;
        let mut files = Vec::new();
        for child in &self.nodes[node as usize].children {
            if let Label::Values { prefix, class, suffix, .. } = &self.nodes[*child as usize].label
                && class.is_vague()
                && prefix.is_empty()
                && suffix.starts_with(b".")
            {
                files.push(*child);
            }
        }
        if files.len() < ENDINGS {
            return;
        }
        let plain = Shape { prefix: b"", class: Class::Word, suffix: b"" };
        let into = self.values_node(node, &plain);
        self.take_all(into);
        for file in files {
            self.move_into(node, file, into);
        }
    }

    /// Languages at one place, where what follows them is the same; else they are words as others.
    fn settle_locales(&mut self, node: u32, group: Vec<Candidate>, words: &mut Words) {
        // `hr` and `it` may be departments.
        let spoken = |candidate: &Candidate| words::is_widely_spoken(&candidate.text);
        // Scripts of one language are editions of a page rather than languages of a site.
        let language = |candidate: &Candidate| candidate.text[..2].to_vec();
        let several = group.iter().any(|candidate| language(candidate) != language(&group[0]));
        if several && group.iter().any(spoken) && agreement(&group) >= 0.6 {
            let shape = Shape { prefix: b"", class: Class::Locale, suffix: b"" };
            self.generalise(node, &shape, |_, _| true);
        } else {
            words.entry(Default::default()).or_default().extend(group);
        }
    }

    /// Puts values of one parameter together that look different by chance: words, codes, tokens and hexadecimal
    /// digits with the same text around them, where one look has most of the requests.
    fn settle_strays(&mut self, node: u32) {
        let mut around: BTreeMap<Around, Vec<(u64, u32)>> = BTreeMap::new();
        for child in &self.nodes[node as usize].children {
            if let Label::Values { prefix, class, suffix, .. } = &self.nodes[*child as usize].label
                && class.is_vague()
            {
                let key = (prefix.to_vec(), suffix.to_vec());
                around.entry(key).or_default().push((self.below(*child), *child));
            }
        }
        for ((prefix, suffix), mut looks) in around {
            looks.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
            let (most, into) = looks[0];
            for (hits, look) in &looks[1..] {
                if hits * 5 <= most * 3 {
                    self.take_all(into);
                    self.move_into(node, *look, into);
                }
            }
            self.settle_rare(node, into, &prefix, &suffix);
        }
    }

    /// Says that values of all vague looks are some of a node's.
    fn take_all(&mut self, node: u32) {
        if let Label::Values { any, .. } = &mut self.nodes[node as usize].label {
            *any = true;
        }
    }

    /// Takes what is left of fixed segments for values where they are rare beside many, and no words that one knows.
    fn settle_rare(&mut self, node: u32, into: u32, prefix: &[u8], suffix: &[u8]) {
        let most = self.below(into);
        let usual = self.next(into);
        let class = match &self.nodes[into as usize].label {
            Label::Values { class, .. } => *class,
            Label::Fixed(_) => Class::Word,
        };
        let codes = class == Class::Code;
        for child in self.nodes[node as usize].children.clone() {
            let Label::Fixed(text) = &self.nodes[child as usize].label else { continue };
            let shape = self.shape(node, text);
            let around = shape.prefix == prefix && shape.suffix == suffix;
            let inner = &text[shape.prefix.len()..text.len() - shape.suffix.len()];
            let code = codes && is_upper(inner);
            let known = words::is_reserved(inner) || words::is_common(inner);
            let known = known && !code
                || self.found.contains(&child)
                || !around
                || matches!(shape.class, Class::Locale | Class::Int | Class::Float);
            let own = self.next(child);
            let follows = follows_in(&own, &usual);
            // What was drawn at random does not come out as words.
            let known = known || !class.is_words() && is_plain(inner);
            let apart = || is_plain(inner) && is_strange(&own, &usual, false);
            if !known && follows && self.below(child) * 50 <= most && !apart() {
                self.take_all(into);
                self.move_into(node, child, into);
            }
        }
    }

    /// Whether all words that follow a node are such as one knows; nothing where no word does.
    fn is_before_words(&self, node: u32) -> Option<bool> {
        let mut found = None;
        for child in &self.nodes[node as usize].children {
            let known = match &self.nodes[*child as usize].label {
                Label::Fixed(text) if self.shape(node, text).class.is_words() => {
                    words::is_wholly_general(text)
                }
                Label::Values { class, .. } if class.is_words() => false,
                _ => continue,
            };
            found = Some(found.unwrap_or(true) && known);
        }
        found
    }

    fn traits(&self, node: u32) -> Traits {
        let source = &self.nodes[node as usize];
        let bits = source.children.iter().map(|child| 1_u64 << self.bit(node, *child));
        let next = bits.fold(0, |next, bit| next | bit);
        u128::from(next) << 64 | u128::from(source.marks)
    }

    /// Requests of a node by what follows it.
    fn next(&self, node: u32) -> Next {
        self.followers(node).next
    }

    /// Requests of a node by what follows it, and by the very segment that does; those that end at it by the way in
    /// which they do. What follows is counted once for both.
    fn followers(&self, node: u32) -> Followers {
        let source = &self.nodes[node as usize];
        let ends = source.ways.iter().zip(ENDS..).filter(|(hits, _)| **hits > 0);
        let next: Next = ends.map(|(hits, way)| (way, u64::from(*hits))).collect();
        let mut followers = Followers { after: next.clone(), next };
        for child in &source.children {
            let hits = self.below(*child);
            *followers.next.entry(self.kind(node, *child)).or_insert(0) += hits;
            *followers.after.entry(self.segment(*child)).or_insert(0) += hits;
        }
        followers
    }

    /// The requests of values that were put together before.
    fn others(&self, values: Option<u32>) -> Followers {
        values.map_or_else(Followers::default, |values| self.followers(values))
    }

    /// What stands for a child itself in [`Followers::after`].
    fn segment(&self, child: u32) -> u32 {
        match &self.nodes[child as usize].label {
            Label::Fixed(text) => word(text),
            Label::Values { class, .. } => *class as u32,
        }
    }

    /// What stands for a child in [`Next`].
    fn kind(&self, node: u32, child: u32) -> u32 {
        match &self.nodes[child as usize].label {
            Label::Fixed(text) if self.is_known_word(node, text) => word(text),
            _ => self.bit(node, child),
        }
    }

    fn is_known_word(&self, node: u32, text: &[u8]) -> bool {
        self.shape(node, text).class == Class::Word && words::is_wholly_common(text)
    }

    /// The bit of [`Traits`] that stands for a child.
    fn bit(&self, node: u32, child: u32) -> u32 {
        match &self.nodes[child as usize].label {
            // A word that may be a value says no more than that a word follows.
            Label::Fixed(text) if self.is_known_word(node, text) => 16 + (hash(text) % 48) as u32,
            Label::Fixed(text) => self.shape(node, text).class as u32,
            Label::Values { class, .. } => *class as u32,
        }
    }
}

/// What stands for a word in [`Next`].
fn word(text: &[u8]) -> u32 {
    WORDS + hash(text) as u32 % WORDS
}
