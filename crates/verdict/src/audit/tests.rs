use model::units::{MILLISECOND, SECOND};
use model::{Latency, LoopKind};
use proptest::prelude::*;

use super::*;

/// Rows of published tables: connections, QPS, mean in ms, the ratio by hand.
const NATIVE: [(f64, f64, f64); 14] = [
    (200.0, 107_975.55, 2.18),
    (500.0, 387_894.92, 2.52),
    (1000.0, 512_223.67, 5.89),
    (3000.0, 599_781.96, 27.75),
    (5000.0, 623_458.30, 52.72),
    (10_000.0, 640_701.55, 134.92),
    (15_000.0, 644_269.17, 222.44),
    (20_000.0, 646_675.63, 257.28),
    (25_000.0, 648_380.78, 344.17),
    (50_000.0, 642_420.16, 305.24),
    (100_000.0, 572_197.78, 118.41),
    (200_000.0, 372_247.81, 154.68),
    (500_000.0, 110_261.20, 181.90),
    (1_000_000.0, 20_954.71, 198.87),
];

fn closed(connections: f64, qps: f64, mean_ms: f64) -> Claim {
    let mean_ns = (mean_ms * MILLISECOND as f64).round() as u64;
    Claim { connections: Some(connections), ..Claim::new(qps, Some(mean_ns)) }
}

fn found(tool: Tool, claim: &Claim) -> Vec<(&'static str, Severity)> {
    findings(tool, claim).iter().map(|finding| (finding.code, finding.severity)).collect()
}

fn evidence(tool: Tool, claim: &Claim, code: &str) -> String {
    let all = findings(tool, claim);
    let found = all.iter().find(|finding| finding.code == code);
    found.unwrap_or_else(|| panic!("no {code} in {all:?}")).evidence.clone()
}

#[test]
fn a_published_table_is_flagged_row_by_row() {
    use Severity::{Doubtful, Impossible};
    for (at, (connections, qps, mean_ms)) in NATIVE.into_iter().enumerate() {
        let row = closed(connections, qps, mean_ms);
        let ratio = qps * mean_ms / 1000.0 / connections;
        let wanted = match ratio {
            r if r > 1.05 => vec![("little_law", Impossible)],
            r if r <= 0.5 => vec![("idle_connections", Doubtful)],
            _ => Vec::new(),
        };
        assert_eq!(found(Tool::Wrktest, &row), wanted, "row {at}, ratio {ratio}");
    }
    let worst = closed(15_000.0, 644_269.17, 222.44);
    assert_eq!(
        evidence(Tool::Wrktest, &worst, "little_law"),
        "644,269/s x 222ms is 143,311 requests in flight, of 15,000 possible: 9.55 times"
    );
    let last = closed(1_000_000.0, 20_954.71, 198.87);
    assert_eq!(
        evidence(Tool::Wrktest, &last, "idle_connections"),
        "most connections idle: 4,167 of 1,000,000 in flight"
    );
}

#[test]
fn the_bounds_are_where_they_are_documented() {
    for (mean_ms, wanted) in [
        (105.1, vec![("little_law", Severity::Impossible)]),
        (105.0, vec![]),
        (50.1, vec![]),
        (50.0, vec![("idle_connections", Severity::Doubtful)]),
    ] {
        assert_eq!(found(Tool::Wrk, &closed(100.0, 1000.0, mean_ms)), wanted, "{mean_ms}");
    }
}

#[test]
fn what_rounding_explains_is_not_held_against_a_row() {
    let mut coarse = closed(50.0, 62_937.61, 1.0);
    coarse.error_ns = MILLISECOND / 2;
    assert_eq!(found(Tool::Ab, &coarse), [("coarse_latency", Severity::Note)]);
    // A mean in microseconds beside percentiles in whole milliseconds.
    let mut fine = closed(50.0, 62_937.0, 1.2);
    (fine.error_ns, fine.quantile_error_ns) = (500, MILLISECOND / 2);
    (fine.quantiles, fine.max_ns) = (vec![(0.99, 9_400_000)], Some(9 * MILLISECOND));
    assert_eq!(found(Tool::Csv, &fine), [("little_law", Severity::Impossible)]);
    coarse.mean_ns = Some(2 * MILLISECOND);
    assert_eq!(found(Tool::Ab, &coarse), [("little_law", Severity::Impossible)]);
    let mut idle = closed(50.0, 62_937.61, 0.0);
    idle.error_ns = MILLISECOND / 2;
    assert_eq!(found(Tool::Ab, &idle), []);
}

