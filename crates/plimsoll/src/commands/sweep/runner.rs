//! The levels of a sweep one after another: run, store, print, rest.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::sweep::Level;
use model::units::exact_duration;
use model::{LevelKind, Nanos, Sweep};
use observe::Source;
use report::live::rough;
use verdict::exit::{COULD_NOT_RUN, INTERRUPTED};
use verdict::objective::AbortWatch;
use verdict::{
    KnownResponses, Ladder, Outcome, Step, exit_code_of_sweep, gone_for_good, mark_changed,
    mark_turned, same_server, to_measure_again,
};

use crate::args::TakeArgs;
use crate::failure::Failure;
use crate::load::objectives::Objectives;
use crate::load::prepared::Prepared;
use crate::load::shape::Shape;
use crate::profiles::stored::ProfileInto;
use crate::results::sweep_files::SweepFiles;
use crate::runs::series::Series;
use crate::terminal::live::Live;

/// What all levels have in common.
#[derive(Debug)]
pub struct SweepRunner {
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
    /// What is profiled meanwhile.
    pub take: TakeArgs,
    /// What is watched beside each level, apart from this machine.
    pub sources: Vec<Source>,
}

/// How a sweep came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By Ctrl-C; what was measured is saved.
    Interrupted,
    /// By what was to be sent: a script's error, a pool that ran out. What was measured is saved.
    Halted,
    /// By its ladder, for want of files or ports, or because the server went away or its responses changed.
    Complete {
        /// Whether every file could be written.
        written: bool,
    },
}

impl End {
    /// Whether nothing is known to be missing of what was to be written at the end.
    pub fn is_written(self) -> bool {
        !matches!(self, Self::Complete { written: false })
    }

    /// The exit code that goes with it.
    pub fn exit_code(self, sweep: &Sweep) -> u8 {
        match (self, exit_code_of_sweep(sweep)) {
            (Self::Interrupted, _) => INTERRUPTED,
            (Self::Halted, _) => COULD_NOT_RUN,
            (Self::Complete { written: false }, 0) => COULD_NOT_RUN,
            (Self::Complete { .. }, code) => code,
        }
    }
}

impl SweepRunner {
    /// Runs what the ladder asks for into `sweep`, whose levels so far it is fed with first, and
    /// writes the files after each level.
    ///
    /// # Errors
    /// When not even one level could be run.
    pub fn run(
        &self,
        mut ladder: Ladder,
        sweep: &mut Sweep,
        files: &SweepFiles,
    ) -> Result<End, Failure> {
        sweep.levels.iter().for_each(|held| ladder.feed(held.level, Outcome::of(&held.run)));
        let mut series = self.series(files)?;
        let levels = ladder.most_left();
        if levels > 1 {
            let each = exact_duration(self.duration_ns);
            let most = if ladder.left().is_none() { "at most " } else { "" };
            series.live.announce(&format!("{most}{levels} levels of {each}"), self.takes(levels));
        }
        // Further levels ask anew whether the server is still the same, unless it is not.
        if matches!(ladder.next(), Step::Run(_)) && same_server(sweep) != Some(false) {
            sweep.again = None;
        }
        let mut rested = true;
        let mut seen = KnownResponses::default();
        for held in &mut sweep.levels {
            seen.changed(&mut held.run);
        }
        loop {
            let level = match ladder.next() {
                Step::Run(level) => level,
                Step::Done(_) if !self.measure_again(&mut series, sweep) => {
                    return Ok(interrupted(sweep, files));
                }
                Step::Done(reason) => return Ok(end(sweep, files, reason)),
            };
            if series.stopped() || !(rested || series.rest(self.rest_ns)) {
                return Ok(interrupted(sweep, files));
            }
            let prefix = self.prefix(level, ladder.left());
            let shape = self.shape(level);
            let made = series.run(prefix, &self.prepared, (0, shape), |launch| launch);
            let mut run = match made {
                Ok(run) => run,
                Err(failure) if sweep.levels.is_empty() => return Err(failure),
                Err(failure) => return Ok(end(sweep, files, cut_off(self.kind, level, &failure))),
            };
            rested = false;
            let (aborted, halted) = (run.aborted.clone(), run.halted.clone());
            let changed = seen.changed(&mut run);
            mark_turned(&mut run, sweep.levels.is_empty());
            self.objectives.judge(&mut run);
            ladder.feed(level, Outcome::of(&run));
            let lost = gone_for_good(&run).map(|gone| gone.sentence(&run)).or(changed);
            let cut = run.interrupted && aborted.is_none();
            if !cut || run.totals.attempts > 0 {
                sweep.insert(Level { level, run });
            }
            if let Some(why) = halted {
                let at = verdict::figures::level_of(self.kind, level);
                end(sweep, files, format!("{at} ended early: {why}"));
                return Ok(End::Halted);
            }
            if cut {
                return Ok(interrupted(sweep, files));
            }
            if let Some(abort) = aborted {
                let at = verdict::figures::level_of(self.kind, level);
                let reason =
                    format!("--abort-on '{}' triggered at {at}: {}", abort.rule, abort.text);
                return Ok(end(sweep, files, reason));
            }
            if let Some(lost) = lost {
                let at = verdict::figures::level_of(self.kind, level);
                return Ok(end(sweep, files, format!("at {at} {lost}")));
            }
            files.write(sweep);
        }
    }

