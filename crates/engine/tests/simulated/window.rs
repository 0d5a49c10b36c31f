//! Where the measured window begins and ends.

use model::Phase;
use model::units::{MILLISECOND, SECOND};

use testkit::sim::{Conditions, Delay};

use crate::harness::{WAY, closed, drive, open};
use crate::server::{Log, Reply, scripted};

#[test]
fn only_what_is_due_in_the_window_counts() {
    for workers in [1, 2, 3] {
        let load = open(1000.0, 60).with(|plan| {
            (plan.warmup_ns, plan.threads) = (1500 * MILLISECOND, workers);
        });
        let outcome = drive(&load, |world| {
            scripted(world, &load.request, |_| Some(Reply::ok_after(20 * MILLISECOND))).0
        });
        let run = &outcome.run;
        assert_eq!((run.totals.attempts, run.totals.succeeded), (1000, 1000), "{workers} workers");
        assert_eq!((run.totals.duration_ns, run.rates.offered_per_s), (SECOND, 1000.0));
        assert_eq!(run.rates.requests_per_s, 1000.0);
        let edges: Vec<_> =
            outcome.intervals.iter().map(|i| (i.phase, i.start_ns, i.end_ns)).collect();
        assert_eq!(
            edges[..3],
            [
                (Phase::Warmup, 0, SECOND),
                (Phase::Warmup, SECOND, 1500 * MILLISECOND),
                (Phase::Window, 1500 * MILLISECOND, 2500 * MILLISECOND),
            ]
        );
        assert_eq!((edges.len(), edges[3].0), (4, Phase::Drain));
        assert!(outcome.intervals.iter().enumerate().all(|(k, i)| i.index == k as u32));
    }
}

#[test]
fn a_closed_loop_counts_what_it_sends_after_warming_up() {
    let load = closed(2).with(|plan| plan.warmup_ns = 500 * MILLISECOND);
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        let (served, seen) =
            scripted(world, &load.request, |_| Some(Reply::ok_after(30 * MILLISECOND)));
        log = seen;
        served
    });
    let first = log.borrow()[0].at;
    let in_window = log.borrow().iter().filter(|a| a.at - first >= 500 * MILLISECOND).count();
    assert_eq!(outcome.run.totals.attempts, in_window as u64);
    assert_eq!(outcome.run.totals.succeeded, in_window as u64);
}

#[test]
fn what_happens_at_the_edge_belongs_to_what_begins_there() {
    let load = closed(1).with(|plan| plan.warmup_ns = 500 * MILLISECOND);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(100 * MILLISECOND - 2 * WAY))).0
    });
    // Responses come, and requests leave, at every tenth of a second: at 0.5 s, and not at 1.5 s.
    let run = &outcome.run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (10, 10));
    assert_eq!((run.rates.requests_per_s, run.rates.achieved_per_s), (10.0, 10.0));
}

#[test]
fn opening_connections_for_long_is_no_part_of_the_run() {
    let mut load = closed(600).with(|plan| plan.threads = 2);
    load.conditions = Conditions { handshake: Delay::Fixed(600 * MILLISECOND), ..load.conditions };
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(50 * MILLISECOND))).0
    });
    let (run, first) = (&outcome.run, &outcome.intervals[0]);
    assert!(outcome.took > 3 * SECOND, "{} {:?}", outcome.took, run.totals);
    assert_eq!((first.index, first.start_ns, first.end_ns), (0, 0, SECOND));
    assert_eq!((run.totals.attempts, run.totals.succeeded), (12_000, 12_000));
    assert_eq!((run.concurrency.open_max, run.concurrency.in_flight_max), (600, 600));
    assert!((run.concurrency.open_mean - 600.0).abs() < 1e-6, "{:?}", run.concurrency);
    assert!((run.concurrency.in_flight_mean - 600.0).abs() < 1e-6, "{:?}", run.concurrency);
}

