//! `latency` and `requests`, as `done` has them.
//!
//! Owns wrk's interface to a distribution: `min`, `max`, `mean`, `stdev`, `:percentile(p)`, the number
//! of distinct values (`#`) and the i-th of them with its count (`(i)`).

use mlua::{MetaMethod, UserData, UserDataFields, UserDataMethods};

/// A distribution of whole numbers: microseconds for `latency`, responses per second of one worker for
/// `requests`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Distinct values, ascending, and how often each came.
    values: Vec<(u64, u64)>,
    count: u64,
    min: u64,
    max: u64,
    mean: f64,
    stdev: f64,
}

impl Stats {
    /// Of values and their counts, in any order; a value may come more than once. All figures are 0
    /// where there is no value.
    pub fn of(values: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut values: Vec<(u64, u64)> = values.into_iter().filter(|&(_, n)| n > 0).collect();
        values.sort_unstable();
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let count: u64 = values.iter().map(|&(_, n)| n).sum();
        let over = |n: f64, sum: f64| if n > 0.0 { sum / n } else { 0.0 };
        let mean = over(count as f64, values.iter().map(|&(v, n)| v as f64 * n as f64).sum());
        let squares = values.iter().map(|&(v, n)| (v as f64 - mean).powi(2) * n as f64).sum();
        Self {
            count,
            min: values.first().map_or(0, |&(value, _)| value),
            max: values.last().map_or(0, |&(value, _)| value),
            mean,
            // Of a sample, as wrk's.
            stdev: over(count as f64 - 1.0, squares).sqrt(),
            values,
        }
    }

    /// The same, with extremes that are more exact than the values.
    #[must_use]
    pub fn with_extremes(self, min: u64, max: u64) -> Self {
        if self.count == 0 { self } else { Self { min, max, ..self } }
    }

    /// The value that `percent` of all values do not exceed, by nearest rank.
    fn percentile(&self, percent: f64) -> u64 {
        let rank = ((percent / 100.0) * self.count as f64 + 0.5).round() as u64;
        let mut below = 0;
        let reaches = |&&(_, n): &&(u64, u64)| {
            below += n;
            below >= rank
        };
        self.values.iter().find(reaches).map_or(0, |&(value, _)| value)
    }

    /// The `index`-th distinct value, from 1 on, and its count; zeros where there is none.
    fn value_at(&self, index: f64) -> (u64, u64) {
        let place = (index as usize).checked_sub(1);
        place.and_then(|place| self.values.get(place)).copied().unwrap_or_default()
    }
}

impl UserData for Stats {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("min", |_, stats| Ok(stats.min as f64));
        fields.add_field_method_get("max", |_, stats| Ok(stats.max as f64));
        fields.add_field_method_get("mean", |_, stats| Ok(stats.mean));
        fields.add_field_method_get("stdev", |_, stats| Ok(stats.stdev));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("percentile", |_, stats, p: f64| Ok(stats.percentile(p) as f64));
        methods.add_meta_method(MetaMethod::Len, |_, stats, ()| Ok(stats.values.len() as f64));
        methods.add_meta_method(MetaMethod::Call, |_, stats, index: f64| {
            let (value, count) = stats.value_at(index);
            Ok((value as f64, count as f64))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_distribution() {
        let stats = Stats::of([(4, 1), (2, 2), (9, 1), (4, 2), (5, 2), (7, 0)]);
        assert_eq!((stats.min, stats.max, stats.count), (2, 9, 8));
        assert!((stats.mean - 4.375).abs() < 1e-12, "{stats:?}");
        // Squares about the mean: 2 x 2.375^2, 3 x 0.375^2, 2 x 0.625^2, 4.625^2, over 7.
        assert!((stats.stdev - (33.875_f64 / 7.0).sqrt()).abs() < 1e-12, "{stats:?}");
        let distinct: Vec<_> = (0..=5).map(|i| stats.value_at(f64::from(i))).collect();
        assert_eq!(distinct, [(0, 0), (2, 2), (4, 3), (5, 2), (9, 1), (0, 0)]);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let stats = Stats::of((1..=100).map(|value| (value * 10, 1)));
        let at = [50.0, 90.0, 99.0, 99.9, 100.0].map(|p| stats.percentile(p));
        // wrk takes rank p n + 1/2, rounded: 50.5 becomes 51, and 100.5 is past the last value.
        assert_eq!(at, [510, 910, 1000, 1000, 0]);
        assert_eq!(Stats::default().percentile(50.0), 0);
    }

    #[test]
    fn every_index_that_lua_may_use_has_a_value() {
        let stats = Stats::of([(1, 1)]);
        for index in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(stats.value_at(index), (0, 0));
        }
        assert_eq!((stats.mean, stats.stdev), (1.0, 0.0));
        assert_eq!(Stats::of([]).with_extremes(1, 2), Stats::default());
    }
}
