//! The slices of intervals: parts of a second that the charts of a short run are drawn from.
//!
//! Owns where slices end, and the response times of the open one. All other counts are those of the
//! interval, of which a slice is what was added since it began; so a slice costs nothing until it is
//! closed, but for one count by range for every response.

use model::Nanos;
use model::interval::{GaugeSum, Phase, RangeCounts, SLICED_AT_MOST, SliceTally, slice_length};

use super::Recorder;

/// The slices of the interval that is open.
#[derive(Debug)]
pub(super) struct Slices {
    /// How long they are; `None` in a long run: then an interval is one slice, which is not kept.
    length: Option<Nanos>,
    closed: Vec<SliceTally>,
    start: Nanos,
    end: Nanos,
    times: RangeCounts,
    before: Sums,
    /// Requests unanswered over the closed ones.
    in_flight: GaugeSum,
}

/// Counts of the interval so far.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    due: u64,
    responses_done: u64,
    failed: u64,
}

impl Slices {
    /// Those of a run whose window is planned to end then, or never by the clock.
    pub(super) fn of_run(window_end: Nanos) -> Self {
        let length = slice_length((window_end < Nanos::MAX).then_some(window_end));
        Self {
            length,
            closed: Vec::with_capacity(16),
            start: 0,
            end: 0,
            times: RangeCounts::default(),
            before: Sums::default(),
            in_flight: GaugeSum::default(),
        }
    }

    pub(super) fn start(&self) -> Nanos {
        self.start
    }

    /// When the open slice ends: with the interval, if not before.
    #[inline]
    pub(super) fn end(&self) -> Nanos {
        self.end
    }

    /// Counts the response time that `n` attempts had.
    #[inline]
    pub(super) fn record_n(&mut self, response: Nanos, n: u32) {
        if self.length.is_some() {
            self.times.record_n(response, n);
        }
    }

    /// The open interval ends at `boundary` and belongs to `phase`. The drain has no slices: nobody knows
    /// how long it is.
    pub(super) fn bound(&mut self, boundary: Nanos, phase: Phase) {
        if phase == Phase::Drain || self.start >= SLICED_AT_MOST {
            self.length = None;
        }
        let end = self.length.map_or(boundary, |length| self.start.saturating_add(length));
        self.end = end.min(boundary);
    }

    /// The closed slices of an interval that is over, and the requests unanswered over it.
    pub(super) fn take(&mut self) -> (Vec<SliceTally>, GaugeSum) {
        self.before = Sums::default();
        (std::mem::take(&mut self.closed), std::mem::take(&mut self.in_flight))
    }
}

impl Recorder {
    /// Closes the open slice at `end` and begins the next.
    pub(super) fn close_slice(&mut self, end: Nanos) {
        self.settle_times();
        let in_flight = self.in_flight.take(end);
        let sums = self.sums();
        let slices = &mut self.slices;
        slices.in_flight.append(&in_flight);
        if slices.length.is_some() {
            let (counts, max_ns) = slices.times.take();
            let before = slices.before;
            slices.closed.push(SliceTally {
                start_ns: slices.start,
                end_ns: end,
                due: sums.due.saturating_sub(before.due),
                responses_done: sums.responses_done.saturating_sub(before.responses_done),
                failed: sums.failed.saturating_sub(before.failed),
                counts,
                max_ns,
                in_flight,
            });
        }
        (slices.start, slices.before) = (end, sums);
    }

