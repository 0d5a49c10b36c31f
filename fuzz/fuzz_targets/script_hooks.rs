//! The boundary to Lua: what `request()` returns and what `response()` is shown are any bytes. Only
//! whole requests are sent, and nothing panics.

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use script::{Printed, Script, Scripted, Session, Site, Watchdog};
use traffic::{Next, Payload, Requests, Source, Turn};
use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

/// Sends what the last response held.
const TEXT: &str = "local last = 'GET / HTTP/1.1\\r\\n\\r\\n'\n\
    function request() return last end\n\
    function response(status, headers, body)\n\
    for name, value in pairs(headers) do assert(#name > 0 and value) end\n\
    last = body end\n";

struct Begun {
    source: Scripted,
    _session: Session,
    _watchdog: Watchdog,
}

fn begin() -> Begun {
    let watchdog = Watchdog::start(|_| {}).expect("a watch");
    let site = Site {
        scheme: "http".into(),
        host: "127.0.0.1".into(),
        port: Some(8080),
        path: "/".into(),
        method: "GET".into(),
        headers: Vec::new(),
        body: None,
        url: "http://127.0.0.1:8080/".into(),
        args: Vec::new(),
    };
    let script = Script::of("x.lua", TEXT.as_bytes(), site, Printed::ToStderr);
    let address = "127.0.0.1:8080".parse().expect("an address");
    let (session, mut sources) = script.begin(1, &[address], &watchdog).expect("a good script");
    Begun { source: sources.remove(0), _session: session, _watchdog: watchdog }
}

thread_local! {
    static BEGUN: RefCell<Option<Begun>> = const { RefCell::new(None) };
}

fuzz_target!(|data: &[u8]| {
    BEGUN.with(|begun| {
        let mut begun = begun.borrow_mut();
        let source = &mut begun.get_or_insert_with(begin).source;
        let went_on = play(source, data);
        // A script that failed has ended: the next begins anew.
        if !went_on {
            *begun = None;
        }
    });
});

/// Shows the bytes as a response's body, and takes the request that they make; whether it was one.
fn play(source: &mut Scripted, data: &[u8]) -> bool {
    let mut out = Requests::new();
    let turn = Turn { user: 0, draw: None, now: 0 };
    if source.next(turn, &mut out) != Next::Send {
        return false;
    }
    let text = format!("HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: {}\r\n\r\n", data.len() + 1);
    let mut parser = ResponseParser::new(Limits::default());
    parser.begin(ResponseTo::Other);
    let mut head = text.as_bytes();
    let Ok(Some(ResponseEvent::Head(read))) = parser.next(&mut head) else { return false };
    source.head(0, &read);
    source.body(0, data);
    if source.completed(0, true, 0).halt.is_some() {
        return false;
    }
    out.clear();
    let next = source.next(turn, &mut out);
    let mut from = 0;
    for part in out.parts() {
        let Payload::Written { end } = part.payload else { continue };
        assert!(from < end && end as usize <= out.bytes.len());
        from = end;
    }
    for _ in out.parts() {
        source.lost(0, model::ErrorClass::Read);
    }
    next == Next::Send
}
