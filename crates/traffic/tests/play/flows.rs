//! Sessions: steps in order, with their extractions.

use serde_json::{Value, json};
use traffic::{Completed, Next, Requests, Session, Source};

use crate::responses::{complete, http};
use crate::{arrival, closed, compiled, sent, source};

const MS: u64 = 1_000_000;

fn visit() -> Value {
    json!({"target": "http://h",
    "pools": {"u": {"values": [{"name": "ann", "pw": "x"}, {"name": "bob", "pw": "y"}]}},
    "flows": [{"name": "visit", "steps": [
        {"name": "login", "path": "/login", "body": {"json": {"user": "${u.name}"}},
         "extract": {"token": {"json": "/token"}, "sid": {"cookie": "sid"}}, "think": "500ms"},
        {"name": "list", "path": "/items", "headers": {"Authorization": "Bearer ${token}"},
         "extract": {"id": {"json": "/items/0/id"}, "next": {"header": "X-Next"}},
         "checks": [{"contains": "items"}]},
        {"name": "more", "path": "/items/${id}/${u.name}/${next}",
         "when": {"equal": ["${next}", "yes"]}, "extract": {"word": {"regex": "<b>(.*?)</b>"}}},
        {"name": "last", "path": "/last", "when": {"has": "word"}}
    ]}]})
}

fn source_of(workload: Value) -> Box<dyn Source> {
    source(&compiled(workload, 4), 0, 1)
}

