//! Rules about responses.

use model::EndpointPlan;
use model::kinds::{MOST_LISTED, ResponseKind};

use super::*;

/// As a script's delay() may have it, which is longer than the window.
#[test]
fn nothing_is_said_against_a_url_that_was_not_asked() {
    let told = |run: Run, connects: u64| {
        let (verdict, codes, text) = judged(run, |run| {
            run.totals = model::run::Totals { connects, duration_ns: SECOND, ..Default::default() };
            run.rates = Default::default();
        });
        assert_eq!((verdict, codes[0]), (Verdict::Invalid, ReasonCode::NoResponses), "{text}");
        text
    };
    let text = told(closed(), 10);
    assert!(text.contains("nothing was sent in 1.00s"), "{text}");
    assert!(text.contains("delay() of a script") && text.contains("(-d)."), "{text}");
    assert!(!text.contains("all users wait"), "a window may be too short by itself: {text}");
    assert!(!text.contains("Check that the URL"), "{text}");
    let text = told(open(), 0);
    assert!(text.contains("nothing was sent in 1.00s: no arrival was due so soon"), "{text}");
    assert!(!text.contains("Check that the URL"), "{text}");
    assert!(told(closed(), 0).contains("no response arrived in 1.00s, of 0 attempts"));
}

#[test]
fn a_type_that_has_no_empty_form_is_named_where_all_bodies_are_empty() {
    let of = |endpoint, media_type: &str, most_bytes| ResponseKind {
        endpoint,
        status: 200,
        media_type: Some(media_type.to_owned()),
        most_bytes,
        responses: 10,
        ..ResponseKind::default()
    };
    let said = |kinds: &[ResponseKind], change: fn(&mut Run)| {
        let mut run = closed();
        run.response_kinds = kinds.to_vec();
        change(&mut run);
        assert_eq!(judge(&run), closed().validity, "no rule says it");
        empty_in_words(&run)
    };
    let json = "application/json; charset=utf-8";
    assert_eq!(
        said(&[of(0, json, 0)], |_| ()).expect("all are empty"),
        format!("every successful response had an empty body, although its type is {json}")
    );
    for kinds in [
        &[of(0, json, 2)][..],
        &[of(0, json, 0), of(0, json, 2)],
        &[of(0, "text/plain", 0)],
        &[ResponseKind { status: 204, ..of(0, json, 0) }],
        &[ResponseKind { status: 302, ..of(0, json, 0) }],
        &[ResponseKind { media_type: None, ..of(0, json, 0) }],
        &[],
    ] {
        assert_eq!(said(kinds, |_| ()), None, "{kinds:?}");
    }
    assert_eq!(said(&[of(0, json, 0)], |run| run.plan.method = "HEAD".into()), None);
    // A list that is full may have left kinds of its last endpoint out.
    let listed = |kinds: usize| [vec![of(0, json, 2); kinds - 1], vec![of(1, json, 0)]].concat();
    assert!(said(&listed(MOST_LISTED - 1), |_| ()).is_some());
    assert_eq!(said(&listed(MOST_LISTED), |_| ()), None);

    let kinds = [of(0, json, 2), of(1, "application/problem+json", 0), of(2, json, 0)];
    let of_mix = said(&kinds, |run| {
        let endpoint = |path: &str| EndpointPlan {
            name: format!("GET {path}"),
            method: "GET".to_owned(),
            ..EndpointPlan::default()
        };
        run.plan.mix.endpoints = ["/a", "/b", "/c"].map(endpoint).into();
    });
    assert_eq!(
        of_mix.expect("those of two are"),
        "every successful response of GET /b had an empty body, although its type is application/problem+json; the same \
         holds for 1 more endpoint"
    );
}

