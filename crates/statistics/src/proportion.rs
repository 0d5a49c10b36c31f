//! The interval of a share, from successes among trials. It holds when nothing failed at all.
//!
//! Trials are taken as independent. Consecutive requests are not: [`super::estimate`] passes the number
//! of independent trials that they are worth.

use statrs::function::beta::beta_reg;

/// Halvings of the range from 0 to 1 after which neither end of it moves by what a share is told with.
const HALVINGS: u32 = 64;

/// Clopper and Pearson's exact interval (1934), as shares: never too short. Counts may be
/// fractions, for trials that are worth less than their number. The whole range without trials.
pub fn clopper_pearson(successes: f64, trials: f64, confidence: f64) -> (f64, f64) {
    if trials.is_nan() || trials <= 0.0 {
        return (0.0, 1.0);
    }
    let tail = (1.0 - confidence) / 2.0;
    let successes = successes.clamp(0.0, trials);
    let failures = trials - successes;
    let low = if successes > 0.0 { beta_at(successes, failures + 1.0, tail) } else { 0.0 };
    let high = if failures > 0.0 { beta_at(successes + 1.0, failures, 1.0 - tail) } else { 1.0 };
    (low, high)
}

/// The value below which the beta distribution of these shapes lies with this probability. By halving: the
/// search by Newton's method that `statrs` has does not end where the density at its first guess is too small
/// for a number, as from some seven million trials on of which hardly any fails.
fn beta_at(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if beta_reg(a, b, middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
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

    /// Literals: mpmath, sums of binomial terms with 40 digits; the shares of failures.
    #[test]
    fn intervals_of_millions_of_trials_of_which_few_fail() {
        for (failures, trials, high, low) in [
            (0.0, 8e6, 4.611_098_254_530_74e-7, 0.0),
            (1.0, 2e7, 2.785_821_377_074_89e-7, 1.265_890_398_413_25e-9),
            (1000.0, 1e8, 1.063_951_795_805_47e-5, 9.389_733_002_270_44e-6),
            (3.0, 3e9, 2.922_424_353_771_71e-9, 2.062_240_410_126_78e-10),
        ] {
            let found = clopper_pearson(trials - failures, trials, 0.95);
            for (found, exact) in [(1.0 - found.0, high), (1.0 - found.1, low)] {
                assert!((found - exact).abs() <= 1e-3 * exact, "{failures}/{trials}: {found}");
            }
        }
    }

    #[test]
    fn no_attempts_leave_every_share_possible() {
        assert_eq!(clopper_pearson(0.0, 0.0, 0.95), (0.0, 1.0));
    }
}
