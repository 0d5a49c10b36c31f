//! Whether shares differ by more than chance.

/// How many of the smaller number two shares must lie apart at least.
const SEVERAL: f64 = 5.0;
/// Deviations beyond which a difference of shares is no chance.
const DEVIATIONS: f64 = 4.0;

/// Whether two shares, each of this many, lie further apart than `least`, and than chance has them.
pub(crate) fn beyond_chance([one, other]: [f64; 2], of: [f64; 2], least: f64) -> bool {
    let [n, m] = of.map(|n| n.max(1.0));
    let both = (one * n + other * m) / (n + m);
    let deviation = (both * (1.0 - both) * (1.0 / n + 1.0 / m)).sqrt();
    let apart = (one - other).abs();
    // So few that differ are no normal distribution.
    apart * n.min(m) >= SEVERAL && apart > least.max(DEVIATIONS * deviation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_may_differ_by_chance() {
        for (shares, of, beyond) in [
            ([0.1, 0.5], [40.0, 20.0], false),
            ([0.1, 0.5], [400.0, 200.0], true),
            ([0.0, 1.0], [1_000.0, 4.0], false),
            ([0.0, 1.0], [1_000.0, 5.0], true),
            ([0.5, 0.51], [1e9, 1e9], false),
        ] {
            assert_eq!(beyond_chance(shares, of, 0.05), beyond, "{shares:?} of {of:?}");
        }
    }
}
