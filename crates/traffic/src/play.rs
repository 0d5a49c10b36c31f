//! Plays a compiled workload: a worker's [`Source`].
//!
//! Owns the state of users between their requests. `write` writes the bytes, `responses` handles
//! responses, `session` a user's progress through a flow.

mod cookies;
mod responses;
mod session;
mod write;

use std::sync::Arc;

use model::{Draw, ErrorClass, Nanos};
use wire::ResponseHead;

use crate::draw::{self, Purpose};
use crate::pool::{Drawn, Pool, RowRequest, Taker};
use crate::program::{Form, Item, Program, Request, What};
use crate::source::{
    Completed, Fixed, Halt, Next, Part, Payload, Requests, Session, Skipped, Source, Supply, Turn,
    WorkerPlace,
};

use crate::value::Texts;

pub(crate) use cookies::Jar;
use responses::Responses;
use session::{Common, Session as Way};
use write::{Scratch, Setting};

/// Makes the sources of a run.
#[derive(Debug)]
pub(crate) struct Players {
    pub(crate) program: Arc<Program>,
    /// See [`Player`].
    pub(crate) unix_ns: i64,
}

impl Supply for Players {
    fn source(&self, worker_place: WorkerPlace) -> Box<dyn Source> {
        Box::new(Player::new(Arc::clone(&self.program), worker_place, self.unix_ns))
    }
}

/// Plays a compiled workload for one worker.
#[derive(Debug)]
pub(crate) struct Player {
    program: Arc<Program>,
    worker_place: WorkerPlace,
    /// Nanoseconds since 1970 at the run's start, for placeholders of time.
    unix_ns: i64,
    users: Vec<User>,
    /// By pool.
    takers: Vec<Taker>,
    /// The row drawn from each pool, for a request outside of flows.
    drawn: Drawn,
    scratch: Scratch,
    common: Common,
    responses: Responses,
}

/// The state of a user.
#[derive(Debug, Default)]
struct User {
    /// The number of items it has begun, in a closed loop.
    begun: u64,
    /// When its next beginning is due, if it has a pace.
    due: Nanos,
    /// It begins nothing before this instant: it thinks after its last session.
    rest: Nanos,
    /// Whether it takes arrivals: it then begins nothing without one.
    arrived: bool,
    session: Option<Box<Way>>,
}

/// How often a user that awaits a response is tried again if a plan pipelines: a session's next request
/// depends on the response to the last.
const ASK_AGAIN: Nanos = 1_000_000;

/// Later than any run lasts, and no overflow when a clock is added to it.
const NEVER: Nanos = Nanos::MAX / 4;

impl Player {
    pub(crate) fn new(program: Arc<Program>, worker_place: WorkerPlace, unix_ns: i64) -> Self {
        let takers = program.pools.iter().map(Pool::taker).collect();
        let (users, responses, scratch) = (Vec::new(), Responses::default(), Scratch::default());
        let (drawn, common) = (Drawn::default(), Common::of(&program));
        Self { program, worker_place, unix_ns, users, takers, drawn, scratch, common, responses }
    }

    fn user(&mut self, user: u32) -> &mut User {
        let index = user as usize;
        if index >= self.users.len() {
            self.users.resize_with(index + 1, User::default);
        }
        &mut self.users[index]
    }

    /// The user's session, if one is under way.
    fn session(&mut self, user: u32) -> Option<&mut Way> {
        let session = self.users.get_mut(user as usize)?.session.as_deref_mut()?;
        session.active.then_some(session)
    }

    /// The place in the schedule that a turn has: its arrival's, or the user's next.
    fn place(&mut self, turn: Turn) -> Draw {
        turn.draw.unwrap_or_else(|| {
            let lane = turn.user * self.worker_place.workers + self.worker_place.worker;
            Draw { lane, k: self.user(turn.user).begun }
        })
    }

    /// When the user may begin, if that is later than now. Otherwise it has begun.
    fn begin(&mut self, turn: Turn, place: Draw, item: Item) -> Option<Nanos> {
        if turn.draw.is_some() {
            return None;
        }
        if let Some(stages) = &self.program.users {
            // User n is active while more than n users are wanted.
            let due = stages.above(f64::from(place.lane), turn.now).unwrap_or(NEVER);
            if due > turn.now {
                return Some(due);
            }
        }
        let first = if place.k == 0 { first_due(&self.program, place, item) } else { 0 };
        let user = self.user(turn.user);
        let due = if place.k == 0 { first } else { user.due }.max(user.rest);
        if due > turn.now {
            return Some(due);
        }
        user.begun += 1;
        // A user that is late by more than a step restarts its steps here: missed ones are not sent in
        // a burst.
        if let Some(pace) = item.pace_ns {
            let next = due.saturating_add(pace);
            user.due = if next < turn.now { turn.now.saturating_add(pace) } else { next };
        }
        None
    }

