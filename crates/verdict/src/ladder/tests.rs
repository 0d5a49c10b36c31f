use proptest::prelude::*;

use super::*;

fn outcome(qps: f64, mean_ms: f64, success: f64) -> Outcome {
    Outcome { qps, mean_ns: mean_ms * 1e6, success: Some(success), at_least: false }
}

/// Runs a ladder against a server described by a function; returns the levels and the reason.
fn climb(mut ladder: Ladder, server: impl Fn(f64) -> Outcome) -> (Vec<f64>, String) {
    let mut levels = Vec::new();
    let most = ladder.most_left();
    loop {
        match ladder.next() {
            Step::Run(level) => {
                assert!(levels.len() < most, "more than {most}: {levels:?}");
                assert!(!levels.contains(&level), "{level} was run twice: {levels:?}");
                assert!(levels.len() < 40, "no end: {levels:?}");
                levels.push(level);
                ladder.feed(level, server(level));
            }
            Step::Done(reason) => {
                assert_eq!(ladder.most_left(), 0);
                return (levels, reason);
            }
        }
    }
}

/// A closed loop against a server of `capacity`/s whose unloaded service takes `base_ms`.
fn saturating(capacity: f64, base_ms: f64) -> impl Fn(f64) -> Outcome {
    move |c| {
        let qps = capacity.min(c / base_ms * 1e3);
        outcome(qps, c / qps * 1e3, 1.0)
    }
}

/// A published table, read between its lines by interpolation.
fn table(rows: &'static [(f64, f64, f64, f64)]) -> impl Fn(f64) -> Outcome {
    move |c| {
        let at = rows.partition_point(|row| row.0 < c).min(rows.len() - 1);
        let (high, low) = (rows[at], rows[at.saturating_sub(1)]);
        let part =
            if high.0 > low.0 { ((c - low.0) / (high.0 - low.0)).clamp(0.0, 1.0) } else { 1.0 };
        let between = |a: f64, b: f64| a + (b - a) * part;
        outcome(between(low.1, high.1), between(low.2, high.2), between(low.3, high.3))
    }
}

const NATIVE: &[(f64, f64, f64, f64)] = &[
    (1.0, 12_000.0, 0.08, 1.0),
    (200.0, 107_975.55, 2.18, 1.0),
    (500.0, 387_894.92, 2.52, 1.0),
    (1000.0, 512_223.67, 5.89, 1.0),
    (3000.0, 599_781.96, 27.75, 1.0),
    (5000.0, 623_458.30, 52.72, 1.0),
    (10_000.0, 640_701.55, 134.92, 1.0),
    (15_000.0, 644_269.17, 222.44, 1.0),
    (20_000.0, 646_675.63, 257.28, 1.0),
    (25_000.0, 648_380.78, 344.17, 1.0),
    (50_000.0, 642_420.16, 305.24, 0.9999),
    (100_000.0, 572_197.78, 118.41, 0.9984),
    (200_000.0, 372_247.81, 154.68, 0.9931),
    (500_000.0, 110_261.20, 181.90, 0.969),
    (1_000_000.0, 20_954.71, 198.87, 0.8315),
];
const BEFORE: &[(f64, f64, f64, f64)] = &[
    (1.0, 12_000.0, 0.08, 1.0),
    (200.0, 145_651.44, 1.28, 1.0),
    (500.0, 143_562.75, 4.30, 1.0),
    (1000.0, 144_860.93, 8.79, 1.0),
    (3000.0, 147_833.70, 30.91, 1.0),
    (5000.0, 146_953.40, 52.75, 1.0),
    (10_000.0, 144_015.46, 108.19, 1.0),
    (50_000.0, 139_312.92, 462.26, 0.9993),
];
const AFTER: &[(f64, f64, f64, f64)] = &[
    (1.0, 12_000.0, 0.08, 1.0),
    (200.0, 540_539.65, 0.44213, 1.0),
    (500.0, 536_362.78, 1.89, 1.0),
    (1000.0, 529_081.92, 5.61, 1.0),
    (3000.0, 535_506.99, 30.00, 1.0),
    (10_000.0, 541_375.64, 131.69, 1.0),
    (25_000.0, 553_335.38, 222.91, 1.0),
    (50_000.0, 538_144.69, 174.27, 0.9998),
];

