//! Two profiles compared per completed request, so that profiles taken at different rates compare.

use std::collections::BTreeMap;

use model::profiled::{DIFF_SCHEMA, FunctionChange, FunctionCost, ProfileDiff, ValueKind};

use crate::costs::{Taken, costs_of_all};
use crate::error::Error;

/// Functions that are listed at most.
const MOST_LISTED: usize = 500;
/// Changes below this share of the larger total are left out.
const LEAST_SHARE: f64 = 0.0005;
/// Half of an interval of 95 % in standard deviations.
const HALF: f64 = 1.96;

/// Compares. Nothing where requests or samples of one are not known, or its values are no time of a processor.
///
/// # Errors
/// When a profile of allocations has no bytes.
pub fn compare(before: &Taken<'_>, after: &Taken<'_>) -> Result<Option<ProfileDiff>, Error> {
    let (Some(a), Some(b)) = (Scale::of(before), Scale::of(after)) else { return Ok(None) };
    // A function that is listed in one only would look as if it cost nothing in the other.
    let (before, after) = (&costs_of_all(before)?, &costs_of_all(after)?);
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
            let cum = |f: Option<&FunctionCost>| {
                f.map_or(0.0, |f| f.cum.saturating_add(f.collecting) as f64)
            };
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
    Ok(Some(ProfileDiff {
        schema: DIFF_SCHEMA.to_owned(),
        before: before.source.clone(),
        after: after.source.clone(),
        unit: "microseconds per request".to_owned(),
        total_before: before.total as f64 * a.us,
        total_after: after.total as f64 * b.us,
        functions,
    }))
}

/// From values to microseconds per request.
pub(crate) struct Scale {
    /// Microseconds per request of a value of 1.
    pub us: f64,
    /// Value of one sample.
    sample: f64,
}

impl Scale {
    /// Of a profile; nothing where [`compare`] has nothing.
    pub fn of(taken: &Taken<'_>) -> Option<Self> {
        let profile = taken.profile;
        let value_type = &profile.value_types[taken.kind];
        let value = ValueKind { kind: value_type.kind.clone(), unit: value_type.unit.clone() };
        let nanoseconds = value.nanoseconds().filter(|_| value.is_processor_time())?;
        let requests = taken.requests.filter(|requests| *requests > 0.0)?;
        let samples = profile.looks(taken.kind).filter(|samples| *samples > 0)?;
        let total: f64 =
            profile.samples.iter().map(|sample| sample.values[taken.kind] as f64).sum();
        Some(Self { us: nanoseconds / 1e3 / requests, sample: total / samples as f64 })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Profile;

    fn taken(profile: &Profile) -> Taken<'_> {
        Taken {
            profile,
            kind: 1,
            allocations: None,
            requests: Some(10.0),
            own: &[],
            source: "test",
        }
    }

    /// `steady` costs the same before and after; after, more functions cost more than it than are listed.
    #[test]
    fn a_function_that_is_too_small_to_be_listed_has_not_gone() {
        let read = |stacks: &str| {
            let mut profile = crate::read(stacks.as_bytes()).unwrap();
            let mut samples = crate::data::Samples::new(2);
            for sample in profile.samples.iter() {
                samples
                    .push(sample.stack, &[sample.values[0], sample.values[0] * 1000], &[])
                    .unwrap();
            }
            profile.samples = samples;
            profile
                .value_types
                .push(crate::data::ValueType { kind: "cpu".into(), unit: "ns".into() });
            profile
        };
        let more: String = (0..600).map(|at| format!("f{at} 20\n")).collect();
        let (before, after) = (read("steady 15\nf0 20\n"), read(&format!("steady 15\n{more}")));
        let diff = compare(&taken(&before), &taken(&after)).unwrap().unwrap();
        assert!(diff.functions.iter().all(|function| function.name != "steady"), "{diff:?}");
        assert!((diff.total_after - 1201.5).abs() < 1e-9, "{}", diff.total_after);
    }

    #[test]
    fn waiting_is_no_time_of_the_processor() {
        let mut profile = crate::read(b"a 1\n").unwrap();
        profile.value_types[0] = crate::data::ValueType { kind: "delay".into(), unit: "ns".into() };
        let taken = Taken { kind: 0, ..taken(&profile) };
        assert!(compare(&taken, &taken).unwrap().is_none());
    }
}
