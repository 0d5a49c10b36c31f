//! Reads one small response N times with `wire`, for a tool that counts instructions: `read_responses N new|seen`,
//! each time as if it were the first of its kind, or knowing its head again as a worker does.
//!
//! What starting costs is in every run; the caller takes the difference of two.

use std::hint::black_box;

use wire::{LastHead, Limits, ResponseEvent, ResponseParser, ResponseTo};

/// A response of nginx, with all its headers.
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\
    Date: Sat, 21 Nov 2026 06:35:00 GMT\r\nContent-Type: application/json\r\n\
    Content-Length: 15\r\nConnection: keep-alive\r\n\r\n{\"status\":\"ok\"}";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [responses, how] = words.as_slice() else { panic!("read_responses N new|seen") };
    let responses: u32 = responses.parse().expect("how many responses to read");
    let mut seen = match how.as_str() {
        "new" => None,
        "seen" => Some(LastHead::new()),
        other => panic!("{other}: new or seen"),
    };
    let mut parser = ResponseParser::new(Limits::default());
    for _ in 0..responses {
        read(&mut parser, seen.as_mut());
    }
}

fn read(parser: &mut ResponseParser, mut seen: Option<&mut LastHead>) {
    parser.begin(ResponseTo::Other);
    let mut input = black_box(RESPONSE);
    loop {
        let next = match &mut seen {
            Some(seen) => parser.next_seen(&mut input, seen),
            None => parser.next(&mut input),
        };
        match next.expect("the response is well formed").expect("the response is complete") {
            ResponseEvent::Head(head) => _ = black_box(head.status),
            ResponseEvent::Body(bytes) => _ = black_box(bytes.len()),
            ResponseEvent::End { .. } => return,
        }
    }
}
