//! Users who never get a response, and kinds of responses, as the workers count them; and what the rules say of them.

use model::kinds::Changed;
use model::units::{MILLISECOND, SECOND};
use model::{ReasonCode, Run, Verdict};
use net::Close;

use crate::harness::{Load, closed, drive, open};
use crate::healthy::draws;
use crate::server::{NthRequest, OK, Reply, scripted};

const PAGE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<h1>Sorry.</h1>";

fn driven(load: &Load, reply: impl FnMut(NthRequest) -> Option<Reply> + 'static) -> Run {
    drive(load, |world| scripted(world, &load.request, reply).0).run
}

fn starved(run: &Run) -> Option<Verdict> {
    let validity = verdict::judge(run);
    let reason = validity.reasons.iter().find(|r| r.code == ReasonCode::StarvedConnections);
    reason.map(|reason| reason.consequence)
}

#[test]
fn a_server_that_is_deaf_on_every_tenth_connection_is_named() {
    for timeout_ns in [500 * MILLISECOND, 2 * SECOND, 30 * SECOND] {
        for load in [closed(20), open(2000.0, 50)] {
            let load = load.with(|plan| {
                (plan.duration_ns, plan.timeout_ns) = (Some(5 * SECOND), timeout_ns);
            });
            let run = driven(&load, |request| {
                (request.conn % 10 != 1).then(|| Reply::ok_after(MILLISECOND))
            });
            let users = run.users.clone().expect("users are counted");
            // Users that give up in time and connect anew are mostly served; an open loop uses few
            // connections.
            if timeout_ns > 5 * SECOND || load.plan.rate_per_s.is_none() {
                assert!(users.unserved > 0 || users.mute >= 2, "{users:?}");
                assert_eq!(starved(&run), Some(Verdict::Invalid), "{users:?}");
            }
            assert_eq!(users.wanting() + users.idle, u64::from(load.plan.connections));
        }
    }
}

/// What was sent in the warm-up and times out in the window is no attempt of the window.
#[test]
fn connections_that_were_deaf_since_the_warmup_are_named() {
    for timeout_ns in [2 * SECOND, 30 * SECOND] {
        let load = closed(32).with(|plan| {
            (plan.warmup_ns, plan.duration_ns) = (600 * MILLISECOND, Some(6 * SECOND));
            plan.timeout_ns = timeout_ns;
        });
        let run = driven(&load, |request| {
            (request.conn % 10 != 1).then(|| Reply::ok_after(25 * MILLISECOND))
        });
        assert_eq!(starved(&run), Some(Verdict::Invalid), "{:?}", run.users);
    }
}

/// Where the server stops, no user is served on another connection; where it ends some connections, all are.
#[test]
fn connections_that_are_cut_off_count_as_deaf_where_their_users_are_served_on_others() {
    let load = closed(20).with(|plan| plan.duration_ns = Some(3 * SECOND));
    let ok = || Reply::ok_after(5 * MILLISECOND);
    let reset = || Reply::bytes(b"").ending(Close::Reset);

    let stops = 3 * SECOND - 100 * MILLISECOND;
    let stopped =
        driven(&load, move |request| Some(if request.at < stops { ok() } else { reset() }));
    let users = stopped.users.clone().expect("users are counted");
    assert_eq!((users.mute, starved(&stopped)), (0, None), "{users:?}");

    let some =
        driven(&load, move |request| Some(if request.conn % 10 == 1 { reset() } else { ok() }));
    let users = some.users.expect("users are counted");
    assert!(users.mute >= 2 && users.unserved == 0, "{users:?}");
}

#[test]
fn instances_that_fall_silent_are_named_where_users_find_others() {
    for load in [closed(20), open(500.0, 40)] {
        let load = load.with(|plan| {
            (plan.duration_ns, plan.timeout_ns) = (Some(6 * SECOND), SECOND);
        });
        let run = driven(&load, |request| {
            let silent = request.at > 3 * SECOND && request.conn % 2 == 0;
            (!silent).then(|| Reply::ok_after(20 * MILLISECOND))
        });
        assert_eq!(starved(&run), Some(Verdict::Invalid), "{:?}", run.users);
    }
}

