use model::interval::{Interval, Phase, Tally};
use model::plan::Recorded;
use model::units::SECOND;
use model::{CommonestResponse, Run, RunBuilder, Validity, Verdict};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::*;

/// A simulated server whose log response times follow an autoregression of lag 1.
struct Server {
    random: Pcg64Mcg,
}

impl Server {
    fn new(seed: u64) -> Self {
        Self { random: Pcg64Mcg::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)) }
    }

    fn share(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }

    /// Response times in nanoseconds around `scale` milliseconds.
    fn times(&mut self, n: usize, rho: f64, scale: f64) -> Vec<f64> {
        let mut at = self.normal();
        let mut next = || {
            at = rho * at + (1.0 - rho * rho).sqrt() * self.normal();
            1e6 * scale * (0.3 * at).exp()
        };
        (0..n).map(|_| next()).collect()
    }

    /// The mean and the 95th percentile of one round, whose own effect has a deviation of 1 %.
    fn round(&mut self, rho: f64, scale: f64) -> [f64; 2] {
        const REQUESTS: usize = 400;
        let scale = scale * (0.01 * self.normal()).exp();
        let mut times = self.times(REQUESTS, rho, scale);
        times.sort_by(f64::total_cmp);
        [times.iter().sum::<f64>() / REQUESTS as f64, times[REQUESTS * 95 / 100]]
    }

    fn run(&mut self, seconds: u32, per_s: usize, rho: f64, scale: f64) -> Run {
        self.run_of(&vec![per_s; seconds as usize], rho, scale)
    }

    /// A run of this many responses second by second.
    fn run_of(&mut self, responses: &[usize], rho: f64, scale: f64) -> Run {
        let mut builder = RunBuilder::new(fixture::head(fixture::plan()));
        let mut times = self.times(responses.iter().sum(), rho, scale).into_iter();
        for (index, &responses) in (0u32..).zip(responses) {
            let n = responses as u64;
            let mut tally = Tally { succeeded: n, responses_done: n, sent: n, ..Tally::default() };
            for nanos in times.by_ref().take(responses) {
                tally.response.record(nanos as u64);
                tally.service.record(nanos as u64);
            }
            let start_ns = u64::from(index) * SECOND;
            let (phase, end_ns) = (Phase::Window, start_ns + SECOND);
            builder.add(&Interval { tally, ..Interval::new(index, phase, start_ns, end_ns) });
        }
        let mut run = builder.finish(false);
        run.validity = Validity { verdict: Verdict::Valid, reasons: Vec::new() };
        run.commonest_response = Some(CommonestResponse {
            status: 200,
            bytes: 15,
            body_sha256: "00".repeat(32),
            seen: 10,
            sampled: 10,
        });
        run
    }
}

const PAIRS: u64 = 1000;
const ROUNDS: usize = 10;

/// Of [`PAIRS`] comparisons of servers `shift` apart: the share of intervals that miss 1, and of those
/// that hold the true ratio, of the mean and of the 95th percentile.
fn compared(shift: f64, seed: u64) -> [(f64, f64); 2] {
    let mut found = [(0_u32, 0_u32); 2];
    for pair in 0..PAIRS {
        let mut server = Server::new(seed + pair);
        let rho = 0.5 + 0.45 * server.share();
        let rounds: Vec<[[f64; 2]; 2]> =
            (0..ROUNDS).map(|_| [server.round(rho, 1.0), server.round(rho, 1.0 + shift)]).collect();
        for (of, (seen, held)) in found.iter_mut().enumerate() {
            let pairs: Vec<[f64; 2]> = rounds.iter().map(|[a, b]| [a[of], b[of]]).collect();
            let measure = [Measure::Mean, Measure::Percentile(&model::PERCENTILES[3])][of];
            let effect = Effect::of(measure, [1.0; 2], rounds::paired(&pairs).unwrap(), 0.0);
            *seen += u32::from(effect.word != Word::CannotTell);
            *held += u32::from((effect.low..=effect.high).contains(&(1.0 + shift)));
        }
    }
    found.map(|(seen, held)| (f64::from(seen) / PAIRS as f64, f64::from(held) / PAIRS as f64))
}

fn row(claim: &str, reach: &str, got: f64, met: &str) {
    println!("truth | {claim} | {reach} | {:.1} % | {met}", 100.0 * got);
}

