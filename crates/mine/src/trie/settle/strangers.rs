//! Words beside values that are made otherwise than those.
//!
//! The values of one parameter come from one source: titles share their words with other titles, names have signs
//! between words or have none, and a request ends at a value whichever it is. A segment that is made otherwise is none
//! of them, however rare it is. How much that says the values tell themselves: where many differ from the rest, as the
//! names of people and towns do in their words, it says nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::following::is_often;
use super::super::looks::is_spelled;
use super::super::stock::Stock;
use super::super::wording::{OTHER, own_share, wording};
use super::Candidate;
use crate::words;

/// Candidates from which on they say how values are made.
const FEWEST: usize = 30;

/// The candidates that are made otherwise than the rest.
pub(super) fn strangers(group: &[&Candidate]) -> Vec<u32> {
    let Some(values) = telling(group) else { return Vec::new() };
    let mut found = of_other_words(&values).unwrap_or_default();
    found.extend(of_another_look(&values));
    found.extend(of_other_ends(group, &values));
    found.extend(of_many_times_the_requests(&values));
    found
}

/// The words of a group, where one that is made of others is none of its values.
pub(super) fn stock(group: &[&Candidate]) -> Option<Stock> {
    let values = telling(group)?;
    let others = of_other_words(&values)?;
    let rest = values.iter().filter(|candidate| !others.contains(&candidate.node));
    Stock::of(rest.map(|candidate| candidate.whole.as_slice()))
}

/// The candidates that say how values are made, if they are enough. Words that paths are commonly made of do not.
fn telling<'a>(group: &[&'a Candidate]) -> Option<Vec<&'a Candidate>> {
    let is_common = |candidate: &Candidate| words::is_wholly_common(&candidate.whole);
    let values: Vec<&Candidate> =
        group.iter().copied().filter(|candidate| !is_common(candidate)).collect();
    (values.len() >= FEWEST).then_some(values)
}

/// Those most of whose letters are in words that no other has, where that is an exception: `octobre-rose` beside titles
/// that are all made of the same few hundred words. Nothing where it is none.
fn of_other_words(values: &[&Candidate]) -> Option<Vec<u32>> {
    const SAME: f64 = 0.25;
    const HARDLY_ANY_ONE_IN: usize = 50;
    const HARDLY_ANY_BETWEEN_ONE_IN: usize = 20;
    const FEW_ONE_IN: usize = 5;
    const FEW: usize = 32;
    const RARE_ONE_IN: u64 = 50;
    let mut having: HashMap<u64, u32> = HashMap::new();
    for candidate in values {
        let own: BTreeSet<u64> = wording(&candidate.whole).map(|(word, _)| word).collect();
        for word in own {
            *having.entry(word).or_insert(0) += 1;
        }
    }
    let share =
        |candidate: &Candidate| own_share(&candidate.whole, |word| having.get(&word) == Some(&1));
    let shares: Vec<f64> = values.iter().map(|candidate| share(candidate)).collect();
    let other = shares.iter().filter(|share| **share >= OTHER).count();
    let between = shares.iter().filter(|share| (SAME..OTHER).contains(*share)).count();
    // All words are shared or none is: these are two kinds of segments.
    let is_clear = between * HARDLY_ANY_BETWEEN_ONE_IN <= values.len();
    let two_kinds = is_clear && other <= FEW.min(values.len() / FEW_ONE_IN);
    // Where half of the values bring new words, one that brings none but new ones is no exception.
    let hardly_any = other <= values.len() / HARDLY_ANY_ONE_IN + 1 && between * 2 <= values.len();
    let hits: u64 = values.iter().map(|candidate| candidate.hits).sum();
    let is_other = |(candidate, share): &(&&Candidate, f64)| {
        // One that many requests have may yet be a value that happens to have rare words.
        let is_told = is_clear || candidate.hits * RARE_ONE_IN <= hits;
        *share >= OTHER && is_told && is_spelled(&candidate.whole)
    };
    let others = values.iter().zip(shares).filter(is_other);
    (hardly_any || two_kinds).then(|| others.map(|(candidate, _)| candidate.node).collect())
}

/// How words are written: in small letters, each with a capital or otherwise; and with which signs between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    case: u8,
    hyphens: bool,
    underscores: bool,
    other_signs: bool,
}

