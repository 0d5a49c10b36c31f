//! A generator that is stopped and goes on, again and again, while its workers wait.

mod loopback;

use std::process::Command;

use measure::run;
use model::units::{MILLISECOND, SECOND};
use model::{Io, Plan, ReasonCode, Verdict};

use crate::loopback::{launch, server};

/// As `cpulimit` does it: less than a wait of the workers' at a time, so that none of them can know.
#[test]
fn short_stops_are_no_time_of_the_servers() {
    let server = server();
    let plan = Plan {
        connections: 2,
        max_inflight: 2,
        threads: 1,
        requests: None,
        duration_ns: Some(4 * SECOND),
        warmup_ns: 0,
        rate_per_s: None,
        arrivals: None,
        think_ns: Some(45 * MILLISECOND),
        io: Io::Epoll,
        ..fixture::plan()
    };
    let launch = launch(&server, plan.clone());
    let script = format!(
        "for i in $(seq 50); do kill -STOP {pid}; sleep 0.04; kill -CONT {pid}; sleep 0.04; done",
        pid = std::process::id()
    );
    let mut stopper = Command::new("sh").args(["-c", &script]).spawn().expect("a shell");
    let run = run(&launch, fixture::head(plan), &mut ()).expect("it can be carried out");
    stopper.wait().expect("it ends");
    let machine = run.generator.machine.expect("it was looked at");
    assert!(machine.stops >= 10 && machine.stopped_ns >= 300 * MILLISECOND, "{machine:?}");
    let paused = run.validity.reasons.iter().find(|r| r.code == ReasonCode::GeneratorPaused);
    let paused = paused.unwrap_or_else(|| panic!("{:?}", run.validity));
    assert_ne!(paused.consequence, Verdict::Valid, "{paused:?}");
}
