//! Two profiles compared per completed request, so that profiles taken at different rates compare.

use std::collections::BTreeMap;

use model::profiled::{DIFF_SCHEMA, FunctionChange, FunctionCost, ProfileDiff, Profiled};

use crate::costs::Taken;

/// Functions that are listed at most.
const MOST_LISTED: usize = 500;
/// Changes below this share of the larger total are left out.
const LEAST_SHARE: f64 = 0.0005;
/// Half of an interval of 95 % in standard deviations.
const HALF: f64 = 1.96;

/// Compares. Nothing where requests or samples of one are not known, or its values are no time.
pub fn compare(before: &Profiled, after: &Profiled) -> Option<ProfileDiff> {
    let (a, b) = (Scale::of(before)?, Scale::of(after)?);
    let mut pairs: BTreeMap<&str, [Option<&FunctionCost>; 2]> = BTreeMap::new();
    for (at, profiled) in [before, after].into_iter().enumerate() {
        for function in &profiled.functions {
            pairs.entry(&function.name).or_default()[at] = Some(function);
        }
    }
    let largest = (before.total as f64 * a.us).max(after.total as f64 * b.us);
    let mut functions: Vec<FunctionChange> = (pairs.into_iter())
        .filter_map(|(name, [x, y])| {
            let known = x.or(y)?;
            let cum = |f: Option<&FunctionCost>| f.map_or(0.0, |f| (f.cum + f.collecting) as f64);
            let flat = |f: Option<&FunctionCost>| f.map_or(0.0, |f| f.flat as f64);
            let change = cum(y) * b.us - cum(x) * a.us;
            let half = a.half(cum(x)).hypot(b.half(cum(y)));
            Some(FunctionChange {
                name: name.to_owned(),
                owner: known.owner,
                flat_before: flat(x) * a.us,
                flat_after: flat(y) * b.us,
                cum_before: cum(x) * a.us,
                cum_after: cum(y) * b.us,
                change,
                low: change - half,
                high: change + half,
            })
        })
        .filter(|change| change.change.abs() >= LEAST_SHARE * largest)
        .collect();
    functions.sort_by(|x, y| {
        y.change.abs().total_cmp(&x.change.abs()).then_with(|| x.name.cmp(&y.name))
    });
    functions.truncate(MOST_LISTED);
    Some(ProfileDiff {
        schema: DIFF_SCHEMA.to_owned(),
        before: before.source.clone(),
        after: after.source.clone(),
        unit: "microseconds per request".to_owned(),
        total_before: before.total as f64 * a.us,
        total_after: after.total as f64 * b.us,
        functions,
    })
}

/// From values to microseconds per request.
pub(crate) struct Scale {
    /// Microseconds per request of a value of 1.
    pub us: f64,
    /// Value of one sample.
    sample: f64,
}

impl Scale {
    fn of(profiled: &Profiled) -> Option<Self> {
        let total = profiled.total as f64;
        Self::new(&profiled.value.unit, profiled.requests, total, profiled.samples)
    }

    /// Of a profile that is not summed up.
    pub fn of_taken(taken: &Taken<'_>) -> Option<Self> {
        let profile = taken.profile;
        let total: f64 =
            profile.samples.iter().map(|sample| sample.values[taken.kind] as f64).sum();
        let unit = &profile.value_types[taken.kind].unit;
        Self::new(unit, taken.requests, total, profile.looks())
    }

    fn new(unit: &str, requests: Option<f64>, total: f64, samples: Option<u64>) -> Option<Self> {
        let (millis, unit) = crate::units::scale(1_000_000, unit, "ns");
        let requests = requests.filter(|requests| *requests > 0.0 && unit == "ns")?;
        let samples = samples.filter(|samples| *samples > 0)?;
        Some(Self { us: millis / 1e9 / requests, sample: total / samples as f64 })
    }

    /// The standard deviation, in microseconds per request, of a value made of counted samples.
    fn deviation(&self, value: f64) -> f64 {
        // A function that was not seen may have missed one sample.
        (value / self.sample).max(1.0).sqrt() * self.sample * self.us
    }

    /// Half of the interval of 95 % of such a value.
    pub fn half(&self, value: f64) -> f64 {
        HALF * self.deviation(value)
    }
}
