//! Servers that go away while they are measured, and healthy ones that only appear to.

use model::units::{MILLISECOND, SECOND};
use model::{Nanos, ReasonCode, Run, Verdict};
use net::Close;
use testkit::sim::World;

use crate::harness::{Load, Served, closed, drive, open};
use crate::healthy::draws;
use crate::server::{NthRequest, OK, Reply, mortal, one_by_one, scripted};

const ERROR: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
/// Half of the window.
const HALF: Nanos = 3 * SECOND;

/// 20 users of a server that responds in 2 ms, in either loop, for 6 s.
fn loads() -> [Load; 2] {
    [closed(20), open(400.0, 20)].map(|load| {
        load.with(|plan| (plan.duration_ns, plan.timeout_ns) = (Some(6 * SECOND), 2 * SECOND))
    })
}

fn judged(mut run: Run) -> Run {
    run.validity = verdict::judge(&run);
    run
}

/// The finding of the rule for a run, if there is one.
fn finding(run: &Run) -> Option<(Verdict, String)> {
    let reasons = run.validity.reasons.iter();
    let mut gone = reasons.filter(|reason| reason.code == ReasonCode::ServerGone);
    gone.next().map(|reason| (reason.consequence, reason.text.clone()))
}

/// A run under a load whose server takes this long for each response, and stands still from one instant to another.
fn stalled(load: &Load, (from, until): (Nanos, Nanos), usual: Nanos) -> Run {
    let reply = move |request: NthRequest| {
        let rest = if (from..until).contains(&request.at) { until - request.at } else { 0 };
        Some(Reply::ok_after(rest + usual))
    };
    judged(drive(load, |world| scripted(world, &load.request, reply).0).run)
}

fn after(
    of: Nanos,
    then: impl Fn() -> Option<Reply> + 'static,
) -> impl Fn(&World, &Load) -> Vec<Served> {
    let then = std::rc::Rc::new(then);
    move |world, load| {
        let then = then.clone();
        scripted(world, &load.request, move |request| {
            if request.at < of { Some(Reply::ok_after(2 * MILLISECOND)) } else { then() }
        })
        .0
    }
}

fn well(world: &World, load: &Load, from: Nanos, until: Nanos) -> Served {
    mortal(world, &load.request, (from, until), |_| Some(Reply::ok_after(2 * MILLISECOND)))
}

type Serve = Box<dyn Fn(&World, &Load) -> Vec<Served>>;

/// Each way to go away at half of the window, the rule's finding, and the share of time that is left.
#[test]
fn a_server_that_goes_away_is_named_with_its_share_of_the_time() {
    let cases: Vec<(&str, Serve, &str, f64)> = vec![
        ("killed", Box::new(|w, l| vec![well(w, l, 0, HALF)]), "refused", 0.5),
        ("stalled", Box::new(after(HALF, || None)), "no response came", 0.5),
        (
            "resets",
            Box::new(after(HALF, || Some(Reply::bytes(b"").ending(Close::Reset)))),
            "reset",
            0.5,
        ),
        (
            "slow 503s",
            Box::new(after(HALF, || Some(Reply { after: SECOND, ..Reply::bytes(ERROR) }))),
            "mostly of status 503",
            0.53,
        ),
        (
            "killed and back",
            Box::new(|w, l| vec![well(w, l, 0, 2 * SECOND), well(w, l, 5 * SECOND, 60 * SECOND)]),
            "refused",
            0.5,
        ),
    ];
    for (name, serve, words, available) in cases {
        for load in loads() {
            let which = format!(
                "{name}, {}",
                if load.plan.rate_per_s.is_some() { "open" } else { "closed" }
            );
            let run = judged(drive(&load, |world| serve(world, &load)).run);
            let Some((consequence, text)) = finding(&run) else { panic!("{which}: not named") };
            assert_eq!(consequence, Verdict::Invalid, "{which}");
            assert!(text.contains(words), "{which}: {text}");
            let found = run.rates.available_ratio.unwrap();
            // Backing off may last up to a second beyond the server's return; arrivals of an open loop
            // that have not timed out by then get a response.
            let open = load.plan.rate_per_s.is_some();
            let within = match (name, open) {
                ("killed and back", false) => 0.17,
                ("killed and back", true) => 0.3,
                _ => 0.02,
            };
            // Users of a closed loop get responses, if only errors; arrivals of an open one find no connection.
            let gets_responses = name == "slow 503s" && !open;
            let available = if gets_responses { 1.0 } else { available };
            assert!((found - available).abs() < within, "{which}: {found}");
            let totals = &run.totals;
            let parts =
                totals.succeeded + totals.unsent + totals.unfinished + totals.errors.total();
            assert_eq!(totals.attempts, parts, "{which}");
            let success = run.rates.success_ratio.unwrap();
            let most = if within > 0.2 { 0.8 } else { 0.68 };
            assert!(success < most, "{which}: {success}");
        }
    }
}

