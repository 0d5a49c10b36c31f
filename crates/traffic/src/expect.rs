//! The same request again and again, whose responses must match an expectation.

use std::fmt;

use model::{ErrorClass, Nanos};
use wire::ResponseHead;

use crate::always::Always;
use crate::body_budget::{MOST_BODY, MOST_HELD, drop_buffer, make_room};
use crate::check::{Check, Wanted};
use crate::compile::regex;
use crate::content_coding::{Coding, Decoder, Undecoded};
use crate::source::{
    Completed, Fixed, Next, Requests, Skipped, Source, Supply, Turn, Wants, WorkerPlace,
};
use crate::value::Texts;

/// A body's buffer that has grown beyond this is given back.
const KEPT: usize = 64 << 10;
/// Bytes of a failed response's body that are shown at most.
const SHOWN: usize = 4096;

/// What a body must be like: a text that it holds, or a regular expression that it matches.
#[derive(Debug, Clone)]
pub struct BodyLike(Check);

impl BodyLike {
    /// Reads `TEXT`, or `/REGEX/`.
    ///
    /// # Errors
    /// A sentence, when it is empty, or no regular expression.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pattern = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        match pattern {
            _ if text.is_empty() => Err("every body holds an empty text".to_owned()),
            None => Ok(Self(Check::Contains(Wanted::Text(text.as_bytes().into())))),
            Some("") => Err("every body matches an empty expression".to_owned()),
            Some(pattern) => match regex(pattern) {
                Ok(regex) => Ok(Self(Check::Regex(regex))),
                Err(why) => Err(format!("`{pattern}` is not a regular expression: {why}")),
            },
        }
    }
}

/// A source of one fixed request whose responses are checked.
#[derive(Debug)]
pub struct Expecting {
    always: Always,
    like: BodyLike,
    users: Vec<Kept>,
    /// Memory of all kept bodies.
    held: usize,
    computed: Texts,
    scratch: Vec<u8>,
    decoder: Decoder,
    /// The last response that failed.
    failure: Option<String>,
}

/// The kept part of the response that a user is receiving.
#[derive(Debug, Default)]
struct Kept {
    status: u16,
    coding: Coding,
    body: Vec<u8>,
    bytes: usize,
    /// Nothing more of it is kept: the memory budget is used up by other users' responses.
    crowded: bool,
}

impl Expecting {
    /// Sends what `always` sends and checks that responses are like `like`.
    pub fn new(always: Always, like: BodyLike) -> Self {
        Self {
            always,
            like,
            users: Vec::new(),
            held: 0,
            computed: Texts::default(),
            scratch: Vec::new(),
            decoder: Decoder::default(),
            failure: None,
        }
    }

    fn kept(&mut self, user: u32) -> &mut Kept {
        let user = user as usize;
        if user >= self.users.len() {
            self.users.resize_with(user + 1, Kept::default);
        }
        &mut self.users[user]
    }

    fn clear(&mut self, user: u32) {
        let kept = self.kept(user);
        (kept.bytes, kept.crowded) = (0, false);
        kept.body.clear();
        if kept.body.capacity() > KEPT {
            let body = std::mem::take(&mut kept.body);
            drop_buffer(body, &mut self.held);
        }
    }

    /// Whether the kept response matches; if not, why.
    fn judge(&mut self, user: u32) -> Result<bool, Undecoded> {
        let Self { users, like, computed, scratch, decoder, .. } = self;
        let Some(kept) = users.get(user as usize) else { return Ok(false) };
        if kept.bytes > kept.body.len() {
            return Err(Undecoded::TooLong);
        }
        let body = decoder.decode(kept.coding, &kept.body, MOST_BODY)?;
        Ok(like.0.holds_in_body(body, computed, scratch))
    }

    #[cold]
    fn remember(&mut self, user: u32, why: Option<Undecoded>) {
        let Kept { status, body, bytes, crowded, .. } = self.kept(user);
        let mut text = format!("status {status}, {bytes} bytes");
        match why {
            Some(_) if *crowded => {
                let most = MOST_HELD >> 20;
                text += &format!(
                    ", little of it kept: the unfinished responses of this worker hold {most} \
                     MiB, the maximum for checks; use fewer connections"
                );
            }
            Some(why) => text += &format!(", and the body {}", why.words()),
            None => {
                let shown = &body[..body.len().min(SHOWN)];
                text += &format!(": {}", String::from_utf8_lossy(shown));
            }
        }
        self.failure = Some(text);
    }
}

impl Source for Expecting {
    fn fixed(&self) -> &[Fixed] {
        self.always.fixed()
    }

    #[inline]
    fn next(&mut self, _: Turn, out: &mut Requests) -> Next {
        self.always.put(Wants::Whole, out);
        Next::Send
    }

