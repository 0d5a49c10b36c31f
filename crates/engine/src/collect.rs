//! From the workers' intervals to intervals over all workers, in order.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use model::interval::SliceTally;
use model::{Interval, Plan, Tally, WorkerUse};

use crate::attempt_log::LogReader;
use crate::recorder::{IntervalBuffers, WorkerInterval};

/// Merges intervals with the same index. Runs on a separate thread, so that a worker spends nothing on
/// it.
#[derive(Debug)]
pub struct Collector {
    closed_loop: bool,
    finished: Vec<bool>,
    next: u32,
    partial: BTreeMap<u32, (Interval, Vec<bool>)>,
    spares: Vec<Sender<IntervalBuffers>>,
    reader: LogReader,
}

impl Collector {
    /// A collector for as many workers as there are `spares`, through which their buffers go back.
    pub fn new(plan: &Plan, spares: Vec<Sender<IntervalBuffers>>) -> Self {
        Self {
            closed_loop: plan.rate_per_s.is_none(),
            finished: vec![false; spares.len()],
            next: 0,
            partial: BTreeMap::new(),
            spares,
            reader: LogReader::of(&plan.mix),
        }
    }

    /// Takes what a worker handed over (`None`: it is done).
    pub fn take(&mut self, worker: u32, part: Option<WorkerInterval>) {
        match part {
            None => self.finished[worker as usize] = true,
            Some(part) => self.merge(worker as usize, part),
        }
    }

    /// The next interval that every worker has contributed to, if there is one.
    pub fn next_interval(&mut self) -> Option<Interval> {
        let (_, given) = self.partial.get(&self.next)?;
        let complete =
            given.iter().zip(&self.finished).all(|(&given, &finished)| given || finished);
        if !complete {
            return None;
        }
        let (mut interval, _) = self.partial.remove(&self.next)?;
        self.next += 1;
        if self.closed_loop {
            mirror(&mut interval.tally);
        }
        Some(interval)
    }

    /// Marks every worker as done: nothing more will be handed over.
    pub fn abandon_workers(&mut self) {
        self.finished.fill(true);
    }

    /// Whether a worker is done.
    pub fn done(&self, worker: u32) -> bool {
        self.finished[worker as usize]
    }

    /// Whether every worker is done.
    pub fn finished(&self) -> bool {
        self.finished.iter().all(|&finished| finished)
    }

    fn merge(&mut self, worker: usize, part: WorkerInterval) {
        let workers = self.finished.len();
        let (interval, given) = self.partial.entry(part.index).or_insert_with(|| {
            let interval = Interval {
                workers: vec![WorkerUse::default(); workers],
                ..Interval::new(part.index, part.phase, part.start_ns, part.end_ns)
            };
            (interval, vec![false; workers])
        });
        if part.phase == interval.phase {
            interval.start_ns = interval.start_ns.min(part.start_ns);
            interval.end_ns = interval.end_ns.max(part.end_ns);
        } else if part.phase < interval.phase {
            // A worker that ran late at the window's end; the drain's length is not the window's.
            (interval.phase, interval.start_ns, interval.end_ns) =
                (part.phase, part.start_ns, part.end_ns);
        }
        interval.due += part.due;
        add_slices(&mut interval.slices, part.slices);
        let mut buffers = part.buffers;
        interval.tally.merge(&buffers.tally);
        self.reader.read(&buffers.attempts, &mut interval.tally);
        interval.workers[worker] = part.used;
        given[worker] = true;
        buffers.clear();
        // A worker that is done needs no buffers back.
        let _ = self.spares[worker].send(buffers);
    }
}

/// Adds a worker's slices: all workers' begin and end at the same instants.
fn add_slices(slices: &mut Vec<SliceTally>, of_worker: Vec<SliceTally>) {
    for (at, slice) in of_worker.into_iter().enumerate() {
        match slices.get_mut(at) {
            Some(known) => known.merge(&slice),
            None => slices.push(slice),
        }
    }
}

/// In a closed loop due = taken = sent: response is service, nothing is late and nothing waits.
fn mirror(tally: &mut Tally) {
    tally.response = tally.service.clone();
    let mut left = tally.service.count();
    while left > 0 {
        let n = left.min(u64::from(u32::MAX)) as u32;
        tally.late.record_n(0, n);
        tally.wait.record_n(0, n);
        left -= u64::from(n);
    }
}
