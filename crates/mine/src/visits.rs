//! The requests of users in their order: of all users while they fit into memory, then of a sample of users, drawn by
//! their hash.
//!
//! Owns sessions: where they begin and end, pauses within them, and the commonest ways through the site.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use foldhash::fast::FixedState;
use model::Latencies;

use crate::each::{Each, map};

/// Requests kept.
const MOST: usize = 300_000;
/// Steps of a way at most.
const MOST_STEPS: usize = 12;
/// Ways at most.
const MOST_WAYS: usize = 20;
/// Partial ways looked at in the search for the commonest.
const MOST_TRIALS: usize = 20_000;
/// Ways are looked for until they cover this share of sessions.
const ENOUGH: f64 = 0.8;

/// A request of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    user: u64,
    at_ns: i64,
    /// Its place in the log, for requests of one instant.
    order: u64,
    endpoint: u32,
}

/// Requests of users.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    /// Zeros that a user's hash ends with to be kept.
    level: u32,
    visits: Vec<Visit>,
}

/// What sessions come to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sessions {
    pub(crate) count: u64,
    pub(crate) requests: f64,
    pub(crate) think: Latencies<u64>,
    pub(crate) sampled: f64,
    pub(crate) most_open: u64,
    /// Sessions that began in the peak.
    pub(crate) begun_in_peak: u64,
    /// The ways through the site, the commonest first.
    pub(crate) ways: Vec<Way>,
}

/// A way through the site.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Way {
    /// Endpoints, each with the pause after it in nanoseconds.
    pub(crate) steps: Vec<(u32, u64)>,
    /// The share of sessions that take it.
    pub(crate) share: f64,
}

impl Visits {
    pub(crate) fn add(&mut self, user: u64, at_ns: i64, order: u64, endpoint: u32) {
        if user.trailing_zeros() < self.level {
            return;
        }
        self.visits.push(Visit { user, at_ns, order, endpoint });
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.visits.len() > MOST && self.level < 40 {
            self.level += 1;
            let level = self.level;
            self.visits.retain(|visit| visit.user.trailing_zeros() >= level);
        }
        // One user alone may have them all.
        self.visits.truncate(MOST);
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        self.level = self.level.max(other.level);
        let level = self.level;
        self.visits.extend(other.visits);
        self.visits.retain(|visit| visit.user.trailing_zeros() >= level);
        self.shrink();
    }

    /// With other numbers for endpoints; the visits of those that have none are left out.
    pub(crate) fn renumbered(mut self, number: impl Fn(u32) -> Option<u32>) -> Self {
        self.visits.retain_mut(|visit| match number(visit.endpoint) {
            Some(endpoint) => {
                visit.endpoint = endpoint;
                true
            }
            None => false,
        });
        self
    }

    /// The sessions, ended by a pause of more than `gap_ns`; `peak` in nanoseconds.
    pub(crate) fn sessions(self, gap_ns: i64, peak: (i64, i64), each: Each) -> Sessions {
        let some = self.visits.len() * 9 / 8 / PARTS;
        let mut parts: Vec<Vec<Visit>> = (0..PARTS).map(|_| Vec::with_capacity(some)).collect();
        for visit in self.visits {
            parts[(visit.user >> (u64::BITS - PARTS.ilog2())) as usize].push(visit);
        }
        let parts = map(each, parts, |visits| Part::of(visits, gap_ns, peak));
        let mut all = Part::default();
        parts.into_iter().for_each(|part| all.append(part));
        all.finish(self.level)
    }
}

/// Users are divided by their hash into so many parts, in the order of their hashes.
const PARTS: usize = 8;

/// The sessions of some of the users.
#[derive(Debug, Default)]
struct Part {
    found: Sessions,
    visits: u64,
    chain: Chain,
    /// Where sessions that reach into the peak begin and end.
    open: Vec<(i64, i64)>,
}

impl Part {
    fn of(mut visits: Vec<Visit>, gap_ns: i64, peak: (i64, i64)) -> Self {
        visits.sort_unstable();
        let mut part = Self { visits: visits.len() as u64, ..Self::default() };
        let same =
            |a: &Visit, b: &Visit| a.user == b.user && b.at_ns.saturating_sub(a.at_ns) <= gap_ns;
        for session in visits.chunk_by(same) {
            part.found.count += 1;
            for pair in session.windows(2) {
                part.found.think.record((pair[1].at_ns - pair[0].at_ns).max(0) as u64);
            }
            let (from, to) = (session[0].at_ns, session[session.len() - 1].at_ns);
            part.found.begun_in_peak += u64::from((peak.0..peak.1).contains(&from));
            if from < peak.1 && to >= peak.0 {
                part.open.push((from, 1));
                part.open.push((to + 1, -1));
            }
            part.chain.add(session);
        }
        part
    }

    /// Adds the sessions of users behind those that are here.
    fn append(&mut self, other: Self) {
        self.found.count += other.found.count;
        self.found.begun_in_peak += other.found.begun_in_peak;
        self.found.think.merge(&other.found.think);
        self.visits += other.visits;
        self.open.extend(other.open);
        self.chain.append(other.chain);
    }