fn login(source: &mut dyn Source, user: u32, now: u64) -> (u32, String) {
    let (endpoint, text) = sent(source, closed(user, now));
    let response =
        http(200, "Set-Cookie: sid=s1; Path=/\r\nSet-Cookie: t=2\r\n", r#"{"token": "T\/1"}"#);
    assert_eq!(complete(source, user, &response, now), Completed::default());
    (endpoint, text)
}

#[test]
fn a_session_carries_on_with_what_responses_held() {
    let mut source = source_of(visit());
    let (endpoint, text) = login(&mut *source, 0, 10 * MS);
    assert!(endpoint == 0 && text.starts_with("POST /login HTTP/1.1\r\n"), "{text}");
    let name = if text.contains("ann") { "ann" } else { "bob" };
    // It thinks first.
    let mut out = Requests::new();
    assert_eq!(source.next(closed(0, 11 * MS), &mut out), Next::At(510 * MS));
    assert_eq!(source.next(closed(0, 510 * MS), &mut out), Next::Send);
    let part = out.parts()[0];
    assert!((part.endpoint, part.opens, part.goes_on) == (1, false, true), "{part:?}");
    let text = String::from_utf8(out.bytes.clone()).unwrap();
    assert!(text.contains("Authorization: Bearer T/1\r\n"), "{text}");
    assert!(text.contains("Cookie: sid=s1; t=2\r\n"), "{text}");
    let response = http(200, "X-Next: yes\r\n", r#"{"items": [{"id": 12345678901234567890}]}"#);
    assert_eq!(complete(&mut *source, 0, &response, 520 * MS), Completed::default());
    // The same row as in the first step, and a number with all its digits.
    let (endpoint, text) = sent(&mut *source, closed(0, 520 * MS));
    let path = format!("GET /items/12345678901234567890/{name}/yes HTTP/1.1\r\n");
    assert!(endpoint == 2 && text.starts_with(&path), "{text}");
    let response = http(200, "", "a <b>w</b> <b>x</b>");
    assert_eq!(complete(&mut *source, 0, &response, 530 * MS), Completed::default());
    assert_eq!(sent(&mut *source, closed(0, 530 * MS)).0, 3);
    let done = complete(&mut *source, 0, &http(204, "", ""), 540 * MS);
    assert_eq!(done.session, Some(Session { flow: 0, failed_at: None }));
    // The next session begins without cookies.
    let (endpoint, text) = sent(&mut *source, closed(0, 540 * MS));
    assert!(endpoint == 0 && !text.contains("Cookie"), "{text}");
}

#[test]
fn a_cookie_field_of_a_step_leaves_the_sessions_cookies_in() {
    let field = |cookies: &str| json!({"path": "/", "headers": {"Cookie": cookies}});
    for (own, sent_then) in [
        ("consent=1; t=own", "Cookie: consent=1; t=own; sid=s1\r\n"),
        // What a placeholder names counts too; a semicolon at the end stands before nothing.
        ("${own}; t=own;", "Cookie: sid=de; t=own;\r\n"),
        ("a=1;", "Cookie: a=1; sid=s1; t=2\r\n"),
        ("", "Cookie: \r\n"),
    ] {
        let mut source = source_of(json!({"target": "http://h", "variables": {"own": "sid=de"},
            "flows": [{"name": "visit", "steps": [field("a=1"), field(own)]}]}));
        let (_, text) = sent(&mut *source, closed(0, 0));
        assert!(text.contains("\r\nCookie: a=1\r\n"), "{text}");
        let set = "Set-Cookie: sid=s1; Path=/\r\nSet-Cookie: t=2\r\n";
        complete(&mut *source, 0, &http(200, set, ""), 1);
        let (_, text) = sent(&mut *source, closed(0, 1));
        assert!(text.contains(&format!("\r\n{sent_then}")), "{text}");
    }
}

#[test]
fn steps_whose_condition_does_not_hold_are_passed_over() {
    let mut source = source_of(visit());
    login(&mut *source, 0, 0);
    sent(&mut *source, closed(0, 500 * MS));
    let response = http(200, "X-Next: no\r\n", r#"{"items": [{"id": 1}]}"#);
    let ended = complete(&mut *source, 0, &response, 510 * MS);
    assert_eq!(ended.session, Some(Session { flow: 0, failed_at: None }));
    assert_eq!(ended.failed_check, None);
}

#[test]
fn a_failed_step_ends_its_session_there() {
    let at = |step| Some(Session { flow: 0, failed_at: Some(step) });
    let items = |body: &str| http(200, "X-Next: no\r\n", body);
    for (response, failed_check) in [
        (http(500, "X-Next: no\r\n", r#"{"items": [{"id": 1}]}"#), None),
        (items(r#"{"other": []}"#), Some(0)),
        (items(r#"{"items": []}"#), Some(1)),
        (http(200, "", r#"{"items": [{"id": 1}]}"#), Some(2)),
        (items("items"), Some(1)),
        (items(&format!(r#"{{"items": [{{"id": "{}"}}]}}"#, "x".repeat(20_000))), Some(1)),
        (items(r#"{"items": [{"id": "a\r\nX: 1"}]}"#), Some(1)),
    ] {
        let mut source = source_of(visit());
        login(&mut *source, 0, 0);
        sent(&mut *source, closed(0, 500 * MS));
        let ended = complete(&mut *source, 0, &response, 510 * MS);
        assert_eq!((ended.failed_check, ended.session), (failed_check, at(1)), "{response}");
        // A closed-loop user begins anew.
        assert_eq!(sent(&mut *source, closed(0, 510 * MS)).0, 0);
    }
    let mut source = source_of(visit());
    login(&mut *source, 0, 0);
    sent(&mut *source, closed(0, 500 * MS));
    assert_eq!(source.lost(0, model::ErrorClass::Timeout), at(1));
    sent(&mut *source, closed(0, 500 * MS));
    assert_eq!(source.lost(0, model::ErrorClass::Read), at(0));
    // A request that cannot be sent is lost at its step.
    let skipped = source.skip(closed(0, 600 * MS));
    assert_eq!((skipped.endpoint, skipped.session), (0, at(0)));
    login(&mut *source, 0, 700 * MS);
    let skipped = source.skip(closed(0, 1300 * MS));
    assert_eq!((skipped.endpoint, skipped.session), (1, at(1)));
}

#[test]
fn in_an_open_loop_a_user_is_free_after_its_session() {
    let mut source = source_of(visit());
    let mut out = Requests::new();
    assert_eq!(source.next(arrival(1, 0), &mut out), Next::Send);
    let failed = complete(&mut *source, 0, &http(404, "", ""), 0);
    assert_eq!(failed.session, Some(Session { flow: 0, failed_at: Some(0) }));
    assert_eq!(source.next(closed(0, 1), &mut out), Next::Free);
    out.clear();
    assert_eq!(source.next(arrival(1, 1), &mut out), Next::Send);
    assert!(out.parts()[0].opens);
    let lost = source.skip(traffic::Turn { user: traffic::NO_USER, ..arrival(2, 0) });
    assert_eq!(lost.session, Some(Session { flow: 0, failed_at: Some(0) }));
}

#[test]
fn users_do_not_see_one_another() {
    let mut source = source_of(visit());
    login(&mut *source, 0, 0);
    let (endpoint, text) = sent(&mut *source, closed(1, 0));
    assert!(endpoint == 0 && !text.contains("Cookie"), "{text}");
    let (endpoint, text) = sent(&mut *source, closed(0, 500 * MS));
    assert!(endpoint == 1 && text.contains("sid=s1"), "{text}");
}

#[test]
fn flows_and_endpoints_share_the_mix() {
    let mut workload = visit();
    workload["flows"][0]["weight"] = json!(1);
    workload["endpoints"] = json!([{"path": "/health", "weight": 3}]);
    workload["flows"][0]["steps"][0]["writes"] = json!(false);
    let compiled = compiled(workload, 4096);
    let names: Vec<_> = compiled.mix().endpoints.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names, ["GET /health", "visit/login", "visit/list", "visit/more", "visit/last"]);
    assert_eq!(compiled.mix().flows[0].steps, [1, 2, 3, 4]);
    assert_eq!(compiled.mix().flows[0].share, Some(0.25));
    assert_eq!(compiled.mix().endpoints[1].checks.len(), 2);
    let mut source = source(&compiled, 0, 1);
    let mut flows = 0;
    for lane in 0..4000 {
        let mut out = Requests::new();
        assert_eq!(source.next(arrival(lane, 0), &mut out), Next::Send);
        flows += u32::from(out.parts()[0].endpoint == 1);
    }
    // 1,000 are expected, give or take 27.
    assert!((890..1110).contains(&flows), "{flows}");
    let samples = compiled.sample(200, 0);
    let text = |endpoint| {
        let sample = samples.iter().find(|sample| sample.endpoint == endpoint).unwrap();
        String::from_utf8(sample.bytes.clone()).unwrap()
    };
    assert!(text(2).contains("Bearer <token>"), "{}", text(2));
    assert!(text(3).starts_with("GET /items/<id>/"), "{}", text(3));
}