    fn sums(&self) -> Sums {
        Sums {
            due: self.due,
            responses_done: self.tally.responses_done,
            failed: self.tally.attempts().saturating_sub(self.tally.succeeded),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::units::{MILLISECOND, SECOND};

    use super::super::{InFlight, IntervalBuffers, WholeResponse, WorkerInterval};
    use super::*;
    use crate::spent::Spent;

    fn intervals(recorder: &mut Recorder, now: Nanos) -> Vec<WorkerInterval> {
        let turn = || recorder.advance(now, Spent::default, IntervalBuffers::default);
        std::iter::from_fn(turn).collect()
    }

    /// A request that was sent `ms` before `done`.
    fn respond(recorder: &mut Recorder, done: Nanos, ms: u64) {
        let sent = done - ms * MILLISECOND;
        let flight = InFlight { due: sent, taken: sent, sent, ..InFlight::default() };
        recorder.launched(flight);
        let response = WholeResponse { first: done, status: 200, failure: None, check: None };
        recorder.landed(flight, done);
        recorder.completed(flight, response, done);
    }

    #[test]
    fn a_short_run_has_slices_that_add_up_to_its_intervals() {
        let mut recorder = Recorder::new(false, 0, 1250 * MILLISECOND);
        recorder.start(Spent::default());
        let mut whole = Vec::new();
        for at in (50..1250).step_by(50) {
            let now = at * MILLISECOND;
            if recorder.behind(now) {
                whole.extend(intervals(&mut recorder, now));
            }
            respond(&mut recorder, now, if at == 350 { 40 } else { 10 });
        }
        whole.extend(intervals(&mut recorder, 2 * SECOND));
        let slices: Vec<usize> = whole.iter().map(|part| part.slices.len()).collect();
        assert_eq!(slices, [10, 3], "the window's end ends a slice");
        for part in &whole {
            let sum: u64 = part.slices.iter().map(|slice| slice.responses_done).sum();
            assert_eq!(sum, part.buffers.tally.responses_done);
            let counted = part.slices.iter().flat_map(|slice| &slice.counts).map(|(_, n)| n);
            assert_eq!(counted.sum::<u64>(), part.buffers.tally.service.count());
            assert_eq!(part.slices[0].start_ns, part.start_ns);
        }
        let fourth = &whole[0].slices[3];
        assert_eq!((fourth.start_ns / MILLISECOND, fourth.end_ns / MILLISECOND), (300, 400));
        assert_eq!((fourth.max_ns, fourth.responses_done), (40 * MILLISECOND, 2));
        assert_eq!(whole[1].slices[2].end_ns, 1250 * MILLISECOND);
        assert_eq!(recorder.phase, Phase::Drain);
        assert!(intervals(&mut recorder, 3 * SECOND)[0].slices.is_empty());
    }

    #[test]
    fn a_long_run_has_none() {
        let mut recorder = Recorder::new(false, 0, 60 * SECOND);
        recorder.start(Spent::default());
        respond(&mut recorder, 500 * MILLISECOND, 10);
        assert!(!recorder.behind(SECOND - 1));
        assert!(intervals(&mut recorder, SECOND)[0].slices.is_empty());
    }

    #[test]
    fn a_run_of_unknown_length_has_slices_at_first() {
        let mut recorder = Recorder::new(false, 0, Nanos::MAX);
        recorder.start(Spent::default());
        let parts = intervals(&mut recorder, 20 * SECOND);
        let with = parts.iter().filter(|part| part.slices.len() == 10).count();
        assert_eq!((parts.len(), with), (20, 12));
        assert!(parts[12..].iter().all(|part| part.slices.is_empty()));
    }

    #[test]
    fn requests_in_flight_are_integrated_by_slices() {
        let mut recorder = Recorder::new(false, 0, SECOND);
        recorder.start(Spent::default());
        recorder.in_flight.step(0, 4);
        recorder.in_flight.step(50 * MILLISECOND, -2);
        let parts = intervals(&mut recorder, SECOND);
        let means = parts[0].slices.iter().map(|s| s.in_flight.mean(100 * MILLISECOND));
        assert_eq!(means.take(3).collect::<Vec<_>>(), [3.0, 2.0, 2.0]);
        let whole = parts[0].buffers.tally.in_flight;
        assert_eq!((whole.mean(SECOND), whole.max), (2.1, 4));
    }
}
