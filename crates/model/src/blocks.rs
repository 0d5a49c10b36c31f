//! The measured window in at most 64 blocks of equal length: what intervals of confidence are made
//! from. Successive requests depend on one another, so how far a figure can be off is read from how
//! it differs between periods of time, never from the number of requests.
//!
//! Not here: the intervals themselves (`verdict::blocks`), and the points, second by second, that
//! reports draw ([`crate::timeline`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::{Latencies, SparseLatencies};
use crate::interval::{EndpointTally, Interval, Phase};
use crate::outcome::ErrorCounts;
use crate::units::Nanos;

/// Blocks kept at most.
pub const MOST_BLOCKS: usize = 64;

/// One period of the measured window, made of whole intervals. All blocks of a run are equally
/// long, but for the last, which may be from half as long to half as long again. Attempts that
/// ended in the drain are in the last block: they were due in the window, and the slowest among them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// Start, since the run's start.
    pub start_ns: Nanos,
    /// Length; the drain is not in it.
    pub duration_ns: Nanos,
    /// Responses done inside the block, whenever they were due: throughput.
    #[serde(rename = "answers_done", alias = "requests")]
    pub responses_done: u64,
    /// Attempts that ended in the block, whatever became of them.
    pub attempts: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Failed attempts by class.
    pub errors: ErrorCounts,
    /// Exact mean of the response time.
    pub response_mean_ns: Nanos,
    /// Exact largest response time.
    pub response_max_ns: Nanos,
    /// Response times: HdrHistogram V2 compressed, base64; absent without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Service times likewise; absent where they are the response times, as in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
}

impl Block {
    /// The response times.
    ///
    /// # Errors
    /// A sentence, when the stored text is damaged.
    pub fn response_times(&self) -> Result<Latencies<u64>, String> {
        read(self.response.as_deref(), "response")
    }

    /// The service times.
    ///
    /// # Errors
    /// A sentence, when the stored text is damaged.
    pub fn service_times(&self) -> Result<Latencies<u64>, String> {
        read(self.service.as_deref().or(self.response.as_deref()), "service")
    }
}

fn read(text: Option<&str>, name: &str) -> Result<Latencies<u64>, String> {
    match text {
        Some(text) => {
            Latencies::from_base64(text).map_err(|e| format!("{name} times of a block: {e}"))
        }
        None => Ok(Latencies::new()),
    }
}

/// Collects the window's intervals as blocks, in bounded memory.
#[derive(Debug)]
pub(crate) struct BlockSums {
    sums: Vec<BlockSum>,
    /// Intervals that make one block: a power of two.
    fold: u32,
    /// Intervals already in the last block.
    pending: u32,
    /// Blocks at most.
    most: usize,
}

impl Default for BlockSums {
    fn default() -> Self {
        Self::of(MOST_BLOCKS)
    }
}

#[derive(Debug, Clone, Default)]
struct BlockSum {
    start_ns: Nanos,
    end_ns: Nanos,
    responses_done: u64,
    attempts: u64,
    succeeded: u64,
    errors: ErrorCounts,
    response: SparseLatencies,
    service: SparseLatencies,
}

impl BlockSums {
    /// No blocks yet; `most` in the end, an even number.
    pub(crate) const fn of(most: usize) -> Self {
        Self { sums: Vec::new(), fold: 1, pending: 0, most }
    }

    pub(crate) fn add(&mut self, interval: &Interval) {
        let tally = &interval.tally;
        let counts = BlockSum {
            responses_done: tally.responses_done,
            attempts: tally.attempts(),
            succeeded: tally.succeeded,
            errors: tally.errors,
            response: SparseLatencies::of(&tally.response),
            service: SparseLatencies::of(&tally.service),
            ..BlockSum::default()
        };
        self.put(interval, counts);
    }

    /// Adds what `tally` says of one endpoint's part of the interval.
    pub(crate) fn add_endpoint(&mut self, interval: &Interval, tally: &EndpointTally) {
        let counts = BlockSum {
            responses_done: tally.responses_done,
            attempts: tally.attempts(),
            succeeded: tally.succeeded,
            errors: tally.errors,
            response: tally.response.clone(),
            service: tally.service.clone(),
            ..BlockSum::default()
        };
        self.put(interval, counts);
    }

    fn put(&mut self, interval: &Interval, counts: BlockSum) {
        let Interval { phase, start_ns, end_ns, .. } = *interval;
        let sum = BlockSum { start_ns, end_ns, ..counts };
        match (phase, self.sums.last_mut()) {
            (Phase::Warmup, _) | (Phase::Drain, None) => {}
            (Phase::Drain, Some(last)) => last.append_attempts(&sum),
            (Phase::Window, Some(last)) if self.pending < self.fold => {
                last.append(&sum);
                self.pending += 1;
            }
            (Phase::Window, _) => {
                self.sums.push(sum);
                self.pending = 1;
                if self.sums.len() > self.most {
                    self.fold_pairs();
                }
            }
        }
    }

    /// The odd block at the end goes on growing to the new length.
    fn fold_pairs(&mut self) {
        let fold = |pair: &[BlockSum]| {
            let mut folded = pair[0].clone();
            pair[1..].iter().for_each(|later| folded.append(later));
            folded
        };
        self.sums = self.sums.chunks(2).map(fold).collect();
        self.fold *= 2;
    }

