//! The fault gallery: real faults on real servers, each in a network namespace of its own, and healthy twins. `plimsoll
//! explain` names the fault first, and accuses nobody where there is none.
//!
//! They measure, so they belong to `cargo xtask truth faults`, on a machine with little else to do, as root (network
//! namespaces and cgroups), and not to `cargo test`: they are ignored there. Where a program is missing its rigs are
//! left out with a message.
//!
//! * [`rigs`]: what is set up, and the code that must come first.
//! * [`databases`]: the same, of what a server waits for.
//! * [`kept_back`]: rigs that no threshold was chosen on, judged by themselves too, and the guide's stories.
//! * [`blind`]: rigs of an author who knew no rule, judged by themselves; rules were mended by them since.
//! * [`blind::second`]: rigs of a second such author, with other servers and mechanisms, judged by themselves.
//! * [`programs`]: what rigs start.
//! * [`rig`]: how a rig is carried out.
//!
//! Not provoked here, and why: `generator.files` (each worker has a table of files of its own), `generator.memory`,
//! `server.conntrack` (the size of its table is the whole machine's), `server.disk` (needs a slow disk),
//! `test.single_source` (it limits nothing by itself). Their rules are tested on figures alone.

mod blind;
mod databases;
mod kept_back;
mod programs;
mod rig;
mod rigs;

use std::collections::BTreeMap;

use rig::{Explained, Rig};

/// Times that each rig with a fault is carried out, and each healthy one.
const REPEATS: (usize, usize) = (3, 2);
/// What no healthy rig may be told.
const ACCUSING: [&str; 8] =
    ["server.", "proxy.", "network.", "conn.", "generator.", "rate_limited", "db.", "dependency."];
/// What accuses a server.
const OF_SERVERS: [&str; 5] = ["server.", "proxy.", "db.", "dependency.", "rate_limited"];
/// Processor time of a sample at most, in nanoseconds: 1 % of a core where one is taken each second.
const COST_NS: u64 = 10_000_000;

/// Of rigs with this word in their name only, or one of several (`a|b`), once each: for those who make one.
const ONLY: &str = "PLIMSOLL_FAULTS";

