//! Profiles on disk: a file of any known format, or those that a run left in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use model::profiled::{Flame, Profiled, ProfiledWindow, WINDOW_SCHEMA};
use model::{Nanos, Plan, Run};
use profile::costs::{Taken, costs};
use profile::{Filter, Profile};

use super::endpoint::Endpoint;
use super::server;
use super::taker::{self, Taker};
use crate::args::TakeArgs;
use crate::failure::{Failure, cannot_run, usage};
use crate::results::folder::{named, unused};
use crate::results::input::{self, RUN_JSON};
use crate::results::{output, stored_run};

/// The folder of profiles in a run's folder.
pub const FOLDER: &str = "profile";
/// What is known of them.
const WINDOW: &str = "window.json";
/// Their page.
const PAGE: &str = "report.html";
/// How the files of profiles end.
pub const ENDING: &str = "pprof";
/// The folder of the profiled runs of a sweep or a search.
const RUNS: &str = "profiled";

/// A profile with what is known of it.
#[derive(Debug)]
pub struct Stored {
    /// The profile itself.
    pub profile: Profile,
    /// What was allocated at the same time.
    pub allocations: Option<Profile>,
    /// The run that it was taken in.
    pub window: Option<ProfiledWindow>,
    /// What it is called.
    pub source: String,
}

/// Whether there is nothing in a folder but profiles, what is known of them, and their page.
pub fn holds_only_profiles(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    entries.all(|entry| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            let known = [WINDOW, PAGE].iter().any(|file| name == *file)
                || Path::new(&name).extension().is_some_and(|ending| ending == ENDING);
            known && entry.file_type().is_ok_and(|kind| kind.is_file())
        })
    })
}

/// Writes a run's profiles into its folder.
///
/// # Errors
/// When that cannot be done.
pub fn write(dir: &Path, taken: &taker::Taken) -> Result<(), Failure> {
    let folder = dir.join(FOLDER);
    output::make_folder(&folder)?;
    let mut files: Vec<(&str, Vec<u8>)> =
        taken.files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    files.push((WINDOW, (output::json(&taken.window) + "\n").into_bytes()));
    match output::write_files(&folder, files) {
        true => Ok(()),
        false => cannot_run(format!("the profiles in {} are not complete", folder.display())),
    }
}

/// Writes the page of a run's profile beside it; what is drawn there.
///
/// # Errors
/// When that cannot be done.
pub fn write_page(dir: &Path) -> Result<(Profiled, Flame), Failure> {
    let drawn = drawn(dir)?;
    drawn.0.notes.iter().for_each(|note| eprintln!("plimsoll: {note}"));
    let page = report::html::profiled(&drawn.0, &drawn.1).into_bytes();
    match output::write_files(&dir.join(FOLDER), [(PAGE, page)]) {
        true => Ok(drawn),
        false => cannot_run("the profile's page could not be written"),
    }
}

/// The profile in a run's folder as pages show it.
///
/// # Errors
/// When there is none, or it cannot be read.
pub fn drawn(dir: &Path) -> Result<(Profiled, Flame), Failure> {
    let mut stored = Stored::of_run(dir)?;
    let profiled = stored.costs(None, &[], &Filter::default())?;
    let kind = stored.kind(None).expect("as before");
    let tree = profile::flame(&stored.profile, kind, &[]);
    Ok((profiled, tree))
}

/// Where the profiles of runs one after another come from and go to.
#[derive(Debug, Clone)]
pub struct ProfileInto {
    /// Where they are fetched.
    pub endpoint: Endpoint,
    /// A folder for each run goes here.
    pub dir: PathBuf,
}

impl ProfileInto {
    /// Where `--profile` says, into a folder of the results in `dir`.
    ///
    /// # Errors
    /// When it is no URL, or one that says how long a profile takes.
    pub fn of(args: &TakeArgs, dir: &Path) -> Result<Option<Self>, Failure> {
        let Some(url) = &args.profile else { return Ok(None) };
        let endpoint = Endpoint::parse(url, &args.profile_header)?;
        if endpoint.seconds().is_some() {
            return usage(format!(
                "--profile {}: leave `seconds` out: each window has room for a profile of its own length",
                endpoint.shown()
            ));
        }
        Ok(Some(Self { endpoint, dir: dir.join(RUNS) }))
    }

