//! A curve: figures over levels, stripped of how they were made. Sweeps, single runs and other
//! tools' tables all become curves, so that they can be compared and drawn alike.
//!
//! Not here: reading files (`import`), choosing the best level and comparing (`verdict`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::percentile::LevelPercentiles;
use crate::response::CommonestResponse;
use crate::run::{Run, SessionPace};
use crate::success::StatusRanges;
use crate::sweep::{Level, LevelKind, Sweep};
use crate::units::Nanos;
use crate::validity::{Reason, ReasonCode, Verdict};

/// Figures over levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// What it is called beside other curves.
    pub name: String,
    /// What the levels are.
    pub kind: LevelKind,
    /// Ascending by level, each level once.
    pub rows: Vec<CurveRow>,
    /// What its success rates count.
    pub success_means: SuccessMeaning,
    /// Where its figures were measured, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The generator's machine, where known.
    pub environment: Option<Environment>,
    /// The commonest response, where known.
    #[serde(rename = "answer")]
    pub commonest_response: Option<CommonestResponse>,
    /// How the server changed within a level or after it, in words, where levels are of two servers for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

/// Where a curve's figures were measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// What was asked.
    pub url: String,
    /// When the first level started, RFC 3339 in UTC.
    pub started_at: String,
    /// The longest measured window of a level.
    pub longest_ns: Nanos,
}

/// The figures of one level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveRow {
    /// Connections, or arrivals per second.
    pub level: f64,
    /// Requests that were due per second, where known. In a load of sessions, which arrive at the
    /// level's rate, those are more than the level.
    #[serde(default)]
    pub offered_per_s: Option<f64>,
    /// How the server kept up with sessions, where those arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionPace>,
    /// Responses / requests due, 0..=1, where single requests arrive; those that are under way at the window's end although the
    /// server keeps up count as responded to. Absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub responded_ratio: Option<f64>,
    /// Requests completed per second.
    pub qps: f64,
    /// Mean response time; in a table of another tool, its mean latency.
    pub mean_ns: Nanos,
    /// Percentiles of response time, where known.
    #[serde(flatten)]
    pub percentiles: LevelPercentiles,
    /// Successes / attempts, 0..=1, where known.
    pub success: Option<f64>,
    /// Whether the figures can be trusted; absent if they were not judged.
    pub verdict: Option<Verdict>,
    /// The first reason for a verdict other than VALID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ReasonCode>,
    /// Whether its run was interrupted: the figures are of a part of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}

/// What a success rate counts as success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuccessMeaning {
    /// Whole responses in time with one of these statuses.
    Statuses(StatusRanges),
    /// A `.dat` does not say: wrktest.sh counts every response, 5xx included; Plimsoll's counts
    /// statuses.
    Unstated,
}

/// A level that occurs twice in what should be one curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoubledLevel(pub f64);

impl Curve {
    /// The curve of a sweep, under the sweep's name. Environment and response are those of the
    /// lowest level that has them.
    ///
    /// # Errors
    /// When a level occurs twice, which [`Sweep::insert`] never lets happen.
    pub fn from_sweep(sweep: &Sweep) -> Result<Self, DoubledLevel> {
        let first = sweep.levels.first().map(|held| &held.run);
        // The least loaded level is the nearest to a server at rest.
        let means = sweep.levels.iter().map(|held| held.run.response_ns.mean);
        let at_rest_ns = means.filter(|&mean_ns| mean_ns > 0).min().unwrap_or(0) as f64;
        let row = |held: &Level| CurveRow {
            responded_ratio: held.run.responded_ratio(at_rest_ns),
            ..CurveRow::of(held.level, &held.run)
        };
        let curve = Self {
            name: sweep.name.clone(),
            kind: sweep.kind,
            rows: sweep.levels.iter().map(row).collect(),
            success_means: first.map_or(SuccessMeaning::Unstated, |run| {
                SuccessMeaning::Statuses(run.plan.success.clone())
            }),
            origin: (!sweep.levels.is_empty()).then(|| Origin {
                url: sweep.url.clone(),
                started_at: sweep.started_at.clone(),
                longest_ns: sweep
                    .levels
                    .iter()
                    .map(|held| held.run.totals.duration_ns)
                    .max()
                    .unwrap_or_default(),
            }),
            environment: first.map(|run| run.environment.clone()),
            commonest_response: sweep
                .levels
                .iter()
                .find_map(|held| held.run.commonest_response.clone()),
            change: change(sweep),
        };
        curve.sorted()
    }

