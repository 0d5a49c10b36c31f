//! Is the new one (B) faster or slower than the old one (A), or is that undecided?
//!
//! Two ways to judge. By *rounds* ([`rounds`]): whole runs repeated in turns (A B B A ...), each pair one
//! sample of the ratio, with Student's interval of the mean log ratio. By *blocks* ([`blocks`]): two
//! runs that are there already, with a bootstrap of their blocks, or by the spread of few blocks (`few`);
//! what changes from one run to the next is not in it. Requests are never taken for independent samples, and no
//! slow response is left out.
//!
//! Owns effects, intervals, words and the reasons to withhold them ([`likeness`]). Running the rounds
//! is the command's, showing them `report`'s.

pub mod blocks;
mod few;
pub mod levels;
pub mod likeness;
mod measure;
mod responses;
pub mod rounds;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use statistics::student::reach;

use crate::exit;
use crate::figures::times;

pub use measure::{Measure, measures, reading};
pub(crate) use responses::lengths_apart;

/// How often an interval holds the true ratio.
pub const CONFIDENCE: f64 = 0.95;
/// How often the smallest visible effect would be seen.
pub const POWER: f64 = 0.8;

/// The judgement of the new one against the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Word {
    /// The whole interval is within the margin.
    Same,
    /// The whole interval is beyond the margin, to the better.
    Faster,
    /// The whole interval is beyond the margin, to the worse.
    Slower,
    /// The interval spans more than one of these.
    CannotTell,
}

impl Word {
    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "SAME",
            Self::Faster => "FASTER",
            Self::Slower => "SLOWER",
            Self::CannotTell => "CANNOT_TELL",
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A log ratio B / A with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// The mean of ln(B / A).
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom that the standard error was estimated with.
    pub freedom: f64,
}

/// One figure of the new one against the old one's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Which figure.
    pub measure: Measure,
    /// The figure of the old one: over rounds the geometric mean.
    #[serde(rename = "old", alias = "a")]
    pub a: f64,
    /// The figure of the new one.
    #[serde(rename = "new", alias = "b")]
    pub b: f64,
    /// New / old.
    pub ratio: f64,
    /// Lowest ratio in keeping with what was measured, at [`CONFIDENCE`].
    pub low: f64,
    /// Highest one.
    pub high: f64,
    /// The word for this figure alone.
    pub word: Word,
    /// The smallest change beyond none that would have been detected in [`POWER`] of such
    /// comparisons, as a ratio: 0.03 is 3 %.
    pub smallest_seen: f64,
    /// Rounds in which a change of twice the margin would be detected; absent at margin 0, past
    /// ten thousand, and when rounds were not what judged.
    pub rounds_needed: Option<u32>,
}

/// The new one against the old one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// What the old and the new one are called.
    pub names: [String; 2],
    /// Changes up to this share of the old figure count as none.
    pub margin: f64,
    /// What was judged by, in words.
    pub by: String,
    /// Each figure.
    pub effects: Vec<Effect>,
    /// The word over all figures; see `Comparison::overall`.
    pub word: Word,
    /// Why the word is withheld, one sentence each; the figures stand all the same.
    pub withheld: Vec<String>,
    /// A run is INVALID: where the figures are judged all the same, no word about them is a success.
    #[serde(default)]
    pub invalid: bool,
    /// Why there are no intervals, or what they leave out.
    pub notes: Vec<String>,
}

impl Effect {
    /// From a figure's log ratio.
    pub fn of(measure: Measure, figures: [f64; 2], log: LogRatio, margin: f64) -> Self {
        let [a, b] = figures;
        let half = reach(CONFIDENCE, log.freedom) * log.standard_error;
        let both = reach(CONFIDENCE, log.freedom) + reach(2.0 * POWER - 1.0, log.freedom);
        let (low, high) = ((log.mean - half).exp(), (log.mean + half).exp());
        Self {
            measure,
            a,
            b,
            ratio: log.mean.exp(),
            low,
            high,
            word: word(measure, low, high, margin),
            smallest_seen: (both * log.standard_error).exp_m1(),
            rounds_needed: None,
        }
    }

    /// The word at an interval widened so that all of `figures` together keep [`CONFIDENCE`].
    fn word_among(&self, figures: usize, log: LogRatio, margin: f64) -> Word {
        let confidence = 1.0 - (1.0 - CONFIDENCE) / figures.max(1) as f64;
        let half = reach(confidence, log.freedom) * log.standard_error;
        word(self.measure, (log.mean - half).exp(), (log.mean + half).exp(), margin)
    }
}

/// The word for a ratio's interval. Beyond the margin is above 1 + m or below 1 / (1 + m), so that A
/// against B and B against A agree.
fn word(measure: Measure, low: f64, high: f64, margin: f64) -> Word {
    let (floor, ceiling) = (1.0 / (1.0 + margin), 1.0 + margin);
    let (better, worse) = if measure.more_is_better() {
        (low > ceiling, high < floor)
    } else {
        (high < floor, low > ceiling)
    };
    if better {
        Word::Faster
    } else if worse {
        Word::Slower
    } else if low >= floor && high <= ceiling {
        Word::Same
    } else {
        Word::CannotTell
    }
}

