//! More connections than one file table holds: workers and server threads with separate tables,
//! several source addresses towards loopback. The quick form of fifty thousand.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::harness::{PLIMSOLL, load};

const CONNECTIONS: u32 = 20_100;

/// `plimsoll target` with its defaults, ended on drop.
struct Target {
    child: Child,
    url: String,
}

impl Target {
    fn start() -> Self {
        let mut child = Command::new(PLIMSOLL)
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .args(["target", "--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the target starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("its first line");
        let url = line.split_whitespace().find(|word| word.starts_with("http")).expect("its URL");
        Self { url: url.to_owned(), child }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn twenty_thousand_connections_all_open_and_all_answer() {
    let target = Target::start();
    let flags = format!("-c {CONNECTIONS} -n {} -T 60s", 2 * CONNECTIONS);
    let loaded = load(&target.url, &flags);
    let (totals, concurrency) = (&loaded.run.totals, &loaded.run.concurrency);
    assert_eq!(concurrency.open_max, CONNECTIONS, "{totals:?}");
    assert_eq!(totals.attempts, totals.succeeded, "{totals:?}");
    assert_eq!(totals.attempts, 2 * u64::from(CONNECTIONS), "{totals:?}");
    assert_eq!(totals.connects, u64::from(CONNECTIONS), "{totals:?}");
    assert!(loaded.run.plan.sources.len() > 1, "{:?}", loaded.run.plan.sources);
}
