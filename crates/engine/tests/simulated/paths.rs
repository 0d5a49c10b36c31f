//! A server that responds by path, and the sources that send to it.
//!
//! Requests are heads without a body; the server finds their ends by the empty line, and shares no
//! code with the worker under test.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use model::{EndpointPlan, ErrorClass, FlowPlan, Mix, Nanos};
use net::{Close, ConnId, Event, Handler, Net as _, Next as Wake};
use testkit::sim::{SimNet, World};
use traffic::{
    Completed, Fixed, Halt, Next, Part, Requests, Session, Skipped, Source, Supply, Turn, Wants,
    WorkerPlace,
};
use wire::ResponseHead;

use crate::harness::{Served, address};
use crate::server::Reply;

/// A request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRequest {
    pub path: String,
    /// Which connection, in order of acceptance.
    pub conn: u32,
    /// Since the world's beginning.
    pub at: Nanos,
}

pub type Log = Rc<RefCell<Vec<PathRequest>>>;

struct ByPath<F> {
    reply: F,
    begin: u64,
    conns: Vec<(ConnId, Vec<u8>)>,
    ahead: BinaryHeap<Reverse<(u64, u64, u32)>>,
    replies: Vec<Reply>,
    log: Log,
}

/// A server that responds as `reply` says (`None`: never), and what it will have received.
pub fn by_path(
    world: &World,
    reply: impl FnMut(&PathRequest) -> Option<Reply> + 'static,
) -> (Vec<Served>, Log) {
    let mut net = world.host();
    net.listen(address());
    let log = Log::default();
    let handler = ByPath {
        reply,
        begin: world.now(),
        conns: Vec::new(),
        ahead: BinaryHeap::new(),
        replies: Vec::new(),
        log: log.clone(),
    };
    (vec![(net, Box::new(handler))], log)
}

impl<F: FnMut(&PathRequest) -> Option<Reply>> ByPath<F> {
    fn received(&mut self, token: u32, head: &str, now: u64) {
        let path = head.split(' ').nth(1).expect("a request line").to_owned();
        let request = PathRequest { path, conn: token, at: now - self.begin };
        if let Some(reply) = (self.reply)(&request) {
            let index = self.replies.len() as u64;
            self.ahead.push(Reverse((now + reply.after, index, token)));
            self.replies.push(reply);
        }
        self.log.borrow_mut().push(request);
    }
}

impl<F: FnMut(&PathRequest) -> Option<Reply>> Handler<SimNet> for ByPath<F> {
    fn accepted(&mut self, _: &mut SimNet, conn: ConnId) -> Option<u32> {
        self.conns.push((conn, Vec::new()));
        Some(self.conns.len() as u32 - 1)
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        let (conn, held) = &mut self.conns[token as usize];
        match event {
            Event::Received(bytes) => {
                held.extend_from_slice(bytes);
                let text = String::from_utf8(std::mem::take(held)).expect("text");
                let (heads, rest) = text.rsplit_once("\r\n\r\n").unwrap_or(("", &text));
                *held = rest.as_bytes().to_vec();
                for head in heads.split("\r\n\r\n").filter(|head| !head.is_empty()) {
                    self.received(token, head, net.now());
                }
            }
            Event::Eof => net.close(*conn, Close::Now),
            Event::Connected | Event::Drained | Event::Skipped(_) | Event::Failed(_) => {}
        }
    }

    fn tick(&mut self, net: &mut SimNet) -> Wake {
        while let Some(&Reverse((at, index, token))) = self.ahead.peek() {
            if at > net.now() {
                return Wake::Wait(at);
            }
            self.ahead.pop();
            let reply = std::mem::take(&mut self.replies[index as usize]);
            let (conn, _) = self.conns[token as usize];
            net.send(conn, &reply.bytes);
            if let Some(how) = reply.end {
                net.close(conn, how);
            }
        }
        Wake::Wait(u64::MAX)
    }
}

pub fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: sim\r\n\r\n")
}

