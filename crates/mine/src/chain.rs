//! How often each endpoint follows another within sessions, as a first-order Markov chain; and paths through the site
//! that are drawn from it.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use foldhash::fast::FixedState;
use model::random::Draws;

/// Steps of a way at most.
const MOST_STEPS: usize = 40;
/// Partial ways looked at in the search for the commonest.
const MOST_TRIALS: usize = 4_000;
/// Ways drawn at random.
const DRAWN: usize = 2_000;
/// What follows an endpoint: nothing behind the last of a session.
type Next = BTreeMap<Option<u32>, u64>;

/// The chain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain {
    sessions: u64,
    visits: u64,
    /// By endpoint; nothing stands before the first of a session.
    next: HashMap<Option<u32>, Next, FixedState>,
    pauses: HashMap<(u32, u32), Pauses, FixedState>,
}

/// Pauses between two endpoints.
#[derive(Debug, Clone, Copy, Default)]
struct Pauses {
    count: u64,
    sum_ns: u128,
}

/// A way through the site: endpoints in their order.
pub(crate) type Way = Vec<u32>;

impl Chain {
    /// Adds a session: instants in nanoseconds and endpoints.
    pub(crate) fn add(&mut self, session: impl Iterator<Item = (i64, u32)>) {
        let mut before: Option<(i64, u32)> = None;
        for (at, endpoint) in session {
            self.visits += 1;
            self.count(before.map(|(_, endpoint)| endpoint), Some(endpoint));
            if let Some((from, other)) = before {
                let pauses = self.pauses.entry((other, endpoint)).or_default();
                pauses.count += 1;
                pauses.sum_ns += (at - from).max(0) as u128;
            }
            before = Some((at, endpoint));
        }
        if let Some((_, last)) = before {
            self.sessions += 1;
            self.count(Some(last), None);
        }
    }

    /// Adds the sessions of users behind those that are here.
    pub(crate) fn append(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.visits += other.visits;
        for (from, next) in other.next {
            let own = self.next.entry(from).or_default();
            next.into_iter().for_each(|(to, count)| *own.entry(to).or_insert(0) += count);
        }
        for (pair, pauses) in other.pauses {
            let own = self.pauses.entry(pair).or_default();
            own.count += pauses.count;
            own.sum_ns += pauses.sum_ns;
        }
    }

    fn count(&mut self, from: Option<u32>, to: Option<u32>) {
        *self.next.entry(from).or_default().entry(to).or_insert(0) += 1;
    }

    /// Mean steps of a session.
    pub(crate) fn steps(&self) -> f64 {
        self.visits as f64 / (self.sessions as f64).max(1.0)
    }

    /// The mean pause between two endpoints, in nanoseconds. With it, as many sessions are under way as in the log
    /// (Little's law); a median would end sessions too soon, since long pauses are few.
    pub(crate) fn pause(&self, from: u32, to: u32) -> u64 {
        self.pauses
            .get(&(from, to))
            .map_or(0, |pauses| (pauses.sum_ns / u128::from(pauses.count.max(1))) as u64)
    }

    /// The likeliest ways, `most` at most, each with its probability.
    pub(crate) fn likeliest(&self, most: usize) -> Vec<(Way, f64)> {
        let mut partial = BinaryHeap::from([(Likely(1.0), false, Way::new())]);
        let mut ways = Vec::new();
        for _ in 0..MOST_TRIALS {
            let Some((Likely(share), ended, steps)) = partial.pop() else { break };
            if ended {
                ways.push((steps, share));
                if ways.len() >= most {
                    break;
                }
                continue;
            }
            let Some(next) = self.next.get(&steps.last().copied()) else { continue };
            let total: u64 = next.values().sum();
            for (to, count) in next {
                let mut steps = steps.clone();
                steps.extend(to);
                if steps.len() <= MOST_STEPS {
                    partial.push((
                        Likely(share * *count as f64 / total as f64),
                        to.is_none(),
                        steps,
                    ));
                }
            }
        }
        ways
    }

    /// Ways as the chain draws them, and for every endpoint one that leads through it; each once, the same in every run.
    pub(crate) fn drawn(&self) -> BTreeSet<Way> {
        let mut draw = Draws::of(1);
        let mut ways: BTreeSet<Way> =
            (0..DRAWN).map(|_| self.go_on(Way::new(), &mut draw)).collect();
        for way in self.nearest().into_values() {
            ways.insert(self.go_on(way, &mut draw));
        }
        ways.remove(&Way::new());
        ways
    }

    /// Goes on with a way until the chain ends it.
    fn go_on(&self, mut way: Way, draw: &mut Draws) -> Way {
        while way.len() < MOST_STEPS
            && let Some(next) = self.next.get(&way.last().copied())
        {
            let mut left = draw.below(next.values().sum::<u64>().max(1));
            let chosen = next.iter().find(|(_, count)| {
                let found = left < **count;
                left = left.saturating_sub(**count);
                found
            });
            let Some((Some(to), _)) = chosen else { break };
            way.push(*to);
        }
        way
    }

    /// The likeliest beginning of a way that leads to each endpoint.
    fn nearest(&self) -> BTreeMap<u32, Way> {
        let mut partial = BinaryHeap::from([(Likely(1.0), Way::new())]);
        let mut nearest = BTreeMap::new();
        while let Some((Likely(share), steps)) = partial.pop() {
            if let Some(last) = steps.last() {
                if nearest.contains_key(last) {
                    continue;
                }
                nearest.insert(*last, steps.clone());
            }
            let Some(next) = self.next.get(&steps.last().copied()) else { continue };
            let total: u64 = next.values().sum();
            for (to, count) in next {
                if let Some(to) = to.filter(|to| !nearest.contains_key(to)) {
                    let mut steps = steps.clone();
                    steps.push(to);
                    partial.push((Likely(share * *count as f64 / total as f64), steps));
                }
            }
        }
        nearest
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

    #[test]
    fn the_likeliest_ways_come_first_with_their_probability() {
        let mut chain = Chain::default();
        for session in [&[0, 1][..], &[0, 1], &[0], &[2]] {
            chain.add(session.iter().zip(0..).map(|(endpoint, at)| (at * 7, *endpoint)));
        }
        let ways = chain.likeliest(10);
        let expected = [(vec![0, 1], 0.5), (vec![2], 0.25), (vec![0], 0.25)];
        assert_eq!(ways.len(), 3);
        for (way, share) in &expected {
            let found = ways.iter().find(|(other, _)| other == way).expect("the way");
            assert!((found.1 - share).abs() < 1e-9, "{ways:?}");
        }
        assert_eq!(ways[0].0, [0, 1]);
        assert_eq!((chain.steps(), chain.pause(0, 1), chain.pause(1, 0)), (1.5, 7, 0));
        assert_eq!(chain.drawn(), expected.map(|(way, _)| way).into());
    }

    #[test]
    fn pauses_add_up_to_what_sessions_last() {
        let (mut chain, mut other) = (Chain::default(), Chain::default());
        for pause in [1, 2, 3] {
            chain.add([(0, 0), (pause, 1)].into_iter());
        }
        other.add([(0, 0), (94, 1)].into_iter());
        chain.append(other);
        assert_eq!(chain.pause(0, 1), 25);
    }
}
