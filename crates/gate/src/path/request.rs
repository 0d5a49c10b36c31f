//! The request that goes upstream: written anew from what was understood of the client's, never copied.
//!
//! Owns its head and the framing of its body. Which header passes is decided by `fields` and the route's rules.

use wire::{Framing, Headers, RequestHead, push_decimal};

use super::fields::{self, Connection, Field};
use super::key;
use super::target::Target;
use crate::escapes::{self, Unit, strip_decoded};
use crate::keys::Owner;
use crate::policy::{HeaderRules, PathRewrite};

/// What a request is written from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forward<'a> {
    pub(super) head: &'a RequestHead<'a>,
    pub(super) target: &'a Target<'a>,
    pub(super) connection: &'a Connection,
    pub(super) host: &'a [u8],
    pub(super) rewrite: Option<&'a PathRewrite>,
    pub(super) rules: &'a HeaderRules,
    /// The query parameter, and the headers, that ended here as they held the key.
    pub(super) key_parameter: Option<&'a str>,
    pub(super) key_header: Option<&'a str>,
    pub(super) drop_authorization: bool,
    /// The number of its key in the store; 0 without one.
    pub(super) key_id: u64,
    /// The owner of that key.
    pub(super) owner: Owner<'a>,
    /// The client's address, as text.
    pub(super) client: &'a str,
    pub(super) tls: bool,
    /// The name under which the gateway appears in `Via`.
    pub(super) via: &'a str,
    /// The protocol to change to, where the client asked and may.
    pub(super) upgrade: Option<&'a [u8]>,
    /// Whether the upstream is to say that the body may come.
    pub(super) expects_continue: bool,
    /// How many times the request may be forwarded, this time included, where it says so.
    pub(super) max_forwards: Option<u64>,
}

/// Appends the head.
pub(super) fn write_head(out: &mut Vec<u8>, forward: &Forward<'_>) {
    let Forward { head, target, .. } = forward;
    out.extend_from_slice(head.method.as_bytes());
    out.push(b' ');
    write_path(out, target.path, forward.rewrite);
    key::write_query(out, target.query, forward.key_parameter);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(forward.host);
    out.extend_from_slice(b"\r\n");
    write_fields(out, forward);
    write_identity(out, forward);
    match head.framing {
        Framing::Length(bytes) => {
            out.extend_from_slice(b"Content-Length: ");
            push_decimal(out, bytes);
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Framing::None | Framing::UntilClose => {}
    }
    if forward.expects_continue && head.framing != Framing::None {
        out.extend_from_slice(b"Expect: 100-continue\r\n");
    }
    if let Some(protocol) = forward.upgrade {
        out.extend_from_slice(b"Connection: upgrade\r\nUpgrade: ");
        out.extend_from_slice(protocol);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

fn write_path(out: &mut Vec<u8>, path: &[u8], rewrite: Option<&PathRewrite>) {
    let replaced = rewrite.and_then(|PathRewrite { from, to }| {
        let rest = strip_decoded(path, from.trim_end_matches('/').as_bytes())?;
        (rest.is_empty() || rest.starts_with(b"/")).then(|| (to.trim_end_matches('/'), rest))
    });
    let (begin, mut rest) = replaced.unwrap_or(("", path));
    // A path that begins with two slashes may be read as an authority.
    while begin.is_empty() && rest.starts_with(b"//") {
        rest = &rest[1..];
    }
    out.extend_from_slice(begin.as_bytes());
    out.extend_from_slice(rest);
    if begin.is_empty() && rest.is_empty() {
        out.push(b'/');
    }
}

fn write_fields(out: &mut Vec<u8>, forward: &Forward<'_>) {
    let headers = &forward.head.headers;
    let ruled = !forward.rules.remove.is_empty() || !forward.rules.set.is_empty();
    for (name, value) in headers.iter() {
        let field = fields::of_request(name);
        if matches!(field, Field::Drop | Field::Connection | Field::Upgrade) {
            continue;
        }
        let is_key = (forward.drop_authorization && name.eq_ignore_ascii_case("authorization"))
            || forward.key_header.is_some_and(|key| is_named(name, key));
        let is_counted = forward.max_forwards.is_some() && is_named(name, "max-forwards");
        if is_key
            || is_counted
            || forward.connection.names(headers, name)
            || (ruled && forward.rules.drops(name.as_bytes()))
        {
            continue;
        }
        match forward.key_parameter {
            Some(parameter) if field == Field::Referer => {
                begin_field(out, name);
                key::write_url(out, value, parameter);
                out.extend_from_slice(b"\r\n");
            }
            _ => write_field(out, name, value),
        }
    }
    for (name, value) in &forward.rules.set {
        write_field(out, name, value.as_bytes());
    }
    if let Some(times) = forward.max_forwards {
        out.extend_from_slice(b"Max-Forwards: ");
        push_decimal(out, times.saturating_sub(1));
        out.extend_from_slice(b"\r\n");
    }
    // The last of several `Via` lines is the nearest, and this one comes after all that were passed on.
    let version = if forward.head.version_minor == 0 { "1.0 " } else { "1.1 " };
    out.extend_from_slice(b"Via: ");
    out.extend_from_slice(version.as_bytes());
    out.extend_from_slice(forward.via.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// The client, as far as the gateway knows it. What the client itself sent about that was removed.
fn write_identity(out: &mut Vec<u8>, forward: &Forward<'_>) {
    let proto: &[u8] = if forward.tls { b"https" } else { b"http" };
    let parts: [(&str, &[u8]); 3] = [
        ("X-Forwarded-For", forward.client.as_bytes()),
        ("X-Forwarded-Proto", proto),
        ("X-Forwarded-Host", forward.target.authority),
    ];
    for (name, value) in parts {
        if !value.is_empty() {
            write_field(out, name, value);
        }
    }
    if forward.key_id != 0 {
        out.extend_from_slice(b"X-Plimsoll-Key: ");
        push_decimal(out, forward.key_id);
        out.extend_from_slice(b"\r\n");
    }
    if !forward.owner.is_empty() {
        // An owner may hold any text: so it can neither end the line nor be read in two ways.
        begin_field(out, "X-Plimsoll-Owner");
        forward.owner.bytes().for_each(|byte| escapes::write(out, Unit { byte, escaped: true }));
        out.extend_from_slice(b"\r\n");
    }
}

fn is_named(name: &str, other: &str) -> bool {
    fields::alike(name.as_bytes(), other.as_bytes())
}

/// Appends the end of a chunked body, with those of its trailers that may be passed on: none that would end at the
/// gateway as a header does, by its own rules or the route's, and no key.
pub(super) fn write_last_chunk(
    out: &mut Vec<u8>,
    trailers: &Headers<'_>,
    rules: &HeaderRules,
    key_header: Option<&str>,
) {
    out.extend_from_slice(b"0\r\n");
    for (name, value) in trailers.iter() {
        let credential = name.eq_ignore_ascii_case("authorization")
            || key_header.is_some_and(|key| is_named(name, key));
        let pass = fields::of_request(name) == Field::Pass && !credential;
        if pass && !rules.drops(name.as_bytes()) {
            write_field(out, name, value);
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends a header line.
pub(super) fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    begin_field(out, name);
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends what comes before a header's value.
pub(super) fn begin_field(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
}

/// Whether a request may be sent again although it was sent: methods that RFC 9110 section 9.2.2 calls idempotent.
pub(super) fn is_idempotent(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS")
}
