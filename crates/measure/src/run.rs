//! One plan from its launch to its run.

use std::sync::atomic::Ordering;

use engine::{Launch, LaunchError, Progress};
use model::units::SECOND;
use model::{Abort, Interval, Nanos, Plan, Run, RunBuilder, RunHead};

use crate::machine::Watch;

/// A closed loop that ends by count alone gives up when nobody has been served for the time-out and for so much longer: users
/// that back off would go on for hours.
const PATIENCE: Nanos = 10 * SECOND;

/// What is done with a run as it comes. Every method may be left out.
pub trait Observer {
    /// The run is about to start; `server` are the server's processes, where it runs on this machine.
    fn starting(&mut self, server: &[u32]) {
        let _ = server;
    }

    /// Connections are being opened before the start: `open` of `planned` are open.
    fn opening(&mut self, open: u32, planned: u32) {
        let _ = (open, planned);
    }

    /// An interval has come; what is changed in it is what the run is made of.
    fn interval(&mut self, interval: &mut Interval) {
        let _ = interval;
    }

    /// Whether this interval ends the run early, and by what. Not asked any more once something has ended it.
    fn ends(&mut self, interval: &Interval) -> Option<Abort> {
        let _ = interval;
        None
    }

    /// The run is whole, and about to be judged.
    fn concluded(&mut self, run: &mut Run) {
        let _ = run;
    }
}

/// Nobody looks.
impl Observer for () {}

/// Carries out a plan to its end and judges the result.
///
/// # Errors
/// When workers could not start or their net failed.
pub fn run(
    launch: &Launch,
    head: RunHead,
    observer: &mut impl Observer,
) -> Result<Run, LaunchError> {
    let mut builder = RunBuilder::new(head);
    let mut aborted = None;
    let (mut unserved, mut given_up) = (Unserved::of(&launch.plan), false);
    let mut watch = Watch::start(&launch.plan);
    observer.starting(&watch.server());
    let outcome = engine::launch(launch, |progress| {
        let interval = match progress {
            Progress::Opening(open) => return observer.opening(open, launch.plan.connections),
            // What opening connections cost is no part of the run.
            Progress::Started => return watch.restart(),
            Progress::Interval(interval) => interval,
        };
        interval.machine = Some(watch.interval());
        observer.interval(interval);
        builder.add(interval);
        // Whoever ends the run first has ended it.
        if launch.stop.load(Ordering::Relaxed) {
            return;
        }
        aborted = observer.ends(interval);
        given_up = aborted.is_none() && unserved.too_long(interval);
        if aborted.is_some() || given_up {
            launch.stop.store(true, Ordering::Relaxed);
        }
    })?;
    // A run that gives up has come to its end: its last attempts count as failed.
    let mut run = verdict::conclude(builder, outcome.stopped && !given_up);
    run.aborted = aborted;
    run.halted = outcome.halted.map(|halt| halt.to_string());
    observer.concluded(&mut run);
    run.validity = verdict::judge(&run);
    Ok(run)
}

/// For how long nobody has been served although somebody tried.
#[derive(Debug)]
struct Unserved {
    /// The longest that is borne; none where the load has an end of its own.
    borne_ns: Option<Nanos>,
    lasted_ns: Nanos,
}

impl Unserved {
    fn of(plan: &Plan) -> Self {
        let by_count_alone =
            plan.requests.is_some() && plan.duration_ns.is_none() && plan.rate_per_s.is_none();
        let borne_ns = by_count_alone.then(|| plan.timeout_ns.saturating_add(PATIENCE));
        Self { borne_ns, lasted_ns: 0 }
    }

    /// Whether it has lasted too long with this interval. One in which nobody tried says nothing, and neither does one in
    /// which the generator itself did not run.
    fn too_long(&mut self, interval: &Interval) -> bool {
        let presence = &interval.tally.presence;
        if presence.served != 0 || interval.tally.responses_done > 0 {
            self.lasted_ns = 0;
        } else if presence.unseen == 0 && (presence.waited | presence.failed) != 0 {
            let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
            self.lasted_ns = self.lasted_ns.saturating_add(length_ns);
        }
        self.borne_ns.is_some_and(|borne_ns| self.lasted_ns >= borne_ns)
    }
}

#[cfg(test)]
mod tests {
    use model::Phase;
    use model::interval::PresenceTally;

    use super::*;

    /// How many seconds of this kind it takes until a load of this plan gives up, of a hundred.
    fn gives_up(plan: &Plan, presence: PresenceTally, responses: u64) -> Option<u32> {
        let mut unserved = Unserved::of(plan);
        (0..100).find(|&index| {
            let start_ns = u64::from(index) * SECOND;
            let mut interval = Interval::new(index, Phase::Window, start_ns, start_ns + SECOND);
            (interval.tally.presence, interval.tally.responses_done) = (presence, responses);
            unserved.too_long(&interval)
        })
    }

    #[test]
    fn a_count_is_given_up_when_nobody_is_served_any_more() {
        let counted = Plan {
            requests: Some(1_000_000),
            duration_ns: None,
            timeout_ns: 5 * SECOND,
            ..fixture::plan()
        };
        let refused = PresenceTally { failed: 1, ..PresenceTally::default() };
        let waiting = PresenceTally { waited: u64::MAX, ..PresenceTally::default() };
        assert_eq!(gives_up(&counted, refused, 0), Some(14), "the time-out and ten seconds");
        assert_eq!(gives_up(&counted, waiting, 0), Some(14));
        assert_eq!(gives_up(&counted, PresenceTally { served: 1, ..waiting }, 0), None);
        assert_eq!(gives_up(&counted, refused, 9), None, "errors are responses");
        assert_eq!(gives_up(&counted, PresenceTally::default(), 0), None, "all think");
        assert_eq!(gives_up(&counted, PresenceTally { unseen: 1, ..waiting }, 0), None);
        let timed = Plan { duration_ns: Some(90 * SECOND), ..counted.clone() };
        let at_a_rate = Plan { rate_per_s: Some(10.0), ..counted };
        assert_eq!(gives_up(&timed, refused, 0), None);
        assert_eq!(gives_up(&at_a_rate, refused, 0), None);
    }
}
