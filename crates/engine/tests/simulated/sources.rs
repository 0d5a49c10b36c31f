//! The worker and its source: mixes, sessions, pauses, bursts, and sources that end the run.

use model::units::{MILLISECOND, SECOND};
use model::{ErrorClass, Nanos};
use net::Close;
use testkit::sim::seeds;
use traffic::{NO_USER, Wants};

use crate::harness::{HANDSHAKE, Load, Outcome, WAY, closed, drive, open};
use crate::paths::{Log, PathRequest, Script, SourceCall, by_path};
use crate::server::Reply;

/// Drives `script` at a server that responds as `reply` says.
fn play(
    load: Load,
    script: &Script,
    reply: impl FnMut(&PathRequest) -> Option<Reply> + 'static,
) -> (Outcome, Vec<PathRequest>) {
    let load = load.with(|plan| plan.mix = script.mix()).sending(script.clone());
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        let (served, requests) = by_path(world, reply);
        log = requests;
        served
    });
    let requests = log.borrow().clone();
    (outcome, requests)
}

fn ok(_: &PathRequest) -> Option<Reply> {
    Some(Reply::ok_after(MILLISECOND))
}

/// Paths and instants of each connection, in order.
fn by_conn(requests: &[PathRequest]) -> Vec<Vec<(&str, Nanos)>> {
    let conns = requests.iter().map(|one| one.conn + 1).max().unwrap_or(0);
    let of = |conn| requests.iter().filter(move |one| one.conn == conn);
    (0..conns).map(|conn| of(conn).map(|one| (one.path.as_str(), one.at)).collect()).collect()
}

#[test]
fn fixed_and_written_requests_of_a_mix_alternate_on_a_connection() {
    for fixed in [false, true] {
        for pipeline in [1, 4] {
            let script = Script { fixed, ..Script::of(&["/a", "/bf", "/c", "/df"]) };
            let load = closed(3).with(|plan| plan.pipeline = pipeline);
            let (outcome, requests) = play(load, &script, ok);
            for conn in by_conn(&requests) {
                let paths: Vec<&str> = conn.iter().map(|(path, _)| *path).collect();
                let expected = ["/a", "/bf", "/c", "/df"].iter().cycle().take(paths.len());
                assert!(paths.iter().eq(expected), "{fixed} {pipeline}: {paths:?}");
            }
            assert_eq!(outcome.run.totals.succeeded, requests.len() as u64);
        }
    }
}

#[test]
fn each_endpoint_has_its_own_successes() {
    let script = Script::of(&["/a", "/b"]);
    let mut load = closed(1).sending(script.clone());
    load.plan.mix = script.mix();
    load.plan.mix.endpoints[1].success = "404".parse().unwrap();
    let outcome = drive(&load, |world| {
        by_path(world, |_| Some(Reply::bytes(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))).0
    });
    let totals = &outcome.run.totals;
    assert_eq!(totals.requests, totals.succeeded + totals.errors.status);
    assert!(totals.succeeded.abs_diff(totals.errors.status) <= 1, "{totals:?}");
}

#[test]
fn sessions_arrive_and_inside_the_loop_is_closed() {
    let service = 30 * MILLISECOND + 2 * WAY;
    let script = Script { think: 40 * MILLISECOND, ..Script::of(&["/1", "/2", "/3"]) };
    let (outcome, requests) =
        play(open(50.0, 100), &script, |_| Some(Reply::ok_after(30 * MILLISECOND)));
    let totals = &outcome.run.totals;
    // Sessions that began within 170.2 ms of the end were cut short: steps that were never asked for.
    let step = service + 40 * MILLISECOND;
    let begun = |steps: u64| (0..50).filter(move |n| n * 20 * MILLISECOND + steps * step < SECOND);
    let expected: usize = (0..3).map(|steps| begun(steps).count()).sum();
    // A connection that had to be opened first shifts a session by less than the gaps between them.
    assert_eq!(totals.attempts, expected as u64);
    assert_eq!(totals.succeeded, totals.attempts);
    for conn in by_conn(&requests) {
        for (index, (path, at)) in conn.iter().enumerate() {
            assert_eq!(*path, ["/1", "/2", "/3"][index % 3]);
            if index % 3 > 0 {
                assert_eq!(at - conn[index - 1].1, step);
            }
        }
    }
    let inside: u64 = outcome.intervals.iter().map(|one| one.tally.sent_inside).sum();
    assert_eq!(outcome.sent() - inside, 50, "each session's first is an arrival");
    // What users send inside a session is due when it is sent.
    assert!(outcome.run.wait_ns.max <= HANDSHAKE, "{:?}", outcome.run.wait_ns);
    assert_eq!(outcome.run.late_ns.count, 50);
    // A session takes 170 ms: with one every 20 ms, nine are under way at a time.
    let open_max = outcome.run.concurrency.open_max;
    assert!((9..=10).contains(&open_max), "{open_max}");
}

