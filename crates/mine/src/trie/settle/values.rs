//! Which candidates are values: whether a group as a whole is open, and which words of an open group are fixed
//! nevertheless.

use super::super::looks::{is_handle, is_identifier, is_slug, is_title};
use super::{Candidate, Followers, Traits, apart, strangers, vocabulary};
use crate::segment::is_upper;
use crate::words;

/// What must speak for values at least. Evenly weighed, 1 would do; a fixed word lost is worse than a parameter.
const OPEN: f64 = 1.5;

/// The nodes of a group that are values. `known` says that others of the group were found to be some already.
/// `others` are the requests of those.
pub(super) fn values_among(
    group: &[Candidate],
    known: bool,
    others: &Followers,
) -> (Vec<u32>, Vec<u32>) {
    let open: Vec<&Candidate> =
        group.iter().filter(|candidate| !words::is_reserved(&candidate.text)).collect();
    if known || openness(&open) > OPEN {
        return values_of(&open, others);
    }
    let slugs: Vec<&Candidate> =
        open.iter().copied().filter(|candidate| is_slug(&candidate.text)).collect();
    if slugs.len() < 3 || openness(&slugs) <= OPEN {
        return Default::default();
    }
    let with = |candidate: &&&Candidate| {
        is_slug(&candidate.text)
            || candidate.text.contains(&b'-') && !words::is_common(&candidate.text)
    };
    values_of(&open.iter().filter(with).copied().collect::<Vec<_>>(), others)
}

/// How much speaks for values rather than fixed words: above [`OPEN`] they are taken for values.
fn openness(group: &[&Candidate]) -> f64 {
    if group.len() < 3 {
        return 0.0;
    }
    let count = group.len() as f64;
    let hits: u64 = group.iter().map(|candidate| candidate.hits).sum();
    let share = |of: &dyn Fn(&Candidate) -> bool| {
        group.iter().filter(|candidate| of(candidate)).count() as f64 / count
    };
    let once = share(&|candidate| candidate.hits == 1);
    let common = share(&|candidate| words::is_common(&candidate.text));
    let named = share(&|candidate| is_identifier(&candidate.text));
    let slugs = share(&|candidate| is_slug(&candidate.text));
    let handles = share(&|candidate| is_handle(&candidate.text));
    let upper = share(&|candidate| is_upper(&candidate.text));
    let titles = share(&|candidate| is_title(&candidate.text));
    // Of few words some may be rare; of many values most are.
    let enough = if slugs > 0.5 { 6.0 } else { 50.0 };
    let mut score = (6.0 * once).min(3.0) * (count / enough).min(1.0);
    score += (count / 16.0).log2().clamp(-2.5, 3.0);
    score += 4.0 * slugs + 2.0 * handles + 3.0 * upper + 2.0 * titles - 6.0 * common - 6.0 * named;
    if once == 0.0 && hits as f64 / count >= 50.0 {
        score -= 2.0;
    }
    if group.len() >= 8 {
        score += (agreement(group) - 0.7) * 5.0;
    }
    score
}

/// The values among candidates: all but common words, and those that differ from the rest in what follows. Beside
/// them those that are fixed for being words.
fn values_of(group: &[&Candidate], others: &Followers) -> (Vec<u32>, Vec<u32>) {
    const FEW: usize = 3;
    const MANY: usize = 20;
    const UNLIKELY: f64 = 0.001;
    let next = |candidate: &Candidate| (candidate.traits >> 64) as u64;
    let several = (0..u64::BITS)
        .filter(|bit| {
            let with = |candidate: &&&Candidate| next(candidate) >> bit & 1 == 1;
            group.iter().filter(with).count() >= FEW
        })
        .fold(0_u64, |bits, bit| bits | 1 << bit);
    // The share of requests that end at a value. Where few do, one at which all end is a page of its own.
    let (ends, hits) = group
        .iter()
        .fold((0, 0), |(ends, hits), candidate| (ends + candidate.ends, hits + candidate.hits));
    let ending = ends as f64 / (hits as f64).max(1.0);
    let fixed = |candidate: &Candidate| {
        let apart = next(candidate) != 0 && next(candidate) & several == 0;
        let alone = candidate.ends == candidate.hits
            && ending < 0.5
            && ending.powf(candidate.hits as f64) < UNLIKELY;
        // In capitals a common word is a code or a title.
        let common = words::is_wholly_common(&candidate.text)
            && candidate.text.first().is_some_and(u8::is_ascii_lowercase);
        // Among many values one may happen to be a common word: what follows it is what follows them.
        let same = next(candidate) != 0 && next(candidate) & !several == 0;
        let one_of_many = same
            && group.len() >= MANY
            && candidate.hits * 20 <= hits
            && !vocabulary::is_before_words_alone(candidate, group);
        common && !one_of_many || alone || apart && candidate.hits >= 30
    };
    let mut known = vocabulary::words_among_values(group, &others.next);
    known.extend(vocabulary::single_words_among_slugs(group));
    known.extend(vocabulary::common_words_among_slugs(group));
    known.extend(vocabulary::plurals_among_values(group, &others.next));
    let mut apart = apart::words_apart(group, others);
    if others.next.is_empty() {
        apart.extend(strangers::strangers(group));
    }
    let is_value = |candidate: &&&Candidate| {
        !fixed(candidate) && !apart.contains(&candidate.node) && !known.contains(&candidate.node)
    };
    let values = group.iter().filter(is_value).map(|candidate| candidate.node).collect();
    known.extend(apart);
    (values, known)
}

/// What a good part of the requests of a group have in common.
fn usual<C: std::borrow::Borrow<Candidate>>(group: &[C]) -> Traits {
    let total: u64 = group.iter().map(|candidate| candidate.borrow().hits).sum();
    let mut usual = 0;
    for bit in 0..u128::BITS {
        let with = |candidate: &&C| candidate.borrow().traits >> bit & 1 == 1;
        let hits: u64 = group.iter().filter(with).map(|candidate| candidate.borrow().hits).sum();
        if hits * 10 >= total * 3 {
            usual |= 1 << bit;
        }
    }
    usual
}

/// The share of a group's requests whose segment has nothing that is unusual in it.
pub(super) fn agreement<C: std::borrow::Borrow<Candidate>>(group: &[C]) -> f64 {
    let usual = usual(group);
    let (mut same, mut all) = (0, 0);
    for candidate in group.iter().map(std::borrow::Borrow::borrow) {
        all += candidate.hits;
        if candidate.traits & !usual == 0 {
            same += candidate.hits;
        }
    }
    same as f64 / (all as f64).max(1.0)
}
