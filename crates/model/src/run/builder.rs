//! Makes a [`Run`] of intervals, whether they come from the engine or from a journal.

use super::sums::Sums;
use super::{Run, RunHead, SCHEMA};
use crate::blocks::BlockSums;
use crate::endpoint::{MixSums, Over};
use crate::environment::Program;
use crate::interval::{Interval, Phase};
use crate::kinds::Kinds;
use crate::plan::Plan;
use crate::presence::PresenceSums;
use crate::seconds::Seconds;
use crate::slices::Slices;
use crate::timeline::Timeline;
use crate::validity::Validity;

/// Makes a [`Run`] of intervals in their order. Memory is bounded: histograms of fixed size and at
/// most 7,200 points of timeline and 64 blocks.
#[derive(Debug)]
pub struct RunBuilder {
    head: RunHead,
    sums: Sums,
    timeline: Timeline,
    slices: Slices,
    seconds: Seconds,
    kinds: Kinds,
    blocks: BlockSums,
    presence: PresenceSums,
    mix: MixSums,
}

impl RunBuilder {
    /// A run without intervals yet.
    pub fn new(head: RunHead) -> Self {
        Self {
            mix: MixSums::of(&head.plan.mix),
            seconds: Seconds::empty(&head.plan.mix),
            kinds: Kinds::default(),
            presence: PresenceSums::new(head.served_before),
            head,
            sums: Sums::default(),
            timeline: Timeline::default(),
            slices: Slices::default(),
            blocks: BlockSums::default(),
        }
    }

    /// Adds the next interval.
    pub fn add(&mut self, interval: &Interval) {
        self.timeline.add(interval);
        self.slices.add(interval);
        self.blocks.add(interval);
        self.presence.add(interval);
        self.kinds.add(interval);
        self.sums.add_connections(&interval.tally);
        if interval.phase != Phase::Warmup {
            self.sums.add_attempts(&interval.tally);
            self.mix.add(interval);
        }
        match interval.phase {
            Phase::Warmup => {}
            Phase::Window => {
                self.sums.add_window(interval);
                self.seconds.add(interval);
            }
            Phase::Drain => self.sums.add_drain(interval),
        }
    }

    /// What was to be sent.
    pub fn plan(&self) -> &Plan {
        &self.head.plan
    }

    /// The window second by second, finer than the timeline of a long run.
    pub fn seconds(&self) -> &Seconds {
        &self.seconds
    }

    /// The responses by kind over the window.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// The run so far. Its dips are not looked for and its validity is [`Validity::not_judged`]
    /// until `verdict` has concluded it.
    pub fn finish(self, interrupted: bool) -> Run {
        let Self { head, sums, timeline, slices, seconds: _, kinds, blocks, presence, mix } = self;
        let RunHead { version, started_at, command, environment, plan, served_before: _ } = head;
        let environment_cpus = environment.cpus_allowed;
        let totals = &sums.totals;
        let due_ns = plan.all_due_ns().map(|end_ns| end_ns.saturating_sub(plan.warmup_ns));
        let due_ns = due_ns.filter(|&due_ns| !interrupted || due_ns <= totals.duration_ns);
        let concurrency = sums.concurrency(plan.connections);
        let over = Over::new(totals.attempts, totals.duration_ns, concurrency.in_flight_mean)
            .with_rates_over(due_ns.unwrap_or(0).max(totals.duration_ns));
        let (endpoints, flows) = mix.finish(&plan.mix, &over);
        Run {
            schema: SCHEMA.to_owned(),
            plimsoll: Program { version },
            started_at,
            command,
            environment,
            interrupted,
            rates: sums.rates(plan.rate_per_s.is_some(), due_ns, presence.sums(), interrupted),
            concurrency,
            users: sums.users.finish(),
            response_ns: sums.response.summary(),
            service_ns: sums.service.summary(),
            late_ns: sums.late.summary(),
            observed_late_ns: sums.observed_late.summary(),
            wait_ns: sums.wait.summary(),
            first_byte_ns: sums.first_byte.summary(),
            connect_ns: sums.connect.summary(),
            tls_ns: sums.tls.summary(),
            commonest_response: sums.responses.commonest(),
            response_kinds: kinds.listed(),
            response_changes: Vec::new(),
            generator: sums.generator(environment_cpus),
            observed: None,
            dips: Vec::new(),
            histograms: sums.histograms(),
            timeline: timeline.finish(),
            slices: slices.finish(),
            blocks: blocks.finish(),
            presence: Some(presence.finish()),
            endpoints,
            flows,
            redirected_to: sums.location,
            totals: sums.totals,
            plan,
            validity: Validity::not_judged(),
            objectives: Vec::new(),
            aborted: None,
            halted: None,
        }
    }
}
