//! Rules about a generator that was not running: held back by a quota, stopped, paused with its
//! machine, waiting for memory to be read back. What it measured meanwhile is its own doing.

use model::units::{MILLISECOND, Nanos, SECOND, show_duration};
use model::{Machine, Run, Verdict};

use super::Finding;
use crate::figures::{often, percent};

/// Share of the window from which on a rule speaks.
pub(super) const SHARE: f64 = 0.01;
/// Share of the window, or of a latency, from which on the figures are not the server's. By Little's
/// law the same share of the mean latency is the generator's.
pub(super) const SUBSTANTIAL: f64 = 0.1;
/// Share of the attempts that p99 leaves above it.
const ABOVE_P99: f64 = 0.01;
/// Shortest gap that is looked for among single latencies.
pub(super) const SEEN_NS: Nanos = 50 * MILLISECOND;
/// So many waits for pages in a second show that a worker's memory does not stay in place. A fast disk and the kernel's search
/// for free memory take little of the time in which a worker does not run, and much of that in which it does. A program that has
/// its memory waits for none, but for a few when it runs something for the first time.
pub(super) const PAGED: f64 = 20.0;

/// How much longer than the window the time may be of which gaps are a share.
const SLACK: f64 = 1.05;

/// Gaps of one kind over a window.
struct Gaps {
    /// Share of the window that was lost, 0..=1.
    share: f64,
    /// How many there were, each of which may have met whatever was in flight.
    count: f64,
    longest_ns: Nanos,
}

impl Gaps {
    /// What gaps make of a run, if they matter.
    fn verdict(&self, run: &Run) -> Option<Verdict> {
        let substantial = |latency_ns: Nanos| {
            self.longest_ns >= SEEN_NS && self.longest_ns as f64 >= SUBSTANTIAL * latency_ns as f64
        };
        let met = self.count * run.concurrency.in_flight_mean.max(1.0);
        let reach_p99 = met >= ABOVE_P99 * run.totals.attempts as f64;
        let share = if self.is_little(run) { 0.0 } else { self.share };
        if share >= SUBSTANTIAL || (reach_p99 && substantial(run.response_ns.p99)) {
            return Some(Verdict::Invalid);
        }
        let affected = share >= SHARE || substantial(run.response_ns.max);
        affected.then_some(Verdict::LowerBound)
    }

    /// How long they were: `for 1.20 % of the window, 30ms at a time`. One that is longer than all of the window's together
    /// was behind it, or reached over either of its ends.
    fn words(&self, window_ns: Nanos) -> String {
        let longest = show_duration(self.longest_ns);
        let in_window_ns = self.share * window_ns as f64;
        if self.longest_ns as f64 <= in_window_ns * SLACK {
            return format!("for {} of the window, {longest} at a time", percent(self.share));
        }
        match self.share > 0.0 {
            true => format!(
                "for {} of the window, and {longest} at a time, partly or wholly outside of it",
                percent(self.share)
            ),
            false => format!(
                "{longest} at a time, behind the window, where its last responses were awaited"
            ),
        }
    }

    /// Whether the longest gap, with the time of catching up behind it, is short beside the median response time: such gaps
    /// cost little, however many there are. A worker that is never idle does not catch up.
    fn is_little(&self, run: &Run) -> bool {
        let taken =
            run.generator.workers.iter().map(|worker| worker.busy_ratio + worker.queued_ratio);
        let left = 1.0 - taken.fold(0.0, f64::max) - self.share;
        left > 0.0 && self.longest_ns as f64 / left < SUBSTANTIAL * run.response_ns.p50 as f64
    }
}

pub(super) fn throttled(run: &Run) -> Option<Finding> {
    let machine = run.generator.machine.filter(|machine| machine.throttled > 0)?;
    let gaps = quota(run, &machine);
    let verdict = gaps.verdict(run)?;
    let evidence = format!(
        "the processor quota of the generator's cgroup held it back {}, for {} of the window, \
         {} at a time",
        often(gaps.count),
        percent(gaps.share),
        show_duration(gaps.longest_ns)
    );
    Some((verdict, evidence))
}

