//! One fixed request, with the cookies that responses set.
//!
//! Owns a jar for each user. What is sent while a jar is empty is the fixed request itself, and what is
//! checked of responses is the inner source's.

use std::fmt;
use std::sync::Arc;

use model::{ErrorClass, Nanos};
use wire::ResponseHead;

use crate::play::Jar;
use crate::source::{
    Completed, Fixed, Next, Requests, Session, Skipped, Source, Supply, Turn, Wants, WorkerPlace,
};

/// Where a request's head ends.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// What makes sources that keep cookies.
#[derive(Debug, Clone)]
pub struct KeepsCookies {
    /// Makes sources of one fixed request.
    pub supply: Arc<dyn Supply>,
    /// Nanoseconds since 1970 at the run's start, by which cookies expire.
    pub unix_ns: i64,
}

impl Supply for KeepsCookies {
    fn source(&self, place: WorkerPlace) -> Box<dyn Source> {
        let inner = self.supply.source(place);
        let head = inner.fixed().first().map_or(0, |request| {
            memchr::memmem::find(&request.bytes, END_OF_HEAD).map_or(0, |at| at + 2)
        });
        Box::new(Keeping { inner, head, jars: Vec::new(), unix_ns: self.unix_ns, now: 0 })
    }
}

/// A source that keeps cookies.
struct Keeping {
    inner: Box<dyn Source>,
    /// Bytes of the request before the blank line.
    head: usize,
    /// By user.
    jars: Vec<Jar>,
    unix_ns: i64,
    /// The last turn's.
    now: Nanos,
}

impl fmt::Debug for Keeping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keeping {{ {:?}, {} jars }}", self.inner, self.jars.len())
    }
}

impl Source for Keeping {
    fn fixed(&self) -> &[Fixed] {
        self.inner.fixed()
    }

    fn next(&mut self, turn: Turn, out: &mut Requests) -> Next {
        self.now = turn.now;
        let next = self.inner.next(turn, out);
        let Some(mut part) = out.parts().first().copied() else { return next };
        part.wants = part.wants.max(Wants::Head);
        out.clear();
        let jar = self.jars.get(turn.user as usize).filter(|jar| !jar.is_empty());
        match (jar, self.inner.fixed().first()) {
            (Some(jar), Some(Fixed { bytes })) => {
                out.bytes.extend_from_slice(&bytes[..self.head]);
                jar.write(&mut out.bytes);
                out.bytes.extend_from_slice(&bytes[self.head..]);
                out.written(part);
            }
            _ => out.fixed(0, part),
        }
        next
    }

    fn skip(&mut self, turn: Turn) -> Skipped {
        self.inner.skip(turn)
    }

    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        let unix_ns = self.unix_ns.saturating_add_unsigned(self.now);
        for field in head.headers.all("set-cookie") {
            let index = user as usize;
            if index >= self.jars.len() {
                self.jars.resize_with(index + 1, Jar::default);
            }
            self.jars[index].take(field, unix_ns);
        }
        self.inner.head(user, head);
    }

    fn body(&mut self, user: u32, bytes: &[u8]) {
        self.inner.body(user, bytes);
    }

    fn completed(&mut self, user: u32, success: bool, now: Nanos) -> Completed {
        self.inner.completed(user, success, now)
    }

    fn lost(&mut self, user: u32, class: ErrorClass) -> Option<Session> {
        self.inner.lost(user, class)
    }

    fn complaint(&self, user: u32) -> String {
        self.inner.complaint(user)
    }
}

#[cfg(test)]
mod tests {
    use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

    use super::*;
    use crate::{Always, BodyLike, Expect};

    const REQUEST: &[u8] = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\na\r\n\r";

    fn source(supply: Arc<dyn Supply>) -> Box<dyn Source> {
        let supply = KeepsCookies { supply, unix_ns: 1_700_000_000_000_000_000 };
        supply.source(WorkerPlace { worker: 0, workers: 1 })
    }

    fn sent(source: &mut dyn Source, user: u32) -> (Wants, String) {
        let mut out = Requests::new();
        assert_eq!(source.next(Turn { user, draw: None, now: 0 }, &mut out), Next::Send);
        let [part] = out.parts() else { panic!("{out:?}") };
        let bytes = if out.bytes.is_empty() { &*source.fixed()[0].bytes } else { &out.bytes };
        (part.wants, String::from_utf8(bytes.to_vec()).unwrap())
    }

    fn answered(source: &mut dyn Source, user: u32, fields: &str) -> bool {
        let response = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok");
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(ResponseTo::Other);
        let mut input = response.as_bytes();
        while let Some(event) = parser.next(&mut input).unwrap() {
            match event {
                ResponseEvent::Head(head) => source.head(user, &head),
                ResponseEvent::Body(bytes) => source.body(user, bytes),
                ResponseEvent::End { .. } => break,
            }
        }
        source.completed(user, true, 0).failed_check.is_none()
    }

    #[test]
    fn each_user_sends_the_cookies_that_it_was_given() {
        let mut source = source(Arc::new(Always::new(REQUEST, false)));
        let plain = String::from_utf8(REQUEST.to_vec()).unwrap();
        assert_eq!(sent(&mut *source, 3), (Wants::Head, plain.clone()));
        answered(&mut *source, 3, "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n");
        let with = |cookies: &str| plain.replacen("\r\n\r\n", cookies, 1);
        let first = with("\r\nCookie: a=1; b=2\r\n\r\n");
        assert_eq!(sent(&mut *source, 3).1, first);
        assert_eq!(sent(&mut *source, 2).1, plain);
        // What is sent to a user whose connection broke is kept.
        source.lost(3, ErrorClass::Read);
        answered(&mut *source, 3, "Set-Cookie: a=; Max-Age=0\r\n");
        assert_eq!(sent(&mut *source, 3).1, with("\r\nCookie: b=2\r\n\r\n"));
        answered(&mut *source, 3, "Set-Cookie: b=; Max-Age=0\r\n");
        assert_eq!(sent(&mut *source, 3).1, plain);
    }

    #[test]
    fn bodies_are_checked_all_the_same() {
        let always = Always::new(REQUEST, false);
        for (like, holds) in [("ok", true), ("no", false)] {
            let like = BodyLike::parse(like).unwrap();
            let mut source = source(Arc::new(Expect { always: always.clone(), like }));
            assert_eq!(sent(&mut *source, 0).0, Wants::Whole);
            assert_eq!(answered(&mut *source, 0, "Set-Cookie: a=1\r\n"), holds);
            assert!(sent(&mut *source, 0).1.contains("Cookie: a=1\r\n"));
            assert_eq!(answered(&mut *source, 0, ""), holds);
        }
    }
}
