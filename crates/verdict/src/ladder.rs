//! Which level a sweep runs next, and why it ends. A state machine fed with results: it keeps only
//! what was fed, so a sweep is resumed by feeding the levels already run, in any order.
//!
//! It runs nothing and judges nothing but figures; levels are connections, or arrivals per second
//! for a list of rates.

use model::{LevelKind, Run, Verdict};

use crate::figures::{level as show, level_of, percent, rate, share};

/// wrktest.sh's levels, those of its larger machine included.
pub const CLASSIC: [f64; 14] = [
    200.0,
    500.0,
    1_000.0,
    3_000.0,
    5_000.0,
    10_000.0,
    15_000.0,
    20_000.0,
    25_000.0,
    50_000.0,
    100_000.0,
    200_000.0,
    500_000.0,
    1_000_000.0,
];

/// Share of the best QPS that a level must stay below to count as fallen.
const FALLEN: f64 = 0.90;
/// Levels running that must have fallen.
const FALLEN_RUNNING: usize = 2;
/// Growth of the best QPS that counts as growth, over [`FLAT_STEPS`] doublings.
const GROWTH: f64 = 1.03;
const FLAT_STEPS: usize = 3;
/// The finer pass: factors to the best level, a third of a doubling apart.
const FINER: [f64; 4] = [0.629_960_5, 0.793_700_5, 1.259_921, 1.587_401];

/// What a sweep needs to know of a level that was run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Requests completed per second.
    pub qps: f64,
    /// Mean response time in nanoseconds.
    pub mean_ns: f64,
    /// Successes / attempts, 0..=1; absent when nothing was attempted.
    pub success: Option<f64>,
    /// Whether the generator was the limit: the server carries at least this QPS, and how much more is
    /// not known.
    pub at_least: bool,
}

impl Outcome {
    /// What a run shows.
    pub fn of(run: &Run) -> Self {
        Self {
            qps: run.rates.requests_per_s,
            mean_ns: run.response_ns.mean as f64,
            success: run.rates.success_ratio,
            at_least: run.validity.verdict == Verdict::LowerBound,
        }
    }

    /// What succeeded of the QPS.
    fn carried(&self) -> f64 {
        self.qps * self.success.unwrap_or(1.0)
    }
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Run this level, then feed its outcome.
    Run(f64),
    /// The sweep is over, for this reason.
    Done(String),
}

