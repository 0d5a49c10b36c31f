//! Answers, as far as requests have checks: what is kept of them until they are whole, and what failed.

use std::collections::VecDeque;

use wire::ResponseHead;

use crate::check::Check;
use crate::program::{Program, Request};
use crate::source::Wants;
use crate::value::Texts;

/// Bytes of one answer's body kept for its checks at most: 1 MiB.
pub(super) const MOST_BODY: usize = 1 << 20;
/// Bytes of a failed answer's body that are shown at most.
const SHOWN: usize = 4096;
/// A body's buffer that has grown beyond this is given back.
const KEPT: usize = 64 << 10;

/// Requests under way whose answers are looked at.
#[derive(Debug, Default)]
pub(super) struct Answers {
    by_user: Vec<VecDeque<Flight>>,
    spare: Vec<Flight>,
    /// Scratch: a text of an answer without its escapes.
    text: Vec<u8>,
    /// The last answer that failed a check.
    failure: Option<Failure>,
}

#[derive(Debug)]
struct Failure {
    user: u32,
    request: u32,
    check: u16,
    status: u16,
    /// Its first bytes.
    body: Vec<u8>,
    bytes: usize,
}

/// One request under way.
#[derive(Debug, Default)]
pub(super) struct Flight {
    request: u32,
    /// What its checks compare with.
    pub(super) asked: Texts,
    status: u16,
    /// The first check that its head failed.
    failed: Option<u16>,
    body: Vec<u8>,
    /// Bytes of the body, those not kept among them.
    bytes: usize,
}

impl Answers {
    /// A request was sent whose answer is looked at, if it is.
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
        (flight.status, flight.failed, flight.bytes) = (0, None, 0);
        flight.body.clear();
        let user = user as usize;
        if user >= self.by_user.len() {
            self.by_user.resize_with(user + 1, VecDeque::new);
        }
        self.by_user[user].push_back(flight);
        self.by_user[user].back_mut()
    }

    fn oldest(&mut self, user: u32) -> Option<&mut Flight> {
        self.by_user.get_mut(user as usize)?.front_mut()
    }

    pub(super) fn head(&mut self, program: &Program, user: u32, head: &ResponseHead<'_>) {
        let Some(flight) = self.oldest(user) else { return };
        flight.status = head.status;
        let checks = &program.requests[flight.request as usize].checks;
        let failed = checks.iter().position(|check| !check.holds_in_head(head, &flight.asked));
        flight.failed = failed.map(|check| check as u16);
    }

    pub(super) fn body(&mut self, user: u32, bytes: &[u8]) {
        let Some(flight) = self.oldest(user) else { return };
        let room = MOST_BODY - flight.body.len();
        flight.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        flight.bytes += bytes.len();
    }

    /// The first check that the user's oldest answer failed. Of one that failed none, `extract` is
    /// given the body, as far as it is kept whole; what it misses counts behind the checks.
    pub(super) fn answered(
        &mut self,
        program: &Program,
        user: u32,
        success: bool,
        extract: impl FnOnce(&[u8]) -> Option<u16>,
    ) -> Option<u16> {
        let flight = self.by_user.get_mut(user as usize)?.pop_front()?;
        let checks = &program.requests[flight.request as usize].checks;
        let failed = if success {
            let before = flight.failed.map_or(checks.len(), usize::from);
            let whole = flight.bytes == flight.body.len();
            let text = &mut self.text;
            let mut holds = |body: &[u8], check: &Check| {
                !check.needs_body() || (whole && check.holds_in_body(body, &flight.asked, text))
            };
            let in_body = checks[..before].iter().position(|check| !holds(&flight.body, check));
            in_body.map(|check| check as u16).or(flight.failed).or_else(|| {
                let body = if whole { &flight.body[..] } else { b"" };
                extract(body).map(|missed| checks.len() as u16 + missed)
            })
        } else {
            None
        };
        if let Some(check) = failed {
            self.remember(user, check, &flight);
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
        if flight.body.capacity() > KEPT {
            flight.body = Vec::new();
        }
        self.spare.push(flight);
    }

    fn remember(&mut self, user: u32, check: u16, flight: &Flight) {
        let mut body = self.failure.take().map(|failure| failure.body).unwrap_or_default();
        body.clear();
        body.extend_from_slice(&flight.body[..flight.body.len().min(SHOWN)]);
        let Flight { request, status, bytes, .. } = *flight;
        self.failure = Some(Failure { user, request, check, status, body, bytes });
    }

    /// See [`crate::Source::complaint`].
    pub(super) fn complaint(&self, program: &Program, user: u32) -> String {
        let Some(failure) = self.failure.as_ref().filter(|failure| failure.user == user) else {
            return String::new();
        };
        let Failure { request, check, status, bytes, .. } = *failure;
        let request = &program.requests[request as usize];
        let check = request.checks.get(usize::from(check));
        let too_long = bytes > MOST_BODY && check.is_none_or(Check::needs_body);
        let mut text = format!("status {status}, {bytes} bytes");
        if too_long {
            text += ", of which 1 MiB is kept: too long to be checked";
        } else if !failure.body.is_empty() {
            text += &format!(": {}", String::from_utf8_lossy(&failure.body));
        }
        text
    }
}
