//! Which endpoints a dip hit: those whose own response times rose, which failed, or which fell silent.
//!
//! That an endpoint had fewer responses is no sign: in a closed loop a single slow
//! endpoint takes the connections, and with them the throughput, from all others.

use model::seconds::{Cell, Cells};

use super::span::{LEAST_RISE, Span, spread};
use statistics::order::median;

/// How many times its usual deviation an endpoint's mean must lie off. Fewer than for a dip, which is
/// established here already.
const MARKED: f64 = 3.0;
/// Attempts that failed in a dip at least, and their share above the usual one.
const FEWEST_FAILED: u32 = 3;
const LEAST_FAILED: f64 = 0.02;
/// Responses that a dip must be short of before silence says something.
const LEAST_EXPECTED: f64 = 5.0;

/// What the endpoints of a run do when nothing is wrong.
pub(super) struct Usual<'a> {
    cells: &'a Cells,
    endpoints: Vec<Endpoint>,
}

struct Endpoint {
    /// Median of the logarithms of its cells' means, and their deviation.
    mean_log: f64,
    deviation: f64,
    /// Median of the response times in a cell.
    timed: f64,
    /// Failed attempts / all of them over the whole run.
    failed: f64,
}

impl<'a> Usual<'a> {
    pub(super) fn of(cells: &'a Cells) -> Self {
        let endpoint = |index| Endpoint::of(&cells.endpoint(index).copied().collect::<Vec<_>>());
        Self { cells, endpoints: (0..cells.names().len()).map(endpoint).collect() }
    }

    /// The names of those that a period of seconds hit.
    pub(super) fn hit(&self, span: Span) -> Vec<String> {
        let grain = self.cells.grain();
        let (from, to) = (span.from / grain, span.to.div_ceil(grain));
        let names = self.cells.names().iter().zip(&self.endpoints).enumerate();
        let hit = names.filter(|(index, (_, usual))| {
            // Requests that a stall held back get their responses, late, just after it.
            let cells = self.cells.endpoint(*index).skip(from).take(to + 1 - from);
            usual.is_left_by(&cells.copied().collect::<Vec<_>>(), to - from)
        });
        hit.map(|(_, (name, _))| name.clone()).collect()
    }
}

impl Endpoint {
    fn of(cells: &[Cell]) -> Self {
        let logs: Vec<f64> = cells.iter().filter_map(Cell::mean_ns).map(log).collect();
        let mean_log = median(logs.clone());
        let off: Vec<f64> = logs.iter().map(|log| log - mean_log).collect();
        let mut all = Cell::default();
        cells.iter().for_each(|cell| all.append(cell));
        Self {
            mean_log,
            deviation: spread(&off),
            timed: median(cells.iter().map(|cell| f64::from(cell.timed)).collect()),
            failed: share_failed(&all),
        }
    }

    /// Whether the `length` cells of a span, and the one after them, are not its own way.
    fn is_left_by(&self, cells: &[Cell], length: usize) -> bool {
        let rise = LEAST_RISE[LEAST_RISE.len() - 1].max(MARKED * self.deviation);
        let means = cells.iter().filter_map(Cell::mean_ns);
        let slow = means.map(log).any(|mean| mean - self.mean_log >= rise);
        let mut inside = Cell::default();
        cells.iter().take(length).for_each(|cell| inside.append(cell));
        let failed = inside.failed >= FEWEST_FAILED
            && share_failed(&inside) >= self.failed.max(LEAST_FAILED) + LEAST_FAILED;
        let silent = inside.timed == 0 && self.timed * length as f64 >= LEAST_EXPECTED;
        slow || failed || silent
    }
}

fn log(mean_ns: f64) -> f64 {
    mean_ns.max(1.0).ln()
}

/// Failed attempts against those with a response time, of which some may have failed as well.
fn share_failed(cell: &Cell) -> f64 {
    let failed = f64::from(cell.failed);
    failed / failed.max(f64::from(cell.timed)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRETCH: Span = Span { from: 30, to: 35 };

    /// Three endpoints over a minute, each 100 responses a second in about a millisecond; `at` changes
    /// cells of the second one.
    fn cells(at: impl Fn(usize, &mut Cell)) -> Cells {
        let names = ["GET /a", "GET /b", "GET /c"].map(str::to_owned).to_vec();
        let cells = (0..60).flat_map(|second| {
            let wobble = 100_000 + 5_000 * (second as u64 * 7 % 5);
            let usual = Cell { timed: 100, failed: 0, response_sum_ns: 1_000 * wobble };
            let mut changed = usual;
            at(second, &mut changed);
            [usual, changed, usual]
        });
        Cells::known(names, cells.collect())
    }

    fn within(second: usize) -> bool {
        (STRETCH.from..STRETCH.to).contains(&second)
    }

    #[test]
    fn the_one_that_slowed_failed_or_fell_silent_is_named() {
        let slowed = |second, cell: &mut Cell| {
            if within(second) {
                cell.response_sum_ns *= 3;
            }
        };
        let failing = |second, cell: &mut Cell| {
            if within(second) {
                cell.failed = 10;
            }
        };
        let silent = |second, cell: &mut Cell| {
            if within(second) {
                *cell = Cell::default();
            }
        };
        let late = |second, cell: &mut Cell| {
            if second == STRETCH.to {
                cell.response_sum_ns *= 50;
            }
        };
        let hit = |cells: Cells| Usual::of(&cells).hit(STRETCH);
        for cells in [cells(slowed), cells(failing), cells(silent), cells(late)] {
            assert_eq!(hit(cells), ["GET /b"]);
        }
    }

    #[test]
    fn fewer_responses_or_the_usual_noise_hit_nobody() {
        let fewer = |second, cell: &mut Cell| {
            if within(second) {
                *cell = Cell { timed: 20, failed: 0, response_sum_ns: cell.response_sum_ns / 5 };
            }
        };
        let noisy = |second: usize, cell: &mut Cell| {
            cell.response_sum_ns =
                (cell.response_sum_ns as f64 * [1.0, 1.9, 0.6][second % 3]) as u64;
        };
        let always_failing = |_, cell: &mut Cell| cell.failed = 30;
        for cells in [cells(fewer), cells(noisy), cells(always_failing)] {
            assert_eq!(Usual::of(&cells).hit(STRETCH), Vec::<String>::new());
        }
    }

    #[test]
    fn a_run_of_one_request_names_none() {
        assert!(Usual::of(&Cells::default()).hit(STRETCH).is_empty());
    }
}
