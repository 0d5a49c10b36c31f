//! Where a response counts among the kinds that its endpoint has: a bounded number of them, so that
//! bodies that vary leave room for a page of errors.

use super::{KindTally, Look};

/// Kinds of one endpoint counted separately, see [`place`] for further ones.
pub const MOST_KINDS: usize = 12;
/// Wordings of one endpoint counted separately. Where there are more, bodies vary, and no wording is kept.
pub const MOST_WORDINGS: usize = 4;
/// Of the kinds, places that further lengths of a known look leave free for other looks.
const FREE_FOR_LOOKS: usize = 4;
/// Places that further beginnings of a known status and media type leave free for others of these.
const FREE_FOR_TYPES: usize = 2;

/// What counts responses of one kind.
pub trait Counted {
    /// What it counts.
    fn tally(&self) -> &KindTally;
    /// To change its look.
    fn look_mut(&mut self) -> &mut Look;
    /// Adds the counts of another, which has come to be of the same kind.
    fn absorb(&mut self, other: Self);
}

impl Counted for KindTally {
    fn tally(&self) -> &KindTally {
        self
    }

    fn look_mut(&mut self) -> &mut Look {
        &mut self.look
    }

    fn absorb(&mut self, other: Self) {
        self.add(&other);
    }
}

/// The place in `kinds` where a response of `endpoint` counts, and the look it has there: beyond the end where its
/// kind is to be a new one.
///
/// While an endpoint's bodies are of few wordings these are distinguished; once there are more, or one has none,
/// all its kinds lose theirs, and are merged where nothing else distinguishes them. Where there is no room a response
/// counts with one that is like it but for its length, or has its status and media type at least, so that
/// bodies of many lengths leave room for a page of errors. `None` where nothing is like it and all places
/// are taken.
pub fn place<K: Counted>(
    kinds: &mut Vec<K>,
    endpoint: u32,
    look: Look,
    length: u8,
) -> Option<(usize, Look)> {
    if look.wording != 0 && is_worded(kinds, endpoint) {
        let exact = of(kinds, endpoint).find(|(_, one)| (one.look, one.length) == (look, length));
        if let Some((at, _)) = exact {
            return Some((at, look));
        }
        let room = of(kinds, endpoint).count() < most(kinds, endpoint, look);
        if room && !is_one_too_many(kinds, endpoint, look.wording) {
            return Some((kinds.len(), look));
        }
    }
    forget_wordings(kinds, endpoint);
    place_plain(kinds, endpoint, look.plain(), length).map(|at| (at, look.plain()))
}

/// The same for a look without a wording, among looks without one.
fn place_plain<K: Counted>(kinds: &[K], endpoint: u32, look: Look, length: u8) -> Option<usize> {
    let first = |like: &dyn Fn(&KindTally) -> bool| {
        of(kinds, endpoint).find(|(_, one)| like(one)).map(|(at, _)| at)
    };
    let exact = first(&|one| (one.look, one.length) == (look, length));
    let room = of(kinds, endpoint).count() < most(kinds, endpoint, look);
    exact
        .or_else(|| room.then_some(kinds.len()))
        .or_else(|| first(&|one| one.look == look))
        .or_else(|| first(&|one| same_type(one.look, look)))
}

/// How many kinds there may be, that of another length or look included.
fn most<K: Counted>(kinds: &[K], endpoint: u32, look: Look) -> usize {
    let held = |like: &dyn Fn(Look) -> bool| of(kinds, endpoint).any(|(_, one)| like(one.look));
    if held(&|other| other.plain() == look.plain()) {
        MOST_KINDS - FREE_FOR_LOOKS
    } else if held(&|other| same_type(other, look)) {
        MOST_KINDS - FREE_FOR_TYPES
    } else {
        MOST_KINDS
    }
}

fn same_type(a: Look, b: Look) -> bool {
    (a.status, a.media_type) == (b.status, b.media_type)
}

fn of<K: Counted>(kinds: &[K], endpoint: u32) -> impl Iterator<Item = (usize, &KindTally)> {
    let tallies = kinds.iter().map(Counted::tally).enumerate();
    tallies.filter(move |(_, one)| one.endpoint == endpoint)
}

/// Whether an endpoint's kinds have wordings: so they do before there is any.
fn is_worded<K: Counted>(kinds: &[K], endpoint: u32) -> bool {
    of(kinds, endpoint).all(|(_, one)| one.look.wording != 0)
}

