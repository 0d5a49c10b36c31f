//! Judging by rounds: every run is one sample.

use model::quote::counted;
use model::units::{Nanos, show_duration};
use model::{Run, Summary};

use super::measure::{Measure, measures, reading};
use super::{CONFIDENCE, Comparison, Effect, LogRatio, POWER};
use crate::validity::{CHANGED, CHANGED_NS};
use statistics::student::reach;

/// Rounds that can be judged at least.
pub const FEWEST: usize = 3;
/// Where the search for enough rounds ends.
const MOST_ROUNDS: u32 = 10_000;
/// Rounds before and since a change that show it to be one for good.
const EACH_SIDE: usize = 2;
/// How far the other server's may have moved meanwhile: further, and the machine changed, which both have in common.
const COMMON: f64 = std::f64::consts::SQRT_2;

/// B against A from pairs of figures, a pair a round: the mean log ratio, with Student's interval for
/// as many samples as there are rounds. None for fewer than [`FEWEST`].
pub fn paired(pairs: &[[f64; 2]]) -> Option<LogRatio> {
    let logs: Vec<f64> = pairs.iter().map(|[a, b]| (b / a).ln()).collect();
    let (mean, deviation) = mean_and_deviation(&logs)?;
    let n = logs.len() as f64;
    Some(LogRatio { mean, standard_error: deviation / n.sqrt(), freedom: n - 1.0 })
}

/// Rounds of B against one run of A that was made before. That run is one sample, taken
/// to scatter as B's do: a prediction interval. None for fewer than [`FEWEST`] rounds.
pub fn against_one(baseline: f64, rounds: &[f64]) -> Option<LogRatio> {
    let logs: Vec<f64> = rounds.iter().map(|b| (b / baseline).ln()).collect();
    let (mean, deviation) = mean_and_deviation(&logs)?;
    let n = logs.len() as f64;
    let standard_error = deviation * (1.0 + 1.0 / n).sqrt();
    Some(LogRatio { mean, standard_error, freedom: n - 1.0 })
}

fn mean_and_deviation(logs: &[f64]) -> Option<(f64, f64)> {
    if logs.len() < FEWEST || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let square: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    Some((mean, (square / (n - 1.0)).sqrt()))
}

