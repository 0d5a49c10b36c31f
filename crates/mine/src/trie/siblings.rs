//! Fixed segments side by side that are values of one parameter because the same routes lie below each of them, in
//! the same proportions: `/project/gh/...` and `/project/bb/...`.
//!
//! A value and what follows it are independent of each other; resources have routes of their own, or use them in
//! proportions of their own. Segments that look like members of one closed set (countries, sizes, `q1` to `q4`) need
//! one such route, as do names of one namespace from which paths go on (`m.room.message`); words that paths are
//! commonly made of are no values, whatever lies below them: to take a value for a word costs an endpoint too many, to
//! take words for values makes one of several that are not alike.

use std::collections::{BTreeMap, BTreeSet};

use super::following::{Next, is_strange};
use super::{Label, Trie, WAYS};
use crate::segment::{Class, Shape, is_upper};
use crate::words;

/// Siblings at most that are compared.
const MOST: usize = 512;
/// Comparisons of them at most.
const MOST_PAIRS: usize = 1 << 12;
/// Siblings at least that make a parameter.
const FEWEST: usize = 3;
/// Routes at least below siblings that look like nothing that is known.
const FEWEST_ROUTES: usize = 3;
/// Siblings from which on some of them may be words that one knows.
const MANY: usize = 8;
/// Requests from which on a sibling or a route says something.
const OFTEN: u64 = 20;
/// Routes at most that lie below a sibling which is compared.
const MOST_ROUTES: usize = 200;
/// What does not lie below the other.
const NOWHERE: u32 = u32::MAX;

/// Requests by the node of the tree that they end at, and in which way.
type Ends = BTreeMap<(u32, u32), u64>;

impl Trie {
    /// Puts fixed segments together below which the same routes lie, from the leaves up.
    pub(super) fn settle_siblings(&mut self, node: u32) {
        for child in self.nodes[node as usize].children.clone() {
            self.settle_siblings(child);
        }
        let mut left = self.comparable(node);
        if left.len() > MOST {
            return;
        }
        let mut pairs = 0;
        while left.len() >= FEWEST && pairs < MOST_PAIRS {
            let first = left.remove(0);
            pairs += left.len();
            let (mut group, others): (Vec<u32>, Vec<u32>) =
                left.iter().partition(|other| self.is_same(first, **other));
            group.insert(0, first);
            // Few requests tell nothing: those are values only if the others are, and no words that one knows.
            let often = group.iter().take_while(|value| self.below(**value) >= OFTEN).count();
            if !self.is_parameter(&group[..often]) {
                continue;
            }
            let texts: Vec<&[u8]> = group[..often].iter().map(|node| self.text(*node)).collect();
            let kind = [is_one_set, are_of_one_namespace].into_iter().find(|kind| kind(&texts));
            let fits =
                |text: &[u8]| kind.is_none_or(|kind| kind(&[texts.as_slice(), &[text]].concat()));
            let mut at = 0;
            group.retain(|value| {
                at += 1;
                let text = self.text(*value);
                at <= often || !words::is_common(text) && fits(text)
            });
            left = others;
            let shape = Shape { prefix: b"", class: Class::Word, suffix: b"" };
            let into = self.values_node(node, &shape);
            for value in group {
                self.move_into(node, value, into);
            }
            self.settle(into);
        }
    }

    /// Fixed children that may be values, those with most requests first.
    fn comparable(&self, node: u32) -> Vec<u32> {
        let mut found: Vec<(u64, u32)> = Vec::new();
        for child in &self.nodes[node as usize].children {
            let Label::Fixed(text) = &self.nodes[*child as usize].label else { continue };
            let shape = self.shape(node, text);
            let is_word = shape.class.is_words() || shape.class == Class::Code;
            if is_word && !words::is_reserved(text) && !is_version(text) {
                found.push((self.below(*child), *child));
            }
        }
        found.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
        found.into_iter().map(|(_, child)| child).collect()
    }

    /// Whether routes below the second are those below the first, in proportions that differ by chance only.
    fn is_same(&self, first: u32, second: u32) -> bool {
        let mut ends = Ends::new();
        self.project(first, second, &mut ends);
        let all: u64 = ends.values().sum();
        let nowhere = ends.get(&(NOWHERE, 0)).copied().unwrap_or(0);
        if nowhere * 20 > all || !self.has_marks_of(first, second) {
            return false;
        }
        let mut own = Ends::new();
        self.project(first, first, &mut own);
        own.len() <= MOST_ROUTES && !is_strange(&next(&ends), &next(&own), false)
    }

    /// Whether methods and queries of what ends at the second are those of the first, where many requests are.
    fn has_marks_of(&self, first: u32, second: u32) -> bool {
        let (first, second) = (&self.nodes[first as usize], &self.nodes[second as usize]);
        second.marks & !first.marks == 0
    }

