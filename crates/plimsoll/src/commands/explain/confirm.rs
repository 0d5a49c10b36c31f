//! `explain --confirm`: the run of a folder made again, once as it was and once with each change that would confirm a
//! finding, and what the figures say then.
//!
//! Owns the runs and their bounds. What is changed for which finding, and what decides, is `verdict::explain::confirm`'s.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use measure::machine;
use model::finding::{Confirmation, Confirmed};
use model::units::{SECOND, show_duration};
use model::{Findings, Nanos, Run};
use verdict::explain::confirm::{Change, judge};

use crate::args::{RunArgs, TlsVersion};
use crate::failure::{Failure, usage};
use crate::load::input::LoadInput;
use crate::load::objectives::watch;
use crate::load::script_run::Steps;
use crate::load::shape::{Shape, threads};
use crate::results::output::{make_folder, write_run};
use crate::results::{folder::unused, resume};
use crate::runs::execute::{Extras, execute_sampled};
use crate::runs::prepare;
use crate::terminal::live::Live;
use crate::terminal::signals::{stop_on_signal, stopped};

/// Findings that are checked, the first ones.
const MOST: usize = 3;
/// The longest window of a run that is made again.
const LONGEST: Nanos = 10 * SECOND;
/// Source addresses for servers on this machine.
const SECOND_SOURCES: [[u8; 4]; 2] = [[127, 0, 0, 2], [127, 0, 0, 3]];

/// Checks the first findings of the run in `dir`, each by the experiment that the generator can make.
///
/// # Errors
/// When the run cannot be made again.
pub fn confirm(dir: &Path, run: &Run, findings: &mut Findings) -> Result<(), Failure> {
    let wanted: Vec<Result<Change, &str>> =
        findings.findings.iter().take(MOST).map(|finding| change(&finding.code, run)).collect();
    if wanted.iter().any(Result::is_ok) {
        let again = Again::of(dir, run)?;
        let mut made: BTreeMap<Change, Run> = BTreeMap::new();
        let before = again.run("before", None)?;
        let still: Vec<String> =
            verdict::explain(&before).findings.into_iter().map(|finding| finding.code).collect();
        for (finding, change) in findings.findings.iter_mut().zip(&wanted) {
            let Ok(change) = *change else { continue };
            let after = match made.entry(change) {
                Entry::Occupied(made) => made.into_mut(),
                Entry::Vacant(place) => place.insert(again.run(change.words(), Some(change))?),
            };
            let is_there = still.contains(&finding.code);
            let judged = judge(&finding.code, change, &before, after, is_there);
            finding.confirmed = Some(judged);
        }
        eprintln!("plimsoll: the runs are in {}", again.dir.display());
    }
    for (finding, change) in findings.findings.iter_mut().zip(wanted) {
        if let Err(why) = change {
            let sentence = format!("Not carried out: {why}.");
            finding.confirmed = Some(Confirmation { outcome: Confirmed::Undecided, sentence });
        }
    }
    Ok(())
}

/// The change for a code; what a load has a profile over time for cannot be doubled.
fn change(code: &str, run: &Run) -> Result<Change, &'static str> {
    let change = Change::of(code, run)?;
    let of_load = matches!(change, Change::HalfLoad | Change::DoubleLoad | Change::HalfConnections);
    match of_load && !run.plan.stages.is_empty() {
        true => Err("the load has a profile over time: change it in its file, and run it again"),
        false => Ok(change),
    }
}

