//! The requests of users in their order: of all users while they fit into memory, then of a sample of users, drawn by
//! their hash.
//!
//! Owns sessions: where they begin and end, and pauses within them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::FixedState;
use model::Latencies;

use crate::chain::Chain;
use crate::parallel::{Each, map};

/// Requests kept.
const MOST: usize = 300_000;
/// Levels that there are.
const LEVELS: usize = 32;
/// Users are divided by their hash into so many parts, in the order of their hashes.
const PARTS: usize = 8;

/// A request of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    user: u64,
    at_ns: i64,
    /// Its place in the log, for requests of one instant.
    order: u64,
    endpoint: u32,
    /// The hash of its parameters' values; 0 where it has none.
    values: u64,
}

/// Requests of users, as several readers of a log kept them.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    /// Zeros that a user's hash ends with to be kept.
    level: u32,
    /// How many the level keeps.
    kept: usize,
    /// How many there are by the zeros that their user's hash ends with, those of more in the last.
    by_zeros: [usize; LEVELS],
    own: Reading,
    others: Vec<Reading>,
}

/// What one reader of a log kept.
#[derive(Debug, Default)]
struct Reading {
    /// Of users with hashes in this order.
    parts: [Vec<Visit>; PARTS],
    /// The numbers that the endpoints have now, where they were given others; some have none.
    numbers: Option<Vec<Option<u32>>>,
}

/// What sessions come to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sessions {
    /// Of a sample it is an estimate, which may be above the number of requests.
    pub(crate) count: u64,
    pub(crate) requests: f64,
    pub(crate) think: Latencies<u64>,
    pub(crate) sampled: f64,
    pub(crate) most_open: u64,
    /// What follows what, of endpoints that are kept.
    pub(crate) chain: Chain,
    /// Of each of these the requests before which the session asked for it: those with the values of that request, and
    /// all.
    again: BTreeMap<u32, (u64, u64)>,
}

impl Sessions {
    /// How many there are in a log of so many requests: each has one at least.
    pub(crate) fn among(&self, requests: u64) -> u64 {
        self.count.min(requests)
    }

    /// Endpoints that sessions ask for with other values each time, mostly.
    pub(crate) fn with_other_values(&self) -> BTreeSet<u32> {
        let others = self.again.iter().filter(|(_, (same, all))| same * 2 <= *all);
        others.map(|(endpoint, _)| *endpoint).collect()
    }
}

impl Visits {
    /// Adds a request; `values` is the hash of its parameters' values, 0 where it has none.
    pub(crate) fn add(&mut self, user: u64, at_ns: i64, order: u64, endpoint: u32, values: u64) {
        if zeros(user) < self.level as usize {
            return;
        }
        // One user alone may have more than are kept.
        if self.kept == MOST && self.level as usize == LEVELS - 1 {
            return;
        }
        self.own.parts[part(user)].push(Visit { user, at_ns, order, endpoint, values });
        self.by_zeros[zeros(user)] += 1;
        self.kept += 1;
        if self.raise() {
            let level = self.level as usize;
            let parts = self.own.parts.iter_mut();
            parts.for_each(|part| part.retain(|visit| zeros(visit.user) >= level));
        }
    }

    /// Raises the level until those that it keeps fit; whether it had to.
    fn raise(&mut self) -> bool {
        let before = self.level;
        while self.kept > MOST && (self.level as usize) < LEVELS - 1 {
            self.kept -= self.by_zeros[self.level as usize];
            self.level += 1;
        }
        self.level > before
    }