/// Half of the connections fall silent, and of those opened since as many; the time-out ends few attempts in the window.
#[test]
fn connections_that_freeze_for_good_are_named_whatever_the_timeout() {
    for (silent, timeout_ns) in [(0, 2 * SECOND), (1, 2 * SECOND), (0, 1500 * MILLISECOND)] {
        let load = closed(10).with(|plan| {
            (plan.duration_ns, plan.timeout_ns) = (Some(5 * SECOND), timeout_ns);
        });
        let run = driven(&load, move |request| {
            let frozen = request.at > SECOND && request.conn % 2 == silent;
            (!frozen).then(|| Reply::ok_after(20 * MILLISECOND))
        });
        assert_eq!(starved(&run), Some(Verdict::Invalid), "{timeout_ns}: {:?}", run.users);
    }
}

/// One of two instances stands still for 8 s, from 2.3 s into a window of 5 s on.
#[test]
fn users_held_up_until_after_the_window_are_named_whatever_the_drain_brings() {
    const HOLD: (u64, u64) = (2300 * MILLISECOND, 10_300 * MILLISECOND);
    for (timeout_ns, think_ns) in
        [(30 * SECOND, None), (10 * SECOND, None), (30 * SECOND, Some(50 * MILLISECOND))]
    {
        for workers in [1, 3] {
            let load = closed(20).with(|plan| {
                (plan.duration_ns, plan.timeout_ns) = (Some(5 * SECOND), timeout_ns);
                (plan.think_ns, plan.threads) = (think_ns, workers);
            });
            let run = driven(&load, |request| {
                let held = request.conn % 2 == 0 && (HOLD.0..HOLD.1).contains(&request.at);
                let rest = if held { HOLD.1 - request.at } else { 0 };
                Some(Reply::ok_after(6 * MILLISECOND + rest))
            });
            assert_eq!(run.totals.succeeded, run.totals.attempts);
            assert_eq!(starved(&run), Some(Verdict::Invalid), "{:?}", run.users);
            let text = verdict::judge(&run).reasons.remove(0).text;
            assert!(text.contains("10 of 20 users (connections) were served until 2.3"), "{text}");
        }
    }
}

/// How long responses of healthy servers take, that users may well be waiting for when the window ends.
#[test]
fn responses_that_are_slow_one_by_one_hold_nobody_up() {
    type Takes = fn(drawn: f64) -> f64;
    let servers: [(&str, Takes); 5] = [
        ("slow by design", |_| 3e9),
        ("few long polls", |drawn| if drawn < 0.003 { 10e9 } else { 5e6 }),
        ("some shorter ones", |drawn| if drawn < 0.01 { 1.5e9 } else { 5e6 }),
        ("a heavy tail", |drawn| 2e6 * drawn.max(1e-9).powf(-1.0 / 1.1)),
        ("a very heavy tail", |drawn| 1e6 * drawn.max(1e-9).powf(-1.0 / 0.8)),
    ];
    for (name, takes) in servers {
        for seed in 0..40 {
            let (users, think) = ([3, 20, 100][seed as usize % 3], seed % 4 == 3);
            let mut load = closed(users).with(|plan| {
                (plan.duration_ns, plan.timeout_ns) = (Some(5 * SECOND), 30 * SECOND);
                plan.think_ns = think.then_some(100 * MILLISECOND);
            });
            load.seed = seed;
            let mut draw = draws(seed);
            let run = driven(&load, move |_| Some(Reply::ok_after(takes(draw()).min(25e9) as u64)));
            let validity = verdict::judge(&run);
            let mut reasons = validity.reasons.iter();
            let held = reasons.find(|reason| reason.text.contains("99 % of the other responses"));
            assert!(held.is_none(), "{name}, seed {seed}: {held:?}");
        }
    }
}

#[test]
fn users_that_are_left_in_the_middle_are_named() {
    let load = closed(20).with(|plan| plan.duration_ns = Some(6 * SECOND));
    let run = driven(&load, |request| {
        let deaf = request.at > 3 * SECOND && request.conn % 2 == 0;
        (!deaf).then(|| Reply::ok_after(10 * MILLISECOND))
    });
    let users = run.users.clone().expect("users are counted");
    assert_eq!((users.served, users.unserved, users.left), (20, 0, 10), "{users:?}");
    assert_eq!(starved(&run), Some(Verdict::Invalid));
}