type Done = Vec<(&'static Rig, Explained)>;

/// Carries out the rigs that this machine has the programs for, and prints what was found of each.
fn all(repeats: usize, rigs: &[&'static [Rig]]) -> Done {
    let mut done = Vec::new();
    let only = std::env::var(ONLY).unwrap_or_default();
    let repeats = if only.is_empty() { repeats } else { 1 };
    let rigs = rigs
        .iter()
        .copied()
        .flatten()
        .filter(|rig| only.split('|').any(|word| rig.name.contains(word)));
    for rig in rigs.filter(|rig| rig.can_run()) {
        for _ in 0..repeats {
            let explained = rig.carry_out();
            let (wanted, found) = (wanted(rig).join(" "), explained.codes.join(" "));
            println!("rig {:44} wanted {wanted:40} found {found}", rig.name);
            done.push((rig, explained));
        }
    }
    print_confusion(&done);
    done
}

/// The codes that are right: one that says that nothing limits, where all is well.
fn wanted(rig: &Rig) -> Vec<&'static str> {
    if rig.codes.is_empty() { vec!["none"] } else { rig.codes.to_vec() }
}

/// The confusion table: how often each code came first where another was wanted.
fn print_confusion(done: &Done) {
    let mut confusion: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for (rig, found) in done {
        let first = found.codes.first().map_or("", String::as_str);
        *confusion.entry((wanted(rig).join(" "), first)).or_default() += 1;
    }
    println!("{:44} {:28} times", "wanted", "found first");
    for ((wanted, found), times) in &confusion {
        let mark = if wanted.split(' ').any(|code| code == *found) { "" } else { "  <-" };
        println!("{wanted:44} {found:28} {times}{mark}");
    }
}

/// Prints a claim and whether it is met; of no case at all nothing is met, unless only some rigs were asked for.
fn claim(what: &str, reach: &str, good: usize, of: usize, met: bool) -> bool {
    if of == 0 && std::env::var_os(ONLY).is_some() {
        return true;
    }
    let met = met && of > 0;
    let word = if met { "yes" } else { "no" };
    println!("truth | faults: {what} | {reach} | {good} of {of} | {word}");
    met
}

/// Prints and judges how often the one fault came first.
fn first(what: &str, done: &Done) -> bool {
    let right =
        done.iter().filter(|(rig, found)| found.codes.first().is_some_and(|c| c == rig.codes[0]));
    let good = right.count();
    claim(what, ">= 90 %", good, done.len(), good * 10 >= done.len() * 9)
}

/// Prints and judges how often both of two faults were among the first three.
fn both(what: &str, done: &Done) -> bool {
    let both = |(rig, found): &&(&Rig, Explained)| {
        rig.codes.iter().all(|code| found.codes.iter().take(3).any(|found| found == code))
    };
    let good = done.iter().filter(both).count();
    claim(what, ">= 80 %", good, done.len(), good * 10 >= done.len() * 8)
}

/// Prints and judges how many healthy set-ups were accused.
fn none_accused(what: &str, done: &Done) -> bool {
    let accused = done.iter().filter(|(_, found)| {
        // A rig that gave no result was not found healthy.
        found
            .codes
            .iter()
            .any(|code| code == "-" || ACCUSING.iter().any(|kind| code.starts_with(kind)))
    });
    let accused = accused.count();
    claim(what, "0", accused, done.len(), accused == 0)
}

/// Prints and judges what experiments said: one that confirms what is not there, or refutes what is, is wrong.
fn experiments(done: &Done) -> bool {
    let tried = done.iter().flat_map(|(rig, found)| {
        let wanted = wanted(rig);
        found
            .experiments
            .iter()
            .map(move |(code, said)| (wanted.contains(&code.as_str()), said.as_str()))
    });
    let decided: Vec<(bool, &str)> = tried.filter(|(_, said)| *said != "undecided").collect();
    let wrong = decided.iter().filter(|(there, said)| *there != (*said == "confirmed")).count();
    claim("experiments that decide wrongly", "0", wrong, decided.len(), wrong == 0)
}

/// Prints and judges what watching cost.
fn cost(done: &Done) -> bool {
    if done.is_empty() && std::env::var_os(ONLY).is_some() {
        return true;
    }
    let dearest = done.iter().max_by_key(|(_, found)| found.cost_ns);
    let (name, dearest) = dearest.map_or(("none", 0), |(rig, found)| (rig.name, found.cost_ns));
    // Nothing costs nothing: what told no cost is no proof.
    let met = (1..=COST_NS).contains(&dearest);
    let (ms, word) = (dearest as f64 * 1e-6, if met { "yes" } else { "no" });
    println!(
        "truth | faults: a sample of the dearest source | <= 10 ms of a core | {ms:.1} ms ({name}) | {word}"
    );
    met
}

#[test]
#[ignore = "measures; `cargo xtask truth faults` runs it"]
fn single_faults_are_named_first() {
    let chosen_on = all(REPEATS.0, &[rigs::SINGLE, databases::SINGLE]);
    let kept_back = all(REPEATS.0, &[kept_back::SINGLE]);
    let blind = all(REPEATS.0, &[blind::SINGLE]);
    let second = all(REPEATS.0, &[blind::second::SINGLE]);
    let mut met = first("right code first, rigs that thresholds were chosen on", &chosen_on);
    met &= first("right code first, rigs of a blind author", &blind);
    met &= first("right code first, rigs of a second blind author", &second);
    met &= first("right code first, rigs kept back", &kept_back);
    let stories = all(REPEATS.0, &[kept_back::STORIES]);
    met &= first("right code first, the guide's stories", &stories);
    let done: Done =
        chosen_on.into_iter().chain(kept_back).chain(blind).chain(second).chain(stories).collect();
    met &= first("right code first, single faults", &done);
    let generator = done.iter().filter(|(rig, _)| rig.codes[0].starts_with("generator."));
    let accuses = |code: &String| OF_SERVERS.iter().any(|kind| code.starts_with(kind));
    let accused = generator.clone().filter(|(_, found)| found.codes.iter().any(accuses));
    let (accused, of) = (accused.count(), generator.count());
    met &= claim("server accused, generator the limit", "0", accused, of, accused == 0);
    met &= experiments(&done);
    met &= cost(&done);
    assert!(met, "a claim is not met");
}

#[test]
#[ignore = "measures; `cargo xtask truth faults` runs it"]
fn both_of_two_faults_are_among_the_first_three() {
    let mut done = all(REPEATS.0, &[rigs::DOUBLE, kept_back::DOUBLE]);
    let blind = all(REPEATS.0, &[blind::DOUBLE]);
    let mut met = both("both in the first three, double faults of a blind author", &blind);
    done.extend(blind);
    let second = all(REPEATS.0, &[blind::second::DOUBLE]);
    met &= both("both in the first three, double faults of a second blind author", &second);
    done.extend(second);
    met &= both("both in the first three, double faults", &done);
    assert!(met, "a claim is not met");
}

#[test]
#[ignore = "measures; `cargo xtask truth faults` runs it"]
fn healthy_servers_are_not_accused() {
    let mut done = all(REPEATS.1, &[rigs::HEALTHY, databases::HEALTHY, kept_back::HEALTHY]);
    let blind = all(REPEATS.1, &[blind::HEALTHY]);
    let mut met = none_accused("healthy set-ups of a blind author accused", &blind);
    done.extend(blind);
    let second = all(REPEATS.1, &[blind::second::HEALTHY]);
    met &= none_accused("healthy set-ups of a second blind author accused", &second);
    done.extend(second);
    met &= none_accused("healthy set-ups accused", &done);
    met &= experiments(&done);
    assert!(met, "a claim is not met");
}