#[test]
fn a_saturated_server_ends_the_climb() {
    let (levels, reason) = climb(Ladder::auto(50_000, 0.9), saturating(10_000.0, 1.0));
    assert_eq!(
        levels,
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 10.0, 13.0, 20.0, 25.0],
        "{reason}"
    );
    assert!(reason.contains("from 16 to 128 connections the best QPS grew 0.00 %"), "{reason}");
    assert!(reason.contains("the mean grew 8.0 times"), "{reason}");
    assert!(reason.contains("4 finer levels"), "{reason}");
}

#[test]
fn falling_qps_ends_the_climb_at_the_second_level() {
    let server = |c: f64| outcome(if c <= 8.0 { c * 100.0 } else { 700.0 }, 10.0, 1.0);
    let (levels, reason) = climb(Ladder::auto(50_000, 0.9), server);
    assert_eq!(levels, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 5.0, 6.0, 10.0, 13.0]);
    assert!(
        reason.contains("two successive levels: 700 at 32 connections against 800 at 8"),
        "{reason}"
    );
}

#[test]
fn one_fallen_level_alone_is_noise() {
    let server = |c: f64| outcome(if c == 16.0 { 500.0 } else { c * 100.0 }, 10.0, 1.0);
    let (levels, reason) = climb(Ladder::auto(256, 0.9), server);
    assert!(levels.contains(&256.0), "{levels:?}");
    assert!(reason.contains("256 connections is the highest level allowed"), "{reason}");
}

#[test]
fn failures_end_the_climb_and_their_level_is_not_the_best() {
    let server = |c: f64| {
        if c >= 64.0 { outcome(1e6, 0.1, 0.62) } else { outcome(c * 100.0, 10.0, 1.0) }
    };
    let (levels, reason) = climb(Ladder::auto(50_000, 0.9), server);
    assert_eq!(levels, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 20.0, 25.0, 40.0, 51.0]);
    assert!(reason.starts_with("success was 62.00 % at 64 connections, below 90.00 %"), "{reason}");
}

/// A tenth that is refused at once makes no level the best.
#[test]
fn finer_levels_lie_around_the_one_that_carries_most() {
    let server = |c: f64| if c <= 8.0 { (c * 100.0, 1.0) } else { (840.0, 0.91) };
    let server = |c: f64| outcome(server(c).0, 10.0, server(c).1);
    let (levels, _) = climb(Ladder::auto(32, 0.9), server);
    assert_eq!(levels, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 5.0, 6.0, 10.0, 13.0]);
}

#[test]
fn failures_in_the_finer_pass_end_it() {
    let server = |c: f64| outcome(c * 100.0, 10.0, if c > 35.0 { 0.5 } else { 1.0 });
    let (levels, reason) = climb(Ladder::auto(50_000, 0.9), server);
    assert_eq!(levels.last(), Some(&40.0), "{levels:?}");
    assert!(reason.contains("in the finer pass, success was 50.00 % at 40"), "{reason}");
}

#[test]
fn no_attempts_or_no_responses_end_it_at_once() {
    for dead in [Outcome { success: None, ..outcome(0.0, 0.0, 0.0) }, outcome(0.0, 0.0, 0.0)] {
        let (levels, reason) = climb(Ladder::auto(50_000, 0.9), |_| dead);
        assert_eq!(levels, [1.0], "{reason}");
        assert!(reason.contains("success was 0.00 %"), "{reason}");
    }
    let (levels, _) = climb(Ladder::auto(8, 0.0), |_| outcome(0.0, 0.0, 0.0));
    assert_eq!(levels, [1.0, 2.0, 4.0, 8.0]);
}

#[test]
fn growth_goes_on_to_the_highest_level() {
    let linear = |c: f64| outcome(c * 100.0, 10.0, 1.0);
    let (levels, reason) = climb(Ladder::auto(100, 0.9), linear);
    assert_eq!(levels, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0, 63.0, 79.0]);
    assert!(reason.contains("--max-level"), "{reason}");
    assert_eq!(climb(Ladder::auto(1, 0.9), linear).0, [1.0]);
    assert_eq!(climb(Ladder::auto(0, 0.9), linear).0, [1.0]);
}

