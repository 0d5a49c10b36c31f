//! The response that goes to the client: its head written anew, its body framed for this client.
//!
//! Owns how each framing of the upstream's response is passed on. `fields` says which headers end here.

use wire::{Framing, Headers, ResponseHead, push_decimal, reason};

use super::fields::{self, Connection};
use super::redirects::{Back, Says};
use super::request::{begin_field, write_field};
use crate::policy::HeaderRules;

/// How a body is sent to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// As it comes: the length was announced, or there is no body.
    Plain,
    /// As chunks.
    Chunks,
    /// As it comes, until the connection closes: to clients of HTTP/1.0.
    UntilClose,
}

/// What a response depends on besides the upstream's head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner<'a> {
    /// The client speaks HTTP/1.0.
    pub(super) http10: bool,
    /// The request's method was `HEAD`.
    pub(super) head_only: bool,
    /// Another request may follow on the connection.
    pub(super) keep_alive: bool,
    pub(super) rules: &'a HeaderRules,
    /// The line that a response without a `Date` gets.
    pub(super) date: &'a [u8],
    /// What says where things are is put in the client's terms; passed on as it comes where absent.
    pub(super) back: Option<Back<'a>>,
}

/// Whether another response could not be distinguished from what comes behind this one: a 204 has no body, and one that announces some
/// may send it yet.
pub(super) fn is_last(head: &ResponseHead<'_>) -> bool {
    let length = || head.headers.get("content-length").is_some_and(|length| length != b"0");
    head.status == 204 && (length() || head.headers.get("transfer-encoding").is_some())
}

/// How the body of a response is sent on.
pub(super) fn framing(head: &ResponseHead<'_>, http10: bool) -> Sent {
    match head.framing {
        Framing::None | Framing::Length(_) => Sent::Plain,
        Framing::Chunked | Framing::UntilClose if http10 => Sent::UntilClose,
        Framing::Chunked | Framing::UntilClose => Sent::Chunks,
    }
}

/// Appends the head of a final response. Returns how its body is sent.
pub(super) fn write_head(out: &mut Vec<u8>, head: &ResponseHead<'_>, manner: &Manner<'_>) -> Sent {
    let sent = framing(head, manner.http10);
    write_status(out, head.status);
    if !write_fields(out, head, manner.rules, manner.back.as_ref()) {
        out.extend_from_slice(manner.date);
    }
    match (head.framing, sent) {
        (Framing::Length(bytes), _) => write_length(out, bytes),
        (_, Sent::Chunks) => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        // What a GET would have been answered with (RFC 9110 section 8.6).
        (Framing::None, _) if (manner.head_only || head.status == 304) && head.status != 204 => {
            if let Some(length) = head.headers.get("content-length") {
                write_field(out, "Content-Length", length);
            }
        }
        _ => {}
    }
    if !manner.keep_alive || sent == Sent::UntilClose {
        out.extend_from_slice(b"Connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
    sent
}

/// Appends an interim response (1xx) as the upstream gave it, or the change of protocols (101).
pub(super) fn write_interim(out: &mut Vec<u8>, head: &ResponseHead<'_>, rules: &HeaderRules) {
    write_status(out, head.status);
    if head.status != 100 {
        write_fields(out, head, rules, None);
    }
    if head.status == 101 {
        out.extend_from_slice(b"Connection: upgrade\r\n");
        if let Some(protocol) = head.headers.get("upgrade") {
            write_field(out, "Upgrade", protocol);
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends the end of a chunked body, with its trailers but those that the route's rules drop.
pub(super) fn write_last_chunk(out: &mut Vec<u8>, trailers: &Headers<'_>, rules: &HeaderRules) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers.iter() {
        if !fields::ends_in_response(name) && !rules.drops(name.as_bytes()) {
            write_field(out, name, value);
        }
    }
    out.extend_from_slice(b"\r\n");
}

fn write_status(out: &mut Vec<u8>, status: u16) {
    out.extend_from_slice(b"HTTP/1.1 ");
    push_decimal(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_length(out: &mut Vec<u8>, bytes: u64) {
    out.extend_from_slice(b"Content-Length: ");
    push_decimal(out, bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends the headers that are passed on, and those that the rules set. Whether `Date` is one of them.
fn write_fields(
    out: &mut Vec<u8>,
    head: &ResponseHead<'_>,
    rules: &HeaderRules,
    back: Option<&Back<'_>>,
) -> bool {
    let is_date = |name: &str| name.eq_ignore_ascii_case("date");
    let mut dated = rules.set.iter().any(|(name, _)| is_date(name));
    let connection = Connection::of(&head.headers);
    let ruled = !rules.remove.is_empty() || !rules.set.is_empty();
    for (name, value) in head.headers.iter() {
        let ends = fields::ends_in_response(name)
            || connection.names(&head.headers, name)
            || (ruled && rules.drops(name.as_bytes()));
        if ends {
            continue;
        }
        dated |= is_date(name);
        match back.and_then(|back| Some((back, Says::of(name)?))) {
            Some((back, says)) => {
                begin_field(out, name);
                back.write(out, says, value);
                out.extend_from_slice(b"\r\n");
            }
            None => write_field(out, name, value),
        }
    }
    for (name, value) in &rules.set {
        write_field(out, name, value.as_bytes());
    }
    dated
}
