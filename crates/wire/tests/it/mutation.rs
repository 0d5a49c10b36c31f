//! Seeded mutations of messages: a quick fuzz run in every test run. A failing case prints its seed,
//! from which it can be replayed.

use std::collections::BTreeMap;

use wire::{Framing, LastHead, Limits, ResponseTo};

use crate::replay::{Common, Step, pieces, requests, responses, responses_after};

const CASES: u64 = 200_000;

const RESPONSES: [&[u8]; 7] = [
    b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nDate: now\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\nuntil the close",
    b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
];

const REQUESTS: [&[u8]; 6] = [
    b"GET /a?b=c HTTP/1.1\r\nHost: h:80\r\nAccept: */*\r\n\r\n",
    b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
    b"PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b"\r\nGET http://h/a HTTP/1.1\r\nhost: h\r\nExpect: 100-continue\r\n\r\n",
    b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n",
    b"CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n",
];

const PIECES: [&[u8]; 26] = [
    b"\r\n",
    b"\r",
    b"\n",
    b"\0",
    b" ",
    b"\t",
    b":",
    b",",
    b";",
    b"/",
    b"0",
    b"1",
    b"f",
    b"\xff",
    b"\x7f",
    b"\r\n ",
    b"\r\n\r\n",
    b"HTTP/1.1",
    b"HTTP/1.0",
    b"chunked",
    b"close",
    b"\r\nHost: h",
    b"\r\nContent-Length: 5",
    b"\r\nTransfer-Encoding: chunked",
    b"\r\nConnection: close",
    b"18446744073709551616",
];

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        from[self.below(from.len())]
    }

    fn mutated(&mut self, from: &[&[u8]]) -> Vec<u8> {
        let mut bytes = self.pick(from).to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len() + 1);
            let end = bytes.len().min(at + self.below(6));
            match self.below(6) {
                0 => _ = bytes.splice(at..end, []),
                1 => _ = bytes.splice(at..at, self.pick(&PIECES).iter().copied()),
                2 => _ = bytes.splice(at..end, self.pick(&PIECES).iter().copied()),
                3 => bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0x20),
                4 => _ = bytes.splice(at..at, [self.below(256) as u8]),
                _ => bytes.splice(at.., self.pick(from).iter().copied()).for_each(drop),
            }
        }
        bytes
    }

    fn limits(&mut self) -> Limits {
        match self.below(4) {
            0 => Limits { head_bytes: 20 + self.below(80), headers: self.below(4) },
            _ => Limits::default(),
        }
    }
}

#[test]
fn mutated_responses_read_alike_and_httparse_agrees() {
    let mut endings = BTreeMap::new();
    // Outlives the connections: heads are similar, so that one could be mistaken for another.
    let mut seen = LastHead::new();
    for seed in 0..CASES {
        let mut random = Random(seed);
        let bytes = random.mutated(&RESPONSES);
        let to = [[ResponseTo::Other, ResponseTo::Head][random.below(8) / 7], ResponseTo::Other];
        let limits = random.limits();
        let cuts = [random.below(60), random.below(30), 1, random.below(9), random.below(9), 99];
        let whole = responses([&bytes[..]], &to, limits);
        let known = responses_after(Some(&mut seen), [&bytes[..]], &to, limits);
        assert_eq!(whole, known, "seed {seed}, seen: {}", bytes.escape_ascii());
        let cut = responses(pieces(&bytes, &cuts), &to, limits);
        assert_eq!(whole, cut, "seed {seed}: {}", bytes.escape_ascii());
        if let Some(Step::Response { status, common }) = whole.first() {
            agree_on_response(*status, common, &bytes);
        }
        *endings.entry(ending(&whole)).or_insert(0) += 1;
    }
    assert!(endings.len() >= 22, "{endings:?}");
}

#[test]
fn mutated_requests_read_alike_and_httparse_agrees() {
    let mut endings = BTreeMap::new();
    for seed in 0..CASES {
        let mut random = Random(seed);
        let bytes = random.mutated(&REQUESTS);
        let limits = random.limits();
        let cuts = [random.below(60), random.below(30), 1, random.below(9), random.below(9), 99];
        let whole = requests([&bytes[..]], limits);
        let cut = requests(pieces(&bytes, &cuts), limits);
        assert_eq!(whole, cut, "seed {seed}: {}", bytes.escape_ascii());
        if let Some(Step::Request { start, common, .. }) = whole.first() {
            agree_on_request(start, common, &bytes);
        }
        *endings.entry(ending(&whole)).or_insert(0) += 1;
    }
    assert!(endings.len() >= 22, "{endings:?}");
}

/// How a run ended: mutations that all ended alike would prove little.
fn ending(steps: &[Step]) -> &'static str {
    match steps.last() {
        Some(Step::Error { code, .. }) => code,
        Some(Step::Eof(_)) => "eof",
        other => panic!("a run that ends in {other:?}"),
    }
}

/// What we accept, a more lenient parser accepts with the same meaning.
fn agree_on_response(status: u16, common: &Common, bytes: &[u8]) {
    let first = &bytes[b"HTTP/1.1 ".len()..];
    if first.starts_with(b"1") && !first.starts_with(b"101") {
        return; // The oracle would report the interim response, which is skipped here.
    }
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut oracle = httparse::Response::new(&mut headers);
    let parsed = oracle.parse(bytes);
    let shown = bytes.escape_ascii();
    assert_eq!(parsed, Ok(httparse::Status::Complete(common.bytes)), "{shown}");
    assert_eq!(
        (oracle.code, oracle.version),
        (Some(status), Some(common.version_minor)),
        "{shown}"
    );
    agree_on_headers(oracle.headers, common, bytes);
}

fn agree_on_request(start: &[String; 3], common: &Common, bytes: &[u8]) {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut oracle = httparse::Request::new(&mut headers);
    let blank = if bytes.starts_with(b"\r\n") { 2 } else { 0 };
    let shown = bytes.escape_ascii();
    let expected = Ok(httparse::Status::Complete(common.bytes + blank));
    assert_eq!(oracle.parse(bytes), expected, "{shown}");
    assert_eq!((oracle.method, oracle.path), (Some(&*start[0]), Some(&*start[1])), "{shown}");
    agree_on_headers(oracle.headers, common, bytes);
    let length = match common.framing {
        Framing::Length(length) => Some(length.to_string()),
        _ => None,
    };
    let is_length = |name: &str| name.eq_ignore_ascii_case("content-length");
    let given = common.headers.iter().find(|(name, _)| is_length(name));
    let given = given.map(|(_, value)| String::from_utf8_lossy(value).into_owned());
    let significant = given.map(|digits| match digits.trim_start_matches('0') {
        "" => "0".to_owned(),
        rest => rest.to_owned(),
    });
    assert_eq!(length, significant, "{shown}");
}

fn agree_on_headers(oracle: &[httparse::Header<'_>], common: &Common, bytes: &[u8]) {
    let seen: Vec<_> =
        oracle.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect();
    assert_eq!(seen, common.headers, "{}", bytes.escape_ascii());
}
