//! The story of a tuning: what the API and its baseline did before, what each change was predicted to bring and brought.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Nanos;
use crate::validity::Verdict;

/// The schema's name and version.
pub const SCHEMA: &str = "plimsoll.tune/1";

/// A tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tuning {
    /// `plimsoll.tune/1`.
    pub schema: String,
    /// Connections of every run.
    pub connections: u64,
    /// The generator's threads; absent for its default.
    pub threads: Option<u64>,
    /// Whether the generator's threads never sleep.
    #[serde(default)]
    pub spin: bool,
    /// The measured window of every run.
    pub duration_ns: Nanos,
    /// The warm-up before it.
    pub warmup_ns: Nanos,
    /// Objectives that every run is judged by.
    pub slo: Vec<String>,
    /// The API before any change.
    pub start: Station,
    /// What it is measured against, which the changes cannot pass.
    pub baseline: Option<Station>,
    /// What was predicted for the next change.
    pub pending: Option<Prediction>,
    /// The changes, in their order.
    pub steps: Vec<TuningStep>,
    /// Where the last server that was kept spends its time; absent where that was not profiled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

/// What a request still costs, and where that goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// The server.
    pub station: String,
    /// Processor time per request, in microseconds.
    pub us_per_request: f64,
    /// Whose code it is charged to, the largest part first.
    pub owners: Vec<LeftPart>,
    /// The service's own functions with their callees, those that cost most first.
    pub functions: Vec<LeftPart>,
}

/// A part of what a request costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftPart {
    /// Whose, or which function.
    pub name: String,
    /// Of the processor time, 0..=1.
    pub share: f64,
    /// Microseconds per request.
    pub us_per_request: f64,
}

/// A server that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Station {
    /// What it is called.
    pub name: String,
    /// Where it was, secrets masked.
    pub url: String,
    /// Where its profile came from, secrets masked.
    pub profile: Option<String>,
    /// The folder of its first run, inside the notebook.
    pub dir: String,
    /// Successful responses per second: the geometric mean over its runs.
    pub qps: f64,
    /// Each run's.
    pub runs: Vec<f64>,
    /// The worst verdict on its runs.
    pub verdict: Verdict,
    /// Whether every objective was met in all of its runs; absent without objectives.
    pub meets: Option<bool>,
}

/// What a change was predicted to bring, before it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// The functions to do without.
    pub functions: Vec<String>,
    /// Predicted over present requests per second; absent where refused.
    pub ratio: Option<f64>,
    /// The low end of its interval of 95 %.
    pub low: Option<f64>,
    /// The high end.
    pub high: Option<f64>,
    /// Why nothing was predicted.
    pub refused: Option<String>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningStep {
    /// The changed server.
    pub station: Station,
    /// The station that it is compared with.
    pub against: String,
    /// Whether that one was measured again, in turns with this one.
    pub interleaved: bool,
    /// Successful responses per second over that one's.
    pub ratio: f64,
    /// The low end of its interval of 95 %.
    pub low: f64,
    /// The high end.
    pub high: f64,
    /// Successful responses per second over the baseline's, which was measured in turns with this server too; absent where it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_baseline: Option<Times>,
    /// What was predicted.
    pub predicted: Option<Prediction>,
    /// Whether the prediction's interval and this one overlap.
    pub as_predicted: Option<bool>,
    /// Whether the change stays.
    pub kept: bool,
    /// Why it does not; absent where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_discarded: Option<String>,
}

/// A ratio with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// The ratio.
    pub ratio: f64,
    /// The low end of its interval.
    pub low: f64,
    /// The high end.
    pub high: f64,
}

impl Tuning {
    /// The station that the next change is compared with: the last that was kept.
    pub fn current(&self) -> &Station {
        let kept = self.steps.iter().rev().find(|step| step.kept);
        kept.map_or(&self.start, |step| &step.station)
    }

