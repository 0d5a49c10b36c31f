//! Intervals of a median or percentile from the order of independent samples, whatever their shape.
//!
//! Samples are of runs, or rounds: never of the requests of one run.

use statrs::distribution::{Binomial, Discrete as _};

/// An interval between two of the sorted samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderInterval {
    /// The sample quantile itself.
    pub value: f64,
    /// Lower sample; minus infinity where there are too few.
    pub low: f64,
    /// Upper sample; infinity where there are too few.
    pub high: f64,
    /// How often such an interval holds the true quantile: at least what was asked.
    pub confidence: f64,
}

/// The median of independent samples between two of them that hold the true median with at least this
/// confidence (W. R. Thompson 1936). How many samples lie below the true median is binomial; the
/// likeliest numbers are taken until they add up to the confidence, the lower of two alike first, as
/// benchstat does. None without samples.
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<OrderInterval> {
    let sorted = sorted(samples)?;
    let n = sorted.len();
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    let mass = |below: usize| if below > n { 0.0 } else { binomial.pmf(below as u64) };
    let (mut fewest, mut most) = (n / 2, n / 2);
    let mut held = mass(n / 2);
    while held < confidence && (fewest > 0 || most < n) {
        let fewer = fewest.checked_sub(1).map_or(0.0, mass);
        // Masses alike differ in the last digits.
        if fewer * (1.0 + 1e-9) >= mass(most + 1) {
            fewest -= 1;
            held += fewer;
        } else {
            most += 1;
            held += mass(most);
        }
    }
    let low = fewest.checked_sub(1).map_or(f64::NEG_INFINITY, |at| sorted[at]);
    let high = sorted.get(most).copied().unwrap_or(f64::INFINITY);
    Some(OrderInterval { value: median(sorted), low, high, confidence: held })
}

/// The middle value; of an even number the mean of the two; 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let (middle, even) = (values.len() / 2, values.len().is_multiple_of(2));
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if !even {
        return upper;
    }
    f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper)
}

fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || samples.iter().any(|sample| sample.is_nan()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (values, expected) in [
            (vec![], 0.0),
            (vec![3.0], 3.0),
            (vec![4.0, 1.0], 2.5),
            (vec![9.0, 1.0, 5.0], 5.0),
            (vec![1.0, 2.0, 3.0, 100.0], 2.5),
        ] {
            assert_eq!(median(values), expected);
        }
    }

    #[test]
    fn six_samples_are_the_fewest_for_95_per_cent() {
        let samples = [5.0, 1.0, 4.0, 2.0, 3.0];
        let found = median_interval(&samples, 0.95).unwrap();
        assert_eq!((found.value, found.low, found.high), (3.0, f64::NEG_INFINITY, 5.0));
        let found = median_interval(&[5.0, 1.0, 4.0, 2.0, 3.0, 6.0], 0.95).unwrap();
        assert_eq!((found.value, found.low, found.high), (3.5, 1.0, 6.0));
        assert!((found.confidence - 0.968_75).abs() < 1e-12);
    }

    #[test]
    fn ten_samples_leave_one_out_on_either_side_and_eight_one_above() {
        let samples: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = median_interval(&samples, 0.95).unwrap();
        assert_eq!((found.low, found.high), (2.0, 9.0));
        assert!((found.confidence - 0.978_515_625).abs() < 1e-12);
        let found = median_interval(&samples[..8], 0.95).unwrap();
        assert_eq!((found.low, found.high), (1.0, 7.0));
    }

    #[test]
    fn no_samples_have_no_median() {
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(median_interval(&[f64::NAN], 0.95), None);
    }
}