    /// Counts requests at or below `other` by the node of `model` or below that they would end at.
    fn project(&self, model: u32, other: u32, ends: &mut Ends) {
        let source = &self.nodes[other as usize];
        if source.hits > 0 && self.nodes[model as usize].hits == 0 {
            *ends.entry((NOWHERE, 0)).or_insert(0) += source.hits;
        } else {
            for (way, hits) in (0..).zip(source.ways).filter(|(_, hits)| *hits > 0) {
                *ends.entry((model, way)).or_insert(0) += u64::from(hits);
            }
        }
        for child in &source.children {
            if model == other {
                self.project(*child, *child, ends);
                continue;
            }
            match self.counterpart(model, *child) {
                Some(into) => self.project(into, *child, ends),
                None => *ends.entry((NOWHERE, 0)).or_insert(0) += self.below(*child),
            }
        }
    }

    /// The child of a node that another's child would be part of.
    fn counterpart(&self, node: u32, child: u32) -> Option<u32> {
        self.place_for(node, child).or_else(|| {
            let plain = match &self.nodes[child as usize].label {
                Label::Fixed(text) => {
                    let shape = self.shape(node, text);
                    shape.class.is_vague() && shape.prefix.is_empty() && shape.suffix.is_empty()
                }
                Label::Values { class, prefix, suffix, .. } => {
                    class.is_vague() && prefix.is_empty() && suffix.is_empty()
                }
            };
            let word = Shape { prefix: b"", class: Class::Word, suffix: b"" };
            plain.then(|| self.edges.get(&(node, super::hash_of_shape(&word))).copied())?
        })
    }

    fn text(&self, node: u32) -> &[u8] {
        match &self.nodes[node as usize].label {
            Label::Fixed(text) => text,
            Label::Values { .. } => b"",
        }
    }

    /// Whether segments below which the same routes lie are values of one parameter.
    fn is_parameter(&self, group: &[u32]) -> bool {
        if group.len() < FEWEST {
            return false;
        }
        let texts: Vec<&[u8]> = group.iter().map(|node| self.text(*node)).collect();
        let mut ends = Ends::new();
        self.project(group[0], group[0], &mut ends);
        let often = ends.iter().filter(|(_, hits)| **hits >= OFTEN);
        let routes = often.map(|((node, _), _)| node).collect::<BTreeSet<_>>().len();
        if is_one_set(&texts) {
            return routes >= 1;
        }
        // What ends in such a name may be a method: `/api/chat.update`.
        let is_end = |node: &u32| self.nodes[*node as usize].hits > 0;
        if are_of_one_namespace(&texts) && !group.iter().any(is_end) {
            return routes >= 1;
        }
        let is_known = |text: &&&[u8]| words::is_common(text) || words::is_wholly_general(text);
        let known = texts.iter().filter(is_known).count();
        if group.len() < MANY {
            return routes >= FEWEST_ROUTES && known == 0;
        }
        // Of many values some may be words. That resources have the same proportions by chance is the less likely
        // the more degrees of freedom there are.
        let freedom = (group.len() - 1) * routes.saturating_sub(1);
        freedom >= MANY && known * 4 <= group.len()
    }
}

/// As [`is_strange`] takes them, with so few requests that only a difference which matters is more than chance.
fn next(ends: &Ends) -> Next {
    const COUNTED: u64 = 2_000;
    let all: u64 = ends.values().sum();
    let scaled = |hits: u64| match all {
        0..=COUNTED => hits,
        _ => (u128::from(hits) * u128::from(COUNTED) / u128::from(all)) as u64,
    };
    let place = |(node, way): &(u32, u32)| node.wrapping_mul(WAYS as u32).wrapping_add(*way);
    ends.iter().map(|(at, hits)| (place(at), scaled(*hits))).collect()
}

/// `v1`, `v2beta`: an API of its own, though its routes are those of others.
fn is_version(text: &[u8]) -> bool {
    matches!(text, [b'v', b'0'..=b'9', ..])
}

/// Whether texts look like members of one closed set.
fn is_one_set(texts: &[&[u8]]) -> bool {
    let first = texts[0];
    let same_length = texts.iter().all(|text| text.len() == first.len());
    let upper = same_length && first.len() <= 3 && texts.iter().all(|text| is_upper(text));
    let letters = texts.iter().all(|text| text.len() == 1);
    let stem =
        |text: &[u8]| text.len() - text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let numbered = texts.iter().all(|text| {
        let end = stem(text);
        end > 0 && end < text.len() && text[..end] == first[..stem(first)]
    });
    let spans = texts.iter().all(|text| is_span(text) || words::are_of_one_set(&[text, b"ytd"]));
    upper || letters || numbered || spans || words::are_of_one_set(texts)
}

/// Whether texts are names of one namespace: `m.read`, `m.room.message`.
fn are_of_one_namespace(texts: &[&[u8]]) -> bool {
    let namespace = |text: &[u8]| {
        let at = memchr::memchr(b'.', text).filter(|at| *at > 0)?;
        words::extension(text).is_none().then(|| text[..at].to_vec())
    };
    let first = namespace(texts[0]);
    first.is_some() && texts.iter().all(|text| namespace(text) == first)
}

/// A span of time: `5d`, `24h`.
fn is_span(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0
        && matches!(&text[digits..], b"s" | b"m" | b"min" | b"h" | b"d" | b"w" | b"mo" | b"y")
}
