//! What is watched beside a run: samples of every source on the run's clock, kept in `samples.jsonl` and summed up for
//! `run.json`.
//!
//! Owns the run's clock for samples, which it learns from the intervals, and the file. Does not own how a source is
//! read (`observe`) nor what the figures mean (`verdict`). A source that fails is a gap with its error, and never ends
//! a run; neither does a file that cannot be written, whose failure is kept for a message ([`Beside::failure`]).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::Duration;

use model::interval::{Interval, Phase};
use model::sample::{Role, SCHEMA};
use model::units::{MILLISECOND, SECOND};
use model::{Nanos, Observed, ObservedBuilder, Plan, Sample};
use net::clock;
use observe::process::Which;
use observe::source::MOST_SOURCES;
use observe::{Kind, Reading, Source, Watcher};

use crate::files::{Readers, create_new};
use crate::journal::Lines;

/// The file's name in a result folder.
pub const NAME: &str = "samples.jsonl";
/// Bytes after which every second sample only is written, and then every fourth, and so on: a file of a week stays
/// below half a gigabyte.
const FIRST_BYTES: u64 = 64 << 20;
/// Readings that wait for their interval at most.
const MOST_PENDING: usize = 20_000;
/// Bytes of a line of the file at most, and sources in it: those named, and two that are always watched.
const LONGEST: usize = 4 << 20;
const MOST_KEPT: usize = MOST_SOURCES + 2;
/// Samples that a short window has at least.
const FEWEST: u64 = 8;

/// Watches beside one run.
#[derive(Debug)]
pub struct Beside {
    watcher: Watcher,
    builder: ObservedBuilder,
    pending: Vec<Reading>,
    /// When the run started, by the monotonic clock: the earliest that an interval showed.
    start_ns: Option<Nanos>,
    end_ns: Nanos,
    window: Option<(Nanos, Nanos)>,
    /// How each source is read, until its first sample is written.
    unnamed: Vec<Option<String>>,
    /// None where no folder is given, and after the first failure.
    file: Option<Samples>,
    failure: Option<io::Error>,
}

impl Beside {
    /// Begins to watch this machine, the server's processes where it runs here, and `sources`.
    pub fn start(sources: &[Source], server: &[u32], plan: &Plan, folder: Option<&Path>) -> Self {
        let mut all = vec![source(Role::Generator, "generator", Kind::Local)];
        if !server.is_empty() {
            all.push(source(Role::App, "server", Kind::Processes(Which::Pids(server.to_vec()))));
        }
        all.extend_from_slice(sources);
        let mut builder = ObservedBuilder::default();
        for source in &all {
            builder.source(&source.name, source.role, &source.read_from());
        }
        let (file, failure) = match folder.map(Samples::create) {
            None => (None, None),
            Some(Ok(file)) => (Some(file), None),
            // The summary in `run.json` is there all the same.
            Some(Err(error)) => (None, Some(error)),
        };
        Self {
            watcher: Watcher::start(&all, every(plan)),
            builder,
            pending: Vec::new(),
            start_ns: None,
            end_ns: 0,
            window: None,
            unnamed: all.iter().map(|source| Some(source.read_from())).collect(),
            file,
            failure,
        }
    }

    /// Takes what came until the end of this interval.
    pub fn interval(&mut self, interval: &Interval) {
        // An interval comes when it is over: the earliest estimate is the nearest to the truth.
        let start_ns = clock::now().saturating_sub(interval.end_ns);
        self.start_ns = Some(self.start_ns.map_or(start_ns, |known| known.min(start_ns)));
        if interval.phase == Phase::Window {
            let from = self.window.map_or(interval.start_ns, |window| window.0);
            self.window = Some((from, interval.end_ns));
        }
        self.end_ns = interval.end_ns;
        self.collect();
        self.take_until(interval.end_ns);
        // A run that is killed leaves what came until then.
        self.write(Samples::flush);
    }

    /// Takes what came until now, after the last interval.
    pub fn end(&mut self) {
        self.collect();
        self.take_until(Nanos::MAX);
        self.write(Samples::flush);
    }

    /// Why samples are not written, or no longer: once.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Ends the watching.
    pub fn finish(mut self) -> Observed {
        self.end();
        for (source, dropped) in self.watcher.dropped().enumerate() {
            self.builder.dropped(source, dropped);
        }
        self.builder.end(self.end_ns);
        self.builder.finish()
    }

