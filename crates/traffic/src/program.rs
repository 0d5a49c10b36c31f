//! A compiled workload: everything that playing it needs, with all names resolved.
//!
//! Owns the types. `compile` makes them of a workload, `play` sends what they say.

use std::sync::Arc;

use model::random::{GOLDEN, mixed};
use model::{Draw, Nanos, Stages};
use regex::bytes::Regex;

use crate::check::{Check, Pointer};
use crate::draw::{self, Choice, Purpose};
use crate::escape::Escape;
use crate::pool::Pool;
use crate::source::{Fixed, Wants};
use crate::value::Value;

/// A compiled workload.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) seed: u64,
    /// Lanes of the schedule.
    pub(crate) lanes: u32,
    /// Shared by all workers.
    pub(crate) pools: Arc<[Pool]>,
    /// In an order in which each needs only those before it.
    pub(crate) variables: Vec<Value>,
    /// By endpoint.
    pub(crate) requests: Vec<Request>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) items: Vec<Item>,
    pub(crate) split: Split,
    /// How many users there are when, in a closed loop that has stages.
    pub(crate) users: Option<Arc<Stages>>,
}

/// The items that an arrival may begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) what: What,
    /// Step between the beginnings of one closed-loop user.
    pub(crate) pace_ns: Option<Nanos>,
}

/// An endpoint or a flow, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Request(u32),
    Flow(u32),
}

/// A session's steps.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    /// One at least. The first has no condition.
    pub(crate) steps: Vec<StepOf>,
    /// Pools that any of its steps takes a row of: one row for the whole session.
    pub(crate) pools: Vec<u16>,
    /// Names of the values that its steps extract.
    pub(crate) extracted: Vec<String>,
}

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct StepOf {
    /// Its endpoint.
    pub(crate) request: u32,
    pub(crate) when: Option<When>,
    pub(crate) think_ns: Nanos,
    pub(crate) extract: Vec<Extract>,
}

/// A value taken from a response.
#[derive(Debug, Clone)]
pub(crate) struct Extract {
    /// Its number among the flow's.
    pub(crate) index: u16,
    pub(crate) from: From,
}

/// The place of a value in a response.
#[derive(Debug, Clone)]
pub(crate) enum From {
    Json(Pointer),
    Header(String),
    Regex(Box<Regex>),
    Cookie(String),
}

/// When a step is taken.
#[derive(Debug, Clone)]
pub(crate) enum When {
    Has(u16),
    Lacks(u16),
    Equal([Value; 2]),
    Chance(f64),
}

/// What decides which item comes next.
#[derive(Debug, Clone)]
pub(crate) enum Split {
    /// A draw.
    Weights(Choice),
    /// The arrival's number, so that every part of the load has its rates.
    Rates(Choice),
    /// The user: item i's users end at the i-th number.
    Users(Vec<u64>),
}

/// One kind of request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The endpoint's name.
    pub(crate) name: String,
    pub(crate) head: bool,
    /// Whether it asks for `Connection: close`.
    pub(crate) closes: bool,
    pub(crate) wants: Wants,
    pub(crate) form: Form,
    /// Pools that it takes a row of.
    pub(crate) pools: Vec<u16>,
    /// Variables that it needs.
    pub(crate) variables: Vec<u16>,
    pub(crate) checks: Vec<Check>,
    /// Values that checks compare with and that change from request to request.
    pub(crate) wanted: Vec<Value>,
}

/// How a request's bytes are made.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    /// They never change: an index into [`Program::fixed`].
    Fixed(u32),
    /// They are written anew.
    Written { head: Vec<Op>, body: Vec<Op> },
}

/// A piece of a request.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Bytes that never change.
    Text(Vec<u8>),
    /// A value.
    Value(Value, Escape),
    /// The body's length.
    Length,
    /// The `Cookie` field of the session's cookies, if it has any.
    Cookies,
    /// The session's cookies behind those of a `Cookie` field of the request's own.
    FurtherCookies,
}

impl Program {
    /// The item that a place in the schedule gets.
    #[inline]
    pub(crate) fn item(&self, place: Draw) -> &Item {
        let index = match &self.split {
            Split::Weights(choice) => {
                choice.pick(draw::stream(self.seed, place, Purpose::Choice).bits())
            }
            Split::Rates(choice) => {
                let arrival = place.k.wrapping_mul(u64::from(self.lanes));
                let arrival = arrival.wrapping_add(u64::from(place.lane));
                choice.pick(arrival.wrapping_mul(GOLDEN).wrapping_add(mixed(self.seed)))
            }
            Split::Users(ends) => {
                let all = ends.last().copied().unwrap_or(1).max(1);
                ends.partition_point(|end| *end <= u64::from(place.lane) % all)
            }
        };
        &self.items[index]
    }
}
