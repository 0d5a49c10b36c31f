//! The kinds of responses over a run's window, in at most 64 cells of time, and over its warm-up ([`Kinds`]);
//! and what a result lists of those of the window.
//!
//! Not here: what distinguishes kinds, and a worker's counting ([`crate::interval`]); whether a mix
//! changed (`verdict`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interval::{Counted, Interval, KindTally, Look, Phase, place};
use crate::units::Nanos;

/// Cells of time at most.
const MOST_CELLS: usize = 64;
/// Kinds that a result lists at most, over all endpoints.
pub const MOST_LISTED: usize = 64;

/// A kind over the whole window, and cell by cell.
#[derive(Debug, Clone, Default)]
pub struct Kind {
    /// Its sums.
    pub all: KindTally,
    /// What came in each cell of time.
    pub cells: Vec<Cell>,
}

/// One kind in one cell of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    /// How many came.
    pub responses: u64,
    /// Shortest body; 0 where none came.
    pub least_bytes: u64,
    /// Longest body.
    pub most_bytes: u64,
}

impl Cell {
    /// Adds what another cell holds.
    pub fn add(&mut self, other: Self) {
        if other.responses == 0 {
            return;
        }
        if self.responses == 0 {
            self.least_bytes = other.least_bytes;
        }
        self.responses = self.responses.saturating_add(other.responses);
        self.least_bytes = self.least_bytes.min(other.least_bytes);
        self.most_bytes = self.most_bytes.max(other.most_bytes);
    }
}

impl Counted for Kind {
    fn tally(&self) -> &KindTally {
        &self.all
    }

    fn look_mut(&mut self) -> &mut Look {
        &mut self.all.look
    }

    fn absorb(&mut self, other: Self) {
        self.all.add(&other.all);
        if self.cells.len() < other.cells.len() {
            self.cells.resize(other.cells.len(), Cell::default());
        }
        self.cells.iter_mut().zip(other.cells).for_each(|(sum, cell)| sum.add(cell));
    }
}

/// The kinds of every endpoint.
type OfEndpoints = BTreeMap<u32, Vec<Kind>>;

/// The kinds of every endpoint over the window, in at most 64 cells of equal length, and over the warm-up.
#[derive(Debug, Clone)]
pub struct Kinds {
    endpoints: OfEndpoints,
    warmup: OfEndpoints,
    /// Intervals of the window so far, and how many make a cell: a power of two.
    intervals: usize,
    fold: usize,
}

impl Default for Kinds {
    fn default() -> Self {
        let (endpoints, warmup) = (OfEndpoints::new(), OfEndpoints::new());
        Self { endpoints, warmup, intervals: 0, fold: 1 }
    }
}

impl Kinds {
    /// Adds the next interval. What ended in the drain counts in the last cell.
    pub fn add(&mut self, interval: &Interval) {
        if interval.phase == Phase::Warmup {
            interval.tally.kinds.iter().for_each(|kind| put(&mut self.warmup, 0, kind));
            return;
        }
        if interval.phase == Phase::Window {
            self.intervals += 1;
            if self.intervals > MOST_CELLS * self.fold {
                self.fold_pairs();
            }
        }
        if self.intervals == 0 {
            return;
        }
        let cell = (self.intervals - 1) / self.fold;
        interval.tally.kinds.iter().for_each(|kind| put(&mut self.endpoints, cell, kind));
    }

    fn fold_pairs(&mut self) {
        let fold = |pair: &[Cell]| {
            let mut sum = pair[0];
            pair[1..].iter().for_each(|later| sum.add(*later));
            sum
        };
        for kind in self.endpoints.values_mut().flatten() {
            kind.cells = kind.cells.chunks(2).map(fold).collect();
        }
        self.fold *= 2;
    }

    /// Each endpoint's kinds, in the order of their first responses.
    pub fn endpoints(&self) -> impl Iterator<Item = (u32, Vec<&Kind>)> {
        self.endpoints.iter().map(|(&endpoint, kinds)| {
            let mut kinds: Vec<&Kind> = kinds.iter().collect();
            kinds.sort_by_key(|kind| kind.all.first_ns);
            (endpoint, kinds)
        })
    }

