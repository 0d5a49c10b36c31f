//! More connections than one file table holds: workers and server threads with separate tables,
//! several source addresses towards loopback. The quick form of fifty thousand.

use std::process::Command;

use testkit::process::ServerProcess;

use crate::harness::{PLIMSOLL, load};

const CONNECTIONS: u32 = 20_100;

#[test]
fn twenty_thousand_connections_all_open_and_all_answer() {
    let arguments = ["target", "--listen", "127.0.0.1:0"];
    let target = ServerProcess::start(Command::new(PLIMSOLL).args(arguments));
    let flags = format!("-c {CONNECTIONS} -n {} -T 60s", 2 * CONNECTIONS);
    let loaded = load(&target.url("/healthz"), &flags);
    let (totals, concurrency) = (&loaded.run.totals, &loaded.run.concurrency);
    assert_eq!(concurrency.open_max, CONNECTIONS, "{totals:?}");
    assert_eq!(totals.attempts, totals.succeeded, "{totals:?}");
    assert_eq!(totals.attempts, 2 * u64::from(CONNECTIONS), "{totals:?}");
    assert_eq!(totals.connects, u64::from(CONNECTIONS), "{totals:?}");
    assert!(loaded.run.plan.sources.len() > 1, "{:?}", loaded.run.plan.sources);
}