    /// Makes sure that a profile can be taken in a window of this length, the longest there will be; `longer` is what
    /// asks for one that is long enough.
    ///
    /// # Errors
    /// When it cannot, or what `--profile` says is no URL.
    pub fn check(args: &TakeArgs, window_ns: Nanos, longer: &str) -> Result<(), Failure> {
        let Some(url) = &args.profile else { return Ok(()) };
        Taker::checked(Endpoint::parse(url, &args.profile_header)?, Some(window_ns), longer)
            .map(drop)
    }

    /// What takes the profile of a run; nothing where its window is too short for one.
    pub fn taker(&self, plan: &Plan) -> Option<Taker> {
        Taker::new(self.endpoint.clone(), plan.duration_ns).ok()
    }

    /// Keeps a run's profile with the run itself. What cannot be stored is reported, and the series goes on.
    pub fn keep(&self, taker: Taker, run: &Run) {
        let level = match run.plan.rate_per_s {
            Some(rate) => format!("r{rate}"),
            None => format!("c{}", run.plan.connections),
        };
        // A search may come back to a level; what was profiled there before stays.
        let dir = unused(&self.dir, &level);
        let kept = taker.finish(run).and_then(|taken| {
            taken.notices.iter().for_each(|notice| eprintln!("plimsoll: {notice}"));
            write(&dir, &taken)?;
            write_page(&dir).map(drop)
        });
        if let Err(failure) = kept {
            eprintln!("plimsoll: {failure}");
        } else if output::write_files(&dir, [(RUN_JSON, (output::json(run) + "\n").into_bytes())]) {
            let profile = output::typed(&["plimsoll", "profile"], &dir);
            eprintln!("plimsoll: profiled; see it: {profile}");
        }
    }
}

impl Stored {
    /// Reads a file, a run's folder, or what a URL gives over this many seconds.
    ///
    /// # Errors
    /// When it cannot be read or fetched, or is no profile.
    pub fn open(source: &str, seconds: u64, headers: &[String]) -> Result<Self, Failure> {
        let path = named(Path::new(source));
        if path.is_dir() {
            return Self::of_run(&path);
        }
        if !path.exists()
            && (source.contains("://") || source.contains(':') && !source.contains('\\'))
        {
            return Self::fetch(source, seconds, headers);
        }
        Ok(Self {
            profile: read(&path)?,
            allocations: None,
            window: None,
            source: source.to_owned(),
        })
    }

    fn fetch(source: &str, seconds: u64, headers: &[String]) -> Result<Self, Failure> {
        let endpoint = Endpoint::parse(source, headers)?;
        let kind = endpoint.kind().unwrap_or_else(|| "cpu".to_owned());
        let seconds = (kind == "cpu").then_some(seconds);
        if let Some(seconds) = endpoint.seconds().or(seconds) {
            eprintln!("plimsoll: profiling {} for {seconds} s", endpoint.shown());
        }
        let fetched = endpoint.fetch(&kind, seconds)?;
        let profile = parse(&endpoint.shown(), &fetched.body)?;
        Ok(Self { profile, allocations: None, window: None, source: endpoint.shown() })
    }

