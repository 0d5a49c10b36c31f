//! Parses responses, for the generator.
//!
//! Owns the order of a response's events, the skipping of interim responses, and what the end of the
//! connection means for a response under way. Syntax is read by `head` and `body`.

use crate::body::Body;
use crate::chunked::Part;
use crate::error::WireError;
use crate::framing::{Framing, Section};
use crate::head::{PartialHead, Place};
use crate::headers::Headers;
use crate::last_head::LastHead;
use crate::walk::{Bounds, Head, Limits};

/// The most interim responses to one request; no server has a reason to send half as many.
const INTERIM_RESPONSES: u8 = 32;

/// The kind of request that the awaited response is to: it decides whether a body follows the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseTo {
    /// A `HEAD` request, whose response has no body whatever its headers say.
    Head,
    /// A request with any other method but `CONNECT`, which is not supported.
    Other,
}

/// Reads the responses of one connection.
///
/// [`begin`](Self::begin) arms it for one response; then [`next`](Self::next) yields
/// [`Head`](ResponseEvent::Head), any number of [`Body`](ResponseEvent::Body) and
/// [`End`](ResponseEvent::End), after which it is unarmed again.
///
/// ```
/// use wire::{ResponseTo, Limits, ResponseEvent, ResponseParser};
///
/// let mut parser = ResponseParser::new(Limits::default());
/// let mut input: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
/// parser.begin(ResponseTo::Other);
/// let mut body = Vec::new();
/// while let Some(event) = parser.next(&mut input)? {
///     match event {
///         ResponseEvent::Head(head) => assert_eq!(head.status, 200),
///         ResponseEvent::Body(bytes) => body.extend_from_slice(bytes),
///         ResponseEvent::End { keep_alive } => assert!(keep_alive),
///     }
/// }
/// assert_eq!(body, b"hi");
/// # Ok::<(), wire::WireError>(())
/// ```
#[derive(Debug)]
pub struct ResponseParser {
    held: PartialHead,
    body: Body,
    bounds: Bounds,
    phase: Phase,
    response_to: ResponseTo,
    interim: u8,
    keep_alive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Head,
    /// The head of an interim response has been lent.
    Interim,
    Body,
    Failed,
}

/// One step in a response.
#[derive(Debug, Clone, Copy)]
pub enum ResponseEvent<'a> {
    /// The final response's head.
    Head(ResponseHead<'a>),
    /// Some bytes of the body, never none.
    Body(&'a [u8]),
    /// The response is complete. A response framed by the close of the connection ends with
    /// [`Eof::Complete`] instead.
    End {
        /// Whether the connection may carry another request.
        keep_alive: bool,
    },
}

/// The head of a response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseHead<'a> {
    /// The status code, 100 to 999; of the 1xx ones only 101 is reported unless
    /// [`ResponseParser::reporting_interim`] asks for them.
    pub status: u16,
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub version_minor: u8,
    /// A number for the media type that `Content-Type` names, parameters left out; 0 without one.
    pub media_type: u32,
    /// The header fields.
    pub headers: Headers<'a>,
    /// How the body's end will be known.
    pub framing: Framing,
    /// Whether the connection may carry another request after this response.
    pub keep_alive: bool,
    /// Length of the head, from the status line to the empty line.
    pub bytes: usize,
}

/// What the end of a connection meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eof {
    /// No response was awaited.
    Idle,
    /// The body that lasts until the close is complete.
    Complete,
    /// A response was awaited and not a byte of it has come: the request may not have been read.
    NoResponse,
    /// The message is cut short.
    Truncated,
}

impl ResponseParser {
    /// An unarmed parser for a new connection. It allocates nothing until a head arrives in
    /// parts.
    pub fn new(limits: Limits) -> Self {
        Self {
            held: PartialHead::default(),
            body: Body::Length(0),
            bounds: limits.into(),
            phase: Phase::Idle,
            response_to: ResponseTo::Other,
            interim: 0,
            keep_alive: false,
        }
    }

    /// Yields the heads of interim responses too, for a gateway to pass on: each is a
    /// [`ResponseEvent::Head`] with a status below 200, which no body and no end follows.
    #[must_use]
    pub fn reporting_interim(mut self) -> Self {
        self.bounds.reports_interim = true;
        self
    }

    /// Keeps the trailer section of a chunked body, for a gateway to pass on: see [`Self::trailers`].
    #[must_use]
    pub fn keeping_trailers(mut self) -> Self {
        self.bounds.keeps_trailers = true;
        self
    }