#[test]
fn wrks_correction_is_named_and_heys_million_too() {
    let wrk = findings(Tool::Wrk, &closed(30_000.0, 75_613.16, 508.77));
    assert!(wrk[0].cause.as_ref().unwrap().contains("wrk's correction for coordinated omission"));
    assert!(wrk[0].evidence.ends_with("1.28 times"), "{wrk:?}");
    let hey = Claim { requests: Some(3_000_000), ..closed(100.0, 30_000.0, 10.0) };
    let hey = findings(Tool::Hey, &hey);
    let codes: Vec<_> = hey.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["little_law", "hey_million"]);
    assert_eq!(hey[1].evidence, "of 3,000,000 responses the mean is 3.33ms, not 10.0ms");
    assert!(hey[0].cause.as_ref().unwrap().contains("a million requests"));
}

#[test]
fn open_loops_are_never_impossible_on_response_figures() {
    for latency in [Latency::Response, Latency::Service, Latency::Either] {
        for connections in [None, Some(10.0)] {
            let mut row = closed(1.0, 5000.0, 900.0);
            (row.loop_kind, row.latency, row.connections) = (LoopKind::Open, latency, connections);
            for tool in [Tool::Wrk2, Tool::Vegeta, Tool::Wrk, Tool::Wrktest] {
                let all = found(tool, &row);
                assert!(all.iter().all(|found| found.1 == Severity::Note), "{all:?}");
            }
        }
    }
    let idle = Claim { loop_kind: LoopKind::Open, ..closed(1000.0, 10.0, 1.0) };
    assert_eq!(found(Tool::Wrk2, &idle), []);
}

#[test]
fn users_and_latencies_of_an_unknown_kind_are_only_doubted() {
    let over = closed(10.0, 5000.0, 9.0);
    let k6 = Claim { loop_kind: LoopKind::Users, pauses: true, ..over.clone() };
    assert_eq!(found(Tool::K6, &k6), [("little_law", Severity::Doubtful)]);
    let oha = Claim { latency: Latency::Either, ..over };
    assert_eq!(found(Tool::Oha, &oha), [("little_law", Severity::Doubtful)]);
    let idle = Claim { pauses: true, ..closed(10.0, 100.0, 9.0) };
    assert_eq!(found(Tool::Jmeter, &idle), [("idle_connections", Severity::Note)]);
    let unknown = Claim { connections: None, ..closed(10.0, 100.0, 9.0) };
    assert_eq!(found(Tool::Hey, &unknown), [("connections_unknown", Severity::Note)]);
}

#[test]
fn our_own_runs_are_bound_in_any_loop_and_by_what_their_ends_explain() {
    let mut run = fixture::sound::open();
    run.service_ns.mean = 900 * MILLISECOND;
    run.rates.requests_per_s = 1e6;
    let claim = Claim::of_run(&run);
    assert_eq!(claim.duration_ns, Some(run.totals.duration_ns));
    let broken = found(Tool::Plimsoll, &claim);
    // What was due in a window is no contradiction to what was done in it.
    assert!(broken.iter().all(|found| found.0 != "rate_contradicts_count"), "{broken:?}");
    assert!(broken.contains(&("little_law", Severity::Impossible)), "{broken:?}");
    run.totals.duration_ns = 1;
    run.service_ns.max = 1000 * SECOND;
    let explained = found(Tool::Plimsoll, &Claim::of_run(&run));
    assert!(!explained.iter().any(|found| found.0 == "little_law"), "{explained:?}");
    let mut judged = fixture::sound::closed();
    judged.validity = model::Validity::not_judged();
    let printed = evidence(Tool::Plimsoll, &Claim::of_run(&judged), "own_verdict");
    assert_eq!(printed, "INVALID by its own rules: not_judged");
}

