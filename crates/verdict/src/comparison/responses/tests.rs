use fixture::sound::closed;
use model::interval::length_class;
use model::{EndpointPlan, Mix};

use super::super::likeness;
use super::*;

/// Kinds of JSON with status 200, each with its beginning, length and count.
fn run(kinds: &[(&str, u64, u64)]) -> Run {
    let mut run = closed();
    run.response_kinds = kinds.iter().map(|(body, bytes, n)| kind(body, *bytes, *n)).collect();
    let most = run.response_kinds.iter().max_by_key(|kind| kind.responses).unwrap();
    run.commonest_response = Some(CommonestResponse {
        status: most.status,
        bytes: most.least_bytes,
        body_sha256: most.beginning.clone().unwrap_or_default(),
        seen: 10,
        sampled: 10,
    });
    run
}

fn kind(body: &str, bytes: u64, responses: u64) -> ResponseKind {
    ResponseKind {
        status: 200,
        media_type: Some("application/json".into()),
        beginning: Some(body.into()).filter(|_| !body.is_empty()),
        least_bytes: bytes,
        most_bytes: bytes,
        responses,
        ..ResponseKind::default()
    }
}

const USER: &str = r#"{"id":7,"name":"Ada","at":"2026-11-26T12:00:00Z"}"#;
const OTHER: &str = r#"{"id":8,"name":"Grace","at":"2026-11-26T12:00:01Z"}"#;

#[test]
fn responses_that_differ_in_content_are_alike() {
    let old = run(&[(USER, 64, 9_000)]);
    for new in [
        run(&[(OTHER, 64, 9_000)]),
        run(&[(OTHER, 66, 9_000)]),
        // Another length class, and another name of the first member.
        run(&[(r#"{"user":8}"#, 63, 4_000)]),
        run(&[(OTHER, 78, 9_000)]),
        // A member for errors that says that there are none.
        run(&[(r#"{"error": null, "id":8}"#, 64, 9_000)]),
        // A few others, of another length.
        run(&[(OTHER, 64, 9_000), (OTHER, 640, 200)]),
    ] {
        assert_eq!(difference(&old, &new), None, "{:?}", new.response_kinds);
        assert!(
            likeness::remark([&old, &new]).unwrap().contains("in content only (status 200, 64")
        );
        assert_eq!(likeness::differences([&old, &new], ["old", "new"]), Vec::<String>::new());
    }
    assert_eq!(likeness::remark([&old, &old]), None);
}

#[test]
fn responses_of_other_work_are_not_alike() {
    let old = run(&[(USER, 64, 9_000)]);
    let changed = |change: fn(&mut ResponseKind)| {
        let mut new = run(&[(OTHER, 64, 9_000)]);
        change(&mut new.response_kinds[0]);
        new
    };
    for (new, needle) in [
        (changed(|kind| kind.status = 202), "against 202, application/json"),
        (
            changed(|kind| kind.media_type = Some("text/html".into())),
            "against 200, text/html of 64",
        ),
        (changed(|kind| kind.media_type = None), "against 200 of 64"),
        // A page of errors that is called JSON.
        (run(&[("Database connection", 64, 9_000)]), "`Database connection`"),
        (run(&[(r#"[{"id":7}]"#, 64, 9_000)]), "`[{"),
        (run(&[(OTHER, 35, 9_000)]), "of 35 bytes"),
        (run(&[(OTHER, 90, 9_000)]), "of 90 bytes"),
        (run(&[("", 0, 9_000)]), "against 200, application/json of 0 bytes"),
        // Errors of the same length.
        (run(&[(r#"{"id":7,"ok": false,"why":"overloaded"}"#, 64, 9_000)]), "\"ok\": false"),
        (run(&[(r#"{"error":"no connection"}"#, 64, 9_000)]), "`{\"error\""),
        // Half of them, or a tenth.
        (run(&[(USER, 64, 4_500), (r#"{"errors":["x"]}"#, 60, 4_500)]), "in 50.00 % of them"),
        (run(&[(USER, 64, 8_100), (USER, 5_000, 900)]), "of 5,000 bytes"),
        // Few responses.
        (run(&[(OTHER, 35, 2)]), "of 35 bytes"),
    ] {
        let found = difference(&old, &new).unwrap_or_else(|| panic!("{:?}", new.response_kinds));
        assert!(found.starts_with(DIFFER) && found.contains(needle), "{needle}: {found}");
        assert!(difference(&new, &old).is_some(), "{needle}: the other way round");
        assert_eq!(likeness::remark([&old, &new]), None);
    }
}

#[test]
fn the_same_kinds_in_other_parts_are_reported() {
    let parts = |json, pages| {
        let mut of = run(&[(USER, 64, json), ("<p>", 64, pages)]);
        of.response_kinds[1].media_type = Some("text/html".into());
        of
    };
    let found = difference(&parts(9_000, 1_000), &parts(6_000, 4_000)).unwrap();
    assert!(found.contains("of them against"), "{found}");
    assert_eq!(difference(&parts(9_000, 1_000), &parts(8_800, 1_200)), None);
    assert_eq!(difference(&parts(9, 1), &parts(7, 3)), None, "chance");
}

/// Lists of any length, as two runs of one server have them.
#[test]
fn bodies_of_many_lengths_are_alike() {
    let lists = |seed: u64| {
        let mut kinds: Vec<ResponseKind> = Vec::new();
        for n in 0..3_000_u64 {
            let bytes = 20 + (n * 7_919 + seed * 104_729) % 6_000;
            let class = length_class(bytes);
            match kinds.iter_mut().find(|kind| length_class(kind.most_bytes) == class) {
                Some(kind) => {
                    kind.least_bytes = kind.least_bytes.min(bytes);
                    kind.most_bytes = kind.most_bytes.max(bytes);
                    kind.responses += 1;
                }
                None => kinds.push(kind(r#"[{"id":1}"#, bytes, 1)),
            }
        }
        Run { response_kinds: kinds, ..run(&[("[]", 20 + seed, 1)]) }
    };
    for seed in 1..20 {
        assert_eq!(difference(&lists(0), &lists(seed)), None, "{seed}");
    }
}

#[test]
fn of_mixes_failures_and_old_results_the_commonest_must_be_the_same() {
    let (mut old, mut new) = (run(&[(USER, 64, 9_000)]), run(&[(OTHER, 64, 9_000)]));
    for of in [&mut old, &mut new] {
        let endpoint = |name: &str| EndpointPlan { name: name.into(), ..EndpointPlan::default() };
        of.plan.mix = Mix { endpoints: vec![endpoint("a"), endpoint("b")], ..Mix::default() };
    }
    assert!(difference(&old, &new).unwrap().ends_with("64 bytes, but different content)"));
    assert_eq!(difference(&old, &old), None);
    let (mut old, mut new) = (run(&[(USER, 64, 9_000)]), run(&[(OTHER, 64, 9_000)]));
    for of in [&mut old, &mut new] {
        of.commonest_response.as_mut().unwrap().status = 503;
    }
    assert!(difference(&old, &new).unwrap().contains("different content"), "failures");
    let (old, mut new) = (run(&[(USER, 64, 9_000)]), run(&[(OTHER, 64, 9_000)]));
    new.response_kinds.clear();
    assert!(difference(&old, &new).unwrap().contains("different content"));
    new.commonest_response = None;
    assert!(difference(&old, &new).unwrap().contains("not known for both"));
}
