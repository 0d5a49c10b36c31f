//! `plimsoll.scaling/1`: what a curve over concurrency says about adding load: its knee, and the
//! Universal Scalability Law fitted to it. Found by `verdict`; written beside a sweep's other files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::curve::CurveRow;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.scaling/1";

/// What a sweep says about adding load, with the levels it was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// `plimsoll.scaling/1`.
    pub schema: String,
    /// The curve's name.
    pub name: String,
    /// The levels measured.
    pub rows: Vec<CurveRow>,
    /// The knee: from here on more connections add almost no QPS; absent without a usable level.
    pub knee: Option<Knee>,
    /// The fit; absent when it was refused.
    pub usl: Option<Usl>,
    /// Why there is no fit.
    pub usl_refused: Option<String>,
}

/// The lowest level that reaches 97 % of the best QPS. The definition does not depend on the scale of
/// a plot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// Connections.
    pub level: f64,
    /// The highest level run below it, which does not reach as much: the knee lies between the two.
    pub above_level: Option<f64>,
    /// Requests per second there.
    pub qps: f64,
    /// QPS there / the best QPS.
    pub share_of_best: f64,
}

/// X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)), Gunther's Universal Scalability Law
/// (Guerrilla Capacity Planning, 2007), by least squares on throughput.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usl {
    /// Requests per second of one connection alone.
    pub lambda: f64,
    /// Contention: the share of the work that has to wait its turn, 0 or more.
    pub sigma: f64,
    /// Coherency: what each pair of connections costs the other, 0 or more.
    pub kappa: f64,
    /// Share of the variance of QPS that the law explains, at most 1.
    pub r2: f64,
    /// Levels fitted to: those that are `VALID` and where nine in ten succeeded.
    pub levels: u32,
    /// The lowest of them.
    pub from_level: f64,
    /// The highest of them.
    pub to_level: f64,
    /// The most that the law predicts; absent when it predicts none within one and a half times the
    /// highest level.
    pub peak: Option<Peak>,
}

/// A predicted peak with 95 % intervals from 500 resamplings of the residuals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peak {
    /// Connections.
    pub level: f64,
    /// Lower end of its interval.
    pub level_low: f64,
    /// Upper end; absent where the points allow that there is no peak.
    pub level_high: Option<f64>,
    /// Requests per second there.
    pub qps: f64,
    /// Lower end of its interval.
    pub qps_low: f64,
    /// Upper end.
    pub qps_high: f64,
    /// Whether it lies above the highest level fitted to.
    pub extrapolated: bool,
}

impl Usl {
    /// Requests per second that the law gives at `level` connections.
    pub fn at(&self, level: f64) -> f64 {
        let more = level - 1.0;
        self.lambda * level / (1.0 + self.sigma * more + self.kappa * level * more)
    }
}
