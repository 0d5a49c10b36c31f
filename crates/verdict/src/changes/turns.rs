//! Two kinds of responses that take turns: an instance of two is broken, and a balancer sends a second's requests to
//! the one and the next second's to the other; or a page of errors came and went.
//!
//! In a mix that stays as it is, kinds follow one another as they are drawn. How often a kind of share p comes
//! after another one is then known: p (1 - p) of all responses (the expected number of runs: Wald and
//! Wolfowitz, 1940). Where kinds take turns it is far less often, however long a turn is and wherever it
//! begins.
//!
//! One that comes seldom may be of a moment that healthy servers have, such as a restart. It takes turns only
//! if it comes again.

use model::kinds::{Cell, Changed, ResponseChange};

use super::{ENOUGH, Looks, MISSED, SUBSTANTIAL, Series, sum};

/// How many times fewer turns there must be than in a mix.
pub(crate) const FEWER_TURNS: f64 = 4.0;
/// Mean service times that a turn of the rarer kind must last: responses that come in bunches, as many as there are
/// connections, are no turns.
const LASTING: f64 = 3.0;
/// Share of the responses from which on a kind that comes again and again is reported.
pub(crate) const RARE: f64 = 0.01;
/// Of a rare kind's responses, the most that any two neighbouring cells of time may hold: one moment fills two cells.
const AT_ONCE: f64 = 0.5;

impl Looks {
    /// Two looks, the commonest, that came in turns.
    pub(super) fn take_turns(&self) -> Option<ResponseChange> {
        let all = sum(self.all.iter().map(|series| series.responses)) as f64;
        let mut by_count: Vec<&Series> = self.all.iter().collect();
        by_count.sort_by_key(|series| std::cmp::Reverse(series.responses));
        let [usual, other, ..] = by_count[..] else { return None };
        let share = other.responses as f64 / all;
        let by_chance = other.responses as f64 * (1.0 - share);
        let turns = other.turns.max(1) as f64;
        let span = |from: u64, to: u64| to.saturating_sub(from) as f64;
        let (firsts, lasts) = ([usual.first_ns, other.first_ns], [usual.last_ns, other.last_ns]);
        let whole_ns = span(firsts[0].min(firsts[1]), lasts[0].max(lasts[1]));
        // One that only ended where the other began took no turn.
        let both_ns = span(firsts[0].max(firsts[1]), lasts[0].min(lasts[1]));
        let turn_ns = both_ns.min(share * whole_ns / turns);
        let slowest_ns = usual.mean_ns().max(other.mean_ns());
        let often = share >= SUBSTANTIAL || share >= RARE && other.comes_again();
        let found = often
            && by_chance >= MISSED
            && turns * FEWER_TURNS <= by_chance
            && turn_ns >= LASTING * slowest_ns;
        found.then(|| other.beside(usual, Changed::Turns, share))
    }
}

impl Series {
    /// Whether it came at several times, and not in one moment of the run, with a few stragglers.
    fn comes_again(&self) -> bool {
        let of = |cells: &[Cell]| sum(cells.iter().map(|cell| cell.responses));
        let most = self.cells.windows(2).map(of).max().unwrap_or(self.responses);
        self.responses >= ENOUGH && most as f64 <= AT_ONCE * self.responses as f64
    }
}