#[test]
fn a_against_a_in_simulation_cries_wolf_no_more_than_it_says() {
    for (figure, (alarms, held)) in ["mean", "p95"].into_iter().zip(compared(0.0, 1)) {
        let quiet = alarms <= 0.065;
        let covers = (0.93..=0.97).contains(&held);
        let yes = |met: bool| if met { "yes" } else { "no" };
        row(
            &format!("A/A, 1,000 pairs, 10 rounds: false alarms, {figure}"),
            "<= 6.5 %",
            alarms,
            yes(quiet),
        );
        row(
            &format!("A/A: intervals that contain the truth, {figure}"),
            "93-97 %",
            held,
            yes(covers),
        );
        assert!(quiet && covers, "{figure}: {alarms} {held}");
    }
}

#[test]
fn shifts_in_simulation_are_seen_the_more_the_larger() {
    let mut before = [0.0; 2];
    for (shift, seed) in [(0.02, 10_000), (0.05, 20_000), (0.10, 30_000)] {
        let found = compared(shift, seed);
        for (of, figure) in ["mean", "p95"].into_iter().enumerate() {
            let (seen, held) = found[of];
            let claim = format!("a shift of {:.0} % is detected, {figure}", 100.0 * shift);
            row(&claim, "for information", seen, "-");
            assert!(seen > before[of], "{figure} at {shift}: {seen}");
            assert!((0.93..=0.97).contains(&held), "{figure} at {shift}: {held}");
            before[of] = seen;
        }
    }
    assert!(before[0] > 0.8, "a shift of 10 % in the mean: {}", before[0]);
}

#[test]
fn blocks_in_simulation_decide_no_more_than_they_can() {
    let (mut alarms, mut seen, runs) = (0, 0, 100);
    for seed in 0..runs {
        let mut server = Server::new(900_000 + seed);
        let [a, b] = [server.run(30, 100, 0.8, 1.0), server.run(30, 100, 0.8, 1.0)];
        alarms += u32::from(judged(&a, &b, 0.0).word != Word::CannotTell);
        let slower = server.run(30, 100, 0.8, 1.25);
        seen += u32::from(judged(&a, &slower, 0.0).word == Word::Slower);
    }
    let share = f64::from(alarms) / f64::from(runs as u32);
    let met = share <= 0.065;
    row(
        "A/A inside runs (blocks), 100 pairs: false alarms over all figures",
        "<= 6.5 %",
        share,
        if met { "yes" } else { "no" },
    );
    assert!(met, "{alarms} of {runs}");
    assert!(seen > 95, "{seen} of {runs}");
}

#[test]
fn few_blocks_in_simulation_find_what_is_far_beyond_their_spread() {
    // Neighbours that are alike to 0.999 make four blocks worth hardly one.
    let (mut alarms, mut seen, mut far) = (0, 0, 0);
    for seed in 0..100 {
        let mut server = Server::new(700_000 + seed);
        let blocks = 1 + seed as u32 % 5;
        let rho = [0.5, 0.9, 0.99, 0.999][seed as usize % 4];
        let [a, b] = [1.0, 1.0].map(|scale| server.run(blocks, 1000, rho, scale));
        alarms += u32::from(judged(&a, &b, 0.0).word != Word::CannotTell);
        seen += u32::from(judged(&a, &server.run(4, 1000, 0.5, 3.0), 0.02).word == Word::Slower);
        let slower = server.run(blocks, 1000, rho, 45.0);
        far += u32::from(judged(&a, &slower, 0.02).word == Word::Slower);
    }
    let share = f64::from(alarms) / 100.0;
    let yes = |met: bool| if met { "yes" } else { "no" };
    let claim = "A/A inside runs of 1 to 5 blocks, 100 pairs: false alarms over all figures";
    row(claim, "<= 6.5 %", share, yes(share <= 0.065));
    let claim = "1 to 5 blocks, a server 45 times as slow: seen";
    row(claim, ">= 90 %", f64::from(far) / 100.0, yes(far >= 90));
    row(
        "few blocks, a server three times as slow: detected",
        "for \
        information",
        f64::from(seen) / 100.0,
        "-",
    );
    assert!(share <= 0.065 && far >= 90, "{alarms} {far}");
}

