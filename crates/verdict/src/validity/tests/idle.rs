//! The rule about a time in which nothing was asked.

use model::timeline::Point;

use super::*;

/// 20 users who think for 6 s after a request each, in a window of 5 s in whose seconds so many connections stood.
fn thinking(open: [f64; 5], server_closes: u64) -> Run {
    let mut run = closed();
    (run.plan.connections, run.plan.max_inflight) = (20, 20);
    (run.plan.think_ns, run.plan.duration_ns) = (Some(6 * SECOND), Some(5 * SECOND));
    let totals = &mut run.totals;
    (totals.attempts, totals.requests, totals.succeeded) = (20, 20, 20);
    (totals.connects, totals.server_closes, totals.duration_ns) = (20, server_closes, 5 * SECOND);
    run.rates.requests_per_s = 4.0;
    let second = |(at, open_mean): (usize, f64)| {
        let first = at == 0;
        Point {
            start_ns: at as u64 * SECOND,
            duration_ns: SECOND,
            phase: "window".into(),
            achieved_per_s: if first { 20.0 } else { 0.0 },
            requests_per_s: if first { 20.0 } else { 0.0 },
            in_flight_mean: if first { 0.3 } else { 0.0 },
            open_mean,
            ..Default::default()
        }
    };
    run.timeline = open.into_iter().enumerate().map(second).collect();
    run
}

#[test]
fn a_server_that_closed_every_idle_connection_is_not_called_sound() {
    for open in [[20.0, 19.7, 0.0, 0.0, 0.0], [11.0, 0.0, 0.0, 0.0, 0.0]] {
        let (verdict, codes, text) = judged(thinking(open, 20), |_| ());
        assert_eq!((verdict, codes), (Verdict::Invalid, vec![ReasonCode::NothingAsked]), "{text}");
        assert!(text.contains("nothing was asked of it in the last 4.00s of the window"), "{text}");
    }
}

#[test]
fn a_window_of_one_burst_is_reported_and_bounds_nothing() {
    let run = thinking([20.0; 5], 0);
    let (verdict, codes, text) = judged(run.clone(), |_| ());
    assert_eq!((verdict, codes), (Verdict::Valid, vec![ReasonCode::NothingAsked]), "{text}");
    assert!(text.contains("in the long run they send 3.33/s"), "{text}");
    let (verdict, codes, text) = judged(run, |run| run.generator.workers[0].busy_ratio = 0.99);
    assert_eq!(verdict, Verdict::Valid, "{text}");
    assert!(codes.contains(&ReasonCode::WorkersSaturated), "{text}");
}

#[test]
fn servers_that_close_connections_and_are_there_are_sound() {
    let invalid = |run: Run| judged(run, |_| ()).0 == Verdict::Invalid;
    // One that closes each connection behind its response, one that left some open, one that was connected to again.
    assert!(!invalid(thinking([0.3, 0.0, 0.0, 0.0, 0.0], 20)));
    assert!(!invalid(thinking([20.0, 19.0, 1.0, 1.0, 1.0], 19)));
    let mut again = thinking([20.0, 19.0, 0.0, 0.0, 0.0], 40);
    again.totals.connects = 40;
    assert!(!invalid(again));
    // Users who think for a second at most.
    let mut often = thinking([20.0; 5], 0);
    often.plan.think_ns = Some(SECOND);
    assert_eq!(judged(often, |_| ()).1, vec![]);
}
