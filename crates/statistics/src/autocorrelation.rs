//! How many independent blocks a series of blocks is worth.

/// The highest correlation that is assumed; a series with it is worth a fortieth of its length.
const MOST: f64 = 0.95;

/// The correlation of neighbours (lag 1) in a series whose mean is 0, corrected for the bias of short
/// series (M. G. Kendall 1954: about -(1 + 3 rho) / n) and never below 0: neighbours that alternate are
/// not taken to be worth more than independent ones. 0 for fewer than four.
pub fn neighbours(deviations: &[f64]) -> f64 {
    let n = deviations.len() as f64;
    let square: f64 = deviations.iter().map(|d| d * d).sum();
    if deviations.len() < 4 || square <= 0.0 {
        return 0.0;
    }
    let raw = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / square;
    (raw + (1.0 + 3.0 * raw) / n).clamp(0.0, MOST)
}

/// How many independent ones `count` of them are worth when neighbours correlate by `rho` and that
/// fades geometrically: count x (1 - rho) / (1 + rho).
pub fn effective(count: usize, rho: f64) -> f64 {
    count as f64 * (1.0 - rho) / (1.0 + rho)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_and_flat_rows_are_worth_their_number() {
        assert_eq!(neighbours(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]), 0.0);
        assert_eq!(neighbours(&[0.0; 10]), 0.0);
        assert_eq!(effective(10, 0.0), 10.0);
    }

    #[test]
    fn a_slow_wave_is_worth_little() {
        let wave: Vec<f64> =
            (0..60).map(|i| (f64::from(i) / 60.0 * std::f64::consts::TAU).sin()).collect();
        let rho = neighbours(&wave);
        assert_eq!(rho, MOST);
        assert!(effective(60, rho) < 2.0);
    }
}
