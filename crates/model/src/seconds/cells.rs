//! What each endpoint did over the window, cell by cell.
//!
//! A cell is a second at first. A run with more cells than are kept folds each two neighbours into
//! one, so that memory stays the same and only the grain grows.

use super::MOST_SECONDS;
use crate::interval::{EndpointTally, MOST_ENDPOINTS, OTHERS, tallies_needed};
use crate::plan::Mix;

/// Cells kept at most, over all endpoints: 16 MiB.
const MOST_CELLS: usize = 1 << 20;

/// What one endpoint's attempts that ended in a cell came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    /// Response times in it.
    pub timed: u32,
    /// Failed attempts, unsent ones included.
    pub failed: u32,
    /// Sum of the response times, in nanoseconds.
    pub response_sum_ns: u64,
}

impl Cell {
    fn of(tally: &EndpointTally) -> Self {
        let count = |n: u64| n.min(u64::from(u32::MAX)) as u32;
        Self {
            timed: count(tally.response.count()),
            failed: count(tally.attempts().saturating_sub(tally.succeeded)),
            response_sum_ns: tally.response.sum().min(u128::from(u64::MAX)) as u64,
        }
    }

    /// Adds another cell.
    pub fn append(&mut self, other: &Self) {
        self.timed = self.timed.saturating_add(other.timed);
        self.failed = self.failed.saturating_add(other.failed);
        self.response_sum_ns = self.response_sum_ns.saturating_add(other.response_sum_ns);
    }

    /// Mean response time in nanoseconds; `None` without any.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.response_sum_ns as f64 / f64::from(self.timed))
    }
}

/// What the endpoints did, cell by cell, in bounded memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells {
    names: Vec<String>,
    /// Seconds that a cell holds; 0 before the first one.
    grain: usize,
    seconds: usize,
    /// All endpoints of the first cell of time, then those of the second.
    cells: Vec<Cell>,
}

impl Cells {
    /// Room for the endpoints of a mix; none is kept where there is but one.
    pub(crate) fn of(mix: &Mix) -> Self {
        let mut names: Vec<String> =
            mix.endpoints.iter().take(MOST_ENDPOINTS).map(|plan| plan.name.clone()).collect();
        if tallies_needed(mix.endpoints.len()) > names.len() {
            names.push(OTHERS.to_owned());
        }
        if names.len() < 2 {
            names.clear();
        }
        Self { names, ..Self::default() }
    }

    /// Cells that are known already, a second each: `cells` holds all endpoints of the first second,
    /// then those of the second one.
    pub fn known(names: Vec<String>, cells: Vec<Cell>) -> Self {
        let seconds = cells.len().checked_div(names.len()).unwrap_or(0);
        Self { names, grain: 1, seconds, cells }
    }

    /// The endpoints' names; empty where a run has fewer than two.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Seconds of the window that each cell holds, at least 1.
    pub fn grain(&self) -> usize {
        self.grain.max(1)
    }

    /// An endpoint's cells in order.
    pub fn endpoint(&self, index: usize) -> impl Iterator<Item = &Cell> {
        self.cells.iter().skip(index).step_by(self.names.len().max(1))
    }

    /// Appends a second; `tallies` are in the order of endpoints.
    pub(crate) fn add(&mut self, tallies: &[EndpointTally]) {
        if self.names.is_empty() || self.seconds >= MOST_SECONDS {
            return;
        }
        let width = self.names.len();
        if self.seconds.is_multiple_of(self.grain()) {
            if self.cells.len() + width > MOST_CELLS {
                self.fold();
            }
            if self.seconds.is_multiple_of(self.grain()) {
                self.cells.resize(self.cells.len() + width, Cell::default());
            }
        }
        self.seconds += 1;
        let last = self.cells.len() - width;
        for tally in tallies {
            if let Some(cell) = self.cells[last..].get_mut(tally.endpoint as usize) {
                cell.append(&Cell::of(tally));
            }
        }
    }

    fn fold(&mut self) {
        let width = self.names.len();
        let folded = self.cells.chunks(2 * width).flat_map(|pair| {
            let (first, second) = pair.split_at(width);
            (0..width).map(|at| {
                let mut cell = first[at];
                second.get(at).into_iter().for_each(|other| cell.append(other));
                cell
            })
        });
        self.cells = folded.collect();
        self.grain = 2 * self.grain();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Latencies;
    use crate::plan::EndpointPlan;

    fn tally(endpoint: u32, response_ns: u64) -> EndpointTally {
        let mut tally = EndpointTally { endpoint, succeeded: 1, unsent: 1, ..Default::default() };
        tally.response.add(&mut [response_ns], &Latencies::new());
        tally
    }

    fn mix(endpoints: usize) -> Mix {
        let endpoint = |at| EndpointPlan { name: format!("GET /{at}"), ..Default::default() };
        Mix { endpoints: (0..endpoints).map(endpoint).collect(), flows: Vec::new() }
    }

    #[test]
    fn one_endpoint_has_no_part_of_its_own() {
        let mut cells = Cells::of(&mix(1));
        cells.add(&[tally(0, 5)]);
        assert_eq!((cells.names().len(), cells.cells.len()), (0, 0));
    }

    #[test]
    fn cells_grow_coarser_and_lose_nothing() {
        let endpoints = MOST_ENDPOINTS + 5;
        let mut cells = Cells::of(&mix(endpoints));
        assert_eq!(cells.names().len(), MOST_ENDPOINTS + 1);
        let seconds = 2_500;
        for _ in 0..seconds {
            cells.add(&[tally(3, 40), tally(MOST_ENDPOINTS as u32, 60)]);
        }
        assert_eq!(cells.grain(), 4);
        assert!(cells.cells.len() <= MOST_CELLS);
        for (endpoint, mean) in [(3, 40.0), (MOST_ENDPOINTS, 60.0)] {
            let mut sum = Cell::default();
            cells.endpoint(endpoint).for_each(|cell| sum.append(cell));
            assert_eq!((sum.timed, sum.failed, sum.mean_ns()), (seconds, seconds, Some(mean)));
        }
        assert_eq!(cells.endpoint(3).count(), 625);
        assert!(cells.endpoint(4).all(|cell| *cell == Cell::default()));
    }
}
