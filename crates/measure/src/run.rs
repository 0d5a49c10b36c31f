//! One plan from its launch to its run.

use std::sync::atomic::Ordering;

use engine::{Launch, LaunchError, Progress};
use model::units::SECOND;
use model::{Abort, Interval, Nanos, Plan, Run, RunBuilder, RunHead};

use crate::machine::Watch;

/// A closed loop that ends by count alone gives up when nobody has been served for the time-out, a pause between requests and
/// for so much longer: users that back off would go on for hours.
const PATIENCE: Nanos = 10 * SECOND;
/// Connections that fail for a reason that trying again does not change until a run is taken to have no others.
const ENOUGH: u64 = 3;
/// The share of the users, or of the arrivals, that may yet wait for a response without being taken for others.
const OTHERS: f64 = 0.1;
/// Why a run ended that had no others.
const ALL_MISMATCHED: &str =
    "every connection failed alike, for a reason that trying again does not change";

/// What is done with a run as it comes. Every method may be left out.
pub trait Observer {
    /// The run is about to start: its threads do not share files that are opened from now on. `server`: the server's processes,
    /// if it runs on this machine.
    fn starting(&mut self, server: &[u32]) {
        let _ = server;
    }

    /// Connections are being opened before the start: `open` of `planned` are open.
    fn opening(&mut self, open: u32, planned: u32) {
        let _ = (open, planned);
    }

    /// An interval has come. The run is built from it with the changes that the observer makes.
    fn interval(&mut self, interval: &mut Interval) {
        let _ = interval;
    }

    /// Whether this interval ends the run early, and by which rule. Not called again once something has ended the run.
    fn ends(&mut self, interval: &Interval) -> Option<Abort> {
        let _ = interval;
        None
    }

    /// The run is complete, and about to be judged.
    fn concluded(&mut self, run: &mut Run) {
        let _ = run;
    }
}

/// Observes nothing.
impl Observer for () {}

/// Runs a plan to its end and judges the result.
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
    let (mut mismatches, mut all_mismatched) = (Mismatches::of(&launch.plan), false);
    let mut watch = Watch::start(&launch.plan);
    let outcome = engine::launch(launch, |progress| {
        let interval = match progress {
            Progress::Launched => return observer.starting(&watch.server()),
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
        all_mismatched = aborted.is_none() && mismatches.are_all(interval);
        given_up = aborted.is_none() && !all_mismatched && unserved.too_long(interval);
        if aborted.is_some() || all_mismatched || given_up {
            launch.stop.store(true, Ordering::Relaxed);
        }
    })?;
    // A run that gives up has come to its end: its last attempts count as failed.
    let mut run = verdict::conclude(builder, outcome.stopped && !given_up);
    run.aborted = aborted;
    let mismatched = all_mismatched.then(|| ALL_MISMATCHED.to_owned());
    run.halted = outcome.halted.map(|halt| halt.to_string()).or(mismatched);
    observer.concluded(&mut run);
    run.validity = verdict::judge(&run);
    Ok(run)
}

/// For how long users have tried and none has been served.
#[derive(Debug)]
struct Unserved {
    /// After this time the run is ended; none for a load with an end of its own.
    borne_ns: Option<Nanos>,
    lasted_ns: Nanos,
}

impl Unserved {
    fn of(plan: &Plan) -> Self {
        let by_count_alone =
            plan.requests.is_some() && plan.duration_ns.is_none() && plan.rate_per_s.is_none();
        // Who pauses tries again after that.
        let pause_ns = plan.pace_ns.max(plan.think_ns).unwrap_or(0);
        let patience_ns = PATIENCE.saturating_add(pause_ns);
        let borne_ns = by_count_alone.then(|| plan.timeout_ns.saturating_add(patience_ns));
        Self { borne_ns, lasted_ns: 0 }
    }

    /// Whether it has lasted too long with this interval. One in which nobody tried, and nobody was down, says nothing, and
    /// neither does one in which the generator itself did not run.
    fn too_long(&mut self, interval: &Interval) -> bool {
        let presence = &interval.tally.presence;
        if presence.served != 0 || interval.tally.responses_done > 0 {
            self.lasted_ns = 0;
        } else if presence.unseen == 0
            && ((presence.waited | presence.failed) != 0 || presence.down_ns > 0)
        {
            let length_ns = interval.end_ns.saturating_sub(interval.start_ns);
            self.lasted_ns = self.lasted_ns.saturating_add(length_ns);
        }
        self.borne_ns.is_some_and(|borne_ns| self.lasted_ns >= borne_ns)
    }
}