/// A response every twenty seconds: three blocks of sixty hold anything.
#[test]
fn blocks_in_which_nothing_ended_decide_nothing() {
    let seconds: Vec<usize> = (0..60).map(|second| usize::from(second % 20 == 0)).collect();
    let [a, b] = [1.0, 1.5].map(|scale| Server::new(7).run_of(&seconds, 0.0, scale));
    let comparison = judged(&a, &b, 0.05);
    assert_eq!(
        (comparison.word, comparison.effects.len()),
        (Word::CannotTell, 0),
        "{comparison:?}"
    );
    assert!(comparison.notes[0].contains("too short"), "{:?}", comparison.notes);
}

#[test]
fn runs_without_blocks_are_undecided() {
    let mut server = Server::new(5);
    let [a, b] = [server.run(4, 100, 0.5, 1.0), server.run(4, 100, 0.5, 45.0)];
    let found = judged(&a, &b, 0.02);
    assert!(found.notes[0].contains("measure both again with -d 18s (it was 10s)"), "{found:?}");
    assert!(found.notes[1].contains("far beyond the spread"), "{found:?}");
    let mut old = a.clone();
    old.blocks.clear();
    let found = judged(&old, &b, 0.02);
    assert_eq!((found.word, found.effects.len()), (Word::CannotTell, 0), "{found:?}");
    assert!(found.sentence().ends_with("too little was measured"), "{}", found.sentence());
}

fn judged(a: &Run, b: &Run, margin: f64) -> Comparison {
    blocks::judge(["A".into(), "B".into()], [a, b], margin)
}

#[test]
fn words_follow_the_interval_and_the_margin() {
    let m = 0.02;
    for (measure, low, high, wanted) in [
        (Measure::Mean, 0.99, 1.01, Word::Same),
        (Measure::Mean, 1.03, 1.10, Word::Slower),
        (Measure::Mean, 0.90, 0.97, Word::Faster),
        (Measure::Qps, 0.90, 0.97, Word::Slower),
        (Measure::Qps, 1.03, 1.10, Word::Faster),
        (Measure::Mean, 1.01, 1.10, Word::CannotTell),
        (Measure::Mean, 0.90, 1.10, Word::CannotTell),
    ] {
        assert_eq!(word(measure, low, high, m), wanted, "{measure:?} {low} {high}");
    }
}

