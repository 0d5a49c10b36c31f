//! What becomes of a request's head, without a connection: for tests that look for heads which two readers understand
//! differently.

use wire::{Limits, RequestEvent, RequestParser};

use super::begin::{LookedUp, Room, check};
use super::request::{self, Forward};
use crate::keys::Owner;
use crate::policy::{HeaderRules, KeySource, Route};

/// The head that goes upstream for the first head in `bytes`, with the usual places for keys and no rules of a route.
/// `None` where it is refused, or not complete.
pub fn rewritten(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut parser = RequestParser::new(Limits::default());
    let mut input = bytes;
    let Ok(Some(RequestEvent::Head(head))) = parser.next(&mut input) else { return None };
    let source = KeySource::usual();
    let mut room = Room::default();
    let looked_up = LookedUp::of(&head.headers, &source);
    let checked = check(&head, &looked_up, &source, &mut room).ok()?;
    if checked.max_forwards == Some(0) {
        return None;
    }
    let host = if checked.target.authority.is_empty() { b"api" } else { checked.target.authority };
    let (mut out, route) = (Vec::new(), Route::to(0));
    let forward = Forward {
        head: &head,
        target: &checked.target,
        connection: &checked.connection,
        host,
        rewrite: None,
        rules: &HeaderRules::default(),
        key_parameter: source.query.as_deref(),
        key_header: source.header.as_deref(),
        drop_authorization: checked.key.by_bearer,
        key_id: 0,
        owner: Owner::default(),
        client: "192.0.2.1",
        tls: false,
        via: "plimsoll",
        upgrade: checked.upgrade.filter(|protocol| route.tunnels(head.method, protocol)),
        expects_continue: head.expect_continue,
        max_forwards: checked.max_forwards,
    };
    request::write_head(&mut out, &forward);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_written_alike_again() {
        let bytes = b"GET /x?a&user_key=k&b HTTP/1.1\r\nHost: A\r\nX-API-Key: k\r\nConnection: x-y\r\nX-Y: 1\r\n\
                      Authorization: Bearer t\r\nVia: 1.0 p\r\nCookie: c\r\nReferer: http://A/?user_key=k&p\r\n\r\n";
        let once = rewritten(bytes).unwrap();
        assert_eq!(
            String::from_utf8(once).unwrap(),
            "GET /x?a&b HTTP/1.1\r\nHost: A\r\nAuthorization: Bearer t\r\nVia: 1.0 p\r\nCookie: c\r\n\
             Referer: http://A/?p\r\nVia: 1.1 plimsoll\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: http\r\n\
             X-Forwarded-Host: A\r\n\r\n"
        );
        assert_eq!(rewritten(b"GET /.. HTTP/1.1\r\nHost: a\r\n\r\n"), None);
        assert_eq!(rewritten(b"GET / HTTP/1.1\r\nHost: a\r\n"), None);
    }
}
