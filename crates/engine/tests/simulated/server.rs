//! Servers that respond as a closure says, and record what they received.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use model::Nanos;
use net::{Close, ConnId, Event, Handler, Net as _, Next};
use testkit::sim::{SimNet, World};

use crate::harness::{Served, address};

pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A request that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NthRequest {
    /// Counts from 0 over all connections.
    pub nth: u64,
    /// Which connection, in order of acceptance.
    pub conn: u32,
    /// Counts from 0 on its connection.
    pub nth_on_conn: u64,
    /// Since the world's beginning.
    pub at: Nanos,
}

/// The reply to it.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// How long it takes.
    pub after: Nanos,
    pub bytes: Vec<u8>,
    /// More bytes that follow later, if any.
    pub then: Option<(Nanos, Vec<u8>)>,
    /// How the connection ends behind it, if it does.
    pub end: Option<Close>,
}

impl Reply {
    pub fn ok_after(after: Nanos) -> Self {
        Self { after, bytes: OK.to_vec(), ..Self::default() }
    }

    pub fn bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), ..Self::default() }
    }

    pub fn ending(self, how: Close) -> Self {
        Self { end: Some(how), ..self }
    }
}

/// All requests that a server received, readable after the run.
pub type Log = Rc<RefCell<Vec<NthRequest>>>;

/// A server whose requests are all alike.
struct Scripted<F> {
    reply: F,
    request: Vec<u8>,
    /// Bytes of a request after which it counts as received.
    enough: usize,
    begin: u64,
    conns: Vec<Accepted>,
    ahead: BinaryHeap<Reverse<(u64, u64, u32)>>,
    replies: Vec<Reply>,
    log: Log,
}

struct Accepted {
    conn: ConnId,
    /// Bytes that came.
    received: usize,
    requests: u64,
}

/// A server that responds to `request` as `reply` says (`None`: never), and what it will have received.
///
/// # Panics
/// When it runs and anything but requests, back to back, arrives on a connection.
pub fn scripted(
    world: &World,
    request: &[u8],
    reply: impl FnMut(NthRequest) -> Option<Reply> + 'static,
) -> (Vec<Served>, Log) {
    scripted_early(world, request, request.len(), reply)
}

/// The same, but it begins with a request only when everything has been sent for the one before on its
/// connection, as one thread for each connection does.
pub fn one_by_one(
    world: &World,
    request: &[u8],
    reply: impl FnMut(NthRequest) -> Option<Reply> + 'static,
) -> (Vec<Served>, Log) {
    let mut reply = reply;
    let mut busy_until: Vec<Nanos> = Vec::new();
    scripted(world, request, move |request| {
        let made = reply(request)?;
        busy_until.resize(busy_until.len().max(request.conn as usize + 1), 0);
        let busy = &mut busy_until[request.conn as usize];
        let wait = busy.saturating_sub(request.at);
        *busy = request.at + wait + made.after + made.then.as_ref().map_or(0, |(after, _)| *after);
        Some(Reply { after: wait + made.after, ..made })
    })
}

/// As [`scripted`], but it responds once `enough` bytes of a request have come.
pub fn scripted_early(
    world: &World,
    request: &[u8],
    enough: usize,
    reply: impl FnMut(NthRequest) -> Option<Reply> + 'static,
) -> (Vec<Served>, Log) {
    let mut net = world.host();
    net.listen(address());
    let log = Log::default();
    let handler = Scripted {
        reply,
        request: request.to_vec(),
        enough,
        begin: world.now(),
        conns: Vec::new(),
        ahead: BinaryHeap::new(),
        replies: Vec::new(),
        log: log.clone(),
    };
    (vec![(net, Box::new(handler))], log)
}

