//! The times of responses, and their statuses.
//!
//! Requests of a batch leave together, and their responses often come together: then all of them took the same time, which
//! is looked up in the histograms once for as many as come in a row.

use model::Nanos;

use super::{InFlight, Recorder};

/// Responses in a row of one status that began and ended at the same instants, to requests that left at one: counted, and
/// not yet in the tally.
#[derive(Debug, Default)]
pub(super) struct AlikeTimes {
    times: Times,
    responses: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Times {
    sent: Nanos,
    first: Nanos,
    done: Nanos,
    status: u16,
}

impl Recorder {
    /// A whole response of this status began at `first` and ended at `done`.
    #[inline]
    pub(super) fn responded(&mut self, flight: InFlight, first: Nanos, done: Nanos, status: u16) {
        let times = Times { sent: flight.sent, first, done, status };
        if times != self.alike.times {
            self.settle_times();
            self.alike.times = times;
        }
        self.alike.responses += 1;
        self.since_due(flight, done);
    }

    /// An attempt was waited for until `done`, and had no whole response.
    pub(super) fn waited(&mut self, flight: InFlight, done: Nanos) {
        self.served(done.saturating_sub(flight.sent), 1);
        self.since_due(flight, done);
    }

    /// Puts into the tally what has been counted.
    pub(super) fn settle_times(&mut self) {
        let Times { sent, first, done, status } = self.alike.times;
        let responses = std::mem::take(&mut self.alike.responses);
        self.tally.statuses.record_n(status, responses);
        self.tally.first_byte.record_n(first.saturating_sub(sent), responses);
        self.served(done.saturating_sub(sent), responses);
    }

    /// The service time of `n` attempts, which in a closed loop is their response time.
    #[inline]
    fn served(&mut self, service: Nanos, n: u32) {
        self.tally.service.record_n(service, n);
        if !self.open_loop {
            self.slices.record_n(service, n);
        }
    }

    /// The response time of an attempt in an open loop, where each is due at an instant of its own.
    #[inline]
    fn since_due(&mut self, flight: InFlight, done: Nanos) {
        if self.open_loop {
            let response = self.response(flight, done);
            self.slices.record_n(response, 1);
            self.tally.response.record(response);
            self.tally.wait.record(flight.sent.saturating_sub(flight.taken));
        }
    }
}

#[cfg(test)]
mod tests {
    use model::units::{MILLISECOND, SECOND};

    use super::super::{IntervalBuffers, WholeResponse, WorkerInterval};
    use super::*;
    use crate::spent::Spent;

    /// Responses of these times in milliseconds: sent, first and done.
    fn interval(open_loop: bool, responses: &[(u64, u64, u64)]) -> WorkerInterval {
        let mut recorder = Recorder::new(open_loop, 0, 60 * SECOND);
        recorder.start(Spent::default());
        for &(sent, first, done) in responses {
            let [sent, first, done] = [sent, first, done].map(|ms| ms * MILLISECOND);
            let due = sent - MILLISECOND;
            let flight = InFlight { due, taken: due, sent, ..InFlight::default() };
            recorder.launched(flight);
            recorder.landed(flight, done);
            let response = WholeResponse { first, status: 200, failure: None, check: None };
            recorder.completed(flight, response, done);
        }
        recorder
            .advance(SECOND, Spent::default, IntervalBuffers::default)
            .expect("a second is over")
    }

    #[test]
    fn responses_of_the_same_times_count_as_often_as_they_come() {
        let (one, late) = ((10, 14, 15), (10, 14, 30));
        let tally = interval(false, &[one, one, late, one]).buffers.tally;
        let times = |latencies: &model::Latencies| {
            (latencies.count(), latencies.sum() / 1_000_000, latencies.max() / MILLISECOND)
        };
        assert_eq!(times(&tally.service), (4, 5 + 5 + 20 + 5, 20));
        assert_eq!(times(&tally.first_byte), (4, 4 * 4, 4));
        assert_eq!(times(&tally.response), (0, 0, 0), "it is the service time");
        assert_eq!(tally.statuses.seen().collect::<Vec<_>>(), [(200, 4)]);
        let tally = interval(true, &[one, one, late, one]).buffers.tally;
        assert_eq!(times(&tally.service), (4, 35, 20));
        assert_eq!(times(&tally.response), (4, 35 + 4, 21));
        assert_eq!(times(&tally.wait), (4, 4, 1));
    }

    #[test]
    fn the_last_ones_belong_to_the_interval_in_which_they_came() {
        let mut recorder = Recorder::new(false, 0, SECOND + SECOND / 2);
        recorder.start(Spent::default());
        let mut counts = Vec::new();
        for done in [999 * MILLISECOND, SECOND + MILLISECOND] {
            // Sent, begun and whole at instants of their own, but as long as each other.
            let sent = done - MILLISECOND;
            let flight = InFlight { due: sent, taken: sent, sent, ..InFlight::default() };
            let response = WholeResponse { first: done, status: 200, failure: None, check: None };
            recorder.launched(flight);
            recorder.landed(flight, done);
            recorder.completed(flight, response, done);
            let end = done.next_multiple_of(SECOND / 2);
            let part = recorder.advance(end, Spent::default, IntervalBuffers::default);
            let part = part.expect("an interval is over");
            let sliced = part.slices.iter().flat_map(|slice| &slice.counts).map(|(_, n)| n);
            counts.push((part.buffers.tally.service.count(), sliced.sum::<u64>()));
        }
        assert_eq!(counts, [(1, 1), (1, 1)]);
    }
}
