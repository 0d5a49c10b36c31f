//! The median.

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
}
