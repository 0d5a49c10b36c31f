//! The rule about a server that goes away, on plain figures.

use model::{Presence, Silence};

use super::*;

/// A silence from 6 s to the end of 10 s in which attempts failed in `failed_slots` slots.
pub(super) fn dead(run: &mut Run, failed_slots: u32) {
    run.totals.errors.add(ErrorClass::Connect, 40);
    run.totals.attempts += 40;
    run.totals.error_samples.insert("connect".into(), "Connection refused".into());
    run.rates.available_ratio = Some(0.6);
    let silence = Silence {
        unseen_ns: 0,
        from_ns: 6 * SECOND,
        to_ns: 10 * SECOND,
        last_failed_ns: Some(10 * SECOND),
        failed_slots,
        ended: false,
        released: false,
        before_any_response: false,
    };
    let user_ns = 100 * SECOND;
    let (down_ns, cut_ns) = (40 * SECOND, 40 * SECOND);
    run.presence =
        Some(Presence { user_ns, down_ns, cut_ns, failing_ns: 0, silences: vec![silence] });
}

/// Of a series the server may be killed between two runs, the second of which it served nobody in.
#[test]
fn a_server_that_is_away_for_all_of_a_run_stopped_answering() {
    let mut run = closed();
    dead(&mut run, 12);
    run.plan.warmup_ns = 0;
    let silence = &mut run.presence.as_mut().expect("it is watched").silences[0];
    (silence.from_ns, silence.before_any_response) = (0, true);
    let sentence = |run: &Run| crate::gone::gone(run).expect("it was away").sentence(run);
    let said = "the server stopped answering from the start of the window, and had not come back at its end";
    assert!(sentence(&run).starts_with(said), "{}", sentence(&run));
    run.presence.as_mut().expect("it is watched").silences[0].ended = true;
    let said = "the server served nobody from the start of the window, until 10.0s";
    assert!(sentence(&run).starts_with(said), "{}", sentence(&run));

    // All users waited to try again when the window began.
    let begins = |run: &mut Run, from_ns: u64| {
        run.presence.as_mut().expect("it is watched").silences[0].from_ns = from_ns;
    };
    begins(&mut run, 300 * MILLISECOND);
    let said = "the server served nobody from the first request, 300ms into the window, until";
    assert!(sentence(&run).starts_with(said), "{}", sentence(&run));
    run.plan.warmup_ns = SECOND;
    begins(&mut run, SECOND + 300 * MILLISECOND);
    let said = "the server served nobody from the start of the window, until 9.00s";
    assert!(sentence(&run).starts_with(said), "{}", sentence(&run));
}

#[test]
fn a_server_that_went_away() {
    check(vec![
        (
            "to the end",
            closed(),
            |run| dead(run, 12),
            Verdict::Invalid,
            ReasonCode::ServerGone,
            "the server stopped answering 6.00s into the window, and had not come back at its end: \
             Connection refused; it was available for 60.00 % of its users' time",
        ),
        (
            "an open loop",
            open(),
            |run| dead(run, 12),
            Verdict::Invalid,
            ReasonCode::ServerGone,
            "it was available for 60.00 % of the arrivals",
        ),
        (
            "nothing was given up",
            closed(),
            |run| {
                dead(run, 12);
                run.rates.available_ratio = Some(1.0);
            },
            Verdict::Invalid,
            ReasonCode::ServerGone,
            "no attempt was given up in the window, so `available` is 100 % all the same",
        ),
        (
            "a part of the users",
            closed(),
            |run| {
                dead(run, 12);
                run.presence.as_mut().unwrap().silences.clear();
            },
            Verdict::Invalid,
            ReasonCode::ServerGone,
            "cut off some of its users: Connection refused",
        ),
        (
            "idle connections, and as many others",
            closed(),
            |run| {
                dead(run, 12);
                run.presence.as_mut().unwrap().silences.clear();
                run.totals.idle_cuts = Some(20);
            },
            Verdict::Invalid,
            ReasonCode::ServerGone,
            "cut off some of its users",
        ),
    ]);
}