    /// Writes to the file as long as it can be written.
    fn write(&mut self, what: impl FnOnce(&mut Samples) -> io::Result<()>) {
        let written = self.file.as_mut().map_or(Ok(()), what);
        if let Err(error) = written {
            (self.file, self.failure) = (None, Some(error));
        }
    }

    fn collect(&mut self) {
        let room = MOST_PENDING.saturating_sub(self.pending.len());
        self.pending.extend(self.watcher.readings().take(room));
    }

    fn take_until(&mut self, end_ns: Nanos) {
        let Some(start_ns) = self.start_ns else { return };
        let run_ns = |reading: &Reading| reading.at_ns.checked_sub(start_ns);
        let due: Vec<Reading> = self
            .pending
            .extract_if(.., |reading| run_ns(reading).is_none_or(|at_ns| at_ns <= end_ns))
            .collect();
        for mut reading in due {
            // Before the start nothing was measured; what failed then had failed when it started.
            let failed = reading.sample.error.is_some();
            let Some(at_ns) = run_ns(&reading).or(failed.then_some(0)) else { continue };
            reading.sample.at_ns = Some(at_ns);
            let in_window = self.window.is_some_and(|(from, to)| (from..=to).contains(&at_ns));
            self.builder.add(reading.source, &reading.sample, in_window);
            if let Some(offset_ns) = reading.offset_ns {
                self.builder.offset(reading.source, offset_ns);
            }
            if self.file.is_some() {
                reading.sample.read_from = self.unnamed[reading.source].take();
            }
            self.write(|file| file.append(&reading.sample));
        }
    }
}

/// What was watched beside a run that did not come to its end, from the samples that it left in `folder`, as far as
/// they are whole; none where there are none. `window` is the measured one.
pub fn replay(folder: &Path, window: (Nanos, Nanos)) -> Option<Observed> {
    let file = File::open(folder.join(NAME)).ok()?;
    let about = file.metadata().ok().filter(|about| about.is_file())?;
    let lines = Lines { from: BufReader::new(file.take(about.len())), most: LONGEST, cut: false };
    let (mut builder, mut names) = (ObservedBuilder::default(), Vec::new());
    let sample = |line: Result<Vec<u8>, String>| serde_json::from_slice::<Sample>(&line.ok()?).ok();
    for sample in lines.map_while(sample).filter(|sample| sample.schema == SCHEMA) {
        let read_from = sample.read_from.clone().unwrap_or_default();
        let sample = sample.bounded();
        let Some(at_ns) = sample.at_ns else { continue };
        let number = match names.iter().position(|name| *name == sample.source) {
            Some(number) => number,
            None if names.len() >= MOST_KEPT => continue,
            None => {
                names.push(sample.source.clone());
                builder.source(&sample.source, sample.role, &read_from)
            }
        };
        builder.add(number, &sample, (window.0..=window.1).contains(&at_ns));
    }
    builder.end(window.1);
    Some(builder.finish()).filter(|observed| !observed.sources.is_empty())
}

fn source(role: Role, name: &str, kind: Kind) -> Source {
    Source { role, name: name.to_owned(), kind }
}

/// A sample a second; more often in windows that are shorter than that would serve.
fn every(plan: &Plan) -> Duration {
    let of_window = plan.duration_ns.map_or(SECOND, |window_ns| window_ns / FEWEST);
    Duration::from_nanos(of_window.clamp(100 * MILLISECOND, SECOND))
}

/// `samples.jsonl`, a sample a line.
#[derive(Debug)]
struct Samples {
    file: BufWriter<File>,
    bytes: u64,
    stride: u64,
    /// Samples so far of each source: they take turns, and each is to be left out as often.
    seen: BTreeMap<String, u64>,
}

impl Samples {
    fn create(folder: &Path) -> io::Result<Self> {
        create_new(&folder.join(NAME), Readers::Owner).map(Self::of)
    }

    fn of(file: File) -> Self {
        Self { file: BufWriter::new(file), bytes: 0, stride: 1, seen: BTreeMap::new() }
    }