/// By hand: log ratios 0.1, 0.2, 0.3 have mean 0.2 and deviation 0.1; t at 2 degrees is 4.3027.
#[test]
fn pairs_by_hand() {
    let pairs = [0.1_f64, 0.2, 0.3].map(|log| [1.0, log.exp()]);
    let log = rounds::paired(&pairs).unwrap();
    assert!((log.mean - 0.2).abs() < 1e-12 && (log.standard_error - 0.057_735).abs() < 1e-6);
    let effect = Effect::of(Measure::Mean, [1.0, 1.2], log, 0.0);
    assert!((effect.low.ln() - (0.2 - 4.302_653 * 0.057_735)).abs() < 1e-5);
    assert_eq!(rounds::paired(&pairs[..2]), None);
    let one = rounds::against_one(1.0, &pairs.map(|pair| pair[1])).unwrap();
    assert!((one.standard_error - 0.1 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-9);
}

#[test]
fn more_noise_needs_more_rounds_and_no_margin_has_no_answer() {
    let few = rounds::needed(0.01, 0.02).unwrap();
    let many = rounds::needed(0.05, 0.02).unwrap();
    assert!((4..=8).contains(&few) && many > 40, "{few} {many}");
    assert_eq!(rounds::needed(0.01, 0.0), None);
    assert_eq!(rounds::needed(100.0, 0.02), None);
}

#[test]
fn rounds_of_runs_are_judged_over_all_figures() {
    let mut server = Server::new(77);
    let mut pairs = |scale: f64| -> Vec<[Run; 2]> {
        let run = |server: &mut Server, scale| server.run(5, 300, 0.5, scale);
        (0..6).map(|_| [run(&mut server, 1.0), run(&mut server, scale)]).collect()
    };
    let names = || ["old".to_owned(), "new".to_owned()];
    let slower = rounds::judge(names(), &pairs(1.5), 0.02);
    assert_eq!(slower.judgement(), Some(Word::Slower), "{slower:?}");
    assert!(
        slower.sentence().starts_with("SLOWER: new against old: mean +"),
        "{}",
        slower.sentence()
    );
    let unknown = rounds::judge(names(), &pairs(1.0)[..2], 0.02);
    assert_eq!(unknown.word, Word::CannotTell);
    assert!(unknown.notes[0].contains("at least 3"), "{:?}", unknown.notes);
    // Each run made 300 responses a second, so its throughput is the same.
    assert_eq!((slower.effects[0].measure, slower.effects[0].word), (Measure::Qps, Word::Same));
    // 1,500 responses have 15 beyond p99 and 1.5 beyond p99.9.
    assert_eq!(slower.effects.last().unwrap().measure, Measure::Percentile(&model::PERCENTILES[4]));
}

#[test]
fn a_server_that_becomes_another_one_between_rounds_is_named() {
    let names = ["old", "new"].map(str::to_owned);
    let said = |medians_us: &[[u64; 2]]| {
        let run = |p50_us: u64| {
            let mut run = fixture::sound::closed();
            run.response_ns.p50 = p50_us * 1_000;
            if p50_us == 0 {
                run.response_ns.count = 0;
            }
            run
        };
        let rounds: Vec<[Run; 2]> = medians_us.iter().map(|pair| pair.map(run)).collect();
        rounds::changed(&names, &rounds)
    };
    let became = [[8_000, 8_000], [8_200, 8_100], [7_900, 8_000], [2_000, 7_900], [2_100, 8_200]];
    let text = said(&became).expect("the old one changed");
    assert!(text.starts_with("old changed between rounds 3 and 4: "), "{text}");
    assert!(text.contains("its median response time was 8.0") && text.contains(" since"), "{text}");
    let turned = became.map(|[old, new]| [new, old]);
    assert!(
        said(&turned).expect("the new one changed").starts_with("new changed between rounds 3")
    );
    for alike in [
        // The machine, or one round of five.
        [[8_000, 8_000], [8_000, 8_000], [8_000, 8_000], [2_000, 2_100], [2_000, 2_100]],
        [[8_000, 8_000], [8_000, 8_000], [8_000, 8_000], [8_000, 8_000], [2_000, 8_000]],
        // One that pauses now and then, and one so quick that waking it counts.
        [[8_000, 8_000], [2_000, 8_000], [8_000, 8_000], [2_000, 8_000], [8_000, 8_000]],
        [[150, 150], [150, 150], [150, 150], [70, 150], [70, 150]],
        // One that no longer responds, which is not a shorter time.
        [[8_000, 8_000], [8_000, 8_000], [8_000, 8_000], [0, 8_000], [0, 8_000]],
    ] {
        assert_eq!(said(&alike), None, "{alike:?}");
    }
    assert_eq!(said(&[]), None);
}

#[test]
fn unlike_runs_are_not_judged() {
    let mut server = Server::new(3);
    let a = server.run(8, 100, 0.5, 1.0);
    assert_eq!(likeness::differences([&a, &a], ["old", "new"]), Vec::<String>::new());
    let mut b = a.clone();
    b.environment.cpus = 7;
    b.commonest_response.as_mut().unwrap().bytes = 16;
    b.plan.connections = 3;
    b.validity = Validity::not_judged();
    let found = likeness::differences([&a, &b], ["old", "new"]);
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[3], "a run of new is INVALID (not_judged)");
    let mut comparison = judged(&a, &a, 0.02);
    comparison.withheld = found;
    assert_eq!(comparison.judgement(), None);
    assert!(comparison.sentence().contains("not judged, because"), "{}", comparison.sentence());
}