    /// The curve of one level that a single run is.
    pub fn from_run(name: &str, run: &Run) -> Self {
        let (kind, level) = match run.plan.rate_per_s {
            Some(rate_per_s) => (LevelKind::Rate, rate_per_s),
            None => (LevelKind::Concurrency, f64::from(run.plan.connections)),
        };
        Self {
            name: name.to_owned(),
            kind,
            rows: vec![CurveRow::of(level, run)],
            success_means: SuccessMeaning::Statuses(run.plan.success.clone()),
            origin: Some(Origin {
                url: run.plan.url.clone(),
                started_at: run.started_at.clone(),
                longest_ns: run.totals.duration_ns,
            }),
            environment: Some(run.environment.clone()),
            commonest_response: run.commonest_response.clone(),
            change: None,
        }
    }

    /// The same curve with its rows in ascending order.
    ///
    /// # Errors
    /// When a level occurs twice.
    pub fn sorted(mut self) -> Result<Self, DoubledLevel> {
        self.rows.sort_by(|a, b| a.level.total_cmp(&b.level));
        match self.rows.windows(2).find(|pair| pair[0].level == pair[1].level) {
            Some(pair) => Err(DoubledLevel(pair[0].level)),
            None => Ok(self),
        }
    }
}

/// See [`Curve::change`]: no run is `INVALID` for this reason by itself.
fn change(sweep: &Sweep) -> Option<String> {
    let mut reasons = sweep.levels.iter().flat_map(|held| &held.run.validity.reasons);
    let found = reasons.find(|reason| {
        reason.code == ReasonCode::NotSteady && reason.consequence == Verdict::Invalid
    });
    found.map(|reason| reason.text.clone())
}

impl CurveRow {
    /// What a run shows at a level.
    pub fn of(level: f64, run: &Run) -> Self {
        let validity = &run.validity;
        let against = |reason: &&Reason| reason.consequence != Verdict::Valid;
        let worst = validity.reasons.iter().filter(against).max_by_key(|reason| reason.consequence);
        Self {
            level,
            offered_per_s: Some(run.rates.offered_per_s),
            sessions: run.session_pace(),
            responded_ratio: run.responded_ratio(0.0),
            qps: run.rates.requests_per_s,
            mean_ns: run.response_ns.mean,
            percentiles: LevelPercentiles::of(&run.response_ns),
            success: run.rates.success_ratio,
            verdict: Some(validity.verdict),
            reason: worst.map(|reason| reason.code),
            cut_short: run.interrupted && run.aborted.is_none(),
        }
    }

    /// How many requests Little's law says were in flight: QPS x mean.
    pub fn in_flight(&self) -> f64 {
        self.qps * self.mean_ns as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(level: f64) -> CurveRow {
        CurveRow {
            level,
            offered_per_s: None,
            sessions: None,
            responded_ratio: None,
            qps: 2000.0,
            mean_ns: 5_000_000,
            percentiles: LevelPercentiles::default(),
            success: None,
            verdict: None,
            reason: None,
            cut_short: false,
        }
    }

    fn curve(levels: &[f64]) -> Curve {
        Curve {
            name: "a".into(),
            kind: LevelKind::Concurrency,
            rows: levels.iter().copied().map(row).collect(),
            origin: None,
            success_means: SuccessMeaning::Unstated,
            environment: None,
            commonest_response: None,
            change: None,
        }
    }

    #[test]
    fn rows_are_sorted_and_no_level_comes_twice() {
        let sorted = curve(&[500.0, 200.0, 1000.0]).sorted().unwrap();
        let levels: Vec<f64> = sorted.rows.iter().map(|row| row.level).collect();
        assert_eq!(levels, [200.0, 500.0, 1000.0]);
        assert_eq!(curve(&[200.0, 500.0, 200.0]).sorted(), Err(DoubledLevel(200.0)));
    }

    #[test]
    fn in_flight_by_littles_law() {
        assert_eq!(row(1.0).in_flight(), 10.0);
    }
}