/// Connections that failed since server and settings do not fit together, while no other served anybody.
#[derive(Debug)]
struct Mismatches {
    /// When the window ends, if it ends by time.
    window_end_ns: Nanos,
    count: u64,
    served: bool,
}

impl Mismatches {
    fn of(plan: &Plan) -> Self {
        let ends = |duration_ns| plan.warmup_ns.saturating_add(duration_ns);
        Self { window_end_ns: plan.duration_ns.map_or(Nanos::MAX, ends), count: 0, served: false }
    }

    /// Whether all connections of a run that would go on are of that kind, this interval's with those before. Where others
    /// are open, they may wait for responses that take long.
    fn are_all(&mut self, interval: &Interval) -> bool {
        // The last interval before the end by count is shorter.
        let is_whole = interval.end_ns.saturating_sub(interval.start_ns) >= SECOND;
        let goes_on = is_whole && interval.end_ns < self.window_end_ns;
        let tally = &interval.tally;
        self.count = self.count.saturating_add(tally.mismatches);
        self.served |= tally.responses_done > 0 || tally.requests() > 0;
        let others = match tally.presence.available() {
            _ if tally.open.max == 0 => false,
            Some(available) => available > OTHERS,
            // An open loop, or warm-up, in which nobody looks at the users' time.
            None => {
                let failed = tally.mismatches as f64;
                interval.due == 0 || failed < (1.0 - OTHERS) * interval.due as f64
            }
        };
        goes_on && !self.served && !others && self.count >= ENOUGH
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
        let paced = Plan { pace_ns: Some(30 * SECOND), ..counted.clone() };
        let pausing = PresenceTally { down_ns: SECOND, ..PresenceTally::default() };
        assert_eq!(gives_up(&paced, pausing, 0), Some(44), "a pause more, though few try");
        let timed = Plan { duration_ns: Some(90 * SECOND), ..counted.clone() };
        let at_a_rate = Plan { rate_per_s: Some(10.0), ..counted };
        assert_eq!(gives_up(&timed, refused, 0), None);
        assert_eq!(gives_up(&at_a_rate, refused, 0), None);
    }

    #[test]
    fn a_run_ends_whose_connections_all_fail_for_a_reason_that_stays() {
        let second = |mismatches, open, due, down_ns, responses_done| {
            let mut interval = Interval::new(0, Phase::Window, 0, SECOND);
            interval.due = due;
            let tally = &mut interval.tally;
            (tally.mismatches, tally.responses_done) = (mismatches, responses_done);
            tally.open.max = open;
            if due == 0 {
                (tally.presence.user_ns, tally.presence.down_ns) = (10 * SECOND, down_ns);
            }
            interval
        };
        let ends = |seconds: &[Interval]| {
            let mut mismatches = Mismatches::of(&fixture::plan());
            seconds.iter().any(|interval| mismatches.are_all(interval))
        };
        assert!(ends(&[second(70, 0, 0, 10 * SECOND, 0)]), "no handshake succeeds");
        assert!(ends(&[second(7, 0, 1000, 0, 0)]), "at a rate, with pauses between attempts");
        assert!(ends(&[second(2, 0, 0, SECOND, 0), second(2, 0, 0, SECOND, 0)]));
        assert!(!ends(&[second(2, 0, 0, SECOND, 0)]), "too few to say");
        assert!(!ends(&[second(0, 0, 0, 10 * SECOND, 0)]), "a server that is not there may come");
        assert!(ends(&[second(900, 10, 0, 10 * SECOND, 0)]), "each request fails");
        assert!(ends(&[second(990, 10, 1000, 0, 0)]), "each arrival fails");
        assert!(!ends(&[second(70, 10, 0, SECOND, 0)]), "nine of ten users wait");
        assert!(!ends(&[second(100, 10, 1000, 0, 0)]), "nine of ten arrivals wait");
        assert!(!ends(&[second(70, 10, 0, 9 * SECOND, 50)]), "some are served");
        let (well, ill) = (second(0, 10, 0, 0, 50), second(70, 0, 0, 10 * SECOND, 0));
        assert!(!ends(&[well, ill]), "what was well may be so again");
        let mut warm_up = second(900, 10, 0, 0, 0);
        warm_up.tally.presence.user_ns = 0;
        assert!(!ends(&[warm_up]), "nothing is known of the users");
        let mut last = second(70, 0, 0, 10 * SECOND, 0);
        last.end_ns = SECOND / 2;
        assert!(!ends(&[last]), "it has ended by itself");
    }
}
