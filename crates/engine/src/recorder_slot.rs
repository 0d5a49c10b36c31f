//! Where a worker's recorder is kept while the worker calls a source that may never return.
//!
//! A script hook that never returns blocks its worker's thread forever, and with it what the worker has
//! counted since its last interval. So a worker deposits its recorder here before it calls a script's
//! source, and withdraws it afterwards; when the run ends without the worker, the collector recovers it
//! from here. The lock is never contended: the collector takes it only once the run has given up the
//! worker.

use std::sync::Mutex;
use std::thread;

use model::Nanos;

use crate::recorder::{Recorder, WorkerInterval};

/// One worker's slot, which the collector shares.
#[derive(Debug, Default)]
pub struct RecorderSlot(Mutex<Slot>);

#[derive(Debug, Default)]
struct Slot {
    /// The worker's recorder while it calls the source, otherwise an empty one; `None` if the source
    /// always returns.
    recorder: Option<Box<Recorder>>,
    /// Whether the recorder in here is the worker's.
    deposited: bool,
}

impl RecorderSlot {
    /// Prepares the slot for a worker whose source may never return: `empty` is what the worker holds
    /// while its own recorder is deposited.
    pub(crate) fn prepare(&self, empty: Box<Recorder>) {
        if let Ok(mut slot) = self.0.try_lock() {
            slot.recorder = Some(empty);
        }
    }

    /// Deposits the worker's recorder. The worker holds an empty one in the meantime.
    #[inline]
    pub(crate) fn deposit(&self, held: &mut Box<Recorder>) {
        self.exchange(held, true);
    }

    /// Withdraws the worker's recorder. If it has been recovered, the run has ended without this
    /// worker: its thread parks forever.
    #[inline]
    pub(crate) fn withdraw(&self, held: &mut Box<Recorder>) {
        self.exchange(held, false);
    }

    #[inline]
    fn exchange(&self, held: &mut Box<Recorder>, deposited: bool) {
        if let Ok(mut slot) = self.0.try_lock()
            && let Some(recorder) = &mut slot.recorder
        {
            std::mem::swap(recorder, held);
            slot.deposited = deposited;
            return;
        }
        loop {
            thread::park();
        }
    }

    /// The intervals of a worker that will not return, if it has deposited its recorder: its window
    /// ends at `end`, and its requests in flight stay unfinished.
    pub(crate) fn recover(&self, end: Nanos, now: Nanos) -> Vec<WorkerInterval> {
        let Ok(mut slot) = self.0.try_lock() else { return Vec::new() };
        let recorder = slot.recorder.take().filter(|_| slot.deposited);
        recorder.map(|recorder| recorder.abandoned(end, now)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use model::units::{MILLISECOND, SECOND};

    use super::*;
    use crate::recorder::InFlight;
    use crate::spent::Spent;

    fn recorder() -> Box<Recorder> {
        let mut recorder = Recorder::new(false, 0, 60 * SECOND);
        recorder.start(Spent::default());
        Box::new(recorder)
    }

    #[test]
    fn what_a_worker_counted_before_it_was_stuck_is_kept() {
        let recorder_slot = RecorderSlot::default();
        recorder_slot.prepare(Box::new(Recorder::new(false, 0, SECOND)));
        let mut held = recorder();
        held.tally.succeeded = 7;
        let flight = InFlight { due: MILLISECOND, sent: MILLISECOND, ..InFlight::default() };
        held.launched(flight);
        held.launched(flight);
        recorder_slot.deposit(&mut held);
        assert_eq!(held.tally.succeeded, 0);
        recorder_slot.withdraw(&mut held);
        assert_eq!(held.tally.succeeded, 7);
        held.landed(flight, 2 * MILLISECOND);
        recorder_slot.deposit(&mut held);
        let intervals = recorder_slot.recover(1500 * MILLISECOND, 2700 * MILLISECOND);
        let ends: Vec<Nanos> = intervals.iter().map(|part| part.end_ns / MILLISECOND).collect();
        assert_eq!(ends, [1000, 1500, 2500, 2700], "seconds, the window's end, seconds, now");
        let sums = intervals.iter().map(|part| &part.buffers.tally);
        let sums =
            sums.fold((0, 0), |sum, tally| (sum.0 + tally.succeeded, sum.1 + tally.unfinished));
        assert_eq!(sums, (7, 1));
    }

    #[test]
    fn a_recorder_withdrawn_is_not_recovered() {
        let recorder_slot = RecorderSlot::default();
        assert!(recorder_slot.recover(SECOND, SECOND).is_empty(), "none was prepared");
        recorder_slot.prepare(recorder());
        let mut held = recorder();
        recorder_slot.deposit(&mut held);
        recorder_slot.withdraw(&mut held);
        assert!(recorder_slot.recover(SECOND, SECOND).is_empty(), "the worker has them");
    }
}
