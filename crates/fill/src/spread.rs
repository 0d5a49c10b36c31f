//! How many children each parent has.
//!
//! Children are dealt out, not drawn: of `children` places each parent has a run of neighbours, as long as the
//! distribution says. A child's parent and its number among that parent's children follow from its place alone, so
//! that (parent, number) is unique by construction and the distribution is met exactly. Which child has which place
//! is a permutation's matter (`rows`).

/// Parents that all have about as many children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Class {
    first_parent: u64,
    parents: u64,
    first_child: u64,
    children: u64,
}

/// Children dealt out to parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spread {
    classes: Vec<Class>,
}

/// Classes at most.
const MOST_CLASSES: usize = 512;

impl Spread {
    /// `weights` are (share of the parents, share of the children), in any unit; those with the most children per
    /// parent come first.
    pub fn new(parents: u64, children: u64, weights: &[(f64, f64)]) -> Self {
        let of_parents: f64 = weights.iter().map(|weight| weight.0).sum();
        let of_children: f64 = weights.iter().map(|weight| weight.1).sum();
        if parents == 0 || !(of_parents > 0.0 && of_children > 0.0) {
            return Self::even(parents, children);
        }
        let mut classes: Vec<Class> = Vec::new();
        let (mut parent_sum, mut child_sum) = (0.0, 0.0);
        let (mut parent, mut child) = (0, 0);
        for (of_parent, of_child) in weights {
            parent_sum += of_parent;
            child_sum += of_child;
            let next_parent =
                ((parent_sum / of_parents * parents as f64).round() as u64).min(parents);
            let next_child =
                ((child_sum / of_children * children as f64).round() as u64).min(children);
            // Rounding left no parent: the children wait for the next class.
            if next_parent > parent {
                let (parents, children) = (next_parent - parent, next_child - child);
                classes.push(Class { first_parent: parent, parents, first_child: child, children });
                (parent, child) = (next_parent, next_child);
            }
        }
        if let Some(last) = classes.last_mut() {
            last.parents += parents - parent;
            last.children += children - child;
        }
        Self { classes }
    }

    /// As many for each parent, but for one more or less.
    pub fn even(parents: u64, children: u64) -> Self {
        let class = Class { first_parent: 0, parents, first_child: 0, children };
        Self { classes: if parents > 0 { vec![class] } else { Vec::new() } }
    }

    /// The most children of one parent.
    pub fn most(&self) -> u64 {
        self.classes.iter().map(|class| class.children.div_ceil(class.parents)).max().unwrap_or(0)
    }

    /// The parent of the child at a place, and the child's number among its siblings, from 0.
    pub fn place(&self, place: u64) -> (u64, u64) {
        let at = self.classes.partition_point(|class| class.first_child <= place);
        // Of classes without children, which begin where the next one does, the last is found.
        let Some(class) = self.classes[..at].iter().rev().find(|class| class.children > 0) else {
            return (0, place);
        };
        let within = u128::from(place - class.first_child);
        let (parents, children) = (u128::from(class.parents), u128::from(class.children));
        let parent = within * parents / children;
        let first = (parent * children).div_ceil(parents);
        (class.first_parent + parent as u64, (within - first) as u64)
    }
}

/// Weights of classes from `(children, parents that have so many)`, in any order.
pub fn weights_of_counts(counts: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let mut counts: Vec<(u64, u64)> = counts.iter().copied().filter(|of| of.1 > 0).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let mut weights: Vec<(f64, f64)> =
        counts.iter().map(|&(n, parents)| (parents as f64, n as f64 * parents as f64)).collect();
    while weights.len() > MOST_CLASSES {
        weights = weights
            .chunks(2)
            .map(|pair| pair.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
            .collect();
    }
    weights
}

/// Weights where nothing is known: the first fifth of the parents has 45 % of the children (a power law).
pub fn usual_weights() -> Vec<(f64, f64)> {
    const CLASSES: u32 = 64;
    const SHARE: f64 = 0.5;
    let edge = |at: u32| (f64::from(at) / f64::from(CLASSES)).powi(3);
    (0..CLASSES)
        .map(|at| (edge(at + 1) - edge(at), edge(at + 1).powf(SHARE) - edge(at).powf(SHARE)))
        .collect()
}

/// Weights where the first parents are those of a pool, with weights of their own, of `parents` in all: half of the
/// children are theirs.
pub fn pool_weights(pool: &[f64], parents: u64) -> Vec<(f64, f64)> {
    let total: f64 = pool.iter().sum();
    let others = parents.saturating_sub(pool.len() as u64);
    if pool.is_empty() || total <= 0.0 {
        return usual_weights();
    }
    let share = if others == 0 { 1.0 } else { 0.5 };
    let size = pool.len().div_ceil(MOST_CLASSES);
    let mut weights: Vec<(f64, f64)> = pool
        .chunks(size)
        .map(|chunk| (chunk.len() as f64, chunk.iter().sum::<f64>() / total * share))
        .collect();
    if others > 0 {
        let of_others =
            |(parent, child): (f64, f64)| (parent * others as f64, child * (1.0 - share));
        weights.extend(usual_weights().into_iter().map(of_others));
    }
    weights
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_child_has_a_place_of_its_own(
            parents in 1..200_u64,
            children in 0..2000_u64,
            counts in proptest::collection::vec((0..50_u64, 0..20_u64), 0..20),
        ) {
            let spread = Spread::new(parents, children, &weights_of_counts(&counts));
            let places: BTreeSet<(u64, u64)> = (0..children).map(|at| spread.place(at)).collect();
            prop_assert_eq!(places.len() as u64, children);
            let mut of_parent = BTreeMap::<u64, Vec<u64>>::new();
            for (parent, number) in places {
                prop_assert!(parent < parents);
                of_parent.entry(parent).or_default().push(number);
            }
            for numbers in of_parent.values() {
                prop_assert!(numbers.iter().copied().eq(0..numbers.len() as u64));
                prop_assert!(numbers.len() as u64 <= spread.most());
            }
        }
    }

    #[test]
    fn ten_times_the_parents_have_the_distribution_of_the_few() {
        let counts = [(0, 50), (1, 30), (4, 15), (100, 5)];
        let weights = weights_of_counts(&counts);
        let spread = Spread::new(1000, 5900, &weights);
        let mut found = vec![0_u64; 1000];
        for place in 0..5900 {
            found[spread.place(place).0 as usize] += 1;
        }
        let mut by_count = BTreeMap::<u64, u64>::new();
        found.into_iter().for_each(|n| *by_count.entry(n).or_default() += 1);
        assert_eq!(by_count, BTreeMap::from([(0, 500), (1, 300), (4, 150), (100, 50)]));
    }

    #[test]
    fn rows_of_a_pool_have_half_of_the_children() {
        let spread = Spread::new(1000, 10_000, &pool_weights(&[3.0, 1.0], 1000));
        let of = |parent| (0..10_000).filter(|&place| spread.place(place).0 == parent).count();
        assert_eq!((of(0), of(1)), (3750, 1250));
    }
}
