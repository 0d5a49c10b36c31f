//! Heads through the gateway: what it writes is well formed, is read as one request by it again, and holds nothing
//! that says who asks but what the gateway said itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Limits, RequestEvent, RequestParser};

fuzz_target!(|bytes: &[u8]| {
    let Some(written) = gate::path::rewritten(bytes) else { return };
    let mut parser = RequestParser::new(Limits { head_bytes: 1 << 20, headers: 1000 });
    let mut input = written.as_slice();
    let Ok(Some(RequestEvent::Head(head))) = parser.next(&mut input) else {
        panic!("not a request: {}", written.escape_ascii());
    };
    let (length, path) = (head.bytes, head.path);
    assert_eq!(length, written.len(), "something follows the head: {}", written.escape_ascii());
    assert!(!path.contains("/../") && !path.ends_with("/.."), "{path}");
    for name in ["X-Forwarded-For", "X-Forwarded-Proto", "Host"] {
        assert!(head.headers.all(name).count() == 1, "{name}: {}", written.escape_ascii());
    }
    for name in ["X-API-Key", "Transfer_Encoding", "Content_Length", "X-Real-IP", "Keep-Alive"] {
        assert!(head.headers.get(name).is_none(), "{name}: {}", written.escape_ascii());
    }
    assert_eq!(head.headers.get("X-Forwarded-For"), Some(&b"192.0.2.1"[..]));
});
