//! A choice among things by their weights.

/// Things with weights, one of which a number of 64 bits chooses.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    /// Where each one's share of the 64-bit range ends.
    ends: Vec<u64>,
    /// The last that can be chosen at all.
    last: usize,
}

impl Choice {
    /// `None` if a weight is negative or not finite, or if their sum is 0.
    pub(crate) fn new(weights: &[f64]) -> Option<Self> {
        let wrong = |weight: &f64| !weight.is_finite() || *weight < 0.0;
        let total: f64 = weights.iter().sum();
        if weights.iter().any(wrong) || total <= 0.0 || !total.is_finite() {
            return None;
        }
        let mut sum = 0.0;
        let ends = weights.iter().map(|weight| {
            sum += weight;
            (sum / total * 2f64.powi(64)) as u64
        });
        let ends = ends.collect();
        Some(Self { ends, last: weights.iter().rposition(|weight| *weight > 0.0)? })
    }

    /// The one that a number drawn evenly from all 64-bit ones chooses.
    #[inline]
    pub(crate) fn pick(&self, number: u64) -> usize {
        self.ends.partition_point(|end| *end <= number).min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_their_weights() {
        let choice = Choice::new(&[1.0, 0.0, 3.0, 0.0]).unwrap();
        let quarter = u64::MAX / 4;
        let picks = [0, quarter - 1, quarter + 2, u64::MAX].map(|number| choice.pick(number));
        assert_eq!(picks, [0, 0, 2, 2]);
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        for weights in
            [&[][..], &[0.0, 0.0], &[1.0, -1.0], &[f64::NAN], &[f64::INFINITY], &[f64::MAX; 3]]
        {
            assert!(Choice::new(weights).is_none(), "{weights:?}");
        }
    }
}
