//! Waiting over real sockets against theory. Left out of ordinary test runs: the figures need minutes,
//! and a machine with nothing else to do.

use model::Run;
use verdict::statistics::{Figure, Time, estimate, stretches};

use crate::harness::{load, server, server_with, url};

/// Mean service time of the queues.
const MEAN_S: f64 = 0.005;

/// M/M/c by Erlang's C (1917), M/D/1 by Pollaczek and Khinchine: the mean response in seconds.
fn by_theory(servers: u32, exponential: bool, busy: f64) -> f64 {
    let c = f64::from(servers);
    let b = (1..=servers).fold(1.0, |b, n| busy * c * b / (f64::from(n) + busy * c * b));
    let waits = b / (1.0 - busy * (1.0 - b));
    let waiting = waits * MEAN_S / (c * (1.0 - busy));
    MEAN_S + if exponential { waiting } else { waiting / 2.0 }
}

/// The run's own 99 % interval of its mean response, in seconds.
fn interval(run: &Run) -> (f64, f64) {
    let blocks = stretches(run).expect("blocks");
    let mean = estimate(&blocks, Figure::Mean(Time::Response), 0.99).expect("an interval");
    (mean.low / 1e9, mean.high / 1e9)
}

#[test]
#[ignore = "twelve minutes of real time on a quiet machine"]
fn theory_is_inside_the_interval_of_a_queues_mean_in_eleven_of_twelve_runs() {
    let server = server();
    let mut inside = 0;
    for (servers, name) in [(1, "exp"), (4, "exp"), (1, "det")] {
        for busy in [0.3, 0.45, 0.6, 0.7] {
            let path = format!("/queue?servers={servers}&mean=5ms&dist={name}&seed=5");
            let rate = busy * f64::from(servers) / MEAN_S;
            let flags = format!("-R {rate} --arrivals poisson -c 1000 --warmup 2s -d 60s");
            let (low, high) = interval(&load(&url(&server, &path), &flags).run);
            let theory = by_theory(servers, name == "exp", busy);
            let holds = (low..=high).contains(&theory);
            inside += u32::from(holds);
            println!(
                "{servers} servers, {name}, {busy}: theory {:.2} ms, interval {:.2} to {:.2} ms{}",
                theory * 1e3,
                low * 1e3,
                high * 1e3,
                if holds { "" } else { ": outside" }
            );
        }
    }
    assert!(inside >= 11, "{inside} of 12");
}

#[test]
#[ignore = "fifty seconds of real time on a quiet machine"]
fn a_stall_of_one_second_in_ten_is_seen_as_the_closed_form_has_it() {
    let stall = target::Stall { every_ns: 10_000_000_000, for_ns: 1_000_000_000 };
    let server = server_with(|options| options.stall = Some(stall));
    let flags = "-R 1000 -c 2000 --warmup 5s -d 40s";
    let run = load(&url(&server, "/healthz"), flags).run;
    let response = run.histogram("response").expect("responses");
    for quantile in [0.92, 0.95, 0.99, 0.999] {
        // The share s/T of arrivals waits, uniformly from s down to 0.
        let expected = (1.0 - (1.0 - quantile) / 0.1) * 1e9;
        let seen = response.at_quantile(quantile) as f64;
        println!("p{quantile}: {:.1} ms, {:.1} ms by the closed form", seen / 1e6, expected / 1e6);
        assert!((seen / expected - 1.0).abs() < 0.02, "p{quantile}: {seen} against {expected}");
    }
}
