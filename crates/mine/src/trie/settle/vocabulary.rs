//! Words of the language in general beside values.
//!
//! Nearly all fixed segments are such words, and so may values be: the evidence is in how many of those that look
//! alike are words. Beside slugs single words are hardly ever values; among user names some happen to be words.

use std::collections::BTreeMap;

use super::super::MOST_CHILDREN;
use super::super::following::{Next, total};
use super::Candidate;
use crate::words;

/// The candidates that are fixed because they are words: most of those with so many words are, and they are not so
/// many, or seen so rarely, that they are values out of a dictionary; or a single word that more requests have than
/// any segment that is none. `others` are the requests of values that were put together before, by what follows.
pub(super) fn words_among_values(group: &[&Candidate], others: &Next) -> Vec<u32> {
    const DICTIONARY: usize = 50;
    if !others.is_empty() {
        return words_beside_many(group, others);
    }
    let unknown = group.iter().filter(|candidate| !is_known(candidate));
    let most = unknown.map(|candidate| candidate.hits).max().unwrap_or(0);
    // Single words, and several, in camel case and not.
    let mut looks: BTreeMap<(bool, bool), Vec<&Candidate>> = BTreeMap::new();
    for candidate in group.iter().filter(|candidate| is_written_small(&candidate.text)) {
        let camel = candidate.text.iter().any(u8::is_ascii_uppercase);
        let single = words::parts(&candidate.text).count() == 1;
        looks.entry((single, camel)).or_default().push(candidate);
    }
    let mut found = Vec::new();
    for ((single, _), alike) in looks {
        let (known, unknown): (Vec<&Candidate>, Vec<&Candidate>) =
            alike.into_iter().partition(|candidate| is_known(candidate));
        let once = known.iter().filter(|candidate| candidate.hits == 1).count();
        let dictionary = known.len() >= DICTIONARY && once * 10 >= known.len() * 3;
        let are_words = known.len() > unknown.len() && !dictionary;
        let fixed = |candidate: &&&Candidate| {
            are_words || single && candidate.hits > most || is_before_words_alone(candidate, group)
        };
        found.extend(known.iter().filter(fixed).map(|candidate| candidate.node));
    }
    found
}

/// The few plurals of a group: places in paths are called so, and hardly any names and titles are.
pub(super) fn plurals_among_values(group: &[&Candidate], others: &Next) -> Vec<u32> {
    const HARDLY_ANY_ONE_IN: usize = 50;
    let is_plural = |candidate: &&&Candidate| {
        let text = &candidate.text;
        text.iter().all(u8::is_ascii_lowercase) && words::is_plural(text) && is_known(candidate)
    };
    let mut plurals: Vec<u32> =
        group.iter().filter(is_plural).map(|candidate| candidate.node).collect();
    let among = if others.is_empty() { group.len() } else { MOST_CHILDREN };
    let hardly_any = |found: &[u32]| found.len() * HARDLY_ANY_ONE_IN <= among;
    if hardly_any(&plurals) {
        return plurals;
    }
    // Places that are called as they commonly are say nothing about the others.
    let is_common = |candidate: &&&Candidate| words::is_wholly_common(&candidate.text);
    let common: Vec<u32> = group.iter().filter(is_common).map(|candidate| candidate.node).collect();
    plurals.retain(|plural| !common.contains(plural));
    if hardly_any(&plurals) { plurals } else { Vec::new() }
}

/// Words among values where most values were put together as they came: how many of them are words is not known any more.
fn words_beside_many(group: &[&Candidate], others: &Next) -> Vec<u32> {
    const OFTEN_ONE_IN: f64 = 200.0;
    let all = total(others) + group.iter().map(|candidate| candidate.hits as f64).sum::<f64>();
    let fixed = |candidate: &&&Candidate| {
        let often = candidate.hits as f64 * OFTEN_ONE_IN > all;
        is_written_small(&candidate.text)
            && is_known(candidate)
            && (often || is_before_words_alone(candidate, group))
    };
    group.iter().filter(fixed).map(|candidate| candidate.node).collect()
}

/// Several words that paths are commonly made of, which more requests have than any of the slugs beside them, of which
/// hardly any are made of such words: `scams-and-consumer-alerts` beside articles.
pub(super) fn common_words_among_slugs(group: &[&Candidate]) -> Vec<u32> {
    const FEWEST: usize = 20;
    const HARDLY_ANY_ONE_IN: usize = 20;
    let (common, others): (Vec<&Candidate>, Vec<&Candidate>) =
        group.iter().copied().partition(|candidate| words::is_common(&candidate.text));
    let most = others.iter().map(|candidate| candidate.hits).max().unwrap_or(0);
    if group.len() < FEWEST || common.len() * HARDLY_ANY_ONE_IN > group.len() {
        return Vec::new();
    }
    let fixed = common.into_iter().filter(|candidate| candidate.hits > most);
    fixed.map(|candidate| candidate.node).collect()
}

/// The few single words of a group whose others are all of several words: `journal` beside categories such as
/// `rain-boots-for-summer`.
pub(super) fn single_words_among_slugs(group: &[&Candidate]) -> Vec<u32> {
    const FEW_ONE_IN: usize = 5;
    const FEWEST: usize = 20;
    const OFTEN: u64 = 20;
    // So few are none of them, however rarely they come.
    const HARDLY_ANY_ONE_IN: usize = 50;
    let is_single = |candidate: &&&Candidate| candidate.text.iter().all(u8::is_ascii_lowercase);
    let singles: Vec<&Candidate> = group.iter().filter(is_single).copied().collect();
    if singles.len() > (group.len() / FEW_ONE_IN).max(3) || group.len() < FEWEST {
        return Vec::new();
    }
    let is_sure = |candidate: &&Candidate| {
        candidate.hits >= OFTEN || words::is_wholly_common(&candidate.text)
    };
    let others = singles.iter().filter(|candidate| !is_sure(candidate)).count();
    let hardly_any = others <= (group.len() / HARDLY_ANY_ONE_IN).max(1);
    let fixed = singles.into_iter().filter(|candidate| hardly_any || is_sure(candidate));
    fixed.map(|candidate| candidate.node).collect()
}

/// Whether only words that one knows follow a candidate, and other words follow most of its group: `security`, which
/// `advisories` follows, beside users whom names of projects follow.
pub(super) fn is_before_words_alone(candidate: &Candidate, group: &[&Candidate]) -> bool {
    const ONE_IN: usize = 4;
    let count = |wanted: bool| {
        group.iter().filter(|candidate| candidate.before_words == Some(wanted)).count()
    };
    candidate.before_words == Some(true) && count(true) * (ONE_IN - 1) <= count(false)
}

fn is_known(candidate: &Candidate) -> bool {
    words::is_wholly_general(&candidate.text)
}

/// In capitals a word is a code or a title.
fn is_written_small(text: &[u8]) -> bool {
    text.first().is_some_and(|first| first.is_ascii_lowercase() || *first == b'%')
}
