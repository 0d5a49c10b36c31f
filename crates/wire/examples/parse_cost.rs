//! What reading and writing one small message costs, in nanoseconds.
//!
//! `cargo run --release -p wire --example parse_cost`. Every figure is the fastest of several rounds on
//! one core: the work itself, without other load on the machine. For comparison, the lines marked
//! `httparse` read the same head with that crate, without interpreting it.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a harness times and prints")]

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use wire::{
    Framing, LastHead, Limits, RequestEvent, RequestParser, RequestParts, ResponseEvent,
    ResponseParser, ResponseTo, encode_request, encode_response_head,
};

const ROUNDS: usize = 15;
const MESSAGES: u32 = 200_000;

const RESPONSES: [(&str, &[u8]); 4] = [
    (
        "nginx, 15 bytes",
        b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 06:35:00 GMT\r\n\
          Content-Type: application/json\r\nContent-Length: 15\r\nConnection: keep-alive\r\n\r\n\
          {\"status\":\"ok\"}",
    ),
    (
        "minimal, 15 bytes",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n\
          {\"status\":\"ok\"}",
    ),
    (
        "Go, 15 bytes",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
          Date: Sat, 21 Nov 2026 06:35:00 GMT\r\nContent-Length: 15\r\n\r\n{\"status\":\"ok\"}",
    ),
    (
        "chunked, 15 bytes",
        b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 21 Nov 2026 06:35:00 GMT\r\n\
          Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\
          Connection: keep-alive\r\n\r\nf\r\n{\"status\":\"ok\"}\r\n0\r\n\r\n",
    ),
];

const REQUESTS: [(&str, &[u8]); 2] = [
    ("wrk's GET", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"),
    (
        "browser's GET",
        b"GET /api/v1/items?page=2&size=50 HTTP/1.1\r\nHost: shop.example:8080\r\n\
          User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
          Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
          Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\n\
          Connection: keep-alive\r\nCookie: session=0123456789abcdef0123456789abcdef\r\n\r\n",
    ),
];

fn main() {
    for (name, bytes) in RESPONSES {
        report(name, "read", bytes.len(), read_responses(&[bytes], false));
        report(name, "read again", bytes.len(), read_responses(&[bytes], true));
        report(name, "httparse", bytes.len(), time(|| httparse_response(black_box(bytes))));
    }
    // Each head replaces the other: the cost of remembering heads where it does not help.
    let turns = [RESPONSES[0].1, RESPONSES[2].1];
    report("nginx and Go by turns", "read", RESPONSES[0].1.len(), read_responses(&turns, false));
    report(
        "nginx and Go by turns",
        "read again",
        RESPONSES[0].1.len(),
        read_responses(&turns, true),
    );
    let pieces = time_split(RESPONSES[0].1);
    report("nginx, split in its head", "read", RESPONSES[0].1.len(), pieces);
    for (name, bytes) in REQUESTS {
        report(name, "read", bytes.len(), read_requests(bytes));
        report(name, "httparse", bytes.len(), time(|| httparse_request(black_box(bytes))));
    }
    let mut out = Vec::with_capacity(1024);
    let cost = time(|| write_request(&mut out));
    report("GET with one header", "write", out.len(), cost);
    let cost = time(|| write_response_head(&mut out));
    report("response's head", "write", out.len(), cost);
    println!(
        "parser bytes: responses {}, requests {}",
        size_of::<ResponseParser>(),
        size_of::<RequestParser>()
    );
}

fn report(name: &str, what: &str, bytes: usize, cost: Duration) {
    println!("{name:26} {what:10} {bytes:4} B {:7.1} ns", cost.as_nanos() as f64 / 1000.0);
}

/// The cost of a thousand calls, the fastest round's.
fn time(mut one: impl FnMut()) -> Duration {
    let round = |_| {
        let begun = Instant::now();
        for _ in 0..MESSAGES {
            one();
        }
        begun.elapsed() * 1000 / MESSAGES
    };
    (0..ROUNDS).map(round).min().expect("there are rounds")
}

/// Reads `responses` in turn, recognising the last head or not.
fn read_responses(responses: &[&[u8]], remember: bool) -> Duration {
    let mut parser = ResponseParser::new(Limits::default());
    let mut seen = remember.then(LastHead::new);
    let mut turns = responses.iter().cycle();
    time(|| {
        let response: &[u8] = turns.next().expect("an endless cycle");
        read_response(&mut parser, seen.as_mut(), &[black_box(response)]);
    })
}

fn time_split(bytes: &[u8]) -> Duration {
    let mut parser = ResponseParser::new(Limits::default());
    let (head, rest) = bytes.split_at(60);
    time(|| read_response(&mut parser, None, &[black_box(head), black_box(rest)]))
}

fn read_response(parser: &mut ResponseParser, mut seen: Option<&mut LastHead>, pieces: &[&[u8]]) {
    parser.begin(ResponseTo::Other);
    for piece in pieces {
        let mut input = *piece;
        loop {
            let next = match &mut seen {
                Some(seen) => parser.next_seen(&mut input, seen),
                None => parser.next(&mut input),
            };
            let Some(event) = next.expect("the response is well formed") else { break };
            match event {
                ResponseEvent::Head(head) => _ = black_box((head.status, head.keep_alive)),
                ResponseEvent::Body(bytes) => _ = black_box(bytes.len()),
                ResponseEvent::End { .. } => return,
            }
        }
    }
    unreachable!("the response is complete");
}

fn read_requests(bytes: &[u8]) -> Duration {
    let mut parser = RequestParser::new(Limits::default());
    time(|| {
        let mut input = black_box(bytes);
        while let Some(event) = parser.next(&mut input).expect("the request is well formed") {
            match event {
                RequestEvent::Head(head) => _ = black_box((head.method, head.path)),
                RequestEvent::Body(bytes) => _ = black_box(bytes.len()),
                RequestEvent::End => return,
            }
        }
    })
}

fn httparse_response(bytes: &[u8]) {
    let mut headers = [MaybeUninit::uninit(); 128];
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        bytes,
        &mut headers,
    );
    black_box(parsed.is_ok_and(|status| status.is_complete()));
    black_box(response.headers.len());
}

fn httparse_request(bytes: &[u8]) {
    let mut headers = [MaybeUninit::uninit(); 128];
    let mut request = httparse::Request::new(&mut []);
    let parsed = request.parse_with_uninit_headers(bytes, &mut headers);
    black_box(parsed.is_ok_and(|status| status.is_complete()));
    black_box(request.headers.len());
}

fn write_request(out: &mut Vec<u8>) {
    out.clear();
    let parts = RequestParts {
        method: "GET",
        target: black_box("/healthz"),
        host: "127.0.0.1:8080",
        headers: &[("Accept", "*/*")],
        body: None,
        keep_alive: true,
    };
    encode_request(out, &parts).expect("the request can be written");
}

fn write_response_head(out: &mut Vec<u8>) {
    out.clear();
    let headers = [("Content-Type", "application/json")];
    encode_response_head(out, black_box(200), &headers, Framing::Length(15), true)
        .expect("the head can be written");
}
