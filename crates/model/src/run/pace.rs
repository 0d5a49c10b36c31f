//! Whether a server kept up with the requests, or the sessions, of an open loop.
//!
//! Of single requests, responses over requests due say it, but for those under way at the window's end where fewer were under way
//! at its start: of a server that takes 2 s, a fifth of a window of 10 s without a warm-up, although it keeps up.
//!
//! Later steps fall due when earlier ones have their responses, so a server that falls behind lowers the number
//! of requests that are due: responses over requests due hide up to nine tenths of an overload of long flows. What does not
//! hide is how many sessions pile up before it, each with one request that has no response: with `A` arrivals in
//! the window, `D` requests due and `R` responses in it, `D - R` more are under way at its end than at its start,
//! and `1 - (D - R) / A` is sessions ended over sessions due. Where an arrival is one request, that is `R / D`.
//!
//! Sessions that think do not pile up, however long they are. Where the window begins before the first
//! sessions have come to their last steps, those steps' requests under way are new at its end although the
//! server is no slower. Their number, by Little's law from the first response times that were seen of each
//! endpoint, is subtracted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Run;
use crate::endpoint::EndpointRun;
use crate::outcome::ErrorClass;
use crate::plan::Arriving;
use crate::schedule::Arrivals;
use crate::units::SECOND;

/// Sessions by which what is under way at the window's ends differs anyway.
const AT_ENDS: f64 = 3.0;

/// How a server kept up with sessions that arrive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionPace {
    /// Sessions ended / sessions due, 0..=1, where those that only stand over at the window's ends count as
    /// ended.
    pub ended_ratio: f64,
    /// By how much it may fall short by chance: three sessions at the window's ends, and where sessions
    /// arrive or differ at random, as many more as their number in the window varies.
    pub doubt: f64,
}

impl SessionPace {
    /// Whether the server ended at least this share of the sessions, as far as the figures show.
    pub fn reaches(self, share: f64) -> bool {
        self.ended_ratio + self.doubt >= share
    }
}

impl Run {
    /// Responses in the window / requests due in it, 0..=1, of an open loop of single requests whose server takes
    /// `at_rest_ns` on average while it has next to no load; absent in other loads. Requests that would be newly under way at the
    /// window's end all the same count as responded to, and as many more as their number varies by chance.
    pub fn responded_ratio(&self, at_rest_ns: f64) -> Option<f64> {
        let due_per_s = self.rates.offered_per_s;
        if !self.flows.is_empty() || self.plan.rate_per_s.is_none() || due_per_s <= 0.0 {
            return None;
        }
        // As if times at rest were distributed exponentially: the part of them that is longer than the warm-up.
        let longer_ns = match at_rest_ns > 0.0 {
            true => at_rest_ns * (-(self.plan.warmup_ns as f64) / at_rest_ns).exp(),
            false => 0.0,
        };
        let second = SECOND as f64;
        let newly = due_per_s * longer_ns / second;
        let due = due_per_s * self.totals.duration_ns as f64 / second;
        let responded = self.rates.requests_per_s * self.totals.duration_ns as f64 / second;
        Some(((responded + newly + newly.sqrt()) / due.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0))
    }

    /// How the server kept up, where sessions arrive; absent in a closed loop and for single requests.
    pub fn session_pace(&self) -> Option<SessionPace> {
        // Lateness is counted for arrivals alone: later steps are due when they are sent.
        let arrivals = self.late_ns.count as f64;
        if self.flows.is_empty() || self.plan.rate_per_s.is_none() || arrivals == 0.0 {
            return None;
        }
        let seconds = self.totals.duration_ns as f64 / SECOND as f64;
        let unanswered = self.totals.attempts as f64 - self.rates.requests_per_s * seconds;
        let piled_up = unanswered - newly_under_way(&self.endpoints);
        let alike = self.plan.mix.arriving() == Arriving::Sessions && self.flows.len() == 1;
        let evenly = self.plan.arrivals == Some(Arrivals::Uniform);
        let by_chance = if alike && evenly { 0.0 } else { arrivals.sqrt() };
        Some(SessionPace {
            ended_ratio: (1.0 - piled_up / arrivals).clamp(0.0, 1.0),
            doubt: (AT_ENDS + by_chance) / arrivals,
        })
    }
}

/// Requests under way at the window's end that would be new there too if the server were as fast as at first.
fn newly_under_way(endpoints: &[EndpointRun]) -> f64 {
    let (mut at_end, mut at_start) = (0.0, 0.0);
    for endpoint in endpoints {
        let [before @ .., last] = endpoint.blocks.as_slice() else { continue };
        let first = endpoint.blocks.iter().find(|block| block.response_mean_ns > 0);
        // Of one block nothing is known of the start.
        let (false, Some(first)) = (before.is_empty(), first) else { continue };
        let per_ns = last.responses_done as f64 / last.duration_ns.max(1) as f64;
        at_end += per_ns * first.response_mean_ns as f64;
        for block in before {
            // Responses to what was due before the window are in its throughput, not among its attempts.
            let failed =
                [ErrorClass::Status, ErrorClass::Check].map(|class| block.errors.of(class));
            let answered = failed.into_iter().fold(block.succeeded, u64::saturating_add);
            at_start += block.responses_done.saturating_sub(answered) as f64;
        }
    }
    f64::max(at_end - at_start, 0.0)
}
