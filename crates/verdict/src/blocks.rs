//! A run's blocks as statistics take them, and the intervals of its figures.
//!
//! Not here: the statistics themselves (the crate `statistics`); what an interval means for a run.

use model::{Block, ErrorCounts, Nanos, Run};
use statistics::estimate::FEWEST_EFFECTIVE;
use statistics::{Distribution, Estimate, NoInterval, estimate};

/// Which latencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Time {
    /// done - due.
    Response,
    /// done - sent.
    Service,
}

/// A figure of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// Responses done per second.
    Qps,
    /// Successes / attempts, 0..=1.
    Success,
    /// Mean latency in nanoseconds.
    Mean(Time),
    /// The latency in nanoseconds that this share (0..1) does not exceed.
    Quantile(Time, f64),
}

/// One block of a run: counts, and how its latencies are spread, in nanoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockFigures {
    /// Length in seconds.
    pub seconds: f64,
    /// Responses done in it.
    pub responses_done: f64,
    /// Attempts that ended in it.
    pub attempts: f64,
    /// Attempts that succeeded.
    pub succeeded: f64,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Response times.
    pub response: Distribution,
    /// Service times.
    pub service: Distribution,
}

impl BlockFigures {
    /// The latencies of a kind.
    pub const fn times(&self, time: Time) -> &Distribution {
        match time {
            Time::Response => &self.response,
            Time::Service => &self.service,
        }
    }

    fn of(block: &Block) -> Result<Self, String> {
        let buckets =
            |times: model::Latencies<u64>| times.recorded().collect::<Vec<(Nanos, u64)>>();
        let mut response = Distribution::of(buckets(block.response_times()?));
        // The mean is exact where the buckets' is not.
        response.sum = block.response_mean_ns as f64 * response.count;
        let service = match block.service {
            Some(_) => Distribution::of(buckets(block.service_times()?)),
            None => response.clone(),
        };
        Ok(Self {
            seconds: block.duration_ns as f64 / model::units::SECOND as f64,
            responses_done: block.responses_done as f64,
            attempts: block.attempts as f64,
            succeeded: block.succeeded as f64,
            errors: block.errors,
            response,
            service,
        })
    }
}

/// The blocks of a run, in their order. Empty for a run measured before blocks were kept.
///
/// # Errors
/// A sentence, when a stored histogram is damaged.
pub fn blocks(run: &Run) -> Result<Vec<BlockFigures>, String> {
    read(&run.blocks)
}

/// Blocks read out.
///
/// # Errors
/// A sentence, when a stored histogram is damaged.
pub fn read(blocks: &[Block]) -> Result<Vec<BlockFigures>, String> {
    blocks.iter().map(BlockFigures::of).collect()
}

/// A figure's interval at a confidence between 0 and 1.
///
/// # Errors
/// See [`NoInterval`].
pub fn interval(
    blocks: &[BlockFigures],
    figure: Figure,
    confidence: f64,
) -> Result<Estimate, NoInterval> {
    let pairs =
        |of: &dyn Fn(&BlockFigures) -> (f64, f64)| blocks.iter().map(of).collect::<Vec<_>>();
    match figure {
        Figure::Qps => estimate::ratio(&pairs(&|b| (b.responses_done, b.seconds)), confidence),
        Figure::Mean(time) => {
            estimate::ratio(&pairs(&|b| (b.times(time).sum, b.times(time).count)), confidence)
        }
        Figure::Success => estimate::share(&pairs(&|b| (b.succeeded, b.attempts)), confidence),
        Figure::Quantile(time, quantile) => {
            let times: Vec<&Distribution> = blocks.iter().map(|b| b.times(time)).collect();
            estimate::quantile(&times, quantile, confidence)
        }
    }
}

/// Why there is no interval, in words, without what to do about it.
pub(crate) fn why(none: NoInterval) -> String {
    match none {
        NoInterval::NoBlocks => "the result holds no blocks: measure again".to_owned(),
        NoInterval::TooFew { effective_blocks } => format!(
            "the run has {effective_blocks:.1} independent blocks, and \
             {FEWEST_EFFECTIVE:.0} are needed"
        ),
        NoInterval::NoSamples => "the run holds no samples of this figure".to_owned(),
    }
}
