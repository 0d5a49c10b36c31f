//! Takes profiles during a run: threads of this program request them from the server after the first interval of the
//! window, for a time that ends before the window does. The requests completed meanwhile are counted from the run's own
//! intervals.

use std::io;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use model::profiled::{ProfileFile, ProfiledWindow, WINDOW_SCHEMA};
use model::units::SECOND;
use model::{Interval, Nanos, Phase, Run};

use super::endpoint::Endpoint;
use super::{server, stored};
use crate::failure::{Failure, cannot_run, usage};

/// What the first interval takes, and what is left at the end.
const EDGES_NS: Nanos = 2 * SECOND;
/// The shortest profile.
const LEAST_S: u64 = 2;
/// How long an unfinished profile is waited for after the run.
const PATIENCE: Duration = Duration::from_secs(20);

/// A profile, when it was asked for, and what the server used meanwhile, in processors.
type Answer = Result<(Vec<u8>, Instant, Option<f64>), Failure>;

/// Takes the profiles of one run.
#[derive(Debug)]
pub struct Taker {
    endpoint: Endpoint,
    kinds: Vec<&'static str>,
    /// Of the server under load.
    addresses: Vec<String>,
    seconds: u64,
    running: Vec<(&'static str, io::Result<JoinHandle<Answer>>)>,
    /// When the profiles were asked for: here, and on the run's clock.
    began: Option<(Instant, Nanos)>,
    /// Of each interval of the window since: start, end, responses.
    intervals: Vec<(Nanos, Nanos, u64)>,
}

/// Profiles of a run.
#[derive(Debug)]
pub struct Taken {
    /// What is known of them.
    pub window: ProfiledWindow,
    /// Their bytes, by their files' names.
    pub files: Vec<(String, Vec<u8>)>,
    /// What could not be taken beside the processor's profile.
    pub notices: Vec<String>,
}

impl Taker {
    /// Asks for nothing yet. The window must have an end by time and be long enough.
    ///
    /// # Errors
    /// When it is not.
    pub fn new(endpoint: Endpoint, duration_ns: Option<Nanos>) -> Result<Self, Failure> {
        Self::checked(endpoint, duration_ns, "-d 10s")
    }

    /// As [`Taker::new`]; `longer` are the flags that ask for a window that is long enough.
    ///
    /// # Errors
    /// As [`Taker::new`].
    pub fn checked(
        endpoint: Endpoint,
        duration_ns: Option<Nanos>,
        longer: &str,
    ) -> Result<Self, Failure> {
        let seconds = duration_ns.map_or(0, |duration| duration.saturating_sub(EDGES_NS) / SECOND);
        if seconds < LEAST_S {
            return usage(format!(
                "--profile takes a profile inside the measured window, which must be {} s or longer: give {longer}",
                LEAST_S + EDGES_NS / SECOND
            ));
        }
        if let Some(asked) = endpoint.seconds().filter(|asked| *asked > seconds) {
            return usage(format!(
                "--profile {}: {asked} s are longer than the {seconds} s that fit into the measured window: leave `seconds` out, \
                 or give a longer -d",
                endpoint.shown()
            ));
        }
        let seconds = endpoint.seconds().unwrap_or(seconds);
        let kinds = match endpoint.kind().as_deref() {
            _ if endpoint.gives_every_kind() => vec!["cpu", "allocs"],
            Some("heap") => vec!["heap"],
            Some("allocs") => vec!["allocs"],
            Some("mutex") => vec!["mutex"],
            Some("block") => vec!["block"],
            Some("goroutine") => vec!["goroutine"],
            // One profile, at Go's path or at one of its own, such as that of a Rust server.
            _ => vec!["cpu"],
        };
        Ok(Self {
            endpoint,
            kinds,
            addresses: Vec::new(),
            seconds,
            running: Vec::new(),
            began: None,
            intervals: Vec::new(),
        })
    }

    /// Takes a profile of this kind too, where the endpoint gives every kind.
    pub fn with(mut self, kind: &'static str) -> Self {
        if self.endpoint.gives_every_kind() {
            self.kinds.push(kind);
        }
        self
    }