#[test]
fn a_server_that_ends_each_connection_without_saying_so_is_told_by_that() {
    let (_, _, text) = judged(closed(), |run| {
        dead(run, 12);
        run.presence.as_mut().unwrap().silences.clear();
        run.totals.connects = 5_000;
        run.totals.errors.add(ErrorClass::Read, 5_000);
    });
    let wanted = "nearly every connection ended so, after 2.0 responses on average";
    assert!(text.contains(wanted), "{text}");
}

/// An objective on `available` counts errors as responses.
#[test]
fn a_server_that_sent_errors_alone_gets_no_advice_on_what_its_absence_may_be() {
    let (verdict, _, text) = judged(closed(), |run| {
        dead(run, 12);
        run.totals.errors.add(ErrorClass::Status, 400);
        run.totals.statuses = [(200, 9_600), (503, 400)].into();
    });
    assert_eq!(verdict, Verdict::Invalid);
    assert!(text.contains("all it sent were errors, mostly of status 503"), "{text}");
    assert!(text.contains("Find out why the server sent nothing but errors"), "{text}");
    assert!(!text.contains("--slo"), "{text}");
}

/// Who found no connection sent nothing, so that what was refused is missing from the rate that was sent as well.
#[test]
fn arrivals_that_are_refused_are_the_servers_and_those_left_besides_an_overloads() {
    let named = |achieved_per_s: f64, connect_max_ns: u64| {
        let (_, codes, _) = judged(open(), |run| {
            run.totals.errors.add(ErrorClass::Connect, 600);
            (run.totals.requests, run.totals.succeeded) = (9_400, 9_400);
            (run.rates.achieved_per_s, run.connect_ns.max) = (achieved_per_s, connect_max_ns);
            run.presence = Some(Presence::default());
        });
        codes.contains(&ReasonCode::ServerGone)
    };
    assert!(named(940.0, MILLISECOND));
    assert!(!named(900.0, MILLISECOND), "others were left too");
    assert!(!named(940.0, SECOND), "its queue of connections was full");
}

/// Neither a lower rate nor more connections reach a server that refuses them all.
#[test]
fn arrivals_that_a_server_refused_which_is_gone_are_not_said_to_be_unsent() {
    use ReasonCode::{AchievedBelowOffered, ConnectionsExhausted};

    for in_flight_max in [4, 10] {
        let (verdict, codes, text) = judged(open(), |run| {
            dead(run, 12);
            run.totals.errors.add(ErrorClass::Connect, 4_000);
            run.rates.achieved_per_s = 600.0;
            run.concurrency.in_flight_max = in_flight_max;
        });
        assert_eq!(verdict, Verdict::Invalid);
        assert!(codes.contains(&ReasonCode::ServerGone), "{text}");
        let unsent = [AchievedBelowOffered, ConnectionsExhausted];
        assert!(!codes.iter().any(|code| unsent.contains(code)), "{text}");
    }
    // All were sent in the end, once it was back.
    let (_, codes, text) = judged(open(), |run| {
        dead(run, 12);
        run.presence.as_mut().unwrap().silences[0].ended = true;
        run.concurrency.in_flight_max = 10;
        run.wait_ns = around(40 * MILLISECOND, 10_000);
        run.response_ns = around(42 * MILLISECOND, 100_000);
    });
    assert!(codes.contains(&ReasonCode::ServerGone), "{text}");
    assert!(!codes.contains(&ConnectionsExhausted), "{text}");
}