    fn finish(self, level: u32) -> Sessions {
        let mut found = self.found;
        let scale = 1_u64 << level;
        found.requests = self.visits as f64 / (found.count as f64).max(1.0);
        found.count *= scale;
        found.begun_in_peak *= scale;
        found.most_open = most_open(self.open) * scale;
        found.sampled = 1.0 / scale as f64;
        found.ways = self.chain.ways();
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

/// How often each endpoint follows each, as a Markov chain of the first order.
#[derive(Debug, Default)]
struct Chain {
    sessions: u64,
    /// By endpoint (nothing before the first) and the next (nothing behind the last).
    next: HashMap<Option<u32>, BTreeMap<Option<u32>, u64>, FixedState>,
    pauses: HashMap<(u32, u32), Vec<u64>, FixedState>,
}

/// Pauses between two endpoints that are kept.
const MOST_PAUSES: usize = 1_000;

impl Chain {
    fn add(&mut self, session: &[Visit]) {
        self.sessions += 1;
        let mut before = None;
        for visit in session {
            self.count(before, Some(visit.endpoint));
            before = Some(visit.endpoint);
        }
        self.count(before, None);
        for pair in session.windows(2) {
            let pauses = self.pauses.entry((pair[0].endpoint, pair[1].endpoint)).or_default();
            if pauses.len() < MOST_PAUSES {
                pauses.push((pair[1].at_ns - pair[0].at_ns).max(0) as u64);
            }
        }
    }

    /// Adds the sessions of users behind those that are here.
    fn append(&mut self, other: Self) {
        self.sessions += other.sessions;
        for (from, next) in other.next {
            let own = self.next.entry(from).or_default();
            next.into_iter().for_each(|(to, count)| *own.entry(to).or_insert(0) += count);
        }
        for (pair, pauses) in other.pauses {
            let own = self.pauses.entry(pair).or_default();
            own.extend(pauses);
            own.truncate(MOST_PAUSES);
        }
    }

    fn count(&mut self, from: Option<u32>, to: Option<u32>) {
        *self.next.entry(from).or_default().entry(to).or_insert(0) += 1;
    }

    /// The likeliest ways, longest first where they are equally likely, until they cover enough.
    fn ways(&self) -> Vec<Way> {
        let mut partial = BinaryHeap::from([(Likely(1.0), Vec::<u32>::new())]);
        let mut ways = Vec::new();
        let mut covered = 0.0;
        for _ in 0..MOST_TRIALS {
            let Some((Likely(share), steps)) = partial.pop() else { break };
            if ways.len() >= MOST_WAYS || covered >= ENOUGH {
                break;
            }
            let Some(next) = self.next.get(&steps.last().copied()) else { continue };
            let total: u64 = next.values().sum();
            for (to, count) in next {
                let share = share * *count as f64 / total as f64;
                let ends = to.is_none() || steps.len() + 1 >= MOST_STEPS;
                let mut steps = steps.clone();
                steps.extend(to);
                match ends {
                    true if !steps.is_empty() => {
                        covered += share;
                        ways.push(self.way(&steps, share));
                    }
                    true => {}
                    false => partial.push((Likely(share), steps)),
                }
            }
        }
        ways.sort_by(|a, b| b.share.total_cmp(&a.share));
        ways.truncate(MOST_WAYS);
        ways
    }

    fn way(&self, steps: &[u32], share: f64) -> Way {
        let pause = |at: usize| {
            let pair = (steps[at], *steps.get(at + 1)?);
            let mut pauses = self.pauses.get(&pair)?.clone();
            pauses.sort_unstable();
            pauses.get(pauses.len() / 2).copied()
        };
        let steps = (0..steps.len()).map(|at| (steps[at], pause(at).unwrap_or(0))).collect();
        Way { steps, share }
    }
}

/// A probability, for an order of the likeliest first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Likely(f64);

impl Eq for Likely {}

impl PartialOrd for Likely {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Likely {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::each::in_turn;
    use crate::time::SECOND;

    #[test]
    fn a_long_pause_ends_a_session() {
        let mut visits = Visits::default();
        for (at, user, endpoint) in
            [(0, 1, 0), (5, 1, 1), (2, 2, 0), (12, 1, 2), (5_000, 1, 0), (5_004, 1, 1)]
        {
            visits.add(user, at * SECOND, at as u64, endpoint);
        }
        let sessions = visits.sessions(1_800 * SECOND, (0, 100 * SECOND), &in_turn);
        assert_eq!((sessions.count, sessions.begun_in_peak, sessions.most_open), (3, 2, 2));
        assert_eq!(sessions.requests, 2.0);
        assert_eq!(sessions.think.max(), 7 * SECOND as u64);
        let total: f64 = sessions.ways.iter().map(|way| way.share).sum();
        assert!((total - 1.0).abs() < 1e-9, "{:?}", sessions.ways);
    }

    #[test]
    fn more_requests_than_fit_leave_whole_users() {
        let mut visits = Visits::default();
        for n in 0..2_000_000_u64 {
            let user = crate::trie::hash(&(n / 10).to_le_bytes());
            visits.add(user, (n / 10) as i64 * SECOND + (n % 10) as i64, n, (n % 10) as u32);
        }
        let sessions = visits.sessions(1_800 * SECOND, (0, i64::MAX), &in_turn);
        assert_eq!(sessions.requests, 10.0);
        assert!((sessions.count as f64 / 200_000.0 - 1.0).abs() < 0.02, "{}", sessions.count);
    }
}
