//! Responses that change for good while they are measured, or are two things at once: what is measured then
//! is not one API.
//!
//! Considers responses that count as success, per endpoint, in cells of time. They are distinguished by
//! status, media type and how the body begins; where one request is sent again and again, by the words of
//! the body, if it is one of few, by its length, and by whether they take turns as well (`turns`); where requests
//! differ, by whether those of a new class of length read as errors (`errors`). Bodies that
//! differ from response to response, mixes that stay as they are and lists that grow are all usual, so a
//! change is reported only where it cannot be one of those. Two media types of one status are none of them. What no
//! response of the warm-up looked like changed, too (`warmup`).

mod errors;
mod turns;
mod warmup;

use model::interval::{KindTally, Look, MOST_ENDPOINTS};
use model::kinds::{Cell, Changed, Kind, Kinds, ResponseChange, ResponseKind};
use model::{Nanos, Plan};

pub(crate) use turns::{FEWER_TURNS, RARE};

/// Responses there must be before and since a change: fewer are chance, or a start.
pub(crate) const ENOUGH: u64 = 20;
/// Share of the responses since a change that must be the new ones.
pub(crate) const SUBSTANTIAL: f64 = 0.2;
/// And from which on they are worth a note, where nothing else has changed.
pub(crate) const NEW: f64 = 0.01;
/// Responses of a new kind that are expected in a part of the time in which it is to be seen that it stays.
const EXPECTED: f64 = 30.0;
/// New responses that would have been met before the change, had they come as often then: none has a
/// chance of exp(-15).
pub(crate) const MISSED: f64 = 15.0;
/// A new kind stays where its share of no later cell is below this part of its share of all of them.
const STAYS: f64 = 0.5;
/// How much longer or shorter bodies must be, and by how many bytes, where length alone has changed.
pub(crate) const LENGTHS_APART: (f64, u64) = (1.25, 8);
/// Mean service times that responses must have come over, where length alone has changed.
const ROUNDS: u64 = 10;
/// How many times faster one kind must be than the rest.
pub(crate) const FASTER: f64 = 5.0;
/// Stands for the media type of responses without a body.
const EMPTY: u32 = u32::MAX;
/// Share of the responses from which on a faster kind is reported.
pub(crate) const FASTER_SHARE: f64 = 0.01;

/// The changes in a run's responses to report: one per endpoint at most. An endpoint whose request never changes is
/// judged as a load of one request is.
pub fn find(kinds: &Kinds, plan: &Plan, one_request: bool) -> Vec<ResponseChange> {
    kinds
        .endpoints()
        .filter_map(|(endpoint, of_endpoint)| {
            let own = plan.mix.endpoints.get(endpoint as usize);
            // Those beyond the limit are counted together.
            let is_one = (endpoint as usize) < MOST_ENDPOINTS;
            let unchanging = is_one && own.is_some_and(|own| own.unchanging);
            let name = own.map(|own| own.name.clone());
            let named =
                |change: ResponseChange| ResponseChange { endpoint: name.clone(), ..change };
            let within = change_of(&of_endpoint, one_request || unchanging).map(named);
            if within.as_ref().is_some_and(is_substantial) {
                return within;
            }
            let before = kinds.in_warmup(endpoint);
            let since = warmup::came_after(before, &of_endpoint).map(named);
            since.or(within).or_else(|| warmup::came_alone(before, &of_endpoint).map(named))
        })
        .collect()
}

/// Of kinds in the order of their first responses.
fn change_of(kinds: &[&Kind], one_request: bool) -> Option<ResponseChange> {
    // Of different requests each may have a wording of its own.
    let looks = Looks::of(kinds, if one_request { |tally| tally.look } else { plain });
    let of_looks = looks.changed_for_good(SUBSTANTIAL);
    if of_looks.is_some() || !one_request {
        return of_looks
            .or_else(|| Looks::of(kinds, sized).turned_to_errors(SUBSTANTIAL))
            .or_else(|| Looks::of(kinds, plain).changed_for_good(NEW))
            .or_else(|| Looks::of(kinds, sized).turned_to_errors(NEW))
            .or_else(|| Looks::of(kinds, typed).are_mixed())
            .or_else(|| Looks::of(kinds, plain).some_redirect());
    }
    let of_lengths = || lengths_replaced(kinds).or_else(|| lengths_changed(kinds));
    let of_lengths = if many_rounds(kinds) { of_lengths() } else { None };
    let of_times = || looks.faster().or_else(|| looks.take_turns());
    let of_types = || Looks::of(kinds, typed).are_mixed();
    of_lengths.or_else(of_times).or_else(of_types).or_else(|| {
        // Words that are new among others are data, but where all were the same.
        let worded = (looks.all.len() == 2).then(|| looks.changed_for_good(NEW)).flatten();
        worded
            .or_else(|| Looks::of(kinds, plain).changed_for_good(NEW))
            .or_else(|| looks.some_read_as_errors())
            .or_else(|| looks.some_redirect())
    })
}

