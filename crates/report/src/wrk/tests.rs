//! wrk's printouts as known: every figure below was printed by wrk 4 itself.

use super::*;
use crate::sample;

#[test]
fn units_change_where_wrk_changes_them() {
    for (micros, text) in [
        (0.0, "0.00us"),
        (849.0, "849.00us"),
        (850.0, "0.85ms"),
        (508_770.0, "508.77ms"),
        (948_990.0, "948.99ms"),
        (999_999.0, "1000.00ms"),
        (1_330_000.0, "1.33s"),
        (9_270_000.0, "9.27s"),
        (30_100_000.0, "30.10s"),
        (60_060_000.0, "1.00m"),
    ] {
        assert_eq!(time_us(micros), text);
    }
    for (n, text) in
        [(251.79, "251.79"), (940.0, "0.94k"), (1_000.0, "1.00k"), (10_450.0, "10.45k")]
    {
        assert_eq!(metric(n, 2), text);
    }
    for (n, text) in [(870.0, "870.00"), (871.0, "0.85K"), (432_485_171.2, "412.45M")] {
        assert_eq!(binary(n), text);
    }
    assert_eq!(
        [time(30.0, 0), time(60.0, 0), time(300.0, 0), time(52.0, 0)],
        ["30s", "1m", "5m", "1m"]
    );
}

#[test]
fn lines_stand_as_wrk_prints_them() {
    let us = |mean, stdev, max, within_stdev| Stats { mean, stdev, max, within_stdev };
    let k = |n| metric(n, 2);
    for (printed, wanted) in [
        (
            stats("Latency", us(508_770.0, 604_010.0, 9_270_000.0, 0.8159), time_us),
            "    Latency   508.77ms  604.01ms   9.27s    81.59%\n",
        ),
        (
            stats("Req/Sec", us(772.48, 940.0, 10_450.0, 0.8682), k),
            "    Req/Sec   772.48      0.94k   10.45k    86.82%\n",
        ),
        (
            stats("Latency", us(32_010.0, 39_320.0, 488_620.0, 0.8793), time_us),
            "    Latency    32.01ms   39.32ms 488.62ms   87.93%\n",
        ),
        (
            stats("Req/Sec", us(1_000.0, 251.79, 3_350.0, 0.69), k),
            "    Req/Sec     1.00k   251.79     3.35k    69.00%\n",
        ),
        (
            stats("Latency", us(85_270.0, 90_290.0, 1_270_000.0, 0.9276), time_us),
            "    Latency    85.27ms   90.29ms   1.27s    92.76%\n",
        ),
        (format!("{:7}%{}\n", 50, column(&time_us(413_350.0), 10)), "     50%  413.35ms\n"),
        (format!("{:7}%{}\n", 90, column(&time_us(1_330_000.0), 10)), "     90%    1.33s \n"),
    ] {
        assert_eq!(printed, wanted);
    }
}

#[test]
fn pooling_workers_is_as_if_one_had_sampled() {
    let share = |count, mean, stdev, max| model::run::WorkerShare {
        req_per_s: model::run::StepSummary { count, mean, stdev, max, within_stdev: 0.5 },
        ..Default::default()
    };
    let workers = vec![share(2, 100.0, 10.0, 110.0), share(2, 300.0, 10.0, 310.0)];
    let pooled = throughput(&Generator { workers, ..Generator::default() });
    assert_eq!((pooled.mean, pooled.max, pooled.within_stdev), (200.0, 310.0, 0.5));
    assert!((pooled.stdev - 10_100f64.sqrt()).abs() < 1e-9);
    assert_eq!(throughput(&Generator::default()), Stats::default());
}

#[test]
fn our_classes_fold_into_four() {
    let errors = ErrorCounts {
        dns: 1,
        connect: 2,
        tls: 4,
        read: 8,
        write: 16,
        timeout: 32,
        protocol: 64,
        status: 128,
        check: 256,
    };
    let wanted = Counts { connect: 7, read: 72, write: 16, timeout: 32, ..Counts::default() };
    assert_eq!(Counts::socket(&errors), wanted);
}

/// Reads the block as people's scripts do: words of the lines that `grep` finds.
fn word(block: &str, line: &str, at: usize) -> String {
    let found = block.lines().find(|l| l.contains(line)).unwrap_or_else(|| panic!("no {line}"));
    found.split_whitespace().nth(at).unwrap().to_owned()
}

#[test]
fn scripts_that_read_wrk_read_this() {
    let block = block(&sample::open_loop(), true);
    assert_eq!(word(&block, "Requests/sec", 1).parse::<f64>().unwrap().round(), 19_843.0);
    assert!(
        word(&block, "Latency  ", 1).ends_with("us")
            || word(&block, "Latency  ", 1).ends_with("ms")
    );
    assert!(word(&block, "requests in", 0).parse::<u64>().unwrap() > 0);
    assert_eq!(word(&block, "Socket errors", 2), "connect");
    assert_eq!(word(&block, "Non-2xx", 4), "90");
}

#[test]
fn a_quiet_run_has_no_error_lines() {
    let mut run = sample::closed_loop();
    run.totals.errors = ErrorCounts::default();
    run.totals.statuses.retain(|status, _| *status < 400);
    let block = block(&run, false);
    assert!(!block.contains("Socket errors") && !block.contains("Non-2xx"));
    assert!(!block.contains("Distribution"));
    assert_eq!(block.lines().count(), 8);
}

/// Ten requests, one a second: the last was due after 9 s, and its response came at once.
#[test]
fn a_count_at_a_rate_is_printed_whole() {
    let mut run = sample::open_loop();
    run.plan = model::Plan {
        rate_per_s: Some(1.0),
        arrivals: Some(model::Arrivals::Uniform),
        duration_ns: None,
        requests: Some(10),
        ..fixture::plan()
    };
    run.totals.duration_ns = 9 * SECOND;
    (run.rates.requests_per_s, run.rates.bytes_read_per_s) = (1.0, 80.0);
    let whole = block(&run, false);
    assert!(whole.contains("  10 requests in 10.00s, 720.00B read"), "{whole}");
    assert_eq!(word(&whole, "Requests/sec", 1), "1.00");
    assert_eq!(word(&whole, "Transfer/sec", 1), "72.00B");
    run.interrupted = true;
    assert_eq!(Counts::of(&run).requests, 9);
}

#[test]
fn the_whole_block() {
    insta::assert_snapshot!(block(&sample::closed_loop(), true));
}
