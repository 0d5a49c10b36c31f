//! Open loops that go well: requests leave when they are due, whichever worker sends them.

use model::units::{MICROSECOND, MILLISECOND, SECOND};
use model::{Arrivals, Nanos, Schedule};

use crate::harness::{HANDSHAKE, Load, WAY, drive, open};
use crate::server::{Log, Reply, scripted};

/// Everything due in the window of a load, by its schedule alone.
fn dues(load: &Load) -> Vec<Nanos> {
    let plan = &load.plan;
    let schedule = Schedule {
        rate_per_s: plan.rate_per_s.expect("an open loop"),
        arrivals: plan.arrivals.unwrap_or_default(),
        lanes: plan.lanes,
        seed: plan.seed,
        ramp_ns: plan.ramp_ns,
        end_ns: plan.warmup_ns + plan.duration_ns.expect("a window"),
        shape: None,
    };
    schedule.share(0, 1).filter(|&due| due >= plan.warmup_ns).collect()
}

#[test]
fn requests_leave_when_they_are_due_whatever_the_workers() {
    for (arrivals, workers) in [
        (Arrivals::Uniform, 1),
        (Arrivals::Uniform, 3),
        (Arrivals::Poisson, 1),
        (Arrivals::Poisson, 2),
    ] {
        let load = open(1000.0, 60).with(|plan| {
            (plan.arrivals, plan.threads) = (Some(arrivals), workers);
        });
        let mut log = Log::default();
        let outcome = drive(&load, |world| {
            let (served, seen) =
                scripted(world, &load.request, |_| Some(Reply::ok_after(100 * MICROSECOND)));
            log = seen;
            served
        });
        let dues = dues(&load);
        let run = &outcome.run;
        assert_eq!(run.totals.attempts, dues.len() as u64, "{arrivals:?}, {workers} workers");
        assert_eq!((run.totals.succeeded, run.late_ns.max), (dues.len() as u64, 0));
        assert_eq!(
            (run.service_ns.min, run.service_ns.max),
            (300 * MICROSECOND - WAY * 2, 200 * MICROSECOND)
        );
        // Requests that had to wait for a new connection came later; all others exactly on time.
        assert!(run.wait_ns.max <= HANDSHAKE, "{:?}", run.wait_ns);
        let mut came: Vec<Nanos> = log.borrow().iter().map(|request| request.at).collect();
        came.sort_unstable();
        let start = came.iter().zip(&dues).map(|(at, due)| at - due - WAY).min().expect("requests");
        let on_time = dues.iter().filter(|&&due| came.binary_search(&(start + due + WAY)).is_ok());
        let on_time = on_time.count();
        assert!(on_time >= dues.len() - 60, "{on_time} of {} on time", dues.len());
    }
}

#[test]
fn waiting_for_the_only_connection_is_counted_exactly() {
    let load = open(200.0, 1).with(|plan| plan.duration_ns = Some(2 * SECOND));
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(10 * MILLISECOND))).0
    });
    let service = 10 * MILLISECOND + 2 * WAY;
    let (mut free, mut waits, mut responses) = (HANDSHAKE, Vec::new(), Vec::new());
    for due in dues(&load) {
        let sent = free.max(due);
        if sent >= 2 * SECOND {
            break;
        }
        (free, _) = (sent + service, waits.push(sent - due));
        responses.push(free - due);
    }
    let run = outcome.run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (400, waits.len() as u64));
    assert_eq!(run.totals.unsent, 400 - waits.len() as u64);
    assert_eq!((run.service_ns.min, run.service_ns.max), (service, service));
    let sent = waits.len() as u64;
    assert_eq!((run.wait_ns.count, run.wait_ns.max), (sent, waits[waits.len() - 1]));
    assert_eq!(run.wait_ns.mean, waits.iter().sum::<Nanos>() / sent);
    // Those that were dropped at the window's end had no response.
    assert_eq!(run.response_ns.count, sent);
    assert_eq!(run.response_ns.mean, responses.iter().sum::<Nanos>() / sent);
    assert_eq!(run.late_ns.max, 0);
}

#[test]
fn arrivals_taken_up_together_say_how_late() {
    let load = open(20_000.0, 50).with(|plan| plan.granularity_ns = 60 * MICROSECOND);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MICROSECOND))).0
    });
    let run = outcome.run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (20_000, 20_000));
    assert!((30_000..=60_000).contains(&run.late_ns.max), "{:?}", run.late_ns);
    assert_eq!(run.rates.achieved_per_s, 20_000.0);
}

