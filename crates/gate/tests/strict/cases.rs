//! All cases, by topic.

mod chunks;
mod connection;
mod framing;
mod headers;
mod identity;
mod request_line;
mod targets;

use crate::case::{Case, Want};
use crate::harness::{Until, gateway, judge, send_all};

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
    let cases = all();
    let until = |case: &Case| match case.want {
        Want::Refused { .. } => Until::End,
        Want::Passed { requests, .. } => Until::Mirrored(requests),
        Want::Unanswered => Until::Quiet,
    };
    let came = send_all(&cases.iter().collect::<Vec<_>>(), until, |mirror| {
        let gate = gateway(mirror, io);
        let to = gate.addresses()[0];
        (gate, to)
    });
    let failures: Vec<String> =
        came.iter().filter_map(|(case, came)| judge(case, came).err()).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), came.len(), failures.join("\n"));
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
