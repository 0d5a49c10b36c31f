//! When open-loop arrivals are due.
//!
//! A schedule is made of L independent lanes. Lane l of a uniform schedule is every L-th point of
//! the grid; of a Poisson schedule, a Poisson stream of rate/L of its own, drawn from (seed, l).
//! Workers, processes and machines own lanes, so that the union of their shares is the whole
//! schedule without a word between them. A rate that ramps is had by inverting its integral.

mod stages;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rand_core::Rng;
use rand_pcg::Lcg64Xsh32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Nanos, SECOND};

pub use stages::Stages;

/// Arrivals from which on they are drawn lane by lane to find the last one.
const MANY: u64 = 1 << 16;
/// Standard deviations below the number expected up to which that is done.
const DEVIATIONS: f64 = 8.0;

/// How open-loop arrivals are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Uniform,
    /// As independent users arrive: exponential gaps.
    Poisson,
}

impl Arrivals {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Poisson => "poisson",
        }
    }
}

/// Every arrival of a run, as a formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Arrivals per second once the ramp is over. Above 0.
    pub rate_per_s: f64,
    /// Their spacing.
    pub arrivals: Arrivals,
    /// L. At least 1.
    pub lanes: u32,
    /// Seed of the Poisson draws.
    pub seed: u64,
    /// The rate grows linearly from 0 over this time.
    pub ramp_ns: Nanos,
    /// Nothing is due at or after this instant.
    pub end_ns: Nanos,
    /// What the arrivals follow instead of the rate and its ramp.
    pub shape: Option<Shape>,
}

/// A profile of arrivals that is no steady rate.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Stages.
    Stages(Arc<Stages>),
    /// Arrivals that were recorded: nanoseconds since the run's start, ascending. Their spacing is
    /// their own.
    Recorded(Arc<[Nanos]>),
}

impl Schedule {
    /// The arrivals that fall to worker `worker` of `workers`, in order of their due times.
    ///
    /// # Panics
    /// When `worker >= workers`.
    pub fn share(&self, worker: u32, workers: u32) -> Share {
        assert!(worker < workers, "worker {worker} of {workers}");
        let recorded = matches!(self.shape, Some(Shape::Recorded(_)));
        let lanes = match self.arrivals {
            Arrivals::Poisson if !recorded => Lanes::poisson(self, worker, workers),
            _ => Lanes::uniform(self.lanes, worker, workers),
        };
        Share::of(self, lanes)
    }

    /// The instant before which exactly `requests` arrivals are due at or after `from_ns`: what ends a run that is limited
    /// by count. Of evenly spaced ones that at which the next would be due.
    pub fn end_after(&self, from_ns: Nanos, requests: u64) -> Nanos {
        let due = self.share(0, 1).skip_while(|&due| due < from_ns);
        match (requests, self.arrivals) {
            (0, _) => from_ns,
            _ if self.shape.is_some() => {
                due.take(requests as usize).last().map_or(from_ns, |d| d + 1)
            }
            (_, Arrivals::Poisson) => self
                .poisson_end(from_ns, requests)
                .unwrap_or_else(|| due.take(requests as usize).last().map_or(from_ns, |d| d + 1)),
            (_, Arrivals::Uniform) => {
                let mut first = self.integral(from_ns).ceil();
                // The product of rate and time may be rounded beyond a whole number, and due times are rounded too.
                while first >= 1.0 && self.due_at(first - 1.0) >= from_ns {
                    first -= 1.0;
                }
                while self.due_at(first) < from_ns {
                    first += 1.0;
                }
                let last_ns = self.due_at(first + (requests - 1) as f64);
                self.due_at(first + requests as f64).max(last_ns + 1)
            }
        }
    }

    /// As [`Self::end_after`] of many Poisson arrivals without a shape: all but the last are drawn lane by lane, in no
    /// order, which takes a small part of the time. `None` where there are few, and where chance has it that these were too
    /// many already.
    fn poisson_end(&self, from_ns: Nanos, requests: u64) -> Option<Nanos> {
        if requests < MANY {
            return None;
        }
        let (first, n) = (self.integral(from_ns), requests as f64);
        // Within this of the first one's place, rounding decides whether one is due before `from_ns`.
        let blur = 2.0 + 2.0 * self.rate_per_s / SECOND as f64;
        let counts =
            |mass: f64| mass > first + blur || mass > first - blur && self.due_at(mass) >= from_ns;
        let mut lanes = Lanes::poisson(self, 0, 1);
        // The number of arrivals has a variance of its mean.
        let counted = lanes.skip_to(first + n - DEVIATIONS * n.sqrt(), counts);
        let rest = requests.checked_sub(counted).filter(|rest| *rest > 0)?;
        let share = Share::of(self, lanes).skip_while(|&due| due < from_ns);
        share.take(rest as usize).last().map(|due| due + 1)
    }