    /// The run that begins is of a server at these addresses.
    pub fn server_at(&mut self, addresses: &[String]) {
        self.addresses = addresses.to_vec();
    }

    /// An interval of the run is over.
    pub fn interval(&mut self, interval: &Interval) {
        if interval.phase != Phase::Window {
            return;
        }
        if self.began.is_none() {
            self.began = Some((Instant::now(), interval.end_ns));
            for kind in self.kinds.clone() {
                let endpoint = self.endpoint.clone();
                // Goroutines are what there is at one instant: over seconds a server would tell their difference.
                let seconds = (kind != "goroutine").then_some(self.seconds);
                let addresses = if kind == "cpu" { self.addresses.clone() } else { Vec::new() };
                let ask = move || {
                    let counted = server::Use::begin(&addresses);
                    let fetched = endpoint.fetch(kind, seconds)?;
                    Ok((fetched.body, fetched.sent, counted.and_then(server::Use::end)))
                };
                let spawned = thread::Builder::new().name(format!("profile {kind}")).spawn(ask);
                self.running.push((kind, spawned));
            }
            return;
        }
        let responses = interval.workers.iter().map(|worker| worker.responses).sum();
        self.intervals.push((interval.start_ns, interval.end_ns, responses));
    }

    /// The profiles, once the run is over. Those of one that ended early are not waited for: they would be of a server
    /// without its load, and the result is not printed before.
    ///
    /// # Errors
    /// When the first of them could not be taken.
    pub fn finish(mut self, run: &Run) -> Result<Taken, Failure> {
        let Some((began, began_ns)) = self.began else {
            return usage(
                "--profile: the run ended before its first second was over: nothing was profiled",
            );
        };
        let patience = if run.interrupted { Duration::ZERO } else { PATIENCE };
        let deadline = Instant::now() + patience;
        let mut taken = Taken {
            window: ProfiledWindow {
                schema: WINDOW_SCHEMA.to_owned(),
                url: self.endpoint.shown(),
                files: Vec::new(),
                start_ns: began_ns,
                end_ns: began_ns + self.seconds * SECOND,
                requests: 0.0,
                processors: None,
                processors_from: String::new(),
                server_processors: None,
            },
            files: Vec::new(),
            notices: Vec::new(),
        };
        for (at, (kind, asked)) in std::mem::take(&mut self.running).into_iter().enumerate() {
            match answer(kind, asked, deadline, run.interrupted) {
                Ok((bytes, sent, used)) => {
                    let file = format!("{kind}.{}", stored::ENDING);
                    if at == 0 {
                        let sent_ns =
                            u64::try_from(sent.saturating_duration_since(began).as_nanos());
                        taken.window.start_ns = began_ns + sent_ns.unwrap_or(0);
                        taken.window.end_ns = taken.window.start_ns + self.length(&bytes)?;
                        taken.window.server_processors = used;
                    }
                    taken
                        .window
                        .files
                        .push(ProfileFile { of: kind.to_owned(), file: file.clone() });
                    taken.files.push((file, bytes));
                }
                Err(failure) if at == 0 => return Err(failure),
                Err(failure) => taken.notices.push(failure.to_string()),
            }
        }
        taken.window.requests = self.requests(taken.window.start_ns, taken.window.end_ns);
        if let Some((count, from)) = server::processors(&run.plan.addresses) {
            (taken.window.processors, taken.window.processors_from) = (Some(count), from);
        }
        Ok(taken)
    }

    /// How long a profile says that it took; what was asked for where it says nothing.
    fn length(&self, bytes: &[u8]) -> Result<Nanos, Failure> {
        let profile = profile::read(bytes)
            .map_err(|error| Failure::CannotRun(format!("{}: {error}", self.endpoint.shown())))?;
        let length = u64::try_from(profile.duration_ns).ok().filter(|length| *length > 0);
        Ok(length.unwrap_or(self.seconds * SECOND))
    }