#[test]
fn rules_about_responses() {
    check(vec![
        (
            "nothing answered",
            closed(),
            |run| {
                run.totals.requests = 0;
                run.totals.succeeded = 0;
                run.totals.errors.add(ErrorClass::Connect, 10_000);
                run.totals.error_samples.insert("connect".into(), "Connection refused".into());
            },
            Verdict::Invalid,
            ReasonCode::NoResponses,
            "no response arrived in 10.0s, of 10,000 attempts; 10,000 failed by connect \
             (Connection refused)",
        ),
        (
            "all 404",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Status, 10_000);
                run.totals.succeeded = 0;
                run.totals.statuses = [(404, 10_000)].into();
            },
            Verdict::Invalid,
            ReasonCode::FastErrors,
            "all 10,000 responses had status 404: check the URL. If it is not a failure, use --success.",
        ),
        (
            "no credentials",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Status, 10_000);
                run.totals.succeeded = 0;
                run.totals.statuses = [(401, 10_000)].into();
            },
            Verdict::Invalid,
            ReasonCode::FastErrors,
            "had status 401: give credentials (-H 'Authorization: ...', or -u). If it is not a failure, ",
        ),
        (
            "nearly all 404",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Status, 9_900);
                run.totals.succeeded = 100;
                run.totals.statuses = [(200, 100), (404, 9_900)].into();
            },
            Verdict::Invalid,
            ReasonCode::FastErrors,
            "9,900 of 10,000 responses (99.00 %) were failures, all with status 404: errors that \
             look like capacity; 10.00/s were carried; for 404, check the URL. ",
        ),
        (
            "no body as expected",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Check, 10_000);
                run.totals.succeeded = 0;
            },
            Verdict::Invalid,
            ReasonCode::FastErrors,
            "0.00/s were carried. Look at a response that failed a check",
        ),
    ]);
}

#[test]
fn rules_about_failures_of_a_part() {
    check(vec![
        (
            "sheds two thirds",
            closed(),
            |run| {
                run.totals.errors.add(ErrorClass::Status, 6_667);
                run.totals.statuses = [(200, 3_333), (503, 6_667)].into();
            },
            Verdict::Valid,
            ReasonCode::FastErrors,
            "status 503",
        ),
        (
            "half of the attempts cut off",
            closed(),
            |run| {
                run.totals.attempts = 20_000;
                run.totals.errors.add(ErrorClass::Read, 9_000);
                run.totals.errors.add(ErrorClass::Protocol, 1_000);
                run.totals.error_samples.insert("read".into(), "it closed".into());
            },
            Verdict::Valid,
            ReasonCode::FastErrors,
            "10,000 of 20,000 attempts (50.00 %) failed without a response, 9,000 of them by read (it closed)",
        ),
    ]);
}

/// Users of the instances that fail slowly make few attempts, so that few of all attempts fail.
#[test]
fn failures_that_take_much_of_the_users_time_are_named_though_they_are_few() {
    let judged_with = |failed_at: fn(u64) -> u64| {
        judged(closed(), |run| {
            run.blocks = (0..10)
                .map(|at| {
                    let mut block = model::Block {
                        start_ns: at * SECOND,
                        duration_ns: SECOND,
                        attempts: 1_000,
                        response_mean_ns: 10 * MILLISECOND,
                        ..Default::default()
                    };
                    block.errors.add(ErrorClass::Status, failed_at(at));
                    block
                })
                .collect();
            let failed: u64 = (0..10).map(failed_at).sum();
            run.totals.errors.add(ErrorClass::Status, failed);
            run.totals.statuses = [(200, 10_000 - failed), (503, failed)].into();
            run.presence = Some(model::Presence {
                user_ns: 100 * SECOND,
                failing_ns: 30 * SECOND,
                ..Default::default()
            });
        })
    };
    let (verdict, codes, text) = judged_with(|at| if at < 4 { 0 } else { 12 });
    assert_eq!((verdict, &codes[..]), (Verdict::Invalid, &[ReasonCode::FastErrors][..]), "{text}");
    let wanted = "72 of 10,000 responses (0.72 %) were failures, all with status 503, and took 30.00 % of the users' \
                  time, 0.00 % of it until 4.00s into the window and 50.00 % since, to the end; ";
    assert!(text.contains(wanted), "{text}");
    assert!(text.ends_with("those wait long."), "{text}");
    // Their mean length is more than the last two seconds have room for.
    let (_, _, text) = judged_with(|at| if at < 8 { 0 } else { 30 });
    assert!(text.contains("until 8.00s into the window and 100.00 % since, to the end"), "{text}");
    // A few that are slow all along are what the server does.
    let healthy: [fn(u64) -> u64; 2] = [|_| 7, |at| if at < 9 { 0 } else { 15 }];
    for failed_at in healthy {
        let (verdict, codes, text) = judged_with(failed_at);
        assert_eq!(
            (verdict, &codes[..]),
            (Verdict::Valid, &[ReasonCode::FastErrors][..]),
            "{text}"
        );
    }
}