#[test]
fn percentiles_are_in_order_and_fit_the_mean() {
    let ms = |value: u64| value * MILLISECOND;
    let mut row = closed(10.0, 1000.0, 9.0);
    (row.requests, row.min_ns, row.max_ns) = (Some(5000), Some(ms(1)), Some(ms(100)));
    row.quantiles = vec![(0.5, ms(8)), (0.9, ms(12)), (0.99, ms(50))];
    assert_eq!(found(Tool::Wrk, &row), []);
    for (quantiles, wanted) in [
        (vec![(0.5, ms(8)), (0.9, ms(7))], "p50 is 8.00ms, above p90, 7.00ms"),
        (vec![(0.999, ms(120))], "p99.9 is 120ms, above the greatest, 100ms"),
        (vec![(0.5, MILLISECOND / 2)], "the least is 1.00ms, above p50, 500us"),
    ] {
        let odd = Claim { quantiles, ..row.clone() };
        assert_eq!(evidence(Tool::Wrk, &odd, "percentiles_out_of_order"), wanted);
    }
    let low = Claim { quantiles: vec![(0.5, ms(30)), (0.9, ms(40))], ..row.clone() };
    let wanted = "a mean of 9.00ms, where its percentiles allow at least 16.5ms";
    assert_eq!(evidence(Tool::Wrk, &low, "mean_outside_percentiles"), wanted);
    let high = Claim { max_ns: Some(ms(8)), quantiles: vec![(0.5, ms(2))], ..row.clone() };
    let wanted = "a mean of 9.00ms, where its percentiles allow at most 5.00ms";
    assert_eq!(evidence(Tool::Wrk, &high, "mean_outside_percentiles"), wanted);
    // What lies above the last percentile counts although the file states no greatest latency.
    let open = Claim { max_ns: None, quantiles: vec![(0.1, ms(20))], ..row };
    let wanted = "a mean of 9.00ms, where its percentiles allow at least 18.1ms";
    assert_eq!(evidence(Tool::Wrk, &open, "mean_outside_percentiles"), wanted);
}

#[test]
fn percentiles_bound_the_mean_of_few_responses_too() {
    let ms = |value: u64| value * MILLISECOND;
    let contradicts = |requests: u64, success: f64, p95: u64| {
        let claim = Claim {
            requests: Some(requests),
            success: Some(success),
            max_ns: Some(ms(30)),
            quantiles: vec![(0.95, ms(p95))],
            ..closed(10.0, 100.0, 10.0)
        };
        found(Tool::K6, &claim).iter().any(|found| found.0 == "mean_outside_percentiles")
    };
    // At most 0.95 x 5 + 0.05 x 30 = 6.25 ms.
    assert!(contradicts(600, 1.0, 5));
    assert!(contradicts(40, 1.0, 5));
    assert!(contradicts(600, 0.0, 5));
    assert!(!contradicts(600, 1.0, 9));
    // Of so few, rounding of the rank decides; and some tools time successes only.
    assert!(!contradicts(8, 1.0, 5));
    assert!(!contradicts(600, 0.01, 5));
    assert!(!contradicts(0, 1.0, 5));
}

/// Ranks counted from 1, as tools take them for the share of so many samples.
const RANKS_OF: [fn(f64, f64) -> f64; 7] = [
    |share, count| share * count,
    |share, count| share * (count + 1.0),
    |share, count| share * (count - 1.0) + 1.0,
    |share, count| share * count + 0.5,
    |share, count| (share * count).ceil(),
    |share, count| (share * count).round(),
    |share, count| (share * count).floor() + 1.0,
];

#[test]
fn no_way_to_compute_percentiles_contradicts_the_mean() {
    for count in 1..60_u64 {
        judge_ranks((0..count).map(|at| at * at * at * MILLISECOND).collect());
        judge_ranks((0..count).map(|at| at * 2 / count * SECOND).collect());
        judge_ranks((0..count).map(|at| if at == 0 { 1 } else { SECOND }).collect());
        judge_ranks((0..count).map(|at| if at == 0 { SECOND } else { 1 }).collect());
    }
}

/// No rule finds that these samples contradict themselves, whichever way their percentiles are taken.
fn judge_ranks(mut samples: Vec<u64>) {
    samples.sort_unstable();
    let count = samples.len() as f64;
    let mean_ns = samples.iter().sum::<u64>() / samples.len() as u64;
    let at = |rank: f64| samples[(rank.clamp(1.0, count) as usize) - 1] as f64;
    for rank_of in RANKS_OF {
        let quantile = |percent: u32| {
            let share = f64::from(percent) / 100.0;
            let rank = rank_of(share, count).clamp(1.0, count);
            let [low, high] = [at(rank.floor()), at(rank.ceil())];
            (share, (low + (high - low) * rank.fract()) as u64)
        };
        let claim = Claim {
            requests: Some(samples.len() as u64),
            min_ns: samples.first().copied(),
            max_ns: samples.last().copied(),
            quantiles: (1..100).map(quantile).collect(),
            ..Claim::new(100.0, Some(mean_ns))
        };
        let found = found(Tool::Csv, &claim);
        assert!(
            found.iter().all(|found| found.1 != Severity::Impossible),
            "{samples:?}: {found:?}"
        );
    }
}