/// They wait for a connection while the server is away, and the window ends before there is one for all of them.
#[test]
fn arrivals_that_were_never_sent_hide_no_absence() {
    let named = |unsent: u64, refused: u64| {
        let (_, codes, text) = judged(open(), |run| {
            dead(run, 7);
            run.totals.errors.add(ErrorClass::Connect, refused);
            run.totals.unsent += unsent;
            run.totals.attempts += unsent + refused;
            let silence = &mut run.presence.as_mut().unwrap().silences[0];
            (silence.to_ns, silence.last_failed_ns) = (7 * SECOND, Some(7 * SECOND));
            silence.ended = true;
            // At the cap, where what was refused is not counted as cut off.
            run.concurrency.in_flight_max = run.plan.inflight_cap();
        });
        (codes.contains(&ReasonCode::ServerGone), text)
    };
    let (found, text) = named(3_000, 0);
    assert!(
        found && text.contains("stopped answering 6.00s into the window, until 7.00s"),
        "{text}"
    );
    let (found, text) = named(3_000, 4_000);
    assert!(!found, "it refuses a part of all: {text}");
}

#[test]
fn an_absence_of_a_moment_is_no_note_where_much_was_cut_off() {
    let consequence = |cut_ns: u64| {
        let mut run = closed();
        dead(&mut run, 12);
        run.totals.duration_ns = 100 * SECOND;
        let presence = run.presence.as_mut().unwrap();
        (presence.user_ns, presence.cut_ns) = (1_000 * SECOND, cut_ns);
        let silence = &mut presence.silences[0];
        (silence.to_ns, silence.ended) = (silence.from_ns + 7 * SECOND / 10, true);
        silence.last_failed_ns = Some(silence.to_ns);
        let mut reasons = judge(&run).reasons.into_iter();
        reasons.find(|reason| reason.code == ReasonCode::ServerGone).expect("named").consequence
    };
    assert_eq!(consequence(7 * SECOND), Verdict::Valid);
    assert_eq!(consequence(60 * SECOND), Verdict::Invalid);
}

/// Users that back off fail three times within 70 ms, and by then a run by count may be over.
#[test]
fn a_server_that_dies_under_a_run_by_count_is_told_however_soon_that_ends() {
    let dies = |requests: Option<u64>| {
        judged(closed(), move |run| {
            dead(run, 5);
            (run.plan.requests, run.totals.duration_ns) = (requests, 6 * SECOND + SECOND / 10);
            let presence = run.presence.as_mut().unwrap();
            let silence = &mut presence.silences[0];
            (silence.to_ns, silence.last_failed_ns) =
                (run.totals.duration_ns, Some(run.totals.duration_ns));
            run.users = Some(model::Users { served: 10, left: 10, ..Default::default() });
        })
    };
    let (verdict, _, text) = dies(Some(10_040));
    assert_eq!(verdict, Verdict::Invalid);
    assert!(
        text.contains("the server stopped answering 6.00s into the window, and had not come"),
        "{text}"
    );
    assert!(!text.contains("(-n)"), "{text}");
    let (_, _, text) = dies(None);
    assert!(!text.contains("stopped answering"), "{text}");
}

/// Users that back off make few attempts: most of what a short level holds may be failures.
#[test]
fn a_server_that_dies_early_in_a_short_closed_loop_is_gone_at_its_end() {
    let (verdict, _, text) = judged(closed(), |run| {
        dead(run, 7);
        (run.plan.duration_ns, run.totals.duration_ns) = (Some(2 * SECOND), 2 * SECOND);
        run.totals.errors = model::ErrorCounts::default();
        run.totals.errors.add(ErrorClass::Connect, 76);
        (run.totals.attempts, run.totals.requests, run.totals.succeeded) = (175, 99, 99);
        let silence = &mut run.presence.as_mut().unwrap().silences[0];
        silence.from_ns = 3 * SECOND / 10;
        (silence.to_ns, silence.last_failed_ns) = (3 * SECOND / 2, Some(3 * SECOND / 2));
        run.users = Some(model::Users { served: 8, left: 8, ..Default::default() });
    });
    assert_eq!(verdict, Verdict::Invalid);
    assert!(
        text.contains("the server stopped answering 300ms into the window, and had not"),
        "{text}"
    );
}

