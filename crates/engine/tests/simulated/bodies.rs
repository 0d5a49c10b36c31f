//! Long bodies that nobody looks at are skipped; counts, instants and errors are as if they were not.

use model::units::{MILLISECOND, SECOND};
use net::Close;
use testkit::sim::{Conditions, Cut, Delay, seeds};

use crate::harness::{Load, Outcome, WAY, closed, drive};
use crate::server::{Log, Reply, scripted};

const BODY: usize = 150_000;

/// A response whose body has this many bytes, of which no two are alike nearby.
fn response(body: usize) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {body}\r\n\r\n").into_bytes();
    bytes.extend((0..body).map(|at| (at % 251) as u8));
    bytes
}

/// Drives a load at a server that always sends `reply`. Also returns the number of requests that it had.
fn at_server(load: &Load, reply: Reply) -> (Outcome, u64) {
    let mut log = Log::default();
    let outcome = drive(load, |world| {
        let (served, seen) = scripted(world, &load.request, move |_| Some(reply.clone()));
        log = seen;
        served
    });
    let requests = log.borrow().len() as u64;
    (outcome, requests)
}

fn bytes_read(outcome: &Outcome) -> u64 {
    outcome.intervals.iter().map(|interval| interval.tally.bytes_read).sum()
}

#[test]
fn each_byte_is_counted_and_no_response_is_lost() {
    for seed in seeds(0..12) {
        let mut load = closed(1 + seed as u32 % 4).with(|plan| {
            plan.pipeline = 1 + seed as u32 % 3 * 2;
            plan.requests = Some(100);
            plan.duration_ns = Some(60 * SECOND);
            plan.timeout_ns = 60 * SECOND;
        });
        let cut = if seed % 2 == 0 { Cut::Whole } else { Cut::Anywhere };
        let delay = Delay::Between(1000, 2 * MILLISECOND);
        load.conditions = Conditions { cut, delay, ..load.conditions };
        load.seed = seed;
        let whole = response(BODY);
        let (outcome, requests) = at_server(&load, Reply::bytes(&whole));
        let totals = &outcome.run.totals;
        assert_eq!((totals.succeeded, requests), (100, 100), "seed {seed}: {totals:?}");
        assert_eq!(totals.connects, u64::from(load.plan.connections), "seed {seed}");
        assert_eq!(bytes_read(&outcome), 100 * whole.len() as u64, "seed {seed}");
        let commonest = outcome.run.commonest_response.expect("there were some");
        assert_eq!(commonest.bytes, BODY as u64, "seed {seed}");
        let skipped = outcome.skipped as usize;
        assert!(skipped > 20 * BODY && skipped < 100 * BODY, "seed {seed}: {skipped}");
    }
}

#[test]
fn some_bodies_are_hashed_and_those_are_received() {
    // The last byte is another one in a server of another build, and only a hash of all of it tells.
    let digest = |last| {
        let mut whole = response(BODY);
        *whole.last_mut().expect("a body") = last;
        let load = closed(2).with(|plan| plan.requests = Some(100));
        let (outcome, _) = at_server(&load, Reply { after: MILLISECOND, ..Reply::bytes(&whole) });
        assert!(outcome.skipped > 0);
        outcome.run.commonest_response.expect("there were some").body_sha256
    };
    assert_eq!(digest(7), digest(7));
    assert_ne!(digest(7), digest(8));
}

#[test]
fn first_and_last_byte_come_when_they_come() {
    let whole = response(BODY);
    // Half of it at once and half of it later: both halves are skipped but for their ends.
    let (half, later) = whole.split_at(BODY / 2);
    let load = closed(1);
    let then = Some((10 * MILLISECOND, later.to_vec()));
    let (outcome, _) = at_server(&load, Reply { then, ..Reply::bytes(half) });
    let run = &outcome.run;
    assert!(run.totals.succeeded > 90 && outcome.skipped > 0);
    let ways = 2 * WAY;
    assert_eq!((run.first_byte_ns.min, run.first_byte_ns.max), (ways, ways));
    let last = ways + 10 * MILLISECOND;
    assert_eq!((run.service_ns.min, run.service_ns.max), (last, last));
}

#[test]
fn a_server_that_closes_in_the_middle_of_a_skipped_body_is_an_error() {
    let whole = response(BODY);
    for (cut_at, how) in [(BODY / 2, Close::Flush), (whole.len() - 1, Close::Flush)] {
        let load = closed(3);
        let reply = Reply { after: 10 * MILLISECOND, ..Reply::bytes(&whole[..cut_at]) };
        let (outcome, requests) = at_server(&load, reply.ending(how));
        let totals = &outcome.run.totals;
        assert_eq!((totals.succeeded, totals.errors.read), (0, totals.attempts), "{totals:?}");
        assert!(totals.error_samples["read"].contains("in the middle"), "{totals:?}");
        assert!(outcome.skipped > 0 && requests > 100);
        assert_eq!(bytes_read(&outcome), totals.attempts * cut_at as u64);
    }
}

#[test]
fn bytes_behind_a_skipped_body_are_noticed() {
    for more in [&b"!"[..], b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"] {
        let bytes = [&response(BODY), more].concat();
        let load = closed(2);
        let (outcome, _) =
            at_server(&load, Reply { after: 10 * MILLISECOND, ..Reply::bytes(&bytes) });
        let totals = &outcome.run.totals;
        assert_eq!((totals.succeeded, totals.errors.protocol), (0, totals.attempts), "{totals:?}");
        let bytes = if more.len() == 1 { "unsolicited byte" } else { "unsolicited bytes" };
        assert!(totals.error_samples["protocol"].ends_with(bytes), "{totals:?}");
        assert!(outcome.skipped > 0);
    }
}