#[test]
fn counts_rates_and_outcomes() {
    let base = Claim {
        requests: Some(10_000),
        duration_ns: Some(10 * SECOND),
        success: Some(1.0),
        ..closed(10.0, 1000.0, 9.0)
    };
    assert_eq!(found(Tool::Wrk, &base), []);
    let edited = Claim { qps: 1100.0, ..base.clone() };
    let wanted = "10,000 requests in 10.0s are 1,000/s, but 1,100/s is printed";
    assert_eq!(evidence(Tool::Wrk, &edited, "rate_contradicts_count"), wanted);
    // 100 requests in 5.4 ms, which ab prints as 0.005 seconds.
    let brief = Claim {
        qps: 18_518.52,
        requests: Some(100),
        duration_ns: Some(5 * MILLISECOND),
        duration_error_ns: MILLISECOND / 2,
        mean_ns: None,
        ..base.clone()
    };
    let contradicted = |row: &Claim| {
        found(Tool::Ab, row).contains(&("rate_contradicts_count", Severity::Impossible))
    };
    assert!(!contradicted(&brief));
    assert!(contradicted(&Claim { qps: 15_000.0, ..brief.clone() }));
    assert!(contradicted(&Claim { duration_error_ns: 0, ..brief }));
    let failing = Claim { success: Some(0.8), ..base.clone() };
    let wanted = "80.00 % succeeded: 800/s were carried";
    assert_eq!(evidence(Tool::Wrk, &failing, "mostly_errors"), wanted);
    // 1,000 responses, all of them good, beside 1,000 attempts without one.
    let half = Claim { success: Some(0.5), succeeded_per_s: Some(1000.0), ..base.clone() };
    let wanted = "50.00 % succeeded: 1,000/s were carried";
    assert_eq!(evidence(Tool::Hey, &half, "mostly_errors"), wanted);
    let dropping = Claim { dropped: 2_500, ..base.clone() };
    let wanted = "left out: 2,500 arrivals, 20.00 %";
    assert_eq!(evidence(Tool::K6, &dropping, "arrivals_dropped"), wanted);
    // Of arrivals that are ten requests each.
    let dropping = Claim { dropped: 100, arrivals: Some(900), ..base.clone() };
    let wanted = "left out: 100 arrivals, 10.00 %";
    assert_eq!(evidence(Tool::K6, &dropping, "arrivals_dropped"), wanted);
    for (connect_errors, severity) in [(1, Severity::Doubtful), (0, Severity::Note)] {
        let row = Claim { connect_errors, connections: Some(10.0), ..base.clone() };
        let any = found(Tool::Wrk, &row).contains(&("connects_failed", severity));
        assert_eq!(any, connect_errors > 0);
    }
    let unknown = Claim { connect_errors: 1, connections: None, ..base.clone() };
    assert_eq!(evidence(Tool::Wrk, &unknown, "connects_failed"), "connecting failed once");
    let many = Claim { connect_errors: 5, connections: Some(1000.0), ..base.clone() };
    assert!(found(Tool::Wrk, &many).contains(&("connects_failed", Severity::Note)));
    let nothing = Claim { mean_ns: None, qps: 0.0, requests: Some(0), ..base.clone() };
    assert_eq!(evidence(Tool::Wrk, &nothing, "nothing_measured"), "no response arrived");
    let alone = Claim { keepalive: Some(false), ..base };
    assert_eq!(found(Tool::Ab, &alone), [("no_keepalive", Severity::Note)]);
}

fn file(name: &str, tool: Tool, row: Claim) -> (String, Claims) {
    let target = row.target.clone().or(Some("http://h/".to_owned()));
    (name.to_owned(), Claims::new(tool, vec![Claim { target, ..row }]))
}

