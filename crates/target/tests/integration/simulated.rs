//! A server and its clients in one simulated world.

use std::net::SocketAddr;
use std::sync::Arc;

use net::{Close, ConnId, Event, Handler, Net, Next, Route};
use target::{Options, Shared, Worker};
use testkit::sim::{Actor, Conditions, Ended, SimNet, World, run};

/// Bytes to send at an instant, on a separate connection that is established by then.
#[derive(Debug, Clone)]
pub struct Call {
    /// When it is sent, after the start of the server.
    pub at_ns: u64,
    pub bytes: Vec<u8>,
    /// When the client goes away, if it does.
    pub leaves_ns: Option<u64>,
}

impl Call {
    pub fn at(at_ns: u64, bytes: impl AsRef<[u8]>) -> Self {
        Self { at_ns, bytes: bytes.as_ref().to_vec(), leaves_ns: None }
    }
}

/// What came back.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub bytes: Vec<u8>,
    /// When the last byte came, after the start of the server.
    pub last_ns: u64,
    pub closed: bool,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Sends calls when they are due and records the replies.
struct Callers {
    calls: Vec<Call>,
    start_ns: u64,
    to: SocketAddr,
    conns: Vec<ConnId>,
    replies: Vec<Reply>,
    /// Calls in order of sending, from `next` on unsent.
    order: Vec<usize>,
    next: usize,
    leaving: Vec<(u64, usize)>,
}

impl Callers {
    fn new(calls: &[Call], start_ns: u64, to: SocketAddr) -> Self {
        let mut order: Vec<usize> = (0..calls.len()).collect();
        order.sort_by_key(|&i| calls[i].at_ns);
        let mut leaving: Vec<(u64, usize)> = (0..calls.len())
            .filter_map(|i| calls[i].leaves_ns.map(|at| (start_ns + at, i)))
            .collect();
        leaving.sort_unstable_by_key(|&(at, _)| std::cmp::Reverse(at));
        Self {
            calls: calls.to_vec(),
            start_ns,
            to,
            conns: Vec::new(),
            replies: vec![Reply::default(); calls.len()],
            order,
            next: 0,
            leaving,
        }
    }
}

impl Handler<SimNet> for Callers {
    fn accepted(&mut self, _: &mut SimNet, _: ConnId) -> Option<u32> {
        None
    }

    fn event(&mut self, net: &mut SimNet, token: u32, event: Event<'_>) {
        let reply = &mut self.replies[token as usize];
        match event {
            Event::Received(bytes) => {
                reply.bytes.extend_from_slice(bytes);
                reply.last_ns = net.now() - self.start_ns;
            }
            Event::Eof => {
                reply.closed = true;
                net.close(self.conns[token as usize], Close::Now);
            }
            Event::Failed(_) => reply.closed = true,
            Event::Connected | Event::Drained | Event::Skipped(_) => {}
        }
    }

    fn tick(&mut self, net: &mut SimNet) -> Next {
        if self.conns.is_empty() {
            for token in 0..self.calls.len() as u32 {
                let route = Route { to: self.to.into(), from: None };
                self.conns.push(net.connect(token, &route).expect("ports enough"));
            }
        }
        let now = net.now();
        while let Some(&call) = self.order.get(self.next) {
            let due = self.start_ns + self.calls[call].at_ns;
            if due > now {
                break;
            }
            net.send(self.conns[call], &self.calls[call].bytes);
            self.next += 1;
        }
        while let Some(&(at, call)) = self.leaving.last()
            && at <= now
        {
            net.close(self.conns[call], Close::Reset);
            self.leaving.pop();
        }
        let sends = self.order.get(self.next).map(|&i| self.start_ns + self.calls[i].at_ns);
        let leaves = self.leaving.last().map(|&(at, _)| at);
        Next::Wait(sends.into_iter().chain(leaves).min().unwrap_or(u64::MAX))
    }
}

/// Runs the calls against a server of `threads` threads until nothing is left to happen.
pub fn simulate(
    seed: u64,
    conditions: Conditions,
    options: &Options,
    threads: usize,
    calls: &[Call],
) -> Vec<Reply> {
    let world = World::under(seed, conditions);
    let to: SocketAddr = "127.0.0.1:80".parse().expect("an address");
    let shared = Shared::new(options, threads, world.now()).expect("good options");
    let shared = Arc::new(shared);
    let mut workers: Vec<(SimNet, Worker)> = (0..threads)
        .map(|thread| {
            let mut net = world.host();
            net.listen(to);
            (net, Worker::new(Arc::clone(&shared), thread, u64::MAX))
        })
        .collect();
    let mut far = world.host();
    let mut callers = Callers::new(calls, world.now(), to);
    let mut actors: Vec<Actor<'_>> =
        workers.iter_mut().map(|(net, worker)| Actor { net, handler: worker }).collect();
    actors.push(Actor { net: &mut far, handler: &mut callers });
    let two_hours = world.now() + 2 * 3600 * model::units::SECOND;
    let ended = run(&world, two_hours, &mut actors);
    assert_eq!(ended, Ended::Idle, "seed {seed}");
    callers.replies
}