    /// Writes the request of an endpoint.
    fn single(&mut self, turn: Turn, place: Draw, request: u32, out: &mut Requests) -> Next {
        let Self { program, takers, drawn, scratch, responses, worker_place, unix_ns, .. } = self;
        let kind = &program.requests[request as usize];
        if let Err(halt) = draw_rows(program, &kind.pools, place, *worker_place, takers, drawn) {
            return Next::Halt(halt);
        }
        let mut setting = Setting {
            program,
            drawn,
            extracted: &Texts::default(),
            jar: None,
            draws: draw::stream(program.seed, place, Purpose::Step(0)),
            unix_ns: unix_ns.saturating_add_unsigned(turn.now),
        };
        let part = Part {
            endpoint: request,
            head: kind.head,
            closes: kind.closes,
            wants: kind.wants,
            ..Part::alone(Payload::Fixed(0))
        };
        put(scratch, responses, &mut setting, kind, turn.user, part, out)
    }

    /// Begins a session: its first step is next.
    fn open(&mut self, user: u32, place: Draw, flow: u32) -> Result<(), Halt> {
        let mut session = self.user(user).session.take().unwrap_or_default();
        let Self { program, takers, drawn, worker_place, common, .. } = self;
        let of = &program.flows[flow as usize];
        draw_rows(program, &of.pools, place, *worker_place, takers, drawn)?;
        session.begin(flow, of, place, drawn, common);
        self.user(user).session = Some(session);
        Ok(())
    }

    /// Writes the request of the session's next step.
    fn step(&mut self, turn: Turn, out: &mut Requests) -> Next {
        let Self { program, scratch, responses, users, unix_ns, .. } = self;
        let Some(session) = users[turn.user as usize].session.as_deref_mut() else {
            return Next::Free;
        };
        let flow = &program.flows[session.flow as usize];
        let step = &flow.steps[usize::from(session.step)];
        let kind = &program.requests[step.request as usize];
        session.awaiting = true;
        let mut setting = Setting {
            program,
            drawn: &session.drawn,
            extracted: &session.extracted,
            jar: Some(&session.jar),
            draws: draw::stream(program.seed, session.place, Purpose::Step(session.step)),
            unix_ns: unix_ns.saturating_add_unsigned(turn.now),
        };
        let part = Part {
            endpoint: step.request,
            head: kind.head,
            closes: kind.closes,
            wants: kind.wants,
            opens: session.step == 0,
            goes_on: usize::from(session.step) + 1 < flow.steps.len(),
            payload: Payload::Fixed(0),
        };
        put(scratch, responses, &mut setting, kind, turn.user, part, out)
    }

    /// Ends the user's session at the step it is at.
    fn fail(&mut self, user: u32) -> Option<Session> {
        let session = self.session(user)?;
        session.active = false;
        Some(Session { flow: session.flow, failed_at: Some(session.step) })
    }

    /// The bytes of a place's request, or of all the steps of its flow as if every one were taken and
    /// `extracted` were found for each name, with their endpoints. For samples.
    pub(crate) fn rehearse(
        &mut self,
        place: Draw,
        item: Item,
        extracted: &dyn Fn(&str) -> (String, bool),
    ) -> Result<Vec<(u32, Vec<u8>)>, Halt> {
        let turn = Turn { user: 0, draw: Some(place), now: 0 };
        let mut out = Requests::new();
        let steps = match item.what {
            What::Request(_) => 1,
            What::Flow(flow) => {
                self.open(0, place, flow)?;
                self.program.flows[flow as usize].steps.len()
            }
        };
        let mut rehearsed = Vec::new();
        for step in 0..steps {
            out.clear();
            let next = match item.what {
                What::Request(request) => self.single(turn, place, request, &mut out),
                What::Flow(flow) => {
                    let program = Arc::clone(&self.program);
                    let names = &program.flows[flow as usize].extracted;
                    if let Some(session) = self.session(0) {
                        session.pretend(step as u16, names, extracted);
                    }
                    self.step(turn, &mut out)
                }
            };
            match next {
                Next::Halt(halt) => return Err(halt),
                _ => rehearsed.extend(self.written(&out)),
            }
        }
        Ok(rehearsed)
    }

    fn written(&self, out: &Requests) -> Option<(u32, Vec<u8>)> {
        let part = out.parts().first()?;
        let bytes = match part.payload {
            Payload::Fixed(index) => self.program.fixed[index as usize].bytes.to_vec(),
            Payload::Written { end } => out.bytes[..end as usize].to_vec(),
        };
        Some((part.endpoint, bytes))
    }
}

/// Draws a row of each of the pools.
fn draw_rows(
    program: &Program,
    pools: &[u16],
    place: Draw,
    worker_place: WorkerPlace,
    takers: &mut [Taker],
    drawn: &mut Drawn,
) -> Result<(), Halt> {
    drawn.clear(program.pools.len());
    for &pool in pools {
        let index = usize::from(pool);
        let request = RowRequest { pool, seed: program.seed, place, worker_place };
        program.pools[index].draw(request, &mut takers[index], drawn)?;
    }
    Ok(())
}

