//! Mann and Whitney's rank test (1947): do two sets of independent samples lie apart? Exact for small
//! sets, ties included; assumes no shape.
//!
//! Samples are of runs, or rounds: never of the requests of one run.

use crate::student::normal_share;

/// Sets up to this long are counted out exactly, those with ties up to [`MOST_EXACT_TIED`].
const MOST_EXACT: usize = 50;
/// As above, with ties.
const MOST_EXACT_TIED: usize = 25;

/// The outcome of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// Pairs in which the first set's sample is larger, ties counted half.
    pub u: f64,
    /// How often sets from one distribution lie at least this far apart, two-sided; 1 when all
    /// samples are equal.
    pub p: f64,
}

/// Compares two sets of samples. None when one is empty or holds what is no number.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<RankTest> {
    if a.is_empty() || b.is_empty() || a.iter().chain(b).any(|sample| sample.is_nan()) {
        return None;
    }
    let ties = tie_sizes(a, b);
    let doubled = doubled_u(a, b);
    let u = doubled as f64 / 2.0;
    let tied = ties.iter().any(|&size| size > 1);
    let limit = if tied { MOST_EXACT_TIED } else { MOST_EXACT };
    let p = if ties.len() == 1 {
        1.0
    } else if a.len() <= limit && b.len() <= limit {
        exact(&ties, a.len(), b.len(), doubled)
    } else {
        approximate(&ties, a.len(), b.len(), u)
    };
    Some(RankTest { u, p })
}

/// Twice U, so that ties stay whole numbers.
fn doubled_u(a: &[f64], b: &[f64]) -> usize {
    let pair = |x: f64, y: f64| match x.total_cmp(&y) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => 1,
        std::cmp::Ordering::Greater => 2,
    };
    a.iter().map(|&x| b.iter().map(|&y| pair(x, y)).sum::<usize>()).sum()
}

/// How many samples share each value, in ascending order of the values.
fn tie_sizes(a: &[f64], b: &[f64]) -> Vec<usize> {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    all.chunk_by(|x, y| x == y).map(<[f64]>::len).collect()
}

/// Counts the ways to choose which samples are the first set's, by twice their U: value by value, k of
/// a tie of t go to the first set in C(t, k) ways; each beats the second set's below it, and ties with
/// the t - k beside it.
fn exact(ties: &[usize], n: usize, m: usize, doubled: usize) -> f64 {
    let most = 2 * n * m;
    // ways[taken][2U]
    let mut ways = vec![vec![0.0_f64; most + 1]; n + 1];
    ways[0][0] = 1.0;
    let mut passed = 0;
    for &size in ties {
        let mut next = vec![vec![0.0; most + 1]; n + 1];
        for (taken, row) in ways.iter().enumerate().take(passed.min(n) + 1) {
            let below = passed - taken;
            for k in 0..=size.min(n - taken) {
                if below + size - k > m {
                    continue;
                }
                let gain = 2 * k * below + k * (size - k);
                let choices = choose(size, k);
                for u in 0..=most - gain {
                    next[taken + k][u + gain] += row[u] * choices;
                }
            }
        }
        ways = next;
        passed += size;
    }
    let total: f64 = ways[n].iter().sum();
    let far = doubled.min(most - doubled);
    let tail: f64 = ways[n][..=far].iter().sum();
    (2.0 * tail / total).min(1.0)
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

/// The normal approximation, corrected for ties and for continuity.
fn approximate(ties: &[usize], n: usize, m: usize, u: f64) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let tied: f64 = ties.iter().map(|&t| (t as f64).powi(3) - t as f64).sum();
    let variance = n * m / 12.0 * ((all + 1.0) - tied / (all * (all - 1.0)));
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    (2.0 * normal_share(-distance / variance.sqrt())).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_far_apart_and_sets_alike() {
        let low = [1.0, 2.0, 3.0, 4.0, 5.0];
        let high = low.map(|x| x + 10.0);
        let apart = mann_whitney(&low, &high).unwrap();
        assert_eq!(apart.u, 0.0);
        assert!((apart.p - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(mann_whitney(&high, &low).unwrap().u, 25.0);
        assert_eq!(mann_whitney(&low, &low).unwrap().p, 1.0);
        assert_eq!(mann_whitney(&[7.0; 4], &[7.0; 3]).unwrap().p, 1.0);
        assert_eq!(mann_whitney(&[], &low), None);
    }

    /// By hand: 3 of the 20 ways to choose three of 1 2 2 2 3 4 are {1, 2, 2}, whose U is 1, the
    /// lowest there is; as many mirror them.
    #[test]
    fn ties_are_counted_out() {
        let found = mann_whitney(&[1.0, 2.0, 2.0], &[2.0, 3.0, 4.0]).unwrap();
        assert_eq!(found.u, 1.0);
        assert!((found.p - 0.3).abs() < 1e-12, "{}", found.p);
    }

    /// Literals: scipy.stats.mannwhitneyu(a, b, method="asymptotic").
    #[test]
    fn large_sets_are_approximated() {
        let a: Vec<f64> = (0..60).map(f64::from).collect();
        let b: Vec<f64> = (0..60).map(|i| f64::from(i / 2) * 3.0).collect();
        let found = mann_whitney(&a, &b).unwrap();
        assert!((found.u - 1240.0).abs() < 1e-9, "{}", found.u);
        assert!((found.p - 0.003313267419).abs() < 1e-9, "{}", found.p);
    }
}
