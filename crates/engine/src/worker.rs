//! One worker: a thread's connections, its share of the load, and its books.
//!
//! `tick` does what has become due and says how long to wait; events carry answers in. When requests
//! leave is decided in `send`, what they are in `ask`; answers are in `receive`, everything that goes
//! wrong in `fail`. Instants inside are nanoseconds since the run's start.

mod answer;
mod ask;
mod edge;
mod fail;
mod pace;
mod prepare;
mod presence;
mod receive;
mod send;
mod users;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use model::{Load, Mix, Nanos, Plan};
use net::{BlobId, ConnId, Event, Net, Next, Party, Route};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use traffic::{Requests, Source};
use wire::SeenHead;

use self::edge::Edge;
use self::pace::Pace;
use crate::conn::{Conn, State};
use crate::desk::Desk;
use crate::gaps::Gaps;
use crate::gate::Gate;
use crate::keeper::Keeper;
use crate::ledger::{Attempt, Flight, Ledger, Page, Sheet, Spent};
use crate::sample::Sampler;
use crate::starts::Starts;
use crate::timeouts::Timeouts;

/// Longest a worker goes without noticing that it was asked to stop.
const NOTICE_STOP: Nanos = 50_000_000;
/// Longest that attempts in flight are awaited after a stop was asked for.
const STOPPED_DRAIN: Nanos = 1_000_000_000;

/// What one worker is to do.
#[derive(Debug)]
pub struct Job {
    /// The whole run.
    pub plan: Arc<Plan>,
    /// This worker's number.
    pub worker: u32,
    /// Workers in all.
    pub workers: u32,
    /// What it sends.
    pub source: Box<dyn Source>,
    /// Where to connect and from where, used in turn. At least one.
    pub routes: Arc<[Route]>,
    /// TLS to be spoken, with the server's name.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// Where the workers agree on the run's start.
    pub gate: Arc<Gate>,
    /// Where the books lie while a source is called that may never return.
    pub desk: Arc<Desk>,
    /// Raised to end the window early.
    pub stop: Arc<AtomicBool>,
    /// What the calling thread has spent; nothing in the simulation.
    pub spent: fn() -> Spent,
    /// Where the books go: (worker, page), then (worker, `None`) at the end.
    pub pages: Sender<(u32, Option<Page>)>,
    /// Sheets that the collector has emptied.
    pub spares: Receiver<Sheet>,
}

/// A request that never changes.
#[derive(Debug)]
struct Lent {
    bytes: Box<[u8]>,
    /// The net's name for it, where it may be sent as a blob.
    blob: Option<BlobId>,
}

/// See the module.
#[derive(Debug)]
pub struct Worker {
    job: Job,
    conns: Vec<Conn>,
    /// `slots` flights for each connection.
    flights: Vec<Flight>,
    slots: u16,
    /// The most requests that a turn brings.
    burst: u16,
    inflight_cap: u32,
    pace: Pace,
    /// Users held back by the cap on requests in flight.
    parked: VecDeque<u32>,
    /// Whether a user is in `parked`.
    held: Vec<bool>,
    starts: Starts,
    /// What is known of the kernel's side.
    edge: Edge,
    timeouts: Timeouts,
    ledger: Box<Ledger>,
    gaps: Gaps,
    /// Whether the source may never return: the books lie on the desk while it is called.
    guarded: bool,
    /// Answers are held against the first of their endpoint.
    expects_first: bool,
    /// The last answer's head.
    seen: SeenHead,
    sampler: Sampler,
    keeper: Keeper,
    /// The flow that each endpoint is a step of; empty without flows.
    flow_of: Vec<Option<u32>>,
    /// The source's requests that never change.
    lent: Vec<Lent>,
    next_route: usize,
    /// What instants count from, on the net's clock: the run's start once it is known.
    base_ns: u64,
    started: bool,
    /// Users before this one have had their connections opened before the start.
    next_to_open: u32,
    /// Connections being opened.
    opening: u32,
    /// Scratch: requests of a turn, records to send, requests to send together, decrypted bytes.
    asked: Requests,
    cipher: Vec<u8>,
    gathered: Vec<u8>,
    plain: Vec<u8>,
    /// The source sends nothing more.
    silent: bool,
    ended: bool,
    stopped: bool,
    finished: bool,
}

