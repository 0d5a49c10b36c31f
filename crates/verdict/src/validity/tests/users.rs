use std::collections::BTreeMap;

use model::{ErrorClass, Users};

use super::*;

fn users(served: u64) -> Users {
    Users {
        served,
        least: 90,
        p10: 95,
        median: 100,
        p90: 105,
        most: 110,
        best_tenth_share: Some(0.105),
        ..Users::default()
    }
}

/// `n` of the users without any response, of a run of 100.
fn without(n: u64, waited_ns: u64) -> Users {
    let unserved_waits = BTreeMap::from([(waited_ns, n)]);
    Users { unserved: n, unserved_tries: n, unserved_waits, ..users(100 - n) }
}

#[test]
fn users_without_any_response_are_named() {
    check(vec![(
        "a tenth of the connections",
        closed(),
        |run| run.users = Some(without(10, 36 * SECOND)),
        Verdict::Invalid,
        ReasonCode::StarvedConnections,
        "10 of 100 users (connections) had no response at all in 36.0s",
    )]);
}

#[test]
fn users_left_without_one_are_named() {
    check(vec![(
        "half of the connections, for the second half",
        closed(),
        |run| {
            let left_waits = BTreeMap::from([(5 * SECOND, 50)]);
            run.users = Some(Users { left: 50, left_waits, ..users(100) });
        },
        Verdict::Invalid,
        ReasonCode::StarvedConnections,
        "50 of 100 users had responses at first, and none for the last 5.00s",
    )]);
}

#[test]
fn a_server_that_left_all_users_is_no_matter_of_how_it_accepts() {
    let (_, codes, text) = judged(closed(), |run| {
        let left_waits = BTreeMap::from([(5 * SECOND, 100)]);
        run.users = Some(Users { left: 100, left_waits, ..users(100) });
    });
    assert_eq!(codes, [ReasonCode::StarvedConnections], "{text}");
    assert!(
        text.contains("Find out what stopped the server") && !text.contains("accept"),
        "{text}"
    );
}

/// Half of the connections fall silent at once, and of the five that their users open then two do not answer either.
#[test]
fn few_connections_without_a_response_are_named() {
    let silent = |mute: u64, connects: u64| {
        move |run: &mut Run| {
            let totals = &mut run.totals;
            (totals.attempts, totals.requests, totals.succeeded) = (1701, 1694, 1694);
            totals.errors.add(ErrorClass::Timeout, 7);
            totals.connects = connects;
            run.users = Some(Users { mute, ..users(10) });
        }
    };
    let (verdict, codes, text) = judged(closed(), silent(2, 15));
    assert_eq!(
        (verdict, codes),
        (Verdict::Invalid, vec![ReasonCode::StarvedConnections]),
        "{text}"
    );
    assert!(text.contains("2 of 15 connections were opened and sent requests"), "{text}");
    // Of more connections two are an accident, as one always is.
    for (mute, connects) in [(1, 15), (2, 38)] {
        let (_, codes, text) = judged(closed(), silent(mute, connects));
        assert!(!codes.contains(&ReasonCode::StarvedConnections), "{text}");
    }
}

/// Some had just tried again when the run ended.
#[test]
fn of_a_server_that_died_no_users_were_left_while_others_were_served() {
    let (_, codes, text) = judged(closed(), |run| {
        presence::dead(run, 12);
        let left_waits = BTreeMap::from([(SECOND / 60, 3), (4 * SECOND, 7)]);
        run.users = Some(Users { left: 10, left_waits, ..users(10) });
    });
    assert_eq!(codes, [ReasonCode::ServerGone], "{text}");
}

#[test]
fn uneven_service_is_a_note() {
    check(vec![(
        "one listener with twice as many threads",
        closed(),
        |run| {
            let best_tenth_share = Some(0.31);
            run.users = Some(Users { p10: 95, p90: 400, best_tenth_share, ..users(100) });
        },
        Verdict::Valid,
        ReasonCode::StarvedConnections,
        "31.00 % of all responses",
    )]);
}

/// A quarter of eight users, at a fiftieth of the others' speed from some instant on.
#[test]
fn uneven_service_of_few_users_is_a_note() {
    let few = |served: u64, least: u64| {
        move |run: &mut Run| {
            let best_tenth_share = Some(0.121);
            let (p10, median, p90, most) = (least, 229, 229, 229);
            run.users =
                Some(Users { least, p10, median, p90, most, best_tenth_share, ..users(served) });
        }
    };
    let (verdict, codes, text) = judged(closed(), few(8, 71));
    assert_eq!((verdict, codes), (Verdict::Valid, vec![ReasonCode::StarvedConnections]), "{text}");
    assert!(text.contains("one had 71 responses, another one 229"), "{text}");
    for (served, least) in [(8, 150), (3, 71)] {
        assert_eq!(judged(closed(), few(served, least)).1, vec![]);
    }
}