/// Of users who wait for a time-out now and then, few attempts fail.
#[test]
fn time_outs_that_take_most_of_the_users_time_are_named_though_they_are_few() {
    let judged_with = |down_s: u64| {
        judged(closed(), |run| {
            run.totals.attempts = 10_500;
            run.totals.errors.add(ErrorClass::Timeout, 500);
            run.presence = Some(model::Presence {
                user_ns: 100 * SECOND,
                down_ns: down_s * SECOND,
                ..Default::default()
            });
        })
    };
    let (verdict, codes, text) = judged_with(75);
    assert_eq!((verdict, &codes[..]), (Verdict::Valid, &[ReasonCode::FastErrors][..]), "{text}");
    let wanted = "500 of 10,500 attempts (4.76 %) failed without a response, 500 of them by timeout, and took 75.00 % of the \
                  users' time; 1,000/s were answered. Look at the errors and status codes, and at who meets them";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(judged_with(20).1, vec![]);
}

#[test]
fn rules_about_connections_that_bring_more_or_end() {
    check(vec![
        (
            "answers twice now and then",
            closed(),
            |run| run.totals.surplus_responses = Some(1),
            Verdict::Invalid,
            ReasonCode::SurplusResponses,
            "the server sent a response that no request was waiting for",
        ),
        (
            "stray bytes",
            closed(),
            |run| run.totals.unsolicited = Some(5),
            Verdict::Invalid,
            ReasonCode::SurplusResponses,
            "on 5 of ",
        ),
        (
            "bodies longer than are kept",
            closed(),
            |run| run.totals.unchecked = Some(run.totals.requests / 100),
            Verdict::Invalid,
            ReasonCode::UncheckedResponses,
            "could not be checked here",
        ),
        (
            "few bodies longer than are kept",
            closed(),
            |run| run.totals.unchecked = Some(1),
            Verdict::Valid,
            ReasonCode::UncheckedResponses,
            "1 of ",
        ),
        (
            "bodies of no length that differ",
            closed(),
            |run| {
                run.totals.until_close = Some(10_000);
                run.response_kinds = vec![ResponseKind {
                    status: 200,
                    responses: 10_000,
                    least_bytes: 120,
                    most_bytes: 4_096,
                    ..Default::default()
                }];
            },
            Verdict::Valid,
            ReasonCode::UncheckedResponses,
            "those to one request have 120 to 4,096 bytes",
        ),
        (
            "closes after every response",
            closed(),
            |run| run.totals.server_closes = 10_000,
            Verdict::Valid,
            ReasonCode::KeepaliveRefused,
            "reconnecting took 200us",
        ),
    ]);
}

#[test]
fn an_overloaded_server_is_a_result() {
    let (verdict, codes, text) = judged(closed(), |run| {
        run.totals.errors.add(ErrorClass::Timeout, 2_000);
        run.totals.errors.add(ErrorClass::Status, 3_000);
        run.totals.statuses = [(200, 5_000), (503, 3_000)].into();
        run.totals.requests = 8_000;
        run.response_ns = around(5 * SECOND, 100_000);
    });
    let expected = (Verdict::Valid, vec![ReasonCode::FastErrors]);
    assert_eq!((verdict, codes), expected, "{text}");
}

#[test]
fn few_failures_and_few_stray_bytes_are_nothing() {
    let (verdict, codes, text) = judged(closed(), |run| {
        run.totals.errors.add(ErrorClass::Read, 900);
        (run.totals.connects, run.totals.unsolicited) = (10_000, Some(9));
    });
    assert_eq!((verdict, codes), (Verdict::Valid, vec![]), "{text}");
}

#[test]
fn a_kind_that_begins_to_come_is_a_note_with_both_kinds() {
    let kind = |beginning: &str| ResponseKind {
        status: 200,
        beginning: Some(beginning.into()),
        responses: 1_000,
        ..Default::default()
    };
    for (share, verdict) in [(0.19, Verdict::Valid), (0.2, Verdict::Invalid)] {
        let (found, codes, text) = judged(closed(), |run| {
            run.response_changes = vec![model::kinds::ResponseChange {
                how: model::kinds::Changed::ForGood,
                endpoint: None,
                since_ns: 3 * SECOND,
                before: kind("{\"ok\":1}"),
                after: kind("{\"error\":1}"),
                share,
            }];
        });
        assert_eq!((found, codes), (verdict, vec![ReasonCode::ResponsesChanged]), "{text}");
        assert!(text.contains("`{\"ok\":1}`") && text.contains("`{\"error\":1}`"), "{text}");
        assert!(text.contains("3.00s after the start"), "{text}");
    }
}