#[test]
fn connections_that_do_not_open_are_not_waited_for() {
    let mut load = closed(300).with(|plan| plan.timeout_ns = 30 * SECOND);
    load.conditions = Conditions { handshake: Delay::Fixed(60 * SECOND), ..load.conditions };
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    let run = &outcome.run;
    assert!(outcome.took < 6 * SECOND, "{} {:?}", outcome.took, run.totals);
    assert_eq!((run.totals.duration_ns, run.totals.attempts), (SECOND, 0));
    // Its users waited for all of it.
    assert!(run.rates.available_ratio.is_some_and(|there| there < 0.01), "{:?}", run.rates);
    assert_eq!(run.users.as_ref().map(|users| users.unserved), Some(300));
}

#[test]
fn a_count_is_kept_exactly() {
    for (connections, workers, warmup_ns, requests) in
        [(1, 1, 0, 1), (7, 3, 0, 1000), (10, 4, 0, 3), (5, 2, 300 * MILLISECOND, 777)]
    {
        let change = |plan: &mut model::Plan| {
            (plan.threads, plan.warmup_ns) = (workers, warmup_ns);
            (plan.requests, plan.duration_ns) = (Some(requests), None);
        };
        for load in [closed(connections).with(change), open(500.0, connections).with(change)] {
            let mut log = Log::default();
            let outcome = drive(&load, |world| {
                let (served, seen) =
                    scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND)));
                log = seen;
                served
            });
            let totals = &outcome.run.totals;
            let counts = (totals.attempts, totals.succeeded, totals.requests);
            assert_eq!(counts, (requests, requests, requests), "{:?}", load.plan);
            if warmup_ns == 0 {
                assert_eq!(log.borrow().len() as u64, requests);
            }
        }
    }
}

#[test]
fn a_count_or_a_time_whichever_comes_first() {
    let load = closed(1).with(|plan| plan.requests = Some(1_000_000));
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    assert_eq!(outcome.run.totals.duration_ns, SECOND);
    assert!(outcome.run.totals.attempts < 1000);
}

#[test]
fn after_the_window_nothing_is_sent_and_what_stays_open_is_unfinished() {
    let load = closed(3).with(|plan| plan.timeout_ns = 5 * SECOND);
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        // Responses take longer and longer: the last would come after ten seconds.
        let (served, seen) = scripted(world, &load.request, |request| {
            Some(Reply::ok_after(if request.nth < 27 { 100 * MILLISECOND } else { 10 * SECOND }))
        });
        log = seen;
        served
    });
    let totals = &outcome.run.totals;
    let begin = log.borrow()[0].at;
    assert!(log.borrow().iter().all(|request| request.at - begin < SECOND));
    assert_eq!(totals.attempts, log.borrow().len() as u64);
    // They were sent before the end, so that their time is over before the drain's.
    assert_eq!((totals.unfinished, totals.errors.timeout), (0, totals.attempts - 27));
    assert!(outcome.took < 6100 * MILLISECOND);
}

#[test]
fn an_interruption_ends_all_workers_windows_at_one_instant() {
    // Instants around the turn of a second, where workers could come to lie on both sides of it.
    for stop_ms in [1, 700, 2900, 2951, 2999, 3001, 3049] {
        for load in [closed(6), open(600.0, 60)] {
            let mut load = load.with(|plan| {
                (plan.threads, plan.duration_ns) = (3, Some(60 * SECOND));
                plan.timeout_ns = 30 * SECOND;
            });
            load.stop_at = Some(stop_ms * MILLISECOND);
            // Workers look at different times.
            let delay = Delay::Between(1000, 20 * MILLISECOND);
            load.conditions = Conditions { delay, ..load.conditions };
            let outcome = drive(&load, |world| {
                // One in a hundred never gets a response.
                scripted(world, &load.request, |request| {
                    (request.nth % 100 != 99).then(|| Reply::ok_after(10 * MILLISECOND))
                })
                .0
            });
            let run = &outcome.run;
            let window = run.totals.duration_ns;
            let expected = stop_ms * MILLISECOND;
            assert!(window.abs_diff(expected) <= 60 * MILLISECOND, "{stop_ms} ms: {window}");
            assert!(outcome.took <= stop_ms * MILLISECOND + 1200 * MILLISECOND);
            let totals = &run.totals;
            let ended =
                totals.succeeded + totals.unsent + totals.unfinished + totals.errors.total();
            assert_eq!(totals.attempts, ended);
            assert_eq!(totals.errors.total(), 0);
            let now = &run.concurrency;
            assert!(now.open_mean <= f64::from(now.open_max) + 1e-6, "{stop_ms} ms: {now:?}");
            assert!(now.in_flight_mean <= f64::from(now.in_flight_max) + 1e-6, "{now:?}");
            if load.plan.rate_per_s.is_some() && stop_ms > 1 {
                let offered = run.rates.offered_per_s;
                assert!((offered - 600.0).abs() < 12.0, "{stop_ms} ms: {offered}");
            }
        }
    }
}

