//! What a load that varies asks for, second by second.

use model::seconds::Second;
use model::units::SECOND;
use model::{Nanos, Plan, Stages};
use statistics::order::median;
use statistics::trend;

use super::per_s;

/// Arrivals of a second from which on it is known how many responses to expect.
const ENOUGH: f64 = 10.0;
/// How much more than usual is asked for where latencies may rise,
const HEAVIER: f64 = 1.2;
/// and how many deviations of a Poisson number more.
const DEVIATIONS: f64 = 4.0;
/// Seconds that responses may come behind their arrivals at most.
const MOST_BEHIND: usize = 60;

/// A load that varies by its plan.
#[derive(Debug)]
pub(super) struct Varying {
    /// Responses per second that the arrivals of a second allow, at least; none where that is not known.
    pub(super) asked: Vec<Option<f64>>,
    /// Whether more is asked for than usual.
    heavier: Vec<bool>,
}

impl Varying {
    /// None for a steady load.
    pub(super) fn of(seconds: &[Second], plan: &Plan) -> Option<Self> {
        let due: Vec<f64> = seconds.iter().map(|second| per_s(second, second.due)).collect();
        let height: Vec<f64> = match Stages::new(&plan.stages) {
            Ok(stages) => seconds.iter().map(|second| height(&stages, second)).collect(),
            Err(_) if plan.recorded.is_some() => due.clone(),
            Err(_) => return None,
        };
        // Responses come behind what they were asked for, and so does what a heavy load leaves behind.
        let usual = median(seconds.iter().map(|second| second.p50_ns as f64).collect());
        let behind = ((usual / SECOND as f64).ceil() as usize + 1).min(MOST_BEHIND);
        let before = |of: &[f64], at: usize| of[at.saturating_sub(behind)..=at].to_vec();
        // Steps of sessions are no arrivals, and users send as fast as responses come.
        let counted = plan.rate_per_s.is_some() && plan.mix.flows.is_empty();
        let asked = |at: usize| {
            let least = before(&due, at).into_iter().fold(f64::INFINITY, f64::min);
            let arrivals = least * seconds[at].duration_ns as f64 / SECOND as f64;
            Some(least).filter(|_| counted && arrivals >= ENOUGH)
        };
        let level = trend::of(&height);
        let heavier = |at: usize| {
            let most = before(&height, at).into_iter().fold(0.0, f64::max);
            most > level[at] * HEAVIER.max(1.0 + DEVIATIONS / level[at].max(1.0).sqrt())
        };
        Some(Self {
            asked: (0..seconds.len()).map(asked).collect(),
            heavier: (0..seconds.len()).map(heavier).collect(),
        })
    }

    /// Takes what lies off in seconds in which more was asked for than usual.
    pub(super) fn excuse(&self, off: &mut [f64]) {
        off.iter_mut().zip(&self.heavier).filter(|(_, heavier)| **heavier).for_each(|(off, _)| {
            *off = off.min(0.0);
        });
    }
}

/// The mean height of a profile over a second: arrivals per second, or users.
fn height(stages: &Stages, second: &Second) -> f64 {
    let end_ns: Nanos = second.start_ns.saturating_add(second.duration_ns);
    let mass = stages.integral(end_ns) - stages.integral(second.start_ns);
    mass * SECOND as f64 / second.duration_ns.max(1) as f64
}
