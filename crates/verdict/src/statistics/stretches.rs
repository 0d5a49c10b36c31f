//! A run's blocks, read out of their stored form once.

use model::{Block, Nanos, Run};

use super::estimate::Time;

/// One block of a run: counts, and how its latencies are spread.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stretch {
    /// Length in seconds.
    pub seconds: f64,
    /// Answers done in it.
    pub answers_done: f64,
    /// Attempts that ended in it.
    pub attempts: f64,
    /// Attempts that succeeded.
    pub succeeded: f64,
    /// Response times.
    pub response: Times,
    /// Service times.
    pub service: Times,
}

/// How latencies are spread: buckets that hold something, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Times {
    /// (Highest latency of the bucket in nanoseconds, latencies in it).
    pub buckets: Vec<(Nanos, u64)>,
    /// Latencies in all.
    pub count: f64,
    /// Their sum in nanoseconds.
    pub sum_ns: f64,
}

impl Times {
    /// Of buckets in ascending order.
    pub fn of(buckets: Vec<(Nanos, u64)>) -> Self {
        let count = buckets.iter().map(|&(_, n)| n as f64).sum();
        let sum_ns = buckets.iter().map(|&(value, n)| value as f64 * n as f64).sum();
        Self { buckets, count, sum_ns }
    }

    /// How many are within `limit_ns`.
    pub fn within(&self, limit_ns: Nanos) -> f64 {
        let end = self.buckets.partition_point(|&(value, _)| value <= limit_ns);
        self.buckets[..end].iter().map(|&(_, n)| n as f64).sum()
    }
}

impl Stretch {
    /// The latencies of a kind.
    pub const fn times(&self, time: Time) -> &Times {
        match time {
            Time::Response => &self.response,
            Time::Service => &self.service,
        }
    }

    fn of(block: &Block) -> Result<Self, String> {
        let mut response = Times::of(block.response_times()?.recorded().collect());
        // The mean is exact where the buckets' is not.
        response.sum_ns = block.response_mean_ns as f64 * response.count;
        let service = match block.service {
            Some(_) => Times::of(block.service_times()?.recorded().collect()),
            None => response.clone(),
        };
        Ok(Self {
            seconds: block.duration_ns as f64 / model::units::SECOND as f64,
            answers_done: block.answers_done as f64,
            attempts: block.attempts as f64,
            succeeded: block.succeeded as f64,
            response,
            service,
        })
    }
}

/// The blocks of a run, in their order. Empty for a run measured before blocks were kept.
///
/// # Errors
/// A sentence, when a stored histogram is damaged.
pub fn stretches(run: &Run) -> Result<Vec<Stretch>, String> {
    stretches_of(&run.blocks)
}

/// Blocks read out.
///
/// # Errors
/// A sentence, when a stored histogram is damaged.
pub fn stretches_of(blocks: &[Block]) -> Result<Vec<Stretch>, String> {
    blocks.iter().map(Stretch::of).collect()
}