/// A call to a source, with its arguments or its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceCall {
    /// A turn, with how many requests it brought.
    Turn {
        user: u32,
        drawn: bool,
        put: usize,
        at: Nanos,
    },
    Skipped {
        user: u32,
        drawn: bool,
    },
    Head {
        user: u32,
        status: u16,
    },
    Body {
        user: u32,
        text: String,
    },
    Completed {
        user: u32,
        success: bool,
    },
    Lost {
        user: u32,
        class: ErrorClass,
    },
}

pub type Calls = Arc<Mutex<Vec<SourceCall>>>;

/// What users do: sessions of steps, one after another.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Paths of a session's steps; requests of one step are put together.
    pub steps: Vec<Vec<&'static str>>,
    /// Sent from `Source::fixed`, not written, where true for the path's last letter `f`.
    pub fixed: bool,
    /// Pause before every step but the first.
    pub think: Nanos,
    /// Pause before the first one.
    pub delay: Nanos,
    pub wants: Wants,
    /// Turns after which the source stops.
    pub stop_after: Option<usize>,
    /// Turns after which the source halts.
    pub halt_after: Option<usize>,
    /// A failed response ends the session, as does one without `ok` in its body when it is shown.
    pub checked: bool,
    pub calls: Calls,
}

impl Script {
    /// Sessions of single requests.
    pub fn of(steps: &[&'static str]) -> Self {
        Self { steps: steps.iter().map(|step| vec![*step]).collect(), ..Self::default() }
    }

    pub fn source_calls(&self) -> Vec<SourceCall> {
        self.calls.lock().expect("no panic").clone()
    }

    fn endpoints(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.steps.iter().flatten().copied()
    }

    /// Endpoints in the order of the steps.
    pub fn mix(&self) -> Mix {
        let endpoint = |path: &str| EndpointPlan {
            name: format!("GET {path}"),
            method: "GET".into(),
            path: path.into(),
            ..EndpointPlan::default()
        };
        let steps = (0..self.endpoints().count() as u32).collect();
        let flow = FlowPlan { name: "visit".into(), steps, ..FlowPlan::default() };
        let flows = if self.checked { vec![flow] } else { Vec::new() };
        Mix { endpoints: self.endpoints().map(endpoint).collect(), flows }
    }
}

impl Supply for Script {
    fn source(&self, _: WorkerPlace) -> Box<dyn Source> {
        let bytes = |path: &str| Fixed { bytes: request(path).into_bytes().into() };
        Box::new(Player {
            fixed: if self.fixed { self.endpoints().map(bytes).collect() } else { Vec::new() },
            script: self.clone(),
            users: Vec::new(),
            turns: 0,
        })
    }
}

#[derive(Debug)]
struct Player {
    script: Script,
    fixed: Vec<Fixed>,
    users: Vec<User>,
    turns: usize,
}

#[derive(Debug, Clone, Default)]
struct User {
    /// The step to come.
    step: usize,
    /// Requests of the step that are under way.
    open: usize,
    body: String,
    until: Option<Nanos>,
}

impl Player {
    fn user(&mut self, user: u32) -> &mut User {
        let index = user as usize;
        if self.users.len() <= index {
            self.users.resize(index + 1, User::default());
        }
        &mut self.users[index]
    }

    fn record(&self, call: SourceCall) {
        self.script.calls.lock().expect("no panic").push(call);
    }

    fn pause(&mut self, turn: Turn) -> Option<Nanos> {
        let (think, delay) = (self.script.think, self.script.delay);
        let user = self.user(turn.user);
        let pause = if user.step == 0 { delay } else { think };
        if pause == 0 {
            return None;
        }
        let until = *user.until.get_or_insert(turn.now + pause);
        if turn.now < until {
            return Some(until);
        }
        user.until = None;
        None
    }