impl Comparison {
    /// Of the figures' log ratios. The word over all: SLOWER if any figure is, else FASTER if any is,
    /// each at intervals widened so that the chance of a false alarm over all figures is what it is
    /// for one (Bonferroni); SAME if every figure is, at its own interval; else CANNOT_TELL.
    fn overall(effects: &[(Effect, LogRatio)], margin: f64) -> Word {
        let words: Vec<Word> =
            effects.iter().map(|(e, log)| e.word_among(effects.len(), *log, margin)).collect();
        if words.contains(&Word::Slower) {
            Word::Slower
        } else if words.contains(&Word::Faster) {
            Word::Faster
        } else if !effects.is_empty() && effects.iter().all(|(e, _)| e.word == Word::Same) {
            Word::Same
        } else {
            Word::CannotTell
        }
    }

    fn new(
        names: [String; 2],
        margin: f64,
        by: String,
        effects: Vec<(Effect, LogRatio)>,
        notes: Vec<String>,
    ) -> Self {
        let word = Self::overall(&effects, margin);
        let effects = effects.into_iter().map(|(effect, _)| effect).collect();
        Self { names, margin, by, effects, word, withheld: Vec::new(), invalid: false, notes }
    }

    /// Takes the judgement back for these reasons; when it is wanted anyway, they become notes.
    pub fn withhold(&mut self, reasons: Vec<String>, anyway: bool) {
        if anyway {
            self.notes.extend(reasons.iter().map(|reason| format!("judged although {reason}")));
        } else {
            self.withheld.extend(reasons);
        }
    }

    /// Judges all the same: the reasons against it become notes.
    pub fn judge_anyway(&mut self) {
        let reasons = std::mem::take(&mut self.withheld);
        self.withhold(reasons, true);
    }

    /// The conclusion in one word; none while it is withheld.
    pub fn judgement(&self) -> Option<Word> {
        self.withheld.is_empty().then_some(self.word)
    }

    /// Where it is SLOWER, 99; where nothing is judged or can be told, or a run is INVALID, 98.
    pub fn exit_code(&self) -> u8 {
        match self.judgement() {
            Some(Word::Slower) => exit::OBJECTIVES_MISSED,
            Some(Word::Same | Word::Faster) if !self.invalid => exit::DONE,
            _ => exit::NOT_BELIEVABLE,
        }
    }

    /// The judgement in a sentence or three: what, how little could have been seen, what would do.
    pub fn sentence(&self) -> String {
        let [a, b] = &self.names;
        let Some(word) = self.judgement() else {
            let why = self.withheld.join("; ");
            return format!(
                "{b} against {a}: not judged, because {why} (--anyway judges all the same)"
            );
        };
        let margin = crate::figures::percent(self.margin);
        match word {
            Word::Same => format!("SAME: {b} is within {margin} of {a} in every figure"),
            Word::Faster => format!("FASTER: {b} against {a}{}", self.list(Word::Faster)),
            Word::Slower => format!("SLOWER: {b} against {a}{}", self.list(Word::Slower)),
            Word::CannotTell => format!("CANNOT_TELL: {b} against {a}{}", self.lacking()),
        }
    }

    /// What can be told where not everything can: `QPS and mean are alike within 1.2 %; `, or between which changes QPS
    /// lies.
    fn known(&self) -> String {
        let alike: Vec<&Effect> =
            self.effects.iter().filter(|effect| effect.word == Word::Same).collect();
        let names: Vec<&str> = alike.iter().map(|effect| effect.measure.name()).collect();
        let names = match names.as_slice() {
            [] => return self.first_effect(),
            [one] => format!("{one} is"),
            [others @ .., last] => format!("{} and {last} are", others.join(", ")),
        };
        let reach = |effect: &&Effect| (effect.high - 1.0).max(1.0 / effect.low - 1.0);
        let within = alike.iter().map(reach).fold(0.0, f64::max);
        format!("{names} alike within {}; ", size(within))
    }

    fn first_effect(&self) -> String {
        let Some(Effect { measure, low, high, .. }) = self.effects.first() else {
            return String::new();
        };
        format!("{} changed by {} to {}; ", measure.name(), change(*low), change(*high))
    }

    fn list(&self, word: Word) -> String {
        let named = self.effects.iter().filter(|effect| effect.word == word);
        let named: Vec<String> =
            named.map(|e| format!("{} {}", e.measure.name(), change(e.ratio))).collect();
        if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
    }

    fn lacking(&self) -> String {
        let Some(widest) =
            self.effects.iter().max_by(|a, b| a.smallest_seen.total_cmp(&b.smallest_seen))
        else {
            return ": too little was measured".to_owned();
        };
        let known = self.known();
        let seen = format!(
            ": {known}changes below {} could not be detected in {}",
            size(widest.smallest_seen),
            widest.measure.name()
        );
        let needed = self.effects.iter().filter_map(|effect| effect.rounds_needed).max();
        match needed {
            Some(rounds) => format!(
                "{seen}; detecting a change of {1} takes {0} rounds",
                crate::figures::grouped(rounds.into(), 0),
                crate::figures::percent(2.0 * self.margin)
            ),
            None => seen,
        }
    }
}

/// A ratio as a change: `+3.1 %`, and from ten times on `45.2x`.
pub fn change(ratio: f64) -> String {
    if ratio < 10.0 { format!("{:+.1} %", 100.0 * (ratio - 1.0)) } else { times(ratio) }
}

/// The size of a change without its direction: `3.1 %`, and to ten times or more `45.2x`.
pub fn size(share: f64) -> String {
    if share < 9.0 { format!("{:.1} %", 100.0 * share) } else { times(1.0 + share) }
}

#[cfg(test)]
mod tests;
