//! A worker's requests as its script makes them.
//!
//! Owns the calls of `delay`, `request` and `response` while the load runs. Without a `request` of its
//! own a script is called once, before the run, and its result is sent as [`Fixed`] requests; otherwise
//! each result is copied once, into the worker's buffer. Responses are passed only if `response` is
//! defined.

use std::sync::Arc;

use mlua::{Function, Value};
use model::units::MILLISECOND;
use model::{ErrorClass, Nanos};
use traffic::{
    Completed, Fixed, Halt, Next, Part, Payload, Requests, Session, Skipped, Source, Turn, Wants,
};
use wire::ResponseHead;

use crate::error::ScriptError;
use crate::hook::Hook;
use crate::lua_state::LuaState;
use crate::requests::{Cut, cut};
use crate::responses::{KEPT, Responses};
use crate::thread::Shared;

/// Requests that one `request()` may return.
const MOST: usize = 1024;
/// The longest `delay`, in milliseconds: over a year.
const LONGEST_DELAY_MS: f64 = 4e10;
/// What is wrong with requests that no server answers.
const BEHIND_A_CLOSE: &str = "it returned a request behind one that asks for `Connection: close`, which is the last of its \
     connection: leave that field out, or return one request at a time";

/// A script's requests for one worker.
#[derive(Debug)]
pub struct Scripted {
    request: Function,
    response: Option<Function>,
    delay: Option<Function>,
    /// The requests of a script without `request`, and what each is.
    fixed: Vec<Fixed>,
    fixed_parts: Vec<Part>,
    burst: u16,
    wants: Wants,
    cuts: Vec<Cut>,
    shared: Arc<Shared>,
    /// Until when each user is delayed; 0: it is not.
    delayed: Vec<Nanos>,
    responses: Responses,
    failed: Option<Halt>,
    state: LuaState,
}

impl Scripted {
    /// The source of a state that is initialised.
    pub(crate) fn new(state: LuaState, shared: Arc<Shared>) -> Result<Self, ScriptError> {
        let optional = |hook, name| match state.defines(name) {
            true => state.hook(hook, name).map(Some),
            false => Ok(None),
        };
        let response = optional(Hook::Response, "response")?;
        Ok(Self {
            request: state.hook(Hook::Request, "request")?,
            wants: if response.is_some() { Wants::Whole } else { Wants::Nothing },
            response,
            delay: optional(Hook::Delay, "delay")?,
            fixed: Vec::new(),
            fixed_parts: Vec::new(),
            burst: 1,
            cuts: Vec::new(),
            shared,
            delayed: Vec::new(),
            responses: Responses::default(),
            failed: None,
            state,
        })
    }

    /// Calls `request` once, to see how many requests come together.
    pub(crate) fn verify(&mut self) -> Result<u16, ScriptError> {
        self.call_request(&mut Vec::new())?;
        match self.cuts.len() {
            many if many > MOST => {
                let message = format!("it returned {many} requests at once; {MOST} are the most");
                Err(self.state.complain(Hook::Request, message))
            }
            count => Ok(count as u16),
        }
    }