#[test]
fn a_user_in_a_session_takes_no_arrival() {
    // Two users, arrivals every 10 ms, sessions of 60 ms: the others wait for a user that is free.
    let script = Script { think: 10 * MILLISECOND, ..Script::of(&["/1", "/2", "/3"]) };
    let load = open(100.0, 2).with(|plan| plan.timeout_ns = 10 * SECOND);
    let (outcome, requests) = play(load, &script, |_| Some(Reply::ok_after(10 * MILLISECOND)));
    let totals = &outcome.run.totals;
    assert!(totals.unsent > 50, "{totals:?}");
    let firsts = requests.iter().filter(|one| one.path == "/1").count() as u64;
    assert_eq!(firsts + totals.unsent, 100);
    let skipped = script.source_calls().into_iter();
    let skipped =
        skipped.filter(|call| *call == SourceCall::Skipped { user: NO_USER, drawn: true });
    assert_eq!(skipped.count() as u64, totals.unsent);
}

#[test]
fn a_session_goes_on_over_a_new_connection() {
    let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    for load in [open(20.0, 10), closed(2)] {
        let script = Script { think: 5 * MILLISECOND, ..Script::of(&["/1", "/2", "/3"]) };
        let (outcome, requests) =
            play(load, &script, |_| Some(Reply::bytes(closing).ending(Close::Flush)));
        let totals = &outcome.run.totals;
        assert_eq!((totals.succeeded, totals.errors.total()), (totals.attempts, 0), "{totals:?}");
        let of = |path: &str| requests.iter().filter(|one| one.path == path).count();
        assert!(of("/1") - of("/3") <= 10 && of("/3") >= 15, "{} {}", of("/1"), of("/3"));
        assert!(by_conn(&requests).iter().all(|conn| conn.len() == 1));
    }
}

#[test]
fn a_connection_lost_in_a_session_ends_it() {
    for wants in [Wants::Outcome, Wants::Whole] {
        let script = Script { wants, ..Script::of(&["/1", "/2", "/3"]) };
        let (outcome, requests) =
            play(open(20.0, 1), &script, |request| match request.path.as_str() {
                "/2" => Some(Reply::bytes(b"").ending(Close::Reset)),
                _ => Some(Reply::ok_after(MILLISECOND)),
            });
        let totals = &outcome.run.totals;
        assert_eq!((totals.attempts, totals.errors.read, totals.succeeded), (40, 20, 20));
        assert!(requests.iter().all(|one| one.path != "/3"));
        let lost = SourceCall::Lost { user: 0, class: ErrorClass::Read };
        assert_eq!(script.source_calls().iter().filter(|call| **call == lost).count(), 20);
    }
}

#[test]
fn a_server_that_goes_away_in_a_session_is_reported_as_a_skipped_turn() {
    // The server's port goes deaf for the second connection: one file only.
    let script = Script { think: 100 * MILLISECOND, ..Script::of(&["/1", "/2"]) };
    let mut load = open(1.0, 1).with(|plan| plan.timeout_ns = SECOND);
    load.limits.files = 1;
    let (outcome, _) = play(load, &script, |_| Some(Reply::ok_after(MILLISECOND)));
    assert_eq!(outcome.run.totals.succeeded, 2, "one file is enough for one connection");
    let mut load = open(1.0, 1);
    load.limits.files = 0;
    let (outcome, _) = play(load, &script, ok);
    assert_eq!(outcome.run.totals.errors.connect, 1);
    let calls = script.source_calls();
    assert_eq!(calls.last(), Some(&SourceCall::Skipped { user: NO_USER, drawn: true }));
}