    /// An endpoint's kinds in the warm-up, each in one cell.
    pub fn in_warmup(&self, endpoint: u32) -> &[Kind] {
        self.warmup.get(&endpoint).map(Vec::as_slice).unwrap_or_default()
    }

    /// The kinds as a result lists them: those of the window.
    pub fn listed(&self) -> Vec<ResponseKind> {
        let all = self.endpoints().flat_map(|(_, kinds)| kinds);
        all.take(MOST_LISTED).map(|kind| ResponseKind::of(&kind.all)).collect()
    }
}

/// Adds to a kind what came of it in one cell of time.
fn put(endpoints: &mut OfEndpoints, cell: usize, tally: &KindTally) {
    let kinds = endpoints.entry(tally.endpoint).or_default();
    let KindTally { endpoint, look, length, .. } = *tally;
    let Some((at, look)) = place(kinds, endpoint, look, length) else { return };
    if at == kinds.len() {
        let all = KindTally { endpoint, look, length, ..KindTally::default() };
        kinds.push(Kind { all, cells: Vec::new() });
    }
    let kind = &mut kinds[at];
    kind.all.add(tally);
    if kind.cells.len() <= cell {
        kind.cells.resize(cell + 1, Cell::default());
    }
    let KindTally { responses, least_bytes, most_bytes, .. } = *tally;
    kind.cells[cell].add(Cell { responses, least_bytes, most_bytes });
}

/// One kind of successful response, as a result lists it: of each endpoint first the one that came first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResponseKind {
    /// Index into the plan's endpoints; 0 for a load of one request.
    pub endpoint: u32,
    /// HTTP status.
    pub status: u16,
    /// The media type, where the responses named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// How one body began, control characters escaped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beginning: Option<String>,
    /// Shortest body.
    pub least_bytes: u64,
    /// Longest body.
    pub most_bytes: u64,
    /// How many came, of the attempts that were due in the window; of a kind that came before it, in the warm-up.
    #[serde(rename = "answers")]
    pub responses: u64,
    /// When the first was complete, since the run's start.
    pub first_ns: Nanos,
    /// When the last was complete, since the run's start.
    pub last_ns: Nanos,
    /// Mean of done - sent.
    pub service_mean_ns: Nanos,
}

impl ResponseKind {
    /// A kind's sums as they are listed.
    pub fn of(tally: &KindTally) -> Self {
        Self {
            endpoint: tally.endpoint,
            status: tally.look.status,
            media_type: tally.media_type.clone(),
            beginning: tally.beginning.clone(),
            least_bytes: tally.least_bytes,
            most_bytes: tally.most_bytes,
            responses: tally.responses,
            first_ns: tally.first_ns,
            last_ns: tally.last_ns,
            service_mean_ns: tally.service_sum_ns / tally.responses.max(1),
        }
    }
}

/// How an endpoint's responses are not what they seem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResponseChange {
    /// What it is: other responses came from an instant on, or beside the usual ones.
    pub how: Changed,
    /// The endpoint's name; absent for a load of one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// When the first of the others came, since the run's start.
    pub since_ns: Nanos,
    /// What came first, in the warm-up perhaps, or what most responses are.
    pub before: ResponseKind,
    /// What came then, or beside them.
    pub after: ResponseKind,
    /// The part that those have of the endpoint's responses, 0..=1; of a change, since it came; of a kind that came in
    /// the warm-up alone, its part of the warm-up's.
    pub share: f64,
}

