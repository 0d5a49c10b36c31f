//! Runs a parser over pieces of input and records its events, so that two runs can be compared. Checks
//! on the way what must hold of every run.

use wire::{
    Eof, Framing, Headers, LastHead, Limits, RequestEvent, RequestParser, ResponseEvent,
    ResponseHead, ResponseParser, ResponseTo, WireError,
};

/// An event of a parser, with neighbouring pieces of a body merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Response { status: u16, common: Common },
    Request { start: [String; 3], query: Option<String>, expect_continue: bool, common: Common },
    Body(Vec<u8>),
    End { keep_alive: Option<bool> },
    Error { code: &'static str, text: String },
    Eof(Eof),
}

/// What the heads of both directions have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    pub version_minor: u8,
    pub headers: Vec<(String, Vec<u8>)>,
    pub framing: Framing,
    pub keep_alive: bool,
    pub bytes: usize,
}

/// The steps of one run, and the checks on them.
#[derive(Default)]
struct Transcript {
    steps: Vec<Step>,
    framing: Option<Framing>,
    body_bytes: u64,
}

impl Transcript {
    fn head(&mut self, framing: Framing, step: Step) {
        assert!(self.framing.is_none(), "a head inside a message");
        self.framing = Some(framing);
        self.body_bytes = 0;
        self.steps.push(step);
    }

    fn body(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
        assert!(!matches!(self.framing, None | Some(Framing::None)), "a body without framing");
        self.body_bytes += bytes.len() as u64;
        match self.steps.last_mut() {
            Some(Step::Body(before)) => before.extend_from_slice(bytes),
            _ => self.steps.push(Step::Body(bytes.to_vec())),
        }
    }

    fn end(&mut self, keep_alive: Option<bool>) {
        match self.framing.take() {
            Some(Framing::Length(length)) => assert_eq!(self.body_bytes, length),
            Some(Framing::None) => assert_eq!(self.body_bytes, 0),
            Some(Framing::Chunked) => {}
            other => panic!("an end after {other:?}"),
        }
        self.steps.push(Step::End { keep_alive });
    }

    fn error(&mut self, error: WireError) {
        let text = match error {
            // This error can show only how much had arrived.
            WireError::Unsolicited { .. } => String::new(),
            _ => error.to_string(),
        };
        self.steps.push(Step::Error { code: error.code(), text });
    }
}

/// Reads as many responses as `responses_to` names from `pieces`, then lets the peer close.
pub fn responses<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    responses_to: &[ResponseTo],
    limits: Limits,
) -> Vec<Step> {
    responses_after(None, pieces, responses_to, limits)
}

/// As [`responses`], by a parser that recognises the last head.
pub fn responses_after<'a>(
    mut seen: Option<&mut LastHead>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    responses_to: &[ResponseTo],
    limits: Limits,
) -> Vec<Step> {
    let mut parser = ResponseParser::new(limits);
    let mut awaited = responses_to.iter().copied();
    let mut transcript = Transcript::default();
    awaited.next().into_iter().for_each(|first| parser.begin(first));
    for piece in pieces {
        let mut input = piece;
        loop {
            if let Some(seen) = &seen
                && let Some((head, body)) = parser.whole(&mut input, seen)
            {
                transcript.head(head.framing, response(&head));
                if !body.is_empty() {
                    transcript.body(body);
                }
                transcript.end(Some(head.keep_alive));
                awaited.next().into_iter().for_each(|next| parser.begin(next));
                continue;
            }
            let next = match &mut seen {
                Some(seen) => parser.next_seen(&mut input, seen),
                None => parser.next(&mut input),
            };
            match next {
                Ok(None) => break,
                Ok(Some(ResponseEvent::Head(head))) => {
                    transcript.head(head.framing, response(&head));
                }
                Ok(Some(ResponseEvent::Body(bytes))) => transcript.body(bytes),
                Ok(Some(ResponseEvent::End { keep_alive })) => {
                    transcript.end(Some(keep_alive));
                    awaited.next().into_iter().for_each(|next| parser.begin(next));
                }
                Err(error) => {
                    assert_eq!(parser.bytes_held(), 0, "memory held after an error");
                    assert_eq!(parser.next(&mut input).err(), Some(WireError::AfterError));
                    transcript.error(error);
                    return transcript.steps;
                }
            }
        }
        assert!(input.is_empty(), "bytes left although more are asked for");
        assert!(parser.bytes_held() <= 2 * limits.head_bytes + 256, "too much held");
    }
    transcript.steps.push(Step::Eof(parser.eof()));
    transcript.steps
}

fn response(head: &ResponseHead<'_>) -> Step {
    let common = Common {
        version_minor: head.version_minor,
        headers: owned(head.headers),
        framing: head.framing,
        keep_alive: head.keep_alive,
        bytes: head.bytes,
    };
    Step::Response { status: head.status, common }
}

/// Reads all requests from `pieces`, then lets the client close.
pub fn requests<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: Limits) -> Vec<Step> {
    let mut parser = RequestParser::new(limits);
    let mut transcript = Transcript::default();
    for piece in pieces {
        let mut input = piece;
        loop {
            match parser.next(&mut input) {
                Ok(None) => break,
                Ok(Some(RequestEvent::Head(head))) => {
                    let common = Common {
                        version_minor: head.version_minor,
                        headers: owned(head.headers),
                        framing: head.framing,
                        keep_alive: head.keep_alive,
                        bytes: head.bytes,
                    };
                    let step = Step::Request {
                        start: [head.method, head.target, head.path].map(str::to_owned),
                        query: head.query.map(str::to_owned),
                        expect_continue: head.expect_continue,
                        common,
                    };
                    transcript.head(head.framing, step);
                }
                Ok(Some(RequestEvent::Body(bytes))) => transcript.body(bytes),
                Ok(Some(RequestEvent::End)) => transcript.end(None),
                Err(error) => {
                    assert_eq!(parser.bytes_held(), 0, "memory held after an error");
                    assert_eq!(parser.next(&mut input).err(), Some(WireError::AfterError));
                    transcript.error(error);
                    return transcript.steps;
                }
            }
        }
        assert!(input.is_empty(), "bytes left although more are asked for");
        assert!(parser.bytes_held() <= 2 * limits.head_bytes + 256, "too much held");
    }
    transcript.steps.push(Step::Eof(parser.eof()));
    transcript.steps
}

fn owned(headers: Headers<'_>) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec())).collect()
}

/// `bytes` in pieces of the lengths of `cuts`, used in turn; a length of 0 is an empty piece.
pub fn pieces<'a>(bytes: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    let turns = cuts.iter().copied().chain(std::iter::repeat(1)).map_while(move |cut| {
        let (piece, after) = rest.split_at(cut.min(rest.len()));
        let more = !rest.is_empty();
        rest = after;
        more.then_some(piece)
    });
    turns.fuse()
}