#[test]
fn responses_are_shown_as_far_as_they_are_wanted() {
    let shown = |wants| {
        let script = Script { wants, ..Script::of(&["/1"]) };
        let load = closed(1).with(|plan| plan.requests = Some(1));
        play(load, &script, ok);
        script.source_calls().split_off(1)
    };
    let completed = SourceCall::Completed { user: 0, success: true };
    let head = SourceCall::Head { user: 0, status: 200 };
    let body = SourceCall::Body { user: 0, text: "ok".into() };
    assert_eq!(shown(Wants::Nothing), []);
    assert_eq!(shown(Wants::Outcome), [const { SourceCall::Completed { user: 0, success: true } }]);
    assert_eq!(shown(Wants::Head), [head.clone(), completed.clone()]);
    assert_eq!(shown(Wants::Whole), [head, body, completed]);
}

#[test]
fn a_failed_check_is_a_failure_and_ends_the_session() {
    let script = Script { wants: Wants::Whole, checked: true, ..Script::of(&["/1", "/2", "/3"]) };
    let (outcome, requests) = play(open(10.0, 2), &script, |request| match request.path.as_str() {
        "/2" => Some(Reply::bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")),
        _ => ok(request),
    });
    let totals = &outcome.run.totals;
    assert_eq!((totals.attempts, totals.succeeded, totals.errors.check), (20, 10, 10));
    assert_eq!((totals.requests, requests.len()), (20, 20));
    assert_eq!(totals.error_samples["check"], "no ok in `no`");
    assert_eq!(outcome.run.flows[0].requests_per_session, Some(2.0));
}

#[test]
fn requests_of_a_session_are_those_of_sessions_that_ended() {
    // Of sessions of 300 ms, what the window of a second cuts off are a third.
    let script = Script {
        wants: Wants::Whole,
        checked: true,
        think: 100 * MILLISECOND,
        ..Script::of(&["/1", "/2", "/3", "/4"])
    };
    let (outcome, _) = play(open(50.0, 100), &script, ok);
    let (totals, flow) = (&outcome.run.totals, &outcome.run.flows[0]);
    assert_eq!((flow.started, flow.requests_per_session), (50, Some(4.0)));
    assert!(flow.unfinished > 10 && totals.attempts < 4 * flow.started - 25, "{flow:?}");
    assert_eq!(outcome.run.late_ns.count, flow.started, "arrivals alone can be late");
}

#[test]
fn a_user_of_a_closed_loop_pauses_as_the_source_says() {
    let script = Script { delay: 70 * MILLISECOND, ..Script::of(&["/1"]) };
    let (outcome, requests) = play(closed(2), &script, ok);
    let conns = by_conn(&requests);
    assert_eq!(conns.len(), 2);
    for conn in conns {
        let gaps = conn.windows(2).map(|pair| pair[1].1 - pair[0].1);
        let expected = 71 * MILLISECOND + 2 * WAY;
        assert!(gaps.clone().all(|gap| gap == expected), "{:?}", gaps.collect::<Vec<_>>());
    }
    // 70 ms before the first, then one every 71.1 ms.
    assert_eq!(outcome.run.totals.attempts, 28);
    assert_eq!(outcome.run.response_ns.max, MILLISECOND + 2 * WAY, "a pause is not response time");
}

#[test]
fn an_arrival_may_pause_first_and_is_unsent_if_the_window_ends_before() {
    let script = Script { delay: 300 * MILLISECOND, ..Script::of(&["/1"]) };
    let (outcome, requests) = play(open(10.0, 20), &script, ok);
    let totals = &outcome.run.totals;
    assert_eq!((totals.attempts, totals.succeeded, totals.unsent), (10, 7, 3), "{totals:?}");
    assert_eq!(requests.len(), 7);
}

/// The pause of a script is its own. What it waited for before, a connection here, is in its response time.
#[test]
fn an_arrival_that_pauses_had_waited_before_it() {
    const DELAY: Nanos = 5 * MILLISECOND;
    let took = |nth: usize| if nth == 19 { 300 * MILLISECOND } else { MILLISECOND };
    let script = Script { delay: DELAY, ..Script::of(&["/1"]) };
    let mut nth = 0;
    let (outcome, requests) = play(open(100.0, 1), &script, move |_| {
        nth += 1;
        Some(Reply::ok_after(took(nth - 1)))
    });
    let (mut free, mut responses) = (HANDSHAKE, Vec::new());
    for due in (0..100).map(|n| n * 10 * MILLISECOND) {
        let sent = free.max(due) + DELAY;
        if sent >= SECOND {
            break;
        }
        free = sent + took(responses.len()) + 2 * WAY;
        responses.push(free - due - DELAY);
    }
    let run = outcome.run;
    let sent = responses.len() as u64;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (100, sent));
    assert_eq!((requests.len() as u64, run.response_ns.count), (sent, sent));
    assert_eq!(run.response_ns.max, *responses.iter().max().expect("responses"));
    assert_eq!(run.response_ns.mean, responses.iter().sum::<Nanos>() / sent);
    // Three quarters of them waited behind the one that was slow, though the server took a millisecond for each.
    assert!(run.response_ns.p50 > 50 * MILLISECOND, "{:?}", run.response_ns);
    assert_eq!(run.service_ns.p50 / MILLISECOND, 1);
}