/// The look of a kind, whatever its wording.
fn plain(tally: &KindTally) -> Look {
    tally.look.plain()
}

/// The same, and the class of its length in the place of its wording.
fn sized(tally: &KindTally) -> Look {
    Look { wording: u32::from(tally.length), ..plain(tally) }
}

/// Its status and media type; having no body is a type of its own.
fn typed(tally: &KindTally) -> Look {
    let look = tally.look.typed();
    if tally.most_bytes == 0 { Look { media_type: EMPTY, ..look } } else { look }
}

/// An endpoint's responses by what they look like, whatever their length.
struct Looks {
    all: Vec<Series>,
    cells: usize,
}

/// Responses of one look.
struct Series {
    look: Look,
    /// Of its kinds, the one that came most often.
    shown: KindTally,
    responses: u64,
    first_ns: Nanos,
    last_ns: Nanos,
    service_sum_ns: u64,
    turns: u64,
    cells: Vec<Cell>,
}

impl Looks {
    fn of(kinds: &[&Kind], look_of: fn(&KindTally) -> Look) -> Self {
        let cells = kinds.iter().map(|kind| kind.cells.len()).max().unwrap_or(0);
        let mut all: Vec<Series> = Vec::new();
        for kind in kinds {
            let look = look_of(&kind.all);
            match all.iter_mut().find(|series| series.look == look) {
                Some(series) => series.add(kind),
                None => all.push(Series::of(look, kind, cells)),
            }
        }
        Self { all, cells }
    }

