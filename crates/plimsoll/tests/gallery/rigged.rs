//! Measurements spoilt on purpose.

use std::process::{Child, Command, Stdio};

use model::units::SECOND;
use model::{ReasonCode, Verdict};
use target::Stall;

use crate::claims::{healthy, refused, reported};
use crate::harness::{self, PLIMSOLL, end, load, plimsoll, server, server_with, url};
use crate::{alone, slow};

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_saturated_generator() {
    let (_alone, server) = (alone(), server());
    // Room for enough requests in flight that a server kept waiting by neighbours does not limit the load.
    let loaded = load(&url(&server, "/healthz"), "-R 20M -c 200 --pipeline 100 -t 1 -d 1s -T 1s");
    assert_eq!(loaded.ended.code, 98);
    assert_ne!(reported(&loaded.run, ReasonCode::AchievedBelowOffered), Verdict::Valid);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_server_that_is_slow_by_design() {
    let (_alone, server) = (alone(), server());
    let run = load(&url(&server, "/delay/50ms"), "-c 10 -t 1 -d 12s").run;
    healthy("slow by design", &run, &[ReasonCode::SharedCores, ReasonCode::WindowTooShort]);
}

/// A namespace with a hundred local ports, most of which another run holds.
#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn exhausted_ports() {
    let _alone = alone();
    let script = "ip link set lo up && echo '40000 40099' > /proc/sys/net/ipv4/ip_local_port_range\n\
        \"$0\" target --listen 127.0.0.1:9000 --threads 1 > /dev/null & target=$!\n\
        sleep 1\n\
        \"$0\" run -q -c 90 -t 1 --think 9s -d 6s http://127.0.0.1:9000/healthz > /dev/null & holder=$!\n\
        sleep 2\n\
        \"$0\" run -q -c 30 -t 1 -d 1s --format json http://127.0.0.1:9000/healthz; code=$?\n\
        kill $holder $target; exit $code";
    let mut command = Command::new("timeout");
    command.args(["60", "unshare", "-r", "-n", "sh", "-c", script, PLIMSOLL]).stdin(Stdio::null());
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    let ended = end(command);
    if ended.stderr.contains("unshare") {
        eprintln!("skipped: no network namespaces here: {}", ended.stderr);
        return;
    }
    let loaded = harness::loaded(ended);
    assert_ne!(reported(&loaded.run, ReasonCode::LimitsHit), Verdict::Valid);
    assert!(loaded.run.totals.limits.contains_key("EADDRNOTAVAIL"), "{:?}", loaded.run.totals);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn fast_503s() {
    let (_alone, server) = (alone(), server());
    let loaded = load(&url(&server, "/status/503"), "-c 4 -d 500ms");
    assert_eq!(loaded.ended.code, 98);
    assert_eq!(reported(&loaded.run, ReasonCode::FastErrors), Verdict::Invalid);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn an_endpoint_that_serves_nobody() {
    let (_alone, server) = (alone(), server());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mix.yaml");
    let of = |rare: &str| {
        let text = format!(
            "target: {}\nendpoints:\n- {{path: /delay/5ms, weight: 95}}\n- {{path: {rare}, weight: 5}}\n",
            url(&server, "")
        );
        std::fs::write(&file, text).expect("a workload");
        load(&file.display().to_string(), "-c 4 -t 1 -d 3s")
    };
    let (dead, known) = (of("/status/500"), [ReasonCode::SharedCores, ReasonCode::WindowTooShort]);
    refused("an endpoint of 5 % serves nobody", &dead, ReasonCode::FastErrors);
    healthy("an endpoint of 5 %", &of("/delay/6ms").run, &known);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_stalled_server() {
    let _alone = alone();
    let server = server_with(|options| {
        options.stall = Some(Stall { every_ns: 7 * SECOND, for_ns: 2 * SECOND });
    });
    let run = load(&url(&server, "/delay/5ms"), "-c 10 -t 1 -d 24s").run;
    reported(&run, ReasonCode::Dips);
    assert!((2..=4).contains(&run.dips.len()), "{:?}", run.dips);
    assert!(run.dips.iter().all(|dip| dip.throughput.is_some()), "{:?}", run.dips);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn too_short() {
    let (_alone, server) = (alone(), server());
    let run = load(&url(&server, "/healthz"), "-R 500 -c 10 -d 200ms").run;
    reported(&run, ReasonCode::WindowTooShort);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_warming_server() {
    let _alone = alone();
    let warming = slow::warming(5);
    let run = load(&warming, "-c 4 -t 1 -d 15s").run;
    assert_eq!(reported(&run, ReasonCode::NotSteady), Verdict::LowerBound);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_cap_on_requests_in_flight() {
    let (_alone, server) = (alone(), server());
    let open = load(&url(&server, "/delay/20ms"), "-R 200 -c 1 -d 1s -T 300ms");
    assert_eq!(open.ended.code, 98);
    assert_eq!(reported(&open.run, ReasonCode::ConnectionsExhausted), Verdict::LowerBound);
    let closed = load(&url(&server, "/delay/5ms"), "-c 20 -t 1 --max-inflight 2 -d 500ms").run;
    assert_eq!(reported(&closed, ReasonCode::ConnectionsExhausted), Verdict::LowerBound);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn closed_keep_alive() {
    let _alone = alone();
    let server = server_with(|options| options.requests_per_connection = Some(1));
    let run = load(&url(&server, "/healthz"), "-c 4 -d 500ms").run;
    reported(&run, ReasonCode::KeepaliveRefused);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn shared_cores() {
    let (_alone, server) = (alone(), server());
    let run = load(&url(&server, "/healthz"), "-c 4 -d 1s").run;
    reported(&run, ReasonCode::SharedCores);
    let machine = run.generator.machine.expect("it was looked at");
    assert!(machine.server_ratio.is_some_and(|ratio| ratio > 0.0), "{machine:?}");
}

/// Two processes a processor that do nothing but run.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn noisy() -> Self {
        let count = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let spin = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        Self((0..count).map(|_| spin().expect("a shell")).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Already ended is as good.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn a_busy_neighbour() {
    let (_alone, server) = (alone(), server());
    let _noise = Neighbours::noisy();
    let run = load(&url(&server, "/healthz"), "-c 16 -d 4s").run;
    assert_eq!(reported(&run, ReasonCode::BusyNeighbour), Verdict::LowerBound);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn doubt_is_reported_in_the_text_too() {
    let (_alone, server) = (alone(), server());
    let ended =
        plimsoll(&format!("run -q --details -c 4 -d 500ms {}", url(&server, "/status/503")));
    assert_eq!(ended.code, 98);
    for needle in ["INVALID: do not quote these figures", "fast_errors", "shared_cores"] {
        assert!(ended.stdout.contains(needle), "{needle}: {}", ended.stdout);
    }
}
