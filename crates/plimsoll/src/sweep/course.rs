//! The levels of a sweep one after another: run, keep, write, rest.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use model::sweep::Level;
use model::{LevelKind, Nanos, Run, Sweep};
use verdict::exit::{COULD_NOT_RUN, INTERRUPTED};
use verdict::objective::AbortWatch;
use verdict::{Ladder, Outcome, Step, exit_code_of_sweep};

use super::files::Files;
use crate::environment;
use crate::execute::{execute_watched, stopped};
use crate::failure::Failure;
use crate::live::Live;
use crate::objectives::Objectives;
use crate::resolve::{Prepared, Shape};

/// How often a rest looks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What all levels have in common.
#[derive(Debug)]
pub struct Course {
    /// Where to, and what is sent.
    pub prepared: Prepared,
    /// What the levels are.
    pub kind: LevelKind,
    /// Connections at most where levels are rates.
    pub connections: u64,
    /// The measured window of a level.
    pub duration_ns: Nanos,
    /// Time without load between two levels.
    pub rest_ns: Nanos,
    /// Raised by Ctrl-C.
    pub stop: Arc<AtomicBool>,
    /// Says nothing while running.
    pub quiet: bool,
    /// What each level is judged by.
    pub objectives: Objectives,
    /// What ends a level early, and the sweep with it.
    pub abort_on: AbortWatch,
}

/// How a sweep came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By Ctrl-C; what was measured is saved.
    Interrupted,
    /// By its ladder, or for want of files or ports.
    Complete {
        /// Whether every file could be written.
        written: bool,
    },
}

impl End {
    /// The exit code that goes with it.
    pub fn exit_code(self, sweep: &Sweep) -> u8 {
        match (self, exit_code_of_sweep(sweep)) {
            (Self::Interrupted, _) => INTERRUPTED,
            (Self::Complete { written: false }, 0) => COULD_NOT_RUN,
            (Self::Complete { .. }, code) => code,
        }
    }
}

impl Course {
    /// Runs what the ladder asks for into `sweep`, whose levels so far it is fed with first, and
    /// writes the files after each level.
    ///
    /// # Errors
    /// When not even one level could be run.
    pub fn run(
        &self,
        mut ladder: Ladder,
        sweep: &mut Sweep,
        files: &Files,
    ) -> Result<End, Failure> {
        sweep.levels.iter().for_each(|held| ladder.feed(held.level, Outcome::of(&held.run)));
        let mut live = Live::new(self.quiet, self.kind == LevelKind::Rate);
        let mut told = HashSet::new();
        let mut rested = true;
        loop {
            let level = match ladder.next() {
                Step::Run(level) => level,
                Step::Done(reason) => return Ok(end(sweep, files, reason)),
            };
            if stopped(&self.stop) || !(rested || self.rest()) {
                return Ok(interrupted(sweep, files));
            }
            let mut run = match self.level(level, &mut live, &mut told) {
                Ok(run) => run,
                Err(failure) if sweep.levels.is_empty() => return Err(failure),
                Err(failure) => return Ok(end(sweep, files, cut_off(self.kind, level, &failure))),
            };
            rested = false;
            self.objectives.judge(&mut run);
            ladder.feed(level, Outcome::of(&run));
            let aborted = run.aborted.clone();
            let cut = run.interrupted && aborted.is_none();
            if !cut || run.totals.attempts > 0 {
                sweep.insert(Level { level, run });
            }
            if cut {
                return Ok(interrupted(sweep, files));
            }
            if let Some(abort) = aborted {
                let at = verdict::figures::level_of(self.kind, level);
                let reason = format!("--abort-on '{}' struck at {at}: {}", abort.rule, abort.text);
                return Ok(end(sweep, files, reason));
            }
            files.write(sweep);
        }
    }

    fn level(
        &self,
        level: f64,
        live: &mut Live,
        told: &mut HashSet<String>,
    ) -> Result<Run, Failure> {
        let (launch, notices) = self.prepared.level(self.shape(level), true, &self.stop)?;
        for notice in notices {
            if told.insert(notice.clone()) {
                eprintln!("plimsoll: {notice}");
            }
        }
        live.set_prefix(match self.kind {
            LevelKind::Concurrency => format!("[c={level}] "),
            LevelKind::Rate => format!("[{level}/s] "),
        });
        let environment = environment::read(self.prepared.files);
        execute_watched(&launch, environment, None, live, self.abort_on.clone())
    }

    /// The shape of a level.
    pub fn shape(&self, level: f64) -> Shape {
        let (connections, rate_per_s) = match self.kind {
            LevelKind::Concurrency => (level as u64, None),
            LevelKind::Rate => (self.connections, Some(level)),
        };
        let duration_ns = Some(self.duration_ns);
        Shape { connections, rate_per_s, duration_ns, requests: None }
    }

    /// Leaves the server alone for a while; whether Ctrl-C stayed away.
    fn rest(&self) -> bool {
        let until = Instant::now() + Duration::from_nanos(self.rest_ns);
        while !stopped(&self.stop) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            thread::sleep(left.min(LOOK_EVERY));
        }
        false
    }
}

fn end(sweep: &mut Sweep, files: &Files, reason: String) -> End {
    sweep.ended = Some(reason);
    End::Complete { written: files.write(sweep) }
}

/// An interrupted sweep stays open: `--resume` goes on with it.
fn interrupted(sweep: &Sweep, files: &Files) -> End {
    if !sweep.levels.is_empty() {
        files.write(sweep);
    }
    End::Interrupted
}

fn cut_off(kind: LevelKind, level: f64, failure: &Failure) -> String {
    let reason = format!("{} could not be run: {failure}", verdict::figures::level_of(kind, level));
    eprintln!("plimsoll: {reason}");
    reason
}
