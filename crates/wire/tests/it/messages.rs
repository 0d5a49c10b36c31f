//! Random well-formed messages, together with what must be read from them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use wire::{Framing, ResponseTo};

use crate::replay::{Common, Step};

/// Bytes on the wire and the steps they must give, the final [`Step::Eof`] left out.
#[derive(Debug, Clone)]
pub struct Message {
    pub bytes: Vec<u8>,
    pub steps: Vec<Step>,
}

pub fn header_name() -> impl Strategy<Value = String> {
    let random = "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}".prop_filter("no framing header", |name| {
        let framing =
            ["host", "expect", "connection", "content-length", "transfer-encoding", "trailer"];
        !framing.iter().any(|known| name.eq_ignore_ascii_case(known))
    });
    prop_oneof![random, select(vec!["Server", "Date", "Content-Type"]).prop_map(str::to_owned)]
}

pub fn header_value() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => 0x20..=0x7eu8, 1 => Just(b'\t'), 1 => 0x80..=0xffu8];
    vec(byte, 0..40).prop_map(|bytes| trimmed(&bytes).to_vec())
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = bytes.iter().position(|byte| !blank(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

type Fields = Vec<(String, Vec<u8>)>;

fn fields() -> impl Strategy<Value = Fields> {
    vec((header_name(), header_value()), 0..6)
}

/// A body by framing: what is written after the head, and what is read.
#[derive(Debug, Clone)]
struct Body {
    framing: Framing,
    written: Vec<u8>,
    read: Vec<u8>,
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..60),
        "(HTTP/1.1 200 OK\r\n|0\r\n|\r\n){0,4}".prop_map(Into::into)
    ]
}

fn sized() -> impl Strategy<Value = Body> {
    data().prop_map(|read| {
        let framing = Framing::Length(read.len() as u64);
        Body { framing, written: read.clone(), read }
    })
}

fn chunked() -> impl Strategy<Value = Body> {
    let extension = "( {0,2};[ -~]{0,10})?";
    let chunk = (data(), extension, any::<bool>());
    (vec(chunk, 0..4), extension, fields()).prop_map(|(chunks, last_extension, trailers)| {
        let (mut written, mut read) = (Vec::new(), Vec::new());
        for (data, extension, upper) in chunks.iter().filter(|(data, ..)| !data.is_empty()) {
            let size = format!("{:x}", data.len());
            let size = if *upper { size.to_uppercase() } else { format!("0{size}") };
            written.extend_from_slice(format!("{size}{extension}\r\n").as_bytes());
            written.extend_from_slice(data);
            written.extend_from_slice(b"\r\n");
            read.extend_from_slice(data);
        }
        written.extend_from_slice(format!("0{last_extension}\r\n").as_bytes());
        write_fields(&mut written, &trailers);
        written.extend_from_slice(b"\r\n");
        Body { framing: Framing::Chunked, written, read }
    })
}

fn none() -> impl Strategy<Value = Body> {
    Just(Body { framing: Framing::None, written: Vec::new(), read: Vec::new() })
}

fn write_fields(out: &mut Vec<u8>, fields: &Fields) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice([&b":"[..], b": ", b":\t "][value.len() % 3]);
        out.extend_from_slice(value);
        out.extend_from_slice([&b"\r\n"[..], b" \t\r\n"][value.len() % 2]);
    }
}

/// The fields that say what `framing` and `keep_alive` are.
fn framing_fields(framing: Framing, version_minor: u8, keep_alive: bool) -> Fields {
    let mut fields = Fields::new();
    match framing {
        Framing::Length(length) => {
            fields.push(("content-Length".to_owned(), length.to_string().into()));
        }
        Framing::Chunked => fields.push(("Transfer-Encoding".to_owned(), "chunkeD".into())),
        Framing::None | Framing::UntilClose => {}
    }
    match (version_minor, keep_alive) {
        (1, false) => fields.push(("Connection".to_owned(), "x, Close".into())),
        (0, true) => fields.push(("connection".to_owned(), "Keep-Alive,x".into())),
        _ => {}
    }
    fields
}

