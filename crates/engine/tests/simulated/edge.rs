//! Separates the generator's time from the server's: a generator that works for long between a response
//! and the next request, at servers of known service time; and responses that do not belong to the
//! request in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::units::{MICROSECOND, MILLISECOND, SECOND};
use model::{Nanos, Run, Verdict};
use traffic::{Next, Part, Payload, Requests, Skipped, Source, Supply, Turn, WorkerPlace};

use crate::harness::{Load, Outcome, WAY, closed, drive, open};
use crate::server::{OK, Reply, scripted};

/// Time that the way there and back takes.
const WAYS: Nanos = 2 * WAY;
/// How far from the truth the median of a valid run may be.
const TRUE_WITHIN: Nanos = 50 * MICROSECOND;

/// Writes the one request of a load, slowly.
#[derive(Debug, Clone)]
struct Slow {
    request: Vec<u8>,
    takes: Nanos,
    work_ns: Arc<AtomicU64>,
}

impl Source for Slow {
    fn next(&mut self, _: Turn, out: &mut Requests) -> Next {
        self.work_ns.fetch_add(self.takes, Ordering::Relaxed);
        out.bytes.extend_from_slice(&self.request);
        out.written(Part::alone(Payload::Written { end: 0 }));
        Next::Send
    }

    fn skip(&mut self, _: Turn) -> Skipped {
        Skipped::default()
    }
}

impl Supply for Slow {
    fn source(&self, _: WorkerPlace) -> Box<dyn Source> {
        Box::new(self.clone())
    }
}

/// Runs a load whose requests take `takes` each to make, at a server that takes `service`.
fn measured(load: Load, takes: Nanos, service: Nanos) -> Run {
    let slow = Slow { request: load.request.clone(), takes, work_ns: load.work_ns.clone() };
    let load = load.sending(slow);
    let reply = move |_| Some(Reply::ok_after(service));
    let mut run = drive(&load, |world| scripted(world, &load.request, reply).0).run;
    run.validity = verdict::judge(&run);
    let totals = &run.totals;
    assert_eq!(totals.attempts, totals.succeeded + totals.unsent + totals.unfinished, "{totals:?}");
    assert_eq!(run.observed_late_ns.count, run.service_ns.count);
    run
}

/// Compares a run with the time that its server takes, network delays included.
fn hold(run: &Run, truth: Nanos, what: &str) {
    let off = run.service_ns.p50.abs_diff(truth);
    let doubted = run.validity.verdict != Verdict::Valid;
    assert!(off <= TRUE_WITHIN || doubted, "{what}: p50 is off by {off} ns, {:?}", run.validity);
    assert!(run.service_ns.min >= truth, "{what}: {:?}", run.service_ns);
}

#[test]
fn a_slow_source_is_not_taken_for_a_slow_server() {
    for takes in [0, 30, 90, 100, 300, 800, 2000].map(|us| us * MICROSECOND) {
        for connections in [1, 2, 3, 8, 64] {
            for service in [60 * MICROSECOND, MILLISECOND, 20 * MILLISECOND] {
                let load = closed(connections);
                let run = measured(load, takes, service);
                let what = format!("{takes} ns a request, c={connections}, {service} ns");
                hold(&run, service + WAYS, &what);
                if connections == 1 || takes == 0 {
                    let spread = run.service_ns.max - run.service_ns.min;
                    assert!(spread <= MICROSECOND, "{what}: {:?}", run.service_ns);
                    assert_eq!((run.observed_late_ns.max, spread), (0, spread), "{what}");
                }
                if takes == 0 {
                    assert_eq!(run.service_ns.max, service + WAYS, "{what}");
                }
            }
        }
    }
}

#[test]
fn in_an_open_loop_a_slow_source_is_waiting_and_lateness() {
    for takes in [0, 800, 2000].map(|us| us * MICROSECOND) {
        for rate in [100.0, 450.0, 2000.0] {
            let load = open(rate, 64).with(|plan| {
                (plan.timeout_ns, plan.duration_ns) = (5 * SECOND, Some(5 * SECOND));
            });
            let run = measured(load, takes, MILLISECOND);
            let what = format!("{takes} ns a request at {rate}/s");
            hold(&run, MILLISECOND + WAYS, &what);
            let off = run.response_ns.p50.abs_diff(MILLISECOND + WAYS) > TRUE_WITHIN;
            assert!(
                !off || run.validity.verdict != Verdict::Valid,
                "{what}: {:?}",
                run.response_ns
            );
            assert!(run.wait_ns.min >= takes, "{what}: {:?}", run.wait_ns);
        }
    }
}

#[test]
fn a_request_in_time_is_in_flight_only_while_the_server_has_it() {
    // 0.8 ms of work, then 0.1 ms under way.
    let run = measured(closed(1), 800 * MICROSECOND, 0);
    let in_flight = run.concurrency.in_flight_mean;
    assert!((in_flight - 1.0 / 9.0).abs() < 0.005, "{in_flight}");
    assert_eq!(run.concurrency.in_flight_max, 1);
}

/// A load at a server that sends `times` responses to each request at once.
fn responding_more_often(load: &Load, times: usize) -> Outcome {
    let bytes = OK.repeat(times);
    let reply = move |_| Some(Reply { after: MILLISECOND, ..Reply::bytes(&bytes) });
    drive(load, |world| scripted(world, &load.request, reply).0)
}

#[test]
fn unsolicited_responses_are_errors_and_no_time_wraps() {
    for times in [2, 3, 9] {
        for (rate, pipeline) in [(3000.0, 8), (20_000.0, 64), (500.0, 2)] {
            let load = open(rate, 2).with(|plan| plan.pipeline = pipeline);
            let run = responding_more_often(&load, times).run;
            for summary in [&run.service_ns, &run.response_ns, &run.wait_ns, &run.first_byte_ns] {
                assert!(summary.max <= 2 * SECOND, "{times}, {pipeline}: {summary:?}");
            }
            let timed = run.service_ns;
            assert!(timed.count == 0 || timed.min > 0, "{timed:?}");
            let sample = &run.totals.error_samples["protocol"];
            assert!(
                sample.contains("more responses than") || sample.contains("unsolicited"),
                "{sample}"
            );
        }
    }
}

#[test]
fn the_first_byte_is_that_of_the_final_response() {
    let interim = b"HTTP/1.1 103 Early Hints\r\n\r\n";
    let half = OK.len() / 2;
    // What comes at once and what 10 ms later, and when the first byte of the final response is there.
    let cases = [
        (interim.to_vec(), OK.to_vec(), 10),
        ([&interim[..], OK].concat(), Vec::new(), 0),
        (interim[..9].to_vec(), [&interim[9..], OK].concat(), 10),
        ([&interim[..], &OK[..half]].concat(), OK[half..].to_vec(), 0),
        ([&interim[..], &interim[..9]].concat(), [&interim[9..], OK].concat(), 10),
    ];
    for (at_once, later, first_ms) in cases {
        let load = closed(1);
        let reply = Reply::bytes(&at_once);
        let then = (!later.is_empty()).then(|| (10 * MILLISECOND, later.clone()));
        let reply = Reply { then, ..reply };
        let sent = (at_once, later);
        let response = move |_| Some(reply.clone());
        let run = drive(&load, |world| scripted(world, &load.request, response).0).run;
        let first = first_ms * MILLISECOND + WAYS;
        assert!(run.totals.succeeded > 50, "{sent:?}");
        assert_eq!((run.first_byte_ns.min, run.first_byte_ns.max), (first, first), "{sent:?}");
    }
}