    /// The instant by which `mass` arrivals are expected: the inverse of the rate's integral.
    fn due_at(&self, mass: f64) -> Nanos {
        match &self.shape {
            Some(Shape::Stages(profile)) => return profile.due_at(mass),
            // Masses of a uniform schedule are whole numbers: the arrivals' own.
            Some(Shape::Recorded(dues)) => {
                return dues.get(mass as usize).copied().unwrap_or(Nanos::MAX);
            }
            None => {}
        }
        let ramp_s = self.ramp_ns as f64 / SECOND as f64;
        let ramp_mass = self.rate_per_s * ramp_s / 2.0;
        let seconds = if mass < ramp_mass {
            (2.0 * ramp_s * mass / self.rate_per_s).sqrt()
        } else {
            mass / self.rate_per_s + ramp_s / 2.0
        };
        (seconds * SECOND as f64).round() as Nanos
    }

    /// Arrivals expected before an instant: the rate's integral.
    fn integral(&self, at_ns: Nanos) -> f64 {
        let at_s = at_ns as f64 / SECOND as f64;
        let ramp_s = self.ramp_ns as f64 / SECOND as f64;
        if at_s < ramp_s {
            self.rate_per_s * at_s * at_s / (2.0 * ramp_s)
        } else {
            self.rate_per_s * (at_s - ramp_s / 2.0)
        }
    }
}

/// Which arrival of the schedule one is: everything drawn for it depends on this and the seed alone,
/// so that any number of workers and machines send the same requests. In a closed loop users are the
/// lanes: `lane` is the user's number over all workers, `k` counts what it has begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Draw {
    /// The lane.
    pub lane: u32,
    /// The lane's arrivals before this one.
    pub k: u64,
}

/// One worker's arrivals: an iterator over due times in nanoseconds since the run's start,
/// ascending. A clone is a second cursor over the same arrivals.
#[derive(Debug, Clone)]
pub struct Share {
    schedule: Schedule,
    lanes: Lanes,
    next_ns: Option<Nanos>,
    next_draw: Draw,
}

impl Share {
    fn of(schedule: &Schedule, lanes: Lanes) -> Self {
        let (schedule, next_draw) = (schedule.clone(), Draw::default());
        let mut share = Self { schedule, lanes, next_ns: None, next_draw };
        share.next_ns = share.draw();
        share
    }

    /// When the next arrival is due; `None` after the last.
    #[inline]
    pub fn peek(&self) -> Option<Nanos> {
        self.next_ns
    }

    /// Which arrival the next one is; that of the last after it.
    #[inline]
    pub fn peek_draw(&self) -> Draw {
        self.next_draw
    }

    fn draw(&mut self) -> Option<Nanos> {
        let (mass, draw) = self.lanes.next_mass()?;
        self.next_draw = draw;
        let due = self.schedule.due_at(mass);
        (due < self.schedule.end_ns).then_some(due)
    }
}

impl Iterator for Share {
    type Item = Nanos;

    #[inline]
    fn next(&mut self) -> Option<Nanos> {
        let due = self.next_ns?;
        self.next_ns = self.draw();
        Some(due)
    }
}

#[derive(Debug, Clone)]
enum Lanes {
    Uniform { round: u64, lane: u32, first: u32, step: u32, lanes: u32 },
    Poisson { next: BinaryHeap<Reverse<(OrderedMass, u32)>>, streams: Vec<Stream>, mean: f64 },
}

/// One lane of a Poisson schedule.
#[derive(Debug, Clone)]
struct Stream {
    draws: Lcg64Xsh32,
    next: Draw,
}

/// Bits of a non-negative float, which order as the float does.
type OrderedMass = u64;

impl Lanes {
    fn uniform(lanes: u32, worker: u32, workers: u32) -> Self {
        Self::Uniform { round: 0, lane: worker, first: worker, step: workers, lanes }
    }

    fn poisson(schedule: &Schedule, worker: u32, workers: u32) -> Self {
        let mean = f64::from(schedule.lanes);
        let mut streams = Vec::new();
        let mut next = BinaryHeap::new();
        for lane in (worker..schedule.lanes).step_by(workers as usize) {
            let mut stream = Lcg64Xsh32::new(schedule.seed, u64::from(lane));
            let mass = exponential(&mut stream) * mean;
            next.push(Reverse((mass.to_bits(), streams.len() as u32)));
            streams.push(Stream { draws: stream, next: Draw { lane, k: 0 } });
        }
        Self::Poisson { next, streams, mean }
    }