/// Ten users that back off would take hours for the rest.
#[test]
fn a_run_by_count_that_gave_up_says_how_much_it_made() {
    let (_, _, text) = judged(closed(), |run| {
        dead(run, 12);
        (run.plan.requests, run.plan.duration_ns) = (Some(1_000_000), None);
        run.totals.attempts = 10_040;
    });
    let wanted = "the run ended with 10,040 of 1,000,000 requests (-n) made";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn a_server_that_was_silent_until_somebody_interrupted_the_run() {
    let (verdict, codes, text) = judged(closed(), |run| {
        dead(run, 12);
        let presence = run.presence.as_mut().unwrap();
        (presence.cut_ns, presence.silences[0].last_failed_ns) = (0, None);
        (run.interrupted, run.totals.unfinished) = (true, 10);
    });
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(codes, [ReasonCode::ServerGone, ReasonCode::Interrupted]);
    assert!(text.contains("had not come back at its end"), "{text}");
}

#[test]
fn one_port_that_ran_out_here_does_not_hide_that_nothing_comes() {
    let (verdict, codes, _) = judged(closed(), |run| {
        dead(run, 0);
        let presence = run.presence.as_mut().unwrap();
        (presence.cut_ns, presence.silences[0].last_failed_ns) = (0, None);
        run.totals.limits.insert("EADDRNOTAVAIL".into(), 1);
        run.totals.unfinished = 10;
    });
    assert_eq!(verdict, Verdict::Invalid);
    assert!(codes.contains(&ReasonCode::ServerGone), "{codes:?}");
}

#[test]
fn a_server_that_lets_nobody_connect_any_more() {
    let (verdict, codes, _) = judged(closed(), |run| {
        dead(run, 0);
        run.totals.errors = model::ErrorCounts::default();
        let presence = run.presence.as_mut().unwrap();
        (presence.cut_ns, presence.silences[0].last_failed_ns) = (0, None);
        let users = run.users.get_or_insert_default();
        users.end_waits.insert(4 * SECOND, 10);
    });
    assert_eq!((verdict, codes.first()), (Verdict::Invalid, Some(&ReasonCode::ServerGone)));
}

#[test]
fn failures_that_do_not_mean_the_server_is_gone() {
    type Spoil = (&'static str, fn(&mut Run));
    let spoils: [Spoil; 7] = [
        ("ports of this machine that ran out", |run| {
            dead(run, 12);
            run.presence.as_mut().unwrap().silences.clear();
            run.totals.limits.insert("EADDRNOTAVAIL".into(), 41);
        }),
        ("a wait that an interruption cut short", |run| {
            dead(run, 12);
            let presence = run.presence.as_mut().unwrap();
            (presence.cut_ns, presence.silences[0].last_failed_ns) = (0, None);
            (run.interrupted, run.totals.unfinished) = (true, 10);
            run.service_ns.p99 = SECOND;
        }),
        ("a lone failure", |run| {
            dead(run, 1);
            let presence = run.presence.as_mut().unwrap();
            (presence.cut_ns, presence.silences[0].ended) = (0, true);
        }),
        ("shorter than responses take", |run| {
            dead(run, 12);
            run.service_ns.p50 = 5 * SECOND;
            let presence = run.presence.as_mut().unwrap();
            (presence.cut_ns, presence.silences[0].ended) = (0, true);
        }),
        ("half of the attempts fail all along", |run| {
            dead(run, 3);
            run.totals.attempts = 20_000;
            run.presence.as_mut().unwrap().cut_ns = 0;
        }),
        ("idle connections that were cut off", |run| {
            dead(run, 12);
            run.presence.as_mut().unwrap().silences.clear();
            run.totals.idle_cuts = Some(37);
        }),
        ("measured before", |run| {
            dead(run, 12);
            run.presence = None;
        }),
    ];
    for (name, spoil) in spoils {
        let (_, codes, text) = judged(closed(), spoil);
        assert!(!codes.contains(&ReasonCode::ServerGone), "{name}: {text}");
    }
}
