//! The run of a folder, made again: as it was, or with one change, within bounds.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use measure::machine;
use model::units::{SECOND, show_duration};
use model::{Nanos, Run};
use verdict::explain::confirm::Change;

use crate::args::{RunArgs, TlsVersion};
use crate::failure::Failure;
use crate::load::input::LoadInput;
use crate::load::objectives::watch;
use crate::load::script_run::Steps;
use crate::load::shape::{IdleWorkers, Shape, threads};
use crate::profiles::taker::Taker;
use crate::results::output::{make_folder, write_run};
use crate::results::{folder::unused, resume};
use crate::runs::execute::{Extras, execute_sampled};
use crate::runs::prepare;
use crate::terminal::live::Live;
use crate::terminal::signals::{stop_on_signal, stopped};

/// The longest window of a run that is made again.
pub const LONGEST: Nanos = 10 * SECOND;
/// Source addresses for servers on this machine.
const SECOND_SOURCES: [[u8; 4]; 2] = [[127, 0, 0, 2], [127, 0, 0, 3]];

/// A run that is made again.
pub struct Again {
    /// The flags that it was made with.
    pub args: RunArgs,
    /// Where the runs go.
    pub dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Again {
    /// The run of a folder.
    ///
    /// # Errors
    /// When it may not be made again, or how it was made is not known.
    pub fn of(dir: &Path, run: &Run) -> Result<Self, Failure> {
        let args = resume::begun::<RunArgs>(dir, &run.command, "explain --confirm")?;
        Ok(Self { args, dir: unused(dir, "confirm"), stop: stop_on_signal()? })
    }

    /// Makes it, changed or not, into a folder of its own.
    ///
    /// # Errors
    /// When it cannot be made, or is interrupted.
    pub fn run(&self, words: &str, change: Option<Change>) -> Result<Run, Failure> {
        self.made(words, change, None)
    }

    /// Makes it as it was, for [`LONGEST`], while `taker` takes profiles of the server.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn profiled(&self, words: &str, taker: &mut Taker) -> Result<Run, Failure> {
        self.made(words, None, Some(taker))
    }

    /// Where a run goes.
    pub fn folder(&self, words: &str) -> PathBuf {
        self.dir.join(words.replace(' ', "-"))
    }

    fn made(
        &self,
        words: &str,
        change: Option<Change>,
        taker: Option<&mut Taker>,
    ) -> Result<Run, Failure> {
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
        let mut shape = changed(input.shape(&args.shape)?.shape(), change);
        if taker.is_some() {
            (shape.duration_ns, shape.requests) = (Some(LONGEST), None);
        }
        input.settings.check(shape)?;
        shape.check()?;
        if change == Some(Change::TwiceWorkers) {
            let now = threads(args.load.threads, shape.connections, IdleWorkers::LeftOut)?;
            args.load.threads = Some((2 * now).min(shape.connections));
        }
        args.load.threads = args.load.threads.map(|asked| asked.min(shape.connections));
        let long =
            shape.duration_ns.map(|ns| format!(" of {}", show_duration(ns))).unwrap_or_default();
        let how = match change {
            Some(change) => change.words(),
            None if taker.is_some() => "as it was, with a profile of the server",
            None => "as it was",
        };
        eprintln!("plimsoll: a run{long} {how}");
        let dir = self.folder(words);
        make_folder(&dir)?;
        let sources = args.observe.sources(input.sources())?;
        let mut prepared = prepare(input, &args.load, args.quiet)?;
        prepared.follows_profile = true;
        let (launch, _) = prepared.level(shape, IdleWorkers::Refused, &self.stop)?;
        let abort_on = watch(&args.abort, shape.rate_per_s.is_some())?;
        let extras = Extras { abort_on, sources: &sources, taker, ..Extras::default() };
        let mut live = Live::new(args.quiet).with_open_loop(shape.rate_per_s.is_some());
        let environment = machine::environment(prepared.files);
        let mut run =
            execute_sampled(&launch, environment, extras, &mut live, &mut Steps::default())?;
        run.validity = verdict::judge(&run);
        write_run(&dir, &run);
        // A run that ended by itself has raised the flag, which the next one looks at.
        if run.halted.is_some() {
            self.stop.store(false, Ordering::Relaxed);
        }
        if stopped(&self.stop) {
            return Err(Failure::Interrupted("interrupted: nothing was confirmed".to_owned()));
        }
        Ok(run)
    }
}

/// The load of a run, no longer than [`LONGEST`], halved or doubled. A run that ends by its requests ends by time as well.
fn changed(shape: Shape, change: Option<Change>) -> Shape {
    let duration_ns = Some(shape.duration_ns.map_or(LONGEST, |ns| ns.min(LONGEST)));
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
        let counted = Shape { duration_ns: None, requests: Some(1_000_000), ..closed };
        for (shape, change, connections, rate_per_s) in [
            (closed, None, 9, None),
            (counted, None, 9, None),
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
