//! Playing a compiled workload: the [`Source`] that a worker asks.
//!
//! Owns what is remembered of users between their requests. Which bytes are written is `write`'s, what
//! becomes of answers `answer`'s.

mod answer;
mod write;

use std::sync::Arc;

use model::{Draw, ErrorClass, Nanos};
use wire::ResponseHead;

use crate::draw::{Draws, Purpose};
use crate::pool::Lot;
use crate::program::{Form, Item, Program};
use crate::source::{
    Answered, Fixed, Halt, Next, Part, Payload, Requests, Seat, Session, Skipped, Source, Supply,
    Turn,
};

use answer::Answers;
use write::Scratch;

/// Makes the sources of a run.
#[derive(Debug)]
pub(crate) struct Players {
    pub(crate) program: Arc<Program>,
    /// See [`Player`].
    pub(crate) unix_ns: i64,
}

impl Supply for Players {
    fn source(&self, seat: Seat) -> Box<dyn Source> {
        Box::new(Player::new(Arc::clone(&self.program), seat, self.unix_ns))
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Player {
    program: Arc<Program>,
    seat: Seat,
    /// Nanoseconds since 1970 at the run's start, for placeholders that tell the time.
    unix_ns: i64,
    users: Vec<User>,
    lots: Vec<Lot>,
    scratch: Scratch,
    answers: Answers,
}

/// What is remembered of a user.
#[derive(Debug, Clone, Copy, Default)]
struct User {
    /// What it has begun in a closed loop.
    begun: u64,
    /// When its next beginning is due, if it has a pace.
    due: Nanos,
}

impl Player {
    pub(crate) fn new(program: Arc<Program>, seat: Seat, unix_ns: i64) -> Self {
        let lots = vec![Lot::default(); program.rows.len()];
        let scratch = Scratch::new(program.rows.len());
        let (users, answers) = (Vec::new(), Answers::default());
        Self { program, seat, unix_ns, users, lots, scratch, answers }
    }

    fn user(&mut self, user: u32) -> &mut User {
        let index = user as usize;
        if index >= self.users.len() {
            self.users.resize(index + 1, User::default());
        }
        &mut self.users[index]
    }

    /// The place in the schedule that a turn has: its arrival's, or the user's next.
    fn place(&mut self, turn: Turn) -> Draw {
        turn.draw.unwrap_or_else(|| {
            let lane = turn.user * self.seat.workers + self.seat.worker;
            Draw { lane, k: self.user(turn.user).begun }
        })
    }

    /// When the user may begin, if that is later than now. Otherwise it has begun.
    fn begin(&mut self, turn: Turn, place: Draw, item: Item) -> Option<Nanos> {
        if turn.draw.is_some() {
            return None;
        }
        let spread = || first_due(&self.program, place, item);
        let due = match (item.pace_ns, place.k) {
            (None, _) => 0,
            (Some(_), 0) => spread(),
            (Some(_), _) => self.user(turn.user).due,
        };
        if due > turn.now {
            return Some(due);
        }
        let user = self.user(turn.user);
        user.begun += 1;
        // A user that is late by more than a step begins anew from here: what it missed is not sent
        // in a burst.
        if let Some(pace) = item.pace_ns {
            user.due = if due + pace < turn.now { turn.now + pace } else { due + pace };
        }
        None
    }

    /// Writes the request of an endpoint.
    fn put(
        &mut self,
        user: u32,
        place: Draw,
        request: u32,
        now: Nanos,
        out: &mut Requests,
    ) -> Next {
        let program = &*self.program;
        let kind = &program.requests[request as usize];
        let part = Part {
            endpoint: request,
            head: kind.head,
            wants: kind.wants,
            ..Part::alone(Payload::Fixed(0))
        };
        if let Form::Fixed(index) = kind.form
            && kind.wanted.is_empty()
        {
            self.answers.await_one(user, request, kind);
            out.fixed(index, part);
            return Next::Send;
        }
        for &pool in &kind.pools {
            let (rows, lot) = (&program.rows[usize::from(pool)], &mut self.lots[usize::from(pool)]);
            match rows.next(pool, program.seed, place, self.seat.workers, lot) {
                Ok(row) => self.scratch.rows[usize::from(pool)] = row,
                Err(out) => return Next::Halt(Halt(out.0.into())),
            }
        }
        let mut draws = Draws::of(program.seed, place, Purpose::Step(0));
        let unix_ns = self.unix_ns.saturating_add_unsigned(now);
        match self.scratch.write(program, kind, &mut draws, unix_ns, &mut out.bytes) {
            Ok(()) => {}
            Err(what) => return Next::Halt(Halt(what.into())),
        }
        if let Some(flight) = self.answers.await_one(user, request, kind) {
            self.scratch.ask(program, kind, &mut draws, unix_ns, flight);
        }
        match kind.form {
            Form::Fixed(index) => out.fixed(index, part),
            Form::Written { .. } => out.written(part),
        }
        Next::Send
    }
}

/// The first instant of a paced user: the users of an item spread over one step, so that they do not
/// march in step.
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

impl Source for Player {
    fn fixed(&self) -> &[Fixed] {
        &self.program.fixed
    }

    fn next(&mut self, turn: Turn, out: &mut Requests) -> Next {
        let place = self.place(turn);
        let item = *self.program.item(place);
        match self.begin(turn, place, item) {
            Some(due) => Next::At(due),
            None => self.put(turn.user, place, item.request, turn.now, out),
        }
    }

    fn skip(&mut self, turn: Turn) -> Skipped {
        let place = self.place(turn);
        let item = *self.program.item(place);
        if turn.draw.is_none() {
            self.user(turn.user).begun += 1;
        }
        Skipped { endpoint: item.request, session: None }
    }

    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        self.answers.head(&self.program, user, head);
    }

    fn body(&mut self, user: u32, bytes: &[u8]) {
        self.answers.body(user, bytes);
    }

    fn answered(&mut self, user: u32, success: bool, _: Nanos) -> Answered {
        let failed_check = self.answers.answered(&self.program, user, success);
        Answered { failed_check, ..Answered::default() }
    }

    fn lost(&mut self, user: u32, _: ErrorClass) -> Option<Session> {
        self.answers.lost(user);
        None
    }

    fn complaint(&self, user: u32) -> String {
        self.answers.complaint(&self.program, user)
    }
}