    /// Responses done between two instants; of an interval that is only partly in between, that part.
    fn requests(&self, from: Nanos, to: Nanos) -> f64 {
        let part = |(start, end, responses): &(Nanos, Nanos, u64)| {
            let overlap = (*end).min(to).saturating_sub((*start).max(from));
            *responses as f64 * overlap as f64 / (end - start).max(1) as f64
        };
        self.intervals.iter().map(part).sum()
    }
}

/// The outcome of fetching a profile, once it has come or the deadline is over; the run may have been interrupted.
fn answer(
    kind: &str,
    asked: io::Result<JoinHandle<Answer>>,
    deadline: Instant,
    interrupted: bool,
) -> Answer {
    let handle = match asked {
        Ok(handle) => handle,
        Err(error) => {
            return cannot_run(format!("--profile: no thread to ask for {kind}: {error}"));
        }
    };
    while !handle.is_finished() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    if handle.is_finished() {
        return handle.join().expect("fetching does not panic");
    }
    let why = if interrupted { ": the run ended before it" } else { "" };
    cannot_run(format!("--profile: the {kind} profile did not come{why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_one_profile_is_asked_for_that_one() {
        let kinds = |url: &str| {
            let taker = Taker::new(Endpoint::parse(url, &[]).unwrap(), Some(10 * SECOND)).unwrap();
            taker.with("mutex").kinds
        };
        let all = ["cpu", "allocs", "mutex"];
        for (url, wanted) in [
            ("a:1", &all[..]),
            ("http://a:1/debug/pprof/", &all),
            ("http://a:1/x/debug/pprof", &all),
            ("http://a:1/debug/pprof/profile", &["cpu"]),
            ("http://a:1/prof", &["cpu"]),
            ("http://a:1/debug/pprof/heap", &["heap"]),
        ] {
            assert_eq!(kinds(url), wanted, "{url}");
        }
    }

    #[test]
    fn seconds_of_the_url_are_those_of_the_profile() {
        let taker = |seconds| {
            let url = format!("http://a:1/debug/pprof/profile?seconds={seconds}");
            Taker::new(Endpoint::parse(&url, &[]).unwrap(), Some(10 * SECOND))
        };
        assert_eq!(taker(5).unwrap().seconds, 5);
        let Err(Failure::Usage(why)) = taker(30) else { panic!("the window ends before") };
        assert!(why.contains("30 s are longer than the 8 s"), "{why}");
    }

    #[test]
    fn requests_are_counted_by_overlap() {
        let endpoint = Endpoint::parse("a:1", &[]).unwrap();
        let mut taker = Taker::new(endpoint, Some(10 * SECOND)).unwrap();
        assert_eq!(taker.seconds, 8);
        taker.intervals = vec![(0, 100, 10), (100, 200, 20), (200, 300, 40)];
        assert!((taker.requests(50, 250) - 45.0).abs() < 1e-9);
        assert!((taker.requests(300, 400)).abs() < 1e-9);
    }

    #[test]
    fn the_profile_of_a_run_that_ended_early_is_not_waited_for() {
        let mut taker =
            Taker::new(Endpoint::parse("a:1", &[]).unwrap(), Some(60 * SECOND)).unwrap();
        taker.began = Some((Instant::now(), SECOND));
        let (held, server) = std::sync::mpsc::channel::<()>();
        let late = thread::spawn(move || {
            let _ = server.recv();
            Err(Failure::CannotRun("ended".to_owned()))
        });
        taker.running.push(("cpu", Ok(late)));
        let run = Run { interrupted: true, ..fixture::sound::closed() };
        let began = Instant::now();
        let why = taker.finish(&run).unwrap_err().to_string();
        assert!(why.contains("did not come: the run ended before it"), "{why}");
        assert!(began.elapsed() < PATIENCE / 2);
        drop(held);
    }

    #[test]
    fn short_windows_are_refused() {
        for duration in [None, Some(SECOND), Some(3 * SECOND)] {
            let endpoint = Endpoint::parse("a:1", &[]).unwrap();
            assert!(Taker::new(endpoint, duration).is_err(), "{duration:?}");
        }
    }
}
