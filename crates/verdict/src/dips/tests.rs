use std::f64::consts::TAU;

use super::*;

/// Draws that never change.
struct Draws(u64);

impl Draws {
    fn share(&mut self) -> f64 {
        // Steele, Lea, Flood: SplitMix64 (OOPSLA 2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.share()).ln()).sqrt() * (TAU * self.share()).cos()
    }
}

/// A healthy run: a level, noise that remembers, a slow drift, latencies with a tail.
#[derive(Debug, Clone, Copy)]
struct Healthy {
    seconds: usize,
    per_s: f64,
    noise: f64,
    /// Correlation of one second with the next.
    memory: f64,
    drift: f64,
}

impl Healthy {
    fn drawn(seed: u64) -> Self {
        let mut draws = Draws(seed);
        Self {
            seconds: [12, 30, 60, 300, 1800, 7200][(draws.share() * 6.0) as usize],
            per_s: 10f64.powf(0.5 + 4.5 * draws.share()),
            noise: 0.005 + 0.045 * draws.share(),
            memory: 0.95 * draws.share(),
            drift: 0.2 * (draws.share() - 0.5),
        }
    }

    fn run(&self, seed: u64) -> Vec<Second> {
        let mut draws = Draws(seed ^ 0xD1B5);
        let mut state = 0.0;
        let fresh = (1.0 - self.memory * self.memory).sqrt();
        (0..self.seconds)
            .map(|i| {
                state = self.memory * state + fresh * draws.normal();
                let along = i as f64 / self.seconds as f64;
                let level = self.per_s * (1.0 + self.drift * along) * (1.0 + self.noise * state);
                let counted = level + level.sqrt() * draws.normal();
                let p50 = 5e6 * (-2.0 * self.noise * state + 0.03 * draws.normal()).exp();
                let p99 = 4.0 * p50 * (0.25 * draws.normal()).exp();
                Second {
                    start_ns: i as u64 * SECOND,
                    duration_ns: SECOND,
                    due: 0,
                    responses: counted.max(0.0).round() as u32,
                    failed: 0,
                    p50_ns: p50 as u64,
                    p99_ns: p99 as u64,
                }
            })
            .collect()
    }
}

const STEADY: Healthy =
    Healthy { seconds: 7200, per_s: 10_000.0, noise: 0.02, memory: 0.5, drift: 0.0 };

fn slowed(mut seconds: Vec<Second>, from: usize, length: usize, loss: f64) -> Vec<Second> {
    for second in &mut seconds[from..from + length] {
        second.responses = (f64::from(second.responses) * (1.0 - loss)) as u32;
        second.p50_ns = (second.p50_ns as f64 / (1.0 - loss)) as u64;
    }
    seconds
}

/// Tells `cargo xtask truth`.
fn row(claim: &str, reach: &str, got: impl std::fmt::Display, met: bool) {
    println!("truth | {claim} | {reach} | {got} | {}", if met { "yes" } else { "no" });
}

/// Under a steady load.
fn find_steady(window: &Seconds) -> Vec<Dip> {
    find(window, &fixture::plan())
}

fn spans(dips: &[Dip]) -> Vec<(u64, u64)> {
    dips.iter().map(|dip| (dip.start_ns / SECOND, dip.duration_ns / SECOND)).collect()
}

#[test]
fn healthy_runs_have_no_dips() {
    let dipping =
        |seed: &u64| !find_steady(&Seconds::of(Healthy::drawn(*seed).run(*seed))).is_empty();
    let invented: Vec<u64> = (0..1000).filter(dipping).collect();
    row("dips reported in 1,000 healthy runs", "none", invented.len(), invented.is_empty());
    assert!(invented.is_empty(), "seeds {invented:?}: {:?}", Healthy::drawn(invented[0]));
}

#[test]
fn a_dip_of_90_seconds_in_two_hours_is_found_to_the_second() {
    for (seed, loss) in [(1, 0.9), (2, 0.5), (3, 0.3), (4, 0.2)] {
        let from = 1234 + 997 * seed as usize;
        let dips = find_steady(&Seconds::of(slowed(STEADY.run(seed), from, 90, loss)));
        let exact = spans(&dips) == [(from as u64, 90)];
        let claim = format!("a dip of 90 s in two hours that takes {:.0} %", loss * 100.0);
        row(&claim, "found to the second", format!("{:?}", spans(&dips)), exact);
        assert!(exact, "{loss}: {dips:?}");
        let throughput = dips[0].throughput.expect("throughput fell");
        assert!((throughput.ratio() - (1.0 - loss)).abs() < 0.02, "{throughput:?}");
        assert!(dips[0].recovery_ns.is_some_and(|ns| ns <= 90 * SECOND));
    }
}

