//! Rank test and median intervals against what benchstat (golang.org/x/perf) printed for the same samples, kept beside
//! them. `cargo xtask truth ranks` asks benchstat again.

use std::collections::BTreeMap;

use statistics::mann_whitney;
use statistics::order::median_interval;

const BASE: &str = include_str!("benchstat/a.txt");
const NEW: &str = include_str!("benchstat/b.txt");
const PRINTED: &str = include_str!("benchstat/expected.csv");

/// Samples by name, from lines `BenchmarkName 1 VALUE ns/op`.
fn samples(text: &str) -> BTreeMap<&str, Vec<f64>> {
    let mut sets: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("Benchmark")) {
        let words: Vec<&str> = line.split(' ').collect();
        sets.entry(words[0].trim_start_matches("Benchmark"))
            .or_default()
            .push(words[2].parse().unwrap());
    }
    sets
}

/// The median in nanoseconds, and the larger side of its interval in whole per cent.
fn summary(samples: &[f64]) -> (f64, String) {
    let found = median_interval(samples, 0.95).unwrap();
    let side = (found.high / found.value - 1.0).max(1.0 - found.low / found.value);
    let side = if side.is_finite() { format!("{:.0}%", 100.0 * side) } else { "∞".into() };
    (found.value, side)
}

#[test]
fn benchstat_prints_the_same_medians_intervals_and_p_values() {
    let (base, new) = (samples(BASE), samples(NEW));
    let mut seen = 0;
    for line in PRINTED.lines().filter(|line| line.contains(",p=")) {
        let cells: Vec<&str> = line.split(',').collect();
        let (a, b) = (&base[cells[0]], &new[cells[0]]);
        for (set, median, side) in [(a, cells[1], cells[2]), (b, cells[3], cells[4])] {
            let (found, found_side) = summary(set);
            let median = median.parse::<f64>().unwrap() * 1e9;
            assert!((found / median - 1.0).abs() < 1e-12, "{line}: {found}");
            assert_eq!(found_side, side, "{line}");
        }
        let p = format!("p={:.3} ", mann_whitney(a, b).unwrap().p);
        assert!(format!("{} ", cells[6]).starts_with(&p), "{line}: {p}");
        seen += 1;
    }
    assert_eq!(seen, 9);
    println!(
        "truth | benchstat's medians, intervals and p on {seen} pairs of samples | equal to its printed digits | all equal | yes"
    );
}
