//! Where a worker's requests come from.
//!
//! A worker owns one source and is the only one to call it, on its own thread. The source decides
//! *what* is sent and, for a user in the middle of a session, *how long* it pauses first; the worker
//! decides when, on which connection, and does the counting.
//!
//! # Users
//! A worker numbers its connections from 0; connection j is user j. In a closed loop a user lives as
//! long as the run: whenever it is free the worker calls [`next`](Source::next) for its requests, with
//! no [`draw`](Turn::draw). In an open loop each arrival brings a draw and is given to whatever user is
//! free; a user in the middle of a session is not: the worker calls `next` for it again, without a
//! draw, until its session is over. What the source keeps for a user (cookies, extracted values, a
//! place in a flow) it keeps itself, under its number. The connection may break and be opened anew in
//! between.
//!
//! # Order of the calls for one user
//! `next` adds one or more requests; for each of them in order then follows either `head`, `body` (any
//! number) and `completed`, or `lost`. Those of the response are left out for a request that
//! [wants](Wants) nothing of it, and then `lost` is too. Where plan and burst allow several requests
//! under way on a connection, `next` may be called again before the responses to the earlier ones.
//! `skip` stands in for `next` when its request can not be sent at all. When a run ends, requests that
//! are still open are not reported.
//!
//! # Cost
//! Nothing here allocates once warm: requests are appended to a buffer that the worker lends and
//! empties before each call, and responses are lent in pieces as they come off the connection. A
//! request whose bytes never change is best a [`Fixed`] one: the worker lends it to the kernel once and
//! never copies it. Responses are only passed to sources that want them.

use std::fmt;

use model::{Draw, ErrorClass, Nanos};
use wire::ResponseHead;

/// What a worker sends, one request after another. The order of the calls is above.
pub trait Source: fmt::Debug + Send {
    /// Requests whose bytes never change, by the number that [`Payload::Fixed`] gives. Called once,
    /// before the first `next`.
    fn fixed(&self) -> &[Fixed] {
        &[]
    }

    /// The most requests that one `next` adds: they leave together, pipelined. At least 1.
    fn burst(&self) -> u16 {
        1
    }

    /// Whether a call of [`next`](Source::next) or [`completed`](Source::completed) may never return,
    /// since it runs the user's own program. The worker's counts are then kept where they can be
    /// recovered without it, which costs a few nanoseconds a call.
    fn may_never_return(&self) -> bool {
        false
    }

    /// The next requests of a user, appended to `out` (which is empty), when it returns
    /// [`Next::Send`].
    fn next(&mut self, turn: Turn, out: &mut Requests) -> Next;

    /// The request that `next` would have added now is lost before it was made: no connection could be
    /// opened for it, or it had waited too long. With a draw it is an arrival that no user has begun
    /// (the turn's user is [`NO_USER`]); without one, the user's session is over.
    fn skip(&mut self, turn: Turn) -> Skipped;

    /// The head of a response to the user's oldest request, if that wants [`Wants::Head`] or more.
    fn head(&mut self, user: u32, head: &ResponseHead<'_>) {
        let _ = (user, head);
    }

    /// A part of its body, transfer decoded, if it wants [`Wants::Whole`]. The source bounds what it
    /// keeps.
    fn body(&mut self, user: u32, bytes: &[u8]) {
        let _ = (user, bytes);
    }

    /// The response is whole. `success` says whether its status counts as one; the result has what the
    /// source itself checked.
    fn completed(&mut self, user: u32, success: bool, now: Nanos) -> Completed {
        let _ = (user, success, now);
        Completed::default()
    }

    /// The user's oldest request has failed without a whole response; `head` and `body` may have been
    /// called for it. The session it belongs to is over; the result says where it ended.
    fn lost(&mut self, user: u32, class: ErrorClass) -> Option<Session> {
        let _ = (user, class);
        None
    }

    /// A message about the last response to `user` that failed a check, with as much of the body as is
    /// worth showing. Called for the first failure of a check only.
    fn complaint(&self, user: u32) -> String {
        let _ = user;
        String::new()
    }
}

/// The user of a turn that is no user's: an arrival lost before one took it up.
pub const NO_USER: u32 = u32::MAX;

/// What makes the sources of a run's workers.
pub trait Supply: fmt::Debug + Send + Sync {
    /// The source of one worker. Called once for each, on the worker's thread.
    fn source(&self, worker_place: WorkerPlace) -> Box<dyn Source>;
}

/// A worker's place among the workers of a run. User j of worker w of n is the run's user j n + w.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerPlace {
    /// The worker, from 0 on.
    pub worker: u32,
    /// Workers in all.
    pub workers: u32,
}

/// Whose turn it is, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The worker's number for the user: its connection; [`NO_USER`] for a lost arrival.
    pub user: u32,
    /// The arrival that begins, in an open loop.
    pub draw: Option<Draw>,
    /// Nanoseconds since the run's start.
    pub now: Nanos,
}

