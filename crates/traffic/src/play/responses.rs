//! Responses to requests with checks: what is kept until they are whole, and which check failed.
//!
//! A buffer belongs to a response from its body's first byte to its end and then to another user's, and all
//! of a worker's share one budget: a server that drips long responses to every user would fill the memory
//! otherwise.

use std::collections::VecDeque;

use wire::ResponseHead;

use crate::body_budget::{MOST_BODY, MOST_HELD, drop_buffer, make_room};
use crate::check::Check;
use crate::content_coding::{Coding, Decoder, Undecoded};
use crate::program::{Program, Request};
use crate::source::Wants;
use crate::value::Texts;

/// Bytes of a failed response's body that are shown at most.
const SHOWN: usize = 4096;
/// A body's buffer that has grown beyond this is given back.
const KEPT: usize = 64 << 10;

/// Requests in flight whose responses are checked.
#[derive(Debug, Default)]
pub(super) struct Responses {
    by_user: Vec<VecDeque<Flight>>,
    spare: Vec<Flight>,
    /// Free buffers, for the next bodies.
    buffers: Vec<Vec<u8>>,
    /// Memory of all buffers, used and free.
    held: usize,
    /// Scratch: a text of a response without its escapes.
    text: Vec<u8>,
    decoder: Decoder,
    /// The last response that failed a check.
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    user: u32,
    request: u32,
    check: u16,
    status: u16,
    /// Why its body was not checked.
    undecoded: Option<Undecoded>,
    /// Its first bytes.
    body: Vec<u8>,
    bytes: usize,
    crowded: bool,
}

/// One request in flight.
#[derive(Debug, Default)]
pub(super) struct Flight {
    request: u32,
    /// The computed values that its checks compare with.
    pub(super) computed: Texts,
    status: u16,
    /// The first check that its head failed.
    failed: Option<u16>,
    coding: Coding,
    body: Vec<u8>,
    /// Bytes of the body, including those not kept.
    bytes: usize,
    /// Nothing of the body is kept: the worker's budget is used up.
    crowded: bool,
}

impl Responses {
    /// Adds the request just sent, if its response is checked.
    pub(super) fn await_one(
        &mut self,
        user: u32,
        index: u32,
        request: &Request,
    ) -> Option<&mut Flight> {
        if request.wants == Wants::Nothing {
            return None;
        }
        let mut flight = self.spare.pop().unwrap_or_default();
        flight.request = index;
        (flight.status, flight.failed, flight.bytes, flight.crowded) = (0, None, 0, false);
        let user = user as usize;
        if user >= self.by_user.len() {
            self.by_user.resize_with(user + 1, VecDeque::new);
        }
        self.by_user[user].push_back(flight);
        self.by_user[user].back_mut()
    }

    pub(super) fn head(&mut self, program: &Program, user: u32, head: &ResponseHead<'_>) {
        let oldest = self.by_user.get_mut(user as usize).and_then(VecDeque::front_mut);
        let Some(flight) = oldest else { return };
        flight.status = head.status;
        let request = &program.requests[flight.request as usize];
        flight.coding =
            if request.wants == Wants::Whole { Coding::of(head) } else { Coding::Identity };
        let checks = &request.checks;
        let failed = checks.iter().position(|check| !check.holds_in_head(head, &flight.computed));
        flight.failed = failed.map(|check| check as u16);
    }

    pub(super) fn body(&mut self, user: u32, bytes: &[u8]) {
        let Self { by_user, buffers, held, .. } = self;
        let flight = by_user.get_mut(user as usize).and_then(VecDeque::front_mut);
        let Some(flight) = flight else { return };
        flight.bytes += bytes.len();
        let kept = &bytes[..bytes.len().min(MOST_BODY - flight.body.len())];
        if flight.crowded || kept.is_empty() {
            return;
        }
        if flight.body.capacity() == 0 {
            flight.body = buffers.pop().unwrap_or_default();
        }
        if make_room(&mut flight.body, kept.len(), buffers, held) {
            flight.body.extend_from_slice(kept);
        } else {
            flight.crowded = true;
            drop_buffer(std::mem::take(&mut flight.body), held);
        }
    }

