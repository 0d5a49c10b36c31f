//! A queue of known capacity: FIFO, with C servers.
//!
//! Departures are computed when a request arrives (the recursion of Kiefer and Wolfowitz: a request
//! is served by the server that is free first), so that a timer that fires late delays its own
//! response and none behind it. A request whose client goes away is served all the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use model::Nanos;
use rand_core::Rng;
use rand_pcg::Lcg64Xsh32;

/// Queues that a process keeps.
const MAX_QUEUES: usize = 64;

/// How service times are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Exponential with the mean: M/M/C under Poisson arrivals.
    Exponential,
    /// Always the mean: M/D/C.
    Deterministic,
}

impl Distribution {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "exp" => Some(Self::Exponential),
            "det" => Some(Self::Deterministic),
            _ => None,
        }
    }
}

/// What a queue is made of. Requests with equal keys share one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueKey {
    /// C. At least 1.
    pub servers: u32,
    /// Mean service time.
    pub mean_ns: Nanos,
    /// Its distribution.
    pub distribution: Distribution,
    /// Seed of the draws.
    pub seed: u64,
}

/// The state of one queue.
#[derive(Debug)]
pub struct Queue {
    key: QueueKey,
    /// When each server that has ever served is free.
    free_at: BinaryHeap<Reverse<Nanos>>,
    draws: Lcg64Xsh32,
}

impl Queue {
    /// An empty queue.
    pub fn new(key: QueueKey) -> Self {
        Self { key, free_at: BinaryHeap::new(), draws: Lcg64Xsh32::new(key.seed, 0x9e0e) }
    }

    /// When a request that arrives at `now` departs. Arrivals come in order.
    pub fn arrive(&mut self, now: Nanos) -> Nanos {
        let service = self.service();
        if self.free_at.len() < self.key.servers as usize
            && self.free_at.peek().is_none_or(|&Reverse(free)| free > now)
        {
            let departs = now.saturating_add(service);
            self.free_at.push(Reverse(departs));
            return departs;
        }
        let mut first = self.free_at.peek_mut().expect("a queue has at least one server");
        let departs = first.0.max(now).saturating_add(service);
        *first = Reverse(departs);
        departs
    }

    /// The next service time: one draw for each arrival, in order.
    pub fn service(&mut self) -> Nanos {
        match self.key.distribution {
            Distribution::Deterministic => self.key.mean_ns,
            Distribution::Exponential => {
                let uniform = (self.draws.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                (-(1.0 - uniform).ln() * self.key.mean_ns as f64).round() as Nanos
            }
        }
    }
}

/// The queues of a process. All threads share them, so a lock is held for the length of an arrival; no
/// other path takes it.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    known: Mutex<Vec<Queue>>,
}

impl Queues {
    /// When a request that arrives now departs; `None` when that would be one queue too many. The
    /// clock is read under the lock, so that arrivals of several threads are in order.
    pub(crate) fn arrive(&self, key: QueueKey, clock: impl FnOnce() -> Nanos) -> Option<Nanos> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match known.iter().position(|queue| queue.key == key) {
            Some(at) => at,
            None if known.len() == MAX_QUEUES => return None,
            None => {
                known.push(Queue::new(key));
                known.len() - 1
            }
        };
        Some(known[at].arrive(clock()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXP: QueueKey = QueueKey {
        servers: 1,
        mean_ns: 1_000_000,
        distribution: Distribution::Exponential,
        seed: 3,
    };
    const DET: QueueKey = QueueKey { distribution: Distribution::Deterministic, ..EXP };

    #[test]
    fn one_server_follows_lindley() {
        let (mut queue, mut draws) = (Queue::new(EXP), Queue::new(EXP));
        let (mut departed, mut now) = (0, 0);
        for i in 0..10_000 {
            now += (i * 7919) % 2_000_000;
            departed = departed.max(now) + draws.service();
            assert_eq!(queue.arrive(now), departed);
        }
    }

    #[test]
    fn two_servers_work_side_by_side() {
        let mut queue = Queue::new(QueueKey { servers: 2, ..DET });
        let departures: Vec<_> = [0, 0, 0, 0, 100].map(|now| queue.arrive(now)).into();
        assert_eq!(departures, [1_000_000, 1_000_000, 2_000_000, 2_000_000, 3_000_000]);
        assert_eq!(queue.arrive(10_000_000), 11_000_000);
    }

    #[test]
    fn many_servers_cost_nothing_before_they_serve() {
        let mut queue = Queue::new(QueueKey { servers: 100_000, ..DET });
        assert_eq!(queue.arrive(5), 1_000_005);
        assert_eq!(queue.arrive(2_000_000), 3_000_000);
        assert_eq!(queue.free_at.len(), 1);
    }

    #[test]
    fn service_times_have_their_mean_and_spread() {
        let mut queue = Queue::new(EXP);
        let draws: Vec<f64> = (0..200_000).map(|_| queue.service() as f64).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn keys_are_kept_apart_and_bounded() {
        let queues = Queues::default();
        let key = |seed| QueueKey { seed, ..DET };
        for seed in 0..MAX_QUEUES as u64 {
            assert_eq!(queues.arrive(key(seed), || 0), Some(1_000_000));
        }
        assert_eq!(queues.arrive(key(1000), || 0), None);
        assert_eq!(queues.arrive(key(0), || 0), Some(2_000_000));
    }
}
