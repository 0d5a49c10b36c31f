//! The gateway's own responses: refusals of the policy, faults of a request, failures of an upstream.
//!
//! Owns their bytes. Nothing of a request is repeated in them.

use wire::{WireError, push_decimal, reason};

use super::failure::Failure;
use crate::policy::Refusal;

/// Why a request is answered by the gateway itself, where the policy was not asked or could not help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// 400: not HTTP/1.1 as RFC 9112 has it; the rule, in words.
    Syntax(&'static str),
    /// 431: the head is too long.
    HeadTooLong,
    /// 431: the head has too many lines.
    TooManyHeaders,
    /// 505: neither HTTP/1.0 nor 1.1.
    Version,
    /// 400: no host.
    Host,
    /// 400: a host with escapes.
    HostEscaped,
    /// 400: the target's host and `Host` are not the same.
    HostDiffers,
    /// 400: a target of a form that is not served.
    Target,
    /// 400: a path that servers read in different ways.
    Path,
    /// 400: a malformed or NUL escape.
    Escape,
    /// 400: too many options in `Connection`.
    Options,
    /// 400: `Max-Forwards` that is no number, or given twice.
    MaxForwards,
    /// 400: two different keys.
    TwoKeys,
    /// 405: `CONNECT` or `TRACE`, or small letters.
    Method,
    /// 417: an expectation other than `100-continue`.
    Expectation,
    /// 413: the body grew longer than the route allows.
    Body,
    /// 408: the head or the body took too long.
    Slow,
    /// 502: the upstream could not be reached, closed, or answered with something that is not HTTP.
    Upstream(Failure),
    /// 503: no more connections to the upstream may be made.
    Busy,
    /// 503: the gateway ends, and the upstream has not answered.
    Ended,
    /// 504: the upstream took too long.
    Late(Failure),
    /// 508: this gateway has forwarded the request before.
    Loop,
    /// 200: an `OPTIONS` that may be forwarded no further.
    LastHop,
}

impl Fault {
    /// The fault that a request has which cannot be parsed.
    pub(super) fn of(error: &WireError) -> Self {
        match error {
            WireError::HeadTooLong { .. } => Self::HeadTooLong,
            WireError::TooManyHeaders { .. } => Self::TooManyHeaders,
            WireError::Version(_) => Self::Version,
            error => Self::Syntax(rule(error)),
        }
    }

    /// The status of the response.
    pub const fn status(self) -> u16 {
        self.parts().0
    }

    const fn parts(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Syntax(rule) => (400, "malformed", rule),
            Self::TooManyHeaders => {
                (431, "too_many_headers", "The head has too many header lines.")
            }
            Self::HeadTooLong => (431, "head_too_long", "The head is too long."),
            Self::Version => (505, "version", "HTTP/1.1 is spoken here."),
            Self::Host => (400, "host", "The request names no host."),
            Self::HostEscaped => (400, "host_escaped", "The host is written with escapes."),
            Self::HostDiffers => (400, "host_differs", "The target and Host name different hosts."),
            Self::Target => (400, "target", "A target of this form is not served."),
            Self::Path => {
                (400, "path", "The path can be read in two ways: dots, escapes, `;`, `/` or case.")
            }
            Self::Escape => (400, "escape", "The target has a malformed escape."),
            Self::Options => (400, "options", "Connection has too many options."),
            Self::MaxForwards => {
                (400, "max_forwards", "Max-Forwards is no number, or is given twice.")
            }
            Self::TwoKeys => (400, "two_keys", "The request has two different keys."),
            Self::Method => (405, "method", "This method is not served."),
            Self::Expectation => (417, "expectation", "No expectation but 100-continue is met."),
            Self::Body => (413, "body_too_large", "The body is longer than allowed."),
            Self::Slow => (408, "slow", "The request took too long to arrive."),
            Self::Upstream(failure) => (502, "upstream", failure.detail()),
            Self::Busy => (503, "busy", "All connections to the API are in use."),
            Self::Ended => (503, "ended", "The gateway ended before the API had answered."),
            Self::Late(failure) => (504, "late", failure.detail()),
            Self::Loop => (508, "loop", "An upstream of the gateway sends requests back to it."),
            Self::LastHop => (200, "last_hop", "The request may be forwarded no further."),
        }
    }
}