/// What the quota cost. The kernel adds up the time over the processors that the group ran on, which
/// are no more than there are workers or processors.
fn quota(run: &Run, machine: &Machine) -> Gaps {
    let ran_on = run.plan.threads.min(run.environment.cpus_allowed.max(1)).max(1);
    let lost_ns = machine.throttled_ns as f64 / f64::from(ran_on);
    let share = lost_ns / (machine.sampled_ns as f64).max(1.0);
    let longest_ns = (lost_ns / machine.throttled.max(1) as f64) as Nanos;
    Gaps { share: share.min(1.0), count: machine.throttled as f64, longest_ns }
}

pub(super) fn paused(run: &Run) -> Option<Finding> {
    let workers = || run.generator.workers.iter();
    let worst = workers().max_by(|a, b| a.paused_ratio.total_cmp(&b.paused_ratio))?;
    let in_flight = f64::from(workers().len().max(1) as u32);
    let gaps = Gaps {
        share: worst.paused_ratio,
        // A worker that pauses holds up its own part of what is in flight.
        count: workers().map(|worker| worker.pauses as f64).sum::<f64>() / in_flight,
        longest_ns: workers().map(|worker| worker.paused_max_ns).max().unwrap_or(0),
    };
    let stopped = gaps.verdict(run).filter(|_| !by_quota(run, worst.paused_ratio)).map(|verdict| {
        let not_running = format!("a worker was not running {}", gaps.words(run.totals.duration_ns));
        let queued = worst.queued_ratio;
        let evidence = if queued > worst.paused_ratio {
            format!(
                "{not_running}, besides {} in which it waited for a processor by the kernel's count; programs that took it \
                 may be behind both",
                percent(queued)
            )
        } else {
            format!("{not_running}: it waited neither for responses nor for a processor")
        };
        (verdict, evidence)
    });
    let worse = |found: &Finding| stopped.as_ref().is_none_or(|known| found.0 > known.0);
    as_a_whole(run).filter(worse).or(stopped).or_else(|| paged(run))
}

/// A generator that stood still with all its threads. While a worker waits for responses that does not show in it, and they
/// may come meanwhile.
fn as_a_whole(run: &Run) -> Option<Finding> {
    let machine = run.generator.machine.filter(|machine| machine.stops > 0)?;
    let share = machine.stopped_ns as f64 / (machine.sampled_ns as f64).max(1.0);
    let gaps = Gaps {
        share: share.min(1.0),
        count: machine.stops as f64,
        longest_ns: machine.stopped_max_ns,
    };
    let verdict = gaps.verdict(run).filter(|_| !by_quota(run, share))?;
    let evidence = format!(
        "the generator stood still with all its threads {}, {}",
        often(gaps.count),
        gaps.words(run.totals.duration_ns)
    );
    Some((verdict, evidence))
}

/// A worker whose memory was read back from disk again and again.
fn paged(run: &Run) -> Option<Finding> {
    let seconds = run.totals.duration_ns as f64 / SECOND as f64;
    let page_ins = run.generator.workers.iter().map(|worker| worker.page_ins).max()?;
    (seconds > 0.0 && page_ins as f64 >= PAGED * seconds.max(1.0)).then(|| {
        let evidence = format!(
            "a worker waited {} for a page of its memory to be read from disk",
            often(page_ins as f64)
        );
        (Verdict::LowerBound, evidence)
    })
}

/// Whether most of a share that was lost may be what the quota cost, which another rule reports.
fn by_quota(run: &Run, lost: f64) -> bool {
    let of = run.generator.machine.filter(|machine| machine.throttled > 0);
    of.is_some_and(|machine| throttled(run).is_some() && quota(run, &machine).share >= lost / 2.0)
}