impl Worker {
    /// A worker that has opened nothing yet.
    pub fn new(job: Job) -> Self {
        let plan = &job.plan;
        let users = share_of(u64::from(plan.connections), job.worker, job.workers) as usize;
        let burst = job.source.burst().max(1);
        let slots = (plan.pipeline.clamp(1, u32::from(u16::MAX)) as u16).max(burst);
        let inflight_cap = inflight_cap(&job, slots);
        let window_end = window_end(plan);
        let load = plan.load();
        let open_loop = matches!(load, Load::Open(_));
        let guarded = job.source.may_never_return();
        if guarded {
            job.desk.prepare(Box::new(Ledger::new(open_loop, plan.warmup_ns, window_end)));
        }
        let mut ledger =
            Ledger::new(open_loop, plan.warmup_ns, window_end).telling_apart(&plan.mix);
        if !plan.mix.is_empty() {
            ledger = ledger.noting();
        }
        let mut starts = Starts::with_capacity(users);
        let pace = match load {
            Load::Closed { pace_ns, think_ns } => {
                for user in 0..users as u32 {
                    starts.add(first_start(&job, user, pace_ns), user);
                }
                ledger.watch.of_users(users as u32, plan.ramp_ns);
                let left = plan.requests.map_or(u64::MAX, |n| share_of(n, job.worker, job.workers));
                Pace::Closed { pace_ns, think_ns, left }
            }
            Load::Open(schedule) => Pace::open(schedule.share(job.worker, job.workers), users),
        };
        Self {
            conns: (0..users).map(|_| Conn::new()).collect(),
            flights: vec![Flight::default(); users * usize::from(slots)],
            slots,
            burst,
            inflight_cap,
            pace,
            parked: VecDeque::new(),
            held: vec![false; users],
            starts,
            edge: Edge::default(),
            timeouts: Timeouts::new(plan.timeout_ns, 0),
            ledger: Box::new(ledger),
            gaps: Gaps::default(),
            guarded,
            expects_first: plan.expects_first(),
            seen: SeenHead::new(),
            sampler: Sampler::default(),
            keeper: Keeper::of(&plan.mix),
            flow_of: flow_of(&plan.mix),
            lent: lent(&job),
            next_route: connections_before(&job) as usize,
            base_ns: 0,
            started: false,
            next_to_open: 0,
            opening: 0,
            asked: Requests::new(),
            cipher: Vec::new(),
            gathered: Vec::new(),
            plain: if job.tls.is_some() { vec![0; 16 * 1024] } else { Vec::new() },
            silent: false,
            ended: false,
            stopped: false,
            finished: false,
            job,
        }
    }

    #[inline]
    fn now<N: Net>(&self, net: &N) -> Nanos {
        net.now().saturating_sub(self.base_ns)
    }

    fn stop_asked(&self) -> bool {
        self.job.stop.load(Ordering::Relaxed)
    }

    fn notice_stop(&mut self, now: Nanos) {
        if !self.stopped && self.stop_asked() {
            self.stopped = true;
            // By then every worker has noticed; were each to end at once, their intervals would part.
            let end = self.job.gate.end(now.saturating_add(NOTICE_STOP));
            self.ledger.end_window(end);
        }
    }

    /// Closes intervals and samples that are over.
    fn keep_books(&mut self, now: Nanos) {
        self.ledger.step(now);
        let spent = self.job.spent;
        if let Some(gap) = self.gaps.look(now, spent) {
            self.ledger.paused(gap);
        }
        if now >= self.ledger.boundary() {
            self.count_down(self.ledger.boundary());
        }
        while let Some(page) = self.ledger.turn(now, spent, || spare(&self.job.spares)) {
            hand_over(&self.job, Some(page));
        }
    }

    /// After the window: nothing is sent, and arrivals still waiting never will be.
    fn end_window<N: Net>(&mut self, net: &mut N, now: Nanos) {
        // What fell due between the last wake-up and the end leaves now, if it can.
        let last = self.ledger.window_end().saturating_sub(1);
        self.take_up(last, now);
        while self.serve_next(net, now) {}
        self.ended = true;
        while let Pace::Open { arrivals, .. } = &mut self.pace
            && let Some(arrival) = arrivals.serve()
        {
            let attempt = self.skip_arrival(arrival, now);
            self.ledger.unsent(attempt, None);
        }
    }