/// The rule of RFC 9112 that a request breaks.
const fn rule(error: &WireError) -> &'static str {
    match error {
        WireError::RequestLine(_) => "The first line is no request line of HTTP/1.1.",
        WireError::Target(_) => "The request target has no form that belongs to the method.",
        WireError::BareCr(_) => "A CR in the head is not followed by LF.",
        WireError::BareLf(_) => "A line of the head ends in LF without CR.",
        WireError::ControlByte { .. } => "The head has a control character.",
        WireError::ObsFold => "A header line begins with white space.",
        WireError::SpaceBeforeColon(_) => {
            "There is white space between a header's name and its colon."
        }
        WireError::HeaderName(_) => "The name of a header is none.",
        WireError::ContentLength(_) | WireError::ContentLengthOverflow(_) => {
            "Content-Length is no number, or too large."
        }
        WireError::ContentLengthRepeated { .. } => "The request has two Content-Lengths.",
        WireError::TransferEncoding(_) => "The only Transfer-Encoding served is chunked.",
        WireError::TransferEncodingRepeated => "The request has two Transfer-Encodings.",
        WireError::ChunkedOnHttp10 => "HTTP/1.0 has no Transfer-Encoding.",
        WireError::LengthAndChunked => "The request has both Transfer-Encoding and Content-Length.",
        WireError::HostMissing => "The request has no Host.",
        WireError::HostRepeated => "The request has two Hosts.",
        WireError::HostInvalid(_) => "Host is no host with an optional port.",
        WireError::ChunkSize(_) | WireError::ChunkSizeOverflow => {
            "The size of a chunk is no hexadecimal number."
        }
        WireError::ChunkExtensionTooLong => "An extension of a chunk is too long.",
        WireError::ChunkEnd(_) => "A chunk does not end where its size says.",
        WireError::TrailerForbidden(_) => "A trailer may not say where a message ends or goes.",
        _ => "The request is not well-formed HTTP/1.1.",
    }
}

/// What a response's head depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Another request may follow on the connection.
    pub(super) keep_alive: bool,
    /// The request's method was `HEAD`: the head alone is sent.
    pub(super) head_only: bool,
}

/// The methods that the gateway serves.
const ALLOW: &[u8] = b"Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";

/// Appends the response to a faulty request; `date` is its line.
pub(super) fn write_fault(out: &mut Vec<u8>, fault: Fault, date: &[u8], manner: Manner) {
    if fault == Fault::LastHop {
        return write_options(out, date, manner);
    }
    let (status, code, detail) = fault.parts();
    let title = reason(status);
    let body_bytes = BODY.iter().map(|part| part.len()).sum::<usize>()
        + title.len()
        + code.len()
        + detail.len()
        + 3;
    begin(out, status, body_bytes, date, manner);
    if status == 405 {
        out.extend_from_slice(ALLOW);
    }
    out.extend_from_slice(b"\r\n");
    if !manner.head_only {
        let mut digits = [b'0'; 3];
        digits
            .iter_mut()
            .zip([100, 10, 1])
            .for_each(|(digit, unit)| *digit += (status / unit % 10) as u8);
        let parts: [&[u8]; 4] = [title.as_bytes(), &digits, code.as_bytes(), detail.as_bytes()];
        for (text, part) in BODY.iter().zip(parts) {
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(part);
        }
        out.extend_from_slice(BODY[4].as_bytes());
    }
}