#[test]
fn users_time_is_exact() {
    // Killed after a second of four: each user has its responses, and 3 s without the server.
    for workers in [1, 2, 3] {
        let load = closed(6).with(|plan| {
            (plan.duration_ns, plan.threads) = (Some(4 * SECOND), workers);
        });
        let run = drive(&load, |world| vec![well(world, &load, 0, SECOND)]).run;
        let presence = run.presence.as_ref().unwrap();
        assert_eq!(presence.user_ns, 24 * SECOND);
        // The attempt that was cut off began up to 2.2 ms before.
        let down = presence.down_ns as f64 / (18 * SECOND) as f64;
        assert!((1.0..1.003).contains(&down), "{down}");
        assert_eq!((presence.cut_ns, presence.failing_ns), (presence.down_ns, 0));
        assert_eq!(presence.silences.len(), 1);
        assert!(!presence.silences[0].ended);
        let from = presence.silences[0].from_ns;
        assert!((SECOND - 20 * MILLISECOND..=SECOND + 20 * MILLISECOND).contains(&from), "{from}");
    }
}

#[test]
fn success_by_time_is_the_same_however_many_requests_a_connection_holds() {
    for pipeline in [1, 4, 8] {
        let load = closed(4).with(|plan| {
            (plan.pipeline, plan.duration_ns) = (pipeline, Some(4 * SECOND));
        });
        // One after another on a connection, each in 2 ms, of which every twentieth fails.
        let serve = |world: &World| {
            let mut nth = 0;
            one_by_one(world, &load.request, move |_| {
                nth += 1;
                let reply = Reply::bytes(if nth % 20 == 0 { ERROR } else { OK });
                Some(Reply { after: 2 * MILLISECOND, ..reply })
            })
            .0
        };
        let run = drive(&load, serve).run;
        let success = run.rates.success_ratio.unwrap();
        assert!((success - 0.95).abs() < 0.005, "pipeline {pipeline}: {success}");
    }
}

#[test]
fn what_is_lost_before_the_window_is_not_the_windows() {
    let load = closed(4).with(|plan| {
        (plan.warmup_ns, plan.duration_ns) = (3 * SECOND, Some(2 * SECOND));
    });
    let serve = |world: &World| vec![well(world, &load, SECOND, 60 * SECOND)];
    let run = judged(drive(&load, serve).run);
    assert_eq!(finding(&run), None);
    assert_eq!((run.rates.available_ratio, run.rates.attempts_success_ratio), (Some(1.0), None));
}

