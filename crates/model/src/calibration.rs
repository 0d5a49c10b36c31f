//! `plimsoll.calibration/1`: what this machine's generator can do at most, and what a run used of
//! it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::environment::Program;
use crate::plan::Io;
use crate::units::Nanos;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.calibration/1";
/// How many times more or less one rate may be than another for lateness at the one to be told of the other.
const SUCH_A_RATE: f64 = 3.0;

/// A generator's ceiling, measured against the built-in API with small plain requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// `plimsoll.calibration/1`.
    pub schema: String,
    /// The program that measured.
    pub plimsoll: Program,
    /// When, RFC 3339 in UTC.
    pub measured_at: String,
    /// The generator's machine.
    pub environment: Environment,
    /// The kernel interface in use.
    pub io: Io,
    /// Closed loop: the most by number of workers, ascending.
    pub closed: Vec<ClosedCeiling>,
    /// Open loop: how late requests leave, by rate, ascending.
    pub open: Vec<OpenLateness>,
}

/// The most that a number of workers can drive in a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClosedCeiling {
    /// Workers.
    pub workers: u32,
    /// Requests per second that the workers could drive: what was answered over the share of their
    /// time that they were busy.
    pub requests_per_s: f64,
    /// Requests per second that were answered while measuring.
    pub measured_per_s: f64,
    /// The busiest worker's share of its core while measuring: at 1 the ceiling was reached, below
    /// it the ceiling is inferred.
    pub busy_ratio: f64,
    /// Processor time per request.
    pub cpu_ns_per_request: f64,
    /// Whether the workers shared processors with the built-in API for want of others.
    pub shared: bool,
}

/// How late requests leave at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLateness {
    /// Arrivals per second.
    pub rate_per_s: f64,
    /// Workers.
    pub workers: u32,
    /// What was sent per second.
    pub achieved_per_s: f64,
    /// taken - due: median.
    pub late_p50_ns: Nanos,
    /// 99th percentile.
    pub late_p99_ns: Nanos,
    /// Longest.
    pub late_max_ns: Nanos,
}

/// A run beside its generator's ceiling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// Requests per second that this many workers can drive here, small plain ones.
    pub requests_per_s: f64,
    /// QPS / ceiling.
    pub used_ratio: f64,
    /// When it was measured, RFC 3339 in UTC.
    pub measured_at: String,
    /// Usual 99th percentile of lateness at the nearest rate calibrated; absent in a closed loop, and where none is near.
    pub late_p99_ns: Option<Nanos>,
}

impl Calibration {
    /// The ceiling of `workers`: as measured, or in proportion to the nearest number that was.
    /// Proportion overstates what more workers than processors can do, so it is never taken upwards
    /// past the largest number measured.
    pub fn ceiling_per_s(&self, workers: u32) -> Option<f64> {
        let workers = workers.max(1);
        let near = self.closed.iter().min_by_key(|ceiling| ceiling.workers.abs_diff(workers))?;
        let scale = f64::from(workers) / f64::from(near.workers.max(1));
        Some(near.requests_per_s * scale.min(1.0))
    }

    /// The lateness measured at the rate nearest to `rate_per_s` by ratio; none where that is another rate altogether.
    pub fn lateness(&self, rate_per_s: f64) -> Option<&OpenLateness> {
        let distance = |open: &OpenLateness| (open.rate_per_s / rate_per_s).ln().abs();
        let near = self.open.iter().filter(|open| distance(open) <= SUCH_A_RATE.ln());
        near.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration() -> Calibration {
        let closed = |workers, requests_per_s| ClosedCeiling {
            workers,
            requests_per_s,
            measured_per_s: requests_per_s,
            busy_ratio: 1.0,
            cpu_ns_per_request: 1e9 / requests_per_s,
            shared: false,
        };
        let open = |rate_per_s| OpenLateness {
            rate_per_s,
            workers: 2,
            achieved_per_s: rate_per_s,
            late_p50_ns: 1,
            late_p99_ns: 2,
            late_max_ns: 3,
        };
        Calibration {
            schema: SCHEMA.into(),
            plimsoll: Program { version: "0".into() },
            measured_at: "2026-01-01T00:00:00Z".into(),
            environment: Environment::default(),
            io: Io::Epoll,
            closed: vec![closed(1, 100.0), closed(4, 300.0)],
            open: vec![open(1000.0), open(10_000.0)],
        }
    }

    #[test]
    fn ceilings_are_never_extrapolated_upwards() {
        let calibration = calibration();
        for (workers, ceiling) in [(0, 100.0), (1, 100.0), (2, 100.0), (3, 225.0), (8, 300.0)] {
            assert_eq!(calibration.ceiling_per_s(workers), Some(ceiling), "{workers}");
        }
        let none = Calibration { closed: Vec::new(), ..calibration };
        assert_eq!(none.ceiling_per_s(1), None);
    }

    #[test]
    fn the_nearest_rate_is_nearest_by_ratio() {
        let calibration = calibration();
        let near = |rate| calibration.lateness(rate).map(|open| open.rate_per_s);
        assert_eq!((near(2900.0), near(4000.0)), (Some(1000.0), Some(10_000.0)));
        assert_eq!((near(300.0), near(500_000.0)), (None, None), "nothing is known of these");
    }
}