    /// Puts those of another part of the log beside these.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.level = self.level.max(other.level);
        for (own, more) in self.by_zeros.iter_mut().zip(other.by_zeros) {
            *own += more;
        }
        self.kept = self.by_zeros[self.level as usize..].iter().sum();
        self.others.push(other.own);
        self.others.extend(other.others);
        self.raise();
    }

    /// With other numbers for endpoints, by those that they have; visits of those that have none are left out of sessions.
    pub(crate) fn renumbered(mut self, numbers: &[Option<u32>]) -> Self {
        let number = |own: u32| numbers.get(own as usize).copied().flatten();
        for reading in self.others.iter_mut().chain([&mut self.own]) {
            match &mut reading.numbers {
                Some(own) => own.iter_mut().for_each(|own| *own = own.and_then(number)),
                none => *none = Some(numbers.to_vec()),
            }
        }
        self
    }

    /// The sessions, ended by a pause of more than `gap_ns`; `peak` in nanoseconds; `kept` says by its number whether an
    /// endpoint is in the workload.
    pub(crate) fn sessions(
        self,
        gap_ns: i64,
        peak: (i64, i64),
        kept: &[bool],
        each: Each,
    ) -> Sessions {
        let level = self.level;
        let mut parts: Vec<Vec<Vec<Visit>>> = (0..PARTS).map(|_| Vec::new()).collect();
        let mut numbers = Vec::new();
        for reading in self.others.into_iter().chain([self.own]) {
            numbers.push(reading.numbers);
            parts.iter_mut().zip(reading.parts).for_each(|(part, visits)| part.push(visits));
        }
        let parts = map(each, parts, |readings| {
            Part::of(together(readings, &numbers, level as usize), gap_ns, peak, kept)
        });
        let mut all = Part::default();
        parts.into_iter().for_each(|part| all.append(part));
        all.finish(level)
    }
}

/// The place of a user among the parts.
fn part(user: u64) -> usize {
    (user >> (u64::BITS - PARTS.ilog2())) as usize
}

/// Zeros that a user's hash ends with.
fn zeros(user: u64) -> usize {
    (user.trailing_zeros() as usize).min(LEVELS - 1)
}

/// A part as several kept it, with the numbers of endpoints of each, of users that the level keeps.
fn together(
    readings: Vec<Vec<Visit>>,
    numbers: &[Option<Vec<Option<u32>>>],
    level: usize,
) -> Vec<Visit> {
    let mut all = Vec::new();
    for (mut visits, numbers) in readings.into_iter().zip(numbers) {
        visits.retain_mut(|visit| {
            let number = numbers.as_ref().map_or(Some(visit.endpoint), |numbers| {
                numbers.get(visit.endpoint as usize).copied().flatten()
            });
            visit.endpoint = number.unwrap_or_default();
            number.is_some() && zeros(visit.user) >= level
        });
        if all.is_empty() { all = visits } else { all.append(&mut visits) }
    }
    all
}

/// The sessions of some of the users.
#[derive(Debug, Default)]
struct Part {
    found: Sessions,
    visits: u64,
    /// Where sessions that reach into the peak begin and end.
    open: Vec<(i64, i64)>,
}

impl Part {
    fn of(mut visits: Vec<Visit>, gap_ns: i64, peak: (i64, i64), kept: &[bool]) -> Self {
        // One number decides between most of them.
        visits.sort_unstable_by_key(|visit| visit.user);
        let of_users = visits.chunk_by_mut(|a, b| a.user == b.user);
        of_users.for_each(|own| own.sort_unstable());
        let mut part = Self { visits: visits.len() as u64, ..Self::default() };
        let same =
            |a: &Visit, b: &Visit| a.user == b.user && b.at_ns.saturating_sub(a.at_ns) <= gap_ns;
        let mut before: HashMap<u32, u64, FixedState> = HashMap::default();
        for session in visits.chunk_by(same) {
            part.found.count += 1;
            for pair in session.windows(2) {
                part.found.think.record((pair[1].at_ns - pair[0].at_ns).max(0) as u64);
            }
            let (from, to) = (session[0].at_ns, session[session.len() - 1].at_ns);
            if from < peak.1 && to >= peak.0 {
                part.open.push((from, 1));
                part.open.push((to + 1, -1));
            }
            let is_kept = |visit: &&Visit| kept.get(visit.endpoint as usize) == Some(&true);
            let steps = session.iter().filter(is_kept).map(|visit| (visit.at_ns, visit.endpoint));
            part.found.chain.add(steps);
            before.clear();
            for visit in session.iter().filter(is_kept).filter(|visit| visit.values != 0) {
                if let Some(values) = before.insert(visit.endpoint, visit.values) {
                    let (same, all) = part.found.again.entry(visit.endpoint).or_default();
                    *same += u64::from(values == visit.values);
                    *all += 1;
                }
            }
        }
        part
    }

