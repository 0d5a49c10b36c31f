//! What was served: a set of counters for each thread, on separate cache lines, written by that
//! thread alone and read by any thread.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use model::Nanos;
use model::quote::{counted, grouped};
use model::units::show_duration;

/// Declares what requests are counted as, each with its name in what is served.
macro_rules! kinds {
    ($($variant:ident $name:literal)*) => {
        /// What a request was counted as.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($variant,)*
        }

        /// By [`Kind`].
        const NAMES: &[&str] = &[$($name),*];
    };
}

kinds! {
    Healthz "/healthz"
    Root "/"
    StubStatus "/stub_status"
    Bytes "/bytes"
    Status "/status"
    Delay "/delay"
    Cpu "/cpu"
    Echo "/echo"
    Queue "/queue"
    Login "/login"
    Items "/items"
    Fault "/fault"
    Unknown "unknown path"
    Malformed "malformed"
}

/// The paths that exist, for the response to an unknown one.
pub(crate) const PATHS: &str = "/healthz, /, /stub_status, /bytes/{n}, /status/{code}, \
    /delay/{duration}, /cpu/{duration}, /echo, /queue?servers=1&mean=1ms&dist=exp|det&seed=1, \
    POST /login, /items?page=1, /items/{id}, /fault/{kind}";

/// What a connection is doing, as nginx has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Nothing: between two requests.
    Waiting,
    /// A request has begun to arrive.
    Reading,
    /// A response is on its way.
    Writing,
}

/// The counters of one thread.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counts {
    accepted: AtomicU64,
    not_accepted: AtomicU64,
    closed: AtomicU64,
    reading: AtomicU64,
    writing: AtomicU64,
    requests: [AtomicU64; NAMES.len()],
}

/// A plain store is enough: each counter has one writer.
#[inline]
fn add(counter: &AtomicU64, change: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(change), Relaxed);
}

impl Counts {
    #[inline]
    pub(crate) fn request(&self, kind: Kind) {
        add(&self.requests[kind as usize], 1);
    }

    pub(crate) fn accepted(&self) {
        add(&self.accepted, 1);
    }

    pub(crate) fn not_accepted(&self) {
        add(&self.not_accepted, 1);
    }

    pub(crate) fn closed(&self) {
        add(&self.closed, 1);
    }

    pub(crate) fn turned(&self, from: Doing, to: Doing) {
        for (doing, change) in [(from, u64::MAX), (to, 1)] {
            match doing {
                Doing::Waiting => {}
                Doing::Reading => add(&self.reading, change),
                Doing::Writing => add(&self.writing, change),
            }
        }
    }
}

/// The page of nginx's `stub_status`, over all threads. The request for this page counts too, as a
/// request and as one being written.
pub(crate) fn stub_status(all: &[Counts]) -> String {
    let sum = |of: fn(&Counts) -> &AtomicU64| -> u64 {
        all.iter().map(|counts| of(counts).load(Relaxed)).sum()
    };
    let accepted = sum(|counts| &counts.accepted);
    let active = accepted.saturating_sub(sum(|counts| &counts.closed));
    let (reading, writing) = (sum(|counts| &counts.reading), sum(|counts| &counts.writing) + 1);
    let waiting = active.saturating_sub(reading + writing);
    let requests: u64 = (0..NAMES.len()).map(|kind| requests(all, kind)).sum();
    format!(
        "Active connections: {active} \nserver accepts handled requests\n \
         {accepted} {accepted} {requests} \n\
         Reading: {reading} Writing: {writing} Waiting: {waiting} \n"
    )
}

fn requests(all: &[Counts], kind: usize) -> u64 {
    all.iter().map(|counts| counts.requests[kind].load(Relaxed)).sum()
}

