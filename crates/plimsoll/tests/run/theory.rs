//! Waiting over real sockets against theory. `cargo xtask truth sockets` runs these: the figures need
//! minutes, and a machine with little else to do.

use model::Run;
use testkit::queueing::{Service, mean_response};
use verdict::blocks::{self, Figure, Time, blocks};

use crate::harness::{load, server, server_with, url};

/// Mean service time of the queues.
const MEAN_S: f64 = 0.005;

/// The overhead may differ before and after a run by this share of the queue's mean response.
const MOST_DRIFT: f64 = 0.1;

/// The run's own 99 % interval of its mean response, in seconds.
fn interval(run: &Run) -> (f64, f64) {
    let blocks = blocks(run).expect("blocks");
    let mean = blocks::interval(&blocks, Figure::Mean(Time::Response), 0.99).expect("an interval");
    (mean.low / 1e9, mean.high / 1e9)
}

/// What a response takes beside the queue at a rate: the network, and the server's timer. Measured with a queue
/// that has enough servers for nobody to wait.
fn way(server: &target::Server, rate: f64) -> f64 {
    let path = "/queue?servers=1000&mean=5ms&dist=det&seed=77";
    let flags = format!("-R {rate} --arrivals poisson -c 1000 --warmup 1s -d 10s");
    load(&url(server, path), &flags).run.response_ns.mean as f64 / 1e9 - MEAN_S
}

fn row(claim: &str, reach: &str, got: &str, met: bool) {
    println!("truth | {claim} | {reach} | {got} | {}", if met { "yes" } else { "no" });
}

#[test]
#[ignore = "twelve minutes of real time; `cargo xtask truth sockets` runs it"]
fn theory_is_inside_the_interval_of_a_queues_mean_in_eleven_of_twelve_runs() {
    let server = server();
    let mut inside = 0;
    for (servers, service, name) in [
        (1, Service::Exponential, "exp"),
        (4, Service::Exponential, "exp"),
        (1, Service::Fixed, "det"),
        (4, Service::Fixed, "det"),
    ] {
        for busy in [0.3, 0.5, 0.7] {
            let path = format!("/queue?servers={servers}&mean=5ms&dist={name}&seed=5");
            let rate = busy * f64::from(servers) / MEAN_S;
            let flags = format!("-R {rate} --arrivals poisson -c 1000 --warmup 2s -d 60s");
            let before = way(&server, rate);
            let (low, high) = interval(&load(&url(&server, &path), &flags).run);
            let after = way(&server, rate);
            // The overhead drifts with the machine: it is known to lie between what it was before and after.
            let queue = mean_response(servers, service, busy) * MEAN_S;
            let (least, most) = (queue + before.min(after), queue + before.max(after));
            let steady = most - least < MOST_DRIFT * queue;
            let holds = steady && least <= high && low <= most;
            inside += u32::from(holds);
            let letter = if service == Service::Exponential { 'M' } else { 'D' };
            println!(
                "truth | M/{letter}/{servers} at {busy} over real sockets, 60 s | for information \
                 | theory {:.2} ms, overhead {:.2} ms before and {:.2} ms after, interval {:.2} to \
                 {:.2} ms{} | -",
                queue * 1e3,
                before * 1e3,
                after * 1e3,
                low * 1e3,
                high * 1e3,
                match () {
                    () if holds => "",
                    () if steady => ": outside",
                    () => ": unsteady",
                }
            );
        }
    }
    let claim = "queues over real sockets: theory inside the run's own 99 % interval";
    row(claim, "11 of 12 runs", &format!("{inside} of 12"), inside >= 11);
    assert!(inside >= 11, "{inside} of 12");
}

#[test]
#[ignore = "a minute and a half of real time; `cargo xtask truth sockets` runs it"]
fn a_stall_of_one_second_in_ten_is_seen_as_the_closed_form_has_it() {
    let stall = target::Stall { every_ns: 10_000_000_000, for_ns: 1_000_000_000 };
    let server = server_with(|options| {
        (options.stall, options.threads) = (Some(stall), Some(2));
    });
    // The closed form has no catching up: every waiting request has its response the instant the stall ends. Requests
    // that waited in a few connections come closest, since the server takes many with one call. With a connection for
    // each, responding takes it milliseconds, which the run sees, rightly; that case is printed and not judged.
    let mut furthest: f64 = 0.0;
    for (connections, flags, judged) in [
        ("20 connections, pipelined", "-c 20 --pipeline 100", true),
        ("a connection for each waiting request", "-c 2000", false),
    ] {
        let flags = format!("-R 1000 {flags} --warmup 5s -d 40s");
        let run = load(&url(&server, "/healthz"), &flags).run;
        let response = run.histogram("response").expect("responses");
        for (name, quantile) in [("p92", 0.92), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)] {
            // The share s/T of arrivals waits, uniformly from s down to 0.
            let expected = (1.0 - (1.0 - quantile) / 0.1) * 1e9;
            let seen = response.at_quantile(quantile) as f64;
            let off = (seen / expected - 1.0).abs();
            let got = format!("{:.1} ms, by the closed form {:.1} ms", seen / 1e6, expected / 1e6);
            let claim =
                format!("server stalled 1 s of every 10 under 1,000/s, {connections}: {name}");
            if judged {
                row(&claim, "within 2 % of the closed form", &got, off <= 0.02);
                furthest = furthest.max(off);
            } else {
                println!("truth | {claim} | for information | {got} | -");
            }
        }
    }
    assert!(furthest <= 0.02, "{furthest}");
}