    /// Adds the sessions of users behind those that are here.
    fn append(&mut self, other: Self) {
        self.found.count += other.found.count;
        self.found.think.merge(&other.found.think);
        self.visits += other.visits;
        self.open.extend(other.open);
        self.found.chain.append(other.found.chain);
        for (endpoint, (same, all)) in other.found.again {
            let own = self.found.again.entry(endpoint).or_default();
            *own = (own.0 + same, own.1 + all);
        }
    }

    fn finish(self, level: u32) -> Sessions {
        let mut found = self.found;
        let scale = 1_u64 << level;
        found.requests = self.visits as f64 / (found.count as f64).max(1.0);
        found.count *= scale;
        found.most_open = most_open(self.open) * scale;
        found.sampled = 1.0 / scale as f64;
        found
    }
}

/// The most of these open at a time; each is +1 where it begins and -1 behind its end.
fn most_open(mut changes: Vec<(i64, i64)>) -> u64 {
    changes.sort_unstable();
    let (mut open, mut most) = (0_i64, 0);
    for (_, change) in changes {
        open += change;
        most = most.max(open);
    }
    most.max(0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::in_turn;
    use crate::time::SECOND;

    #[test]
    fn a_long_pause_ends_a_session() {
        let mut visits = Visits::default();
        for (at, user, endpoint) in
            [(0, 1, 0), (5, 1, 1), (2, 2, 0), (12, 1, 2), (5_000, 1, 0), (5_004, 1, 1)]
        {
            visits.add(user, at * SECOND, at as u64, endpoint, 0);
        }
        let kept = [true, true, false];
        let sessions = visits.sessions(1_800 * SECOND, (0, 100 * SECOND), &kept, &in_turn);
        assert_eq!((sessions.count, sessions.most_open), (3, 2));
        assert_eq!(sessions.requests, 2.0);
        assert_eq!(sessions.think.max(), 7 * SECOND as u64);
        // Without the endpoint that is not kept.
        assert_eq!(
            (sessions.chain.steps(), sessions.chain.pause(0, 1)),
            (5.0 / 3.0, 9 * SECOND as u64 / 2)
        );
    }

    #[test]
    fn several_readers_come_to_what_one_does() {
        // More than fit; the second reader numbers endpoints the other way round, and one of them is then taken out.
        let (mut one, mut parts) = (Visits::default(), [Visits::default(), Visits::default()]);
        for n in 0..700_000_u64 {
            let user = crate::trie::hash(&(n / 7).to_le_bytes());
            let (at_ns, endpoint) = (n as i64 * 1_000, (n % 3) as u32);
            one.add(user, at_ns, n, endpoint, n % 5);
            match n % 2 {
                0 => parts[0].add(user, at_ns, n, endpoint, n % 5),
                _ => parts[1].add(user, at_ns, n, 2 - endpoint, n % 5),
            }
        }
        let [mut several, other] = parts;
        several.absorb(other.renumbered(&[Some(2), Some(1), Some(0)]));
        let renumber = [Some(1), Some(0), None];
        let found = [one, several].map(|visits| {
            let sessions =
                visits.renumbered(&renumber).sessions(i64::MAX, (0, 1), &[true; 2], &in_turn);
            (
                sessions.count,
                sessions.requests,
                sessions.sampled,
                sessions.chain.steps(),
                sessions.again,
            )
        });
        assert_eq!(found[0], found[1]);
        assert!(found[0].2 < 1.0, "some users were left out: {found:?}");
    }

    #[test]
    fn there_are_no_more_sessions_than_requests() {
        let estimated = Sessions { count: 4_004_336, ..Sessions::default() };
        assert_eq!(estimated.among(4_000_000), 4_000_000);
        assert_eq!(estimated.among(5_000_000), 4_004_336);
    }

    #[test]
    fn more_requests_than_fit_leave_whole_users() {
        let mut visits = Visits::default();
        for n in 0..2_000_000_u64 {
            let user = crate::trie::hash(&(n / 10).to_le_bytes());
            visits.add(user, (n / 10) as i64 * SECOND + (n % 10) as i64, n, (n % 10) as u32, 0);
        }
        let sessions = visits.sessions(1_800 * SECOND, (0, i64::MAX), &[], &in_turn);
        assert_eq!(sessions.requests, 10.0);
        assert!((sessions.count as f64 / 200_000.0 - 1.0).abs() < 0.02, "{}", sessions.count);
    }
}
