//! `explain --confirm`: the experiments that confirm or refute the first findings of a run.
//!
//! Owns which experiments are made, and what is printed where one is not. [`again`] makes the run again, [`plans`] asks its
//! database for plans, [`profiled`] profiles its server. `verdict::explain::confirm` decides which experiment a finding needs
//! and what its result means.

mod again;
mod plans;
mod profiled;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use model::finding::{Confirmation, Confirmed};
use model::scans::Planned;
use model::{Finding, Findings, Run};
use observe::Source;
use verdict::explain::confirm::{self, Change, Experiment};

use self::again::Again;
use self::profiled::Profiles;
use crate::args::ExplainArgs;
use crate::failure::{Failure, usage};

/// Findings that are checked, the first ones.
const MOST: usize = 3;

/// Checks the first findings of the run, each by the experiments that change nothing but the load.
///
/// # Errors
/// When a flag is wrong, a run cannot be made again, or nothing can be carried out at all.
pub fn confirm(args: &ExplainArgs, run: &Run, findings: &mut Findings) -> Result<(), Failure> {
    let given =
        Source::parse_all(&args.observe).or_else(|why| usage(format!("--observe: {why}")))?;
    let wanted: Vec<Result<Vec<Experiment>, &str>> =
        findings.findings.iter().take(MOST).map(|found| Experiment::of(&found.code, run)).collect();
    let mut checks = wanted.iter().any(Result::is_ok).then(|| Checks::new(args, run, given));
    for (finding, wanted) in findings.findings.iter_mut().zip(wanted) {
        finding.confirmed = Some(match (wanted, &mut checks) {
            (Ok(experiments), Some(checks)) => checks.carry_out(finding, &experiments)?,
            (Err(why), _) => not_carried_out(why),
            (Ok(_), None) => continue,
        });
    }
    checks.map_or(Ok(()), Checks::end)
}

fn not_carried_out(why: &str) -> Confirmation {
    let sentence = format!("Not carried out: {}.", why.trim_end_matches('.'));
    Confirmation { outcome: Confirmed::Undecided, sentence }
}

/// What an experiment said, or why it could not be carried out; the failure of a run ends all.
type Said = Result<Result<Confirmation, String>, Failure>;

/// The experiments, and what was made for them.
struct Checks<'a> {
    args: &'a ExplainArgs,
    run: &'a Run,
    /// Sources named for the experiments.
    given: Vec<Source>,
    again: Result<Again, Failure>,
    before: Option<Run>,
    changed: BTreeMap<Change, Run>,
    profiles: Option<Result<Profiles, String>>,
    carried_out: bool,
}

impl<'a> Checks<'a> {
    fn new(args: &'a ExplainArgs, run: &'a Run, given: Vec<Source>) -> Self {
        Self {
            args,
            run,
            given,
            again: Again::of(&args.dir, run),
            before: None,
            changed: BTreeMap::new(),
            profiles: None,
            carried_out: false,
        }
    }

    /// Carries experiments out until one decides.
    fn carry_out(
        &mut self,
        finding: &Finding,
        experiments: &[Experiment],
    ) -> Result<Confirmation, Failure> {
        let (mut open, mut lacking) = (Vec::new(), None);
        for experiment in experiments {
            let said = match *experiment {
                Experiment::Change(change) => self.change(finding, change)?,
                Experiment::Plans => self.plans(finding)?,
                Experiment::Profile => self.profile(finding)?,
            };
            match said {
                Ok(said) if said.outcome == Confirmed::Undecided => open.push(said.sentence),
                Ok(said) => {
                    self.carried_out = true;
                    return Ok(said);
                }
                Err(why) => lacking = lacking.or(Some(why)),
            }
        }
        self.carried_out |= !open.is_empty();
        Ok(match lacking {
            Some(why) if open.is_empty() => not_carried_out(&why),
            _ => Confirmation { outcome: Confirmed::Undecided, sentence: open.join(" ") },
        })
    }

    /// Whether the run, made again, shows the finding again.
    fn still(&mut self, finding: &Finding) -> Result<Result<bool, String>, Failure> {
        let again = match &self.again {
            Ok(again) => again,
            Err(failure) => return Ok(Err(failure.to_string())),
        };
        let before = match self.before.take() {
            Some(before) => before,
            None => again.run("before", None)?,
        };
        let before = self.before.insert(before);
        let same = |found: &Finding| found.code == finding.code && found.subject == finding.subject;
        Ok(Ok(verdict::explain(before).findings.iter().any(same)))
    }

    fn change(&mut self, finding: &Finding, change: Change) -> Said {
        let of_load =
            matches!(change, Change::HalfLoad | Change::DoubleLoad | Change::HalfConnections);
        if of_load && !self.run.plan.stages.is_empty() {
            let why = "the load has a profile over time: change it in its file, and run it again";
            return Ok(Err(why.to_owned()));
        }
        let still = match self.still(finding)? {
            Ok(still) => still,
            Err(why) => return Ok(Err(why)),
        };
        let (Ok(again), Some(before)) = (&self.again, &self.before) else {
            return Ok(Err("the run was not made again".to_owned()));
        };
        let after = match self.changed.entry(change) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(again.run(change.words(), Some(change))?),
        };
        Ok(Ok(confirm::judge(&finding.code, change, before, after, still)))
    }

    fn plans(&mut self, finding: &Finding) -> Said {
        let database = match plans::Asked::of(self.args, self.run, finding, &self.given) {
            Ok(database) => database,
            Err(why) => return Ok(Err(why)),
        };
        let mut planned = match database.ask() {
            Ok(planned) => planned,
            Err(why) => return Ok(Err(why)),
        };
        let without_text = |planned: &[Planned]| {
            planned.iter().any(|p| p.scans.as_ref().is_err_and(|none| none.while_at_work))
        };
        if let (true, Ok(again)) = (without_text(&planned), &self.again) {
            let (run, under_load) = database.ask_while(|| again.run("asked", None));
            self.before.get_or_insert(run?);
            planned = under_load.unwrap_or(planned);
        }
        let judged = |still| confirm::plans::judge(finding, self.run, &planned, still);
        let now = judged(None);
        // Only what would refute it needs the run again.
        if judged(Some(true)).outcome != Confirmed::Refuted {
            return Ok(Ok(now));
        }
        Ok(Ok(match self.still(finding)? {
            Ok(still) => confirm::plans::judge(finding, self.run, &planned, Some(still)),
            Err(_) => now,
        }))
    }

    fn profile(&mut self, finding: &Finding) -> Said {
        let again = match &self.again {
            Ok(again) => again,
            Err(failure) => return Ok(Err(failure.to_string())),
        };
        let taken = match self.profiles.take() {
            Some(taken) => taken,
            None => profiled::take(self.args, again)?,
        };
        let taken = self.profiles.insert(taken);
        Ok(taken.as_ref().map(|taken| taken.judge(&finding.code)).map_err(Clone::clone))
    }

    /// Says where the runs are; fails if nothing was carried out since the run may not be made again.
    fn end(self) -> Result<(), Failure> {
        match self.again {
            Ok(again) if again.dir.exists() => {
                eprintln!("plimsoll: the runs are in {}", again.dir.display());
                Ok(())
            }
            Err(failure) if !self.carried_out && self.given.is_empty() => Err(failure),
            _ => Ok(()),
        }
    }
}