    /// Appends a sample. After a failure, a full disk for example, no more must be appended.
    fn append(&mut self, sample: &Sample) -> io::Result<()> {
        let seen = match self.seen.get_mut(&sample.source) {
            Some(seen) => seen,
            None => self.seen.entry(sample.source.clone()).or_insert(0),
        };
        *seen += 1;
        // The first says where its source is read from.
        if *seen > 1 && !seen.is_multiple_of(self.stride) {
            return Ok(());
        }
        let mut line = serde_json::to_vec(sample)?;
        line.push(b'\n');
        self.bytes += line.len() as u64;
        self.file.write_all(&line)?;
        if self.bytes > FIRST_BYTES.saturating_mul(self.stride.ilog2() as u64 + 1) {
            self.stride = self.stride.saturating_mul(2);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_watched_on_its_own_clock() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = Plan { duration_ns: Some(SECOND / 2), ..fixture::plan() };
        let mut beside = Beside::start(&[], &[], &plan, Some(folder.path()));
        for index in 0..4 {
            std::thread::sleep(Duration::from_millis(250));
            let (start, end) = (u64::from(index) * SECOND / 4, u64::from(index + 1) * SECOND / 4);
            beside.interval(&Interval::new(index, Phase::Window, start, end));
        }
        // As a run leaves it that is killed.
        let (kept, window) = (folder.path(), (0, SECOND));
        let left = replay(kept, window).expect("what was watched until then");
        let observed = beside.finish();
        let again = replay(kept, window).expect("what was watched");
        assert!(left.sources[0].samples > 0 && left.sources[0].read_from == "local", "{left:?}");
        assert_eq!(again.sources[0].figures, observed.sources[0].figures);
        let [generator] = &observed.sources[..] else { panic!("{observed:?}") };
        assert_eq!((generator.role, generator.read_from.as_str()), (Role::Generator, "local"));
        assert!(generator.samples > 0 && generator.figure("cpu.cores").is_some(), "{generator:?}");
        let text = std::fs::read_to_string(folder.path().join(NAME)).expect("samples");
        let samples: Vec<Sample> =
            text.lines().map(|line| serde_json::from_str(line).expect("a sample")).collect();
        assert!(samples.len() as u64 >= generator.samples);
        assert!(
            samples.iter().all(|sample| sample.at_ns.is_some() && sample.source == "generator")
        );
    }

    #[test]
    fn the_first_sample_of_a_late_source_is_kept_however_few_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut samples = Samples::create(folder.path()).expect("a file");
        samples.stride = 4;
        for nth in 0..3 {
            let read_from = (nth == 0).then(|| "redis://h".to_owned());
            let at_ns = Some(nth * SECOND);
            let sample = Sample { at_ns, read_from, source: "cache".into(), ..Sample::new(0) };
            samples.append(&sample).expect("room");
        }
        samples.flush().expect("room");
        let observed = replay(folder.path(), (0, SECOND)).expect("it is there");
        assert_eq!(observed.sources[0].read_from, "redis://h");
    }

    #[test]
    fn samples_that_cannot_be_written_are_reported_once_and_summed_up_all_the_same() {
        let plan = Plan { duration_ns: Some(SECOND / 2), ..fixture::plan() };
        let mut beside = Beside::start(&[], &[], &plan, Some(Path::new("/no/such/folder")));
        let why = beside.failure().expect("there is no such folder");
        assert!(why.kind() == io::ErrorKind::NotFound && beside.failure().is_none());
        // A disk that is full from the first sample on.
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        beside.file = Some(Samples::of(full));
        std::thread::sleep(Duration::from_millis(250));
        beside.interval(&Interval::new(0, Phase::Window, 0, SECOND / 4));
        beside.write(|file| file.append(&Sample::new(0)).and_then(|()| file.flush()));
        assert!(beside.failure().is_some() && beside.file.is_none() && beside.failure().is_none());
        assert!(!beside.finish().sources.is_empty());
    }

    #[test]
    fn short_windows_are_sampled_more_often() {
        for (duration_ns, every_ms) in [
            (None, 1_000),
            (Some(60 * SECOND), 1_000),
            (Some(2 * SECOND), 250),
            (Some(SECOND / 10), 100),
        ] {
            let plan = Plan { duration_ns, ..fixture::plan() };
            assert_eq!(every(&plan), Duration::from_millis(every_ms));
        }
    }
}
