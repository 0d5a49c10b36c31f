//! Healthy twins: loads and servers that look like trouble and are sound. Each is VALID, and its only
//! reasons are that cores are shared and windows short.

use std::time::Duration;

use model::ReasonCode;
use target::Tls;
use testkit::misbehaving::{Behaviour, Bodies, Misbehaving};

use crate::alone;
use crate::claims::healthy;
use crate::harness::{load, server, server_with, url};

/// Reasons that any run of a few seconds on one machine may have.
const KNOWN: [ReasonCode; 2] = [ReasonCode::SharedCores, ReasonCode::WindowTooShort];

/// A load of a server of known service time.
fn well(name: &str, behaviour: Behaviour, flags: &str) {
    let _alone = alone();
    let server = Misbehaving::start(behaviour);
    let run = load(&format!("http://{}/", server.addr()), &format!("{flags} -t 1 -d 6s -T 2s")).run;
    healthy(name, &run, &KNOWN);
}

fn responses_in(ms: u64) -> Behaviour {
    Behaviour::well(Duration::from_millis(ms))
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn responses_in_2_ms_closed() {
    well("responses in 2 ms, closed", responses_in(2), "-c 20");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn responses_in_2_ms_open() {
    well("responses in 2 ms, open", responses_in(2), "-c 20 -R 500");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn slow_by_design_open() {
    well("slow by design, open", responses_in(300), "-c 100 -R 100");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn think_times() {
    well("think times of 0.7 s", responses_in(2), "-c 20 --think 700ms");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn one_user() {
    well("one user", responses_in(2), "-c 1");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn two_users() {
    well("two users", responses_in(2), "-c 2");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn one_slow_user() {
    well("one user, responses in 0.9 s", responses_in(900), "-c 1");
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn dynamic_bodies() {
    // Slow enough for the scripted server, a thread for each connection, to leave the generator its processor.
    let dynamic = Behaviour { bodies: Bodies::Dynamic, ..responses_in(5) };
    well("bodies that differ, closed", dynamic.clone(), "-c 20");
    well("bodies that differ, open", dynamic, "-c 20 -R 500");
}

/// Four processors of exactly 4 ms carry 1,000/s.
#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn at_95_percent_of_its_capacity() {
    let (_alone, server) = (alone(), server());
    let url = url(&server, "/queue?servers=4&mean=4ms&dist=det");
    for (name, flags) in [
        ("95 % of its capacity, even arrivals", "-R 950 -c 200"),
        ("95 % of its capacity, random arrivals", "-R 950 -c 200 --arrivals poisson"),
    ] {
        let run = load(&url, &format!("{flags} -t 1 -d 10s -T 2s")).run;
        healthy(name, &run, &KNOWN);
    }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn tls() {
    let _alone = alone();
    let server = server_with(|options| options.tls = Some(Tls::SelfSigned));
    let url = format!("https://{}/delay/5ms", server.addr());
    for (name, flags) in [("TLS, closed", "-c 20"), ("TLS, open", "-c 20 -R 500")] {
        let run = load(&url, &format!("{flags} --insecure -t 1 -d 6s -T 2s")).run;
        healthy(name, &run, &KNOWN);
    }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn long_responses() {
    // As fast as the loopback device carries them, reading them is as much of the time as sending them, and
    // a run says so. Here the server takes the time.
    let long = Behaviour { bodies: Bodies::Long, ..responses_in(20) };
    well("responses of 200 kB, closed", long.clone(), "-c 10");
    well("responses of 200 kB, open", long, "-c 20 -R 200");
}
