//! Stalls that come again and again at one distance: a collection of garbage, a cron job, a checkpoint. Each takes so little
//! of its second that throughput and percentiles stay on their trend; the longest response of the second shows it.

use model::timeline::Point;
use model::units::{MILLISECOND, Nanos, SECOND, show_duration};
use model::{Plan, Run, Silence};
use statistics::order::median;

use super::window;
use crate::figures::{often, percent};
use crate::gone::{STALL, STALL_TIMES, gone, is_start};

/// Stalls from which on even distances are no chance.
pub(crate) const FEWEST: usize = 6;
/// How many times as long as the longest response of a usual second a stall is, and how long it is at least.
pub(crate) const LONGER: f64 = 5.0;
const SHORTEST_NS: Nanos = 20 * MILLISECOND;
/// Within which factor of their median all of them are.
const ALIKE: f64 = 1.5;
/// Points of the timeline from one stall to the next, at least: with fewer, any instants lie at even distances. Six at random
/// instants do at this distance in 2 % of the cases at most.
const POINTS_APART: f64 = 3.0;
/// From how many stalls on fewer points are enough, and how many: stalls at random instants pass with these in 1 % of the cases.
/// Those of a still shorter period would be in half of all points, so that none of these is a usual one.
const MANY_APART: (usize, f64) = (8, 2.25);
/// How much longer than planned a point may be.
const SLACK: f64 = 1.05;
/// The shortest time without service that counts among several.
pub(crate) const UNSERVED_NS: Nanos = 100 * MILLISECOND;

/// Stalls of about one length at even distances, all through the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// How many there were.
    pub count: usize,
    /// The longest response of each: their median.
    pub length_ns: Nanos,
    /// From one to the next: the mean.
    pub period_ns: Nanos,
    /// The start of the point of the timeline in which the first one ended, since the run's start.
    pub first_ns: Nanos,
    /// The longest response of all other points.
    pub between_ns: Nanos,
}

impl Stalls {
    /// In words: `about every 4.00s the slowest responses took some 500ms, ...`.
    pub fn words(&self) -> String {
        let Self { count, length_ns, period_ns, first_ns, between_ns } = *self;
        let [length, period, first, between] =
            [length_ns, period_ns, first_ns, between_ns].map(show_duration);
        format!(
            "about every {period} the slowest responses took some {length}, {count} times, first in the second at {first}; \
             in the seconds between none took longer than {between}"
        )
    }
}

/// The stalls of a run in words, of either kind.
pub fn stalls_in_words(run: &Run) -> Option<String> {
    stalls(run).map(|stalls| stalls.words()).or_else(|| unserved(run))
}

/// Times in which all users of a closed loop waited, each too short for the server to have been away, that together are a
/// part of the window which percentiles do not show: a user that waits makes no requests.
pub(super) fn unserved(run: &Run) -> Option<String> {
    let (plan, (part, fewest)) = (&run.plan, STALL);
    // The steps of flows may have pauses of their own; and at the end of a count the users with the last responses wait alone.
    let pauses = plan.think_ns.is_some() || plan.pace_ns.is_some() || !plan.mix.flows.is_empty();
    let all_ask = plan.rate_per_s.is_none() && plan.requests.is_none() && !pauses;
    let users_wait = all_ask && u64::from(plan.connections) >= fewest;
    // Without a response there is no percentile that hides it.
    if !users_wait || run.service_ns.count == 0 || gone(run).is_some() {
        return None;
    }
    let least_ns = UNSERVED_NS.max(STALL_TIMES.saturating_mul(run.service_ns.p99));
    let silences = run.presence.iter().flat_map(|presence| &presence.silences);
    // Where attempts failed meanwhile, users did not wait; and a server that is still starting does not stall.
    let waited = silences.filter(|silence| silence.failed_slots == 0 && !is_start(run, silence));
    let lengths: Vec<Nanos> =
        waited.map(Silence::duration_ns).filter(|&length| length >= least_ns).collect();
    let all_ns = lengths.iter().copied().fold(0, Nanos::saturating_add);
    let share = all_ns as f64 / run.totals.duration_ns.max(1) as f64;
    let longest = lengths.iter().max().filter(|_| share >= part)?;
    Some(format!(
        "all users waited at once for {} in all, {} of the window ({}, {} at the longest), and p99 is {}: few requests meet \
         what keeps users from sending more",
        show_duration(all_ns),
        percent(share),
        often(lengths.len() as f64),
        show_duration(*longest),
        show_duration(run.service_ns.p99)
    ))
}