/// What a server has served so far, or in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// Connections accepted.
    pub connections: u64,
    /// Times that a peer could not be accepted for want of files, memory or watches of epoll. It waited, and was tried
    /// again after a pause; so this counts pauses, not peers.
    pub not_accepted: u64,
    /// Requests whose head arrived, and messages that were not requests.
    pub requests: u64,
    /// The same by path; paths without requests are left out.
    pub paths: Vec<PathCount>,
    /// Time since the start.
    pub elapsed_ns: Nanos,
    /// The kernel interface in use.
    pub io: net::Io,
    /// Threads that ended before they were stopped, with the system's reason.
    pub failures: Vec<String>,
}

/// Requests for one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathCount {
    /// The path without its parameter, `unknown path`, or `malformed`.
    pub path: &'static str,
    /// Requests.
    pub requests: u64,
}

impl Served {
    pub(crate) fn of(all: &[Counts], elapsed_ns: Nanos, io: net::Io) -> Self {
        let count = |(kind, &path)| PathCount { path, requests: requests(all, kind) };
        let mut paths: Vec<_> = NAMES.iter().enumerate().map(count).collect();
        paths.retain(|path| path.requests > 0);
        Self {
            connections: all.iter().map(|counts| counts.accepted.load(Relaxed)).sum(),
            not_accepted: all.iter().map(|counts| counts.not_accepted.load(Relaxed)).sum(),
            requests: paths.iter().map(|path| path.requests).sum(),
            paths,
            elapsed_ns,
            io,
            failures: Vec::new(),
        }
    }

    /// Requests for a path, by the name it has in [`Self::paths`].
    pub fn path(&self, name: &str) -> u64 {
        self.paths.iter().find(|count| count.path == name).map_or(0, |count| count.requests)
    }
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elapsed = show_duration(self.elapsed_ns);
        write!(
            f,
            "served {} on {} in {elapsed}",
            counted(self.requests, "request"),
            counted(self.connections, "connection")
        )?;
        for PathCount { path, requests } in &self.paths {
            write!(f, "\n  {path:<14} {}", grouped(*requests))?;
        }
        if self.not_accepted > 0 {
            let times = match self.not_accepted {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            write!(
                f,
                "\nconnections could not be accepted, {times}: no open files left (see `ulimit -n`), or no \
                 watches of epoll; they were kept waiting, or closed"
            )?;
        }
        for failure in &self.failures {
            write!(f, "\na thread ended early: {failure}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_nginx_s_form() {
        let all = [Counts::default(), Counts::default()];
        for counts in &all {
            (0..3).for_each(|_| counts.accepted());
            counts.closed();
            counts.request(Kind::Healthz);
            counts.turned(Doing::Waiting, Doing::Reading);
        }
        all[0].request(Kind::StubStatus);
        all[1].turned(Doing::Reading, Doing::Writing);
        let expected = "Active connections: 4 \n\
            server accepts handled requests\n 6 6 3 \nReading: 1 Writing: 2 Waiting: 1 \n";
        assert_eq!(stub_status(&all), expected);
    }

    #[test]
    fn the_summary_names_requested_paths() {
        let all = [Counts::default()];
        all[0].accepted();
        (0..7).for_each(|_| all[0].request(Kind::Healthz));
        all[0].request(Kind::Malformed);
        let served = Served::of(&all, 2_000_000_000, net::Io::Epoll);
        assert_eq!((served.path("/healthz"), served.path("/")), (7, 0));
        let text = served.to_string();
        assert_eq!(
            text,
            "served 8 requests on 1 connection in 2.00s\n  /healthz       7\n  malformed      1"
        );
    }

    #[test]
    fn the_summary_reports_peers_kept_waiting() {
        let all = [Counts::default()];
        let text = |all: &[Counts]| Served::of(all, 0, net::Io::Epoll).to_string();
        assert!(!text(&all).contains("accepted"));
        all[0].not_accepted();
        assert!(text(&all).contains("could not be accepted, once:"), "{}", text(&all));
        all[0].not_accepted();
        assert!(text(&all).contains("could not be accepted, 2 times:"), "{}", text(&all));
    }
}