#[test]
fn a_burst_leaves_together_and_the_next_after_all_its_responses() {
    for load in [closed(2), open(21.0, 4)] {
        let script = Script {
            steps: vec![vec!["/1", "/2f", "/3"]],
            fixed: true,
            wants: Wants::Outcome,
            ..Script::default()
        };
        let load = load.with(|plan| (plan.pipeline, plan.max_inflight) = (3, u32::MAX));
        let (outcome, requests) = play(load, &script, |_| Some(Reply::ok_after(20 * MILLISECOND)));
        assert_eq!(outcome.run.totals.succeeded, requests.len() as u64);
        assert_eq!(requests.len() % 3, 0);
        for conn in by_conn(&requests) {
            let last = conn.chunks(3).fold(None, |before: Option<Nanos>, burst| {
                let paths: Vec<&str> = burst.iter().map(|(path, _)| *path).collect();
                assert_eq!(paths, ["/1", "/2f", "/3"]);
                assert!(burst.iter().all(|(_, at)| *at == burst[0].1), "{burst:?}");
                assert!(before.is_none_or(|at| burst[0].1 - at >= 20 * MILLISECOND));
                Some(burst[0].1)
            });
            assert!(last.is_some());
        }
        let calls = script.source_calls();
        let turns =
            calls.iter().filter(|call| matches!(call, SourceCall::Turn { put: 3, .. })).count();
        assert_eq!(turns * 3, requests.len());
    }
}

/// A rate counts requests, as in wrk2, however many leave together.
#[test]
fn a_rate_is_of_requests_whatever_a_turn_brings() {
    for workers in [1, 3] {
        let script = Script { steps: vec![vec!["/1", "/2", "/3"]], ..Script::default() };
        let load = open(300.0, 30).with(|plan| (plan.pipeline, plan.threads) = (3, workers));
        let (outcome, requests) = play(load, &script, ok);
        let run = &outcome.run;
        let due: u64 = outcome.intervals.iter().map(|interval| interval.due).sum();
        assert_eq!((run.totals.attempts, requests.len(), due), (300, 300, 300), "{workers}");
        assert_eq!(run.totals.succeeded, 300);
        // Requests that leave together left when they were due: none was late, and none early.
        assert!(run.late_ns.max == 0 && run.late_ns.count == 300, "{:?}", run.late_ns);
        let widest = requests.windows(2).map(|pair| pair[1].at - pair[0].at).max().unwrap();
        assert!(widest <= (5 * workers as u64) * SECOND / 300 + HANDSHAKE, "{widest}");
    }
}

#[test]
fn a_burst_that_waited_takes_up_those_that_waited_with_it() {
    // One connection, responses after 100 ms, an arrival every 10 ms: each burst of three takes the three
    // oldest, whose waiting is their own.
    let script = Script { steps: vec![vec!["/1", "/2", "/3"]], ..Script::default() };
    let load = open(100.0, 1).with(|plan| (plan.pipeline, plan.timeout_ns) = (3, 10 * SECOND));
    let (outcome, requests) = play(load, &script, |_| Some(Reply::ok_after(100 * MILLISECOND)));
    let run = &outcome.run;
    assert_eq!(run.totals.attempts, 100);
    assert_eq!(run.totals.unsent, 100 - requests.len() as u64);
    assert!(requests.len() >= 27 && requests.len() % 3 == 0, "{}", requests.len());
    // The first of the last burst was due later than the first of the first, and sent much later.
    assert!(run.wait_ns.max > 500 * MILLISECOND, "{:?}", run.wait_ns);
    assert!(run.wait_ns.min <= HANDSHAKE, "{:?}", run.wait_ns);
}