#[test]
fn healthy_servers_and_loads_starve_no_user() {
    let loads: Vec<(&str, Load)> = vec![
        ("plain", closed(20)),
        ("one user", closed(1)),
        ("think times", closed(20).with(|plan| plan.think_ns = Some(700 * MILLISECOND))),
        ("pace", closed(20).with(|plan| plan.pace_ns = Some(2 * SECOND))),
        ("ramp", closed(20).with(|plan| plan.ramp_ns = 3 * SECOND)),
        ("few requests", closed(20).with(|plan| plan.requests = Some(7))),
        ("short window", closed(20).with(|plan| plan.duration_ns = Some(20 * MILLISECOND))),
        ("held back", closed(20).with(|plan| plan.max_inflight = 3)),
        ("warm-up", closed(20).with(|plan| plan.warmup_ns = SECOND)),
        ("pipeline", closed(5).with(|plan| plan.pipeline = 4)),
        ("no keep-alive", closed(20).with(|plan| plan.keepalive = false)),
        ("few of many", open(50.0, 1000)),
        ("nothing due", open(0.1, 10)),
    ];
    for (name, mut load) in loads {
        load.plan.duration_ns = load.plan.duration_ns.map(|ns| ns.min(SECOND) * 4);
        for service in [MILLISECOND, 300 * MILLISECOND, 3 * SECOND] {
            let run = driven(&load, move |_| Some(Reply::ok_after(service)));
            assert_eq!(starved(&run), None, "{name} at {service} ns: {:?}", run.users);
            let users = run.users.expect("users are counted");
            assert_eq!(users.unserved, 0, "{name} at {service} ns: {users:?}");
            assert_eq!(users.served + users.idle, u64::from(load.plan.connections), "{name}");
        }
    }
}

#[test]
fn users_of_a_slow_instance_are_named_where_each_keeps_a_pace() {
    let load = closed(10).with(|plan| {
        (plan.duration_ns, plan.pace_ns) = (Some(15 * SECOND), Some(600 * MILLISECOND));
    });
    let of = |is_slow: fn(NthRequest) -> bool| {
        driven(&load, move |request| {
            let after = if is_slow(request) { 500 * MILLISECOND } else { MILLISECOND };
            Some(Reply::ok_after(after))
        })
    };
    let run = of(|request| request.conn.is_multiple_of(5));
    assert_eq!(starved(&run), Some(Verdict::Valid), "{:?}", run.users);
    // As often slow, for each of them.
    let run = of(|request| (request.nth_on_conn + u64::from(request.conn)).is_multiple_of(5));
    assert_eq!(starved(&run), None, "{:?}", run.users);
}

#[test]
fn a_server_that_fails_often_is_not_one_that_starves() {
    for seed in 0..20 {
        let load = Load { seed, ..closed(50) }.with(|plan| {
            (plan.duration_ns, plan.timeout_ns) = (Some(8 * SECOND), 500 * MILLISECOND);
        });
        let mut draw = seed;
        let run = driven(&load, move |_| {
            draw = draw
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (draw >> 60 < 3).then(|| Reply::ok_after(20 * MILLISECOND))
        });
        assert_eq!(starved(&run), None, "seed {seed}: {:?}", run.users);
    }
}

#[test]
fn kinds_of_responses_are_kept_with_when_they_came() {
    let load = closed(4).with(|plan| plan.duration_ns = Some(4 * SECOND));
    let run = driven(&load, |request| {
        let bytes = if request.at < 2 * SECOND { OK } else { PAGE };
        Some(Reply { after: MILLISECOND, ..Reply::bytes(bytes) })
    });
    let [first, then] = &run.response_kinds[..] else { panic!("{:?}", run.response_kinds) };
    assert_eq!((first.beginning.as_deref(), first.least_bytes), (Some("ok"), 2));
    assert_eq!(then.beginning.as_deref(), Some("<h1>Sorry.</h1>"));
    assert_eq!(
        (first.media_type.as_deref(), then.media_type.as_deref()),
        (None, Some("text/html"))
    );
    assert_eq!(first.responses + then.responses, run.totals.succeeded);
    assert!(first.last_ns < then.first_ns && then.first_ns > 19 * SECOND / 10, "{then:?}");
}

