//! One kind of trouble at a time, counted in its class.

use model::units::{MICROSECOND, MILLISECOND, SECOND};
use model::{ReasonCode, Run};
use net::Close;
use target::Options;
use testkit::sim::{Conditions, Cut, Delay, HostLimits};

use crate::harness::{Load, Outcome, address, closed, drive, open};
use crate::server::{Log, NthRequest, OK, Reply, built_in, scripted, scripted_early};

fn alone(load: &Load) -> Outcome {
    drive(load, |_| Vec::new())
}

#[test]
fn a_time_out_counts_as_at_least_itself_and_costs_the_connection() {
    let load = closed(4).with(|plan| {
        (plan.timeout_ns, plan.duration_ns) = (SECOND, Some(5 * SECOND));
    });
    let run = drive(&load, |world| scripted(world, &load.request, |_| None).0).run;
    let totals = &run.totals;
    assert_eq!((totals.attempts, totals.errors.timeout, totals.requests), (20, 20, 0));
    assert_eq!(run.service_ns.count, 20);
    assert!((SECOND..SECOND + 2 * MILLISECOND).contains(&run.service_ns.min));
    assert!(run.service_ns.max < SECOND + 2 * MILLISECOND);
    assert!((20..=24).contains(&totals.connects), "{}", totals.connects);
    assert!(totals.error_samples["timeout"].contains("1s"), "{:?}", totals.error_samples);
}

#[test]
fn a_response_after_the_time_out_is_none_though_no_scan_came_by() {
    // Scans for time-outs lie a millisecond apart, and the response comes between two.
    let until_the_close = b"HTTP/1.1 200 OK\r\n\r\nall of it";
    for response in [Reply::bytes(OK), Reply::bytes(until_the_close).ending(Close::Flush)] {
        let load = closed(3).with(|plan| {
            (plan.timeout_ns, plan.duration_ns) = (MILLISECOND, Some(100 * MILLISECOND));
        });
        let run = drive(&load, |world| {
            let late = Reply { after: MILLISECOND + 300 * MICROSECOND, ..response };
            scripted(world, &load.request, move |_| Some(late.clone())).0
        })
        .run;
        let totals = &run.totals;
        assert!(totals.attempts > 100, "{totals:?}");
        assert_eq!((totals.succeeded, totals.errors.timeout), (0, totals.attempts));
    }
}

/// As of a server whose time-out for idle connections is as long as its users' pace.
#[test]
fn connections_that_end_after_they_were_idle_are_told_from_others() {
    let run = |pace_ns, ends: fn(NthRequest) -> bool| {
        let load = closed(4).with(|plan| {
            (plan.duration_ns, plan.pace_ns) = (Some(10 * SECOND), Some(pace_ns));
        });
        let reply = move |request| match ends(request) {
            true => Reply::bytes(b"").ending(Close::Flush),
            false => Reply::ok_after(MILLISECOND),
        };
        drive(&load, |world| scripted(world, &load.request, move |request| Some(reply(request))).0)
            .run
    };
    let is_gone = |run: &Run| {
        let reasons = verdict::judge(run).reasons;
        reasons.iter().any(|reason| reason.code == ReasonCode::ServerGone)
    };
    let idled = run(2 * SECOND, |request| request.nth_on_conn > 0);
    let totals = &idled.totals;
    let sample = &totals.error_samples["read"];
    assert!(sample.contains("without a response; the connection had been idle for "), "{sample}");
    assert!(totals.errors.read > 0 && !is_gone(&idled), "{totals:?}");
    assert_eq!(totals.idle_cuts, Some(totals.errors.read));
    // New ones as well, and ones that were in use.
    let half = run(2 * SECOND, |request| request.nth % 2 == 1);
    let busy = run(20 * MILLISECOND, |request| request.nth_on_conn > 0);
    for run in [half, busy] {
        assert!(run.totals.idle_cuts.is_none_or(|cuts| cuts < run.totals.errors.read / 2));
        assert!(is_gone(&run), "{:?}", run.totals);
    }
}