/// A run that is made again.
struct Again {
    args: RunArgs,
    dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Again {
    fn of(dir: &Path, run: &Run) -> Result<Self, Failure> {
        let args = resume::begun::<RunArgs>(dir, &run.command, "explain --confirm")?;
        let dir = unused(dir, "confirm");
        make_folder(&dir)?;
        Ok(Self { args, dir, stop: stop_on_signal()? })
    }

    /// Makes it, changed or not, into a folder of its own.
    fn run(&self, words: &str, change: Option<Change>) -> Result<Run, Failure> {
        let mut args = self.args.clone();
        match change {
            Some(Change::KeepAlive) => args.load.no_keepalive = false,
            Some(Change::SecondSource) => {
                args.load.source = SECOND_SOURCES.map(Into::into).to_vec()
            }
            Some(Change::ResumeTls) => args.load.tls.tls_resume = true,
            Some(Change::OtherTls) => {
                (args.load.tls.tls_min, args.load.tls.tls_max) =
                    (TlsVersion::V1_2, TlsVersion::V1_3);
            }
            _ => {}
        }
        let input = LoadInput::of(args.url.as_deref().unwrap_or_default(), &args.load)?;
        let shape = changed(input.shape(&args.shape)?.shape(), change);
        input.settings.check(shape)?;
        shape.check()?;
        if change == Some(Change::TwiceWorkers) {
            let now = threads(args.load.threads, shape.connections, true)?;
            args.load.threads = Some((2 * now).min(shape.connections));
        }
        args.load.threads = args.load.threads.map(|asked| asked.min(shape.connections));
        let long =
            shape.duration_ns.map(|ns| format!(" of {}", show_duration(ns))).unwrap_or_default();
        eprintln!("plimsoll: a run{long} {}", if change.is_some() { words } else { "as it was" });
        let sources = args.observe.sources(input.sources())?;
        let mut prepared = prepare(input, &args.load)?;
        prepared.follows_profile = true;
        let (launch, _) = prepared.level(shape, false, &self.stop)?;
        let abort_on = watch(&args.abort, shape.rate_per_s.is_some())?;
        let extras = Extras { abort_on, sources: &sources, ..Extras::default() };
        let mut live = Live::new(args.quiet, shape.rate_per_s.is_some());
        let environment = machine::environment(prepared.files);
        let mut run =
            execute_sampled(&launch, environment, extras, &mut live, &mut Steps::default())?;
        run.validity = verdict::judge(&run);
        let dir = self.dir.join(words.replace(' ', "-"));
        make_folder(&dir)?;
        write_run(&dir, &run);
        if stopped(&self.stop) {
            return usage("interrupted: nothing was confirmed");
        }
        Ok(run)
    }
}

/// The load of a run, no longer than [`LONGEST`], halved or doubled.
fn changed(shape: Shape, change: Option<Change>) -> Shape {
    let duration_ns = shape.duration_ns.map(|ns| ns.min(LONGEST));
    let shape = Shape { duration_ns, ..shape };
    let half = (shape.connections / 2).max(1);
    match (change, shape.rate_per_s) {
        (Some(Change::HalfConnections), _) | (Some(Change::HalfLoad), None) => {
            Shape { connections: half, ..shape }
        }
        (Some(Change::HalfLoad), Some(rate)) => Shape { rate_per_s: Some(rate / 2.0), ..shape },
        (Some(Change::DoubleLoad), Some(rate)) => Shape {
            rate_per_s: Some(rate * 2.0),
            connections: shape.connections.saturating_mul(2),
            ..shape
        },
        (Some(Change::DoubleLoad), None) => {
            Shape { connections: shape.connections.saturating_mul(2), ..shape }
        }
        _ => shape,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_bounded_halved_and_doubled() {
        let closed = Shape {
            connections: 9,
            rate_per_s: None,
            duration_ns: Some(60 * SECOND),
            requests: None,
        };
        let open = Shape { rate_per_s: Some(100.0), ..closed };
        for (shape, change, connections, rate_per_s) in [
            (closed, None, 9, None),
            (closed, Some(Change::HalfLoad), 4, None),
            (closed, Some(Change::DoubleLoad), 18, None),
            (open, Some(Change::HalfLoad), 9, Some(50.0)),
            (open, Some(Change::DoubleLoad), 18, Some(200.0)),
            (open, Some(Change::HalfConnections), 4, Some(100.0)),
            (open, Some(Change::KeepAlive), 9, Some(100.0)),
        ] {
            let wanted = Shape { connections, rate_per_s, duration_ns: Some(LONGEST), ..shape };
            assert_eq!(changed(shape, change), wanted, "{change:?}");
        }
    }
}