/// Each user has one good response in the window at most.
#[test]
fn a_page_of_errors_since_the_warm_up_is_named() {
    let of = |since: u64| {
        let load = closed(4).with(|plan| {
            (plan.warmup_ns, plan.duration_ns) = (SECOND, Some(3 * SECOND));
        });
        driven(&load, move |request| {
            let bytes = if request.at < since { OK } else { PAGE };
            Some(Reply { after: 50 * MILLISECOND, ..Reply::bytes(bytes) })
        })
    };
    // The run begins some milliseconds after the world.
    let run = of(SECOND + 20 * MILLISECOND);
    assert_eq!(run.response_changes.first().map(|change| change.how), Some(Changed::ForGood));
    let page = run.response_kinds.last().expect("a kind");
    assert_eq!(page.beginning.as_deref(), Some("<h1>Sorry.</h1>"));
    assert_eq!(page.media_type.as_deref(), Some("text/html"));
    let counted: u64 = run.response_kinds.iter().map(|kind| kind.responses).sum();
    assert_eq!(counted, run.totals.succeeded);
    let run = of(SECOND / 2);
    assert_eq!(run.response_changes.first().map(|change| change.how), Some(Changed::Warmup));
    assert_eq!(of(u64::MAX).response_changes, []);
}

/// `{"status":"ok"}`, or `"no"`: bodies of one length and type.
fn status(ok: bool) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n";
    format!("{head}{{\"status\":\"{}\"}}", if ok { "ok" } else { "no" }).into_bytes()
}

/// How the responses changed of a server whose state at an instant `is_ok` gives, and that is twenty
/// times as fast where it is not.
fn change(is_ok: impl Fn(u64) -> bool + 'static) -> Option<Changed> {
    let load = closed(8).with(|plan| (plan.duration_ns, plan.threads) = (Some(6 * SECOND), 2));
    let run = driven(&load, move |request| {
        let ok = is_ok(request.at);
        let after = if ok { 20 * MILLISECOND } else { MILLISECOND };
        Some(Reply { after, ..Reply::bytes(&status(ok)) })
    });
    let reasons = verdict::judge(&run).reasons;
    assert_eq!(
        reasons.iter().any(|reason| reason.code == ReasonCode::ResponsesChanged),
        !run.response_changes.is_empty()
    );
    run.response_changes.first().map(|change| change.how)
}

#[test]
fn a_word_that_changes_in_a_body_of_the_same_length_is_named() {
    assert_eq!(change(|at| at < 3 * SECOND), Some(Changed::ForGood));
    assert_eq!(change(|_| true), None);
}

/// Half of the instances say `no` in the window's last second, which has no second behind it to hold them against.
#[test]
fn a_word_that_changes_on_half_of_the_connections_in_the_last_second_is_named() {
    let of = |since: u64| {
        let load = closed(8).with(|plan| plan.duration_ns = Some(3 * SECOND));
        let run = driven(&load, move |request| {
            let ok = request.at < since || request.conn % 2 == 0;
            Some(Reply { after: 5 * MILLISECOND, ..Reply::bytes(&status(ok)) })
        });
        run.response_changes.first().map(|change| (change.how, change.share))
    };
    let (how, share) = of(SECOND * 12 / 5).expect("a change");
    assert_eq!(how, Changed::ForGood);
    assert!((share - 0.5).abs() < 0.05, "{share}");
    assert_eq!(of(u64::MAX), None);
}

#[test]
fn kinds_that_take_turns_every_second_are_named() {
    let named = change(|at| (at / SECOND).is_multiple_of(2));
    assert!(matches!(named, Some(Changed::Faster | Changed::Turns)), "{named:?}");
    let load = closed(8).with(|plan| (plan.duration_ns, plan.threads) = (Some(6 * SECOND), 2));
    let run = driven(&load, |request| {
        let bytes = if (request.at / SECOND).is_multiple_of(2) { OK } else { PAGE };
        Some(Reply { after: 5 * MILLISECOND, ..Reply::bytes(bytes) })
    });
    assert_eq!(run.response_changes.first().map(|change| change.how), Some(Changed::Turns));
}