#[test]
fn responses_that_read_as_errors_are_a_note() {
    let (found, codes, text) = judged(closed(), |run| {
        run.response_changes = vec![model::kinds::ResponseChange {
            how: model::kinds::Changed::Errors,
            share: 0.1,
            ..Default::default()
        }];
    });
    assert_eq!((found, codes), (Verdict::Valid, vec![ReasonCode::ResponsesChanged]), "{text}");
    let words = "10.00 % of the responses read as errors or ask to log in, and count as";
    assert!(text.contains(words), "{text}");
    assert!(text.contains("--expect-body-like"), "{text}");
    let (_, codes, text) = judged(closed(), |run| {
        let kind = ResponseKind { responses: 1_000, ..Default::default() };
        run.response_changes = vec![model::kinds::ResponseChange {
            how: model::kinds::Changed::Errors,
            share: 1.0,
            before: kind.clone(),
            after: kind,
            ..Default::default()
        }];
    });
    assert_eq!(codes, vec![ReasonCode::ResponsesChanged], "{text}");
    assert!(text.contains("100.00 % of the responses") && !text.contains("beside"), "{text}");
}

#[test]
fn a_part_that_is_redirected_is_a_note_with_where_to() {
    let (found, codes, text) = judged(closed(), |run| {
        run.redirected_to = Some("/login".to_owned());
        run.response_changes = vec![model::kinds::ResponseChange {
            how: model::kinds::Changed::Redirects,
            share: 0.3,
            after: ResponseKind { status: 302, ..Default::default() },
            ..Default::default()
        }];
    });
    assert_eq!((found, codes), (Verdict::Valid, vec![ReasonCode::ResponsesChanged]), "{text}");
    assert!(text.contains("30.00 % of the responses were redirects, the first one of"), "{text}");
    assert!(text.contains("to /login, and"), "{text}");
}

#[test]
fn what_the_warm_up_alone_had_is_a_note_with_both_kinds() {
    let kind = |status| ResponseKind { status, ..Default::default() };
    let (found, codes, text) = judged(closed(), |run| {
        run.response_changes = vec![model::kinds::ResponseChange {
            how: model::kinds::Changed::Warmup,
            before: kind(201),
            after: kind(200),
            share: 0.5,
            ..Default::default()
        }];
    });
    assert_eq!((found, codes), (Verdict::Valid, vec![ReasonCode::ResponsesChanged]), "{text}");
    let words = "50.00 % of the warm-up's responses were of a kind that did not come in the window: 201 of \
                 0 bytes became 200 of 0 bytes. Look";
    assert!(text.contains(words), "{text}");
}

#[test]
fn a_server_that_leaves_a_handshake_unanswered_may_speak_no_tls() {
    let text = |tls: Option<model::plan::TlsPlan>, mismatches: Option<u64>| {
        let mut run = closed();
        (run.rates.requests_per_s, run.totals.requests, run.plan.tls) = (0.0, 0, tls);
        run.totals.mismatches = mismatches;
        judge(&run).reasons.remove(0).text
    };
    let (min, max) = ("1.2".to_owned(), "1.3".to_owned());
    let plan = model::plan::TlsPlan { sni: "h".into(), insecure: false, min, max, resume: false };
    assert!(text(Some(plan.clone()), None).contains("speaks no TLS on this port"));
    assert!(!text(Some(plan), Some(7)).contains("TLS"), "a certificate that is not accepted");
    assert!(!text(None, None).contains("TLS"));
}

#[test]
fn responses_slower_than_the_window_say_how_long_to_measure() {
    let mut run = closed();
    run.totals.duration_ns = SECOND;
    (run.rates.requests_per_s, run.totals.requests) = (0.0, 0);
    run.response_ns.mean = 3_001_000_000;
    let text = judge(&run).reasons.remove(0).text;
    assert!(text.contains("took 3.00s on average: measure longer, -d 31s"), "{text}");
    assert!(!text.contains("Check that the URL"), "it answered: {text}");
    run.totals.errors.status = 1;
    assert!(judge(&run).reasons.remove(0).text.contains("Check that the URL"));
    run.totals.succeeded = 0;
    assert!(!judge(&run).reasons.remove(0).text.contains("measure longer"));
}

/// Nothing is held against a URL that answered until the run was ended.
#[test]
fn a_run_ended_in_its_warm_up_says_so() {
    let mut run = closed();
    run.interrupted = true;
    (run.totals, run.rates) = Default::default();
    run.timeline = vec![model::timeline::Point {
        duration_ns: SECOND,
        phase: "warmup".into(),
        requests_per_s: 9_000.0,
        ..Default::default()
    }];
    let text = judge(&run).reasons.remove(0).text;
    assert!(text.starts_with("the run was ended in its warm-up"), "{text}");
    assert!(!text.contains("URL"), "{text}");
    run.timeline[0].requests_per_s = 0.0;
    assert!(judge(&run).reasons.remove(0).text.contains("Check that the URL answers"));
}
