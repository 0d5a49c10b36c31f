//! The interval of a share, from successes among trials. It holds when nothing failed at all.
//!
//! Trials are taken as independent. Consecutive requests are not: [`super::estimate`] passes the number
//! of independent trials that they are worth.

use statrs::distribution::{Beta, ContinuousCDF as _};

/// Clopper and Pearson's exact interval (1934), as shares: never too short. Counts may be
/// fractions, for trials that are worth less than their number. The whole range without trials.
pub fn clopper_pearson(successes: f64, trials: f64, confidence: f64) -> (f64, f64) {
    if trials.is_nan() || trials <= 0.0 {
        return (0.0, 1.0);
    }
    let tail = (1.0 - confidence) / 2.0;
    let successes = successes.clamp(0.0, trials);
    let failures = trials - successes;
    let at = |a: f64, b: f64, share: f64, bare: f64| {
        Beta::new(a, b).map_or(bare, |beta| beta.inverse_cdf(share))
    };
    let low = if successes > 0.0 { at(successes, failures + 1.0, tail, 0.0) } else { 0.0 };
    let high = if failures > 0.0 { at(successes + 1.0, failures, 1.0 - tail, 1.0) } else { 1.0 };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literals: scipy.stats.binomtest(k, n).proportion_ci(0.95, "exact").
    const CASES: &[(f64, f64, [f64; 2])] = &[
        (0.0, 10.0, [0.000000000000, 0.308497107819]),
        (10.0, 10.0, [0.691502892181, 1.000000000000]),
        (3.0, 10.0, [0.066739511178, 0.652452850060]),
        (50.0, 100.0, [0.398321129503, 0.601678870497]),
        (999.0, 1000.0, [0.994441075720, 0.999974682513]),
        (1000.0, 1000.0, [0.996317916103, 1.000000000000]),
        (99998.0, 100000.0, [0.999927755011, 0.999997577898]),
        (1.0, 1.0, [0.025000000000, 1.000000000000]),
    ];

    #[test]
    fn intervals_as_scipy_has_them() {
        for &(successes, trials, exact) in CASES {
            let (low, high) = clopper_pearson(successes, trials, 0.95);
            assert!((low - exact[0]).abs() < 1e-7, "{successes}/{trials}: {low}");
            assert!((high - exact[1]).abs() < 1e-7, "{successes}/{trials}: {high}");
        }
    }

    #[test]
    fn no_attempts_leave_every_share_possible() {
        assert_eq!(clopper_pearson(0.0, 0.0, 0.95), (0.0, 1.0));
    }
}