impl<F: FnMut(NthRequest) -> Option<Reply>> Scripted<F> {
    fn received(&mut self, token: u32, now: u64) {
        let accepted = &mut self.conns[token as usize];
        let nth_on_conn = accepted.requests;
        accepted.requests += 1;
        let nth = self.log.borrow().len() as u64;
        let request = NthRequest { nth, conn: token, nth_on_conn, at: now - self.begin };
        self.log.borrow_mut().push(request);
        if let Some(reply) = (self.reply)(request) {
            let index = self.replies.len() as u64;
            self.ahead.push(Reverse((now + reply.after, index, token)));
            self.replies.push(reply);
        }
    }
}

impl<F: FnMut(NthRequest) -> Option<Reply>> Handler<SimNet> for Scripted<F> {
    fn accepted(&mut self, _: &mut SimNet, conn: ConnId) -> Option<u32> {
        self.conns.push(Accepted { conn, received: 0, requests: 0 });
        Some(self.conns.len() as u32 - 1)
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        let Accepted { conn, received, .. } = &mut self.conns[token as usize];
        match event {
            Event::Received(bytes) => {
                let length = self.request.len();
                let before = (*received + length - self.enough) / length;
                for &byte in &*bytes {
                    assert_eq!(
                        byte,
                        self.request[*received % length],
                        "at {received} of a request"
                    );
                    *received += 1;
                }
                let after = (*received + length - self.enough) / length;
                (before..after).for_each(|_| self.received(token, net.now()));
            }
            Event::Eof => net.close(*conn, Close::Now),
            Event::Connected | Event::Drained | Event::Skipped(_) | Event::Failed(_) => {}
        }
    }

    fn tick(&mut self, net: &mut SimNet) -> Next {
        while let Some(&Reverse((at, index, token))) = self.ahead.peek() {
            if at > net.now() {
                return Next::Wait(at);
            }
            self.ahead.pop();
            let mut reply = std::mem::take(&mut self.replies[index as usize]);
            if let Some((after, bytes)) = reply.then.take() {
                let index = self.replies.len() as u64;
                self.ahead.push(Reverse((net.now() + after, index, token)));
                self.replies.push(Reply { bytes, end: reply.end.take(), ..Reply::default() });
            }
            let conn = self.conns[token as usize].conn;
            net.send(conn, &reply.bytes);
            if let Some(how) = reply.end {
                net.close(conn, how);
            }
        }
        Next::Wait(u64::MAX)
    }
}

/// A server that is there only for a while: it listens from an instant after the world's beginning on, and is
/// killed at another.
pub fn mortal(
    world: &World,
    request: &[u8],
    (born, dies): (Nanos, Nanos),
    reply: impl FnMut(NthRequest) -> Option<Reply> + 'static,
) -> Served {
    let handler = Scripted {
        reply,
        request: request.to_vec(),
        enough: request.len(),
        begin: world.now(),
        conns: Vec::new(),
        ahead: BinaryHeap::new(),
        replies: Vec::new(),
        log: Log::default(),
    };
    let begin = world.now();
    (
        world.host(),
        Box::new(Mortal { born: begin + born, dies: begin + dies, listens: false, handler }),
    )
}

struct Mortal<P> {
    born: u64,
    dies: u64,
    listens: bool,
    handler: P,
}

impl<P: Handler<SimNet>> Handler<SimNet> for Mortal<P> {
    fn accepted(&mut self, net: &mut SimNet, conn: ConnId) -> Option<u32> {
        self.handler.accepted(net, conn)
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        self.handler.event(net, token, event);
    }

    fn tick(&mut self, net: &mut SimNet) -> Next {
        let now = net.now();
        if now >= self.dies {
            return Next::Finished;
        }
        if now < self.born {
            return Next::Wait(self.born);
        }
        if !std::mem::replace(&mut self.listens, true) {
            net.listen(address());
        }
        match self.handler.tick(net) {
            Next::Wait(at) => Next::Wait(at.min(self.dies)),
            other => other,
        }
    }
}

/// The built-in server with one thread.
pub fn built_in(world: &World, options: &target::Options) -> Vec<Served> {
    let mut net = world.host();
    net.listen(address());
    let shared = target::Shared::new(options, 1, world.now()).expect("good options");
    vec![(net, Box::new(target::Worker::new(shared.into(), 0, u64::MAX)))]
}