    /// Draws the arrivals of a Poisson schedule below a mass, of each lane by itself; how many of them count.
    fn skip_to(&mut self, below: f64, counts: impl Fn(f64) -> bool) -> u64 {
        let Self::Poisson { next, streams, mean } = self else { return 0 };
        let mut counted = 0;
        let mut firsts = std::mem::take(next).into_vec();
        for Reverse((bits, stream)) in &mut firsts {
            let (mut mass, lane) = (f64::from_bits(*bits), &mut streams[*stream as usize]);
            while mass < below {
                counted += u64::from(counts(mass));
                mass += exponential(&mut lane.draws) * *mean;
                lane.next.k += 1;
            }
            *bits = mass.to_bits();
        }
        *next = firsts.into();
        counted
    }

    /// The next arrival, as the number of arrivals the whole schedule expects before it.
    fn next_mass(&mut self) -> Option<(f64, Draw)> {
        match self {
            Self::Uniform { round, lane, first, step, lanes } => {
                if *first >= *lanes {
                    return None;
                }
                let draw = Draw { lane: *lane, k: *round };
                let index = *round * u64::from(*lanes) + u64::from(*lane);
                *lane += *step;
                if *lane >= *lanes {
                    (*round, *lane) = (*round + 1, *first);
                }
                Some((index as f64, draw))
            }
            Self::Poisson { next, streams, mean } => {
                let mut top = next.peek_mut()?;
                let Reverse((bits, stream)) = *top;
                let mass = f64::from_bits(bits);
                let lane = &mut streams[stream as usize];
                let gap = exponential(&mut lane.draws) * *mean;
                let draw = lane.next;
                lane.next.k += 1;
                *top = Reverse(((mass + gap).to_bits(), stream));
                Some((mass, draw))
            }
        }
    }
}

