//! Which level a search for capacity runs next, when it is over, and what it found. A state machine
//! fed with judged runs: it keeps only what was fed, so a search is resumed by feeding the steps
//! already run, in their order.
//!
//! It runs nothing and reads no clock. The way of a search:
//!
//! 1. *Idle*: one connection with long pauses, to know how the server responds at rest. After every
//!    step that may have hurt the server the search comes back to this and waits until it is so
//!    again: each level is approached from idle.
//! 2. *Probe*: a closed loop for a moment, to know about where to look (`path` has 1 to 5).
//! 3. *Search*: the level at the median of the belief ([`estimate`]), again and again.
//! 4. *Hold*: a long run near the lower end of what is believed. If it breaks or stays unclear, back to 3
//!    as far as there is time, and a hold a step lower: time for three holds is kept. If it holds and nothing above it is
//!    known, further up while there is time.
//! 5. *Edges*: the level that is to be reported as not holding is tried once more where the interval is wide.
//! 6. *Overload and return* (`reverse`): what held from idle, approached from above.
//! 7. *Saturated* (`saturated`): a closed loop that keeps the server busy, as who holds requests back would.
//!
//! [`SearchObjectives`] holds the objectives, `judge` says whether a run held, [`answer`] is what is known at any
//! time, [`words`] puts it into sentences, [`fn@onward`] says what would find more, [`going_on`] how.

pub mod answer;
pub mod estimate;
pub mod judge;
mod margin;
mod objectives;
mod onward;
mod path;
mod reverse;
mod saturated;
mod step;
pub mod words;

use model::capacity::{CapacitySearch, Judged, Outcome, Purpose, SearchStep, Settings, Step};
use model::{Arrivals, LevelKind, Nanos, ReasonCode};

pub use answer::{Answer, load_line};
pub use judge::judge;
pub use margin::{MetricMargin, Of};
pub use objectives::SearchObjectives;
pub use onward::{going_on, onward};
pub use words::Reading;

use estimate::{Estimate, Prior, Spacing};

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Run this step, judge it, feed it.
    Run(Step),
    /// The search is over.
    Done(Ending),
}

/// How a search came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All steps were run; [`Search::answer`] has the capacity.
    Found,
    /// Not even the lowest level held.
    NeverMet,
    /// The target stopped answering and did not come back.
    Died,
    /// A step could not be run on the generator's machine.
    Stuck,
    /// The responses are others than at the search's beginning.
    Changed,
    /// No hold held that was to confirm a level.
    Unconfirmed,
    /// The time allowed is over; what is known is known.
    OutOfBudget,
}

/// Looks at the server at rest in which too much fails, after which nothing else is tried.
const LOOKS_THAT_FAILED: usize = 2;

/// Why a generator is the limit for a moment, perhaps,
const MOMENTARY: [ReasonCode; 3] =
    [ReasonCode::LateSends, ReasonCode::ObservedLate, ReasonCode::GeneratorPaused];
/// and what stays so at the same level.
const LASTING: [ReasonCode; 5] = [
    ReasonCode::AchievedBelowOffered,
    ReasonCode::ConnectionsExhausted,
    ReasonCode::LimitsHit,
    ReasonCode::Throttled,
    ReasonCode::WorkersSaturated,
];

/// A step that was fed.
#[derive(Debug, Clone, PartialEq)]
struct Fed {
    step: Step,
    judged: Judged,
    took_ns: Nanos,
}

impl Fed {
    /// Whether it tells nothing as the generator was late, or was not running, which may have been for a moment.
    fn is_late(&self) -> bool {
        let codes = || self.judged.reasons.iter().map(|reason| reason.code);
        matches!(self.judged.outcome, Outcome::Generator | Outcome::Unclear)
            && codes().any(|code| MOMENTARY.contains(&code))
            && !codes().any(|code| LASTING.contains(&code))
    }
}

/// A search for capacity: its settings, and the steps that were fed.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    settings: Settings,
    fed: Vec<Fed>,
}

impl Search {
    /// A search before its first step.
    pub fn new(settings: Settings) -> Self {
        Self { settings, fed: Vec::new() }
    }

    /// A search as it was kept.
    pub fn of_record(record: &CapacitySearch) -> Self {
        let mut search = Self::new(record.settings);
        for held in &record.steps {
            search.feed(held.step, held.judged.clone(), held.took_ns);
        }
        search
    }

    /// Drops idle steps in which the target sent no response, so that a search which they ended goes on: it
    /// checks whether the target is back.
    pub fn look_again(steps: &mut Vec<SearchStep>) {
        let dead = |held: &SearchStep| {
            held.step.purpose == Purpose::Idle && held.judged.succeeded_per_s == 0.0
        };
        while steps.pop_if(|held| dead(held)).is_some() {}
    }

    /// Takes in what a step came to, and the time it took in all.
    pub fn feed(&mut self, step: Step, judged: Judged, took_ns: Nanos) {
        self.fed.push(Fed { step, judged, took_ns });
    }

    /// How the search was set up.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Steps of the search so far, without looks at the idle server.
    pub fn steps(&self) -> usize {
        self.fed.iter().filter(|fed| fed.step.purpose != Purpose::Idle).count()
    }