impl Look {
    fn of(text: &[u8]) -> Self {
        let has = |sign: u8| text.contains(&sign);
        let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte);
        let mut words = text.split(|byte| !byte.is_ascii_alphanumeric());
        let case = match text.iter().any(u8::is_ascii_uppercase) {
            false => 0,
            true if words.all(|word| !word.iter().skip(1).any(u8::is_ascii_uppercase)) => 1,
            true => 2,
        };
        Self {
            case,
            hyphens: has(b'-'),
            underscores: has(b'_'),
            other_signs: text.iter().any(is_sign),
        }
    }
}

/// Words as they are commonly written, but as hardly any of the rest is: `de-garde` beside names without signs, `tour`
/// beside titles of several words, `Overrides` beside telephone numbers.
fn of_another_look(values: &[&Candidate]) -> Vec<u32> {
    const HARDLY_ANY_ONE_IN: usize = 100;
    let hardly_any = values.len() / HARDLY_ANY_ONE_IN + 1;
    let with_figures = |text: &[u8]| text.iter().any(u8::is_ascii_digit);
    let mut looks: BTreeMap<Look, usize> = BTreeMap::new();
    let mut without_figures: BTreeMap<Look, usize> = BTreeMap::new();
    for candidate in values {
        let look = Look::of(&candidate.whole);
        *looks.entry(look).or_insert(0) += 1;
        *without_figures.entry(look).or_insert(0) += usize::from(!with_figures(&candidate.whole));
    }
    let is_fixed = |candidate: &&&Candidate| {
        let text = &candidate.whole;
        let look = Look::of(text);
        let is_rare = looks[&look] <= hardly_any
            || !with_figures(text) && without_figures[&look] <= hardly_any;
        is_rare && is_spelled(text)
    };
    values.iter().filter(is_fixed).map(|candidate| candidate.node).collect()
}

/// The few that have many times the requests of any other. Values differ in how often they come, but the most frequent
/// one hardly ever so much from the next; and where it does, it is a part of the load of its own.
fn of_many_times_the_requests(values: &[&Candidate]) -> Vec<u32> {
    const TIMES: u64 = 4;
    const OFTEN: u64 = 50;
    const FEW: usize = 3;
    let mut sorted = values.to_vec();
    sorted.sort_by_key(|candidate| std::cmp::Reverse(candidate.hits));
    let is_gap = |at: &usize| {
        let (hits, next) = (sorted[at - 1].hits, sorted[*at].hits);
        hits >= OFTEN && hits >= next * TIMES
    };
    let count = (1..=FEW).rev().find(is_gap).unwrap_or(0);
    let heavy = sorted.iter().take(count).filter(|candidate| is_spelled(&candidate.whole));
    heavy.map(|candidate| candidate.node).collect()
}

/// The few from which requests only go on where they only end at the others, or the reverse: what comes next is
/// independent of the value, so that some values would have both. Those with many requests are judged by what follows.
fn of_other_ends(group: &[&Candidate], values: &[&Candidate]) -> Vec<u32> {
    const EXPECTED: f64 = 3.0;
    const HARDLY_ANY_ONE_IN: usize = 50;
    let (ends, hits) = values
        .iter()
        .fold((0, 0), |(ends, hits), candidate| (ends + candidate.ends, hits + candidate.hits));
    let ending = ends as f64 / (hits as f64).max(1.0);
    let both = |candidate: &Candidate| {
        let times = candidate.hits as f64;
        1.0 - ending.powf(times) - (1.0 - ending).powf(times)
    };
    let expected: f64 = values.iter().map(|candidate| both(candidate)).sum();
    let mixed = values.iter().filter(|candidate| (1..candidate.hits).contains(&candidate.ends));
    if expected < EXPECTED || mixed.count() as f64 * 10.0 > expected {
        return Vec::new();
    }
    let going = values.iter().filter(|candidate| candidate.ends == 0).count();
    let few_go = going * 2 < values.len();
    let is_one = |candidate: &&&Candidate| {
        let is_alike = match few_go {
            true => candidate.ends == 0,
            false => candidate.ends == candidate.hits,
        };
        is_alike && !is_often(&candidate.next)
    };
    if values.iter().filter(is_one).count() > values.len() / HARDLY_ANY_ONE_IN + 1 {
        return Vec::new();
    }
    group.iter().filter(is_one).map(|candidate| candidate.node).collect()
}
