//! Reads one small answer N times with `wire`, for a tool that counts instructions: `read_answers N`.
//!
//! What starting costs is in every run; the caller takes the difference of two.

use std::hint::black_box;

use wire::{AnswerTo, Limits, ResponseEvent, ResponseParser};

/// As nginx answers, with all its headers.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\n\
    Date: Sat, 21 Nov 2026 06:35:00 GMT\r\nContent-Type: application/json\r\n\
    Content-Length: 15\r\nConnection: keep-alive\r\n\r\n{\"status\":\"ok\"}";

fn main() {
    let answers: u32 = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("one argument: how many answers to read");
    let mut parser = ResponseParser::new(Limits::default());
    for _ in 0..answers {
        read(&mut parser);
    }
}

fn read(parser: &mut ResponseParser) {
    parser.begin(AnswerTo::Other);
    let mut input = black_box(ANSWER);
    while let Some(event) = parser.next(&mut input).expect("the answer is well formed") {
        match event {
            ResponseEvent::Head(head) => _ = black_box(head.status),
            ResponseEvent::Body(bytes) => _ = black_box(bytes.len()),
            ResponseEvent::End { .. } => return,
        }
    }
    unreachable!("the answer is complete");
}
