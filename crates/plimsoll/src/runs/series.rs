//! Runs one after another: the levels of a sweep, the steps of a search, the rounds of a comparison.
//!
//! Owns the rest between two runs, the live line's prefix, printing a notice only once, calling a script's hooks for each
//! run, and stopping after a run whose settings do not fit the server. Does not own which run comes next, nor what happens
//! with its result.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use engine::Launch;
use model::{Nanos, Run};
use observe::Source;
use verdict::objective::AbortWatch;

use crate::failure::{Failure, cannot_run};
use crate::load::prepared::Prepared;
use crate::load::script_run::Steps;
use crate::load::shape::{IdleWorkers, Shape};
use crate::load::tls;
use crate::profiles::stored::ProfileInto;
use crate::results::deliver::mismatch;
use crate::runs::execute::{Extras, execute_sampled};
use crate::terminal::live::Live;
use crate::terminal::signals::stopped;
use measure::machine;

/// How often a rest looks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Makes runs one after another, and remembers which notices the user has seen.
#[derive(Debug)]
pub struct Series {
    /// Where progress is shown.
    pub live: Live,
    /// What ends a run early.
    pub abort_on: AbortWatch,
    /// Where profiles come from and go to, if any are taken.
    pub profiles: Option<ProfileInto>,
    /// What is watched beside each run, apart from this machine.
    pub sources: Vec<Source>,
    stop: Arc<AtomicBool>,
    shown: HashSet<String>,
    /// The addresses that served a run.
    served: HashSet<Vec<String>>,
}

impl Series {
    /// Before the first run. `stop` is raised by Ctrl-C.
    pub fn new(live: Live, stop: Arc<AtomicBool>) -> Self {
        let (abort_on, sources) = (AbortWatch::default(), Vec::new());
        let (shown, served) = (HashSet::new(), HashSet::new());
        Self { live, abort_on, profiles: None, sources, stop, shown, served }
    }

    /// Makes one run of a load, the `nth` of those that are samples of it, counted from 0; `adjust` may change what is about to be carried out. What was to be sent may have
    /// come to an end before the run did: then nothing more can be run, the run says why it was
    /// `halted`, and the user has been informed.
    ///
    /// # Errors
    /// When it cannot be made in that shape, or not be carried out, and when server and settings do not fit together, as
    /// where the server uses TLS and the URL does not: what comes then says nothing of the server.
    pub fn run(
        &mut self,
        prefix: String,
        prepared: &Prepared,
        (nth, shape): (u64, Shape),
        adjust: impl FnOnce(Launch) -> Launch,
    ) -> Result<Run, Failure> {
        let (launch, notices) = prepared.level_of(nth, shape, IdleWorkers::LeftOut, &self.stop)?;
        for notice in notices {
            if self.shown.insert(notice.clone()) {
                eprintln!("plimsoll: {notice}");
            }
        }
        self.live.set_prefix(prefix);
        let environment = machine::environment(prepared.files);
        let mut steps = Steps::default();
        let (launch, live) = (adjust(launch), &mut self.live);
        let mut taker = self.profiles.as_ref().and_then(|into| into.taker(&launch.plan));
        let extras = Extras {
            journal: None,
            abort_on: self.abort_on.clone(),
            sources: &self.sources,
            taker: taker.as_mut(),
            served_before: self.served.contains(&launch.plan.addresses),
        };
        let run = execute_sampled(&launch, environment, extras, live, &mut steps);
        let mut run = run?;
        // A server that is still starting, or a proxy in front of it, may respond with server errors.
        if run.totals.statuses.keys().any(|status| *status < 500) {
            self.served.insert(run.plan.addresses.clone());
        }
        if let Some(why) = mismatch(&run, tls::is_used_at) {
            return cannot_run(why);
        }
        if let (Some(taker), Some(into)) = (taker, &self.profiles) {
            into.keep(taker, &run);
        }
        if let Some(script) = &prepared.script {
            script.flush();
            if let Err(why) = script.end(&run, &steps) {
                run.halted = Some(why.to_string());
            }
        }
        if let Some(why) = &run.halted {
            eprintln!("plimsoll: {why}; what was measured until then is kept");
        }
        Ok(run)
    }

    /// Leaves the server alone for a while; whether Ctrl-C stayed away.
    pub fn rest(&self, rest_ns: Nanos) -> bool {
        let until = Instant::now() + Duration::from_nanos(rest_ns);
        while !self.stopped() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(LOOK_EVERY));
        }
        false
    }

    /// Whether Ctrl-C was pressed.
    pub fn stopped(&self) -> bool {
        stopped(&self.stop)
    }
}