    /// Whether a folder has profiles of a run.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FOLDER).join(WINDOW).is_file()
    }

    /// Reads the profiles in a run's folder.
    ///
    /// # Errors
    /// When there are none, or one cannot be read.
    pub fn of_run(dir: &Path) -> Result<Self, Failure> {
        let dir = &named(dir);
        let folder = dir.join(FOLDER);
        let place = folder.join(WINDOW);
        let Ok(bytes) = input::read_result(&place) else {
            let shown = dir.display();
            return cannot_run(match dir.is_file() {
                true => format!(
                    "{shown}: is a file, and the folder of a run with its profile is wanted: `plimsoll run URL --profile URL \
                     --out DIR` makes one"
                ),
                false => format!(
                    "{shown}: holds no profile: `plimsoll run URL --profile URL --out {shown}` takes one in the measured window"
                ),
            });
        };
        let window: ProfiledWindow = match serde_json::from_slice(&bytes) {
            Ok(window) => window,
            Err(error) => return cannot_run(format!("{}: {error}", place.display())),
        };
        if window.schema != WINDOW_SCHEMA {
            return cannot_run(format!(
                "{}: is of {}, which this version does not read",
                place.display(),
                model::quote::quote(&window.schema)
            ));
        }
        let file = |kind: &str| window.files.iter().find(|file| file.of == kind);
        let Some(first) = file("cpu").or(window.files.first()) else {
            return cannot_run(format!("{}: names no profile", place.display()));
        };
        let inside = |name: &str| match Path::new(name).file_name() {
            Some(base) if Path::new(name) == Path::new(base) => Ok(folder.join(base)),
            _ => Err(Failure::CannotRun(format!("{}: names a file elsewhere", place.display()))),
        };
        let profile = read(&inside(&first.file)?)?;
        let allocations = match file("allocs").filter(|_| first.of == "cpu") {
            Some(file) => Some(read(&inside(&file.file)?)?),
            None => None,
        };
        let source = dir.display().to_string();
        Ok(Self { profile, allocations, window: Some(window), source })
    }

    /// The profiles' run.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    pub fn run(dir: &Path) -> Result<Run, Failure> {
        stored_run::of_folder(&named(dir)).map(|replayed| replayed.run)
    }

    /// The profile summed up, samples and frames chosen by a filter.
    ///
    /// # Errors
    /// When it has no such kind of values.
    pub fn costs(
        &mut self,
        kind: Option<&str>,
        own: &[String],
        filter: &Filter,
    ) -> Result<Profiled, Failure> {
        let kind = self.kind_or_usage(kind)?;
        let mismatch = self.mismatch();
        let (profile, missed) = filter.apply(std::mem::take(&mut self.profile));
        self.profile = profile;
        // What is looked at is looked at in both, or bytes would be charged to what is left out.
        self.allocations = self.allocations.take().map(|profile| filter.apply(profile).0);
        let mut profiled = costs(&self.taken(kind, own))
            .or_else(|error| cannot_run(format!("{}: {error}", self.source)))?;
        profiled.notes.extend(missed.iter().map(|name| format!("--{name} matched nothing")));
        profiled.notes.extend(mismatch);
        Ok(profiled)
    }

    /// What to say where the profile of a run shows another processor time than the server used.
    pub fn mismatch(&self) -> Option<String> {
        let used = self.window.as_ref()?.server_processors?;
        let cpu = self.profile.kind(Some("cpu")).ok()?;
        let in_ns =
            self.profile.value_types[cpu].unit == "nanoseconds" && self.profile.duration_ns > 0;
        let busy = self.profile.total(cpu) as f64 / self.profile.duration_ns as f64;
        in_ns.then(|| server::mismatch(busy, used)).flatten()
    }

    /// The kind of values that is asked for; else the profile's own default, but of allocations during a run what was
    /// allocated: Go's server forgets that default where it gives a difference.
    ///
    /// # Errors
    /// When there is no such kind.
    pub fn kind(&self, asked: Option<&str>) -> Result<usize, profile::Error> {
        let first = self.window.as_ref().and_then(|window| window.files.first());
        let of_allocations = first.is_some_and(|file| file.of == "allocs");
        match asked {
            None if of_allocations => {
                self.profile.kind(Some("alloc_space")).or_else(|_| self.profile.kind(None))
            }
            asked => self.profile.kind(asked),
        }
    }

    fn kind_or_usage(&self, asked: Option<&str>) -> Result<usize, Failure> {
        self.kind(asked).or_else(|error| usage(format!("{}: {error}", self.source)))
    }

    /// The profile as the crate `profile` takes it, by its default kind of values.
    ///
    /// # Errors
    /// When it has none.
    pub fn taken_by_default<'a>(&'a self, own: &'a [String]) -> Result<Taken<'a>, Failure> {
        Ok(self.taken(self.kind_or_usage(None)?, own))
    }

    /// The profile as the crate `profile` takes it.
    pub fn taken<'a>(&'a self, kind: usize, own: &'a [String]) -> Taken<'a> {
        Taken {
            profile: &self.profile,
            kind,
            allocations: self.allocations.as_ref(),
            requests: self.window.as_ref().map(|window| window.requests),
            own,
            source: &self.source,
        }
    }
}

fn read(path: &Path) -> Result<Profile, Failure> {
    match input::read_plain(path, profile::LARGEST as u64) {
        Ok(bytes) => parse(&path.display().to_string(), &bytes),
        Err(why) => cannot_run(format!("{}: {why}", path.display())),
    }
}

fn parse(source: &str, bytes: &[u8]) -> Result<Profile, Failure> {
    profile::read(bytes).or_else(|error| cannot_run(format!("{source}: {error}")))
}