    /// What makes the runs of the levels.
    fn series(&self, files: &SweepFiles) -> Result<Series, Failure> {
        let live = Live::new(self.quiet).with_open_loop(self.kind == LevelKind::Rate);
        let mut series = Series::new(live, self.stop.clone());
        series.abort_on = self.abort_on.clone();
        series.profiles = ProfileInto::of(&self.take, files.dir())?;
        series.sources.clone_from(&self.sources);
        Ok(series)
    }

    /// Measures the first usable level again, to see whether the server is still the same, unless that is known; whether
    /// Ctrl-C stayed away. What keeps it from being measured, such as a pool that ran out, takes nothing from the levels.
    fn measure_again(&self, series: &mut Series, sweep: &mut Sweep) -> bool {
        let Some((level, windows_ns)) = to_measure_again(sweep).filter(|_| sweep.again.is_none())
        else {
            return true;
        };
        (series.abort_on, series.profiles) = (AbortWatch::default(), None);
        let prefix = named(self.kind, level, " again");
        for duration_ns in windows_ns {
            if !series.rest(self.rest_ns) {
                return false;
            }
            let shape = Shape { duration_ns: Some(duration_ns), ..self.shape(level) };
            let made = series.run(prefix.clone(), &self.prepared, (0, shape), |launch| launch);
            match made {
                Ok(run) if !run.interrupted => sweep.again = Some(Level { level, run }),
                _ if series.stopped() => {
                    sweep.again = None;
                    return false;
                }
                _ => break,
            }
            if same_server(sweep) == Some(true) {
                break;
            }
        }
        if mark_changed(sweep) {
            sweep.levels.iter_mut().for_each(|held| self.objectives.judge(&mut held.run));
        }
        true
    }

    /// How long so many levels take.
    fn takes(&self, levels: usize) -> Nanos {
        let each = self.prepared.input.settings.warmup_ns.value + self.duration_ns + self.rest_ns;
        each.saturating_mul(levels as u64).saturating_sub(self.rest_ns)
    }

    /// What the live line begins with at a level: which it is, and for how long there are others to come.
    fn prefix(&self, level: f64, left: Option<usize>) -> String {
        let left = match left.and_then(|levels| levels.checked_sub(1)) {
            Some(others @ 1..) => format!(", then {} more", rough(self.takes(others))),
            _ => String::new(),
        };
        named(self.kind, level, &left)
    }

    /// The shape of a level.
    pub fn shape(&self, level: f64) -> Shape {
        shape(self.kind, level, self.connections, self.duration_ns)
    }
}

/// What the live line of a level begins with: its name, and more.
fn named(kind: LevelKind, level: f64, more: &str) -> String {
    let level = verdict::figures::level(level);
    match kind {
        LevelKind::Concurrency => format!("[c={level}{more}] "),
        LevelKind::Rate => format!("[{level}/s{more}] "),
    }
}

/// The shape of a level of this kind, of this many connections at most where it is a rate.
pub fn shape(kind: LevelKind, level: f64, connections: u64, duration_ns: Nanos) -> Shape {
    let (connections, rate_per_s) = match kind {
        LevelKind::Concurrency => (level as u64, None),
        LevelKind::Rate => (connections, Some(level)),
    };
    Shape { connections, rate_per_s, duration_ns: Some(duration_ns), requests: None }
}

fn end(sweep: &mut Sweep, files: &SweepFiles, reason: String) -> End {
    sweep.ended = Some(reason);
    End::Complete { written: files.write(sweep) }
}

/// An interrupted sweep stays open: `--resume` continues it.
fn interrupted(sweep: &Sweep, files: &SweepFiles) -> End {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_written_on_the_live_line_as_in_the_table() {
        assert_eq!(
            named(LevelKind::Concurrency, 25_000.0, ", then 33s more"),
            "[c=25,000, then 33s more] "
        );
        assert_eq!(named(LevelKind::Rate, 1_500.0, " again"), "[1,500/s again] ");
    }
}