#[test]
fn files_of_the_same_load_are_set_side_by_side() {
    let busy_elsewhere = closed(100.0, 20_000.0, 2.5);
    let slow = closed(100.0, 20_000.0, 5.0);
    let fresh = Claim { keepalive: Some(false), ..closed(100.0, 10_000.0, 10.0) };
    let erring = Claim { success: Some(0.2), ..closed(100.0, 90_000.0, 1.0) };
    let files = vec![
        file("hey.txt", Tool::Hey, busy_elsewhere),
        file("wrk.txt", Tool::Wrk, closed(100.0, 40_000.0, 2.4)),
        file("oha.txt", Tool::Oha, closed(100.0, 38_000.0, 2.5)),
        file("slow.txt", Tool::Wrk, slow),
        file("ab.txt", Tool::Ab, fresh),
        file("erring.txt", Tool::Wrk, erring),
        file("other.txt", Tool::Wrk, closed(200.0, 1.0, 2.5)),
        file(
            "open.txt",
            Tool::Wrk2,
            Claim { loop_kind: LoopKind::Open, ..closed(100.0, 9.0, 9.0) },
        ),
    ];
    let audit = audit(files, false);
    let [group] = audit.groups.as_slice() else { panic!("{:?}", audit.groups) };
    assert_eq!((group.target.as_deref(), group.connections), (Some("http://h/"), 100.0));
    let standings: Vec<_> = group
        .standings
        .iter()
        .map(|s| (audit.files[s.file].name.as_str(), s.why.as_deref().unwrap_or("agrees")))
        .collect();
    assert_eq!(
        standings,
        [
            (
                "erring.txt",
                "a higher QPS than wrk.txt, but only 20.00 % succeeded: fast errors, not capacity"
            ),
            ("wrk.txt", "agrees"),
            ("oha.txt", "agrees"),
            (
                "hey.txt",
                "50.00 % of wrk.txt: probably 20,000/s too low, because by its own \
                 figures 50 of 100 requests were in flight: the rest of the time the tool itself \
                 was busy or paused"
            ),
            (
                "slow.txt",
                "50.00 % of wrk.txt: probably 20,000/s too low, because its requests took \
                 2.08 times as long on average (5.00ms): the server was slower for this tool, or the \
                 figure includes waiting in the tool's own queue"
            ),
            (
                "ab.txt",
                "25.00 % of wrk.txt: probably 30,000/s too low, because it opened a \
                 connection for each request"
            ),
        ]
    );
    assert_eq!(group.reference, 1);
}

#[test]
fn what_contradicts_itself_agrees_with_nothing() {
    let edited =
        Claim { requests: Some(1000), duration_ns: Some(SECOND), ..closed(100.0, 60_000.0, 1.0) };
    let sound = || file("sound", Tool::Wrk, closed(100.0, 40_000.0, 2.4));
    let audit_of = |files| audit(files, false).groups.remove(0);
    let group = audit_of(vec![file("edited", Tool::Wrk, edited), sound()]);
    assert_eq!((group.reference, &group.standings[1].why), (1, &None));
    let why = group.standings[0].why.as_deref().unwrap();
    assert!(why.contains("not its own requests over its time"), "{why}");
    let erring = |qps| Claim { success: Some(0.0), ..closed(100.0, qps, 1.0) };
    let files = [90_000.0, 20_000.0].map(|qps| file("erring", Tool::Wrk, erring(qps)));
    let group = audit_of(files.to_vec());
    let whys: Vec<_> = group.standings.iter().map(|of| of.why.as_deref().unwrap()).collect();
    assert!(whys.iter().all(|why| why.starts_with("no file to be held against")), "{whys:?}");
}

#[test]
fn targets_are_compared_as_what_they_mean() {
    for (a, b, same) in [
        ("http://H:80", "http://h/", true),
        ("HTTPS://h:443/a?B", "https://h/a?B", true),
        ("http://h/a", "http://h/A", false),
        ("http://h?x", "http://h/?x", true),
        ("http://h/#f", "http://h/", true),
        ("http://h:8080/", "http://h/", false),
        ("not a URL", "not a URL", true),
    ] {
        assert_eq!(side::canonical(a) == side::canonical(b), same, "{a} {b}");
    }
    let unnamed = |name: &str, qps| {
        let rows = vec![closed(10.0, qps, 9.0)];
        (name.to_owned(), Claims::new(Tool::Wrktest, rows))
    };
    let two = || vec![unnamed("a.dat", 1000.0), unnamed("b.dat", 500.0)];
    assert!(audit(two(), false).groups.is_empty());
    let groups = audit(two(), true).groups;
    assert_eq!((groups.len(), groups[0].standings[1].qps_ratio), (1, 0.5));
    assert!(audit(vec![unnamed("a.dat", 1.0)], true).groups.is_empty());
}

