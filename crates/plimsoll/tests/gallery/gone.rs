//! Servers that go away, or begin to respond differently, while `run` measures them: in a closed loop and in an
//! open one each is named, is never VALID, and the exit code is 98.

use std::time::Duration;

use model::ReasonCode;
use testkit::misbehaving::{Behaviour, Fault, Misbehaving};

use crate::alone;
use crate::claims::refused;
use crate::harness::load;
use crate::servers::{signals, target};

/// A closed loop and an open one, of 6 s.
const LOOPS: Loops = [("closed", "-c 20"), ("open", "-c 20 -R 500")];
/// The same where an open loop needs connections beside those that are silent.
const MORE_CONNECTIONS: Loops = [("closed", "-c 20"), ("open", "-c 80 -R 500")];
type Loops = [(&'static str, &'static str); 2];
/// When it happens, and how long it lasts where it passes.
const HALF: Duration = Duration::from_secs(3);
const WHILE: Duration = Duration::from_millis(2500);

fn run(url: &str, flags: &str) -> crate::harness::Loaded {
    load(url, &format!("{flags} -t 1 -d 6s -T 2s"))
}

/// A server that misbehaves in this way, in both loops.
fn misbehaves(name: &str, behaviour: &Behaviour, code: ReasonCode) {
    misbehaves_under(LOOPS, name, behaviour, code);
}

fn misbehaves_under(loops: Loops, name: &str, behaviour: &Behaviour, code: ReasonCode) {
    let _alone = alone();
    for (which, flags) in loops {
        let server = Misbehaving::start(behaviour.clone());
        let loaded = run(&format!("http://{}/", server.addr()), flags);
        refused(&format!("{name}, {which}"), &loaded, code);
    }
}

/// A server in its own process that is sent these signals, in both loops.
fn signalled(name: &str, course: &[(Duration, &'static str)], code: ReasonCode) {
    let _alone = alone();
    for (which, flags) in LOOPS {
        let server = target();
        let sender = signals(server.pid(), course);
        let loaded = run(&server.url("/delay/2ms"), flags);
        sender.join().expect("signals are sent");
        refused(&format!("{name}, {which}"), &loaded, code);
    }
}

fn after(fault: Fault) -> Behaviour {
    Behaviour::faulty(fault, HALF)
}

/// Answers in 25 ms, so that an open loop has a dozen connections too.
fn on_connections(fault: Fault, after: Duration) -> Behaviour {
    Behaviour { service: Duration::from_millis(25), ..Behaviour::faulty(fault, after) }
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn killed() {
    signalled("server killed", &[(HALF, "KILL")], ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn stopped_for_good() {
    signalled("server stopped", &[(HALF, "STOP")], ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn stopped_for_a_while() {
    let course = [(Duration::from_secs(2), "STOP"), (WHILE, "CONT")];
    signalled("server stopped for 2.5 s", &course, ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn stalled_for_good() {
    misbehaves("server stalled", &after(Fault::Stall), ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn stalled_for_a_while() {
    let from = Duration::from_secs(2);
    let stall = Behaviour { during: from..from + WHILE, ..after(Fault::Stall) };
    misbehaves("server stalled for 2.5 s", &stall, ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn replaced_by_resets() {
    misbehaves("server replaced by resets", &after(Fault::Resets), ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn replaced_by_slow_503s() {
    misbehaves("server replaced by slow 503s", &after(Fault::Slow503s), ReasonCode::ServerGone);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn deaf_on_each_tenth_connection() {
    let service = Duration::from_millis(40);
    let deaf = Behaviour { service, ..on_connections(Fault::Deaf, Duration::ZERO) };
    // Enough users that the connections without responses are used too.
    let loops = [("closed", "-c 20"), ("open", "-c 20 -R 460")];
    misbehaves_under(loops, "deaf on each tenth connection", &deaf, ReasonCode::StarvedConnections);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn an_error_page_with_a_good_status() {
    misbehaves(
        "error page with status 200",
        &after(Fault::ErrorPage),
        ReasonCode::ResponsesChanged,
    );
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn half_of_the_instances_reset() {
    let half = on_connections(Fault::HalfReset, HALF);
    misbehaves_under(
        MORE_CONNECTIONS,
        "half of the instances reset",
        &half,
        ReasonCode::ServerGone,
    );
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn half_of_the_instances_silent() {
    let (half, name) = (on_connections(Fault::HalfSilent, HALF), "half of the instances silent");
    misbehaves_under(MORE_CONNECTIONS, name, &half, ReasonCode::StarvedConnections);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn half_of_the_instances_answer_502() {
    misbehaves("half of the responses 502", &after(Fault::HalfBadGateway), ReasonCode::FastErrors);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn two_responses_to_one_request() {
    misbehaves("each request answered twice", &after(Fault::Twice), ReasonCode::ServerGone);
}