    /// The trailer fields of the message whose end was reported last, up to the next call of
    /// [`next`](Self::next); none unless [`Self::keeping_trailers`] asked for them.
    pub fn trailers(&self) -> Headers<'_> {
        if self.phase == Phase::Idle && self.bounds.keeps_trailers {
            Headers::new(self.held.trailers())
        } else {
            Headers::default()
        }
    }

    /// Arms the parser for one response.
    ///
    /// Whatever was under way is forgotten, an error included: a response to be read on a connection
    /// opened anew begins like this as well.
    #[inline]
    pub fn begin(&mut self, response_to: ResponseTo) {
        self.held.release();
        self.response_to = response_to;
        self.interim = 0;
        self.phase = Phase::Head;
    }

    /// Takes the next event from `input`, consuming the bytes it was made of.
    ///
    /// `None` means that all of `input` is consumed and the response goes on in what comes next, or
    /// that no response is awaited. After [`ResponseEvent::End`] what is left in `input` belongs to
    /// the next response. An event lends from `input`, or from the parser if a head came in parts.
    ///
    /// # Errors
    ///
    /// What the peer did wrong; the connection is of no further use. [`WireError::Unsolicited`] when
    /// `input` holds bytes and no response is awaited.
    #[inline]
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<ResponseEvent<'a>>, WireError> {
        self.event(input, None)
    }

    /// As [`next`](Self::next), but recognises the head that this or another parser has read last.
    ///
    /// # Errors
    ///
    /// The same.
    #[inline]
    pub fn next_seen<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
        seen: &mut LastHead,
    ) -> Result<Option<ResponseEvent<'a>>, WireError> {
        self.event(input, Some(seen))
    }

    /// Takes in one step a response that is complete and whose head is the one seen last, as most are.
    /// `None`: nothing is consumed; read it with [`next_seen`](Self::next_seen).
    #[inline]
    pub fn whole<'i>(
        &mut self,
        input: &mut &'i [u8],
        seen: &LastHead,
    ) -> Option<(ResponseHead<'i>, &'i [u8])> {
        if self.phase != Phase::Head || self.interim > 0 || !self.held.is_empty() {
            return None;
        }
        let bytes = *input;
        let head = seen.known(Section::Response, self.bounds, bytes)?;
        let framing = self.framing(&head);
        let body = match framing {
            _ if head.start.status < 200 => return None,
            Framing::None => 0,
            Framing::Length(body) => usize::try_from(body).ok()?,
            Framing::Chunked | Framing::UntilClose => return None,
        };
        let body = bytes[head.len..].get(..body)?;
        *input = &bytes[head.len + body.len()..];
        self.phase = Phase::Idle;
        Some((self.described(&head, framing, bytes), body))
    }

    /// The head at the start of `bytes`, for the caller.
    #[inline]
    fn described<'b>(&self, head: &Head, framing: Framing, bytes: &'b [u8]) -> ResponseHead<'b> {
        ResponseHead {
            status: head.start.status,
            version_minor: head.start.version_minor,
            media_type: head.facts.media_type,
            headers: Headers::new(&bytes[head.fields..head.len - 2]),
            framing,
            keep_alive: head.facts.keep_alive(head.start.version_minor)
                && framing != Framing::UntilClose
                && head.start.status != 101,
            bytes: head.len,
        }
    }

    #[inline]
    fn event<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
        seen: Option<&mut LastHead>,
    ) -> Result<Option<ResponseEvent<'a>>, WireError> {
        match self.phase {
            Phase::Head => self.head(input, seen),
            Phase::Interim => {
                self.held.release();
                self.phase = Phase::Head;
                self.head(input, seen)
            }
            Phase::Body => self.body(input),
            Phase::Idle if input.is_empty() => Ok(None),
            Phase::Idle => Err(self.fail(WireError::unsolicited(input))),
            Phase::Failed => Err(WireError::AfterError),
        }
    }

    fn head<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
        seen: Option<&mut LastHead>,
    ) -> Result<Option<ResponseEvent<'a>>, WireError> {
        let (head, place) = match self.final_head(input, seen) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.fail(error)),
        };
        let interim = head.start.status < 200 && head.start.status != 101;
        let framing = if interim { Framing::None } else { self.framing(&head) };
        self.body = framing.into();
        self.phase = if interim { Phase::Interim } else { Phase::Body };
        let bytes = match place {
            Place::Input(bytes) => bytes,
            Place::Held => self.held.bytes(),
        };
        let described = self.described(&head, framing, bytes);
        self.keep_alive = described.keep_alive;
        Ok(Some(ResponseEvent::Head(described)))
    }

    /// The next head that is to be reported.
    #[inline]
    fn final_head<'i>(
        &mut self,
        input: &mut &'i [u8],
        mut seen: Option<&mut LastHead>,
    ) -> Result<Option<(Head, Place<'i>)>, WireError> {
        while let Some((head, place)) =
            self.held.read(Section::Response, self.bounds, input, seen.as_deref_mut())?
        {
            let status = head.start.status;
            if status >= 200 || status == 101 {
                return Ok(Some((head, place)));
            }
            if self.interim == INTERIM_RESPONSES {
                return Err(WireError::TooManyInterim);
            }
            self.interim += 1;
            if self.bounds.reports_interim {
                return Ok(Some((head, place)));
            }
            self.held.release();
        }
        Ok(None)
    }

    /// RFC 9112 section 6.3, rules 1 and 3 to 8; 2 is about `CONNECT`.
    #[inline]
    fn framing(&self, head: &Head) -> Framing {
        match (head.start.status, head.facts.length) {
            (101 | 204 | 304, _) => Framing::None,
            _ if self.response_to == ResponseTo::Head => Framing::None,
            _ if head.facts.chunked => Framing::Chunked,
            (_, Some(bytes)) => Framing::Length(bytes),
            (_, None) => Framing::UntilClose,
        }
    }

    #[inline]
    fn body<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<ResponseEvent<'a>>, WireError> {
        match self.body.next(&mut self.held, self.bounds, input) {
            Ok(Some(Part::Data(bytes))) => Ok(Some(ResponseEvent::Body(bytes))),
            Ok(Some(Part::End)) => {
                if !self.bounds.keeps_trailers {
                    self.held.release();
                }
                self.phase = Phase::Idle;
                Ok(Some(ResponseEvent::End { keep_alive: self.keep_alive }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(self.fail(error)),
        }
    }

    #[cold]
    fn fail(&mut self, error: WireError) -> WireError {
        self.held.release();
        self.phase = Phase::Failed;
        error
    }

    /// Reports to the parser that the peer has closed; to be called once [`next`](Self::next) has
    /// returned `None`. It is unarmed afterwards.
    pub fn eof(&mut self) -> Eof {
        let untouched = self.held.is_empty() && self.interim == 0;
        let eof = match (self.phase, self.body) {
            (Phase::Interim, _) => Eof::Truncated,
            (Phase::Idle, _) => Eof::Idle,
            (Phase::Head, _) if untouched => Eof::NoResponse,
            (Phase::Body, Body::UntilClose | Body::Length(0)) => Eof::Complete,
            (Phase::Head | Phase::Body | Phase::Failed, _) => Eof::Truncated,
        };
        self.held.release();
        self.phase = Phase::Idle;
        eof
    }

    /// Bytes that the body under way still has, where its length is known; 0 elsewhere.
    #[inline]
    pub fn body_left(&self) -> u64 {
        match (self.phase, self.body) {
            (Phase::Body, Body::Length(left)) => left,
            _ => 0,
        }
    }

    /// Goes on behind `bytes` bytes of the body under way that came and were not looked at.
    ///
    /// # Panics
    ///
    /// When the body has not as many left ([`Self::body_left`]).
    pub fn skip(&mut self, bytes: u64) {
        match &mut self.body {
            Body::Length(left) if self.phase == Phase::Body && *left >= bytes => *left -= bytes,
            _ => panic!("skipped {bytes} bytes of a body that has fewer"),
        }
    }

    /// Interim (1xx) responses that came before the one under way.
    #[inline]
    pub fn interim(&self) -> u8 {
        self.interim
    }

    /// Whether no byte of the final response has come yet, as far as is known: a beginning may turn out to
    /// be that of another interim response.
    pub fn awaits_first_byte(&self) -> bool {
        self.phase == Phase::Interim || self.phase == Phase::Head && self.held.is_empty()
    }

    /// Bytes on the heap for a head or trailer section that has arrived in part: at most about twice
    /// [`Limits::head_bytes`].
    pub fn bytes_held(&self) -> usize {
        self.held.capacity()
    }
}
