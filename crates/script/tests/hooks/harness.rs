//! A script between its first statement and `done`, and responses for it.

use std::net::SocketAddr;

use script::{Printed, Script, ScriptError, Scripted, Session, Site, Watchdog};
use traffic::{Completed, Next, Payload, Requests, Source, Turn};
use wire::{Limits, ResponseEvent, ResponseParser, ResponseTo};

/// A script that has begun.
pub struct Begun {
    pub session: Session,
    pub sources: Vec<Scripted>,
    _watchdog: Watchdog,
}

pub fn site() -> Site {
    Site {
        scheme: "http".into(),
        host: "127.0.0.1".into(),
        port: Some(8080),
        path: "/start?a=b".into(),
        method: "GET".into(),
        headers: vec![("X-Flag".into(), "1".into())],
        body: None,
        url: "http://127.0.0.1:8080/start?a=b".into(),
        args: vec!["one".into(), "two".into()],
    }
}

pub fn try_begin(text: &str, workers: u32) -> Result<Begun, ScriptError> {
    let watchdog = Watchdog::start(|overrun| eprintln!("{overrun}")).unwrap();
    let script = Script::of("x.lua", text.as_bytes(), site(), Printed::ToStdout);
    let address: SocketAddr = "127.0.0.1:8080".parse().unwrap();
    let (session, sources) = script.begin(workers, &[address], &watchdog)?;
    Ok(Begun { session, sources, _watchdog: watchdog })
}

pub fn begin(text: &str, workers: u32) -> Begun {
    try_begin(text, workers).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What a user's turn brings: the requests, each as text, or what came instead.
pub fn turn(source: &mut Scripted, user: u32, now: u64) -> Result<Vec<String>, Next> {
    let mut out = Requests::new();
    match source.next(Turn { user, draw: None, now }, &mut out) {
        Next::Send => Ok(texts(source, &out)),
        other => Err(other),
    }
}

/// One request of a turn that brings one.
pub fn request(source: &mut Scripted) -> String {
    let all = turn(source, 0, 0).unwrap();
    let [one] = &all[..] else { panic!("{all:?}") };
    one.clone()
}

fn texts(source: &Scripted, out: &Requests) -> Vec<String> {
    let mut start = 0;
    let bytes = |payload: &Payload| match *payload {
        Payload::Fixed(index) => source.fixed()[index as usize].bytes.to_vec(),
        Payload::Written { end } => {
            out.bytes[std::mem::replace(&mut start, end as usize)..end as usize].to_vec()
        }
    };
    let all = out.parts().iter().map(|part| &part.payload).map(bytes);
    all.map(|bytes| String::from_utf8(bytes).unwrap()).collect()
}

/// Passes a source the response `text`, in two pieces.
pub fn respond(source: &mut Scripted, user: u32, text: &str) -> Completed {
    let mut parser = ResponseParser::new(Limits::default());
    parser.begin(ResponseTo::Other);
    let (first, rest) = text.split_at(text.len() - 1);
    for mut piece in [first.as_bytes(), rest.as_bytes()] {
        while let Some(event) = parser.next(&mut piece).unwrap() {
            match event {
                ResponseEvent::Head(head) => source.head(user, &head),
                ResponseEvent::Body(bytes) => source.body(user, bytes),
                ResponseEvent::End { .. } => return source.completed(user, true, 0),
            }
        }
    }
    panic!("the response has no end: {text:?}")
}

/// The parts of a request: its first line, its header lines sorted, its body.
pub fn parts(request: &str) -> (String, Vec<String>, String) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n").map(str::to_owned);
    let first = lines.next().unwrap();
    let mut headers: Vec<String> = lines.collect();
    headers.sort();
    (first, headers, body.to_owned())
}
