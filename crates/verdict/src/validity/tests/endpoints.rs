//! The rule about endpoints that serve nobody.

use model::{EndpointRun, ErrorCounts};

use super::*;

fn endpoint(name: &str, attempts: u64, failures: &[(ErrorClass, u64)]) -> EndpointRun {
    let mut errors = ErrorCounts::default();
    failures.iter().for_each(|&(class, n)| errors.add(class, n));
    let succeeded = attempts - errors.total();
    let statuses = [(500, errors.status), (200, succeeded)].into();
    EndpointRun { name: name.into(), attempts, succeeded, errors, statuses, ..Default::default() }
}

/// A sound run of which `rare` is a part, and the rest is an endpoint that is well.
fn with(rare: EndpointRun) -> impl Fn(&mut Run) {
    move |run| {
        run.totals.errors.merge(&rare.errors);
        let usual = endpoint("GET /usual", run.totals.attempts - rare.attempts, &[]);
        run.endpoints = vec![usual, rare.clone()];
    }
}

#[test]
fn an_endpoint_that_serves_nobody_is_named() {
    for (class, n, by) in [
        (ErrorClass::Status, 50, "status 500"),
        (ErrorClass::Check, 50, "check"),
        (ErrorClass::Timeout, 50, "timeout"),
        (ErrorClass::Read, 10, "read"),
    ] {
        let rare = endpoint("POST /pay", n, &[(class, n)]);
        let (verdict, codes, text) = judged(open(), with(rare));
        assert_eq!((verdict, codes), (Verdict::Invalid, vec![ReasonCode::FastErrors]), "{text}");
        let words =
            format!("POST /pay never succeeded: of its {n} attempts {n} failed, mostly by {by}. ");
        assert!(text.contains(&words), "{text}");
    }
}

/// What all attempts come to is a note by itself.
#[test]
fn an_endpoint_that_serves_nobody_is_named_among_many_failures() {
    let rare = endpoint("POST /pay", 4_000, &[(ErrorClass::Status, 4_000)]);
    let (verdict, codes, text) = judged(closed(), with(rare));
    assert_eq!((verdict, codes), (Verdict::Invalid, vec![ReasonCode::FastErrors]), "{text}");
    assert!(text.contains("4,000 of 10,000 responses (40.00 %) were failures"), "{text}");
    assert!(text.contains("; POST /pay never succeeded"), "{text}");
}

#[test]
fn an_endpoint_that_serves_somebody_or_was_hardly_asked_is_not_named() {
    let timeouts =
        |attempts, failed| endpoint("GET /slow", attempts, &[(ErrorClass::Timeout, failed)]);
    for (name, rare) in [
        ("never asked", timeouts(0, 0)),
        ("asked three times", timeouts(3, 3)),
        ("fails nearly always", timeouts(50, 49)),
        ("cut off by the end", EndpointRun { succeeded: 0, unfinished: 50, ..timeouts(50, 0) }),
    ] {
        let (verdict, codes, text) = judged(open(), with(rare));
        assert_eq!((verdict, codes), (Verdict::Valid, vec![]), "{name}: {text}");
    }
    // What the generator could not do is not the endpoint's.
    let (_, codes, text) = judged(closed(), |run| {
        with(endpoint("GET /slow", 50, &[(ErrorClass::Connect, 50)]))(run);
        run.totals.limits.insert("EMFILE".into(), 50);
    });
    assert_eq!(codes, [ReasonCode::LimitsHit], "{text}");
    let (_, codes, text) = judged(closed(), |run| {
        with(endpoint("GET /long", 50, &[(ErrorClass::Check, 50)]))(run);
        run.totals.unchecked = Some(50);
    });
    assert_eq!(codes, [ReasonCode::UncheckedResponses], "{text}");
    // Where the others fail as well, the server is the matter.
    let (_, _, text) = judged(closed(), |run| {
        let failing = [(ErrorClass::Status, 6_000)];
        let rare = endpoint("POST /pay", 50, &[(ErrorClass::Status, 50)]);
        run.totals.errors.add(ErrorClass::Status, 6_050);
        run.endpoints = vec![endpoint("GET /usual", 9_950, &failing), rare];
    });
    assert!(!text.contains("never succeeded"), "{text}");
}