    fn skip(&mut self, turn: Turn) -> Skipped {
        self.always.skip(turn)
    }

    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        let kept = self.kept(user);
        (kept.status, kept.coding) = (head.status, Coding::of(head));
    }

    fn body(&mut self, user: u32, bytes: &[u8]) {
        let mut held = self.held;
        let kept = self.kept(user);
        let room = &bytes[..bytes.len().min(MOST_BODY - kept.body.len())];
        kept.crowded |= !make_room(&mut kept.body, room.len(), &mut Vec::new(), &mut held);
        if !kept.crowded {
            kept.body.extend_from_slice(room);
        }
        kept.bytes += bytes.len();
        self.held = held;
    }

    fn completed(&mut self, user: u32, success: bool, _: Nanos) -> Completed {
        let failed = match success.then(|| self.judge(user)) {
            None | Some(Ok(true)) => None,
            Some(Ok(false)) => Some(None),
            Some(Err(why)) => Some(Some(why)),
        };
        if let Some(why) = failed {
            self.remember(user, why);
        }
        self.clear(user);
        let unchecked = failed.flatten().is_some_and(Undecoded::is_own);
        Completed { failed_check: failed.map(|_| 0), unchecked, ..Completed::default() }
    }

    fn lost(&mut self, user: u32, _: ErrorClass) -> Option<crate::source::Session> {
        self.clear(user);
        None
    }

    fn complaint(&self, _: u32) -> String {
        self.failure.clone().unwrap_or_default()
    }
}

/// What makes [`Expecting`] sources.
#[derive(Debug, Clone)]
pub struct Expect {
    /// What is sent.
    pub always: Always,
    /// What responses must be like.
    pub like: BodyLike,
}

impl Supply for Expect {
    fn source(&self, _: WorkerPlace) -> Box<dyn Source> {
        Box::new(Expecting::new(self.always.clone(), self.like.clone()))
    }
}

impl fmt::Display for BodyLike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Check::Regex(regex) => write!(f, "/{}/", regex.as_str()),
            Check::Contains(Wanted::Text(text)) => f.write_str(&String::from_utf8_lossy(text)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

    use super::*;

    fn failed(source: &mut Expecting, response: &[u8]) -> bool {
        let mut out = Requests::new();
        source.next(Turn { user: 2, draw: None, now: 0 }, &mut out);
        assert_eq!(out.parts()[0].wants, Wants::Whole);
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(ResponseTo::Other);
        let mut input = response;
        while let Some(event) = parser.next(&mut input).unwrap() {
            match event {
                ResponseEvent::Head(head) => source.head(2, &head),
                ResponseEvent::Body(bytes) => source.body(2, bytes),
                ResponseEvent::End { .. } => break,
            }
        }
        source.completed(2, true, 0).failed_check.is_some()
    }

    fn response(coding: &str, body: &[u8]) -> Vec<u8> {
        let head = format!("HTTP/1.1 200 OK\r\n{coding}Content-Length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    }

    #[test]
    fn bodies_of_all_users_share_one_budget() {
        let like = BodyLike::parse("x").unwrap();
        let mut source = Expecting::new(Always::new(*b"GET / HTTP/1.1\r\n\r\n", false), like);
        let part = vec![b'x'; MOST_BODY];
        let users = (MOST_HELD / MOST_BODY) as u32 + 2;
        (0..users).for_each(|user| source.body(user, &part));
        assert_eq!(source.held, MOST_HELD);
        assert!(source.completed(0, true, 0).failed_check.is_none());
        let beyond = source.completed(users - 1, true, 0);
        assert!(beyond.failed_check.is_some() && beyond.unchecked, "{beyond:?}");
        assert!(source.complaint(users - 1).contains("256 MiB"), "{}", source.complaint(0));
        (1..users).for_each(|user| _ = source.lost(user, ErrorClass::Timeout));
        assert_eq!(source.held, 0);
    }

    #[test]
    fn a_text_is_held_and_an_expression_matched() {
        let request = || Always::new(*b"GET / HTTP/1.1\r\n\r\n", false);
        for (like, body, fails) in [
            ("\"status\":\"ok\"", &b"{\"status\":\"ok\"}"[..], false),
            ("\"status\":\"ok\"", b"Database connection failed", true),
            ("/^\\{.*ok/", b"{\"status\":\"ok\"}", false),
            ("/^\\{.*ok/", b"ok", true),
            ("/", b"a/b", false),
        ] {
            let mut source = Expecting::new(request(), BodyLike::parse(like).unwrap());
            assert_eq!(failed(&mut source, &response("", body)), fails, "{like}");
            assert_eq!(failed(&mut source, &response("", body)), fails, "{like} again");
        }
        let mut source = Expecting::new(request(), BodyLike::parse("ok").unwrap());
        assert!(failed(&mut source, &response("Content-Encoding: br\r\n", b"ok")));
        assert!(source.complaint(2).contains("only gzip and deflate"), "{}", source.complaint(2));
    }

    #[test]
    fn what_cannot_be_expected_is_refused() {
        for (text, needle) in [
            ("", "empty"),
            ("//", "empty"),
            (
                "/(/",
                "not a regular \
            expression",
            ),
        ] {
            let error = BodyLike::parse(text).unwrap_err();
            assert!(error.contains(needle), "{text}: {error}");
        }
        assert_eq!(BodyLike::parse("/a+/").unwrap().to_string(), "/a+/");
        assert_eq!(BodyLike::parse("a/b").unwrap().to_string(), "a/b");
    }
}
