//! The JSON scanner agrees with `serde_json` on whether a value exists and is equal. A value after a
//! syntax error is never found.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::play;
use serde_json::Value;
use traffic::Requests;
use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

const WORKLOAD: &str = r#"{"target": "http://h", "endpoints": [
    {"path": "/0", "checks": [{"json": {"pointer": "/a"}}]},
    {"path": "/1", "checks": [{"json": {"pointer": "/a/1/b~1c"}}]},
    {"path": "/2", "checks": [{"json": {"pointer": ""}}]},
    {"path": "/3", "checks": [{"json": {"pointer": "/a", "equals": 1}}]},
    {"path": "/4", "checks": [{"json": {"pointer": "/a", "equals": "x\"y"}}]}]}"#;
const POINTERS: [&str; 5] = ["/a", "/a/1/b~1c", "", "/a", "/a"];

fuzz_target!(|body: &[u8]| {
    let compiled = play::compiled(WORKLOAD, b"").expect("it compiles");
    let mut source = play::source(&compiled);
    let mut out = Requests::new();
    let oracle: Option<Value> = serde_json::from_slice(body).ok();
    for k in 0..8 {
        assert!(play::arrive(&mut *source, k, &mut out));
        let endpoint = out.parts()[0].endpoint as usize;
        tell_head(&mut *source, body.len());
        let (first, rest) = body.split_at(body.len() / 2);
        source.body(0, first);
        source.body(0, rest);
        let passed = source.completed(0, true, 0).failed_check.is_none();
        let Some(value) = &oracle else { continue };
        let found = value.pointer(POINTERS[endpoint]);
        let expected = match endpoint {
            3 => found.and_then(Value::as_f64) == Some(1.0),
            4 => found.and_then(Value::as_str) == Some("x\"y"),
            _ => found.is_some(),
        };
        // Of members of one name either may be taken.
        assert!(passed == expected || has_doubles(body), "{endpoint}");
    }
});

fn tell_head(source: &mut dyn traffic::Source, length: usize) {
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
    let mut parser = ResponseParser::new(Limits::default());
    parser.begin(ResponseTo::Other);
    let mut bytes = text.as_bytes();
    if let Ok(Some(ResponseEvent::Head(head))) = parser.next(&mut bytes) {
        source.head(0, &head);
    }
}

/// Whether a name of the pointers may come twice.
fn has_doubles(body: &[u8]) -> bool {
    body.windows(1).filter(|at| *at == b"a").count() > 1
        || body.windows(1).filter(|at| *at == b"c").count() > 1
        || body.windows(2).any(|at| at == b"\\u")
}