#[test]
fn a_pipeline_that_times_out_loses_none_of_its_requests() {
    for step in 1..40 {
        let warmup_ns = step * 5 * MILLISECOND;
        let load = closed(1).with(|plan| {
            (plan.pipeline, plan.warmup_ns) = (4, warmup_ns);
            (plan.timeout_ns, plan.duration_ns) = (400 * MILLISECOND, Some(2 * SECOND));
        });
        // Some responses, then silence on the connection, with requests of warm-up and window behind it.
        let mut log = Log::default();
        let outcome = drive(&load, |world| {
            let (served, seen) = scripted(world, &load.request, |request| {
                let after = 20 * MILLISECOND + request.nth_on_conn % 4 * 13 * MILLISECOND;
                (request.nth_on_conn < 9).then(|| Reply::ok_after(after))
            });
            log = seen;
            served
        });
        let first = log.borrow()[0].at;
        let in_window = log.borrow().iter().filter(|a| a.at - first >= warmup_ns).count();
        assert_eq!(outcome.run.totals.attempts, in_window as u64, "warm-up of {warmup_ns} ns");
        assert!(outcome.run.service_ns.max >= 400 * MILLISECOND);
    }
}

#[test]
fn an_arrival_that_waited_too_long_is_dropped_unsent() {
    let load = open(100.0, 1).with(|plan| {
        (plan.timeout_ns, plan.duration_ns) = (500 * MILLISECOND, Some(3 * SECOND));
    });
    let run = drive(&load, |world| scripted(world, &load.request, |_| None).0).run;
    let totals = &run.totals;
    assert_eq!(totals.attempts, 300);
    assert_eq!(totals.unsent + totals.errors.timeout, 300);
    assert!((5..=7).contains(&totals.errors.timeout), "{totals:?}");
    // A dropped arrival counts with the time that it had waited; those cut off by the end had not
    // reached the limit.
    assert!(run.response_ns.min >= 500 * MILLISECOND, "{:?}", run.response_ns);
}

#[test]
fn refusals_are_counted_with_pauses_between_them() {
    for workers in [1, 2] {
        let load = closed(2).with(|plan| {
            (plan.duration_ns, plan.threads) = (Some(10 * SECOND), workers);
        });
        let run = alone(&load).run;
        assert_eq!(run.totals.attempts, run.totals.errors.connect);
        assert!((20..=40).contains(&run.totals.attempts), "{:?}", run.totals);
        assert!(run.totals.error_samples["connect"].contains("refused"));
    }
}

#[test]
fn a_count_holds_when_everything_is_refused() {
    let load = closed(10).with(|plan| {
        (plan.requests, plan.duration_ns) = (Some(15), None);
    });
    let run = alone(&load).run;
    assert_eq!((run.totals.attempts, run.totals.errors.connect), (15, 15));
}

#[test]
fn an_open_loop_at_a_closed_port_ends_in_time() {
    let load = open(1000.0, 10).with(|plan| {
        (plan.timeout_ns, plan.duration_ns) = (SECOND, Some(3 * SECOND));
    });
    let outcome = alone(&load);
    let totals = &outcome.run.totals;
    assert_eq!(totals.attempts, 3000);
    assert_eq!(totals.unsent + totals.errors.connect, 3000);
    assert!(totals.errors.connect >= 50 && totals.unsent > 1000, "{totals:?}");
    assert!(outcome.took < 5 * SECOND);
}

#[test]
fn a_black_hole_does_not_hold_up_the_start() {
    for load in [closed(1000), open(100.0, 1000)] {
        let load = load.with(|plan| plan.timeout_ns = SECOND);
        let outcome = drive(&load, |world| {
            world.deaf(address(), 0);
            Vec::new()
        });
        let totals = &outcome.run.totals;
        assert_eq!(totals.requests, 0);
        assert_eq!(totals.attempts, totals.errors.connect + totals.unsent);
        assert!(outcome.took < 10 * SECOND, "{}", outcome.took);
    }
}

#[test]
fn users_still_connecting_at_the_start_are_not_connected_twice() {
    let mut load = closed(4).with(|plan| {
        (plan.timeout_ns, plan.duration_ns) = (100 * SECOND, Some(20 * SECOND));
    });
    load.conditions = Conditions { handshake: Delay::Fixed(7 * SECOND), ..load.conditions };
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
    });
    let totals = &outcome.run.totals;
    assert_eq!((totals.connects, totals.attempts), (4, totals.succeeded));
    // What came before the start is part of it.
    assert_eq!(outcome.run.connect_ns.min / SECOND, 14);
    assert!((9.0..11.0).contains(&(outcome.run.rates.requests_per_s * 1.1e-3 * 20.0 / 4.0)));
}

#[test]
fn connections_that_are_never_accepted_time_out() {
    let load = closed(3).with(|plan| plan.timeout_ns = 300 * MILLISECOND);
    let run = drive(&load, |world| {
        world.deaf(address(), 1_000_000);
        Vec::new()
    })
    .run;
    assert_eq!(run.totals.attempts, run.totals.errors.timeout + run.totals.unfinished);
    assert!(run.totals.errors.timeout >= 9);
}

