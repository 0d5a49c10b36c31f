//! Whether the paths that go through a segment continue and end as those of other segments do.

use std::collections::BTreeMap;

/// Requests by what follows a segment in the path: the class of it, or from [`WORDS`] on the word if it is one that
/// one knows; from [`ENDS`] to there those after which nothing follows, by method and names in the query.
pub(super) type Next = BTreeMap<u32, u64>;
/// Nothing follows.
pub(super) const ENDS: u32 = 64;
/// A word follows that one knows: so many are told apart.
pub(super) const WORDS: u32 = 1 << 16;

/// Whether requests go on in another way than others, by more than chance; `within` says that they are counted among
/// those.
pub(super) fn is_strange(own: &Next, all: &Next, within: bool) -> bool {
    is_often(own) && excess(own, all, within) > 1.0
}

/// Whether requests are enough to say something.
pub(super) fn is_often(own: &Next) -> bool {
    const MANY_HITS: f64 = 20.0;
    total(own) >= MANY_HITS
}

/// How far requests go on in another way than others, as a multiple of what chance explains: twice the logarithm of the
/// likelihood ratio (Wilks 1938), against what it exceeds by chance about once in a million times. What is expected
/// less than once is counted together: one by one, much that hardly ever follows would hide what differs.
pub(super) fn excess(own: &Next, all: &Next, within: bool) -> f64 {
    let own_total = total(own);
    let rest_total = if within { total(all) - own_total } else { total(all) };
    let new = own.iter().filter(|(kind, _)| !all.contains_key(kind));
    let both = all.iter().map(|(kind, hits)| (own.get(kind).copied().unwrap_or(0), *hits));
    let mut divergence = 0.0;
    let mut add = |hits: f64, expected: f64| {
        divergence += if hits > 0.0 { 2.0 * hits * (hits / expected).ln() } else { 0.0 };
    };
    let (mut kinds, mut rare, mut rarely_expected) = (0, 0.0, 0.0);
    for (hits, everyone) in both.chain(new.map(|(_, hits)| (*hits, 0))) {
        let counted = if within { hits } else { 0 };
        // One request of each kind is thought to the rest: what it does not have is rare, not impossible.
        let rest = everyone.saturating_sub(counted) as f64 + 1.0;
        let expected = own_total * rest / (rest_total + all.len() as f64);
        if expected < 1.0 {
            rare += hits as f64;
            rarely_expected += expected;
        } else {
            kinds += 1;
            add(hits as f64, expected);
        }
    }
    if rarely_expected > 0.0 {
        kinds += 1;
        add(rare, rarely_expected);
    }
    divergence / unlikely(kinds)
}

/// Whether all that follows in the path follows others too.
pub(super) fn follows_in(own: &Next, others: &Next) -> bool {
    let ends = ENDS..WORDS;
    own.keys().all(|kind| ends.contains(kind) || others.contains_key(kind))
}

pub(super) fn total(next: &Next) -> f64 {
    next.values().sum::<u64>() as f64
}

/// Adds requests to others.
pub(super) fn add(all: &mut Next, more: &Next) {
    for (bit, hits) in more {
        *all.entry(*bit).or_insert(0) += hits;
    }
}

/// What the ratio in [`excess`] exceeds by chance about once in a million times, with so many kinds of what follows (the
/// quantile of chi-square by Wilson and Hilferty 1931).
fn unlikely(kinds: usize) -> f64 {
    const NORMAL: f64 = 4.75;
    let freedom = (kinds as f64 - 1.0).max(1.0);
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + NORMAL * spread.sqrt()).powi(3)
}
