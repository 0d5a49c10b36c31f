//! Waiting against queueing theory, and against a server that pauses.

use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Nanos, Schedule};
use target::{Options, Stall};
use verdict::validity::stalls;

use crate::harness::{HANDSHAKE, Load, WAY, closed, drive, open};
use crate::server::{Reply, built_in, scripted};

/// One connection, Poisson arrivals, a fixed service time: M/D/1, every wait by Lindley's recursion
/// (1952) on the same draws.
#[test]
fn ten_thousand_waits_follow_lindleys_recursion() {
    let load = open(100.0, 1).with(|plan| {
        (plan.arrivals, plan.duration_ns) = (Some(Arrivals::Poisson), Some(100 * SECOND));
    });
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(8 * MILLISECOND))).0
    });
    let schedule = Schedule {
        rate_per_s: 100.0,
        arrivals: Arrivals::Poisson,
        lanes: 4096,
        seed: 1,
        ramp_ns: 0,
        end_ns: 100 * SECOND,
        shape: None,
    };
    let service = 8 * MILLISECOND + 2 * WAY;
    let dues: Vec<Nanos> = schedule.share(0, 1).collect();
    let mut free = dues[0] + HANDSHAKE;
    let mut sum: u128 = 0;
    let mut sent = 0;
    for &due in &dues {
        let at = free.max(due);
        if at >= 100 * SECOND {
            break;
        }
        (sum, sent, free) = (sum + u128::from(at - due), sent + 1, at + service);
    }
    let run = outcome.run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (dues.len() as u64, sent));
    let wait = run.wait_ns;
    assert_eq!((wait.count, u128::from(wait.mean)), (sent, sum / u128::from(sent)));
    // Pollaczek and Khinchine: rho / (2 mu (1 - rho)). 10,000 autocorrelated waits come near it.
    let rho = 100.0 * service as f64 / 1e9;
    let mean = rho * service as f64 / (2.0 * (1.0 - rho));
    assert!((wait.mean as f64 / mean - 1.0).abs() < 0.25, "{} against {mean}", wait.mean);
}

/// A server that pauses s in T seconds: the share s/T of arrivals waits, uniformly from s to 0.
#[test]
fn a_stall_is_seen_by_everyone_who_met_it() {
    let stall = Stall { every_ns: 10 * SECOND, for_ns: SECOND };
    let options = Options { stall: Some(stall), ..Options::default() };
    let load = open(1000.0, 2000).with(|plan| {
        (plan.warmup_ns, plan.duration_ns) = (5 * SECOND, Some(40 * SECOND));
    });
    let run = drive(&load, |world| built_in(world, &options)).run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (40_000, 40_000));
    let response = run.histogram("response").expect("responses");
    for quantile in [0.92, 0.95, 0.99, 0.999] {
        let expected = (1.0 - (1.0 - quantile) / 0.1) * 1e9;
        let seen = response.at_quantile(quantile) as f64;
        assert!((seen / expected - 1.0).abs() < 0.02, "p{quantile}: {seen} against {expected}");
    }
    assert!(response.at_quantile(0.89) < MILLISECOND, "{}", response.at_quantile(0.89));
}

/// Half of each fourth second: throughput and percentiles hardly tell, the longest responses do.
#[test]
fn short_stalls_at_one_distance_are_reported() {
    let told = |load: &Load, stall: Option<Stall>| {
        let options = Options { stall, ..Options::default() };
        stalls(&drive(load, |world| built_in(world, &options)).run)
    };
    let stall = Stall { every_ns: 4 * SECOND, for_ns: 500 * MILLISECOND };
    let paced = closed(4).with(|plan| plan.pace_ns = Some(10 * MILLISECOND));
    for load in [open(200.0, 200), paced] {
        let load = load.with(|plan| plan.duration_ns = Some(30 * SECOND));
        let stalls = told(&load, Some(stall)).expect("seven of them");
        assert_eq!((stalls.count, stalls.period_ns), (7, 4 * SECOND));
        assert!((480..=502).contains(&(stalls.length_ns / MILLISECOND)), "{stalls:?}");
        assert_eq!(told(&load, None), None);
    }
}

/// In a closed loop each user meets the stall only once: the reason for fixed rates.
#[test]
fn a_closed_loop_meets_a_stall_once_a_user() {
    let stall = Stall { every_ns: 10 * SECOND, for_ns: SECOND };
    let options = Options { stall: Some(stall), ..Options::default() };
    let load = closed(5).with(|plan| {
        (plan.duration_ns, plan.pace_ns) = (Some(15 * SECOND), Some(10 * MILLISECOND));
    });
    let run = drive(&load, |world| built_in(world, &options)).run;
    let service = run.histogram("service").expect("responses");
    assert!((990 * MILLISECOND..=SECOND + MILLISECOND).contains(&service.max()));
    assert!(service.at_quantile(0.995) < MILLISECOND);
}
