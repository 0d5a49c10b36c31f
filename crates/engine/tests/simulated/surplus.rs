//! Servers that send more than they were asked for, and healthy ones that only seem to.

use model::units::{MICROSECOND, MILLISECOND, SECOND};
use model::{Nanos, Phase, ReasonCode, Run, Verdict};
use net::Close;

use crate::harness::{Load, Outcome, closed, drive, open};
use crate::server::{OK, Reply, one_by_one, scripted};

fn judged(outcome: Outcome) -> Run {
    let mut run = outcome.run;
    run.validity = verdict::judge(&run);
    run
}

fn reported(run: &Run) -> bool {
    let mut reasons = run.validity.reasons.iter();
    reasons.any(|reason| {
        reason.code == ReasonCode::SurplusResponses && reason.consequence == Verdict::Invalid
    })
}

/// Answers each request in 1 ms, one after the other on each connection, and with a second response `late` after
/// the first one where `doubles` says so.
fn doubling(load: &Load, late: Nanos, doubles: impl Fn(u64) -> bool + 'static) -> (Run, usize) {
    let mut log = crate::server::Log::default();
    let outcome = drive(load, |world| {
        let (served, seen) = one_by_one(world, &load.request, move |request| {
            let reply = Reply::ok_after(MILLISECOND);
            let then = doubles(request.nth).then(|| (late, OK.to_vec()));
            Some(Reply { then, ..reply })
        });
        log = seen;
        served
    });
    let asked = log.borrow().len();
    (judged(outcome), asked)
}

#[test]
fn a_server_that_answers_twice_is_no_faster() {
    for pipeline in [2, 8, 32] {
        for load in [closed(4), open(8_000.0, 4)] {
            let load = load.with(|plan| plan.pipeline = pipeline);
            for late in [0, 200 * MICROSECOND] {
                let (run, _) = doubling(&load, late, |_| true);
                assert!(reported(&run), "pipeline {pipeline}, {late} ns: {:?}", run.validity);
            }
        }
    }
}

#[test]
fn a_second_response_that_comes_behind_the_next_request_is_noticed() {
    for late in [200 * MICROSECOND, 700 * MICROSECOND, 2 * MILLISECOND] {
        for users in [1, 8] {
            for every in [1, 7, 400] {
                let (run, asked) = doubling(&closed(users), late, move |nth| nth % every == 0);
                assert!(asked > 400, "{asked}");
                assert!(reported(&run), "{late} ns, {users} users, {every}: {:?}", run.validity);
            }
        }
    }
}

#[test]
fn surplus_is_looked_for_after_a_limit_by_count_too_and_changes_no_figure() {
    let load = closed(2).with(|plan| {
        (plan.duration_ns, plan.requests, plan.pipeline) = (None, Some(500), 4);
    });
    let (twice, _) = doubling(&load, 0, |_| true);
    assert!(reported(&twice), "{:?}", twice.validity);
    let (once, _) = doubling(&load, 0, |_| false);
    assert!(!reported(&once), "{:?}", once.validity);
    // 500 requests of 1 ms on two connections; the time in which was listened is no part of it.
    assert_eq!(once.totals.succeeded, 500);
    let window = once.totals.duration_ns;
    assert!((250 * MILLISECOND..260 * MILLISECOND).contains(&window), "{window}");
}

/// The machine is read when an interval comes: that of a short run must not wait for the listening.
#[test]
fn what_was_counted_is_handed_over_before_it_is_listened() {
    let load = closed(1).with(|plan| (plan.duration_ns, plan.requests) = (None, Some(1)));
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| {
            let then = Some((20 * MILLISECOND, OK.to_vec()));
            Some(Reply { then, ..Reply::ok_after(MILLISECOND) })
        })
        .0
    });
    let heard = |phase: Phase| {
        let of_phase = outcome.intervals.iter().filter(|interval| interval.phase == phase);
        of_phase.map(|interval| interval.tally.surplus_responses).collect::<Vec<_>>()
    };
    assert_eq!((heard(Phase::Window), heard(Phase::Drain)), (vec![0], vec![1]));
    let totals = &outcome.run.totals;
    assert_eq!((totals.attempts, totals.surplus_responses), (1, Some(1)));
    assert!(totals.duration_ns < 2 * MILLISECOND, "{totals:?}");
}

#[test]
fn what_healthy_servers_send_unasked_is_no_response() {
    const TIMED_OUT: &[u8] =
        b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let ended = Some(Close::Flush);
    let thinking = || closed(4).with(|plan| plan.think_ns = Some(200 * MILLISECOND));
    let answered = Reply::ok_after(MILLISECOND);
    let later = |bytes: &[u8]| Some((20 * MILLISECOND, bytes.to_vec()));
    let cases = [
        ("closes idle connections", Reply { then: later(b""), end: ended, ..answered.clone() }),
        (
            "says that it closes them",
            Reply { then: later(TIMED_OUT), end: ended, ..answered.clone() },
        ),
        ("an empty line", Reply { then: later(b"\r\n"), ..answered.clone() }),
        ("resets", Reply { then: later(b""), end: Some(Close::Reset), ..answered }),
    ];
    for (name, reply) in cases {
        let load = thinking().with(|plan| plan.duration_ns = Some(2 * SECOND));
        let run = judged(drive(&load, |world| {
            let reply = reply.clone();
            scripted(world, &load.request, move |_| Some(reply.clone())).0
        }));
        assert!(!reported(&run), "{name}: {:?}", run.validity);
        assert_eq!(run.totals.succeeded, run.totals.attempts, "{name}");
    }
}

/// A length that is too short ends a response before its last byte: its time is too short, and so is its body.
#[test]
fn a_body_longer_than_its_length_is_named_on_a_connection_that_ends_too() {
    for (body, named) in [("ok", false), ("ok\r\n", false), ("okay, and all the rest", true)] {
        for load in [closed(4), open(500.0, 4)] {
            let bytes =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{body}");
            let run = judged(drive(&load, |world| {
                scripted(world, &load.request, move |_| {
                    let reply = Reply::bytes(bytes.as_bytes()).ending(Close::Flush);
                    Some(Reply { after: MILLISECOND, ..reply })
                })
                .0
            }));
            assert_eq!(reported(&run), named, "{body:?}: {:?}", run.validity);
            assert_eq!(run.totals.succeeded, run.totals.attempts, "{body:?}");
        }
    }
}

#[test]
fn late_responses_to_attempts_given_up_were_asked_for() {
    let load = closed(4).with(|plan| plan.timeout_ns = 300 * MILLISECOND);
    let run = judged(drive(&load, |world| {
        scripted(world, &load.request, |request| {
            Some(Reply::ok_after(if request.nth % 3 == 0 {
                320 * MILLISECOND
            } else {
                MILLISECOND
            }))
        })
        .0
    }));
    assert!(run.totals.errors.timeout > 0 && !reported(&run), "{:?}", run.validity);
}

#[test]
fn stray_bytes_are_named_where_they_are_many() {
    let run = |every: u64| {
        let load = closed(100).with(|plan| {
            (plan.duration_ns, plan.think_ns) = (Some(2 * SECOND), Some(50 * MILLISECOND));
        });
        judged(drive(&load, |world| {
            scripted(world, &load.request, move |request| {
                let stray = request.nth % every == 0;
                let then = stray.then(|| (10 * MILLISECOND, b"EXTRA".to_vec()));
                Some(Reply { then, ..Reply::ok_after(MILLISECOND) })
            })
            .0
        }))
    };
    assert!(reported(&run(50)));
    assert_eq!(run(50).totals.surplus_responses, None);
}