    /// Time spent so far.
    pub fn spent_ns(&self) -> Nanos {
        self.fed.iter().fold(0, |sum, fed| sum.saturating_add(fed.took_ns))
    }

    /// Mean response time of the server at rest: the least seen; absent before anything succeeded.
    pub fn idle_mean_ns(&self) -> Option<f64> {
        let idle = self.of(Purpose::Idle).filter(|fed| fed.judged.succeeded_per_s > 0.0);
        idle.map(|fed| fed.judged.mean_ns).min_by(f64::total_cmp)
    }

    /// Whether more fails than the objectives allow although nothing but single requests was sent, twice: what fails
    /// then fails at every rate.
    fn fails_at_rest(&self) -> bool {
        let failed = |fed: &&Fed| fed.judged.failing().is_some();
        self.fed.iter().all(|fed| fed.step.purpose == Purpose::Idle)
            && self.fed.iter().filter(failed).count() >= LOOKS_THAT_FAILED
            && self.fed.last().is_some_and(|last| failed(&last))
    }

    /// The next step, or how the search ended. Returns the same until a step is fed.
    pub fn next(&self) -> Next {
        path::next(self)
    }

    /// Index, among the steps fed, of the one that shows what limits the server: the lowest level above the capacity that
    /// broke; where none did, any that broke, even if it does not count; else the highest level. Absent before a level was run.
    pub fn limiting_step(&self) -> Option<usize> {
        answer::limiting_step(self)
    }

    /// What is known by now; absent while no level has held.
    pub fn answer(&self) -> Option<Answer> {
        answer::of(self)
    }

    /// The belief about the capacity, from every level approached from idle.
    pub fn estimate(&self) -> Estimate {
        let spacing = match self.settings.arrivals {
            Some(Arrivals::Poisson) if self.settings.kind == LevelKind::Rate => Spacing::Random,
            _ => Spacing::Even,
        };
        Estimate::of(self.prior(), spacing, &self.answers())
    }

    fn of(&self, purpose: Purpose) -> impl DoubleEndedIterator<Item = &Fed> {
        self.fed.iter().filter(move |fed| fed.step.purpose == purpose)
    }

    /// Levels approached from idle.
    fn levels(&self) -> impl DoubleEndedIterator<Item = &Fed> {
        let level = |fed: &&Fed| matches!(fed.step.purpose, Purpose::Search | Purpose::Hold);
        self.fed.iter().filter(level)
    }

    /// The steps that speak for the capacity: levels approached from idle, but for those that broke
    /// once only, while other programs took the processors, or at which the generator was late for a moment.
    fn speaking(&self) -> impl DoubleEndedIterator<Item = &Fed> {
        self.levels().filter(|fed| !self.is_doubtful(fed))
    }

    /// Whether a step is tried again before it counts.
    fn is_doubtful(&self, fed: &Fed) -> bool {
        self.is_disturbed_once(fed) || self.is_late_once(fed)
    }

    /// Whether the generator was late, or was not running, at this level, and was the limit at no other: such a moment
    /// need not come again, unlike a rate that it cannot send.
    fn is_late_once(&self, fed: &Fed) -> bool {
        let limited = |fed: &&Fed| fed.judged.outcome == Outcome::Generator || fed.is_late();
        fed.is_late() && self.levels().filter(limited).count() == 1
    }

    /// Whether a level broke beside other programs and neither it nor a lower one has broken again.
    fn is_disturbed_once(&self, fed: &Fed) -> bool {
        let again = |other: &&Fed| {
            other.judged.outcome == Outcome::Broke && other.step.level <= fed.step.level
        };
        fed.judged.disturbed && self.levels().filter(again).count() < 2
    }

    fn answers(&self) -> Vec<(f64, Outcome)> {
        self.speaking().map(|fed| (fed.step.level, fed.judged.outcome)).collect()
    }

    /// The highest level that held.
    fn highest_held(&self) -> Option<f64> {
        let held = self.speaking().filter(|fed| fed.judged.outcome == Outcome::Held);
        held.map(|fed| fed.step.level).max_by(f64::total_cmp)
    }

    /// The level above which nothing is known, where there is one: the generator's limit, or the
    /// highest level asked for.
    fn ceiling(&self) -> Option<f64> {
        // Where a level at or above it held or broke, the generator was hindered for a moment only.
        let reached = self
            .speaking()
            .filter(|fed| matches!(fed.judged.outcome, Outcome::Held | Outcome::Broke));
        let reached = reached.map(|fed| fed.step.level).fold(0.0, f64::max);
        let limited = self
            .speaking()
            .filter(|fed| fed.judged.outcome == Outcome::Generator && fed.step.level > reached);
        let limited = limited.map(|fed| fed.step.level).min_by(f64::total_cmp);
        let most = match self.settings.kind {
            LevelKind::Rate => self.settings.most,
            LevelKind::Concurrency => {
                let connections = f64::from(self.settings.connections);
                Some(self.settings.most.map_or(connections, |most| most.min(connections)))
            }
        };
        limited.into_iter().chain(most).min_by(f64::total_cmp)
    }

    fn prior(&self) -> Prior {
        path::prior(self)
    }
}

#[cfg(test)]
mod tests;