#[test]
fn a_count_cuts_a_burst_short() {
    let script = Script { steps: vec![vec!["/1", "/2", "/3"]], ..Script::default() };
    let load = closed(1).with(|plan| (plan.requests, plan.duration_ns) = (Some(7), None));
    let (outcome, requests) = play(load, &script, ok);
    assert_eq!((outcome.run.totals.attempts, requests.len()), (7, 7));
}

#[test]
fn a_source_that_stops_leaves_the_window_as_it_is() {
    for load in [closed(4), open(100.0, 4)] {
        let script = Script { stop_after: Some(10), ..Script::of(&["/1"]) };
        let rate = load.plan.rate_per_s;
        let (outcome, requests) = play(load, &script, ok);
        let totals = &outcome.run.totals;
        assert_eq!((requests.len(), totals.succeeded, totals.duration_ns), (10, 10, SECOND));
        assert_eq!(totals.unsent, rate.map_or(0, |_| 90));
        assert_eq!(outcome.halted, None);
    }
}

#[test]
fn a_source_that_stops_before_the_count_ends_the_run() {
    let script = Script { stop_after: Some(10), ..Script::of(&["/1"]) };
    let load = closed(2).with(|plan| (plan.requests, plan.duration_ns) = (Some(500), None));
    let (outcome, requests) = play(load, &script, ok);
    assert_eq!((outcome.run.totals.attempts, requests.len()), (10, 10));
}

#[test]
fn a_source_that_halts_ends_the_run_and_what_was_measured_stands() {
    for (load, workers, most_ms) in
        [(closed(4), 1, 50), (closed(4), 2, 1000), (open(1000.0, 4), 1, 110)]
    {
        let script = Script { halt_after: Some(100), ..Script::of(&["/1"]) };
        let load =
            load.with(|plan| (plan.duration_ns, plan.threads) = (Some(60 * SECOND), workers));
        let (outcome, requests) = play(load, &script, ok);
        let why = outcome.halted.expect("a halt").to_string();
        assert_eq!(why, "enough: x.csv is used up");
        let totals = &outcome.run.totals;
        assert_eq!(totals.succeeded, requests.len() as u64);
        assert!((100..=200).contains(&requests.len()), "{}", requests.len());
        // The window ends with the halt: what comes after it would lower the rate.
        assert!(totals.duration_ns < most_ms * MILLISECOND, "{totals:?}");
        assert!(outcome.took < 2 * SECOND, "{totals:?}");
    }
}

#[test]
fn endpoints_and_flows_have_figures_of_their_own() {
    for workers in [1, 2] {
        let script = Script {
            wants: Wants::Whole,
            checked: true,
            think: 10 * MILLISECOND,
            ..Script::of(&["/1", "/2", "/3"])
        };
        let load = open(20.0, 40).with(|plan| plan.threads = workers);
        let mut second_steps = 0;
        let (outcome, requests) = play(load, &script, move |request| {
            second_steps += u32::from(request.path == "/2");
            Some(match (request.path.as_str(), second_steps % 4) {
                ("/2", 0) => Reply::bytes(b"HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nsorry"),
                ("/3", _) => Reply::ok_after(7 * MILLISECOND),
                _ => Reply::ok_after(MILLISECOND),
            })
        });
        let run = &outcome.run;
        let names: Vec<&str> = run.endpoints.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["GET /1", "GET /2", "GET /3"]);
        for one in &run.endpoints {
            let path = one.name.trim_start_matches("GET ");
            let came = requests.iter().filter(|request| request.path == path).count() as u64;
            assert_eq!((one.attempts, one.requests), (came, came), "{workers}: {}", one.name);
            let attempts: u64 = one.blocks.iter().map(|block| block.attempts).sum();
            assert_eq!((attempts, one.response_ns.count), (came, came));
            assert_eq!(one.attempts, one.succeeded + one.errors.total());
        }
        let [first, second, third] = &run.endpoints[..] else { panic!("three endpoints") };
        assert_eq!((first.attempts, second.errors.status, third.attempts), (20, 5, 15));
        assert_eq!(second.statuses.get(&500), Some(&5));
        assert_eq!(second.sample.as_deref(), Some("the server answered 500: sorry"));
        assert_eq!(third.service_ns.max, 7 * MILLISECOND + 2 * WAY);
        // 15 responses of 7.1 ms in a second.
        let in_flight = 15.0 * 0.0071;
        assert!((third.in_flight_mean - in_flight).abs() < 1e-9, "{}", third.in_flight_mean);
        let share: f64 = run.endpoints.iter().filter_map(|one| one.share).sum();
        assert!((share - 1.0).abs() < 1e-9, "{share}");
        let [visit] = &run.flows[..] else { panic!("one flow") };
        assert_eq!(
            (visit.started, visit.completed, visit.failed, visit.unfinished),
            (20, 15, 5, 0)
        );
        assert_eq!(visit.failed_at.get("GET /2"), Some(&5));
        let whole = 29 * MILLISECOND + 6 * WAY;
        assert_eq!(visit.session_ns.min, whole);
        assert!(visit.session_ns.max <= whole + HANDSHAKE, "{:?}", visit.session_ns);
        assert_eq!(visit.transactions_per_s, 15.0);
    }
}