/// Rounds after which a change of twice the margin would be distinguished from one of none, both with
/// [`CONFIDENCE`] and [`POWER`], when rounds scatter by `deviation` (of log ratios).
pub fn needed(deviation: f64, margin: f64) -> Option<u32> {
    let enough = |n: u32| {
        let freedom = f64::from(n) - 1.0;
        let both = reach(CONFIDENCE, freedom) + reach(2.0 * POWER - 1.0, freedom);
        both * deviation / f64::from(n).sqrt() <= margin.ln_1p()
    };
    let fewest = FEWEST as u32;
    if margin <= 0.0 || !enough(MOST_ROUNDS) {
        return None;
    }
    let (mut low, mut high) = (fewest, MOST_ROUNDS);
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// Judges interleaved rounds: each pair is A's run and B's of one round.
pub fn judge(names: [String; 2], rounds: &[[Run; 2]], margin: f64) -> Comparison {
    let measures = measures(rounds.iter().flatten());
    let effects = measures.into_iter().filter_map(|measure| {
        let pairs: Vec<[f64; 2]> =
            rounds.iter().map(|pair| pair.each_ref().map(|run| reading(run, measure))).collect();
        let log = paired(&pairs)?;
        let figures = [0, 1].map(|of| geometric_mean(pairs.iter().map(|pair| pair[of])));
        let deviation = log.standard_error * (rounds.len() as f64).sqrt();
        Some((effect(measure, figures, log, margin, deviation), log))
    });
    let by = counted(rounds.len() as u64, "interleaved round");
    Comparison::new(names, margin, by, effects.collect(), too_few(rounds.len()))
}

/// Judges rounds of B against one earlier run of A.
pub fn judge_against(
    names: [String; 2],
    baseline: &Run,
    rounds: &[Run],
    margin: f64,
) -> Comparison {
    let measures = measures(rounds.iter().chain([baseline]));
    let effects = measures.into_iter().filter_map(|measure| {
        let before = reading(baseline, measure);
        let after: Vec<f64> = rounds.iter().map(|run| reading(run, measure)).collect();
        let log = against_one(before, &after)?;
        let figures = [before, geometric_mean(after.iter().copied())];
        let effect = Effect::of(measure, figures, log, margin);
        // More rounds do not make the one baseline any surer.
        Some((effect, log))
    });
    let by = format!("{} against one earlier run", counted(rounds.len() as u64, "round"));
    let mut notes = too_few(rounds.len());
    notes.push(
        "the baseline is a single run, assumed to vary as much as the new rounds; any change of the \
         machine since then counts as the server's: interleaved rounds against the old server detect smaller changes"
            .to_owned(),
    );
    Comparison::new(names, margin, by, effects.collect(), notes)
}

/// That one of two servers became another one between two rounds, in words: what is a sample of the one says nothing of the
/// other. None where neither did, nor where a run has no response times, whose median is not one.
pub fn changed(names: &[String; 2], rounds: &[[Run; 2]]) -> Option<String> {
    if rounds.iter().flatten().any(|run| run.response_ns.count == 0) {
        return None;
    }
    let medians =
        |of: usize| -> Vec<f64> { rounds.iter().map(|pair| p50(&pair[of].response_ns)).collect() };
    let both = [medians(0), medians(1)];
    [0, 1].into_iter().find_map(|of| {
        let at = change_in(&both[of])?;
        let [before, since] = sides(&both[of], at).map(|side| geometric_mean(side.iter().copied()));
        let [own, other] = sides(&both[1 - of], at).map(|side| geometric_mean(side.iter().copied()));
        let in_common = (own / other).max(other / own) >= COMMON;
        (!in_common).then(|| {
            let [before, since] = [before, since].map(|ns| show_duration(ns as Nanos));
            format!(
                "{} changed between rounds {at} and {}: its median response time was {before} before and {since} since",
                names[of],
                at + 1
            )
        })
    })
}

fn p50(times: &Summary) -> f64 {
    times.p50.max(1) as f64
}

fn sides(medians: &[f64], at: usize) -> [&[f64]; 2] {
    [&medians[..at], &medians[at..]]
}

/// The number of rounds after which all medians are far above, or far below, all those before; where there are several such,
/// the clearest.
fn change_in(medians: &[f64]) -> Option<usize> {
    let apart = |at: usize| {
        let [before, since] = sides(medians, at).map(|side| {
            let least = side.iter().copied().fold(f64::INFINITY, f64::min);
            (least, side.iter().copied().fold(0.0, f64::max))
        });
        let (above, below) =
            if before.0 > since.1 { (before.0, since.1) } else { (since.0, before.1) };
        (above / below, above - below)
    };
    let splits = EACH_SIDE..(medians.len() + 1).saturating_sub(EACH_SIDE);
    let found = splits.map(|at| (at, apart(at)));
    let found = found.filter(|(_, (times, ns))| *times >= CHANGED && *ns >= CHANGED_NS);
    found.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).map(|(at, _)| at)
}

fn effect(
    measure: Measure,
    figures: [f64; 2],
    log: LogRatio,
    margin: f64,
    deviation: f64,
) -> Effect {
    let rounds_needed = needed(deviation, margin);
    Effect { rounds_needed, ..Effect::of(measure, figures, log, margin) }
}

fn geometric_mean(figures: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = figures.len() as f64;
    (figures.map(f64::ln).sum::<f64>() / n).exp()
}

fn too_few(rounds: usize) -> Vec<String> {
    if rounds >= FEWEST {
        return Vec::new();
    }
    let made = if rounds == 1 { "round was" } else { "rounds were" };
    vec![format!("{rounds} {made} made; judging needs at least {FEWEST} (--rounds)")]
}