fn head(start: &str, framing: &Fields, others: &Fields, at: usize) -> (Vec<u8>, Fields) {
    let mut all = others.clone();
    let at = at % (others.len() + 1);
    all.splice(at..at, framing.iter().cloned());
    let mut bytes = format!("{start}\r\n").into_bytes();
    write_fields(&mut bytes, &all);
    bytes.extend_from_slice(b"\r\n");
    (bytes, all)
}

fn message(head_step: Step, head: Vec<u8>, body: Body, keep_alive: Option<bool>) -> Message {
    let mut steps = vec![head_step];
    if !body.read.is_empty() {
        steps.push(Step::Body(body.read));
    }
    steps.push(Step::End { keep_alive });
    Message { bytes: [head, body.written].concat(), steps }
}

/// One response, after up to two interim ones, and the kind of request it is to.
pub fn response() -> impl Strategy<Value = (Message, ResponseTo)> {
    let bodied = (
        select(vec![200u16, 201, 404, 500, 999]),
        0..=1u8,
        prop_oneof![sized(), chunked()],
        Just(ResponseTo::Other),
    );
    let bare = prop_oneof![
        (select(vec![204u16, 304]), 0..=1u8, none(), Just(ResponseTo::Other)),
        (select(vec![200u16, 404]), 0..=1u8, none(), Just(ResponseTo::Head)),
    ];
    let reason = "( [ -~]{0,12})?";
    let kind = prop_oneof![3 => bodied, 1 => bare];
    (kind, reason, fields(), any::<usize>(), any::<bool>(), 0..3usize).prop_map(
        |((status, minor, body, response_to), reason, others, at, keep_alive, interim)| {
            let version_minor = if body.framing == Framing::Chunked { 1 } else { minor };
            let framing = framing_fields(body.framing, version_minor, keep_alive);
            let start = format!("HTTP/1.{version_minor} {status}{reason}");
            let (bytes, headers) = head(&start, &framing, &others, at);
            let common = Common {
                version_minor,
                headers,
                framing: body.framing,
                keep_alive,
                bytes: bytes.len(),
            };
            let step = Step::Response { status, common };
            let mut message = message(step, bytes, body, Some(keep_alive));
            let before = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(interim);
            message.bytes.splice(0..0, before);
            (message, response_to)
        },
    )
}

/// One request, sometimes after an empty line.
pub fn request() -> impl Strategy<Value = Message> {
    let method = "[A-Z]{1,8}".prop_filter("another form of target", |method| method != "CONNECT");
    let body = prop_oneof![none(), sized(), chunked()];
    let target = ("/[!-\"$->@-~]{0,20}", proptest::option::of("[!-\"$-~]{0,12}"));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0..=1u8);
    (method, target, body, fields(), any::<usize>(), flags).prop_map(
        |(method, (path, query), body, others, at, (keep_alive, blank, expects, minor))| {
            let version_minor = if body.framing == Framing::Chunked { 1 } else { minor };
            let mut framing = framing_fields(body.framing, version_minor, keep_alive);
            framing.push(("hoSt".to_owned(), "a.example:80".into()));
            if expects {
                framing.push(("Expect".to_owned(), "100-continue".into()));
            }
            let target = match &query {
                Some(query) => format!("{path}?{query}"),
                None => path.clone(),
            };
            let start = format!("{method} {target} HTTP/1.{version_minor}");
            let (bytes, headers) = head(&start, &framing, &others, at);
            let common = Common {
                version_minor,
                headers,
                framing: body.framing,
                keep_alive,
                bytes: bytes.len(),
            };
            let step = Step::Request {
                start: [method, target, path],
                query,
                expect_continue: expects && version_minor == 1,
                common,
            };
            let mut message = message(step, bytes, body, None);
            if blank {
                message.bytes.splice(0..0, *b"\r\n");
            }
            message
        },
    )
}
