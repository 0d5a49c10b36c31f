//! Requests that are frequent, found in a sample of the lines. The sample is drawn by the lines' positions in the log, so
//! it does not depend on which thread reads which part.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use model::random::{GOLDEN, mixed};

use crate::hit::Hit;
use crate::trie::hash;

/// Lines of the sample at most; half as many at least, of logs that have them.
const MOST: usize = 1 << 15;
/// Lines of the sample that make a request one that comes again and again.
const OFTEN: u32 = 4;
/// Longer requests do not count as such.
const LONGEST: usize = 2_048;

/// The sample.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    /// Zeros that a place's hash begins with to be in the sample.
    level: u32,
    /// Hashes of places, of the path with its method, and of the whole request.
    lines: Vec<(u64, u64, u64)>,
}

/// Hashes of requests that come again and again.
pub(crate) type Frequent = HashSet<u64, FixedState>;

/// The hash of a request without its query.
pub(crate) fn of_path(hit: &Hit) -> u64 {
    hash(hit.path) ^ hash(hit.method).rotate_left(21)
}

/// The hash of a request, of which that without its query is known.
pub(crate) fn of_request(path: u64, hit: &Hit) -> u64 {
    if hit.query.is_empty() { path } else { path ^ hash(hit.query).rotate_left(42) }
}

impl Repeated {
    pub(crate) fn add(&mut self, hit: &Hit, order: u64) {
        let place = mixed(order.wrapping_add(GOLDEN));
        if place.leading_zeros() < self.level || hit.path.len() + hit.query.len() > LONGEST {
            return;
        }
        let path = of_path(hit);
        self.lines.push((place, path, of_request(path, hit)));
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.lines.len() > MOST {
            self.level += 1;
            let level = self.level;
            self.lines.retain(|(place, ..)| place.leading_zeros() >= level);
        }
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        self.level = self.level.max(other.level);
        let level = self.level;
        self.lines.extend(other.lines);
        self.lines.retain(|(place, ..)| place.leading_zeros() >= level);
        self.shrink();
    }

    /// Paths with methods, and whole requests, that come again and again.
    pub(crate) fn frequent(&self) -> (Frequent, Frequent) {
        let often = |of: &dyn Fn(&(u64, u64, u64)) -> u64| {
            let mut counts: HashMap<u64, u32, FixedState> = HashMap::default();
            self.lines.iter().for_each(|line| *counts.entry(of(line)).or_insert(0) += 1);
            counts.into_iter().filter(|(_, count)| *count >= OFTEN).map(|(hash, _)| hash).collect()
        };
        (often(&|line| line.1), often(&|line| line.2))
    }
}
