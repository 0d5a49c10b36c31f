//! Summarises a few repeated measurements: the median, and the spread.

/// Median, lowest and highest of repeats of one measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Panics without a value: a measurement that gave none is an error before this.
    pub fn of(values: &[f64]) -> Spread {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Spread { median, min: sorted[0], max: sorted[sorted.len() - 1] }
    }

    /// Of `ours[i] / theirs[i]`, round by round: what changes from one round to the next on a shared machine hits both.
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Spread {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(our, their)| our / their).collect();
        Spread::of(&ratios)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let cases: [(&[f64], f64, f64, f64); 4] = [
            (&[3.0], 3.0, 3.0, 3.0),
            (&[2.0, 1.0], 1.5, 1.0, 2.0),
            (&[9.0, 1.0, 2.0], 2.0, 1.0, 9.0),
            (&[4.0, 1.0, 3.0, 2.0], 2.5, 1.0, 4.0),
        ];
        for (values, median, min, max) in cases {
            assert_eq!(Spread::of(values), Spread { median, min, max });
        }
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        // The machine was twice as slow in the second round; the ratio is not moved by that.
        let spread = Spread::of_ratios(&[4.0, 8.0, 4.0], &[5.0, 10.0, 5.0]);
        assert_eq!(spread, Spread { median: 0.8, min: 0.8, max: 0.8 });
    }
}