    /// Whether a run limited by count has sent and received everything.
    fn count_reached(&self) -> bool {
        let all_sent = match &self.pace {
            Pace::Closed { left, .. } => *left == 0 || self.silent,
            Pace::Open { arrivals, .. } => arrivals.next_due().is_none() && arrivals.waiting() == 0,
        };
        all_sent && self.job.plan.requests.is_some() && self.ledger.under_way == 0
    }

    fn drained(&self, now: Nanos) -> bool {
        let patience = if self.stopped {
            self.job.plan.timeout_ns.min(STOPPED_DRAIN)
        } else {
            self.job.plan.timeout_ns
        };
        let given_up = now >= self.ledger.window_end().saturating_add(patience);
        self.ended && (self.ledger.under_way == 0 || given_up)
    }

    fn finish(&mut self, now: Nanos) -> Next {
        self.finished = true;
        self.ledger.tally.users = self.users(now);
        for j in 0..self.conns.len() as u32 {
            while let Some(flight) = self.pop_flight(j) {
                if !self.stopped {
                    self.down(j, flight.sent, false, now);
                }
                self.ledger.unfinished(flight);
            }
            self.up(j, now);
            if let Some(due) = self.conns[j as usize].take_arrival() {
                let endpoint = self.skip_turn(j, now);
                self.ledger.unsent(Attempt { due, endpoint }, None);
            }
        }
        let page = self.ledger.close(now, (self.job.spent)(), Sheet::default());
        hand_over(&self.job, Some(page));
        hand_over(&self.job, None);
        Next::Finished
    }

    fn next_wake(&self, now: Nanos) -> Nanos {
        let mut next = self.ledger.next().min(self.timeouts.next()).min(now + NOTICE_STOP);
        if self.ended {
            return next.min(self.ledger.window_end().saturating_add(self.job.plan.timeout_ns));
        }
        if let Some(start) = self.starts.next() {
            next = next.min(start);
        }
        if let Pace::Open { arrivals, .. } = &self.pace {
            if let Some(due) = arrivals.next_due() {
                next = next.min(due.saturating_add(self.job.plan.granularity_ns));
            }
            if let Some(due) = arrivals.oldest_due() {
                next = next.min(due.saturating_add(self.job.plan.timeout_ns));
            }
        }
        next.min(self.ledger.window_end())
    }
}

impl<N: Net> Party<N> for Worker {
    fn accepted(&mut self, _: &mut N, _: ConnId) -> Option<u32> {
        None
    }

    fn event(&mut self, net: &mut N, token: u32, event: Event<'_>) {
        let now = self.begin_event(net);
        if self.started {
            if self.ledger.behind(now) {
                self.keep_books(now);
            }
            self.gaps.awake(now);
        }
        match event {
            Event::Received(bytes) => self.received(net, token, bytes, now),
            Event::Connected => self.connected(net, token, now),
            Event::Eof => self.peer_closed(net, token, now),
            Event::Failed(failure) => self.failed(net, token, failure, now),
            Event::Drained => {}
        }
    }

    fn tick(&mut self, net: &mut N) -> Next {
        if self.finished {
            return Next::Finished;
        }
        if !self.started {
            return self.prepare(net);
        }
        let now = self.end_batch(net);
        self.notice_stop(now);
        if !self.ended && now >= self.ledger.window_end() {
            self.end_window(net, now);
        }
        self.keep_books(now);
        if !self.ended {
            self.start_due(net, now);
        }
        if now >= self.timeouts.next() {
            self.scan_timeouts(net, now);
        }
        self.look_around(now);
        if self.drained(now) || self.count_reached() {
            return self.finish(now);
        }
        let until = self.next_wake(now);
        self.gaps.wait(until);
        let until = self.base_ns.saturating_add(until);
        if self.job.plan.spin { Next::Spin(until) } else { Next::Wait(until) }
    }
}

