//! Where the capacity lies, judging from levels that held and levels that broke.
//!
//! A run near the capacity may go either way, so no single outcome is trusted. The belief is a
//! distribution over the capacity's logarithm, updated by Bayes' rule (Horstein 1963; Watson and
//! Pelli 1983, "QUEST"): a level r holds with the probability of a logistic curve in ln(C / r), whose
//! width, how noisy the server is, is unknown too and summed over. A small share of outcomes is taken
//! to be wrong at any distance: a hiccup breaks a level that holds. So one wrong outcome widens the
//! interval and is outvoted, and a search that asks at the median finds its way back.

use model::capacity::Outcome;

/// Relative widths of the noise that are thought possible, and how likely each is beforehand.
const NOISE: [(f64, f64); 4] = [(0.004, 0.4), (0.01, 0.3), (0.025, 0.2), (0.06, 0.1)];
/// The same where arrivals are random: a short step's queue is short or long by chance, over a wide
/// range of levels.
const NOISE_OF_RANDOM: [(f64, f64); 6] =
    [(0.004, 0.3), (0.01, 0.25), (0.025, 0.2), (0.06, 0.15), (0.12, 0.07), (0.25, 0.03)];
/// Share of outcomes that are wrong, whatever the level.
const WRONG: f64 = 0.01;
/// Distance between two values of the capacity that are distinguished, relative.
const GRAIN: f64 = 0.004;
/// Below the middle of the prior, this share of the belief lies near it and the rest evenly in the
/// logarithm,
const NEAR: f64 = 0.75;
/// where near is within about this factor, as a logarithm.
const NEARNESS: f64 = 1.0;
/// Share of the belief left outside at each end of the interval.
const TAIL: f64 = 0.025;

/// What is thought possible before the first outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The capacity is not below this. Above 0.
    pub floor: f64,
    /// Above this and up to the top it is as likely as below; below, most likely near.
    pub middle: f64,
    /// The capacity is not looked for above this.
    pub top: f64,
}

/// How arrivals were spaced, which bounds how noisy outcomes may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Evenly, or in a closed loop.
    Even,
    /// At random.
    Random,
}

/// A belief about the capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    first: f64,
    step: f64,
    /// Share of the belief at `exp(first + i * step)`; sums to 1.
    mass: Vec<f64>,
}

impl Estimate {
    /// The belief after these levels and their outcomes. Outcomes that the generator
    /// limited change nothing.
    pub fn of(prior: Prior, spacing: Spacing, answers: &[(f64, Outcome)]) -> Self {
        let (first, last) = (prior.floor.ln(), prior.top.max(prior.floor * 1.01).ln());
        let cells = (((last - first) / GRAIN).ceil() as usize).clamp(2, 20_000);
        let step = (last - first) / (cells - 1) as f64;
        let at = |i: usize| first + i as f64 * step;
        let split = prior.middle.clamp(prior.floor, prior.top).ln();
        let above = (0..cells).filter(|&i| at(i) > split).count().clamp(1, cells - 1);
        let below = cells - above;
        let near: f64 = (0..below).map(|i| (-(split - at(i)) / NEARNESS).exp()).sum();
        let before = |i: usize| match i {
            i if i >= below => 0.5 / above as f64,
            i => {
                let near = (-(split - at(i)) / NEARNESS).exp() / near;
                0.5 * (NEAR * near + (1.0 - NEAR) / below as f64)
            }
        };
        let mut mass = vec![0.0; cells];
        let noises = match spacing {
            Spacing::Even => &NOISE[..],
            Spacing::Random => &NOISE_OF_RANDOM,
        };
        let weigh = |&(noise, share): &(f64, f64)| weigh(noise, share, answers, cells, at);
        let weights: Vec<Vec<f64>> = noises.iter().map(weigh).collect();
        let most = weights.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        for weight in &weights {
            for (i, log) in weight.iter().enumerate() {
                mass[i] += before(i) * (log - most).exp();
            }
        }
        let sum: f64 = mass.iter().sum();
        mass.iter_mut().for_each(|share| *share /= sum);
        Self { first, step, mass }
    }

