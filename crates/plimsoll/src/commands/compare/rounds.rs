//! The rounds of a comparison: runs of both servers in turns, each stored in its own folder.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::quote::counted;
use model::{Nanos, Run, Verdict};
use verdict::{KnownResponses, gone_for_good};

use super::files::{Files, Progress};
use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::load::prepared::Prepared;
use crate::load::shape::Shape;
use crate::results::output;
use crate::runs::series::Series;
use crate::terminal::live::Live;

/// One of the servers.
#[derive(Debug)]
pub struct Contestant {
    /// `old` or `new`.
    pub word: &'static str,
    /// Where to, and what is sent.
    pub prepared: Prepared,
}

/// The rounds so far. Histograms by the second are dropped once a run is on disk: what is held in
/// memory is what judging takes.
#[derive(Debug)]
pub struct Rounds {
    contestants: Vec<Contestant>,
    shape: Shape,
    rest_ns: Nanos,
    series: Series,
    of: u64,
    /// A run of each contestant a round, in the contestants' order.
    runs: Vec<Vec<Run>>,
    kept: Vec<(String, String)>,
    /// Which round could not be made, or not to its end, and why.
    failed: Option<String>,
    /// The kinds of responses of each contestant so far.
    seen: Vec<KnownResponses>,
    /// Which server went away or changed, when, and in whose words.
    lost: Option<String>,
    /// Whether runs that are not valid are judged too, or the first of them was reported.
    bears_doubt: bool,
}

impl Rounds {
    /// Before the first.
    pub fn new(
        contestants: Vec<Contestant>,
        shape: Shape,
        args: &CompareArgs,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            seen: vec![KnownResponses::default(); contestants.len()],
            contestants,
            shape,
            rest_ns: args.rest,
            series: Series::new(
                Live::new(args.quiet).with_open_loop(shape.rate_per_s.is_some()),
                stop,
            ),
            of: args.rounds,
            runs: Vec::new(),
            kept: Vec::new(),
            failed: None,
            lost: None,
            bears_doubt: args.anyway,
        }
    }

    /// Says how long all rounds will take.
    pub fn announce(&self) {
        let warmup_ns = self.contestants[0].prepared.input.settings.warmup_ns.value;
        let runs = self.of.saturating_mul(self.contestants.len() as u64);
        let each_ns = warmup_ns + self.shape.duration_ns.unwrap_or_default() + self.rest_ns;
        let total_ns = each_ns.saturating_mul(runs).saturating_sub(self.rest_ns);
        let (rounds, runs) = (counted(self.of, "round"), counted(runs, "run"));
        self.series.live.announce(&format!("{rounds}, {runs}"), total_ns);
    }

    /// Rounds made and asked for.
    pub fn progress(&self) -> Progress {
        let (failed, lost) = (self.failed.is_some(), self.lost.is_some());
        Progress { made: self.runs.len() as u64, asked: self.of, failed, lost }
    }

    /// How long the measured window of each run is.
    pub fn each_ns(&self) -> Nanos {
        self.shape.duration_ns.unwrap_or_default()
    }

    /// Runs one round, odd ones in the opposite order; whether it came to its end.
    ///
    /// # Errors
    /// When a run could not be made.
    pub fn run(&mut self, round: u64, files: &Files) -> Result<bool, Failure> {
        let mut order: Vec<usize> = (0..self.contestants.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        let mut made: Vec<(usize, Run)> = Vec::new();
        for at in order {
            if !(round == 0 && made.is_empty() || self.series.rest(self.rest_ns)) {
                return Ok(false);
            }
            let (run, changed) = self.one(round, at, files)?;
            let lost = gone_for_good(&run).map(|gone| gone.sentence(&run)).or(changed);
            let word = self.contestants[at].word;
            let with_round = |why: String| format!("{word} in round {}: {why}", round + 1);
            (self.failed, self.lost) = (run.halted.clone().map(with_round), lost.map(with_round));
            if run.interrupted || self.failed.is_some() || self.lost.is_some() {
                return Ok(false);
            }
            made.push((at, run));
        }
        made.sort_by_key(|(at, _)| *at);
        self.runs.push(made.into_iter().map(|(_, run)| judged_by(run)).collect());
        Ok(true)
    }

    /// One run, and whether its server responds differently than before.
    fn one(
        &mut self,
        round: u64,
        at: usize,
        files: &Files,
    ) -> Result<(Run, Option<String>), Failure> {
        let contestant = &self.contestants[at];
        let number = round + 1;
        let prefix = format!("[{number}/{} {}] ", self.of, contestant.word);
        // Each round is a sample of the arrivals too, which both of its runs have in common.
        let of = (round, self.shape);
        let mut run = self.series.run(prefix, &contestant.prepared, of, |launch| launch)?;
        let changed = self.seen[at].changed(&mut run);
        let verdict = run.validity.verdict;
        if verdict != Verdict::Valid && !self.bears_doubt && !run.interrupted {
            self.bears_doubt = true;
            let against = run.validity.reasons.iter().find(|r| r.consequence == verdict);
            let why =
                against.map_or_else(String::new, |reason| format!(" ({})", reason.code.name()));
            eprintln!(
                "plimsoll: {} in round {number} is {}{why}: no judgement will be made; to make one all the same: {} --anyway",
                contestant.word,
                verdict.name(),
                output::typed(&["plimsoll", "report"], files.dir())
            );
        }
        let name = format!("round-{number:02}-{}", contestant.word);
        let dir = files.dir().join(&name);
        output::make_folder(&dir)?;
        if output::write_run(&dir, &run) {
            self.kept.push((name.clone(), format!("{name}/report.html")));
        }
        Ok((run, changed))
    }

    /// Both runs of each whole round.
    pub fn pairs(&self) -> Vec<[Run; 2]> {
        let pair = |round: &Vec<Run>| <[Run; 2]>::try_from(round.clone()).ok();
        self.runs.iter().filter_map(pair).collect()
    }

    /// The runs of a lone contestant.
    pub fn singles(&self) -> Vec<Run> {
        self.runs.iter().flatten().cloned().collect()
    }

    /// Each run's folder, and the page in it.
    pub fn kept(&self) -> &[(String, String)] {
        &self.kept
    }

    /// Ends the comparison with a round that could not be made, and says why.
    pub fn fail(&mut self, round: u64, failure: &Failure) {
        let why = format!("round {}: {failure}", round + 1);
        eprintln!("plimsoll: {why}");
        self.failed = Some(why);
    }

    /// Which round could not be made, or not to the end of what was to be sent, and why, if one could not.
    pub fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Which server went away or changed, when and in whose words, if one did.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// Whether Ctrl-C was pressed.
    pub fn stopped(&self) -> bool {
        self.series.stopped()
    }
}

/// Without what judging by rounds does not read; the run on disk has it.
fn judged_by(mut run: Run) -> Run {
    run.timeline = Vec::new();
    run.slices = Vec::new();
    run.blocks = Vec::new();
    run.histograms.clear();
    run
}
