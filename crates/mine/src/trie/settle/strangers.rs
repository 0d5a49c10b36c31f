//! Fixed words among values, recognised by another form than the values have.
//!
//! The values of one parameter come from one source: titles share their words with other titles, names have punctuation
//! between words or have none, and paths end at every value or at none. A segment of another form is no value, however
//! rare it is. How much this proves depends on the values: where many of them differ from the rest, as names of people
//! and towns do in their words, it proves nothing.

use std::collections::{BTreeSet, HashMap};

use super::super::following::is_often;
use super::super::looks::{Looks, is_spelled};
use super::super::stock::{Stock, words_of};
use super::super::wording::{OTHER, own_share, wording};
use super::Candidate;
use crate::words;

/// Candidates from which on they say how values are made.
const FEWEST: usize = 30;

/// The candidates that are made otherwise than the rest.
pub(super) fn strangers(group: &[&Candidate]) -> Vec<u32> {
    let Some(values) = telling(group) else { return Vec::new() };
    let mut found = of_other_words(group, &values).unwrap_or_default();
    found.extend(of_another_look(group, &values));
    found.extend(of_other_ends(group, &values));
    found.extend(of_many_times_the_requests(&values));
    found
}

/// What the values of a group are made of.
pub(super) fn stock(group: &[&Candidate]) -> Option<Stock> {
    let values = telling(group)?;
    let words = of_other_words(group, &values).and_then(|others| {
        let rest = values.iter().filter(|candidate| !others.contains(&candidate.node));
        words_of(rest.map(|candidate| candidate.whole.as_slice()))
    });
    Some(Stock::new(words, looks_of(&values)))
}

/// The candidates that say how values are made, if they are enough. Words that paths are commonly made of do not, nor
/// do files, which have several endings at one place.
fn telling<'a>(group: &[&'a Candidate]) -> Option<Vec<&'a Candidate>> {
    let tells = |candidate: &Candidate| {
        !words::is_wholly_common(&candidate.whole) && words::extension(&candidate.whole).is_none()
    };
    let values: Vec<&Candidate> =
        group.iter().copied().filter(|candidate| tells(candidate)).collect();
    (values.len() >= FEWEST).then_some(values)
}

/// Those most of whose letters are in words that no other has, where that is an exception: `octobre-rose` beside titles
/// that are all made of the same few hundred words. Nothing where it is none.
fn of_other_words(group: &[&Candidate], values: &[&Candidate]) -> Option<Vec<u32>> {
    const RARE_ONE_IN: u64 = 20;
    const UNLIKELY: f64 = 0.5;
    let worded = Worded::of(values);
    let hits: u64 = values.iter().map(|candidate| candidate.hits).sum();
    let is_other = |candidate: &&&Candidate| {
        let share = worded.new_share(candidate);
        // One that many requests have may yet be a value that happens to have rare words.
        let is_rare = worded.is_clear() || candidate.hits * RARE_ONE_IN <= hits;
        let is_apart = worded.is_distinctive() && share >= OTHER;
        // As many values are expected that have as many words, all new.
        let words = wording(&candidate.whole).count() as i32;
        let expected = values.len() as f64 * worded.new_words.powi(words);
        let is_unlikely = worded.is_exception() && share >= 1.0 && expected < UNLIKELY;
        (is_apart || is_unlikely) && is_rare && is_spelled(&candidate.whole)
    };
    let found: Vec<u32> = group.iter().filter(is_other).map(|candidate| candidate.node).collect();
    (worded.is_distinctive() || !found.is_empty()).then_some(found)
}

/// The words of values, and how far they share them.
struct Worded {
    having: HashMap<u64, u32>,
    values: usize,
    /// How many have none but new words, nearly.
    other: usize,
    /// How many have some of both.
    between: usize,
    /// The share of words of values that no other has, of those that share others.
    new_words: f64,
}

impl Worded {
    fn of(values: &[&Candidate]) -> Self {
        const SAME: f64 = 0.25;
        let mut having: HashMap<u64, u32> = HashMap::new();
        for candidate in values {
            let own: BTreeSet<u64> = wording(&candidate.whole).map(|(word, _)| word).collect();
            for word in own {
                *having.entry(word).or_insert(0) += 1;
            }
        }
        let (mut other, mut between, mut new, mut all) = (0, 0, 0, 0);
        for candidate in values {
            let is_new = |word| having.get(&word) == Some(&1);
            let share = own_share(&candidate.whole, is_new);
            if share >= OTHER {
                other += 1;
                continue;
            }
            between += usize::from(share >= SAME);
            new += wording(&candidate.whole).filter(|(word, _)| is_new(*word)).count();
            all += wording(&candidate.whole).count();
        }
        let new_words = new as f64 / (all as f64).max(1.0);
        Self { having, values: values.len(), other, between, new_words }
    }

    /// The share of a segment's letters that are in words which no other has.
    fn new_share(&self, candidate: &Candidate) -> f64 {
        // Its own words are counted if it is one of the values.
        let own = u32::from(!words::is_wholly_common(&candidate.whole));
        let is_new = |word| self.having.get(&word).is_none_or(|count| *count <= own);
        own_share(&candidate.whole, is_new)
    }

    /// Whether hardly any have some new words and some that others have.
    fn is_clear(&self) -> bool {
        const HARDLY_ANY_ONE_IN: usize = 20;
        self.between * HARDLY_ANY_ONE_IN <= self.values
    }

    /// Whether values that have none but new words are few.
    fn is_exception(&self) -> bool {
        const FEW_ONE_IN: usize = 10;
        self.other * FEW_ONE_IN <= self.values
    }

    /// Whether new words tell a segment from the values.
    fn is_distinctive(&self) -> bool {
        const HARDLY_ANY_ONE_IN: usize = 50;
        const FEW_ONE_IN: usize = 5;
        const FEW: usize = 32;
        // All words are shared or none is: these are two kinds of segments.
        let two_kinds = self.is_clear() && self.other <= FEW.min(self.values / FEW_ONE_IN);
        // Where half of the values bring new words, one that brings none but new ones is no exception.
        let hardly_any = self.other <= self.values / HARDLY_ANY_ONE_IN + 1;
        two_kinds || hardly_any && self.between * 2 <= self.values
    }
}

/// Words as they are commonly written, but as hardly any of the rest is: `de-garde` beside names without signs, `tour`
/// beside titles of several words, `Overrides` beside telephone numbers.
fn of_another_look(group: &[&Candidate], values: &[&Candidate]) -> Vec<u32> {
    let looks = looks_of(values);
    let is_fixed =
        |candidate: &&&Candidate| looks.are_rare(&candidate.whole) && is_spelled(&candidate.whole);
    group.iter().filter(is_fixed).map(|candidate| candidate.node).collect()
}

fn looks_of(values: &[&Candidate]) -> Looks {
    Looks::of(values.iter().map(|candidate| candidate.whole.as_slice()))
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
