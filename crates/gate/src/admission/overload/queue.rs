//! A server with a queue, and arrivals at it through what limits them, in virtual time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use model::random::Draws;

pub(crate) const SECOND: u64 = 1_000_000_000;

/// What lets requests through or not.
pub(super) trait Limiter {
    fn admits(&mut self, now_ns: u64) -> bool;
    fn answered(&mut self, now_ns: u64, latency_ns: u64);
    /// Called every tenth of a second.
    fn look(&mut self, now_ns: u64);
}

/// How long a request is worked on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Takes {
    /// As long as all.
    Fixed(u64),
    /// Exponentially distributed with this mean.
    Random(u64),
    /// Nine of ten the first, the tenth the second.
    Mixed(u64, u64),
}

/// A server that works on so many requests at a time and queues the others.
#[derive(Clone, Copy)]
pub(crate) struct Server {
    pub at_a_time: usize,
    pub takes: Takes,
}

impl Server {
    pub fn carries_per_s(self) -> f64 {
        let mean_ns = match self.takes {
            Takes::Fixed(ns) | Takes::Random(ns) => ns as f64,
            Takes::Mixed(usual, long) => 0.9 * usual as f64 + 0.1 * long as f64,
        };
        self.at_a_time as f64 * SECOND as f64 / mean_ns
    }

    /// What hardly a request takes longer than.
    pub(super) fn longest_ns(self) -> u64 {
        match self.takes {
            Takes::Fixed(ns) | Takes::Mixed(_, ns) => ns,
            Takes::Random(ns) => ns * 5,
        }
    }

    pub fn works_for_ns(self, draws: &mut Draws) -> u64 {
        match self.takes {
            Takes::Fixed(ns) => ns,
            Takes::Random(ns) => exponential(draws, ns as f64).max(1.0) as u64,
            Takes::Mixed(usual, long) => {
                if draws.unit() < 0.9 {
                    usual
                } else {
                    long
                }
            }
        }
    }
}

/// A time in which a server works slower than it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub from_ns: u64,
    pub to_ns: u64,
    /// Of its speed; 0 where nothing is done.
    pub speed: f64,
}

/// When work is done that begins then. Troubles do not overlap, and are in order.
fn done_at(troubles: &[Trouble], begins_ns: u64, works_for_ns: u64) -> u64 {
    let (mut at, mut left) = (begins_ns as f64, works_for_ns as f64);
    for trouble in troubles {
        let (from, to) = (trouble.from_ns as f64, trouble.to_ns as f64);
        if at >= to {
            continue;
        }
        if at + left <= from {
            break;
        }
        left -= (from - at).max(0.0);
        at = at.max(from);
        let done = (to - at) * trouble.speed;
        if done >= left {
            return (at + left / trouble.speed) as u64;
        }
        (at, left) = (to, left - done);
    }
    (at + left) as u64
}

/// A draw from the exponential distribution.
pub(crate) fn exponential(draws: &mut Draws, mean: f64) -> f64 {
    -(1.0 - draws.unit()).ln() * mean
}

/// What came of arrivals in each second.
#[derive(Clone, Default)]
pub(super) struct Second {
    pub arrived: u32,
    pub refused: u32,
    /// The response times of what was answered.
    pub answered: Vec<u64>,
}

/// Random arrivals at a rate.
pub(super) fn play(
    limiter: &mut dyn Limiter,
    server: Server,
    rate_per_s: f64,
    seconds: usize,
    seed: u64,
) -> Vec<Second> {
    play_troubled(limiter, server, &[], rate_per_s, seconds, seed)
}

/// Random arrivals at a rate, at a server that is slower at times.
pub(super) fn play_troubled(
    limiter: &mut dyn Limiter,
    server: Server,
    troubles: &[Trouble],
    rate_per_s: f64,
    seconds: usize,
    seed: u64,
) -> Vec<Second> {
    let mut draws = Draws::of(seed);
    let mut played = vec![Second::default(); seconds];
    let mut ends: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let mut queue: VecDeque<u64> = VecDeque::new();
    let (mut arrives_ns, mut looks_ns) = (0.0, SECOND / 10);
    loop {
        let end_ns = ends.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        let now_ns = end_ns.min(arrives_ns as u64).min(looks_ns);
        if now_ns >= seconds as u64 * SECOND {
            return played;
        }
        let mut begun = None;
        let second = &mut played[(now_ns / SECOND) as usize];
        if now_ns == looks_ns {
            limiter.look(now_ns);
            looks_ns += SECOND / 10;
        } else if now_ns == end_ns {
            let Reverse((_, came_ns)) = ends.pop().expect("seen above");
            limiter.answered(now_ns, now_ns - came_ns);
            second.answered.push(now_ns - came_ns);
            begun = queue.pop_front();
        } else {
            arrives_ns += exponential(&mut draws, SECOND as f64 / rate_per_s);
            second.arrived += 1;
            let admits = limiter.admits(now_ns);
            second.refused += u32::from(!admits);
            if admits {
                if ends.len() < server.at_a_time {
                    begun = Some(now_ns);
                } else {
                    queue.push_back(now_ns);
                }
            }
        }
        if let Some(came_ns) = begun {
            let ends_ns = done_at(troubles, now_ns, server.works_for_ns(&mut draws));
            ends.push(Reverse((ends_ns, came_ns)));
        }
    }
}