/// How the responses changed of a server whose state at an instant `is_ok` gives, and of whose bodies the network brings
/// as many bytes as `cut` says first, and the rest 3 ms later.
fn change_in_pieces(
    is_ok: impl Fn(u64) -> bool + 'static,
    cut: fn(u64) -> usize,
) -> Option<Changed> {
    let load = closed(8).with(|plan| (plan.duration_ns, plan.threads) = (Some(6 * SECOND), 2));
    let run = driven(&load, move |request| {
        let bytes = status(is_ok(request.at));
        let (first, rest) = bytes.split_at(bytes.len() - 15 + cut(request.nth));
        let then = (!rest.is_empty()).then(|| (3 * MILLISECOND, rest.to_vec()));
        Some(Reply { after: 17 * MILLISECOND, then, ..Reply::bytes(first) })
    });
    if run.response_changes.is_empty() {
        assert_eq!(run.response_kinds.len(), 1, "{:?}", run.response_kinds);
        assert_eq!(run.response_kinds[0].beginning.as_deref(), Some(r#"{"status":"ok"}"#));
    }
    run.response_changes.first().map(|change| change.how)
}

#[test]
fn the_words_of_a_body_are_known_wherever_the_network_cuts_it() {
    // Before the body, in its first member's name, behind it, in the word; all of it at once; another place each time.
    let cuts: [fn(u64) -> usize; 6] =
        [|_| 0, |_| 4, |_| 11, |_| 13, |_| 15, |nth| nth as usize % 16];
    for cut in cuts {
        assert_eq!(change_in_pieces(|at| at < 3 * SECOND, cut), Some(Changed::ForGood));
        assert_eq!(change_in_pieces(|_| true, cut), None);
    }
}

#[test]
fn errors_that_come_for_a_moment_each_second_are_named() {
    let of = |bad: u64| {
        let load = closed(8).with(|plan| (plan.duration_ns, plan.threads) = (Some(6 * SECOND), 2));
        let run = driven(&load, move |request| {
            let bytes = status(request.at % SECOND >= bad);
            Some(Reply { after: 2 * MILLISECOND, ..Reply::bytes(&bytes) })
        });
        run.response_changes.first().map(|change| change.how)
    };
    assert_eq!(of(0), None);
    for bad in [50, 100, 150] {
        assert_eq!(of(bad * MILLISECOND), Some(Changed::Turns), "{bad} ms");
    }
}

#[test]
fn a_change_of_protocols_that_nobody_asked_for_fails() {
    let load = closed(4).with(|plan| plan.duration_ns = Some(2 * SECOND));
    let run = driven(&load, |_| {
        let bytes = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
        Some(Reply { after: MILLISECOND, ..Reply::bytes(bytes) })
    });
    let totals = &run.totals;
    assert!(totals.succeeded == 0 && totals.errors.status > 1_000, "{totals:?}");
}

#[test]
fn responses_unlike_the_first_fail_where_the_plan_says_so() {
    for threads in [1, 3] {
        let load = closed(6).with(|plan| {
            (plan.duration_ns, plan.threads) = (Some(4 * SECOND), threads);
            plan.expect_body = Some(model::plan::EXPECT_FIRST.to_owned());
        });
        let run = driven(&load, |request| {
            let bytes = if request.at < 2 * SECOND { OK } else { PAGE };
            Some(Reply { after: MILLISECOND, ..Reply::bytes(bytes) })
        });
        let totals = &run.totals;
        assert!(totals.errors.check > 100 && totals.succeeded > 100, "{totals:?}");
        assert_eq!(totals.errors.check + totals.succeeded, totals.attempts);
        assert!(totals.error_samples["check"].contains("15 bytes"), "{:?}", totals.error_samples);
        assert_eq!(run.response_kinds.len(), 1);
    }
}
