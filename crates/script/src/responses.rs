//! Responses under way, kept until `response()` can be called with each of them whole.
//!
//! A worker is commonly in the middle of one response at a time however many connections it has, so the
//! buffers are shared: a user has one from head to end, and the next user takes it over.

use wire::ResponseHead;

/// Bytes of unfinished responses that one worker keeps at most.
pub(crate) const KEPT: usize = 256 << 20;
/// What a buffer may keep of its memory between responses.
const IDLE: usize = 256 << 10;
/// The place of a user that has no buffer.
const NONE: u32 = u32::MAX;

/// The received part of a response.
#[derive(Debug, Default)]
pub(crate) struct Response {
    /// Its status.
    pub(crate) status: u16,
    /// Name and value of each header in turn, each followed by a line feed, which neither can hold.
    pub(crate) fields: Vec<u8>,
    /// Its body.
    pub(crate) body: Vec<u8>,
}

/// The responses under way of one worker's users.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// For each user, its place in `buffers`.
    places: Vec<u32>,
    buffers: Vec<Response>,
    free: Vec<u32>,
    kept: usize,
}

impl Responses {
    /// A response to `user` begins; false when more would be kept than may be, and nothing of it is.
    pub(crate) fn begin(&mut self, user: u32, head: &ResponseHead<'_>) -> bool {
        self.forget(user);
        let bytes: usize =
            head.headers.into_iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        if self.kept + bytes > KEPT {
            return false;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Response::default());
            self.buffers.len() as u32 - 1
        });
        let user = user as usize;
        if self.places.len() <= user {
            self.places.resize(user + 1, NONE);
        }
        self.places[user] = place;
        let response = &mut self.buffers[place as usize];
        response.status = head.status;
        for (name, value) in head.headers {
            response.fields.extend_from_slice(name.as_bytes());
            response.fields.push(b'\n');
            response.fields.extend_from_slice(value);
            response.fields.push(b'\n');
        }
        self.kept += bytes;
        true
    }

    /// Its body goes on; false when more would be kept than may be.
    pub(crate) fn extend(&mut self, user: u32, bytes: &[u8]) -> bool {
        let Some(place) = self.place(user) else { return true };
        if self.kept + bytes.len() > KEPT {
            return false;
        }
        self.kept += bytes.len();
        self.buffers[place as usize].body.extend_from_slice(bytes);
        true
    }

    /// The response of `user`, if one has begun.
    pub(crate) fn of(&self, user: u32) -> Option<&Response> {
        self.place(user).map(|place| &self.buffers[place as usize])
    }

    /// Forgets the response of `user`.
    pub(crate) fn forget(&mut self, user: u32) {
        let Some(place) = self.place(user) else { return };
        self.places[user as usize] = NONE;
        self.free.push(place);
        let response = &mut self.buffers[place as usize];
        self.kept -= response.fields.len() + response.body.len();
        response.fields.clear();
        response.body.clear();
        response.body.shrink_to(IDLE);
    }

    fn place(&self, user: u32) -> Option<u32> {
        self.places.get(user as usize).copied().filter(|&place| place != NONE)
    }
}

#[cfg(test)]
mod tests {
    use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

    use super::*;

    fn begin(responses: &mut Responses, user: u32, text: &str) {
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(ResponseTo::Other);
        let mut input = text.as_bytes();
        let Ok(Some(ResponseEvent::Head(head))) = parser.next(&mut input) else { panic!("{text}") };
        assert!(responses.begin(user, &head), "there is room");
    }

    #[test]
    fn responses_of_several_users_are_kept_apart_and_buffers_used_again() {
        let mut responses = Responses::default();
        begin(&mut responses, 7, "HTTP/1.1 201 Created\r\nA: b\r\nContent-Length: 4\r\n\r\n");
        begin(&mut responses, 2, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n");
        assert!(
            responses.extend(7, b"ab") && responses.extend(2, b"x") && responses.extend(7, b"cd")
        );
        let seven = responses.of(7).unwrap();
        assert_eq!((seven.status, &*seven.body), (201, &b"abcd"[..]));
        assert_eq!(seven.fields, b"A\nb\nContent-Length\n4\n");
        assert_eq!(responses.of(2).unwrap().body, b"x");
        responses.forget(7);
        responses.forget(2);
        assert_eq!((responses.of(7).is_none(), responses.kept), (true, 0));
        begin(&mut responses, 3, "HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!((responses.buffers.len(), responses.of(3).unwrap().body.len()), (2, 0));
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let mut responses = Responses::default();
        begin(&mut responses, 0, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
        responses.kept = KEPT - 2;
        assert!(!responses.extend(0, b"abc"));
        assert!(responses.extend(0, b"ab"));
        assert!(responses.extend(5, b"of nobody"));
        let mut parser = ResponseParser::new(Limits::default());
        parser.begin(ResponseTo::Other);
        let mut input = &b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n"[..];
        let Ok(Some(ResponseEvent::Head(head))) = parser.next(&mut input) else { panic!("a head") };
        assert!(!responses.begin(1, &head), "heads count too");
        assert!(responses.of(1).is_none());
    }
}