/// The stalls of a steady load, unless the generator may have made them.
pub fn stalls(run: &Run) -> Option<Stalls> {
    let found = find(window(run)).filter(|_| is_steady(&run.plan))?;
    let half_ns = found.length_ns / 2;
    let (workers, period_ns) = (&run.generator.workers, found.period_ns as f64);
    let paused = workers.iter().any(|worker| worker.paused_max_ns >= half_ns);
    // What a worker waited for a processor may all have been in the stalls.
    let queued = workers.iter().any(|worker| worker.queued_ratio * period_ns >= half_ns as f64);
    let machine = run.generator.machine;
    let stopped = machine.is_some_and(|on| on.throttled > 0 || on.stopped_max_ns >= half_ns);
    let own = paused || queued || stopped || run.observed_late_ns.max >= half_ns;
    // An endpoint that takes as long by its nature may be asked at even distances.
    let by_nature = run.endpoints.iter().any(|endpoint| endpoint.response_ns.p50 >= half_ns);
    (!own && !by_nature).then_some(found)
}

/// Whether nothing in a load comes in waves: users with one pace, or steps of sessions, may ask for the same at once.
fn is_steady(plan: &Plan) -> bool {
    // Shorter ones come in every second.
    let pauses = plan.pace_ns.max(plan.think_ns).is_some_and(|pause_ns| pause_ns >= SECOND);
    plan.stages.is_empty() && plan.recorded.is_none() && plan.mix.flows.is_empty() && !pauses
}

fn find(points: &[Point]) -> Option<Stalls> {
    let (start, end) = (points.first()?, points.last()?);
    let longest = points.iter().map(|point| point.max_ns as f64).filter(|&ns| ns > 0.0);
    let least = (LONGER * median(longest.collect())).max(SHORTEST_NS as f64);
    let is_long = |point: &Point| point.max_ns as f64 >= least;
    // What ends at the edge of a second may be in two.
    let of_stalls = |points: &&[Point]| is_long(&points[0]);
    let stalls: Vec<&[Point]> =
        points.chunk_by(|a, b| is_long(a) == is_long(b)).filter(of_stalls).collect();
    if stalls.len() < FEWEST || stalls.iter().any(|points| points.len() > 2) {
        return None;
    }
    let lengths: Vec<f64> = stalls.iter().map(|&points| longest_ns(points) as f64).collect();
    let length = median(lengths.clone());
    let alike = lengths.iter().all(|&ns| (length / ALIKE..=length * ALIKE).contains(&ns));
    let at: Vec<f64> = stalls.iter().map(|points| points[0].start_ns as f64).collect();
    let (first, last) = (at[0], at[at.len() - 1]);
    let period = (last - first) / (at.len() - 1) as f64;
    let point = start.duration_ns as f64 * SLACK;
    let evenly =
        at.iter().enumerate().all(|(nth, at)| (at - first - nth as f64 * period).abs() <= point);
    let throughout = first - start.start_ns as f64 <= period + point
        && end.start_ns as f64 - last <= period + point;
    let (many, closer) = MANY_APART;
    let points_apart = if stalls.len() >= many { closer } else { POINTS_APART };
    let apart = period >= points_apart * start.duration_ns as f64;
    (alike && evenly && throughout && apart).then(|| {
        let others = points.iter().filter(|point| !is_long(point));
        Stalls {
            count: stalls.len(),
            length_ns: length as Nanos,
            period_ns: period as Nanos,
            first_ns: stalls[0][0].start_ns,
            between_ns: others.map(|point| point.max_ns).max().unwrap_or(0),
        }
    })
}

fn longest_ns(points: &[Point]) -> Nanos {
    points.iter().map(|point| point.max_ns).max().unwrap_or(0)
}
