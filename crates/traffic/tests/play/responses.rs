//! How responses are checked.

use serde_json::{Value, json};
use traffic::{Completed, Source};
use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

use crate::{closed, compiled, sent, source};

/// Passes a source a response as the engine does: what the parser reads from its bytes, cut at `cut`.
fn respond(source: &mut dyn Source, user: u32, text: &str, cut: usize) -> Option<u16> {
    complete_cut(source, user, text, cut, 0).failed_check
}

/// Passes a source a response in one piece.
pub fn complete(source: &mut dyn Source, user: u32, text: &str, now: u64) -> Completed {
    complete_cut(source, user, text, 0, now)
}

fn complete_cut(source: &mut dyn Source, user: u32, text: &str, cut: usize, now: u64) -> Completed {
    let mut parser = ResponseParser::new(Limits::default());
    parser.begin(ResponseTo::Other);
    let mut status = 0;
    let (first, second) = text.as_bytes().split_at(cut.min(text.len()));
    for mut part in [first, second] {
        while let Some(event) = parser.next(&mut part).unwrap() {
            match event {
                ResponseEvent::Head(head) => {
                    status = head.status;
                    source.head(user, &head);
                }
                ResponseEvent::Body(bytes) => source.body(user, bytes),
                _ => {}
            }
        }
    }
    source.completed(user, status < 400, now)
}

/// A response.
pub fn http(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}

fn checked(checks: Value) -> Box<dyn Source> {
    let workload = json!({"target": "http://h", "pools": {"u": {"values": ["ann"]}},
        "endpoints": [{"path": "/${u}", "checks": checks}]});
    let compiled = compiled(workload, 1);
    source(&compiled, 0, 1)
}

#[test]
fn a_check_fails_for_what_a_response_lacks() {
    let checks = json!([
        {"status": "200-201"}, {"header": {"name": "X-A"}}, {"header": {"name": "x-b", "equals": "${u}"}},
        {"json": {"pointer": "/ok", "equals": true}}, {"json": {"pointer": "/n", "equals": 1}},
        {"json": {"pointer": "/user/name", "equals": "${u}"}}, {"contains": "\"${u}\""}, {"regex": "^\\{.*\\}$"}
    ]);
    let good = r#"{"ok": true, "n": 1.0, "user": {"name": "ann"}}"#;
    let fields = "X-A: 1\r\nX-B: ann\r\n";
    for (text, failed) in [
        (http(200, fields, good), None),
        (http(202, fields, good), Some(0)),
        (http(500, fields, good), None),
        (http(200, "X-B: ann\r\n", good), Some(1)),
        (http(200, "X-A: 1\r\nX-B: bob\r\n", good), Some(2)),
        (http(200, fields, &good.replace("true", "false")), Some(3)),
        (http(200, fields, &good.replace("1.0", "\"1\"")), Some(4)),
        (http(200, fields, &good.replace("ann", "bob")), Some(5)),
        (http(200, fields, &good.replace("\"ann\"", "\"\\u0061nn\"")), Some(6)),
        (http(200, fields, &format!("{good}\n")), Some(7)),
        (http(200, fields, "no JSON"), Some(3)),
    ] {
        for cut in [0, 30, text.len() - 5, text.len()] {
            let mut source = checked(checks.clone());
            sent(&mut *source, closed(0, 0));
            assert_eq!(respond(&mut *source, 0, &text, cut), failed, "{text}");
            assert_eq!(source.complaint(0).is_empty(), failed.is_none());
        }
    }
}

#[test]
fn responses_are_separated_in_a_pipeline() {
    let mut source = checked(json!([{"contains": "yes"}]));
    for user in [0, 0, 1] {
        sent(&mut *source, closed(user, 0));
    }
    assert_eq!(respond(&mut *source, 0, &http(200, "", "no"), 0), Some(0));
    assert!(source.complaint(0).ends_with(": no"), "{}", source.complaint(0));
    assert_eq!(source.lost(0, model::ErrorClass::Timeout), None);
    assert_eq!(respond(&mut *source, 1, &http(200, "", "yes"), 40), None);
    sent(&mut *source, closed(0, 0));
    assert_eq!(respond(&mut *source, 0, &http(200, "", "yes"), 0), None);
}

#[test]
fn a_body_too_long_to_keep_fails_its_check_and_says_so() {
    let mut source = checked(json!([{"contains": "end"}]));
    sent(&mut *source, closed(0, 0));
    let body = "x".repeat(3 << 20) + "end";
    let completed = complete_cut(&mut *source, 0, &http(200, "", &body), 100, 0);
    assert_eq!((completed.failed_check, completed.unchecked), (Some(0), true));
    assert!(source.complaint(0).contains("too long"), "{}", source.complaint(0));
}

#[test]
fn what_could_not_be_looked_into_is_told_from_what_is_wrong() {
    for (fields, body, unchecked) in [
        ("X-A: 1\r\nContent-Encoding: br\r\n", "end", true),
        ("X-A: 1\r\nContent-Encoding: gzip\r\n", "damaged", false),
        ("X-A: 1\r\n", "begin", false),
        // The check that fails first needs no body.
        ("Content-Encoding: br\r\n", "end", false),
    ] {
        let mut source = checked(json!([{"header": {"name": "X-A"}}, {"contains": "end"}]));
        sent(&mut *source, closed(0, 0));
        let completed = complete(&mut *source, 0, &http(200, fields, body), 0);
        let failed = (completed.failed_check.is_some(), completed.unchecked);
        assert_eq!(failed, (true, unchecked), "{fields}");
    }
}

/// A megabyte for each of thousands of users is more than a worker keeps: those beyond fail, in words.
#[test]
fn bodies_of_all_users_share_one_budget() {
    const USERS: u32 = 400;
    let mut source = checked(json!([{"contains": "end"}]));
    let body = "x".repeat(1 << 20);
    let text = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{body}", body.len() + 3);
    let mut info = allocation_counter::AllocationInfo::default();
    for user in 0..USERS {
        sent(&mut *source, closed(user, 0));
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(ResponseTo::Other);
        let mut rest = text.as_bytes();
        let measured = allocation_counter::measure(|| {
            while let Some(event) = parser.next(&mut rest).unwrap() {
                match event {
                    ResponseEvent::Head(head) => source.head(user, &head),
                    ResponseEvent::Body(bytes) => source.body(user, bytes),
                    _ => {}
                }
            }
        });
        info.bytes_current += measured.bytes_current;
    }
    assert!(info.bytes_current <= 258 << 20, "{}", info.bytes_current);
    let mut failed = 0;
    for user in 0..USERS {
        source.body(user, b"end");
        if source.completed(user, true, 0).failed_check.is_some() {
            failed += 1;
            let why = source.complaint(user);
            assert!(why.contains("256 MiB") || why.contains("too long"), "{why}");
        }
    }
    assert!(failed > 0, "none was beyond the budget");
    // Finished responses make room for new ones.
    sent(&mut *source, closed(0, 1));
    assert_eq!(respond(&mut *source, 0, &http(200, "", "the end"), 0), None);
}
