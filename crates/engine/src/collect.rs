//! From the workers' pages to intervals over all workers, in order.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;

use model::{Interval, Plan, Tally, WorkerUse};

use crate::ledger::{Page, Sheet};
use crate::notes::Reader;

/// Merges pages with the same index. Runs on a thread of its own, so that a worker spends nothing on
/// it.
#[derive(Debug)]
pub struct Collector {
    closed_loop: bool,
    finished: Vec<bool>,
    next: u32,
    partial: BTreeMap<u32, (Interval, Vec<bool>)>,
    spares: Vec<Sender<Sheet>>,
    reader: Reader,
}

impl Collector {
    /// A collector for as many workers as there are `spares`, through which their sheets go back.
    pub fn new(plan: &Plan, spares: Vec<Sender<Sheet>>) -> Self {
        Self {
            closed_loop: plan.rate_per_s.is_none(),
            finished: vec![false; spares.len()],
            next: 0,
            partial: BTreeMap::new(),
            spares,
            reader: Reader::of(&plan.mix),
        }
    }

    /// Takes what a worker handed over (`None`: it is done).
    pub fn take(&mut self, worker: u32, page: Option<Page>) {
        match page {
            None => self.finished[worker as usize] = true,
            Some(page) => self.merge(worker as usize, page),
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

    /// Takes every worker for done: what they have handed over is all there will be.
    pub fn leave(&mut self) {
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

    fn merge(&mut self, worker: usize, page: Page) {
        let workers = self.finished.len();
        let (interval, given) = self.partial.entry(page.index).or_insert_with(|| {
            let interval = Interval {
                index: page.index,
                phase: page.phase,
                start_ns: page.start_ns,
                end_ns: page.end_ns,
                due: 0,
                tally: Tally::default(),
                workers: vec![WorkerUse::default(); workers],
                machine: None,
            };
            (interval, vec![false; workers])
        });
        if page.phase == interval.phase {
            interval.start_ns = interval.start_ns.min(page.start_ns);
            interval.end_ns = interval.end_ns.max(page.end_ns);
        } else if page.phase < interval.phase {
            // A worker that ran late at the window's end; the drain's length is not the window's.
            (interval.phase, interval.start_ns, interval.end_ns) =
                (page.phase, page.start_ns, page.end_ns);
        }
        interval.due += page.due;
        let mut sheet = page.sheet;
        interval.tally.merge(&sheet.tally);
        self.reader.read(&sheet.notes, &mut interval.tally);
        interval.workers[worker] = page.used;
        given[worker] = true;
        sheet.clear();
        // A worker that is done needs no sheet back.
        let _ = self.spares[worker].send(sheet);
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