    /// The first check that the user's oldest response failed, and whether that was for want of a body that could be
    /// looked into here. If it failed none, `extract` is given the body, if it was kept whole; a missing extraction is
    /// numbered after the checks.
    pub(super) fn completed(
        &mut self,
        program: &Program,
        user: u32,
        success: bool,
        extract: impl FnOnce(&[u8]) -> Option<u16>,
    ) -> Option<(u16, bool)> {
        let flight = self.by_user.get_mut(user as usize)?.pop_front()?;
        let checks = &program.requests[flight.request as usize].checks;
        let mut undecoded = None;
        let failed = if success {
            let before = flight.failed.map_or(checks.len(), usize::from);
            let body = decoded(&mut self.decoder, &flight);
            undecoded = body.err();
            let text = &mut self.text;
            let mut holds = |check: &Check| {
                !check.needs_body()
                    || body.is_ok_and(|body| check.holds_in_body(body, &flight.computed, text))
            };
            let in_body = checks[..before].iter().position(|check| !holds(check));
            in_body.map(|check| check as u16).or(flight.failed).or_else(|| {
                extract(body.unwrap_or_default()).map(|missed| checks.len() as u16 + missed)
            })
        } else {
            None
        };
        let failed = failed.map(|check| {
            let of_body = checks.get(usize::from(check)).is_none_or(Check::needs_body);
            (check, of_body && undecoded.is_some_and(Undecoded::is_own))
        });
        if let Some((check, _)) = failed {
            self.remember(user, check, undecoded, &flight);
        }
        self.give_back(flight);
        failed
    }

    pub(super) fn lost(&mut self, user: u32) {
        let flight = self.by_user.get_mut(user as usize).and_then(VecDeque::pop_front);
        if let Some(flight) = flight {
            self.give_back(flight);
        }
    }

    fn give_back(&mut self, mut flight: Flight) {
        let mut body = std::mem::take(&mut flight.body);
        if body.capacity() > KEPT {
            drop_buffer(body, &mut self.held);
        } else if body.capacity() > 0 {
            body.clear();
            self.buffers.push(body);
        }
        self.spare.push(flight);
    }

    fn remember(&mut self, user: u32, check: u16, undecoded: Option<Undecoded>, flight: &Flight) {
        let mut body = self.failure.take().map(|failure| failure.body).unwrap_or_default();
        body.clear();
        body.extend_from_slice(&flight.body[..flight.body.len().min(SHOWN)]);
        let Flight { request, status, bytes, crowded, .. } = *flight;
        self.failure =
            Some(Failure { user, request, check, status, undecoded, body, bytes, crowded });
    }

    /// See [`crate::Source::complaint`].
    pub(super) fn complaint(&self, program: &Program, user: u32) -> String {
        let Some(failure) = self.failure.as_ref().filter(|failure| failure.user == user) else {
            return String::new();
        };
        let Failure { request, check, status, undecoded, bytes, crowded, .. } = *failure;
        let request = &program.requests[request as usize];
        let check = request.checks.get(usize::from(check));
        let too_long = bytes > MOST_BODY && check.is_none_or(Check::needs_body);
        let looked_into = check.is_none_or(Check::needs_body);
        let mut text = format!("status {status}, {bytes} bytes");
        if crowded {
            let most = MOST_HELD >> 20;
            text += &format!(
                ", not kept: the unfinished responses of this worker hold {most} MiB, the maximum \
                 for checks; use fewer connections"
            );
        } else if let Some(why) = undecoded.filter(|_| looked_into && bytes <= MOST_BODY) {
            text += &format!(", and the body {}", why.words());
        } else if too_long {
            text += ", 1 MiB of it kept: too long to be checked";
        } else if !failure.body.is_empty() {
            text += &format!(": {}", String::from_utf8_lossy(&failure.body));
        }
        text
    }
}

/// The decoded body for checks and extractions.
fn decoded<'a>(decoder: &'a mut Decoder, flight: &'a Flight) -> Result<&'a [u8], Undecoded> {
    if flight.bytes > flight.body.len() {
        return Err(Undecoded::TooLong);
    }
    decoder.decode(flight.coding, &flight.body, MOST_BODY)
}
