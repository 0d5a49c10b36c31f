//! wrk, wrk2, and what looks like them.

use super::*;

#[test]
fn wrks_block() {
    let s1 = row(WRK_S1);
    assert_eq!(s1.target.as_deref(), Some("http://10.0.4.57:8080/healthz"));
    assert_eq!((s1.connections, s1.qps), (Some(30_000.0), 75_613.16));
    assert_eq!(
        (s1.mean_ns, s1.error_ns, s1.max_ns),
        (Some(508_770_000), 5_000, Some(9_270_000_000))
    );
    assert_eq!((at(&s1, 50.0), at(&s1, 99.0)), (Some(413_350_000), Some(2_440_000_000)));
    assert_eq!((s1.requests, s1.duration_ns), (Some(2_276_265), Some(30_100_000_000)));
    assert_eq!(s1.connect_errors, 1754);
    close(s1.success, 2_276_265.0 / (2_276_265.0 + 1754.0 + 40.0));
    close(s1.ratio(), 75_613.16 * 0.50877 / 30_000.0);
    assert_eq!(format!("{:.2}", row(WRK_S2).ratio().unwrap()), "1.53");
    assert_eq!(format!("{:.2}", row(WRK_S5).ratio().unwrap()), "1.36");
    assert_eq!((row(WRK_503).success, row(WRK_503).quantiles.len()), (Some(0.0), 0));
}

#[test]
fn a_log_of_several_printouts_is_several_rows() {
    let log = format!("$ ./all.sh\n{WRK_S2}\nnow the next\n{WRK}{WRK_503}");
    let rows = claims(log.as_bytes()).unwrap().rows;
    let connections: Vec<_> = rows.iter().map(|row| row.connections.unwrap()).collect();
    assert_eq!(connections, [3000.0, 50.0, 8.0]);
    assert_eq!(rows[1], row(WRK));
    let both = format!("{AB_CLOSE}\n{AB_503}");
    assert_eq!(claims(both.as_bytes()).unwrap().rows, [row(AB_CLOSE), row(AB_503)]);
}

#[test]
fn wrk2_and_our_own_open_loop_are_open() {
    let wrk2 = row(WRK2);
    assert_eq!((wrk2.loop_kind, wrk2.latency), (LoopKind::Open, Latency::Response));
    assert_eq!((wrk2.qps, wrk2.mean_ns), (2000.4, Some(180_200_000)));
    assert_eq!((at(&wrk2, 99.9), wrk2.quantiles.len()), (Some(620_000_000), 7));
    let brief = WRK2.replace("(HdrHistogram - Recorded Latency)", "");
    assert_eq!(row(&brief).loop_kind, LoopKind::Open);
    let ours = format!("{WRK}\nLoad         open loop, 5,000/s uniform, 3s\n");
    assert_eq!((row(&ours).loop_kind, row(WRK).loop_kind), (LoopKind::Open, LoopKind::Closed));
    assert_eq!(row(&ours).latency, Latency::Service);
}

#[test]
fn what_a_script_prints_behind_the_block_is_no_distribution() {
    for printed in ["99% 1234\n", "  50%     22\n  66%     23\n"] {
        assert_eq!(row(&format!("{WRK}{printed}")), row(WRK), "{printed}");
    }
}

#[test]
fn wrk2s_mean_of_nothing_is_none() {
    let timed = ["180.20ms  120.10ms 640.00ms", "40008 requests", "2000.40"];
    let nothing = ["  -nanus    -nanus   0.00us", "0 requests", "0.00"];
    let untimed = |text: String, (timed, nothing): (&str, &str)| text.replacen(timed, nothing, 1);
    let dead = timed.into_iter().zip(nothing).fold(WRK2.to_owned(), untimed);
    let claim = row(&dead);
    assert_eq!((claim.qps, claim.mean_ns, claim.max_ns), (0.0, None, None));
    // Of a run that ended with its calibration: requests, but no latencies.
    let short = untimed(WRK2.to_owned(), (timed[0], nothing[0]));
    assert_eq!((row(&short).qps, row(&short).mean_ns), (2000.4, None));
}

#[test]
fn newer_wrk2_prints_p99_where_wrk_has_the_greatest_latency() {
    let newer =
        WRK2.replace("Stdev     Max", "Stdev     99%").replace("640.00ms   71", "560.00ms   71");
    let newer = newer.replace("639.00ms", "640.00ms");
    let claim = row(&newer);
    assert_eq!((claim.max_ns, at(&claim, 99.0)), (None, Some(560 * MILLISECOND)));
    assert_eq!((claim.quantiles.len(), at(&claim, 99.99)), (7, Some(640 * MILLISECOND)));
    // A short run without --latency has neither calibration nor distribution.
    let [head, rest] = [
        "Running 5s test @ http://h/\n  2 threads and 50 connections\n",
        "  10000 requests in 5.00s, 1.00MB read\nRequests/sec:   2000.00\n",
    ];
    let stats = "  Thread Stats   Avg      Stdev     99%   +/- Stdev\n    Latency   180.20ms  120.10ms 560.00ms   71.10%\n";
    let short = claims(format!("{head}{stats}{rest}").as_bytes()).unwrap();
    assert_eq!((short.tool, short.rows[0].loop_kind), (Tool::Wrk2, LoopKind::Open));
    assert_eq!(short.rows[0].quantiles, [(0.99, 560 * MILLISECOND)]);
}

#[test]
fn wrks_time_outs_are_late_responses_and_wrk2s_are_none() {
    let errors = "Socket errors: connect 0, read 0, write 0, timeout";
    let with = |text: &str, timeouts: u64| {
        row(&text.replacen("Requests/sec:", &format!("{errors} {timeouts}\nRequests/sec:"), 1))
    };
    let all = row(WRK).requests.unwrap();
    close(with(WRK, all / 4).success, 1.0 - (all / 4) as f64 / all as f64);
    assert_eq!(with(WRK, all).success, Some(0.0));
    close(with(WRK2, 40_008).success, 0.5);
    let ours = format!("{WRK}\nLoad         closed loop, 3s\n");
    close(with(&ours, all).success, 0.5);
}