/// The choice of a sweep's levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    choice: Choice,
    /// Ascending by level, each once.
    held: Vec<(f64, Outcome)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Choice {
    Auto { max_level: f64, stop_below: f64 },
    List { levels: Vec<f64>, name: &'static str },
}

impl Ladder {
    /// Doubling from 1 up to `max_level` connections, then a finer pass around the best. The climb
    /// ends early when QPS has fallen 10 % below its best at two successive levels, when the best has
    /// grown less than 3 % over three doublings while the mean at least doubled, or when a level's
    /// success ratio is below `stop_below` (0..=1). QPS of a level at which the generator was the limit is
    /// "at least": no fall is read from it, and a climb that stays flat says whose limit it may be.
    pub fn auto(max_level: u32, stop_below: f64) -> Self {
        let max_level = f64::from(max_level.max(1));
        Self { choice: Choice::Auto { max_level, stop_below }, held: Vec::new() }
    }

    /// wrktest.sh's levels up to `max`.
    pub fn classic(max: u32) -> Self {
        let levels = CLASSIC.into_iter().filter(|&level| level <= f64::from(max)).collect();
        Self { choice: Choice::List { levels, name: "wrktest.sh's" }, held: Vec::new() }
    }

    /// The levels given, ascending, each once; those that are not finite and above zero are left
    /// out.
    pub fn list(mut levels: Vec<f64>) -> Self {
        levels.retain(|level| level.is_finite() && *level > 0.0);
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        Self { choice: Choice::List { levels, name: "asked for" }, held: Vec::new() }
    }

    /// Takes in what a level brought; a level fed again replaces its earlier outcome.
    pub fn feed(&mut self, level: f64, outcome: Outcome) {
        match self.held.binary_search_by(|(held, _)| held.total_cmp(&level)) {
            Ok(at) => self.held[at].1 = outcome,
            Err(at) => self.held.insert(at, (level, outcome)),
        }
    }

    /// The next level, or why there is none. Returns the same until an outcome is fed.
    pub fn next(&self) -> Step {
        match &self.choice {
            Choice::Auto { max_level, stop_below } => self.next_auto(*max_level, *stop_below),
            Choice::List { levels, name } => self.next_listed(levels, name),
        }
    }

    /// How many levels are still to come; none where that depends on their outcomes.
    pub fn left(&self) -> Option<usize> {
        let Choice::List { levels, .. } = &self.choice else { return None };
        Some(levels.iter().filter(|&&level| self.outcome(level).is_none()).count())
    }

    /// How many levels are still to come at most.
    pub fn most_left(&self) -> usize {
        match &self.choice {
            _ if matches!(self.next(), Step::Done(_)) => 0,
            Choice::List { .. } => self.left().unwrap_or(0),
            Choice::Auto { max_level, .. } => {
                let new = doublings(*max_level).filter(|&level| self.outcome(level).is_none());
                new.count() + FINER.len()
            }
        }
    }

    fn outcome(&self, level: f64) -> Option<Outcome> {
        let at = self.held.binary_search_by(|(held, _)| held.total_cmp(&level)).ok()?;
        Some(self.held[at].1)
    }

    fn next_listed(&self, levels: &[f64], name: &str) -> Step {
        match levels.iter().find(|&&level| self.outcome(level).is_none()) {
            Some(&level) => Step::Run(level),
            None if levels.len() == 1 => Step::Done(format!("the one level {name} was run")),
            None => Step::Done(format!("all {} levels {name} were run", levels.len())),
        }
    }

    fn next_auto(&self, max_level: f64, stop_below: f64) -> Step {
        let mut climbed: Vec<(f64, Outcome)> = Vec::new();
        for level in doublings(max_level) {
            let Some(outcome) = self.outcome(level) else { return Step::Run(level) };
            climbed.push((level, outcome));
            if let Some(reason) = why_stop(&climbed, stop_below) {
                return self.next_finer(&climbed, max_level, stop_below, reason);
            }
        }
        let reason =
            format!("{} is the highest level allowed (--max-level)", connections(max_level));
        self.next_finer(&climbed, max_level, stop_below, reason)
    }

    /// The finer pass depends on the climb alone, so its own results cannot move it.
    fn next_finer(
        &self,
        climbed: &[(f64, Outcome)],
        max_level: f64,
        stop_below: f64,
        reason: String,
    ) -> Step {
        let mut finer = 0;
        for level in finer_levels(climbed, max_level, stop_below) {
            let Some(outcome) = self.outcome(level) else { return Step::Run(level) };
            finer += 1;
            if let Some(failed) = too_few_succeed(level, outcome, stop_below) {
                return Step::Done(format!("{reason}; in the finer pass, {failed}"));
            }
        }
        match finer {
            0 => Step::Done(reason),
            1 => Step::Done(format!("{reason}; one finer level was run around the best")),
            n => Step::Done(format!("{reason}; {n} finer levels were run around the best")),
        }
    }
}

/// 1, 2, 4 ... and the highest level itself.
fn doublings(max_level: f64) -> impl Iterator<Item = f64> {
    let powers = std::iter::successors(Some(1.0), |level| Some(level * 2.0));
    powers.take_while(move |&level| level < max_level).chain([max_level])
}

/// Levels between half and twice the best of the climb, ascending, without those of the climb.
fn finer_levels(climbed: &[(f64, Outcome)], max_level: f64, stop_below: f64) -> Vec<f64> {
    let sound = climbed.iter().filter(|(level, outcome)| {
        outcome.qps > 0.0 && too_few_succeed(*level, *outcome, stop_below).is_none()
    });
    let Some(&(best, _)) = highest(sound, Outcome::carried) else { return Vec::new() };
    let mut levels: Vec<f64> = FINER.iter().map(|factor| (best * factor).round()).collect();
    levels.retain(|level| {
        (1.0..=max_level).contains(level) && climbed.iter().all(|(held, _)| held != level)
    });
    levels.dedup();
    levels
}

/// The level with the highest figure; the lowest of equals.
fn highest<'a>(
    levels: impl IntoIterator<Item = &'a (f64, Outcome)>,
    figure: fn(&Outcome) -> f64,
) -> Option<&'a (f64, Outcome)> {
    let higher = |a: &'a (f64, Outcome), b: &'a (f64, Outcome)| {
        if figure(&a.1) >= figure(&b.1) { a } else { b }
    };
    levels.into_iter().reduce(higher)
}

