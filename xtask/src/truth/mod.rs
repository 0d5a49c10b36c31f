//! `cargo xtask truth`: what the program claims about its own judgement, claim by claim: the promise
//! and the result.
//!
//! Owns the table and its sections. Tests of the crates and oracles find the results: a section runs
//! them and reads the claims they print (see [`claim`]). To add a section, add an entry to
//! [`SECTIONS`].

mod claim;

use std::process::Stdio;

use anyhow::{Result, bail, ensure};
use pico_args::Arguments;

use crate::{interrupt, repo};

use claim::Claim;

struct Section {
    name: &'static str,
    about: &'static str,
    /// Cargo's flags that choose test programs, and what the names of the tests hold.
    programs: [&'static str; 3],
    filter: &'static str,
}

// Crates with few dependencies. The other sections build with `--workspace`, so that dependencies are
// built once, with the same features.
const VERDICT: [&str; 3] = ["--package", "verdict", "--tests"];

const SECTIONS: &[Section] = &[
    section(
        "simulation",
        "queues by the million in virtual time: Lindley's recursion and theory (minutes)",
        ["--workspace", "--test", "simulated"],
        "theory::",
    ),
    section(
        "sockets",
        "queues and a stalling server over real sockets: theory and closed form (15 minutes)",
        ["--workspace", "--test", "run"],
        "theory::",
    ),
    section(
        "capacity",
        "searches on simulated servers of known capacity",
        VERDICT,
        "capacity::tests::",
    ),
    section(
        "comparison",
        "false alarms, coverage and power of comparisons, in simulation",
        VERDICT,
        "in_simulation",
    ),
    section(
        "dips",
        "dips found to the second, no false ones, in simulation",
        VERDICT,
        "dips::tests",
    ),
    section(
        "gallery",
        "measurements spoilt on purpose, over real sockets: each reported by its code",
        ["--workspace", "--test", "gallery"],
        "",
    ),
    section(
        "faults",
        "real faults on real servers and healthy twins: what `explain` names (an hour, as root)",
        ["--workspace", "--test", "faults"],
        "",
    ),
    section(
        "observe",
        "samples against nstat, ss, sar, PostgreSQL's views and SHOW STATUS at the same time",
        ["--workspace", "--test", "cli"],
        "observe::",
    ),
    section(
        "mine",
        "templates learnt of a labelled corpus of routes, half of it kept back",
        ["--package", "mine", "--tests"],
        "",
    ),
    section(
        "profile",
        "listings of profiles against those of go tool pprof, character by character (needs Go)",
        ["--package", "profile", "--tests"],
        "listings_of",
    ),
    section(
        "predictions",
        "predicted rates without middlewares against those measured then, and refusals (needs Go; 7 minutes)",
        ["--workspace", "--test", "predicted"],
        "",
    ),
    section("scalability", "the scalability law on its reference data", VERDICT, "usl::tests"),
];

const fn section(
    name: &'static str,
    about: &'static str,
    programs: [&'static str; 3],
    filter: &'static str,
) -> Section {
    Section { name, about, programs, filter }
}

pub fn help() -> String {
    let sections: Vec<String> =
        SECTIONS.iter().map(|s| format!("  {:14} {}\n", s.name, s.about)).collect();
    format!(
        "Compares the program's judgements with what is known: closed forms, simulations, oracles.

Usage: cargo xtask truth [OPTIONS] [SECTION...]

Sections (without names, all):
{}
Options:
      --profile <NAME>  profile that the tests are built in: `test` builds sooner and runs longer [default: release]
  -h, --help            print this

Prints a table of claims: what is required, what was measured, whether that meets it. Fails if a claim is not
met or could not be checked.",
        sections.concat()
    )
}

pub fn main(mut arguments: Arguments) -> Result<()> {
    let profile = arguments.opt_value_from_str("--profile")?.unwrap_or("release".to_owned());
    let sections = crate::pick(SECTIONS, &crate::names(arguments)?, |section| section.name)?;
    let mut claims = Vec::new();
    let mut failed = Vec::new();
    for section in sections {
        println!("\n== {}: {}", section.name, section.about);
        match section.claims(&profile) {
            Ok(found) => claims.extend(found),
            Err(error) => {
                interrupt::check()?;
                println!("{} could not be checked: {error:#}", section.name);
                failed.push(section.name);
            }
        }
    }
    println!("\n{}", claim::table(&claims));
    let judged = claims.iter().filter_map(|claim| claim.met);
    let met = judged.clone().filter(|met| *met).count();
    let all = judged.count();
    println!("{met} of {all} claims met");
    if !failed.is_empty() {
        bail!("could not be checked: {}", failed.join(", "));
    }
    ensure!(met == all, "{} of {all} claims are not met", all - met);
    Ok(())
}

impl Section {
    /// The claims that its tests print, those marked as slow included. The tests assert them too: here
    /// they are shown. A test that fails after printing its claims has printed them all the same.
    fn claims(&self, profile: &str) -> Result<Vec<Claim>> {
        let Section { programs, filter, .. } = self;
        let mut cargo = repo::cargo("test");
        cargo.args(["--profile", profile]).args(programs).args([filter, "--"]);
        cargo.args(["--include-ignored", "--nocapture", "--test-threads=1"]);
        println!("$ {}", repo::shown(&cargo));
        let output = cargo.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        interrupt::check()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let claims = claim::read(&printed);
        let missed = claims.iter().any(|claim| claim.met == Some(false));
        ensure!(
            output.status.success() || missed,
            "the tests failed before they printed a claim:\n{printed}"
        );
        ensure!(
            !claims.is_empty(),
            "no test of {programs:?} named like `{filter}` printed a claim"
        );
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_section() {
        let help = help();
        for section in SECTIONS {
            assert!(help.contains(&format!("\n  {} ", section.name)), "{}", section.name);
        }
    }
}