    pub(crate) fn finish(mut self) -> Vec<Block> {
        if let [.., before, last] = self.sums.as_mut_slice()
            && last.duration_ns().saturating_mul(2) < before.duration_ns()
        {
            before.append(last);
            self.sums.pop();
        }
        let mut buckets = Latencies::new();
        self.sums.iter().map(|sum| sum.block(&mut buckets)).collect()
    }
}

impl BlockSum {
    const fn duration_ns(&self) -> Nanos {
        self.end_ns.saturating_sub(self.start_ns)
    }

    fn append(&mut self, later: &Self) {
        self.end_ns = later.end_ns;
        self.responses_done = self.responses_done.saturating_add(later.responses_done);
        self.append_attempts(later);
    }

    fn append_attempts(&mut self, later: &Self) {
        self.attempts = self.attempts.saturating_add(later.attempts);
        self.succeeded = self.succeeded.saturating_add(later.succeeded);
        self.errors.merge(&later.errors);
        self.response.append(&later.response);
        self.service.append(&later.service);
    }

    fn block(&self, buckets: &mut Latencies<u64>) -> Block {
        let mut stored = |times: &SparseLatencies| {
            times.fill(buckets);
            (buckets.count() > 0).then(|| buckets.to_base64())
        };
        Block {
            start_ns: self.start_ns,
            duration_ns: self.duration_ns(),
            responses_done: self.responses_done,
            attempts: self.attempts,
            succeeded: self.succeeded,
            errors: self.errors,
            response_mean_ns: self.response.mean(),
            response_max_ns: self.response.max(),
            response: stored(&self.response),
            service: if self.service == self.response { None } else { stored(&self.service) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Tally;
    use crate::units::SECOND;

    fn interval(index: u32, phase: Phase) -> Interval {
        let mut tally = Tally { responses_done: 10, succeeded: 10, ..Tally::default() };
        let response_ns = u64::from(index % 100 + 1) * 1_000_000;
        tally.response.record_n(response_ns, 10);
        tally.service.record_n(response_ns, 10);
        let start_ns = u64::from(index) * SECOND;
        Interval { tally, ..Interval::new(index, phase, start_ns, start_ns + SECOND) }
    }

    fn blocks_of(seconds: u32) -> Vec<Block> {
        let mut sums = BlockSums::default();
        (0..seconds).for_each(|index| sums.add(&interval(index, Phase::Window)));
        sums.finish()
    }

    #[test]
    fn any_length_makes_at_most_64_equal_blocks() {
        for (seconds, blocks, length_s) in
            [(1, 1, 1), (64, 64, 1), (65, 33, 2), (128, 64, 2), (129, 32, 4), (3600, 56, 64)]
        {
            let made = blocks_of(seconds);
            assert_eq!(made.len(), blocks, "{seconds} s");
            let (last, equal) = made.split_last().unwrap();
            assert!(equal.iter().all(|block| block.duration_ns == length_s * SECOND));
            let ratio = last.duration_ns as f64 / (length_s * SECOND) as f64;
            assert!((0.5..1.5).contains(&ratio) || blocks == 1, "{seconds} s ends in {ratio}");
            let whole: u64 = made.iter().map(|block| block.duration_ns).sum();
            assert_eq!(whole, u64::from(seconds) * SECOND);
            assert_eq!(made.iter().map(|b| b.responses_done).sum::<u64>(), u64::from(seconds) * 10);
            for pair in made.windows(2) {
                assert_eq!(pair[0].start_ns + pair[0].duration_ns, pair[1].start_ns);
            }
        }
    }

    #[test]
    fn folding_loses_no_response_time() {
        let blocks = blocks_of(333);
        let mut merged = Latencies::<u64>::new();
        blocks.iter().for_each(|block| merged.merge(&block.response_times().unwrap()));
        assert_eq!(merged.count(), 3330);
        let highest = blocks.iter().map(|block| block.response_max_ns).max();
        assert_eq!(highest, Some(100_000_000));
    }

    #[test]
    fn the_drain_belongs_to_the_last_block_and_warm_up_to_none() {
        let mut sums = BlockSums::default();
        sums.add(&interval(0, Phase::Warmup));
        sums.add(&interval(1, Phase::Window));
        sums.add(&interval(2, Phase::Window));
        sums.add(&interval(99, Phase::Drain));
        let blocks = sums.finish();
        assert_eq!(blocks.len(), 2);
        let last = &blocks[1];
        assert_eq!((last.responses_done, last.attempts, last.duration_ns), (10, 20, SECOND));
        assert_eq!(last.response_max_ns, 100_000_000);
        assert_eq!(last.response_mean_ns, (3_000_000 + 100_000_000) / 2);
    }

    #[test]
    fn service_times_are_kept_where_they_differ() {
        let mut sums = BlockSums::default();
        sums.add(&interval(0, Phase::Window));
        let mut waited = interval(1, Phase::Window);
        waited.tally.response.record(500_000_000);
        sums.add(&waited);
        let blocks = sums.finish();
        assert_eq!(blocks[0].service, None);
        assert_eq!(blocks[0].service_times().unwrap().count(), 10);
        assert_eq!(blocks[1].service_times().unwrap().count(), 10);
        assert_eq!(blocks[1].response_times().unwrap().count(), 11);
    }

    #[test]
    fn a_damaged_block_says_so() {
        let block = Block { response: Some("$$".into()), ..Block::default() };
        assert!(block.response_times().unwrap_err().contains("block"));
    }
}