#[test]
fn files_and_ports_that_run_out_are_named_and_the_rest_runs() {
    for (limits, name) in [
        (HostLimits { files: 5, ..HostLimits::default() }, "EMFILE"),
        (HostLimits { ports: 5, ..HostLimits::default() }, "EADDRNOTAVAIL"),
    ] {
        let mut load = closed(8);
        load.limits = limits;
        let outcome = drive(&load, |world| {
            scripted(world, &load.request, |_| Some(Reply::ok_after(MILLISECOND))).0
        });
        let totals = &outcome.run.totals;
        assert!(totals.limits[name] >= 3, "{:?}", totals.limits);
        assert_eq!(outcome.run.concurrency.open_max, 5);
        assert_eq!(totals.attempts, totals.succeeded + totals.errors.connect);
        assert!(totals.succeeded > 4000 && totals.errors.connect <= 3 * 20, "{totals:?}");
    }
}

#[test]
fn no_file_at_all_for_a_burst_of_arrivals_is_survived() {
    let mut load = open(100_000.0, 50_000).with(|plan| {
        (plan.granularity_ns, plan.duration_ns) = (100 * MILLISECOND, Some(300 * MILLISECOND));
    });
    load.limits = HostLimits { files: 0, ..HostLimits::default() };
    let totals = alone(&load).run.totals;
    assert_eq!(totals.attempts, 30_000);
    assert_eq!(totals.errors.connect + totals.unsent, 30_000);
    assert!(totals.errors.connect > 10_000);
}

#[test]
fn each_bad_response_falls_in_its_class() {
    let classes = [
        ("status", Reply::bytes(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")),
        ("protocol", Reply::bytes(b"NONSENSE\r\n\r\n")),
        ("protocol", Reply::bytes(b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n")),
        ("read", Reply::default().ending(Close::Flush)),
        ("read", Reply::default().ending(Close::Reset)),
        ("read", Reply::bytes(&OK[..OK.len() - 1]).ending(Close::Flush)),
        ("read", Reply::bytes(&OK[..5]).ending(Close::Flush)),
    ];
    for (class, reply) in classes {
        for cut in [Cut::Whole, Cut::Bytes] {
            let mut load = closed(3);
            load.conditions = Conditions { cut, ..load.conditions };
            let (bytes, end) = (reply.bytes.clone(), reply.end);
            let outcome = drive(&load, |world| {
                scripted(world, &load.request, move |_| {
                    Some(Reply { after: MILLISECOND, end, ..Reply::bytes(&bytes) })
                })
                .0
            });
            let totals = &outcome.run.totals;
            let by_class: Vec<_> = totals.errors.occurred().map(|(c, n)| (c.name(), n)).collect();
            assert_eq!(by_class, [(class, totals.attempts)], "{reply:?}: {totals:?}");
            assert_eq!(totals.attempts, outcome.sent());
            assert!(totals.attempts > 1000);
        }
    }
}

#[test]
fn a_server_that_asks_for_tls_gives_no_response() {
    let asks: &[u8] =
        b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
    for load in [closed(2), open(100.0, 2)] {
        let reply = Reply::bytes(asks).ending(Close::Flush);
        let run =
            drive(&load, |world| scripted(world, &load.request, move |_| Some(reply.clone())).0)
                .run;
        let totals = &run.totals;
        assert_eq!((totals.requests, totals.errors.status), (0, 0), "{totals:?}");
        assert!(totals.errors.protocol > 10, "{totals:?}");
        assert!(totals.mismatches >= Some(totals.errors.protocol), "{totals:?}");
        assert!(totals.error_samples["protocol"].contains("expects TLS"), "{totals:?}");
    }
}

#[test]
fn a_response_that_lasts_until_the_close_is_whole() {
    let load = closed(2);
    let reply = Reply::bytes(b"HTTP/1.1 200 OK\r\n\r\nall of it").ending(Close::Flush);
    let run =
        drive(&load, |world| scripted(world, &load.request, move |_| Some(reply.clone())).0).run;
    assert_eq!(run.totals.attempts, run.totals.succeeded + run.totals.unfinished);
    assert_eq!(run.totals.server_closes, run.totals.succeeded);
    assert_eq!(run.commonest_response.map(|response| response.bytes), Some(9));
}

/// Nothing shows which of them are cut short.
#[test]
fn responses_that_last_until_the_close_and_differ_in_length_may_be_cut_short() {
    let told = |bodies: [&'static str; 2]| {
        let load = closed(2);
        let mut nth = 0_usize;
        let reply = move |_| {
            nth += 1;
            let response = format!("HTTP/1.1 200 OK\r\n\r\n{}", bodies[nth % 2]);
            Some(Reply::bytes(response.as_bytes()).ending(Close::Flush))
        };
        let run = drive(&load, |world| scripted(world, &load.request, reply).0).run;
        assert!(run.totals.until_close >= Some(run.totals.succeeded), "{:?}", run.totals);
        let mut reasons = run.validity.reasons.into_iter();
        reasons.find(|reason| reason.code == ReasonCode::UncheckedResponses)
    };
    let text = told(["all of it", "all o"]).expect("a note").text;
    assert!(text.contains("have 5 to 9 bytes"), "{text}");
    assert_eq!(told(["all of it", "all of it"]), None);
}

#[test]
fn a_second_response_is_not_taken_for_the_next_ones() {
    let load = closed(2);
    let twice = [OK, OK].concat();
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        let (served, seen) = scripted(world, &load.request, move |_| {
            Some(Reply { after: MILLISECOND, ..Reply::bytes(&twice) })
        });
        log = seen;
        served
    });
    let totals = &outcome.run.totals;
    // Which of the two is the response cannot be known.
    assert_eq!((totals.succeeded, totals.errors.protocol), (0, log.borrow().len() as u64));
    assert_eq!(totals.attempts, totals.errors.protocol);
    assert_eq!(totals.connects, totals.attempts);
    assert!(totals.error_samples["protocol"].contains("unsolicited bytes"));
}

#[test]
fn a_pipeline_that_the_server_closes_midway_is_sent_again_by_its_user() {
    let load = closed(2).with(|plan| plan.pipeline = 8);
    let mut log = Log::default();
    let outcome = drive(&load, |world| {
        let (served, seen) = scripted(world, &load.request, |request| {
            let last = request.nth_on_conn % 5 == 4;
            let reply = Reply::bytes(if last {
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            } else {
                b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            });
            Some(if last { reply.ending(Close::Flush) } else { reply })
        });
        log = seen;
        served
    });
    let totals = &outcome.run.totals;
    assert_eq!(totals.attempts, outcome.sent());
    assert_eq!(totals.attempts, totals.succeeded + totals.errors.read + totals.unfinished);
    // Of each connection's requests, five get a response and three or more are lost.
    assert_eq!(totals.succeeded / 5, totals.server_closes);
    assert!(totals.errors.read >= 3 * totals.server_closes, "{totals:?}");
}

#[test]
fn idle_connections_that_the_server_closes_are_no_failure() {
    let load = closed(4).with(|plan| plan.think_ns = Some(100 * MILLISECOND));
    let run = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::bytes(OK).ending(Close::Flush))).0
    })
    .run;
    assert_eq!((run.totals.attempts, run.totals.succeeded), (40, 40));
    assert_eq!(run.totals.server_closes, 40);
}