#[test]
fn the_worst_decides() {
    let possible = file("a", Tool::Wrk, closed(10.0, 1000.0, 9.0));
    let impossible = file("b", Tool::Wrk, closed(10.0, 1000.0, 90.0));
    let idle = file("c", Tool::Wrk, closed(10.0, 1000.0, 1.0));
    let of = |files| {
        let audit = audit(files, false);
        (audit.worst(), crate::exit_code_of_audit(&audit))
    };
    assert_eq!(of(vec![possible.clone()]), (None, 0));
    assert_eq!(of(vec![possible.clone(), idle]), (Some(Severity::Doubtful), 0));
    assert_eq!(of(vec![possible, impossible]), (Some(Severity::Impossible), 98));
}

#[test]
fn the_documentation_has_every_rule_and_format_and_no_code_twice() {
    let text = as_markdown();
    for (at, rule) in RULES.iter().enumerate() {
        assert!(text.contains(&format!("| `{}` |", rule.code)), "{}", rule.code);
        assert_eq!(RULES.iter().position(|other| other.code == rule.code), Some(at));
    }
    assert!(Tool::ALL.iter().all(|tool| text.contains(tool.form())), "{text}");
}

proptest! {
    #[test]
    fn any_figures_are_judged(
        qps in 0.0..1e15f64,
        mean_ns in prop::option::of(any::<u64>()),
        connections in prop::option::of(1.0..1e15f64),
        counts in any::<[u64; 3]>(),
        times in any::<[u64; 4]>(),
        success in prop::option::of(0.0..=1.0f64),
        kind in 0..3usize,
    ) {
        let claim = Claim {
            connections,
            loop_kind: [LoopKind::Closed, LoopKind::Users, LoopKind::Open][kind],
            requests: Some(counts[0]),
            connect_errors: counts[1],
            dropped: counts[2],
            error_ns: times[0],
            min_ns: Some(times[1]),
            max_ns: Some(times[2]),
            quantiles: vec![(0.5, times[3]), (0.99, times[0])],
            duration_ns: Some(times[3]),
            success,
            ..Claim::new(qps, mean_ns)
        };
        for tool in Tool::ALL {
            let all = findings(tool, &claim);
            prop_assert!(all.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
            prop_assert!(all.iter().all(|finding| !finding.evidence.contains("NaN")), "{all:?}");
        }
        let pair = ["a", "b"].map(|name| file(name, Tool::Hey, claim.clone()));
        let _ = audit(pair.to_vec(), false);
    }
}

#[test]
fn files_that_name_no_load_join_the_only_target() {
    let at = |target: Option<&str>, connections_given: bool| {
        let target = target.map(str::to_owned);
        let rows = vec![Claim { target, connections_given, ..closed(50.0, 1000.0, 40.0) }];
        (String::new(), Claims::new(Tool::Hey, rows))
    };
    let sizes = |files: &[(Option<&str>, bool)]| -> Vec<(Option<String>, usize, bool)> {
        let files = files.iter().map(|&(target, given)| at(target, given)).collect();
        let groups = audit(files, false).groups;
        groups.iter().map(|of| (of.target.clone(), of.standings.len(), of.assumed)).collect()
    };
    let (one, two) = (Some("http://h/a"), Some("http://h/b"));
    let joined = Some("http://h/a".to_owned());
    assert_eq!(sizes(&[(one, false), (None, true)]), [(joined.clone(), 2, true)]);
    assert_eq!(sizes(&[(one, false), (one, false)]), [(joined, 2, false)]);
    assert_eq!(sizes(&[(None, true), (None, true)]), [(None, 2, true)]);
    // Of which target it is cannot be known, or the user said nothing of it.
    assert_eq!(sizes(&[(one, false), (two, false), (None, true)]), []);
    assert_eq!(sizes(&[(one, false), (None, false)]), []);
}
