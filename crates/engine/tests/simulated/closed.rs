//! Closed loops that go well: when each user sends.

use model::Nanos;
use model::units::{MILLISECOND, SECOND};

use crate::harness::{HANDSHAKE, WAY, closed, drive};
use crate::server::{Log, Reply, scripted};

/// When each connection's requests were sent, relative to the earliest of all.
fn sends(log: &Log, connections: u32) -> Vec<Vec<Nanos>> {
    let log = log.borrow();
    let first = log.iter().map(|asked| asked.at).min().expect("requests came");
    let of = |conn| log.iter().filter(move |a| a.conn == conn).map(|a| a.at - first).collect();
    (0..connections).map(of).collect()
}

#[test]
fn each_user_sends_after_its_response() {
    let load = closed(3);
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        let (served, seen) = scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND)));
        log = seen;
        served
    });
    let service = MILLISECOND + 2 * WAY;
    let each = SECOND.div_ceil(service);
    let run = &outcome.run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (3 * each, 3 * each));
    assert_eq!((run.service_ns.min, run.service_ns.max), (service, service));
    assert_eq!((run.response_ns, run.late_ns.max, run.wait_ns.max), (run.service_ns, 0, 0));
    assert_eq!(run.first_byte_ns.max, service);
    assert_eq!((run.connect_ns.count, run.connect_ns.max), (3, HANDSHAKE));
    assert_eq!((run.concurrency.in_flight_max, run.concurrency.open_max), (3, 3));
    assert!((run.concurrency.in_flight_mean - 3.0).abs() < 1e-6, "{:?}", run.concurrency);
    assert_eq!(run.commonest_response.as_ref().map(|a| (a.status, a.bytes)), Some((200, 2)));
    for user in sends(&log, 3) {
        assert!(user.iter().enumerate().all(|(k, &at)| at == k as u64 * service), "{user:?}");
    }
}

#[test]
fn a_count_is_divided_over_users_whatever_their_workers_are() {
    // Of three users one worker has two and the other one; of 20 each has ten; a cap lets each send for one.
    for (users, cap, requests, at_once) in
        [(3, u32::MAX, 251, 3.0), (20, u32::MAX, 7, 7.0), (3, 2, 250, 2.0)]
    {
        let [one, two] = [1, 2].map(|workers| {
            let load = closed(users).with(|plan| {
                (plan.duration_ns, plan.requests) = (None, Some(requests));
                (plan.threads, plan.max_inflight) = (workers, cap);
            });
            drive(&load, |world| {
                scripted(world, &load.request, |_| Some(Reply::ok_after(10 * MILLISECOND))).0
            })
            .run
        });
        let case = format!("{users} users, {requests} requests");
        assert_eq!((one.totals.attempts, two.totals.attempts), (requests, requests), "{case}");
        let longer = two.totals.duration_ns as f64 / one.totals.duration_ns as f64;
        assert!((0.98..1.02).contains(&longer), "{case}: {longer}");
        let in_flight = two.concurrency.in_flight_mean;
        assert!((0.95..1.01).contains(&(in_flight / at_once)), "{case}: {in_flight}");
    }
}

#[test]
fn responses_done_after_the_window_are_attempts_but_no_throughput() {
    let load = closed(1);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(300 * MILLISECOND))).0
    });
    let run = outcome.run;
    // Sent at 0, 300.1, 600.2 and 900.3 ms; the response to the last comes in the drain.
    assert_eq!((run.totals.attempts, run.totals.succeeded), (4, 4));
    assert_eq!(run.rates.requests_per_s, 3.0);
    assert_eq!(run.totals.duration_ns, SECOND);
}

#[test]
fn pace_is_exact_and_users_do_not_march_in_step() {
    let load = closed(11).with(|plan| plan.pace_ns = Some(110 * MILLISECOND));
    let mut log = Log::default();
    drive(&load, |world| {
        let (served, seen) =
            scripted(world, &load.request, |_| Some(Reply::ok_after(30 * MILLISECOND)));
        log = seen;
        served
    });
    let users = sends(&log, 11);
    for (index, user) in users.iter().enumerate() {
        let begins = index as u64 * 10 * MILLISECOND;
        let expected: Vec<Nanos> =
            (0..).map(|k| begins + k * 110 * MILLISECOND).collect_until(SECOND);
        assert_eq!(user, &expected, "user {index}");
    }
}

#[test]
fn a_pace_shorter_than_the_response_sends_at_once() {
    let load = closed(1).with(|plan| plan.pace_ns = Some(10 * MILLISECOND));
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(25 * MILLISECOND))).0
    });
    assert_eq!(outcome.run.totals.attempts, SECOND.div_ceil(25 * MILLISECOND + 2 * WAY));
}