#[test]
fn a_long_request_with_an_early_response_is_never_mixed_with_the_next() {
    // The scripted server fails on anything but whole requests; the built-in one responds early.
    let mut load = closed(3).with(|plan| plan.timeout_ns = SECOND);
    load.request = [
        b"POST /fault/early HTTP/1.1\r\nHost: sim\r\nContent-Length: 300000\r\n\r\n".to_vec(),
        vec![b'x'; 300_000],
    ]
    .concat();
    load.conditions = Conditions { buffer_bytes: 20_000, ..load.conditions };
    for enough in [100, 300_000] {
        let outcome = drive(&load, |world| {
            let ok = |_| Some(Reply::ok_after(10 * MICROSECOND));
            scripted_early(world, &load.request, enough, ok).0
        });
        let totals = &outcome.run.totals;
        assert_eq!(totals.attempts, totals.succeeded, "response after {enough} bytes");
        assert!(totals.succeeded > 50, "response after {enough} bytes: {totals:?}");
    }
    let outcome = drive(&load, |world| built_in(world, &Options::default()));
    let totals = &outcome.run.totals;
    assert_eq!(totals.attempts, outcome.sent());
    assert!(totals.requests > 100 && totals.errors.protocol == 0, "{totals:?}");
}

#[test]
fn resets_on_the_way_lose_only_what_they_hit() {
    let mut load = closed(20);
    load.conditions = Conditions { resets_per_million: 10_000, ..load.conditions };
    let outcome = drive(&load, |world| {
        scripted(world, &load.request, |_| Some(Reply::ok_after(100 * MICROSECOND))).0
    });
    let totals = &outcome.run.totals;
    assert_eq!(totals.attempts, outcome.sent() + totals.errors.connect);
    let lost = totals.errors.read as f64 / totals.attempts as f64;
    assert!((lost - 0.02).abs() < 0.005, "{lost}");
}
