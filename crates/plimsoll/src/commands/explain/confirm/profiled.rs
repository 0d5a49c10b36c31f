//! Profiles of the server, taken while the run is made again as it was.

use model::Run;
use model::finding::Confirmation;
use model::profiled::Profiled;
use profile::Filter;
use verdict::explain::confirm::profiles::{Shown, judge};

use super::again::{Again, LONGEST};
use crate::args::ExplainArgs;
use crate::failure::Failure;
use crate::profiles::endpoint::Endpoint;
use crate::profiles::stored::{self, FOLDER, Stored};
use crate::profiles::taker::{self, Taker};

/// What the run is called.
const WORDS: &str = "profiled";
/// What the server's profile of mutexes is called, and the values in it that are times.
const MUTEX: (&str, &str) = ("mutex", "delay");

const NO_URL: &str =
    "the run was given no --profile: give the server's /debug/pprof with --profile URL";

/// Profiles of a run.
pub struct Profiles {
    run: Run,
    processor: Profiled,
    mutexes: Option<Profiled>,
    processors: Option<f64>,
    doubt: Option<String>,
}

impl Profiles {
    /// What they say of a finding.
    pub fn judge(&self, code: &str) -> Confirmation {
        let shown = Shown {
            processor: &self.processor,
            mutexes: self.mutexes.as_ref(),
            processors: self.processors,
            doubt: self.doubt.as_deref(),
        };
        judge(code, &self.run, shown)
    }
}

/// Makes the run again and takes profiles; in words, why there are none.
///
/// # Errors
/// When the run cannot be made.
pub fn take(args: &ExplainArgs, again: &Again) -> Result<Result<Profiles, String>, Failure> {
    let own = &again.args.take;
    let (url, headers) = match &args.profile {
        Some(url) => (Some(url), &args.profile_header),
        None => (own.profile.as_ref(), &own.profile_header),
    };
    let Some(url) = url else { return Ok(Err(NO_URL.to_owned())) };
    let endpoint = Endpoint::parse(url, headers)?;
    let mut taker = Taker::new(endpoint, Some(LONGEST))?.with(MUTEX.0);
    let run = again.profiled(WORDS, &mut taker)?;
    let taken = taker.finish(&run);
    Ok(taken.and_then(|taken| read(&taken, run, again)).map_err(|failure| failure.to_string()))
}

/// Keeps profiles with their run, and sums them up.
fn read(taken: &taker::Taken, run: Run, again: &Again) -> Result<Profiles, Failure> {
    let dir = again.folder(WORDS);
    stored::write(&dir, taken)?;
    let mut stored = Stored::of_run(&dir)?;
    let processor = stored.costs(Some("cpu"), &[], &Filter::default())?;
    let file = taken.window.files.iter().find(|file| file.of == MUTEX.0);
    let mutexes = file.and_then(|file| {
        let path = dir.join(FOLDER).join(&file.file);
        let mut stored = Stored::open(path.to_str()?, 0, &[]).ok()?;
        // What is empty has no costs.
        let waited = stored.costs(Some(MUTEX.1), &[], &Filter::default()).ok()?;
        Some(Profiled { requests: Some(taken.window.requests), ..waited })
    });
    let (processors, doubt) = (taken.window.processors, stored.mismatch());
    Ok(Profiles { run, processor, mutexes, processors, doubt })
}