#[test]
fn a_server_without_half_of_its_instances_is_named() {
    // Every other connection is cut off at its first request, from half of the window on.
    for load in loads() {
        let load = load.with(|plan| plan.keepalive = false);
        let run = judged(
            drive(&load, |world| {
                scripted(world, &load.request, |request| {
                    let dead = request.at >= HALF && request.nth % 2 == 1;
                    let reply = if dead {
                        Reply { after: 2 * MILLISECOND, ..Reply::default() }
                    } else {
                        Reply { after: 2 * MILLISECOND, ..Reply::bytes(OK) }
                    };
                    Some(reply.ending(if dead { Close::Reset } else { Close::Flush }))
                })
                .0
            })
            .run,
        );
        let (consequence, text) = finding(&run).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert!(text.contains("cut off some of its users"), "{text}");
    }
}

#[test]
fn instances_that_take_their_connections_along_are_named() {
    // Half of the connections are cut off once; their users find instances that are there.
    for load in loads() {
        let run = judged(
            drive(&load, |world| {
                scripted(world, &load.request, |request| {
                    let dead = request.at >= HALF && request.conn < 20 && request.conn % 2 == 1;
                    let ok = Reply::ok_after(40 * MILLISECOND);
                    let cut = Reply { after: 2 * MILLISECOND, ..Reply::default() };
                    Some(if dead { cut.ending(Close::Reset) } else { ok })
                })
                .0
            })
            .run,
        );
        let (consequence, text) = finding(&run).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert!(text.contains("cut off 10 of "), "{text}");
    }
}

#[test]
fn a_stall_of_seconds_is_named_whether_or_not_attempts_timed_out() {
    let stall = (2 * SECOND, 9 * SECOND / 2);
    for timeout_ns in [2 * SECOND, 30 * SECOND] {
        for load in loads() {
            let load = load.with(|plan| plan.timeout_ns = timeout_ns);
            let run = stalled(&load, stall, 2 * MILLISECOND);
            let (consequence, text) = finding(&run).expect("named");
            assert_eq!(consequence, Verdict::Invalid, "{text}");
            assert!(text.contains("2.00s into the window, until 4."), "{text}");
        }
    }
}

/// A server that is still starting when the window begins, with a warm-up or without, was never gone; one that had served before
/// was, however early in the window or late in the warm-up, and a healthy one neither.
#[test]
fn a_server_that_is_still_starting_is_called_that() {
    let steady = |run: &Run| {
        let mut reasons = run.validity.reasons.iter();
        let found = reasons.find(|reason| reason.code == ReasonCode::NotSteady);
        found.map(|reason| (reason.consequence, reason.text.clone()))
    };
    let until = 12 * SECOND / 10;
    for load in [closed(20), open(400.0, 400), open(8.0, 100)] {
        let load = load.with(|plan| plan.duration_ns = Some(6 * SECOND));
        let cold = stalled(&load, (0, until), 2 * MILLISECOND);
        assert_eq!(finding(&cold), None, "{:?}", cold.validity);
        let (consequence, text) = steady(&cold).expect("named");
        assert_eq!(consequence, Verdict::LowerBound, "{text}");
        assert!(text.contains("--warmup"), "{text}");
        assert_eq!(cold.validity.verdict, Verdict::LowerBound, "{:?}", cold.validity);

        let warm = stalled(&load, (0, 0), 2 * MILLISECOND);
        assert_eq!((finding(&warm), steady(&warm)), (None, None));

        let load = load.with(|plan| plan.warmup_ns = SECOND);
        let cold = stalled(&load, (0, SECOND + until), 2 * MILLISECOND);
        assert_eq!(finding(&cold), None, "{:?}", cold.validity);
        let (consequence, text) = steady(&cold).expect("named");
        assert_eq!(consequence, Verdict::LowerBound, "{text}");
        let of_window =
            ["no response came in the first 1.1", "the first 1.50s of the window were warm-up"];
        assert!(of_window.into_iter().any(|told| text.contains(told)), "{text}");

        // What is sent in the warm-up, which ends after a second, is in no figure of the window.
        for from in [SECOND - 300 * MILLISECOND, SECOND + 10 * MILLISECOND] {
            let stopped = stalled(&load, (from, SECOND + until), 2 * MILLISECOND);
            let (consequence, text) = finding(&stopped).expect("named");
            assert_eq!(consequence, Verdict::Invalid, "{text}");
            assert!(text.contains("the server stopped answering"), "{text}");
        }
    }
}

