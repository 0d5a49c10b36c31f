//! Parses requests, for the built-in server and the gateway.
//!
//! Owns the order of a request's events and the empty line that may come before it. Syntax is read
//! by `start_line`, `head` and `body`.

use crate::body::Body;
use crate::chunked::Part;
use crate::error::{Excerpt, WireError};
use crate::framing::{Framing, Section};
use crate::head::{PartialHead, Place};
use crate::headers::Headers;
use crate::response::Eof;
use crate::start_line::path_and_query;
use crate::walk::{Bounds, Head, Limits};

/// Reads the requests of one connection, one after the other.
///
/// [`next`](Self::next) yields [`Head`](RequestEvent::Head), any number of
/// [`Body`](RequestEvent::Body) and [`End`](RequestEvent::End), and then the next request's head.
///
/// ```
/// use wire::{Limits, RequestEvent, RequestParser};
///
/// let mut parser = RequestParser::new(Limits::default());
/// let mut input: &[u8] = b"GET /a?b HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// while let Some(event) = parser.next(&mut input)? {
///     if let RequestEvent::Head(head) = event {
///         assert_eq!((head.method, head.path, head.query), ("GET", "/a", Some("b")));
///     }
/// }
/// # Ok::<(), wire::WireError>(())
/// ```
#[derive(Debug)]
pub struct RequestParser {
    held: PartialHead,
    body: Body,
    bounds: Bounds,
    phase: Phase,
    blank: Blank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    Body,
    /// As [`Phase::Head`], with the trailers of the request before still held.
    Ended,
    Failed,
}

/// How far an empty line before the request line has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blank {
    Possible,
    Cr,
    Past,
}

/// One step in a request.
#[derive(Debug, Clone, Copy)]
pub enum RequestEvent<'a> {
    /// The head.
    Head(RequestHead<'a>),
    /// Some bytes of the body, never none.
    Body(&'a [u8]),
    /// The request is complete.
    End,
}

/// The head of a request.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    /// The method, a token.
    pub method: &'a str,
    /// The request target as it came: visible ASCII in one of the four forms of RFC 9112
    /// section 3.2, the authority form for `CONNECT` and nothing else.
    pub target: &'a str,
    /// The target's path, up to the query; `*` and an authority are left as they are.
    pub path: &'a str,
    /// What follows the target's first `?`.
    pub query: Option<&'a str>,
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub version_minor: u8,
    /// The header fields.
    pub headers: Headers<'a>,
    /// How the body's end will be known; never [`Framing::UntilClose`].
    pub framing: Framing,
    /// Whether the client allows another request on the connection.
    pub keep_alive: bool,
    /// Whether there is an `Expect` field, whatever it asks for.
    pub expects: bool,
    /// Whether the client waits for a `100 Continue` before it sends the body.
    pub expect_continue: bool,
    /// Length of the head, from the request line to the empty line.
    pub bytes: usize,
}

impl RequestParser {
    /// A parser for a new connection. It allocates nothing until a head arrives in parts.
    pub fn new(limits: Limits) -> Self {
        Self {
            held: PartialHead::default(),
            body: Body::Length(0),
            bounds: limits.into(),
            phase: Phase::Head,
            blank: Blank::Possible,
        }
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
        if self.phase == Phase::Ended && self.bounds.keeps_trailers {
            Headers::new(self.held.trailers())
        } else {
            Headers::default()
        }
    }

