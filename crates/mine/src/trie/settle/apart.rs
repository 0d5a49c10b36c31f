//! Fixed words among values, recognised by different routes below them.
//!
//! Each value of one parameter is followed by the same segments in the same proportions, apart from chance and from
//! differences between values; a fixed word has routes of its own.

use std::collections::BTreeMap;

use super::super::following::{Next, add, excess, is_often, total};
use super::super::looks::is_plain;
use super::super::{Trie, hash_of_shape};
use super::strangers::{stock, strangers};
use super::{Candidate, Followers};
use crate::segment::{Class, Shape};

/// Candidates from which on they say what is usual, without others.
const FEWEST: usize = 8;

impl Trie {
    /// The words below a node that are none of the values beside them, as far as was read.
    pub(in super::super) fn words_apart(&mut self, node: u32) -> Vec<u32> {
        let plain = Shape { prefix: b"", class: Class::Word, suffix: b"" };
        let values = self.edges.get(&(node, hash_of_shape(&plain))).copied();
        let others = self.others(values);
        let mut groups = self.groups(node);
        let mut group = groups.remove(&(vec![], Class::Word, vec![])).unwrap_or_default();
        let mut found = words_apart(&group.iter().collect::<Vec<_>>(), &others);
        found.extend(self.words_of_other_methods(&group, values));
        if values.is_none() {
            // Slugs with a number behind a word are words too.
            let numbered = groups.into_iter().filter(|((prefix, class, suffix), _)| {
                !class.is_words() && !prefix.is_empty() && suffix.is_empty()
            });
            group.extend(numbered.flat_map(|(_, group)| group));
            let group: Vec<&Candidate> = group.iter().collect();
            let others = strangers(&group);
            self.found.extend(&others);
            found.extend(others);
            if let Some(stock) = stock(&group) {
                self.remember(node, stock);
            }
        }
        found
    }
}

/// The plain words among candidates that are none of the values for going on in another way.
pub(super) fn words_apart(group: &[&Candidate], others: &Followers) -> Vec<u32> {
    if group.len() < FEWEST && others.next.is_empty() {
        return Vec::new();
    }
    let mut all = others.next.clone();
    for candidate in group {
        add(&mut all, &candidate.next);
    }
    let (mut found, all) = strange(group, all, others.next.is_empty());
    found.extend(novel(group, &all, &others.after, &found));
    let words = group.iter().filter(|candidate| is_plain(&candidate.text));
    words.map(|candidate| candidate.node).filter(|node| found.contains(node)).collect()
}

/// Those that go on in other proportions than the rest, the most different first, and what is left of all requests
/// without theirs: a word that many requests have would make all values look different from it and from each other.
/// Nothing where many differ: then the rest is no single parameter, and says nothing about one.
fn strange(group: &[&Candidate], all: Next, alone: bool) -> (Vec<u32>, Next) {
    const FEW_ONE_IN: usize = 10;
    // Beside values that were put together before, all may be such words.
    let most = if alone { (group.len() / FEW_ONE_IN).max(3) } else { group.len() };
    let often = group.iter().filter(|candidate| is_often(&candidate.next));
    let mut left: Vec<&Candidate> = often.copied().collect();
    let mut found = Vec::new();
    let mut rest = all.clone();
    loop {
        let excesses: Vec<f64> =
            left.iter().map(|candidate| excess(&candidate.next, &rest, true)).collect();
        let worst = (0..left.len()).max_by(|a, b| excesses[*a].total_cmp(&excesses[*b]));
        let Some(worst) = worst.filter(|worst| excesses[*worst] > 1.0) else { break };
        let candidate = left.swap_remove(worst);
        for (bit, hits) in &candidate.next {
            *rest.entry(*bit).or_insert(0) -= hits;
        }
        found.push(candidate.node);
        if found.len() > most {
            return (Vec::new(), all);
        }
    }
    (found, rest)
}

/// Those after which nothing follows that follows any other. That a value is one of them by chance is about as likely
/// as anything that was seen only once is (Good 1953), for each of the values that no more requests have.
fn novel(group: &[&Candidate], rest: &Next, others: &Next, known: &[u32]) -> Vec<u32> {
    const UNLIKELY: f64 = 0.5;
    let mut values: Vec<&Candidate> =
        group.iter().filter(|candidate| !known.contains(&candidate.node)).copied().collect();
    values.sort_by_key(|candidate| candidate.hits);
    // How many have what, those that were put together before counted as two.
    let mut having: BTreeMap<u32, u32> = others.keys().map(|bit| (*bit, 2)).collect();
    for bit in values.iter().flat_map(|candidate| candidate.after.keys()) {
        *having.entry(*bit).or_insert(0) += 1;
    }
    let once = having.values().filter(|count| **count == 1).count() as f64;
    let all = total(rest);
    let fixed = |candidate: &Candidate| {
        let lighter = values.partition_point(|other| other.hits <= candidate.hits) as f64;
        let chance = once.max(1.0) / (all - candidate.hits as f64).max(1.0);
        candidate.after.keys().all(|bit| having.get(bit) == Some(&1)) && lighter * chance < UNLIKELY
    };
    values.iter().filter(|candidate| fixed(candidate)).map(|candidate| candidate.node).collect()
}