/// In which way the responses of an endpoint are of two kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Changed {
    /// From an instant on other responses came.
    #[default]
    ForGood,
    /// Responses of the same status came far faster than the rest.
    Faster,
    /// Two kinds of responses took turns, each for many responses.
    Turns,
    /// Responses of the same status had two media types.
    Mixed,
    /// Responses read as errors or ask to log in, and count as successes, whether others came beside them or not.
    Errors,
    /// Redirects came beside responses that are none.
    Redirects,
    /// Responses of the warm-up were of a kind that did not come in the window.
    Warmup,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{Look, MOST_KINDS, Tally};
    use crate::units::SECOND;

    fn interval(index: u32, kinds: Vec<KindTally>) -> Interval {
        let start_ns = u64::from(index) * SECOND;
        Interval {
            tally: Tally { kinds, ..Tally::default() },
            ..Interval::new(index, Phase::Window, start_ns, start_ns + SECOND)
        }
    }

    fn kind(begins: u8, responses: u64, at: Nanos) -> KindTally {
        worded(begins, 0, responses, at)
    }

    fn worded(begins: u8, wording: u32, responses: u64, at: Nanos) -> KindTally {
        KindTally {
            look: Look { status: 200, media_type: 7, begins: begins.into(), wording },
            length: 4,
            responses,
            first_ns: at,
            last_ns: at,
            least_bytes: 10,
            most_bytes: 12,
            service_sum_ns: responses * 1000,
            ..KindTally::default()
        }
    }

    #[test]
    fn long_runs_fold_without_losing_responses() {
        let mut kinds = Kinds::default();
        for index in 0..1000 {
            let mut came = vec![kind(b'{', 5, u64::from(index))];
            if index >= 600 {
                came.push(kind(b'a', 3, u64::from(index)));
            }
            kinds.add(&interval(index, came));
        }
        let (_, all) = kinds.endpoints().next().unwrap();
        assert!(all[0].cells.len() <= MOST_CELLS, "{}", all[0].cells.len());
        let sums = [0, 1].map(|at| all[at].cells.iter().map(|cell| cell.responses).sum::<u64>());
        assert_eq!((sums, all[1].all.first_ns), ([5000, 1200], 600));
        assert_eq!(all[1].cells[..36].iter().map(|cell| cell.responses).sum::<u64>(), 0);
    }

    #[test]
    fn wordings_are_kept_while_there_are_few() {
        let mut kinds = Kinds::default();
        for index in 0..100 {
            kinds.add(&interval(index, vec![worded(b'a', 2 + index / 50, 5, index.into())]));
        }
        assert_eq!(kinds.listed().len(), 2);
        kinds.add(&interval(100, (2..7).map(|wording| worded(b'a', wording, 1, 100)).collect()));
        let (_, all) = kinds.endpoints().next().unwrap();
        let sum: u64 = all[0].cells.iter().map(|cell| cell.responses).sum();
        assert_eq!((all.len(), all[0].all.responses, sum), (1, 505, 505));
        assert_eq!((all[0].all.first_ns, all[0].all.last_ns), (0, 100));
    }

    #[test]
    fn those_of_the_warm_up_are_kept_apart() {
        let mut kinds = Kinds::default();
        let warm_up = interval(0, vec![kind(b'{', 5, 0)]);
        kinds.add(&Interval { phase: Phase::Warmup, ..warm_up });
        kinds.add(&interval(1, vec![kind(b'a', 3, SECOND)]));
        let counts =
            |kinds: &[Kind]| kinds.iter().map(|kind| kind.all.responses).collect::<Vec<_>>();
        assert_eq!((counts(kinds.in_warmup(0)), counts(kinds.in_warmup(1))), (vec![5], vec![]));
        let (_, in_window) = kinds.endpoints().next().unwrap();
        assert_eq!((in_window.len(), in_window[0].all.responses), (1, 3));
        assert_eq!((in_window[0].cells.len(), kinds.listed().len()), (1, 1));
    }

    #[test]
    fn kinds_are_bounded() {
        let mut many: Vec<KindTally> = (0..200).map(|n| kind(n, 1, 1)).collect();
        many.iter_mut().zip(200..).for_each(|(kind, status)| kind.look.status = status);
        let mut merged = Tally::default();
        merged.merge(&Tally { kinds: many.clone(), ..Tally::default() });
        assert_eq!(merged.kinds.len(), MOST_KINDS);
        let mut kinds = Kinds::default();
        kinds.add(&interval(0, many));
        assert_eq!(kinds.listed().len(), MOST_KINDS);
    }
}