    /// The level that the capacity is below with this probability, 0..=1.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sum = 0.0;
        for (i, mass) in self.mass.iter().enumerate() {
            if sum + mass >= share {
                let inside = if *mass > 0.0 { (share - sum) / mass } else { 0.0 };
                return (self.first + (i as f64 - 0.5 + inside) * self.step).exp();
            }
            sum += mass;
        }
        (self.first + (self.mass.len() - 1) as f64 * self.step).exp()
    }

    /// The interval that the capacity is in, but for a small share at either end.
    pub fn interval(&self) -> (f64, f64) {
        (self.quantile(TAIL), self.quantile(1.0 - TAIL))
    }

    /// How likely the capacity is at least this high, 0..=1.
    pub fn at_least(&self, level: f64) -> f64 {
        let index = ((level.ln() - self.first) / self.step).ceil().max(0.0) as usize;
        self.mass.iter().skip(index).sum()
    }
}

/// The logarithm of how likely the outcomes are under each capacity and this noise.
fn weigh(
    noise: f64,
    share: f64,
    answers: &[(f64, Outcome)],
    cells: usize,
    at: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let answers: Vec<(f64, Outcome)> =
        answers.iter().map(|&(level, outcome)| (level.ln(), outcome)).collect();
    let log_likelihood = |i: usize| {
        let of_answer = |&(level, outcome): &(f64, Outcome)| {
            let holds = 1.0 / (1.0 + ((level - at(i)) / noise).exp());
            let holds = WRONG + (1.0 - 2.0 * WRONG) * holds;
            match outcome {
                Outcome::Held => holds.ln(),
                Outcome::Broke => (1.0 - holds).ln(),
                Outcome::Unclear => (2.0 * (holds * (1.0 - holds)).sqrt()).ln(),
                Outcome::Generator => 0.0,
            }
        };
        share.ln() + answers.iter().map(of_answer).sum::<f64>()
    };
    (0..cells).map(log_likelihood).collect()
}

#[cfg(test)]
mod tests {
    use Outcome::{Broke, Generator, Held, Unclear};

    use super::*;

    const PRIOR: Prior = Prior { floor: 1.0, middle: 500.0, top: 1250.0 };

    #[test]
    fn nothing_known_is_the_prior() {
        let estimate = Estimate::of(PRIOR, Spacing::Even, &[(700.0, Generator)]);
        assert!((estimate.quantile(0.5) / 500.0 - 1.0).abs() < 0.01);
        assert!((estimate.at_least(500.0) - 0.5).abs() < 0.01);
        assert!(estimate.at_least(0.5) > 0.999);
        assert_eq!(estimate.at_least(5000.0), 0.0);
    }

    #[test]
    fn outcomes_that_agree_close_in_from_both_sides() {
        let answers =
            [(800.0, Held), (1000.0, Broke), (900.0, Held), (950.0, Broke), (925.0, Held)];
        let estimate = Estimate::of(PRIOR, Spacing::Even, &answers);
        let median = estimate.quantile(0.5);
        assert!((920.0..950.0).contains(&median), "{median}");
        let (low, high) = estimate.interval();
        assert!(low > 850.0 && low < 925.0 && high > 945.0, "{low} {high}");
    }

    #[test]
    fn one_wrong_answer_is_outvoted() {
        let mut answers = vec![(600.0, Broke)];
        for level in [400.0, 550.0, 590.0, 620.0, 700.0, 800.0] {
            answers.push((level, Held));
        }
        answers.extend([(900.0, Broke), (850.0, Broke)]);
        let median = Estimate::of(PRIOR, Spacing::Even, &answers).quantile(0.5);
        assert!((750.0..870.0).contains(&median), "{median}");
    }

    #[test]
    fn random_arrivals_leave_more_possible() {
        let answers = [(800.0, Held), (1000.0, Broke), (900.0, Held), (950.0, Broke)];
        let width = |spacing| {
            let (low, high) = Estimate::of(PRIOR, spacing, &answers).interval();
            high / low
        };
        assert!(width(Spacing::Random) > 1.05 * width(Spacing::Even));
    }

    #[test]
    fn an_unclear_answer_speaks_for_the_level_itself() {
        let before = Estimate::of(PRIOR, Spacing::Even, &[(800.0, Held), (1000.0, Broke)]);
        let after =
            Estimate::of(PRIOR, Spacing::Even, &[(800.0, Held), (1000.0, Broke), (900.0, Unclear)]);
        let width = |estimate: &Estimate| estimate.quantile(0.75) / estimate.quantile(0.25);
        assert!(width(&after) < width(&before));
        assert!((after.quantile(0.5) / 900.0 - 1.0).abs() < 0.03);
    }
}