    /// A look that was not there, came, and stays, with `least` of the responses since or more.
    fn changed_for_good(&self, least: f64) -> Option<ResponseChange> {
        self.changes_for_good(least).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    fn changes_for_good(&self, least: f64) -> impl Iterator<Item = ResponseChange> {
        let came = self.all.iter().skip(1).filter(|new| new.responses >= ENOUGH);
        came.filter_map(move |new| self.came_for_good(new, least))
    }

    fn came_for_good(&self, new: &Series, least: f64) -> Option<ResponseChange> {
        let at = new.cells.iter().position(|cell| cell.responses > 0)?;
        let before = self.responses_in(0..at);
        // In the cell that it came in, what came before it counts where the rest ended with it.
        let replaced = self.replaced_by(new);
        let others = self.all.iter().filter(|old| old.look != new.look);
        let old = sum(others.map(|old| old.responses));
        let (share, before) = if replaced {
            (1.0, old)
        } else if at + 1 == self.cells {
            let (share, in_cell) = self.share_at_end(new, at)?;
            (share, before.saturating_add(in_cell))
        } else {
            let since = self.responses_in(at + 1..self.cells);
            (new.stays_since(at + 1, |cell| self.responses_in(cell..cell + 1), since)?, before)
        };
        let found = before >= ENOUGH
            && before as f64 * share >= MISSED
            && share >= least
            && self.had_time(new)
            && !self.roll_before(new);
        let old = self.commonest_before(new)?;
        found.then(|| ResponseChange {
            how: Changed::ForGood,
            endpoint: None,
            since_ns: new.first_ns,
            before: ResponseKind::of(&old.shown),
            after: ResponseKind::of(&new.shown),
            share,
        })
    }

    /// Whether responses that take as long as these could have come before the first of them did, to requests of the window.
    fn had_time(&self, new: &Series) -> bool {
        let start_ns = self.all.iter().map(|series| series.first_ns).min().unwrap_or(0);
        new.first_ns.saturating_sub(start_ns) as f64 > new.mean_ns()
    }

    /// The share of a look that came in the last cell and went on to its end, and how many responses of that cell came
    /// before it; both as if responses had come evenly.
    fn share_at_end(&self, new: &Series, at: usize) -> Option<(f64, u64)> {
        let start_ns = self.all.iter().map(|series| series.first_ns).min()?;
        let end_ns = self.all.iter().map(|series| series.last_ns).max()?;
        let under_way = (new.mean_ns() * 3.0) as Nanos;
        let lasted = end_ns.saturating_sub(new.first_ns) as f64;
        let part = lasted / end_ns.saturating_sub(start_ns).max(1) as f64;
        let in_cell = self.responses_in(at..self.cells) as f64;
        let own = new.responses as f64;
        let since = (part * self.responses_in(0..self.cells) as f64).max(own).min(in_cell);
        let share = own / since.max(1.0);
        let goes_on = new.last_ns.saturating_add(under_way) >= end_ns;
        (goes_on && share >= SUBSTANTIAL).then_some((share, (in_cell - since) as u64))
    }

    /// Whether all others had ended, but for what was under way, when the new ones began.
    fn replaced_by(&self, new: &Series) -> bool {
        let mut others = self.all.iter().filter(|series| series.look != new.look);
        others.all(|old| {
            let under_way = (old.mean_ns() * 3.0) as Nanos;
            old.first_ns < new.first_ns && old.last_ns <= new.first_ns.saturating_add(under_way)
        })
    }

    /// Whether wordings had replaced one another before this one came: a text that changes by itself, such as a
    /// headline.
    fn roll_before(&self, new: &Series) -> bool {
        let alike = |old: &&Series| old.look != new.look && old.look.plain() == new.look.plain();
        let mut others = self.all.iter().filter(alike).filter(|old| old.responses >= ENOUGH);
        let Some(first) = others.next() else { return false };
        others.any(|old| old.first_ns >= first.last_ns)
    }

    fn responses_in(&self, cells: std::ops::Range<usize>) -> u64 {
        let of = |series: &Series| -> u64 {
            let held = cells.start.min(series.cells.len())..cells.end.min(series.cells.len());
            sum(series.cells[held].iter().map(|cell| cell.responses))
        };
        sum(self.all.iter().map(of))
    }

    fn commonest_before(&self, new: &Series) -> Option<&Series> {
        let others = self.all.iter().filter(|old| old.first_ns < new.first_ns);
        others.max_by_key(|old| old.responses)
    }

    /// A look of the same status as all the rest that comes far faster.
    fn faster(&self) -> Option<ResponseChange> {
        let responses = sum(self.all.iter().map(|series| series.responses));
        let service = sum(self.all.iter().map(|series| series.service_sum_ns));
        let same_status = self.all.iter().all(|s| s.look.status == self.all[0].look.status);
        if self.all.len() < 2 || !same_status {
            return None;
        }
        let fast = self.all.iter().min_by(|a, b| a.mean_ns().total_cmp(&b.mean_ns()))?;
        let rest = (responses - fast.responses, service - fast.service_sum_ns);
        let rest_mean_ns = rest.1 as f64 / rest.0.max(1) as f64;
        let share = fast.responses as f64 / responses.max(1) as f64;
        let found = fast.responses >= ENOUGH
            && rest.0 >= ENOUGH
            && share >= FASTER_SHARE
            && fast.mean_ns() * FASTER <= rest_mean_ns;
        let others = self.all.iter().filter(|series| series.look != fast.look);
        let usual = others.max_by_key(|series| series.responses)?;
        found.then(|| fast.beside(usual, Changed::Faster, share))
    }

    /// Two media types of one status, or responses with a body and without one: a page of errors, or nothing, beside
    /// what is usual. A page or an empty response is taken for the unusual one, else what is rarer.
    fn are_mixed(&self) -> Option<ResponseChange> {
        let all = sum(self.all.iter().map(|series| series.responses));
        let is_page = |series: &&Series| {
            let name = series.shown.media_type.as_deref().unwrap_or_default();
            let name = name.split(';').next().unwrap_or_default().trim();
            series.look.media_type == EMPTY || name.eq_ignore_ascii_case("text/html")
        };
        let share = |series: &Series| series.responses as f64 / all.max(1) as f64;
        let named = self.all.iter().filter(|series| {
            series.look.media_type > 0 && series.responses >= ENOUGH && share(series) >= NEW
        });
        let mut named: Vec<&Series> = named.collect();
        named.sort_by_key(|series| (is_page(series), std::cmp::Reverse(series.responses)));
        named.iter().find_map(|usual| {
            let others = named.iter().filter(|other| {
                other.look.status == usual.look.status
                    && other.look.media_type != usual.look.media_type
            });
            let other = others.max_by_key(|other| (is_page(other), other.responses))?;
            Some(other.beside(usual, Changed::Mixed, share(other)))
        })
    }
}

impl Series {
    fn of(look: Look, kind: &Kind, cells: usize) -> Self {
        let all = &kind.all;
        let mut series = Self {
            look,
            shown: all.clone(),
            responses: 0,
            first_ns: all.first_ns,
            last_ns: all.last_ns,
            service_sum_ns: 0,
            turns: 0,
            cells: vec![Cell::default(); cells],
        };
        series.add(kind);
        series
    }

