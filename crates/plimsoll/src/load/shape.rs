//! How much load there is, and for how long: what differs between the levels of a sweep, and which values are impossible.

use model::Nanos;
use model::quote::{counted, grouped};
use model::units::SECOND;
use net::limits;

use crate::failure::{Failure, usage};

/// The most connections one run may hold: what two workers' worth of source addresses can carry.
pub const MOST_CONNECTIONS: u64 = 1_000_000;
/// Worker threads of one run at most.
pub const MOST_THREADS: u64 = 512;
/// Arrivals a second that a worker counts as they come, sent or not: several times what it can send. With more it falls
/// behind its own schedule, and counts on long after the window.
const MOST_ARRIVALS_PER_S: f64 = 20e6;

/// What differs between the levels of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Connections: users, or the cap in an open loop.
    pub connections: u64,
    /// Arrivals per second; `None` closes the loop.
    pub rate_per_s: Option<f64>,
    /// The measured window.
    pub duration_ns: Option<Nanos>,
    /// Requests at most.
    pub requests: Option<u64>,
}

impl Shape {
    /// What makes no load.
    ///
    /// # Errors
    /// On the first thing that makes none.
    pub fn check(self) -> Result<(), Failure> {
        if self.connections == 0 {
            return usage("-c 0: at least one connection is needed");
        }
        if self.connections > MOST_CONNECTIONS {
            return usage(format!(
                "-c {}: at most {}",
                grouped(self.connections),
                counted(MOST_CONNECTIONS, "connection")
            ));
        }
        if self.duration_ns == Some(0) {
            return usage("-d 0: the window must be longer than 0");
        }
        if self.requests == Some(0) {
            return usage("-n 0: at least one request is needed");
        }
        if self.rate_per_s.is_some() && self.requests.is_some_and(|n| n > 50_000_000) {
            return usage("-n with -R: at most 50M requests; give a duration (-d) instead");
        }
        Ok(())
    }

    /// Whether workers can count the arrivals as they come. A few may be due at once.
    ///
    /// # Errors
    /// When they cannot.
    pub fn check_arrivals(self, workers: u64) -> Result<(), Failure> {
        let most_per_s = MOST_ARRIVALS_PER_S * workers as f64;
        let Some(rate_per_s) = self.rate_per_s.filter(|&rate| rate > most_per_s) else {
            return Ok(());
        };
        let seconds = self.duration_ns.map(|ns| ns as f64 / SECOND as f64);
        let in_time = seconds.map_or(f64::INFINITY, |seconds| rate_per_s * seconds);
        let counted_out = self.requests.map_or(f64::INFINITY, |n| n as f64);
        if in_time.min(counted_out) <= most_per_s * seconds.unwrap_or(1.0).max(1.0) {
            return Ok(());
        }
        usage(format!(
            "a rate of {}/s is more than {} can follow: at most {} arrivals per second for each (-t)",
            grouped(rate_per_s as u64),
            counted(workers, "worker"),
            grouped(MOST_ARRIVALS_PER_S as u64)
        ))
    }
}

/// What becomes of workers that were asked for and would have no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleWorkers {
    /// They are refused: one load was asked for, and somebody may have meant another flag.
    Refused,
    /// They are left out: of several levels the lowest may have fewer connections than workers.
    LeftOut,
}

/// Workers for a number of connections: those asked for, or one for each allowed processor.
///
/// # Errors
/// When more were asked for than have something to do, and such are refused.
pub fn threads(asked: Option<u64>, connections: u64, idle: IdleWorkers) -> Result<u64, Failure> {
    let allowed = limits::allowed_cpus().len() as u64;
    match asked {
        None => Ok(allowed.min(connections).clamp(1, MOST_THREADS)),
        Some(threads) if threads <= connections => Ok(threads.min(MOST_THREADS)),
        Some(_) if idle == IdleWorkers::LeftOut => Ok(connections.min(MOST_THREADS)),
        Some(threads) => usage(format!(
            "-t {} is above -c {}: each worker needs a connection: give -c {threads} or more, or leave -t out; the \
             time-out is -T TIME, the duration -d TIME",
            grouped(threads),
            grouped(connections)
        )),
    }
}

/// What to know of workers of which there are more than processors, where no duration was given: with ab and hey, `-t 30` is
/// for how long.
pub fn many_threads(asked: Option<u64>) -> Option<String> {
    let processors = limits::allowed_cpus().len() as u64;
    let asked = asked.filter(|&asked| asked > processors)?;
    let of = counted(processors, "processor");
    Some(format!(
        "-t {}: {} on {of}; the duration is -d TIME, the time-out -T TIME",
        grouped(asked),
        counted(asked, "worker")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_workers_than_processors_may_have_been_meant_as_a_time() {
        assert_eq!(many_threads(None), None);
        assert_eq!(many_threads(Some(1)), None);
        let told = many_threads(Some(1_000_000)).expect("a notice");
        assert!(told.starts_with("-t 1,000,000: 1,000,000 workers on "), "{told}");
        assert!(told.ends_with("; the duration is -d TIME, the time-out -T TIME"), "{told}");
    }

    #[test]
    fn large_counts_are_told_as_everywhere_else() {
        let shape = |connections| Shape {
            connections,
            rate_per_s: None,
            duration_ns: None,
            requests: None,
        };
        assert!(shape(MOST_CONNECTIONS).check().is_ok());
        let told = shape(2_000_000).check().expect_err("too many").to_string();
        assert_eq!(told, "-c 2,000,000: at most 1,000,000 connections");
        let told = threads(Some(1_000_000), 2_000, IdleWorkers::Refused)
            .expect_err("idle workers")
            .to_string();
        assert!(told.starts_with("-t 1,000,000 is above -c 2,000: each worker "), "{told}");
    }

    #[test]
    fn a_rate_that_workers_cannot_follow_is_refused() {
        let of = |rate_per_s, duration_ns, requests, workers| {
            let shape =
                Shape { connections: 1, rate_per_s: Some(rate_per_s), duration_ns, requests };
            shape.check_arrivals(workers).is_ok()
        };
        let ten_s = Some(10 * SECOND);
        assert!(of(20e6, ten_s, None, 1) && of(1e9, ten_s, None, 50));
        assert!(!of(1e9, ten_s, None, 2) && !of(20.1e6, ten_s, None, 1));
        assert!(of(1e9, None, Some(1_000_000), 1), "few, if all at once");
        assert!(!of(1e9, None, Some(50_000_000), 1));
        assert!(of(1e9, Some(1), None, 1), "a trace of one arrival");
    }

    #[test]
    fn there_are_no_more_workers_than_connections_nor_than_most() {
        for (asked, connections, idle, workers) in [
            (Some(2), 10, IdleWorkers::Refused, Some(2)),
            (Some(600), 1000, IdleWorkers::Refused, Some(MOST_THREADS)),
            (Some(1000), 600, IdleWorkers::LeftOut, Some(MOST_THREADS)),
            (Some(20), 10, IdleWorkers::LeftOut, Some(10)),
            (Some(20), 10, IdleWorkers::Refused, None),
            (None, 1, IdleWorkers::Refused, Some(1)),
        ] {
            let made = threads(asked, connections, idle).ok();
            assert_eq!(made, workers, "{asked:?} of {connections}, {idle:?}");
        }
    }
}