#[test]
fn think_time_follows_the_response() {
    let load = closed(2).with(|plan| plan.think_ns = Some(20 * MILLISECOND));
    let mut log = Log::default();
    drive(&load, |world| {
        let (served, seen) =
            scripted(world, &load.request, |_| Some(Reply::ok_after(5 * MILLISECOND)));
        log = seen;
        served
    });
    let step = 25 * MILLISECOND + 2 * WAY;
    for user in sends(&log, 2) {
        let expected: Vec<Nanos> = (0..).map(|k| k * step).collect_until(SECOND);
        assert_eq!(user, expected);
    }
}

#[test]
fn a_ramp_opens_users_one_after_the_other() {
    let load = closed(10).with(|plan| plan.ramp_ns = SECOND);
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        let (served, seen) = scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND)));
        log = seen;
        served
    });
    for (index, user) in sends(&log, 10).iter().enumerate() {
        assert_eq!(user[0], index as u64 * 100 * MILLISECOND);
    }
    assert_eq!(outcome.run.concurrency.open_max, 10);
}

#[test]
fn in_flight_requests_are_capped_and_every_user_gets_its_turn() {
    for pipeline in [1, 4] {
        let load = closed(10).with(|plan| {
            (plan.max_inflight, plan.pipeline) = (3, pipeline);
        });
        let mut log = Log::default();
        let outcome = drive(&load, |world| {
            let (served, seen) =
                scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND)));
            log = seen;
            served
        });
        assert_eq!(outcome.run.concurrency.in_flight_max, 3, "pipeline {pipeline}");
        let attempts = outcome.run.totals.attempts;
        // With requests of one user behind each other, responses come in bursts.
        assert!(attempts > 3 * 850, "pipeline {pipeline}: {attempts}");
        if pipeline == 1 {
            let counts: Vec<usize> = sends(&log, 10).iter().map(Vec::len).collect();
            assert!(counts.iter().all(|&n| n > 200), "{counts:?}");
        }
    }
}

#[test]
fn a_pipeline_keeps_so_many_requests_in_flight() {
    let load = closed(2).with(|plan| plan.pipeline = 8);
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    let run = outcome.run;
    assert_eq!((run.concurrency.in_flight_max, run.concurrency.open_max), (16, 2));
    assert_eq!(run.totals.attempts, 16 * SECOND.div_ceil(MILLISECOND + 2 * WAY));
    assert_eq!(run.totals.attempts, run.totals.succeeded);
}

#[test]
fn without_keepalive_each_request_has_a_connection() {
    let mut load = closed(4).with(|plan| plan.keepalive = false);
    load.request = b"GET / HTTP/1.1\r\nHost: sim\r\nConnection: close\r\n\r\n".to_vec();
    let outcome = drive(&load, |world| {
        let reply = || {
            let bytes = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
            Reply::bytes(bytes).ending(net::Close::Flush)
        };
        scripted(world, &load.request, move |_| Some(reply())).0
    });
    let totals = outcome.run.totals;
    assert_eq!((totals.attempts, totals.server_closes), (totals.succeeded, 0));
    // The next connection is being opened when the window ends.
    assert!(totals.connects - totals.attempts <= 4, "{totals:?}");
    assert!(totals.attempts > 4 * 4000, "{}", totals.attempts);
}

#[test]
fn a_request_that_asks_to_close_is_the_last_of_its_connection() {
    for pipeline in [1, 4] {
        let mut load = closed(4).with(|plan| plan.pipeline = pipeline);
        load.request = b"GET / HTTP/1.1\r\nHost: sim\r\nconnection: Close\r\n\r\n".to_vec();
        // The server closes, as it was asked to, and does not say so.
        let outcome = drive(&load, |world| {
            let reply = |_| Some(Reply::ok_after(MILLISECOND).ending(net::Close::Flush));
            scripted(world, &load.request, reply).0
        });
        let totals = outcome.run.totals;
        assert_eq!((totals.attempts, totals.server_closes), (totals.succeeded, 0), "{totals:?}");
        assert!(totals.connects >= totals.attempts && totals.attempts > 4 * 500, "{totals:?}");
    }
}

/// The members of an ascending series below a limit.
trait CollectUntil {
    fn collect_until(self, limit: Nanos) -> Vec<Nanos>;
}

impl<I: Iterator<Item = Nanos>> CollectUntil for I {
    fn collect_until(self, limit: Nanos) -> Vec<Nanos> {
        self.take_while(|&at| at < limit).collect()
    }
}
