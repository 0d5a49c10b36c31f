//! The same request again and again.

use crate::source::{
    Fixed, Next, Part, Payload, Requests, Skipped, Source, Supply, Turn, Wants, WorkerPlace,
    asks_to_close,
};

/// A source of one fixed request.
#[derive(Debug, Clone)]
pub struct Always {
    request: [Fixed; 1],
    head: bool,
    closes: bool,
}

impl Always {
    /// Sends `request`, head and body as they go over the connection. `head` says that its method is
    /// HEAD.
    pub fn new(request: impl Into<Box<[u8]>>, head: bool) -> Self {
        let bytes: Box<[u8]> = request.into();
        let closes = closes(&bytes);
        Self { request: [Fixed { bytes }], head, closes }
    }

    /// Adds the request to `out`; `wants` says how much of its response is shown.
    #[inline]
    pub(crate) fn put(&self, wants: Wants, out: &mut Requests) {
        let Self { head, closes, .. } = *self;
        out.fixed(0, Part { head, closes, wants, ..Part::alone(Payload::Fixed(0)) });
    }
}

/// Whether the head of a request has a field `Connection` with the option `close`.
fn closes(request: &[u8]) -> bool {
    const NAME: &[u8] = b"connection:";
    let lines = request.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.take_while(|line| !line.is_empty()).any(|line| {
        line.split_at_checked(NAME.len())
            .is_some_and(|(name, value)| name.eq_ignore_ascii_case(NAME) && asks_to_close(value))
    })
}

impl Source for Always {
    fn fixed(&self) -> &[Fixed] {
        &self.request
    }

    #[inline]
    fn next(&mut self, _: Turn, out: &mut Requests) -> Next {
        self.put(Wants::Nothing, out);
        Next::Send
    }

    fn skip(&mut self, _: Turn) -> Skipped {
        Skipped::default()
    }
}

impl Supply for Always {
    fn source(&self, _: WorkerPlace) -> Box<dyn Source> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_says_whether_a_request_is_the_last_of_its_connection() {
        for (request, expected) in [
            ("GET / HTTP/1.1\r\nHost: a\r\nconnection: keep-alive, CLOSE\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nConnection:close\r\nHost: a\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nConnection: closed\r\nX-Connection: close\r\n\r\n", false),
            ("POST / HTTP/1.1\r\nContent-Length: 19\r\n\r\nConnection: close\r\n", false),
        ] {
            let mut out = Requests::new();
            Always::new(request.as_bytes(), false).put(Wants::Nothing, &mut out);
            assert_eq!(out.parts()[0].closes, expected, "{request}");
        }
    }

    #[test]
    fn every_turn_brings_the_same_request() {
        let mut source = Always::new(*b"HEAD / HTTP/1.1\r\n\r\n", true);
        let mut out = Requests::new();
        for now in [0, 9] {
            out.clear();
            assert_eq!(source.next(Turn { user: 3, draw: None, now }, &mut out), Next::Send);
            let [part] = out.parts() else { panic!("{out:?}") };
            assert_eq!((part.payload, part.head), (Payload::Fixed(0), true));
        }
        assert_eq!(&*source.fixed()[0].bytes, b"HEAD / HTTP/1.1\r\n\r\n");
    }
}
