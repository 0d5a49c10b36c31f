//! Judging two runs by a bootstrap of their blocks (B. Efron 1979; in circles of neighbouring blocks:
//! D. N. Politis and J. P. Romano 1992): seeded, so the same runs are judged the same. Runs worth too few
//! independent blocks for that are judged by the spread of those they have (`few`).

use model::units::{SECOND, exact_duration};
use model::{Nanos, PERCENTILES, Run};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::measure::{Measure, measures, reading};
use super::{Comparison, Effect, LogRatio, few};
use crate::blocks::{BlockFigures, blocks};
use statistics::autocorrelation::{effective, neighbours};

/// Times that blocks are drawn anew.
const RESAMPLES: usize = 1000;
/// Independent blocks that each run must be worth.
pub const FEWEST_EFFECTIVE: f64 = 6.0;

/// Judges B's run against A's.
pub fn judge(names: [String; 2], runs: [&Run; 2], margin: f64) -> Comparison {
    let within = "judged within single runs: the intervals leave out variation from run to run, \
                  which `plimsoll compare` measures"
        .to_owned();
    let found = measures(runs.into_iter());
    match Pair::of(runs) {
        Ok(pair) => {
            let log_ratio = |measure| Some(pair.log_ratio(measure, figures(runs, measure)));
            let by = "bootstrap of the blocks inside the runs".to_owned();
            let effects = effects(runs, &found, margin, log_ratio);
            Comparison::new(names, margin, by, effects, vec![within])
        }
        Err(why) => {
            let effects = effects(runs, &found, margin, |measure| few::log_ratio(runs, measure));
            let by = "the spread of the few blocks inside the runs".to_owned();
            let far =
                "only a difference far beyond the spread of the blocks is reported".to_owned();
            let reasons = if effects.is_empty() { vec![why] } else { vec![why, far, within] };
            Comparison::new(names, margin, by, effects, reasons)
        }
    }
}

fn figures(runs: [&Run; 2], measure: Measure) -> [f64; 2] {
    runs.map(|run| reading(run, measure))
}

/// The effects of these measures, as far as there is a log ratio of them.
fn effects(
    runs: [&Run; 2],
    measures: &[Measure],
    margin: f64,
    log_ratio: impl Fn(Measure) -> Option<LogRatio>,
) -> Vec<(Effect, LogRatio)> {
    let effect = |&measure: &Measure| {
        let log = log_ratio(measure)?;
        Some((Effect::of(measure, figures(runs, measure), log, margin), log))
    };
    measures.iter().filter_map(effect).collect()
}

/// Two runs' blocks, ready to be drawn from.
struct Pair {
    draws: [Vec<Draw>; 2],
    freedom: f64,
}

/// What one resample of a run comes to, by measure.
type Draw = Vec<f64>;

impl Pair {
    fn of(runs: [&Run; 2]) -> Result<Self, String> {
        let [a, b] = [bootstrap(runs[0], 1)?, bootstrap(runs[1], 2)?];
        Ok(Self { draws: [a.0, b.0], freedom: a.1.min(b.1) - 1.0 })
    }

