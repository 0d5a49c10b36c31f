//! `cargo xtask truth`: what the program claims about its own judgement, claim by claim: what is promised, what was found.
//!
//! Owns the table and its sections. Whatever is found out is found out by tests of the crates, or by oracles: a section runs
//! them and reads the claims they print (see [`claim`]). To add a section, add an entry to [`SECTIONS`].

mod claim;
mod told;

use anyhow::{Result, bail, ensure};
use pico_args::Arguments;

use crate::interrupt;
use crate::needs::{self, Need};

use claim::Claim;

struct Section {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: fn() -> Result<Vec<Claim>>,
}

// Of few dependencies. The other sections build with `--workspace`, which builds theirs with the features that everything
// else does: once.
const VERDICT: [&str; 3] = ["--package", "verdict", "--tests"];

const SECTIONS: &[Section] = &[
    Section {
        name: "simulation",
        about: "queues by the million in virtual time: Lindley's recursion and theory (minutes)",
        needs: &[],
        run: || told::by_tests(["--workspace", "--test", "simulated"], "theory::"),
    },
    Section {
        name: "sockets",
        about: "queues and a stalling server over real sockets: theory and closed form (15 minutes)",
        needs: &[],
        run: || told::by_tests(["--workspace", "--test", "run"], "theory::"),
    },
    Section {
        name: "capacity",
        about: "searches on simulated servers of known capacity",
        needs: &[],
        run: || told::by_tests(VERDICT, "capacity::tests::"),
    },
    Section {
        name: "comparison",
        about: "false alarms, coverage and power of comparisons, in simulation",
        needs: &[],
        run: || told::by_tests(VERDICT, "in_simulation"),
    },
    Section {
        name: "dips",
        about: "dips found to the second, none invented, in simulation",
        needs: &[],
        run: || told::by_tests(VERDICT, "dips::tests"),
    },
    Section {
        name: "gallery",
        about: "measurements spoilt on purpose, over real sockets: each told by its code",
        needs: &[],
        run: || told::by_tests(["--workspace", "--test", "gallery"], ""),
    },
    Section {
        name: "scalability",
        about: "the scalability law on its reference data",
        needs: &[],
        run: || told::by_tests(VERDICT, "usl::tests"),
    },
];

fn help() -> String {
    let sections: Vec<String> =
        SECTIONS.iter().map(|s| format!("  {:14} {}\n", s.name, s.about)).collect();
    format!(
        "Holds the program's judgement against what is known: closed forms, simulations, oracles.

Usage: cargo xtask truth [OPTIONS] [SECTION...]

Sections (without names, all):
{}
Options:
      --profile <NAME>  profile that the tests are built in: `test` builds sooner and runs longer [default: release]
  -h, --help            print this

Prints a table of claims: what is promised, what was found, whether that meets it. Fails if a claim is not met or could
not be looked into.",
        sections.concat()
    )
}

pub fn main(mut arguments: Arguments) -> Result<()> {
    if arguments.contains(["-h", "--help"]) {
        println!("{}", help());
        return Ok(());
    }
    if let Some(profile) = arguments.opt_value_from_str("--profile")? {
        told::PROFILE.get_or_init(|| profile);
    }
    let sections = crate::pick(SECTIONS, &crate::names(arguments)?, |section| section.name)?;
    let needs: Vec<Need> = sections.iter().flat_map(|section| section.needs).copied().collect();
    needs::install(needs)?;
    let mut claims = Vec::new();
    let mut failed = Vec::new();
    for section in sections {
        println!("\n== {}: {}", section.name, section.about);
        match (section.run)() {
            Ok(found) => claims.extend(found),
            Err(error) => {
                interrupt::check()?;
                println!("{} could not be looked into: {error:#}", section.name);
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
        bail!("could not be looked into: {}", failed.join(", "));
    }
    ensure!(met == all, "{} of {all} claims are not met", all - met);
    Ok(())
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