/// Two of ten users are on an instance that takes 500 ms, and each user keeps a pace, so that all have as many responses.
#[test]
fn users_of_a_slow_instance_are_a_note() {
    let fastest = |slow: u64, took_ns: u64| {
        move |run: &mut Run| {
            let fastest = BTreeMap::from([(MILLISECOND, 10 - slow), (took_ns, slow)]);
            run.users = Some(Users { fastest, ..users(10) });
        }
    };
    let (verdict, codes, text) = judged(closed(), fastest(2, 500 * MILLISECOND));
    assert_eq!((verdict, codes), (Verdict::Valid, vec![ReasonCode::StarvedConnections]), "{text}");
    let words =
        "2 of 10 never had a response in less than 500ms, and half of all responses took 2.00ms";
    assert!(text.contains(words), "{text}");
    for (name, run, slow, took_ns) in [
        ("nearly as fast", closed(), 2, 5 * MILLISECOND),
        ("none", closed(), 0, 500 * MILLISECOND),
        ("an open loop uses some connections only when others wait", open(), 2, SECOND),
    ] {
        let (_, codes, text) = judged(run, fastest(slow, took_ns));
        assert_eq!(codes, [], "{name}: {text}");
    }
    // Users who send something else.
    let (_, codes, text) = judged(closed(), |run| {
        fastest(2, SECOND)(run);
        let own = |connections| model::EndpointPlan { connections, ..Default::default() };
        run.plan.mix.endpoints = vec![own(Some(2)), own(None)];
    });
    assert_eq!(codes, [], "{text}");
}

#[test]
fn what_is_no_starvation_is_not_named() {
    type Spoil = fn(&mut Run);
    let cases: [(&str, Run, Spoil); 8] = [
        ("all served", closed(), |run| run.users = Some(users(100))),
        ("one reset at once", closed(), |run| run.users = Some(without(1, MILLISECOND))),
        ("slow server, ten seconds are not long", closed(), |run| {
            run.service_ns.p50 = 2 * SECOND;
            run.users = Some(without(3, 10 * SECOND));
        }),
        ("as many as failing attempts explain", closed(), |run| {
            // Half of the attempts fail; of 1,000 users with 10 attempts each one has none.
            run.totals.attempts = 10_000;
            run.totals.requests = 5_000;
            run.totals.errors.add(ErrorClass::Timeout, 5_000);
            let unserved_waits = BTreeMap::from([(10 * SECOND, 2)]);
            run.users =
                Some(Users { unserved: 2, unserved_tries: 20, unserved_waits, ..users(998) });
        }),
        ("idle in an open loop", open(), |run| {
            run.users = Some(Users { idle: 900, p90: 4000, ..users(100) });
        }),
        ("everybody left: the server is gone", closed(), |run| {
            let left_waits = BTreeMap::from([(5 * SECOND, 100)]);
            run.users = Some(Users { left: 100, left_waits, ..users(100) });
            presence::dead(run, 12);
        }),
        ("everybody left: no files are", closed(), |run| {
            let left_waits = BTreeMap::from([(5 * SECOND, 100)]);
            run.users = Some(Users { left: 100, left_waits, ..users(100) });
            run.totals.limits.insert("EMFILE".into(), 100);
        }),
        ("a ramp", closed(), |run| {
            run.plan.ramp_ns = SECOND;
            run.users = Some(Users { p10: 1, p90: 1000, ..users(100) });
        }),
    ];
    for (name, run, spoil) in cases {
        let (_, codes, text) = judged(run, spoil);
        assert!(!codes.contains(&ReasonCode::StarvedConnections), "{name}: {text}");
    }
}

/// Each of a server's users ends up with a response that comes byte by byte: it is there, and serves nobody any more.
#[test]
fn a_server_that_drips_to_everybody_is_not_called_sound() {
    check(vec![(
        "all of them to the end",
        closed(),
        |run| {
            let left_waits = BTreeMap::from([(5 * SECOND, 100)]);
            run.users = Some(Users { left: 100, left_waits, ..users(100) });
        },
        Verdict::Invalid,
        ReasonCode::StarvedConnections,
        "100 of 100 users had responses at first, and none for the last 5.00s or more",
    )]);
}

/// 10 users a second each second for 10 s.
#[test]
fn users_that_cannot_keep_their_pace_are_named() {
    let paced = |attempts, longest_ns| {
        move |run: &mut Run| {
            (run.plan.connections, run.plan.pace_ns) = (10, Some(10 * MILLISECOND));
            (run.totals.attempts, run.service_ns.max) = (attempts, longest_ns);
        }
    };
    let mut run = closed();
    run.plan.max_inflight = 10;
    let (verdict, codes, text) = judged(run.clone(), paced(8_900, 30 * MILLISECOND));
    assert_eq!((verdict, codes), (Verdict::Valid, vec![ReasonCode::PaceNotHeld]), "{text}");
    assert!(text.contains("would have sent 10,000, and sent 8,900"), "{text}");
    for (attempts, longest_ns) in [(9_100, 30 * MILLISECOND), (8_900, 9 * MILLISECOND)] {
        let (_, codes, text) = judged(run.clone(), paced(attempts, longest_ns));
        assert_eq!(codes, vec![], "{text}");
    }
}