    /// Sets how many requests may come together, and takes those of a script without `request`.
    pub(crate) fn allow(&mut self, burst: u16) -> Result<(), ScriptError> {
        self.burst = burst;
        if self.state.defines("request") {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.call_request(&mut bytes)?;
        self.bounded()?;
        let mut start = 0;
        for (index, &cut) in self.cuts.iter().enumerate() {
            let end = cut.end;
            self.fixed.push(Fixed { bytes: bytes[start..end as usize].into() });
            start = end as usize;
            self.fixed_parts.push(self.part(cut, Payload::Fixed(index as u32)));
        }
        Ok(())
    }

    /// Calls `request`: its result is appended to `out`, which is empty, and `cuts` says where each
    /// request ends.
    #[inline]
    fn call_request(&mut self, out: &mut Vec<u8>) -> Result<(), ScriptError> {
        let value: Value = self.state.call(Hook::Request, &self.request, ())?;
        let Value::String(text) = &value else {
            let message = format!("it returned {}, not a string of requests", value.type_name());
            return Err(self.state.complain(Hook::Request, message));
        };
        let bytes = text.as_bytes();
        cut(&bytes, &mut self.cuts)
            .map_err(|flaw| self.state.complain(Hook::Request, flaw.describe(&bytes)))?;
        if let [before @ .., _] = &self.cuts[..]
            && before.iter().any(|cut| cut.closes)
        {
            return Err(self.state.complain(Hook::Request, BEHIND_A_CLOSE));
        }
        out.extend_from_slice(&bytes);
        Ok(())
    }

    /// Refuses more requests than came together at first: the connections are sized for that many.
    #[inline]
    fn bounded(&self) -> Result<(), ScriptError> {
        let (count, most) = (self.cuts.len(), usize::from(self.burst));
        if count <= most {
            return Ok(());
        }
        let message = format!("it returned {count} requests, and {most} when it was first called");
        Err(self.state.complain(Hook::Request, message))
    }

    /// Whether the requests that were made last ask for `Connection: close`: none can follow on their connection.
    pub fn asks_to_close(&self) -> bool {
        self.cuts.iter().any(|cut| cut.closes)
    }

    fn part(&self, Cut { head, closes, .. }: Cut, payload: Payload) -> Part {
        Part { head, closes, wants: self.wants, ..Part::alone(payload) }
    }

    /// The instant until which the user has to wait, if any.
    fn hold(&mut self, turn: Turn) -> Result<Option<Nanos>, ScriptError> {
        let Some(delay) = &self.delay else { return Ok(None) };
        let user = turn.user as usize;
        if self.delayed.len() <= user {
            self.delayed.resize(user + 1, 0);
        }
        if self.delayed[user] == 0 {
            let value: Value = self.state.call(Hook::Delay, delay, ())?;
            let number = self.state.lua.coerce_number(value);
            let number = number.map_err(|error| self.state.raised(Hook::Delay, &error))?;
            // Whole milliseconds, as in wrk; a value that is not a number, or below 1, means no delay.
            let millis = number.unwrap_or(0.0).clamp(0.0, LONGEST_DELAY_MS) as u64;
            if millis == 0 {
                return Ok(None);
            }
            self.delayed[user] = turn.now + millis * MILLISECOND;
        }
        if turn.now < self.delayed[user] {
            return Ok(Some(self.delayed[user]));
        }
        self.delayed[user] = 0;
        Ok(None)
    }

    /// Adds the next requests of a user that need not wait.
    #[inline]
    fn put(&mut self, out: &mut Requests) -> Result<(), ScriptError> {
        if !self.fixed.is_empty() {
            for (index, part) in self.fixed_parts.iter().enumerate() {
                out.fixed(index as u32, *part);
            }
            return Ok(());
        }
        self.call_request(&mut out.bytes)?;
        self.bounded()?;
        for &cut in &self.cuts {
            let end = cut.end;
            out.written_to(end, self.part(cut, Payload::Written { end }));
        }
        Ok(())
    }

    fn turn(&mut self, turn: Turn, out: &mut Requests) -> Result<Next, ScriptError> {
        if let Some(at) = self.hold(turn)? {
            return Ok(Next::At(at));
        }
        self.put(out)?;
        Ok(Next::Send)
    }

    #[cold]
    fn fail_for_room(&mut self) {
        let most = KEPT >> 20;
        let message = format!("the unfinished responses of one thread hold more than {most} MiB");
        self.failed = Some(self.state.complain(Hook::Response, message).into());
    }

    /// Calls `response` with the user's response.
    fn call_response(&mut self, user: u32) -> Result<(), ScriptError> {
        let (Some(hook), Some(response)) = (&self.response, self.responses.of(user)) else {
            return Ok(());
        };
        let state = &self.state;
        let string = |bytes: &[u8]| {
            state.lua.create_string(bytes).map_err(|error| state.raised(Hook::Response, &error))
        };
        let arguments = (response.status, string(&response.fields)?, string(&response.body)?);
        state.call(Hook::Response, hook, arguments)
    }
}

impl Source for Scripted {
    fn fixed(&self) -> &[Fixed] {
        &self.fixed
    }

    fn burst(&self) -> u16 {
        self.burst
    }

    fn may_never_return(&self) -> bool {
        self.fixed.is_empty() || self.response.is_some() || self.delay.is_some()
    }

    #[inline]
    fn next(&mut self, turn: Turn, out: &mut Requests) -> Next {
        if let Some(halt) = self.failed.take() {
            return Next::Halt(halt);
        }
        if self.shared.stopped() {
            return Next::Stop;
        }
        self.turn(turn, out).unwrap_or_else(|error| Next::Halt(error.into()))
    }

    fn skip(&mut self, turn: Turn) -> Skipped {
        if let Some(until) = self.delayed.get_mut(turn.user as usize) {
            *until = 0;
        }
        Skipped::default()
    }

    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        if !self.responses.begin(user, head) {
            self.fail_for_room();
        }
    }

    fn body(&mut self, user: u32, bytes: &[u8]) {
        if !self.responses.extend(user, bytes) {
            self.fail_for_room();
        }
    }

    fn completed(&mut self, user: u32, _: bool, _: Nanos) -> Completed {
        let result = match self.failed.take() {
            Some(halt) => Err(halt),
            None => self.call_response(user).map_err(Halt::from),
        };
        self.responses.forget(user);
        Completed { halt: result.err(), stop: self.shared.stopped(), ..Completed::default() }
    }

    fn lost(&mut self, user: u32, _: ErrorClass) -> Option<Session> {
        self.responses.forget(user);
        None
    }
}
