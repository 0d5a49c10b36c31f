//! HTTP/1.1 (and 1.0) bytes to events and back, in both directions, strictly.
//!
//! Owns message syntax: where a message ends, whether it is well formed, and how to write one so that
//! no text from a user can end a line or a body early. Has no socket, no clock and no dependency. The
//! callers are `engine` (responses), `target` (requests) and `gate` (both): they pass in the bytes that
//! `net` received, get events, and send encoded messages.
//!
//! * [`ResponseParser`] reads responses, one for each [`ResponseParser::begin`].
//! * [`RequestParser`] reads requests, one after the other.
//! * [`encode_request`], [`encode_response_head`], [`encode_chunk`] and [`encode_last_chunk`] write.
//!
//! # Strictness
//!
//! The rules are those of RFC 9112 sections 2 to 7 and 11; where the RFC lets a recipient choose
//! between repairing a message and refusing it, it is refused. Two recipients that repair a message
//! differently may disagree on where it ends, which is what request smuggling exploits; and a load
//! generator that repairs messages would count responses as successes that other clients refuse. The few tolerated
//! deviations, none of which touches the framing, are named where they are implemented: a status line
//! without the space after the code, identical repeated `Content-Length` in a response, and one empty
//! line before a request line.
//!
//! # Splitting
//!
//! Both parsers are byte-sequential: every decision depends only on the bytes up to that point. A
//! message therefore gives the same events and the same error however the network split it. A
//! message that does not end costs time linear in its length, and memory up to
//! [`Limits::head_bytes`]. A head that arrives whole is read in place, without an allocation.

mod body;
mod bytes;
mod chunked;
mod encode;
mod error;
mod framing;
mod head;
mod headers;
mod last_head;
mod reason;
mod request;
mod response;
mod start_line;
mod walk;

pub use bytes::is_authority;
pub use encode::{
    EncodeError, RequestParts, encode_chunk, encode_last_chunk, encode_request,
    encode_response_head, push_decimal,
};
pub use error::{Excerpt, WireError};
pub use framing::Framing;
pub use headers::{Headers, HeadersIter};
pub use last_head::LastHead;
pub use reason::reason;
pub use request::{RequestEvent, RequestHead, RequestParser};
pub use response::{Eof, ResponseEvent, ResponseHead, ResponseParser, ResponseTo};
pub use walk::Limits;