    /// Takes the next event from `input`, consuming the bytes it was made of.
    ///
    /// `None` means that all of `input` is consumed and more bytes are needed. An event lends
    /// from `input`, or from the parser if a head came in parts.
    ///
    /// # Errors
    ///
    /// What the client did wrong: respond 400 and close.
    #[inline]
    pub fn next<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<RequestEvent<'a>>, WireError> {
        match self.phase {
            Phase::Head => self.head(input),
            Phase::Body => self.body(input),
            Phase::Ended => {
                self.held.release();
                self.phase = Phase::Head;
                self.head(input)
            }
            Phase::Failed => Err(WireError::AfterError),
        }
    }

    fn head<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<RequestEvent<'a>>, WireError> {
        let (head, place) = match self.read_head(input) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.fail(error)),
        };
        let framing = framing(&head);
        self.body = framing.into();
        self.phase = Phase::Body;
        let bytes = match place {
            Place::Input(bytes) => bytes,
            Place::Held => self.held.bytes(),
        };
        Ok(Some(RequestEvent::Head(request_head(bytes, &head, framing))))
    }

    #[inline]
    fn read_head<'i>(
        &mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<(Head, Place<'i>)>, WireError> {
        if self.blank != Blank::Past {
            self.skip_blank(input)?;
        }
        self.held.read(Section::Request, self.bounds, input, None)
    }

    /// One empty line before the request line is ignored (RFC 9112 section 2.2).
    #[inline]
    fn skip_blank(&mut self, input: &mut &[u8]) -> Result<(), WireError> {
        while let Some((&byte, rest)) = input.split_first() {
            match (self.blank, byte) {
                (Blank::Possible, b'\r') => self.blank = Blank::Cr,
                (Blank::Cr, b'\n') => self.blank = Blank::Past,
                (Blank::Cr, _) => return Err(WireError::BareCr(Excerpt::of(b""))),
                (Blank::Possible | Blank::Past, _) => {
                    self.blank = Blank::Past;
                    break;
                }
            }
            *input = rest;
        }
        Ok(())
    }

    #[inline]
    fn body<'a, 'i: 'a>(
        &'a mut self,
        input: &mut &'i [u8],
    ) -> Result<Option<RequestEvent<'a>>, WireError> {
        match self.body.next(&mut self.held, self.bounds, input) {
            Ok(Some(Part::Data(bytes))) => Ok(Some(RequestEvent::Body(bytes))),
            Ok(Some(Part::End)) => {
                self.phase = Phase::Head;
                if self.bounds.keeps_trailers && !self.held.is_empty() {
                    self.phase = Phase::Ended;
                } else {
                    self.held.release();
                }
                self.blank = Blank::Possible;
                Ok(Some(RequestEvent::End))
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

    /// What it means if the client closes its side now: [`Eof::Idle`] between two requests, otherwise
    /// [`Eof::Truncated`]. To be called once [`next`](Self::next) has returned `None`.
    pub fn eof(&self) -> Eof {
        let between = self.phase == Phase::Head && self.blank != Blank::Cr && self.held.is_empty();
        if between || self.phase == Phase::Ended { Eof::Idle } else { Eof::Truncated }
    }

    /// Bytes on the heap for a head or trailer section that has arrived in part: at most about twice
    /// [`Limits::head_bytes`].
    pub fn bytes_held(&self) -> usize {
        self.held.capacity()
    }
}

/// RFC 9112 section 6.3, rules 4 to 7: a request without either header has no body.
fn framing(head: &Head) -> Framing {
    match head.facts.length {
        _ if head.facts.chunked => Framing::Chunked,
        Some(bytes) => Framing::Length(bytes),
        None => Framing::None,
    }
}

#[inline]
fn request_head<'a>(bytes: &'a [u8], head: &Head, framing: Framing) -> RequestHead<'a> {
    let start = head.start;
    let method_end = start.method_len as usize;
    let target_end = method_end + 1 + start.target_len as usize;
    let line = str::from_utf8(&bytes[..target_end]).expect("method and target are ASCII");
    let (method, target) = (&line[..method_end], &line[method_end + 1..]);
    let (path, query) = path_and_query(target);
    RequestHead {
        method,
        target,
        path,
        query,
        version_minor: start.version_minor,
        headers: Headers::new(&bytes[head.fields..head.len - 2]),
        framing,
        keep_alive: head.facts.keep_alive(start.version_minor),
        expects: head.facts.expects,
        expect_continue: head.facts.expect_continue && start.version_minor == 1,
        bytes: head.len,
    }
}