#[test]
fn workers_that_are_busy_end_the_window_at_once() {
    let mut load = closed(6).with(|plan| {
        (plan.threads, plan.duration_ns) = (3, Some(60 * SECOND));
    });
    load.stop_at = Some(700 * MILLISECOND);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    let window = outcome.run.totals.duration_ns;
    assert!(window.abs_diff(700 * MILLISECOND) <= 15 * MILLISECOND, "{window}");
}

#[test]
fn a_worker_with_nothing_to_do_does_not_lengthen_a_window_that_is_cut_short() {
    // Instants before and behind the turn of a second, and between two at which an idle worker looks.
    for stop_ms in [310, 980, 1010] {
        let mut load = closed(2).with(|plan| {
            (plan.threads, plan.duration_ns) = (2, Some(60 * SECOND));
            plan.timeout_ns = 30 * SECOND;
        });
        load.stop_at = Some(stop_ms * MILLISECOND);
        let outcome = drive(&load, |world| {
            // The other one's first response takes until long after the end.
            scripted(world, &load.request, |request| {
                let after = if request.conn == 0 { MILLISECOND } else { 20 * SECOND };
                Some(Reply::ok_after(after))
            })
            .0
        });
        let totals = &outcome.run.totals;
        assert!(totals.duration_ns < (stop_ms + 10) * MILLISECOND, "{stop_ms} ms: {totals:?}");
        // 1.1 ms each: as many as the window has room for.
        let per_s = outcome.run.rates.requests_per_s;
        assert!((per_s - 909.0).abs() < 20.0, "{stop_ms} ms: {per_s}");
        let window = |phase: Phase| outcome.intervals.iter().filter(move |i| i.phase == phase);
        let end_ns = window(Phase::Window).map(|i| i.end_ns).max();
        assert_eq!(end_ns, Some(totals.duration_ns));
        assert!(window(Phase::Drain).all(|i| Some(i.start_ns) >= end_ns), "{stop_ms} ms");
    }
}

#[test]
fn what_comes_after_a_window_that_was_cut_short_is_not_counted_in_it() {
    // Both workers wait when the run is stopped; a response wakes the first of them 20 ms later, which sends its next request,
    // and another the second 25 ms after that.
    let mut load = closed(2).with(|plan| {
        (plan.threads, plan.duration_ns) = (2, Some(60 * SECOND));
        plan.timeout_ns = 30 * SECOND;
    });
    load.stop_at = Some(306 * MILLISECOND);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |request| {
            let after = if request.conn == 0 { 320 } else { 345 };
            Some(Reply::ok_after(after * MILLISECOND))
        })
        .0
    });
    let totals = &outcome.run.totals;
    assert_eq!((totals.attempts, totals.succeeded), (3, 3), "{totals:?}");
    let done: u64 = outcome.intervals.iter().map(|interval| interval.tally.responses_done).sum();
    assert_eq!(done, 1, "the second came when the window was over: {totals:?}");
    assert!(totals.duration_ns < 330 * MILLISECOND, "{totals:?}");
}

#[test]
fn throughput_samples_lose_nothing_when_an_interval_ends() {
    // Intervals end in the middle of samples.
    let load = closed(1).with(|plan| {
        (plan.warmup_ns, plan.duration_ns) = (250 * MILLISECOND, Some(5 * SECOND));
    });
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(9_900_000))).0
    });
    let samples = outcome.run.generator.workers[0].req_per_s;
    assert!(samples.count >= 40, "{samples:?}");
    // A response more or less in a sample is 10/s.
    assert!((samples.mean - 100.0).abs() < 3.0 && samples.stdev < 10.0, "{samples:?}");
}
