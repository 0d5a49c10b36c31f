//! The fault gallery: real faults on real servers, each in a network namespace of its own, and healthy twins. `plimsoll
//! explain` names the fault first, and accuses nobody where there is none.
//!
//! They measure, so they belong to `cargo xtask truth faults`, on a machine with little else to do, as root (network
//! namespaces and cgroups), and not to `cargo test`: they are ignored there. Where a program is missing its rigs are
//! left out with a message.
//!
//! * [`rigs`]: what is set up, and the code that must come first.
//! * [`databases`]: the same, of what a server waits for.
//! * [`rig`]: how a rig is carried out.

mod databases;
mod rig;
mod rigs;

use std::collections::BTreeMap;

use rig::{Explained, Rig};
use rigs::{DOUBLE, HEALTHY, SINGLE};

/// Times that each rig is carried out.
const REPEATS: usize = 3;
/// What no healthy rig may be told.
const ACCUSING: [&str; 8] =
    ["server.", "proxy.", "network.", "conn.", "generator.", "rate_limited", "db.", "dependency."];

/// Of rigs with this word in their name only, once each: for those who make one.
const ONLY: &str = "PLIMSOLL_FAULTS";

/// Carries out the rigs that this machine has the programs for.
fn all(rigs: &[&'static [Rig]]) -> Vec<(&'static Rig, Explained)> {
    let mut done = Vec::new();
    let only = std::env::var(ONLY).unwrap_or_default();
    let repeats = if only.is_empty() { REPEATS } else { 1 };
    let rigs = rigs.iter().copied().flatten().filter(|rig| rig.name.contains(&only));
    for rig in rigs.filter(|rig| rig.can_run()) {
        for _ in 0..repeats {
            let explained = rig.carry_out();
            println!(
                "rig {:28} wanted {:28} found {}",
                rig.name,
                rig.codes.join(" "),
                explained.codes.join(" ")
            );
            done.push((rig, explained));
        }
    }
    done
}

fn claim(what: &str, reach: &str, good: usize, of: usize, met: bool) {
    let word = if met { "yes" } else { "no" };
    println!("truth | faults: {what} | {reach} | {good} of {of} | {word}");
}

#[test]
#[ignore = "measures; `cargo xtask truth faults` runs it"]
fn single_faults_are_named_first() {
    let done = all(&[SINGLE, databases::SINGLE]);
    let right = |(rig, found): &&(&Rig, Explained)| {
        found.codes.first().is_some_and(|code| code == rig.codes[0])
    };
    let mut confusion: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (rig, found) in &done {
        let first = found.codes.first().cloned().unwrap_or_default();
        *confusion.entry((rig.codes[0], first)).or_default() += 1;
    }
    println!("wanted                       found first                  times");
    for ((wanted, found), times) in &confusion {
        println!("{wanted:28} {found:28} {times}");
    }
    let good = done.iter().filter(right).count();
    let met = good * 10 >= done.len() * 9;
    claim("right code first, single faults", ">= 90 %", good, done.len(), met);
    let generator = done.iter().filter(|(rig, _)| rig.codes[0].starts_with("generator."));
    let accused = generator.clone().filter(|(_, found)| {
        found.codes.iter().any(|code| code.starts_with("server.") || code.starts_with("proxy."))
    });
    let (accused, of) = (accused.count(), generator.count());
    claim("server accused, generator the limit", "0", accused, of, accused == 0);
    assert!(met && accused == 0, "{confusion:?}");
}

#[test]
#[ignore = "measures; `cargo xtask truth faults` runs it"]
fn both_of_two_faults_are_among_the_first_three() {
    let done = all(&[DOUBLE]);
    let both = |(rig, found): &&(&Rig, Explained)| {
        rig.codes.iter().all(|code| found.codes.iter().take(3).any(|found| found == code))
    };
    let good = done.iter().filter(both).count();
    let met = good * 10 >= done.len() * 8;
    claim("both in the first three, double faults", ">= 80 %", good, done.len(), met);
    assert!(met, "{done:?}");
}

#[test]
#[ignore = "measures; `cargo xtask truth faults` runs it"]
fn healthy_servers_are_not_accused() {
    let done = all(&[HEALTHY, databases::HEALTHY]);
    let accused = done.iter().filter(|(_, found)| {
        found.codes.iter().any(|code| ACCUSING.iter().any(|kind| code.starts_with(kind)))
    });
    let accused = accused.count();
    claim("healthy set-ups accused", "0", accused, done.len(), accused == 0);
    assert_eq!(accused, 0, "{done:?}");
}