/// Writes a request and records that its response is checked.
fn put(
    scratch: &mut Scratch,
    responses: &mut Responses,
    setting: &mut Setting<'_>,
    kind: &Request,
    user: u32,
    part: Part,
    out: &mut Requests,
) -> Next {
    let fixed = match kind.form {
        Form::Fixed(index) => Some(index),
        Form::Written { .. } => None,
    };
    if (fixed.is_none() || !kind.wanted.is_empty())
        && let Err(what) = scratch.write(setting, kind, &mut out.bytes)
    {
        return Next::Halt(Halt(what.into()));
    }
    if let Some(flight) = responses.await_one(user, part.endpoint, kind) {
        scratch.compute_wanted(setting, kind, flight);
    }
    match fixed {
        Some(index) => out.fixed(index, part),
        None => out.written(part),
    }
    Next::Send
}

/// The first instant of a paced user: the users of an item are spread over one step, so that they do
/// not send in step.
fn first_due(program: &Program, place: Draw, item: Item) -> Nanos {
    let pace = item.pace_ns.unwrap_or(0);
    let crate::program::Split::Users(ends) = &program.split else { return 0 };
    let all = ends.last().copied().unwrap_or(1).max(1);
    let lane = u64::from(place.lane) % all;
    let index = ends.partition_point(|end| *end <= lane);
    let from = index.checked_sub(1).map_or(0, |before| ends[before]);
    let users = ends[index] - from;
    (u128::from(pace) * u128::from(lane - from) / u128::from(users)) as Nanos
}

/// Other workers may take what it has not used.
impl Drop for Player {
    fn drop(&mut self) {
        for (pool, taker) in self.program.pools.iter().zip(&self.takers) {
            pool.give_back(self.worker_place, taker);
        }
    }
}

impl Source for Player {
    fn fixed(&self) -> &[Fixed] {
        &self.program.fixed
    }

    fn next(&mut self, turn: Turn, out: &mut Requests) -> Next {
        if turn.draw.is_none()
            && let Some(session) = self.session(turn.user)
        {
            return match session {
                Way { awaiting: true, .. } => Next::At(turn.now + ASK_AGAIN),
                Way { resume, .. } if *resume > turn.now => Next::At(*resume),
                _ => self.step(turn, out),
            };
        }
        let user = self.user(turn.user);
        user.arrived |= turn.draw.is_some();
        if turn.draw.is_none() && user.arrived {
            return Next::Free;
        }
        let place = self.place(turn);
        let item = *self.program.item(place);
        if let Some(due) = self.begin(turn, place, item) {
            return Next::At(due);
        }
        match item.what {
            What::Request(request) => self.single(turn, place, request, out),
            What::Flow(flow) => match self.open(turn.user, place, flow) {
                Ok(()) => self.step(turn, out),
                Err(halt) => Next::Halt(halt),
            },
        }
    }

    fn skip(&mut self, turn: Turn) -> Skipped {
        if turn.draw.is_none()
            && let Some(session) = self.session(turn.user)
        {
            let (flow, step) = (session.flow as usize, usize::from(session.step));
            let endpoint = self.program.flows[flow].steps[step].request;
            return Skipped { endpoint, session: self.fail(turn.user) };
        }
        let place = self.place(turn);
        if turn.draw.is_none() {
            self.user(turn.user).begun += 1;
        }
        match self.program.item(place).what {
            What::Request(endpoint) => Skipped { endpoint, session: None },
            What::Flow(flow) => Skipped {
                endpoint: self.program.flows[flow as usize].steps[0].request,
                session: Some(Session { flow, failed_at: Some(0) }),
            },
        }
    }

    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        self.responses.head(&self.program, user, head);
        let Self { program, users, unix_ns, common, .. } = self;
        let session = users.get_mut(user as usize).and_then(|user| user.session.as_deref_mut());
        if let Some(session) = session.filter(|session| session.active) {
            session.head(program, head, *unix_ns, common);
        }
    }

    fn body(&mut self, user: u32, bytes: &[u8]) {
        self.responses.body(user, bytes);
    }

    fn completed(&mut self, user: u32, success: bool, now: Nanos) -> Completed {
        let Self { program, users, responses, common, unix_ns, .. } = self;
        let unix_ns = unix_ns.saturating_add_unsigned(now);
        let mut of = users.get_mut(user as usize);
        let mut session = of.as_mut().and_then(|user| user.session.as_deref_mut());
        session = session.filter(|session| session.active);
        let failed = responses.completed(program, user, success, |body| {
            session.as_mut().and_then(|session| session.body(program, body, common))
        });
        let (failed_check, unchecked) =
            failed.map_or((None, false), |(check, unchecked)| (Some(check), unchecked));
        let Some(session) = session else {
            return Completed { failed_check, unchecked, ..Completed::default() };
        };
        let flow = session.flow;
        let session = if !success || failed_check.is_some() {
            self.fail(user)
        } else if session.advance(program, now, unix_ns) {
            None
        } else {
            let rest = session.resume;
            self.user(user).rest = rest;
            Some(Session { flow, failed_at: None })
        };
        Completed { failed_check, unchecked, session, ..Completed::default() }
    }

    fn lost(&mut self, user: u32, _: ErrorClass) -> Option<Session> {
        self.responses.lost(user);
        self.fail(user)
    }

    fn complaint(&self, user: u32) -> String {
        self.responses.complaint(&self.program, user)
    }
}