/// Whether a wording is new and all that may be are there.
fn is_one_too_many<K: Counted>(kinds: &[K], endpoint: u32, wording: u32) -> bool {
    let mut held = [wording; MOST_WORDINGS];
    let mut count = 0;
    for (_, one) in of(kinds, endpoint) {
        let other = one.look.wording;
        if other == wording {
            return false;
        }
        if count < MOST_WORDINGS && !held[..count].contains(&other) {
            held[count] = other;
            count += 1;
        }
    }
    count == MOST_WORDINGS
}

/// Takes the wordings from an endpoint's kinds, and merges those that are alike then.
fn forget_wordings<K: Counted>(kinds: &mut Vec<K>, endpoint: u32) {
    if of(kinds, endpoint).all(|(_, one)| one.look.wording == 0) {
        return;
    }
    let own = kinds.iter_mut().filter(|kind| kind.tally().endpoint == endpoint);
    own.for_each(|kind| kind.look_mut().wording = 0);
    for at in (1..kinds.len()).rev() {
        let KindTally { look, length, endpoint: its, .. } = *kinds[at].tally();
        let like = |kind: &K| (kind.tally().look, kind.tally().length) == (look, length);
        let own = |kind: &K| kind.tally().endpoint == endpoint;
        if its == endpoint
            && let Some(first) = kinds[..at].iter().position(|kind| own(kind) && like(kind))
        {
            let alike = kinds.remove(at);
            kinds[first].absorb(alike);
        }
    }
}

/// Adds another worker's kinds; of an endpoint at most [`MOST_KINDS`] are kept.
pub(crate) fn merge(into: &mut Vec<KindTally>, from: &[KindTally]) {
    for one in from {
        let Some((at, look)) = place(into, one.endpoint, one.look, one.length) else { continue };
        match into.get_mut(at) {
            Some(held) => held.add(one),
            None => into.push(KindTally { look, ..one.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(kinds: &mut Vec<KindTally>, look: Look, length: u8) -> usize {
        merge(kinds, &[KindTally { look, length, responses: 1, ..KindTally::default() }]);
        kinds.len()
    }

    fn all(kinds: &[KindTally]) -> u64 {
        kinds.iter().map(|kind| kind.responses).sum()
    }

    #[test]
    fn many_lengths_and_beginnings_leave_room_for_others() {
        for wording in [0, 7] {
            let mut kinds: Vec<KindTally> = Vec::new();
            let mut put = |status, begins, length| {
                let look = Look { status, media_type: 1, begins, wording };
                let held = put(&mut kinds, look, length);
                (held, all(&kinds), kinds.iter().any(|kind| kind.look == look.plain()))
            };
            for n in 0..100 {
                assert_eq!(put(200, b'{'.into(), n).1, u64::from(n) + 1, "all are counted");
            }
            assert_eq!(put(200, b'<'.into(), 9), (MOST_KINDS - FREE_FOR_LOOKS + 1, 101, true));
            for n in 0..100 {
                assert_eq!(put(200, 0x8000_0000 + n, 9).1, u64::from(n) + 102);
            }
            assert_eq!(put(302, 0, 0), (MOST_KINDS - FREE_FOR_TYPES + 1, 202, true));
        }
    }

    #[test]
    fn few_wordings_are_distinguished_and_many_are_not() {
        let look = |wording| Look { status: 200, media_type: 1, begins: 91, wording };
        let mut kinds = Vec::new();
        for wording in (2..6).chain(2..6) {
            put(&mut kinds, look(wording), 4);
        }
        assert_eq!((kinds.len(), kinds[0].responses), (MOST_WORDINGS, 2));
        // Another endpoint's are its own.
        let other = KindTally { endpoint: 1, look: look(9), responses: 1, ..KindTally::default() };
        merge(&mut kinds, std::slice::from_ref(&other));
        assert_eq!(kinds.len(), MOST_WORDINGS + 1);
        assert_eq!(put(&mut kinds, look(6), 4), 2);
        assert_eq!((kinds[0].look, kinds[0].responses), (look(0), 9));
        assert_eq!(kinds[1], other);
        // None is kept of those that come then.
        put(&mut kinds, look(2), 4);
        assert_eq!((kinds[0].responses, kinds.len()), (10, 2));
        // A worker that has seen them vary has them forgotten by all.
        let mut kinds = Vec::new();
        put(&mut kinds, look(2), 4);
        put(&mut kinds, look(0), 4);
        assert_eq!((kinds.len(), kinds[0].look), (1, look(0)));
    }
}
