//! Intervals of a median or percentile from the order of independent samples, whatever their shape.
//!
//! Samples are runs, or rounds: never the requests of one run.

use statrs::distribution::{Binomial, DiscreteCDF as _};

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

/// The median of independent samples with the shortest symmetric pair of order statistics that
/// holds the true median with at least this confidence (W. R. Thompson 1936). None without samples.
pub fn median_interval(samples: &[f64], confidence: f64) -> Option<OrderInterval> {
    let sorted = sorted(samples)?;
    let n = sorted.len();
    let binomial = Binomial::new(0.5, n as u64).ok()?;
    // Leaving k samples out on either side misses when at most k fall on one side.
    let held = |k: usize| 1.0 - 2.0 * binomial.cdf(k as u64);
    let left_out = (0..n / 2).take_while(|&k| held(k) >= confidence).last();
    let value = middle(&sorted);
    Some(match left_out {
        Some(k) => {
            OrderInterval { value, low: sorted[k], high: sorted[n - 1 - k], confidence: held(k) }
        }
        None => {
            OrderInterval { value, low: f64::NEG_INFINITY, high: f64::INFINITY, confidence: 1.0 }
        }
    })
}

/// The middle sample, or the mean of the two middle ones. The samples are sorted and some.
fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
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
    fn six_samples_are_the_fewest_for_95_per_cent() {
        let samples = [5.0, 1.0, 4.0, 2.0, 3.0];
        let found = median_interval(&samples, 0.95).unwrap();
        assert_eq!((found.value, found.low, found.high), (3.0, f64::NEG_INFINITY, f64::INFINITY));
        let found = median_interval(&[5.0, 1.0, 4.0, 2.0, 3.0, 6.0], 0.95).unwrap();
        assert_eq!((found.value, found.low, found.high), (3.5, 1.0, 6.0));
        assert!((found.confidence - 0.968_75).abs() < 1e-12);
    }

    #[test]
    fn ten_samples_leave_one_out_on_either_side() {
        let samples: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = median_interval(&samples, 0.95).unwrap();
        assert_eq!((found.low, found.high), (2.0, 9.0));
        assert!((found.confidence - 0.978_515_625).abs() < 1e-12);
    }

    #[test]
    fn no_samples_have_no_median() {
        assert_eq!(median_interval(&[], 0.95), None);
        assert_eq!(median_interval(&[f64::NAN], 0.95), None);
    }
}
