//! The requests of users in their order: of all users while they fit into memory, then of a sample of users, drawn by
//! their hash.
//!
//! Owns sessions: where they begin and end, and pauses within them.

use model::Latencies;

use crate::chain::Chain;
use crate::each::{Each, map};

/// Requests kept.
const MOST: usize = 300_000;

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
    /// What follows what, of endpoints that are kept.
    pub(crate) chain: Chain,
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

    /// The sessions, ended by a pause of more than `gap_ns`; `peak` in nanoseconds; `kept` says by its number whether an
    /// endpoint is in the workload.
    pub(crate) fn sessions(
        self,
        gap_ns: i64,
        peak: (i64, i64),
        kept: &[bool],
        each: Each,
    ) -> Sessions {
        let some = self.visits.len() * 9 / 8 / PARTS;
        let mut parts: Vec<Vec<Visit>> = (0..PARTS).map(|_| Vec::with_capacity(some)).collect();
        for visit in self.visits {
            parts[(visit.user >> (u64::BITS - PARTS.ilog2())) as usize].push(visit);
        }
        let parts = map(each, parts, |visits| Part::of(visits, gap_ns, peak, kept));
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
    /// Where sessions that reach into the peak begin and end.
    open: Vec<(i64, i64)>,
}

impl Part {
    fn of(mut visits: Vec<Visit>, gap_ns: i64, peak: (i64, i64), kept: &[bool]) -> Self {
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
            if from < peak.1 && to >= peak.0 {
                part.open.push((from, 1));
                part.open.push((to + 1, -1));
            }
            let is_kept = |visit: &&Visit| kept.get(visit.endpoint as usize) == Some(&true);
            let steps = session.iter().filter(is_kept).map(|visit| (visit.at_ns, visit.endpoint));
            part.found.chain.add(steps);
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
        let kept = [true, true, false];
        let sessions = visits.sessions(1_800 * SECOND, (0, 100 * SECOND), &kept, &in_turn);
        assert_eq!((sessions.count, sessions.most_open), (3, 2));
        assert_eq!(sessions.requests, 2.0);
        assert_eq!(sessions.think.max(), 7 * SECOND as u64);
        // Without the endpoint that is not kept.
        assert_eq!(
            (sessions.chain.steps(), sessions.chain.pause(0, 1)),
            (5.0 / 3.0, 5 * SECOND as u64)
        );
    }

    #[test]
    fn more_requests_than_fit_leave_whole_users() {
        let mut visits = Visits::default();
        for n in 0..2_000_000_u64 {
            let user = crate::trie::hash(&(n / 10).to_le_bytes());
            visits.add(user, (n / 10) as i64 * SECOND + (n % 10) as i64, n, (n % 10) as u32);
        }
        let sessions = visits.sessions(1_800 * SECOND, (0, i64::MAX), &[], &in_turn);
        assert_eq!(sessions.requests, 10.0);
        assert!((sessions.count as f64 / 200_000.0 - 1.0).abs() < 0.02, "{}", sessions.count);
    }
}
