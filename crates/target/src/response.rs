//! The bytes of responses. The usual one is encoded once; the others are written when needed.

use wire::{Framing, encode_chunk, encode_last_chunk, encode_response_head};

/// The body of every response that is not an error and sets no other body.
pub(crate) const OK_BODY: &[u8] = b"{\"status\":\"ok\"}";

pub(crate) const JSON: &str = "application/json";

/// What a response says about the connection's future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It goes on, which HTTP/1.1 takes for granted.
    Implicit,
    /// It goes on, which a client of HTTP/1.0 needs a header for.
    Explicit,
    /// It ends.
    Close,
}

/// How to write one response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseMode {
    pub(crate) keep: Keep,
    /// The request was `HEAD`: the head as for `GET`, and no body.
    pub(crate) head_only: bool,
}

/// The usual response in every mode.
#[derive(Debug)]
pub(crate) struct UsualResponse {
    whole: [Vec<u8>; 3],
}

impl UsualResponse {
    pub(crate) fn new() -> Self {
        let encode = |keep| {
            let mut out = Vec::new();
            whole(&mut out, 200, JSON, OK_BODY, ResponseMode { keep, head_only: false });
            out
        };
        Self { whole: [Keep::Implicit, Keep::Explicit, Keep::Close].map(encode) }
    }

    #[inline]
    pub(crate) fn bytes(&self, mode: ResponseMode) -> &[u8] {
        let whole = &self.whole[mode.keep as usize];
        if mode.head_only { &whole[..whole.len() - OK_BODY.len()] } else { whole }
    }
}

/// Appends a head.
///
/// # Panics
/// When status, headers and framing do not go together, which is this crate's mistake.
pub(crate) fn head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(&str, &str)],
    framing: Framing,
    keep: Keep,
) {
    let kept = [("Connection", "keep-alive")];
    let stated: &[_] = if keep == Keep::Explicit { &kept } else { &[] };
    let all: Vec<_> = headers.iter().chain(stated).copied().collect();
    encode_response_head(out, status, &all, framing, keep != Keep::Close)
        .expect("responses of this crate are valid HTTP");
}

/// Appends a response with a body.
pub(crate) fn whole(
    out: &mut Vec<u8>,
    status: u16,
    content_type: &str,
    body: &[u8],
    mode: ResponseMode,
) {
    whole_with(out, status, content_type, &[], body, mode);
}

/// Appends a response with a body and further header fields.
pub(crate) fn whole_with(
    out: &mut Vec<u8>,
    status: u16,
    content_type: &str,
    further: &[(&str, &str)],
    body: &[u8],
    mode: ResponseMode,
) {
    let framing = Framing::Length(body.len() as u64);
    let fields = [&[("Content-Type", content_type)], further].concat();
    head(out, status, &fields, framing, mode.keep);
    if !mode.head_only {
        out.extend_from_slice(body);
    }
}

/// Appends a response with an error message in one line of JSON.
pub(crate) fn error(out: &mut Vec<u8>, status: u16, message: &str, mode: ResponseMode) {
    error_with(out, status, &[], message, mode);
}

/// The same with further header fields.
pub(crate) fn error_with(
    out: &mut Vec<u8>,
    status: u16,
    further: &[(&str, &str)],
    message: &str,
    mode: ResponseMode,
) {
    let body = format!("{{\"error\":{}}}\n", quoted(message));
    whole_with(out, status, JSON, further, body.as_bytes(), mode);
}

/// Appends a response with the requested status.
pub(crate) fn status(out: &mut Vec<u8>, code: u16, mode: ResponseMode) {
    if matches!(code, 204 | 304) {
        head(out, code, &[], Framing::None, mode.keep);
    } else {
        let body = format!("{{\"status\":{code}}}");
        whole(out, code, JSON, body.as_bytes(), mode);
    }
}

/// Appends the usual response in two chunks.
pub(crate) fn chunked(out: &mut Vec<u8>, mode: ResponseMode) {
    head(out, 200, &[("Content-Type", JSON)], Framing::Chunked, mode.keep);
    if !mode.head_only {
        let (first, second) = OK_BODY.split_at(5);
        encode_chunk(out, first);
        encode_chunk(out, second);
        encode_last_chunk(out);
    }
}

/// The body of the usual response as gzip (RFC 1952): one stored block (RFC 1951 section 3.2.4).
const GZIP_BODY: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x0f\x00\xf0\xff\
    {\"status\":\"ok\"}\xdd\xed\x13\x1d\x0f\x00\x00\x00";

/// Appends the usual response in gzip coding.
pub(crate) fn gzip(out: &mut Vec<u8>, mode: ResponseMode) {
    let headers = [("Content-Type", JSON), ("Content-Encoding", "gzip")];
    head(out, 200, &headers, Framing::Length(GZIP_BODY.len() as u64), mode.keep);
    if !mode.head_only {
        out.extend_from_slice(GZIP_BODY);
    }
}

/// Appends a 404 that lists what exists.
pub(crate) fn unknown(out: &mut Vec<u8>, what: &str, known: &str, mode: ResponseMode) {
    error(out, 404, &format!("no such {what}; there are {known}"), mode);
}

/// A string of JSON (RFC 8259 section 7).
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_response_is_minimal() {
        let usual = UsualResponse::new();
        let mode = ResponseMode { keep: Keep::Implicit, head_only: false };
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
            Content-Length: 15\r\n\r\n{\"status\":\"ok\"}";
        assert_eq!(usual.bytes(mode), expected.as_bytes());
        let head = usual.bytes(ResponseMode { keep: Keep::Close, head_only: true });
        assert!(head.ends_with(b"Content-Length: 15\r\nConnection: close\r\n\r\n"));
        let stated = usual.bytes(ResponseMode { keep: Keep::Explicit, head_only: true });
        assert!(stated.ends_with(b"Connection: keep-alive\r\nContent-Length: 15\r\n\r\n"));
    }

    #[test]
    fn strings_are_json() {
        assert_eq!(quoted("a\"b\\c\nd\u{e9}"), "\"a\\\"b\\\\c\\u000ad\u{e9}\"");
    }
}