#[test]
fn flat_qps_without_a_slower_mean_climbs_on() {
    let (levels, _) = climb(Ladder::auto(64, 0.9), |_| outcome(500.0, 2.0, 1.0));
    assert!(levels.contains(&64.0));
}

#[test]
fn published_tables_end_by_themselves() {
    for (name, rows, highest) in
        [("native", NATIVE, 50_000.0), ("before", BEFORE, 2_048.0), ("after", AFTER, 2_048.0)]
    {
        let (levels, reason) = climb(Ladder::auto(50_000, 0.9), table(rows));
        let climbed = levels.windows(2).take_while(|pair| pair[0] < pair[1]).count();
        assert_eq!(levels[climbed], highest, "{name}: {levels:?} {reason}");
        assert!(reason.contains("while the mean grew"), "{name}: {reason}");
        assert!(reason.contains("finer levels"), "{name}: {reason}");
    }
}

#[test]
fn lists_are_run_ascending_and_once() {
    let linear = |c: f64| outcome(c, 1.0, 0.1);
    let (levels, reason) =
        climb(Ladder::list(vec![500.0, 200.0, f64::NAN, 0.0, 500.0, 0.5]), linear);
    assert_eq!(levels, [0.5, 200.0, 500.0]);
    assert_eq!(reason, "all 3 levels asked for were run");
    let (classic, _) = climb(Ladder::classic(50_000), linear);
    assert_eq!((classic.len(), classic[0], classic[9]), (10, 200.0, 50_000.0));
    assert_eq!(climb(Ladder::classic(1_000_000), linear).0, CLASSIC);
}

proptest! {
    #[test]
    fn resumed_in_any_order_it_goes_on_where_it_was(
        capacity in 10.0..1e6f64, base_ms in 0.01..100.0f64, kept in 0..30usize, seed in any::<u64>(),
    ) {
        let server = saturating(capacity, base_ms);
        let (levels, reason) = climb(Ladder::auto(50_000, 0.9), &server);
        let kept = kept.min(levels.len());
        let mut fed = levels[..kept].to_vec();
        fed.sort_by_key(|level| level.to_bits().wrapping_mul(seed | 1));
        let mut resumed = Ladder::auto(50_000, 0.9);
        fed.iter().for_each(|&level| resumed.feed(level, server(level)));
        let (rest, end) = climb(resumed, &server);
        prop_assert_eq!(rest, &levels[kept..]);
        prop_assert_eq!(end, reason);
    }

    #[test]
    fn any_server_ends_within_bounds(noise in prop::collection::vec((0.0..1e6f64, 0.0..1e4f64, 0.0..=1.0f64), 64), max in 1..2_000_000u32) {
        let server = |c: f64| {
            let (qps, mean_ms, success) = noise[c as usize % noise.len()];
            outcome(qps, mean_ms, success)
        };
        let (levels, _) = climb(Ladder::auto(max, 0.5), server);
        prop_assert!(levels.iter().all(|&level| (1.0..=f64::from(max)).contains(&level)));
        prop_assert!(levels.len() <= 21 + 1 + FINER.len());
    }
}

/// Where something other than the server was the limit, QPS is "at least": it does not show a fall.
#[test]
fn no_fall_is_read_from_levels_that_are_lower_bounds() {
    let server = |at_least: &'static [f64]| {
        move |c: f64| {
            let qps = if c <= 8.0 { 1000.0 * c } else { 4000.0 };
            Outcome { at_least: at_least.contains(&c), ..outcome(qps, c / qps * 1e3, 1.0) }
        }
    };
    let (levels, reason) = climb(Ladder::auto(1024, 0.98), server(&[]));
    assert!(reason.contains("at two successive levels: 4,000 at 32 connections"), "{reason}");
    assert!(!levels.contains(&64.0), "{levels:?}");
    let (levels, reason) = climb(Ladder::auto(1024, 0.98), server(&[16.0, 32.0, 64.0]));
    assert!(levels.contains(&64.0) && !levels.contains(&128.0), "{levels:?}");
    let wanted = "from 8 to 64 connections the best QPS grew 0.00 % while the mean grew 16.0 times; the \
                server was not the limit at 16, 32, 64, so it may carry more";
    assert!(reason.starts_with(wanted), "{reason}");
}