/// The result of a user's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// At least one request was added.
    Send,
    /// Not yet: `next` is to be called for the user again at this instant (nanoseconds since the run's
    /// start), with no draw. Think times, paces and scripts' delays.
    At(Nanos),
    /// The user's session is over and had nothing more to send: it is free. In a closed loop `next` is
    /// called again at once; a source must not return this twice in a row.
    Free,
    /// The source sends nothing more through this worker; what is under way is awaited.
    Stop,
    /// The run is to end.
    Halt(Halt),
}

/// Why a source ends the run before its time: one sentence for the user, naming file and line or the
/// pool where there is one. The run's result so far is kept, and the command fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt(pub Box<str>);

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes of one request at most, head and body: 1 GiB.
pub const LONGEST_REQUEST: usize = 1 << 30;

/// A request whose bytes never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// Head and body as they go over the connection.
    pub bytes: Box<[u8]>,
}

/// How much of a response is passed to the source of its request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wants {
    /// Nothing: it is counted only.
    #[default]
    Nothing,
    /// That it is whole, and whether its status counts as success; and `lost` if it fails.
    Outcome,
    /// Its head as well.
    Head,
    /// Its head and body.
    Whole,
}

/// One of the requests of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The endpoint it counts for: an index into the plan's endpoints; 0 where it has none.
    pub endpoint: u32,
    /// Whether its method is HEAD: its response has no body then.
    pub head: bool,
    /// How much of its response is passed to the source.
    pub wants: Wants,
    /// Whether it begins a session: the session's time counts from when it was due.
    pub opens: bool,
    /// Whether its user goes on after the response, or is free for another arrival.
    pub goes_on: bool,
    /// Whether it asks for `Connection: close`: nothing is sent behind it (RFC 9112 section 9.6).
    pub closes: bool,
    /// Its bytes.
    pub payload: Payload,
}

impl Part {
    /// A request that belongs to no flow, for the plan's only endpoint.
    pub const fn alone(payload: Payload) -> Self {
        Self {
            endpoint: 0,
            head: false,
            wants: Wants::Nothing,
            opens: true,
            goes_on: false,
            closes: false,
            payload,
        }
    }
}

/// Whether the value of a `Connection` field has the option `close` (RFC 9110 section 7.6.1).
pub fn asks_to_close(value: &[u8]) -> bool {
    value
        .split(|&byte| byte == b',')
        .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"))
}

/// Where a request's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// In [`Source::fixed`], by index.
    Fixed(u32),
    /// Written to the buffer, from the end of the part before (or the start) up to here.
    Written {
        /// Where they end.
        end: u32,
    },
}

/// The buffer that a worker lends to its source: request bytes, and what each request is.
#[derive(Debug, Default)]
pub struct Requests {
    /// Bytes of the written requests, one after another.
    pub bytes: Vec<u8>,
    parts: Vec<Part>,
}

impl Requests {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a request whose bytes were just appended to `bytes`; its payload is set here.
    #[inline]
    pub fn written(&mut self, part: Part) {
        let payload = Payload::Written { end: self.bytes.len() as u32 };
        self.parts.push(Part { payload, ..part });
    }

    /// Adds a request whose bytes were appended to `bytes` and end at `end`, which is after the end of
    /// the written request before it; its payload is set here.
    #[inline]
    pub fn written_to(&mut self, end: u32, part: Part) {
        debug_assert!(end as usize <= self.bytes.len(), "bytes that are there");
        self.parts.push(Part { payload: Payload::Written { end }, ..part });
    }

    /// Adds a fixed request.
    #[inline]
    pub fn fixed(&mut self, index: u32, part: Part) {
        self.parts.push(Part { payload: Payload::Fixed(index), ..part });
    }

    /// The requests, in order.
    #[inline]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Empties it; its memory stays.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.parts.clear();
    }
}

/// The result of a whole response, from its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completed {
    /// The check that failed: an index into the endpoint's checks. A response that fails more than one
    /// counts for the first; one whose status is a failure is not checked.
    pub failed_check: Option<u16>,
    /// That check failed for this generator's own limits: the body was too long to be kept, or is coded in a way that it
    /// does not decode. Nothing is known of the response then.
    pub unchecked: bool,
    /// The session that ended with it.
    pub session: Option<Session>,
    /// Set to end the run.
    pub halt: Option<Halt>,
    /// The source sends nothing more through this worker, as [`Next::Stop`].
    pub stop: bool,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    /// The flow: an index into the plan's flows.
    pub flow: u32,
    /// The step that it failed at; none when it was completed.
    pub failed_at: Option<u16>,
}

/// What was lost with a request that could not be sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The endpoint it would have counted for.
    pub endpoint: u32,
    /// The session that ended with it.
    pub session: Option<Session>,
}