    fn log_ratio(&self, measure: Measure, figures: [f64; 2]) -> LogRatio {
        let at = Measure::all().position(|m| m == measure).unwrap_or(0);
        let pairs = self.draws[0].iter().zip(&self.draws[1]);
        let logs: Vec<f64> =
            pairs.map(|(a, b)| (b[at] / a[at]).ln()).filter(|log| log.is_finite()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let square: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        LogRatio {
            mean: (figures[1] / figures[0]).ln(),
            standard_error: (square / (n - 1.0)).sqrt(),
            freedom: self.freedom,
        }
    }
}

/// Resamples of a run, and the independent blocks it is worth. `stream` keeps the two runs' draws
/// apart.
fn bootstrap(run: &Run, stream: u64) -> Result<(Vec<Draw>, f64), String> {
    let blocks = blocks(run)?;
    if blocks.is_empty() {
        return Err("a result has no blocks to judge by: it was measured by an older version, or \
                    measured nothing"
            .to_owned());
    }
    let rho = alike(&blocks);
    // Blocks in which nothing ended say nothing of how latencies vary, however many they are.
    let held = blocks.iter().filter(|block| block.response.count > 0.0).count();
    let worth = effective(held, rho);
    if worth < FEWEST_EFFECTIVE {
        return Err(format!(
            "a run was too short to tell how much it varies (it has {worth:.1} independent blocks, and \
             {FEWEST_EFFECTIVE:.0} are needed): measure both again{}, or in turns with `plimsoll compare`",
            long_enough(run, worth)
        ));
    }
    let table = Table::of(&blocks);
    let random = &mut Pcg64Mcg::seed_from_u64(run.plan.seed ^ stream << 32);
    let length = ((held as f64 / worth).round() as usize).clamp(1, blocks.len() / 3);
    let mut weights = vec![0.0; blocks.len()];
    let draws = (0..RESAMPLES)
        .map(|_| {
            draw(&mut weights, length, random);
            table.figures(&weights)
        })
        .collect();
    Ok((draws, worth))
}

/// The flag with which a run that was worth so many blocks had been worth enough: ` with -d 45s`.
fn long_enough(run: &Run, worth: f64) -> String {
    let Some(duration_ns) = run.plan.duration_ns else { return " for longer".to_owned() };
    // A fifth more, as the next run is worth more or less than this one.
    let times = 1.2 * FEWEST_EFFECTIVE / worth.max(0.5);
    let seconds = (duration_ns as f64 / SECOND as f64 * times).ceil();
    format!(" with -d {seconds:.0}s (it was {})", exact_duration(duration_ns))
}

/// How alike neighbouring blocks are: in throughput or in mean, whichever more.
fn alike(blocks: &[BlockFigures]) -> f64 {
    let deviations = |of: fn(&BlockFigures) -> (f64, f64)| {
        let pairs: Vec<(f64, f64)> = blocks.iter().map(of).collect();
        let (part, whole) = pairs.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        let ratio = if whole > 0.0 { part / whole } else { 0.0 };
        pairs.iter().map(|(y, x)| y - ratio * x).collect::<Vec<f64>>()
    };
    let throughput = neighbours(&deviations(|b| (b.responses_done, b.seconds)));
    throughput.max(neighbours(&deviations(|b| (b.response.sum, b.response.count))))
}

/// How often each block is drawn, in circles of `length` neighbours, as many blocks as there are.
fn draw(weights: &mut [f64], length: usize, random: &mut Pcg64Mcg) {
    weights.fill(0.0);
    let n = weights.len();
    let mut drawn = 0;
    while drawn < n {
        let start = (random.next_u64() % n as u64) as usize;
        for i in 0..length.min(n - drawn) {
            weights[(start + i) % n] += 1.0;
        }
        drawn += length;
    }
}

/// Blocks side by side: sums, and counts by bucket.
struct Table<'a> {
    blocks: &'a [BlockFigures],
    /// (Latency, (block, count) of those that have some there), ascending.
    buckets: Vec<(Nanos, Vec<(usize, f64)>)>,
}

impl<'a> Table<'a> {
    fn of(blocks: &'a [BlockFigures]) -> Self {
        let mut all: Vec<(Nanos, usize, f64)> = Vec::new();
        for (at, block) in blocks.iter().enumerate() {
            all.extend(block.response.buckets.iter().map(|&(value, n)| (value, at, n as f64)));
        }
        all.sort_unstable_by_key(|&(value, at, _)| (value, at));
        let buckets = all
            .chunk_by(|x, y| x.0 == y.0)
            .map(|chunk| (chunk[0].0, chunk.iter().map(|&(_, at, n)| (at, n)).collect()))
            .collect();
        Self { blocks, buckets }
    }

    /// The figures when each block counts as often as its weight says.
    fn figures(&self, weights: &[f64]) -> Draw {
        let sum = |of: fn(&BlockFigures) -> f64| -> f64 {
            self.blocks.iter().zip(weights).map(|(block, weight)| of(block) * weight).sum()
        };
        let count = sum(|b| b.response.count);
        let mut percentiles = self.percentiles(weights, count).into_iter();
        let figure = |measure| match measure {
            Measure::Qps => sum(|b| b.responses_done) / sum(|b| b.seconds),
            Measure::Mean => sum(|b| b.response.sum) / count,
            Measure::Percentile(_) => percentiles.next().unwrap_or(f64::NAN),
        };
        Measure::all().map(figure).collect()
    }

    /// The percentiles of [`Measure::all`], in its order.
    fn percentiles(&self, weights: &[f64], count: f64) -> Vec<f64> {
        let compared = PERCENTILES.iter().filter(|percentile| percentile.compared);
        let mut wanted = compared.map(|p| (p.share * count).ceil().max(1.0)).peekable();
        let mut found = Vec::with_capacity(PERCENTILES.len());
        let mut seen = 0.0;
        for (value, counts) in &self.buckets {
            seen += counts.iter().map(|&(at, n)| n * weights[at]).sum::<f64>();
            while wanted.next_if(|rank| seen >= *rank).is_some() {
                found.push(*value as f64);
            }
        }
        found
    }
}
