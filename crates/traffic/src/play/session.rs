//! A user's session in a flow: which step is next, and the values extracted from responses so far.

use model::{Draw, Nanos};
use regex::bytes::CaptureLocations;
use wire::ResponseHead;

use crate::draw::{self, Purpose};
use crate::pool::Drawn;
use crate::program::{Extract, Flow, From, Program, When};
use crate::value::{Scene, Texts};

use super::cookies::Jar;

/// Bytes of one extracted value at most; a longer one counts as not found.
const LONGEST: usize = 16 << 10;
/// The most bytes that a session extracts.
const MOST: usize = 256 << 10;
/// The most memory for values extracted by a worker's sessions: 256 MiB. A value beyond it counts as
/// not found.
const MOST_HELD: usize = 256 << 20;
/// Memory that a finished session may keep for the next one of its user.
const IDLE: usize = 16 << 10;

/// Where a user is in a flow. It is kept after its end, to reuse its memory.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Whether it is under way.
    pub(super) active: bool,
    /// Whether a response is awaited.
    pub(super) awaiting: bool,
    pub(super) flow: u32,
    /// The step that is taken next, or whose response is awaited.
    pub(super) step: u16,
    pub(super) place: Draw,
    /// When the next step is taken.
    pub(super) resume: Nanos,
    /// The row drawn from each pool.
    pub(super) drawn: Drawn,
    pub(super) extracted: Texts,
    pub(super) jar: Jar,
    /// The first extraction that the head of the response lacks.
    lacks: Option<u16>,
    /// Scratch: the sides of a condition.
    sides: [Vec<u8>; 2],
}

/// What the sessions of a worker share.
#[derive(Debug)]
pub(super) struct Common {
    /// Room for what the regular expressions of extractions find, by endpoint and by place among the
    /// extractions of its step: an expression cannot be matched without it.
    rooms: Vec<Vec<Option<CaptureLocations>>>,
    /// Scratch: a text of a response without its escapes.
    text: Vec<u8>,
    /// Memory of the values that all sessions extracted.
    held: usize,
}

impl Common {
    pub(super) fn of(program: &Program) -> Self {
        let mut room = vec![Vec::new(); program.requests.len()];
        for step in program.flows.iter().flat_map(|flow| &flow.steps) {
            let of_step = step.extract.iter().map(|extract| match &extract.from {
                From::Regex(regex) => Some(regex.capture_locations()),
                _ => None,
            });
            room[step.request as usize] = of_step.collect();
        }
        Self { rooms: room, text: Vec::new(), held: 0 }
    }
}

impl Session {
    /// Begins anew.
    pub(super) fn begin(
        &mut self,
        flow: u32,
        of: &Flow,
        place: Draw,
        drawn: &Drawn,
        common: &mut Common,
    ) {
        (self.active, self.awaiting) = (true, false);
        (self.flow, self.step, self.place, self.resume) = (flow, 0, place, 0);
        self.drawn.copy(drawn);
        // Values that `pretend` sets were never counted.
        common.held = common.held.saturating_sub(self.extracted.capacity());
        self.extracted.clear(of.extracted.len());
        self.extracted.shrink_to(IDLE);
        common.held += self.extracted.capacity();
        self.jar.clear();
        self.lacks = None;
    }

    /// Goes to a step as if every name had been found.
    pub(super) fn pretend(
        &mut self,
        step: u16,
        names: &[String],
        found: &dyn Fn(&str) -> (String, bool),
    ) {
        self.step = step;
        self.extracted.clear(names.len());
        for (index, name) in (0..).zip(names) {
            let (text, json) = found(name);
            self.extracted.set(index, text.as_bytes(), json);
        }
    }