#[test]
fn stalls_of_a_second_are_each_found() {
    let mut seconds = STEADY.run(7);
    seconds.truncate(60);
    for at in [10, 20, 30, 40, 50] {
        seconds[at].responses = 0;
        (seconds[at].p50_ns, seconds[at].p99_ns) = (0, 0);
    }
    let dips = find_steady(&Seconds::of(seconds));
    assert_eq!(spans(&dips), [(10, 1), (20, 1), (30, 1), (40, 1), (50, 1)]);
    assert_eq!(dips[0].throughput.map(|t| t.worst), Some(0.0));
}

/// A server stopped for a second now and then, measured from a machine that does not keep still.
#[test]
fn an_outage_is_found_in_whatever_noise() {
    let noisy = [702, 381, 460, 590, 990, 350, 0, 220, 811, 511, 780, 470, 441, 0, 240, 420, 500];
    let second = |(at, &responses): (usize, &u32)| Second {
        start_ns: at as u64 * SECOND,
        duration_ns: SECOND,
        responses,
        ..Second::default()
    };
    let dips = find_steady(&Seconds::of(noisy.iter().enumerate().map(second).collect()));
    assert_eq!(dips.len(), 2, "{dips:?}");
    for (dip, at) in dips.iter().zip([6, 13]) {
        let (from, length) = (dip.start_ns / SECOND, dip.duration_ns / SECOND);
        assert!((from..from + length).contains(&at) && length <= 2, "{dip:?}");
    }
}

#[test]
fn a_rise_of_latency_alone_is_a_dip() {
    let mut seconds = STEADY.run(9);
    for second in &mut seconds[3000..3020] {
        (second.p50_ns, second.failed) = (second.p50_ns * 5, 2);
    }
    let dips = find_steady(&Seconds::of(seconds));
    assert_eq!(spans(&dips), [(3000, 20)]);
    assert_eq!((dips[0].throughput, dips[0].failed), (None, 40));
    assert!(dips[0].p50_ns.is_some_and(|p50| (4.8..5.2).contains(&p50.ratio())));
}

#[test]
fn what_lasts_to_the_end_has_not_recovered_and_what_begins_with_the_window_is_no_dip() {
    let mut seconds = STEADY.run(11);
    seconds.truncate(300);
    let late = find_steady(&Seconds::of(slowed(seconds.clone(), 270, 30, 0.6)));
    assert_eq!((spans(&late), late[0].recovery_ns), (vec![(270, 30)], None));
    assert_eq!(find_steady(&Seconds::of(slowed(seconds, 0, 30, 0.6))), []);
}

#[test]
fn few_or_empty_seconds_are_not_judged() {
    assert_eq!(find_steady(&Seconds::default()), []);
    assert_eq!(find_steady(&Seconds::of(STEADY.run(1)[..9].to_vec())), []);
    assert_eq!(find_steady(&Seconds::of(vec![Second::default(); 50])), []);
}