/// Appends the response to an `OPTIONS` that ends at the gateway.
fn write_options(out: &mut Vec<u8>, date: &[u8], manner: Manner) {
    out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    out.extend_from_slice(date);
    out.extend_from_slice(ALLOW);
    out.extend_from_slice(b"Content-Length: 0\r\n");
    if !manner.keep_alive {
        out.extend_from_slice(b"Connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// What stands around title, status, code and detail.
const BODY: [&str; 5] = [
    r#"{"type":"about:blank","title":""#,
    r#"","status":"#,
    r#","code":""#,
    r#"","detail":""#,
    r#""}"#,
];

/// Appends the response to a request that the policy refuses; `date` is its line, `methods` are those for `Allow` where the
/// status is 405.
pub(super) fn write_refusal(
    out: &mut Vec<u8>,
    refusal: &Refusal,
    methods: &[&str],
    date: &[u8],
    manner: Manner,
) {
    let body = refusal.problem.body();
    let status = refusal.status();
    begin(out, status, body.len(), date, manner);
    if let Some(seconds) = refusal.retry_after_s {
        out.extend_from_slice(b"Retry-After: ");
        push_decimal(out, u64::from(seconds));
        out.extend_from_slice(b"\r\n");
    }
    if let Some(limit) = &refusal.limit {
        limit.write(out);
    }
    if status == 405 {
        out.extend_from_slice(b"Allow: ");
        for (place, method) in methods.iter().enumerate() {
            if place > 0 {
                out.extend_from_slice(b", ");
            }
            out.extend_from_slice(method.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
    }
    if status == 401 {
        out.extend_from_slice(b"WWW-Authenticate: Bearer realm=\"api\"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    if !manner.head_only {
        out.extend_from_slice(body.as_bytes());
    }
}

fn begin(out: &mut Vec<u8>, status: u16, body_bytes: usize, date: &[u8], manner: Manner) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(date);
    out.extend_from_slice(b"Content-Type: application/problem+json\r\nContent-Length: ");
    push_decimal(out, body_bytes as u64);
    out.extend_from_slice(b"\r\n");
    if !manner.keep_alive {
        out.extend_from_slice(b"Connection: close\r\n");
    }
}

#[cfg(test)]
mod tests {
    use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

    use super::*;
    use crate::policy::{Problem, RateLimit};

    const MANNER: Manner = Manner { keep_alive: true, head_only: false };

    fn parsed(bytes: &[u8], to: ResponseTo) -> (u16, Vec<u8>, bool) {
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(to);
        let (mut input, mut body, mut status) = (bytes, Vec::new(), 0);
        loop {
            match parser.next(&mut input).expect("well formed").expect("complete") {
                ResponseEvent::Head(head) => status = head.status,
                ResponseEvent::Body(part) => body.extend_from_slice(part),
                ResponseEvent::End { keep_alive } => {
                    assert!(input.is_empty());
                    return (status, body, keep_alive);
                }
            }
        }
    }

    const FAULTS: [Fault; 22] = [
        Fault::Syntax("The request has no Host."),
        Fault::HeadTooLong,
        Fault::TooManyHeaders,
        Fault::Version,
        Fault::Host,
        Fault::HostEscaped,
        Fault::HostDiffers,
        Fault::Target,
        Fault::Path,
        Fault::Escape,
        Fault::Options,
        Fault::MaxForwards,
        Fault::TwoKeys,
        Fault::Method,
        Fault::Expectation,
        Fault::Body,
        Fault::Slow,
        Fault::Upstream(Failure::Closed),
        Fault::Busy,
        Fault::Ended,
        Fault::Late(Failure::Late),
        Fault::Loop,
    ];

    #[test]
    fn faults_are_answered_with_whole_problems() {
        for fault in FAULTS {
            assert!(crate::path::FAULT_STATUSES.contains(&fault.status()), "it is counted");
            let mut out = Vec::new();
            write_fault(&mut out, fault, b"Date: x\r\n", MANNER);
            let (status, body, keep_alive) = parsed(&out, ResponseTo::Other);
            let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((status, true), (fault.status(), keep_alive));
            assert_eq!(problem["status"], fault.status());
            assert!(problem["detail"].as_str().is_some_and(|text| text.ends_with('.')));
            out.clear();
            write_fault(&mut out, fault, b"", Manner { keep_alive: false, head_only: true });
            assert_eq!(parsed(&out, ResponseTo::Head), (fault.status(), Vec::new(), false));
        }
    }

    #[test]
    fn every_failure_of_an_upstream_has_words_of_its_own() {
        let mut words: Vec<_> =
            Failure::ALL.iter().flat_map(|failure| [failure.detail(), failure.does()]).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 2 * Failure::COUNT);
        assert!(Failure::ALL.iter().enumerate().all(|(n, failure)| *failure as usize == n));
    }

    #[test]
    fn refusals_say_when_to_come_again() {
        let window_s = Some(1);
        let limit = RateLimit { name: "key", quota: 10, window_s, remaining: 0, reset_s: 3 };
        let refusal = Refusal {
            retry_after_s: Some(3),
            limit: Some(limit),
            ..Refusal::of(Problem::RateLimited)
        };
        let mut out = Vec::new();
        write_refusal(&mut out, &refusal, &[], b"Date: x\r\n", MANNER);
        let text = String::from_utf8(out.clone()).unwrap();
        assert!(text.contains("\r\nRetry-After: 3\r\n"), "{text}");
        assert!(text.contains("\r\nDate: x\r\n"), "{text}");
        assert!(text.contains("\r\nRateLimit: \"key\";r=0;t=3\r\n"), "{text}");
        assert_eq!(parsed(&out, ResponseTo::Other).0, 429);
        out.clear();
        write_refusal(&mut out, &Refusal::of(Problem::KeyMissing), &[], b"", MANNER);
        let (status, body, _) = parsed(&out, ResponseTo::Other);
        assert_eq!((status, body.as_slice()), (401, Problem::KeyMissing.body().as_bytes()));
        out.clear();
        let refusal = Refusal::of(Problem::MethodNotAllowed);
        write_refusal(&mut out, &refusal, &["GET", "HEAD"], b"", MANNER);
        assert_eq!(parsed(&out, ResponseTo::Other).0, 405);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("\r\nAllow: GET, HEAD\r\n"), "{text}");
    }
}