/// It served its first requests within the time in which a silence counts as one from the window's start.
#[test]
fn a_server_that_stops_just_after_its_first_responses_is_gone() {
    for load in [closed(20), open(400.0, 400), open(8.0, 100)] {
        let load = load.with(|plan| plan.duration_ns = Some(6 * SECOND));
        let run = stalled(&load, (14 * MILLISECOND, 12 * SECOND / 10), MILLISECOND);
        let (consequence, text) = finding(&run).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert!(text.contains("the server stopped answering"), "{text}");
    }
}

#[test]
fn a_server_that_refuses_with_errors_until_it_is_ready_never_stopped() {
    let load = open(400.0, 20).with(|plan| plan.duration_ns = Some(6 * SECOND));
    let reply = |request: NthRequest| {
        let bytes = if request.at < SECOND { ERROR } else { OK };
        Some(Reply { after: 2 * MILLISECOND, ..Reply::bytes(bytes) })
    };
    let run = judged(drive(&load, |world| scripted(world, &load.request, reply).0).run);
    let (consequence, text) = finding(&run).expect("named");
    assert_eq!(consequence, Verdict::Invalid, "{text}");
    assert!(text.contains("served nobody from the start of the window, until 1."), "{text}");
    assert!(text.contains("let a longer warm-up pass first (--warmup)"), "{text}");
}

#[test]
fn a_stall_of_less_than_a_second_is_named_where_it_is_a_tenth_of_the_window() {
    for load in [closed(5), open(300.0, 400)] {
        let load = load.with(|plan| plan.duration_ns = Some(4 * SECOND));
        let until = |ms| stalled(&load, (2 * SECOND, 2 * SECOND + ms * MILLISECOND), 5_000_000);
        let (consequence, text) = finding(&until(800)).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert_eq!(finding(&until(450)), None);
    }
}

/// The few arrivals of a low rate that a stall holds up have their responses at once; requests that are slow by themselves
/// have them apart, and at times no other is served meanwhile.
#[test]
fn a_stall_of_few_arrivals_is_named_and_slow_requests_of_some_are_not() {
    // Of many workers each has one or two of them.
    for (rate_per_s, threads) in [(8.0, 1), (20.0, 1), (45.0, 1), (20.0, 8)] {
        let load = open(rate_per_s, 100)
            .with(|plan| (plan.duration_ns, plan.threads) = (Some(6 * SECOND), threads));
        let stall = (2 * SECOND, 2 * SECOND + 800 * MILLISECOND);
        let (consequence, text) = finding(&stalled(&load, stall, 5_000_000)).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
    }
    for seed in testkit::sim::seeds(0..20) {
        let mut draw = draws(seed);
        let load = open(2.0, 20).with(|plan| plan.duration_ns = Some(10 * SECOND));
        let slow = drive(&load, |world| {
            let serve = move |_: NthRequest| {
                let took_ms = if draw() < 0.4 { 1_050 } else { 5 };
                Some(Reply::ok_after(took_ms * MILLISECOND))
            };
            scripted(world, &load.request, serve).0
        });
        assert_eq!(finding(&judged(slow.run)), None, "seed {seed}");
    }
}

/// The responses behind a slow one on its connection come at once with it.
#[test]
fn a_slow_response_that_holds_up_those_behind_it_is_no_stall() {
    let load =
        open(5.0, 100).with(|plan| (plan.duration_ns, plan.pipeline) = (Some(6 * SECOND), 16));
    let slow = drive(&load, |world| {
        let serve = |request: NthRequest| {
            let took_ms = if request.nth == 10 { 1_000 } else { 5 };
            Some(Reply::ok_after(took_ms * MILLISECOND))
        };
        one_by_one(world, &load.request, serve).0
    });
    let run = judged(slow.run);
    let mut silences = run.presence.iter().flat_map(|presence| &presence.silences);
    assert!(silences.any(|silence| silence.released), "{:?}", run.presence);
    assert_eq!(finding(&run), None);
}