    fn add(&mut self, kind: &Kind) {
        let all = &kind.all;
        if all.responses > self.shown.responses {
            self.shown = all.clone();
        }
        self.responses = self.responses.saturating_add(all.responses);
        self.first_ns = self.first_ns.min(all.first_ns);
        self.last_ns = self.last_ns.max(all.last_ns);
        self.service_sum_ns = self.service_sum_ns.saturating_add(all.service_sum_ns);
        self.turns = self.turns.saturating_add(all.turns);
        self.cells.iter_mut().zip(&kind.cells).for_each(|(sum, cell)| sum.add(*cell));
    }

    /// That these came beside others that are usual.
    fn beside(&self, usual: &Self, how: Changed, share: f64) -> ResponseChange {
        ResponseChange {
            how,
            endpoint: None,
            since_ns: self.first_ns,
            before: ResponseKind::of(&usual.shown),
            after: ResponseKind::of(&self.shown),
            share,
        }
    }

    fn mean_ns(&self) -> f64 {
        self.service_sum_ns as f64 / self.responses.max(1) as f64
    }

    /// Its share of what came from the cell `from` on, if it stays to the end.
    fn stays_since(&self, from: usize, of: impl Fn(usize) -> u64, since: u64) -> Option<f64> {
        let own = sum(self.cells.iter().skip(from).map(|cell| cell.responses));
        if since < ENOUGH {
            return None;
        }
        let share = own as f64 / since as f64;
        let expected = if share >= SUBSTANTIAL { 0.0 } else { EXPECTED };
        let (mut came, mut all) = (0u64, 0u64);
        let stays = self.cells.iter().enumerate().skip(from).all(|(at, cell)| {
            (came, all) = (came.saturating_add(cell.responses), all.saturating_add(of(at)));
            if all < ENOUGH || share * (all as f64) < expected {
                return true;
            }
            let (came, all) = (std::mem::take(&mut came), std::mem::take(&mut all));
            came as f64 >= STAYS * share * all as f64
        });
        stays.then_some(share)
    }
}

/// Whether so much is of another kind that it is another server's, or no response of the API's, rather than something
/// that began to happen. Different requests for one endpoint may have responses of different media types.
pub(crate) fn is_substantial(change: &ResponseChange) -> bool {
    match change.how {
        Changed::ForGood => change.share >= SUBSTANTIAL,
        Changed::Faster | Changed::Turns => true,
        Changed::Mixed => change.endpoint.is_none(),
        // By their words, which may be data; a redirect may be what was asked for; and a warm-up is there for what is
        // different at first.
        Changed::Errors | Changed::Redirects | Changed::Warmup => false,
    }
}

/// Whether nothing but their words and lengths distinguishes kinds.
fn are_of_one_look(kinds: &[&Kind]) -> bool {
    kinds.windows(2).all(|pair| pair[0].all.look.plain() == pair[1].all.look.plain())
}

/// One look, and kinds of one class of length that ended when those of another began.
fn lengths_replaced(kinds: &[&Kind]) -> Option<ResponseChange> {
    if !are_of_one_look(kinds) {
        return None;
    }
    (1..kinds.len()).find_map(|at| {
        let (before, since) = kinds.split_at(at);
        let (a, b) = (whole(before), whole(since));
        let slowest = kinds.iter().map(|kind| mean_ns(&kind.all)).max()?;
        let ended = before.iter().map(|kind| kind.all.last_ns).max()?;
        let since_ns = since.first()?.all.first_ns;
        let replaced = ended <= since_ns.saturating_add(slowest.saturating_mul(3));
        let commonest = |kinds: &[&Kind]| {
            kinds.iter().max_by_key(|k| k.all.responses).map(|k| ResponseKind::of(&k.all))
        };
        let (before, after) = (commonest(before)?, commonest(since)?);
        let how = Changed::ForGood;
        let found = replaced && apart(a, b);
        found.then_some(ResponseChange { how, endpoint: None, since_ns, before, after, share: 1.0 })
    })
}

/// Whether the responses came over so many mean service times that how far their lengths spread is known: slow responses of
/// users who began together come in waves, and a list that grows is of one length in each.
fn many_rounds(kinds: &[&Kind]) -> bool {
    let tallies = || kinds.iter().map(|kind| &kind.all);
    let first_ns = tallies().map(|tally| tally.first_ns).min().unwrap_or(0);
    let last_ns = tallies().map(|tally| tally.last_ns).max().unwrap_or(0);
    let slowest = tallies().map(mean_ns).max().unwrap_or(0);
    last_ns.saturating_sub(first_ns) >= slowest.saturating_mul(ROUNDS)
}

/// Kinds taken together, over the whole window.
fn whole(kinds: &[&Kind]) -> Cell {
    let mut sum = Cell::default();
    for KindTally { responses, least_bytes, most_bytes, .. } in kinds.iter().map(|kind| &kind.all) {
        let (responses, least_bytes, most_bytes) = (*responses, *least_bytes, *most_bytes);
        sum.add(Cell { responses, least_bytes, most_bytes });
    }
    sum
}

fn mean_ns(tally: &KindTally) -> Nanos {
    tally.service_sum_ns / tally.responses.max(1)
}

/// One look, and bodies of another length from some cell on: those before and those since must lie
/// further apart than either spread.
fn lengths_changed(kinds: &[&Kind]) -> Option<ResponseChange> {
    let cells = kinds.iter().map(|kind| kind.cells.len()).max()?;
    if !are_of_one_look(kinds) {
        return None;
    }
    let mut series = vec![Cell::default(); cells];
    for kind in kinds {
        series.iter_mut().zip(&kind.cells).for_each(|(sum, cell)| sum.add(*cell));
    }
    let of = |cells: &[Cell]| {
        let mut sum = Cell::default();
        cells.iter().for_each(|cell| sum.add(*cell));
        sum
    };
    // The change is inside of a cell, or at its beginning.
    let at = (1..cells).find(|&at| {
        let since = [at, at + 1].map(|from| of(&series[from.min(cells)..]));
        let before = of(&series[..at]);
        apart(before, since[0]) || apart(before, since[1])
    })?;
    let (before, whole) = (of(&series[..at]), of(&series[at..]));
    let since = if apart(before, whole) { whole } else { of(&series[at + 1..]) };
    let shown = |cell: Cell| {
        let held = |kind: &&&Kind| {
            kind.all.least_bytes <= cell.most_bytes && cell.least_bytes <= kind.all.most_bytes
        };
        let kind = kinds.iter().filter(held).max_by_key(|kind| kind.all.responses)?;
        let mut shown = ResponseKind::of(&kind.all);
        (shown.least_bytes, shown.most_bytes) = (cell.least_bytes, cell.most_bytes);
        shown.responses = cell.responses;
        Some(shown)
    };
    let (before, after) = (shown(before)?, shown(since)?);
    // Bodies of one class of length share a kind, and then the instant is not known.
    let since_ns = if before.first_ns < after.first_ns { after.first_ns } else { 0 };
    Some(ResponseChange {
        how: Changed::ForGood,
        endpoint: None,
        since_ns,
        before,
        after,
        share: 1.0,
    })
}

/// Stops at the highest: a journal may claim any number.
fn sum(of: impl Iterator<Item = u64>) -> u64 {
    of.fold(0, u64::saturating_add)
}

/// Whether two sets of bodies differ in length beyond what either spreads.
fn apart(a: Cell, b: Cell) -> bool {
    if a.responses < ENOUGH || b.responses < ENOUGH {
        return false;
    }
    let (short, long) = if a.most_bytes < b.least_bytes { (a, b) } else { (b, a) };
    let spread = |cell: Cell| (cell.most_bytes as f64 + 1.0) / (cell.least_bytes as f64 + 1.0);
    let gap = (long.least_bytes as f64 + 1.0) / (short.most_bytes as f64 + 1.0);
    let bytes = long.least_bytes.saturating_sub(short.most_bytes);
    bytes >= LENGTHS_APART.1 && gap >= LENGTHS_APART.0.max(spread(a) * spread(b))
}

#[cfg(test)]
mod tests;