#[test]
fn a_server_that_fails_more_is_neither_faster_nor_slower() {
    let mut server = Server::new(3);
    let a = server.run(8, 100, 0.5, 1.0);
    let mut b = a.clone();
    (b.rates.success_ratio, b.totals.attempts) = (Some(0.7), 2_000);
    let found = likeness::differences([&a, &b], ["old", "new"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("they succeed differently ("), "{found:?}");
    let worse = "they succeed differently (100.00 % against 20.00 % of the attempts)";
    assert!(likeness::alike(&found[0], worse), "in another round");
    assert!(!likeness::alike(&found[0], "their loads differ (1 against 2)"));
    // One of few may fail by chance.
    (b.rates.success_ratio, b.totals.attempts) = (Some(0.98), 50);
    assert_eq!(likeness::differences([&a, &b], ["old", "new"]), Vec::<String>::new());
}

#[test]
fn loads_that_differ_by_a_flag_are_not_judged() {
    let mut server = Server::new(3);
    let a = server.run(8, 100, 0.5, 1.0);
    type Change = (&'static str, fn(&mut model::Plan));
    let changes: [Change; 6] = [
        ("pipeline", |plan| (plan.pipeline, plan.max_inflight) = (8, 8 * plan.connections)),
        ("keep-alive", |plan| plan.keepalive = !plan.keepalive),
        ("think time", |plan| plan.think_ns = Some(50_000_000)),
        ("method", |plan| plan.method = "POST".into()),
        ("course of the load", |plan| plan.recorded = Some(Recorded::default())),
        ("course of the load", |plan| {
            let (at, r#for) = (model::workload::Rate(5.0), model::workload::Time(SECOND));
            plan.stages = vec![model::workload::Stage::Hold { at, r#for }];
        }),
    ];
    for (what, change) in changes {
        let mut b = a.clone();
        change(&mut b.plan);
        let found = likeness::differences([&a, &b], ["old", "new"]);
        assert_eq!(found, [format!("they were sent with another {what}")]);
    }
    let mut b = a.clone();
    (b.plan.timeout_ns, b.plan.duration_ns) = (1, Some(7));
    assert_eq!(likeness::differences([&a, &b], ["old", "new"]), Vec::<String>::new());
}

#[test]
fn changes_beyond_ten_times_are_not_in_per_cent() {
    let shown = [0.9, 1.031, 9.9, 45.232].map(change);
    assert_eq!(shown, ["-10.0 %", "+3.1 %", "+890.0 %", "45.2x"]);
    assert_eq!([0.031, 44.2].map(size), ["3.1 %", "45.2x"]);
}

fn effect(measure: Measure, low: f64, high: f64, word: Word) -> Effect {
    Effect {
        measure,
        a: 1.0,
        b: 1.0,
        ratio: (low * high).sqrt(),
        low,
        high,
        word,
        smallest_seen: high - low,
        rounds_needed: None,
    }
}

/// `--anyway` shows what the figures say; of a server that is gone they are no success.
#[test]
fn figures_of_an_invalid_run_exit_with_98_whatever_they_say() {
    let of = |word, invalid, withheld: &[&str]| {
        let names = ["a".into(), "b".into()];
        let mut comparison = Comparison::new(names, 0.02, String::new(), Vec::new(), Vec::new());
        (comparison.word, comparison.invalid) = (word, invalid);
        comparison.withhold(withheld.iter().map(|&reason| reason.to_owned()).collect(), false);
        comparison.exit_code()
    };
    assert_eq!((of(Word::Same, false, &[]), of(Word::Same, true, &[])), (0, 98));
    assert_eq!((of(Word::Faster, false, &[]), of(Word::Faster, true, &[])), (0, 98));
    assert_eq!((of(Word::Slower, false, &[]), of(Word::Slower, true, &[])), (99, 99));
    assert_eq!((of(Word::CannotTell, false, &[]), of(Word::Same, false, &["why"])), (98, 98));
}

#[test]
fn what_can_be_told_comes_before_what_cannot() {
    let sentence = |effects| {
        let comparison = Comparison {
            names: ["a".into(), "b".into()],
            margin: 0.02,
            by: String::new(),
            effects,
            word: Word::CannotTell,
            withheld: Vec::new(),
            invalid: false,
            notes: Vec::new(),
        };
        let json = serde_json::to_vec(&comparison).unwrap();
        let read: Comparison = serde_json::from_slice(&json).unwrap();
        assert_eq!(read.sentence(), comparison.sentence());
        read.sentence()
    };
    let p99 = Measure::all().find(|measure| measure.name() == "p99").unwrap();
    let unclear = effect(p99, 0.9, 1.2, Word::CannotTell);
    let qps = effect(Measure::Qps, 0.99, 1.01, Word::Same);
    let mean = effect(Measure::Mean, 0.99, 1.015, Word::Same);
    assert_eq!(
        sentence(vec![qps.clone(), mean, unclear.clone()]),
        "CANNOT_TELL: b against a: QPS and mean are alike within 1.5 %; changes below 30.0 % could not be \
         detected in p99"
    );
    assert!(sentence(vec![qps, unclear.clone()]).contains(": QPS is alike within 1.0 %; changes"));
    let open = effect(Measure::Qps, 0.95, 1.03, Word::CannotTell);
    assert!(sentence(vec![open, unclear]).contains(": QPS changed by -5.0 % to +3.0 %; changes"));
}