/// Why the climb ends at its last level, if it does.
fn why_stop(climbed: &[(f64, Outcome)], stop_below: f64) -> Option<String> {
    let &(level, last) = climbed.last()?;
    too_few_succeed(level, last, stop_below)
        .or_else(|| fallen(climbed))
        .or_else(|| flat_and_slower(climbed))
}

fn too_few_succeed(level: f64, outcome: Outcome, stop_below: f64) -> Option<String> {
    let success = outcome.success.unwrap_or(0.0);
    (success < stop_below).then(|| {
        format!(
            "success was {} at {}, below {} (--stop-below)",
            share(success),
            connections(level),
            percent(stop_below)
        )
    })
}

fn fallen(climbed: &[(f64, Outcome)]) -> Option<String> {
    let &(best_level, best) = highest(climbed, |outcome| outcome.qps)?;
    let low = |outcome: &Outcome| outcome.qps <= FALLEN * best.qps && !outcome.at_least;
    let last = climbed.iter().rev().take_while(|(_, outcome)| low(outcome)).count();
    let &(level, outcome) = climbed.last()?;
    (last >= FALLEN_RUNNING && best.qps > 0.0).then(|| {
        format!(
            "QPS stayed 10 % or more below its best at two successive levels: {} at {} \
             against {} at {}",
            rate(outcome.qps),
            connections(level),
            rate(best.qps),
            show(best_level)
        )
    })
}

fn flat_and_slower(climbed: &[(f64, Outcome)]) -> Option<String> {
    let earlier = climbed.len().checked_sub(FLAT_STEPS + 1)?;
    let best = |part: &[(f64, Outcome)]| part.iter().map(|(_, o)| o.qps).fold(0.0, f64::max);
    let (before, now) = (best(&climbed[..=earlier]), best(climbed));
    let (from, then) = climbed[earlier];
    let &(level, last) = climbed.last()?;
    let flat = before > 0.0 && now < GROWTH * before;
    let slower = last.mean_ns >= 2.0 * then.mean_ns && then.mean_ns > 0.0;
    (flat && slower).then(|| {
        format!(
            "from {} to {} the best QPS grew {} while the mean grew {:.1} times{}",
            show(from),
            connections(level),
            percent(now / before - 1.0),
            last.mean_ns / then.mean_ns,
            by_generator(&climbed[earlier..])
        )
    })
}

/// What levels at which something other than the server was the limit make of a climb that stayed flat over them.
fn by_generator(climbed: &[(f64, Outcome)]) -> String {
    let limited = climbed.iter().filter(|(_, outcome)| outcome.at_least);
    let levels: Vec<String> = limited.map(|(level, _)| show(*level)).collect();
    if levels.is_empty() {
        return String::new();
    }
    format!("; the server was not the limit at {}, so it may carry more", levels.join(", "))
}

fn connections(level: f64) -> String {
    level_of(LevelKind::Concurrency, level)
}

#[cfg(test)]
mod tests;
