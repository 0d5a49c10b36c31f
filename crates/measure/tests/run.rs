//! A plan is carried out without a command line: over real sockets, looked at by an observer, kept in a journal.

mod loopback;

use std::path::Path;
use std::sync::atomic::Ordering;

use engine::Progress;
use measure::journal::{self, Journal};
use measure::{Observer, run};
use model::{Abort, Interval, Io, Plan, Run};
use tempfile::TempDir;

use crate::loopback::{launch, server};

/// Twenty requests of two users.
fn plan() -> Plan {
    Plan {
        connections: 2,
        max_inflight: 2,
        threads: 1,
        requests: Some(20),
        duration_ns: None,
        warmup_ns: 0,
        rate_per_s: None,
        arrivals: None,
        io: Io::Epoll,
        ..fixture::plan()
    }
}

#[test]
fn a_run_comes_of_a_plan_that_nobody_looks_at() {
    let server = server();
    let plan = plan();
    let run = run(&launch(&server, plan.clone()), fixture::head(plan), &mut ());
    let run = run.expect("it can be carried out");
    assert_eq!((run.totals.attempts, run.totals.succeeded), (20, 20), "{:?}", run.totals);
    assert_eq!(server.served().path("/healthz"), 20);
    assert!(run.totals.duration_ns > 0 && run.generator.machine.is_some(), "{:?}", run.generator);
}

/// What the machine did while connections were opened is none of the run's.
#[test]
fn the_start_is_reported_once_and_before_any_interval() {
    let server = server();
    let mut reported = Vec::new();
    let outcome = engine::launch(&launch(&server, plan()), |progress| match progress {
        Progress::Launched | Progress::Opening(_) => {}
        Progress::Started => reported.push("started"),
        Progress::Interval(_) => reported.push("interval"),
    });
    assert!(!outcome.expect("it can be carried out").stopped);
    assert_eq!(reported[..2], ["started", "interval"]);
    assert!(!reported[2..].contains(&"started"), "{reported:?}");
}

struct Keeps {
    journal: Journal,
    concluded: bool,
}

impl Observer for Keeps {
    fn interval(&mut self, interval: &mut Interval) {
        self.journal.append(interval).expect("the disk has room");
    }

    fn concluded(&mut self, _: &mut Run) {
        self.concluded = true;
    }
}

#[test]
fn what_an_observer_keeps_is_the_run() {
    let (server, dir) = (server(), TempDir::new().expect("a folder"));
    let plan = plan();
    let head = fixture::head(plan.clone());
    let journal = Journal::create(dir.path(), &head, &["p99<1s".to_owned()]).expect("a journal");
    let mut keeps = Keeps { journal, concluded: false };
    let run = run(&launch(&server, plan), head, &mut keeps).expect("it can be carried out");
    assert!(keeps.concluded);
    let again = journal::replay(&dir.path().join(journal::NAME)).expect("it is read back");
    assert_eq!((again.objectives, again.damage), (vec!["p99<1s".to_owned()], None));
    assert_eq!((again.run.totals, again.run.service_ns), (run.totals, run.service_ns));
}

/// Journals of before other schemes and unseen time were counted; new fields must have defaults.
#[test]
fn a_journal_of_an_earlier_version_is_read_whole() {
    for kept in ["closed", "open"] {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/journal_replay");
        let read = journal::replay(&seeds.join(format!("{kept}.journal"))).expect("it is read");
        assert_eq!(read.damage, None, "{kept}");
        assert!(read.run.totals.requests > 0, "{kept}: {:?}", read.run.totals);
    }
}

struct Ends;

impl Observer for Ends {
    fn ends(&mut self, interval: &Interval) -> Option<Abort> {
        let rule = "after the first interval".to_owned();
        Some(Abort { rule, rate_not_reached: false, at_ns: interval.end_ns, text: String::new() })
    }
}

#[test]
fn an_observer_ends_a_run_once() {
    let server = server();
    let plan = Plan { requests: None, duration_ns: Some(60_000_000_000), ..plan() };
    let launch = launch(&server, plan.clone());
    let run = run(&launch, fixture::head(plan), &mut Ends).expect("it can be carried out");
    assert!(launch.stop.load(Ordering::Relaxed) && run.interrupted);
    assert_eq!(run.aborted.map(|abort| abort.rule).as_deref(), Some("after the first interval"));
    assert!(run.totals.duration_ns < 30_000_000_000, "{}", run.totals.duration_ns);
}