/// Of an open loop one arrival in eight is refused, all of them within less time than an absence takes to be one.
#[test]
fn arrivals_that_are_refused_within_a_moment_are_counted_all_the_same() {
    let load = open(300.0, 50).with(|plan| plan.duration_ns = Some(3 * SECOND));
    let serve = |world: &World| {
        vec![well(world, &load, 0, SECOND), well(world, &load, 7 * SECOND / 5, 60 * SECOND)]
    };
    let run = judged(drive(&load, serve).run);
    let (consequence, text) = finding(&run).expect("named");
    assert_eq!(consequence, Verdict::Invalid, "{text}");
    assert!(text.contains("cut off some of its users"), "{text}");
}

/// A server that ends while all its users think closes their connections, and no attempt fails in the window.
#[test]
fn a_server_that_ends_while_its_users_think_is_not_called_sound() {
    let load = closed(20).with(|plan| {
        (plan.duration_ns, plan.think_ns) = (Some(5 * SECOND), Some(6 * SECOND));
    });
    for (until, verdict) in [(2 * SECOND, Verdict::Invalid), (60 * SECOND, Verdict::Valid)] {
        let run = judged(drive(&load, |world| vec![well(world, &load, 0, until)]).run);
        let mut reasons = run.validity.reasons.iter();
        let found = reasons.find(|reason| reason.code == ReasonCode::NothingAsked);
        let found = found.unwrap_or_else(|| panic!("{until}: {:?}", run.validity));
        assert_eq!(found.consequence, verdict, "{}", found.text);
    }
}

/// Users whom nobody serves for two seconds of six, and as many whose requests are that slow one by one.
#[test]
fn a_stall_of_few_users_is_named_and_slow_requests_of_some_are_not() {
    let stall = (2 * SECOND, 4 * SECOND);
    let load = closed(5).with(|plan| plan.duration_ns = Some(6 * SECOND));
    let run = stalled(&load, stall, 20 * MILLISECOND);
    let (consequence, text) = finding(&run).expect("named");
    assert_eq!(consequence, Verdict::Invalid, "{text}");
    assert!(text.contains("into the window, until 4.0"), "{text}");
    let slow = judged(
        drive(&load, |world| {
            scripted(world, &load.request, |request| {
                let long = request.nth % 150 == 149;
                Some(Reply::ok_after(if long { 2 * SECOND } else { 20 * MILLISECOND }))
            })
            .0
        })
        .run,
    );
    assert_eq!(finding(&slow), None);
}

/// A user that waits makes no further request, so that of those with a pace each may be part of a stall, and few others are made.
#[test]
fn a_stall_of_users_that_pause_is_named_and_slow_requests_of_some_are_not() {
    let stall = (20 * SECOND, 30 * SECOND);
    for (pace_ns, think_ns) in [(Some(SECOND), None), (None, Some(SECOND))] {
        let load = closed(20).with(|plan| {
            (plan.pace_ns, plan.think_ns) = (pace_ns, think_ns);
            (plan.duration_ns, plan.timeout_ns) = (Some(60 * SECOND), 30 * SECOND);
        });
        let run = stalled(&load, stall, 2 * MILLISECOND);
        let (consequence, text) = finding(&run).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert!(text.contains("into the window, until 30.0s"), "{text}");
        // One request in nine takes as long by design.
        let slow = judged(
            drive(&load, |world| {
                scripted(world, &load.request, move |request| {
                    let long = request.nth % 9 == 8;
                    let after = if long { 9 * SECOND } else { 2 * MILLISECOND };
                    Some(Reply::ok_after(after))
                })
                .0
            })
            .run,
        );
        assert_eq!(finding(&slow), None);
    }
}