fn spare(spares: &Receiver<Sheet>) -> Sheet {
    spares.try_recv().unwrap_or_default()
}

fn hand_over(job: &Job, page: Option<Page>) {
    // The collector outlives the workers; if it is gone, so is whoever wanted the figures.
    let _ = job.pages.send((job.worker, page));
}

/// Worker `worker`'s part of `total`, the first ones taking the remainder.
pub(crate) fn share_of(total: u64, worker: u32, workers: u32) -> u64 {
    let (worker, workers) = (u64::from(worker), u64::from(workers));
    total / workers + u64::from(worker < total % workers)
}

/// Connections of the workers before this one: where its turns through the routes begin, so that all
/// workers' together are as even as one's.
fn connections_before(job: &Job) -> u64 {
    let total = u64::from(job.plan.connections);
    (0..job.worker).map(|worker| share_of(total, worker, job.workers)).sum()
}

/// Requests that worker may have under way: its part of the cap, where that is below what its
/// connections hold.
fn inflight_cap(job: &Job, slots: u16) -> u32 {
    let plan = &job.plan;
    if plan.max_inflight >= plan.connections.saturating_mul(u32::from(slots)) {
        return u32::MAX;
    }
    share_of(u64::from(plan.max_inflight), job.worker, job.workers).max(1) as u32
}

/// When nothing is sent any more, as planned.
fn window_end(plan: &Plan) -> Nanos {
    plan.duration_ns.map_or(Nanos::MAX, |duration| plan.warmup_ns.saturating_add(duration))
}

/// The flow of each endpoint that is a step of one.
fn flow_of(mix: &Mix) -> Vec<Option<u32>> {
    let mut flow_of = vec![None; if mix.flows.is_empty() { 0 } else { mix.endpoints.len() }];
    for (flow, plan) in (0..).zip(&mix.flows) {
        for &step in &plan.steps {
            if let Some(of) = flow_of.get_mut(step as usize) {
                *of = Some(flow);
            }
        }
    }
    flow_of
}

/// The source's requests that never change.
fn lent(job: &Job) -> Vec<Lent> {
    let fixed = job.source.fixed().iter();
    fixed.map(|fixed| Lent { bytes: fixed.bytes.clone(), blob: None }).collect()
}

/// When a closed-loop user begins: spread over the ramp, or over one pace so that users do not march
/// in step.
fn first_start(job: &Job, user: u32, pace_ns: Option<Nanos>) -> Nanos {
    let spread = if job.plan.ramp_ns > 0 { job.plan.ramp_ns } else { pace_ns.unwrap_or(0) };
    let index = u64::from(user) * u64::from(job.workers) + u64::from(job.worker);
    let at = u128::from(spread) * u128::from(index) / u128::from(job.plan.connections.max(1));
    at as Nanos
}

impl Worker {
    /// Takes the oldest flight of a connection.
    #[inline]
    fn pop_flight(&mut self, j: u32) -> Option<Flight> {
        let slots = self.slots;
        let conn = &mut self.conns[j as usize];
        if conn.in_flight == 0 {
            return None;
        }
        let at = j as usize * usize::from(slots) + usize::from(conn.head);
        conn.in_flight -= 1;
        conn.head = if conn.head + 1 == slots { 0 } else { conn.head + 1 };
        let flight = &mut self.flights[at];
        // If it is yet to be handed over, that is no longer this request.
        let handed = std::mem::replace(&mut flight.handed, true);
        Some(Flight { handed, ..*flight })
    }

    /// The oldest request under way on a connection that has one.
    #[inline]
    fn oldest(&self, j: u32) -> &Flight {
        let head = self.conns[j as usize].head;
        &self.flights[j as usize * usize::from(self.slots) + usize::from(head)]
    }

    /// The instant that the oldest thing a connection waits for was begun.
    fn waiting_since(&self, j: usize) -> Option<Nanos> {
        let conn = &self.conns[j];
        match conn.state {
            State::Connecting | State::Handshaking => Some(conn.began),
            State::Open if conn.in_flight > 0 => {
                Some(self.flights[j * usize::from(self.slots) + usize::from(conn.head)].sent)
            }
            State::Open | State::Closed => None,
        }
    }
}
