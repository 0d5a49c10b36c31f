//! The runs of a tuning, all with the same flags.

use std::path::Path;
use std::time::Duration;

use model::Run;
use model::quote::counted;
use model::tuning::{Station, Tuning};
use model::units::exact_duration;

use super::notebook::Notebook;
use super::{count, station};
use crate::failure::{Failure, cannot_run};
use crate::fetch;
use crate::load::address::Destination;
use crate::runs::repeat;
use crate::secrets::mask_url;
use crate::terminal::live::{Live, waiting};

/// How long a server is waited for that is asked once: as long as a run waits for a response.
const PATIENCE: Duration = Duration::from_secs(30);

/// What makes the runs of a story.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'t> {
    /// Where they are kept.
    pub book: &'t Notebook,
    /// Their flags.
    pub tuning: &'t Tuning,
    /// Whether nothing is printed while they run.
    pub quiet: bool,
}

impl Runs<'_> {
    /// Says how long so many runs take.
    pub fn announce(&self, runs: u64) {
        let each = self.tuning.duration_ns.saturating_add(self.tuning.warmup_ns);
        let live = Live::new(self.quiet);
        live.announce(&counted(runs, "run"), each.saturating_mul(runs));
    }

    /// A station that was measured once, and before that profiled if it says where its profile is.
    ///
    /// # Errors
    /// When a run cannot be made or kept.
    pub fn measured(
        &self,
        name: &str,
        url: &str,
        profile: Option<&str>,
    ) -> Result<Station, Failure> {
        let mut station = self.profiled(name, url, profile)?;
        self.again(&mut station, url)?;
        Ok(station)
    }

    /// A station that was profiled, if it says where its profile is, and not measured yet. Taking a profile costs the
    /// server a little, which a comparison must not hold against it: this run counts in none.
    ///
    /// # Errors
    /// When a run cannot be made or kept.
    pub fn profiled(
        &self,
        name: &str,
        url: &str,
        profile: Option<&str>,
    ) -> Result<Station, Failure> {
        let mut station = station(name, url, profile);
        if profile.is_some() {
            let (dir, path) = self.book.run_folder(name);
            self.one(url, profile, &path)?;
            station.dir = dir;
        }
        Ok(station)
    }

    /// One more run of a station; its successes per second.
    ///
    /// # Errors
    /// When a run cannot be made or kept.
    pub fn again(&self, station: &mut Station, url: &str) -> Result<f64, Failure> {
        let (dir, path) = self.book.run_folder(&station.name);
        let run = self.one(url, None, &path)?;
        if station.dir.is_empty() {
            station.dir = dir;
        }
        Ok(count(station, &run))
    }

    /// A run of a server that a station is compared with.
    ///
    /// # Errors
    /// When a run cannot be made or kept.
    pub fn beside(&self, name: &str, url: &str) -> Result<Run, Failure> {
        let (_, path) = self.book.run_folder(name);
        self.one(url, None, &path)
    }

    fn one(&self, url: &str, profile: Option<&str>, path: &Path) -> Result<Run, Failure> {
        let tuning = self.tuning;
        let mut flags = vec![
            "-c".to_owned(),
            tuning.connections.to_string(),
            "-d".to_owned(),
            exact_duration(tuning.duration_ns),
        ];
        if tuning.warmup_ns > 0 {
            flags.extend(["--warmup".to_owned(), exact_duration(tuning.warmup_ns)]);
        }
        flags.extend(
            tuning.threads.iter().flat_map(|threads| ["-t".to_owned(), threads.to_string()]),
        );
        flags.extend(tuning.spin.then(|| "--spin".to_owned()));
        flags.extend(self.quiet.then(|| "--quiet".to_owned()));
        flags.extend(tuning.slo.iter().flat_map(|slo| ["--slo".to_owned(), slo.clone()]));
        flags.extend(profile.iter().flat_map(|url| ["--profile".to_owned(), (*url).to_owned()]));
        let made = repeat::make(&repeat::arguments(url, &flags)?, Some(path), None);
        if made.is_err() {
            self.book.forget(path);
        }
        made
    }
}

/// Asks each server once, so that none is loaded for a comparison with one that is not there; a slow one is named unless
/// `quiet`.
///
/// # Errors
/// When one does not respond.
pub fn must_answer<'u>(
    urls: impl IntoIterator<Item = &'u str>,
    quiet: bool,
) -> Result<(), Failure> {
    for url in urls.into_iter().filter(|url| !Path::new(url).is_file()) {
        let to = Destination::parse(url)?;
        let url = mask_url(url);
        let what = format!("waiting for the response from {url}, up to {}s", PATIENCE.as_secs());
        if let Err(why) = waiting(quiet, &what, || fetch::get(&to, &[], PATIENCE)) {
            return cannot_run(format!("{url}: {why}. No server was loaded"));
        }
    }
    Ok(())
}