/// Users that were held up together ask in step from then on: a moment later, one whose request is slow, or never gets a
/// response, is the only one who waits.
#[test]
fn a_slow_request_of_users_in_step_is_no_absence() {
    let load = closed(20).with(|plan| {
        (plan.pace_ns, plan.warmup_ns) = (Some(SECOND), 3 * SECOND);
        (plan.duration_ns, plan.timeout_ns) = (Some(6 * SECOND), 10 * SECOND);
    });
    for stuck in [false, true] {
        let run = judged(
            drive(&load, |world| {
                scripted(world, &load.request, move |request| {
                    let held = (2 * SECOND).saturating_sub(request.at);
                    let one = request.at >= 2 * SECOND && request.nth % 20 == 7;
                    let slow = if one && !stuck { 800 } else { 2 };
                    let never = one && stuck && request.at >= 15 * SECOND / 2;
                    (!never).then(|| Reply::ok_after(held + slow * MILLISECOND))
                })
                .0
            })
            .run,
        );
        let silences = &run.presence.as_ref().expect("it is kept").silences;
        let longest = silences.iter().map(model::Silence::duration_ns).max();
        assert!(longest > Some(SECOND / 2), "{silences:?}");
        assert_eq!(finding(&run), None, "stuck: {stuck}");
    }
}

/// Whoever sends every two seconds tries as often while the server is dead: what fails is the part of the requests that
/// it is of the time.
#[test]
fn users_that_pause_try_a_dead_server_as_often_as_they_would_have_sent() {
    for (pace_ns, think_ns) in [(Some(2 * SECOND), None), (None, Some(2 * SECOND))] {
        let load = closed(20).with(|plan| {
            (plan.pace_ns, plan.think_ns) = (pace_ns, think_ns);
            plan.duration_ns = Some(40 * SECOND);
        });
        let run = judged(drive(&load, |world| vec![well(world, &load, 0, 20 * SECOND)]).run);
        let (consequence, text) = finding(&run).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert!((390..=410).contains(&run.totals.attempts), "{}", run.totals.attempts);
        let success = run.rates.success_ratio.unwrap();
        let of_attempts = run.rates.attempts_success_ratio.unwrap_or(success);
        for share in [success, of_attempts, run.rates.available_ratio.unwrap()] {
            assert!((share - 0.5).abs() < 0.03, "{share}: {:?}", run.rates);
        }
    }
}

/// A quarter of the users meet a second without the server, and miss four of theirs for it.
#[test]
fn an_absence_shorter_than_the_pace_is_the_share_of_time_that_it_lasted() {
    let load = closed(20).with(|plan| {
        (plan.pace_ns, plan.duration_ns) = (Some(4 * SECOND), Some(40 * SECOND));
    });
    let serve = |world: &World| {
        vec![well(world, &load, 0, 10 * SECOND), well(world, &load, 11 * SECOND, 90 * SECOND)]
    };
    let available = drive(&load, serve).run.rates.available_ratio.unwrap();
    assert!((available - 39.0 / 40.0).abs() < 0.006, "{available}");
}

#[test]
fn responses_that_cannot_be_used_are_named() {
    let twice = [OK, OK].concat();
    for load in loads() {
        let twice = twice.clone();
        let run = judged(
            drive(&load, |world| {
                scripted(world, &load.request, move |request| {
                    let bytes = if request.at < HALF { OK } else { &twice };
                    Some(Reply { after: 2 * MILLISECOND, ..Reply::bytes(bytes) })
                })
                .0
            })
            .run,
        );
        let (consequence, text) = finding(&run).expect("named");
        assert_eq!(consequence, Verdict::Invalid, "{text}");
        assert!(text.contains("not usable HTTP: after its response"), "{text}");
    }
}