#[test]
fn connections_are_opened_only_as_needed() {
    let load = open(100.0, 1000);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    assert_eq!(outcome.run.totals.connects, 1);
    assert_eq!(outcome.run.totals.succeeded, 100);
}

#[test]
fn a_cap_on_requests_in_flight_makes_arrivals_wait() {
    let load = open(1000.0, 100).with(|plan| plan.max_inflight = 5);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(10 * MILLISECOND))).0
    });
    let run = outcome.run;
    assert_eq!(run.concurrency.in_flight_max, 5);
    assert_eq!(run.totals.attempts, 1000);
    assert!(run.totals.unsent.abs_diff(505) < 10, "{}", run.totals.unsent);
}

#[test]
fn a_ramp_sends_half_as_much() {
    let load = open(1000.0, 50).with(|plan| {
        (plan.ramp_ns, plan.duration_ns) = (2 * SECOND, Some(2 * SECOND));
    });
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    assert_eq!(outcome.run.totals.attempts, 1000);
    let firsts: u64 = outcome.intervals[0].tally.succeeded;
    assert!(firsts.abs_diff(250) <= 2, "{firsts}");
}

/// The window of a run by count lasts until the last response; what was offered is over the time in which it was due.
#[test]
fn what_a_count_offers_is_over_the_time_in_which_it_is_due() {
    let load = open(100.0, 60).with(|plan| (plan.duration_ns, plan.requests) = (None, Some(50)));
    let of = |reply_ns: Nanos, connections: u32| {
        let load = load.clone().with(|plan| plan.connections = connections);
        let outcome = drive(&load, |world| {
            scripted(world, &load.request, move |_| Some(Reply::ok_after(reply_ns))).0
        });
        outcome.run
    };
    let quick = of(MILLISECOND, 60);
    let rates = |run: &model::Run| {
        [run.rates.offered_per_s, run.rates.achieved_per_s, run.rates.requests_per_s]
            .map(f64::round)
    };
    assert_eq!(rates(&quick), [100.0, 100.0, 100.0], "49 gaps and a last response");
    let slow = of(SECOND, 60);
    assert_eq!(rates(&slow), [100.0, 100.0, 34.0], "50 in 0.49 s and one more");
    for run in [&quick, &slow] {
        let codes: Vec<_> = verdict::judge(run).reasons.iter().map(|reason| reason.code).collect();
        assert!(!codes.contains(&model::ReasonCode::AchievedBelowOffered), "{codes:?}");
        assert!(!codes.contains(&model::ReasonCode::ConnectionsExhausted), "{codes:?}");
    }
    // Two connections carry 20 a second: all are sent in the end, and most of them late.
    let held = of(100 * MILLISECOND, 2);
    assert_eq!((held.totals.succeeded, held.rates.offered_per_s), (50, 100.0));
    assert!((20.0..=24.0).contains(&held.rates.achieved_per_s), "{:?}", held.rates);
    let codes: Vec<_> = verdict::judge(&held).reasons.iter().map(|reason| reason.code).collect();
    assert!(codes.contains(&model::ReasonCode::ConnectionsExhausted), "{codes:?}");
}

/// Each worker has half of the arrivals, and one of them a single connection of three.
#[test]
fn arrivals_that_wait_for_few_connections_are_reported() {
    let load = open(165.0, 3).with(|plan| {
        (plan.threads, plan.arrivals) = (2, Some(Arrivals::Poisson));
        plan.duration_ns = Some(20 * SECOND);
    });
    let codes = |connections: u32| {
        let load = load.clone().with(|plan| plan.connections = connections);
        let run = drive(&load, |world| {
            scripted(world, &load.request, |_| Some(Reply::ok_after(10 * MILLISECOND))).0
        })
        .run;
        assert_eq!(run.service_ns.p99 / MILLISECOND, 10, "the server is as fast for all");
        let reasons = verdict::judge(&run).reasons.into_iter();
        let found = reasons.filter(|of| of.code == model::ReasonCode::ConnectionsExhausted);
        (run.response_ns.p90, found.map(|of| of.text).collect::<Vec<_>>())
    };
    let (slow, told) = codes(3);
    assert!(slow > 25 * MILLISECOND, "{slow}");
    assert!(told.len() == 1 && told[0].contains("arrivals waited"), "{told:?}");
    let (quick, told) = codes(40);
    assert!(quick < 11 * MILLISECOND && told.is_empty(), "{quick} {told:?}");
}
