//! All cases, by topic.

mod chunks;
mod connection;
mod framing;
mod headers;
mod identity;
mod request_line;
mod targets;

use crate::case::Case;
use crate::harness::{gateway, judge, send};
use crate::mirror::Mirror;

/// Every case.
pub fn all() -> Vec<Case> {
    let topics = [
        request_line::cases(),
        targets::cases(),
        headers::cases(),
        identity::cases(),
        framing::cases(),
        chunks::cases(),
        connection::cases(),
    ];
    topics.into_iter().flatten().collect()
}

#[test]
fn there_are_at_least_two_hundred_by_different_names() {
    let mut names: Vec<String> = all().into_iter().map(|case| case.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(count >= 200 && names.len() == count, "{count} cases, {} names", names.len());
}

fn run(io: net::Io) {
    let mirror = Mirror::start();
    let gate = gateway(&mirror, io);
    let to = gate.addresses()[0];
    let judged = |case: &Case| judge(case, &send(to, &mirror, &case.bytes)).err();
    let failures: Vec<String> = all().iter().filter_map(judged).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), all().len(), failures.join("\n"));
}

#[test]
fn the_gateway_keeps_the_rules_on_epoll() {
    run(net::Io::Epoll);
}

#[test]
fn the_gateway_keeps_the_rules_on_io_uring() {
    if net::uring_works() {
        run(net::Io::Uring);
    }
}