/// A server stopped for a second of every ten under 1,000/s, on a machine whose own tail wavers. The
/// stops are far deeper than the waves between them, and no bridge to one another.
#[test]
fn deep_stalls_are_not_joined_across_what_lies_between() {
    let responses: [u32; 40] = [
        1000, 1000, 1000, 1000, 677, 1323, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 677,
        1323, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 677, 1323, 1000, 1000, 1000, 1000,
        1000, 1000, 1000, 1000, 677, 1323, 1000, 1000, 1000, 1000,
    ];
    let p50_us: [u64; 40] = [
        182, 160, 162, 173, 146, 345_768, 157, 133, 152, 170, 152, 152, 143, 143, 145, 347_865,
        149, 140, 158, 157, 178, 169, 173, 167, 183, 344_457, 157, 175, 156, 181, 182, 164, 164,
        146, 143, 347_341, 153, 155, 152, 165,
    ];
    let p99_us: [u64; 40] = [
        695, 337, 324, 427, 1121, 987_234, 257, 234, 375, 745, 390, 352, 759, 995, 1136, 987_234,
        411, 232, 250, 546, 379, 250, 248, 335, 255, 987_234, 258, 312, 275, 28_197, 596, 1119,
        232, 227, 262, 987_234, 864, 270, 234, 268,
    ];
    let second = |at: usize| Second {
        start_ns: at as u64 * SECOND,
        duration_ns: SECOND,
        responses: responses[at],
        p50_ns: 1_000 * p50_us[at],
        p99_ns: 1_000 * p99_us[at],
        ..Second::default()
    };
    let dips = find_steady(&Seconds::of((0..responses.len()).map(second).collect()));
    for stall in [5, 15, 25, 35] {
        let holds = |(from, length): &(u64, u64)| (*from..from + length).contains(&stall);
        let (_, length) = spans(&dips).into_iter().find(holds).expect("the stall is a dip");
        assert!(length <= 6, "{stall}: {:?}", spans(&dips));
    }
}

/// A minute of stages at these heights for this long, in an open loop.
fn staged(stages: &[(f64, u64)]) -> Plan {
    use model::workload::{Rate, Stage, Time};

    let hold =
        |&(at, seconds): &(f64, u64)| Stage::Hold { at: Rate(at), r#for: Time(seconds * SECOND) };
    let stages = stages.iter().map(hold).collect();
    Plan { rate_per_s: Some(1.0), stages, ..fixture::plan() }
}

/// Seconds of these stages, of a server that responds to each arrival so many seconds later.
fn carried(stages: &[(f64, u64)], behind: usize, p50_ms: impl Fn(f64) -> f64) -> Vec<Second> {
    let due: Vec<f64> =
        stages.iter().flat_map(|&(at, seconds)| vec![at; seconds as usize]).collect();
    let second = |at: usize| Second {
        start_ns: at as u64 * SECOND,
        duration_ns: SECOND,
        due: due[at] as u32,
        responses: at.checked_sub(behind).map_or(0, |at| due[at] as u32),
        failed: 0,
        p50_ns: (p50_ms(due[at]) * 1e6) as u64 + behind as u64 * SECOND,
        p99_ns: (4.0 * p50_ms(due[at]) * 1e6) as u64 + behind as u64 * SECOND,
    };
    (0..due.len()).map(second).collect()
}

#[test]
fn a_load_that_falls_and_rises_as_planned_is_no_dip() {
    let pause = [(1000.0, 25), (100.0, 8), (1000.0, 27)];
    let spike = [(200.0, 25), (1000.0, 8), (200.0, 27)];
    for stages in [&pause[..], &spike] {
        let plan = staged(stages);
        for behind in [0, 2] {
            // Four times as slow at the higher rate.
            let seconds = carried(stages, behind, |rate| if rate > 500.0 { 20.0 } else { 5.0 });
            assert_eq!(find(&Seconds::of(seconds), &plan), [], "{stages:?} {behind}");
        }
        // As users of a closed loop: their number is as planned.
        let mut seconds = carried(stages, 0, |_| 5.0);
        seconds.iter_mut().for_each(|second| second.due = 0);
        let closed = Plan { rate_per_s: None, ..plan };
        assert_eq!(find(&Seconds::of(seconds), &closed), [], "{stages:?}");
    }
}

#[test]
fn a_stall_under_a_load_that_varies_is_found() {
    let stages = [(1000.0, 20), (300.0, 20), (1000.0, 20)];
    for at in [10, 30, 50] {
        let mut seconds = carried(&stages, 0, |_| 5.0);
        seconds[at].responses = 0;
        let dips = find(&Seconds::of(seconds), &staged(&stages));
        assert_eq!(spans(&dips), [(at as u64, 1)], "{dips:?}");
        let throughput = dips[0].throughput.expect("throughput fell");
        assert_eq!(throughput.trend, if at == 30 { 300.0 } else { 1000.0 });
        let mut seconds = carried(&stages, 0, |_| 5.0);
        seconds[at].p50_ns *= 20;
        assert_eq!(spans(&find(&Seconds::of(seconds), &staged(&stages))), [(at as u64, 1)]);
    }
}
