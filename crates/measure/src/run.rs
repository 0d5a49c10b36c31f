//! One plan from its launch to its run.

use std::sync::atomic::Ordering;

use engine::{Launch, LaunchError, Progress};
use model::{Abort, Interval, Run, RunBuilder, RunHead};

use crate::machine::Watch;

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
    let mut watch = Watch::start(&launch.plan);
    observer.starting(&watch.server());
    let outcome = engine::launch(launch, |progress| {
        let interval = match progress {
            Progress::Opening(open) => {
                watch.restart();
                return observer.opening(open, launch.plan.connections);
            }
            Progress::Interval(interval) => interval,
        };
        interval.machine = Some(watch.interval());
        observer.interval(interval);
        builder.add(interval);
        // Whoever ends the run first has ended it.
        if !launch.stop.load(Ordering::Relaxed)
            && let Some(abort) = observer.ends(interval)
        {
            launch.stop.store(true, Ordering::Relaxed);
            aborted = Some(abort);
        }
    })?;
    let mut run = verdict::conclude(builder, outcome.stopped);
    run.aborted = aborted;
    run.halted = outcome.halted.map(|halt| halt.to_string());
    observer.concluded(&mut run);
    run.validity = verdict::judge(&run);
    Ok(run)
}