/// Four users, all of whom hang at the second endpoint until the time-out, long after the window.
#[test]
fn no_more_is_in_flight_at_an_endpoint_than_there_are_users() {
    let script = Script::of(&["/quick", "/hangs"]);
    let load = closed(4).with(|plan| plan.timeout_ns = 5 * SECOND);
    let (outcome, _) = play(load, &script, |request| match request.path.as_str() {
        "/hangs" => None,
        _ => Some(Reply::ok_after(MILLISECOND)),
    });
    let of: Vec<f64> = outcome.run.endpoints.iter().map(|one| one.in_flight_mean).collect();
    assert!(of[0] < 0.01 && (3.9..=4.0).contains(&of[1]), "{of:?}");
    assert!(of[0] + of[1] <= outcome.run.concurrency.in_flight_mean + 1e-9, "{of:?}");
}

/// Whatever a server does, the outcome of every request is reported to its source once, and every
/// request is an attempt.
#[test]
fn every_request_is_reported_once_and_counted_once() {
    for seed in seeds(0..120) {
        let script = Script {
            wants: Wants::Whole,
            checked: true,
            think: seed % 3 * 7 * MILLISECOND,
            delay: seed % 2 * 5 * MILLISECOND,
            ..Script::of(&["/1", "/2", "/3", "/4"])
        };
        let users = 1 + (seed % 5) as u32;
        let load = if seed % 4 == 0 { closed(users) } else { open(60.0, users) };
        let load = load.with(|plan| plan.timeout_ns = 60 * MILLISECOND);
        let mut dice = seed;
        let (outcome, _) = play(load, &script, move |request| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let reply = ok(request)?;
            match (dice >> 33) % 12 {
                0 => None,
                1 => Some(reply.ending(Close::Flush)),
                2 => Some(Reply::bytes(b"HTTP/1.1 2").ending(Close::Flush)),
                3 => Some(Reply::bytes(b"").ending(Close::Reset)),
                4 => Some(Reply::bytes(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")),
                5 => Some(Reply::bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")),
                6 => Some(Reply::bytes(b"nonsense\r\n\r\n")),
                _ => Some(reply),
            }
        });
        let calls = script.source_calls();
        let count =
            |of: fn(&SourceCall) -> bool| calls.iter().filter(|call| of(call)).count() as u64;
        let put: u64 = calls
            .iter()
            .map(|call| match call {
                SourceCall::Turn { put, .. } => *put as u64,
                _ => 0,
            })
            .sum();
        let ended =
            count(|call| matches!(call, SourceCall::Completed { .. } | SourceCall::Lost { .. }));
        let skipped = count(|call| matches!(call, SourceCall::Skipped { .. }));
        let totals = &outcome.run.totals;
        assert_eq!(put, ended + totals.unfinished, "seed {seed}: {totals:?}");
        assert_eq!(totals.attempts, put + skipped, "seed {seed}: {totals:?}");
        assert_eq!(
            totals.succeeded + totals.errors.total() + totals.unsent + totals.unfinished,
            totals.attempts
        );
    }
}