    fn put(&mut self, turn: Turn, out: &mut Requests) -> usize {
        let step = self.user(turn.user).step;
        let last = self.script.steps.len() - 1;
        let before: usize = self.script.steps[..step].iter().map(Vec::len).sum();
        let paths = self.script.steps[step].clone();
        for (index, path) in paths.iter().enumerate() {
            let endpoint = (before + index) as u32;
            let part = Part {
                endpoint,
                wants: self.script.wants,
                opens: step == 0,
                goes_on: step < last,
                ..Part::alone(traffic::Payload::Fixed(endpoint))
            };
            if self.script.fixed && path.ends_with('f') {
                out.fixed(endpoint, part);
            } else {
                out.bytes.extend_from_slice(request(path).as_bytes());
                out.written(part);
            }
        }
        let user = self.user(turn.user);
        user.step = if step == last { 0 } else { step + 1 };
        user.open = paths.len();
        paths.len()
    }
}

impl Source for Player {
    fn fixed(&self) -> &[Fixed] {
        &self.fixed
    }

    fn burst(&self) -> u16 {
        self.script.steps.iter().map(Vec::len).max().unwrap_or(1) as u16
    }

    fn next(&mut self, turn: Turn, out: &mut Requests) -> Next {
        assert_eq!((out.bytes.len(), out.parts().len()), (0, 0), "an empty buffer");
        let drawn = turn.draw.is_some();
        let begins = self.user(turn.user).step == 0;
        // In an open loop an arrival begins a session, and nothing else does.
        assert!(!drawn || begins, "an arrival for a user in the middle of a session: {turn:?}");
        if self.script.stop_after.is_some_and(|turns| self.turns >= turns) {
            return Next::Stop;
        }
        if self.script.halt_after.is_some_and(|turns| self.turns >= turns) {
            return Next::Halt(Halt("enough: x.csv is used up".into()));
        }
        if let Some(until) = self.pause(turn) {
            self.record(SourceCall::Turn { user: turn.user, drawn, put: 0, at: turn.now });
            return Next::At(until);
        }
        self.turns += 1;
        let put = self.put(turn, out);
        self.record(SourceCall::Turn { user: turn.user, drawn, put, at: turn.now });
        Next::Send
    }

    fn skip(&mut self, turn: Turn) -> Skipped {
        self.record(SourceCall::Skipped { user: turn.user, drawn: turn.draw.is_some() });
        if turn.draw.is_some() {
            return Skipped { endpoint: 0, session: Some(Session { flow: 0, failed_at: Some(0) }) };
        }
        let at = std::mem::take(self.user(turn.user)).step;
        let session = Session { flow: 0, failed_at: Some(at as u16) };
        Skipped { endpoint: at as u32, session: Some(session) }
    }

    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        self.record(SourceCall::Head { user, status: head.status });
        self.user(user).body.clear();
    }

    fn body(&mut self, user: u32, bytes: &[u8]) {
        let text = str::from_utf8(bytes).expect("text");
        self.record(SourceCall::Body { user, text: text.into() });
        self.user(user).body.push_str(text);
    }

    fn completed(&mut self, user: u32, success: bool, _: Nanos) -> Completed {
        self.record(SourceCall::Completed { user, success });
        let whole = self.script.wants == Wants::Whole;
        let checked = self.script.checked;
        let last = self.script.steps.len() - 1;
        let state = self.user(user);
        state.open -= 1;
        let at = if state.step == 0 { last } else { state.step - 1 };
        let wrong = checked && whole && !state.body.contains("ok");
        let failed = checked && (!success || wrong);
        let ended = failed || state.step == 0 && state.open == 0;
        let failed_at = failed.then_some(at as u16);
        if failed {
            *state = User { body: std::mem::take(&mut state.body), ..User::default() };
        }
        Completed {
            failed_check: (success && wrong).then_some(0),
            session: ended.then_some(Session { flow: 0, failed_at }),
            ..Completed::default()
        }
    }

    fn lost(&mut self, user: u32, class: ErrorClass) -> Option<Session> {
        self.record(SourceCall::Lost { user, class });
        let last = self.script.steps.len() - 1;
        let state = std::mem::take(self.user(user));
        let at = if state.step == 0 { last } else { state.step - 1 };
        Some(Session { flow: 0, failed_at: Some(at as u16) })
    }

    fn complaint(&self, user: u32) -> String {
        format!("no ok in `{}`", self.users[user as usize].body)
    }
}
