//! The same request again and again.

use crate::source::{
    Fixed, Next, Part, Payload, Requests, Skipped, Source, Supply, Turn, Wants, WorkerPlace,
};

/// A source of one fixed request.
#[derive(Debug, Clone)]
pub struct Always {
    request: [Fixed; 1],
    head: bool,
}

impl Always {
    /// Sends `request`, head and body as they go over the connection. `head` says that its method is
    /// HEAD.
    pub fn new(request: impl Into<Box<[u8]>>, head: bool) -> Self {
        Self { request: [Fixed { bytes: request.into() }], head }
    }

    /// Adds the request to `out`; `wants` says how much of its response is shown.
    #[inline]
    pub(crate) fn put(&self, wants: Wants, out: &mut Requests) {
        out.fixed(0, Part { head: self.head, wants, ..Part::alone(Payload::Fixed(0)) });
    }
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