    /// The head of the awaited response.
    pub(super) fn head(
        &mut self,
        program: &Program,
        head: &ResponseHead<'_>,
        unix_ns: i64,
        common: &mut Common,
    ) {
        for field in head.headers.all("set-cookie") {
            self.jar.take(field, unix_ns);
        }
        let step = &program.flows[self.flow as usize].steps[usize::from(self.step)];
        self.lacks = None;
        for (extract, number) in step.extract.iter().zip(0..) {
            let found = match &extract.from {
                From::Header(name) => head.headers.get(name),
                From::Cookie(name) => {
                    head.headers.all("set-cookie").find_map(|field| Jar::set_value(field, name))
                }
                From::Json(_) | From::Regex(_) => continue,
            };
            let held = &mut common.held;
            if !found.is_some_and(|value| keep(&mut self.extracted, extract, value, false, held)) {
                self.lacks.get_or_insert(number);
            }
        }
    }

    /// The body of the awaited response. The first extraction that the response lacks.
    pub(super) fn body(
        &mut self,
        program: &Program,
        body: &[u8],
        common: &mut Common,
    ) -> Option<u16> {
        let step = &program.flows[self.flow as usize].steps[usize::from(self.step)];
        let Common { rooms, text, held } = common;
        let rooms = &mut rooms[step.request as usize];
        for ((extract, room), number) in step.extract.iter().zip(rooms).zip(0..) {
            let kept = match &extract.from {
                From::Json(pointer) => pointer.find(body, text).is_some_and(|found| {
                    keep(&mut self.extracted, extract, found.bytes, found.json, held)
                }),
                From::Regex(regex) => room.as_mut().is_some_and(|room| {
                    let found = regex.captures_read(room, body);
                    let group = found.and_then(|_| room.get(1).or(room.get(0)));
                    group.is_some_and(|(start, end)| {
                        keep(&mut self.extracted, extract, &body[start..end], false, held)
                    })
                }),
                From::Header(_) | From::Cookie(_) => continue,
            };
            if !kept {
                return Some(self.lacks.map_or(number, |lacks| lacks.min(number)));
            }
        }
        self.lacks
    }

    /// Goes on to the next step whose condition holds. Returns whether there is one.
    pub(super) fn advance(&mut self, program: &Program, now: Nanos, unix_ns: i64) -> bool {
        let flow = &program.flows[self.flow as usize];
        let think = flow.steps[usize::from(self.step)].think_ns;
        self.awaiting = false;
        self.resume = now.saturating_add(think);
        for (index, step) in (0u16..).zip(&flow.steps).skip(usize::from(self.step) + 1) {
            if step.when.as_ref().is_none_or(|when| self.holds(when, index, program, unix_ns)) {
                self.step = index;
                return true;
            }
        }
        self.active = false;
        false
    }

    fn holds(&mut self, when: &When, step: u16, program: &Program, unix_ns: i64) -> bool {
        let mut draws = draw::stream(program.seed, self.place, Purpose::Condition(step));
        match when {
            When::Has(index) => !self.extracted.of(*index).0.is_empty(),
            When::Lacks(index) => self.extracted.of(*index).0.is_empty(),
            When::Chance(share) => draws.unit() < *share,
            When::Equal(values) => {
                let variables = Texts::default();
                for (value, side) in values.iter().zip(&mut self.sides) {
                    side.clear();
                    let mut scene = Scene {
                        pools: &program.pools,
                        drawn: &self.drawn,
                        variables: &variables,
                        extracted: &self.extracted,
                        draws: &mut draws,
                        unix_ns,
                    };
                    value.push(&mut scene, side);
                }
                self.sides[0] == self.sides[1]
            }
        }
    }
}

/// Keeps a value, unless it is too long, holds what no header field may, or too much is `held` already.
fn keep(
    extracted: &mut Texts,
    extract: &Extract,
    value: &[u8],
    json: bool,
    held: &mut usize,
) -> bool {
    let plain = !value.iter().any(|byte| *byte < b' ' || *byte == 0x7f);
    let fits = value.len() <= LONGEST
        && extracted.bytes() + value.len() <= MOST
        && *held + value.len() <= MOST_HELD;
    if plain && fits {
        let before = extracted.capacity();
        extracted.set(extract.index, value, json);
        *held += extracted.capacity() - before;
    }
    plain && fits
}