/// The verdict on failing responses.
fn failing(run: &Run) -> Option<Verdict> {
    let mut reasons = run.validity.reasons.iter();
    reasons.find(|reason| reason.code == ReasonCode::FastErrors).map(|reason| reason.consequence)
}

#[test]
fn responses_that_begin_to_fail_are_distinguished_from_load_shedding() {
    const GATEWAY: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
    // An instance that is gone; one that is overloaded and slower and slower until it sheds; a limit on the
    // rate; and an API half of whose responses are failures.
    type Response = fn(nth: u64, at: Nanos) -> (Nanos, &'static [u8]);
    let cases: [(&str, Response, Verdict); 4] = [
        (
            "an instance gone",
            |nth, at| (2, if at >= HALF && nth % 2 == 1 { GATEWAY } else { OK }),
            Verdict::Invalid,
        ),
        (
            "sheds",
            |nth, at| (at / SECOND * 15 + 15, if at >= HALF && nth % 2 == 1 { ERROR } else { OK }),
            Verdict::Valid,
        ),
        (
            "limits",
            |nth, at| {
                let limited = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n";
                (2, if at >= HALF && nth % 2 == 1 { limited } else { OK })
            },
            Verdict::Valid,
        ),
        ("fails", |nth, _| (2, if nth % 2 == 1 { GATEWAY } else { OK }), Verdict::Valid),
    ];
    for (name, response, verdict) in cases {
        for load in loads() {
            let run = judged(
                drive(&load, |world| {
                    scripted(world, &load.request, move |request| {
                        let (ms, bytes) = response(request.nth, request.at);
                        let after = (ms + 1) * MILLISECOND;
                        Some(Reply { after, ..Reply::bytes(bytes) })
                    })
                    .0
                })
                .run,
            );
            assert_eq!(failing(&run), Some(verdict), "{name}: {:?}", run.validity);
        }
    }
}

/// Half of the users wait 0.8 s for each error: few of all attempts, and much of the users' time.
#[test]
fn instances_that_begin_to_respond_with_slow_errors_are_named_in_runs_of_few_seconds() {
    let of = |seconds: u64, until: Nanos| {
        let load = closed(50).with(|plan| {
            (plan.duration_ns, plan.timeout_ns) = (Some(seconds * SECOND), 2 * SECOND);
        });
        let from = seconds * SECOND * 2 / 5;
        let reply = move |request: NthRequest| {
            let fails = request.conn % 2 == 1 && (from..until).contains(&request.at);
            Some(match fails {
                true => Reply { after: 800 * MILLISECOND, ..Reply::bytes(ERROR) },
                false => Reply::ok_after(2 * MILLISECOND),
            })
        };
        let run = judged(drive(&load, |world| scripted(world, &load.request, reply).0).run);
        failing(&run)
    };
    for seconds in [3, 4, 8] {
        assert_eq!(of(seconds, Nanos::MAX), Some(Verdict::Invalid), "{seconds} s");
    }
    // Each of them once.
    assert_eq!(of(3, SECOND * 13 / 10), Some(Verdict::Valid));
    assert_eq!(of(3, 0), None);
}

#[test]
fn a_restart_of_a_moment_is_a_note() {
    let load = closed(20).with(|plan| plan.duration_ns = Some(200 * SECOND));
    let slow = |world: &World, from, until| {
        mortal(world, &load.request, (from, until), |_| Some(Reply::ok_after(50 * MILLISECOND)))
    };
    let serve = |world: &World| {
        vec![
            slow(world, 0, 50 * SECOND),
            slow(world, 50 * SECOND + 700 * MILLISECOND, 900 * SECOND),
        ]
    };
    let run = judged(drive(&load, serve).run);
    let (consequence, text) = finding(&run).expect("named");
    assert_eq!(consequence, Verdict::Valid, "{text}");
}