/// A draw from the exponential distribution of mean 1, by inversion.
fn exponential(stream: &mut Lcg64Xsh32) -> f64 {
    let uniform = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    -(1.0 - uniform).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn schedule(arrivals: Arrivals, rate_per_s: f64, ramp_ns: Nanos) -> Schedule {
        Schedule {
            rate_per_s,
            arrivals,
            lanes: 4096,
            seed: 7,
            ramp_ns,
            end_ns: 10 * SECOND,
            shape: None,
        }
    }

    #[test]
    fn a_uniform_grid_is_exact() {
        let dues: Vec<_> = schedule(Arrivals::Uniform, 1000.0, 0).share(0, 1).collect();
        assert_eq!(dues.len(), 10_000);
        for (i, due) in dues.iter().enumerate() {
            assert_eq!(*due, i as u64 * 1_000_000);
        }
    }

    #[test]
    fn a_ramp_sends_half_as_many() {
        let ramped = schedule(Arrivals::Uniform, 1000.0, 10 * SECOND);
        let dues: Vec<_> = ramped.share(0, 1).collect();
        assert_eq!(dues.len(), 5000);
        let first_half = dues.iter().filter(|&&due| due < 5 * SECOND).count();
        assert_eq!(first_half, 1250);
    }

    #[test]
    fn poisson_counts_and_gaps_are_exponential() {
        let dues: Vec<_> = schedule(Arrivals::Poisson, 20_000.0, 0).share(0, 1).collect();
        let n = dues.len() as f64;
        assert!((n - 200_000.0).abs() < 4.0 * 200_000f64.sqrt(), "{n}");
        let gaps: Vec<f64> = dues.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
    }

    #[test]
    fn a_count_ends_the_schedule_after_that_many() {
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            for (from, n) in [(0, 1), (0, 999), (SECOND, 1234), (123_456_789, 10)] {
                let endless = Schedule { end_ns: Nanos::MAX, ..schedule(arrivals, 700.0, SECOND) };
                let ended = Schedule { end_ns: endless.end_after(from, n), ..endless };
                let counted = ended.share(0, 1).filter(|&due| due >= from).count();
                assert_eq!(counted as u64, n, "{arrivals:?} from {from}");
            }
        }
    }

    #[test]
    fn evenly_spaced_arrivals_by_count_take_the_time_that_their_rate_gives_them() {
        let schedule = Schedule { end_ns: Nanos::MAX, ..schedule(Arrivals::Uniform, 100.0, 0) };
        assert_eq!(schedule.end_after(0, 50), SECOND / 2);
        assert_eq!(schedule.end_after(SECOND, 1), SECOND + SECOND / 100);
    }

    #[test]
    fn a_count_begins_with_the_arrival_that_is_due_at_its_instant() {
        // 70 times a tenth is 7.000000000000001 in binary; of 3 a second the third is due behind 2/3 s.
        for (rate, from) in [(70.0, SECOND / 10), (3.0, 666_666_667), (3.0, 666_666_668)] {
            let endless = Schedule { end_ns: Nanos::MAX, ..schedule(Arrivals::Uniform, rate, 0) };
            let ended = Schedule { end_ns: endless.end_after(from, 10), ..endless };
            let counted = ended.share(0, 1).filter(|&due| due >= from).count();
            assert_eq!(counted, 10, "{rate} from {from}");
        }
    }

    #[test]
    fn the_last_of_many_poisson_arrivals_is_the_one_that_drawing_all_in_order_finds() {
        for (rate, ramp, from) in [(700.0, 0, 0), (5e4, 3 * SECOND, SECOND), (2e6, 0, 1_234_567)] {
            for lanes in [1, 4096] {
                let arrivals = Arrivals::Poisson;
                let schedule =
                    Schedule { lanes, end_ns: Nanos::MAX, ..schedule(arrivals, rate, ramp) };
                let n = 100_000;
                let due = schedule.share(0, 1).skip_while(|&due| due < from);
                let in_order = due.take(n).last().map(|due| due + 1);
                assert_eq!(schedule.poisson_end(from, n as u64), in_order, "{rate} {lanes}");
                assert_eq!(Some(schedule.end_after(from, n as u64)), in_order);
            }
        }
    }

    /// Every arrival's due time by its draw.
    fn drawn(schedule: &Schedule, worker: u32, workers: u32) -> Vec<(Draw, Nanos)> {
        let mut share = schedule.share(worker, workers);
        let mut drawn = Vec::new();
        while let Some(due) = share.peek() {
            drawn.push((share.peek_draw(), due));
            share.next();
        }
        drawn.sort_unstable_by_key(|(draw, _)| (draw.lane, draw.k));
        drawn
    }

    #[test]
    fn draws_are_the_same_for_any_number_of_workers() {
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            let schedule = Schedule { lanes: 16, end_ns: SECOND, ..schedule(arrivals, 500.0, 0) };
            let alone = drawn(&schedule, 0, 1);
            let mut three: Vec<_> = (0..3).flat_map(|worker| drawn(&schedule, worker, 3)).collect();
            three.sort_unstable_by_key(|(draw, _)| (draw.lane, draw.k));
            assert_eq!(three, alone, "{arrivals:?}");
            let of_lane_3 = alone.iter().filter(|(draw, _)| draw.lane == 3);
            assert!(of_lane_3.enumerate().all(|(k, (draw, _))| draw.k == k as u64));
        }
    }

    #[test]
    fn stages_and_recordings_are_split_without_a_word() {
        use crate::workload::{Rate, Stage, Time};
        let stages = [
            Stage::Ramp { to: Rate(400.0), over: Time(2 * SECOND) },
            Stage::Hold { at: Rate(100.0), r#for: Time(3 * SECOND) },
        ];
        let profile = Shape::Stages(Arc::new(Stages::new(&stages).unwrap()));
        let recorded: Arc<[Nanos]> = (0..700u64).map(|n| n * n * 10_000).collect();
        for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
            for shape in [profile.clone(), Shape::Recorded(Arc::clone(&recorded))] {
                let end_ns = Nanos::MAX;
                let whole = Schedule {
                    lanes: 16,
                    end_ns,
                    shape: Some(shape.clone()),
                    ..schedule(arrivals, 1.0, 0)
                };
                let alone: Vec<_> = whole.share(0, 1).collect();
                assert!(alone.is_sorted());
                let mut union: Vec<_> = (0..3).flat_map(|worker| whole.share(worker, 3)).collect();
                union.sort_unstable();
                assert_eq!(union, alone);
                match (shape, arrivals) {
                    (Shape::Recorded(dues), _) => assert_eq!(alone, dues.to_vec()),
                    (_, Arrivals::Uniform) => {
                        assert_eq!(alone.len(), 700);
                        let ramp = alone.iter().filter(|due| **due < 2 * SECOND).count();
                        assert_eq!(ramp, 400);
                    }
                    // 700 expected; four standard deviations are 106.
                    _ => assert!((594..806).contains(&alone.len()), "{}", alone.len()),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_union_of_shares_is_the_schedule(
            poisson: bool, workers in 1..9u32, lanes in 1..50u32, rate in 1.0..5000.0f64, ramp in 0..3u64,
        ) {
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Uniform };
            let whole = Schedule { lanes, end_ns: SECOND, ..schedule(arrivals, rate, ramp * SECOND) };
            let mut union: Vec<_> = (0..workers).flat_map(|w| whole.share(w, workers)).collect();
            union.sort_unstable();
            let alone: Vec<_> = whole.share(0, 1).collect();
            prop_assert!(alone.is_sorted());
            prop_assert_eq!(union, alone);
        }
    }
}