    /// How many times as much the changes that were kept brought together. Each was measured in turns with the server before
    /// it where that still ran, which runs minutes apart are no match for. Their errors are independent, so the interval's
    /// half widths add up as squares, on the scale of logarithms.
    pub fn gain(&self) -> Times {
        let kept = || self.steps.iter().filter(|step| step.kept);
        let ratio: f64 = kept().map(|step| step.ratio).product();
        let squares = kept().map(|step| ((step.high / step.low).ln() / 2.0).powi(2));
        let half = squares.sum::<f64>().sqrt();
        Times { ratio, low: ratio * (-half).exp(), high: ratio * half.exp() }
    }

    /// The present server's requests per second over the baseline's: as measured in turns with it, where that was done.
    pub fn over_baseline(&self) -> Option<Times> {
        self.steps.iter().rev().find(|step| step.kept)?.over_baseline
    }

    /// How much of the baseline is reached, about: the first server's share of it, both measured one after the other, times
    /// what the changes brought.
    pub fn share_of_baseline(&self) -> Option<f64> {
        let baseline = self.baseline.as_ref().filter(|baseline| baseline.qps > 0.0)?;
        Some(self.start.qps / baseline.qps * self.gain().ratio)
    }

    /// Predictions that could be judged, and those that held.
    pub fn predictions(&self) -> (usize, usize) {
        let judged = self.steps.iter().filter_map(|step| step.as_predicted);
        (judged.clone().count(), judged.filter(|held| *held).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(name: &str) -> Station {
        Station {
            name: name.into(),
            url: String::new(),
            profile: None,
            dir: name.into(),
            qps: 1.0,
            runs: vec![1.0],
            verdict: Verdict::Valid,
            meets: None,
        }
    }

    #[test]
    fn the_last_kept_step_is_the_current_one() {
        let step = |name: &str, kept, as_predicted| TuningStep {
            station: station(name),
            against: String::new(),
            interleaved: false,
            ratio: 1.0,
            low: 1.0,
            high: 1.0,
            over_baseline: None,
            predicted: None,
            as_predicted,
            kept,
            why_discarded: None,
        };
        let mut tuning = Tuning {
            schema: SCHEMA.into(),
            connections: 1,
            threads: None,
            spin: false,
            duration_ns: 1,
            warmup_ns: 0,
            slo: Vec::new(),
            start: station("start"),
            baseline: None,
            pending: None,
            steps: vec![
                step("a", true, Some(true)),
                step("b", false, Some(false)),
                step("c", false, None),
            ],
            left: None,
        };
        assert_eq!((tuning.current().name.as_str(), tuning.predictions()), ("a", (2, 1)));
        tuning.steps[0].ratio = 1.5;
        tuning.start.qps = 100.0;
        assert_eq!((tuning.gain().ratio, tuning.share_of_baseline()), (1.5, None));
        tuning.baseline = Some(Station { qps: 200.0, ..station("baseline") });
        assert_eq!((tuning.share_of_baseline(), tuning.over_baseline()), (Some(0.75), None));
        let over = Times { ratio: 0.9, low: 0.8, high: 1.0 };
        tuning.steps[0].over_baseline = Some(over);
        tuning.steps[1].over_baseline = Some(Times { ratio: 0.5, ..over });
        assert_eq!(tuning.over_baseline(), Some(over), "that of the last change that was kept");
        // Half widths of 0.3 and 0.4 make 0.5; what was discarded has no part.
        (tuning.steps[0].low, tuning.steps[0].high) = ((-0.3_f64).exp(), 0.3_f64.exp());
        (tuning.steps[2].low, tuning.steps[2].high) = ((-0.4_f64).exp(), 0.4_f64.exp());
        (tuning.steps[1].low, tuning.steps[2].kept) = (0.1, true);
        let gain = tuning.gain();
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        assert!(close(gain.low, 1.5 * (-0.5_f64).exp()) && close(gain.high, 1.5 * 0.5_f64.exp()));
        tuning.steps.clear();
        assert_eq!((tuning.current().name.as_str(), tuning.predictions()), ("start", (0, 0)));
    }
}
