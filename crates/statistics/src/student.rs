//! Quantiles of the normal and of Student's distribution.

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

/// How many standard errors an interval of this confidence (0..1) reaches to either side when the
/// standard error was estimated with `freedom` degrees of freedom. Infinite for none.
pub fn reach(confidence: f64, freedom: f64) -> f64 {
    if freedom.is_nan() || freedom <= 0.0 {
        return f64::INFINITY;
    }
    let share = 0.5 + confidence / 2.0;
    // Past this the two agree to six digits, and the search for Student's converges badly.
    if freedom > 1e6 {
        return Normal::standard().inverse_cdf(share);
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |student| student.inverse_cdf(share))
}

/// The same for a standard error that is known.
pub(crate) fn reach_of_normal(confidence: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 + confidence / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literals: scipy.stats.t.ppf and scipy.stats.norm.ppf.
    #[test]
    fn reaches_as_tables_have_them() {
        for (confidence, freedom, wanted) in [
            (0.95, 1.0, 12.706_204_736_432_1),
            (0.95, 2.0, 4.302_652_729_911_28),
            (0.95, 5.0, 2.570_581_835_636_31),
            (0.95, 9.0, 2.262_157_162_740_99),
            (0.99, 9.0, 3.249_835_541_592_13),
            (0.99, 59.0, 2.661_758_752_216_49),
            (0.80, 4.5, 1.500_885_317_508_56),
        ] {
            let found = reach(confidence, freedom);
            assert!((found / wanted - 1.0).abs() < 1e-6, "{confidence} {freedom}: {found}");
        }
        assert!((reach_of_normal(0.95) - 1.959_963_984_540_05).abs() < 1e-9);
        assert!((reach(0.95, 1e7) - 1.959_964).abs() < 1e-5);
        assert_eq!(reach(0.95, 0.0), f64::INFINITY);
    }
}
